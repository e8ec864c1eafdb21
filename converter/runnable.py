"""Models that can be run side by side: a flatbuffer, or a source that flatlite converts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..interpreter.interpreter import Interpreter
from .sources.kinds import kind_of
from .sources.source import Source, naming, short_name
from .verify import run_first

FREE = (1, 64)  # sizes given to an unknown first dimension and to any other


@dataclass(frozen=True)
class Port:
    """An input or output of a model.

    Attributes:
        names: the names it may be called by, the one to show first.
        shape: its shape, -1 for an unknown dimension.
        dtype: its type.
        quantization: scale and zero point, a scale of 0 for none.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype
    quantization: tuple[float, int] = (0.0, 0)

    def unlike(self, array: np.ndarray) -> str:
        """How an array differs from what the model declares; empty when it does not."""
        fits = len(self.shape) == array.ndim and all(
            n in (-1, size) for n, size in zip(self.shape, array.shape, strict=True)
        )
        if fits and array.dtype == self.dtype:
            return ""
        sizes = ", ".join("?" if n == -1 else str(n) for n in self.shape)
        return (
            f"The model's input '{self.names[0]}' is {self.dtype} of shape ({sizes}), "
            f"given is {array.dtype} of shape {array.shape}"
        )

    def described(self) -> str:
        """Its name, type and shape, for a message."""
        sizes = ", ".join("?" if n == -1 else str(n) for n in self.shape)
        return f"'{self.names[0]}' {self.dtype} ({sizes})"

    def sized_like(self, other: Port) -> Port:
        """The same with the sizes of another port of its rank where its own are unknown."""
        sizes = zip(self.shape, other.shape, strict=True)
        return replace(self, shape=tuple(n if m == -1 else m for m, n in sizes))

    def random(self, generator: np.random.Generator) -> np.ndarray:
        """Normals for floats, the whole range for 8 and 16 bits, else zeros and ones.

        Raises ValueError for a type that has no random values.
        """
        sizes = (FREE[0], *[FREE[1]] * len(self.shape))
        shape = tuple(n if s < 0 else s for s, n in zip(self.shape, sizes, strict=False))
        kind, dtype = self.dtype.kind, self.dtype
        if kind in "fcV" and dtype.names is None:
            return generator.standard_normal(shape).astype(dtype)
        if kind in "iu" and dtype.itemsize <= 2:
            limits = np.iinfo(dtype)
            return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        if kind in "iub":
            return generator.integers(0, 2, shape).astype(dtype)
        raise ValueError(f"input '{self.names[0]}' has the type {dtype}; give it with --input")

    def real(self, array: np.ndarray) -> np.ndarray:
        """What a quantized array stands for; any other array as it is."""
        scale, zero_point = self.quantization
        return (array.astype(np.float64) - zero_point) * scale if scale else array

    def stored(self, array: np.ndarray) -> np.ndarray:
        """Real numbers as this port takes them."""
        scale, zero_point = self.quantization
        if scale and self.dtype.kind in "iu":
            limits = np.iinfo(self.dtype)
            array = np.clip(np.rint(array / scale) + zero_point, limits.min, limits.max)
        return array.astype(self.dtype)


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
        delegates: who may run parts of it.

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
            there = ", ".join(f"'{key}'" for key in keys) or "none"
            raise ValueError(f"'{path}' has no signature '{signature}'; its signatures are {there}")
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
                unlike = [port.unlike(x) for port, x in zip(self.inputs, arrays, strict=True)]
                error.args = ("\n".join([str(error).rstrip(), *filter(None, unlike)]),)
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
    from .sources import frozen, keras, onnx, saved_model

    kind, place = kind_of(path)
    if kind == "tflite":
        return Flatbuffer(place, signature)
    with naming(path):
        if kind != "saved_model":
            module = {"frozen": frozen, "keras": keras, "onnx": onnx}[kind]
            return SourceModel(path, module.load(place))
        keys = None if signature is None else [signature]
        return SourceModel(path, saved_model.load(place, signature_keys=keys)[0])


def port_of(detail: dict[str, Any], key: str | None = None) -> Port:
    """A port from a dictionary of the interpreter; `key` is its name in the signature."""
    names = (detail["name"], short_name(detail["name"]))
    shape = tuple(int(n) for n in detail["shape_signature"])
    scale, zero_point = detail["quantization"]
    return Port(
        names if key is None else (key, *names),
        shape if len(shape) == len(detail["shape"]) else tuple(int(n) for n in detail["shape"]),
        np.dtype(detail["dtype"]),
        (float(scale), int(zero_point)),
    )


def _source_port(port: Any) -> Port:
    shape = port.tensor.shape
    if shape is None:
        raise ValueError(f"the rank of '{port.name}' is not known; convert it with --input-shape")
    known = tuple(-1 if n is None else n for n in shape)
    return Port((port.key, short_name(port.name), port.name), known, port.tensor.dtype)
