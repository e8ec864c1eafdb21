"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, CONV_3D, CONV_3D_TRANSPOSE."""

import definitions
import numpy as np
from cases import OPTIMIZED, Case, Refuse, f32, floats, i32, steps

LARGEST = np.finfo(np.float32).max
UNLIMITED = (-np.inf, np.inf)
CLAMPS = {
    "NONE": UNLIMITED,
    "RELU": (0, np.inf),
    "RELU_N1_TO_1": (-1, 1),
    "RELU6": (0, 6),
    "TANH": UNLIMITED,  # the kernels leave these two out
    "SIGN_BIT": UNLIMITED,
}


def pairs(options, name, axes="hw", suffix=""):
    return tuple(options.get(f"{name}_{axis}{suffix}", 1) for axis in axes)


def conv_2d(options):
    def expected(x, weights, bias=None):
        y = definitions.convolution(
            x,
            np.moveaxis(weights, 0, -1),
            bias,
            pairs(options, "stride"),
            pairs(options, "dilation", suffix="_factor"),
            options.get("padding", "SAME"),
            x.shape[3] // weights.shape[3],
        )
        return np.clip(y, *CLAMPS[options.get("fused_activation_function", "NONE")])

    return expected


def depthwise(options):
    def expected(x, weights, bias=None):
        y = definitions.depthwise(
            x,
            weights[0],
            bias,
            pairs(options, "stride"),
            pairs(options, "dilation", suffix="_factor"),
            options.get("padding", "SAME"),
        )
        return np.clip(y, *CLAMPS[options.get("fused_activation_function", "NONE")])

    return expected


def transpose_conv(options):
    def expected(shape, weights, x, bias=None):
        y = definitions.transposed_convolution(
            x,
            np.moveaxis(weights, 0, -1),
            bias,
            shape[1:3],
            pairs(options, "stride"),
            (1, 1),
            options.get("padding", "SAME"),
        )
        return np.clip(y, *CLAMPS[options.get("fused_activation_function", "NONE")])

    return expected


def conv_3d(options):
    def expected(x, weights, bias=None):
        y = definitions.convolution(
            x,
            weights,
            bias,
            pairs(options, "stride", "dhw"),
            pairs(options, "dilation", "dhw", "_factor"),
            options.get("padding", "SAME"),
        )
        return np.clip(y, *CLAMPS[options.get("fused_activation_function", "NONE")])

    return expected


def conv_3d_transpose(options):
    def expected(shape, weights, x, bias=None):
        return definitions.transposed_convolution(
            x,
            np.swapaxes(weights, -1, -2),
            bias,
            shape[1:4],
            pairs(options, "stride", "dhw"),
            pairs(options, "dilation", "dhw", "_factor"),
            options.get("padding", "SAME"),
        )

    return expected


def dilated(h, w, **options):
    return steps(1, dilation_h_factor=h, dilation_w_factor=w, **options)


def accept(name, op, make, options, inputs, atol=2e-6, **extra):
    return Case(name, op, options, inputs, make(options), rtol=1e-5, atol=atol, **extra)


def conv(name, options, x, weights, bias=True, **extra):
    bias = [floats(weights[0], seed=2)] if bias else []
    inputs = [floats(*x), floats(*weights, seed=1), *bias]
    extra = {"constants": range(1, len(inputs)), **extra}
    return accept(f"conv/{name}", "CONV_2D", conv_2d, options, inputs, **extra)


def depth(name, options, x, weights, **extra):
    inputs = [floats(*x), floats(*weights, seed=1), floats(weights[3], seed=2)]
    return accept(
        f"depthwise/{name}", "DEPTHWISE_CONV_2D", depthwise, options, inputs,
        constants=(1, 2), **extra,
    )  # fmt: skip


def spread(name, options, shape, weights, x, bias=False, **extra):
    inputs = [i32(shape), floats(*weights, seed=1), floats(*x)]
    inputs += [floats(weights[0], seed=2)] if bias else []
    return accept(
        f"transpose_conv/{name}", "TRANSPOSE_CONV", transpose_conv, options, inputs,
        constants=(0, 1, 3)[: 2 + bias], outputs=[np.float32], **extra,
    )  # fmt: skip


def volume(name, options, x, weights, bias=True):
    inputs = [floats(*x), floats(*weights, seed=1)] + ([floats(weights[4], seed=2)] if bias else [])
    options = {"stride_d": 1, "stride_h": 1, "stride_w": 1, **options}
    return accept(f"conv_3d/{name}", "CONV_3D", conv_3d, options, inputs, oracle=OPTIMIZED)


def volume_spread(name, options, shape, weights, x):
    inputs = [i32(shape), floats(*weights, seed=1), floats(*x)]
    options = {"stride_d": 1, "stride_h": 1, "stride_w": 1, **options}
    return accept(
        f"conv_3d_transpose/{name}", "CONV_3D_TRANSPOSE", conv_3d_transpose, options, inputs,
        constants=(0,), outputs=[np.float32], oracle=OPTIMIZED,
    )  # fmt: skip


NO_BIAS = {"oracle": None, "why": "LiteRT wants a bias"}

CASES = [
    conv("pointwise", steps(1), (2, 5, 4, 6), (9, 1, 1, 6)),
    conv("pointwise_stride2", steps(2), (2, 5, 4, 6), (9, 1, 1, 6)),
    conv("same3x3", steps(1), (1, 7, 6, 3), (5, 3, 3, 3)),
    conv("same_stride2_even", steps(2), (1, 8, 8, 3), (4, 3, 3, 3)),
    conv("same_stride2_odd", steps(2), (1, 9, 7, 3), (4, 3, 3, 3)),
    conv("same_even_filter", steps(1), (1, 6, 6, 2), (3, 2, 4, 2)),
    conv("valid_stride_h3_w2", steps(3, 2, padding="VALID"), (2, 11, 9, 3), (4, 3, 2, 3)),
    conv("dilation", dilated(2, 3), (1, 9, 11, 3), (4, 3, 3, 3)),
    conv("dilation_valid", dilated(2, 1, padding="VALID"), (1, 9, 11, 3), (4, 3, 3, 3)),
    conv("dilation_w", dilated(1, 2), (1, 5, 11, 2), (4, 3, 3, 2)),
    conv("groups2", steps(1), (1, 5, 5, 8), (6, 3, 3, 4)),
    conv("groups_of_one", steps(2), (1, 6, 5, 4), (8, 3, 3, 1)),
    conv("groups_of_one_wide", dilated(1, 2), (2, 15, 14, 35), (35, 7, 7, 1)),
    conv("long_filter", steps(1, 37), (2, 1, 900, 1), (7, 1, 420, 1), atol=1e-5),
    conv("groups_pointwise", steps(1), (1, 4, 3, 6), (9, 1, 1, 2)),
    conv("many_channels", steps(1), (1, 3, 3, 70), (33, 3, 3, 70)),
    conv("filter_larger_than_input", steps(1), (1, 2, 2, 3), (4, 5, 5, 3)),
    conv("one_channel", steps(1), (1, 6, 6, 1), (1, 3, 3, 1)),
    conv("no_bias", steps(1), (1, 4, 4, 3), (4, 3, 3, 3), bias=False, **NO_BIAS),
    conv("weights_at_run_time", steps(1), (1, 4, 4, 3), (4, 3, 3, 3), constants=()),
    conv("all_constant", steps(1), (1, 4, 4, 3), (4, 3, 3, 3), constants=(0, 1, 2)),
    conv("empty_batch", steps(1), (0, 4, 4, 3), (4, 3, 3, 3)),
    conv("no_position", steps(1, padding="VALID"), (1, 2, 2, 3), (4, 3, 3, 3)),
    *(
        conv(name.lower(), steps(1, fused_activation_function=name), (1, 5, 5, 8), (4, 3, 3, 8))
        for name in CLAMPS
    ),
    Case("conv/infinite", "CONV_2D", steps(1),
         [f32([np.inf, -np.inf, np.nan, 2]).reshape(1, 1, 4, 1), f32([[[[1]]]]), f32([0])],
         lambda x, w, b: f32([LARGEST, -LARGEST, np.nan, 2]).reshape(1, 1, 4, 1)),
    depth("same3x3", steps(1), (1, 6, 7, 5), (1, 3, 3, 5)),
    depth("stride2", steps(2, 2), (2, 8, 7, 17), (1, 3, 3, 17)),
    depth("valid_relu6", steps(1, padding="VALID", fused_activation_function="RELU6"),
          (1, 6, 6, 4), (1, 5, 3, 4)),
    depth("multiplier3", steps(1, depth_multiplier=3), (1, 5, 5, 2), (1, 3, 3, 6)),
    depth("multiplier8_of_one", steps(1, depth_multiplier=8), (1, 5, 5, 1), (1, 3, 3, 8)),
    depth("multiplier_not_said", steps(1), (1, 5, 5, 2), (1, 3, 3, 4)),
    depth("dilation", dilated(2, 2), (1, 9, 9, 4), (1, 3, 3, 4)),
    depth("empty_batch", steps(1), (0, 5, 5, 2), (1, 3, 3, 2)),
    spread("same_stride2", steps(2), (1, 6, 8, 3), (3, 3, 3, 2), (1, 3, 4, 2)),
    spread("same_odd", steps(2), (1, 5, 7, 3), (3, 3, 3, 2), (1, 3, 4, 2)),
    spread("valid", steps(2, padding="VALID"), (2, 7, 7, 3), (3, 3, 3, 2), (2, 3, 3, 2)),
    spread("filter_below_stride", steps(3), (1, 6, 6, 2), (2, 2, 2, 9), (1, 2, 2, 9)),
    spread("bias_relu", steps(2, fused_activation_function="RELU"),
           (1, 6, 6, 3), (3, 4, 4, 2), (1, 3, 3, 2), bias=True),
    spread("stride_h1_w2", steps(1, 2), (1, 3, 8, 3), (3, 3, 4, 2), (1, 3, 4, 2)),
    volume("same", {}, (1, 4, 5, 6, 3), (2, 3, 3, 3, 4)),
    volume("stride_dilation", {"stride_d": 2, "dilation_w_factor": 2, "padding": "VALID",
                               "fused_activation_function": "RELU"},
           (2, 5, 6, 7, 2), (2, 3, 3, 2, 5)),
    volume("no_bias", {"stride_h": 2}, (1, 3, 5, 4, 2), (1, 3, 2, 2, 3), bias=False),
    volume_spread("same", {"stride_d": 2, "stride_h": 2},
                  (1, 4, 6, 3, 3), (3, 3, 3, 3, 2), (1, 2, 3, 3, 2)),
    volume_spread("valid", {"stride_w": 2, "padding": "VALID"},
                  (1, 4, 5, 7, 3), (2, 3, 3, 3, 2), (1, 3, 3, 3, 2)),
    Refuse("conv/rank", "CONV_2D", steps(1), [floats(4, 4, 3), floats(4, 3, 3, 3), floats(4)],
           "input must have 4 dimensions, got shape (4, 4, 3)"),
    Refuse("conv/no_filter", "CONV_2D", steps(1), [floats(1, 4, 4, 3), None, floats(4)],
           "input 1 is missing"),
    Refuse("conv/too_few", "CONV_2D", steps(1), [floats(1, 4, 4, 3)], "input 1 is missing"),
    Refuse("conv/channels", "CONV_2D", steps(1),
           [floats(1, 4, 4, 4), floats(2, 3, 3, 3), floats(2)],
           "channels of the filter must divide those of the input, got 3 and 4"),
    Refuse("conv/groups", "CONV_2D", steps(1),
           [floats(1, 4, 4, 4), floats(3, 3, 3, 2), floats(3)],
           "the 2 groups must divide the 3 filters"),
    Refuse("conv/bias", "CONV_2D", steps(1), [floats(1, 4, 4, 3), floats(4, 3, 3, 3), floats(3)],
           "bias must have 4 elements, one a channel, got shape (3,)"),
    Refuse("conv/stride", "CONV_2D", steps(0), [floats(1, 4, 4, 3), floats(4, 3, 3, 3), floats(4)],
           "stride_h must be positive, got 0"),
    Refuse("conv/negative_dilation", "CONV_2D", dilated(1, -1),
           [floats(1, 4, 4, 3), floats(4, 3, 3, 3), floats(4)],
           "dilation_w_factor must be positive, got -1"),
    Refuse("conv/too_small", "CONV_2D", steps(1, padding="VALID"),
           [floats(1, 4, 1, 3), floats(4, 3, 3, 3), floats(4)],
           "the filter must fit into the input, got 3 against 1; pad the input"),
    Refuse("conv/int8", "CONV_2D", steps(1),
           [np.zeros((1, 4, 4, 3), np.int8), np.zeros((4, 3, 3, 3), np.int8), i32([0] * 4)],
           "'in0' must have one positive scale"),
    Refuse("conv/int8_weights", "CONV_2D", steps(1),
           [floats(1, 4, 4, 3), np.zeros((4, 3, 3, 3), np.int8), floats(4)],
           "weights must have a scale"),
    Refuse("depthwise/first", "DEPTHWISE_CONV_2D", steps(1),
           [floats(1, 4, 4, 3), floats(2, 3, 3, 3), floats(3)],
           "filter must have 1 as first dimension, got shape (2, 3, 3, 3)"),
    Refuse("depthwise/channels", "DEPTHWISE_CONV_2D", steps(1),
           [floats(1, 4, 4, 3), floats(1, 3, 3, 4), floats(4)],
           "channels of the filter must be a multiple of the input's 3, got 4"),
    Refuse("transpose_conv/shape", "TRANSPOSE_CONV", steps(2),
           [i32([2, 6, 6, 3]), floats(3, 3, 3, 2), floats(1, 3, 3, 2)],
           "output shape must be (1, ..., 3) in 4 dimensions, got (2, 6, 6, 3)", constants=(0,)),
    Refuse("transpose_conv/sizes", "TRANSPOSE_CONV", steps(2),
           [i32([1, 9, 6, 3]), floats(3, 3, 3, 2), floats(1, 3, 3, 2)],
           "a convolution over output shape (1, 9, 6, 3) must give the input's (3, 3), "
           "gives (5, 3)", constants=(0,)),
    Refuse("transpose_conv/channels", "TRANSPOSE_CONV", steps(2),
           [i32([1, 6, 6, 3]), floats(3, 3, 3, 4), floats(1, 3, 3, 2)],
           "filter and input must have equal channels, got 4 and 2", constants=(0,)),
]  # fmt: skip
