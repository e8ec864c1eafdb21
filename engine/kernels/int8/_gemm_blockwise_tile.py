"""Tiles of products of quantized rows with weights in blocks, of 4 or 8 bits.

A panel is 32 columns of packed weights: three rows of 32 numbers (_gemm_blockwise_packing.py), and
then block after block. A block has a row of 32 float32 scales (`scaled`) and rows of 128 bytes,
four for each column: of weights of 8 bits those for four inputs, of 4 bits those for eight, the
first four in the low halves. Where the processor multiplies no bytes, the first two bytes of all
columns come first. Weights are stored `offset` more than they are, so that they are unsigned where
the processor multiplies unsigned with signed bytes.

What a tile does before it scales a sum is a chunk: a whole block, or 32 products where sums of
pairs have 16 bits. `starts` have minus `offset` times the sum of the inputs of each chunk of a row.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import choose, microkernel
from ...build.simd import SIGNED, UNSIGNED
from ...build.vector import BYTE, FLOAT, INT, WORD
from ...tiling import HEADER_ROWS, PANEL
from .._int32 import SHORT, Integers

ROW = 4 * PANEL
_LINE = 64
PAIR_CHUNK = 32
"""Products of a chunk where sums of pairs have 16 bits: eight times 2 * 15 * 128 fit."""

_DOTS, _PAIRS, _WIDE = "bytes by fours", "bytes by pairs", "int16 by pairs"
_TILES = {
    (16, _DOTS): (12, 2),
    (16, _WIDE): (12, 2),
    (8, _DOTS): (5, 2),
    (8, _PAIRS): (4, 2),
    (8, _WIDE): (4, 2),
    (4, _DOTS): (8, 2),
    (4, _WIDE): (4, 1),
}
"""Width of a vector and how products are added -> rows, vectors."""
_MOST_SCALED = 6
"""Rows of a tile that scales its sums, where 32 registers have room for these and the totals.

With more rows, totals lie in memory: reading and storing them takes longer than the products.
"""
_ROW_VECTORS = 4
"""Vectors of the tile of one row, at most."""


def _products(simd, bits):
    """How products are added."""
    if simd.dots:
        return _DOTS
    return _PAIRS if bits == 4 and simd.width == 8 else _WIDE


def _offset(simd, bits):
    """What is added to weights."""
    if bits == 4:
        return 8
    return 0x80 if simd.dots == UNSIGNED else 0


def _tile_rows(simd, bits, scaled):
    n_rows = _TILES[simd.width, _products(simd, bits)][0]
    return min(n_rows, _MOST_SCALED) if scaled and simd.registers == 32 else n_rows


def _constant_of(bits, name, number):
    """An inlined microkernel that gives a number of weights of `bits`."""

    def emit(builder, simd):
        return WORD(number(simd, bits))

    emit.__name__ = f"{name}_i{bits}"
    return microkernel(types.int64(), inline=True)(emit)


offset_i4, offset_i8 = (_constant_of(bits, "offset", _offset) for bits in (4, 8))
input_bytes_i4, input_bytes_i8 = (
    _constant_of(bits, "input_bytes", lambda simd, b: 2 if _products(simd, b) == _WIDE else 1)
    for bits in (4, 8)
)
max_chunk_i4, max_chunk_i8 = (
    _constant_of(bits, "max_chunk", lambda simd, b: PAIR_CHUNK * (_products(simd, b) == _PAIRS))
    for bits in (4, 8)
)
"""Products of a chunk; 0 for those of a whole block."""


class _Tile:
    """The instructions of a tile of some rows and vectors."""

    def __init__(self, w, n_rows, n_vectors, bits, scaled):
        self.w, self.n_rows, self.n_vectors = w, n_rows, n_vectors
        self.bits, self.scaled = bits, scaled
        self.products = _products(w.simd, bits)
        self.offset = _offset(w.simd, bits)
        # The sums of one row alone are too few to hide how long a product takes.
        self.sets = 2 if n_rows == 1 and self.products == _DOTS else 1
        self.unroll = 2 if self.sets == 2 and bits == 8 else 1
        self.n_sums = n_rows * n_vectors

    @property
    def total_type(self):
        """What a total is a vector of."""
        return self.w.vector if self.scaled else self.w.i32_vector

    @property
    def keeps_totals(self):
        """Whether the registers have room for the totals."""
        n_values = self.n_sums * self.sets + self.n_rows * self.n_vectors
        return n_values + self.n_vectors * (1 + self.scaled) + 3 <= self.w.simd.registers

    def weights(self, pointer):
        """What some rows of a panel have for the inputs, four or two at a time: lists of vectors.

        `pointer` is where the first vector of the first row begins.
        """
        rows = [self.w.move(pointer, i * ROW) for i in range(self.unroll)]
        if self.products == _WIDE:
            rows = [self.w.move(row, half * ROW // 2) for row in rows for half in range(2)]
        parts = [self._row_weights(row) for row in rows]
        if self.bits == 4 and self.products == _WIDE:  # the low halves of all come first
            return [part[k] for k in range(2) for part in parts]
        return [four for part in parts for four in part]

    def _row_weights(self, pointer):
        w, n = self.w, (2 if self.products == _WIDE else 4) * self.w.width
        kind = ir.VectorType(BYTE, n)
        vectors = [w.read(pointer, v * n, kind, 4) for v in range(self.n_vectors)]
        if self.bits == 8:
            parts = [vectors]
        else:
            low, pairs = w.splat(0x0F, BYTE, n), ir.VectorType(SHORT, n // 2)
            upper = [w.builder.bitcast(v, pairs) for v in vectors]
            upper = [w.builder.lshr(v, w.splat(4, SHORT, n // 2)) for v in upper]
            upper = [w.builder.bitcast(v, kind) for v in upper]
            parts = [[w.builder.and_(v, low) for v in part] for part in (vectors, upper)]
        if self.products != _WIDE:
            return parts
        extend = w.builder.zext if self.bits == 4 else w.builder.sext
        return [[extend(v, ir.VectorType(SHORT, n)) for v in part] for part in parts]

    @property
    def at_once(self):
        """How many inputs are multiplied at a time."""
        return 2 if self.products == _WIDE else 4

    def inputs(self, row, at):
        """The inputs from the one `at` on, as what is multiplied with weights."""
        w = self.w
        if self.products != _WIDE:
            return w.splat(w.read(row, at, INT))
        return w.builder.bitcast(w.splat(w.read(row, w.mul(at, 2), INT)), self._pairs())

    def _pairs(self):
        return ir.VectorType(SHORT, 2 * self.w.width)

    def add(self, total, weights, inputs):
        """`total` with the products added."""
        w = self.w
        if self.products == _DOTS:
            if w.simd.dots == SIGNED:
                return w.add_fours(total, inputs, weights)
            return w.add_fours(total, weights, inputs)  # here the weights are the unsigned ones
        if self.products == _WIDE:
            return w.add_pairs(total, weights, inputs)
        kind = weights.type
        pairs = [weights, w.builder.bitcast(inputs, kind)]
        products = w.call("llvm.x86.avx2.pmadd.ub.sw", self._pairs(), pairs)
        return w.builder.add(total, products)

    def zeros(self):
        """Sums of nothing, of all rows and vectors."""
        kind = self._pairs() if self.products == _PAIRS else self.w.i32_vector
        return [ir.Constant(kind, None)] * self.n_sums

    def begin(self, starts):
        """What the sums of a chunk start from."""
        if self.products != _DOTS or not self.offset:
            return self.zeros() * self.sets
        per_row = self.n_vectors
        first = [start for start in starts for _ in range(per_row)]
        return first + self.zeros() * (self.sets - 1)

    def finished(self, sums, starts):
        """The sums of a chunk as int32, of all rows and vectors."""
        w, b = self.w, self.w.builder
        if self.products == _DOTS:
            if self.sets == 1:
                return sums
            return [b.add(*pair) for pair in zip(*self._in_sets(sums), strict=True)]
        if self.products == _PAIRS:
            ones = w.splat(1, SHORT, 2 * w.width)
            name = "llvm.x86.avx2.pmadd.wd"
            totals = [w.call(name, w.i32_vector, [value, ones]) for value in sums]
        else:
            totals = sums
        if not self.offset:
            return totals
        rows = [start for start in starts for _ in range(self.n_vectors)]
        return [b.add(*pair) for pair in zip(totals, rows, strict=True)]

    def _in_sets(self, sums):
        return [sums[i * self.n_sums : (i + 1) * self.n_sums] for i in range(self.sets)]

    def totalled(self, totals, sums, scales):
        """`totals` with the sums of a chunk added, which `scales` has the scales of."""
        w = self.w
        if not self.scaled:
            return [w.builder.add(*pair) for pair in zip(totals, sums, strict=True)]
        values = [w.builder.sitofp(value, w.vector) for value in sums]
        factors = scales * self.n_rows
        return [w.fma(*three) for three in zip(factors, values, totals, strict=True)]


_SIGNATURE = types.void(*[types.int64] * 11)


def _tile(builder, simd, n_rows, n_vectors, bits, scaled, arguments):
    """Writes the tile; `_tile_of` says what it does."""
    q, q_pitch, count, starts, starts_pitch, panel, depth, block, chunk, sums, ahead = arguments
    w = Integers(builder, simd)
    tile = _Tile(w, n_rows, n_vectors, bits, scaled)
    last = builder.sub(count, WORD(1))
    rows, row_starts = [], []
    for m in range(n_rows):  # those beyond the last repeat it
        number = WORD(m)
        if m:
            is_past = builder.icmp_signed(">", number, last)
            number = builder.select(is_past, last, number)
        rows.append(w.move(w.pointer(q), w.mul(q_pitch, number)))
        row_starts.append(w.move(w.pointer(starts), w.mul(starts_pitch, number)))
    places = [(m * ROW, v * w.bytes) for m in range(n_rows) for v in range(n_vectors)]
    header = w.move(w.pointer(panel), HEADER_ROWS * ROW)
    none = [ir.Constant(tile.total_type, None)] * len(places)
    with w.loop(0, ROW, n_vectors * w.bytes) as (column, _):
        target = w.move(w.pointer(sums), column)

        def load(totals):
            if tile.keeps_totals:
                return totals
            return [w.read(target, m + v, tile.total_type, 4) for m, v in places]

        def store(totals, is_end=False):
            if not tile.keeps_totals or is_end:
                for (m, v), value in zip(places, totals, strict=True):
                    w.write(value, target, m + v)
            return totals if tile.keeps_totals else []

        carried = [header, WORD(0), *store(none)]
        with w.loop(0, depth, block, carried) as (at, outer):
            scales = []
            if scaled:
                row = w.move(outer[0], column)
                scales = [w.load(row, v * w.bytes) for v in range(n_vectors)]
                outer[0] = w.move(outer[0], ROW)
            end = builder.add(at, block)
            with w.loop(at, end, chunk, outer) as (begin, values):
                shifts = []
                if tile.offset:
                    shifts = [w.splat(w.read(row, values[1], INT, 4)) for row in row_starts]
                values[1] = w.add(values[1], 4)
                stop = builder.add(begin, chunk)
                skip = builder.lshr(column, WORD(int(tile.at_once == 2)))
                start = [values[0], *tile.begin(shifts)]
                values[0], chunk_sums = _chunk(tile, rows, (begin, stop), (skip, ahead), start)
                results = tile.finished(chunk_sums, shifts)
                values[2:] = store(tile.totalled(load(values[2:]), results, scales))
            outer[:] = w.results
        if tile.keeps_totals:
            store(w.results[2:], is_end=True)


def _chunk(tile, rows, bounds, offsets, start):
    """The address behind the weights of a chunk, and its sums; `start` has both at first.

    `offsets` are where the columns begin in a row of the panel, and what is fetched ahead.
    """
    skip, ahead = offsets
    w, step = tile.w, tile.unroll * 32 // tile.bits
    with w.loop(*bounds, step, start) as (at, values):
        for i, vectors in enumerate(tile.weights(w.move(values[0], skip))):
            first = 1 + i % tile.sets * tile.n_sums
            for m, row in enumerate(rows):
                inputs = tile.inputs(row, w.add(at, tile.at_once * i) if i else at)
                for k, vector in enumerate(vectors, first + m * len(vectors)):
                    values[k] = tile.add(values[k], vector, inputs)
        nbytes = tile.unroll * ROW
        following = w.move(values[0], ahead)
        for line in range(0, nbytes if tile.n_rows > 1 else 0, _LINE):  # one row reads on at once
            w.prefetch(w.move(following, line))
        values[0] = w.move(values[0], nbytes)
    return w.results[0], w.results[1:]


def _rows_of_parts(simd, bits, scaled):
    """How many rows the tiles have: one, a third, two thirds and all."""
    n_rows = _tile_rows(simd, bits, scaled)
    return [1, -(-n_rows // 3), -(-2 * n_rows // 3), n_rows]


_PARTS = 4


def _tile_of(bits, scaled, part):
    """The microkernel of one of the tiles: the sums of a whole panel for some rows.

    Arguments: the first row of inputs; bytes from row to row; how many rows; what the first row's
    sums start from, and bytes from row to row; the panel; how many products; those of a block, and
    of a chunk; where the totals go, in rows of a panel's width: float32 of what is scaled, else
    int32; and how far behind what is read lies what is fetched ahead.
    """

    def emit(builder, simd, *arguments):
        n_rows = _rows_of_parts(simd, bits, scaled)[part]
        vectors = _TILES[simd.width, _products(simd, bits)][1]
        if n_rows == 1:
            vectors = min(_ROW_VECTORS, PANEL // simd.width)
        _tile(builder, simd, n_rows, vectors, bits, scaled, arguments)

    emit.__name__ = f"i{bits}_{'blocks' if scaled else 'channels'}_{part}"
    return microkernel(_SIGNATURE)(emit)


def _part_for(bits, scaled):
    """The microkernel that gives the number of the tile for so many rows."""

    def emit(builder, simd, n_rows):
        number = WORD(_PARTS - 1)
        for i, rows in reversed(list(enumerate(_rows_of_parts(simd, bits, scaled)))):
            is_enough = builder.icmp_signed("<=", n_rows, WORD(rows))
            number = builder.select(is_enough, WORD(i), number)
        return number

    emit.__name__ = f"part_for_i{bits}_{'blocks' if scaled else 'channels'}"
    return microkernel(types.int64(types.int64), inline=True)(emit)


def _rows_of(bits, scaled):
    """The microkernel that gives the rows of a whole tile."""
    kind = "blocks" if scaled else "channels"
    return _constant_of(bits, f"rows_{kind}", lambda simd, bits: _tile_rows(simd, bits, scaled))


_KINDS = (4, True), (8, True), (4, False)
rows_i4_blocks, rows_i8_blocks, rows_i4_channels = (_rows_of(*kind) for kind in _KINDS)
part_for_i4_blocks, part_for_i8_blocks, part_for_i4_channels = (_part_for(*kind) for kind in _KINDS)
tile_i4_blocks, tile_i8_blocks, tile_i4_channels = (
    choose(*(_tile_of(*kind, part) for part in range(_PARTS))) for kind in _KINDS
)


@microkernel(types.void(*[types.int64] * 8, types.float32, types.float32))
def finish_blocks(builder, simd, *arguments):
    """Stores results of scaled totals: (total - zero * sums of weights) * scale of row + bias.

    Arguments: the totals; how many rows; the panel; where results go, and bytes from row to row;
    columns to be written; the scales and the zero points of the rows; and the limits.
    """
    _finish(builder, simd, True, *arguments)


@microkernel(types.void(*[types.int64] * 8, types.float32, types.float32))
def finish_channels(builder, simd, *arguments):
    """What `finish_blocks` does, for sums of int32, times a scale of the column."""
    _finish(builder, simd, False, *arguments)


def _finish(builder, simd, scaled, *arguments):
    sums, n_rows, panel, out, pitch, columns, row_scales, row_zeros, low, high = arguments
    w = Integers(builder, simd)
    sums, panel, out = w.pointer(sums), w.pointer(panel), w.pointer(out)
    row_scales, row_zeros = w.pointer(row_scales), w.pointer(row_zeros)
    limits = [w.repeat(low), w.repeat(high)]

    def store(v, mask):
        kind = w.vector if scaled else w.i32_vector
        at = v * w.bytes
        weights, scale, bias = (
            w.read(panel, row * ROW + at, row_type, 4)
            for row, row_type in enumerate((kind, w.vector, w.vector))
        )
        with w.loop(0, n_rows, 1) as (m, _):
            total = w.read(w.move(sums, w.mul(m, ROW)), at, kind, 4)
            of_row = w.mul(m, 4)
            zero = w.splat(w.read(row_zeros, of_row, INT, 4))
            factor = w.repeat(w.load(row_scales, of_row, FLOAT))
            if scaled:
                zero = builder.sitofp(zero, w.vector)
                value = builder.fsub(total, builder.fmul(zero, weights))
            else:
                value = builder.sub(total, builder.mul(zero, weights))
                value, factor = builder.sitofp(value, w.vector), w.mul(factor, scale)
            value = w.clamp(w.add(w.mul(value, factor), bias), *limits)
            target = w.move(out, w.add(w.mul(m, pitch), at))
            if mask is None:
                w.store(value, target)
            else:
                w.store_masked(value, target, mask)

    for v in range(PANEL // w.width):
        n_columns = builder.sub(columns, WORD(v * w.width))
        with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
            is_whole = builder.icmp_signed(">=", n_columns, WORD(w.width))
            with builder.if_else(is_whole) as (every_column, first_columns):
                with every_column:
                    store(v, None)
                with first_columns:
                    store(v, w.mask(n_columns))


@microkernel(types.void(*[types.int64] * 3))
def widen_bytes(builder, simd, source, target, count):
    """Writes `count` signed bytes, a multiple of 32, as int16, from the first one on.

    They may lie in the second half of where they go.
    """
    w = Integers(builder, simd)
    source, target = w.pointer(source), w.pointer(target)
    with w.loop(0, count, 16) as (at, _):
        value = w.read(source, at, ir.VectorType(BYTE, 16))
        w.write(builder.sext(value, ir.VectorType(SHORT, 16)), target, w.mul(at, 2))
