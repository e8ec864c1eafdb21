"""The range that a fake-quantized constant was rounded in, as its moves carry it along."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..ir.graph import Graph, Op


def nudged(low: float, high: float, bits: int, narrow: bool) -> tuple[float, float]:
    """The range of FakeQuant, moved so that 0 is one of its levels: TensorFlow's rule."""
    first, last = int(narrow), 2**bits - 1
    scale = (high - low) / (last - first)
    zero = min(max(floor(first - low / scale + 0.5), first), last)
    return (first - zero) * scale, (last - zero) * scale


class FakeQuantized(NamedTuple):
    """The ranges of a float32 constant whose elements are already those of integers.

    Attributes:
        low, high: the range, or one for each index of `axis`.
        axis: the dimension with a range for each index, where there are several.
        bits: how many the integers have.
        narrow: whether they leave the lowest one out.
        dynamic: whether what they are multiplied with is quantized, too, by its own range.
    """

    low: np.ndarray
    high: np.ndarray
    axis: int
    bits: int
    narrow: bool
    dynamic: bool = False

    @property
    def is_per_axis(self) -> bool:
        """Whether there are several ranges."""
        return self.low.size > 1

    def transposed(self, order: Sequence[int]) -> FakeQuantized:
        """That of the constant with its axes in another order."""
        return self._replace(axis=list(order).index(self.axis) if self.is_per_axis else 0)

    def reshaped(self, before: Sequence[int], after: Sequence[int]) -> FakeQuantized | None:
        """That of the constant in another shape, where its ranges still lie along one axis.

        >>> two = FakeQuantized(np.array([-1.0, -2.0]), np.array([1.0, 2.0]), 2, 8, True)
        >>> two.reshaped((3, 2, 2), (3, 4)).high
        array([1., 2., 1., 2.])
        """
        if not self.is_per_axis:
            return self
        shape = [-1 if i == self.axis else 1 for i in range(len(before))]
        ends = [np.broadcast_to(x.reshape(shape), before).reshape(after) for x in self[:2]]
        for axis in reversed(range(len(after))):
            first = tuple(slice(None) if i == axis else slice(1) for i in range(len(after)))
            if all((end == end[first]).all() for end in ends):
                low, high = (end[first].ravel() for end in ends)
                return self._replace(low=low, high=high, axis=axis)
        return None

    def scaled(self, scale: np.ndarray, axis: int) -> FakeQuantized | None:
        """That of the constant times a factor for each index of `axis`, where it has such ranges.

        >>> one = FakeQuantized(np.full(1, -1.0), np.full(1, 2.0), 0, 8, False)
        >>> one.scaled(np.array([1.0, -2.0]), 3).low
        array([-1., -4.], dtype=float32)
        """
        if not scale.all() or (self.is_per_axis and self.axis != axis):
            return None
        if (scale == scale[0]).all():
            scale, axis = scale[:1], self.axis
        ends = np.sort([self.low * scale, self.high * scale], axis=0).astype(np.float32)
        return self._replace(low=ends[0], high=ends[1], axis=axis)


def has_fake_quant(graphs: Sequence[Graph]) -> bool:
    """Whether a graph, or one that it calls, has FAKE_QUANT operators."""
    called = (inner for graph in graphs for inner in graph.reachable())
    return any(op.kind == "FAKE_QUANT" for graph in called for op in graph.ops)


def has_dynamic_weights(graphs: Sequence[Graph]) -> bool:
    """Whether an operator of a graph, or of one that it calls, reads such weights."""
    ops = (op for graph in graphs for called in graph.reachable() for op in called.ops)
    return any(reads_dynamic_weights(op) for op in ops)


def reads_dynamic_weights(op: Op) -> bool:
    """Whether the source quantizes what an operator multiplies its integer weights with."""
    return any(x.fake_quant is not None and x.fake_quant.dynamic for x in op.present_inputs)
