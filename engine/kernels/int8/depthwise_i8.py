"""Convolution of each channel of small integers by itself; depthwise_f32.py has that of floats.

The rows of the filter are taken in groups, so that each int32 of a vector gets several products by
one instruction: four of bytes where the processor has one for these, else two of int16; what is
missing to a group counts as zero. A strip is some results next to each other in a row. For each row
of a group a table holds the addresses of the input columns the strip needs; what lies outside the
input is at `padding`. Filters three or five wide with stride 1 or 2 read each column once; any
other is done as if its taps were the rows of a filter one wide. Square filters have strips of their
own where bytes do not come in fours (_depthwise_i8_square.py).
"""

from numba import int8, int16, types

from ...build.kernel import address, inline, kernel, microkernel, stack_buffer
from ...build.simd import UNSIGNED
from ...build.vector import WORD
from ...records import ConvWindow
from ...tiling import SQUARE_STRIPS
from .._columns import COLUMNS, KINDS, TABLE, point_columns, results_of
from ._depthwise_i8_epilogue import float32_epilogue, int8_epilogue, int16_epilogue
from ._depthwise_i8_square import INPUT_OFFSET, has_squares, square_pair, square_strip
from ._depthwise_i8_strip import position_of, strip

ROWS = 256  # that there is room for
_tables = stack_buffer(ROWS * TABLE)


@microkernel(types.int64(), inline=True)
def int8_rows(builder, simd):
    """How many rows of bytes are a group."""
    return WORD(4 if simd.dots else 2)


@microkernel(types.int64(), inline=True)
def input_offset(builder, simd):
    """What is added to bytes in fours before they are multiplied."""
    return WORD(128 if simd.dots == UNSIGNED else 0)


@inline
def _group(pairs):
    """Rows of a group, and what is added to the inputs."""
    return (2, 0) if pairs else (int8_rows(), input_offset())


@inline
def _in_blocks(square):
    """Whether the terms and weights of channels come in blocks."""
    return int8_rows() == 4 or (square and has_squares() != 0)


@inline
def _point_row(table, x, row, left, step, padding):
    """Fills the table of one row of input; with what lies outside where there is no such row."""
    pitch = x.shape[3] * x.itemsize
    inside = 0 <= row < x.shape[0] * x.shape[1]
    width, begin = (x.shape[2], address(x) + row * x.shape[2] * pitch) if inside else (0, 0)
    point_columns(table, begin, left, step, width, pitch, padding)


@inline
def _even_strips(columns, most):
    """How many results the strips of a row have that has as few as it may, of one length."""
    n_strips = (columns + most - 1) // most
    return (columns + n_strips - 1) // n_strips


def _depthwise(run, run_square, taps, stride, pairs):
    """The kernel that does its strips with `run`, which is for `taps` and `stride`.

    Those under square filters are for `run_square`, if it is not None and the processor has it.
    """
    has_square = run_square is not None
    run_square = run_square or run
    in_strips, n_results = taps > 1, results_of(taps, stride)
    max_square = results_of(taps, stride, COLUMNS)

    def depthwise(
        x, weights, start, terms, numbers, scales, padding, out, taps_h, taps_w, window,
        first, last, fault,
    ):  # fmt: skip
        rows, columns, channels = out.shape[1], out.shape[2], out.shape[3]
        height, padded, tables = x.shape[1], start.shape[1], _tables()
        square = has_square and taps_h == taps and has_squares() != 0
        n_taps = taps_h if in_strips else taps_h * taps_w
        step = 1 if in_strips else window.stride_w
        group = 1 if square else _group(pairs)[0]
        groups = (n_taps + group - 1) // group
        max_results = _even_strips(columns, max_square) if square else n_results
        pitch, packed = channels * out.itemsize, address(weights)
        after, limits = address(terms), address(numbers)
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
                if square:
                    run_square(tables, groups, packed, begin, after, limits, scale, target, count,
                               channels, padded)  # fmt: skip
                else:
                    run(tables, groups, packed, begin, after, limits, scale, target, count,
                        channels, padded)  # fmt: skip
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
        run_square, run = None, strip(f"{name}_{kind}", finish, sizes, taps, stride, pairs=pairs)
        if size == 1 and (taps, stride) in SQUARE_STRIPS:
            run_square = square_strip(f"{name}_{kind}", finish, sizes, taps, stride)
        declare = kernel(
            f"{declaration} {_WORDS}", name=f"{name}_{kind}", ConvWindow=ConvWindow, **sets
        )
        declare(_depthwise(run, run_square, taps, stride, pairs))


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


@kernel("terms:int64[blocks,48] out:int64[blocks,48] n:i square:i")
def order_int8(terms, out, n, square, first, last, fault):
    """The terms of `n` channels (_requantize.py) where blocks of channels look for them."""
    in_blocks = _in_blocks(square != 0)
    for block in range(terms.shape[0]):
        for word in range(terms.shape[1]):
            out[block, word] = 0
    for c in range(16 * terms.shape[0]):
        position = position_of(c, n) if c < n and in_blocks else c
        source, target = terms[c // 16], out[position // 16]
        half, to_half = c % 16 // 2, position % 16 // 2
        for part in range(0, 32, 16):  # those of even channels, and of odd ones
            begin, to = part + 8 * (c % 2), part + 8 * (position % 2)
            target[to + to_half] = source[begin + half]
        for part in range(32, 48, 8):  # two int32 in each
            value = (source[part + half] >> (32 * (c % 2))) & 0xFFFFFFFF
            target[part + to_half] |= value << (32 * (position % 2))


@kernel("terms:float32[2,padded] out:float32[2,padded] n:i square:i")
def order_float32(terms, out, n, square, first, last, fault):
    """The terms of `n` channels where blocks of channels look for them."""
    in_blocks = _in_blocks(square != 0)
    for i in range(2):
        for c in range(terms.shape[1]):
            out[i, position_of(c, n) if c < n and in_blocks else c] = terms[i, c]


@kernel("start:int32[*,padded] totals:int32[padded] zeros:int32[batch] out:int32[batch,padded]")
def begin_at(start, totals, zeros, out, first, last, fault):
    """What the sums of each image begin with when the images have zero points of their own."""
    for n in range(zeros.size):
        for c in range(totals.size):
            out[n, c] = start[0, c] - zeros[n] * totals[c]


@kernel(
    "weights:W[*,*,c] bias:int32[c] out_weights:uint8[*,*,padded,4] out_start:int32[1,padded] "
    "out_totals:int32[padded] x_zero:i pairs:i square:i",
    W=(int8, int16),
)
def pack(
    weights, bias, out_weights, out_start, out_totals, x_zero, pairs, square, first, last, fault
):
    """The rows of a filter in groups, the sums of its weights, and what sums begin with.

    That is the bias without what the zero point of the input and `input_offset` add.
    """
    in_squares = square != 0 and has_squares() != 0
    group, offset = (2, INPUT_OFFSET) if in_squares else _group(pairs != 0)
    in_blocks = pairs == 0 and _in_blocks(square != 0)
    nbytes, n, columns = 4 // group, bias.size, weights.shape[1]
    for c in range(out_totals.size):
        out_totals[c] = 0
    for i in range(out_weights.shape[0]):
        for j in range(out_weights.shape[1]):
            for c in range(out_totals.size):
                for k in range(4):
                    out_weights[i, j, c, k] = 0
    for i in range(weights.shape[0]):
        for j in range(columns):
            row, k = i // group * columns + j, i % group
            if in_squares:
                row, k = square_pair(columns, i, j)
            target, byte = out_weights[row // columns, row % columns], nbytes * k
            for c in range(n):
                weight, position = weights[i, j, c], position_of(c, n) if in_blocks else c
                target[position, byte] = weight & 255
                if nbytes == 2:
                    target[position, byte + 1] = (weight >> 8) & 255
                out_totals[position] += weight
    for position in range(out_totals.size):
        out_start[0, position] = -(x_zero + offset) * out_totals[position]
    for c in range(n):
        position = position_of(c, n) if in_blocks else c
        out_start[0, position] += bias[c]
