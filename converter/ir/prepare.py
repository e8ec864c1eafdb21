"""The interpreter's `prepare` of an operator, run on the tensors of the IR.

Unknown sizes take numbers, their references unless told otherwise, and carry their expressions on.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

from ...engine.plan.buffer import arena
from ...interpreter.plan.node import DynamicResult, Node, Operand, TensorDeclaration
from ...schema import operators
from ...schema.dtypes import TENSOR_TYPES, numpy_dtype
from ...schema.errors import ConverterError
from ...schema.operators import Operator, spread
from . import dims
from .dim_values import evaluate
from .graph import Op, Tensor
from .pseudo import is_pure, operator, options_class, prepare_of
from .sizes import Size, as_size

SMALL = 1024
"""Elements up to which results of known inputs are computed while building."""

Declarations = Sequence[np.dtype | None]


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
    n = sum(not (result.is_optional or result.is_variadic) for result in row.results)
    for result in row.results:
        if result.is_variadic and not result.is_optional:
            n += getattr(op.options, result.number) if result.number else len(op.inputs)
    return n


def result_types(op: Op, declared: Declarations) -> list[np.dtype]:
    """The types of an op's results, for when `prepare` cannot tell."""
    row = operator(op.kind)
    stated = spread(row.results, [result.type for result in row.results], len(declared))
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


def compute(op: Op) -> list[np.ndarray | None]:
    """The values of the results of an op whose inputs are all constant; None of what has none.

    Raises NodeError, NeedsValue, Fault, or LookupError when the interpreter has no such op.
    """
    outcomes = run_prepare(op, [tensor.dtype for tensor in op.outputs], limit=inf)
    return [outcome.value for outcome in outcomes]


def run_prepare(
    op: Op,
    declared: Declarations,
    operands: Sequence[Operand | None] | None = None,
    limit: float = SMALL,
    demand: Callable[[Any, Any], None] | None = None,
    takes_unequal: bool = False,
) -> list[Outcome]:
    """The results of `op`; those of known inputs with their values.

    Args:
        op: any op that calls no graph.
        declared: a type for each of its results, None where the op implies it.
        operands: what stands for its inputs; by default `operand_of` of each.
        limit: results of more elements are not computed.
        demand: called with each pair of sizes, or shapes, that must be equal.
        takes_unequal: whether unknown sizes pass for equal that are not; their results are what
            they are where these are equal, at other sizes the op refuses to run.

    Raises NodeError, NeedsValue, Fault, or LookupError when the interpreter has no such op.
    """
    prepare = prepare_of(op.kind)
    if operands is None:
        operands = [operand_of(tensor) for tensor in op.inputs]
    options = op.options
    if options is None:
        options = default_options(op.kind)
    outputs = [TensorDeclaration(op.origin, dtype) for dtype in declared]
    for output, tensor in zip(outputs, op.outputs, strict=False):
        output.shape, output.quantization = _numbers(tensor), tensor.quantization
    node = Node(op.kind, operands, outputs, options)
    if takes_unequal:
        node.is_excused = lambda x, y: isinstance(x, Size) or isinstance(y, Size)
    emit = prepare(node)
    if demand is not None:
        for first, second in node.equalities:
            demand(first, second)
    is_known = is_pure(op.kind) and all(
        operand is None or operand.is_constant for operand in operands
    )
    is_dynamic = isinstance(emit, DynamicResult)
    if is_dynamic and (not is_known or _is_symbolic_or_large(operands, emit.shapes, limit)):
        types = result_types(op, declared)
        return [Outcome(tuple(s), t) for s, t in zip(emit.shapes, types, strict=True)]
    if is_dynamic or (is_known and sum(prod(r.shape) for r in node.results) <= limit):
        from ...interpreter.compute import run_now  # with the engine, which few models need here

        run_now(node, emit)
    return [Outcome(r.shape, r.dtype, r.value) for r in node.results]


def _numbers(tensor: Tensor) -> tuple[int, ...] | None:
    """A shape of numbers; None of any other."""
    sizes = [n for n in tensor.sizes or () if isinstance(n, int)]
    return tuple(sizes) if len(sizes) == tensor.rank else None


def _is_symbolic_or_large(
    operands: Sequence[Operand | None], shapes: Sequence[Sequence[int | None]], limit: float
) -> bool:
    """Whether results are of unknown sizes, or of known ones with more than `limit` elements."""
    if any(operand is not None and operand.sizes for operand in operands):
        return True
    if any(None in shape for shape in shapes):
        return False
    return sum(prod(n or 0 for n in shape) for shape in shapes) > limit


def default_options(kind: str) -> Any:
    """The options record of an op that states none."""
    cls = options_class(kind)
    return None if cls is None else cls()


def operand_of(tensor: Tensor | None, numbers: Mapping[str, int] | None = None) -> Operand | None:
    """What `prepare` sees of a tensor, unknown sizes being `numbers`, or their references."""
    if tensor is None:
        return None
    if tensor.elements is not None:
        elements = as_operand(tensor, (), tensor.elements.reference)
        elements.sizes = [_as_size(x, numbers) for x in tensor.elements.extents.flat]
        return elements
    shape = [_as_size(n, numbers) for n in tensor.sizes or ()]
    return as_operand(tensor, shape, _nothing(tensor) if tensor.value is None else tensor.value)


def _nothing(tensor: Tensor) -> np.ndarray | None:
    """The value of an input without elements, which no run can change; None for others."""
    shape = [n for n in tensor.sizes or () if isinstance(n, int)]
    if 0 not in shape or len(shape) != tensor.rank or tensor.producer is not None:
        return None
    return np.zeros(shape, tensor.dtype) if tensor.dtype.kind in "biufc" else None


def as_operand(tensor: Tensor, shape: Sequence[int], value: np.ndarray | None) -> Operand:
    """What `prepare` sees of a tensor that has this shape, or this value where it is known."""
    if value is not None:
        return Operand.known(value, tensor.name, tensor.quantization)
    storage = arena(shape, tensor.dtype, tensor.name)
    return Operand.of(storage, tensor.name, tensor.quantization)


def _as_size(x: Any, numbers: Mapping[str, int] | None) -> Any:
    if not isinstance(x, dims.Dim) or numbers is None:
        return as_size(x) if isinstance(x, dims.Dim) else x
    return as_size(x, evaluate(x, ChainMap(dict(numbers), dims.references(x))))
