"""What an operator results in: the interpreter's `prepare`, run under both bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from ..engine.buffer import arena
from ..engine.faults import Fault
from ..interpreter.compute import run_now
from ..interpreter.node import Declared, Late, Node, NodeError, Operand, Unknown
from ..interpreter.node import Quantization as NodeQuantization
from ..interpreter.registry import row_of
from ..schema.dtypes import numpy_dtype
from ..schema.errors import ConverterError
from ..schema.flatbuffer import options_class
from .ir import Graph, Op, Tensor

SMALL = 1024
"""Elements up to which results of known inputs are computed while building."""

N_OUTPUTS: dict[str, Callable[[Op], int]] = {
    "ASSIGN_VARIABLE": lambda op: 0,
    "CALL_ONCE": lambda op: 0,
    "HASHTABLE_IMPORT": lambda op: 0,
    "NON_MAX_SUPPRESSION_V4": lambda op: 2,
    "NON_MAX_SUPPRESSION_V5": lambda op: 3,
    "SPLIT": lambda op: op.options.num_splits,
    "SPLIT_V": lambda op: op.options.num_splits,
    "TOPK_V2": lambda op: 2,
    "UNIQUE": lambda op: 2,
    "UNPACK": lambda op: op.options.num,
    "WHILE": lambda op: len(op.inputs),
}
"""Ops that do not have exactly one result."""

TYPE_FROM = {
    "EMBEDDING_LOOKUP": 1,
    "FILL": 1,
    "ONE_HOT": 2,
    "SCATTER_ND": 1,
    "SELECT": 1,
    "SELECT_V2": 1,
    "SPLIT": 1,
    "TRANSPOSE_CONV": 2,
}
"""The input that gives the type of a result; 0 where not listed."""

BOOL, INT32, INT64 = np.dtype(bool), np.dtype(np.int32), np.dtype(np.int64)
TYPES: dict[str, Callable[[Op], list[np.dtype]]] = {
    "ARG_MAX": lambda op: [numpy_dtype(op.options.output_type)],
    "ARG_MIN": lambda op: [numpy_dtype(op.options.output_type)],
    "EQUAL": lambda op: [BOOL],
    "GREATER": lambda op: [BOOL],
    "GREATER_EQUAL": lambda op: [BOOL],
    "LESS": lambda op: [BOOL],
    "LESS_EQUAL": lambda op: [BOOL],
    "NON_MAX_SUPPRESSION_V4": lambda op: [INT32, INT32],
    "NON_MAX_SUPPRESSION_V5": lambda op: [INT32, op.inputs[1].dtype, INT32],
    "NOT_EQUAL": lambda op: [BOOL],
    "RANK": lambda op: [INT32],
    "SHAPE": lambda op: [numpy_dtype(op.options.out_type)],
    "TOPK_V2": lambda op: [op.inputs[0].dtype, INT32],
    "UNIQUE": lambda op: [op.inputs[0].dtype, numpy_dtype(op.options.idx_out_type)],
    "WHERE": lambda op: [INT64],
}
"""Types of results that have not the type of an input."""

RANKS: dict[str, Callable[[Op], int | None]] = {
    "BROADCAST_TO": lambda op: _length(op.inputs[1]),
    "FILL": lambda op: _length(op.inputs[0]),
    "MIRROR_PAD": lambda op: op.inputs[0].rank,
    "PAD": lambda op: op.inputs[0].rank,
    "PADV2": lambda op: op.inputs[0].rank,
    "RANGE": lambda op: 1,
    "RESHAPE": lambda op: _length(op.inputs[1]),
    "SCATTER_ND": lambda op: _length(op.inputs[2]),
    "SLICE": lambda op: op.inputs[0].rank,
    "TILE": lambda op: op.inputs[0].rank,
    "TOPK_V2": lambda op: op.inputs[0].rank,
    "TRANSPOSE": lambda op: op.inputs[0].rank,
}
"""Ranks that are known although a shape is not."""


class Outcome(NamedTuple):
    """What `prepare` says of one result; None for a dimension that is known only at run time."""

    shape: tuple[Any, ...]
    dtype: np.dtype
    value: np.ndarray | None = None


def count_outputs(op: Op) -> int:
    """How many results an op with these options and inputs has."""
    return N_OUTPUTS[op.kind](op) if op.kind in N_OUTPUTS else 1


Declarations = Sequence[np.dtype | None]


def infer(graph: Graph, op: Op, declared: Declarations) -> list[Tensor]:
    """The results of `op`, with shapes and small values under both bindings.

    Args:
        graph: where the op goes.
        op: an op without outputs.
        declared: a type for each of its results, None where the op implies it.

    Raises:
        ConverterError: the op cannot take these inputs, or the interpreter lacks it.
    """
    given = [tensor for tensor in op.inputs if tensor is not None]
    if op.graphs:
        return of_called(graph, op)
    if any(tensor.shapes[0] is None or tensor.shapes[1] is None for tensor in given):
        return unknown(graph, op, declared)
    varies = any(
        tensor.shapes[0] != tensor.shapes[1]
        or (tensor.values[0] is not tensor.values[1] and tensor.value is None)
        for tensor in given
    )
    try:
        first = prepared(op, 0, declared)
        second = prepared(op, 1, declared) if varies else first
    except Unknown:
        return unknown(graph, op, declared)
    except NodeError as error:
        if any(tensor.is_late for tensor in given):
            return unknown(graph, op, declared)
        raise ConverterError(str(error)) from None
    except Fault as error:
        raise ConverterError(f"{op.kind} '{op.origin}': {error}") from None
    except LookupError as error:
        raise ConverterError(f"{op.kind} '{op.origin}': {error.args[0]}") from None
    results = []
    for one, two in zip(first, second, strict=True):
        if None in one.shape:
            pairs = zip(one.shape, two.shape, strict=True)
            shape = [m if m == n else None for m, n in pairs]
            results.append(late_tensor(graph, op.origin, one.dtype, shape))
        else:
            shapes, values = (one.shape, two.shape), (one.value, two.value)
            results.append(Tensor(op.origin, one.dtype, shapes, values))
            results[-1].is_late = any(tensor.is_late for tensor in given)
    return results


def of_called(graph: Graph, op: Op) -> list[Tensor]:
    """The results of an op that calls graphs, as their outputs say them.

    Those of a loop have the shapes of its body's inputs; those of a branch have what both agree on.
    """
    tensors = [one.outputs for one in op.graphs]
    if op.kind == "WHILE":
        tensors = [op.graphs[-1].inputs]
    results = []
    for outputs in zip(*tensors, strict=True):
        first = outputs[0]
        dims = [tensor.shape for tensor in outputs]
        if all(tensor.shapes == first.shapes for tensor in outputs):
            result = Tensor(op.origin, first.dtype, first.shapes)
            result.is_late = any(tensor.is_late for tensor in outputs)
        elif None in dims or len({len(one) for one in dims if one is not None}) > 1:
            result = late_tensor(graph, op.origin, first.dtype, None)
        else:
            pairs = zip(*(one for one in dims if one is not None), strict=True)
            shape = [sizes[0] if len(set(sizes)) == 1 else None for sizes in pairs]
            result = late_tensor(graph, op.origin, first.dtype, shape)
        results.append(result)
    return results


def late_tensor(
    graph: Graph, name: str, dtype: np.dtype, shape: Sequence[int | None] | None
) -> Tensor:
    """A tensor with dimensions that only the run can tell, None in `shape` (or None for all).

    Such a dimension gets a pair of sizes that no other has.
    """
    if shape is None:
        return Tensor(name, dtype, (None, None))
    first: list[Any] = list(shape)
    second: list[Any] = list(shape)
    for i, n in enumerate(shape):
        if n is None:
            graph.n_late += 1
            first[i], second[i] = 1000 + 7 * graph.n_late, 2000 + 14 * graph.n_late
    tensor = Tensor(name, dtype, (tuple(first), tuple(second)))
    tensor.is_late = None in shape
    return tensor


def unknown(graph: Graph, op: Op, declared: Declarations) -> list[Tensor]:
    """Results of which only the type can be told before the model runs, and maybe the rank."""
    dtypes = result_types(op, declared)
    rank = RANKS[op.kind](op) if op.kind in RANKS else None
    shape = None if rank is None else [None] * rank
    return [late_tensor(graph, op.origin, one, shape) for one in dtypes]


def result_types(op: Op, declared: Declarations) -> list[np.dtype]:
    """The types of an op's results, for when `prepare` cannot tell."""
    stated = [dtype for dtype in declared if dtype is not None]
    if len(stated) == len(declared):
        return stated
    if op.kind in TYPES:
        return TYPES[op.kind](op)
    source = op.input(TYPE_FROM.get(op.kind, 0))
    if source is None:
        raise ConverterError(f"{op.kind} '{op.origin}': the type of its result is unknown")
    return [source.dtype] * len(declared)


def _length(shape: Tensor) -> int | None:
    """How many numbers a tensor that is used as a shape has."""
    return shape.dims[0] if shape.rank == 1 else None


def compute(op: Op) -> list[np.ndarray | None]:
    """The values of the results of an op whose inputs are all constant; None of what has none.

    Raises NodeError, Unknown, Fault, or LookupError when the interpreter has no such op.
    """
    outcomes = prepared(op, 0, [tensor.dtype for tensor in op.outputs], limit=inf)
    return [outcome.value for outcome in outcomes]


def prepared(op: Op, binding: int, declared: Declarations, limit: float = SMALL) -> list[Outcome]:
    """The results of `op` under one binding; those of known inputs with their values.

    Results of more than `limit` elements are not computed.

    Raises NodeError, Unknown, Fault, or LookupError when the interpreter has no such op.
    """
    row = row_of(op.kind)
    operands = [operand(tensor, binding) for tensor in op.inputs]
    options = op.options
    if options is None:
        options = default_options(op.kind)
    outputs = [Declared(op.origin, dtype) for dtype in declared]
    node = Node(op.kind, operands, outputs, options)
    emit = row.prepare(node)
    known = row.pure and all(one is None or one.value is not None for one in operands)
    if isinstance(emit, Late) and not known:
        types = result_types(op, declared)
        return [Outcome(tuple(s), t) for s, t in zip(emit.shapes, types, strict=True)]
    if isinstance(emit, Late) or (known and sum(prod(r.shape) for r in node.results) <= limit):
        run_now(node, emit)
    return [Outcome(r.shape, r.dtype, r.value) for r in node.results]


def default_options(kind: str) -> Any:
    """The options record of an op that states none."""
    cls = options_class(kind)
    return None if cls is None else cls()


def operand(tensor: Tensor | None, binding: int) -> Operand | None:
    """What `prepare` sees of a tensor under one binding."""
    if tensor is None:
        return None
    quantization = None
    if tensor.quantization is not None:
        scales, zero_points = tensor.quantization.scale, tensor.quantization.zero_point
        quantization = NodeQuantization(
            np.asarray(scales, np.float32),
            np.asarray(zero_points, np.int64),
            tensor.quantization.axis,
        )
    value = tensor.values[binding]
    if value is not None:
        return Operand.known(value, tensor.name, quantization)
    buffer = arena(tensor.shapes[binding], tensor.dtype, tensor.name)
    return Operand.of(buffer, tensor.name, quantization)
