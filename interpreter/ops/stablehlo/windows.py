"""Where the windows of STABLEHLO_REDUCE_WINDOW lie, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ....engine.sizes import largest


class WindowOptions(Protocol):
    """The options of the operator; a missing list is one of ones, or of zeros for the padding."""

    window_dimensions: Sequence[int] | None
    window_strides: Sequence[int] | None
    base_dilations: Sequence[int] | None
    window_dilations: Sequence[int] | None
    padding: Sequence[int] | None


class Windows(NamedTuple):
    """Windows over a tensor, a number for each dimension.

    Attributes:
        kernel: sizes of a window.
        strides: steps between windows.
        base: steps between the tensor's elements, others are the start.
        dilations: steps between a window's elements.
        low: elements added before.
        padded: sizes of the tensor with what is added.
        shape: how many windows there are.
    """

    kernel: list[int]
    strides: list[int]
    base: list[int]
    dilations: list[int]
    low: list[int]
    padded: list[int]
    shape: tuple[int, ...]


def windows_of(sizes: Sequence[int], options: WindowOptions) -> Windows:
    """The windows that options describe over a tensor of these sizes.

    Raises ValueError where they do not belong to as many dimensions.
    """
    rank = len(sizes)
    fields = (
        options.window_dimensions,
        options.window_strides,
        options.base_dilations,
        options.window_dilations,
    )
    kernel, strides, base, dilations = (
        [1] * rank if field is None or not len(field) else [int(n) for n in field]
        for field in fields
    )
    edges = options.padding
    flat = [0] * (2 * rank) if edges is None or not len(edges) else [int(n) for n in edges]
    rows = (kernel, strides, base, dilations)
    if (
        any(len(row) != rank for row in rows)
        or len(flat) != 2 * rank
        or min((n for row in rows for n in row), default=1) < 1
    ):
        raise ValueError(
            f"windows, strides, dilations and padding must be {rank} positive numbers each"
        )
    low, high = flat[::2], flat[1::2]
    padded = [
        largest((n - 1) * step + 1, 0) + before + after
        for n, step, before, after in zip(sizes, base, low, high, strict=True)
    ]
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    shape = tuple(
        largest((n - span) // stride + 1, 0)
        for n, span, stride in zip(padded, spans, strides, strict=True)
    )
    return Windows(kernel, strides, base, dilations, low, padded, shape)
