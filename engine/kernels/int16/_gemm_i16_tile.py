"""The innermost part of products of int16 with bytes: a tile of sums held in registers.

Tables, panels and tiles are as in _gemm_f32_tile.py, with two products in the place of one: a row
of a panel has two weights for each of its columns, for two inputs that lie next to each other.
int32 has room for the sums of CHAIN products; those of more go on as int64 in memory, `totals`:
rows of a panel's width, of each vector the sums of even columns before those of odd ones.

Results are (sum * factor + start) >> shift in int64. These three are the `terms`, int64
[blocks, TERMS] that families/gemm_i16.py makes, a row for each BLOCK channels.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import BLOCK_ROWS, PANEL
from .._int32 import SHORT, Integers
from ..float32._gemm_f32_tile import PARTS
from ..int8._requantize import offset_of

CHAIN = 510
"""Products of int16 and int8 whose sum is an int32, whatever they are; even."""
PAIRS = 2 * PANEL
"""Bytes of a row of a panel."""
TOTALS = 8 * PANEL
"""Bytes of a row of totals."""
_TABLE = 8 * BLOCK_ROWS
_TILES = {16: (14, 2), 8: (6, 2), 4: (4, 2)}  # width of a vector -> rows, vectors

# Bytes from the start of a block to numbers of channels 0, 2, 4 ... and of 1, 3, 5 ...
_FACTORS, _STARTS, _SHIFTS = (0, 64), (128, 192), (256, 320)


def i16_shape(simd):
    """Rows and vectors of a tile."""
    return _TILES[simd.width]


@microkernel(types.int64(), inline=True)
def i16_rows(builder, simd):
    """How many rows a tile has."""
    return WORD(_TILES[simd.width][0])


@microkernel(types.int64(), inline=True)
def i16_columns(builder, simd):
    """How many columns a tile has."""
    return WORD(_TILES[simd.width][1] * simd.width)


def halves(w, sums):
    """int32 as int64: those of even places, those of odd ones."""
    words = w.builder.bitcast(sums, w.words())
    return w.low_halves(words), w.builder.ashr(words, w.splat(32, WORD, w.width // 2))


class Epilogue:
    """What makes results of the sums of a vector of channels."""

    def __init__(self, w, terms, v, low, high):
        self.w, at = w, offset_of(w, v)
        self.factors, self.starts, self.shifts = (
            [w.read(terms, at + offset, w.words(), 8) for offset in offsets]
            for offsets in (_FACTORS, _STARTS, _SHIFTS)
        )
        self.limits = w.splat(w.builder.trunc(low, INT)), w.splat(w.builder.trunc(high, INT))
        self.int64_limits = tuple(w.splat(limit, WORD, w.width // 2) for limit in (low, high))

    def from_int32(self, sums):
        """Results of int32 sums, which are int32 before they are held within the limits."""
        w, b = self.w, self.w.builder
        factors = [w.low_halves(factor) for factor in self.factors]
        values = [b.bitcast(v, w.i32_vector) for v in self._shifted(halves(w, sums), factors)]
        lanes = [i if i % 2 == 0 else w.width + i - 1 for i in range(w.width)]
        value = w.clamp_int(w.shuffle(*values, lanes), *self.limits)
        return b.trunc(value, ir.VectorType(SHORT, w.width))

    def from_int64(self, pair):
        """Results of int64 sums of even and of odd channels."""
        w, kind = self.w, ir.VectorType(SHORT, self.w.width // 2)
        values = (
            w.clamp_int(value, *self.int64_limits) for value in self._shifted(pair, self.factors)
        )
        return _merged(w, *(w.builder.trunc(value, kind) for value in values))

    def int32(self, pair):
        """The sums as int32, with what they start from."""
        kind = ir.VectorType(INT, self.w.width // 2)
        return _merged(self.w, *(self.w.builder.trunc(v, kind) for v in self._started(pair)))

    def int64(self, pair):
        """The sums as int64, with what they start from."""
        return _merged(self.w, *self._started(pair))

    def _shifted(self, pair, factors):
        b = self.w.builder
        products = self._started(b.mul(*pairs) for pairs in zip(pair, factors, strict=True))
        return [b.ashr(*pairs) for pairs in zip(products, self.shifts, strict=True)]

    def _started(self, pair):
        return [self.w.builder.add(*pairs) for pairs in zip(pair, self.starts, strict=True)]


def _merged(w, even, odd):
    half = w.width // 2
    return w.shuffle(even, odd, [i // 2 + half * (i % 2) for i in range(w.width)])


_SIGNATURE = types.void(*[types.int64] * 13)


def _tile(builder, simd, n_rows, n_vectors, arguments):
    """Writes the tile with `n_rows` rows of `n_vectors` vectors; `i16_tile` says what it does."""
    tables, segments, skip, depth, panel, ahead, totals = arguments[:7]
    w = Integers(builder, simd)
    pairs_end = w.mul(builder.lshr(depth, WORD(1)), 4)
    i8_pairs, pairs = ir.VectorType(BYTE, 2 * w.width), ir.VectorType(SHORT, 2 * w.width)
    tables = w.pointer(tables)

    def step(values, two_inputs):
        starts = range(0, 2 * n_vectors * w.width, 2 * w.width)
        weights = [builder.sext(w.read(values[0], at, i8_pairs, 2), pairs) for at in starts]
        for m in range(n_rows):
            inputs = builder.bitcast(w.splat(two_inputs(m)), pairs)
            for i, vector in enumerate(weights, 2 + m * n_vectors):
                values[i] = w.add_pairs(values[i], vector, inputs)
        values[0] = w.move(values[0], PAIRS)

    carried = [w.pointer(panel), w.pointer(ahead), *[w.splat(0)] * (n_rows * n_vectors)]
    with w.loop(0, w.mul(segments, _TABLE), _TABLE, carried) as (entry, outer):
        table = w.move(tables, entry)
        rows = [w.move(w.load_pointer(table, 8 * m), skip) for m in range(n_rows)]
        with w.loop(0, pairs_end, 4, outer) as (at, inner):
            w.prefetch(inner[1])
            step(inner, lambda m: w.read(rows[m], at, INT, 2))
            inner[1] = w.move(inner[1], PAIRS // 2)
        with w.loop(0, builder.and_(depth, WORD(1)), 1, w.results) as (_, inner):
            step(inner, lambda m: builder.zext(w.read(rows[m], pairs_end, SHORT, 2), INT))
        outer[:] = w.results
    values = w.results[2:]
    with builder.if_else(builder.icmp_signed("!=", totals, WORD(0))) as (unfinished, finished):
        with unfinished:
            _add_to_totals(w, values, n_vectors, w.pointer(totals))
        with finished:
            _finish(w, values, n_vectors, arguments[7:])


def _add_to_totals(w, values, n_vectors, totals):
    for i, value in enumerate(values):
        m, v = divmod(i, n_vectors)
        for k, half in enumerate(halves(w, value)):
            at = m * TOTALS + (2 * v + k) * w.bytes
            w.write(w.builder.add(w.read(totals, at, w.words(), 8), half), totals, at)


def _finish(w, values, n_vectors, arguments):
    targets, out_skip, columns, terms, low, high = arguments
    terms, targets = w.pointer(terms), w.pointer(targets)
    results = []
    for v in range(n_vectors):
        epilogue = Epilogue(w, terms, v, low, high)
        results += [(i // n_vectors, v, epilogue.from_int32(values[i])) for i in
                    range(v, len(values), n_vectors)]  # fmt: skip
    n_rows = len(values) // n_vectors
    rows = [w.move(w.load_pointer(targets, 8 * m), out_skip) for m in range(n_rows)]
    is_full = w.builder.icmp_signed(">=", columns, WORD(n_vectors * w.width))
    with w.builder.if_else(is_full) as (every_column, first_columns):
        with every_column:
            for m, v, value in results:
                w.write(value, rows[m], 2 * v * w.width)
        with first_columns:
            for m, v, value in results:
                mask = w.mask(w.builder.sub(columns, WORD(v * w.width)))
                w.write_masked(value, w.move(rows[m], 2 * v * w.width), mask)


@microkernel(_SIGNATURE)
def i16_tile(builder, simd, *arguments):
    """The sums of a tile added to totals, or its results.

    Arguments: the tables of the inputs; how many segments there are; bytes to skip in each;
    products in each; the address of the first weights; an address from where to fetch ahead; the
    totals, 0 if the sums are to become results, and then: the table of these; bytes to skip there;
    how many columns are to be written; their terms; and the lowest and the highest result.
    """
    _tile(builder, simd, *_TILES[simd.width], arguments)


@microkernel(_SIGNATURE)
def i16_partial_tile(builder, simd, *arguments):
    """What `i16_tile` does, for one vector of columns."""
    _tile(builder, simd, _TILES[simd.width][0], 1, arguments)


def _part_of_tile(fourteenths):
    """What `i16_tile` does, for the first rows: `fourteenths` of 14, rounded up."""

    def emit(builder, simd, *arguments):
        n_rows, n_vectors = _TILES[simd.width]
        _tile(builder, simd, -(-n_rows * fourteenths // 14), n_vectors, arguments)

    emit.__name__ = f"i16_part_{fourteenths}"
    return microkernel(_SIGNATURE)(emit)


i16_part_4, i16_part_7, i16_part_10 = (_part_of_tile(n) for n in PARTS)


@microkernel(types.int64(types.int64), inline=True)
def i16_part_for(builder, simd, n_rows):
    """The number of the microkernel for so many rows: 0, 1, 2 for the parts, 3 for a whole tile."""
    number, tile_height = WORD(len(PARTS)), _TILES[simd.width][0]
    for i, fourteenths in reversed(list(enumerate(PARTS))):
        enough = builder.icmp_signed("<=", n_rows, WORD(-(-tile_height * fourteenths // 14)))
        number = builder.select(enough, WORD(i), number)
    return number


@microkernel(types.void(types.int64), inline=True)
def clear_totals(builder, simd, totals):
    """Sets the totals of a tile to 0."""
    w = Integers(builder, simd)
    totals = w.pointer(totals)
    with w.loop(0, _TILES[simd.width][0] * TOTALS, w.bytes) as (at, _):
        w.write(w.splat(0), totals, at)


def store_rows(w, terms, limits, result, n_vectors, nbytes, n_rows, targets, out_skip, columns):
    """Stores `result(epilogue, row, vector)`, of `nbytes` bytes each, in the rows of a table."""
    targets = w.pointer(targets)
    for v in range(n_vectors):
        n_columns = w.builder.sub(columns, WORD(v * w.width))
        with w.builder.if_then(w.builder.icmp_signed(">", n_columns, WORD(0))):
            mask, epilogue = w.mask(n_columns), Epilogue(w, w.pointer(terms), v, *limits)
            with w.loop(0, n_rows, 1) as (m, _):
                target = w.move(w.load_pointer(targets, w.mul(m, 8)), out_skip)
                w.write_masked(result(epilogue, m, v), w.move(target, v * w.width * nbytes), mask)


def _totals_writer(make, nbytes):
    """What writes a microkernel that stores `make(epilogue, pair)`, of `nbytes` bytes each."""

    def emit(builder, simd, totals, n_rows, targets, out_skip, columns, terms, low, high):
        w = Integers(builder, simd)
        totals = w.pointer(totals)

        def result(epilogue, m, v):
            row = w.move(totals, w.add(w.mul(m, TOTALS), 2 * v * w.bytes))
            return make(epilogue, [w.read(row, at, w.words(), 8) for at in (0, w.bytes)])

        n_vectors, arguments = _TILES[simd.width][1], (n_rows, targets, out_skip, columns)
        store_rows(w, terms, (low, high), result, n_vectors, nbytes, *arguments)

    return emit


def _epilogue_microkernel(name, make, nbytes):
    emit = _totals_writer(make, nbytes)
    emit.__name__ = name
    return microkernel(types.void(*[types.int64] * 8))(emit)


# Arguments: the totals; how many rows; and those of i16_tile from the table of results on.
int16_of_totals = _epilogue_microkernel("int16_of_totals", Epilogue.from_int64, 2)
int32_of_totals = _epilogue_microkernel("int32_of_totals", Epilogue.int32, 4)
int64_of_totals = _epilogue_microkernel("int64_of_totals", Epilogue.int64, 8)
