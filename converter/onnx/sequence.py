"""Sequences and optional values: lists of tensors while nodes are lowered.

One of unknown length is the tensor whose slices it has.
"""

from __future__ import annotations

import numpy as np

from ..ir.graph import Tensor
from ..lowering.moves import as_int32, dimension, extent, regrouped, transposed
from .control import inlined
from .registry import lower
from .slices import Slices


def _items(node, index=0):
    """A sequence of known length as a list."""
    items = node.inputs[index]
    node.require(
        not isinstance(items, Slices),
        "a sequence of unknown length cannot be changed; give the model's inputs a fixed shape "
        "(input_shapes)",
    )
    return items


def _position(node, index, n, default):
    if node.input(index) is None:
        return default
    position = int(node.constant(index))
    node.require(-n <= position <= n, f"position must be in [-{n}, {n}], got {position}")
    return position + n if position < 0 else position


@lower("SequenceConstruct")
def sequence_construct(node, b):
    """The tensors as a sequence."""
    return (list(node.inputs),)


@lower("SequenceEmpty")
def sequence_empty(node, b):
    """No tensors."""
    return ([],)


@lower("SequenceLength")
def sequence_length(node, b):
    """How many tensors there are."""
    items = node.inputs[0]
    if isinstance(items, Slices):
        return b.CAST(dimension(items.whole, items.axis, b), dtype=np.int64)
    return b.constant(np.int64(len(node.inputs[0])))


@lower("SequenceAt")
def sequence_at(node, b):
    """One of the tensors."""
    items = node.inputs[0]
    if isinstance(items, Slices):
        return _slice_at(node, b, items)
    position = _position(node, 1, len(items), 0)
    node.require(position < len(items), f"position {position} is behind {len(items)} tensors")
    return items[position]


def _slice_at(node, b, items):
    """A slice at a computed or constant position, from the end when negative."""
    position = as_int32(node.inputs[1], b)
    if position.value is None or position.value < 0:
        length = dimension(items.whole, items.axis, b)
        position = b.FLOOR_MOD(position, length)
    row = b.GATHER(items.whole, position, axis=items.axis)
    return b.EXPAND_DIMS(row, np.int32(items.axis)) if items.keeps_axis else row


@lower("SequenceInsert")
def sequence_insert(node, b):
    """The sequence with another tensor, at its end by default."""
    items, x = _items(node), node.inputs[1]
    position = _position(node, 2, len(items), len(items))
    return ([*items[:position], x, *items[position:]],)


@lower("SequenceErase")
def sequence_erase(node, b):
    """The sequence without a tensor, the last one by default."""
    items = _items(node)
    position = _position(node, 1, len(items), len(items) - 1)
    return ([*items[:position], *items[position + 1 :]],)


@lower("ConcatFromSequence")
def concat_from_sequence(node, b):
    """The tensors joined along an axis, maybe a new one."""
    items, axis = node.inputs[0], node.attr("axis")
    if isinstance(items, Slices):
        return _joined_slices(node, b, items, axis)
    node.require(items, "a sequence without tensors cannot be joined")
    new = node.attr("new_axis", 0)
    rank = items[0].rank + (1 if new else 0)
    axis %= rank
    if new:
        return b.PACK(*items, axis=axis, values_count=len(items))
    return items[0] if len(items) == 1 else b.CONCATENATION(*items, axis=axis)


def _joined_slices(node, b, items, axis):
    """The slices joined along an axis that each has, or a new one."""
    rank = len(items.whole.dims)
    others = [i for i in range(rank) if i != items.axis]
    is_new = bool(node.attr("new_axis", 0))
    if items.keeps_axis:
        node.require(
            not is_new and axis % rank == items.axis,
            "slices that keep their axis can only be joined along the axis they were split along",
        )
        return items.whole
    if is_new:
        others.insert(axis % rank, items.axis)
        return transposed(items.whole, others, b)
    axis %= rank - 1
    whole = transposed(items.whole, [*others[:axis], items.axis, *others[axis:]], b)
    sizes = [extent(whole, i, b) for i in range(rank)]
    return regrouped(whole, [*sizes[:axis], b.MUL(*sizes[axis : axis + 2]), *sizes[axis + 2 :]], b)


@lower("SplitToSequence")
def split_to_sequence(node, b):
    """The parts along an axis, of one size or of several; without either, slices."""
    x, axis = node.inputs[0], node.axis(node.attr("axis", 0))
    length = node.shape()[axis]
    if length is None and node.input(1) is None:
        return (Slices(x, axis, bool(node.attr("keepdims", 1))),)
    node.require(length is not None, f"the size of axis {axis} must be known")
    assert length is not None
    if node.input(1) is None:
        parts = b.UNPACK(x, axis=axis, num=length)
        if node.attr("keepdims", 1):
            parts = [b.EXPAND_DIMS(part, np.int32(axis)) for part in parts]
        return (list(parts),)
    sizes = node.constant(1)
    if sizes.ndim == 0:
        size = int(sizes)
        sizes = np.asarray([min(size, length - i) for i in range(0, length, size)])
    if len(sizes) == 1:
        return ([x],)
    parts = b.SPLIT_V(x, sizes.astype(np.int32), np.int32(axis), num_splits=len(sizes))
    return (list(parts),)


@lower("SequenceMap")
def sequence_map(node, b):
    """A graph for each tensor of a sequence."""
    items, others = _items(node), node.inputs[1:]
    graph = node.attr("body")
    columns: list[list[Tensor]] = [[] for _ in graph.output]
    for i, item in enumerate(items):
        extra = [x[i] if isinstance(x, list) else x for x in others]
        results = inlined(node, b, graph, [item, *extra])
        for column, result in zip(columns, results, strict=True):
            column.append(result)
    return tuple(columns)


@lower("Optional")
def optional(node, b):
    """The value, or none."""
    return (node.input(0),)


@lower("OptionalHasElement")
def optional_has_element(node, b):
    """Whether there is a value."""
    return b.constant(np.asarray(node.input(0) is not None))


@lower("OptionalGetElement")
def optional_get_element(node, b):
    """The value, which must be there."""
    node.require(node.input(0) is not None, "the optional value must be there")
    return (node.inputs[0],)
