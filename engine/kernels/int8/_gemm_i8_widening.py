"""Rows of bytes as int16, for tiles where the processor multiplies no bytes (_gemm_i8_tile.py).

A tile reads its rows once for every few columns. Where they are widened before that, each four
inputs take it an instruction less. A row of a block has one segment after the other, each filled up
with zeros to whole fours.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import inline, microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import BLOCK_ROWS, TILE_HEADERS
from .._int32 import SHORT, Integers
from ._gemm_i8_tile import tile_rows_of

_TABLE = 8 * BLOCK_ROWS
_LINE = 64


@microkernel(types.int64(), inline=True)
def has_blocks(builder, simd):
    """Whether tiles read blocks."""
    return WORD(int(not simd.dots))


@inline
def padded_depth(segments, depth):
    """How many products a row has when each segment is filled up to whole fours."""
    return segments * ((depth + 3) // 4) * 4


@inline
def as_segments(segments, depth):
    """(segments, products in each) as a tile reads them: a row of a block is one segment."""
    return (1, padded_depth(segments, depth)) if has_blocks() else (segments, depth)


@inline
def block_pitch(segments, depth):
    """Bytes between rows of a block, which lie in different places of the nearest cache.

    0 where there are none.
    """
    return has_blocks() * _LINE * ((2 * padded_depth(segments, depth) + _LINE - 1) // _LINE | 1)


@microkernel(types.void(*[types.int64] * 6))
def widen_block(builder, simd, headers, segments, depth, block, pitch, n_rows):
    """Gathers the rows of a tile's tables in a block, and points the first table to them.

    Where `depth` is less than four, there are other bytes before. The last row stands for those
    beyond.
    """
    if simd.dots:
        return
    w = Integers(builder, simd)
    count = 2 * w.width
    table, begin = w.move(w.pointer(headers), TILE_HEADERS * _TABLE), w.pointer(block)
    whole, even = builder.and_(depth, WORD(-count)), builder.and_(depth, WORD(-4))
    n_last = builder.sub(depth, even)
    shift = builder.trunc(w.mul(builder.sub(WORD(4), n_last), 8), INT)

    def write(value, target, at):
        value = builder.bitcast(value, ir.VectorType(BYTE, 4)) if value.type == INT else value
        shorts = builder.sext(value, ir.VectorType(SHORT, value.type.count))
        w.write(shorts, target, w.mul(at, 2))

    with w.loop(0, n_rows, 1, [begin]) as (m, rows):
        row_tables = w.move(table, w.mul(m, 8))
        with w.loop(0, w.mul(segments, _TABLE), _TABLE, rows) as (entry, values):
            source, target = w.load_pointer(w.move(row_tables, entry)), values[0]
            with w.loop(0, whole, count) as (at, _):
                write(w.read(source, at, ir.VectorType(BYTE, count)), target, at)
            with w.loop(whole, even, 4) as (at, _):
                write(w.read(source, at, INT), target, at)
            with builder.if_then(builder.icmp_signed(">", n_last, WORD(0))):
                last = w.read(source, builder.sub(depth, WORD(4)), INT)
                write(builder.lshr(last, shift), target, even)
            padded = builder.and_(builder.add(depth, WORD(3)), WORD(-4))
            values[0] = w.move(target, w.mul(padded, 2))
        rows[0] = w.move(rows[0], pitch)
    last = builder.sub(n_rows, WORD(1))
    for m in range(tile_rows_of(simd)):
        is_row = builder.icmp_signed("<", WORD(m), last)
        row = w.mul(builder.select(is_row, WORD(m), last), pitch)
        w.write(w.add(block, row), table, 8 * m)
