"""Bits: shifts, and, or, not, and the same bits as another type."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..lowering.moves import as_type, like
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

WORDS = {4: np.dtype(np.int32), 8: np.dtype(np.int32)}
"""What values of as many bytes are taken to pieces as; smaller ones become int32."""


@lower("BitwiseXor")
def bitwise_xor(node, b):
    """The bits that one of both has."""
    return on_int32_words(b, b.BITWISE_XOR, *node.inputs)


@lower("BitwiseNot")
def bitwise_not(node, b):
    """The bits that x does not have."""
    (x,) = node.inputs
    return on_int32_words(b, lambda words: b.BITWISE_XOR(words, np.int32(-1)), x)


@lower("BitwiseAnd")
def bitwise_and(node, b):
    """The bits that both have."""
    return on_int32_words(b, partial(_and, b), *node.inputs)


@lower("BitwiseOr")
def bitwise_or(node, b):
    """The bits that either has: those that differ and those that both have."""
    return on_int32_words(b, lambda x, y: b.ADD(b.BITWISE_XOR(x, y), _and(b, x, y)), *node.inputs)


def _and(b: Builder, x: Tensor, y: Tensor) -> Tensor:
    """x & y of int32: x + y has the bits that both have twice, those that differ once.

    The last bit apart, sums of the others fit in int32.
    """
    one, two = np.int32(1), np.int32(2)
    p, q = b.RIGHT_SHIFT(x, one), b.RIGHT_SHIFT(y, one)
    high = b.RIGHT_SHIFT(b.SUB(b.ADD(p, q), b.BITWISE_XOR(p, q)), one)
    low = b.MUL(b.SUB(x, b.MUL(p, two)), b.SUB(y, b.MUL(q, two)))
    return b.ADD(b.MUL(high, two), low)


def on_int32_words(b, function, *operands):
    """A function of the bits of int32, of operands of any type of integers."""
    dtype = operands[0].dtype
    if dtype.itemsize in WORDS:
        words = [bitcast(b, x, WORDS[dtype.itemsize]) for x in operands]
        return bitcast(b, function(*words), dtype)
    return b.CAST(function(*(as_type(x, np.int32, b) for x in operands)), dtype=dtype)


def bitcast(b: Builder, x: Tensor, dtype: np.dtype) -> Tensor:
    """The bits of `x` as another type."""
    return x if x.dtype == dtype else b.BITCAST(x, dtype=dtype)


@lower("BitCast")
def bit_cast(node, b):
    """The same bits as another type of the same size."""
    return bitcast(b, node.inputs[0], node.dtype("to"))


@lower("BitShift")
def bit_shift(node, b):
    """The bits moved to one side, zeros from the other; no shift is longer than all bits.

    Signed numbers take their sign from the left.
    """
    x, count = node.inputs
    bits, to_left = x.dtype.itemsize * 8, node.attr("direction") == "LEFT"
    powers = np.asarray([1 << i if i < bits else 0 for i in range(bits + 1)], np.uint64)
    counts = as_type(count if bits < 64 else bitcast(b, count, np.dtype(np.int64)), np.int32, b)
    is_far = b.LOGICAL_OR(b.LESS(counts, np.int32(0)), b.GREATER(counts, np.int32(bits)))
    counts = b.SELECT_V2(is_far, np.int32(bits), counts)
    if to_left:
        factor = b.GATHER(b.constant(powers.view(np.int64)), counts)
        product = b.MUL(_as_int64(b, x), factor)
        return bitcast(b, product, x.dtype) if bits == 64 else b.CAST(product, dtype=x.dtype)
    if bits == 64:
        x64 = bitcast(b, x, np.dtype(np.int64))
        if x.dtype.kind == "u":
            return bitcast(b, _right_shift64(b, x64, counts), x.dtype)
        is_negative, ones = b.LESS(x64, np.int64(0)), np.int64(-1)
        shifted = _right_shift64(b, b.SELECT_V2(is_negative, b.SUB(ones, x64), x64), counts)
        return b.SELECT_V2(is_negative, b.SUB(ones, shifted), shifted)
    shifted = b.RIGHT_SHIFT(x, as_type(b.MINIMUM(counts, np.int32(bits - 1)), x.dtype, b))
    if x.dtype.kind == "i":
        return shifted
    return b.SELECT_V2(b.EQUAL(counts, np.int32(bits)), like(x, 0, b), shifted)


def _as_int64(b, x):
    return bitcast(b, x, np.dtype(np.int64)) if x.dtype.itemsize == 8 else b.CAST(x, dtype=np.int64)


def _right_shift64(b, x, counts):
    """Words of 64 bits as two of 32, of which the low one takes over what the high one loses."""
    words = b.UNPACK(b.BITCAST(x, dtype=np.uint32), axis=-1 + x.rank + 1, num=2)
    low, high = words
    is_far = b.GREATER_EQUAL(counts, np.int32(32))
    near = b.MINIMUM(counts, np.int32(31))
    far = b.MINIMUM(b.MAXIMUM(b.SUB(counts, np.int32(32)), np.int32(0)), np.int32(31))
    powers = np.asarray([1 << i for i in range(33)], np.int64)

    def right(word, count):
        return b.RIGHT_SHIFT(word, b.CAST(count, dtype=np.uint32))

    factor = b.GATHER(b.constant(powers), b.SUB(np.int32(32), near))
    carried = b.CAST(b.MUL(b.CAST(high, dtype=np.int64), factor), dtype=np.uint32)
    near_low = b.ADD(b.CAST(right(low, near), dtype=np.int64), b.CAST(carried, dtype=np.int64))
    new_low = b.SELECT_V2(is_far, right(high, far), b.CAST(near_low, dtype=np.uint32))
    zero = np.uint32(0)
    new_high = b.SELECT_V2(is_far, zero, right(high, near))
    is_shifted_out = b.EQUAL(counts, np.int32(64))
    parts = [b.SELECT_V2(is_shifted_out, zero, part) for part in (new_low, new_high)]
    signed = [b.BITCAST(part, dtype=np.int32) for part in parts]
    return b.BITCAST(b.PACK(*signed, axis=x.rank, values_count=2), dtype=np.int64)
