"""Reductions over axes, running sums, and sums over segments of rows."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..core.graph import Tensor
from ..core.registry import add_row, op
from ..core.shapes import (
    Shape,
    axis_of,
    integers,
    known,
    merged_shapes,
    require,
    same,
    shown,
    value,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..core.protocols import OperationView


def wide(x: np.ndarray) -> type[np.float64 | np.complex128] | np.dtype:
    """The dtype in which sums of `x` lose nothing worth speaking of."""
    if x.dtype.kind == "f" or x.dtype.kind == "V":
        return np.float64
    return np.complex128 if x.dtype.kind == "c" else x.dtype


def axes_of(axes: np.ndarray, rank: int) -> tuple[int, ...]:
    """The axes an index tensor names, counted from the front."""
    positions = [int(axis) for axis in axes.flat]
    for axis in positions:
        if not -rank <= axis < rank:
            words = f"Invalid reduction dimension {axis} for input with {rank} dimensions."
            raise ValueError(words)
    positions = [axis % rank for axis in positions]
    if len(set(positions)) != len(positions):
        raise ValueError(f"Invalid reduction arguments: axes contain {positions} twice")
    return tuple(positions)


def _reduced(op: OperationView) -> Shape:
    """The shape without the reduced axes, or with 1 in their place."""
    keep, axes = op.get_attr("keep_dims"), value(op, 1)
    listed = op.inputs[1].sizes or ()
    require(op, len(listed) < 2, f"Shape must be at most rank 1 but is rank {len(listed)}")
    shape = known(op, 0)
    if axes is None:
        return (None,) * len(shape) if keep else None
    reduced = axes_of(axes, len(shape))
    if keep:
        return tuple(1 if i in reduced else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in reduced)


def _lowest(dtype: np.dtype) -> float:
    return -np.inf if dtype.kind in "fV" else np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> float:
    return np.inf if dtype.kind in "fV" else np.iinfo(dtype).max


def _mean(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    n = prod(x.shape[i] for i in axis)
    if x.dtype.kind not in "iu":
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=wide(x)) / n
    total = np.sum(x, axis=axis, keepdims=keepdims)  # at least 64 bits: it does not wrap
    return (np.sign(total) * (np.abs(total) // n)).astype(x.dtype)


def _norm(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    return np.sqrt(np.sum(np.square(np.abs(x).astype(wide(x))), axis=axis, keepdims=keepdims))


def _product(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=wide(x))


Reduction: TypeAlias = "Callable[[np.ndarray, tuple[int, ...], bool], np.ndarray]"

REDUCTIONS: dict[str, Reduction] = {
    "All": lambda x, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    "Any": lambda x, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    "EuclideanNorm": _norm,
    "Max": lambda x, axis, keepdims: np.max(x, axis, keepdims=keepdims, initial=_lowest(x.dtype)),
    "Mean": _mean,
    "Min": lambda x, axis, keepdims: np.min(x, axis, keepdims=keepdims, initial=_highest(x.dtype)),
    "Prod": _product,
    "Sum": lambda x, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims, dtype=wide(x)),
}


def reduction(function: Reduction) -> Callable[..., np.ndarray]:
    """A kernel that applies `function` over the axes given as second input."""

    def kernel(x: np.ndarray, axes: np.ndarray, *, keep_dims: bool) -> np.ndarray:
        return function(x, axes_of(axes, x.ndim), keep_dims)

    return kernel


for _name, _function in REDUCTIONS.items():
    add_row(_name, reduction(_function), _reduced)


def _without_axis(op: OperationView) -> Shape:
    """The shape without the axis given as second input."""
    shape, axis = known(op, 0), integers(op, 1)
    if axis is None:
        return (None,) * (len(shape) - 1) if shape else None
    if not shape:
        return ()
    n = len(shape)
    words = f"Dimension ({axis[0]}) must be in the range [{-n}, {n}), where {n} is the number of"
    position = axis_of(op, axis[0], n, f"{words} dimensions in the input.")
    return shape[:position] + shape[position + 1 :]


def _require_elements(x: np.ndarray, axis: np.ndarray) -> None:
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}")
    if not x.shape[int(axis)]:
        sizes = ",".join(map(str, x.shape))
        raise ValueError(f"Reduction axis {int(axis)} is empty in shape [{sizes}]")


def _without_nan(x: np.ndarray, instead: float) -> np.ndarray:
    return np.where(np.isnan(x), x.dtype.type(instead), x) if x.dtype.kind in "fV" else x


@op("ArgMax", shape=_without_axis)
def arg_max(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The index of the first largest element along `axis`; NaN is passed over."""
    _require_elements(x, axis)
    return np.argmax(_without_nan(x, -np.inf), axis=int(axis))


@op("ArgMin", shape=_without_axis)
def arg_min(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The index of the first smallest element along `axis`; NaN is passed over."""
    _require_elements(x, axis)
    return np.argmin(_without_nan(x, np.inf), axis=int(axis))


def running(
    function: Callable[..., np.ndarray],
    start: float,
    dtype_of: Callable[[np.ndarray], DTypeLike] = wide,
) -> Callable[..., np.ndarray]:
    """A kernel that accumulates along an axis: from the end, or without the element itself."""

    def kernel(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
        if axis.ndim:
            raise ValueError(f"ScanOp: axis must be a scalar, not {shown(axis.shape)}")
        if not -x.ndim <= axis < x.ndim:
            limits = f"[{-x.ndim}, {x.ndim})"
            raise ValueError(f"ScanOp: Expected scan axis in the range {limits}, but got {axis}")
        position = int(axis) % x.ndim
        if reverse:
            x = np.flip(x, position)
        result = function(x, axis=position, dtype=dtype_of(x))
        if exclusive and x.shape[position]:
            result = np.roll(result, 1, position)
            result[(slice(None),) * position + (0,)] = start
        return np.flip(result, position) if reverse else result

    return kernel


add_row("Cumsum", running(np.cumsum, 0), same)
add_row("Cumprod", running(np.cumprod, 1), same)


def _log_sums(x: np.ndarray, axis: int, dtype: np.dtype) -> np.ndarray:
    """The logarithm of the sums of exponentials up to each element."""
    columns = np.moveaxis(x.astype(dtype), axis, 0)
    sums = np.empty_like(columns)
    for i, column in enumerate(columns):
        # numpy's accumulate makes NaN of infinities
        sums[i] = column if i == 0 else np.logaddexp(sums[i - 1], column)
    return np.moveaxis(sums, 0, axis)


@op("CumulativeLogsumexp", shape=same)
def cumulative_logsumexp(
    x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool
) -> np.ndarray:
    """As Cumsum, of exponentials; log 0 is minus infinity."""
    return running(_log_sums, -np.inf)(x, axis, exclusive=exclusive, reverse=reverse)


def _require_sorted(x: np.ndarray, ids: np.ndarray) -> int:
    """The number of segments that sorted ids of the rows of `x` name."""
    if x.ndim == 0 or ids.ndim != 1 or len(ids) != len(x):
        raise ValueError("segment_ids should be the same size as dimension 0 of input.")
    n = int(ids[-1]) + 1 if ids.size else 0
    if ids.size and n <= 0:
        raise ValueError("segment ids must be >= 0")
    falls = np.flatnonzero(np.diff(ids) < 0)
    earlier = np.unique(ids[: falls[0] + 1])[:-1] if falls.size else np.unique(ids)
    for segment in earlier.tolist():
        if not 0 <= segment < n:
            raise ValueError(
                f"Segment id {segment} out of range [0, {n}), possibly because 'segment_ids' "
                "input is not sorted."
            )
    if falls.size:
        raise ValueError("segment ids are not increasing")
    return n


def _combined(
    combine: np.ufunc,
    x: np.ndarray,
    ids: np.ndarray,
    n_segments: int,
    start: float,
    dtype: DTypeLike,
) -> np.ndarray:
    """`combine` over the rows of each segment, `start` where there are none.

    A maximum or minimum of which one side is NaN is the later one, as in TensorFlow.
    """
    result = np.full((n_segments,) + x.shape[ids.ndim :], start, dtype)
    rows = x.reshape((ids.size,) + x.shape[ids.ndim :])
    flat = ids.reshape(-1)
    if flat.size and int(flat.max()) >= n_segments:
        place = np.unravel_index(int(np.argmax(flat >= n_segments)), ids.shape)
        at = f"[{','.join(str(int(i)) for i in place)}]" if place else ""
        wrong = f"segment_ids{at} = {int(ids[place])}"
        raise ValueError(f"{wrong} is out of range [0, {n_segments})")
    numbers, rows = flat[flat >= 0], rows[flat >= 0].astype(dtype)
    if combine in (np.maximum, np.minimum) and x.dtype.kind in "fV" and np.isnan(rows).any():
        for i, row in zip(numbers, rows, strict=True):
            unordered = np.isnan(result[i]) | np.isnan(row)
            result[i] = np.where(unordered, row, combine(result[i], row))
    else:
        combine.at(result, numbers, rows)
    return result


SEGMENT: dict[str, tuple[np.ufunc, int | None]] = {
    "Sum": (np.add, 0),
    "Prod": (np.multiply, 1),
    "Min": (np.minimum, None),
    "Max": (np.maximum, None),
}


_BFLOAT16_MAX = 3.3895313892515355e38


def _extreme(kind: str, dtype: np.dtype) -> float:
    """What the smallest or largest of no elements is: a finite number."""
    if dtype.kind == "V":  # bfloat16
        return _BFLOAT16_MAX if kind == "Min" else -_BFLOAT16_MAX
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return limits.max if kind == "Min" else limits.min


def _segment(kind: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A kernel for sorted ids: segments without rows become 0, of a product 1."""
    combine, neutral = SEGMENT[kind]

    def kernel(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        n = _require_sorted(x, ids)
        start = _extreme(kind, x.dtype) if neutral is None else neutral
        result = _combined(combine, x, ids, n, start, wide(x) if neutral is not None else x.dtype)
        if neutral is None:
            result[np.bincount(ids, minlength=n) == 0] = 0
        return result

    return kernel


def _unsorted_segment(kind: str) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """A kernel for ids in any order; rows with a negative one are dropped."""
    combine, neutral = SEGMENT[kind]

    def kernel(x: np.ndarray, ids: np.ndarray, n_segments: np.ndarray) -> np.ndarray:
        start = _extreme(kind, x.dtype) if neutral is None else neutral
        dtype = wide(x) if neutral is not None else x.dtype
        return _combined(combine, x, ids, int(n_segments), start, dtype)

    return kernel


def _segment_shape(op: OperationView) -> Shape:
    """As many rows as the last id says where it is known; while a graph is built it never is."""
    shape = known(op, 0)
    require(op, shape, "Shape must be at least rank 1 but is rank 0")
    known(op, 1, 1)
    ids = None if isinstance(op.inputs[1], Tensor) else value(op, 1)
    first = None if ids is None else (int(ids.flat[-1]) + 1 if ids.size else 0)
    return (first if first is None or first >= 0 else None,) + shape[1:]


def _unsorted_segment_shape(op: OperationView) -> Shape:
    n_segments, shape = integers(op, 2), known(op, 0)
    first = None if n_segments is None else n_segments[0]
    words = f"Dimension size, given by scalar input 2, must be non-negative but is {first}"
    require(op, first is None or first >= 0, words)
    ids = known(op, 1)
    words = f"Shape must be at least rank {len(ids)} but is rank {len(shape)}"
    require(op, len(shape) >= len(ids), words)
    for a, b in zip(shape, ids, strict=False):
        words = f"Dimensions must be equal, but are {a} and {b}"
        require(op, None in (a, b) or a == b, words)
    return (first,) + shape[len(ids) :]


for _name in SEGMENT:
    add_row(f"Segment{_name}", _segment(_name), _segment_shape)
    add_row(f"UnsortedSegment{_name}", _unsorted_segment(_name), _unsorted_segment_shape)


@op("SegmentMean", shape=_segment_shape)
def segment_mean(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The mean of each segment's rows; 0 where there are none."""
    total = _combined(np.add, x, ids, _require_sorted(x, ids), 0, wide(x))
    counts = np.maximum(np.bincount(ids, minlength=len(total)), 1)
    return _divided(total, counts)


def _divided(total: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums of rows over numbers, of integers without what is behind the point."""
    by = counts.reshape((-1,) + (1,) * (total.ndim - 1))
    if total.dtype.kind not in "iu":
        return total / by
    by = by.astype(total.dtype)
    return total // by + ((total < 0) & (total % by != 0))


SPARSE_SEGMENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "SparseSegmentSum": lambda counts: np.ones(counts.shape),
    "SparseSegmentMean": lambda counts: counts,
    "SparseSegmentSqrtN": np.sqrt,
}
"""What the sum of a segment is divided by, given the number of its rows."""


def _sparse_segment(divisor: Callable[[np.ndarray], np.ndarray]) -> Callable[..., np.ndarray]:
    """A kernel that takes the rows at `indices` first."""

    def kernel(
        x: np.ndarray, indices: np.ndarray, ids: np.ndarray, n_segments: np.ndarray | None = None
    ) -> np.ndarray:
        wrong = np.flatnonzero((indices < 0) | (indices >= len(x)))
        if wrong.size:
            at = int(wrong[0])
            raise ValueError(f"Bad: indices[{at}] == {indices[at]} out of range [0, {len(x)})")
        n = _require_sorted(indices, ids) if n_segments is None else int(n_segments)
        if ids.size and ids[-1] >= n:
            raise ValueError("segment ids must be < num_segments")
        total = _combined(np.add, x[indices], ids, n, 0, wide(x))
        return _divided(total, divisor(np.maximum(np.bincount(ids, minlength=n), 1)))

    return kernel


def _sparse_segment_shape(op: OperationView) -> Shape:
    merged_shapes(op, known(op, 1, 1), known(op, 2, 1))
    last = integers(op, 3) if len(op.inputs) > 3 else None
    is_count = not last or last[0] >= 0
    require(op, is_count, "Cannot specify a negative value for num_segments")
    ids = None if isinstance(op.inputs[2], Tensor) else value(op, 2)
    if last is None and len(op.inputs) == 3 and ids is not None:
        last = [int(ids.flat[-1]) + 1 if ids.size else 0]
    return ((last[0] if last else None),) + known(op, 0)[1:]


for _name, _divisor in SPARSE_SEGMENT.items():
    add_row(_name, _sparse_segment(_divisor), _sparse_segment_shape)
    add_row(f"{_name}WithNumSegments", _sparse_segment(_divisor), _sparse_segment_shape)


def _sparse_segment_grad(
    divisor: Callable[[np.ndarray], np.ndarray],
) -> Callable[..., np.ndarray]:
    """A kernel that adds the gradient of each segment to the rows it was made of."""

    def kernel(
        grad: np.ndarray, indices: np.ndarray, ids: np.ndarray, output_dim0: np.ndarray
    ) -> np.ndarray:
        n_rows, n_segments = int(output_dim0), len(grad)
        if indices.ndim != 1 or indices.shape != ids.shape:
            raise ValueError("segment_ids and indices should have same size.")
        result = np.zeros((n_rows, *grad.shape[1:]), wide(grad))
        if not result.size or not ids.size:
            return result
        if ids[-1] >= n_segments:
            raise ValueError("Invalid number of segments")
        for name, numbers, n in (("Segment id", ids, n_segments), ("Index", indices, n_rows)):
            wrong = numbers[(numbers < 0) | (numbers >= n)]
            if wrong.size:
                raise ValueError(f"{name} {wrong[0]} out of range [0, {n}).")
        by = divisor(np.maximum(np.bincount(ids, minlength=n_segments), 1))
        shares = grad.astype(wide(grad)) / by.reshape((-1,) + (1,) * (grad.ndim - 1))
        np.add.at(result, indices, shares[ids])
        return result

    return kernel


def _sparse_segment_grad_shape(op: OperationView) -> Shape:
    merged_shapes(op, known(op, 1, 1), known(op, 2, 1))
    known(op, 3, 0)
    rows = integers(op, 3)
    require(op, rows is None or rows[0] >= 0, "Cannot specify a negative value for output_dim0")
    return ((rows[0] if rows else None),) + known(op, 0)[1:]


for _name, _divisor in SPARSE_SEGMENT.items():
    add_row(f"{_name}Grad", _sparse_segment_grad(_divisor), _sparse_segment_grad_shape)
