"""The derivative of Einstein's summation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, shape_of
from ..core.shapes import is_static
from .elementwise import conj
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor

_DOTS = "..."


@gradient("Einsum")
def einsum(op: Operation, dy: Tensor) -> list[Tensor]:
    """For each input the product of dy and the other inputs, spread along what only it has.

    Raises LookupError for dots, or a label that an input has twice, in an input of unknown rank.
    """
    equation = op.get_attr("equation").decode().replace(" ", "")
    operands, _, result = equation.partition("->")
    labels = operands.split(",")
    if _is_plain(equation, labels):
        n_batch = 0
    else:
        for x in op.inputs:
            if x.sizes is None:
                raise LookupError(
                    f"Einsum '{op.name}': a gradient of '{equation}' needs inputs of known rank"
                )
        ranks = [0 if x.sizes is None else len(x.sizes) for x in op.inputs]
        n_batch = max(rank - _n_named(label) for rank, label in zip(ranks, labels, strict=True))
    return [_by_input(op, dy, labels, result, i, n_batch) for i in range(len(labels))]


def _is_plain(equation: str, labels: list[str]) -> bool:
    return _DOTS not in equation and all(len(set(label)) == len(label) for label in labels)


def _n_named(label: str) -> int:
    return len(label.replace(_DOTS, ""))


def _by_input(
    op: Operation, dy: Tensor, labels: list[str], result: str, i: int, n_batch: int
) -> Tensor:
    """The derivative by one input, of whose dimensions `n_batch` are behind dots."""
    x, label = op.inputs[i], labels[i]
    others = [other for j, other in enumerate(labels) if j != i]
    tensors = [conj(tensor) for j, tensor in enumerate(op.inputs) if j != i]
    sources = [result, *others]
    needed = "".join(sources)
    head, dots, tail = label.partition(_DOTS)
    once = list(dict.fromkeys(head + tail))
    shared = [name for name in once if name in needed]
    inner = "".join(name for name in shared if name in head)
    inner += dots + "".join(name for name in shared if name not in head)
    part_dots = any(_DOTS in source for source in sources)
    if part_dots and not dots:
        part = ops.Einsum([dy, *tensors], equation=f"{','.join(sources)}->{_DOTS}{inner}")
        part = ops.Sum(part, np.arange(n_batch, dtype=np.int32))
    else:
        part = ops.Einsum([dy, *tensors], equation=f"{','.join(sources)}->{inner}")
    is_spread = [
        name not in shared or name in (head + tail)[:at] for at, name in enumerate(head + tail)
    ]
    for axis in range(len(head)):
        if is_spread[axis]:
            part = ops.ExpandDims(part, np.int32(axis))
    for back in range(1, len(tail) + 1):
        if is_spread[-back]:
            part = ops.ExpandDims(part, np.int32(-back))
    if dots:
        part = _unbatched(part, x, len(head), n_batch, _n_named(label))
    if len(once) < len(head + tail):
        part = _on_diagonals(part, x, head, tail)
    return ops.BroadcastTo(part, shape_of(x)) if any(is_spread) else part


def _unbatched(part: Tensor, x: Tensor, first: int, n_batch: int, n_named: int) -> Tensor:
    """`part` summed along those dimensions behind dots in which `x` was repeated."""
    shape = x.sizes or ()
    n_batched = len(shape) - n_named
    missing = n_batch - n_batched
    if missing:
        part = ops.Sum(part, np.arange(first, first + missing, dtype=np.int32))
    ours, theirs = shape[first : first + n_batched], (part.sizes or ())[first : first + n_batched]
    if is_static(ours) and is_static(theirs):
        axes = [first + k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
        return ops.Sum(part, np.array(axes, np.int32), keep_dims=True) if axes else part
    sizes = [ops.StridedSlice(ops.Shape(t), [first], [first + n_batched], [1]) for t in (x, part)]
    rows = ops.BroadcastGradientArgs(*sizes)[0]
    return ops.Sum(part, rows + np.int32(first), keep_dims=True)


def _on_diagonals(part: Tensor, x: Tensor, head: str, tail: str) -> Tensor:
    """`part` where the dimensions of one label have one index, zeros elsewhere."""
    rank = len(x.sizes or ())
    positions: dict[str, list[int]] = {}
    for at, name in enumerate(head + tail):
        axis = at if at < len(head) else rank - len(head + tail) + at
        positions.setdefault(name, []).append(axis)
    for axes in positions.values():
        numbers = [_numbers_along(x, axis, rank) for axis in axes]
        for other in numbers[1:]:
            part = part * ops.Cast(ops.Equal(numbers[0], other), DstT=part.dtype)
    return part


def _numbers_along(x: Tensor, axis: int, rank: int) -> Tensor:
    """0, 1, ... along one dimension of `x`, sizes of 1 elsewhere."""
    size = ops.StridedSlice(ops.Shape(x), [axis], [axis + 1], [1], shrink_axis_mask=1)
    sizes = [1] * rank
    sizes[axis] = -1
    return ops.Reshape(ops.Range(np.int32(0), size, np.int32(1)), np.array(sizes, np.int32))
