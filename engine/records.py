"""Numbers that kernels and the families that call them pass together, by name. No numba.

A kernel declares a record like any other number, and reads its fields (build/declaration.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..schema.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class PoolWindow(NamedTuple):
    """A window over height and width: its size, its steps, and rows and columns of padding."""

    size_h: int
    size_w: int
    stride_h: int
    stride_w: int
    before_h: int
    before_w: int

    @classmethod
    def of(cls, size: Sequence[int], stride: Sequence[int], before: Sequence[int]) -> PoolWindow:
        """The window of pairs of numbers."""
        return cls(*size, *stride, *before)


class ConvWindow(NamedTuple):
    """How a filter goes over height and width: steps, distances of taps, and padding before."""

    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    before_h: int
    before_w: int

    @classmethod
    def of(
        cls, stride: Sequence[int], dilation: Sequence[int], before: Sequence[int]
    ) -> ConvWindow:
        """The window of pairs of numbers."""
        return cls(*stride, *dilation, *before)


class ConvWindow3D(NamedTuple):
    """`ConvWindow` over depth, height and width."""

    stride_d: int
    stride_h: int
    stride_w: int
    dilation_d: int
    dilation_h: int
    dilation_w: int
    before_d: int
    before_h: int
    before_w: int

    @classmethod
    def of(
        cls, stride: Sequence[int], dilation: Sequence[int], before: Sequence[int]
    ) -> ConvWindow3D:
        """The window of three numbers each."""
        return cls(*stride, *dilation, *before)


class ConvGeometry(NamedTuple):
    """The rows of the array `geometry` of convolutions in tiles, each for height and width."""

    counts: Sequence[int]
    """How many results."""
    stride: Sequence[int]
    dilation: Sequence[int]
    before: Sequence[int]
    """Padding."""
    out_stride: Sequence[int]
    """Of the results in `out`."""
    out_start: Sequence[int]


COUNTS, STRIDE, DILATION, BEFORE, OUT_STRIDE, OUT_START = range(6)
"""The rows of `ConvGeometry`."""
HEIGHT, WIDTH = range(2)
"""Its columns."""


class ItemSize(NamedTuple):
    """What an item of a matrix product is: so many rows times columns of the result."""

    rows: int
    columns: int


class Int8Packing(NamedTuple):
    """How weights of int8 are packed (families/gemm_i8.py)."""

    pitch: int
    """Bytes from row to row of a block of inputs for AMX, else 0."""
    n_vectors: int
    """Vectors of a narrow tile; 0 where tiles are not narrow."""
    zero_point: int


class Int8Epilogue(NamedTuple):
    """How int8 results are made of sums, beside the terms (kernels/int8/_requantize.py)."""

    rounding: int
    zero_point: int
    low: int
    high: int
    flip: int


class Int16Epilogue(NamedTuple):
    """How int16 results are made of sums, beside the terms (kernels/int16/gemm_i16.py)."""

    quick: int
    """Whether results of int32 sums are int32 before they are held within the limits."""
    low: int
    high: int


class Output(NamedTuple):
    """The zero point of quantized results, the lowest and the highest of them."""

    zero_point: int
    low: int
    high: int


class FixedPoint(NamedTuple):
    """The scale multiplier * 2 ** (shift - 31)."""

    multiplier: int
    shift: int


class Axis(NamedTuple):
    """A dimension: its size, and the elements from one of its indices to the next."""

    size: int
    stride: int


class SequencePart(NamedTuple):
    """A part of a sequence: how many steps, and where these lie in memory."""

    steps: int
    batch_pitch: int
    """Rows from one of the batch to the next."""
    step_pitch: int
    backward: int
    column: int
    """Where a result begins in a row of `out`."""
