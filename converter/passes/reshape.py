"""Reshapes: computed shapes become constant, chains become one, and they move out of the way."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..ir.dims import broadcast, multiply
from ..ir.graph import Graph, Op, Sizes, Tensor
from .driver import rewrite
from .rewrite import (
    BINARY,
    FUSES_ACTIVATION,
    LINEAR,
    REDUCTIONS,
    RESHAPES,
    UNARY,
    activation_of,
    builder,
    constant_of,
    options_of,
    producer_of,
    same_shape,
    split_constant,
    swap,
    with_options,
)

if TYPE_CHECKING:
    from ..ir.builder import Builder


def constant_shape(tensor: Tensor) -> np.ndarray | None:
    """The shape as RESHAPE takes it, -1 for the one unknown dimension; None when there are more."""
    shape = tensor.shape
    if shape is None or shape.count(None) > 1:
        return None
    if None in shape and 0 in shape:
        return None
    return np.array([-1 if n is None else n for n in shape], np.int32)


def axis_groups(x: Tensor, y: Tensor) -> list[tuple[range, range]] | None:
    """The axes of x and those of y, a reshaped x, that span the same elements; as few as possible.

        [n, 48, h, w] and [n, 2, 24, h * w]      0: 0    1: 1, 2    2, 3: 3

    None when a rank is unknown or 0, or there are no elements.
    """
    if not x.sizes or not y.sizes or 0 in x.sizes or 0 in y.sizes:
        return None
    spans = [list(accumulate(sizes, multiply)) for sizes in (x.sizes, y.sizes)]
    groups: list[tuple[range, range]] = []
    start_x = start_y = 0
    for i, span in enumerate(spans[0], 1):
        if span not in spans[1][start_y:]:
            continue
        j = spans[1].index(span, start_y) + 1
        groups.append((range(start_x, i), range(start_y, j)))
        start_x, start_y = i, j
    if not groups:
        return None
    last_x, last_y = groups[-1]
    groups[-1] = (range(last_x.start, len(x.sizes)), range(last_y.start, len(y.sizes)))
    return groups


@rewrite("RESHAPE")
def settle_shapes(graph: Graph, op: Op) -> bool:
    """Gives RESHAPE a constant shape where at most one dimension is unknown.

        x -> SHAPE -> STRIDED_SLICE -> PACK -> s;  RESHAPE(x, s) -> y
            becomes      RESHAPE(x, [-1, 7, 8]) -> y

    Holds off when two dimensions of the result are unknown.
    """
    if op.input(1) is None or op.inputs[1].is_constant:
        return False
    shape = constant_shape(op.output)
    if shape is not None:
        op.set_input(1, builder(graph, op).constant(shape, f"{op.output.name}/shape"))
        return True
    return False


@rewrite(*RESHAPES)
def merge_reshapes(graph: Graph, op: Op) -> bool:
    """Makes one RESHAPE of several.

        x -> RESHAPE -> y -> EXPAND_DIMS -> z      becomes      x -> RESHAPE -> z

    Also SQUEEZE. Another reader of y keeps the first for itself. Holds off when two dimensions of z
    are unknown and it is no RESHAPE, whose computed shape stays.
    """
    first = producer_of(op.inputs[0], *RESHAPES)
    if first is None:
        return False
    x, shape = first.inputs[0], constant_shape(op.output)
    if same_shape(x, op.output):
        swap(graph, op, x)
    elif shape is not None:
        b = builder(graph, op)
        swap(graph, op, b.RESHAPE(x, b.constant(shape)))
    elif op.kind == "RESHAPE" and op.input(1) is not None:
        op.set_input(0, x)
    else:
        return False
    if not first.output.readers and not graph.is_output(first.output):
        graph.remove(first)
    return True


@rewrite(*REDUCTIONS)
def fuse_keep_dims(graph: Graph, op: Op) -> bool:
    """Lets a reduction keep or drop the dimensions that a RESHAPE puts back or takes away.

        x -> MEAN -> y -> RESHAPE -> z      becomes      x -> MEAN(keep_dims) -> z

    Holds off when y has another reader or is an output, or the RESHAPE does more.
    """
    after = graph.sole_reader(op.output)
    axes = constant_of(op.inputs[1])
    x = op.inputs[0]
    if after is None or after.kind not in RESHAPES or axes is None or x.sizes is None:
        return False
    if after.inputs[0] is not op.output:
        return False
    keep_dims = not op.options.keep_dims
    if _reduced(x.sizes, axes, keep_dims) != after.output.sizes:
        return False
    with_options(op, keep_dims=keep_dims)
    graph.absorb(op, after)
    return True


def _reduced(shape: Sizes, axes: np.ndarray, keep_dims: bool) -> Sizes:
    reduced_axes = {int(axis) % len(shape) for axis in axes.ravel()}
    sizes = [1 if i in reduced_axes else n for i, n in enumerate(shape)]
    return tuple(n for i, n in enumerate(sizes) if keep_dims or i not in reduced_axes)


@rewrite()
def sink_reshapes(graph: Graph, op: Op) -> bool:
    """Moves a RESHAPE after an elementwise op, where that brings together what can be fused.

        x -> CONV_2D -> RESHAPE -> ADD(c) -> y
            becomes      x -> CONV_2D -> ADD(c) -> RESHAPE -> y

    Done when the op before can take the elementwise op in, or another RESHAPE comes after it. Holds
    off when the RESHAPE has another reader or gives an output, c does not span whole trailing
    dimensions on both sides of it, or the elementwise op changes the shape.
    """
    if op.kind not in UNARY and op.kind not in BINARY:
        return False
    reshape, position = _reshape_before(graph, op)
    if reshape is None or not same_shape(reshape.output, op.output):
        return False
    x = reshape.inputs[0]
    if not _commutes(op, position, x):
        return False
    after = graph.sole_reader(op.output)
    joins = after is not None and after.kind in RESHAPES
    before = x.producer
    fuses = before is not None and graph.sole_reader(x) is reshape and can_fuse(before, op)
    if not (joins or fuses):
        return False
    _swap_order(graph, reshape, op, position)
    return True


def _reshape_before(graph: Graph, op: Op) -> tuple[Op | None, int]:
    """The reshape that gives the one input of `op` that is not constant, read by `op` only."""
    position = 0
    if op.kind in BINARY:
        parts = split_constant(op)
        if parts is None:
            return None, 0
        position = 1 - parts[2]
    reshape = producer_of(op.inputs[position], *RESHAPES)
    if reshape is None or graph.sole_reader(op.inputs[position]) is not op:
        return None, 0
    return reshape, position


def _commutes(op: Op, position: int, x: Tensor) -> bool:
    """Whether `op` gives the same elements before the reshape."""
    if op.kind in UNARY:
        return True
    return _trailing(op.inputs[1 - position].data, x, op.output) is not None


def _trailing(value: np.ndarray, x: Tensor, y: Tensor) -> tuple[int, ...] | None:
    """The shape in which `value` broadcasts against `x` as it does against `y`, a reshaped x.

    That is possible when it spans whole trailing dimensions of both.
    """
    if x.shape is None or y.shape is None or (value.size > 1 and value.ndim > len(y.shape)):
        return None
    if value.size == 1:
        return value.shape if value.ndim <= len(x.shape) else ()
    spanned = list(value.shape)
    while spanned[0] == 1:
        spanned.pop(0)
    if list(y.shape[-len(spanned) :]) != spanned:
        return None
    dims: list[int] = []
    for n in reversed(x.shape):
        if n is None or prod(dims) >= value.size:
            break
        dims.insert(0, n)
    return tuple(dims) if prod(dims) == value.size else None


def can_fuse(before: Op, op: Op) -> bool:
    """Whether a pass would take `op` into `before` if it came right after it."""
    if before.kind in LINEAR and op.kind in ("ADD", "SUB", "MUL", "DIV", "NEG"):
        return activation_of(before) == 0
    return before.kind in FUSES_ACTIVATION and op.kind in ("RELU", "RELU6", "RELU_N1_TO_1")


def _swap_order(graph: Graph, reshape: Op, op: Op, position: int) -> None:
    """Builds `op` on the reshape's input, then the reshape."""
    b = builder(graph, op)
    inputs = list(op.inputs)
    inputs[position] = reshape.inputs[0]
    if len(inputs) == 2:
        other = inputs[1 - position]
        shape = _trailing(other.data, inputs[position], op.output)
        inputs[1 - position] = b.constant(other.data.reshape(shape or ()), other.name)
    sunk = b.op(op.kind, *inputs, dtype=op.output.dtype, **options_of(op))
    swap(graph, op, _reshaped(sunk, reshape, op.output, b))
    graph.remove(reshape)


def _reshaped(x: Tensor, reshape: Op, y: Tensor, b: Builder) -> Tensor:
    """`x` in the shape of `y`, to which `reshape` brought what `x` was made of."""
    shape = constant_shape(y)
    if shape is None:
        return b.op(reshape.kind, x, *reshape.inputs[1:], **options_of(reshape))
    return b.RESHAPE(x, b.constant(shape))


@rewrite(*BINARY - {"PRELU"})
def join_reshapes(graph: Graph, op: Op) -> bool:
    """Moves the RESHAPEs of all operands after the elementwise op: one of them is left.

        x -> RESHAPE -> ADD <- RESHAPE <- y      becomes      x -> ADD <- y,  ADD -> RESHAPE

    Holds off when one has another reader or gives an output, the shapes differ before or behind
    them, or there are more than 4 dimensions before and fewer behind.
    """
    producers = [producer_of(x, *RESHAPES) for x in op.inputs]
    reshapes = list(dict.fromkeys(op for op in producers if op is not None))
    if len(reshapes) < max(2, len(op.inputs)):
        return False
    before = [reshape.inputs[0] for reshape in reshapes]
    if any(graph.sole_reader(operand) is not op for operand in op.inputs):
        return False
    if not all(same_shape(x, before[0]) for x in before):
        return False
    if not all(same_shape(x, op.output) for x in op.inputs):
        return False
    if len(before[0].dims) > max(4, len(op.output.dims)):
        return False
    b = builder(graph, op)
    joined = b.op(op.kind, *before, dtype=op.output.dtype, **options_of(op))
    swap(graph, op, _reshaped(joined, reshapes[0], op.output, b))
    for reshape in reshapes:
        graph.remove(reshape)
    return True


@rewrite("PAD", "PADV2", "MIRROR_PAD")
def sink_reshapes_through_pads(graph: Graph, op: Op) -> bool:
    """Moves a RESHAPE that only adds or drops dimensions of size 1 after a PAD, to meet another.

        x[b,1,9] -> RESHAPE [b,9,1] -> PAD -> RESHAPE -> y
            becomes      x -> PAD -> RESHAPE -> RESHAPE -> y

    Another reader keeps the first RESHAPE for itself. Holds off when no RESHAPE comes after, a
    dimension of size 1 is padded, or two dimensions are unknown.
    """
    reshape = producer_of(op.inputs[0], *RESHAPES)
    amounts = constant_of(op.inputs[1])
    if reshape is None or amounts is None or op.output.quantization:
        return False
    after = graph.sole_reader(op.output)
    if after is None or after.kind not in RESHAPES or constant_shape(op.output) is None:
        return False
    x = reshape.inputs[0]
    paddings = _paddings_before(amounts, reshape.output, x)
    if paddings is None:
        return False
    b = builder(graph, op)
    inputs = [x, b.constant(paddings, op.inputs[1].name), *op.inputs[2:]]
    padded = b.op(op.kind, *inputs, **options_of(op))
    swap(graph, op, b.RESHAPE(padded, b.constant(constant_shape(op.output))))
    if not reshape.output.readers and not graph.is_output(reshape.output):
        graph.remove(reshape)
    return True


def _paddings_before(amounts: np.ndarray, y: Tensor, x: Tensor) -> np.ndarray | None:
    """The paddings of `y` for `x`, which differs in dimensions of size 1 only; None otherwise."""
    if y.sizes is None or x.sizes is None:
        return None
    axes = [i for i, n in enumerate(y.sizes) if n != 1]
    new_axes = [i for i, n in enumerate(x.sizes) if n != 1]
    if [y.sizes[i] for i in axes] != [x.sizes[i] for i in new_axes]:
        return None
    if amounts.sum() != amounts[axes].sum():
        return None
    paddings = np.zeros((len(x.sizes), 2), amounts.dtype)
    paddings[new_axes] = amounts[axes]
    return paddings


@rewrite(*BINARY - {"PRELU"})
def fuse_broadcast(graph: Graph, op: Op) -> bool:
    """Drops what only brings an input to the shape to which the next op broadcasts by itself.

        x -> BROADCAST_TO(s) -> y;  ADD(y, z) -> w         becomes      ADD(x, z) -> w
        x[9] -> RESHAPE [1,9] -> y;  ADD(y, z[4,1]) -> w   becomes      ADD(x, z) -> w
        FILL(SHAPE(z), 1) -> y;  ADD(y, z) -> w            becomes      ADD(1, z) -> w

    Also TILE. Holds off when the shape of w would be another, or the rank is above 4. Another
    reader keeps the BROADCAST_TO or RESHAPE for itself.
    """
    changed = False
    for i, tensor in enumerate(op.inputs):
        source = producer_of(tensor, *_BROADCASTS)
        if source is None or op.output.rank is None or op.output.rank > 4:
            continue
        x = source.inputs[1 if source.kind == "FILL" else 0]
        others = [t for k, t in enumerate(op.inputs) if k != i and t is not None]
        shapes = [t.sizes for t in (x, tensor, *others) if t.sizes is not None]
        if len(shapes) < 2 + len(others) or not _BROADCASTS[source.kind](*shapes[:2]):
            continue
        if _broadcast([shapes[0], *shapes[2:]]) == op.output.sizes:
            op.set_input(i, x)  # what nobody reads now goes with remove_dead_code
            changed = True
    return changed


def _repeats(x: Sizes, y: Sizes) -> bool:
    """Whether a TILE of x to y repeats dimensions of size 1 alone."""
    return all(n in (m, 1) for n, m in zip(x, y, strict=True))


def _leads(x: Sizes, y: Sizes) -> bool:
    """Whether y is x behind dimensions of size 1."""
    added = len(y) - len(x)
    return added > 0 and y == (1,) * added + x


_BROADCASTS: dict[str, Callable[[Sizes, Sizes], bool]] = {
    "BROADCAST_TO": lambda x, y: True,
    "FILL": lambda x, y: True,
    "TILE": _repeats,
    **dict.fromkeys(RESHAPES, _leads),
}
"""What may give a tensor a shape by broadcasting, and whether it does, from and to which shape."""


def _broadcast(shapes: list[Sizes]) -> Sizes:
    """The shape that numpy's rule gives shapes that fit together."""
    rank = max(map(len, shapes))
    columns = zip(*((1,) * (rank - len(sizes)) + sizes for sizes in shapes), strict=True)
    return tuple(reduce(broadcast, column) for column in columns)
