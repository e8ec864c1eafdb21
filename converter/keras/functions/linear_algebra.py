"""Functions of matrices of keras.ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer, is_number
from .numerics import like
from .operations import axes_of, axis_of, floating, operands, operation, tensor
from .products import matmul
from .selection import split

MAX_STEPS = 64
"""Differences of differences."""
operation("Inv")(lambda call, x: call.op("MatrixInverse", floating(call, x)))
operation("Det")(lambda call, x: call.op("MatrixDeterminant", floating(call, x)))


def last_axes_swapped(call: Call, x: Tensor) -> Tensor:
    """Matrices transposed."""
    order = list(range(len(call.shape(x))))
    order[-2:] = order[:-3:-1]
    return call.op("Transpose", x, call.constant(order))


@operation("Cholesky")
def cholesky(call: Call, x: Any, upper: Any = False) -> Tensor:
    """The lower triangle whose product with its transpose is x; or the upper."""
    lower = call.op("Cholesky", floating(call, x))
    return last_axes_swapped(call, lower) if upper is True else lower


@operation("CholeskyInverse")
def cholesky_inverse(call: Call, x: Any, upper: Any = False) -> Tensor:
    """The inverse of the matrix of which x is the Cholesky factor."""
    factor = floating(call, x)
    factor = last_axes_swapped(call, factor) if upper is True else factor
    inverse = call.op("MatrixInverse", factor)
    return matmul(call, last_axes_swapped(call, inverse), inverse)


@operation("Logdet", "Slogdet")
def log_determinant(call: Call, x: Any) -> Any:
    """log |det x|, and its sign before it where that is asked for."""
    sign, log = call.ops("LogMatrixDeterminant", floating(call, x))
    return [sign, log] if call.layer.kind == "ops.Slogdet" else log


@operation("Solve")
def solve(call: Call, a: Any, b: Any) -> Tensor:
    """The x of a x = b."""
    return _solved(call, "MatrixSolve", a, b)


@operation("SolveTriangular")
def solve_triangular(call: Call, a: Any, b: Any, lower: Any = False) -> Tensor:
    """The x of a x = b, a triangular."""
    return _solved(call, "MatrixTriangularSolve", a, b, lower=lower is True)


def _solved(call: Call, kind: str, a: Any, b: Any, **attrs: Any) -> Tensor:
    left, right = (floating(call, v) for v in operands(call, a, b))
    is_vector = len(call.shape(right)) == len(call.shape(left)) - 1
    if is_vector:
        right = call.op("ExpandDims", right, call.constant(-1))
    y = call.op(kind, left, right, **attrs)
    return call.op("Squeeze", y, squeeze_dims=[-1]) if is_vector else y


@operation("Diag")
def diag(call: Call, x: Any, k: Any = 0) -> Tensor:
    """A vector as the k-th diagonal of a matrix; that of a matrix as a vector."""
    x = tensor(call, x)
    call.require(is_integer(k), f"k must be an integer, got {str(k)[:20]}")
    if len(call.shape(x, 1, 2)) == 2:
        return diagonal_of(call, x, k)
    numbers = call.constant(k), call.constant(-1), call.constant(-1)
    return call.op("MatrixDiagV3", x, *numbers, like(call, 0, x), align="RIGHT_LEFT")


@operation("Diagflat")
def diag_flat(call: Call, x: Any, k: Any = 0) -> Tensor:
    """All values as the k-th diagonal of a matrix."""
    return diag(call, call.op("Reshape", tensor(call, x), call.constant([-1])), k)


def diagonal_of(call: Call, x: Tensor, k: int) -> Tensor:
    """The k-th diagonals of matrices in the last two axes."""
    parts = call.constant(k), like(call, 0, x)
    return call.op("MatrixDiagPartV3", x, *parts, align="RIGHT_LEFT")


@operation("Trace")
def trace(call: Call, x: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Tensor:
    """The sum of diagonals."""
    x = tensor(call, x)
    rank = len(call.shape(x))
    axes = axes_of(call, [axis1, axis2], rank)
    others = [i for i in range(rank) if i not in axes]
    moved = call.op("Transpose", x, call.constant([*others, *axes]))
    call.require(is_integer(offset), "offset must be an integer")
    return call.op("Sum", diagonal_of(call, moved, offset), call.constant([rank - 2]))


@operation("Kron")
def kron(call: Call, x1: Any, x2: Any) -> Tensor:
    """Each value of the first times the whole second."""
    x, y = operands(call, x1, x2)
    shapes = call.shape(x), call.shape(y)
    rank = max(map(len, shapes))
    wide = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    for shape in wide:
        for n in shape:
            call.known(n, "each dimension")
    sizes: list[list[int]] = [[], []]
    for n, m in zip(*wide, strict=True):
        sizes[0] += [int(n or 1), 1]
        sizes[1] += [1, int(m or 1)]
    parts = [call.op("Reshape", v, call.constant(p)) for v, p in zip((x, y), sizes, strict=True)]
    dims = [int(n or 1) * int(m or 1) for n, m in zip(*wide, strict=True)]
    return call.op("Reshape", call.op("Mul", *parts), call.constant(dims))


@operation("Cross")
def cross(
    call: Call,
    x1: Any,
    x2: Any,
    axisa: Any = -1,
    axisb: Any = -1,
    axisc: Any = -1,
    axis: Any = None,
) -> Tensor:
    """The vector product of vectors of three numbers."""
    x, y = operands(call, x1, x2)
    if axis is not None:
        axisa = axisb = axisc = axis
    rows = [_moved_last(call, v, a) for v, a in ((x, axisa), (y, axisb))]
    sizes = [call.shape(v)[-1] for v in rows]
    call.require(set(sizes) <= {2, 3}, f"vectors must have 2 or 3 numbers, got {sizes}")
    rows = [
        v
        if n == 3
        else call.op("Pad", v, call.constant([[0, 0]] * (len(call.shape(v)) - 1) + [[0, 1]]))
        for v, n in zip(rows, sizes, strict=True)
    ]
    turned = [[call.op("Roll", v, call.constant([-i]), call.constant([len(call.shape(v)) - 1]))
               for i in (1, 2)] for v in rows]  # fmt: skip
    first = call.op("Mul", turned[0][0], turned[1][1])
    result = call.op("Sub", first, call.op("Mul", turned[0][1], turned[1][0]))
    rank = len(call.shape(result))
    if sizes == [2, 2]:
        return call.op("GatherV2", result, call.constant(2), call.constant(rank - 1))
    place = axis_of(call, axisc, rank)
    order = list(range(rank - 1))
    order.insert(place, rank - 1)
    return call.op("Transpose", result, call.constant(order))


def _moved_last(call: Call, x: Tensor, axis: Any) -> Tensor:
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    order = [i for i in range(rank) if i != axis] + [axis]
    return call.op("Transpose", x, call.constant(order))


def split_along(axis: int) -> Callable:
    """Parts along one axis, the first one of vectors for Hsplit."""

    def write(call: Call, x: Tensor, indices_or_sections: Any) -> list[Tensor]:
        return split(call, x, indices_or_sections, min(axis, len(call.shape(x)) - 1))

    return write


operation("Vsplit")(split_along(0))
operation("Hsplit")(split_along(1))
operation("Dsplit")(split_along(2))


@operation("Dstack")
def stacked_in_depth(call: Call, xs: Any) -> Tensor:
    """Tensors behind one another along the third axis."""
    parts = []
    for x in operands(call, *(xs if isinstance(xs, list) else [xs])):
        rank = len(call.shape(x))
        for place in ([0, 2] if rank == 1 else [2]) if rank < 3 else ():
            x = call.op("ExpandDims", x, call.constant(place))
        parts.append(x)
    return parts[0] if len(parts) == 1 else call.op("ConcatV2", *parts, call.constant(2))


@operation("Diff")
def differences(call: Call, a: Any, n: Any = 1, axis: Any = -1) -> Tensor:
    """Each value less the one before along an axis, n times."""
    x = tensor(call, a)
    rank = len(call.shape(x))
    axis = axis_of(call, axis, rank)
    call.require(is_integer(n) and 0 <= n <= MAX_STEPS, f"n must be an integer, got {str(n)[:20]}")
    for _ in range(n):
        length = call.known(call.shape(x)[axis], "what differences are taken along")
        begin, sizes = [0] * rank, [-1] * rank
        call.require(length > 0, "there must be a value for each difference")
        sizes[axis] = length - 1
        before = call.op("Slice", x, call.constant(begin), call.constant(sizes))
        begin[axis] = 1
        x = call.op("Sub", call.op("Slice", x, call.constant(begin), call.constant(sizes)), before)
    return x


@operation("Trapezoid")
def trapezoid(call: Call, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Tensor:
    """The area below lines between values."""
    y = floating(call, y)
    call.require(x is None, "x is not supported; give dx")
    rank = len(call.shape(y))
    axis = axis_of(call, axis, rank)
    length = call.known(call.shape(y)[axis], "the axis")
    shape = [length if i == axis else 1 for i in range(rank)]
    call.require(is_number(dx), f"dx must be a number, got {str(dx)[:20]}")
    weights = np.full(length, float(dx))
    weights[[0, -1]] /= 2
    weighted = call.op("Mul", y, call.constant(weights.reshape(shape), y))
    return call.op("Sum", weighted, call.constant([axis]))


@operation("Vander")
def vander(call: Call, x: Any, N: Any = None, increasing: Any = False) -> Tensor:
    """Powers of the values of a vector, the highest first."""
    x = tensor(call, x)
    call.require(N is None or (is_integer(N) and 0 < N < 1 << 16), "N must be a positive integer")
    n = call.known(call.shape(x, 1)[0], "the vector's length") if N is None else N
    powers = np.arange(n) if increasing is True else np.arange(n)[::-1]
    column = call.op("ExpandDims", x, call.constant(1))
    return call.op("Pow", column, call.constant(powers, x))


@operation("CDist")
def distances(call: Call, x: Any, y: Any) -> Tensor:
    """The distance of each row of x from each row of y."""
    x, y = (floating(call, v) for v in operands(call, x, y))
    rank = len(call.shape(x))
    rows = call.op("ExpandDims", x, call.constant(rank - 1))
    columns = call.op("ExpandDims", y, call.constant(rank - 2))
    squares = call.op("SquaredDifference", rows, columns)
    return call.op("Sqrt", call.op("Sum", squares, call.constant([rank])))


@operation("Qr")
def orthogonal(call: Call, x: Any, mode: Any = "reduced") -> list[Tensor]:
    """An orthogonal and an upper triangular matrix whose product is x."""
    call.require(mode in ("reduced", "complete"), f"mode must be reduced or complete, got {mode}")
    return call.ops("Qr", floating(call, x), full_matrices=mode == "complete")


@operation("SVD")
def singular_values(
    call: Call, x: Any, full_matrices: Any = True, compute_uv: Any = True
) -> Tensor | list[Tensor]:
    """Orthogonal matrices around a diagonal whose product is x; or the diagonal alone."""
    wants_all = compute_uv is True
    attrs: dict[str, Any] = {"compute_uv": wants_all, "full_matrices": full_matrices is True}
    values, left, right = call.ops("Svd", floating(call, x), **attrs)
    return [left, values, last_axes_swapped(call, right)] if wants_all else values


@operation("Eigh")
def eigenvalues(call: Call, x: Any) -> list[Tensor]:
    """Eigenvalues and eigenvectors of symmetric matrices."""
    return call.ops("SelfAdjointEigV2", floating(call, x), compute_v=True)
