"""Strips under square filters of bytes, where no instruction adds products of four of them.

Pairs of int16 are multiplied: of all rows of the filter but its last, a number and the one below
it; of the last row, whose number is odd, a number and the one to its right, so that only one
product of a filter counts as zero. Results are done from left to right. What is known of those a
column belongs to is handed on, so each column is made into pairs once.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import inline, microkernel
from ...build.vector import BYTE, WORD
from .._columns import TABLE, results_of
from .._int32 import SHORT, Integers
from ._depthwise_i8_strip import SIGNATURE, block_sizes, bytes_in_turns, each_vector, results_writer

INPUT_OFFSET = 128
"""What is added to bytes before they are multiplied: they become int16 by a zero next to them."""


@microkernel(types.int64(), inline=True)
def has_squares(builder, simd):
    """Whether there are strips for square filters."""
    return WORD(0 if simd.dots else 1)


@inline
def square_pair(taps, i, j):
    """Row of packed weights, and whether it is the second of its pair, of tap j of filter row i."""
    if i + 1 < taps:
        return i // 2 * taps + j, i % 2
    return taps // 2 * taps + j // 2, j % 2


def square_strip(name, finish, sizes, taps, stride):
    """As `strip` (_depthwise_i8_strip.py) for `taps` filter rows `taps` wide."""
    results = max(results_of(taps, stride, most=16), taps)

    def emit(builder, simd, tables, groups, weights, start, terms, numbers, scales, *arguments):
        if simd.dots:
            return
        w = Integers(builder, simd)
        out, count, channels, padded = arguments
        tables, weights, start, out = (w.pointer(p) for p in (tables, weights, start, out))
        scratch = w.local(results * 4 * w.bytes, w.bytes)
        write = results_writer(
            w, finish, (terms, numbers, scales, padded), (out, scratch, count, channels), sizes[1]
        )

        def strip_of(writer, channel, mask=None, whole=False):
            n_vectors = 4 if whole else 1
            strip = _Strip(writer, (taps, stride), weights, padded, channel, mask, n_vectors)
            strip.sums(tables, start, scratch, count)
            positions = [builder.add(channel, WORD(k * writer.width)) for k in range(n_vectors)]
            write(channel, positions, writer, mask)

        begin = WORD(0)
        for n in block_sizes(simd):
            end = builder.and_(channels, WORD(-n))
            with w.loop(begin, end, n) as (channel, _):
                strip_of(Integers(builder, simd._replace(width=n // 4)), channel, whole=True)
            begin = end
        each_vector(w, begin, channels, lambda channel, mask: strip_of(w, channel, mask))

    emit.__name__ = f"{name}_square"
    return microkernel(SIGNATURE)(emit)


class _Strip:
    """The sums of a strip for a vector of channels, or the four of a block.

    Args:
        w: an integer writer.
        shape: taps and stride.
        weights: the packed weights of all channels, and how many channels these are padded to.
        channel: the first one.
        mask: which of a vector's channels there are.
        n_vectors: one, or four.
    """

    def __init__(self, w, shape, weights, padded, channel, mask, n_vectors):
        self.w, self.mask, self.channel, self.n_vectors = w, mask, channel, n_vectors
        self.taps, self.stride = shape
        self.n_steps = -(-self.taps // self.stride)
        self.filters = w.move(weights, w.mul(channel, 4))
        self.pitch = w.mul(padded, 4)

    def sums(self, tables, start, target, count):
        """Writes the sums of `count` results to rows at `target`.

        There are at least as many rows as steps that a result takes.
        """
        w, n, last = self.w, self.n_vectors, self.n_steps - 1
        begin = w.move(start, w.mul(self.channel, 4))
        starts = [w.read(begin, v * w.bytes, w.i32_vector, 4) for v in range(n)]
        table, state = tables, []
        for k in range(last):
            _, state = self._step(table, [starts, *state], range(k + 1))
            table = w.move(table, 8 * self.stride)
        flat = [value for sums in state for value in sums]
        with w.loop(last, count, 1, [table, target, *flat]) as (_, carried):
            table, target, *flat = carried
            state = [flat[i : i + n] for i in range(0, len(flat), n)]
            done, state = self._step(table, [starts, *state], range(last + 1))
            table, target = self._written(done, table, target)
            carried[:] = [table, target, *(value for sums in state for value in sums)]
        table, target, *flat = w.results
        state = [flat[i : i + n] for i in range(0, len(flat), n)]
        for k in range(1, last + 1):
            is_last = k == last
            done, state = self._step(table, [None] * k + state, range(k, last + 1), is_last)
            state = state[k:]
            table, target = self._written(done, table, target)

    def _written(self, sums, table, target):
        """Writes the sums of a result; the addresses for the next one."""
        w = self.w
        for k, value in enumerate(sums):
            w.write(value, target, k * w.bytes)
        return w.move(table, 8 * self.stride), w.move(target, self.n_vectors * w.bytes)

    def _step(self, table, sums, live, is_last=False):
        """What the columns of a step add to `sums`, those of the newest result first.

        Gives the sums of the oldest result, if it is done, and those of the others. `live` are the
        results there are.
        """
        taps, sums = self.taps, [None if s is None else list(s) for s in sums]
        for r in range(self.stride):
            uses = [(d, self.stride * d + r) for d in live if self.stride * d + r < taps]
            if not uses:
                continue
            for row in range(0, taps - 1, 2):
                pairs = self._pairs(table, (row, r), (row + 1, r))
                self._add(sums, pairs, [(d, row // 2 * taps + t) for d, t in uses])
            uses = [(d, taps // 2 * taps + t // 2) for d, t in uses if t % 2 == 0]
            if uses:
                right = r if is_last else r + 1
                pairs = self._pairs(table, (taps - 1, r), (taps - 1, right))
                self._add(sums, pairs, uses)
        return sums[-1], sums[: self.n_steps - 1]

    def _add(self, sums, pairs, uses):
        w, kind = self.w, ir.VectorType(SHORT, 2 * self.w.width)
        for v, x in enumerate(pairs):
            for d, row in uses:
                at = w.add(w.mul(self.pitch, row), v * w.bytes)
                sums[d][v] = w.add_pairs(sums[d][v], x, w.read(self.filters, at, kind, 4))

    def _pairs(self, table, *places):
        """The numbers at two places, (row, column) of the tables, as pairs of int16."""
        w, n = self.w, self.w.width
        rows = [w.load_pointer(table, row * TABLE + 8 * column) for row, column in places]
        rows = [w.move(row, self.channel) for row in rows]
        short = ir.VectorType(SHORT, 2 * n)
        size = 4 * n if self.n_vectors > 1 else n
        kind = ir.VectorType(BYTE, size)
        rows = [
            w.builder.xor(w.read_masked(row, kind, self.mask), w.splat(-INPUT_OFFSET, BYTE, size))
            for row in rows
        ]
        if self.n_vectors == 1:
            order = [n * (i % 2) + i // 2 for i in range(2 * n)]
            return [w.builder.zext(w.shuffle(*rows, order), short)]
        zeros = ir.Constant(kind, None)
        halves = [bytes_in_turns(w, *rows, upper) for upper in range(2)]
        pairs = (bytes_in_turns(w, half, zeros, upper) for half in halves for upper in range(2))
        return [w.builder.bitcast(pair, short) for pair in pairs]
