"""What becomes of a tile's sums (_gemm_i8_tile.py, _gemm_i8_amx.py) that lie in memory.

They are rows of a panel's width. To those of whole
panels (_gemv_i8.py, AMX) the correction of a row is yet to be added.
"""

import math

from numba import types

from ...build.kernel import microkernel
from ...build.vector import FLOAT, INT, WORD
from ...tiling import BLOCK_ROWS, CHANNEL_BLOCK, PANEL
from .._int32 import Integers
from ._gemm_i8_tile import i8_group_vectors
from ._requantize import QUICK, RECTIFIED, Requantizer, each_rounding, offset_of

ROW, TABLE = 4 * PANEL, 8 * BLOCK_ROWS
FLOAT32_TERMS = 32
"""Numbers that turn sums of CHANNEL_BLOCK channels into float32: scales, then biases."""
_INT8 = types.void(*[types.int64] * 11)
_FLOAT32 = types.void(*[types.int64] * 9, types.float32, types.float32)


@microkernel(_INT8)
def int8_of_tile_sums(builder, simd, *arguments):
    """Stores a tile's sums as bytes, with any rounding.

    Arguments: the sums; how many rows; the tables; bytes to skip in the results; columns to be
    written; their terms; the kind of rounding, and its limits.
    """
    _int8(builder, simd, i8_group_vectors(simd), False, *arguments)


@microkernel(_INT8)
def int8_of_panel_sums(builder, simd, *arguments):
    """What `int8_of_tile_sums` does, for sums of a whole panel without their correction."""
    _int8(builder, simd, PANEL // simd.width, True, *arguments)


def _int8(builder, simd, n_vectors, correction, *arguments):
    sums, n_rows, headers, out_skip, columns, terms, rounding, *limits = arguments
    w = Integers(builder, simd)
    rows = _Rows(w, sums, n_rows, headers, out_skip, correction)
    terms = w.pointer(terms)
    with each_rounding(w, rounding) as roundings:
        for kind in roundings:
            vectors = [_Int8(w, kind, terms, limits) for _ in range(n_vectors)]
            rows.store(vectors, columns, unrolled=kind in (QUICK, RECTIFIED))


class _Int8:
    """A vector of sums as bytes."""

    nbytes = 1

    def __init__(self, w, *arguments):
        self.w, self.arguments = w, arguments

    def load(self, v):
        """Makes ready for the vector after `v` others."""
        kind, terms, limits = self.arguments
        self.is_quick = kind in (QUICK, RECTIFIED)
        self.requantizer = Requantizer(self.w, kind, terms, offset_of(self.w, v), limits)

    def of_row(self, entry):
        """What the vectors of a row share: nothing."""
        return ()

    def make(self, sums):
        """The results of a row."""
        return self.requantizer.bytes(sums)

    @staticmethod
    def make_block(vectors, sums):
        """The results of four vectors, which are all of a row, or half or one of a few rows."""
        w = vectors[0].w
        requantizers = [vector.requantizer for vector in vectors] * (len(sums) // len(vectors))
        values = [each.int32(value) for each, value in zip(requantizers, sums, strict=True)]
        return requantizers[0].limited(w.block_in_order(w.saturated_bytes(values)))


class _Float32:
    """A vector of sums as float32: sum * (scale of the row * scale) + bias, within limits if any.

    From the sums, which start from the sums of the weights, the row's zero point and `more` times
    these is taken off first: one, and what was added to the inputs.
    """

    nbytes = 4

    def __init__(self, w, *arguments):
        self.w, self.arguments = w, arguments

    def load(self, v):
        """Makes ready for the vector after `v` others."""
        w = self.w
        terms, start, self.to_zero, more, *limits = self.arguments
        block, within = divmod(v * w.width, CHANNEL_BLOCK)
        offset = 4 * (FLOAT32_TERMS * block + within)
        self.scale = w.load(terms, offset)
        self.bias = w.load(terms, offset + 4 * CHANNEL_BLOCK)
        self.weights = w.read(start, v * w.bytes, w.i32_vector, 4)
        self.more = w.builder.trunc(more, INT)
        self.limits = [w.repeat(limit) for limit in limits]

    def of_row(self, entry):
        """The zero point and the scale of a row, which the third table points to."""
        w = self.w
        scale_address = w.load_pointer(entry, 2 * TABLE)
        zero = w.read(w.move(scale_address, self.to_zero), 0, INT, 4)
        zero = w.splat(w.builder.add(zero, self.more))
        return zero, w.repeat(w.load(scale_address, 0, FLOAT))

    def factors(self, zero, row_scale):
        """What is taken off the sums of a row, and what they are multiplied with then."""
        return self.w.builder.mul(self.weights, zero), self.w.mul(row_scale, self.scale)

    def make(self, sums, *of_row):
        """The results of a row."""
        correction, scale = self.factors(*of_row)
        return self.scaled(self.w.builder.sub(sums, correction), scale)

    def scaled(self, sums, scale):
        """The results of corrected sums."""
        w = self.w
        value = w.mul(w.builder.sitofp(sums, w.vector), scale)
        value = w.add(value, self.bias)
        return w.clamp(value, *self.limits) if self.limits else value


class OneScale(_Float32):
    """The same where all rows have the zero point and the scale of the first, at `entry`."""

    def __init__(self, w, entry, *arguments):
        super().__init__(w, *arguments)
        self.entry = entry

    def load(self, v):
        """Makes ready for the vector after `v` others."""
        super().load(v)
        self.shared_factors = super().factors(*super().of_row(self.entry))

    def of_row(self, entry):
        """What the vectors of a row share: nothing more."""
        return ()

    def factors(self):
        """Those of all rows."""
        return self.shared_factors


@microkernel(_FLOAT32)
def float32_of_tile_sums(builder, simd, *arguments):
    """Stores a tile's sums as float32.

    Arguments: the sums; how many rows; the tables; bytes to skip in the results; columns to be
    written; their numbers; the sums of their weights; how far the zero points of rows lie from
    their scales; what is more to take off; and the limits.
    """
    _float32(builder, simd, i8_group_vectors(simd), False, *arguments)


@microkernel(_FLOAT32)
def float32_of_panel_sums(builder, simd, *arguments):
    """What `float32_of_tile_sums` does, for sums of a whole panel without their correction."""
    _float32(builder, simd, PANEL // simd.width, True, *arguments)


def _float32(builder, simd, n_vectors, correction, *arguments):
    sums, n_rows, headers, out_skip, columns, terms, start, to_zero, more, *limits = arguments
    w = Integers(builder, simd)
    rows = _Rows(w, sums, n_rows, headers, out_skip, correction)
    numbers = (w.pointer(terms), w.pointer(start), to_zero, more)
    for limits_of in each_limits(w, limits):
        with builder.if_else(rows.share(2)) as (one_scale, scales):
            with one_scale:
                first = (w, rows.headers, *numbers, *limits_of)
                rows.store([OneScale(*first) for _ in range(n_vectors)], columns, True)
            with scales:
                each = (w, *numbers, *limits_of)
                rows.store([_Float32(*each) for _ in range(n_vectors)], columns, True)


def each_limits(w, limits):
    """Runs what uses them without limits where there are none, and with `limits` elsewhere."""
    ends = (FLOAT(-math.inf), FLOAT(math.inf))
    free = [w.builder.fcmp_ordered("==", *pair) for pair in zip(limits, ends, strict=True)]
    with w.builder.if_else(w.builder.and_(*free)) as (unlimited, limited):
        for part, limits_of in ((unlimited, ()), (limited, limits)):
            with part:
                yield limits_of


class _Rows:
    """Rows of sums whose results go where a table says."""

    def __init__(self, w, sums, n_rows, headers, out_skip, correction):
        self.w, self.sums, self.n_rows = w, w.pointer(sums), n_rows
        self.headers, self.out_skip, self.correction = w.pointer(headers), out_skip, correction

    def share(self, table):
        """Whether a table has the same entry for the first row and for the last."""
        last = self.w.builder.sub(self.n_rows, WORD(1))
        first, last = (self.w.read(self._entry(m), table * TABLE, WORD, 8) for m in (WORD(0), last))
        return self.w.builder.icmp_signed("==", first, last)

    def store(self, vectors, columns, unrolled):
        """Stores vectors up to the last column; `unrolled` if code for all at once is worth it."""
        is_full = self.w.builder.icmp_signed(">=", columns, WORD(len(vectors) * self.w.width))
        if not unrolled:
            self._store_partial(vectors, columns)
            return
        with self.w.builder.if_else(is_full) as (every_column, first_columns):
            with every_column:
                self._store([*enumerate(vectors)], None)
            with first_columns:
                self._store_partial(vectors, columns)

    def _store_partial(self, vectors, columns):
        b = self.w.builder
        for v, vector in enumerate(vectors):
            n_columns = b.sub(columns, WORD(v * self.w.width))
            with b.if_then(b.icmp_signed(">", n_columns, WORD(0))):
                is_whole = b.icmp_signed(">=", n_columns, WORD(self.w.width))
                with b.if_else(is_whole) as (every_column, first_columns):
                    with every_column:
                        self._store([(v, vector)], None)
                    with first_columns:
                        self._store([(v, vector)], self.w.mask(n_columns))

    def _store(self, vectors, mask):
        """A loop over the rows for some vectors with their numbers."""
        w, start = self.w, WORD(0)
        for v, vector in vectors:
            vector.load(v)
        if self.in_blocks(vectors):
            rows_at_once = w.BLOCK // len(vectors)
            start = w.builder.and_(self.n_rows, WORD(-rows_at_once))
            with w.loop(0, start, rows_at_once) as (m, _):
                self._store_block(vectors, m, rows_at_once, mask)
        if len(vectors) < w.BLOCK or not self.in_blocks(vectors):
            with w.loop(start, self.n_rows, 1) as (m, _):
                self._store_row(vectors, m, mask)

    def in_blocks(self, vectors):
        """Whether rows of these vectors become bytes in blocks."""
        first = vectors[0][1]
        n, block = len(vectors), self.w.BLOCK
        return first.nbytes == 1 and (n == block or (n < block and first.is_quick))

    def _entry(self, m):
        """The entries of row m in the tables."""
        return self.w.move(self.headers, self.w.mul(m, 8))

    def _sums_of(self, vectors, m):
        """The sums of row m."""
        w, row = self.w, self.w.move(self.sums, self.w.mul(m, ROW))
        values = [w.read(row, v * w.bytes, w.i32_vector, 4) for v, _ in vectors]
        if not self.correction:
            return values
        correction = w.splat(w.read(self._entry(m), TABLE, INT, 4))
        return [w.builder.add(value, correction) for value in values]

    def _store_block(self, vectors, m, n_rows, mask):
        """Stores a block: `n_rows` rows from m on."""
        w = self.w
        rows = [w.add(m, k) for k in range(n_rows)]
        sums = [value for row in rows for value in self._sums_of(vectors, row)]
        block = _Int8.make_block([vector for _, vector in vectors], sums)
        count = block.type.count // n_rows
        for k, row in enumerate(rows):
            value = w.shuffle(block, block, [*range(k * count, (k + 1) * count)])
            self._put(value, self._target(row), vectors[0][0], mask)

    def _store_row(self, vectors, m, mask):
        """Stores row m; what its vectors share is read once, before the first is written."""
        sums, target = self._sums_of(vectors, m), self._target(m)
        shared = vectors[0][1].of_row(self._entry(m))
        for (v, vector), value in zip(vectors, sums, strict=True):
            self._put(vector.make(value, *shared), target, v, mask)

    def _target(self, m):
        """Where the results of row m go."""
        return self.w.move(self.w.load_pointer(self._entry(m)), self.out_skip)

    def _put(self, value, target, v, mask):
        """Writes results of a row from the one of vector `v` on."""
        w = self.w
        is_float = value.type == w.vector
        address = w.move(target, v * w.width * (4 if is_float else 1))
        if mask is None:
            w.write(value, address)
        elif is_float:
            w.store_masked(value, address, mask)
        else:
            w.write_masked(value, address, mask)
