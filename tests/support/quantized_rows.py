"""Rows of float32 as bytes, as TFLite's dynamic range has them, in numpy."""

import numpy as np


def rounded(x, asymmetric):
    """Rows as bytes with scales and zero points, as LiteRT makes them (cases/edges.py: ties)."""
    low, high = np.minimum(x.min(1), 0), np.maximum(x.max(1), 0)
    if asymmetric:
        scales = np.where(low == high, 1.0, np.float64(high - low) / 255)
        low, high = np.float64(low), np.float64(high)
        down = -128 - low / scales, 128 + np.abs(low / scales)
        up = 127 - high / scales, 127 + np.abs(high / scales)
        zeros = np.where(down[1] < up[1], down[0], up[0])
        zeros = np.clip(np.trunc(zeros + np.copysign(0.5, zeros)), -128, 127)
        scales = scales.astype(np.float32)
        inverses = np.float32(1) / scales
    else:
        reach = np.maximum(-low, high)
        flat, zeros = reach == 0, np.zeros(len(x))
        scales = np.where(flat, np.float32(1), reach / np.float32(127))
        inverses = np.where(flat, np.float32(0), np.float32(127) / np.where(flat, 1, reach))
    values = x * inverses.astype(np.float32)[:, None]
    values = np.trunc(values + np.copysign(np.float32(0.5), values)) + zeros[:, None]
    return np.clip(values, -128 if asymmetric else -127, 127), scales, zeros


def blockwise_product(x, weights, scales, bias=0.0):
    """What TFLite makes of rows and weights [n, k] with float32 `scales` [n, blocks], in float64.

    Each row is quantized to 8 bits with a zero point.
    """
    values, row_scales, zeros = rounded(x, True)
    real = weights.astype(np.float64) * scales.repeat(weights.shape[1] // scales.shape[1], 1)
    return (values - zeros[:, None]) * row_scales[:, None] @ real.T + bias
