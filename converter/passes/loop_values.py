"""Values of loops that are equal in every iteration."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .fold import is_pure, merge_duplicates
from .rewrite import shares_graphs

MAX_RANK = 5
"""Dimensions that LiteRT's SLICE takes."""


@rewrite("WHILE")
def merge_loop_values(graph: Graph, op: Op) -> bool:
    """Makes loop values that start equal and are computed alike one value.

        WHILE(z, z: h' = SELECT(m, f, h), y' = SELECT(m, f, y))      becomes      WHILE(z, z: h', y)

    What is left of the others only gives itself back, which `trim_loops` drops. Holds off where
    another operator calls the same graphs, and on values that the body passes through.
    """
    if shares_graphs(graph, op):
        return False
    condition, body = op.graphs
    count = 0
    for i, j in _equal_pairs(op):
        if body.outputs[j] is body.inputs[j]:
            continue
        for callee in (condition, body):
            for reader in dict.fromkeys(callee.inputs[j].readers):
                for k, tensor in enumerate(reader.inputs):
                    if tensor is callee.inputs[j]:
                        reader.set_input(k, callee.inputs[i])
        body.outputs = [
            callee if k != j else body.inputs[j] for k, callee in enumerate(body.outputs)
        ]
        graph.replace(op.outputs[j], op.outputs[i])
        count += 1
    if count:
        merge_duplicates(body)  # what was computed of either value
    return count > 0


@rewrite("WHILE")
def order_exchanged_values(graph: Graph, op: Op) -> bool:
    """Puts loop values that take the place of another one before it.

        WHILE(a, b, c: b', a, c')      becomes      WHILE(b, a, c: a, b', c')

    LiteRT writes the values of the next iteration in their order over those of this one. Holds off
    where another operator calls the same graphs; of values that go round one remains to be copied.
    """
    condition, body = op.graphs
    order = _order_of_writing(body)
    if order == list(range(len(order))) or shares_graphs(graph, op):
        return False
    for callee in (condition, body):
        callee.inputs = [callee.inputs[i] for i in order]
    body.outputs = [body.outputs[i] for i in order]
    body.output_names = None
    for k, tensor in enumerate([op.inputs[i] for i in order]):
        op.set_input(k, tensor)
    op.outputs = [op.outputs[i] for i in order]
    return True


def _order_of_writing(body: Graph) -> list[int]:
    """The loop values, each before the one whose value it takes over, as they are otherwise."""
    positions = {id(tensor): i for i, tensor in enumerate(body.inputs)}
    takers: dict[int, list[int]] = {}
    for j, tensor in enumerate(body.outputs):
        i = positions.get(id(tensor), j)
        if i != j:
            takers.setdefault(i, []).append(j)
    order: dict[int, None] = {}
    for last in range(len(body.inputs)):
        waiting, seen = [last], {last}
        while waiting:
            missing = [j for j in takers.get(waiting[-1], ()) if j not in order and j not in seen]
            if missing:
                waiting.append(missing[0])
                seen.add(missing[0])
            else:
                order.setdefault(waiting.pop())
    return list(order)


@rewrite("WHILE")
def copy_exchanged_values(graph: Graph, op: Op) -> bool:
    """Copies loop values that take the place of a later one.

        WHILE(a, b: b, a)      becomes      WHILE(a, b: b, SLICE(a))

    LiteRT writes the values of the next iteration in their order over those of this one, and gives
    b twice. An operator that it computes in place would be no copy. Holds off on values that stay
    where they are or move to the front.
    """
    body = op.graphs[1]
    count = 0
    for j, tensor in enumerate(body.outputs):
        if any(tensor is value for value in body.inputs[:j]) and tensor.rank is not None:
            copy = copied(Builder(body), tensor)
            body.outputs = [*body.outputs[:j], copy, *body.outputs[j + 1 :]]
            count += 1
    return count > 0


def copied(b: Builder, x: Tensor) -> Tensor:
    """`x` as another tensor."""
    rank = x.rank or 0
    if 0 < rank <= MAX_RANK:
        copy = b.SLICE(x, np.zeros(rank, np.int32), np.full(rank, -1, np.int32))
        copy.quantization = x.quantization
        return copy
    flat = b.RESHAPE(x, np.array([-1], np.int32))
    shape = b.SHAPE(x, out_type="INT32") if rank else np.zeros(0, np.int32)
    return b.RESHAPE(copied(b, flat), shape)


def _equal_pairs(op: Op) -> list[tuple[int, int]]:
    """(i, j) of loop values that are equal whenever an iteration begins, i the first of its kind.

    All that start equal count as equal until their next values differ.
    """
    body = op.graphs[1]
    starts = [(id(x), t.dtype, t.sizes) for x, t in zip(op.inputs, body.inputs, strict=True)]
    classes = _numbered(starts)
    while len(set(classes)) < len(classes):
        numbers = _value_numbers(body, classes)
        ends = [_number_of(t, numbers) for t in body.outputs]
        refined = _numbered(list(zip(classes, ends, strict=True)))
        if refined == classes:
            break
        classes = refined
    return [(classes.index(kind), j) for j, kind in enumerate(classes) if classes.index(kind) != j]


def _numbered(keys: Sequence[Hashable]) -> list[int]:
    """A number for each key, the same for equal ones, counted as they come."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _value_numbers(body: Graph, classes: Sequence[int]) -> dict[int, Hashable]:
    """id of a tensor -> what it is computed from: equal for tensors that are equal."""
    numbers: dict[int, Hashable] = {
        id(tensor): ("value", kind) for tensor, kind in zip(body.inputs, classes, strict=True)
    }
    keys: dict[Hashable, int] = {}
    for op in body.ops:
        key: Hashable = id(op)
        if is_pure(op):
            inputs = tuple(None if x is None else _number_of(x, numbers) for x in op.inputs)
            types = tuple((x.dtype, x.sizes, id(x.quantization)) for x in op.outputs)
            code = (op.kind, op.custom_code, op.custom_options, _options_key(op.options))
            key = (code, inputs, types)
        number = keys.setdefault(key, len(keys))
        for k, tensor in enumerate(op.outputs):
            numbers[id(tensor)] = ("result", number, k)
    return numbers


def _options_key(options: Any) -> Hashable:
    """Equal for options that are certainly equal."""
    if options is None:
        return None
    fields = [getattr(options, name) for name in type(options).__slots__]
    plain = all(value is None or isinstance(value, str | bytes | int | float) for value in fields)
    return (type(options).__name__, *fields) if plain else id(options)


def _number_of(tensor: Tensor, numbers: dict[int, Hashable]) -> Hashable:
    return numbers.get(id(tensor), ("constant", id(tensor)))
