"""Transposes around whole regions of ops that do not care about the order of axes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..ir.pseudo import having, operator
from .driver import rewrite
from .reshape import takes
from .rewrite import (
    BINARY,
    REDUCTIONS,
    RESHAPES,
    UNARY,
    builder,
    builder_after,
    options_of,
    swap,
)
from .transpose import inverse_of, moves_only_ones, order_of, permuted_constant

Order = tuple[int, ...]

LAST_AXIS = having("last_axis")
JOINS = having("joins")
INDIFFERENT = UNARY | BINARY | LAST_AXIS | JOINS | having("axes") - RESHAPES | having("rows")


@dataclass
class Region:
    """Connected ops that could work on transposed tensors.

    Attributes:
        ops: by identity.
        orders: tensor identity -> the order by which a tensor of the graph is what the flipped
            region computes, transposed.
        before: tensors that enter, by identity.
        after: tensors that are read outside or are outputs, by identity.
    """

    ops: dict[int, Op] = field(default_factory=dict)
    orders: dict[int, Order] = field(default_factory=dict)
    before: dict[int, Tensor] = field(default_factory=dict)
    after: dict[int, Tensor] = field(default_factory=dict)

    def outside(self, tensor: Tensor) -> list[Op]:
        """The readers of a tensor that are not in the region."""
        return [one for one in dict.fromkeys(tensor.readers) if id(one) not in self.ops]

    def undone(self, tensor: Tensor) -> list[Op]:
        """The readers that transpose it back."""
        inverse = inverse_of(self.orders[id(tensor)])
        return [one for one in self.outside(tensor) if order_of(one) == inverse]


def cancel_transposes(graph: Graph) -> int:
    """Moves a region of indifferent ops to the other side of the transposes around it.

        x -> TRANSPOSE(p) -> RELU -> ADD(c) -> TRANSPOSE(p inverse) -> y
            becomes      x -> RELU -> ADD(transposed c) -> y

    The region is all elementwise ops, joins, splits, pads, slices and reductions that hang
    together. Holds off unless fewer transposes remain afterwards.
    """
    count = 0
    tried: set[tuple[int, Order]] = set()
    for op in [one for one in graph.ops if one.kind == "TRANSPOSE"]:
        order = order_of(op)
        if order is None or op.output.producer is not op:
            continue
        for tensor, first in ((op.output, order), (op.inputs[0], inverse_of(order))):
            if (id(tensor), first) in tried:
                continue
            region = region_of(graph, tensor, first)
            tried.update(region.orders.items())
            if gain(graph, region) > 0:
                flip(graph, region)
                count += 1
                break
    return count


@rewrite()
def sink_transposes(graph: Graph, op: Op) -> bool:
    """Moves a TRANSPOSE after an elementwise op that the op before it can take in.

        x -> CONV_2D -> TRANSPOSE(p) -> ADD(c) -> y
            becomes      x -> CONV_2D -> ADD(transposed c) -> TRANSPOSE(p) -> y

    A RESHAPE may stand between the first two. Holds off when a value in between has another reader
    or is an output.
    """
    if op.kind not in UNARY | BINARY:
        return False
    flowing = flowing_of(op)
    transpose = flowing[0].producer if len(flowing) == 1 else None
    order = order_of(transpose)
    if transpose is None or order is None or graph.sole_reader(flowing[0]) is not op:
        return False
    orders = orders_of(op, flowing[0], order)
    if orders is None or not _taken(graph, transpose, op):
        return False
    b = builder(graph, op)
    flipped = {id(flowing[0]): transpose.inputs[0]}
    rebuild(op, flipped, {id(flowing[0]): order, id(op.output): order}, b)
    swap(graph, op, b.TRANSPOSE(flipped[id(op.output)], np.array(order, np.int32)))
    graph.remove(transpose)
    return True


def _taken(graph: Graph, transpose: Op, op: Op) -> bool:
    """Whether the op before the transpose, or before a reshape before it, can take `op` in."""
    x, reader = transpose.inputs[0], transpose
    if graph.sole_reader(x) is not reader or x.producer is None:
        return False
    if x.producer.kind in RESHAPES:
        x, reader = x.producer.inputs[0], x.producer
    return graph.sole_reader(x) is reader and x.producer is not None and takes(x.producer, op)


def flowing_of(op: Op) -> list[Tensor]:
    """The inputs that are neither constant nor omitted."""
    return [tensor for tensor in op.inputs if tensor is not None and not tensor.is_constant]


def orders_of(op: Op, tensor: Tensor, order: Order) -> tuple[Order, Order] | None:
    """(order of the inputs, order of the results) of an op, given that of one of its tensors.

    None when the op does not give the transposed result of transposed inputs, its axes renamed.
    """
    if op.kind not in INDIFFERENT or any(one.rank is None for one in op.outputs):
        return None
    row = operator(op.kind)
    named = [i for fact in ("axes", "rows", "sizes") for i in row.operand_numbers(fact)]
    if any(not op.inputs[i].is_constant for i in named):
        return None
    is_result = any(tensor is one for one in op.outputs)
    if op.kind == "PACK":
        found = _pack_orders(op, order, is_result)
    elif _drops_axes(op):
        found = None if is_result else (order, _reduced_order(op, order))
    else:
        found = (order, order)
    if found is None or not _fits(op, *found):
        return None
    return found


def _fits(op: Op, before: Order, after: Order) -> bool:
    """Whether ranks and options allow these orders."""
    rank = len(before)
    if any(one.rank != rank for one in flowing_of(op)):
        return False
    if any(one.rank != len(after) for one in op.outputs):
        return False
    if op.kind in LAST_AXIS:
        return before[-1] == rank - 1
    if op.kind == "STRIDED_SLICE":
        options = op.options
        others = options.ellipsis_mask | options.new_axis_mask | options.shrink_axis_mask
        return not others and op.inputs[1].shape == (rank,)
    return True


def _pack_orders(op: Op, order: Order, is_result: bool) -> tuple[Order, Order]:
    """The new axis of a PACK stays where it is, or goes where the result has it."""
    if is_result:
        new = op.options.axis % len(order)
        place = order[new]
        rest = [axis for i, axis in enumerate(order) if i != new]
        return tuple(axis - (axis > place) for axis in rest), order
    new = op.options.axis % (len(order) + 1)
    after = [axis + (axis >= new) for axis in order]
    return order, (*after[:new], new, *after[new:])


def _drops_axes(op: Op) -> bool:
    """Whether the result lacks the axes that an operand names."""
    if op.kind in REDUCTIONS:
        return not op.options.keep_dims
    return operator(op.kind).fact("rank") == "x-1"


def _reduced_order(op: Op, order: Order) -> Order:
    """The order of the axes that stay."""
    gone = {int(axis) % len(order) for axis in op.inputs[1].data.ravel()}
    kept = [axis for i, axis in enumerate(order) if i not in gone]
    return tuple(sorted(kept).index(axis) for axis in kept)


def region_of(graph: Graph, tensor: Tensor, order: Order) -> Region:
    """The indifferent ops that hang together with `tensor`, which `order` made."""
    region = Region(orders={id(tensor): order})
    pending = [(op, tensor) for op in _neighbours(tensor)]
    while pending:
        op, known = pending.pop()
        if id(op) in region.ops:
            continue
        orders = orders_of(op, known, region.orders[id(known)])
        if orders is None:
            continue
        given = [(one, orders[0]) for one in flowing_of(op)]
        given += [(one, orders[1]) for one in op.outputs]
        if any(region.orders.get(id(one), wanted) != wanted for one, wanted in given):
            continue
        region.ops[id(op)] = op
        for one, wanted in given:
            region.orders[id(one)] = wanted
            if not is_identity(wanted):
                pending += [(neighbour, one) for neighbour in _neighbours(one)]
    for op in region.ops.values():
        for one in flowing_of(op):
            if one.producer is None or id(one.producer) not in region.ops:
                region.before[id(one)] = one
        for one in op.outputs:
            if region.outside(one) or graph.is_output(one):
                region.after[id(one)] = one
    return region


def _neighbours(tensor: Tensor) -> list[Op]:
    producer = [] if tensor.producer is None else [tensor.producer]
    return [*producer, *tensor.readers]


def is_identity(order: Order) -> bool:
    """Whether nothing moves."""
    return order == tuple(range(len(order)))


def gain(graph: Graph, region: Region) -> int:
    """How many transposes fewer there are after `flip`."""
    gained = 0
    for tensor in region.before.values():
        order = region.orders[id(tensor)]
        if is_identity(order):
            continue
        if order_of(tensor.producer) != order:
            gained -= not _is_reshaped(tensor, order)
        elif not graph.is_output(tensor) and not region.outside(tensor):
            gained += 1
    for tensor in region.after.values():
        if is_identity(region.orders[id(tensor)]):
            continue
        undone = region.undone(tensor)
        gained += len(undone)
        if len(undone) < len(region.outside(tensor)) or graph.is_output(tensor):
            gained -= 1
    return gained


def _is_reshaped(tensor: Tensor, order: Order) -> bool:
    """Whether a reshape makes the tensor and could make its untransposed form as well."""
    if tensor.producer is None or tensor.producer.kind not in RESHAPES or tensor.shape is None:
        return False
    return moves_only_ones(tensor.shape, inverse_of(order))


def flip(graph: Graph, region: Region) -> None:
    """Rebuilds the region on untransposed tensors and transposes what leaves it."""
    ordered = sorted(region.ops.values(), key=graph.position)
    flipped: dict[int, Tensor] = {}
    for key, tensor in region.before.items():
        if is_identity(region.orders[key]):
            flipped[key] = tensor
        elif tensor.producer is not None and order_of(tensor.producer) == region.orders[key]:
            flipped[key] = tensor.producer.inputs[0]
    for op in ordered:
        rebuild(op, flipped, region.orders, builder(graph, op))
    for key, tensor in region.after.items():
        _leave(graph, region, tensor, flipped[key])
    for op in reversed(ordered):
        graph.remove(op)


def rebuild(op: Op, flipped: dict[int, Tensor], orders: dict[int, Order], b: Builder) -> None:
    """Builds `op` on untransposed inputs, its axes renamed.

    `flipped` gives the untransposed form of a tensor by the identity of the transposed one; what it
    lacks is transposed back and added, the results too.
    """
    order, after = orders[id(flowing_of(op)[0])], orders[id(op.output)]
    inputs = [_flipped(op, i, flipped, orders, order, b) for i in range(len(op.inputs))]
    fields = options_of(op)
    if op.kind in JOINS:
        fields["axis"] = after[fields["axis"] % len(after)]
    for mask in ("begin_mask", "end_mask"):
        if mask in fields:
            bits = fields[mask]
            fields[mask] = sum((bits >> a & 1) << order[a] for a in range(len(order)))
    dtypes = [tensor.dtype for tensor in op.outputs]
    results = b.op(op.kind, *inputs, dtype=dtypes, **fields)
    results = results if isinstance(results, tuple) else (results,)
    for old, new in zip(op.outputs, results, strict=True):
        new.name = old.name
        if old.origin is not None:
            new.origin = old.origin.permuted(inverse_of(after))
        flipped[id(old)] = new


def _flipped(
    op: Op, i: int, flipped: dict[int, Tensor], orders: dict[int, Order], order: Order, b: Builder
) -> Tensor | None:
    """Input `i` as the rebuilt op takes it."""
    tensor = op.inputs[i]
    if tensor is None:
        return None
    row = operator(op.kind)
    if i in row.operand_numbers("axes"):
        axes = np.array([order[int(axis)] for axis in tensor.data.ravel()], np.int32)
        return b.constant(np.sort(axes).reshape(tensor.data.shape))
    if i in row.operand_numbers("rows"):
        return b.constant(tensor.data[list(inverse_of(order))], tensor.name)
    if tensor.is_constant:
        if i in row.operand_numbers("sizes"):
            return tensor
        return permuted_constant(tensor, inverse_of(order), b)
    if id(tensor) not in flipped:
        inverse = np.array(inverse_of(orders[id(tensor)]), np.int32)
        flipped[id(tensor)] = b.TRANSPOSE(tensor, inverse)
    return flipped[id(tensor)]


def _leave(graph: Graph, region: Region, old: Tensor, new: Tensor) -> None:
    """Gives `new` to the transposes that undid the order, and transposed to all others."""
    order = region.orders[id(old)]
    result = new
    if not is_identity(order):
        for reader in region.undone(old):
            graph.replace(reader.output, new)
            graph.remove(reader)
        if not region.outside(old) and not graph.is_output(old):
            return
        b = builder_after(graph, new)
        result = b.TRANSPOSE(new, np.array(order, np.int32))
        result.name, result.origin = old.name, old.origin
    for reader in region.outside(old):
        for i, tensor in enumerate(reader.inputs):
            if tensor is old:
                reader.set_input(i, result)
    if graph.is_output(old):
        graph.replace(old, result)
