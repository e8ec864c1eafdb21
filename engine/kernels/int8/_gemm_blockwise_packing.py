"""Weights in panels of int16, as _gemm_blockwise_tile.py reads them."""

from typing import NamedTuple

import numpy as np
from numba import float64, int16, int64

from ...build.kernel import inline
from ...tiling import HEADER_ROWS, PANEL

_ROW = 2 * PANEL
_WEIGHTS, _SCALES, _BIAS = (i * _ROW for i in range(HEADER_ROWS))
_BLOCKS = HEADER_ROWS * _ROW


class Source(NamedTuple):
    """How rows of weights are stored: how many, in how many bits each."""

    depth: int
    bits: int


class Layout(NamedTuple):
    """How weights lie in panels.

    In how many bits each, what is added to them, and whether the first two bytes of all columns
    come first.
    """

    bits: int
    offset: int
    is_split: bool


@inline
def weight_at(row, i, source):
    """The signed integer `i` of a row."""
    at, sign = i * source.bits, int64(1) << (source.bits - 1)
    value = (int64(row[at >> 3]) >> (at & 7)) & (2 * sign - 1)
    return (value ^ sign) - sign


@inline
def word_of(row, begin, source, layout):
    """Four weights of 8 bits, or eight of 4, from `begin` on, 0 behind the last, and their sum."""
    word, total = int64(0), int64(0)
    for i in range(32 // layout.bits):
        value = weight_at(row, begin + i, source) if begin + i < source.depth else int64(0)
        total += value
        shift = 8 * (i % 4) + 4 * (i // 4)
        word |= ((value + layout.offset) & ((1 << layout.bits) - 1)) << shift
    return word, total


@inline
def put_word(row, j, word, is_split):
    """Writes four bytes of a column; `is_split` if the first two of all columns come first."""
    first, second = (j, PANEL + j) if is_split else (2 * j, 2 * j + 1)
    row[first], row[second] = int16(word), int16(word >> 16)


@inline
def put_float(row, j, value):
    """Writes a float32 of a column."""
    put_word(row, j, int64(np.float32(value).view(np.int32)), False)


@inline
def pack_blocks(weights, source, scales, bias, out, block, layout, first, last):
    """Packs panels of weights that have a scale for each block. An item is a panel."""
    n, per_word = weights.shape[0], 32 // layout.bits
    words = block // per_word
    for panel in range(first, last):
        target = out[panel]
        for i in range(target.size):
            target[i] = 0
        for j in range(min(PANEL, n - panel * PANEL)):
            column, total = panel * PANEL + j, float64(0.0)
            for i in range(source.depth // block):
                begin, block_sum = _BLOCKS + i * (1 + words) * _ROW, int64(0)
                scale = scales[column, i]
                put_float(target[begin:], j, scale)
                for k in range(words):
                    at = i * block + k * per_word
                    word, part = word_of(weights[column], at, source, layout)
                    put_word(target[begin + (1 + k) * _ROW :], j, word, layout.is_split)
                    block_sum += part
                total += float64(scale) * float64(block_sum)
            put_float(target[_WEIGHTS:], j, total)
            put_float(target[_SCALES:], j, 1.0)
            put_float(target[_BIAS:], j, bias[column])


@inline
def pack_channels(weights, source, scales, bias, out, layout, first, last):
    """Packs panels of weights that have a scale for each column. An item is a panel."""
    n, per_word = weights.shape[0], 32 // layout.bits
    for panel in range(first, last):
        target = out[panel]
        for i in range(target.size):
            target[i] = 0
        for j in range(min(PANEL, n - panel * PANEL)):
            column, total = panel * PANEL + j, int64(0)
            for k in range(target.size // _ROW - HEADER_ROWS):
                word, part = word_of(weights[column], k * per_word, source, layout)
                put_word(target[_BLOCKS + k * _ROW :], j, word, layout.is_split)
                total += part
            put_word(target[_WEIGHTS:], j, total, False)
            put_float(target[_SCALES:], j, scales[column if scales.shape[0] > 1 else 0, 0])
            put_float(target[_BIAS:], j, bias[column])
