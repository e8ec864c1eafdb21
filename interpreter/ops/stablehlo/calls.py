"""StableHLO's operators with a subgraph for what they do to elements: reductions, scatter, sort.

A subgraph of one operator that there are kernels of is that kernel, any other runs on rows of
elements (regions.py).

Source: The StableHLO specification; updates outside of a scatter's operand are left out, as in
LiteRT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine.families import reductions
from ....engine.families.elementwise import elementwise
from ....engine.families.layout import move
from ....engine.plan.buffer import Buffer, arena, constant
from ....engine.plan.view import View
from ....schema.dtypes import tf_name
from ...checks import scope_of
from ...numpy_calls import array_by_numpy, arrays_by_numpy
from ...plan import regions
from ...plan.comparators import keys_of, order_by_keys
from ...plan.node import DynamicResult, HostCall
from ...registry import op
from ..binary import limits_of
from ..window import NUMBERS, enlarged, fold_windows
from .elementwise import is_total_order, numbers, operands
from .moves import index_vectors
from .products import arranged
from .windows import windows_of

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Node, Operand
    from ...plan.regions import Columns
    from .windows import WindowOptions

FUNCTIONS: dict[str, np.ufunc] = {
    "ADD": np.add,
    "LOGICAL_AND": np.logical_and,
    "LOGICAL_OR": np.logical_or,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "STABLEHLO_ADD": np.add,
    "STABLEHLO_AND": np.bitwise_and,
    "STABLEHLO_MAXIMUM": np.maximum,
    "STABLEHLO_MINIMUM": np.minimum,
    "STABLEHLO_MULTIPLY": np.multiply,
    "STABLEHLO_OR": np.bitwise_or,
}
"""The only operator of a body -> what it does to two arrays."""
KERNELS: dict[np.ufunc, tuple[str, Sequence[str]]] = {
    np.add: ("add", ("float32", "int32", "int64")),
    np.multiply: ("multiply", ("float32", "int32", "int64")),
    np.maximum: ("maximum", ("int32", "int64")),
    np.minimum: ("minimum", ("int32", "int64")),
}
"""Function -> kernels that reduce by it, their dtypes; those of float32 pass over nan."""
_OF_BOOLS: dict[np.ufunc, str] = {
    np.logical_and: "all",
    np.logical_or: "any",
    np.bitwise_and: "all",
    np.bitwise_or: "any",
}
WINDOWS: tuple[dict[np.ufunc, str], dict[np.ufunc, str]] = (
    {np.add: "add", np.multiply: "multiply", np.maximum: "maximum", np.minimum: "minimum"},
    _OF_BOOLS,
)
"""Function of numbers, of bools -> kernel of windows (kernels/reduction/window.py)."""
UPDATES: tuple[dict[np.ufunc, str], dict[np.ufunc, str]] = (
    WINDOWS[0],
    {function: {"all": "minimum", "any": "maximum"}[kind] for function, kind in _OF_BOOLS.items()},
)
"""Function of numbers, of bools -> kernels that change boxes (kernels/movement/scatter.py)."""
_DIRECTIONS = {3: "GREATER", 5: "LESS"}
_ORDERS = {"LESS": "rising", "GREATER": "falling"}
_ORDERS_OF_SWAPPED = {"GREATER": "rising", "LESS": "falling"}
_WIDEST = 8
"""Bytes of the widest element that kernels move."""


@op("STABLEHLO_REDUCE")
def reduce(node: Node) -> Emit | HostCall | DynamicResult:
    """The operands folded along `dimensions`, beginning with the second half of the inputs."""
    arrays, starts = _halves(node)
    axes = sorted(numbers(node, "dimensions"))
    rank = arrays[0].ndim
    node.require(
        len(set(axes)) == len(axes) and all(0 <= axis < rank for axis in axes),
        f"dimensions must be among {rank}, each once, got {axes}",
    )
    shape = tuple(n for i, n in enumerate(arrays[0].shape) if i not in axes)
    function = _function(node, node.options.body_subgraph_index, 2 * len(arrays))
    kind, dtypes = KERNELS.get(function, ("", ())) if function is not None else ("", ())
    if arrays[0].dtype.name in dtypes:
        out = node.result(shape, arrays[0].dtype)
        return partial(_reduce, kind, arrays[0], starts[0], frozenset(axes), out)
    last = [i for i in range(rank) if i not in axes]
    size = prod(arrays[0].shape[axis] for axis in axes), prod(shape)

    def in_columns(program: Program) -> list[Buffer]:
        return [arranged(program, x, [*axes, *last]).reshape(size) for x in arrays]

    def columns(*values: np.ndarray) -> list[np.ndarray]:
        return [x.transpose([*axes, *last]).reshape(size) for x in values[: len(arrays)]]

    return _folded(node, (arrays, starts), shape, size[0], (in_columns, columns))


def _reduce(
    kind: str, x: Operand, start: Operand, axes: frozenset[int], out: Operand, program: Program
) -> None:
    """Adds out = `kind` of the start and all of `x` along the axes."""
    folded: Buffer = x
    if axes:
        folded = arena(out.shape, out.dtype)
        reductions.reduce(program, kind, x, axes, folded)
    limits = [limits_of(x.dtype, -np.inf, np.inf)] if kind in ("add", "multiply") else []
    elementwise(program, f"arithmetic.{kind}", (folded, start.reshape(())), out, *limits)


@op("STABLEHLO_REDUCE_WINDOW")
def reduce_window(node: Node) -> Emit | HostCall | DynamicResult:
    """Each window of the operands, padded with the starts, folded into one element."""
    arrays, starts = _halves(node)
    try:
        windows = windows_of(arrays[0].shape, cast("WindowOptions", node.options))
    except ValueError as error:
        node.fail(str(error))
    window, strides, spread, dilations, low, padded, shape = windows
    function = _function(node, node.options.body_subgraph_index, 2 * len(arrays))
    kind = None if function is None else WINDOWS[arrays[0].dtype == np.bool_].get(function)
    if kind is not None and arrays[0].dtype.name in (*NUMBERS, "bool") and shape:
        x, start = arrays[0], starts[0]
        out, steps = node.result(shape, x.dtype), (window, strides, dilations)

        def emit(program: Program) -> None:
            if out.size:
                image = enlarged(program, x, start, padded, low, spread)
                fold_windows(program, kind, (image, start), out, steps)

        return emit
    taps = [np.multiply(tap, dilations).tolist() for tap in np.ndindex(*window)]

    def in_columns(program: Program) -> list[Buffer]:
        columns: list[Buffer] = []
        for x, start in zip(arrays, starts, strict=True):
            image = View.of(enlarged(program, x, start, padded, low, spread))
            columns.append(arena((len(taps), *shape), x.dtype))
            for k, tap in enumerate(taps):
                source, target = image, View.of(columns[-1]).part(0, k, 1)
                for axis, (first, count) in enumerate(zip(tap, shape, strict=True)):
                    source = source.part(axis, first, count, strides[axis])
                move(program, source.insert(0), target)
        return [column.reshape((len(taps), prod(shape))) for column in columns]

    def columns(*values: np.ndarray) -> list[np.ndarray]:
        images = [
            _enlarged(x, start, padded, low, spread)
            for x, start in zip(values[: len(starts)], values[len(starts) :], strict=True)
        ]
        positions = [
            tuple(
                slice(first, first + (count - 1) * step + 1, step)
                for first, count, step in zip(tap, shape, strides, strict=True)
            )
            for tap in taps
        ]
        return [np.stack([image[place].ravel() for place in positions]) for image in images]

    return _folded(node, (arrays, starts), shape, len(taps), (in_columns, columns))


def _enlarged(
    x: np.ndarray,
    value: np.ndarray,
    shape: Sequence[int],
    low: Sequence[int],
    steps: Sequence[int],
) -> np.ndarray:
    """What `enlarged` gives, of arrays."""
    out = np.full(shape, value.ravel()[0], x.dtype)
    positions = [
        first + step * np.arange(n, dtype=np.int64)
        for n, first, step in zip(x.shape, low, steps, strict=True)
    ]
    inside = [(place >= 0) & (place < n) for place, n in zip(positions, shape, strict=True)]
    targets = [place[i] for place, i in zip(positions, inside, strict=True)]
    out[np.ix_(*targets)] = x[np.ix_(*inside)]
    return out


def _folded(
    node: Node,
    operands: tuple[Sequence[Operand], Sequence[Operand]],
    shape: Sequence[int],
    count: int,
    columns: tuple[Columns, Callable[..., list[np.ndarray]]],
) -> Emit | HostCall | DynamicResult:
    """Columns of `count` elements of each operand, folded by the body from the starts on.

    `columns` has what brings the operands into the order [elements, rows]: in a program, and of
    arrays of all inputs.
    """
    arrays, starts = operands
    in_program, of_arrays = columns
    subgraph = node.options.body_subgraph_index
    size = count, prod(shape)
    add_fold = regions.fold_in_program(node, subgraph, starts, in_program, size)
    if add_fold is None:
        fold = regions.fold(node, subgraph)

        def run(*values: np.ndarray) -> list[np.ndarray]:
            if 0 in shape:
                return [np.empty(shape, x.dtype) for x in arrays]
            return fold(of_arrays(*values), values[len(arrays) :])

        return arrays_by_numpy(node, run, *((shape, x.dtype) for x in arrays))
    outs = [node.result(shape, x.dtype) for x in arrays]

    def emit(program: Program) -> None:
        for value, out in zip(add_fold(program, starts), outs, strict=True):
            move(program, value.reshape(out.shape), out)

    return emit


@op("STABLEHLO_SCATTER")
def scatter(node: Node) -> Emit | HostCall | DynamicResult:
    """`x` with updates at the places that the indices name, combined by a subgraph.

    A subgraph without operators puts the update in the element's place.
    """
    x, indices, updates = operands(node, 3)
    window_dims, inserted, index_map = (
        numbers(node, name)
        for name in ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
    )
    vector = int(node.options.index_vector_dim)
    node.require(
        len(window_dims) + len(inserted) == x.ndim
        and all(0 <= d < updates.ndim for d in window_dims)
        and all(0 <= d < x.ndim for d in (*inserted, *index_map)),
        f"window dimensions {window_dims} and {inserted} must make up the {x.ndim} of {x.shape}",
    )
    _require_places(node, (window_dims, inserted, index_map), vector)
    axes = [d for d in range(x.ndim) if d not in inserted]
    subgraph = node.options.update_computation_subgraph_index
    outer = [d for d in range(updates.ndim) if d not in window_dims]
    kind = _kind_of_update(node, subgraph, x)
    if kind is not None and x.dtype == updates.dtype:
        out = node.result(x.shape, x.dtype)
        positions = [index_map.index(d) if d in index_map else -1 for d in range(x.ndim)]
        sizes = dict(zip(axes, (updates.shape[d] for d in window_dims), strict=True))
        box = [sizes.get(d, 1) for d in range(x.ndim)]
        order = [*outer, *window_dims]
        return partial(_scatter, kind, (x, indices, updates), out, vector, order, (positions, box))
    combine = _combination(node, subgraph)

    def run(x: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        ordered = updates.transpose([*outer, *window_dims])
        starts = indices[..., None]
        if vector < indices.ndim:
            starts = np.moveaxis(indices, vector, -1)
        coordinates = [np.zeros(ordered.shape, np.int64) for _ in range(x.ndim)]
        for position, d in enumerate(axes):
            axis = len(outer) + position
            along = [-1 if i == axis else 1 for i in range(ordered.ndim)]
            coordinates[d] += np.arange(int(ordered.shape[axis])).reshape(along)
        for position, d in enumerate(index_map):
            first = starts[..., position].reshape([*ordered.shape[: len(outer)], *[1] * len(axes)])
            coordinates[d] += first
        inside = np.ones(ordered.shape, bool)
        for coordinate, n in zip(coordinates, x.shape, strict=True):
            inside &= (coordinate >= 0) & (coordinate < n)
        result = x.copy()
        combine(result, tuple(c[inside] for c in coordinates), ordered[inside])
        return result

    return array_by_numpy(node, run, x.shape, x.dtype)


def _require_places(
    node: Node, dims: tuple[Sequence[int], Sequence[int], Sequence[int]], vector: int
) -> None:
    """Refuses indices and updates that do not belong together."""
    _, indices, updates = operands(node, 3)
    names = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
    for name, axes in zip(names, dims, strict=True):
        node.require(len(set(axes)) == len(axes), f"{name} must be different ones, got {axes}")
    window_dims, _, index_map = dims
    node.require(
        0 <= vector <= indices.ndim
        and len(index_map) == (indices.shape[vector] if vector < indices.ndim else 1),
        f"scatter_dims_to_operand_dims {index_map} must name a dimension for each index in "
        f"{indices.shape}",
    )
    node.require_equal(
        tuple(n for d, n in enumerate(updates.shape) if d not in window_dims),
        tuple(n for d, n in enumerate(indices.shape) if d != vector),
        f"there must be an update for each index, got {updates.shape} for {indices.shape}",
    )


def _scatter(
    kind: str,
    inputs: tuple[Operand, Operand, Operand],
    out: Operand,
    vector: int,
    order: list[int],
    boxes: tuple[Sequence[int], Sequence[int]],
    program: Program,
) -> None:
    """Adds out = x with boxes changed by a kernel of scatter.py.

    Args:
        kind: of the kernel.
        inputs: x, indices and updates.
        out: the result.
        vector: the dimension of the indices' vectors.
        order: of the dimensions of updates, those of the boxes last.
        boxes: for each dimension of x, its place in a vector or -1, and the boxes' size.
        program: where the instructions go.
    """
    x, indices, updates = inputs
    move(program, x, out)
    if not out.size or not updates.size:
        return
    starts = index_vectors(program, indices, vector)
    changes, target = (
        buffer.view(np.uint8) if buffer.dtype == np.bool_ else buffer
        for buffer in (arranged(program, updates, order), out)
    )
    positions, box = boxes
    program.call(
        f"scatter.{kind}_boxes",
        starts,
        changes.reshape((starts.shape[0], updates.size // starts.shape[0])),
        *(constant(np.array(row, np.int64)) for row in (positions, x.shape, box)),
        target.ravel(),
        split=1,
    )


@op("STABLEHLO_SORT")
def sort(node: Node) -> Emit | HostCall | DynamicResult:
    """The operands sorted together along `dimension`, as a subgraph says what comes first."""
    inputs = operands(node, max(1, len(node.inputs)))
    axis, shape = int(node.options.dimension), inputs[0].shape
    for x in inputs:
        node.require_equal(x.shape, shape, f"operands must have one shape, got {shape}, {x.shape}")
    node.require(0 <= axis < len(shape), f"dimension must be below {len(shape)}, got {axis}")
    subgraph = node.options.comparator_subgraph_index
    key, kind = _comparison(node, subgraph, inputs)
    if kind is not None:
        outs = [node.result(shape, x.dtype) for x in inputs]
        return partial(_sort, kind, key, inputs, axis, outs)

    keys = [] if node.scope is None else keys_of(node, subgraph)

    def run(*values: np.ndarray) -> list[np.ndarray]:
        moved = [np.moveaxis(x, axis, -1) for x in values]
        rows = [x.reshape(-1, shape[axis]) for x in moved]
        order = order_by_keys(node, subgraph, keys, rows) if keys else None
        if order is None:
            order = regions.sorted_order(node, subgraph, rows)
        results = [np.take_along_axis(row, order, 1) for row in rows]
        return [
            np.moveaxis(result.reshape(x.shape), -1, axis)
            for result, x in zip(results, moved, strict=True)
        ]

    return arrays_by_numpy(node, run, *((shape, x.dtype) for x in inputs))


def _comparison(node: Node, subgraph: int, inputs: Sequence[Operand]) -> tuple[int, str | None]:
    """Which operand a subgraph compares the elements of, and what `search` calls the order.

    None for the order where the subgraph is anything else.
    """
    if node.scope is None:
        return 0, None
    spec = node.scope.callee(subgraph)
    if len(spec.operators) != 1 or len(spec.inputs) != 2 * len(inputs):
        return 0, None
    (operator,) = spec.operators
    compared, parameters = list(operator.inputs), list(spec.inputs)
    if list(operator.outputs) != list(spec.outputs) or len(compared) != 2 or compared[0] < 0:
        return 0, None
    kind, dtype = operator.kind, spec.tensors[compared[0]].dtype
    if kind == "STABLEHLO_COMPARE" and operator.options is not None:
        if is_total_order(operator.options, dtype):
            return 0, None
        kind = _DIRECTIONS.get(int(operator.options.comparison_direction), "")
    for key, x in enumerate(inputs):
        pair = parameters[2 * key : 2 * key + 2]
        orders = _ORDERS if compared == pair else _ORDERS_OF_SWAPPED
        are_numbers = all(spec.tensors[i].dtype == x.dtype for i in pair)
        if compared in (pair, pair[::-1]) and are_numbers and x.dtype.name in NUMBERS:
            return key, orders.get(kind)
    return 0, None


def _sort(
    kind: str,
    key: int,
    inputs: Sequence[Operand],
    axis: int,
    outs: Sequence[Operand],
    program: Program,
) -> None:
    """Adds what brings all operands along `axis` into the order of operand `key`."""
    if not outs[0].size:
        return
    shape = inputs[0].shape
    last = [*(d for d in range(len(shape)) if d != axis), axis]
    n_rows = prod(shape) // shape[axis]
    rows = [arranged(program, x, last).reshape((n_rows, shape[axis])) for x in inputs]
    order, scratch = (arena((n_rows, shape[axis]), np.int64) for _ in range(2))
    program.call(f"search.{kind}", rows[key], order, scratch, split=n_rows)
    for row, out in zip(rows, outs, strict=True):
        is_last = axis == len(shape) - 1
        target = out if is_last else arena([shape[d] for d in last], out.dtype)
        program.call(
            "gather.in_order", row, order, target.reshape((n_rows, shape[axis])), split=n_rows
        )
        if not is_last:
            back = tuple(last.index(d) for d in range(len(shape)))
            move(program, View.of(target).transpose(back), out)


def _combination(
    node: Node, subgraph: int
) -> Callable[[np.ndarray, tuple[np.ndarray, ...], np.ndarray], None]:
    """What a subgraph does to elements of an array and their updates, in place."""
    function = _function(node, subgraph, 2)

    body = regions.on_rows(node, subgraph)

    def in_rounds(
        result: np.ndarray, coordinates: tuple[np.ndarray, ...], updates: np.ndarray
    ) -> None:
        """Changes each place at most once in a round, which goes over many places at once."""
        flat = result.reshape(-1)
        positions = np.ravel_multi_index(coordinates, result.shape)
        order = np.argsort(positions, kind="stable")
        distinct, first = np.unique(positions[order], return_index=True)
        counts = np.diff([*first, positions.size])
        for n in range(counts.max(initial=0)):
            chosen = order[first[counts > n] + n]
            pair = flat[positions[chosen]], updates[chosen]
            values = body([np.resize(x, distinct.size) for x in pair])[0]
            flat[positions[chosen]] = values[: chosen.size]

    def put(result: np.ndarray, coordinates: tuple[np.ndarray, ...], updates: np.ndarray) -> None:
        result[coordinates] = updates

    if node.scope is not None and not node.scope.callee(subgraph).operators:
        return put
    return in_rounds if function is None else function.at


def _kind_of_update(node: Node, subgraph: int, x: Operand) -> str | None:
    """The kernels of scatter that a subgraph is; None where there is none for its elements."""
    if node.scope is None or not x.ndim or x.dtype.hasobject or x.dtype.itemsize > _WIDEST:
        return None
    if not node.scope.callee(subgraph).operators:
        return "assign" if _is_second(node, subgraph) else None
    function = _function(node, subgraph, 2)
    if function is None or x.dtype.name not in (*NUMBERS, "bool"):
        return None
    return UPDATES[x.dtype == np.bool_].get(function)


def _is_second(node: Node, subgraph: int) -> bool:
    """Whether a subgraph without operators gives its second input."""
    spec = scope_of(node).callee(subgraph)
    return len(spec.inputs) == 2 and list(spec.outputs) == list(spec.inputs[1:])


def _function(node: Node, subgraph: int, n_inputs: int) -> np.ufunc | None:
    """The function of a subgraph that is one operator on its two inputs; None of any other."""
    if node.scope is None:
        return None
    spec = node.scope.callee(subgraph)
    node.require(
        len(spec.inputs) == n_inputs,
        f"subgraph {subgraph} must take {n_inputs} inputs, it has {len(spec.inputs)}",
    )
    if len(spec.operators) != 1 or n_inputs != 2:
        return None
    (operator,) = spec.operators
    plain = list(operator.inputs) == list(spec.inputs) and list(operator.outputs) == list(
        spec.outputs
    )
    return FUNCTIONS.get(operator.kind) if plain else None


def _halves(node: Node) -> tuple[list[Operand], list[Operand]]:
    """Operands of one shape and their starts, scalars of the same types."""
    inputs = operands(node, max(2, len(node.inputs)))
    count = len(inputs) // 2
    arrays, starts = inputs[:count], inputs[count:]
    node.require(len(inputs) % 2 == 0, f"there must be a start for each operand, got {len(inputs)}")
    for x, start in zip(arrays, starts, strict=True):
        node.require_equal(
            x.shape,
            arrays[0].shape,
            f"operands must have one shape, got {arrays[0].shape}, {x.shape}",
        )
        node.require(
            start.size == 1 and start.dtype == x.dtype,
            f"the start must be one {tf_name(x.dtype)}, got "
            f"{tf_name(start.dtype)} of shape {start.shape}",
        )
    return arrays, starts
