"""Inputs and outputs of models that can be run, quantized ones as the numbers they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..sources.source import short_name

RANDOM_SIZES = (1, 64)  # sizes given to an unknown first dimension and to any other
DEVIATIONS = 6  # of a normal distribution that a range holds


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

    def mismatch(self, array: np.ndarray) -> str:
        """How an array differs from what the model declares; empty when it does not."""
        shape_matches = len(self.shape) == array.ndim and all(
            n in (-1, size) for n, size in zip(self.shape, array.shape, strict=True)
        )
        if shape_matches and array.dtype == self.dtype:
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
        sizes = (RANDOM_SIZES[0], *[RANDOM_SIZES[1]] * len(self.shape))
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

    def dequantize(self, array: np.ndarray) -> np.ndarray:
        """The values of a quantized array in float64; any other array as it is."""
        scale, zero_point = self.quantization
        return (array.astype(np.float64) - zero_point) * scale if scale else array

    def quantize(self, array: np.ndarray) -> np.ndarray:
        """Float values as this port takes them."""
        scale, zero_point = self.quantization
        if scale and self.dtype.kind in "iu":
            limits = np.iinfo(self.dtype)
            array = np.clip(np.rint(array / scale) + zero_point, limits.min, limits.max)
        return array.astype(self.dtype)


def port_of(detail: Mapping[str, Any], key: str | None = None) -> Port:
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


def normals_within(array: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Standard normals, made so narrow that they fill a range, and cut off at its ends."""
    low, high = limits
    shares = np.clip(array.astype(np.float64) / DEVIATIONS + 0.5, 0.0, 1.0)
    return (low + (high - low) * shares).astype(array.dtype)
