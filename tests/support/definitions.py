"""What windows over images mean, in numpy and float64: slow and plain."""

from itertools import product

import numpy as np


def spans(sizes, taps, stride, dilation, padding):
    """(positions, padding before, padding after) along each dimension."""
    windows = []
    for n, k, s, d in zip(sizes, taps, stride, dilation, strict=True):
        reach = (k - 1) * d + 1
        count = -(-n // s) if padding == "SAME" else max(-(-(n - reach + 1) // s), 0)
        total = max((count - 1) * s + reach - n, 0) if padding == "SAME" else 0
        windows.append((count, total // 2, total - total // 2))
    return windows


def taps_of(x, taps, stride, dilation, padding, fill=0.0):
    """(tap, the elements of `x` under it at every position) for each tap of a window."""
    windows = spans(x.shape[1:-1], taps, stride, dilation, padding)
    widths = [(0, 0), *[(before, after) for _, before, after in windows], (0, 0)]
    padded = np.pad(np.asarray(x, np.float64), widths, constant_values=fill)
    for tap in product(*map(range, taps)):
        where = tuple(
            slice(t * d, t * d + (count - 1) * s + 1 if count else t * d, s)
            for t, d, s, (count, _, _) in zip(tap, dilation, stride, windows, strict=True)
        )
        yield tap, padded[(slice(None), *where)]


def convolution(x, weights, bias, stride, dilation, padding, groups=1):
    """`weights` are [*taps, channels of a group, n]."""
    n = weights.shape[-1]
    total = 0.0 if bias is None else np.asarray(bias, np.float64)
    for tap, part in taps_of(x, weights.shape[:-2], stride, dilation, padding):
        tap_weights = np.asarray(weights[tap], np.float64).reshape(-1, groups, n // groups)
        grouped = part.reshape(*part.shape[:-1], groups, part.shape[-1] // groups)
        term = np.einsum("...gi,ign->...gn", grouped, tap_weights)
        total = total + term.reshape(*part.shape[:-1], n)
    return total


def depthwise(x, weights, bias, stride, dilation, padding):
    """`weights` are [height, width, channels * multiplier]."""
    total = 0.0 if bias is None else np.asarray(bias, np.float64)
    multiplier = weights.shape[2] // x.shape[3]
    for tap, part in taps_of(x, weights.shape[:2], stride, dilation, padding):
        total = total + np.repeat(part, multiplier, axis=3) * np.asarray(weights[tap], np.float64)
    return total


def transposed_convolution(x, weights, bias, sizes, stride, dilation, padding):
    """`weights` are [*taps, channels, n]; the result has `sizes` between batch and n."""
    taps = weights.shape[:-2]
    windows = spans(sizes, taps, stride, dilation, padding)
    widths = [(0, 0), *[(before, after) for _, before, after in windows], (0, 0)]
    total = np.pad(np.zeros((x.shape[0], *sizes, weights.shape[-1])), widths)
    for tap in product(*map(range, taps)):
        where = tuple(
            slice(t * d, t * d + (count - 1) * s + 1 if count else t * d, s)
            for t, d, s, (count, _, _) in zip(tap, dilation, stride, windows, strict=True)
        )
        total[(slice(None), *where)] += np.asarray(x, np.float64) @ weights[tap].astype(np.float64)
    inside = tuple(slice(b, b + n) for n, (_, b, _) in zip(sizes, windows, strict=True))
    return total[(slice(None), *inside)] + (0.0 if bias is None else bias)


def pool(kind, x, size, stride, padding):
    """`kind` is "average", "maximum" or "root_mean_square"; padding takes no part."""
    one = (1, 1)
    parts = [part for _, part in taps_of(x, size, stride, one, padding, np.nan)]
    stack = np.stack(parts)
    if kind == "maximum":
        return np.nanmax(stack, axis=0)
    if kind == "average":
        return np.nanmean(stack, axis=0)
    return np.sqrt(np.nanmean(stack**2, axis=0))
