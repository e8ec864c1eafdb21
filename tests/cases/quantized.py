"""Convolutions and matrix products of stored integers, and of reals with stored weights.

LiteRT's reference kernels say what comes out, to the last bit.
"""

from dataclasses import replace

import ml_dtypes
import numpy as np
from cases import OPTIMIZED, Case, Refuse, floats, i32, steps

ZERO = {"int8": (-5, -30), "uint8": (120, 90), "int16": (0, 0)}
INT4, INT2 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.int2)


def numbers(dtype, *shape, seed=0, most=None):
    """Integers over the whole range of `dtype`, or from -most to most."""
    known = ml_dtypes.iinfo(dtype)
    low, high = (int(known.min), int(known.max)) if most is None else (-most, most)
    return np.random.default_rng((seed, *shape)).integers(low, high + 1, shape).astype(dtype)


def scales(n, each, seed=0):
    """One scale, or one for each of `n` channels."""
    return np.random.default_rng(seed).uniform(0.001, 0.02, n).astype(np.float32) if each else 0.01


class Kind:
    """Types of input, weights and bias, and whether each channel has its own scale."""

    def __init__(self, dtype, weights, bias, each):
        self.dtype, self.weights, self.bias, self.each = dtype, weights, bias, each
        self.step = 1 / 256 if dtype == "int16" else 1.0
        self.name = f"{dtype}_{weights}_{bias}{'_each' if each else ''}"

    def inputs(self, x, weights, n):
        """Input, weights and bias."""
        small = 7 if self.weights is INT4 else None
        return [
            numbers(self.dtype, *x),
            numbers(self.weights, *weights, seed=1, most=small),
            numbers(self.bias, n, seed=2, most=9000),
        ]

    def schemes(self, n, axis, spread):
        """The schemes of input, weights and result."""
        zero, out_zero = ZERO[self.dtype]
        middle = 113 if self.weights == "uint8" else 0
        weight_scales = scales(n, self.each)
        schemes = [
            (0.05 * self.step, zero),
            (weight_scales, middle, axis),
            (0.05 * self.step * weight_scales, 0),
        ]
        return schemes, (spread * self.step, out_zero)


KINDS = [
    Kind("int8", "int8", "int32", False),
    Kind("int8", "int8", "int32", True),
    Kind("uint8", "uint8", "int32", False),
    Kind("int16", "int8", "int64", False),
    Kind("int16", "int8", "int64", True),
]


def products(kind, op, label, options, x, weights, n, axis=0, order=(0, 1, 2), spread=0.09):
    """A case of an operator on input, weights and bias; `order` says where they stand."""
    operands, (schemes, result) = kind.inputs(x, weights, n), kind.schemes(n, axis, spread)
    inputs, quantization = [None] * (max(order) + 1), {"out0": result}
    for i, place in enumerate(order):
        inputs[place], quantization[place] = operands[i], schemes[i]
    return Case(
        f"{op.lower()}/{kind.name}_{label}", op, options, inputs, outputs=[kind.dtype],
        constants=order[1:], quantization=quantization,
    )  # fmt: skip


def convolutions(kind):
    """Windows of all sorts over one kind of numbers."""
    conv, depth = "CONV_2D", "DEPTHWISE_CONV_2D"
    relu6 = {"fused_activation_function": "RELU6"}
    yield products(kind, conv, "same", steps(2), (2, 7, 6, 5), (7, 3, 3, 5), 7)
    yield products(kind, conv, "pointwise", steps(1), (1, 5, 4, 33), (17, 1, 1, 33), 17)
    yield products(kind, conv, "one_channel", steps(1), (2, 7, 6, 1), (9, 3, 3, 1), 9)
    yield products(kind, conv, "two_channels", steps(1), (1, 5, 4, 2), (17, 1, 1, 2), 17)
    yield products(kind, conv, "relu6", steps(1, 2, padding="VALID", **relu6),
                   (1, 7, 6, 5), (7, 2, 3, 5), 7)  # fmt: skip
    dilated = steps(1, dilation_h_factor=2, dilation_w_factor=3)
    yield products(kind, conv, "dilation", dilated, (1, 9, 10, 3), (4, 3, 3, 3), 4)
    if kind.dtype == "int8":
        yield products(kind, conv, "groups", steps(1), (1, 5, 5, 6), (8, 3, 3, 3), 8)
        yield products(kind, conv, "groups_of_one", steps(1), (1, 5, 5, 4), (8, 3, 3, 1), 8)
        yield products(kind, conv, "groups_of_one_wide", steps(2), (2, 9, 8, 35), (35, 7, 7, 1), 35)
    yield products(kind, conv, "long", steps(1, 37), (2, 1, 900, 1), (7, 1, 420, 1), 7)
    yield products(kind, depth, "same", steps(2, depth_multiplier=1),
                   (2, 7, 6, 5), (1, 3, 3, 5), 5, 3)  # fmt: skip
    yield products(kind, depth, "multiplier", steps(1, depth_multiplier=3, padding="VALID",
                   **relu6), (1, 7, 6, 2), (1, 3, 2, 6), 6, 3)  # fmt: skip
    yield products(kind, depth, "one_channel", steps(2, depth_multiplier=6),
                   (2, 9, 8, 1), (1, 4, 6, 6), 6, 3)  # fmt: skip
    for label, stride, shape, taps in (
        ("three", 1, (1, 9, 11, 37), (3, 3)), ("three_2", 2, (2, 8, 9, 20), (3, 3)),
        ("five", 1, (1, 7, 9, 33), (5, 5)), ("five_2", 2, (1, 9, 10, 17), (5, 5)),
        ("line", 1, (1, 1, 30, 16), (1, 7)),
    ):  # fmt: skip
        n = shape[3]
        yield products(kind, depth, label, steps(stride, depth_multiplier=1), shape,
                       (1, *taps, n), n, 3)  # fmt: skip
    case = products(kind, "TRANSPOSE_CONV", "same", steps(2), (1, 4, 3, 7), (5, 3, 3, 7), 5,
                    order=(2, 1, 3))  # fmt: skip
    yield replace(case, inputs=[i32([1, 8, 6, 5]), *case.inputs[1:]], constants=(0, 1, 3))


def connected(kind, label="plain", **options):
    """Rows of input times weights."""
    return products(kind, "FULLY_CONNECTED", label, options, (37, 34), (6, 34), 6)


def batches(dtype, x, y, adj_x=False, adj_y=False):
    """A product of stored matrices."""
    zero, out_zero = ZERO[dtype]
    step = 1 / 256 if dtype == "int16" else 1.0
    quantization = {0: (0.05 * step, zero), 1: (0.04 * step, 3 if dtype == "int8" else 0)}
    quantization["out0"] = (0.2 * step, out_zero)
    return Case(
        f"batch_matmul/{dtype}_{'x'.join(map(str, x))}_{adj_x:d}{adj_y:d}", "BATCH_MATMUL",
        {"adj_x": adj_x, "adj_y": adj_y}, [numbers(dtype, *x), numbers(dtype, *y, seed=1)],
        quantization=quantization,
    )  # fmt: skip


def hybrid(op, label, options, x, weights, n, axis, each, dtype="int8", order=(0, 1, 2), **extra):
    """Reals, stored weights and a bias."""
    most = {INT4: 7, INT2: 1}.get(dtype, 127)
    values = [floats(*x, low=-2, high=3), numbers(dtype, *weights, seed=1, most=most),
             floats(n, seed=2)]  # fmt: skip
    inputs = [None] * (max(order) + 1)
    for i, place in enumerate(order):
        inputs[place] = values[i]
    if order[0] == 2:
        inputs[0] = i32([1, 8, 6, n])
    constants = [i for i in range(len(inputs)) if i != order[0]]
    name = f"{op.lower()}/hybrid_{np.dtype(dtype).name}_{label}{'_each' if each else ''}"
    return Case(
        name, op, options, inputs, outputs=[np.float32], constants=constants,
        quantization={order[1]: (scales(n, each), 0, axis)}, rtol=1e-5, atol=1e-5, **extra,
    )  # fmt: skip


INT8, WITH_INT4 = KINDS[0], Kind("int8", INT4, "int32", True)
BIAS_TYPE = {"quantized_bias_type": "INT32"}
ASYMMETRIC = {"asymmetric_quantize_inputs": True}

CASES = [
    *(case for kind in KINDS for case in convolutions(kind)),
    *(connected(kind) for kind in (*KINDS, WITH_INT4, Kind("int8", INT4, "int32", False))),
    connected(INT8, "relu", fused_activation_function="RELU"),
    connected(Kind("int16", "int8", "int32", False), **BIAS_TYPE),
    *(Case(f"fully_connected/int16_by_int16_{constants}", "FULLY_CONNECTED", {},
           [numbers("int16", 3, 65), numbers("int16", 5, 65, seed=1),
            numbers("int32", 5, seed=2)], constants=range(1, 1 + constants),
           quantization={0: (6e-5, 0), 1: (3e-5, 0), 2: (1.8e-9, 0), "out0": (2e-4, 0)})
      for constants in (1, 2)),  # sums beyond int32
    Case("fully_connected/int8_no_bias", "FULLY_CONNECTED", {},
         [numbers("int8", 3, 33), numbers("int8", 5, 33, seed=1), None], constants=(1,),
         quantization={0: (0.05, 4), 1: (0.01, 0), "out0": (0.09, -3)}),
    Case("fully_connected/int8_zero_point", "FULLY_CONNECTED", {},
         [numbers("int8", 3, 33), numbers("int8", 5, 33, seed=1)], constants=(1,),
         quantization={0: (0.05, 4), 1: (0.01, 9), "out0": (0.09, -3)}),
    Case("fully_connected/int8_empty", "FULLY_CONNECTED", {},
         [numbers("int8", 0, 33), numbers("int8", 5, 33, seed=1)],
         lambda x, w: np.zeros((0, 5), np.int8), constants=(1,), oracle=None,
         why="LiteRT takes no empty input",
         quantization={0: (0.05, 4), 1: (0.01, 9), "out0": (0.09, -3)}),
    *(
        batches(dtype, x[::-1] if adj_x else x, y[::-1] if adj_y else y, adj_x, adj_y)
        for dtype in ("int8", "int16")
        for x, y, adj_x, adj_y in (
            ((3, 7), (7, 4), False, False), ((3, 7), (7, 4), True, False),
            ((3, 7), (7, 4), False, True), ((3, 7), (7, 4), True, True),
        )
    ),
    batches("int8", (2, 3, 7), (2, 7, 4)),
    batches("int8", (2, 1, 3, 7), (5, 7, 4)),
    *(
        hybrid("CONV_2D", "same", steps(2), (2, 7, 6, 5), (7, 3, 3, 5), 7, 0, each)
        for each in (False, True)
    ),
    hybrid("CONV_2D", "one_channel", steps(1), (2, 7, 6, 1), (9, 3, 3, 1), 9, 0, True),
    hybrid("CONV_2D", "groups_of_one", steps(1), (2, 5, 5, 6), (12, 3, 3, 1), 12, 0, True),
    replace(
        hybrid("CONV_2D", "equal_scales", steps(1), (2, 5, 5, 6), (4, 3, 3, 3), 4, 0, True),
        quantization={1: (np.full(4, 0.01, np.float32), 0, 0)},
    ),
    hybrid("CONV_2D", "long", steps(1, 37), (2, 1, 900, 1), (7, 1, 420, 1), 7, 0, True),
    hybrid("CONV_2D", "relu", steps(1, fused_activation_function="RELU"),
           (1, 5, 5, 6), (4, 1, 1, 6), 4, 0, True),
    hybrid("DEPTHWISE_CONV_2D", "same", steps(1, depth_multiplier=1),
           (2, 7, 6, 5), (1, 3, 3, 5), 5, 3, True),
    hybrid("DEPTHWISE_CONV_2D", "one_channel", steps(2, depth_multiplier=6),
           (2, 9, 8, 1), (1, 4, 6, 6), 6, 3, True),
    hybrid("DEPTHWISE_CONV_2D", "wide", steps(2, depth_multiplier=1),
           (3, 9, 7, 37), (1, 5, 5, 37), 37, 3, True),
    hybrid("TRANSPOSE_CONV", "same", steps(2), (1, 4, 3, 7), (5, 3, 3, 7), 5, 0, True,
           order=(2, 1, 3)),
    *(
        hybrid("FULLY_CONNECTED", f"rows{bool(options):d}", options, (9, 34), (6, 34), 6, 0, each,
               dtype)
        for each in (False, True)
        for options in ({}, ASYMMETRIC)
        for dtype in (np.int8, INT4, INT2)
    ),
    *(
        Case(f"fully_connected/few_{dtype.name}_{depth}_{bool(options):d}", "FULLY_CONNECTED",
             options, [floats(3, depth, low=-2), np.full((1, depth), -2, dtype)], constants=(1,),
             outputs=[np.float32], quantization={1: (0.1, 0)}, rtol=1e-5, atol=1e-5)
        for dtype in (INT4, INT2)
        for depth in (1, 2, 3)
        for options in ({}, ASYMMETRIC)
    ),
    *(
        Case(f"dequantize/{dtype.name}{'_each' * each}", "DEQUANTIZE", {},
             [numbers(dtype, 5, 7, most=most)], constants=(0,), outputs=[np.float32],
             quantization={0: (scales(5, each), 0)}, rtol=0, atol=0)
        for dtype, most in ((INT4, 7), (INT2, 1))
        for each in (False, True)
    ),
    *(
        Case(f"batch_matmul/hybrid_{label}_{bool(options):d}", "BATCH_MATMUL", options,
             [floats(*x, low=-2), numbers("int8", 2, 33, 4, most=127)], constants=(1,),
             outputs=[np.float32], quantization={1: (0.01, 0)}, rtol=1e-5, atol=1e-5)
        for options in ({}, ASYMMETRIC)
        for label, x in (("batch", (2, 3, 33)), ("repeated", (3, 33)))
    ),
    *(
        Case(f"batch_matmul/hybrid_columns_{adj_y:d}_{bool(options):d}", "BATCH_MATMUL",
             {"adj_y": adj_y, **options},
             [floats(2, 3, 33, low=-2), numbers("int8", 2, *sizes, most=127)], constants=(1,),
             outputs=[np.float32], quantization={1: (scales(5, True), 0, 1 if adj_y else 2)},
             rtol=1e-5, atol=1e-5)
        for options in ({}, ASYMMETRIC)
        for adj_y, sizes in ((False, (33, 5)), (True, (5, 33)))
    ),
    Refuse("batch_matmul/scales_of_rows", "BATCH_MATMUL", {},
           [floats(5, 4), numbers("int8", 4, 4, most=127)],
           "scales must be those of dimension 1, got 0", constants=(1,),
           outputs=[np.float32], quantization={1: (scales(4, True), 0, 0)}),
    Case("fully_connected/hybrid_zeros", "FULLY_CONNECTED", ASYMMETRIC,
         [floats(3, 4) * 0, numbers("int8", 5, 4), floats(5)], constants=(1, 2),
         outputs=[np.float32], quantization={1: (0.01, 0)}, oracle=OPTIMIZED),
    Refuse("conv/scales", "CONV_2D", steps(1),
           [numbers("int8", 1, 4, 4, 3), numbers("int8", 4, 1, 1, 3), i32([0] * 4)],
           "weights must have 1 or 4 scales, got 3", constants=(1, 2),
           quantization={0: (0.1, 0), 1: ([0.1, 0.2, 0.3], 0, 3), "out0": (0.1, 0)}),
    Refuse("conv/int8_bias", "CONV_2D", steps(1),
           [numbers("int8", 1, 4, 4, 3), numbers("int8", 4, 1, 1, 3), floats(4)],
           "bias must be int32, got float32", constants=(1, 2),
           quantization={0: (0.1, 0), 1: (0.1, 0), "out0": (0.1, 0)}),
    Refuse("conv/no_output_scale", "CONV_2D", steps(1),
           [numbers("int8", 1, 4, 4, 3), numbers("int8", 4, 1, 1, 3), i32([0] * 4)],
           "'out0' must have one positive scale", constants=(1, 2),
           quantization={0: (0.1, 0), 1: (0.1, 0)}),
    Refuse("conv/zero_point", "CONV_2D", steps(1),
           [numbers("int8", 1, 4, 4, 3), numbers("int8", 4, 1, 1, 3), i32([0] * 4)],
           "the zero point of 'in0' must be int8, got 300", constants=(1, 2),
           quantization={0: (0.1, 300), 1: (0.1, 0), "out0": (0.1, 0)}),
    Refuse("conv/negative_scale", "CONV_2D", steps(1),
           [numbers("int8", 1, 4, 4, 3), numbers("int8", 4, 1, 1, 3), i32([0] * 4)],
           "scales must not be negative, got -0.5", constants=(1, 2),
           quantization={0: (0.1, 0), 1: (-0.5, 0), "out0": (0.1, 0)}),
    Refuse("fully_connected/hybrid_bias", "FULLY_CONNECTED", {},
           [floats(3, 5), numbers("int8", 4, 5), i32([0] * 4)], "bias must be float32, got int32",
           quantization={1: (0.1, 0)}),
    Refuse("fully_connected/mixed", "FULLY_CONNECTED", {},
           [numbers("uint8", 3, 5), numbers("int8", 4, 5)], "uint8 is not supported yet",
           quantization={0: (0.1, 0), 1: (0.1, 0), "out0": (0.1, 0)}),
]  # fmt: skip
