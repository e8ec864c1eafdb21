"""Constant folding, dead code and common subexpressions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import cast

import numpy as np

from ...engine.run.faults import Fault
from ...interpreter.plan.node import NeedsValue, NodeError
from ..ir import pseudo
from ..ir.graph import Graph, Op, Tensor, same_bits
from ..ir.legal_types import has_kernel_for
from ..ir.prepare import compute
from .driver import rewrite
from .rewrite import builder, may_learn, same_shape

LIMIT = 1 << 20  # bytes of a folded result, unless its inputs are half as large
TOTAL = 256 << 20  # bytes of all folded results
SAMPLE = 16  # elements looked at before two constants are compared whole


def fold_constants(graph: Graph) -> int:
    """Computes ops whose results do not depend on the inputs.

        SHAPE(x: float32[8,4]) -> s      becomes      s = int32[2]{8, 4}
        SUM(x: float32[0,4]) -> s        becomes      s = float32[4]{0.0}

    LiteRT leaves unwritten what comes of no elements at all. Holds off where the result would be
    larger than 1 MB and twice its inputs, on random and stateful ops, on what gives a variable its
    first value, and on outputs without elements: LiteRT cannot read such a constant.
    """
    total_bytes = count = 0
    for op in list(graph.ops):
        if not op.outputs or not is_pure(op) or any(tensor.is_variable for tensor in op.outputs):
            continue
        if any(graph.is_output(t) and 0 in (t.shape or ()) for t in op.outputs):
            continue
        values = _complete([tensor.value for tensor in op.outputs])
        n_input_bytes = sum(t.data.nbytes for t in op.present_inputs if t.is_constant)
        if not values:
            values = _compute(op, n_input_bytes)
        n_bytes = sum(value.nbytes for value in values)
        if not values or n_bytes > max(LIMIT, 2 * n_input_bytes) or total_bytes + n_bytes > TOTAL:
            continue
        total_bytes += n_bytes
        for tensor, value in zip(op.outputs, values, strict=True):
            constant = Tensor(tensor.name, value.dtype, value.shape, value)
            constant.origin = tensor.origin
            graph.replace(tensor, constant)
        graph.remove(op)
        count += 1
    return count


@rewrite()
def replace_empty_results(graph: Graph, op: Op) -> bool:
    """Computes nothing for what certainly has no elements.

        x: float32[3,4] -> SLICE -> y: float32[0,4] -> RELU      becomes      float32[0,4] -> RELU

    XNNPACK takes a size of 0 for all there is. An output is the result of a FILL: LiteRT cannot
    read a constant without elements. Holds off as `fold_constants`, and on quantized tensors.
    """
    results = op.outputs
    if not results or op.kind == "FILL" or not is_pure(op):
        return False
    if any(not t.is_static or 0 not in t.dims or t.is_variable for t in results):
        return False
    if any(t.quantization or (graph.is_output(t) and not _fills(t.dtype)) for t in results):
        return False
    for old in results:
        shape = cast("tuple[int, ...]", old.sizes)
        value = np.zeros(shape, old.dtype)
        new = Tensor(old.name, old.dtype, shape, value)
        if graph.is_output(old):
            new = builder(graph, op).FILL(np.asarray(shape, np.int32), _zero(old.dtype))
            new.name = old.name
        new.origin = old.origin
        graph.replace(old, new)
    graph.remove(op)
    return True


def _fills(dtype: np.dtype) -> bool:
    """Whether LiteRT's FILL gives a type."""
    return has_kernel_for("FILL", [np.int32, dtype], dtype)


def _zero(dtype: np.dtype) -> np.ndarray:
    return np.asarray(b"", object) if dtype.kind == "O" else np.zeros((), dtype)


def _complete(values: list[np.ndarray | None]) -> list[np.ndarray]:
    """The values when there is one for each result, else none."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _compute(op: Op, n_input_bytes: int) -> list[np.ndarray]:
    """The values of an op with known inputs; none when they are too large or an error."""
    known = [None if tensor is None else _known(tensor) for tensor in op.inputs]
    if not all(tensor is None or tensor.is_constant for tensor in known):
        return []
    if not all(tensor.is_static for tensor in op.outputs):
        return []
    is_empty = any(tensor is not old for tensor, old in zip(known, op.inputs, strict=True))
    if is_empty and any(0 in tensor.dims for tensor in op.outputs):
        return []
    sizes = [t.dtype.itemsize * prod(n or 0 for n in t.dims) for t in op.outputs]
    if sum(sizes) > max(LIMIT, 2 * n_input_bytes):
        return []
    constant_op = Op(op.kind, known, op.outputs, op.options, origin=op.origin) if is_empty else op
    try:
        return _complete(compute(constant_op))
    except (Fault, LookupError, NodeError, NeedsValue):
        return []


def _known(tensor: Tensor) -> Tensor:
    """The tensor, as a constant where it has no elements."""
    if tensor.is_constant or not tensor.is_static or 0 not in tensor.dims:
        return tensor
    value = np.zeros(cast("tuple[int, ...]", tensor.sizes), tensor.dtype)
    return Tensor(tensor.name, tensor.dtype, tensor.sizes, value, quantization=tensor.quantization)


def remove_dead_code(graph: Graph) -> int:
    """Drops ops whose results nobody reads, the last first.

        x -> RELU -> y (no reader)      becomes      nothing

    Holds off on ops that do more than give results (ASSIGN_VARIABLE, CALL_ONCE, custom ops, those
    that fill a variable).
    """
    count = 0
    for op in reversed(graph.ops[:]):
        is_read = any(
            tensor.readers or tensor.is_variable or graph.is_output(tensor) for tensor in op.outputs
        )
        if not is_read and not op.graphs and op.kind not in pseudo.having("writes"):
            graph.remove(op)
            count += 1
    return count


def merge_duplicates(graph: Graph) -> int:
    """Makes equal constants one tensor, and equal ops on equal inputs one op.

        x -> RELU -> y                               y -> a
        x -> RELU -> z     (y -> a, z -> b)          y -> b

    Holds off on random and stateful ops, and on those that fill variables.
    """
    return _merge_constants(graph) + _merge_ops(graph)


def merge_all_but_weights(graph: Graph) -> int:
    """Makes equal constants one tensor, and equal ops on equal inputs one op.

        x -> RELU -> y                               y -> a
        x -> RELU -> z     (y -> a, z -> b)          y -> b

    Holds off as `merge_duplicates`, and on constants of several real numbers: what learns is equal
    only at first.
    """
    return _merge_constants(graph, lambda x: not may_learn(x)) + _merge_ops(graph)


def _merge_ops(graph: Graph) -> int:
    count = 0
    ops_by_key: dict[tuple, list[Op]] = {}
    for op in list(graph.ops):
        if not is_pure(op) or any(tensor.is_variable for tensor in op.outputs):
            continue
        inputs = tuple(id(tensor) for tensor in op.inputs)
        types = tuple((tensor.dtype, tensor.quantization) for tensor in op.outputs)
        candidates = ops_by_key.setdefault((op.kind, inputs, types), [])
        original = next((other for other in candidates if other.options == op.options), None)
        if original is None:
            candidates.append(op)
            continue
        for replacement, tensor in zip(original.outputs, op.outputs, strict=True):
            graph.replace(tensor, replacement)
        graph.remove(op)
        count += 1
    return count


def share_zeros(graph: Graph) -> int:
    """Makes zeros of one type and shape one tensor.

        n -> FILL(0) -> a
        x -> LOGISTIC -> y -> ZEROS_LIKE -> b     (b -> z)     becomes     a -> z

    Holds off where unknown sizes are not certainly equal, and on quantized tensors.
    """
    count = 0
    zeros: list[Tensor] = []
    for op in list(graph.ops):
        if not _gives_zeros(op) or op.output.quantization:
            continue
        result = op.output
        alike = (x for x in zeros if x.dtype == result.dtype and same_shape(x, result))
        first = next(alike, None)
        if first is None:
            zeros.append(result)
            continue
        graph.replace(result, first)
        graph.remove(op)
        count += 1
    return count


def _gives_zeros(op: Op) -> bool:
    """Whether every element of the only result is 0, and is 0.0 rather than -0.0."""
    if op.kind == "ZEROS_LIKE":
        return True
    value = op.inputs[1].value if op.kind == "FILL" else None
    return value is not None and value.dtype.kind in "biuf" and not any(value.tobytes())


def _merge_constants(
    graph: Graph, merges: Callable[[np.ndarray], bool] = lambda value: True
) -> int:
    groups: dict[tuple, list[Tensor]] = {}
    count = 0
    for tensor in list(graph.tensors()):
        if not tensor.is_constant or tensor.is_variable:
            continue
        value = tensor.data
        if not merges(value):
            continue
        sample = value.flat[:: max(1, value.size // SAMPLE)].tolist()
        key = (value.dtype, value.shape, tensor.quantization, repr(sample))
        group = groups.setdefault(key, [])
        first = next((other for other in group if same_bits(other.data, value)), None)
        if first is None:
            group.append(tensor)
        else:
            graph.replace(tensor, first)
            count += 1
    return count


def is_pure(op: Op) -> bool:
    """Whether equal inputs give equal results and nothing else happens, to variables neither."""
    if op.graphs or any(tensor.is_variable for tensor in (*op.present_inputs, *op.outputs)):
        return False
    return pseudo.is_pure(op.kind)
