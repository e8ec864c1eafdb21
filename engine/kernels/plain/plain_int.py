"""Sums of products of integers: matrices, convolutions, transposed convolutions.

Operands are int16 with zero points taken off (`subtract_zero_point`), so what lies outside an
input counts as nothing. Sums start from `bias`; they are int32 and wrap, or int64. The inner loop
runs over output channels, which lie next to each other in the packed weights.
"""

from numba import int64

from ...build.kernel import inline, kernel
from ...records import ConvWindow

QUANTIZED = ("int8", "uint8", "int16")
SUMS = ("int32", "int64")


@kernel("x:T1 out~x:int16[1] zero_point:i", T=QUANTIZED)
def subtract_zero_point(x, out, zero_point, first, last, fault):
    """out = x - zero_point"""
    for i in range(first, last):
        out[i] = int64(x[i]) - zero_point


@inline
def begin(bias, sums):
    """sums = bias"""
    for j in range(sums.size):
        sums[j] = bias[j]


@inline
def add_products(x, weights, start, sums):
    """sums[j] += sum over k of x[k] * weights[start + k, j]"""
    count = x.size
    k = 0
    while k + 4 <= count:
        x0, x1, x2, x3 = int64(x[k]), int64(x[k + 1]), int64(x[k + 2]), int64(x[k + 3])
        row = start + k
        w0, w1, w2, w3 = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        for j in range(sums.size):
            sums[j] += (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
        k += 4
    while k < count:
        xk, wk = int64(x[k]), weights[start + k]
        for j in range(sums.size):
            sums[j] += xk * wk[j]
        k += 1


@kernel(
    "a:int16[*,m,k] b:int16[*,k,n] bias:S[n] a_of:int32[batch] b_of:int32[batch] out:S[batch,m,n]",
    S=SUMS,
)
def matmul(a, b, bias, a_of, b_of, out, first, last, fault):
    """out[i] = a[a_of[i]] @ b[b_of[i]] + bias; an item is one row of one matrix."""
    height = out.shape[1]
    for item in range(first, last):
        batch = item // height
        row = item - batch * height
        sums = out[batch, row]
        begin(bias, sums)
        add_products(a[a_of[batch], row], b[b_of[batch]], 0, sums)


@inline
def add_taps(line, weights, x_start, dilation, channels, groups, sums):
    """Adds what one row of the filter, `weights`, gives on one row of the input, `line`."""
    depth, n_out = channels // groups, sums.size // groups
    taps, width = weights.shape[0] // depth, line.size // channels
    if groups == 1 and dilation == 1:
        before, after = max(0, -x_start), min(taps, width - x_start)
        if before < after:
            at = x_start * channels
            pixels = line[at + before * channels : at + after * channels]
            add_products(pixels, weights, before * channels, sums)
        return
    for tap in range(taps):
        at = x_start + tap * dilation
        if not 0 <= at < width:
            continue
        for group in range(groups):
            start = at * channels + group * depth
            group_columns = slice(group * n_out, (group + 1) * n_out)
            pixels, columns = line[start : start + depth], weights[:, group_columns]
            add_products(pixels, columns, tap * depth, sums[group_columns])


@kernel(
    "x:int16[batch,*,*] weights:int16[*,*,n] bias:S[n] out:S[batch,*,*,n] channels:i groups:i "
    "window:ConvWindow",
    S=SUMS,
    ConvWindow=ConvWindow,
)
def convolution(x, weights, bias, out, channels, groups, window, first, last, fault):
    """out[n, y, x] = bias + sum of input * weights under the filter.

    `x` is [batch, height, width * channels], `weights` are [height, width * channels of a group,
    n]. An item is one row of `out`.
    """
    rows = out.shape[1]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        for column in range(out.shape[2]):
            sums, x_start = out[n, row, column], column * window.stride_w - window.before_w
            begin(bias, sums)
            for i in range(weights.shape[0]):
                y = row * window.stride_h - window.before_h + i * window.dilation_h
                if 0 <= y < x.shape[1]:
                    add_taps(
                        x[n, y], weights[i], x_start, window.dilation_w, channels, groups, sums
                    )


@inline
def source(position, tap, stride, size):
    """The input position that `tap` spreads onto output `position`; -1 when there is none."""
    reach = position - tap
    i = reach // stride
    return i if reach >= 0 and i * stride == reach and i < size else -1


@kernel(
    "x:int16[batch,*,*,k] weights:int16[*,*,k,n] bias:S[n] out:S[batch,*,*,n] "
    "stride_h:i stride_w:i before_h:i before_w:i",
    S=SUMS,
)
def transposed_convolution(
    x, weights, bias, out, stride_h, stride_w, before_h, before_w, first, last, fault
):
    """out[n, p] = bias + sum of x[n, i] * weights[t], where i * stride + t = p + before.

    An item is one row of `out`.
    """
    rows = out.shape[1]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        for column in range(out.shape[2]):
            sums = out[n, row, column]
            begin(bias, sums)
            for i in range(weights.shape[0]):
                y = source(row + before_h, i, stride_h, x.shape[1])
                if y < 0:
                    continue
                for j in range(weights.shape[1]):
                    at = source(column + before_w, j, stride_w, x.shape[2])
                    if at >= 0:
                        add_products(x[n, y, at], weights[i, j], 0, sums)


@inline
def add_tap(pixel, weights, sums):
    """sums[c * m + i] += pixel[c] * weights[c * m + i], with m outputs for each channel"""
    multiplier = sums.size // pixel.size
    if multiplier == 1:
        for c in range(pixel.size):
            sums[c] += int64(pixel[c]) * weights[c]
        return
    for c in range(pixel.size):
        x, start = int64(pixel[c]), c * multiplier
        tap_weights, channel_sums = (
            weights[start : start + multiplier],
            sums[start : start + multiplier],
        )
        for i in range(multiplier):
            channel_sums[i] += x * tap_weights[i]


@kernel(
    "x:int16[batch,*,*,*] weights:int16[*,*,n] bias:S[n] out:S[batch,*,*,n] window:ConvWindow",
    S=SUMS,
    ConvWindow=ConvWindow,
)
def depthwise(x, weights, bias, out, window, first, last, fault):
    """out[n, y, x, c] = bias[c] + sum of input[.., c // m] * weights[.., c]; an item is one row."""
    rows = out.shape[1]
    for item in range(first, last):
        n = item // rows
        row = item - n * rows
        for column in range(out.shape[2]):
            sums = out[n, row, column]
            begin(bias, sums)
            for i in range(weights.shape[0]):
                y = row * window.stride_h - window.before_h + i * window.dilation_h
                if not 0 <= y < x.shape[1]:
                    continue
                for j in range(weights.shape[1]):
                    at = column * window.stride_w - window.before_w + j * window.dilation_w
                    if 0 <= at < x.shape[2]:
                        add_tap(x[n, y, at], weights[i, j], sums)


def matrices(zero):
    """out[i] = a[i] @ b[i].T, sums from `zero` on, those of integers wrap; an item is a row."""

    def run(a, b, out, first, last, fault):
        rows = out.shape[1]
        for item in range(first, last):
            i = item // rows
            row = item - i * rows
            x = a[i, row]
            for j in range(out.shape[2]):
                y, total = b[i, j], zero
                for k in range(x.size):
                    total += x[k] * y[k]
                out[i, row, j] = total

    return run


for _name, _zero, _types in (
    ("matrices", 0, ("int8", "int16", "int32", "int64")),
    ("matrices_f64", 0.0, ("float64",)),
):
    kernel("a:T[b,m,k] b:T[b,n,k] out:T[b,m,n]", name=_name, T=_types)(matrices(_zero))
