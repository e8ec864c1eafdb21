"""Models that can be run side by side: a flatbuffer, or a source that flatlite converts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..converter.api.ports import Port, port_of
from ..converter.sources.kinds import kind_of
from ..converter.sources.source import Source, naming, short_name
from ..converter.verify.verification import run_first
from ..interpreter.interpreter import Interpreter


class Runnable(Protocol):
    """A model with ordered inputs and outputs."""

    path: str
    inputs: list[Port]
    outputs: list[Port]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs, in order, for one array per input; inputs are resized as needed."""
        ...


class Flatbuffer:
    """A .tflite file, or one signature of it.

    Args:
        path: the file.
        signature: the signature's key; None for "serving_default" or the only one, and for the
            first subgraph of a file without signatures.
        threads: threads for the kernels.
        by_name: False runs the first subgraph, whatever signatures there are.
        delegates: who may run partitions of it.

    Raises:
        ValueError: the file is no model, or has no such signature.
    """

    def __init__(
        self,
        path: str,
        signature: str | None = None,
        *,
        threads: int = 1,
        by_name: bool = True,
        delegates: Sequence[Any] | None = None,
    ) -> None:
        self.path = path
        with naming(path):
            self.interpreter = Interpreter(
                model_path=path, num_threads=threads, experimental_delegates=delegates
            )
        keys = list(self.interpreter.get_signature_list())
        if signature is None and keys and by_name:
            signature = keys[0] if len(keys) == 1 else "serving_default"
        if signature is not None and signature not in keys:
            available = ", ".join(f"'{key}'" for key in keys) or "none"
            raise ValueError(
                f"'{path}' has no signature '{signature}'; its signatures are {available}"
            )
        self.runner: Any = None
        if signature is None:
            self.inputs = [port_of(d) for d in self.interpreter.get_input_details()]
            self.outputs = [port_of(d) for d in self.interpreter.get_output_details()]
            return
        self.runner = self.interpreter.get_signature_runner(signature)
        self.inputs = [port_of(d, k) for k, d in self.runner.get_input_details().items()]
        self.outputs = [port_of(d, k) for k, d in self.runner.get_output_details().items()]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs, in order, for one array per input; inputs are resized as needed."""
        with naming(self.path):
            try:
                return self._run(arrays)
            except (ValueError, RuntimeError) as error:
                mismatches = [port.mismatch(x) for port, x in zip(self.inputs, arrays, strict=True)]
                error.args = ("\n".join([str(error).rstrip(), *filter(None, mismatches)]),)
                raise

    def _run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        if self.runner is None:
            return run_first(self.interpreter, arrays)
        names = [port.names[0] for port in self.inputs]
        outputs = self.runner(**dict(zip(names, arrays, strict=True)))
        return [outputs[port.names[0]] for port in self.outputs]


class SourceModel:
    """One computation of a source, run by its oracle."""

    def __init__(self, path: str, source: Source) -> None:
        self.path, self.source = path, source
        self.inputs = [_source_port(port) for port in source.inputs]
        self.outputs = [_source_port(port) for port in source.outputs]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs, in order, for one array per input.

        Raises OpError when an operation cannot be run.
        """
        oracle = self.source.oracle()
        return oracle.run(oracle.outputs, arrays)


def open_runnable(path: str, signature: str | None = None) -> Runnable:
    """A .tflite file, or a source of any kind on its oracle, ready to be run."""
    from ..converter.sources import frozen, keras, onnx, saved_model

    kind, model_path = kind_of(path)
    if kind == "tflite":
        return Flatbuffer(model_path, signature)
    with naming(path):
        if kind != "saved_model":
            module = {"frozen": frozen, "keras": keras, "onnx": onnx}[kind]
            return SourceModel(path, module.load(model_path))
        keys = None if signature is None else [signature]
        return SourceModel(path, saved_model.load(model_path, signature_keys=keys)[0])


def _source_port(port: Any) -> Port:
    shape = port.tensor.sizes
    if shape is None:
        raise ValueError(f"the rank of '{port.name}' is not known; convert it with --input-shape")
    known = tuple(-1 if n is None else n for n in shape)
    return Port((port.key, short_name(port.name), port.name), known, port.tensor.dtype)
