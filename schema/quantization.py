"""What the stored integers of a tensor stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .named_tuple import NamedTuple

if TYPE_CHECKING:
    from .record import Record

    _Content = tuple[bytes, bytes, int, int, bytes | None, bytes | None, Record | None]

FIELDS = ("scales", "zero_points", "axis", "block_size", "min", "max", "details", "blocks")


class Blocks(NamedTuple):
    """Scales of blocks of elements, which the file has in tensors of their own.

    Attributes:
        shape: of a block.
        scales: float32, one for each block, in as many dimensions as the tensor has.
        zero_points: int64, as many as scales; None for zeros.
        file_scales: the scales as a file has them; None where they are of no file.
    """

    shape: tuple[int, ...]
    scales: np.ndarray
    zero_points: np.ndarray | None = None
    file_scales: np.ndarray | None = None

    def dequantized(self, values: np.ndarray) -> np.ndarray:
        """The float32 numbers that integers of these blocks stand for."""
        real = values.astype(np.float32)
        scales, zero_points = self.scales, self.zero_points
        for axis, n in enumerate(self.shape):
            scales = scales.repeat(n, axis)
            zero_points = None if zero_points is None else zero_points.repeat(n, axis)
        if zero_points is not None:
            real -= zero_points.astype(np.float32)
        return real * scales


class Quantization:
    """real = scale * (stored - zero_point), for a tensor or for each slice along `axis`.

    Equal to another one of the same content, which must not be changed once it is a key.

    Attributes:
        scales: float32, one or as many as dimension `axis` has; empty without any.
        zero_points: int64, as many as scales.
        axis: the quantized dimension.
        block_size: elements along `axis` that share a scale; 0 when it is not by blocks.
        min, max: what was measured, or None.
        details: a CustomQuantization, BlockwiseQuantization or MultiAxisQuantization record.
        blocks: what the tensors hold that a BlockwiseQuantization names; None without them.
    """

    __slots__ = FIELDS

    def __init__(
        self,
        scales: np.ndarray | Sequence[float],
        zero_points: np.ndarray | Sequence[int],
        axis: int = 0,
        block_size: int = 0,
        *,
        min: np.ndarray | None = None,
        max: np.ndarray | None = None,
        details: Record | None = None,
        blocks: Blocks | None = None,
    ) -> None:
        self.scales = np.asarray(scales, np.float32)
        self.zero_points = np.asarray(zero_points, np.int64)
        self.axis, self.block_size = axis, block_size
        self.min, self.max, self.details = min, max, details
        self.blocks = blocks

    @property
    def scale(self) -> float:
        """The first scale: the only one when per tensor."""
        return self.scales.item(0)

    @property
    def zero_point(self) -> int:
        """The first zero point: the only one when per tensor."""
        return self.zero_points.item(0)

    def with_details(self, details: Record) -> Quantization:
        """The same with other details."""
        fields = (self.scales, self.zero_points, self.axis, self.block_size)
        return Quantization(
            *fields, min=self.min, max=self.max, details=details, blocks=self.blocks
        )

    @property
    def is_per_channel(self) -> bool:
        """Whether each slice on `axis` has its own scale."""
        return len(self.scales) > 1

    def limits(self, dtype: np.dtype) -> tuple[float, float]:
        """The smallest and the largest number that integers of the one scale can stand for."""
        integers = np.iinfo(dtype)
        low, high = (self.scale * (n - self.zero_point) for n in (integers.min, integers.max))
        return low, high

    def shaped(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Scales and zero points as float32 arrays that broadcast against a tensor of a rank."""
        pair = self.scales.astype(np.float32), self.zero_points.astype(np.float32)
        shape = [1] * rank
        if self.is_per_channel:
            shape[self.axis] = len(self.scales)
            return pair[0].reshape(shape), pair[1].reshape(shape)
        return pair[0].reshape(()), pair[1].reshape(())

    def __eq__(self, other: object) -> bool:
        if type(other) is not Quantization:
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content()[:4])

    def _content(self) -> _Content:
        low, high = (
            None if values is None else np.asarray(values, np.float32).tobytes()
            for values in (self.min, self.max)
        )
        scales, zero_points = self.scales.tobytes(), self.zero_points.tobytes()
        if self.blocks is not None:
            scales += self.blocks.scales.tobytes()
        return scales, zero_points, self.axis, self.block_size, low, high, self.details

    def __repr__(self) -> str:
        text = f"Quantization({self.scales.tolist()}, {self.zero_points.tolist()}"
        return text + (f", axis={self.axis})" if self.is_per_channel else ")")
