"""What an operator results in: the interpreter's `prepare`, run on sizes that carry expressions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...engine.run.faults import Fault
from ...interpreter.node import NeedsValue, NodeError
from ...schema.errors import ConverterError
from . import dims
from .dims import Extent
from .elements import elements_of, numbers_of
from .graph import Elements, Graph, Op, Sizes, Tensor
from .prepare import Declarations, Outcome, operand, prepared, result_types
from .pseudo import operator
from .sizes import extent, sized


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


def _length(shape: Tensor) -> int | None:
    """How many numbers a tensor that is used as a shape has."""
    return shape.dims[0] if shape.rank == 1 else None
