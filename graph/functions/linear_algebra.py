"""TF1's products and decompositions of matrices, norms and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..core.shapes import is_static
from .arguments import one_of
from .arithmetic import abs, pow
from .reductions import reduce_max, reduce_sum
from .rows import functions

if TYPE_CHECKING:
    from ..core.typing import TensorLike

ONE_TO_ONE = """
cholesky         Cholesky          input
fft              FFT               input
fft2d            FFT2D             input
ifft             IFFT              input
ifft2d           IFFT2D            input
matrix_determinant MatrixDeterminant input
matrix_inverse   MatrixInverse     input adjoint=False
matrix_solve     MatrixSolve       matrix rhs adjoint=False
"""
globals().update(functions(ONE_TO_ONE, __name__))


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of stacks of them.

    Args:
        a, b: [..., rows, inner] and [..., inner, columns], of one dtype.
        transpose_a, transpose_b: Whether the last two dimensions are swapped before.
        adjoint_a, adjoint_b: The same, and conjugated.
        a_is_sparse, b_is_sparse: Taken for TensorFlow's sake.
        name: Of the operation.

    Raises:
        ValueError: A matrix is to be transposed and adjoint, or the sizes do not fit.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        for side, transposed, adjoint in (
            ("a", transpose_a, adjoint_a),
            ("b", transpose_b, adjoint_b),
        ):
            if transposed and adjoint:
                raise ValueError(
                    f"Only one of `transpose_{side}` and `adjoint_{side}` can be True. Received "
                    f"`transpose_{side}`={transposed}, `adjoint_{side}`={adjoint}."
                )
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b", preferred_dtype=a.dtype)
        if any(x.shape is None or len(x.shape) > 2 for x in (a, b)):
            a = _conj(a) if transpose_a else a
            b = _conj(b) if transpose_b else b
            swaps = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
            return ops.BatchMatMulV2(a, b, name=scope, **swaps)
        a = _conj(a) if adjoint_a else a
        b = _conj(b) if adjoint_b else b
        swaps = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        return ops.MatMul(a, b, name=scope, **swaps)


def _conj(x: Tensor) -> Tensor:
    return ops.Conj(x) if x.dtype.kind == "c" else x


def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[int | Sequence[int]], name: str | None = None
) -> Tensor:
    """The product of two tensors, summed over pairs of their dimensions.

    Args:
        a, b: Tensors of known shape.
        axes: How many of the last of `a` and the first of `b`, or two lists of dimensions.
        name: Of the operation.
    """
    with name_scope(name, "Tensordot", [a, b]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if not is_static(a.shape) or not is_static(b.shape):
            raise ValueError(f"tensordot needs known shapes, got {a.shape} and {b.shape}")
        first, second = _tensordot_axes(len(a.shape), axes)
        left, free_a = _as_matrix(a, a.shape, first, False)
        right, free_b = _as_matrix(b, b.shape, second, True)
        return ops.Reshape(ops.MatMul(left, right), np.array(free_a + free_b, np.int32), name=scope)


def _tensordot_axes(
    rank: int, axes: int | Sequence[int | Sequence[int]]
) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        numbers: list[int] = np.arange(axes).tolist()
        return [rank - axes + i for i in numbers], numbers
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return first, second


def _as_matrix(
    x: Tensor, sizes: tuple[int, ...], axes: Sequence[int], summed_first: bool
) -> tuple[Tensor, list[int]]:
    """`x` as a matrix of free and summed dimensions, and the sizes of the free ones."""
    axes = [int(axis) % len(sizes) for axis in axes]
    free = [i for i in np.arange(len(sizes)).tolist() if i not in axes]
    order = axes + free if summed_first else free + axes
    if order != sorted(order):
        x = ops.Transpose(x, np.array(order, np.int32))
    counts = [int(np.prod([sizes[i] for i in part])) for part in (free, axes)]
    shape = counts[::-1] if summed_first else counts
    return ops.Reshape(x, np.array(shape, np.int32)), [sizes[i] for i in free]


def einsum(equation: str, *inputs: TensorLike, name: str | None = None) -> Tensor:
    """Products of elements summed as `equation` says: "ij,jk->ik" is a matrix product."""
    return ops.Einsum(list(inputs), equation=equation, name=name)


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: int | Sequence[int] | np.ndarray | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of the elements along `axis`, of all by default.

    `ord` is "euclidean", 1, 2, np.inf or another positive number; matrices have only the first.
    """
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    several = isinstance(axis, (list, tuple, np.ndarray)) and len(axis) == 2
    order = 2 if ord in ("euclidean", "fro") else ord
    if not isinstance(order, (int, float)) or order <= 0 or (several and ord == order):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if order == 2:
            return ops.Sqrt(reduce_sum(x * x, axis, keepdims=keepdims))
        if order == np.inf:
            return reduce_max(abs(x), axis, keepdims=keepdims)
        if order == 1:
            return reduce_sum(abs(x), axis, keepdims=keepdims)
        power = reduce_sum(pow(abs(x), convert_to_tensor(order, x.dtype)), axis, keepdims=keepdims)
        return pow(power, convert_to_tensor(1.0 / order, x.dtype))


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sums of the diagonals."""
    with name_scope(name, "Trace", [x]) as scope:
        return reduce_sum(ops.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=scope)
