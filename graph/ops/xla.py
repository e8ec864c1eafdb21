"""XLA's operations that TensorFlow has as operations of its own, as exports of JAX write them.

Source: XLA's "Operation Semantics".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.evaluate import as_results, evaluate_body
from ..core.registry import op
from ..core.shapes import Dim, Shape, integers, known, plus, require, same, scalar, times, unknown
from .xla_numbers import dimension_numbers, gather_numbers, permuted, scatter_numbers

if TYPE_CHECKING:
    from ..core.protocols import OperationView
    from ..core.signatures.attributes import FunctionRef


def _same_each(op: OperationView) -> list[Shape]:
    return [tensor.sizes for tensor in op.inputs]


@op("XlaSharding", "XlaSetBound", shape=same)
def unchanged(x: np.ndarray, *_: np.ndarray) -> np.ndarray:
    """`x`: what these say is for the compiler alone."""
    return x


@op("XlaOptimizationBarrier", shape=_same_each)
def optimization_barrier(*inputs: np.ndarray) -> np.ndarray | Sequence[np.ndarray]:
    """The inputs: the compiler does not move what is before them behind."""
    return as_results(inputs)


@op("XlaReplicaId", shape=scalar)
def replica_id() -> np.ndarray:
    """0: the only one of one replica."""
    return np.asarray(np.int32(0))


def _free(rank: int, *taken: Sequence[int]) -> list[int]:
    """The dimensions that are in none of some lists."""
    return [i for i in range(rank) if not any(i in axes for axes in taken)]


def _dot_shape(op: OperationView) -> Shape:
    x, y = known(op, 0), known(op, 1)
    numbers = dimension_numbers(op, "Dot")
    left = _free(len(x), numbers.lhs_batch_dimensions, numbers.lhs_contracting_dimensions)
    right = _free(len(y), numbers.rhs_batch_dimensions, numbers.rhs_contracting_dimensions)
    batch: list[Dim] = [x[i] for i in numbers.lhs_batch_dimensions]
    return (*batch, *(x[i] for i in left), *(y[i] for i in right))


@op("XlaDot", "XlaDotV2", shape=_dot_shape)
def dot(x: np.ndarray, y: np.ndarray, *, op: OperationView) -> np.ndarray:
    """Sums of products: batch dimensions, then the free ones of `x` and of `y`."""
    numbers, dtype = dimension_numbers(op, "Dot"), op.outputs[0].dtype
    matrices: list[np.ndarray] = []
    sizes: list[list[list[int]]] = []
    rows: list[tuple[np.ndarray, list[int], list[int]]] = [
        (x, [*numbers.lhs_batch_dimensions], [*numbers.lhs_contracting_dimensions]),
        (y, [*numbers.rhs_batch_dimensions], [*numbers.rhs_contracting_dimensions]),
    ]
    for array, batch, depth in rows:
        free = _free(array.ndim, batch, depth)
        sizes.append([[array.shape[i] for i in axes] for axes in (batch, free)])
        shape = [int(np.prod([array.shape[i] for i in axes])) for axes in (batch, free, depth)]
        wide = array if dtype is None else array.astype(dtype.dtype)
        matrices.append(wide.transpose([*batch, *free, *depth]).reshape(shape))
    result = matrices[0] @ matrices[1].transpose(0, 2, 1)
    return result.reshape(*sizes[0][0], *sizes[0][1], *sizes[1][1])


def _dilated_size(size: Dim, step: int) -> Dim:
    return size if size is None or step == 1 else max((size - 1) * step + 1, 0)


def _window_counts(
    sizes: Iterable[Dim],
    pads: Sequence[Sequence[int]],
    kernel: Iterable[Dim],
    strides: Iterable[int],
    base: Iterable[int],
    dilations: Iterable[int],
) -> list[Dim]:
    """How many windows there are along each dimension."""
    counts: list[Dim] = []
    columns = zip(sizes, pads, kernel, strides, base, dilations, strict=True)
    for size, (low, high), extent, stride, hole, dilation in columns:
        window, size = _dilated_size(extent, dilation), _dilated_size(size, hole)
        if size is None or window is None:
            counts.append(None)
        else:
            counts.append(max((size + low + high - window) // stride + 1, 0))
    return counts


def _spread(x: np.ndarray, steps: Sequence[int], value: np.ndarray) -> np.ndarray:
    """`x` with `steps - 1` values between its elements along each dimension."""
    shape = [max((n - 1) * step + 1, 0) for n, step in zip(x.shape, steps, strict=True)]
    result = np.full(shape, value, x.dtype)
    result[tuple(slice(None, None, step) for step in steps)] = x
    return result


def _surrounded(x: np.ndarray, pads: Iterable[Sequence[int]], value: np.ndarray) -> np.ndarray:
    """`x` with a value around it, or less of it where numbers are below 0."""
    rows = [tuple(map(int, row)) for row in pads]
    x = np.pad(x, [(max(a, 0), max(b, 0)) for a, b in rows], constant_values=value)
    return x[
        tuple(
            slice(max(-a, 0), max(n - max(-b, 0), 0))
            for n, (a, b) in zip(x.shape, rows, strict=True)
        )
    ]


def _windows(
    x: np.ndarray, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> np.ndarray:
    """[*counts, *kernel]: the windows over all dimensions of `x`."""
    extents = [_dilated_size(n, step) or 0 for n, step in zip(kernel, dilations, strict=True)]
    if any(n < extent for n, extent in zip(x.shape, extents, strict=True)):
        return np.zeros([0] * x.ndim + list(kernel), x.dtype)
    view = np.lib.stride_tricks.sliding_window_view(x, extents)
    outer = tuple(slice(None, None, step) for step in strides)
    return view[(*outer, *(slice(None, None, step) for step in dilations))]


def _conv_sizes(op: OperationView) -> tuple[list[int] | None, ...]:
    return tuple(integers(op, i) for i in range(2, 7))


def _batch_groups(op: OperationView) -> int:
    """Into how many groups the batch is divided."""
    return cast("int", op.get_attr("batch_group_count")) if op.type == "XlaConvV2" else 1


def _conv_shape(op: OperationView) -> Shape:
    x, filters, numbers = known(op, 0), known(op, 1), dimension_numbers(op, "Convolution")
    strides, pads, base, dilations, _ = _conv_sizes(op)
    groups = _batch_groups(op)
    positions: list[int] = [*numbers.input_spatial_dimensions]
    windows: list[int] = [*numbers.kernel_spatial_dimensions]
    sizes: list[Dim] = [None] * len(positions)
    if not (strides is None or pads is None or base is None or dilations is None):
        sizes = _window_counts(
            [x[i] for i in positions],
            list(zip(pads[::2], pads[1::2], strict=True)),
            [filters[i] for i in windows],
            strides,
            base,
            dilations,
        )
    batch_axis: int = numbers.input_batch_dimension
    batch = x[batch_axis]
    shape: list[Dim] = [None] * len(x)
    shape[numbers.output_batch_dimension] = None if batch is None else batch // groups
    shape[numbers.output_feature_dimension] = filters[numbers.kernel_output_feature_dimension]
    for axis, size in zip(numbers.output_spatial_dimensions, sizes, strict=True):
        shape[axis] = size
    return tuple(shape)


@op("XlaConv", "XlaConvV2", shape=_conv_shape)
def conv(
    x: np.ndarray,
    filters: np.ndarray,
    strides: np.ndarray,
    padding: np.ndarray,
    base: np.ndarray,
    dilations: np.ndarray,
    feature_groups: np.ndarray,
    *,
    op: OperationView,
) -> np.ndarray:
    """The convolution over any dimensions, with holes in both operands and groups."""
    numbers, dtype = dimension_numbers(op, "Convolution"), op.outputs[0].dtype
    batch_groups = _batch_groups(op)
    spatial: list[int] = [*numbers.input_spatial_dimensions]
    wide = x if dtype is None else x.astype(dtype.dtype)
    wide = wide.transpose(
        [numbers.input_batch_dimension, *spatial, numbers.input_feature_dimension]
    )
    filters = filters.transpose(
        [
            *numbers.kernel_spatial_dimensions,
            numbers.kernel_input_feature_dimension,
            numbers.kernel_output_feature_dimension,
        ]
    )
    zero = np.zeros((), wide.dtype)
    wide = _spread(wide, [1, *base.tolist(), 1], zero)
    wide = _surrounded(wide, [(0, 0), *padding.tolist(), (0, 0)], zero)
    groups = max(int(feature_groups), batch_groups)
    inputs = np.split(wide, groups, 0 if batch_groups > 1 else -1)
    n = len(spatial)
    ones, kernel = [1] * n, list(filters.shape[:n])
    results: list[np.ndarray] = []
    for part, weights in zip(inputs, np.split(filters, groups, -1), strict=True):
        window = [1, *kernel, 1]
        view = _windows(part, window, [1, *strides.tolist(), 1], [1, *dilations.tolist(), 1])
        view = view.reshape(*view.shape[: n + 2], *kernel)  # [batch, *counts, channels, *kernel]
        axes = [n + 1, *range(n + 2, 2 * n + 2)]
        results.append(np.tensordot(view, weights, (axes, [n, *range(len(ones))])))
    result = np.concatenate(results, -1)
    order: list[int] = [numbers.output_batch_dimension, *numbers.output_spatial_dimensions]
    return result.transpose(np.argsort([*order, numbers.output_feature_dimension]))


def _pad_shape(op: OperationView) -> Shape:
    shape = known(op, 0)
    rows = [integers(op, i) for i in (2, 3, 4)]
    low, high, between = (row if row is not None else [None] * len(shape) for row in rows)
    holes = [plus(n, -1) if n != 0 else 0 for n in shape]
    return tuple(
        plus(n, a, b, times(m, c))
        for n, m, a, b, c in zip(shape, holes, low, high, between, strict=True)
    )


@op("XlaPad", shape=_pad_shape)
def pad(
    x: np.ndarray, value: np.ndarray, low: np.ndarray, high: np.ndarray, between: np.ndarray
) -> np.ndarray:
    """Values between the elements of `x` and around them."""
    rows = zip(low.tolist(), high.tolist(), strict=True)
    return _surrounded(_spread(x, [n + 1 for n in between.tolist()], value), list(rows), value)


def _gather_shape(op: OperationView) -> Shape:
    operand, indices, sizes = known(op, 0), known(op, 1), integers(op, 2)
    numbers = gather_numbers(op, len(operand))
    batch = [n for i, n in enumerate(indices) if i != numbers.index_axis]
    inner: list[Dim] = [None] * len(operand) if sizes is None else [*sizes]
    offsets = [n for i, n in enumerate(inner) if i not in numbers.dropped]
    require(
        op,
        len(offsets) == len(numbers.windows),
        f"offset_dims must name {len(offsets)} dimensions, got {numbers.windows}",
    )
    return permuted(numbers, batch, offsets)


def _corners(
    indices: np.ndarray, rank: int, axis: int, targets: Sequence[int], batching: dict[int, int]
) -> np.ndarray:
    """[*batch, rank]: where the windows begin; `axis` of the indices has their parts."""
    rows = indices[..., None] if axis == indices.ndim else np.moveaxis(indices, axis, -1)
    corners = np.zeros((*rows.shape[:-1], rank), np.int64)
    for i, target in enumerate(targets):
        corners[..., target] = rows[..., i]
    grid = np.indices(rows.shape[:-1])
    for target, source in batching.items():
        corners[..., target] = grid[source - (source > axis)]
    return corners


@op("XlaGather", shape=_gather_shape)
def gather(
    operand: np.ndarray, indices: np.ndarray, sizes: np.ndarray, *, op: OperationView
) -> np.ndarray:
    """Windows of the operand, moved so far that they lie within."""
    numbers = gather_numbers(op, operand.ndim)
    corners = _corners(indices, operand.ndim, numbers.index_axis, numbers.targets, numbers.batching)
    corners = np.clip(corners, 0, np.array(operand.shape) - sizes)
    window: tuple[int, ...] = tuple(sizes.tolist())
    grid = np.moveaxis(np.indices(window), 0, -1)
    batch = corners.shape[:-1]
    positions = corners.reshape(*batch, *[1] * operand.ndim, operand.ndim) + grid
    result = operand[tuple(np.moveaxis(positions, -1, 0))]
    result = result.squeeze(tuple(len(batch) + i for i in numbers.dropped))
    order = permuted(numbers, range(len(batch)), range(len(batch), result.ndim))
    return result.transpose(order)


def _applied(op: OperationView, body: FunctionRef, *arguments: np.ndarray) -> list[np.ndarray]:
    """What a function of scalars gives for each element."""
    shape = np.broadcast_shapes(*(x.shape for x in arguments))
    results = evaluate_body(op.graph.functions.body(body), arguments)
    return [np.broadcast_to(x, shape) for x in results]


@op("XlaScatter", shape=same, pure=False)
def scatter(
    operand: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    *,
    update_computation: FunctionRef,
    op: OperationView,
) -> np.ndarray:
    """The operand with windows combined with updates; one that is not within is left out."""
    numbers = scatter_numbers(op, operand.ndim)
    corners = _corners(indices, operand.ndim, numbers.index_axis, numbers.targets, numbers.batching)
    batch = [i for i in range(updates.ndim) if i not in numbers.windows]
    updates = updates.transpose([*batch, *numbers.windows])
    window = iter(updates.shape[len(batch) :])
    sizes = [1 if i in numbers.dropped else next(window) for i in range(operand.ndim)]
    result = operand.copy()
    for place in np.ndindex(*updates.shape[: len(batch)]):
        corner = corners[place]
        if (corner < 0).any() or (corner + sizes > operand.shape).any():
            continue
        box = tuple(slice(a, a + n) for a, n in zip(corner.tolist(), sizes, strict=True))
        update = updates[place].reshape(sizes)
        result[box] = _applied(op, update_computation, result[box], update)[0]
    return result


def _reduced(shape: Sequence[Dim], axes: Sequence[int]) -> Shape:
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def _reduce_shape(op: OperationView) -> list[Shape]:
    axes = cast("list[int]", op.get_attr("dimensions_to_reduce"))
    return [_reduced(known(op, i), axes) for i in range(len(op.outputs))]


@op("XlaReduce", "XlaVariadicReduce", "XlaVariadicReduceV2", shape=_reduce_shape, pure=False)
def reduce(
    *operands: np.ndarray,
    dimensions_to_reduce: Sequence[int],
    reducer: FunctionRef,
    op: OperationView,
) -> np.ndarray | Sequence[np.ndarray]:
    """Dimensions folded by a function of as many accumulators and elements as there are inputs."""
    inputs, values = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    axes = list(dimensions_to_reduce)
    others = _free(inputs[0].ndim, axes)
    shape = [inputs[0].shape[i] for i in others]
    rows = [x.transpose([*axes, *others]).reshape(-1, *shape) for x in inputs]
    values = [np.broadcast_to(x, shape) for x in values]
    for i in range(len(rows[0])):
        values = _applied(op, reducer, *values, *(row[i] for row in rows))
    return as_results(values)


def _reduce_window_shape(op: OperationView) -> Shape:
    shape = known(op, 0)
    kernel, strides, base, dilations, pads = (integers(op, i) for i in range(2, 7))
    if kernel is None or strides is None or base is None or dilations is None or pads is None:
        return (None,) * len(shape)
    rows = list(zip(pads[::2], pads[1::2], strict=True))
    return tuple(_window_counts(shape, rows, kernel, strides, base, dilations))


@op("XlaReduceWindow", shape=_reduce_window_shape, pure=False)
def reduce_window(
    x: np.ndarray,
    start: np.ndarray,
    kernel: np.ndarray,
    strides: np.ndarray,
    base: np.ndarray,
    dilations: np.ndarray,
    padding: np.ndarray,
    *,
    computation: FunctionRef,
    op: OperationView,
) -> np.ndarray:
    """Each window folded by a function, from a start that is around the input, too."""
    padded = _surrounded(_spread(x, base.tolist(), start), padding.tolist(), start)
    view = _windows(padded, kernel.tolist(), strides.tolist(), dilations.tolist())
    result = np.broadcast_to(start, view.shape[: x.ndim])
    for place in np.ndindex(*kernel.tolist()):
        result = _applied(op, computation, result, view[(..., *place)])[0]
    return result


@op("XlaSelectAndScatter", shape=same, pure=False)
def select_and_scatter(
    x: np.ndarray,
    kernel: np.ndarray,
    strides: np.ndarray,
    padding: np.ndarray,
    source: np.ndarray,
    start: np.ndarray,
    *,
    select: FunctionRef,
    scatter: FunctionRef,
    op: OperationView,
) -> np.ndarray:
    """The source's elements, joined where each window has the element that a function prefers."""
    zero, ones = np.zeros((), x.dtype), [1] * x.ndim
    view = _windows(_surrounded(x, padding, zero), kernel.tolist(), strides.tolist(), ones)
    positions = np.indices(view.shape[: x.ndim]) * strides.reshape(-1, *ones) - padding[
        :, 0
    ].reshape(-1, *ones)
    best, chosen = np.zeros(source.shape, x.dtype), np.full((x.ndim, *source.shape), -1)
    for tap in np.ndindex(*kernel.tolist()):
        here = positions + np.reshape(tap, (-1, *ones))
        limits = np.reshape(x.shape, (-1, *ones))
        inside = ((here >= 0) & (here < limits)).all(0)
        value = view[(..., *tap)]
        stays = _applied(op, select, best, value)[0] & (chosen[0] >= 0)
        best = np.where(inside & ~stays, value, best)
        chosen = np.where(inside & ~stays, here, chosen)
    result = np.broadcast_to(start, x.shape).copy()
    for window in np.ndindex(*source.shape):
        place = tuple(int(axis[window]) for axis in chosen)
        if min(place, default=0) >= 0:
            result[place] = _applied(op, scatter, result[place], source[window])[0]
    return result


@op("XlaSort", shape=same)
def sort(x: np.ndarray) -> np.ndarray:
    """`x` in ascending order along its last dimension."""
    return np.sort(x, -1, kind="stable")


@op("XlaKeyValueSort", shape=_same_each)
def key_value_sort(keys: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Keys in ascending order along the last dimension, and the values beside them."""
    order = np.argsort(keys, -1, kind="stable")
    return [np.take_along_axis(x, order, -1) for x in (keys, values)]


@op("XlaVariadicSort", shape=lambda op: _same_each(op)[:-1], pure=False)
def variadic_sort(
    *operands: np.ndarray, comparator: FunctionRef, op: OperationView
) -> np.ndarray | Sequence[np.ndarray]:
    """The inputs in the order that a function gives their elements along a dimension, stable."""
    *inputs, dimension = operands
    rows = [np.moveaxis(x, int(dimension), -1) for x in inputs]
    pairs = [y for x in rows for y in np.broadcast_arrays(x[..., :, None], x[..., None, :])]
    is_before = _applied(op, comparator, *pairs)[0]
    count = rows[0].shape[-1]
    comes_first = np.tri(count, k=-1, dtype=bool).T  # [i, j]: i < j
    precedes = is_before | (~np.swapaxes(is_before, -1, -2) & comes_first)
    order = np.argsort(precedes.sum(-2), -1)
    ordered = [np.take_along_axis(x, order, -1) for x in rows]
    return as_results([np.moveaxis(x, -1, int(dimension)) for x in ordered])


def _broadcast_helper_shape(op: OperationView) -> list[Shape]:
    x, y = known(op, 0), known(op, 1)
    axes = integers(op, 2)
    if not axes or len(x) == len(y):
        return [x, y] if len(x) == len(y) or () in (x, y) else unknown(op)
    wide, narrow = (x, y) if len(x) > len(y) else (y, x)
    shape: list[Dim] = [1] * len(wide)
    for axis, n in zip(axes, narrow, strict=True):
        shape[axis] = n
    return [tuple(shape) if len(side) < len(wide) else wide for side in (x, y)]


@op("XlaBroadcastHelper", shape=_broadcast_helper_shape)
def broadcast_helper(x: np.ndarray, y: np.ndarray, axes: np.ndarray) -> list[np.ndarray]:
    """Both with as many dimensions; those of the smaller one are at `axes`."""
    if x.ndim == y.ndim or not axes.size:
        return [x, y]
    rank = max(x.ndim, y.ndim)
    results: list[np.ndarray] = []
    for side in (x, y):
        shape = [1] * rank
        for axis, n in zip(axes.tolist(), side.shape, strict=False):
            shape[axis] = n
        results.append(side if side.ndim == rank else side.reshape(shape))
    return results
