"""Rows of inputs gathered in a block, as tiles read them (_gemm_i8_tile.py).

A tile reads its rows once for every few columns. What is done to them before that is done once: a
row of a block has one segment after the other, each filled up to whole fours, as unsigned bytes or
as int16.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import inline, microkernel
from ...build.simd import SIGNED
from ...build.vector import BYTE, INT, WORD
from ...tiling import BLOCK_ROWS, TILE_HEADERS
from .._int32 import SHORT, Integers
from ._gemm_i8_tile import tile_rows_of

_TABLE = 8 * BLOCK_ROWS
_LINE = 64
_SIGN = 0x80
_FLAT_DEPTH = 512


@microkernel(types.int64(), inline=True)
def block_item_bytes(builder, simd):
    """How many bytes of a block an input takes; 0 if tiles read inputs where they lie."""
    if simd.dots == SIGNED:
        return WORD(0)
    return WORD(1 if simd.dots else 2)


@inline
def padded_depth(segments, depth):
    """How many products a row has when each segment is filled up to whole fours."""
    return segments * ((depth + 3) // 4) * 4


@inline
def as_segments(segments, depth, in_place):
    """(segments, products in each) as a tile reads them: a row of a block is one segment.

    There are no blocks if tiles read inputs where they lie, `in_place`.
    """
    if in_place or block_item_bytes() == 0:
        return segments, depth
    return 1, padded_depth(segments, depth)


@inline
def block_pitch(segments, depth, in_place):
    """Bytes between rows of a block, which lie in different places of the nearest cache.

    0 where there are none.
    """
    size = 0 if in_place else block_item_bytes() * padded_depth(segments, depth)
    return _LINE * ((size + _LINE - 1) // _LINE | 1) if size else 0


@inline
def flat_pitch(depth, width, pitch):
    """Bytes between rows of a block that is copied at once from a matrix; 0 if it is not to be.

    It is if the rows, of `width` inputs, have none that are not read, and no more than a few lines:
    longer ones would lie in the same places of the nearest cache. `pitch` is that of `block_pitch`.
    """
    is_flat = pitch > 0 and width == depth and depth % 4 == 0 and depth <= _FLAT_DEPTH
    return depth * block_item_bytes() if is_flat else 0


@microkernel(types.void(*[types.int64] * 6))
def gather_rows(builder, simd, headers, segments, depth, block, pitch, n_rows):
    """Gathers the rows of a tile's tables in a block, and points the first table to them.

    Where `depth` is less than four, there are other bytes before. The last row stands for those
    beyond. A line beyond the block may be written.
    """
    if simd.dots == SIGNED:
        return
    w = Integers(builder, simd)
    table, begin = w.move(w.pointer(headers), TILE_HEADERS * _TABLE), w.pointer(block)
    copy = _copy_masked if simd.dots and w.bytes == _LINE else _copy
    padded = w.mul(builder.and_(builder.add(depth, WORD(3)), WORD(-4)), 1 if simd.dots else 2)
    with w.loop(0, n_rows, 1, [begin]) as (m, rows):
        row_tables = w.move(table, w.mul(m, 8))
        with w.loop(0, w.mul(segments, _TABLE), _TABLE, rows) as (entry, values):
            copy(w, w.load_pointer(w.move(row_tables, entry)), values[0], depth)
            values[0] = w.move(values[0], padded)
        rows[0] = w.move(rows[0], pitch)
    last = builder.sub(n_rows, WORD(1))
    for m in range(tile_rows_of(simd)):
        is_row = builder.icmp_signed("<", WORD(m), last)
        row = w.mul(builder.select(is_row, WORD(m), last), pitch)
        w.write(w.add(block, row), table, 8 * m)


@microkernel(types.void(*[types.int64] * 3))
def as_block(builder, simd, source, block, count):
    """Copies `count` inputs, whole fours, as tiles read them; a line beyond may be written."""
    if simd.dots == SIGNED:
        return
    w = Integers(builder, simd)
    copy = _copy_masked if simd.dots and w.bytes == _LINE else _copy
    copy(w, w.pointer(source), w.pointer(block), count)


def _copy_masked(w, source, target, depth):
    """Copies a segment a line at a time; what is written beyond it is written over later."""
    kind, mask_bits = ir.VectorType(BYTE, _LINE), ir.VectorType(ir.IntType(1), _LINE)
    b, signs = w.builder, w.splat(_SIGN, BYTE, _LINE)
    lines_end = b.and_(depth, WORD(-_LINE))
    with w.loop(0, lines_end, _LINE) as (at, _):
        w.write(b.xor(w.read(source, at, kind), signs), target, at)
    n_last = b.sub(depth, lines_end)
    with b.if_then(b.icmp_signed(">", n_last, WORD(0))):
        mask = b.bitcast(b.sub(b.shl(WORD(1), n_last), WORD(1)), mask_bits)
        value = w.read_masked(w.move(source, lines_end), kind, mask)
        w.write(b.xor(value, signs), target, lines_end)


def _copy(w, source, target, depth):
    """Copies a segment by vectors, and then by fours."""
    b, count = w.builder, w.bytes if w.simd.dots else 2 * w.width
    vector_end, even = b.and_(depth, WORD(-count)), b.and_(depth, WORD(-4))
    n_last = b.sub(depth, even)
    shift = b.trunc(w.mul(b.sub(WORD(4), n_last), 8), INT)

    def write(value, at):
        value = b.bitcast(value, ir.VectorType(BYTE, 4)) if value.type == INT else value
        n = value.type.count
        if w.simd.dots:
            w.write(b.xor(value, w.splat(_SIGN, BYTE, n)), target, at)
        else:
            w.write(b.sext(value, ir.VectorType(SHORT, n)), target, w.mul(at, 2))

    with w.loop(0, vector_end, count) as (at, _):
        write(w.read(source, at, ir.VectorType(BYTE, count)), at)
    with w.loop(vector_end, even, 4) as (at, _):
        write(w.read(source, at, INT), at)
    with b.if_then(b.icmp_signed(">", n_last, WORD(0))):
        last = w.read(source, b.sub(depth, WORD(4)), INT)
        write(b.lshr(last, shift), even)
