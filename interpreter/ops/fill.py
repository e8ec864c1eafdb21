"""SHAPE, RANK, FILL, ZEROS_LIKE, RANGE, ONE_HOT, TILE, BROADCAST_TO, BROADCAST_ARGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import broadcast_shape
from ...engine.families.layout import fill, move
from ...engine.plan.buffer import constant
from ...engine.plan.view import View
from ...engine.sizes import is_plain, negative, steps
from ...schema.dtypes import numpy_dtype, tf_name
from ..checks import check_result_size, required, same_dtype
from ..plan.node import Node
from ..plan.substitution import moves_any
from ..registry import op

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Prepared


_SIZES: Sequence[type] = (np.int32, np.int64)
MANY = 1 << 20
"""Elements from which a RANGE is not made before the model runs."""


@op("SHAPE")
def shape(node: Node) -> None:
    """The dimensions of `x`."""
    (x,) = required(node, 1)
    dtype = numpy_dtype(int(node.options.out_type))
    dtype = dtype if dtype in _SIZES else np.dtype(np.int32)
    largest = np.iinfo(dtype).max  # which only numbers that stand for unknown sizes exceed
    node.result((x.ndim,), dtype, value=np.array([min(n, largest) for n in x.shape], dtype))


@op("RANK")
def rank(node: Node) -> None:
    """The number of dimensions of `x`."""
    node.result((), np.int32, value=np.array(required(node, 1)[0].ndim, np.int32))


@op("FILL")
@moves_any
def fill_(node: Node) -> Prepared:
    """The second input repeated to the shape of the first."""
    _, value = required(node, 2)
    dims = _dims(node, 0)
    node.require(value.size == 1, f"the value must be one element, got shape {value.shape}")
    out = node.result(dims, value.dtype)
    return lambda program: fill(program, value, out)


@op("ZEROS_LIKE")
@moves_any
def zeros_like(node: Node) -> Emit:
    """Zeros of the shape and type of `x`."""
    (x,) = required(node, 1)
    out = node.result(x.shape, x.dtype)
    return lambda program: fill(program, constant(np.zeros(1, x.dtype)), out)


@op("RANGE")
def range_(node: Node) -> Prepared:
    """`start`, `start + delta`, ... below `limit`; floats are added up one by one, as in TFLite."""
    operands = required(node, 3)
    same_dtype(node, operands)
    dtype = operands[0].dtype
    node.require(
        dtype.kind not in "bcO", f"numbers that are ordered are needed, got {tf_name(dtype)}"
    )
    if any(operand.sizes is not None for operand in operands) and dtype.kind == "i":
        (start,), (limit,), (delta,) = map(node.sizes, range(3))
        node.result((steps(start, limit, delta),), dtype)
        return None
    start, limit, delta = (node.constant(i).ravel()[0] for i in range(3))
    node.require(
        (delta > 0 and start <= limit) or (delta < 0 and start >= limit),
        f"delta must lead from start to limit, got {start}, {limit} and {delta}",
    )
    if dtype.kind in "iu":
        count = len(range(int(start), int(limit), int(delta)))
    else:
        count = ceil(abs((limit - start) / delta))
    n_bytes = count * dtype.itemsize
    if count > MANY or (node.planner is not None and not node.planner.has_room(node, n_bytes)):

        def run(*numbers: np.ndarray) -> list[np.ndarray]:
            check_result_size(node, (count,), dtype)
            check = None if node.scope is None else node.scope.control.check
            return [_counted(numbers, count, check)]

        return node.dynamic_result(run, [(count,)])
    value = _counted((start, limit, delta), count)
    node.result(value.shape, dtype, value=value)
    return None


def _counted(
    numbers: Sequence[np.ndarray], count: int, check: Callable[[], None] | None = None
) -> np.ndarray:
    """start, start + delta, ...: `count` of them, from start, limit and delta.

    `check()` is called now and then: many of them take long.
    """
    start, _, delta = (number.ravel()[0] for number in numbers)
    dtype = start.dtype
    out = np.empty(count, dtype)
    for first in range(0, count, MANY):
        if check is not None:
            check()
        part = out[first : first + MANY]
        if dtype.kind in "iu":
            begin = int(start) + first * int(delta)
            part[:] = begin + np.arange(len(part), dtype=np.int64) * int(delta)
        else:
            part[:] = delta
            part[0] = out[first - 1] + delta if first else start
            np.cumsum(part, dtype=dtype, out=part)
    return out


@op("ONE_HOT")
@moves_any
def one_hot(node: Node) -> Emit:
    """`on` where the new dimension `axis` counts the index, `off` elsewhere."""
    indices, _, on, off = required(node, 4)
    (depth,) = node.sizes(1)
    node.require(
        indices.dtype.name in ("int32", "int64"),
        f"indices must be int32 or int64, got {tf_name(indices.dtype)}",
    )
    node.require(not negative([depth]), f"depth must not be negative, got {depth}")
    node.require(
        on.size == off.size == 1 and on.dtype == off.dtype,
        f"on and off must be one {tf_name(on.dtype)} each, got shapes {on.shape} and {off.shape}",
    )
    axis = int(node.options.axis)
    rank = indices.ndim + 1
    node.require(-1 <= axis < rank, f"axis must be in [-1, {rank}), got {axis}")
    axis = rank - 1 if axis == -1 else axis
    before, after = indices.shape[:axis], indices.shape[axis:]
    out = node.result((*before, depth, *after), on.dtype)

    def emit(program: Program) -> None:
        fill(program, off, out)
        if out.size:
            program.call(
                "scatter.one_hot",
                indices.reshape((prod(before), prod(after))),
                on.ravel(),
                out.reshape((prod(before), depth, prod(after))),
                split=prod(before),
            )

    return emit


@op("TILE")
@moves_any
def tile(node: Node) -> Emit:
    """`x` repeated along each dimension as often as the second input says."""
    (x,) = required(node, 1)
    times = _dims(node, 1)
    node.require(
        len(times) == x.ndim,
        f"multiples must have one number for each of {x.ndim} dimensions, got {times}",
    )
    out = node.result([n * m for n, m in zip(x.shape, times, strict=True)], x.dtype)

    def emit(program: Program) -> None:
        source, target = View.of(x), View.of(out)
        for axis in reversed(range(x.ndim)):
            source = source.insert(axis, times[axis])
            target = target.split(axis, times[axis], x.shape[axis])
        move(program, source, target)

    return emit


@op("BROADCAST_TO")
@moves_any
def broadcast_to(node: Node) -> Emit:
    """`x` repeated to the shape of the second input by numpy's rule."""
    (x,) = required(node, 1)
    dims = tuple(_dims(node, 1))
    shape = broadcast_shape(x.shape, dims)
    node.require(
        shape is not None
        and len(shape) == len(dims)
        and all(n == m or not is_plain(m) for n, m in zip(shape, dims, strict=True)),
        f"shape {x.shape} does not broadcast to {dims}",
    )
    out = node.result(dims, x.dtype)
    return lambda program: move(program, View.of(x).broadcast(dims), out)


@op("BROADCAST_ARGS")
def broadcast_args(node: Node) -> None:
    """The shape to which the shapes in both inputs broadcast."""
    x, y = required(node, 2)
    same_dtype(node, (x, y))
    for one in (x, y):
        node.require(one.ndim == 1, f"shapes must have one dimension, got shape {one.shape}")
    first, second = _dims(node, 0), _dims(node, 1)
    dims = broadcast_shape(tuple(first), tuple(second))
    if dims is None:
        node.fail(f"shapes {first} and {second} do not broadcast")
    node.result((len(dims),), x.dtype, value=np.array(dims, x.dtype))


def _dims(node: Node, i: int) -> list[int]:
    """Input `i` as a list of sizes."""
    dims = node.sizes(i)
    node.require(not negative(dims), f"sizes must not be negative, got {dims}")
    return dims
