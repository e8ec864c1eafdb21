"""The innermost part of products of 8-bit integers: a tile of sums held in registers.

Tables, panels and tiles are as in _gemm_f32_tile.py, with four products in the place of one: a row
of a panel has four bytes of weights for each of its columns, one for each of four inputs that lie
next to each other. Before them is a row of int32 that sums start from. Where the processor
multiplies no bytes, the first two weights of each column of a vector come before the other two, so
that a vector of sums takes pairs of products.

Weights are signed bytes. Where the processor multiplies signed bytes, inputs are too, and lie where
the tables say. Four are read at once, the last of a row with those before them: where rows have
fewer, there must be others before the first.

Elsewhere the rows are gathered first, once for all columns (_gemm_i8_block.py): as unsigned bytes,
`input_offset` more than they are, where the processor multiplies unsigned with signed bytes, and as
int16 where it multiplies no bytes, as the weights are when a tile reads them.

To each row of results its zero-point `correction` is added: minus the sum of its inputs times the
zero point of the weights.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.simd import SIGNED, UNSIGNED
from ...build.vector import BYTE, INT, WORD
from ...tiling import BLOCK_ROWS, PANEL, TILE_HEADERS
from .._int32 import Integers
from ..float32._gemm_f32_tile import PARTS

_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_TILES = {
    (16, UNSIGNED): (14, 2),
    (16, ""): (14, 2),
    (8, UNSIGNED): (6, 2),
    (8, ""): (6, 2),
    (4, SIGNED): (8, 2),
    (4, ""): (4, 2),
}
"""Width of a vector and what it multiplies -> rows, vectors."""


def i8_group_vectors(simd):
    """How many vectors of columns become results together: of a tile, or of all of a panel."""
    return tile_shape(simd)[1] if simd.dots else PANEL // simd.width


def tile_rows_of(simd):
    """How many rows a tile has."""
    return tile_shape(simd)[0]


def tile_shape(simd):
    """Rows of a tile, and vectors of columns."""
    return _TILES[simd.width, simd.dots]


@microkernel(types.int64(), inline=True)
def i8_rows(builder, simd):
    """How many rows a tile has."""
    return WORD(tile_shape(simd)[0])


@microkernel(types.int64(), inline=True)
def i8_columns(builder, simd):
    """How many columns a tile has."""
    return WORD(tile_shape(simd)[1] * simd.width)


@microkernel(types.int64(), inline=True)
def i8_group(builder, simd):
    """How many columns become results together."""
    return WORD(i8_group_vectors(simd) * simd.width)


@microkernel(types.int64(), inline=True)
def input_offset(builder, simd):
    """What is added to inputs, which tiles read as unsigned bytes then."""
    return WORD(0x80 if simd.dots == UNSIGNED else 0)


class Tile:
    """The instructions of a tile with some rows and vectors of sums.

    Four products for each sum are added in one step where bytes are multiplied, else in two.
    """

    def __init__(self, w, n_rows, n_vectors):
        self.w, self.n_rows, self.n_vectors = w, n_rows, n_vectors
        self.dots = w.simd.dots
        self.steps = range(1 if self.dots else 2)

    def weights(self, pointer, step):
        """Weights of a step from a row of a panel on, by vector."""
        w = self.w
        starts = [v * w.bytes for v in range(self.n_vectors)]
        if self.dots:
            return [w.read(pointer, start, w.i32_vector, 4) for start in starts]
        kind = ir.VectorType(BYTE, 2 * w.width)
        offset = step * w.bytes // 2
        values = [w.read(pointer, start + offset, kind, 4) for start in starts]
        return [w.builder.sext(value, w.i16_pairs) for value in values]

    def read(self, row, at, step):
        """The inputs of a step from the one `at` on, as they lie in a row."""
        w = self.w
        if self.dots:
            return w.read(row, at, INT)
        return w.read(w.move(row, 4 * step), w.mul(at, 2), INT)

    def inputs(self, word):
        """Inputs as what is multiplied with weights."""
        value = self.w.splat(word)
        return value if self.dots else self.w.builder.bitcast(value, self.w.i16_pairs)

    def add(self, sums, weights, inputs):
        """`sums` with the products added."""
        if self.dots:
            return self.w.add_fours(sums, inputs, weights)
        return self.w.add_pairs(sums, weights, inputs)

    def step(self, values, inputs_of):
        """Four products more for each sum: `values` has the address of the weights and one of
        elsewhere, then the sums; `inputs_of(row, step)` is what `read` gives.
        """
        for step in self.steps:
            weights = self.weights(values[0], step)
            for m in range(self.n_rows):
                inputs = self.inputs(inputs_of(m, step))
                for i, vector in enumerate(weights, 2 + m * len(weights)):
                    values[i] = self.add(values[i], vector, inputs)
        values[0] = self.w.move(values[0], _ROW)

    def start(self, begin, corrections):
        """What the sums start from: rows, vectors."""
        rows = [self.begin(begin, corrections, m) for m in range(self.n_rows)]
        return [value for row in rows for value in row]

    def begin(self, begin, corrections, m):
        """What is added to the sums of row m, by vectors."""
        w = self.w
        correction = w.splat(w.read(corrections, 8 * m, INT, 8))
        starts = [w.read(begin, v * w.bytes, w.i32_vector, 4) for v in range(self.n_vectors)]
        return [w.builder.add(value, correction) for value in starts]


_SIGNATURE = types.void(*[types.int64] * 6)


def sums_of_tile(tile, headers, segments, depth, begin, ahead, start):
    """The sums of a tile by rows, which begin with `start`; arguments as `i8_tile` has them."""
    w = tile.w
    carried = [w.move(begin, _ROW), w.pointer(ahead), *start]
    with w.loop(0, w.mul(segments, _TABLE), _TABLE, carried) as (entry, outer):
        table = w.move(w.move(headers, TILE_HEADERS * _TABLE), entry)
        rows = [w.load_pointer(table, 8 * m) for m in range(tile.n_rows)]

        def step(values, inputs_of):
            w.prefetch(values[1])
            tile.step(values, lambda m, part: inputs_of(rows[m], part))
            values[1] = w.move(values[1], _ROW // 2)

        if tile.dots == SIGNED:
            _in_fours(w, depth, outer, step)
        else:
            with w.loop(0, depth, 4, outer) as (at, values):
                step(values, lambda row, part: tile.read(row, at, part))
        outer[:] = w.results
    return w.results[2:]


def _tile(builder, simd, n_rows, n_vectors, arguments):
    """Writes the tile with `n_rows` rows of `n_vectors` vectors; `i8_tile` says what it does."""
    headers, segments, depth, panel, ahead, sums = arguments
    w = Integers(builder, simd)
    tile = Tile(w, n_rows, n_vectors)
    headers, begin = w.pointer(headers), w.pointer(panel)
    start = tile.start(begin, w.move(headers, _TABLE))
    target = w.pointer(sums)
    results = sums_of_tile(tile, headers, segments, depth, begin, ahead, start)
    for i, value in enumerate(results):
        m, v = divmod(i, n_vectors)
        w.write(value, target, m * _ROW + v * w.bytes)


def _in_fours(w, depth, carried, step):
    """Runs `step(values, inputs_of)` for the inputs of a segment, `carried` at first.

    `inputs_of(row, 0)` is an int32: four inputs of the row that begins there. The last ones are
    read with those before them, and zeros stand for those that are missing.
    """
    b = w.builder
    fours_end = b.and_(depth, WORD(-4))
    n_last = b.sub(depth, fours_end)
    shift = b.trunc(w.mul(b.sub(WORD(4), n_last), 8), INT)
    has_last = b.zext(b.icmp_signed("!=", n_last, WORD(0)), WORD)
    with w.loop(0, fours_end, 4, carried) as (at, values):
        step(values, lambda row, _: w.read(row, at, INT))
    with w.loop(0, has_last, 1, w.results) as (_, values):
        last = b.sub(depth, WORD(4))
        step(values, lambda row, _: b.lshr(w.read(row, last, INT), shift))


@microkernel(_SIGNATURE)
def i8_tile(builder, simd, *arguments):
    """The sums of products of a tile.

    Arguments: the tables, headers first; how many segments there are; products in each, of int16
    whole fours; the panel's row of what sums start from; an address from where to fetch ahead; and
    where the sums go, in rows of a panel's width.
    """
    _tile(builder, simd, *tile_shape(simd), arguments)


@microkernel(_SIGNATURE)
def i8_partial_tile(builder, simd, *arguments):
    """What `i8_tile` does, for one vector of columns."""
    _tile(builder, simd, tile_shape(simd)[0], 1, arguments)


def _part_of_tile(fourteenths):
    """What `i8_tile` does, for the first rows: `fourteenths` of 14, rounded up."""

    def emit(builder, simd, *arguments):
        n_rows, n_vectors = tile_shape(simd)
        _tile(builder, simd, -(-n_rows * fourteenths // 14), n_vectors, arguments)

    emit.__name__ = f"i8_part_{fourteenths}"
    return microkernel(_SIGNATURE)(emit)


i8_part_4, i8_part_7, i8_part_10 = (_part_of_tile(n) for n in PARTS)


@microkernel(types.int64(types.int64), inline=True)
def i8_part_for(builder, simd, n_rows):
    """The number of the microkernel for so many rows: 0, 1, 2 for the parts, 3 for a whole tile."""
    number, tile_height = WORD(len(PARTS)), tile_shape(simd)[0]
    for i, fourteenths in reversed(list(enumerate(PARTS))):
        enough = builder.icmp_signed("<=", n_rows, WORD(-(-tile_height * fourteenths // 14)))
        number = builder.select(enough, WORD(i), number)
    return number


@microkernel(types.void(*[types.int64] * 5))
def corrections(builder, simd, headers, segments, depth, zero_point, n_rows):
    """Fills the table of corrections of a tile of `n_rows` rows; the last one's stands to the end.

    `zero_point` is that of the weights.
    """
    w = Integers(builder, simd)
    headers, end = w.pointer(headers), w.mul(n_rows, 8)
    add = _add_dots if simd.dots else _add_bytes
    with w.loop(0, end, 8, [INT(0)]) as (row, last):
        table = w.move(w.move(headers, TILE_HEADERS * _TABLE), row)
        with w.loop(0, w.mul(segments, _TABLE), _TABLE, [w.splat(0)]) as (entry, sums):
            sums[0] = add(w, sums[0], w.load_pointer(w.move(table, entry)), depth)
        total = w.call(f"llvm.vector.reduce.add.v{w.width}i32", INT, w.results)
        last[0] = builder.mul(total, builder.sub(INT(0), builder.trunc(zero_point, INT)))
        w.write(last[0], w.move(w.move(headers, _TABLE), row))
    last = builder.zext(w.results[0], WORD)  # whole words: LLVM would scatter their halves
    with w.loop(end, 8 * tile_shape(simd)[0], 8) as (row, _):
        w.write(last, w.move(w.move(headers, _TABLE), row))


def _add_dots(w, sums, begin, depth):
    """`sums` with those of `depth` bytes added."""
    b = w.builder
    ones = ir.Constant(w.i32_vector, [0x01010101] * w.width)
    vector_end, fours = b.and_(depth, WORD(-w.bytes)), b.and_(depth, WORD(-4))
    with w.loop(0, vector_end, w.bytes, [sums]) as (at, inner):
        inner[0] = w.add_fours(inner[0], ones, w.read(w.move(begin, at), 0, w.i32_vector))
    with w.loop(vector_end, fours, w.bytes, w.results) as (at, inner):
        mask = w.mask(b.lshr(b.sub(fours, at), WORD(2)))
        inner[0] = w.add_fours(inner[0], ones, _read_words(w, w.move(begin, at), mask))
    with w.loop(fours, depth, 4, w.results) as (at, inner):
        last = w.read(w.move(begin, b.sub(depth, WORD(4))), 0, INT)
        shift = w.mul(b.sub(WORD(4), b.sub(depth, fours)), 8)
        last = b.insert_element(w.splat(0), b.lshr(last, b.trunc(shift, INT)), INT(0))
        inner[0] = w.add_fours(inner[0], ones, last)
    return w.results[0]


def _add_bytes(w, sums, begin, depth):
    """`sums` with those of `depth` bytes added."""
    b = w.builder
    vector_end = b.and_(depth, WORD(-w.width))
    with w.loop(0, vector_end, w.width, [sums]) as (at, inner):
        values = w.read(w.move(begin, at), 0, w.i8_vector)
        inner[0] = b.add(inner[0], b.sext(values, w.i32_vector))
    with w.loop(vector_end, depth, 1, w.results) as (at, inner):
        values = b.sext(w.read(w.move(begin, at), 0, BYTE), INT)
        inner[0] = b.add(inner[0], b.insert_element(w.splat(0), values, INT(0)))
    return w.results[0]


def _read_words(w, pointer, mask):
    """A vector of int32 of which only the places of `mask` are read; the others are 0."""
    name = f"llvm.masked.load.v{w.width}i32.p0"
    return w.call(name, w.i32_vector, [pointer, INT(1), mask, w.splat(0)])
