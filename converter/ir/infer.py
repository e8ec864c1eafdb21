"""What an operator results in: the interpreter's `prepare`, run on sizes that carry expressions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from ...engine.plan.buffer import arena
from ...engine.run.faults import Fault
from ...interpreter.compute import run_now
from ...interpreter.node import (
    DynamicResult,
    NeedsValue,
    Node,
    NodeError,
    Operand,
    TensorDeclaration,
)
from ...schema import operators
from ...schema.dtypes import TENSOR_TYPES, numpy_dtype
from ...schema.errors import ConverterError
from ...schema.operators import Operator, spread
from . import dims
from .dims import Extent
from .elements import elements_of, numbers_of
from .graph import Elements, Graph, Op, Sizes, Tensor
from .pseudo import is_pure, operator, options_class, prepare_of
from .sizes import extent, sized

SMALL = 1024
"""Elements up to which results of known inputs are computed while building."""


class Outcome(NamedTuple):
    """What `prepare` says of one result; None for a dimension that is known only at run time.

    `value` is of the numbers that unknown sizes took.
    """

    shape: tuple[Any, ...]
    dtype: np.dtype
    value: np.ndarray | None = None


def count_outputs(op: Op) -> int:
    """How many results an op with these options and inputs has."""
    row = operator(op.kind)
    n = sum(not (one.is_optional or one.is_variadic) for one in row.results)
    for one in row.results:
        if one.is_variadic and not one.is_optional:
            n += getattr(op.options, one.number) if one.number else len(op.inputs)
    return n


Declarations = Sequence[np.dtype | None]


def infer(graph: Graph, op: Op, declared: Declarations) -> list[Tensor]:
    """The results of `op`, with sizes and with the values that do not depend on data.

    Args:
        graph: where the op goes.
        op: an op without outputs.
        declared: a type for each of its results, None where the op implies it.

    Raises:
        ConverterError: the op cannot take these inputs, or the interpreter lacks it.
        Assumption: it can take them only if a size is what the exception says.
    """
    if op.graphs:
        return of_called(graph, op)
    if any(tensor.sizes is None for tensor in op.given):
        return unknown(graph, op, declared)
    try:
        outcomes = _outcomes(graph, op, declared)
    except NeedsValue:
        return unknown(graph, op, declared)
    except NodeError as error:
        if (error.unequal is not None and _is_symbolic(op)) or _is_uncertain(op):
            return unknown(graph, op, declared)  # the operator is its own check when the model runs
        raise ConverterError(str(error)) from None
    except (Fault, OverflowError) as error:
        if _is_symbolic(op):
            return unknown(graph, op, declared)
        raise ConverterError(f"{op.kind} '{op.origin}': {error}") from None
    except LookupError as error:
        raise ConverterError(f"{op.kind} '{op.origin}': {error.args[0]}") from None
    results = [
        late_tensor(
            graph, op.origin, one.dtype, [None if n is None else extent(n) for n in one.shape]
        )
        for one in outcomes
    ]
    for i, (result, outcome) in enumerate(zip(results, outcomes, strict=True)):
        if outcome.value is not None and result.is_static:
            _settle(op, i, result, outcome.value)
    return results


def _is_uncertain(op: Op) -> bool:
    """Whether the numbers with which an op was tried may be none that its inputs ever take."""
    unknown_sizes = [x for t in op.given for x in t.sizes or () if isinstance(x, dims.Dim)]
    return any(x.data_dependent or x.reference <= 0 for x in unknown_sizes)


def _is_symbolic(op: Op) -> bool:
    return any(tensor.elements is not None or not tensor.is_static for tensor in op.given)


def _settle(op: Op, i: int, result: Tensor, value: np.ndarray) -> None:
    """Gives result `i` its value, or its elements where they depend on unknown sizes."""
    if not _is_symbolic(op):
        result.value = value
        return
    extents = elements_of(op, i, value)
    if any(isinstance(x, dims.Dim) for x in extents.flat):
        result.elements = Elements(value, extents)
    else:
        result.value = numbers_of(extents, value.dtype)


def _outcomes(graph: Graph, op: Op, declared: Declarations) -> list[Outcome]:
    """What `prepare` says; under other numbers for unknown sizes where it refuses these, without
    values where none can be computed of these.
    """
    demand = graph.scope.demand
    try:
        return prepared(op, declared, demand=demand)
    except Fault:
        if not _is_symbolic(op):
            raise
        return prepared(op, declared, limit=-1, demand=demand)
    except NodeError as error:
        if not _is_symbolic(op):
            raise
        shape = _stated_shape(op)
        if error.unequal is not None:
            assumption = graph.scope.assume(*error.unequal, even_empty=shape is not None)
            if assumption is not None:
                raise assumption from None
            if shape is not None:
                return [Outcome(shape, result_types(op, declared)[0])]
        for numbers in graph.scope.numbers:
            try:
                operands = [operand(tensor, numbers) for tensor in op.inputs]
                outcomes = prepared(op, declared, operands, limit=-1, demand=demand)
            except (NodeError, ZeroDivisionError):
                continue
            return [outcome._replace(value=None) for outcome in outcomes]
        raise


def _stated_shape(op: Op) -> tuple[int, ...] | None:
    """The shape that a RESHAPE's input states, of as many elements as there are whenever the model
    runs; None where a size may be -1.
    """
    if op.kind != "RESHAPE" or (stated := op.input(1)) is None or stated.elements is None:
        return None
    extents = stated.elements.extents.tolist()
    return tuple(map(sized, extents)) if all(map(dims.not_negative, extents)) else None


def of_called(graph: Graph, op: Op) -> list[Tensor]:
    """The results of an op that calls graphs, as their outputs say them.

    Those of a loop have the sizes with which its values enter where no turn changes them; those of
    a branch have what both agree on.
    """
    outputs = [one.outputs for one in op.graphs]
    if op.kind == "WHILE":
        outputs = [op.graphs[-1].inputs, op.inputs]
    symbols = _symbols(op.given)
    results = []
    for tensors in zip(*outputs, strict=True):
        shapes = [tensor.sizes for tensor in tensors]
        sizes = None
        if None not in shapes and len({len(one) for one in shapes if one is not None}) == 1:
            columns = zip(*(one for one in shapes if one is not None), strict=True)
            sizes = [_agreed(column, symbols) for column in columns]
        results.append(late_tensor(graph, op.origin, tensors[0].dtype, sizes))
    return results


def _symbols(tensors: Sequence[Tensor]) -> set[str]:
    """The unknown sizes that some tensors know of."""
    known = [x for tensor in tensors for x in tensor.sizes or ()]
    known += [x for t in tensors if t.elements is not None for x in t.elements.extents.flat]
    return {name for x in known if isinstance(x, dims.Dim) for name in x.symbols}


def _agreed(column: Sequence[Extent], symbols: set[str]) -> Extent | None:
    """The size that all say, None where they differ or it is one that only they know."""
    first = column[0]
    if any(x is not first and x != first for x in column):
        return None
    return first if isinstance(first, int) or first.symbols <= symbols else None


def late_tensor(
    graph: Graph, name: str, dtype: np.dtype, shape: Sequence[Extent | None] | None
) -> Tensor:
    """A tensor with dimensions that only the run can tell, None in `shape` (or None for all)."""
    sizes: Sizes | None = None
    if shape is not None:
        scope = graph.scope
        sizes = tuple(scope.length("u", data_dependent=True) if n is None else n for n in shape)
    return Tensor(name, dtype, sizes)


def unknown(graph: Graph, op: Op, declared: Declarations) -> list[Tensor]:
    """Results of which only the type can be told before the model runs, and maybe the rank."""
    dtypes = result_types(op, declared)
    rank = operator(op.kind).rank(
        [None if tensor is None else tensor.rank for tensor in op.inputs],
        [None if tensor is None else _length(tensor) for tensor in op.inputs],
    )
    shape = None if rank is None else [None] * rank
    return [late_tensor(graph, op.origin, one, shape) for one in dtypes]


def result_types(op: Op, declared: Declarations) -> list[np.dtype]:
    """The types of an op's results, for when `prepare` cannot tell."""
    row = operator(op.kind)
    stated = spread(row.results, [one.type for one in row.results], len(declared))
    return [
        result_type(op, row, type_) if dtype is None else dtype
        for dtype, type_ in zip(declared, stated, strict=True)
    ]


def result_type(op: Op, row: Operator, type_: str) -> np.dtype:
    """The type that the row of an operator states for a result."""
    if type_ in operators.TYPES:
        return TENSOR_TYPES[operators.TYPES[type_]]
    if hasattr(op.options, type_):
        return numpy_dtype(getattr(op.options, type_))
    source = op.input(row.position(type_)) if type_ else None
    if source is None:
        raise ConverterError(f"{op.kind} '{op.origin}': the type of its result is unknown")
    return source.dtype


def _length(shape: Tensor) -> int | None:
    """How many numbers a tensor that is used as a shape has."""
    return shape.dims[0] if shape.rank == 1 else None


def compute(op: Op) -> list[np.ndarray | None]:
    """The values of the results of an op whose inputs are all constant; None of what has none.

    Raises NodeError, NeedsValue, Fault, or LookupError when the interpreter has no such op.
    """
    outcomes = prepared(op, [tensor.dtype for tensor in op.outputs], limit=inf)
    return [outcome.value for outcome in outcomes]


def prepared(
    op: Op,
    declared: Declarations,
    operands: Sequence[Operand | None] | None = None,
    limit: float = SMALL,
    demand: Callable[[Any, Any], None] | None = None,
) -> list[Outcome]:
    """The results of `op`; those of known inputs with their values.

    Args:
        op: any op that calls no graph.
        declared: a type for each of its results, None where the op implies it.
        operands: what stands for its inputs; by default `operand` of each.
        limit: results of more elements are not computed.
        demand: called with each pair of sizes, or shapes, that must be equal.

    Raises NodeError, NeedsValue, Fault, or LookupError when the interpreter has no such op.
    """
    prepare = prepare_of(op.kind)
    if operands is None:
        operands = [operand(tensor) for tensor in op.inputs]
    options = op.options
    if options is None:
        options = default_options(op.kind)
    outputs = [TensorDeclaration(op.origin, dtype) for dtype in declared]
    node = Node(op.kind, operands, outputs, options)
    emit = prepare(node)
    if demand is not None:
        for first, second in node.equalities:
            demand(first, second)
    known = is_pure(op.kind) and all(one is None or one.value is not None for one in operands)
    data_dependent = isinstance(emit, DynamicResult)
    if data_dependent and (not known or _is_symbolic_or_large(operands, emit.shapes, limit)):
        types = result_types(op, declared)
        return [Outcome(tuple(s), t) for s, t in zip(emit.shapes, types, strict=True)]
    if data_dependent or (known and sum(prod(r.shape) for r in node.results) <= limit):
        run_now(node, emit)
    return [Outcome(r.shape, r.dtype, r.value) for r in node.results]


def _is_symbolic_or_large(
    operands: Sequence[Operand | None], shapes: Sequence[Sequence[int | None]], limit: float
) -> bool:
    """Whether results are of unknown sizes, or of known ones with more than `limit` elements."""
    if any(one is not None and one.sizes for one in operands):
        return True
    known = [shape for shape in shapes if None not in shape]
    return len(known) == len(shapes) and sum(prod(n or 0 for n in shape) for shape in known) > limit


def default_options(kind: str) -> Any:
    """The options record of an op that states none."""
    cls = options_class(kind)
    return None if cls is None else cls()


def operand(tensor: Tensor | None, numbers: Mapping[str, int] | None = None) -> Operand | None:
    """What `prepare` sees of a tensor, unknown sizes being `numbers`, or their references."""
    if tensor is None:
        return None
    if tensor.elements is not None:
        known = as_operand(tensor, (), tensor.elements.reference)
        known.sizes = [_sized(x, numbers) for x in tensor.elements.extents.flat]
        return known
    return as_operand(tensor, [_sized(n, numbers) for n in tensor.sizes or ()], tensor.value)


def as_operand(tensor: Tensor, shape: Sequence[int], value: np.ndarray | None) -> Operand:
    """What `prepare` sees of a tensor that has this shape, or this value where it is known."""
    if value is not None:
        return Operand.known(value, tensor.name, tensor.quantization)
    storage = arena(shape, tensor.dtype, tensor.name)
    return Operand.of(storage, tensor.name, tensor.quantization)


def _sized(x: Any, numbers: Mapping[str, int] | None) -> Any:
    if not isinstance(x, dims.Dim) or numbers is None:
        return sized(x) if isinstance(x, dims.Dim) else x
    return sized(x, dims.evaluate(x, ChainMap(dict(numbers), dims.references(x))))
