"""Sums of products: matrices, convolutions, transposed convolutions.

Eight products at a time are summed in float32, those sums in float64, so a result is off by less
than 6e-7 of the sum of the terms' sizes, however many there are. The inner loop runs over output
channels, which lie next to each other in the packed weights. A call of a kernel sums in the
scratch row of its first item, which no other call uses.
"""

from numba import float32, float64

from ...build.kernel import inline, kernel
from ...records import ConvWindow3D


@inline
def add_products(x, weights, start, sums):
    """sums[j] += sum over k of x[k] * weights[start + k, j]"""
    count = x.size
    k = 0
    while k + 8 <= count:
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        x4, x5, x6, x7 = x[k + 4], x[k + 5], x[k + 6], x[k + 7]
        row = start + k
        w0, w1, w2, w3 = weights[row], weights[row + 1], weights[row + 2], weights[row + 3]
        w4, w5, w6, w7 = weights[row + 4], weights[row + 5], weights[row + 6], weights[row + 7]
        for j in range(sums.size):
            first_half = (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
            second_half = (x4 * w4[j] + x5 * w5[j]) + (x6 * w6[j] + x7 * w7[j])
            sums[j] += float64(first_half + second_half)
        k += 8
    while k < count:
        xk = x[k]
        wk = weights[start + k]
        for j in range(sums.size):
            sums[j] += float64(xk * wk[j])
        k += 1


@inline
def finish(sums, bias, out, low, high):
    """out = clamp(sums + bias); nan stays nan."""
    for j in range(out.size):
        y = float32(sums[j] + float64(bias[j]))
        y = low if y < low else y
        out[j] = high if y > high else y


@inline
def clear(sums):
    """sums = 0"""
    for j in range(sums.size):
        sums[j] = 0.0


@kernel(
    "a:float32[*,m,k] b:float32[*,k,n] bias:float32[n] a_of:int32[batch] b_of:int32[batch] "
    "out:float32[batch,m,n] scratch:float64[items,n] n_rows:i low:float32 high:float32"
)
def matmul(a, b, bias, a_of, b_of, out, scratch, n_rows, low, high, first, last, fault):
    """out[i] = clamp(a[a_of[i]] @ b[b_of[i]] + bias); an item is `n_rows` rows of one matrix."""
    height = out.shape[1]
    blocks = (height + n_rows - 1) // n_rows
    sums = scratch[first]
    for item in range(first, last):
        batch = item // blocks
        start = (item - batch * blocks) * n_rows
        a_matrix, b_matrix, target = a[a_of[batch]], b[b_of[batch]], out[batch]
        for row in range(start, min(start + n_rows, height)):
            clear(sums)
            add_products(a_matrix[row], b_matrix, 0, sums)
            finish(sums, bias, target[row], low, high)


@inline
def add_taps(line, weights, x_start, dilation, channels, groups, sums):
    """Adds what one row of the filter, `weights`, gives on one row of the input, `line`."""
    depth = channels // groups
    taps, width = weights.shape[0] // depth, line.size // channels
    if groups == 1 and dilation == 1:
        begin, end = max(0, -x_start), min(taps, width - x_start)
        if begin < end:
            at = x_start * channels
            pixels = line[at + begin * channels : at + end * channels]
            add_products(pixels, weights, begin * channels, sums)
        return
    n_out = sums.size // groups
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
    "x:float32[batch,*,*,*] weights:float32[*,*,*,n] bias:float32[n] "
    "out:float32[batch,*,*,*,n] scratch:float64[items,n] channels:i groups:i window:ConvWindow3D "
    "low:float32 high:float32",
    ConvWindow3D=ConvWindow3D,
)
def convolution(
    x, weights, bias, out, scratch, channels, groups, window, low, high, first, last, fault
):
    """out[n, z, y, x] = clamp(bias + sum of input * weights under the filter), 2-D when d is 1.

    `x` is [batch, depth, height, width * channels], `weights` are [depth, height, width * channels
    of a group, n]. An item is one row of `out`. What lies outside the input counts as nothing.
    """
    rows, columns = out.shape[2], out.shape[3]
    sums = scratch[first]
    for item in range(first, last):
        plane = item // rows
        row = item - plane * rows
        n = plane // out.shape[1]
        z_start = (plane - n * out.shape[1]) * window.stride_d - window.before_d
        y_start = row * window.stride_h - window.before_h
        for column in range(columns):
            clear(sums)
            x_start = column * window.stride_w - window.before_w
            for i in range(weights.shape[0]):
                z = z_start + i * window.dilation_d
                if not 0 <= z < x.shape[1]:
                    continue
                for j in range(weights.shape[1]):
                    y = y_start + j * window.dilation_h
                    if not 0 <= y < x.shape[2]:
                        continue
                    line, taps = x[n, z, y], weights[i, j]
                    add_taps(line, taps, x_start, window.dilation_w, channels, groups, sums)
            finish(sums, bias, out[n, plane - n * out.shape[1], row, column], low, high)


@inline
def source(position, tap, stride, dilation, size):
    """The input position that `tap` spreads onto output `position`; -1 when there is none."""
    reach = position - tap * dilation
    i = reach // stride
    return i if reach >= 0 and i * stride == reach and i < size else -1


@kernel(
    "x:float32[batch,*,*,*,k] weights:float32[*,*,*,k,n] bias:float32[n] "
    "out:float32[batch,*,*,*,n] scratch:float64[items,n] window:ConvWindow3D "
    "low:float32 high:float32",
    ConvWindow3D=ConvWindow3D,
)
def transposed_convolution(x, weights, bias, out, scratch, window, low, high, first, last, fault):
    """out[n, p] = clamp(bias + sum of x[n, i] * weights[t]).

    The sum goes over all i and t with i * stride + t * dilation = p + before.
    `weights` are [depth, height, width, k, n]. An item is one row of `out`.
    """
    rows, columns = out.shape[2], out.shape[3]
    sums = scratch[first]
    for item in range(first, last):
        plane = item // rows
        row = item - plane * rows
        n = plane // out.shape[1]
        depth = plane - n * out.shape[1]
        for column in range(columns):
            clear(sums)
            for i in range(weights.shape[0]):
                z = source(
                    depth + window.before_d, i, window.stride_d, window.dilation_d, x.shape[1]
                )
                if z < 0:
                    continue
                for j in range(weights.shape[1]):
                    y = source(
                        row + window.before_h, j, window.stride_h, window.dilation_h, x.shape[2]
                    )
                    if y < 0:
                        continue
                    for k in range(weights.shape[2]):
                        at = source(
                            column + window.before_w, k, window.stride_w, window.dilation_w,
                            x.shape[3],
                        )  # fmt: skip
                        if at >= 0:
                            add_products(x[n, z, y, at], weights[i, j, k], 0, sums)
            finish(sums, bias, out[n, depth, row, column], low, high)
