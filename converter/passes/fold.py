"""What is known is computed, what nobody reads is dropped, what is said twice is said once."""

from __future__ import annotations

from math import prod

import numpy as np

from ...engine.run.faults import Fault
from ...interpreter.node import NeedsValue, NodeError
from ..ir import pseudo
from ..ir.graph import Graph, Op, Tensor, same_bits
from ..ir.prepare import compute

LIMIT = 1 << 20  # bytes of a folded result, unless its inputs are half as large
TOTAL = 256 << 20  # bytes of all folded results
SAMPLE = 16  # elements looked at before two constants are compared whole


def fold_constants(graph: Graph) -> int:
    """Computes ops whose results do not depend on the inputs.

        SHAPE(x: float32[8,4]) -> s      becomes      s = int32[2]{8, 4}

    Holds off where the result would be larger than 1 MB and twice its inputs, on random and
    stateful ops, on what gives a variable its first value, and on outputs without elements: LiteRT
    cannot read such a constant.
    """
    spent = count = 0
    for op in list(graph.ops):
        if not op.outputs or not is_pure(op) or any(one.is_variable for one in op.outputs):
            continue
        if any(graph.is_output(one) and 0 in (one.shape or ()) for one in op.outputs):
            continue
        values = _known([tensor.value for tensor in op.outputs])
        if not values and all(tensor.is_constant for tensor in op.given):
            values = _computed(op)
        size = sum(value.nbytes for value in values)
        given = sum(tensor.data.nbytes for tensor in op.given if tensor.is_constant)
        if not values or size > max(LIMIT, 2 * given) or spent + size > TOTAL:
            continue
        spent += size
        for tensor, value in zip(op.outputs, values, strict=True):
            constant = Tensor(tensor.name, value.dtype, value.shape, value)
            constant.origin = tensor.origin
            graph.replace(tensor, constant)
        graph.remove(op)
        count += 1
    return count


def _known(values: list[np.ndarray | None]) -> list[np.ndarray]:
    """The values when there is one for each result, else none."""
    found = [value for value in values if value is not None]
    return found if len(found) == len(values) else []


def _computed(op: Op) -> list[np.ndarray]:
    """The values of an op with constant inputs; none when they are too large or an error."""
    if not all(tensor.is_static for tensor in op.outputs):
        return []
    sizes = [t.dtype.itemsize * prod(n or 0 for n in t.dims) for t in op.outputs]
    given = sum(tensor.data.nbytes for tensor in op.given)
    if sum(sizes) > max(LIMIT, 2 * given):
        return []
    try:
        return _known(compute(op))
    except (Fault, LookupError, NodeError, NeedsValue):
        return []


def remove_dead_code(graph: Graph) -> int:
    """Drops ops whose results nobody reads, the last first.

        x -> RELU -> y (no reader)      becomes      nothing

    Holds off on ops that do more than give results (ASSIGN_VARIABLE, CALL_ONCE, custom ops).
    """
    count = 0
    for op in reversed(graph.ops[:]):
        is_read = any(tensor.readers or graph.is_output(tensor) for tensor in op.outputs)
        if not is_read and not op.graphs and op.kind not in pseudo.having("writes"):
            graph.remove(op)
            count += 1
    return count


def merge_duplicates(graph: Graph) -> int:
    """Makes equal constants one tensor, and equal ops on equal inputs one op.

        x -> RELU -> y                               y -> a
        x -> RELU -> z     (y -> a, z -> b)          y -> b

    Holds off on random and stateful ops.
    """
    count = _merge_constants(graph)
    seen: dict[tuple, list[Op]] = {}
    for op in list(graph.ops):
        if not is_pure(op):
            continue
        inputs = tuple(id(tensor) for tensor in op.inputs)
        types = tuple((tensor.dtype, tensor.quantization) for tensor in op.outputs)
        alike = seen.setdefault((op.kind, inputs, types), [])
        first = next((one for one in alike if one.options == op.options), None)
        if first is None:
            alike.append(op)
            continue
        for kept, tensor in zip(first.outputs, op.outputs, strict=True):
            graph.replace(tensor, kept)
        graph.remove(op)
        count += 1
    return count


def _merge_constants(graph: Graph) -> int:
    groups: dict[tuple, list[Tensor]] = {}
    count = 0
    for tensor in list(graph.tensors()):
        if not tensor.is_constant or tensor.is_variable:
            continue
        value = tensor.data
        some = value.ravel()[:: max(1, value.size // SAMPLE)].tolist()
        key = (value.dtype, value.shape, tensor.quantization, repr(some))
        group = groups.setdefault(key, [])
        first = next((one for one in group if same_bits(one.data, value)), None)
        if first is None:
            group.append(tensor)
        else:
            graph.replace(tensor, first)
            count += 1
    return count


def is_pure(op: Op) -> bool:
    """Whether equal inputs give equal results and nothing else happens."""
    return not op.graphs and pseudo.is_pure(op.kind)
