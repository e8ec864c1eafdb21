"""Fourier transforms as matrix products."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import (
    as_type,
    dimension,
    int32s,
    regrouped_from,
    reshaped,
    slice_along,
    transposed,
)
from .registry import lower


def fourier_matrix(n, length, inverse, onesided, is_complex, real_result=False):
    """What a flattened [n, real or complex] is multiplied with: [2 * outputs, inputs].

    Args:
        n: elements that there are; more than `length` are left out, fewer are as if zeros followed.
        length: of the transform.
        inverse: whether the sign is the other one, and the result divided by the length.
        onesided: whether only the first half, and the middle, is given.
        is_complex: whether elements are pairs.
        real_result: whether only real parts are given.
    """
    count = length // 2 + 1 if onesided else length
    n_used = min(n, length)
    angle = 2 * np.pi * np.outer(np.arange(count), np.arange(n_used)) / length
    cos, sin = np.cos(angle), np.sin(angle) if inverse else -np.sin(angle)
    parts = np.zeros((count, 2, n, 2))
    parts[:, 0, :n_used, 0], parts[:, 0, :n_used, 1] = cos, -sin
    parts[:, 1, :n_used, 0], parts[:, 1, :n_used, 1] = sin, cos
    if inverse:
        parts /= length
    parts = parts if is_complex else parts[..., :1]
    parts = parts[:, :1] if real_result else parts
    return parts.reshape(parts.shape[0] * parts.shape[1], -1).astype(np.float32)


@lower("MelWeightMatrix")
def mel_weight_matrix(node, b):
    """The triangles of the mel scale, [bins of a spectrum, bands], from constants."""
    n_bands, length, rate, low, high = (np.ravel(node.constant(i))[0] for i in range(5))
    mels = [2595 * np.log10(1 + edge / 700) for edge in (low, high)]
    edges = mels[0] + np.arange(n_bands + 2) * ((mels[1] - mels[0]) / (n_bands + 2))
    edges = 700 * (10 ** (edges / 2595) - 1)
    left, centre, right = (
        ((length + 1) * edges // rate).astype(int)[i : i + n_bands] for i in range(3)
    )
    bins = np.arange(length // 2 + 1)[:, None]
    rising = (bins - left) / np.maximum(centre - left, 1)
    rising = np.where(centre == left, 1, rising) * ((left <= bins) & (bins <= centre))
    falling = (right - bins) / np.maximum(right - centre, 1)
    matrix = np.where((centre <= bins) & (bins < right), falling, rising)
    dtype = node.dtype("output_datatype") if node.attr("output_datatype", 0) else np.float32
    return b.constant(matrix.astype(dtype))


@lower("DFT")
def dft(node, b):
    """The discrete Fourier transform along an axis; the last axis is real and imaginary part."""
    x, rank = node.inputs[0], node.rank()
    if node.opset >= 20:
        axis = int(node.constant(2)) if node.input(2) is not None else -2
    else:
        axis = node.attr("axis", 1)
    axis, n_parts = node.axis(axis), node.shape()[-1]
    n, is_of_length = node.shape()[axis], node.input(1) is not None
    is_known = n is not None or not is_of_length
    node.require(is_known and n_parts in (1, 2), f"sizes must be known, got {node.shape()}")
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    real_result = inverse and onesided
    order = [*(i for i in range(rank - 1) if i != axis), axis, rank - 1]
    last = transposed(x, order, b)
    if n is None:
        out = _of_unknown_length(b, last, n_parts, inverse, onesided)
        return transposed(out, np.argsort(order).tolist(), b)
    length = int(node.constant(1).ravel()[0]) if is_of_length else n
    if real_result:
        length = length if is_of_length else 2 * (n - 1)
        matrix = _inverse_onesided(n, length)
    else:
        matrix = fourier_matrix(n, length, inverse, onesided, n_parts == 2)
    n_others, parts = rank - 2, 1 if real_result else 2
    flat = regrouped_from(last, n_others, (n * n_parts,), b)
    out = b.FULLY_CONNECTED(flat, b.constant(matrix), None, keep_num_dims=n_others != 1)
    out = regrouped_from(out, n_others, (matrix.shape[0] // parts, parts), b)
    return transposed(out, np.argsort(order).tolist(), b)


def _of_unknown_length(b, x, n_parts, inverse, onesided):
    """The transform along the axis before the last, by cosines and sines computed of its size."""
    n, one, two = dimension(x, x.rank - 2, b), np.int32(1), np.int32(2)
    real_result = inverse and onesided
    length = b.MUL(b.SUB(n, one), two) if real_result else n
    is_half = onesided and not inverse
    count = b.ADD(b.FLOOR_DIV(n, two), one) if is_half else length
    columns = b.RANGE(np.int32(0), n, one)
    rows = b.EXPAND_DIMS(b.RANGE(np.int32(0), count, one), one)
    turns = as_type(b.FLOOR_MOD(b.MUL(rows, columns), length), np.float32, b)
    size = as_type(length, np.float32, b)
    angles = b.MUL(turns, b.DIV(np.float32(2 * np.pi), size))
    parts = [b.COS(angles), b.SIN(angles)]
    if real_result:  # of the other half the ends have nothing
        halves = b.ADD(b.MINIMUM(columns, one), b.MINIMUM(b.SUB(b.SUB(n, one), columns), one))
        parts = [b.MUL(part, as_type(halves, np.float32, b)) for part in parts]
    cos, sin = (b.BATCH_MATMUL(part, x) for part in parts)
    if n_parts == 1:
        if not real_result:
            sin = sin if inverse else b.NEG(sin)
            out = b.CONCATENATION(cos, sin, axis=x.rank - 1)
        else:
            out = cos
    else:
        signs = np.array([-1, 1] if inverse else [1, -1], np.float32)
        crossed = b.MUL(b.REVERSE_V2(sin, int32s([x.rank - 1])), b.constant(signs))
        out = b.ADD(cos, crossed)
        out = slice_along(out, x.rank - 1, 0, 1, b) if real_result else out
    return b.DIV(out, size) if inverse else out


def _inverse_onesided(n, length):
    """Real numbers of the first half of their transform: all but the ends count twice."""
    angle = 2 * np.pi * np.outer(np.arange(length), np.arange(n)) / length
    factor = np.full(n, 2.0)
    factor[0] = 1
    if length % 2 == 0 and n == length // 2 + 1:
        factor[-1] = 1
    parts = np.stack([np.cos(angle) * factor, -np.sin(angle) * factor], -1) / length
    return parts.reshape(length, 2 * n).astype(np.float32)


@lower("STFT")
def stft(node, b):
    """The Fourier transforms of frames of a signal, each multiplied with a window."""
    signal, step, window = node.inputs[0], int(node.constant(1)), node.input(2)
    n = node.shape()[1]
    n_parts = node.shape()[2] if node.rank() == 3 else 1
    if node.input(3) is not None:
        length = int(node.constant(3))
    else:
        node.require(window is not None, "a window or frame_length must be given")
        length = window.dims[0]
    onesided = bool(node.attr("onesided", 1))
    offsets = np.arange(length, dtype=np.int32)
    if n is None:
        end = b.SUB(dimension(signal, 1, b), np.int32(length - 1))
        starts = b.EXPAND_DIMS(b.RANGE(np.int32(0), end, np.int32(step)), np.int32(1))
        frames = b.GATHER(signal, b.ADD(starts, offsets), axis=1)
    else:
        starts = np.arange(0, n - length + 1, step, dtype=np.int32)[:, None]
        frames = b.GATHER(signal, starts + offsets, axis=1)
    frames = frames if node.rank() == 3 else b.EXPAND_DIMS(frames, np.int32(3))
    if window is not None:
        frames = b.MUL(frames, reshaped(window, (-1, 1), b))
    matrix = fourier_matrix(length, length, False, onesided and n_parts == 1, n_parts == 2)
    flat = regrouped_from(frames, 2, (length * n_parts,), b)
    out = b.FULLY_CONNECTED(flat, b.constant(matrix), None, keep_num_dims=True)
    return regrouped_from(out, 2, (matrix.shape[0] // 2, 2), b)
