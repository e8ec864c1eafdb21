"""Sums of outer products: what flows back to the filter of a convolution.

The products of a filter's row at one position of its window lie next to each other in the input: a
run. A tile holds so many results of a run times one or two vectors of output channels in registers,
and adds one outer product for each position. An item is one run times a block of channels.
"""

from numba import types

from ...build.kernel import address, choose, kernel, microkernel
from ...build.vector import FLOAT, WORD, Writer
from ...tiling import OUTER_BLOCK

"""Channels of a block; what the sums of a result take in scratch memory."""
CHAIN = 256
"""Products added in float32 before their sum goes to the total."""

_ROW = 4 * OUTER_BLOCK
_HEIGHTS = {16: (14, 10, 7, 5, 3, 2, 1), 8: (6, 5, 4, 3, 3, 2, 1), 4: (4, 4, 3, 3, 2, 2, 1)}
"""Width of a vector -> results of a tile, of which the first that fits is taken."""
_SIGNATURE = types.void(*[types.int64] * 10)


def _tile(number, n_vectors):
    """The microkernel of tile `number` with so many vectors: sums += its outer products.

    Arguments: where input and gradient begin; the bytes between their rows; between their columns;
    how many rows and columns there are; how many channels; and where the sums are.
    """

    def emit(builder, simd, *arguments):
        x, dy, x_row, dy_row, x_step, dy_step, rows, columns, channels, sums = arguments
        n_results = _HEIGHTS[simd.width][number]
        w = Writer(builder, simd)
        masks = [w.mask(builder.sub(channels, WORD(v * w.width))) for v in range(n_vectors)]
        carried = [w.pointer(x), w.pointer(dy), *[w.zero()] * (n_results * n_vectors)]
        with w.loop(0, rows, 1, carried) as (_, outer):
            begins = outer[:2]
            with w.loop(0, columns, 1, outer) as (_, inner):
                x_at, dy_at = inner[:2]
                vectors = [w.load_masked(dy_at, mask, v * w.bytes) for v, mask in enumerate(masks)]
                for m in range(n_results):
                    factor = w.repeat(w.load(x_at, 4 * m, FLOAT))
                    for v, vector in enumerate(vectors):
                        i = 2 + m * n_vectors + v
                        inner[i] = w.fma(factor, vector, inner[i])
                inner[:2] = [w.move(x_at, x_step), w.move(dy_at, dy_step)]
            outer[2:] = w.results[2:]
            outer[:2] = [w.move(begins[0], x_row), w.move(begins[1], dy_row)]
        target = w.pointer(sums)
        for m in range(n_results):
            for v in range(n_vectors):
                at = m * _ROW + v * w.bytes
                total = w.add(w.load(target, at), w.results[2 + m * n_vectors + v])
                w.store(total, target, at)

    emit.__name__ = f"tile_{number}_{n_vectors}"
    return microkernel(_SIGNATURE)(emit)


tile_of_1, tile_of_2 = (
    choose(*(_tile(i, n_vectors) for i in range(len(_HEIGHTS[16])))) for n_vectors in (1, 2)
)
"""The tile with some number, of one vector and of two."""


@microkernel(types.int64(types.int64), inline=True)
def height_of(builder, simd, number):
    """How many results tile `number` has."""
    height = WORD(1)
    for i, n in reversed(list(enumerate(_HEIGHTS[simd.width]))):
        height = builder.select(builder.icmp_signed("==", number, WORD(i)), WORD(n), height)
    return height


@microkernel(types.int64(), inline=True)
def width(builder, simd):
    """Channels of a vector."""
    return WORD(simd.width)


@kernel(
    "x:float32[batch,*,*,c] dy:float32[batch,*,*,n] out:float32[runs,run,n]"
    " scratch:float32[items,run,32] runs_w:i stride_h:i stride_w:i dilation_h:i dilation_w:i"
)
def filters(
    x, dy, out, scratch, runs_w, stride_h, stride_w, dilation_h, dilation_w, first, last, fault
):
    """out[i, t] = sum over positions of x[position under tap t of run i] * dy[position].

    `x` reaches as far as the filter does. A run is a row of the filter, or one tap of it (runs_w of
    them in a row) when there are gaps.
    """
    batch, height, columns, n = dy.shape
    run = out.shape[1]
    pixel = 4 * x.shape[3]
    line, image = pixel * x.shape[2], pixel * x.shape[2] * x.shape[1]
    blocks = (n + OUTER_BLOCK - 1) // OUTER_BLOCK
    k_block = max(1, CHAIN // max(columns, 1))
    for item in range(first, last):
        run_number = item // blocks
        channel = (item - run_number * blocks) * OUTER_BLOCK
        down = run_number // runs_w
        right = run_number - down * runs_w
        begin = address(x) + down * dilation_h * line + right * dilation_w * pixel
        sums = scratch[item]
        channels = min(n - channel, OUTER_BLOCK)
        for t in range(run):
            for c in range(OUTER_BLOCK):
                sums[t, c] = 0.0
        base = address(scratch) + item * run * _ROW
        for b in range(batch):
            row = 0
            while row < height:
                rows = min(k_block, height - row)
                source = begin + b * image + row * stride_h * line
                dy_at = address(dy) + 4 * ((b * height + row) * columns * n + channel)
                part = 0
                while part < channels:
                    t = number = 0
                    while t < run:
                        while height_of(number) > run - t:
                            number += 1
                        at, target_at = source + 4 * t, base + t * _ROW + 4 * part
                        if channels - part <= width():
                            tile_of_1(
                                number, at, dy_at + 4 * part, stride_h * line, 4 * columns * n,
                                stride_w * pixel, 4 * n, rows, columns, channels - part, target_at,
                            )  # fmt: skip
                        else:
                            tile_of_2(
                                number, at, dy_at + 4 * part, stride_h * line, 4 * columns * n,
                                stride_w * pixel, 4 * n, rows, columns, channels - part, target_at,
                            )  # fmt: skip
                        t += height_of(number)
                    part += 2 * width()
                row += rows
        for t in range(run):
            target = out[run_number, t]
            for c in range(channels):
                target[channel + c] = sums[t, c]


@microkernel(types.void(types.int64, types.int64, types.int64), inline=True)
def accumulate(builder, simd, source, target, count):
    """target += source, so many numbers."""
    w = Writer(builder, simd)
    source, target = w.pointer(source), w.pointer(target)
    vector_end = builder.sub(count, builder.urem(count, WORD(w.width)))
    with w.loop(0, w.mul(vector_end, 4), w.bytes) as (at, _):
        w.store(w.add(w.load(source, at), w.load(target, at)), target, at)
    end, mask = w.position, w.mask(builder.sub(count, vector_end))
    total = w.add(w.load_masked(source, mask, end), w.load_masked(target, mask, end))
    w.store_masked(total, target, mask, end)


@kernel(
    "runs:float32[batch,rows,columns,taps,run] inout:float32[batch,h,line]"
    " channels:i stride_h:i stride_w:i before_h:i before_w:i dilation_h:i"
)
def spread(
    runs, inout, channels, stride_h, stride_w, before_h, before_w, dilation_h, first, last, fault
):
    """inout[row under each tap, under each column] += its run. An item is an image."""
    _, rows, columns, taps, size = runs.shape
    line, begin, onto = inout.shape[2], address(runs), address(inout)
    for b in range(first, last):
        for i in range(rows):
            for j in range(columns):
                start = (j * stride_w - before_w) * channels
                left, right = max(start, 0), min(start + size, line)
                if right <= left:  # all of it is padding
                    continue
                for k in range(taps):
                    row = i * stride_h - before_h + k * dilation_h
                    if row < 0 or row >= inout.shape[1]:
                        continue
                    source = (((b * rows + i) * columns + j) * taps + k) * size + left - start
                    target = (b * inout.shape[1] + row) * line + left
                    accumulate(begin + 4 * source, onto + 4 * target, right - left)
