"""Transposes around whole regions of ops that do not care about the order of axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..ir.pseudo import having, operator
from .driver import rewrite
from .reshape import axis_groups, can_fuse, constant_shape
from .rewrite import (
    BINARY,
    REDUCTIONS,
    RESHAPES,
    UNARY,
    builder,
    builder_after,
    names,
    options_of,
    producer_of,
    swap,
)
from .transpose import inverse_of, moves_only_unit_dims, order_of, permuted_constant

Order = tuple[int, ...]

LAST_AXIS = having("last_axis")
JOINS = having("joins")
REGROUPS = names("RESHAPE EXPAND_DIMS SQUEEZE")
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

    def outside_readers(self, tensor: Tensor) -> list[Op]:
        """The readers of a tensor that are not in the region."""
        return [op for op in dict.fromkeys(tensor.readers) if id(op) not in self.ops]

    def inverse_transposes(self, tensor: Tensor) -> list[Op]:
        """The readers that transpose it back."""
        inverse = inverse_of(self.orders[id(tensor)])
        return [op for op in self.outside_readers(tensor) if order_of(op) == inverse]


def cancel_transposes(graph: Graph) -> int:
    """Moves a region of indifferent ops to the other side of the transposes around it.

        x -> TRANSPOSE(p) -> RELU -> ADD(c) -> TRANSPOSE(p inverse) -> y
            becomes      x -> RELU -> ADD(transposed c) -> y

    The region is all elementwise ops, joins, splits, pads, slices and reductions that hang
    together; if that is no gain, also the reshapes between them that split or merge axes, the
    transposes of the axes they split (a shuffle of channels), products with the last axis, and what
    takes one index of an axis. Holds off unless fewer transposes remain afterwards.
    """
    return _cancel(graph, regroups=False) or _cancel(graph, regroups=True)


def _cancel(graph: Graph, *, regroups: bool) -> int:
    count = 0
    visited: set[tuple[int, Order]] = set()
    for op in [op for op in graph.ops if op.kind == "TRANSPOSE"]:
        order = order_of(op)
        if order is None or op.output.producer is not op:
            continue
        for tensor, first in ((op.output, order), (op.inputs[0], inverse_of(order))):
            if (id(tensor), first) in visited:
                continue
            region = region_of(graph, tensor, first, regroups=regroups)
            visited.update(region.orders.items())
            if gain(graph, region) > 0:
                flip(graph, region)
                count += 1
                break
    return count


@rewrite("RESHAPE")
def split_before_transpose(graph: Graph, op: Op) -> bool:
    """Moves a RESHAPE that only splits axes before a TRANSPOSE, to meet another.

        x[a,n,12] -> RESHAPE [a,3n,4] -> TRANSPOSE(1,0,2) -> RESHAPE [n,3,a,4] -> y
            becomes      x -> RESHAPE -> RESHAPE [a,n,3,4] -> TRANSPOSE(1,2,0,3) -> y

    Holds off when a value in between has another reader or is an output, or two dimensions are
    unknown.
    """
    transpose = producer_of(op.inputs[0], "TRANSPOSE")
    order = order_of(transpose)
    if transpose is None or order is None or graph.sole_reader(op.inputs[0]) is not op:
        return False
    x = transpose.inputs[0]
    if producer_of(x, *REGROUPS) is None or graph.sole_reader(x) is not transpose:
        return False
    groups, after = axis_groups(op.inputs[0], op.output), through_reshape(graph, op, order, False)
    if groups is None or after is None or any(len(near) != 1 for near, _ in groups):
        return False
    b = builder(graph, op)
    swap(graph, op, b.TRANSPOSE(_reshaped(op, x, order, after, b), np.array(after, np.int32)))
    graph.remove(transpose)
    return True


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
    if orders is None or not _can_sink(graph, transpose, op):
        return False
    b = builder(graph, op)
    flipped = {id(flowing[0]): transpose.inputs[0]}
    rebuild(op, flipped, {id(flowing[0]): order, id(op.output): order}, b)
    swap(graph, op, b.TRANSPOSE(flipped[id(op.output)], np.array(order, np.int32)))
    graph.remove(transpose)
    return True


def _can_sink(graph: Graph, transpose: Op, op: Op) -> bool:
    """Whether the op before the transpose, or before a reshape before it, can take `op` in."""
    x, reader = transpose.inputs[0], transpose
    if graph.sole_reader(x) is not reader or x.producer is None:
        return False
    if x.producer.kind in RESHAPES:
        x, reader = x.producer.inputs[0], x.producer
    return graph.sole_reader(x) is reader and x.producer is not None and can_fuse(x.producer, op)


def flowing_of(op: Op) -> list[Tensor]:
    """The inputs that are neither constant nor omitted, without a reshape's shape."""
    if op.kind in REGROUPS:
        return list(op.inputs[:1])
    return [tensor for tensor in op.inputs if tensor is not None and not tensor.is_constant]


def orders_of(op: Op, tensor: Tensor, order: Order) -> tuple[Order, Order] | None:
    """(order of the inputs, order of the results) of an op, given that of one of its tensors.

    None when the op does not give the transposed result of transposed inputs, its axes renamed.
    """
    if op.kind not in INDIFFERENT or any(result.rank is None for result in op.outputs):
        return None
    row = operator(op.kind)
    named = [i for fact in ("axes", "rows", "sizes") for i in row.operand_numbers(fact)]
    if any(not op.inputs[i].is_constant for i in named):
        return None
    is_result = any(tensor is result for result in op.outputs)
    if op.kind == "PACK":
        orders = _pack_orders(op, order, is_result)
    elif _drops_axes(op):
        orders = None if is_result else (order, _reduced_order(op, order))
    else:
        orders = (order, order)
    if orders is None or not _fits(op, *orders):
        return None
    return orders


def _regrouped_orders(
    graph: Graph, op: Op, tensor: Tensor, order: Order
) -> tuple[Order, Order] | None:
    """The same of an op that splits, merges, moves or takes axes, or looks at the last only."""
    is_result = tensor is op.output
    if op.kind not in REGROUPED:
        return None
    other = REGROUPED[op.kind].order(graph, op, order, is_result)
    if other is None:
        return None
    return (other, order) if is_result else (order, other)


def through_reshape(_: Graph, op: Op, order: Order, is_result: bool) -> Order | None:
    """The order of a reshape's result, given that of its input; of its input if `is_result`.

    None when axes that it takes together would not be neighbours, those of size 1 aside.
    """
    groups = axis_groups(op.inputs[0], op.output)
    sizes = op.output.sizes if is_result else op.inputs[0].sizes
    if groups is None or sizes is None or not _has_shape(op):
        return None
    sides = [group[::-1] if is_result else group for group in groups]
    large = sorted(order[axis] for axis, n in enumerate(sizes) if n != 1)
    starts: dict[range, int] = {}
    for near, _far in sides:
        positions = [order[axis] for axis in near if sizes[axis] != 1]
        starts[near] = positions[0] if positions else order[near[0]]
        first = large.index(positions[0]) if positions else 0
        if positions != large[first : first + len(positions)]:
            return None
    sides.sort(key=lambda side: starts[side[0]])
    return inverse_of(tuple(axis for _, far in sides for axis in far))


def through_shuffle(graph: Graph, op: Op, order: Order, is_result: bool) -> Order | None:
    """The order on the other side of a transpose, where its reshapes keep the order outside.

    x -> RESHAPE -> TRANSPOSE -> RESHAPE -> y      x and y in the same order
    """
    split, merge = op.inputs[0].producer, graph.sole_reader(op.output)
    if split is None or merge is None or order_of(op) is None:
        return None
    if split.kind not in REGROUPS or merge.kind not in REGROUPS:
        return None
    if graph.sole_reader(op.inputs[0]) is not op or split.inputs[0].rank != merge.output.rank:
        return None
    if is_result:
        outside = through_reshape(graph, merge, order, False)
        return None if outside is None else through_reshape(graph, split, outside, False)
    outside = through_reshape(graph, split, order, True)
    return None if outside is None else through_reshape(graph, merge, outside, True)


def through_last_axis(_: Graph, op: Op, order: Order, is_result: bool) -> Order | None:
    """The same order, of a product with constant weights, where the last axis stays."""
    if len(flowing_of(op)) != 1 or order[-1] != len(order) - 1:
        return None
    return order if op.inputs[0].rank == op.output.rank else None


def through_element(_: Graph, op: Op, order: Order, is_result: bool) -> Order | None:
    """The order of the axes that stay when one index of another is taken; of all, if several."""
    index = op.inputs[1]
    if not index.is_constant or op.options.batch_dims:
        return None
    if index.rank == 1:
        return order
    if is_result or index.rank != 0:
        return None
    axis = op.options.axis % len(order)
    taken, others = order[axis], [place for i, place in enumerate(order) if i != axis]
    return tuple(place - (place > taken) for place in others)


def _fits(op: Op, before: Order, after: Order) -> bool:
    """Whether ranks and options allow these orders."""
    rank = len(before)
    if any(tensor.rank != rank for tensor in flowing_of(op)):
        return False
    if any(tensor.rank != len(after) for tensor in op.outputs):
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
        new_axis = op.options.axis % len(order)
        new_position = order[new_axis]
        others = [axis for i, axis in enumerate(order) if i != new_axis]
        return tuple(axis - (axis > new_position) for axis in others), order
    new_axis = op.options.axis % (len(order) + 1)
    after = [axis + (axis >= new_axis) for axis in order]
    return order, (*after[:new_axis], new_axis, *after[new_axis:])


def _drops_axes(op: Op) -> bool:
    """Whether the result lacks the axes that an operand names."""
    if op.kind in REDUCTIONS:
        return not op.options.keep_dims
    return operator(op.kind).fact("rank") == "x-1"


def _reduced_order(op: Op, order: Order) -> Order:
    """The order of the axes that stay."""
    dropped = {int(axis) % len(order) for axis in op.inputs[1].data.ravel()}
    remaining = [axis for i, axis in enumerate(order) if i not in dropped]
    return tuple(sorted(remaining).index(axis) for axis in remaining)


def region_of(graph: Graph, tensor: Tensor, order: Order, *, regroups: bool = False) -> Region:
    """The indifferent ops that hang together with `tensor`, which `order` made.

    With `regroups` those too that split and merge axes.
    """
    region = Region(orders={id(tensor): order})
    pending = [(op, tensor) for op in _neighbours(tensor)]
    while pending:
        op, tensor = pending.pop()
        if id(op) in region.ops:
            continue
        orders = orders_of(op, tensor, region.orders[id(tensor)])
        if orders is None and regroups:
            orders = _regrouped_orders(graph, op, tensor, region.orders[id(tensor)])
        if orders is None:
            continue
        tensor_orders = [(other, orders[0]) for other in flowing_of(op)]
        tensor_orders += [(other, orders[1]) for other in op.outputs]
        if any(region.orders.get(id(other), needed) != needed for other, needed in tensor_orders):
            continue
        region.ops[id(op)] = op
        for other, needed in tensor_orders:
            region.orders[id(other)] = needed
            if not is_identity(needed):
                pending += [(neighbour, other) for neighbour in _neighbours(other)]
    for op in region.ops.values():
        for flowing in flowing_of(op):
            if flowing.producer is None or id(flowing.producer) not in region.ops:
                region.before[id(flowing)] = flowing
        for result in op.outputs:
            if region.outside_readers(result) or graph.is_output(result):
                region.after[id(result)] = result
    return region


def _neighbours(tensor: Tensor) -> list[Op]:
    producer = [] if tensor.producer is None else [tensor.producer]
    return [*producer, *tensor.readers]


def is_identity(order: Order) -> bool:
    """Whether nothing moves."""
    return order == tuple(range(len(order)))


def gain(graph: Graph, region: Region) -> int:
    """How many transposes fewer there are after `flip`, those that meet others merged."""
    n_fewer = 0
    for tensor in region.before.values():
        order = region.orders[id(tensor)]
        if is_identity(order):
            continue
        is_private = not graph.is_output(tensor) and not region.outside_readers(tensor)
        if order_of(tensor.producer) == order:
            n_fewer += is_private
        elif not (is_private and order_of(tensor.producer)):
            n_fewer -= not _is_reshaped(tensor, order)
    for tensor in region.after.values():
        if is_identity(region.orders[id(tensor)]):
            continue
        inverses = region.inverse_transposes(tensor)
        n_fewer += len(inverses)
        if graph.is_output(tensor) or not all(map(order_of, region.outside_readers(tensor))):
            n_fewer -= 1
    return n_fewer


def _is_reshaped(tensor: Tensor, order: Order) -> bool:
    """Whether a reshape makes the tensor and could make its untransposed form as well."""
    if tensor.producer is None or tensor.producer.kind not in RESHAPES or tensor.shape is None:
        return False
    return moves_only_unit_dims(tensor.shape, inverse_of(order))


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
        _replace_results(graph, region, tensor, flipped[key])
    for op in reversed(ordered):
        graph.remove(op)


def rebuild(op: Op, flipped: dict[int, Tensor], orders: dict[int, Order], b: Builder) -> None:
    """Builds `op` on untransposed inputs, its axes renamed.

    `flipped` gives the untransposed form of a tensor by the identity of the transposed one; what it
    lacks is transposed back and added, the results too.
    """
    order, after = orders[id(flowing_of(op)[0])], orders[id(op.output)]
    if op.kind in REGROUPED:
        x = _untransposed(op.inputs[0], flipped, order, b)
        flipped[id(op.output)] = REGROUPED[op.kind].rebuild(op, x, order, after, b)
        _stand_for(op.output, flipped[id(op.output)], after)
        return
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
        _stand_for(old, new, after)
        flipped[id(old)] = new


def _has_shape(op: Op) -> bool:
    """Whether a reshape's shape is constant or computed from parts that can change places.

    What adds or drops dimensions of size 1 needs none, if there are no others of size 1.
    """
    if constant_shape(op.output) is not None or _parts_of(op) is not None:
        return True
    sizes = op.inputs[0].sizes or ()
    if op.kind == "SQUEEZE":
        return 0 < sizes.count(1) == len(op.options.squeeze_dims)
    return op.kind == "EXPAND_DIMS" and 1 not in sizes and op.inputs[1].is_constant


def _parts_of(op: Op) -> tuple[Op, list[Tensor]] | None:
    """The op that joins a computed shape, and its parts, one for each dimension."""
    casts = producer_of(op.input(1), "CAST") if op.kind == "RESHAPE" else None
    joined = op.input(1) if casts is None else casts.inputs[0]
    join = producer_of(joined, "PACK", "CONCATENATION")
    if join is None:
        return None
    parts = [part for part in join.inputs if part is not None]
    shape = () if join.kind == "PACK" else (1,)
    is_whole = len(parts) == op.output.rank and all(part.shape == shape for part in parts)
    return (join, parts) if is_whole else None


def _reshaped(op: Op, x: Tensor, before: Order, after: Order, b: Builder) -> Tensor:
    shape, order = constant_shape(op.output), inverse_of(after)
    if shape is not None:
        return b.RESHAPE(x, b.constant(shape[list(order)]))
    if op.kind == "SQUEEZE":
        axes = [before[axis % len(before)] for axis in op.options.squeeze_dims]
        return b.SQUEEZE(x, squeeze_dims=sorted(axes))
    if op.kind == "EXPAND_DIMS":
        return b.EXPAND_DIMS(x, np.int32(after[int(op.inputs[1].data.item()) % len(after)]))
    join, parts = _parts_of(op) or (op, [])
    joined = b.op(join.kind, *(parts[axis] for axis in order), **options_of(join))
    if joined.dtype != op.inputs[1].dtype:
        joined = b.CAST(joined, dtype=op.inputs[1].dtype)
    return b.RESHAPE(x, joined)


def _shuffled(op: Op, x: Tensor, before: Order, after: Order, b: Builder) -> Tensor:
    inner = order_of(op) or ()
    order = [before[inner[axis]] for axis in inverse_of(after)]
    return b.TRANSPOSE(x, np.array(order, np.int32))


def _multiplied(op: Op, x: Tensor, _: Order, after: Order, b: Builder) -> Tensor:
    return b.op(op.kind, x, *op.inputs[1:], dtype=op.output.dtype, **options_of(op))


def _element(op: Op, x: Tensor, before: Order, _: Order, b: Builder) -> Tensor:
    axis = before[op.options.axis % len(before)]
    return b.op(op.kind, x, op.inputs[1], **{**options_of(op), "axis": axis})


@dataclass(frozen=True)
class Regrouped:
    """How an op that is not indifferent works on untransposed tensors.

    Attributes:
        order: the order on its other side, or None.
        rebuild: its result from the untransposed input, in the orders of input and result.
    """

    order: Callable[[Graph, Op, Order, bool], Order | None]
    rebuild: Callable[[Op, Tensor, Order, Order, Builder], Tensor]


REGROUPED = {
    **dict.fromkeys(REGROUPS, Regrouped(through_reshape, _reshaped)),
    "TRANSPOSE": Regrouped(through_shuffle, _shuffled),
    "FULLY_CONNECTED": Regrouped(through_last_axis, _multiplied),
    "GATHER": Regrouped(through_element, _element),
}


def _stand_for(old: Tensor, new: Tensor, order: Order) -> None:
    """Names `new`, which transposed by `order` is `old`, like it."""
    new.name = old.name
    if old.origin is not None:
        new.origin = old.origin.permuted(inverse_of(order))


def _untransposed(tensor: Tensor, flipped: dict[int, Tensor], order: Order, b: Builder) -> Tensor:
    """The tensor that transposed by `order` is `tensor`, from `flipped` or added to it."""
    if id(tensor) not in flipped:
        flipped[id(tensor)] = b.TRANSPOSE(tensor, np.array(inverse_of(order), np.int32))
    return flipped[id(tensor)]


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
    return _untransposed(tensor, flipped, orders[id(tensor)], b)


def _replace_results(graph: Graph, region: Region, old: Tensor, new: Tensor) -> None:
    """Gives `new` to the transposes that undid the order, and transposed to all others."""
    order = region.orders[id(old)]
    result = new
    if not is_identity(order):
        for reader in region.inverse_transposes(old):
            graph.replace(reader.output, new)
            graph.remove(reader)
        if not region.outside_readers(old) and not graph.is_output(old):
            return
        b = builder_after(graph, new)
        result = b.TRANSPOSE(new, np.array(order, np.int32))
        result.name, result.origin = old.name, old.origin
    for reader in region.outside_readers(old):
        for i, tensor in enumerate(reader.inputs):
            if tensor is old:
                reader.set_input(i, result)
    if graph.is_output(old):
        graph.replace(old, result)
