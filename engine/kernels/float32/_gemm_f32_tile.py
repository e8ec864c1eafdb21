"""The innermost part of matrix products and convolutions: a tile of results held in registers.

Weights are packed in panels of PANEL columns: a row of bias, then, for each `tile_columns()` of
them, a row for each product. A tile has `tile_rows()` results times that many columns. Where its
rows begin in the input is said by tables of addresses with BLOCK_ROWS entries for each segment, a
run of inputs that lie next to each other.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import FLOAT, INT, POINTER, WORD, Writer
from ...tiling import BLOCK_ROWS, PANEL

ROW = 4 * PANEL  # bytes of a row of a panel
_TABLE = 8 * BLOCK_ROWS  # bytes of a table
_TILES = {(16, 32): (14, 2), (8, 16): (6, 2), (4, 32): (6, 4), (4, 16): (4, 2)}
"""Width and number of the vector registers -> rows and vectors of a tile."""
_LARGEST = 3.4028234663852886e38  # of finite float32
_NARROW_ROWS = {16: 11, 8: 8, 4: 8}
"""Width of the vector registers -> rows of a tile of one vector.

More sums wait for each other less, but with more rows than these some addresses are not in
registers, and each product reads one more.
"""


def shape(simd):
    """Rows and vectors of a tile: as many as the registers hold beside weights and inputs."""
    return _TILES[simd.width, simd.registers]


@microkernel(types.int64(), inline=True)
def tile_rows(builder, simd):
    """How many rows a tile has."""
    return WORD(shape(simd)[0])


PARTS = (4, 7, 10)
"""Fourteenths of the rows of a tile that tiles for the last rows of a product have, rounded up."""


def part_heights(height):
    """Rows of these, fewest first, where a whole tile has `height`; some may be alike."""
    return [-(-height * fourteenths // 14) for fourteenths in PARTS]


def narrow_height(simd):
    """Rows of a tile of one vector where the whole product is that narrow."""
    return _NARROW_ROWS[simd.width]


@microkernel(types.int64(), inline=True)
def narrow_rows(builder, simd):
    """How many rows a tile of one vector has where the whole product is that narrow."""
    return WORD(narrow_height(simd))


@microkernel(types.int64(), inline=True)
def vector_width(builder, simd):
    """How many columns a partial tile has."""
    return WORD(simd.width)


@microkernel(types.int64(), inline=True)
def tile_columns(builder, simd):
    """How many columns a tile has."""
    return WORD(shape(simd)[1] * simd.width)


_SIGNATURE = types.void(*[types.int64] * 11, types.float32, types.float32, types.int64)


class Totals:
    """Sums of a tile: those of a chain in registers, the totals before it in memory.

    `start` is where the totals lie, `step` the bytes between their rows: at first it is the bias,
    which all rows share.
    """

    def __init__(self, w, n_rows, n_vectors, sums):
        self.w, self.n_rows, self.n_vectors, self.sums = w, n_rows, n_vectors, w.pointer(sums)

    def added(self, values, start, step):
        """The values with the totals added."""
        w, totals = self.w, []
        for i, value in enumerate(values):
            m, v = divmod(i, self.n_vectors)
            if m and not v:
                start = w.move(start, step)
            totals.append(w.add(value, w.load(start, v * w.bytes)))
        return totals

    def store(self, values):
        """Makes the values totals."""
        for i, value in enumerate(values):
            m, v = divmod(i, self.n_vectors)
            self.w.store(value, self.sums, m * ROW + v * self.w.bytes)

    def flushed(self, condition, start, step, values):
        """(start, step, values) after the values have become totals where `condition` holds."""
        builder, before = self.w.builder, self.w.builder.block
        with builder.if_then(condition):
            self.store(self.added(values, start, step))
            inside = builder.block
        merged = []
        changed = [self.sums, WORD(ROW), *[self.w.zero()] * len(values)]
        for old, new in zip([start, step, *values], changed, strict=True):
            phi = builder.phi(old.type)
            phi.add_incoming(old, before)
            phi.add_incoming(new, inside)
            merged.append(phi)
        return merged[0], merged[1], merged[2:]


def _tile(builder, simd, n_rows, n_vectors, arguments):
    """Writes the tile with `n_rows` rows of `n_vectors` vectors; `tile` says what it does."""
    rows, segments, depth, chain, per_chain, bias, weights, out, out_skip, columns, sums = (
        arguments[:11]
    )
    row_bytes = 4 * simd.width * shape(simd)[1]
    w = Writer(builder, simd)
    totals = Totals(w, n_rows, n_vectors, sums)
    end, chain = w.mul(depth, 4), w.mul(chain, 4)
    last_segment = w.mul(builder.sub(segments, WORD(1)), _TABLE)
    table = w.pointer(rows)
    carried = [w.pointer(weights), w.pointer(arguments[-1]), per_chain, w.pointer(bias), WORD(0)]
    carried += [w.zero()] * (n_rows * n_vectors)
    with w.loop(0, w.mul(segments, _TABLE), _TABLE, carried) as (entry, outer):
        segment_table = w.move(table, entry)
        begins = [w.load_pointer(segment_table, 8 * m) for m in range(n_rows)]
        with w.loop(0, end, chain, outer) as (begin, state):
            chain_end = builder.add(begin, chain)
            is_end = builder.icmp_signed(">=", chain_end, end)
            chain_end = builder.select(is_end, end, chain_end)
            with w.loop(begin, chain_end, 4, [*state[:2], *state[5:]]) as (at, inner):
                weights, next_weights = inner[:2]
                w.prefetch(next_weights)
                vectors = [w.load(weights, v * w.bytes) for v in range(n_vectors)]
                for m in range(n_rows):
                    x = w.repeat(w.load(begins[m], at, FLOAT))
                    for v, vector in enumerate(vectors):
                        i = 2 + m * n_vectors + v
                        inner[i] = w.fma(x, vector, inner[i])
                inner[:2] = [w.move(weights, row_bytes), w.move(next_weights, row_bytes // 2)]
            left, start, step = builder.sub(state[2], WORD(1)), *state[3:5]
            is_last = builder.and_(is_end, builder.icmp_signed("==", entry, last_segment))
            is_full = builder.icmp_signed("==", left, WORD(0))
            is_full = builder.and_(is_full, builder.not_(is_last))
            values = w.results[2:]
            state[:2] = w.results[:2]
            state[3], state[4], state[5:] = totals.flushed(is_full, start, step, values)
            state[2] = builder.select(is_full, per_chain, left)
        outer[:] = w.results
    values = totals.added(w.results[5:], *w.results[3:5])
    table = w.pointer(out)
    targets = [w.move(w.load_pointer(table, 8 * m), out_skip) for m in range(n_rows)]
    finish(w, values, targets, columns, *arguments[11:13])


def finish(w, values, targets, columns, low, high):
    """Stores the first `columns` results of each row at its target."""
    values = _clamped(w, values, low, high)
    n_vectors = len(values) // len(targets)
    is_full = w.builder.icmp_signed(">=", columns, WORD(n_vectors * w.width))
    with w.builder.if_else(is_full) as (every_column, first_columns):
        with every_column:
            _store(w, values, targets, None)
        with first_columns:
            n_columns = [w.builder.sub(columns, WORD(v * w.width)) for v in range(n_vectors)]
            _store(w, values, targets, [w.mask(count) for count in n_columns])


def _clamped(w, values, low, high):
    """The values within the limits; as they are if these are those of finite numbers, and all are.

    Their sum, of one addition for each where limits take two instructions, is finite then.
    """
    builder, before = w.builder, w.builder.block
    sums = values
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        sums = [w.add(*pair) for pair in pairs] + ([sums[-1]] if len(sums) % 2 else [])
    is_far = builder.fcmp_unordered("uno", builder.fsub(sums[0], sums[0]), w.zero())
    lanes = ir.IntType(w.width)
    is_any_far = builder.icmp_unsigned("!=", builder.bitcast(is_far, lanes), lanes(0))
    is_narrow = builder.or_(
        builder.fcmp_ordered(">", low, FLOAT(-_LARGEST)),
        builder.fcmp_ordered("<", high, FLOAT(_LARGEST)),
    )
    with builder.if_then(builder.or_(is_any_far, is_narrow)):
        limits = w.repeat(low), w.repeat(high)
        limited = [w.clamp(value, *limits) for value in values]
        inside = builder.block
    merged = []
    for value, other in zip(values, limited, strict=True):
        phi = builder.phi(w.vector)
        phi.add_incoming(value, before)
        phi.add_incoming(other, inside)
        merged.append(phi)
    return merged


def _store(w, values, targets, masks):
    n_vectors = len(values) // len(targets)
    for m, target in enumerate(targets):
        for v in range(n_vectors):
            value, at = values[m * n_vectors + v], v * w.bytes
            if masks is None:
                w.store(value, target, at)
            else:
                w.store_masked(value, target, masks[v], at)


@microkernel(_SIGNATURE)
def tile(builder, simd, *arguments):
    """out = clamp(start + sums of products) for a tile.

    Arguments: the tables of addresses of the inputs; how many segments; products in each; products
    of a chain, and how many such are in one; the addresses of the bias and of the weights; the
    table of addresses of the results, bytes to skip there, and how many columns are to be written;
    where totals may lie; the limits; and an address from where to fetch ahead.
    """
    n_rows, n_vectors = shape(simd)
    _tile(builder, simd, n_rows, n_vectors, arguments)


@microkernel(_SIGNATURE)
def partial_tile(builder, simd, *arguments):
    """What `tile` does, for one vector of columns."""
    _tile(builder, simd, shape(simd)[0], 1, arguments)


@microkernel(_SIGNATURE)
def narrow_tile(builder, simd, *arguments):
    """What `partial_tile` does, for `narrow_rows` rows."""
    _tile(builder, simd, narrow_height(simd), 1, arguments)


def _part_of_tile(i):
    """What `tile` does, for the first rows only: as PARTS[i] says."""

    def emit(builder, simd, *arguments):
        n_rows, n_vectors = shape(simd)
        _tile(builder, simd, part_heights(n_rows)[i], n_vectors, arguments)

    emit.__name__ = f"part_{PARTS[i]}"
    return microkernel(_SIGNATURE)(emit)


part_4, part_7, part_10 = map(_part_of_tile, range(len(PARTS)))


@microkernel(types.int64(types.int64), inline=True)
def part_for(builder, simd, n_rows):
    """The number of the microkernel for so many rows: 0, 1, 2 for the parts, 3 for a whole tile."""
    number = WORD(len(PARTS))
    for i, height in reversed(list(enumerate(part_heights(shape(simd)[0])))):
        enough = builder.icmp_signed("<=", n_rows, WORD(height))
        number = builder.select(enough, WORD(i), number)
    return number


def _entries(simd):
    """Entries of a table that a tile may read: its rows, and what a vector has more."""
    return 4 * -(-max(shape(simd)[0], narrow_height(simd)) // 4)


def _block_entries(simd):
    return BLOCK_ROWS


@microkernel(types.int64(), inline=True)
def tile_entries(builder, simd):
    """Entries of a table that a tile may read."""
    return WORD(_entries(simd))


@microkernel(types.int64(), inline=True)
def block_entries(builder, simd):
    """Entries of a whole table."""
    return WORD(BLOCK_ROWS)


def _pointing(entries, name):
    """`point` for tables of `entries(simd)`."""

    def emit(builder, simd, table, begin, step, n_rows):
        vectors = _Int64Vector(builder, entries(simd))
        row = vectors.minimum(vectors.indices(), builder.sub(n_rows, WORD(1)))
        rows = builder.mul(row, vectors.repeat(step))
        vectors.store(builder.add(vectors.repeat(begin), rows), table)

    emit.__name__ = name
    emit.__doc__ = """Fills a table: row m begins at `begin + m * step`.

    Rows beyond `n_rows` are like the last.
    """
    return microkernel(types.void(*[types.int64] * 4), inline=True)(emit)


def _pointing_lines(entries, name):
    """`point_lines` for tables of `entries(simd)`."""

    def emit(builder, simd, table, begin, step, n_rows, n_first, next_begin):
        vectors = _Int64Vector(builder, entries(simd))
        row = vectors.minimum(vectors.indices(), builder.sub(n_rows, WORD(1)))
        is_first = builder.icmp_signed("<", row, vectors.repeat(n_first))
        next_begin = builder.sub(next_begin, builder.mul(n_first, step))
        start = builder.select(is_first, vectors.repeat(begin), vectors.repeat(next_begin))
        vectors.store(builder.add(start, builder.mul(row, vectors.repeat(step))), table)

    emit.__name__ = name
    emit.__doc__ = (
        """`point` whose rows from `n_first` on begin at `next_begin`, steps apart, too."""
    )
    return microkernel(types.void(*[types.int64] * 6), inline=True)(emit)


def _pointing_tap(entries, name):
    """`point_tap` for tables of `entries(simd)`."""

    def emit(builder, simd, table, pixels, offset, down, right, height, width, padding):
        vectors = _Int64Vector(builder, entries(simd))
        begin, y, x = (vectors.load(pixels, i) for i in range(3))
        y, x = builder.add(y, vectors.repeat(down)), builder.add(x, vectors.repeat(right))
        inside = builder.and_(
            builder.icmp_unsigned("<", y, vectors.repeat(height)),
            builder.icmp_unsigned("<", x, vectors.repeat(width)),
        )
        begin = builder.add(begin, vectors.repeat(offset))
        vectors.store(builder.select(inside, begin, vectors.repeat(padding)), table)

    emit.__name__ = name
    emit.__doc__ = """Fills the table of one tap of a filter.

    `pixels` are three tables: addresses, rows and columns of the input under the first tap. The
    tap is `down` rows and `right` columns further, `offset` bytes in all; where that is outside the
    input, the row begins at `padding`.
    """
    return microkernel(types.void(*[types.int64] * 8), inline=True)(emit)


@microkernel(types.void(*[types.int64] * 3), inline=True)
def point_shifted(builder, simd, table, pixels, offset):
    """`point_tap` where no tap is outside the input."""
    vectors = _Int64Vector(builder, _block_entries(simd))
    vectors.store(builder.add(vectors.load(pixels, 0), vectors.repeat(offset)), table)


point, tile_point = _pointing(_block_entries, "point"), _pointing(_entries, "tile_point")
point_lines = _pointing_lines(_block_entries, "point_lines")
tile_point_lines = _pointing_lines(_entries, "tile_point_lines")
point_tap = _pointing_tap(_block_entries, "point_tap")
tile_point_tap = _pointing_tap(_entries, "tile_point_tap")


@microkernel(types.void(types.int64, types.int64, types.int64), inline=True)
def put(builder, simd, table, i, value):
    """table[i] = value"""
    w = Writer(builder, simd)
    w.store(value, w.move(w.pointer(table), w.mul(i, 8)))


class _Int64Vector:
    """The first entries of tables as vectors of int64."""

    def __init__(self, builder, n):
        self.builder, self.kind, self._n = builder, ir.VectorType(WORD, n), n

    def indices(self):
        return ir.Constant(self.kind, list(range(self._n)))

    def repeat(self, value):
        undefined = ir.Constant(self.kind, ir.Undefined)
        first_lane = self.builder.insert_element(undefined, value, INT(0))
        order = ir.Constant(ir.VectorType(INT, self._n), [0] * self._n)
        return self.builder.shuffle_vector(first_lane, undefined, order)

    def minimum(self, value, limit):
        limit = self.repeat(limit)
        return self.builder.select(self.builder.icmp_signed("<", value, limit), value, limit)

    def load(self, address, i):
        pointer = self.builder.inttoptr(self.builder.add(address, WORD(_TABLE * i)), POINTER)
        value = self.builder.load(pointer, typ=self.kind)
        value.align = 8
        return value

    def store(self, value, address):
        self.builder.store(value, self.builder.inttoptr(address, POINTER)).align = 8
