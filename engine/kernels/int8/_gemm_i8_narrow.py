"""Tiles of products with few columns, where AVX-512 multiplies bytes (_gemm_i8_tile.py).

A vector of 16 columns is too wide for them. Here it has eight, with two sums for each: a row of the
panel has eight bytes of weights for each column, which are multiplied with eight inputs that lie
next to each other, and the two sums of a column are added at the end. Two vectors take turns by two
columns: the sums then come in order from shuffles within 16 bytes, of which processors do twice as
many as of others (`place_of`). As inputs are read for these columns only, they are read where they
lie and made unsigned there, by a `flip`, not gathered first.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import choose, inline, microkernel
from ...build.simd import UNSIGNED
from ...build.vector import BYTE, INT, WORD
from ...tiling import (
    BLOCK_ROWS,
    NARROW_COLUMNS,
    NARROW_DEPTH,
    NARROW_VECTORS,
    PANEL,
    TILE_HEADERS,
)
from .._int32 import SHORT, Integers

_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_EIGHT_TIMES = 0x0101010101010101
_ROWS = (14, 14, 8)
"""Rows of a tile with as many vectors as the place says, from one on."""


@microkernel(types.int64(), inline=True)
def has_narrow(builder, simd):
    """1 if there are such tiles, else 0."""
    return WORD(int(simd.dots == UNSIGNED and simd.width == 2 * NARROW_COLUMNS))


@microkernel(types.int64(types.int64), inline=True)
def narrow_rows(builder, simd, n_vectors):
    """How many rows a tile of so many vectors has."""
    rows = WORD(_ROWS[0])
    for i, height in enumerate(_ROWS[1:], 2):
        rows = builder.select(builder.icmp_signed("==", n_vectors, WORD(i)), WORD(height), rows)
    return rows


@inline
def place_of(column, n_vectors):
    """The place of a column in a row of a panel of so many vectors."""
    if column >= n_vectors // 2 * 2 * NARROW_COLUMNS:
        return column
    block = column // (2 * NARROW_COLUMNS) * 2 * NARROW_COLUMNS
    four, within = (column - block) // 4, column % 4
    return block + within // 2 * NARROW_COLUMNS + 2 * four + within % 2


@microkernel(types.void(*[types.int64] * 5), inline=True)
def copy_eights(builder, simd, source, target, step, count, flip):
    """Copies `count` times eight bytes to places `step` bytes apart, bits turned over."""
    w = Integers(builder, simd)
    source, flip = w.pointer(source), w.mul(flip, _EIGHT_TIMES)
    with w.loop(0, count, 1, [w.pointer(target)]) as (i, values):
        w.write(builder.xor(w.read(source, w.mul(i, NARROW_DEPTH), WORD), flip), values[0])
        values[0] = w.move(values[0], step)


def _flips(w, flip):
    """`flip`, 0 or 0x80, as each byte of a vector of words.

    By products that LLVM does not see through: it would flip eight bytes and then copy them to all
    lanes, which takes the time of a product, where a row can be read and flipped at once.
    """
    pairs = ir.Constant(ir.VectorType(BYTE, w.bytes), [-128, -127] * (w.bytes // 2))
    flips = w.splat(w.builder.trunc(flip, BYTE), BYTE, w.bytes)
    name, i16_pairs = "llvm.x86.avx512.pmaddubs.w.512", ir.VectorType(SHORT, w.bytes // 2)
    return w.builder.bitcast(w.call(name, i16_pairs, [flips, pairs]), w.words())


def _tile_of(n_vectors):
    """The microkernel for so many vectors of columns."""

    def emit(builder, simd, headers, segments, depth, panel, flip, sums):
        if simd.dots != UNSIGNED or simd.width != 2 * NARROW_COLUMNS:
            return
        w, n_rows = Integers(builder, simd), _ROWS[n_vectors - 1]
        headers, begin = w.pointer(headers), w.pointer(panel)
        flips = _flips(w, flip)
        carried = [w.move(begin, _ROW), *_starts(w, begin, n_vectors) * n_rows]
        with w.loop(0, w.mul(segments, _TABLE), _TABLE, carried) as (entry, outer):
            table = w.move(w.move(headers, TILE_HEADERS * _TABLE), entry)
            rows = [w.load_pointer(table, 8 * m) for m in range(n_rows)]
            with w.loop(0, depth, NARROW_DEPTH, outer) as (at, values):
                offsets = range(0, n_vectors * w.bytes, w.bytes)
                weights = [w.read(values[0], offset, w.i32_vector) for offset in offsets]
                for m, row in enumerate(rows):
                    eight = w.splat(w.read(row, at, WORD), WORD, NARROW_COLUMNS)
                    inputs = builder.xor(eight, flips)
                    for i, vector in enumerate(weights, 1 + m * n_vectors):
                        values[i] = w.add_fours(values[i], inputs, vector)
                values[0] = w.move(values[0], n_vectors * w.bytes)
            outer[:] = w.results
        _store(w, w.results[1:], n_vectors, w.move(headers, _TABLE), w.pointer(sums))

    emit.__name__ = f"i8_narrow_tile_{n_vectors}"
    return microkernel(types.void(*[types.int64] * 6))(emit)


def _starts(w, begin, n_vectors):
    """What the sums of a row start from: that of a column in the first of its two lanes."""
    zero, starts = w.splat(0), []
    for v in range(0, n_vectors, 2):
        start = w.read(begin, v * w.bytes // 2, w.i32_vector, 4)
        if v + 1 < n_vectors:
            fours = [range(k, w.width, 4) for k in (0, 2)]
            orders = [[x for i in four for x in (i, w.width, i + 1, w.width)] for four in fours]
        else:
            orders = [[i // 2 if i % 2 == 0 else w.width for i in range(w.width)]]
        starts += [w.shuffle(start, zero, order) for order in orders]
    return starts


def _store(w, pairs, n_vectors, corrections, sums):
    """Stores the sums of rows of vectors, each lane of which is half of a column's."""
    b = w.builder
    fours = [[i, i + 2, w.width + i, w.width + i + 2] for i in range(0, w.width, 4)]
    sides = [[lane + side for four in fours for lane in four] for side in (0, 1)]
    for first in range(0, len(pairs), n_vectors):
        row = pairs[first : first + n_vectors]
        m = first // n_vectors
        correction = w.splat(w.read(corrections, 8 * m, INT, 8))
        for v in range(0, n_vectors, 2):
            two = row[v : v + 2]
            orders = sides if len(two) == 2 else [[*range(i, 2 * w.width, 2)] for i in (0, 1)]
            halves = (w.shuffle(two[0], two[-1], order) for order in orders)
            value = b.add(b.add(*halves), correction)
            w.write(value, sums, m * _ROW + v * w.bytes // 2)


i8_narrow_tile = choose(*(_tile_of(n_vectors) for n_vectors in range(1, NARROW_VECTORS + 1)))
"""The sums of products of a tile, in one vector of columns (0) to three (2).

Arguments: the tables, headers first; how many segments there are; products in each, which are read
in whole eights; the panel; the bits of a byte to turn over in inputs; and where the sums go.
"""
