"""The value of every layer of a .tflite file after a run, by flatlite or by LiteRT.

`python -m flatlite.tools.layer_values RUNTIME MODEL INPUTS.npz OUTPUTS.npz [SIGNATURE]` is the
process that LiteRT runs in, as some models end it.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..schema.files import read_bytes
from ..schema.model import Model, load
from ..schema.quantization import Quantization

RUNTIMES = {"flatlite": "", "litert": "BUILTIN", "litert-reference": "BUILTIN_REF"}
"""What runs a file -> LiteRT's name for the kernels that it takes."""


class LayerValue(NamedTuple):
    """A result of an operator.

    Attributes:
        name: the tensor's.
        kind: the operator.
        value: numbers, dequantized where the tensor is quantized; else as they are.
        step: what one step of a quantized tensor stands for; 0 for others.
    """

    name: str
    kind: str
    value: np.ndarray
    step: float


def layer_values(
    path: str, runtime: str, arrays: Sequence[np.ndarray], signature: str | None = None
) -> list[LayerValue]:
    """The results of all operators of a function of a file, in the order of the operators.

    Args:
        path: a .tflite file.
        runtime: a key of RUNTIMES.
        arrays: one for each input, in the order of the signature or of the first subgraph.
        signature: the signature's key; None for the only one, or the first subgraph.

    Raises:
        ValueError: there is no such runtime, or it is not installed.
        RuntimeError: the runtime fails.
    """
    if runtime not in RUNTIMES:
        raise ValueError(f"a runtime must be one of {', '.join(RUNTIMES)}, got '{runtime}'")
    model = load(read_bytes(path))
    number, key = function_of(model, signature)
    if runtime == "flatlite":
        values = values_by(flatlite_interpreter(path), number, key, arrays)
    else:
        values = litert_values(path, runtime, key, arrays)
    subgraph = model.subgraphs[number]
    rows = []
    for op in subgraph.operators:
        for i in op.outputs:
            array, tensor = values.get(i), subgraph.tensors[i]
            if array is not None:
                real, step = dequantized(array, tensor.quantization)
                rows.append(LayerValue(tensor.name, op.op, real, step))
    return rows


def function_of(model: Model, signature: str | None) -> tuple[int, str | None]:
    """The number of a signature's subgraph, and its key."""
    by_key = {row.key: row.subgraph for row in model.signatures}
    if signature is None and by_key:
        signature = next(iter(by_key)) if len(by_key) == 1 else "serving_default"
    if signature is None:
        return 0, None
    if signature not in by_key:
        available = ", ".join(by_key) or "none"
        raise ValueError(f"there is no signature '{signature}'; signatures are {available}")
    return by_key[signature], signature


def dequantized(array: np.ndarray, quantization: Quantization | None) -> tuple[np.ndarray, float]:
    """The numbers that an array stands for, and its step."""
    is_quantized = quantization is not None and len(quantization.scales) == 1
    if quantization is None or not is_quantized or array.dtype.kind not in "iu":
        return array, 0.0
    real = (array.astype(np.float64) - quantization.zero_point) * quantization.scale
    return real, quantization.scale


def flatlite_interpreter(path: str) -> Any:
    """Our interpreter, which keeps every tensor."""
    from ..interpreter.interpreter import Interpreter

    return Interpreter(model_path=path, experimental_preserve_all_tensors=True)


def litert_interpreter(path: str, runtime: str) -> Any:
    """LiteRT's."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType[RUNTIMES[runtime]]
    return Interpreter(
        model_path=path,
        experimental_preserve_all_tensors=True,
        experimental_op_resolver_type=kernels,
    )


def values_by(
    interpreter: Any, subgraph: int, key: str | None, arrays: Sequence[np.ndarray]
) -> dict[int, np.ndarray]:
    """Index -> value of the tensors that an interpreter has after a run."""
    if key is None:
        details = interpreter.get_input_details()
        for detail, array in zip(details, arrays, strict=True):
            interpreter.resize_tensor_input(detail["index"], array.shape)
        interpreter.allocate_tensors()
        for detail, array in zip(details, arrays, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
    else:
        runner = interpreter.get_signature_runner(key)
        names = list(runner.get_input_details())
        runner(**dict(zip(names, arrays, strict=True)))
    values = {}
    for detail in interpreter.get_tensor_details(subgraph):
        index = detail["index"]
        try:
            values[index] = np.array(interpreter.get_tensor(index, subgraph))
        except (ValueError, RuntimeError):  # constants of no bytes, and scratch tensors
            continue
    return values


def litert_values(
    path: str, runtime: str, key: str | None, arrays: Sequence[np.ndarray]
) -> dict[int, np.ndarray]:
    """The same of LiteRT, in a process of its own."""
    if importlib.util.find_spec("ai_edge_litert") is None:
        raise ValueError(f"the runtime '{runtime}' is not installed; pip install ai-edge-litert")
    with tempfile.TemporaryDirectory() as folder:
        inputs, outputs = Path(folder) / "inputs.npz", Path(folder) / "outputs.npz"
        np.savez(inputs, *arrays)
        command = [sys.executable, "-m", __name__, runtime, path, str(inputs), str(outputs)]
        done = subprocess.run(
            [*command, *([] if key is None else [key])], capture_output=True, text=True, check=False
        )
        if done.returncode:
            reason = last_error(done.stderr)
            raise RuntimeError(f"LiteRT cannot run '{path}' ({done.returncode}): {reason}")
        with np.load(outputs) as loaded:
            return {int(name): loaded[name] for name in loaded.files}


def last_error(stderr: str) -> str:
    """The message of the exception that ended a process, else the last line it wrote."""
    lines = [line for line in stderr.splitlines() if line.strip()] or ["it says nothing"]
    starts = [i for i, line in enumerate(lines) if re.match(r"(\w+\.)*\w*Error: ", line)]
    start = starts[-1] if starts else len(lines) - 1
    message = " ".join(line.strip() for line in lines[start:])
    return message.partition("Error: ")[2] or message


def main(runtime: str, path: str, inputs: str, outputs: str, key: str | None = None) -> None:
    """Runs a file by LiteRT, and writes what its tensors hold."""
    with np.load(inputs) as loaded:
        arrays = [loaded[name] for name in loaded.files]
    number, _ = function_of(load(read_bytes(path)), key)
    values = values_by(litert_interpreter(path, runtime), number, key, arrays)
    plain = {str(index): array for index, array in values.items() if not array.dtype.hasobject}
    np.savez(outputs, **plain)  # pyright: ignore[reportArgumentType]


if __name__ == "__main__":
    main(*sys.argv[1:])
