"""Strips of results whose inputs are a step apart: sums over few products, without tables.

A tile (_gemm_f32_tile.py) that has only some dozens of products to add is done before the tables of
addresses for the next one are. Here one call goes through all the rows of a strip, and finds where
each begins by adding.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import FLOAT, WORD, Writer
from ...tiling import PANEL
from ._gemm_f32_tile import ROW, Totals, finish, narrow_height, part_heights, shape

_NARROW = types.void(*[types.int64] * 14, types.float32, types.float32)
_WHOLE = types.void(*[types.int64] * 14, types.float32, types.float32, types.int64, types.int64)

_MOST_ADDRESSES = 10
"""Rows whose addresses are all in registers. Those of more are added up for each product anew, if
none is chosen: that is quicker where there are few products before the next addresses."""


class _LoopMetadata(ir.values.MDValue):
    """A node that refers to itself first, as LLVM wants it of a loop's."""

    def descr(self, buf):
        operands = ", ".join(node.get_reference() for node in (self, *self.operands))
        buf += (f"distinct !{{ {operands} }}", "\n")


def _never_unroll(module, loop_end):
    """Forbids LLVM to unroll the loop that the block ends: its sums would not fit the registers."""
    disable = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    node = _LoopMetadata(module, [disable], name=str(len(module.metadata)))
    loop_end.terminator.set_metadata("llvm.loop", node)


class _Strip:
    """Writes the tiles of a strip, `n_vectors` wide; `strip` says what the arguments are."""

    def __init__(self, builder, simd, n_vectors, arguments, part=(), panels=()):
        self.w, self.n_vectors = Writer(builder, simd), n_vectors
        self.row_bytes = self.w.bytes * shape(simd)[1]
        self.inputs, self.sums, self.results = arguments[:4], arguments[4:10], arguments[10:16]
        self.part, self.panels = part, panels

    def tiles(self, row, height, is_whole=False):
        """The tiles of `height` rows from `row` on; those beyond the last are like it.

        There are none of these if they are `is_whole`.
        """
        if not self.panels:
            self.tile(row, height, is_whole)
            return
        w, builder = self.w, self.w.builder
        (pitch, tile_bytes), width = self.panels, self.n_vectors * w.width
        sums, results = self.sums, self.results
        depth, per_chain, bias, weights, weights_pitch, totals = sums
        out, out_step, n_rows, columns, *limits = results
        with w.loop(0, columns, width) as (column, _):
            panel = builder.mul(builder.sdiv(column, WORD(PANEL)), pitch)
            within = builder.srem(column, WORD(PANEL))
            offset = builder.mul(builder.sdiv(within, WORD(width)), tile_bytes)
            bias_here = builder.add(builder.add(bias, panel), w.mul(within, 4))
            weights_here = builder.add(builder.add(weights, panel), offset)
            self.sums = depth, per_chain, bias_here, weights_here, weights_pitch, totals
            self.results = [builder.add(out, w.mul(column, 4)), out_step, n_rows]
            self.results += [builder.sub(columns, column), *limits]
            self.tile(row, height, is_whole)
        self.sums, self.results = sums, results

    def tile(self, row, height, is_whole):
        """The tile at `row`."""
        w, builder, n_vectors = self.w, self.w.builder, self.n_vectors
        x, x_step, segments, x_pitch = self.inputs
        depth, per_chain, bias, weights, weights_pitch, sums = self.sums
        out, out_step, n_rows, columns, low, high = self.results
        last = None if is_whole else builder.sub(builder.sub(n_rows, row), WORD(1))
        begins = self._rows(x, x_step, row, last, height)
        totals = Totals(w, height, n_vectors, sums)
        n_pointers = 5 + height
        last_segment, end = builder.sub(segments, WORD(1)), w.mul(depth, 4)
        targets = self._rows(out, out_step, row, last, height)
        start, step = w.pointer(bias), WORD(0)
        if self.part:
            start, step = self._first_totals(totals, targets, start)
        carried = [per_chain, start, step, w.pointer(weights), self._ahead(row, height), *begins]
        carried += [w.zero()] * (height * n_vectors)
        with w.loop(0, segments, 1, carried) as (segment, state):
            begins = state[5:n_pointers]
            inner = [*state[3:5], *state[n_pointers:]]
            with w.loop(0, end, 4, inner) as (at, values):
                if self.part:
                    w.prefetch(values[1])
                    values[1] = w.move(values[1], self.row_bytes // 2)
                vectors = [w.load(values[0], v * w.bytes) for v in range(n_vectors)]
                for m in range(height):
                    factor = w.repeat(w.load(begins[m], at, FLOAT))
                    for v, vector in enumerate(vectors):
                        i = 2 + m * n_vectors + v
                        values[i] = w.fma(factor, vector, values[i])
                values[0] = w.move(values[0], self.row_bytes)
                loop_end = builder.block
            _never_unroll(builder.module, loop_end)
            left = builder.sub(state[0], WORD(1))
            is_full = builder.icmp_signed("==", left, WORD(0))
            is_last = builder.icmp_signed("==", segment, last_segment)
            is_full = builder.and_(is_full, builder.not_(is_last))
            start, step, values = totals.flushed(is_full, *state[1:3], w.results[2:])
            pointers = [w.move(state[3], weights_pitch), w.results[1]]
            pointers += [*(w.move(p, x_pitch) for p in begins)]
            state[:] = [builder.select(is_full, per_chain, left), start, step, *pointers, *values]
        values = totals.added(w.results[n_pointers:], *w.results[1:3])
        finish(w, values, targets, columns, low, high)

    def _first_totals(self, totals, targets, bias):
        """Where totals lie at first, and bytes between rows: the bias, or what `out` has so far."""
        w, builder = self.w, self.w.builder
        before, goes_on = builder.block, builder.icmp_signed("!=", self.part[0], WORD(0))
        with builder.if_then(goes_on):
            totals.store([w.load(t, v * w.bytes) for t in targets for v in range(self.n_vectors)])
            inside = builder.block
        merged = []
        for old, new in ((bias, totals.sums), (WORD(0), WORD(ROW))):
            phi = builder.phi(old.type)
            phi.add_incoming(old, before)
            phi.add_incoming(new, inside)
            merged.append(phi)
        return merged

    def _ahead(self, row, height):
        """From where the tile at `row` fetches ahead: the first two share what comes next."""
        w, builder = self.w, self.w.builder
        weights = w.pointer(self.sums[3])
        if not self.part:
            return weights
        products = builder.mul(self.inputs[2], self.sums[0])
        following = w.pointer(self.part[1])
        half = w.move(following, w.mul(products, self.row_bytes // 2))
        is_first = builder.icmp_signed("==", row, WORD(0))
        is_second = builder.icmp_signed("==", row, WORD(height))
        return builder.select(is_first, following, builder.select(is_second, half, weights))

    def _rows(self, begin, step, row, last, height):
        """Pointers to rows from `row` on; `last` is the last one's number, None if all are there.

        Without a choice for each there is less to do before and after the products of a tile.
        """
        w, builder = self.w, self.w.builder
        pointers, step_here = [w.move(w.pointer(begin), w.mul(row, step))], step
        for m in range(height - 1):
            if last is not None:
                is_before = builder.icmp_signed("<", WORD(m), last)
                step_here = builder.select(is_before, step, WORD(0))
            pointers.append(w.move(pointers[-1], step_here))
        return pointers


def _write(strip_tiles, height):
    """Writes all tiles of a strip, of `height` rows and, at its end, fewer."""
    builder, n_rows = strip_tiles.w.builder, strip_tiles.results[2]
    n_last = builder.srem(n_rows, WORD(height))
    end, fewer = builder.sub(n_rows, n_last), 0
    is_short = height > _MOST_ADDRESSES and not strip_tiles.part
    with strip_tiles.w.loop(0, end, height) as (row, _):
        strip_tiles.tiles(row, height, is_whole=is_short)
    for part_height in sorted({*part_heights(height), height}):
        is_more = builder.icmp_signed(">", n_last, WORD(fewer))
        fits = builder.icmp_signed("<=", n_last, WORD(part_height))
        with builder.if_then(builder.and_(is_more, fits)):
            strip_tiles.tiles(end, part_height)
        fewer = part_height


@microkernel(_WHOLE)
def strip(builder, simd, *arguments):
    """out = clamp(bias + sums of products) for `n_rows` rows: all columns of some, then the next.

    Arguments: the address of the first row of inputs, and bytes from row to row; how many segments,
    and bytes from one to the next; products in each, and how many segments are a chain; the
    addresses of the bias and of the weights, and bytes from segment to segment of these; where
    totals may lie; the address of the first results, bytes from row to row, how many rows, and how
    many columns are to be written; the limits; bytes from panel to panel, and from one tile's
    weights to the next's. The first column is that of a panel if there is more than one tile.
    """
    height, n_vectors = shape(simd)
    _write(_Strip(builder, simd, n_vectors, arguments[:16], panels=arguments[16:]), height)


@microkernel(_NARROW)
def narrow_strip(builder, simd, *arguments):
    """What `strip` does, for one vector of columns."""
    _write(_Strip(builder, simd, 1, arguments), narrow_height(simd))


@microkernel(_WHOLE)
def part_strip(builder, simd, *arguments):
    """What `strip` does, for some of the products: `out` has the totals so far, or none yet.

    It goes on with them where the argument after the limits is not 0. The last is an address from
    where to fetch ahead as many weights as it reads. It is as wide as a tile.
    """
    height, n_vectors = shape(simd)
    _write(_Strip(builder, simd, n_vectors, arguments[:16], part=arguments[16:]), height)
