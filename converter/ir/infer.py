"""What an operator results in: the interpreter's `prepare`, run on sizes that carry expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...engine.run.faults import Fault
from ...interpreter.plan.node import NeedsValue, NodeError
from ...schema.errors import ConverterError
from . import dims
from .dims import Extent
from .elements import elements_of, numbers_of
from .graph import Elements, Graph, Op, Sizes, Tensor
from .partial import partial_shapes
from .prepare import Declarations, Outcome, operand_of, result_types, run_prepare
from .pseudo import operator
from .sizes import as_size, extent


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
        return infer_call(graph, op)
    if any(tensor.sizes is None for tensor in op.present_inputs):
        return dynamic_results(graph, op, declared)
    try:
        outcomes = _outcomes(graph, op, declared)
    except NeedsValue:
        return dynamic_results(graph, op, declared)
    except NodeError as error:
        if (error.unequal is not None and _is_symbolic(op)) or _is_uncertain(op):
            # the operator is its own check when the model runs
            return dynamic_results(graph, op, declared)
        raise ConverterError(str(error)) from None
    except (Fault, OverflowError) as error:
        if _is_symbolic(op):
            return dynamic_results(graph, op, declared)
        raise ConverterError(f"{op.kind} '{op.origin}': {error}") from None
    except LookupError as error:
        raise ConverterError(f"{op.kind} '{op.origin}': {error.args[0]}") from None
    results = []
    for outcome in outcomes:
        shape = [None if n is None else extent(n) for n in outcome.shape]
        results.append(dynamic_tensor(graph, op.origin, outcome.dtype, shape))
    for i, (result, outcome) in enumerate(zip(results, outcomes, strict=True)):
        if outcome.value is not None and result.is_static:
            _set_value(op, i, result, outcome.value)
    return results


def _is_uncertain(op: Op) -> bool:
    """Whether the numbers with which an op was tried may be none that its inputs ever take."""
    unknown_sizes = [x for t in op.present_inputs for x in t.sizes or () if isinstance(x, dims.Dim)]
    return any(x.data_dependent or x.reference <= 0 for x in unknown_sizes)


def _is_symbolic(op: Op) -> bool:
    return any(tensor.elements is not None or not tensor.is_static for tensor in op.present_inputs)


def _set_value(op: Op, i: int, result: Tensor, value: np.ndarray) -> None:
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
    demand = graph.demand
    try:
        return run_prepare(op, declared, demand=demand)
    except Fault:
        if not _is_symbolic(op):
            raise
        return run_prepare(op, declared, limit=-1, demand=demand)
    except NodeError as error:
        if not _is_symbolic(op):
            raise
        shape = _stated_shape(op)
        if error.unequal is not None:
            assumption = graph.scope.assume(*error.unequal, even_empty=shape is not None)
            if assumption is not None:
                raise assumption from None
            if shape is not None:
                demand(*error.unequal)
                return [Outcome(shape, result_types(op, declared)[0])]
            outcomes = run_prepare(op, declared, limit=-1, demand=demand, takes_unequal=True)
            return [outcome._replace(value=None) for outcome in outcomes]
        for numbers in graph.scope.numbers:
            try:
                operands = [operand_of(tensor, numbers) for tensor in op.inputs]
                outcomes = run_prepare(op, declared, operands, limit=-1, demand=demand)
            except (NodeError, ZeroDivisionError):
                continue
            return [outcome._replace(value=None) for outcome in outcomes]
        raise


def _stated_shape(op: Op) -> tuple[int | None, ...] | None:
    """The shape that a RESHAPE's input states, of as many elements as there are whenever the model
    runs; None for a size that may be -1.
    """
    if op.kind != "RESHAPE" or (stated := op.input(1)) is None or stated.elements is None:
        return None
    extents = stated.elements.extents.tolist()
    return tuple(as_size(n) if dims.not_negative(n) else None for n in extents)


def _windows(op: Op) -> list[Extent | None] | None:
    """The sizes of a result with one element for each window."""
    from ...interpreter.ops.stablehlo.windows import windows_of

    operand = operand_of(op.inputs[0])
    if operand is None or op.inputs[0].sizes is None:
        return None
    return [extent(n) for n in windows_of(operand.shape, op.options).shape]


ELEMENTWISE_CALLS: dict[str, Callable[[Op], Sequence[Extent | None] | None]] = {
    "STABLEHLO_REDUCE_WINDOW": _windows,
    "STABLEHLO_SCATTER": lambda op: op.inputs[0].sizes,
}
"""Operators whose graphs join two elements -> the sizes of their result."""


def infer_call(graph: Graph, op: Op) -> list[Tensor]:
    """The results of an op that calls graphs, as their outputs say them.

    Those of a loop have the sizes with which its values enter where no iteration changes them;
    those of a branch have what both agree on.
    """
    if op.kind in ELEMENTWISE_CALLS:
        shape = ELEMENTWISE_CALLS[op.kind](op)
        return [
            dynamic_tensor(graph, op.origin, tensor.dtype, shape) for tensor in op.graphs[0].outputs
        ]
    outputs = [graph.outputs for graph in op.graphs]
    if op.kind == "WHILE":
        outputs = [op.graphs[-1].inputs, op.inputs]
    symbols = _symbols(op.present_inputs)
    results = []
    for tensors in zip(*outputs, strict=True):
        shapes = [tensor.sizes for tensor in tensors]
        known_shapes = [shape for shape in shapes if shape is not None]
        sizes = None
        if len(known_shapes) == len(shapes) and len(set(map(len, known_shapes))) == 1:
            sizes = [_common_size(column, symbols) for column in zip(*known_shapes, strict=True)]
        results.append(dynamic_tensor(graph, op.origin, tensors[0].dtype, sizes))
    return results


def _symbols(tensors: Sequence[Tensor]) -> set[str]:
    """The unknown sizes that some tensors know of."""
    sizes = [x for tensor in tensors for x in tensor.sizes or ()]
    sizes += [x for t in tensors if t.elements is not None for x in t.elements.extents.flat]
    return {name for x in sizes if isinstance(x, dims.Dim) for name in x.symbols}


def _common_size(sizes: Sequence[Extent], symbols: set[str]) -> Extent | None:
    """The size that all say, None where they differ or it is one that only they know."""
    first = sizes[0]
    if any(x is not first and x != first for x in sizes):
        return None
    return first if isinstance(first, int) or first.symbols <= symbols else None


def dynamic_tensor(
    graph: Graph, name: str, dtype: np.dtype, shape: Sequence[Extent | None] | None
) -> Tensor:
    """A tensor with dimensions that only the run can tell, None in `shape` (or None for all)."""
    sizes: Sizes | None = None
    if shape is not None:
        scope = graph.scope
        sizes = tuple(scope.length("u", data_dependent=True) if n is None else n for n in shape)
    return Tensor(name, dtype, sizes)


def dynamic_results(graph: Graph, op: Op, declared: Declarations) -> list[Tensor]:
    """Results of which only the type is sure to be told before the model runs."""
    dtypes = result_types(op, declared)
    shapes = partial_shapes(op)
    if shapes is not None:
        pairs = zip(dtypes, shapes, strict=True)
        return [dynamic_tensor(graph, op.origin, dtype, sizes) for dtype, sizes in pairs]
    rank = operator(op.kind).rank(
        [None if tensor is None else tensor.rank for tensor in op.inputs],
        [None if tensor is None else _length(tensor) for tensor in op.inputs],
    )
    shape = None if rank is None else [None] * rank
    return [dynamic_tensor(graph, op.origin, dtype, shape) for dtype in dtypes]


def _length(shape: Tensor) -> int | None:
    """How many numbers a tensor that is used as a shape has."""
    return shape.dims[0] if shape.rank == 1 else None
