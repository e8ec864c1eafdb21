"""Elements picked, placed, sorted and told apart by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.registry import op
from ..core.shapes import (
    Dim,
    Shape,
    as_shape,
    axis_of,
    integers,
    known,
    require,
    shown,
    times,
)

if TYPE_CHECKING:
    from types import EllipsisType

    from ..core.protocols import OperationView


def require_indices(indices: np.ndarray, limit: int, name: str = "indices") -> None:
    """Raises ValueError unless all indices are in [0, limit)."""
    if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < limit:
        position = np.argwhere((indices < 0) | (indices >= limit))[0].tolist()
        index = indices[tuple(position)]
        place = f"[{','.join(map(str, position))}]" if position else ""
        raise ValueError(f"{name}{place} = {index} is not in [0, {limit})")


def _gather_shape(op: OperationView) -> Shape:
    return known(op, 1) + known(op, 0)[1:]


@op("Gather", shape=_gather_shape, moves_elements=True)
def gather(params: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The rows of `params` at `indices`."""
    require_indices(indices, len(params))
    return np.take(params, indices, 0)


def _gather_v2_shape(op: OperationView) -> Shape:
    params, indices, axes = known(op, 0), known(op, 1), integers(op, 2)
    batch = op.get_attr("batch_dims")
    batch = axis_of(op, batch, len(indices)) if batch < 0 else batch
    words = f"Shape must be at least rank {batch + 1} but is rank {len(params)}"
    require(op, batch < len(params), words)
    words = f"Shape must be at least rank {batch} but is rank {len(indices)}"
    require(op, batch <= len(indices), words)
    if axes is None:
        return (None,) * (len(params) + len(indices) - 1 - batch)
    axis = axis_of(op, axes[0], len(params))
    words = f"batch_dims ({batch}) must be less than or equal to axis ({axis})"
    require(op, batch <= axis, words)
    return params[:axis] + indices[batch:] + params[axis + 1 :]


@op("GatherV2", shape=_gather_v2_shape, moves_elements=True)
def gather_v2(
    params: np.ndarray, indices: np.ndarray, axis: np.ndarray, *, batch_dims: int
) -> np.ndarray:
    """The slices of `params` along `axis` at `indices`, apart for each of the batch dimensions."""
    position = int(axis) % params.ndim
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    require_indices(indices, params.shape[position])
    if not batch:
        return np.take(params, indices, position)
    if params.shape[:batch] != indices.shape[:batch]:
        raise ValueError(f"batch sizes differ: {params.shape[:batch]} and {indices.shape[:batch]}")
    shape = params.shape[:position] + indices.shape[batch:] + params.shape[position + 1 :]
    n_rows = prod(params.shape[:batch])
    rows = params.reshape((n_rows, *params.shape[batch:]))
    picks = indices.reshape((n_rows, *indices.shape[batch:]))
    slices = [np.take(*pair, position - batch) for pair in zip(rows, picks, strict=True)]
    return np.array(slices, params.dtype).reshape(shape)


def _gather_nd_shape(op: OperationView) -> Shape:
    params, indices = known(op, 0), known(op, 1)
    require(op, len(indices) >= 1, "indices must have rank >= 1")
    if indices[-1] is None:
        return None
    words = "indices.shape[-1] must be <= params.rank, but saw indices shape: "
    words += f"{shown(indices)} and params shape: {shown(params)}"
    require(op, indices[-1] <= len(params), words)
    return indices[:-1] + params[indices[-1] :]


@op("GatherNd", shape=_gather_nd_shape)
def gather_nd(
    params: np.ndarray, indices: np.ndarray, *, bad_indices_policy: bytes = b""
) -> np.ndarray:
    """The slices of `params` at index tuples; the whole of it for each empty one."""
    depth = indices.shape[-1]
    if not depth:
        return np.broadcast_to(params, indices.shape[:-1] + params.shape)
    result = np.zeros(indices.shape[:-1] + params.shape[depth:], params.dtype)
    if params.dtype == object:
        result[...] = b""
    if not params.size and result.size:
        raise ValueError(
            f"Requested more than 0 entries, but params is empty.  Params shape: "
            f"{shown(params.shape)}"
        )
    chosen = respected(indices, params.shape, bad_indices_policy)
    result[chosen] = params[index_tuple(indices[chosen], params.shape, "param shape")]
    return result


def respected(
    indices: np.ndarray, shape: Sequence[int], policy: bytes
) -> np.ndarray | EllipsisType:
    """Which index tuples count: all, or those inside of a shape where the policy is IGNORE.

    Raises ValueError for a policy that is none.
    """
    if policy not in (b"", b"DEFAULT", b"ERROR", b"IGNORE"):
        raise ValueError(f"Unknown bad indices handling attribute: {policy.decode()}")
    return ... if policy != b"IGNORE" else _inside(indices, shape)


def _inside(indices: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Whether each index tuple in the last dimension is inside of a shape."""
    limits = np.array(shape[: indices.shape[-1]], np.int64)
    return np.all((indices >= 0) & (indices < limits), -1)


def index_tuple(
    indices: np.ndarray, shape: Sequence[int], target: str = "shape"
) -> tuple[np.ndarray, ...]:
    """The numpy index of index tuples in the last dimension; `target` is what an error calls it."""
    outside = ~_inside(indices, shape)
    if outside.any():
        position = np.argwhere(outside)[0].tolist()
        place = f"[{','.join(map(str, position))}]" if position else ""
        index = ", ".join(map(str, indices[tuple(position)].tolist()))
        sizes = shown(tuple(shape))
        raise ValueError(f"indices{place} = [{index}] does not index into {target} {sizes}")
    return tuple(np.moveaxis(indices, -1, 0))


def _scatter_nd_shape(op: OperationView) -> Shape:
    shape, indices, updates = as_shape(op, 2), op.inputs[0].sizes, op.inputs[1].sizes
    require_scattered(op, shape, indices, updates)
    return shape


def require_scattered(op: OperationView, shape: Shape, indices: Shape, updates: Shape) -> None:
    """Raises ValueError unless updates are what is put at index tuples into a shape."""
    if not updates or not indices:  # a scalar goes everywhere
        return
    n_outer, depth = len(indices) - 1, indices[-1]
    if shape is not None:
        known_sizes = (*indices, *updates)
        is_empty = 0 in shape and 0 not in known_sizes and None not in known_sizes
        require(op, not is_empty, "Indices and updates specified for empty input")
    _require_alike(op, ("indices", indices, 0, n_outer), updates, 0, n_outer)
    if shape is not None and depth is not None:
        require(op, depth <= len(shape), _too_deep(shape, indices, updates))
        _require_alike(op, ("input", shape, depth, len(shape)), updates, n_outer, len(updates))


def _too_deep(shape: Sequence[Dim], indices: Sequence[Dim], updates: Sequence[Dim]) -> str:
    """What is said of index tuples with more places than a shape has dimensions."""
    return (
        f"Dimensions [{indices[-1]},{len(shape)}) of input[shape={shown(tuple(shape))}] must match "
        f"dimensions [{len(indices) - 1},{len(updates)}) of updates[shape={shown(tuple(updates))}]"
    )


def _require_alike(
    op: OperationView,
    other: tuple[str, tuple[Dim, ...], int, int],
    updates: tuple[Dim, ...],
    first: int,
    end: int,
) -> None:
    """Raises ValueError unless dimensions of the updates are those of another shape."""
    name, shape, other_first, other_end = other
    ours, theirs = updates[first:end], shape[other_first:other_end]
    if len(ours) != len(theirs):
        difference = f"Shapes must be equal rank, but are {len(theirs)} and {len(ours)}"
    else:
        pairs = enumerate(zip(theirs, ours, strict=True))
        unequal = [(i, n, m) for i, (n, m) in pairs if None not in (n, m) and n != m]
        if not unequal:
            return
        i, n, m = unequal[0]
        difference = (
            f"Dimension {i} in both shapes must be equal, but are {n} and {m}. Shapes are "
            f"{shown(theirs)} and {shown(ours)}."
        )
    words = (
        f"Dimensions [{other_first},{other_end}) of {name}[shape={shown(shape)}] = {shown(theirs)} "
        f"must match dimensions [{first},{end}) of updates[shape={shown(updates)}] = "
        f"{shown(ours)}: {difference}"
    )
    require(op, False, words)


@op("ScatterNd", shape=_scatter_nd_shape)
def scatter_nd(
    indices: np.ndarray, updates: np.ndarray, shape: np.ndarray, *, bad_indices_policy: bytes = b""
) -> np.ndarray:
    """Zeros, with the sum of `updates` at index tuples."""
    result = np.zeros([int(n) for n in shape], updates.dtype)
    if not result.size and updates.size:
        raise ValueError("Indices and updates specified for empty output")
    if updates.dtype == object:
        result[...] = b""
    scattered(np.add, result, indices, updates, bad_indices_policy)
    return result


def _scatter(combine: np.ufunc | None) -> Callable[..., np.ndarray]:
    """A kernel that puts updates into a copy, one after another."""

    def kernel(
        x: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, bad_indices_policy: bytes = b""
    ) -> np.ndarray:
        result = x.copy()
        scattered(combine, result, indices, updates, bad_indices_policy)
        return result

    return kernel


SCATTERS: dict[str, np.ufunc | None] = {
    "TensorScatterUpdate": None,
    "TensorScatterAdd": np.add,
    "TensorScatterSub": np.subtract,
    "TensorScatterMax": np.maximum,
    "TensorScatterMin": np.minimum,
}


def scattered(
    combine: np.ufunc | None,
    target: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    policy: bytes,
) -> None:
    """Combines updates with what stands at index tuples of `target`, or puts them there."""
    if indices.ndim and indices.shape[-1] > target.ndim:
        raise ValueError(_too_deep(target.shape, indices.shape, updates.shape))
    chosen = respected(indices, target.shape, policy)
    at, values = index_tuple(indices[chosen], target.shape), updates[chosen]
    if combine is None:
        target[at] = values
    else:
        combine.at(target, at, values)


def _tensor_scatter_shape(op: OperationView) -> Shape:
    require_scattered(op, *(tensor.sizes for tensor in op.inputs))
    return op.inputs[0].sizes


for _name, _combine in SCATTERS.items():
    op(_name, shape=_tensor_scatter_shape)(_scatter(_combine))


def _rank_of(op: OperationView, index: int) -> int:
    return len(op.inputs[index].sizes or ())


def _one_hot_shape(op: OperationView) -> Shape:
    indices, depths, axis = known(op, 0), integers(op, 1), op.get_attr("axis")
    require(op, not op.inputs[1].sizes, f"Input must be scalar but has rank {_rank_of(op, 1)}")
    depth = None if depths is None else depths[0]
    words = f"Dimension size, given by scalar input 1, must be non-negative but is {depth}"
    require(op, depth is None or depth >= 0, words)
    require(op, axis >= -1, "axis must be >= -1")
    n = len(indices)
    position = n if axis == -1 else axis
    return indices[:position] + (depth,) + indices[position:]


@op("OneHot", shape=_one_hot_shape)
def one_hot(
    indices: np.ndarray, depth: np.ndarray, on: np.ndarray, off: np.ndarray, *, axis: int
) -> np.ndarray:
    """`on` at each index along a new axis, `off` elsewhere."""
    for name, number in (("on_value", on), ("off_value", off)):
        if number.ndim:
            raise ValueError(f"{name} must be a scalar, but got: {shown(number.shape)}")
    if int(depth) < 0:
        raise ValueError(f"depth must be non-negative, got: {int(depth)}")
    n = indices.ndim
    if axis > n:
        raise ValueError(f"Expected axis to be -1 or between [0, {n}].  But received: {axis}")
    position = n if axis == -1 else axis
    steps = np.arange(int(depth)).reshape((-1,) + (1,) * (indices.ndim - position))
    return np.where(np.expand_dims(indices, position) == steps, on, off)


@op(
    "Where",
    shape=lambda op: (None, None if op.inputs[0].sizes is None else len(op.inputs[0].sizes)),
)
def where(x: np.ndarray) -> np.ndarray:
    """The index tuples of all elements that are not zero."""
    if not x.ndim:
        raise ValueError("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(x)


def _unique(x: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keys = x.astype(np.float32) if x.dtype.kind == "V" else x
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
    )
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.take(x, first[order], axis), rank[inverse.reshape(-1)], counts[order]


def _unique_shape(op: OperationView) -> list[Shape]:
    counts = [(None,)] if "Counts" in op.type else []
    if len(op.inputs) == 1:
        return [(None,), op.inputs[0].sizes, *counts]
    shape, axes = known(op, 0), integers(op, 1)
    if not axes:
        return [None, (None,), *counts]
    n = len(shape)
    axis = axis_of(op, axes[0], n, f"axis expects to be in the range [{-n}, {n})")
    return [shape[:axis] + (None,) + shape[axis + 1 :], (shape[axis],), *counts]


@op("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", shape=_unique_shape)
def unique(
    x: np.ndarray, axis: np.ndarray | None = None, *, op: OperationView
) -> tuple[np.ndarray, ...]:
    """The different slices along `axis` as they appear, for each slice which it is, how often."""
    if axis is not None and axis.size > 1:
        raise ValueError("axis does not support input tensors larger than 1 elements")
    if (axis is None or not axis.size) and x.ndim != 1:
        raise ValueError("unique expects a 1D vector.")
    results = _unique(x, int(axis[0]) if axis is not None and axis.size else 0)
    return results if "Counts" in op.type else results[:2]


@op("ListDiff", shape=lambda op: [(None,), (None,)])
def list_diff(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The elements of `x` that are not in `y`, and where they stand."""
    positions = np.flatnonzero(~np.isin(x, y))
    return x[positions], positions


def _nth_shape(op: OperationView) -> Shape:
    shape, ns = known(op, 0), integers(op, 1)
    require(op, len(shape) >= 1, "input must have rank >= 1")
    n = None if ns is None else ns[0]
    require(op, n is None or n >= 0, f"Need n >= 0, got {n}")
    is_in = n is None or shape[-1] is None or n < shape[-1]
    require(op, is_in, f"Input must have last dimension > n = {n} but is {shape[-1]}")
    return shape[:-1]


@op("NthElement", shape=_nth_shape)
def nth_element(x: np.ndarray, n: np.ndarray | int, *, reverse: bool) -> np.ndarray:
    """The element that would stand at `n` if the last dimension were sorted, or from the end."""
    place = x.shape[-1] - 1 - int(n) if reverse else int(n)
    if not 0 <= place < x.shape[-1]:
        raise ValueError(f"Input must have at least n + 1 = {int(n) + 1} columns")
    return np.partition(x, place, axis=-1)[..., place]


def _top_k_shape(op: OperationView) -> list[Shape]:
    shape, ks = known(op, 0), None
    require(op, len(shape) >= 1, "input must have rank >= 1")
    if len(op.inputs) > 1:
        require(op, not op.inputs[1].sizes, f"Input must be scalar but has rank {_rank_of(op, 1)}")
        ks = integers(op, 1)
    k = None if ks is None else ks[0]
    words = f"Dimension size, given by scalar input 1, must be non-negative but is {k}"
    require(op, k is None or k >= 0, words)
    fits = k is None or shape[-1] is None or k <= shape[-1]
    require(op, fits, f"input must have last dimension >= k = {k} but is {shape[-1]}")
    return [shape[:-1] + (k,)] * 2


def _rising(x: np.ndarray) -> np.ndarray:
    """Where the elements of the last dimension stand in rising order, NaN first."""
    if x.dtype.kind not in "fV" or not (is_nan := np.isnan(x)).any():
        return np.argsort(x, axis=-1, kind="stable")
    return np.lexsort((np.where(is_nan, np.zeros((), x.dtype), x), ~is_nan), axis=-1)


@op("TopKV2", shape=_top_k_shape)
def top_k_v2(x: np.ndarray, k: np.ndarray | int) -> tuple[np.ndarray, np.ndarray]:
    """The `k` largest elements of the last dimension, largest first, and where they are."""
    k = int(k)
    if not 0 <= k <= x.shape[-1]:
        raise ValueError(f"input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    backwards = _rising(x[..., ::-1])[..., ::-1]
    indices = (x.shape[-1] - 1 - backwards)[..., :k]
    return np.take_along_axis(x, indices, -1), indices


def _top_k_v1_shape(op: OperationView) -> list[Shape]:
    return [known(op, 0)[:-1] + (op.get_attr("k"),)] * 2


@op("TopK", shape=_top_k_v1_shape)
def top_k(x: np.ndarray, *, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The `k` largest elements of the last dimension, largest first, and where they are."""
    return top_k_v2(x, k)


def _approx_top_k_shape(op: OperationView) -> list[Shape]:
    shape = op.inputs[0].sizes
    if shape is None:
        return [None, None]
    axis: int = cast("int", op.get_attr("reduction_dimension")) % len(shape)
    return [(*shape[:axis], op.get_attr("k"), *shape[axis + 1 :])] * 2


@op("ApproxTopK", shape=_approx_top_k_shape)
def approx_top_k(
    x: np.ndarray,
    *,
    k: int,
    reduction_dimension: int,
    recall_target: float,
    is_max_k: bool,
    reduction_input_size_override: int,
    aggregate_to_topk: bool,
) -> list[np.ndarray]:
    """The k largest or smallest along an axis and where they are; all of them are right here."""
    rows = np.moveaxis(x, reduction_dimension, -1)
    values, indices = top_k_v2(rows if is_max_k else -rows, k)
    values = values if is_max_k else -values
    return [np.moveaxis(part, -1, reduction_dimension) for part in (values, indices)]


def _in_top_k_shape(op: OperationView) -> Shape:
    (rows, _), (n,) = known(op, 0, 2), known(op, 1, 1)
    require(op, None in (rows, n) or rows == n, f"Dimensions must be equal, but are {rows} and {n}")
    return (n if rows is None else rows,)


@op("InTopKV2", shape=_in_top_k_shape)
def in_top_k(predictions: np.ndarray, targets: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Whether each target is among the `k` best predictions of its row."""
    rows = np.arange(len(targets))
    inside = (targets >= 0) & (targets < predictions.shape[1])
    score = predictions[rows, np.where(inside, targets, 0)]
    better = (predictions > score[:, None]).sum(1)
    return inside & np.isfinite(predictions).all(1) & (better < int(k))


@op("InTopK", shape=_in_top_k_shape)
def in_top_k_of_attribute(predictions: np.ndarray, targets: np.ndarray, *, k: int) -> np.ndarray:
    """Whether each target is among the `k` best predictions of its row."""
    return in_top_k(predictions, targets, np.array(k))


@op("DynamicPartition", shape=lambda op: [_partition_shape(op)] * op.get_attr("num_partitions"))
def dynamic_partition(
    x: np.ndarray, partitions: np.ndarray, *, num_partitions: int
) -> np.ndarray | list[np.ndarray]:
    """The slices of `x` sorted into lists by number."""
    require_indices(partitions, num_partitions, "partitions")
    parts = [x[partitions == i] for i in range(num_partitions)]
    return parts[0] if num_partitions == 1 else parts


def _partition_shape(op: OperationView) -> Shape:
    shape, partitions = known(op, 0), known(op, 1)
    require(
        op,
        len(partitions) <= len(shape),
        f"Shape must be at least rank {len(partitions)} but is rank {len(shape)}",
    )
    for size, other in zip(shape, partitions, strict=False):
        fits = None in (size, other) or size == other
        require(op, fits, f"Dimensions must be equal, but are {size} and {other}")
    return (None,) + shape[len(partitions) :]


@op("DynamicStitch", "ParallelDynamicStitch", shape=lambda op: _stitch_shape(op))
def dynamic_stitch(*inputs: np.ndarray) -> np.ndarray:
    """Slices put where their indices say; later ones win."""
    n = len(inputs) // 2
    indices, values = inputs[:n], inputs[n:]
    count = max((int(index.max()) + 1 for index in indices if index.size), default=0)
    item_shape = values[0].shape[indices[0].ndim :]
    result = np.zeros((count,) + item_shape, values[0].dtype)
    for index, value in zip(indices, values, strict=True):
        require_indices(index, count)
        result[index.reshape(-1)] = value.reshape((index.size, *item_shape))
    return result


def _stitch_shape(op: OperationView) -> Shape:
    n = len(op.inputs) // 2
    inner = known(op, n)[len(known(op, 0)) :]
    for i in range(n):
        indices, values = op.inputs[i].sizes, op.inputs[n + i].sizes
        if indices is not None and values is not None:
            expected = (*indices, *inner)
            for size, other in zip(values, expected, strict=False):
                words = f"Dimensions must be equal, but are {size} and {other}"
                require(op, None in (size, other) or size == other, words)
    index_lists = [integers(op, i) for i in range(n)]
    numbers = [number for items in index_lists for number in items or ()]
    if None in index_lists:
        return (None, *inner)
    return (max(numbers, default=-1) + 1, *inner)


def _sparse_to_dense_shape(op: OperationView) -> Shape:
    return as_shape(op, 1)


def require_sorted(at: np.ndarray, shape: tuple[int, ...]) -> None:
    """Raises ValueError unless index tuples are in bounds, in the order of rows, and all differ."""
    is_inside: np.ndarray = np.all((at >= 0) & (at < np.array(shape, at.dtype)), 1)
    steps = at[1:] - at[:-1]
    first = np.take_along_axis(steps, np.argmax(steps != 0, 1)[:, None], 1)[:, 0]
    wrong = np.logical_not(is_inside)
    wrong[1:] |= first <= 0
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        place = f"indices[{i}] = {shown(tuple(at[i].tolist()))}"
        if not is_inside[i]:
            raise ValueError(f"{place} is out of bounds: need 0 <= index < {shown(shape)}")
        if first[i - 1] == 0:
            raise ValueError(f"{place} is repeated")
        raise ValueError(
            f"{place} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
        )


@op("SparseToDense", shape=_sparse_to_dense_shape)
def sparse_to_dense(
    indices: np.ndarray,
    shape: np.ndarray,
    values: np.ndarray,
    default: np.ndarray,
    *,
    validate_indices: bool,
) -> np.ndarray:
    """`default`, with `values` at index tuples."""
    if default.ndim:
        raise ValueError(f"default_value should be a scalar, got shape {shown(default.shape)}")
    at = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if at.shape[1] != len(shape):
        words = f"output_shape has incorrect number of elements: {len(shape)}"
        raise ValueError(f"{words} should be: {at.shape[1]}")
    result = np.full([int(n) for n in shape], default)
    if values.shape not in ((), (len(at),)):
        raise ValueError(
            f"sparse_values has incorrect shape {shown(values.shape)}, should be [] or [{len(at)}]"
        )
    if validate_indices and at.shape[1]:
        require_sorted(at, result.shape)
    elif not ((at >= 0) & (at < np.array(result.shape, at.dtype))).all():
        raise ValueError(f"Indices are not valid (out of bounds).  Shape: {shown(result.shape)}")
    result[index_tuple(at, result.shape)] = values
    return result


def _unravelled_shape(op: OperationView) -> Shape:
    indices, dims = op.inputs[0].sizes, known(op, 1, 1)
    if indices is None:
        return None
    return (dims[0], times(*indices)) if indices else (dims[0],)


@op("UnravelIndex", shape=_unravelled_shape)
def unravel_index(indices: np.ndarray, dims: np.ndarray) -> np.ndarray:
    """The index tuples of places counted in a row."""
    if indices.ndim > 1:
        raise ValueError(
            f"The indices can only be scalar or vector, got shape {shown(indices.shape)}"
        )
    if dims.size and dims.min() < 0:
        at = int(np.argmax(dims < 0))
        raise ValueError(f"Input dims cannot be negative. Got dim = {dims[at]} at index {at}")
    total = prod(dims.tolist())
    if not total:
        raise ValueError("dims cannot contain a dim of zero")
    if total > np.iinfo(dims.dtype).max:
        raise ValueError(f"Input dims product is causing integer overflow: {dims.tolist()}")
    require_indices(indices, total)
    return np.stack(np.unravel_index(indices, tuple(dims.tolist())))
