"""Inverses, determinants, solutions and Cholesky factors, by loops over the rows of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..ir.graph import Graph, Tensor
from ..lowering.moves import like, slice_along
from ..lowering.node import SourceNode
from .registry import Node, lower

if TYPE_CHECKING:
    from ..ir.builder import Builder

Step = Callable[["Builder", Tensor, Sequence[Tensor]], list[Tensor]]
"""`(b, row, values)` gives the next values of a loop."""
Condition = Callable[["Builder", Sequence[Tensor]], Tensor]
"""`(b, values)` gives whether a loop goes on."""


def over_rows(
    node: SourceNode,
    b: Builder,
    values: Sequence[Tensor],
    count: int,
    step: Step,
    condition: Condition | None = None,
):
    """What `step` makes of values, for rows 0 to count - 1 in turn, while a condition holds."""
    from ..ir.builder import Builder

    start = [b.constant(np.int32(0)), *values]
    graphs = []
    scope = b.graph.scope
    for name in ("cond", "body"):
        graph = Graph(f"{node.name}_{name}", scope)
        inner = Builder(graph)
        inner.origin(node.name)
        graph.inputs = [Tensor(f"{name}_{i}", x.dtype, x.sizes) for i, x in enumerate(start)]
        row, *others = graph.inputs
        was_certain, scope.is_certain = scope.is_certain, False
        if name == "cond":
            is_before = inner.LESS(row, np.int32(count))
            graph.outputs = [
                is_before
                if condition is None
                else inner.LOGICAL_AND(is_before, condition(inner, others))
            ]
        else:
            graph.outputs = [inner.ADD(row, np.int32(1)), *step(inner, row, others)]
        scope.is_certain = was_certain
        graphs.append(graph)
    return b.WHILE(*start, graphs=tuple(graphs))[1:]


def square_of(node: Node, b: Builder, adjoint: bool = False) -> tuple[Tensor, int]:
    """The matrix that an operation takes, transposed where it says so, and its rows."""
    x, sizes = node.inputs[0], node.shape()
    node.require(len(sizes) >= 2, f"its input must be a matrix, got the shape {sizes}")
    n = sizes[-1]
    node.require(None not in sizes[-2:], f"rows and columns must be known, got {sizes}")
    if n is None or n != sizes[-2]:
        node.fail(f"the matrix must be square, got {sizes}")
    node.require(x.dtype == np.float32, f"its input must be float32, got {x.dtype}")
    return (swapped(x, b) if adjoint else x), n


def swapped(x: Tensor, b: Builder) -> Tensor:
    """`x` with its last two axes exchanged."""
    order = [*range(len(x.dims) - 2), len(x.dims) - 1, len(x.dims) - 2]
    return b.TRANSPOSE(x, np.array(order, np.int32))


def column(x: Tensor, b: Builder) -> Tensor:
    """[..., n] as [..., n, 1]."""
    return b.EXPAND_DIMS(x, np.int32(-1))


def line(x: Tensor, b: Builder) -> Tensor:
    """[..., n] as [..., 1, n]."""
    return b.EXPAND_DIMS(x, np.int32(-2))


def pivoted(b: Builder, m: Tensor, row: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """A matrix whose row `row` has changed places with the one, from there on, that has the largest
    element in that column; and which it was.
    """
    positions = np.arange(n, dtype=np.int32)
    sizes = b.ABS(b.GATHER(m, row, axis=len(m.dims) - 1))
    candidates = b.SELECT_V2(b.LESS(positions, row), like(sizes, -1, b), sizes)
    pivot = b.ARG_MAX(candidates, np.int32(len(m.dims) - 2), output_type="INT32")
    chosen = column(pivot, b) if pivot.rank else pivot
    others = b.SELECT_V2(b.EQUAL(positions, chosen), row, positions)
    order = b.SELECT_V2(b.EQUAL(positions, row), chosen, others)
    return b.GATHER(m, order, axis=len(m.dims) - 2, batch_dims=len(m.dims) - 2), pivot


def eliminated(b: Builder, m: Tensor, row: Tensor, n: int, divisor: Tensor) -> Tensor:
    """A matrix whose column `row` has become that of the unit matrix."""
    scaled = b.DIV(b.GATHER(m, row, axis=len(m.dims) - 2), column(divisor, b))
    multiples = column(b.GATHER(m, row, axis=len(m.dims) - 1), b)
    reduced = b.SUB(m, b.MUL(multiples, line(scaled, b)))
    is_row = b.EQUAL(np.arange(n, dtype=np.int32)[:, None], row)
    return b.SELECT_V2(is_row, line(scaled, b), reduced)


def diagonal_element(b: Builder, m: Tensor, row: Tensor) -> Tensor:
    """Element [..., row, row]."""
    return b.GATHER(b.GATHER(m, row, axis=len(m.dims) - 2), row, axis=len(m.dims) - 2)


def solved(node: Node, b: Builder, matrix: Tensor, right: Tensor, n: int) -> Tensor:
    """x of A x = B, by Gauss and Jordan's elimination with partial pivoting."""

    def step(inner: Builder, row: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        m, _ = pivoted(inner, values[0], row, n)
        return [eliminated(inner, m, row, n, diagonal_element(inner, m, row))]

    both = b.CONCATENATION(matrix, right, axis=len(matrix.dims) - 1)
    results = over_rows(node, b, [both], n, step)
    return slice_along(results[0], len(both.dims) - 1, n, -1, b)


@lower("MatrixInverse")
def matrix_inverse(node, b):
    """The inverse of each matrix; where there is none, numbers that are not finite."""
    return inverted(node, b, *square_of(node, b, node.attr("adjoint")))


def inverted(node: Node, b: Builder, x: Tensor, n: int) -> Tensor:
    """The inverse of each matrix of `n` rows."""
    shape = np.ones(len(x.dims) - 2, np.int32)
    unit = b.constant(np.eye(n, dtype=np.float32).reshape(*shape, n, n))
    unit = unit if len(x.dims) == 2 else b.ADD(b.ZEROS_LIKE(x), unit)
    return solved(node, b, x, unit, n)


@lower("MatrixSolve")
def matrix_solve(node, b):
    """x of A x = B for each matrix A."""
    x, n = square_of(node, b, node.attr("adjoint"))
    return solved(node, b, x, node.inputs[1], n)


@lower("MatrixTriangularSolve")
def matrix_triangular_solve(node, b):
    """x of A x = B, where only a triangle of A is looked at."""
    x, n = square_of(node, b)
    node.require(
        node.rank(0) == node.rank(1) and node.shape(0)[:-2] == node.shape(1)[:-2],
        f"matrices and right sides must be as many, got {node.shape(0)} and {node.shape(1)}",
    )
    triangle = (
        np.tril(np.ones((n, n), bool)) if node.attr("lower") else np.triu(np.ones((n, n), bool))
    )
    x = b.SELECT_V2(triangle, x, like(x, 0, b))
    return solved(node, b, swapped(x, b) if node.attr("adjoint") else x, node.inputs[1], n)


def determinant(node: Node, b: Builder, initial: Sequence[float], factor) -> Sequence[Tensor]:
    """What `factor(b, values, pivot, sign)` makes of the pivots of a matrix, from `initial` on."""
    x, n = square_of(node, b)
    zero = b.ZEROS_LIKE(b.SUM(x, np.array([len(x.dims) - 2, len(x.dims) - 1], np.int32)))
    values = [x, *(b.ADD(zero, np.float32(number)) for number in initial)]

    def step(inner: Builder, row: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        m, position = pivoted(inner, values[0], row, n)
        pivot = diagonal_element(inner, m, row)
        one, zero = like(pivot, 1, inner), like(pivot, 0, inner)
        sign = inner.SELECT_V2(inner.EQUAL(position, row), one, like(pivot, -1, inner))
        divisor = inner.SELECT_V2(inner.EQUAL(pivot, zero), one, pivot)
        following = factor(inner, values[1:], pivot, sign)
        return [eliminated(inner, m, row, n, divisor), *following]

    return over_rows(node, b, values, n, step)[1:]


@lower("MatrixDeterminant")
def matrix_determinant(node, b):
    """The determinant of each matrix: the product of its pivots."""
    return determinant(
        node, b, [1.0], lambda inner, v, pivot, sign: [inner.MUL(v[0], inner.MUL(pivot, sign))]
    )[0]


@lower("LogMatrixDeterminant")
def log_matrix_determinant(node, b):
    """The sign of each determinant, and the logarithm of its absolute value."""
    return tuple(determinant(
        node, b, [1.0, 0.0],
        lambda inner, v, pivot, sign: [
            inner.MUL(v[0], inner.MUL(inner.SIGN(pivot), sign)),
            inner.ADD(v[1], inner.LOG(inner.ABS(pivot))),
        ],
    ))  # fmt: skip


@lower("Cholesky")
def cholesky(node, b):
    """The lower triangle L of each matrix L L^T; not numbers where there is none."""
    x, n = square_of(node, b)
    positions = np.arange(n, dtype=np.int32)

    def step(inner: Builder, row: Tensor, values: Sequence[Tensor]) -> list[Tensor]:
        remaining, factor = values
        values_below = inner.GATHER(remaining, row, axis=len(remaining.dims) - 1)
        root = inner.SQRT(inner.GATHER(values_below, row, axis=len(remaining.dims) - 2))
        scaled = inner.DIV(values_below, column(root, inner))
        part = inner.SELECT_V2(inner.LESS(positions, row), like(scaled, 0, inner), scaled)
        factor = inner.SELECT_V2(inner.EQUAL(positions, row), column(part, inner), factor)
        product = inner.MUL(column(part, inner), line(part, inner))
        return [inner.SUB(remaining, product), factor]

    factor = over_rows(node, b, [x, b.ZEROS_LIKE(x)], n, step)[1]
    total = b.SUM(factor, np.array([len(x.dims) - 2, len(x.dims) - 1], np.int32), keep_dims=True)
    nothing = np.where(np.tril(np.ones((n, n), bool)), np.nan, 0).astype(np.float32)
    return b.SELECT_V2(b.EQUAL(total, total), factor, nothing)
