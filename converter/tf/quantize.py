"""Fake quantization, with which a model is trained for integers."""

import numpy as np

from ...graph.ops.quantize import (
    Grid,
    fake_quant_with_min_max_vars,
    integer_range,
    quantize_and_dequantize,
)
from ..lowering.fake_quant import FakeQuantized
from ..lowering.moves import as_type, like
from . import quantized_modes
from .quantized_modes import MIN_COMBINED, MIN_FIRST, SCALED, Affine, widened
from .registry import lower

MIN_BITS, MAX_BITS = 2, 16  # of FAKE_QUANT


@lower("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant_vars(node, b):
    """Floats rounded to what a quantized tensor of a range holds, or one with ranges by channel."""
    x, low, high = node.inputs
    if x.value is not None and low.value is not None and high.value is not None:
        return fake_quantized(node, b, low.value, high.value)
    is_range = node.type == "FakeQuantWithMinMaxVars"
    if is_range and low.value is not None and high.value is not None:
        return fake_quant(node, b, float(low.value), float(high.value))
    return levels(node, b, low, high)


@lower("FakeQuantWithMinMaxArgs")
def fake_quant_args(node, b):
    """Floats rounded to what a quantized tensor of a range holds."""
    low, high = node.attr("min"), node.attr("max")
    if node.inputs[0].value is not None:
        return fake_quantized(node, b, np.float32(low), np.float32(high))
    return fake_quant(node, b, low, high)


@lower("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4")
def quantize_and_dequantize_lowering(node, b):
    """Floats rounded to steps around 0, in a range that is known.

    FAKE_QUANT rounds halves up where QuantizeAndDequantize has them even.
    """
    x, low, high = node.inputs
    names = ("signed_input", "num_bits", "range_given", "round_mode", "narrow_range", "axis")
    attrs = {name: node.attr(name) for name in names}
    bits, narrow = attrs["num_bits"], bool(attrs["narrow_range"])
    is_known = low.value is not None and high.value is not None and attrs["range_given"]
    node.require(is_known and attrs["axis"] < 0, "its one range must be constant")
    ends = np.asarray(low.value), np.asarray(high.value)
    signed = bool(attrs["signed_input"])
    first, last, step = integer_range(*ends, signed, bits, narrow)
    if x.value is not None:
        array = quantize_and_dequantize(x.value, *ends, **attrs)
        result = b.constant(array)
        end = np.float32(last).ravel()
        result.fake_quant = FakeQuantized(-end if signed else 0 * end, end, 0, bits, signed)
        return result
    if step == 0:
        return b.ZEROS_LIKE(x)
    if narrow or not MIN_BITS <= bits <= MAX_BITS:
        clipped = b.MINIMUM(b.MAXIMUM(x, like(x, first, b)), like(x, last, b))
        return b.MUL(b.ROUND(b.MUL(clipped, like(x, 1 / step, b))), like(x, step, b))
    return b.FAKE_QUANT(x, min=float(first), max=float(last), num_bits=bits)


def fake_quantized(node, b, low, high):
    """A rounded constant that knows its range, which the quantizer takes from it."""
    value, low, high = (np.asarray(x, np.float32) for x in (node.inputs[0].value, low, high))
    bits, narrow = node.attr("num_bits"), bool(node.attr("narrow_range"))
    array = fake_quant_with_min_max_vars(value, low, high, num_bits=bits, narrow_range=narrow)
    result = b.constant(array.astype(np.float32))
    result.fake_quant = FakeQuantized(low.ravel(), high.ravel(), array.ndim - 1, bits, narrow)
    return result


def fake_quant(node, b, low, high):
    """FAKE_QUANT of a range.

    LiteRT refuses a narrow one: it is cut off before a FAKE_QUANT of one level more.
    """
    x = node.inputs[0]
    if low == high == 0:
        return b.ZEROS_LIKE(x)
    bits = node.attr("num_bits")
    if node.attr("narrow_range"):
        grid = Grid.of(low, high, bits, True)
        x, low, high = b.MAXIMUM(x, grid.low), float(grid.low - grid.scale), float(grid.high)
    return b.FAKE_QUANT(x, min=low, max=high, num_bits=bits)


def levels(node, b, low, high):
    """The formula of TensorFlow's kernel: (floor((clip(x) - low) / scale + 0.5) - zero) * scale."""
    x = node.inputs[0]
    half, first = like(x, 0.5, b), float(node.attr("narrow_range"))
    last = 2.0 ** node.attr("num_bits") - 1
    scale = b.DIV(b.SUB(high, low), like(x, last - first, b))
    first, last = like(x, first, b), like(x, last, b)
    zero_point = b.FLOOR(b.ADD(b.SUB(first, b.DIV(low, scale)), half))
    zero_point = b.MINIMUM(b.MAXIMUM(zero_point, first), last)
    lowest, highest = (b.MUL(b.SUB(end, zero_point), scale) for end in (first, last))
    inverse = b.DIV(like(x, 1, b), scale)
    level_of_zero = b.FLOOR(b.ADD(b.MUL(b.NEG(lowest), inverse), half))
    is_range = low.value is not None and high.value is not None and (low.value < high.value).all()
    if is_range:
        clipped = b.MINIMUM(b.MAXIMUM(x, lowest), highest)
    else:  # low counts where they cross
        clipped = b.MAXIMUM(b.MINIMUM(x, highest), lowest)
    level = b.FLOOR(b.ADD(b.MUL(b.SUB(clipped, lowest), inverse), half))
    y = b.MUL(b.SUB(level, level_of_zero), scale)
    if is_range:
        return y
    zero = like(x, 0, b)
    return b.SELECT_V2(b.LOGICAL_AND(b.EQUAL(low, zero), b.EQUAL(high, zero)), zero, y)


@lower("QuantizeV2")
def quantize(node, b):
    """Floats as integers of 8 bits, and their range."""
    x = node.inputs[0]
    ends = widened(*one_range(node, 1), node.attr("ensure_minimum_range"))
    mode = node.text("mode").encode()
    affine = Affine.of(
        *ends, mode, integers_of(node, node.attr("T")), bool(node.attr("narrow_range"))
    )
    if mode == MIN_FIRST:
        steps = b.SUB(half_away(b.MUL(x, like(x, affine.scale, b)), b), like(x, affine.offset, b))
        steps = b.MAXIMUM(b.MINIMUM(steps, like(x, affine.last, b)), like(x, affine.first, b))
    else:
        steps = b.MAXIMUM(b.MINIMUM(x, like(x, affine.high, b)), like(x, affine.low, b))
        if mode == MIN_COMBINED:
            steps = b.SUB(steps, like(x, affine.low, b))
        steps = b.SUB(b.MUL(steps, like(x, affine.scale, b)), like(x, affine.offset, b))
        is_even = node.text("round_mode") == "HALF_TO_EVEN"
        steps = b.ROUND(steps) if is_even else half_away(steps, b)
    integers = b.CAST(steps, dtype=integers_of(node, node.attr("T")))
    return integers, b.constant(np.float32(affine.low)), b.constant(np.float32(affine.high))


@lower("Dequantize")
def dequantize(node, b):
    """The floats that integers of 8 bits stand for."""
    x, dtype, mode = node.inputs[0], node.attr("dtype"), node.text("mode").encode()
    narrow = bool(node.attr("narrow_range"))
    affine = Affine.of(*one_range(node, 1), mode, integers_of(node, node.attr("T")), narrow)
    y = b.CAST(x, dtype=np.float32)
    offset, start = affine.offset, affine.low
    if mode == MIN_FIRST:
        offset, start = -affine.first, np.rint(affine.low * affine.scale) * affine.step
    elif mode == SCALED:
        offset = start = 0
    y = b.ADD(y, like(y, offset, b)) if offset else y
    y = b.MUL(y, like(y, affine.step, b))
    return as_type(b.ADD(y, like(y, start, b)) if start else y, dtype, b)


def one_range(node, i):
    """The ends of a constant range, inputs from `i` on."""
    low, high = node.inputs[i : i + 2]
    is_one = all(x.value is not None and x.value.size == 1 for x in (low, high))
    node.require(is_one and node.attr("axis") == -1, "its one range must be constant")
    return low.value.item(), high.value.item()


def integers_of(node, dtype):
    """int8 for qint8 and uint8 for quint8."""
    integers = quantized_modes.integers_of(dtype)
    node.require(integers.itemsize == 1, f"quantized types must have 8 bits, got {dtype}")
    return integers


def half_away(x, b):
    """To the nearest integer, halves away from 0."""
    rounded = b.FLOOR(b.ADD(b.ABS(x), like(x, 0.5, b)))
    return b.MUL(b.SIGN(x), rounded)
