"""Strips of a depthwise convolution of small integers: some results next to each other in a row.

Rows of the filter come in groups of four bytes, or of two int16; depthwise_i8.py says how. Where
bytes come in fours, channels come in blocks of as many as a vector has bytes, then of half as many:
the bytes of four rows are interleaved within 16-byte lanes, as processors do it, so that the sums
lie in another order than the channels (`position_of`) until they are narrowed to bytes. Fewer
channels than half a vector's bytes, and those in pairs, are taken in the order they have.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import inline, microkernel
from ...build.simd import UNSIGNED
from ...build.vector import BYTE, WORD
from .._columns import TABLE, results_of
from .._int32 import SHORT, Integers

SIGNATURE = types.void(*[types.int64] * 11)
_LANE = 16


def block_sizes(simd):
    """How many channels the blocks have, the larger ones first."""
    return [size for size in (4 * simd.width, 2 * simd.width) if size >= _LANE]


@microkernel(types.int64(), inline=True)
def block_channels(builder, simd):
    """How many channels are a block."""
    return WORD(block_sizes(simd)[0])


@microkernel(types.int64(), inline=True)
def small_block_channels(builder, simd):
    """How many channels a block may have where a whole one does not fit, 0 for no such blocks."""
    return WORD(block_sizes(simd)[1] if len(block_sizes(simd)) > 1 else 0)


@inline
def position_of(channel, n):
    """Where the weights and terms of one of `n` channels stand that come in blocks."""
    size = block_channels()
    begin = channel // size * size
    if n - begin < size:
        size = small_block_channels()
        if size == 0 or n - begin < size or channel - begin >= size:
            return channel
    lane, byte = divmod(channel - begin, 16)
    return begin + byte // 4 * (size // 4) + 4 * lane + byte % 4


def strip(name, finish, sizes, taps, stride, pairs=False):
    """The microkernel for a strip of results, filter rows `taps` wide, in `pairs` or in groups.

    `finish(w, terms, numbers, scales, positions, padded)` is a generator: it gives functions of the
    sums at one position, or at the four of a block, to vectors of results, which are written before
    it goes on. `sizes` are the bytes of a number and of a result.

    Sums go through memory, so that one piece of code makes all results, its terms in registers.
    """
    results = results_of(taps, stride)
    size, out_size = sizes

    def emit(builder, simd, tables, groups, weights, start, terms, numbers, scales, *arguments):
        w, rows = Integers(builder, simd), 2 if pairs or not simd.dots else 4
        out, count, channels, padded = arguments
        tables, weights, start, out = (w.pointer(p) for p in (tables, weights, start, out))
        n_sums = results * (4 if rows == 4 else 1)
        scratch = w.local(n_sums * w.bytes, w.bytes)

        write = results_writer(
            w, finish, (terms, numbers, scales, padded), (out, scratch, count, channels), out_size
        )

        def vector(channel, mask):
            shape = (size, rows, taps, stride, results)
            sums = _sums(w, shape, tables, groups, weights, start, channel, padded, mask)
            _write_sums(w, [sums], scratch)
            write(channel, [channel], w, mask)

        def block(channel, writer):
            shape = (taps, stride, results)
            sums = _block_sums(writer, shape, tables, groups, weights, start, channel, padded)
            positions = [builder.add(channel, WORD(k * writer.width)) for k in range(4)]
            _write_sums(writer, sums, scratch)
            write(channel, positions, writer)

        begin = WORD(0)
        if rows == 4:
            for n in block_sizes(simd):
                writer = Integers(builder, simd._replace(width=n // 4))
                end = builder.and_(channels, WORD(-n))
                with w.loop(begin, end, n) as (channel, _):
                    block(channel, writer)
                begin = end
        each_vector(w, begin, channels, vector)

    emit.__name__ = name
    return microkernel(SIGNATURE)(emit)


def each_vector(w, begin, channels, run):
    """Runs `run(channel, mask)` for vectors of channels from `begin` on, the last with a mask."""
    builder, end = w.builder, w.builder.and_(channels, WORD(-w.width))
    with w.loop(begin, end, w.width) as (channel, _):
        run(channel, None)
    n_channels = builder.sub(channels, end)
    with builder.if_then(builder.icmp_signed(">", n_channels, WORD(0))):
        run(end, w.mask(n_channels))


def results_writer(w, finish, epilogue, strip, out_size):
    """What writes the results of a strip for some channels, from rows of sums for each.

    `epilogue` are terms, numbers, scales and padded channels, as `finish` takes them; `strip` are
    the results of the first channel, the sums, how many results there are, and all channels.
    """
    terms, numbers, scales, padded = epilogue
    out, scratch, count, channels = strip
    pitch = w.mul(channels, out_size)

    def write(channel, positions, writer, mask=None):
        """Writes those of the vectors at `positions`, the first of which is `channel`."""
        first, row_bytes = w.move(out, w.mul(channel, out_size)), len(positions) * writer.bytes
        for make in finish(writer, terms, numbers, scales, positions, padded):
            with w.loop(0, count, 1) as (i, _):
                row = w.move(scratch, w.mul(i, row_bytes))
                address = w.move(first, w.mul(i, pitch))
                vectors = [
                    writer.read(row, k * writer.bytes, writer.i32_vector, 4)
                    for k in range(len(positions))
                ]
                for value in make(vectors):
                    w.write_masked(value, address, mask)
                    address = w.move(address, value.type.count * value.type.element.width // 8)

    return write


def _write_sums(w, sums, scratch):
    """Writes the sums of a strip, a list for each vector, as a row for each result."""
    for k, vectors in enumerate(sums):
        for i, value in enumerate(vectors):
            w.write(value, scratch, (i * len(sums) + k) * w.bytes)


def _uses(shape):
    """(column, [(result, tap), ...]) for the columns a strip reads."""
    taps, stride, results = shape
    for column in range((results - 1) * stride + taps):
        pairs = [(divmod(column - tap, stride), tap) for tap in range(taps)]
        yield column, [(i, tap) for (i, odd), tap in pairs if not odd and 0 <= i < results]


def _block_sums(w, shape, tables, groups, weights, start, channel, padded):
    """The sums of a block of channels, as four lists of vectors.

    Two vectors are done at once, which with all results of a strip take most registers.
    """
    sums = []
    for half in range(2):
        sums += _half_block_sums(w, shape, tables, groups, weights, start, channel, padded, half)
    return sums


def _half_block_sums(w, shape, tables, groups, weights, start, channel, padded, half):
    taps, _, results = shape
    positions = [w.mul(w.add(channel, (2 * half + k) * w.width), 4) for k in range(2)]
    begins = [w.read(start, position, w.i32_vector, 4) for position in positions]
    filters = w.move(weights, positions[0])
    carried = [value for value in begins for _ in range(results)]
    with w.loop(0, groups, 1, [tables, filters, *carried]) as (_, values):
        table, filters, *sums = values
        factors = []
        for _ in range(taps):
            factors.append([w.read(filters, k * w.bytes, w.i32_vector, 4) for k in range(2)])
            filters = w.move(filters, w.mul(padded, 4))
        for column, uses in _uses(shape):
            if uses:
                rows = [w.load_pointer(table, 8 * column + r * TABLE) for r in range(4)]
                fours = _interleaved(w, [w.move(row, channel) for row in rows], half)
            for i, tap in uses:
                for k in range(2):
                    at = k * results + i
                    sums[at] = w.add_fours(sums[at], fours[k], factors[tap][k])
        values[:] = [w.move(table, 4 * TABLE), filters, *sums]
    sums = w.results[2:]
    return [sums[:results], sums[results:]]


def _interleaved(w, addresses, half):
    """One byte of each address after the other, of half the bytes of each lane, as two vectors."""
    kind = ir.VectorType(BYTE, w.bytes)
    first, second, third, fourth = (w.read(address, 0, kind) for address in addresses)
    pairs = bytes_in_turns(w, first, second, half), bytes_in_turns(w, third, fourth, half)
    fours = [w.builder.bitcast(bytes_in_turns(w, *pairs, upper, 2), kind) for upper in range(2)]
    return [_as_factor(w, x) for x in fours]


def bytes_in_turns(w, a, b, upper, width=1):
    """Groups of `width` bytes of a and of b in turns, of a half of each 16-byte lane."""
    count, per_lane = w.bytes // width, _LANE // width
    kind = ir.VectorType(ir.IntType(8 * width), count)
    a, b = (w.builder.bitcast(x, kind) for x in (a, b))
    order = [
        lane + upper * per_lane // 2 + i // 2 + i % 2 * count
        for lane in range(0, count, per_lane)
        for i in range(per_lane)
    ]
    return w.shuffle(a, b, order)


def _as_factor(w, x):
    """Bytes as what is multiplied."""
    if w.simd.dots == UNSIGNED:
        x = w.builder.xor(x, w.splat(-128, BYTE, x.type.count))
    return x


def _sums(w, shape, tables, groups, weights, start, channel, padded, mask):
    """The sums of one vector of channels, which begins at `channel`."""
    size, rows, taps, stride, results = shape
    at = w.mul(channel, size)
    factor = _int16(w) if rows == 2 else ir.VectorType(BYTE, 4 * w.width)
    filters = w.move(weights, w.mul(channel, 4))
    begin = w.read(start, w.mul(channel, 4), w.i32_vector, 4)
    with w.loop(0, groups, 1, [tables, filters, *[begin] * results]) as (_, carried):
        table, filters = carried[:2]
        sums, factors = carried[2:], []
        for _ in range(taps):
            factors.append(w.read(filters, 0, factor, 4))
            filters = w.move(filters, w.mul(padded, 4))
        for column, uses in _uses((taps, stride, results)):
            if uses:
                addresses = (w.load_pointer(table, 8 * column + r * TABLE) for r in range(rows))
                addresses = [w.move(address, at) for address in addresses]
                x = _pair(w, size, *addresses, mask) if rows == 2 else _four(w, addresses, mask)
            for i, tap in uses:
                add = w.add_pairs if rows == 2 else w.add_fours
                sums[i] = add(sums[i], x, factors[tap])
        carried[:] = [w.move(table, rows * TABLE), filters, *sums]
    return w.results[2:]


def _int16(w):
    return ir.VectorType(SHORT, 2 * w.width)


def _pair(w, size, first, second, mask):
    """The numbers at two addresses as int16, a number of the first before one of the second."""
    kind, n = ir.VectorType(BYTE if size == 1 else SHORT, w.width), w.width
    rows = (w.read_masked(address, kind, mask) for address in (first, second))
    x = w.shuffle(*rows, [n * (i % 2) + i // 2 for i in range(2 * n)])
    return w.builder.sext(x, _int16(w)) if size == 1 else x


def _four(w, addresses, mask):
    """The bytes at four addresses, one of each after the other, as what is multiplied."""
    kind, n = ir.VectorType(BYTE, w.width), w.width
    first, second, third, fourth = (w.read_masked(address, kind, mask) for address in addresses)
    pairs = (
        w.shuffle(first, second, list(range(2 * n))),
        w.shuffle(third, fourth, list(range(2 * n))),
    )
    return _as_factor(w, w.shuffle(*pairs, [n * (i % 4) + i // 4 for i in range(4 * n)]))
