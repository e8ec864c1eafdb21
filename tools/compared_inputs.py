"""The inputs on which two models are compared: random ones, or a sample of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from ..converter.api.ports import normals_within
from ..schema.dtypes import TENSOR_TYPES
from ..schema.files import read_bytes
from ..schema.model import load
from .layer_values import function_of
from .runnable import Flatbuffer, Port, Runnable
from .running import SEED

Ends = tuple[float, float]


@dataclass(frozen=True)
class InputChoice:
    """Which inputs are taken.

    Attributes:
        seed: of random ones.
        ends: the smallest and the largest random number; None for what integers can hold, as far
            as `limits` and types of inputs say, else normals.
        data: a `.npz` with an array for each input, a `.npy` or a folder of samples; None for
            random ones.
        sample: which one of these.
        limits: name of an input -> what the integers that a model makes of it can hold.

    Raises ValueError for ends in the wrong order, and for a negative sample.
    """

    seed: int = SEED
    ends: Ends | None = None
    data: str | None = None
    sample: int = 0
    limits: Mapping[str, Ends] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.ends is not None and not self.ends[0] < self.ends[1]:
            low, high = self.ends
            raise ValueError(f"the range of random inputs must go up, got {low:g} to {high:g}")
        if self.sample < 0:
            raise ValueError(f"the number of a sample must not be negative, got {self.sample}")

    @property
    def words(self) -> str:
        """What they are, for people."""
        if self.data is not None:
            return f"sample {self.sample} of {self.data}"
        if self.ends is not None:
            return f"random numbers of {self.ends[0]:g} to {self.ends[1]:g}, seed {self.seed}"
        if self.limits:
            return f"random normals within what the inputs' integers can hold, seed {self.seed}"
        return f"random normals, seed {self.seed}"

    def arrays(self, path: str, signature: str | None, ports: Sequence[Port]) -> list[np.ndarray]:
        """An array for each port of the file at `path`.

        Raises ValueError when the dataset has no such sample, or it does not fit.
        """
        if self.data is not None:
            return self._of_data(path, signature, ports)
        generator = np.random.default_rng(self.seed)
        return [self.random(port, generator) for port in ports]

    def random(self, port: Port, generator: np.random.Generator) -> np.ndarray:
        """Random numbers as a port takes them."""
        array, ends = port.random(generator), self.ends
        limits = next((self.limits[name] for name in port.names if name in self.limits), None)
        if ends is None and limits is not None and array.dtype.kind == "f":
            return normals_within(array, limits)
        if ends is None or array.dtype.kind not in "fiu":
            return array
        if array.dtype.kind in "iu" and not port.quantization[0]:
            low, high = np.ceil(ends[0]), np.floor(ends[1])
            return generator.integers(int(low), int(high), array.shape, endpoint=True).astype(
                array.dtype
            )
        return port.quantize(generator.uniform(*ends, array.shape))

    def _of_data(self, path: str, signature: str | None, ports: Sequence[Port]) -> list[np.ndarray]:
        """The arrays of a sample."""
        from ..converter.api.samples import in_shape_of
        from ..converter.quantize.dataset import file_dataset
        from ..converter.sources.tflite import load

        assert self.data is not None
        sources = [source for source in load(path) if signature in (None, source.key)]
        sample = next(islice(file_dataset(self.data, sources)(), self.sample, None), None)
        if sample is None:
            raise ValueError(f"'{self.data}' has no sample {self.sample}")
        named = {
            name: in_shape_of(self.words, array, port)
            for port, array in zip(sources[0].inputs, sample, strict=True)
            for name in (port.key, port.name)
        }
        arrays = []
        for port in ports:
            array = next(named[name] for name in port.names if name in named)
            takes_it = array.dtype == port.dtype or not port.quantization[0]
            arrays.append(array.astype(port.dtype) if takes_it else port.quantize(array))
        return arrays


def facts_of(choice: InputChoice, ports: Sequence[Port], arrays: Sequence[np.ndarray]) -> Any:
    """{"from": words, "values": [...]}: which inputs were taken, and how large they are."""
    rows = []
    for port, array in zip(ports, arrays, strict=True):
        row: dict[str, Any] = {"input": port.names[0], "shape": list(array.shape)}
        if array.dtype.kind in "fiu" and array.size:
            real = port.dequantize(array)
            row |= {"min": float(real.min()), "max": float(real.max())}
        rows.append(row)
    return {"from": choice.words, "values": rows}


def limits_of(
    pairs: Sequence[tuple[Port, Port]], models: tuple[Runnable, Runnable], signature: str | None
) -> dict[str, Ends]:
    """Name of each float input of the first model -> what the integers that either model makes of
    it can hold.
    """
    limits = {}
    for column, model in enumerate(models):
        of_model = quantized_inputs(model, signature)
        for pair in pairs:
            name = next((name for name in pair[column].names if name in of_model), None)
            if name is not None:
                limits.setdefault(pair[0].names[0], of_model[name])
    return limits


def quantized_inputs(model: Runnable, signature: str | None) -> dict[str, Ends]:
    """Name of each tensor that a QUANTIZE of a file reads -> what its integers can hold."""
    if not isinstance(model, Flatbuffer):
        return {}
    content = load(read_bytes(model.path))
    subgraph = content.subgraphs[function_of(content, signature)[0]]
    limits = {}
    for op in subgraph.operators:
        if op.op == "QUANTIZE":
            source, result = (subgraph.tensors[i] for i in (op.inputs[0], op.outputs[0]))
            if result.quantization is not None:
                limits[source.name] = result.quantization.limits(TENSOR_TYPES[result.dtype])
    return limits
