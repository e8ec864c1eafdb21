"""Matrix products and other linear algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import add_row, op
from ...core.shapes import (
    Dim,
    Shape,
    UnknownRank,
    broadcast_ranked,
    divided,
    known,
    plus,
    require,
    same,
    shown,
)

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def _matmul_shape(op: OperationView) -> Shape:
    a, b = known(op, 0, 2), known(op, 1, 2)
    if op.get_attr("transpose_a"):
        a = a[::-1]
    if op.get_attr("transpose_b"):
        b = b[::-1]
    _inner(op, a[1], b[0])
    return a[0], b[1]


def _inner(op: OperationView, x: Dim, y: Dim) -> None:
    require(op, None in (x, y) or x == y, f"Dimensions must be equal, but are {x} and {y}")


@op("MatMul", shape=_matmul_shape)
def matmul(a: np.ndarray, b: np.ndarray, *, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    """`a @ b`."""
    return _product(a.T if transpose_a else a, b.T if transpose_b else b)


@op("SparseMatMul", shape=_matmul_shape)
def sparse_matmul(
    a: np.ndarray,
    b: np.ndarray,
    *,
    transpose_a: bool,
    transpose_b: bool,
    a_is_sparse: bool,
    b_is_sparse: bool,
) -> np.ndarray:
    """`a @ b` in float32, of matrices that may have many zeros."""
    left, right = (x.astype(np.float32) for x in (a, b))
    left, right = left.T if transpose_a else left, right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise ValueError(
            f"Matrix size-incompatible: In[0]: {list(left.shape)}, In[1]: {list(right.shape)}"
        )
    return left @ right


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a @ b`, with 16-bit floats accumulated in 32 bits."""
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        a, b = a.astype(np.float32), b.astype(np.float32)
    return np.matmul(a, b)


def _batch_matmul_shape(op: OperationView) -> Shape:
    a, b = known(op, 0), known(op, 1)
    require(op, min(len(a), len(b)) >= 2, f"ranks must be >= 2, got {a} and {b}")
    (rows, inner), (other, columns) = a[-2:], b[-2:]
    if op.get_attr("adj_x"):
        rows, inner = inner, rows
    if op.get_attr("adj_y"):
        other, columns = columns, other
    _inner(op, inner, other)
    try:
        batch = broadcast_ranked(a[:-2], b[:-2])
    except ValueError as error:
        raise ValueError(f"{op.type} '{op.name}': {error} in the batch of {a} and {b}") from None
    return batch + (rows, columns)


@op("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", shape=_batch_matmul_shape)
def batch_matmul(
    a: np.ndarray, b: np.ndarray, *, adj_x: bool, adj_y: bool, op: OperationView
) -> np.ndarray:
    """`a @ b` for each matrix of a batch; an adjoint is conjugated too."""
    a = np.conj(np.swapaxes(a, -1, -2)) if adj_x else a
    b = np.conj(np.swapaxes(b, -1, -2)) if adj_y else b
    dtype = op.outputs[0].dtype
    a, b = (x if x.dtype == dtype else x.astype(dtype) for x in (a, b))
    return _product(a, b)


def _einsum_labels(op: OperationView) -> tuple[list[str], str]:
    equation = op.get_attr("equation").decode().replace(" ", "")
    inputs, _, output = equation.partition("->")
    labels = inputs.split(",")
    words = f"Expecting exactly one '->' in einsum equation: {equation}"
    require(op, equation.count("->") == 1, words)
    words = f"Expected {len(labels)} inputs for equation {equation} but got: {len(op.inputs)}"
    require(op, len(labels) == len(op.inputs), words)
    return labels, output


def _rank_words(op: OperationView, index: int, label: str, rank: int) -> str:
    head, dots, tail = label.partition("...")
    least = "at least rank" if dots else "rank"
    ordinal = ("0th", "1st", "2nd", "3rd")[index] if index < 4 else f"{index}th"
    return (
        f"Shape must be {least} {len(head) + len(tail)} but is rank {rank}\n\t for {ordinal} input "
        f"and equation: {op.get_attr('equation').decode()}"
    )


def _einsum_shape(op: OperationView) -> Shape:
    labels, output = _einsum_labels(op)
    sizes: dict[str, int | None] = {}
    batch: tuple[Dim, ...] = ()
    for index, label in enumerate(labels):
        shape = known(op, index)
        head, dots, tail = label.partition("...")
        n_named = len(head) + len(tail)
        fits = len(shape) >= n_named if dots else len(shape) == n_named
        require(op, fits, _rank_words(op, index, label, len(shape)))
        end = len(shape) - len(tail)
        named = zip(head + tail, shape[: len(head)] + shape[end:], strict=True)
        for name, size in named:
            other = sizes.get(name)
            fits = None in (other, size) or other == size
            require(op, fits, f"Dimensions must be equal, but are {other} and {size}")
            sizes[name] = other if size is None else size
        if dots:
            batch = broadcast_ranked(batch, shape[len(head) : end])
    head, dots, tail = output.partition("...")
    missing = set(head + tail) - sizes.keys()
    words = f"Einsum output subscripts for equation '{op.get_attr('equation').decode()}' has label"
    for label in sorted(missing):
        require(op, False, f"{words} '{label}' which is not present in the input subscripts")
    words = f"einsum equation '{op.get_attr('equation').decode()}' without ellipsis (...) in the "
    words += "output subscripts where input(s) have non-empty broadcasting shape"
    fits = bool(dots) or not batch
    require(op, fits, f"Shape must be at most rank 0 but is rank {len(batch)}\n\t for {words}")
    middle = batch if dots else ()
    return tuple(sizes[n] for n in head) + tuple(middle) + tuple(sizes[n] for n in tail)


def _require_einsum_operands(equation: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raises ValueError, in the kernel's words, where operands do not fit their labels."""
    operands, _, output = equation.replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    n_batch = 0
    for index, (label, shape) in enumerate(zip(operands.split(","), shapes, strict=True)):
        head, dots, tail = label.partition("...")
        n_named = len(head) + len(tail)
        if len(shape) < n_named or (not dots and len(shape) > n_named):
            words = f"Expected input {index} to have rank {'at least ' if dots else ''}{n_named}"
            raise ValueError(f"{words} but got: {len(shape)}")
        n_batch = max(n_batch, len(shape) - n_named)
        axes = [*range(len(head)), *range(len(shape) - len(tail), len(shape))]
        for name, axis in zip(head + tail, axes, strict=True):
            size = sizes.setdefault(name, shape[axis])
            if size != shape[axis]:
                words = f"Expected dimension {size} at axis {axis} of the input shaped"
                raise ValueError(f"{words} {shown(shape)} but got dimension {shape[axis]}")
    if n_batch and "..." not in output:
        words = f"Output contains {n_batch} broadcasting dimension(s) but no ellipsis (...) was"
        raise ValueError(f"{words} found in the output subscripts.")


@op("Einsum", "XlaEinsum", shape=_einsum_shape)
def einsum(*inputs: np.ndarray, equation: bytes) -> np.ndarray:
    """Einstein's summation."""
    text = equation.decode()
    _require_einsum_operands(text, [x.shape for x in inputs])
    if inputs[0].dtype.itemsize == 2 and inputs[0].dtype.kind in "fV":
        inputs = tuple(x.astype(np.float32) for x in inputs)
    return np.einsum(text, *inputs, optimize="greedy")


def square(op: OperationView) -> tuple[Dim, ...]:
    """The shape of the first input, matrices with as many rows as columns."""
    shape = known(op, 0)
    require(op, len(shape) >= 2, f"Shape must be at least rank 2 but is rank {len(shape)}")
    rows, columns = shape[-2:]
    words = f"Dimensions must be equal, but are {rows} and {columns}"
    require(op, None in (rows, columns) or rows == columns, words)
    size = columns if rows is None else rows
    return (*shape[:-2], size, size)


def adjoint(x: np.ndarray) -> np.ndarray:
    """Each matrix transposed and conjugated."""
    return np.conj(np.swapaxes(x, -1, -2))


def wide(x: np.ndarray) -> np.ndarray:
    """The numbers with 64 bits."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


@op("MatrixInverse", shape=square)
def matrix_inverse(x: np.ndarray, *, adjoint: bool) -> np.ndarray:
    """The inverse of each matrix."""
    _require_invertible(x, "Input is not invertible.")
    return np.linalg.inv(wide(_adjoint_if(adjoint, x)))


def _require_invertible(x: np.ndarray, words: str) -> None:
    """Raises ValueError for a matrix that is exactly singular in its own precision."""
    if x.size and (np.linalg.det(x if x.dtype.itemsize > 2 else wide(x)) == 0).any():
        raise ValueError(words)


def _adjoint_if(condition: bool, x: np.ndarray) -> np.ndarray:
    return adjoint(x) if condition else x


@op("MatrixDeterminant", shape=lambda op: square(op)[:-2])
def matrix_determinant(x: np.ndarray) -> np.ndarray:
    """The determinant of each matrix; NaN where an element is NaN."""
    has_nan = np.isnan(x).any((-1, -2))
    return np.where(has_nan, np.nan, np.linalg.det(wide(x)))


@op("Cholesky", shape=square)
def cholesky(x: np.ndarray) -> np.ndarray:
    """The lower triangular root of each symmetric positive matrix, NaN for others."""
    lower = wide(np.tril(x))
    try:
        return np.linalg.cholesky(lower)
    except np.linalg.LinAlgError:
        stack = lower.reshape(-1, *x.shape[-2:])
        return np.stack([_cholesky_of(matrix) for matrix in stack]).reshape(x.shape)


def _cholesky_of(x: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(x, np.nan))


def _solve_shape(op: OperationView) -> Shape:
    a, b = square(op), known(op, 1)
    require(op, len(b) >= 2, f"Shape must be at least rank 2 but is rank {len(b)}")
    rows = a[-1], b[-2]
    words = f"Dimensions must be equal, but are {rows[0]} and {rows[1]}"
    require(op, None in rows or rows[0] == rows[1], words)
    size = rows[1] if rows[0] is None else rows[0]
    return broadcast_ranked(a[:-2], b[:-2]) + (size, b[-1])


@op("MatrixSolve", shape=_solve_shape)
def matrix_solve(a: np.ndarray, b: np.ndarray, *, adjoint: bool) -> np.ndarray:
    """The x of `a @ x = b`."""
    _require_invertible(a, "Input matrix is not invertible.")
    return np.linalg.solve(wide(_adjoint_if(adjoint, a)), wide(b))


@op("MatrixTriangularSolve", shape=_solve_shape)
def matrix_triangular_solve(
    a: np.ndarray, b: np.ndarray, *, lower: bool, adjoint: bool
) -> np.ndarray:
    """The x of `a @ x = b`, where only one triangle of `a` counts."""
    return triangular_solve(a, b, lower, adjoint)


def triangular_solve(a: np.ndarray, b: np.ndarray, lower: bool, of_adjoint: bool) -> np.ndarray:
    """The x of `a @ x = b`, row by row; what a singular matrix divides by 0 is infinite."""
    a, b = wide(_adjoint_if(of_adjoint, a)), wide(b)
    n = a.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.broadcast_to(b, batch + b.shape[-2:]).copy()
    downwards = lower != of_adjoint
    with np.errstate(all="ignore"):
        for i in range(n) if downwards else range(n - 1, -1, -1):
            done = slice(0, i) if downwards else slice(i + 1, n)
            x[..., i, :] -= (a[..., i, None, done] @ x[..., done, :])[..., 0, :]
            x[..., i, :] /= a[..., i, i, None]
    return x


def _least_squares_shape(op: OperationView) -> Shape:
    a, b = known(op, 0), known(op, 1)
    require(op, min(len(a), len(b)) >= 2, f"ranks must be >= 2, got {a} and {b}")
    return broadcast_ranked(a[:-2], b[:-2]) + (a[-1], b[-1])


@op("MatrixSolveLs", shape=_least_squares_shape)
def matrix_solve_ls(a: np.ndarray, b: np.ndarray, l2: np.ndarray, *, fast: bool) -> np.ndarray:
    """The x with the least |a x - b|^2 + l2 |x|^2; the least of all such x where there are more."""
    m, n = a.shape[-2:]
    left, right, weight = wide(a), wide(b), float(l2) if fast else 0.0
    if not fast or weight == 0:
        return np.linalg.pinv(left, np.finfo(a.dtype).eps * max(m, n)) @ right
    if m >= n:
        return np.linalg.solve(adjoint(left) @ left + weight * np.eye(n), adjoint(left) @ right)
    return adjoint(left) @ np.linalg.solve(left @ adjoint(left) + weight * np.eye(m), right)


def _fft_shape(rank: int, halves: bool) -> Callable[[OperationView], Shape]:
    """Shape of real transforms: the last dimensions are those of the second input."""

    def shape(op: OperationView) -> Shape:
        try:
            size = known(op, 0)
        except UnknownRank:
            return None
        require(op, len(size) >= rank, f"rank must be >= {rank}, got {size}")
        lengths = op.inputs[1].value
        last: list[Dim] = [None] * rank
        if lengths is not None:
            last = [None if n is None else int(n) for n in lengths.flat]
        require(op, len(last) == rank, f"Dimension must be {rank} but is {len(last)}")
        if halves and last[-1] != 0:
            last[-1] = plus(divided(last[-1], 2), 1)
        return size[: len(size) - rank] + tuple(last)

    return shape


def _real_fft(
    function: Callable[..., np.ndarray], rank: int
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        sizes = [int(n) for n in lengths]
        to_complex = x.dtype.kind != "c"
        needed = [*sizes[:-1], sizes[-1] if to_complex else sizes[-1] // 2 + 1]
        if not x.size or 0 in sizes:
            last = [*sizes[:-1], sizes[-1] // 2 + 1 if to_complex and sizes[-1] else sizes[-1]]
            half = f"f{x.dtype.itemsize // 2}"
            dtype = np.result_type(x.dtype, np.complex64) if to_complex else np.dtype(half)
            return np.zeros((*x.shape[: x.ndim - rank], *last), dtype)
        if any(n < m for n, m in zip(x.shape[x.ndim - rank :], needed, strict=True)):
            raise ValueError(f"the last dimensions must be at least {needed}, got {x.shape}")
        return function(x, sizes, axes=range(-rank, 0))

    return kernel


def _fft(function: Callable[..., np.ndarray], rank: int) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        return function(x, axes=range(-rank, 0)) if x.size else x

    return kernel


for _suffix, _rank in (("", 1), ("2D", 2), ("3D", 3)):
    add_row(f"FFT{_suffix}", _fft(np.fft.fftn, _rank), same)
    add_row(f"IFFT{_suffix}", _fft(np.fft.ifftn, _rank), same)
    add_row(f"RFFT{_suffix}", _real_fft(np.fft.rfftn, _rank), _fft_shape(_rank, True))
    add_row(f"IRFFT{_suffix}", _real_fft(np.fft.irfftn, _rank), _fft_shape(_rank, False))
