"""Faults of LiteRT that random models meet: there it is wrong, and this interpreter is kept.

A row holds an operator, a condition on its use, and the reason. A case is a model of that operator
alone, of which all operands are known; rows are as narrow as what is known of the fault.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from flatlite.schema import tables


@dataclass(frozen=True)
class Fault:
    """One fault: `holds(use)` for a use of `op`."""

    op: str
    holds: Callable[[Use], Any]
    reason: str


class Use:
    """An operator of a drawn model, as conditions ask about it."""

    def __init__(self, case, step):
        self.tensors = case.graph.tensors
        self.step = step
        self.feeds = dict(zip(case.graph.inputs, case.feeds, strict=True))

    @property
    def inputs(self):
        """Its operands, without those left out."""
        return [self.tensors[i] for i in self.step.inputs if i >= 0]

    @property
    def outputs(self):
        """Its results."""
        return [self.tensors[i] for i in self.step.outputs]

    @property
    def has_nan(self):
        """Whether its first operand is a float with a NaN."""
        x = self.value(0)
        return self.dtype == "FLOAT32" and bool(np.isnan(x).any())

    @property
    def dtype(self):
        """The type of the first operand."""
        return self.inputs[0].dtype

    @property
    def scales(self):
        """The scale of every quantized operand, the largest one of its channels."""
        return [float(t.quantization.scales.max()) for t in self.inputs if t.quantization]

    @property
    def quantized(self):
        """Pairs (position, operand) of those with a scale."""
        operands = [(k, self.tensors[i]) for k, i in enumerate(self.step.inputs) if i >= 0]
        return [(k, t) for k, t in operands if t.quantization is not None]

    @property
    def options(self):
        """Its options."""
        return self.step.options

    def value(self, position):
        """What an operand holds."""
        index = self.step.inputs[position]
        return self.feeds[index] if index in self.feeds else self.tensors[index].data


def _unlike_shapes(use):
    return len({t.shape for t in use.inputs}) > 1


def _rescaled(use):
    """The stored integer's negative is not the result's: another scheme, or none is so large."""
    input_quantization, output_quantization = (
        t.quantization for t in (use.inputs[0], use.outputs[0])
    )
    x = use.value(0)
    lowest = x.dtype.kind == "i" and (x == np.iinfo(x.dtype).min).any()
    return input_quantization is not None and (
        input_quantization.zero_points[0] != 0
        or input_quantization != output_quantization
        or lowest
    )


def _steps_beyond_int32(use):
    scheme, x = use.outputs[0].quantization, use.value(0)
    with np.errstate(all="ignore"):
        return not np.all(np.abs(x.astype(np.float64) / scheme.scales.min()) < 2.0**31)


def _beyond_shifts(use):
    """x * (1 << shift), the first step of MultiplyByQuantizedMultiplier, leaves int32.

    Products of int16 are sums of int64, of which it casts the result to int32.
    """
    result_quantization = use.outputs[0].quantization
    if result_quantization is None or not use.scales or 0 in use.outputs[0].shape:
        return False
    for multiplier, largest in _rescaled_values(use):
        shift = math.frexp(multiplier / float(result_quantization.scales[0]))[1]
        wide = use.dtype == "INT16" and use.step.op in _PRODUCTS
        if shift > (14 if wide else 30) or largest * 2.0**shift >= 2.0**31:
            return True
    return False


def _rescaled_values(use):
    """Pairs (multiplier without the result's scale, largest integer that it multiplies)."""
    one, *others = (
        (float(t.quantization.scales.max()), _largest(use.value(i), t.quantization))
        for i, t in use.quantized
    )
    op, n_folded = use.step.op, math.prod(use.inputs[0].shape)
    if op == "LEAKY_RELU":
        return [one, (abs(use.options.alpha) * one[0], one[1])]
    if op in ("SUM", "MEAN"):
        return [(one[0], one[1] * n_folded / math.prod(use.outputs[0].shape))]
    if not others:
        return [one]
    terms = math.prod(use.inputs[1].shape) if op in _PRODUCTS else 1
    bias = others[1][1] if others[1:] else 0
    both = one[0] * others[0][0], one[1] * others[0][1] * terms + bias
    return [one, both] if op == "PRELU" else [both]


def _quotient_beyond_shifts(use):
    """The shift of DivElementwise to the right is none of 0 to 31; 0 / y becomes one step, say."""
    if use.dtype != "UINT8":
        return False
    x, y = (use.value(i).astype(np.int64) - t.quantization.zero_points[0] for i, t in use.quantized)
    scales = (*use.scales, float(use.outputs[0].quantization.scales[0]))
    shift = math.frexp(scales[0] / (scales[1] * scales[2]))[1]
    headroom = 31 - np.ceil(np.log2(np.abs(x) + 1))
    right = headroom + np.floor(np.log2(np.maximum(np.abs(y), 1))) - shift
    return ((right < 0) | (right > 31)).any()


def _product_beyond_int32(use):
    """A product on the way, in steps of a root of the result's scale, leaves int32."""
    result_quantization = use.outputs[0].quantization
    if result_quantization is None or not use.inputs[0].shape or 0 in use.inputs[0].shape:
        return False
    _, x = use.quantized[0]
    rows = _folded(use, np.abs(use.value(0).astype(np.float64) - x.quantization.zero_points[0]))
    scaling = use.scales[0] / float(result_quantization.scales[0]) ** (1 / rows.shape[1])
    with np.errstate(over="ignore"):
        products = np.cumprod(rows * scaling, axis=1) * max(1, 1 / scaling)
    return scaling >= 2.0**14 or not (products < 2.0**31).all()


def _overflows_in_some_order(use):
    """The product of all floats above 1 is infinite."""
    if use.dtype != "FLOAT32" or not use.inputs[0].shape or 0 in use.inputs[0].shape:
        return False
    bits = np.log2(np.maximum(np.abs(use.value(0).astype(np.float64)), 1))
    return (_folded(use, bits).sum(1) >= 128).any()


def _folded(use, values):
    """A row for each result of a reduction."""
    axes = {int(axis) % values.ndim for axis in np.ravel(use.value(1))}
    other_axes = [axis for axis in range(values.ndim) if axis not in axes]
    rows = np.moveaxis(values, other_axes, range(len(other_axes)))
    return rows.reshape(math.prod(values.shape[axis] for axis in other_axes), -1)


def _float_beyond_int32(use):
    """Scaled in float32 and cast to int32, an element is too large."""
    result_quantization = use.outputs[0].quantization
    if result_quantization is None:
        return False
    sizes = [
        float(t.quantization.scales[0]) * _largest(use.value(i), t.quantization)
        for i, t in use.quantized
    ]
    return max(sizes, default=0) / float(result_quantization.scales[0]) >= 2.0**31


def _largest(values, scheme):
    return float(np.abs(values.astype(np.int64) - int(scheme.zero_points[0])).max(initial=0))


def _limit_beyond_int32(use):
    """A limit of the activation, in steps of the result's scale, leaves int32."""
    scheme = use.outputs[0].quantization
    name = use.step.op
    if scheme is not None and hasattr(use.options, "fused_activation_function"):
        name = tables.name_of("ActivationFunctionType", use.options.fused_activation_function)
    limit = {"RELU6": 6, "RELU_N1_TO_1": 1, "RELU_0_TO_1": 1}.get(name, 0)
    return scheme is not None and limit / float(scheme.scales[0]) > 2.0**31 - 2**16


def _left_shift(use):
    """The scale of a sum of two operands is larger than what its shift makes room for."""
    result_quantization = use.outputs[0].quantization
    return use.scales and 2 * max(use.scales) / float(result_quantization.scales[0]) > 2.0**15


def _empty_ellipsis(use):
    """An ellipsis stands where all dimensions are named."""
    fields = use.tensors[use.step.inputs[1]].shape[0]
    named = fields - 1 - bin(use.options.new_axis_mask).count("1")
    return use.options.ellipsis_mask and named >= len(use.inputs[0].shape)


def _folds_nothing(use):
    x, out = use.inputs[0], use.outputs[0]
    return use.scales and math.prod(x.shape) == math.prod(out.shape)


def _folds_empty(use):
    """A dimension without elements is folded."""
    return use.scales and 0 in use.inputs[0].shape


def _approximate_below(use):
    x = use.value(0)
    return use.options.approximate and (x < -1).any()


def _between_entries(use):
    """A value lies between entries of a table that are infinite, or more than int16 apart."""
    if use.dtype != "INT16":
        return False
    entries = _entries(use.step.op, use.scales[0], use.outputs[0].quantization.scales[0])
    with np.errstate(all="ignore"):
        apart = np.abs(np.diff(np.clip(entries, -32768, 32767))) <= 32767
    whole = apart & np.isfinite(entries[1:]) & np.isfinite(entries[:-1])
    return not whole[256 + (use.value(0).astype(np.int64) >> 7)].all()


def _rests_on_a_last_bit(use):
    """A value lies by an entry that is another one where C's erfcf is off by its last bit."""
    if use.dtype != "INT16" or use.options.approximate:
        return False
    rests = resting_entries(use.scales[0], use.outputs[0].quantization.scales[0])
    at = 256 + (use.value(0).astype(np.int64) >> 7)
    return (rests[at] | rests[at + 1]).any()


def resting_entries(x_scale, y_scale):
    """Which entries of int16 GELU's table are others where erfcf is off by its last bit."""
    moves = itertools.product((-1, 0, 1), repeat=3)
    tables = [_entries("GELU", x_scale, y_scale, n_bits) for n_bits in moves]
    tables = np.clip(tables, -32768, 32767)
    return (tables != tables[0]).any(0)


def _erfc(x, n_bits):
    """C's erfcf, moved by some of its last bits."""
    values = np.array([math.erfc(v) for v in x.tolist()], np.float32)
    return np.nextafter(values, np.float32(2 * n_bits)) if n_bits else values


def _entries(op, x_scale, y_scale, n_bits=(0, 0, 0)):
    """What LUTPopulateInt16 computes before it clips, in float32.

    `n_bits` moves the function where an interval begins, in its middle and where it ends.
    """
    one, two = np.float32(1), np.float32(2)
    first, last, least, most = (
        np.float32(s) * (one * n) for s in (x_scale, y_scale) for n in (-32768, 32767)
    )
    step, inverse = (last - first) / np.float32(512), np.float32(65536) / (most - least)
    x = first + np.arange(513, dtype=np.float32) * step
    x[-1] = last

    def curve(x, n_bits):
        if op == "GELU":
            return np.float32(0.5) * x * _erfc(x * np.float32(-(0.5**0.5)), n_bits) * inverse
        if op == "EXP":
            return np.exp(x.astype(np.float64)).astype(np.float32) * inverse
        return np.where(x > 0, np.log(x.astype(np.float64)).astype(np.float32), least) * inverse

    with np.errstate(all="ignore"):
        here = _rounded(curve(x, n_bits[0]))
        middle = _rounded(curve(x[:-1] + step / two, n_bits[1]))
        error = _rounded((curve(x[1:], n_bits[2]) + here[:-1]) / two) - middle
        return np.append(here[:-1] - _rounded(error / two), here[-1])


def _rounded(x):
    """C's roundf: halves away from zero."""
    whole = np.trunc(x)
    return whole + np.sign(x) * (np.abs(x - whole) >= 0.5)


def _root_beyond_shifts(use):
    """The root's multiplier is no number of 31 bits and a shift."""
    result_quantization = use.outputs[0].quantization
    if result_quantization is None:
        return False
    multiplier = 1 / (use.scales[0] ** 0.5 * float(result_quantization.scales[0]))
    return use.dtype == "INT8" and not 2.0**-11 < multiplier < 2.0**20


def _wraps_in_steps(use):
    """An int16 in steps of 1 / 3 / 4096 leaves int32."""
    return use.dtype == "INT16" and use.scales[0] * 3 * 4096 * 32768 >= 2.0**31


def _negates_lowest(use):
    """A byte of uint8 weights is -128 as int8, whose negative is none."""
    weights = use.inputs[1]
    return use.dtype == "FLOAT32" and weights.dtype == "UINT8" and (use.value(1) == 128).any()


def _far_right(use):
    """Scales so large or small that an int16 is shifted by more than its bits."""
    result_quantization = use.outputs[0].quantization
    scales = use.scales or [1.0]
    return (
        result_quantization is not None
        and min(scales[0] / 128 / float(result_quantization.scales[0]), scales[0]) < 2.0**-15
    )


def _gate_beyond_int32(use):
    """The gate's shift to the left has more bits than an int32."""
    return use.outputs[0].quantization is not None and use.scales[0] / 128 * 32768 / 3 >= 2.0**31


_FUSED = ("ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV",
          "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D")  # fmt: skip
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_PRODUCTS = ("BATCH_MATMUL", "FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_RATIO = ("ABS", "LEAKY_RELU", "QUANTIZE", "RELU", "RELU6", "RELU_N1_TO_1", "PRELU", "MUL",
          "SUM", "MEAN", "BATCH_MATMUL", "FULLY_CONNECTED",
          "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")  # fmt: skip


def _faults(ops, holds, reason):
    return [Fault(op, holds, reason) for op in ops]


FAULTS: tuple[Fault, ...] = (
    Fault("ATAN2", _unlike_shapes, "the second operand is read as if it had the first one's shape"),
    Fault(
        "NEG", _rescaled, "integers are negated as they are stored, without zero point and scale"
    ),
    Fault("GELU", lambda use: use.dtype == "FLOAT16", "float16 is rounded at every step"),
    Fault("TRANSPOSE", lambda use: use.inputs[0].shape == (), "a scalar is not copied"),
    Fault("BROADCAST_TO", lambda use: use.dtype == "INT4", "int4 has no size and is not written"),
    Fault("QUANTIZE", _steps_beyond_int32, "a float beyond 2^31 steps is cast to int32"),
    Fault("UNIQUE", lambda use: use.has_nan, "NaN is equal to the value before it"),
    Fault("DIV", _quotient_beyond_shifts, "a shift by more bits than there are"),
    Fault("CONCATENATION", _float_beyond_int32, "a float beyond int32 is cast to it"),
    Fault("RFFT2D", lambda use: use.value(1)[1] == 1, "one column: its sum stands in both parts"),
    Fault("POW", lambda use: use.dtype == "INT32", "a result beyond int32 wraps for one exponent"),
    Fault("STRIDED_SLICE", _empty_ellipsis, "an ellipsis of no dimension takes the next field's"),
    Fault("REDUCE_PROD", _folds_nothing, "where nothing is folded, a scale is not converted"),
    Fault("REDUCE_PROD", _product_beyond_int32, "a product of int64 is cast to int32"),
    Fault("REDUCE_PROD", _overflows_in_some_order, "no fault: it multiplies in another order"),
    *_faults(("EXP", "LOG"), _between_entries, "the slope between two entries wraps at int16"),
    Fault("RSQRT", _root_beyond_shifts, "the multiplier leaves the range of shifts"),
    Fault("GELU", _approximate_below, "1 + tanh(x) has few digits left below -1"),
    Fault("GELU", _rests_on_a_last_bit, "no fault: erfcf of C is off by its last bit"),
    *_faults(("SUM", "MEAN"), _folds_empty, "a sum of nothing is the stored 0"),
    Fault("REDUCE_PROD", _folds_empty, "a product of nothing is not written"),
    Fault("RESIZE_BILINEAR", lambda use: use.dtype == "UINT8", "ties round by one multiply-add"),
    Fault("LOGISTIC", _wraps_in_steps, "int16 is shifted beyond int32"),
    Fault("TANH", _wraps_in_steps, "int16 is shifted beyond int32"),
    Fault("HARD_SWISH", _far_right, "a shift by more than 15 bits"),
    Fault(
        "NOT_EQUAL",
        lambda use: use.dtype == "INT16" and not use.scales,
        "int16 without scale: the result is not written",
    ),
    Fault(
        "HARD_SWISH", _gate_beyond_int32, "a shift by 32 bits: 0 in its vectors, less after them"
    ),
    Fault(
        "LOCAL_RESPONSE_NORMALIZATION",
        lambda use: not np.isfinite(use.value(0)).all(),
        "its running sums keep what is not finite; the reference's window lacks the last channel",
    ),
    Fault(
        "FULLY_CONNECTED",
        lambda use: 0 in use.inputs[0].shape,
        "without elements, nothing is written",
    ),
    *_faults(_COMPARISONS, lambda use: max(use.scales, default=0) >= 1, "a scale is shifted out"),
    *_faults(_RATIO, _beyond_shifts, "the shifted value leaves int32"),
    *_faults(("ADD", "SUB"), _left_shift, "a sum is shifted left, which its kernel cannot"),
    *_faults(
        (*_FUSED, "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"),
        _limit_beyond_int32,
        "a limit beyond int32 is the lowest one",
    ),
    *_faults(
        ("SUM", "MEAN"),
        lambda use: not use.inputs[0].shape and use.scales,
        "a scalar keeps its scale",
    ),
    *_faults(
        ("CONV_2D", "FULLY_CONNECTED"),
        _negates_lowest,
        "floats by uint8: its vectors take weights as int8, and -(-128) for -128",
    ),
    *_faults(
        ("CONV_2D", "DEPTHWISE_CONV_2D"),
        lambda use: use.dtype != "FLOAT32" and use.inputs[1].dtype == "INT4",
        "weights of int4 have no reference kernel: a tie is rounded once, those of int8 twice",
    ),
    Fault(
        "DEPTHWISE_CONV_2D",
        lambda use: (
            use.dtype == "FLOAT32"
            and use.inputs[1].dtype == "INT8"
            and len(use.inputs[1].quantization.scales) < use.outputs[0].shape[-1]
        ),
        "floats by int8: a scale for each channel is read, and there is one",
    ),
    Fault(
        "BATCH_MATMUL",
        lambda use: use.dtype == "FLOAT32" and use.scales and len(use.inputs[0].shape) >= 4,
        "floats of rank 4 by int8: only the innermost batch has its own scale",
    ),
)


def reason(case) -> str:
    """Why LiteRT is wrong about a case of one operator, empty when nothing is known."""
    (step,) = case.graph.operators
    use = Use(case, step)
    reasons = (row.reason for row in FAULTS if row.op == step.op and row.holds(use))
    return next(reasons, "")
