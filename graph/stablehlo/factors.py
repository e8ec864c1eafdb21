"""Factors of matrices as loops over their rows, as LAPACK's functions that JAX calls give them.

Source: LAPACK's getrf, geqrf, orgqr, whose results the names of these functions mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...schema.errors import ConverterError
from ...schema.mlir.module import Operation
from ..core.graph import Graph, Tensor
from ..core.library import Function
from ..core.signatures.attributes import FunctionRef
from .shapes import dtype_at, known_shape_at, shape_at
from .writer import Writer

Step = Callable[[Writer, Tensor, Sequence[Tensor]], list[Tensor]]
"""`(w, i, values)` gives the next values of a loop."""


def _function(w: Writer, name: str, values: Sequence[Tensor], write: Step) -> FunctionRef:
    """A function of a number and of values."""
    graph = Graph(w.graph.functions)
    inner = Writer(graph, name, w.module)
    graph.inputs = []
    types = [np.dtype(np.int32), *(x.dtype.dtype for x in values)]
    for i, (dtype, sizes) in enumerate(zip(types, [(), *(x.sizes for x in values)], strict=True)):
        tensor = graph.add("_Arg", f"arg_{i}", (), {"T": dtype, "index": i}).outputs[0]
        tensor.set_shape(sizes)
        graph.inputs.append(tensor)
    row, *others = graph.inputs
    graph.outputs = write(inner, row, others)
    unique = w.graph.functions.unique_name(f"{w.name}/{name}".replace("/", "_"))
    w.graph.functions.add(Function.of(unique, graph))
    return FunctionRef(unique)


def repeated(w: Writer, values: Sequence[Tensor], count: int, step: Step) -> list[Tensor]:
    """What `step` makes of values for 0 to `count - 1` in turn."""

    def check(inner: Writer, row: Tensor, _: Sequence[Tensor]) -> list[Tensor]:
        return [inner.add("Less", row, inner.constant(count, np.int32))]

    def body(inner: Writer, row: Tensor, others: Sequence[Tensor]) -> list[Tensor]:
        return [inner.add("AddV2", row, inner.constant(1, np.int32)), *step(inner, row, others)]

    start = [w.constant(0, np.int32), *values]
    results = w.add_all(
        "StatelessWhile",
        *start,
        T=[x.dtype for x in start],
        cond=_function(w, "cond", values, check),
        body=_function(w, "body", values, body),
        output_shapes=[x.sizes for x in start],
        parallel_iterations=10,
    )
    return results[1:]


class Matrix:
    """Rows and columns of matrices within a loop's body."""

    def __init__(self, w: Writer, x: Tensor) -> None:
        self.w, self.x = w, x
        self.sizes = x.sizes or ()
        self.rows, self.columns = (w.constant(np.arange(n or 0), np.int32) for n in self.sizes[-2:])

    def column(self, i: Tensor) -> Tensor:
        """[..., m]: a column."""
        axis = self.w.constant(len(self.sizes) - 1, np.int32)
        return self.w.add("GatherV2", self.x, i, axis)

    def row(self, i: Tensor) -> Tensor:
        """[..., n]: a row."""
        axis = self.w.constant(len(self.sizes) - 2, np.int32)
        return self.w.add("GatherV2", self.x, i, axis)

    def diagonal(self, i: Tensor) -> Tensor:
        """[..., 1]: an element of the diagonal."""
        axis = self.w.constant(len(self.sizes) - 2, np.int32)
        return self.w.add(
            "ExpandDims", self.w.add("GatherV2", self.column(i), i, axis), _last(self.w)
        )

    def with_column(self, i: Tensor, values: Tensor) -> Tensor:
        """The matrices with another column."""
        is_column = self.w.add("Equal", self.columns, i)
        return self.w.add("SelectV2", is_column, _upright(self.w, values), self.x)


def _last(w: Writer) -> Tensor:
    return w.constant(-1, np.int32)


def _upright(w: Writer, x: Tensor) -> Tensor:
    """[..., m] as [..., m, 1]."""
    return w.add("ExpandDims", x, _last(w))


def _flat(w: Writer, x: Tensor) -> Tensor:
    """[..., n] as [..., 1, n]."""
    return w.add("ExpandDims", x, w.constant(-2, np.int32))


def _numbers(w: Writer, x: Tensor, *values: float) -> list[Tensor]:
    return [w.constant(value, x.dtype.dtype) for value in values]


def _matrix(op: Operation, w: Writer) -> tuple[Tensor, int]:
    """The matrices of a call, and how many rows or columns they have at least."""
    sizes = shape_at(op.operands[0])
    rows, columns = sizes[-2:]
    if rows is None or columns is None or dtype_at(op.operands[0]).kind == "c":
        raise ConverterError(f"{op}: its matrices must be real and have known sizes, got {sizes}")
    return w.value(op.operands[0]), min(rows, columns)


def status_of(op: Operation, w: Writer) -> Tensor:
    """The status of each matrix: 0, that it could be done."""
    sizes = known_shape_at(op.results[-1])
    zero = w.constant(0, dtype_at(op.results[-1]))
    return w.add("Fill", w.constant(sizes, np.int32), zero) if sizes else zero


def lu(op: Operation, w: Writer) -> list[Tensor]:
    """L and U in one matrix, which rows changed places (counted from 1), and the status."""
    x, count = _matrix(op, w)
    n_batch = len(x.sizes or ()) - 2

    def step(w: Writer, i: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        matrix, pivots = Matrix(w, values[0]), values[1]
        zero, one, below_all = _numbers(w, matrix.x, 0, 1, -1)
        is_done = w.add("Less", matrix.rows, i)
        sizes = w.add("SelectV2", is_done, below_all, w.add("Abs", matrix.column(i)))
        best = w.add("ArgMax", sizes, w.constant(n_batch, np.int32), output_type=np.dtype(np.int32))
        best = w.add("ExpandDims", best, _last(w))
        others = w.add("SelectV2", w.add("Equal", matrix.rows, best), i, matrix.rows)
        order = w.add("SelectV2", w.add("Equal", matrix.rows, i), best, others)
        axis = w.constant(n_batch, np.int32)
        matrix = Matrix(w, w.add("GatherV2", matrix.x, order, axis, batch_dims=n_batch))
        pivot = matrix.diagonal(i)
        divisor = w.add("SelectV2", w.add("Equal", pivot, zero), one, pivot)
        is_below = w.add("Greater", matrix.rows, i)
        scaled = w.add("RealDiv", matrix.column(i), divisor)
        column = w.add("SelectV2", is_below, scaled, matrix.column(i))
        factors = w.add("SelectV2", is_below, scaled, zero)
        right = w.add("SelectV2", w.add("Greater", matrix.columns, i), matrix.row(i), zero)
        product = w.add("Mul", _upright(w, factors), _flat(w, right))
        reduced = Matrix(w, w.add("Sub", matrix.with_column(i, column), product))
        number = w.add("AddV2", best, w.constant(1, np.int32))
        is_here = w.add("Equal", w.constant(np.arange(count), np.int32), i)
        return [reduced.x, w.add("SelectV2", is_here, number, pivots)]

    shape = shape_at(op.results[1])
    pivots = w.constant(np.ones([n or 1 for n in shape], np.int32))
    return [*repeated(w, [x, pivots], count, step), status_of(op, w)]


def qr(op: Operation, w: Writer) -> list[Tensor]:
    """R with the reflections that lead to it below its diagonal, and their factors."""
    x, count = _matrix(op, w)
    n_batch = len(x.sizes or ()) - 2

    def step(w: Writer, i: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        matrix, taus = Matrix(w, values[0]), values[1]
        zero, one = _numbers(w, matrix.x, 0, 1)
        column, alpha = matrix.column(i), matrix.diagonal(i)
        is_below, is_here = w.add("Greater", matrix.rows, i), w.add("Equal", matrix.rows, i)
        tail = w.add("SelectV2", is_below, w.add("Square", column), zero)
        axis = w.constant([n_batch], np.int32)
        size = w.add("Sum", tail, axis, keep_dims=True)
        length = w.add("Sqrt", w.add("AddV2", w.add("Square", alpha), size))
        is_negative = w.add("Less", alpha, zero)
        beta = w.add("SelectV2", is_negative, length, w.add("Neg", length))
        is_trivial = w.add("Equal", size, zero)
        beta = w.add("SelectV2", is_trivial, alpha, beta)
        divisor = w.add("SelectV2", is_trivial, one, beta)
        tau = w.add("RealDiv", w.add("Sub", beta, alpha), divisor)
        scale = w.add("SelectV2", is_trivial, one, w.add("Sub", alpha, beta))
        vector = w.add("SelectV2", is_below, w.add("RealDiv", column, scale), zero)
        reflected = _reflected(w, matrix, w.add("SelectV2", is_here, one, vector), tau, axis)
        is_right = w.add("Greater", matrix.columns, i)
        result = Matrix(w, w.add("SelectV2", is_right, reflected, matrix.x))
        above = w.add("SelectV2", is_here, beta, column)
        result = result.with_column(i, w.add("SelectV2", is_below, vector, above))
        is_factor = w.add("Equal", w.constant(np.arange(count), np.int32), i)
        return [result, w.add("SelectV2", is_factor, tau, taus)]

    shape = [n or 1 for n in shape_at(op.results[1])]
    taus = w.constant(np.zeros(shape, dtype_at(op.results[1])))
    return repeated(w, [x, taus], count, step)


def _reflected(w: Writer, matrix: Matrix, vector: Tensor, tau: Tensor, axis: Tensor) -> Tensor:
    """The matrices minus tau v v^T of them."""
    products = w.add("Mul", _upright(w, vector), matrix.x)
    row = w.add("Mul", w.add("Sum", products, axis, keep_dims=False), tau)
    return w.add("Sub", matrix.x, w.add("Mul", _upright(w, vector), _flat(w, row)))


def orthogonal(op: Operation, w: Writer) -> list[Tensor]:
    """The orthogonal matrix that reflections and their factors stand for."""
    x, _ = _matrix(op, w)
    taus, shape = w.value(op.operands[1]), [n or 1 for n in shape_at(op.operands[0])]
    count = shape_at(op.operands[1])[-1]
    if count is None:
        raise ConverterError(f"{op}: the number of its reflections must be known")
    unit = np.broadcast_to(np.eye(*shape[-2:], dtype=dtype_at(op.operands[0])), shape)
    n_batch = len(shape) - 2

    def step(w: Writer, i: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        matrix, reflections, taus = Matrix(w, values[0]), Matrix(w, values[1]), values[2]
        zero, one = _numbers(w, matrix.x, 0, 1)
        i = w.add("Sub", w.constant(count - 1, np.int32), i)
        is_below, is_here = w.add("Greater", matrix.rows, i), w.add("Equal", matrix.rows, i)
        vector = w.add("SelectV2", is_below, reflections.column(i), zero)
        vector = w.add("SelectV2", is_here, one, vector)
        tau = w.add("GatherV2", taus, i, w.constant(n_batch, np.int32))
        axis = w.constant([n_batch], np.int32)
        reflected = _reflected(w, matrix, vector, w.add("ExpandDims", tau, _last(w)), axis)
        return [reflected, reflections.x, taus]

    return repeated(w, [w.constant(np.ascontiguousarray(unit)), x, taus], count, step)[:1]
