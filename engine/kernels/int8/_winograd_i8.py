"""The inner loops of winograd_i8.py."""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import PANEL, TILE_LANES
from .._int32 import SHORT, Integers
from .._winograd import (
    columns_of,
    left_result,
    matrices_of,
    right_result,
    rows_of_tile,
    transform_tile,
)
from ..float32._gemm_f32_tile import PARTS
from ..int16._gemm_i16_tile import i16_shape

_ROW = 4 * PANEL


@microkernel(types.void(*[types.int64] * 5))
def transform_inputs(builder, simd, tables, channels, zero, out, pitch):
    """The transformed inputs of a tile, less their zero point.

    Arguments: the tables of the four rows, from the tile's first column on; how many channels, a
    multiple of TILE_LANES; the zero point; where the first matrix has the tile, and the bytes from
    one matrix to the next.
    """
    w, b = Integers(builder, simd), builder
    columns, matrices = columns_of(w, tables), matrices_of(w, out, pitch)
    i8_lanes, i16_lanes = ir.VectorType(BYTE, TILE_LANES), ir.VectorType(SHORT, TILE_LANES)
    # The zero point is in all sixteen inputs: only one of their sums has it, four times.
    fourfold = w.splat(b.trunc(w.mul(zero, 4), SHORT), SHORT, TILE_LANES)
    with w.loop(0, channels, TILE_LANES) as (at, _):
        target_offset = w.mul(at, 2)

        def row(i):
            return [b.sext(w.read(pointer, at, i8_lanes), i16_lanes) for pointer in columns[i]]

        def put(i, values):
            if i == 1:
                values[1] = b.sub(values[1], fourfold)
            for j, value in enumerate(values):
                w.write(value, matrices[4 * i + j], target_offset)

        transform_tile(row, b.add, b.sub, put)


def _product(fourteenths):
    """What adds the products of the first rows: `fourteenths` of 14, rounded up."""

    def emit(builder, simd, a, a_pitch, last_row, pairs, weights, out, out_pitch):
        height, n_vectors = i16_shape(simd)
        n_rows = -(-height * fourteenths // 14)
        w, b = Integers(builder, simd), builder
        kind = ir.VectorType(SHORT, 2 * w.width)
        rows, targets = [], []
        for m in range(n_rows):  # those beyond the last repeat it
            row = b.select(b.icmp_signed("<", WORD(m), last_row), WORD(m), last_row)
            rows.append(w.move(w.pointer(a), b.mul(row, a_pitch)))
            targets.append(w.move(w.pointer(out), b.mul(row, out_pitch)))
        carried = [w.pointer(weights), *[w.splat(0)] * (n_rows * n_vectors)]
        with w.loop(0, w.mul(pairs, 4), 4, carried) as (at, values):
            vectors = [w.read(values[0], v * w.bytes, kind, 4) for v in range(n_vectors)]
            for m, row in enumerate(rows):
                inputs = b.bitcast(w.splat(w.read(row, at, INT, 4)), kind)
                for i, vector in enumerate(vectors, 1 + m * n_vectors):
                    values[i] = w.add_pairs(values[i], vector, inputs)
            values[0] = w.move(values[0], n_vectors * w.bytes)
        for i, value in enumerate(w.results[1:]):
            m, v = divmod(i, n_vectors)
            w.write(value, targets[m], v * w.bytes)

    emit.__name__ = f"product_{fourteenths}"
    return microkernel(types.void(*[types.int64] * 7))(emit)


product_4, product_7, product_10, product = (_product(n) for n in (*PARTS, 14))
"""Sums of products of rows of int16 with a column of weights for each lane.

Arguments: the first row, and bytes to the next; the number of the last row; pairs of products; the
weights, pairs of each column side by side; where the first row of sums goes, and bytes to the next.
"""


@microkernel(types.void(*[types.int64] * 4))
def transform_sums(builder, simd, sums, pitch, start, out):
    """The sums of the four results of a tile, of a panel of channels: rows of int32.

    Arguments: where the first matrix has them, and bytes from one matrix to the next; what sums
    start from; and where they go: lower right, lower left, upper right, upper left.
    """
    w, b = Integers(builder, simd), builder
    matrices, start, out = matrices_of(w, sums, pitch), w.pointer(start), w.pointer(out)
    two = w.splat(2)
    with w.loop(0, _ROW, w.bytes) as (at, _):

        def element(i, j):
            return w.read(matrices[4 * i + j], at, w.i32_vector, 4)

        upper, lower = rows_of_tile(element, b.add, b.sub)
        first = w.read(start, at, w.i32_vector, 4)
        for i, row in ((0, lower), (2, upper)):
            values = right_result(row, b.sub), left_result(row, b.add)
            for k, value in enumerate(values, i):  # filters are four times as large
                w.write(b.add(b.ashr(value, two), first), out, w.add(at, k * _ROW))
