"""The inputs on which two models are compared: random ones, or a sample of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from .runnable import Port
from .running import SEED


@dataclass(frozen=True)
class InputChoice:
    """Which inputs are taken.

    Attributes:
        seed: of random ones.
        ends: the smallest and the largest random number; None for normals, and for the whole range
            of integers of 8 and 16 bits.
        data: a `.npz` with an array for each input, a `.npy` or a folder of samples; None for
            random ones.
        sample: which one of these.

    Raises ValueError for ends in the wrong order, and for a negative sample.
    """

    seed: int = SEED
    ends: tuple[float, float] | None = None
    data: str | None = None
    sample: int = 0

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
        return f"random normals, seed {self.seed}"

    def arrays(self, path: str, signature: str | None, ports: Sequence[Port]) -> list[np.ndarray]:
        """An array for each port of the file at `path`.

        Raises ValueError when the dataset has no such sample, or it does not fit.
        """
        if self.data is not None:
            return self._of_data(path, signature, ports)
        generator = np.random.default_rng(self.seed)
        return [self._random(port, generator) for port in ports]

    def _random(self, port: Port, generator: np.random.Generator) -> np.ndarray:
        """Random numbers as a port takes them."""
        array = port.random(generator)
        if self.ends is None or array.dtype.kind not in "fiu":
            return array
        if array.dtype.kind in "iu" and not port.quantization[0]:
            low, high = np.ceil(self.ends[0]), np.floor(self.ends[1])
            return generator.integers(int(low), int(high), array.shape, endpoint=True).astype(
                array.dtype
            )
        return port.quantize(generator.uniform(*self.ends, array.shape))

    def _of_data(self, path: str, signature: str | None, ports: Sequence[Port]) -> list[np.ndarray]:
        """The arrays of a sample."""
        from ..converter.quantize.dataset import file_dataset
        from ..converter.sources.tflite import load

        assert self.data is not None
        sources = [source for source in load(path) if signature in (None, source.key)]
        sample = next(islice(file_dataset(self.data, sources)(), self.sample, None), None)
        if sample is None:
            raise ValueError(f"'{self.data}' has no sample {self.sample}")
        named = {
            name: array
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
