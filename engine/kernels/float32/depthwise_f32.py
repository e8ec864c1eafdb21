"""Convolution of each channel by itself, a vector of channels and a strip of results at a time.

A strip is some results next to each other in a row. For each row of the filter a table holds the
addresses of the input columns the strip needs; what lies outside the input is at `zeros`. Filters
three or five wide with stride 1 or 2 read each column once; any other is done tap by tap.
"""

from numba import types

from ...build.kernel import address, inline, kernel, microkernel, stack_buffer
from ...build.vector import WORD, Writer
from ...records import ConvWindow
from ...tiling import DEPTHWISE_TAPS
from .._columns import KINDS, TABLE, point_columns, results_of, strip_width

_tables = stack_buffer(DEPTHWISE_TAPS * TABLE)
_CROWDED = 4, 2  # as `_shape`, of a strip of crowded pixels
_SIGNATURE = types.void(*[types.int64] * 8, types.float32, types.float32)


def _shape(simd, taps, stride):
    """Results of a strip, and how many vectors of channels of these are done together.

    Steps of 2 read about as many columns as they add products: where a line of the cache is two
    vectors, both are read while it is there. Rows of 512 channels and more share few places.
    """
    return (4, 2) if (simd.width, taps, stride) == (8, 3, 2) else (results_of(taps, stride), 1)


@microkernel(types.int64(), inline=True)
def width_3_2(builder, simd):
    """Results of a strip of `strip_3_2`."""
    return WORD(_shape(simd, 3, 2)[0])


@microkernel(types.int64(), inline=True)
def width_crowded(builder, simd):
    """Results of a strip of `strip_3_1_crowded`; 0 where lines are no two vectors."""
    return WORD(_CROWDED[0] if simd.width == 8 else 0)


def strip(taps, stride, short=False, far=False, crowded=False):
    """The microkernel for a strip of results, or a `short` one, under filter rows `taps` wide.

    That for inputs that are `far` asks for those of the next strip where lines are two vectors.
    That for `crowded` pixels, which share places of the nearest cache, reads whole lines.
    """

    def emit(builder, simd, tables, rows, weights, bias, out, count, channels, pitch, low, high):
        w = Writer(builder, simd)
        results, n_vectors = (_SHORT_STRIP, 1) if short else _shape(simd, taps, stride)
        results, n_vectors = _CROWDED if crowded else (results, n_vectors)
        tables, weights, bias = (w.pointer(p) for p in (tables, weights, bias))
        targets, target, last = [], w.pointer(out), builder.sub(count, WORD(1))
        for i in range(results):
            targets.append(target)
            further = builder.icmp_signed("<", WORD(i), last)
            target = w.move(target, builder.select(further, pitch, WORD(0)))
        low, high = w.repeat(low), w.repeat(high)
        end, begin = w.mul(channels, 4), WORD(0)
        for n in sorted({n_vectors, 1}, reverse=True):
            shape, vector_end = (
                (taps, stride, results, n, far and n > 1),
                builder.and_(end, WORD(-n * w.bytes)),
            )
            with w.loop(begin, vector_end, n * w.bytes) as (at, _):
                _vectors(w, shape, tables, rows, weights, bias, targets, at, pitch, low, high, None)
            begin = vector_end
        n_channels = builder.sub(channels, builder.sdiv(vector_end, WORD(4)))
        with builder.if_then(builder.icmp_signed(">", n_channels, WORD(0))):
            mask = w.mask(n_channels)
            _vectors(
                w, shape, tables, rows, weights, bias, targets, vector_end, pitch, low, high, mask
            )

    emit.__name__ = f"strip_{taps}_{stride}{'_short' * short}{'_far' * far}{'_crowded' * crowded}"
    return microkernel(_SIGNATURE)(emit)


def _vectors(w, shape, tables, rows, weights, bias, targets, at, pitch, low, high, mask):
    """The results of some vectors of channels, which begin `at` bytes from the first."""
    taps, stride, results, n_vectors, far = shape

    def load(pointer, v):
        pointer = w.move(pointer, w.add(at, v * w.bytes))
        return w.load(pointer) if mask is None else w.load_masked(pointer, mask)

    start = [tables, weights, *[w.zero()] * (results * n_vectors)]
    with w.loop(0, rows, 1, start) as (_, carried):
        table, filters = carried[:2]
        sums, factors = carried[2:], []
        for _ in range(taps):
            factors.append([load(filters, v) for v in range(n_vectors)])
            filters = w.move(filters, pitch)
        for column in range((results - 1) * stride + taps):
            used = [(tap, *divmod(column - tap, stride)) for tap in range(taps)]
            used = [(tap, i) for tap, i, odd in used if not odd and 0 <= i < results]
            if not used:
                continue
            pointer = w.load_pointer(table, 8 * column)
            if far and column >= taps - stride:
                w.prefetch(w.move(pointer, w.add(w.mul(pitch, results * stride), at)))
            for v in range(n_vectors):
                x = load(pointer, v)
                for tap, i in used:
                    k = i * n_vectors + v
                    sums[k] = w.fma(x, factors[tap][v], sums[k])
        carried[:] = [w.move(table, TABLE), filters, *sums]
    sums, bias_vectors = w.results[2:], [load(bias, v) for v in range(n_vectors)]
    for i in reversed(range(results)):  # those beyond the last lie under it
        for v in range(n_vectors):
            value = w.clamp(w.add(sums[i * n_vectors + v], bias_vectors[v]), low, high)
            if mask is None:
                w.store(value, targets[i], w.add(at, v * w.bytes))
            else:
                w.store_masked(value, w.move(targets[i], at), mask)


_FAR_BYTES, _MAX_FAR_PITCH = 1 << 20, 448
"""Bytes of an image that the nearer caches have no room for, and of a pixel whose lines next to
each other the nearest one has room for, beside those that are asked for."""
_CROWDED_PITCH = 1024
"""Bytes that a pixel has a multiple of whose columns share few places of the nearest cache."""
_SHORT_STRIP = 5
"""Results of a strip that wastes less where a row is of another length."""
strip_1_1, strip_3_1, strip_3_2, strip_5_1, strip_5_2 = (strip(*kind) for kind in KINDS)
strip_3_1_short, strip_3_2_short = strip(3, 1, short=True), strip(3, 2, short=True)
strip_3_2_far, strip_3_1_crowded = strip(3, 2, far=True), strip(3, 1, crowded=True)


@inline
def _width(kind, columns):
    """How many results the strips of a row have, all but its last."""
    width = strip_width(kind // 10, kind % 10) if kind else strip_width(1, 1)
    if kind == 32 and width_3_2() < width:
        return width_3_2()
    full, last = columns // width * width, columns % width
    padded = full + (0 if last == 0 else _SHORT_STRIP if last <= _SHORT_STRIP else width)
    padded_short = (columns + _SHORT_STRIP - 1) // _SHORT_STRIP * _SHORT_STRIP
    return _SHORT_STRIP if padded_short < padded and kind // 10 == 3 else width


@kernel(
    "x:float32[batch,*,*,c] weights:float32[*,*,c] bias:float32[c] zeros:float32[c] "
    "out:float32[batch,*,*,c] kind:i window:ConvWindow low:float32 high:float32",
    ConvWindow=ConvWindow,
)
def depthwise(x, weights, bias, zeros, out, kind, window, low, high, first, last, fault):
    """out[n, y, x, c] = clamp(bias[c] + sum of input[.., c] * weights[.., c]).

    `kind` is 10 * width + stride where there is a strip for these, else 0. An item is one row.
    """
    rows, columns, channels = out.shape[1], out.shape[2], out.shape[3]
    height, width, pitch = x.shape[1], x.shape[2], 4 * x.shape[3]
    taps_h, taps_w = weights.shape[0], weights.shape[1]
    tables, padding = _tables(), address(zeros)
    is_crowded = kind == 31 and pitch % _CROWDED_PITCH == 0 and width_crowded() > 0
    strip_width = width_crowded() if is_crowded else _width(kind, columns)
    is_far = height * width * pitch >= _FAR_BYTES and pitch <= _MAX_FAR_PITCH
    for item in range(first, last):
        n = item // rows
        top = (item - n * rows) * window.stride_h - window.before_h
        begin, end = 0, taps_h
        while begin < end and top + begin * window.dilation_h < 0:
            begin += 1
        while begin < end and top + (end - 1) * window.dilation_h >= height:
            end -= 1
        factors = address(weights) + begin * taps_w * pitch
        column = 0
        while column < columns:
            table, x_start = tables, column * window.stride_w - window.before_w
            for i in range(begin, end):
                row = address(x) + (n * height + top + i * window.dilation_h) * width * pitch
                if kind != 0:
                    point_columns(table, row, x_start, 1, width, pitch, padding)
                    table += TABLE
                else:
                    for j in range(taps_w):
                        at = x_start + j * window.dilation_w
                        point_columns(table, row, at, window.stride_w, width, pitch, padding)
                        table += TABLE
            target = address(out) + (item * columns + column) * pitch
            count, lines = min(strip_width, columns - column), end - begin
            if is_crowded:
                strip_3_1_crowded(tables, lines, factors, address(bias), target, count, channels,
                                  pitch, low, high)  # fmt: skip
            elif kind == 31 and count <= _SHORT_STRIP:
                strip_3_1_short(tables, lines, factors, address(bias), target, count, channels,
                              pitch, low, high)  # fmt: skip
            elif kind == 32 and count <= _SHORT_STRIP and strip_width >= _SHORT_STRIP:
                strip_3_2_short(tables, lines, factors, address(bias), target, count, channels,
                              pitch, low, high)  # fmt: skip
            elif kind == 31:
                strip_3_1(tables, lines, factors, address(bias), target, count, channels, pitch,
                          low, high)  # fmt: skip
            elif kind == 32 and is_far:
                strip_3_2_far(tables, lines, factors, address(bias), target, count, channels, pitch,
                              low, high)  # fmt: skip
            elif kind == 32:
                strip_3_2(tables, lines, factors, address(bias), target, count, channels, pitch,
                          low, high)  # fmt: skip
            elif kind == 51:
                strip_5_1(tables, lines, factors, address(bias), target, count, channels, pitch,
                          low, high)  # fmt: skip
            elif kind == 52:
                strip_5_2(tables, lines, factors, address(bias), target, count, channels, pitch,
                          low, high)  # fmt: skip
            else:
                strip_1_1(tables, lines * taps_w, factors, address(bias), target, count, channels,
                          pitch, low, high)  # fmt: skip
            column += strip_width
