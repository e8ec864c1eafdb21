"""Convolution of each channel of small integers by itself; depthwise_f32.py has that of floats.

The rows of the filter are taken in groups, so that each int32 of a vector gets several products by
one instruction: four of bytes where the processor has one for these, else two of int16; what is
missing to a group counts as zero. A strip is some results next to each other in a row. For each row
of a group a table holds the addresses of the input columns the strip needs; what lies outside the
input is at `padding`. Filters three or five wide with stride 1 or 2 read each column once; any
other is done as if its taps were the rows of a filter one wide.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import address, inline, kernel, microkernel, stack_buffer
from ...build.simd import UNSIGNED
from ...build.vector import BYTE, FLOAT, INT, WORD
from ...records import ConvWindow
from .._columns import KINDS, TABLE, point_columns, results_of
from .._int32 import SHORT, Integers
from ._requantize import Requantizer, each_rounding, terms_at

ROWS = 256  # that there is room for
_tables = stack_buffer(ROWS * TABLE)
_SIGNATURE = types.void(*[types.int64] * 11)
_DOTS = {
    16: "llvm.x86.avx512.vpdpbusd.512",
    8: "llvm.x86.avx512.vpdpbusd.256",
    4: "llvm.aarch64.neon.sdot.v4i32.v16i8",
}
"""Width of a vector -> what adds four products of bytes to each int32."""


@microkernel(types.int64(), inline=True)
def int8_rows(builder, simd):
    """How many rows of bytes are a group."""
    return WORD(4 if simd.dots else 2)


@microkernel(types.int64(), inline=True)
def input_offset(builder, simd):
    """What is added to bytes before they are multiplied."""
    return WORD(128 if simd.dots == UNSIGNED else 0)


def strip(name, finish, sizes, taps, stride, pairs=False):
    """The microkernel for a strip of results, filter rows `taps` wide, in `pairs` or in groups.

    `finish(w, terms, numbers, scales, channel, padded)` is a generator: it gives functions of sums
    to results, which are written before it goes on. `sizes` are the bytes of a number and of a
    result.
    """
    results = results_of(taps, stride)
    size, out_size = sizes

    def emit(builder, simd, tables, groups, weights, start, terms, numbers, scales, *arguments):
        w, rows = Integers(builder, simd), 2 if pairs or not simd.dots else 4
        out, count, channels, padded = arguments
        tables, weights, start, target = (w.pointer(p) for p in (tables, weights, start, out))
        pitch, targets = w.mul(channels, out_size), []
        last = builder.sub(count, WORD(1))
        for i in range(results):
            targets.append(target)
            further = builder.icmp_signed("<", WORD(i), last)
            target = w.move(target, builder.select(further, pitch, WORD(0)))

        def vector(channel, mask):
            shape = (size, rows, taps, stride, results)
            sums = _sums(w, shape, tables, groups, weights, start, channel, padded, mask)
            for make in finish(w, terms, numbers, scales, channel, padded):
                for i in reversed(range(results)):  # those beyond the last lie under it
                    address = w.move(targets[i], w.mul(channel, out_size))
                    w.write_masked(make(sums[i]), address, mask)

        vector_end = builder.and_(channels, WORD(-w.width))
        with w.loop(0, vector_end, w.width) as (channel, _):
            vector(channel, None)
        n_channels = builder.sub(channels, vector_end)
        with builder.if_then(builder.icmp_signed(">", n_channels, WORD(0))):
            vector(vector_end, w.mask(n_channels))

    emit.__name__ = name
    return microkernel(_SIGNATURE)(emit)


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
        for column in range((results - 1) * stride + taps):
            x = None
            for tap in range(taps):
                i, odd = divmod(column - tap, stride)
                if odd or not 0 <= i < results:
                    continue
                if x is None:
                    addresses = (w.load_pointer(table, 8 * column + r * TABLE) for r in range(rows))
                    addresses = [w.move(address, at) for address in addresses]
                    x = _pair(w, size, *addresses, mask) if rows == 2 else _four(w, addresses, mask)
                add = _add_pairs if rows == 2 else _add_fours
                sums[i] = add(w, sums[i], x, factors[tap])
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
    """The bytes at four addresses, one of each place after the other, as what is multiplied."""
    kind, n = ir.VectorType(BYTE, w.width), w.width
    first, second, third, fourth = (w.read_masked(address, kind, mask) for address in addresses)
    pairs = (
        w.shuffle(first, second, list(range(2 * n))),
        w.shuffle(third, fourth, list(range(2 * n))),
    )
    x = w.shuffle(*pairs, [n * (i % 4) + i // 4 for i in range(4 * n)])
    if w.simd.dots == UNSIGNED:
        x = w.builder.xor(x, w.splat(-128, BYTE, 4 * n))
    return x


def _add_pairs(w, total, a, b):
    """total + the sums of two products each of int16, as LLVM knows them for one instruction."""
    builder, kind = w.builder, ir.VectorType(INT, 2 * w.width)
    products = builder.mul(builder.sext(a, kind), builder.sext(b, kind))
    undefined = ir.Constant(kind, ir.Undefined)
    even, odd = (w.shuffle(products, undefined, list(range(i, 2 * w.width, 2))) for i in (0, 1))
    return builder.add(total, builder.add(even, odd))


def _add_fours(w, total, a, b):
    """total + the sums of four products each of bytes."""
    if w.simd.dots == UNSIGNED:
        a, b = (w.builder.bitcast(x, w.i32_vector) for x in (a, b))
    return w.call(_DOTS[w.width], w.i32_vector, [total, a, b])


def int8_epilogue(w, terms, numbers, scale, channel, padded):
    """Sums as 8-bit integers (_requantize.py); `numbers` are its numbers, the rounding first."""
    numbers = w.pointer(numbers)
    rounding, *limits = (w.load(numbers, 8 * i, WORD) for i in range(5))
    terms = w.pointer(terms_at(w, terms, channel))
    with each_rounding(w, rounding) as kinds:
        for kind in kinds:
            yield Requantizer(w, kind, terms, 0, limits).bytes


def int16_epilogue(w, terms, numbers, scale, channel, padded):
    """Sums as int16: (sums * multiplier + offset) >> shift in int64, within the limits `numbers`.

    `terms` are the offsets of all channels, then multiplier + shift * 2**32 of each.
    """
    builder, numbers, half = w.builder, w.pointer(numbers), w.width // 2
    low, high = (w.splat(w.load(numbers, 8 * i, WORD), WORD, half) for i in range(2))
    offsets = w.move(w.pointer(terms), w.mul(channel, 8))
    factors = w.move(offsets, w.mul(padded, 8))

    def results(sums):
        halves, undefined = [], ir.Constant(sums.type, ir.Undefined)
        for start in (0, half):
            factor = w.read(factors, 8 * start, w.words(), 8)
            part = w.shuffle(sums, undefined, list(range(start, start + half)))
            product = builder.mul(builder.sext(part, w.words()), w.low_halves(factor))
            value = builder.add(product, w.read(offsets, 8 * start, w.words(), 8))
            value = builder.ashr(value, builder.lshr(factor, w.splat(32, WORD, half)))
            halves.append(builder.trunc(w.clamp_int(value, low, high), ir.VectorType(SHORT, half)))
        return w.shuffle(*halves, list(range(w.width)))

    yield results


def float32_epilogue(w, terms, numbers, scale, channel, padded):
    """Sums as float32: clamp(sums * (scale of the image * scale) + bias) with the limits `numbers`.

    `terms` are the scales of all channels, then the biases, as float32.
    """
    builder, numbers = w.builder, w.pointer(numbers)
    low, high = (w.repeat(w.load(numbers, 4 * i, FLOAT)) for i in range(2))
    scales = w.move(w.pointer(terms), w.mul(channel, 4))
    bias = w.load(w.move(scales, w.mul(padded, 4)))
    scale = w.mul(w.repeat(w.load(w.pointer(scale), 0, FLOAT)), w.load(scales))

    def results(sums):
        value = w.mul(builder.sitofp(sums, w.vector), scale)
        return builder.bitcast(w.clamp(w.add(value, bias), low, high), w.i32_vector)

    yield results


@inline
def _group(pairs):
    """Rows of a group, and what is added to the inputs."""
    return (2, 0) if pairs else (int8_rows(), input_offset())


@inline
def _point_row(table, x, row, left, step, padding):
    """Fills the table of one row of input; with what lies outside where there is no such row."""
    pitch = x.shape[3] * x.itemsize
    inside = 0 <= row < x.shape[0] * x.shape[1]
    width, begin = (x.shape[2], address(x) + row * x.shape[2] * pitch) if inside else (0, 0)
    point_columns(table, begin, left, step, width, pitch, padding)


def _depthwise(run, taps, stride, pairs):
    """The kernel that does its strips with `run`, which is for `taps` and `stride`."""
    in_strips, max_results = taps > 1, results_of(taps, stride)

    def depthwise(
        x, weights, start, terms, numbers, scales, padding, out, taps_h, taps_w, window,
        first, last, fault,
    ):  # fmt: skip
        rows, columns, channels = out.shape[1], out.shape[2], out.shape[3]
        height, padded, tables = x.shape[1], start.shape[1], _tables()
        n_taps = taps_h if in_strips else taps_h * taps_w
        step = 1 if in_strips else window.stride_w
        group, _ = _group(pairs)
        groups = (n_taps + group - 1) // group
        pitch = channels * out.itemsize
        for item in range(first, last):
            n = item // rows
            top = (item - n * rows) * window.stride_h - window.before_h
            begin = address(start) + 4 * padded * min(n, start.shape[0] - 1)
            outside = address(padding) + x.shape[3] * x.itemsize * min(n, padding.shape[0] - 1)
            column = 0
            while column < columns:
                left, y, j = column * window.stride_w - window.before_w, top, 0
                for tap in range(group * groups):
                    row = n * height + y if tap < n_taps and 0 <= y < height else -1
                    at = left + j * window.dilation_w
                    _point_row(tables + tap * TABLE, x, row, at, step, outside)
                    j += 1
                    if in_strips or j == taps_w:
                        y, j = y + window.dilation_h, 0
                target = address(out) + (item * columns + column) * pitch
                count = min(max_results, columns - column)
                scale = address(scales) + scales.itemsize * n
                run(tables, groups, address(weights), begin, address(terms), address(numbers),
                    scale, target, count, channels, padded)  # fmt: skip
                column += max_results

    return depthwise


_WORDS = "taps_h:i taps_w:i window:ConvWindow"
_INPUTS = "[batch,*,*,c] weights:uint8[*,*,padded,4] start:int32[*,padded]"


def _kernels(name, declaration, finish, sizes, **sets):
    """A kernel for each of KINDS and, where these take bytes in groups, one that takes pairs."""
    size, _ = sizes
    kinds = [(f"{taps}_{stride}", taps, stride, size > 1) for taps, stride in KINDS]
    if size == 1:
        kinds.append(("pairs", 1, 1, True))
    for kind, taps, stride, pairs in kinds:
        run = strip(f"{name}_{kind}", finish, sizes, taps, stride, pairs=pairs)
        declare = kernel(
            f"{declaration} {_WORDS}", name=f"{name}_{kind}", ConvWindow=ConvWindow, **sets
        )
        declare(_depthwise(run, taps, stride, pairs))


_kernels(
    "int8",
    f"x:int8{_INPUTS} terms:int64[*,48] numbers:int64[*] scales:int8[batch] padding:int8[*,c] "
    "out:T[batch,*,*,c]",
    int8_epilogue,
    (1, 1),
    T=("int8", "uint8"),
)
_kernels(
    "int16",
    f"x:int16{_INPUTS} terms:int64[2,padded] numbers:int64[*] scales:int8[batch] "
    "padding:int16[*,c] out:int16[batch,*,*,c]",
    int16_epilogue,
    (2, 2),
)
_kernels(
    "float32",
    f"x:int8{_INPUTS} terms:float32[2,padded] numbers:float32[*] scales:float32[batch] "
    "padding:int8[*,c] out:float32[batch,*,*,c]",
    float32_epilogue,
    (1, 4),
)


@kernel("start:int32[*,padded] totals:int32[padded] zeros:int32[batch] out:int32[batch,padded]")
def begin_at(start, totals, zeros, out, first, last, fault):
    """What the sums of each image begin with when the images have zero points of their own."""
    for n in range(zeros.size):
        for c in range(totals.size):
            out[n, c] = start[0, c] - zeros[n] * totals[c]


@kernel(
    "weights:int16[*,*,c] bias:int32[c] out_weights:uint8[*,*,padded,4] out_start:int32[1,padded] "
    "out_totals:int32[padded] x_zero:i pairs:i"
)
def pack(weights, bias, out_weights, out_start, out_totals, x_zero, pairs, first, last, fault):
    """The rows of a filter in groups, the sums of its weights, and what sums begin with.

    That is the bias without what the zero point of the input and `input_offset` add.
    """
    group, offset = _group(pairs != 0)
    nbytes = 4 // group
    for c in range(out_totals.size):
        out_totals[c] = 0
    for i in range(out_weights.shape[0]):
        for j in range(out_weights.shape[1]):
            for c in range(out_totals.size):
                for k in range(4):
                    out_weights[i, j, c, k] = 0
    for i in range(weights.shape[0]):
        byte = nbytes * (i % group)
        for j in range(weights.shape[1]):
            target = out_weights[i // group, j]
            for c in range(bias.size):
                weight = weights[i, j, c]
                target[c, byte] = weight & 255
                if nbytes == 2:
                    target[c, byte + 1] = (weight >> 8) & 255
                out_totals[c] += weight
    for c in range(out_totals.size):
        begin = bias[c] if c < bias.size else 0
        out_start[0, c] = begin - (x_zero + offset) * out_totals[c]
