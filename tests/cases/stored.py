"""Functions, pools, sums and norms of stored integers.

LiteRT's reference kernels say what comes out, to the last bit; functions of one number meet every
number there is.
"""

from dataclasses import replace

import numpy as np
from cases import OPTIMIZED, Case, Refuse, every, f32, i32

ZERO = {"int8": (-5, -30), "uint8": (120, 90), "int16": (0, 0)}
BYTES, SIGNED, ALL = ("int8", "uint8"), ("int8", "int16"), ("int8", "uint8", "int16")
FUNCTIONS = {
    "ABS": SIGNED, "ELU": ("int8",), "EXP": SIGNED, "GELU": ALL, "HARD_SWISH": BYTES,
    "LEAKY_RELU": ALL, "LOG": SIGNED, "LOGISTIC": ALL, "RELU": ALL, "RELU6": ALL,
    "RELU_0_TO_1": BYTES, "RELU_N1_TO_1": BYTES, "RSQRT": SIGNED, "SQRT": SIGNED, "TANH": ALL,
}  # fmt: skip
SCALES = ((0.05, 0.04), (0.031, 0.05), (0.0007, 0.3))
FIXED = {
    ("LOGISTIC", "int8"): (1 / 256, -128), ("LOGISTIC", "uint8"): (1 / 256, 0),
    ("LOGISTIC", "int16"): (1 / 32768, 0), ("TANH", "int16"): (1 / 32768, 0),
}  # fmt: skip
"""Operator, type -> the only scheme of the result."""


def step(dtype):
    return 1 / 256 if dtype == "int16" else 1.0


def numbers(dtype, *shape, seed=0):
    known = np.iinfo(dtype)
    random = np.random.default_rng((seed, *shape))
    return random.integers(known.min, known.max + 1, shape).astype(dtype)


def function(op, dtype, j):
    """One function of every number it has, on one pair of scales."""
    zero, out_zero = ZERO[dtype]
    scale, out_scale = (s * step(dtype) for s in SCALES[j])
    if dtype == "int16" and op in ("TANH", "LOGISTIC"):  # two powers of two, and another scale
        scale = (1 / 4096, 1 / 2048, scale)[j]
    x = every(dtype)
    x = x[x >= zero] if op in ("RSQRT", "SQRT") else x
    options = {"LEAKY_RELU": {"alpha": 0.3 - j}, "GELU": {"approximate": bool(j % 2)}}
    return Case(
        f"{op.lower()}/stored_{dtype}_{j}", op, options.get(op, {}), [x],
        oracle=OPTIMIZED if op == "ELU" else "BUILTIN_REF",
        quantization={0: (scale, zero), "out0": FIXED.get((op, dtype), (out_scale, out_zero))},
    )  # fmt: skip


def gelu(values, expected):
    """GELU of int16 at scales where rounding once, not at each step, gives other results."""
    return Case(f"gelu/stored_int16_at_{values}", "GELU", {}, [every("int16")],
        quantization={0: (values, 0), "out0": (expected, 0)})  # fmt: skip


def comparison(op, dtype):
    """Numbers with two scales; TFLite orders int16 as they are stored."""
    (scale, out_scale), (zero, out_zero) = SCALES[0], ZERO[dtype]
    return Case(
        f"{op.lower()}/stored_{dtype}", op, {},
        [numbers(dtype, 500), numbers(dtype, 500, seed=1)], outputs=[np.bool_],
        quantization={0: (scale * step(dtype), zero), 1: (out_scale * step(dtype), out_zero)},
    )  # fmt: skip


def slopes(dtype, *shape):
    zero, out_zero = ZERO[dtype]
    return Case(
        f"prelu/stored_{dtype}_{len(shape)}", "PRELU", {},
        [numbers(dtype, 2, 3, 4, 5), numbers(dtype, *shape)], constants=(1,),
        quantization={0: (0.05, zero), 1: (0.01, 3), "out0": (0.04, out_zero)},
    )  # fmt: skip


def pools(op, dtype, activation):
    scheme = (0.05 * step(dtype), ZERO[dtype][0])
    options = {
        "filter_height": 3, "filter_width": 2, "stride_h": 2, "stride_w": 1,
        "fused_activation_function": activation,
    }  # fmt: skip
    return Case(
        f"pool/{op.lower()}_{dtype}_{activation.lower()}", op, options,
        [numbers(dtype, 2, 7, 6, 5)], quantization={0: scheme, "out0": scheme},
    )  # fmt: skip


PROBABILITIES = {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}


def softmax(dtype, beta, scale, *shape, out=None):
    scheme = (1 / 65536, -32768) if out else PROBABILITIES[dtype]
    return Case(
        f"softmax/stored_{dtype}_{shape[-1]}{'_wide' if out else ''}", "SOFTMAX", {"beta": beta},
        [numbers(dtype, *shape)], outputs=out and [out],
        quantization={0: (scale * step(dtype), ZERO[dtype][0]), "out0": scheme},
    )  # fmt: skip


def log_softmax(dtype, scale, *shape):
    return Case(
        f"log_softmax/stored_{dtype}_{shape[-1]}", "LOG_SOFTMAX", {}, [numbers(dtype, *shape)],
        quantization={0: (scale, 3), "out0": (1 / 16, np.iinfo(dtype).max)},
    )  # fmt: skip


def lengths(dtype, *shape):
    out_zero = 128 if dtype == "uint8" else 0
    return Case(
        f"l2_normalization/stored_{dtype}_{shape[-1]}", "L2_NORMALIZATION", {},
        [numbers(dtype, *shape)],
        quantization={0: (0.05, ZERO[dtype][0]), "out0": (1 / 128, out_zero)},
    )  # fmt: skip


def reductions(op, dtype, axes, keep, out_scale):
    zero, out_zero = ZERO[dtype]
    scheme = (0.05 * step(dtype), zero)
    result = scheme if out_scale is None else (out_scale * step(dtype), out_zero)
    return Case(
        f"{op.lower()}/stored_{dtype}_{'_'.join(map(str, axes))}_{out_scale}", op,
        {"keep_dims": keep}, [numbers(dtype, 2, 3, 4, 5), i32(axes)], constants=(1,),
        quantization={0: scheme, "out0": result},
        oracle=OPTIMIZED if op == "SUM" else "BUILTIN_REF",  # the reference's sums are always -1
    )  # fmt: skip


AXES = (([1, 2], True), ([0, 2], False), ([0, 1, 2, 3], False), ([3], False))
OUT_SCALES = {"MEAN": (None, 0.031), "SUM": (None, 0.31), "REDUCE_MAX": (None,),
              "REDUCE_MIN": (None,), "REDUCE_PROD": (0.02, 0.5)}  # fmt: skip

CASES = [
    gelu(1 / 4096, 1 / 4096),
    *(
        function(op, dtype, j)
        for op, dtypes in FUNCTIONS.items()
        for dtype in dtypes
        for j in range(len(SCALES))
    ),
    *(
        comparison(op, dtype)
        for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
        for dtype in ALL
    ),
    *(slopes(dtype, *shape) for dtype in BYTES for shape in ((5,), (4, 5), (1, 4, 1), (1,) * 4)),
    *(
        pools(op, dtype, activation)
        for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
        for dtype in ALL
        for activation in ("NONE", "RELU6")
    ),
    *(softmax(dtype, 1.0, 0.05, 6, 10) for dtype in ALL),
    *(softmax(dtype, 2.0, 0.3, 3, 300) for dtype in ALL),
    *(softmax(dtype, 0.5, 0.001, 4, 1) for dtype in ALL),
    softmax("int16", 0.5, 0.001, 2, 3, 1000),
    *(softmax(dtype, 1.0, 0.02, 7, 64) for dtype in BYTES),
    *(
        Case(f"mean/stored_{dtype}_wide", "MEAN", {"keep_dims": True},
             [numbers(dtype, 2, 7, 7, 70), i32([1, 2])], constants=(1,),
             quantization={0: (0.05 * step(dtype), ZERO[dtype][0]),
                           "out0": (0.031 * step(dtype), ZERO[dtype][1])})
        for dtype in ALL
    ),
    *(softmax(dtype, 1.0, 0.1, 5, 70, out=np.int16) for dtype in BYTES),
    Case("softmax/stored_alike", "SOFTMAX", {"beta": 1.0}, [np.zeros((1, 1001), np.int8)],
         lambda x: np.full(x.shape, -128, np.int8), oracle=None, why="the reference kernel aborts",
         quantization={0: (0.05, 0), "out0": PROBABILITIES["int8"]}),
    *(
        log_softmax(dtype, scale, *shape)
        for dtype in BYTES
        for scale, shape in ((0.05, (9, 10)), (0.3, (5, 300)), (0.001, (3, 90)), (0.7, (20, 2)))
    ),
    # The reference aborts of a scale whose multiplier is below one.
    *(replace(log_softmax(dtype, 1e-9, 4, 5), oracle=OPTIMIZED) for dtype in BYTES),
    *(lengths(dtype, *shape) for dtype in BYTES for shape in ((40, 5), (3, 300), (30, 1))),
    *(
        reductions(op, dtype, axes, keep, out_scale)
        for op, out_scales in OUT_SCALES.items()
        for dtype in (SIGNED if op == "REDUCE_PROD" else ALL)
        for axes, keep in AXES
        for out_scale in out_scales
    ),
    *(
        Case(f"{op.lower()}/stored_{dtype}", op, {"output_type": "INT32"},
             [numbers(dtype, 3, 40), i32([1])], constants=(1,), outputs=[np.int32],
             quantization={0: (0.05, 3)})
        for op in ("ARG_MAX", "ARG_MIN")
        for dtype in BYTES
    ),
    Case(
        "neg/stored_int8", "NEG", {}, [every("int8")[1:]],
        quantization={0: (0.1, 0), "out0": (0.1, 0)},
    ),
    Case(
        "neg/stored_int16", "NEG", {}, [numbers("int16", 3, 400)],
        quantization={0: (0.001, 0), "out0": (0.001, 0)},
    ),
    Case(
        "neg/stored_zero_points", "NEG", {}, [every("int8")],
        lambda x: np.clip(-7 - x.astype(int), -128, 127).astype(np.int8), oracle=None,
        why="LiteRT leaves the zero points out",
        quantization={0: (0.1, -10), "out0": (0.1, 3)},
    ),
    *(
        Case(f"{op.lower()}/plain_{dtype}", op, {}, [numbers(dtype, 3, 40), i32([1])],
             constants=(1,))
        for op in ("REDUCE_MAX", "REDUCE_MIN")
        for dtype in ALL
    ),
    Refuse("neg/scales", "NEG", {}, [every("int8")],
           "input and output must have one scale, got 0.5 and 0.25",
           quantization={0: (0.5, 0), "out0": (0.25, 0)}),
    Refuse("elu/uint8", "ELU", {}, [every("uint8")], "quantized uint8 is not supported",
           quantization={0: (0.1, 0), "out0": (0.1, 0)}),
    Refuse("tanh/no_output_scale", "TANH", {}, [every("int8")],
           "'out0' must have one positive scale", quantization={0: (0.1, 0)}),
    Refuse("hard_swish/output_scale", "HARD_SWISH", {}, [every("int8")],
           "output scale must exceed", quantization={0: (0.1, 0), "out0": (1e-5, 0)}),
    Refuse("prelu/int16", "PRELU", {}, [every("int16"), numbers("int16", 1)],
           "quantized int16 and int16 are not supported, only int8 or uint8",
           quantization={0: (0.1, 0), 1: (0.1, 0), "out0": (0.1, 0)}),
    Refuse("pool/scales", "AVERAGE_POOL_2D",
           {"filter_height": 1, "filter_width": 1, "stride_h": 1, "stride_w": 1},
           [numbers("int8", 1, 2, 2, 1)], "input and output must have one scale and zero point",
           quantization={0: (0.1, 0), "out0": (0.2, 0)}),
    Refuse("softmax/output", "SOFTMAX", {"beta": 1.0}, [numbers("int8", 1, 4)],
           "output must have scale 1/256 and zero point -128, got 0.5 and 0",
           quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("softmax/stored_beta", "SOFTMAX", {"beta": -1.0}, [numbers("int8", 1, 4)],
           "beta must be positive, got -1.0",
           quantization={0: (0.1, 0), "out0": PROBABILITIES["int8"]}),
    Refuse("softmax/type", "SOFTMAX", {"beta": 1.0}, [numbers("int16", 1, 4)],
           "int16 cannot give int8", [np.int8], quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("log_softmax/output", "LOG_SOFTMAX", {}, [numbers("int8", 1, 4)],
           "output must have scale 1/16 and zero point 127, got 0.5 and 0",
           quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("log_softmax/int16", "LOG_SOFTMAX", {}, [numbers("int16", 1, 4)],
           "quantized int16 is not supported", quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("l2_normalization/output", "L2_NORMALIZATION", {}, [numbers("int8", 1, 4)],
           "output must have scale 1/128 and zero point 0, got 0.5 and 0",
           quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("l2_normalization/int16", "L2_NORMALIZATION", {}, [numbers("int16", 1, 4)],
           "quantized int16 is not supported", quantization={0: (0.1, 0), "out0": (0.5, 0)}),
    Refuse("reduce_max/scales", "REDUCE_MAX", {}, [numbers("int8", 2, 4), i32([1])],
           "input and output must have one scale and zero point", constants=(1,),
           quantization={0: (0.1, 0), "out0": (0.2, 0)}),
    Refuse("reduce_prod/uint8", "REDUCE_PROD", {}, [numbers("uint8", 2, 4), i32([1])],
           "quantized uint8 is not supported", constants=(1,),
           quantization={0: (0.1, 0), "out0": (0.2, 0)}),
    Refuse("arg_max/complex64", "ARG_MAX", {"output_type": "INT32"},
           [numbers("int16", 4).astype(np.complex64), i32([0])],
           "complex64 is not supported", outputs=[np.int32], constants=(1,)),
    Refuse("prelu/float_alpha", "PRELU", {}, [numbers("int8", 4), f32([0.5])],
           "quantized int8 and float32 are not supported, only int8 or uint8",
           quantization={0: (0.1, 0), "out0": (0.2, 0)}),
]  # fmt: skip
