"""TF1's products and decompositions of matrices, norms and Fourier transforms."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, SupportsIndex
from typing import cast as cast_type

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import with_ragged
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, name_scope
from ...core.shapes import Dim, count, is_static
from ..arguments import one_of
from ..flow.control_flow import Assert
from ..math.arithmetic import abs, pow
from ..math.reductions import reduce_max, reduce_sum
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
cholesky         Cholesky          input \
    # The lower triangular root of each symmetric positive matrix of [..., m, m]
fft              FFT               input # The discrete Fourier transform along the last dimension
fft2d            FFT2D             input \
    # The discrete Fourier transform along the last two dimensions
ifft             IFFT              input \
    # The inverse discrete Fourier transform along the last dimension
ifft2d           IFFT2D            input \
    # The inverse discrete Fourier transform along the last two dimensions
matrix_determinant MatrixDeterminant input # The determinant of each matrix of [..., m, m]
matrix_inverse   MatrixInverse     input adjoint=False \
    # The inverse of each matrix of [..., m, m]; InvalidArgumentError where there is none
matrix_solve     MatrixSolve       matrix rhs adjoint=False \
    # The x of matrix @ x = rhs, [..., m, m] and [..., m, k]; InvalidArgumentError where the \
    matrix is singular
"""
globals().update(functions(ONE_TO_ONE, __name__))
_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


@with_ragged
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of stacks of them.

    Args:
        a, b: [..., rows, inner] and [..., inner, columns], of one dtype.
        transpose_a, transpose_b: Whether the last two dimensions are swapped before.
        adjoint_a, adjoint_b: The same, and conjugated.
        a_is_sparse, b_is_sparse: Whether there are many zeros. The product of such matrices of
            float32 and bfloat16, which may be mixed, is float32.
        name: Of the operation.
        output_type: Of the product, where it is not that of both: int32 of int8, for one.
        grad_a, grad_b: Taken for TensorFlow's sake.

    Raises:
        ValueError: A matrix is to be transposed and adjoint, or the sizes do not fit.
        TypeError: There is no product of these types.
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
        if output_type is not None and {a.dtype, b.dtype} != {as_numpy(output_type)}:
            a = _conj(a) if transpose_a else a
            b = _conj(b) if transpose_b else b
            return ops.BatchMatMulV3(
                a, b, Tout=output_type, adj_x=transpose_a or adjoint_a,
                adj_y=transpose_b or adjoint_b, grad_x=grad_a, grad_y=grad_b, name=scope,
            )  # fmt: skip
        if _is_sparse_product(a, b, a_is_sparse or b_is_sparse):
            return ops.SparseMatMul(
                _conj(a) if adjoint_a else a, _conj(b) if adjoint_b else b,
                transpose_a=transpose_a or adjoint_a, transpose_b=transpose_b or adjoint_b,
                a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=scope,
            )  # fmt: skip
        if any(x.sizes is None or len(x.sizes) > 2 for x in (a, b)):
            a = _conj(a) if transpose_a else a
            b = _conj(b) if transpose_b else b
            swaps = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
            return ops.BatchMatMulV2(a, b, name=scope, **swaps)
        a = _conj(a) if adjoint_a else a
        b = _conj(b) if adjoint_b else b
        swaps = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        return ops.MatMul(a, b, name=scope, **swaps)


def _is_sparse_product(a: Tensor, b: Tensor, is_sparse: bool) -> bool:
    """Whether matrices are of types that only SparseMatMul takes, or are to be taken by it."""
    names = {x.dtype.name for x in (a, b)}
    if any(x.sizes is None or len(x.sizes) > 2 for x in (a, b)):
        return False
    return (is_sparse and names <= {"float32", "bfloat16"}) or names == {"float32", "bfloat16"}


def _conj(x: Tensor) -> Tensor:
    return ops.Conj(x) if x.dtype.kind == "c" else x


def tensordot(
    a: TensorLike,
    b: TensorLike,
    axes: int | Sequence[int | Sequence[int]] | TensorLike,
    name: str | None = None,
) -> Tensor:
    """The product of two tensors, summed over pairs of their dimensions.

    Args:
        a, b: Tensors.
        axes: How many of the last of `a` and the first of `b`, or two lists of dimensions; a
            tensor of these, too.
        name: Of the operation.

    Raises ValueError for axes that do not go together, IndexError for what is no dimension.
    """
    with name_scope(name, "Tensordot", [a, b]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        first, second = _tensordot_axes(a, b, axes)
        left, free_a, known_a = _as_matrix(a, first, False)
        right, free_b, known_b = _as_matrix(b, second, True)
        product = ops.MatMul(left, right)
        known = None if known_a is None or known_b is None else known_a + known_b
        if is_static(known):
            return ops.Reshape(product, np.array(known, np.int32), name=scope)
        result = ops.Reshape(product, ops.ConcatV2([free_a, free_b], np.int32(0)), name=scope)
        result.set_shape(known)
        return result


def _tensordot_axes(
    a: Tensor, b: Tensor, axes: int | Sequence[int | Sequence[int]] | TensorLike
) -> tuple[list[int] | Tensor, list[int] | Tensor]:
    """The dimensions of both that are summed over."""
    if isinstance(axes, Tensor) and axes.value is not None:
        axes = cast_type("int | list[list[int]]", axes.value.tolist())
    if isinstance(axes, (int, np.integer)):
        n = operator.index(cast_type("SupportsIndex", axes))
        if n < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        numbers: list[int] = np.arange(n).tolist()
        if a.sizes is None:
            ends = ops.Range(np.int32(0), np.int32(n), np.int32(1)) + ops.Rank(a) - np.int32(n)
            return ends, numbers
        if n > len(a.sizes):
            raise ValueError(
                "`axes` must not be larger than the number of dimensions of tensor "
                f"{a}.  Received {axes}, vs tensor dimensions {len(a.sizes)}."
            )
        return [len(a.sizes) - n + i for i in numbers], numbers
    if isinstance(axes, Tensor):
        pair = ops.Unpack(axes, num=2)
        return pair[0], pair[1]
    lists = cast_type("Sequence[int | Sequence[int]]", axes)
    if len(lists) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = ([x] if isinstance(x, int) else [int(i) for i in x] for x in lists)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return first, second


def _as_matrix(
    x: Tensor, axes: list[int] | Tensor, summed_first: bool
) -> tuple[Tensor, Tensor | np.ndarray, tuple[Dim, ...] | None]:
    """`x` as a matrix of free and summed dimensions, and the sizes of the free ones: as numbers or
    a tensor, and as far as they are known.
    """
    if x.sizes is None or isinstance(axes, Tensor):
        return _as_unknown_matrix(x, axes, summed_first)
    rank = len(x.sizes)
    if any(not -rank <= axis < rank for axis in axes):
        raise IndexError(f"`axes` must be in [{-rank}, {rank}), got {axes}")
    axes = [axis % rank for axis in axes]
    free = [i for i in np.arange(rank).tolist() if i not in axes]
    order = axes + free if summed_first else free + axes
    if order != sorted(order):
        x = ops.Transpose(x, np.array(order, np.int32))
    known = tuple(x.sizes[order.index(i)] for i in free) if x.sizes else ()
    moved = x.sizes or ()
    n_summed = len(axes)
    parts = (moved[:n_summed], moved[n_summed:]) if summed_first else (
        moved[: rank - n_summed], moved[rank - n_summed :]
    )  # fmt: skip
    counts = [count(part) for part in parts]
    sizes: Tensor | np.ndarray = np.zeros(0, np.int32)
    if is_static(known):
        sizes = np.array(known, np.int32)
    else:
        sizes = ops.Shape(x)[n_summed:] if summed_first else ops.Shape(x)[: rank - n_summed]
    if counts.count(None) > 1:
        whole = ops.Shape(x)
        at = n_summed if summed_first else rank - n_summed
        products = [ops.Prod(part, np.int32(0)) for part in (whole[:at], whole[at:])]
        return ops.Reshape(x, ops.Pack(products)), sizes, known
    shape = np.array([-1 if n is None else n for n in counts], np.int32)
    return ops.Reshape(x, shape), sizes, known


def _as_unknown_matrix(
    x: Tensor, axes: list[int] | Tensor, summed_first: bool
) -> tuple[Tensor, Tensor | np.ndarray, None]:
    """`_as_matrix` where rank or axes are known only when it runs."""
    rank = ops.Rank(x)
    summed = ops.Cast(convert_to_tensor(axes, name="axes"), DstT=np.dtype(np.int32))
    summed = ops.SelectV2(ops.Less(summed, np.int32(0)), ops.AddV2(summed, rank), summed)
    free, _ = ops.ListDiff(ops.Range(np.int32(0), rank, np.int32(1)), summed)
    order = [summed, free] if summed_first else [free, summed]
    x = ops.Transpose(x, ops.ConcatV2(order, np.int32(0)))
    whole = ops.Shape(x)
    n = ops.Size(order[0])
    sizes = ops.GatherV2(whole, ops.Range(np.int32(0), rank, np.int32(1)), np.int32(0))
    head = ops.Slice(sizes, np.array([0], np.int32), ops.Pack([n]))
    tail = ops.Slice(sizes, ops.Pack([n]), np.array([-1], np.int32))
    products = [ops.Prod(part, np.int32(0)) for part in (head, tail)]
    return ops.Reshape(x, ops.Pack(products)), tail if summed_first else head, None


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrices by vectors: sum over j of a[..., i, j] b[..., j].

    Args:
        a: [..., m, n], numbers.
        b: [..., n], of the same type; [..., m] for an `a` that is transposed.
        transpose_a: Whether `a` is transposed before.
        adjoint_a: Whether it is transposed and conjugated.
        a_is_sparse, b_is_sparse: Taken for TensorFlow's sake.
        name: Of the operations.

    Returns [..., m]. Raises ValueError for shapes that do not fit.
    """
    with name_scope(name, "MatVec", [a, b]):
        left = convert_to_tensor(a, name="a")
        column = ops.ExpandDims(convert_to_tensor(b, name="b"), np.int32(-1))
        product = matmul(left, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
        return ops.Squeeze(product, squeeze_dims=[-1])


def norm(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: int | Sequence[int] | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of the vectors along `axis`, of the matrices along two of them, or of all elements.

    Args:
        tensor: Real or complex numbers.
        ord: "euclidean", 1, 2, np.inf, for vectors another positive number, for matrices "fro".
        axis: An axis, or those of rows and columns.
        keepdims: Whether `axis` stays with size 1.
        name: Of the operations.
        keep_dims: The same by its old name.

    Raises ValueError for another `ord` or `axis`.
    """
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    axes = _norm_axes(ord, axis)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if axes is not None and len(axes) == 2:
            result = _matrix_norm(x, ord, axes)
        else:
            result = _vector_norm(x, ord, axes)
        return result if keepdims else ops.Squeeze(result, squeeze_dims=axes or [])


def _norm_axes(ord: float | str, axis: int | Sequence[int] | None) -> list[int] | None:
    """The axes as a list; ValueError when there is no such norm along them."""
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        rows, columns = axis
        if not isinstance(rows, int) or not isinstance(columns, int) or rows == columns:
            _refuse_axis(axis)
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {ord}")
        return [rows, columns]
    if axis is not None and not isinstance(axis, int):
        _refuse_axis(axis)
    if ord != "euclidean" and (not isinstance(ord, (int, float)) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return None if axis is None else [axis]


def _refuse_axis(axis: Sequence[int]) -> NoReturn:
    raise ValueError(
        f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
    )


def _vector_norm(x: Tensor, ord: float | str, axes: list[int] | None) -> Tensor:
    if ord in ("euclidean", 2):
        squares = x * (ops.Conj(x) if x.dtype.kind == "c" else x)
        return ops.Sqrt(reduce_sum(squares, axes, keepdims=True))
    size = abs(x)
    if ord == np.inf:
        return reduce_max(size, axes, keepdims=True)
    if ord == 1:
        return reduce_sum(size, axes, keepdims=True)
    power = reduce_sum(pow(size, convert_to_tensor(ord, size.dtype)), axes, keepdims=True)
    return pow(power, convert_to_tensor(1.0 / float(ord), size.dtype))


def _matrix_norm(x: Tensor, ord: float | str, axes: list[int]) -> Tensor:
    if ord in ("euclidean", "fro"):
        return _vector_norm(x, 2, axes)
    if ord in (1, np.inf):
        summed, largest = axes if ord == 1 else axes[::-1]
        return reduce_max(reduce_sum(abs(x), summed, keepdims=True), largest, keepdims=True)
    rank = len(x.get_shape())
    positions = [axis % rank for axis in axes]
    order = [i for i in range(rank) if i not in positions] + positions
    values, _, _ = ops.Svd(ops.Transpose(x, np.array(order, np.int32)), compute_uv=False)
    largest = ops.ExpandDims(reduce_max(abs(values), -1, keepdims=True), np.int32(-1))
    return ops.Transpose(largest, np.argsort(order).astype(np.int32))


def normalize(
    tensor: TensorLike,
    ord: float | str = "euclidean",
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """`tensor` by its norm, and that norm.

    Args:
        tensor: Floats or complex numbers.
        ord: Which norm, as of `norm`.
        axis: That of vectors, a pair for matrices, or None for all elements.
        name: Of the operations.

    Returns the shape of `tensor`, and the norm with the size 1 along `axis`.
    """
    with name_scope(name, "normalize", [tensor]):
        x = convert_to_tensor(tensor)
        size = norm(x, ord, axis, keepdims=True)
        size = size if size.dtype == x.dtype else ops.Cast(size, DstT=x.dtype)
        return x / size, size


def require_matrix(a: Tensor, validate_args: bool = False) -> Tensor:
    """`a`, floats of two dimensions or more.

    With `validate_args` a rank that is not known is looked at when it runs.

    Raises TypeError for other types, ValueError for fewer dimensions.
    """
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.sizes is not None:
        if len(a.sizes) < 2:
            raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {len(a.sizes)}).")
        return a
    if not validate_args:
        return a
    enough = ops.GreaterEqual(ops.Rank(a), np.int32(2))
    check = Assert(enough, ["Input `a` must have at least 2 dimensions."])
    with control_dependencies([check]):
        return ops.Identity(a)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sums of the main diagonals.

    Args:
        x: [..., m, n], numbers.
        name: Of the operation.

    Returns [...] of the type of `x`. Raises ValueError for a rank below 2.
    """
    with name_scope(name, "Trace", [x]) as scope:
        return reduce_sum(ops.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=scope)
