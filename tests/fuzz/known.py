"""Faults of LiteRT that random models meet: there it is wrong, and this interpreter is kept.

A row holds an operator, a condition on its use, and the reason. A case is a model of that operator
alone, of which all operands are known; rows are as narrow as what is known of the fault.
"""

from __future__ import annotations

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
        return [float(t.quantization.scale.max()) for t in self.inputs if t.quantization]

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
    given, made = (t.quantization for t in (use.inputs[0], use.outputs[0]))
    x = use.value(0)
    lowest = (x == -128).any()
    return given is not None and (given.zero_point[0] != 0 or given != made or lowest)


def _steps_beyond_int32(use):
    scheme, x = use.outputs[0].quantization, use.value(0)
    with np.errstate(all="ignore"):
        return not np.all(np.abs(x.astype(np.float64) / scheme.scale[0]) < 2.0**31)


def _ratio_beyond_shifts(use):
    """An operand's scale is so much larger than the result's that no shift of int32 holds it."""
    made = use.outputs[0].quantization
    if made is None or not use.scales:
        return False
    largest = max(*use.scales, math.prod(use.scales[:2]))
    if use.step.op in _PRODUCTS:  # whose sums leave int32 when they are shifted
        largest *= max(math.prod(use.inputs[1].shape), 1)
    bits = -6 if use.dtype == "INT16" else 15 if use.step.op in _PRODUCTS else 22
    return largest / float(made.scale[0]) >= 2.0**bits


def _limit_beyond_int32(use):
    """A limit of the activation, in steps of the result's scale, leaves int32."""
    scheme = use.outputs[0].quantization
    name = use.step.op
    if scheme is not None and hasattr(use.options, "fused_activation_function"):
        name = tables.name_of("ActivationFunctionType", use.options.fused_activation_function)
    limit = {"RELU6": 6, "RELU_N1_TO_1": 1, "RELU_0_TO_1": 1}.get(name, 0)
    return scheme is not None and limit / float(scheme.scale[0]) > 2.0**31 - 2**16


def _left_shift(use):
    """The scale of a sum of two operands is larger than what its shift makes room for."""
    made = use.outputs[0].quantization
    return use.scales and 2 * max(use.scales) / float(made.scale[0]) > 2.0**15


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


_CURVES = {"LOG": np.log, "EXP": np.exp, "RSQRT": lambda x: 1 / np.sqrt(x)}


def _steep(use):
    """Entries of an int16 table leave int32, or neighbours are further apart than int16."""
    made = use.outputs[0].quantization
    if use.dtype != "INT16" or made is None:
        return False
    with np.errstate(all="ignore"):
        x = use.scales[0] * np.arange(-32768.0, 32769.0, 128)
        curve = _CURVES[use.step.op](x.astype(np.float32))
        entries = np.nan_to_num(curve / float(made.scale[0]), nan=-32768.0)
        if (np.abs(entries) >= 2.0**31).any():
            return True
    steps = np.abs(np.diff(np.clip(entries, -32768, 32767)))
    return (steps > 32767).any() or (curve == np.inf).any()


def _root_beyond_shifts(use):
    """The root's multiplier is no number of 31 bits and a shift."""
    made = use.outputs[0].quantization
    if made is None:
        return False
    multiplier = 1 / (use.scales[0] ** 0.5 * float(made.scale[0]))
    return use.dtype == "INT8" and not 2.0**-11 < multiplier < 2.0**20


def _wraps_in_steps(use):
    """An int16 in steps of 1 / 3 / 4096 leaves int32."""
    return use.dtype == "INT16" and use.scales[0] * 3 * 4096 * 32768 >= 2.0**31


def _far_right(use):
    """Scales so large or small that an int16 is shifted by more than its bits."""
    made = use.outputs[0].quantization
    scales = use.scales or [1.0]
    return made is not None and min(scales[0] / 128 / float(made.scale[0]), scales[0]) < 2.0**-15


_FUSED = ("ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV",
          "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D")  # fmt: skip
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
_PRODUCTS = ("BATCH_MATMUL", "FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_RATIO = ("ABS", "LEAKY_RELU", "QUANTIZE", "RELU", "RELU6", "RELU_N1_TO_1", "PRELU", "MUL", "DIV",
          "SUM", "MEAN", "CONCATENATION", "REDUCE_PROD", "BATCH_MATMUL", "FULLY_CONNECTED",
          "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")  # fmt: skip


def _faults(ops, holds, reason):
    return [Fault(op, holds, reason) for op in ops]


FAULTS: tuple[Fault, ...] = (
    Fault("ATAN2", _unlike_shapes, "the second operand is read as if it had the first one's shape"),
    Fault("NEG", _rescaled, "int8 is negated as it is stored, without zero point and scale"),
    Fault("TRANSPOSE", lambda use: use.inputs[0].shape == (), "a scalar is not copied"),
    Fault("QUANTIZE", _steps_beyond_int32, "a float beyond 2^31 steps is cast to int32"),
    Fault("UNIQUE", lambda use: use.has_nan, "NaN is equal to the value before it"),
    Fault("DIV", lambda use: use.dtype == "UINT8", "0 divided by a negative number is one step"),
    Fault("POW", lambda use: use.dtype == "INT32", "a result beyond int32 wraps for one exponent"),
    Fault("STRIDED_SLICE", _empty_ellipsis, "an ellipsis of no dimension takes the next field's"),
    Fault("REDUCE_PROD", _folds_nothing, "where nothing is folded, a scale is not converted"),
    *_faults(_CURVES, _steep, "the line between two entries of a table wraps at int16"),
    Fault("RSQRT", _root_beyond_shifts, "the multiplier leaves the range of shifts"),
    Fault("GELU", _approximate_below, "1 + tanh(x) has few digits left below -1"),
    *_faults(("SUM", "MEAN"), _folds_empty, "a sum of nothing is the stored 0"),
    Fault("RESIZE_BILINEAR", lambda use: use.dtype == "UINT8", "ties round by one multiply-add"),
    Fault("LOGISTIC", _wraps_in_steps, "int16 is shifted beyond int32"),
    Fault("TANH", _wraps_in_steps, "int16 is shifted beyond int32"),
    Fault("HARD_SWISH", _far_right, "a shift by more than 15 bits"),
    Fault(
        "FULLY_CONNECTED",
        lambda use: 0 in use.inputs[0].shape,
        "without elements, nothing is written",
    ),
    *_faults(_COMPARISONS, lambda use: max(use.scales, default=0) >= 1, "a scale is shifted out"),
    *_faults(_RATIO, _ratio_beyond_shifts, "the shifted value leaves int32"),
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
    Fault(
        "DEPTHWISE_CONV_2D",
        lambda use: (
            use.dtype == "FLOAT32"
            and use.inputs[1].dtype == "INT8"
            and len(use.inputs[1].quantization.scale) < use.outputs[0].shape[-1]
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
