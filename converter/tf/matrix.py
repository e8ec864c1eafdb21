"""Diagonals and bands of matrices."""

from math import prod
from typing import Any

import numpy as np

from ..lowering.moves import as_int32, dimension, like, positions, slice_along
from .registry import lower

LEFT = b"LEFT_LEFT"
"""How the versions without an attribute `align` store diagonals of unequal lengths."""


def row_minus_column(x, b):
    """For each element of the matrices in `x`, how far below the main diagonal it lies."""
    rows, columns = (positions(x, x.rank - k, b) for k in (2, 1))
    return b.SUB(b.EXPAND_DIMS(rows, np.int32(1)), columns)


@lower("MatrixBandPart")
def matrix_band_part(node, b):
    """Zeros but in a band around the diagonal; a negative width is a whole triangle."""
    x = node.inputs[0]
    node.rank()
    below = row_minus_column(x, b)
    for position, flip in ((1, lambda t: t), (2, b.NEG)):
        width = as_int32(node.inputs[position], b)
        if width.value is not None and width.value < 0:
            continue
        is_in_band = b.LESS_EQUAL(flip(below), width)
        if width.value is None:
            is_in_band = b.LOGICAL_OR(is_in_band, b.LESS(width, np.int32(0)))
        x = b.SELECT_V2(is_in_band, x, like(x, 0, b))
    return x


def band_of(node, position, b) -> tuple[Any, Any]:
    """The lowest and the highest diagonal that an input names: a computed one is both, a tensor."""
    k = node.inputs[position]
    if k.value is None and k.sizes == ():
        diagonal = as_int32(k, b)
        return diagonal, diagonal
    numbers = [int(n) for n in np.ravel(node.constant(position))]
    node.require(
        1 <= len(numbers) <= 2 and numbers[0] <= numbers[-1],
        f"k must be one diagonal or a range of them, got {numbers}",
    )
    return numbers[0], numbers[-1]


def before(diagonal, b):
    """How many rows, and how many columns, the first element of a diagonal has before it."""
    if isinstance(diagonal, int):
        return np.int32(max(-diagonal, 0)), np.int32(max(diagonal, 0))
    return b.MAXIMUM(b.NEG(diagonal), np.int32(0)), b.MAXIMUM(diagonal, np.int32(0))


def length_of(diagonal, rows, columns):
    """How many elements a diagonal of a matrix of known size has."""
    return max(min(rows + min(diagonal, 0), columns - max(diagonal, 0)), 0)


def starts(low, high, rows, columns, align):
    """(diagonal, its length, where it begins in its row) from the highest to the lowest."""
    longest = max(length_of(d, rows, columns) for d in range(low, high + 1))
    for d in range(high, low - 1, -1):
        upper, lower_side = align.split(b"_")
        is_right = (upper if d >= 0 else lower_side) == b"RIGHT"
        length = length_of(d, rows, columns)
        yield d, length, longest - length if is_right else 0


def with_diagonals(x, diagonal, band, row_and_column, align, b):
    """`x`, or a scalar for all other elements, with diagonals in a matrix.

    Args:
        x: the matrix, or what stands outside of the diagonals.
        diagonal: the elements, a row for each diagonal where the band has more than one.
        band: the lowest and the highest diagonal, or twice the tensor with the only one.
        row_and_column: 0, 1, ... for each row, and each column; constants where there is a band.
        align: which end of their rows the diagonals are at.
        b: the builder.
    """
    low, high = band
    rows, columns = row_and_column
    row_numbers = b.EXPAND_DIMS(rows, np.int32(1))
    below = b.SUB(row_numbers, columns)
    if not isinstance(low, int):
        last = b.SUB(dimension(diagonal, diagonal.rank - 1, b), np.int32(1))
        index = b.MINIMUM(b.MINIMUM(row_numbers, columns), last)
        elements = b.GATHER(diagonal, index, axis=diagonal.rank - 1)
        return b.SELECT_V2(b.EQUAL(below, b.NEG(low)), elements, x)
    lines = [(low, 0)]
    if low != high:
        n_rows, n_columns = rows.data.size, columns.data.size
        lines = [(d, start) for d, _, start in starts(low, high, n_rows, n_columns, align)]
    for i, (d, start) in enumerate(lines):
        line = diagonal
        if low != high:
            line = slice_along(diagonal, diagonal.rank - 2, i, 1, b)
            line = b.SQUEEZE(line, squeeze_dims=[diagonal.rank - 2])
        last = b.SUB(dimension(line, line.rank - 1, b), np.int32(1))
        index = b.ADD(columns if d < 0 else rows, np.int32(start))
        shifted_rows = b.GATHER(line, b.MINIMUM(index, last), axis=line.rank - 1)
        shifted_rows = b.EXPAND_DIMS(shifted_rows, np.int32(-2 if d < 0 else -1))
        x = b.SELECT_V2(b.EQUAL(below, np.int32(-d)), shifted_rows, x)
    return x


@lower("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3")
def matrix_diag(node, b):
    """Matrices with some diagonals, and a number elsewhere."""
    diagonal = node.inputs[0]
    if node.type == "MatrixDiag":
        return b.MATRIX_DIAG(diagonal)
    low, high = band_of(node, 1, b)
    n_rows, n_columns = (int(node.constant(i)) for i in (2, 3))
    padding = node.inputs[4]
    if not isinstance(low, int):
        row_and_column = ranges_around(diagonal, low, (n_rows, n_columns), b)
        return with_diagonals(padding, diagonal, (low, high), row_and_column, LEFT, b)
    is_zero = padding.value is not None and not np.any(padding.value)
    if low == high == 0 and n_rows == n_columns == -1 and is_zero:
        return b.MATRIX_DIAG(diagonal)
    longest = node.shape()[-1]
    node.require(longest is not None, "the length of the diagonals must be known")
    least = longest + max(-high, 0), longest + max(low, 0)
    if n_rows == n_columns == -1:
        n_rows = n_columns = max(least)
    n_rows = least[0] if n_rows == -1 else n_rows
    n_columns = least[1] if n_columns == -1 else n_columns
    row_and_column = [b.constant(np.arange(n, dtype=np.int32)) for n in (n_rows, n_columns)]
    align = node.attr("align") if node.type == "MatrixDiagV3" else LEFT
    return with_diagonals(padding, diagonal, (low, high), row_and_column, align, b)


def ranges_around(diagonal, d, sizes, b):
    """0, 1, ... for each row and column of the matrix with `diagonal` at `d`, a tensor.

    -1 is a size that nobody gave: of both, the square's; of one, as many as the diagonal needs.
    """
    length = dimension(diagonal, diagonal.rank - 1, b)
    least = [b.ADD(length, n) for n in before(d, b)]
    if sizes == (-1, -1):
        least = [b.MAXIMUM(*least)] * 2
    ends = [
        n if size == -1 else b.constant(np.int32(size))
        for n, size in zip(least, sizes, strict=True)
    ]
    return [b.RANGE(np.int32(0), end, np.int32(1)) for end in ends]


@lower("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag(node, b):
    """Matrices with some diagonals replaced."""
    x, diagonal = node.inputs[:2]
    band = (0, 0) if node.type == "MatrixSetDiag" else band_of(node, 2, b)
    is_band = band[0] != band[1]
    if band == (0, 0) and node.rank(1) == node.rank() - 1:
        return b.MATRIX_SET_DIAG(x, diagonal)
    sizes = node.shape()[-2:]
    node.require(
        not is_band or None not in sizes, f"its matrices must have known sizes, got {sizes}"
    )
    align = node.attr("align") if node.type == "MatrixSetDiagV3" else LEFT
    if not is_band and node.rank(1) == node.rank():
        diagonal = b.SQUEEZE(diagonal, squeeze_dims=[node.rank() - 2])
    row_and_column = [positions(x, x.rank - k, b) for k in (2, 1)]
    return with_diagonals(x, diagonal, band, row_and_column, align, b)


def rows_joined(x, b):
    """`x` with its last two axes as one."""
    shape = x.dims
    if shape[-2:].count(None) + shape[:-2].count(None) <= 1 or None not in shape[:-2]:
        joined = [-1 if None in shape[-2:] else prod(n or 0 for n in shape[-2:])]
        outer = [-1 if n is None else n for n in shape[:-2]]
        return b.RESHAPE(x, np.array([*outer, *joined], np.int32))
    outer = slice_along(b.SHAPE(x, out_type="INT32"), 0, 0, x.rank - 2, b)
    return b.RESHAPE(x, b.CONCATENATION(outer, np.array([-1], np.int32), axis=0))


def diagonal_of(x, d, b):
    """Diagonal `d` of the matrices in `x`, whose sizes may be unknown."""
    rows, columns = (dimension(x, x.rank - k, b) for k in (2, 1))
    if None not in x.dims[-2:]:
        rows, columns = (b.constant(np.int32(n)) for n in x.dims[-2:])
    n_rows, n_columns = before(d, b)
    length = b.MINIMUM(b.SUB(rows, n_rows), b.SUB(columns, n_columns))
    steps = b.RANGE(np.int32(0), b.MAXIMUM(length, np.int32(0)), np.int32(1))
    first = b.ADD(b.MUL(columns, n_rows), n_columns)
    index = b.ADD(b.MUL(steps, b.ADD(columns, np.int32(1))), first)
    return b.GATHER(rows_joined(x, b), index, axis=x.rank - 2)


@lower("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part(node, b):
    """Some diagonals of matrices, the shorter ones padded."""
    x, rank = node.inputs[0], node.rank()
    if node.type == "MatrixDiagPart":
        return diagonal_of(x, 0, b)
    low, high = band_of(node, 1, b)
    if low == high:
        return diagonal_of(x, low, b)
    sizes = node.shape()[-2:]
    node.require(None not in sizes, f"its matrices must have known sizes, got {sizes}")
    align = node.attr("align") if node.type == "MatrixDiagPartV3" else LEFT
    longest = max(length_of(d, *sizes) for d in range(low, high + 1))
    lines = []
    n_rows, n_columns = sizes
    for d, length, start in starts(low, high, n_rows, n_columns, align):
        pairs = np.zeros((rank - 1, 2), np.int32)
        pairs[-1] = start, longest - length - start
        line = diagonal_of(x, d, b)
        lines.append(b.PADV2(line, pairs, node.inputs[2]) if length < longest else line)
    return b.PACK(*lines, axis=rank - 2, values_count=len(lines))


@lower("Diag")
def diag(node, b):
    """A tensor of twice the rank with `x` on its diagonal."""
    x, shape = node.inputs[0], node.shape()
    node.require(None not in shape or len(shape) == 1, f"its shape must be known, got {shape}")
    if len(shape) == 1:
        return b.MATRIX_DIAG(x)
    return b.RESHAPE(
        b.MATRIX_DIAG(b.RESHAPE(x, np.array([-1], np.int32))), np.array(shape * 2, np.int32)
    )


@lower("DiagPart")
def diag_part(node, b):
    """The diagonal of a tensor whose shape is some shape twice."""
    x, shape = node.inputs[0], node.shape()
    half = shape[: len(shape) // 2]
    node.require(None not in half or len(half) == 1, f"its shape must be known, got {shape}")
    if len(half) == 1:
        return diagonal_of(x, 0, b)
    square = b.RESHAPE(x, np.array([prod(half), prod(half)], np.int32))
    return b.RESHAPE(diagonal_of(square, 0, b), np.array(half, np.int32))


@lower("TridiagonalMatMul")
def tridiagonal_mat_mul(node, b):
    """The matrix of three diagonals, each [..., 1, m], by [..., m, n]."""
    *diagonals, x = node.inputs
    rank, terms = node.rank(3), []
    order = [*range(rank - 2), rank - 1, rank - 2]
    for diagonal, pads in zip(diagonals, ((0, 1), None, (1, 0)), strict=True):
        rows = x
        if pads is not None:
            pairs = np.zeros((rank, 2), np.int32)
            pairs[-2] = pads
            begin = np.zeros(rank, np.int32)
            begin[-2] = pads[1]
            rows = b.SLICE(b.PAD(x, pairs), begin, b.SHAPE(x, out_type="INT32"))
        terms.append(b.MUL(b.TRANSPOSE(diagonal, np.array(order, np.int32)), rows))
    return b.ADD(b.ADD(terms[0], terms[1]), terms[2])
