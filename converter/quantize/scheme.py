"""Quantization schemes as data: which types a scheme stores what in, and the integers it may use.

Rules (rules.py) name what a tensor is to an operator: weights, bias, of the same scale, of a
prescribed one. A scheme says which type and limits each of them gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...schema.dtypes import TENSOR_TYPES
from ...schema.operators import TYPES

BITS = {"i2": 2, "i4": 4, "i8": 8, "u8": 8, "i16": 16}

BLOCK_SIZES = (32, 64, 128, 256)
"""Elements that may share a scale."""
BLOCKS, HYBRID_BLOCKS = ("i2", "i4", "i8"), ("i4",)
"""Types of weights in blocks, and those of them that LiteRT multiplies with float32 inputs."""


class Integers(NamedTuple):
    """The integers of one type that stand for float32 numbers.

    Attributes:
        code: their type, as the table of operators writes it.
        low, high: the smallest and the largest that is used.
        symmetric: whether 0 always stands for 0.0.
    """

    code: str
    low: int
    high: int
    symmetric: bool

    @property
    def dtype(self) -> np.dtype:
        """Their numpy type."""
        return dtype_of(self.code)


def dtype_of(code: str) -> np.dtype:
    """The numpy type of a short name of the table of operators."""
    return TENSOR_TYPES[TYPES[code]]


def integers(code: str, symmetric: bool, narrow: bool) -> Integers:
    """The integers of a type; `narrow` leaves the lowest one out.

    >>> integers("i8", symmetric=True, narrow=True)[1:3]
    (-127, 127)
    """
    low = 0 if code.startswith("u") else -(2 ** (BITS[code] - 1))
    return Integers(code, low + narrow, low + 2 ** BITS[code] - 1, symmetric)


@dataclass(frozen=True)
class Scheme:
    """How operators are quantized.

    Attributes:
        name: what people call it.
        activations: the type of inputs and results, None when they stay float32.
        weights: the type of weights; where an operator has no kernel for it, they take int8.
        bias: the type of a bias; None when it stays float32.
        symmetric: whether inputs and results have no zero point; their lowest integer is left out.
        narrow: whether weights leave out their lowest integer.
        axis: whether weights have a scale for each output channel, not one for all.
        hybrid: whether kernels multiply the stored weights with float32 inputs; else a DEQUANTIZE
            makes them float32 first.
        block: how many elements along the last dimension of weights share a scale; None for the
            scales that `axis` says.
        smallest: elements from which weights are integers, where results stay float32: smaller ones
            would save little and cost accuracy.
        few_bits: bits up to which weights that were fake-quantized are integers whatever their
            size, where results stay float32.

    Raises ValueError for blocks of another size, or of types that LiteRT has no kernel for.
    """

    name: str
    activations: str | None = None
    weights: str = "i8"
    bias: str | None = None
    symmetric: bool = False
    narrow: bool = True
    axis: bool = True
    hybrid: bool = True
    block: int | None = None
    smallest: int = 1024
    few_bits: int = 4

    def __post_init__(self) -> None:
        if self.block is None:
            return
        if self.block not in BLOCK_SIZES:
            raise ValueError(f"block of a scheme must be one of {BLOCK_SIZES}, got {self.block}")
        if self.activations is not None:
            raise ValueError(
                "a scheme with weights in blocks must have activations None, got "
                f"{self.activations}: LiteRT has no integer kernel for blocks"
            )
        if self.weights not in (HYBRID_BLOCKS if self.hybrid else BLOCKS):
            raise ValueError(
                f"LiteRT has no kernel for {self.weights} weights in blocks; they must be i4, or "
                "i2, i4 or i8 with hybrid = False, which makes them float32 when a file is loaded"
            )

    @property
    def code(self) -> str:
        """The type of inputs and results."""
        return "f32" if self.activations is None else self.activations

    @property
    def integers(self) -> Integers:
        """The integers that inputs and results, which are not float32, are stored in."""
        return integers(self.code, self.symmetric, narrow=self.symmetric)

    def weight_integers(self, code: str) -> Integers:
        """The integers of weights of the type `code`."""
        return integers(code, not code.startswith("u"), self.narrow)


INT8 = Scheme("int8", activations="i8", bias="i32")
INT16X8 = Scheme("int16x8", activations="i16", bias="i64", symmetric=True)
UINT8 = Scheme("uint8", activations="u8", weights="u8", bias="i32", axis=False)
DYNAMIC = Scheme("dynamic")
WEIGHT_ONLY = Scheme("weight_only", hybrid=False)
FLOAT16 = Scheme("float16", weights="f16", hybrid=False)
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        INT8,
        INT16X8,
        UINT8,
        DYNAMIC,
        WEIGHT_ONLY,
        FLOAT16,
        Scheme("int8_int4", activations="i8", weights="i4", bias="i32"),
        Scheme("int16x4", activations="i16", weights="i4", bias="i64", symmetric=True),
        Scheme("dynamic_int4", weights="i4"),
        Scheme("dynamic_int2", weights="i2"),
        Scheme("weight_only_int4", weights="i4", hybrid=False),
        Scheme("weight_only_int2", weights="i2", hybrid=False),
        *(Scheme(f"dynamic_int4_block{n}", weights="i4", block=n) for n in BLOCK_SIZES),
        *(
            Scheme(f"weight_only_int{bits}_block{n}", weights=f"i{bits}", hybrid=False, block=n)
            for bits in (8, 4, 2)
            for n in BLOCK_SIZES
        ),
    )
}
"""The schemes that have a name."""
