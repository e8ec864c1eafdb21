"""Operators of one element: activations and other functions, special values included."""

import math

import numpy as np
from cases import OPTIMIZED, Case, Refuse, f32, floats, i32, i64

SPECIAL = f32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 120, -120])
FINITE = f32([0.0, -0.0, 1e-40, -1e-40, 1e-30, 0.5, -0.5, 1.5, 2.5, -2.5, 88.7, -88.7])
SMOOTH = floats(2, 3, 11, low=-6, high=6)
POSITIVE = f32([0.0, 1e-40, 1e-30, 0.5, 1, 2, 1e10, 3e38, np.inf])


def wide(function):
    """`function` of float64; nan where it is not defined."""

    def expected(x, *_):
        with np.errstate(all="ignore"):
            return function(np.asarray(x, np.float64))

    return expected


@wide
def gelu(x):
    return 0.5 * x * np.vectorize(math.erfc)(-x / math.sqrt(2))


@wide
def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def hard_swish(x):
    """In float32, where x * 6 may overflow."""
    with np.errstate(all="ignore"):
        return x * np.clip(x + np.float32(3), 0, np.float32(6)) / np.float32(6)


def clip(low, high):
    return wide(lambda x: np.clip(x, low, high))


def leaky(alpha):
    return wide(lambda x: np.where(x > 0, x, x * np.float32(alpha)))


def function(op, expected, inputs, options=None, oracle="BUILTIN_REF", tolerance=1e-6):
    """A case for each input. Where LiteRT's float32 formula loses digits, `tolerance` says so."""
    name = op.lower() if not options else f"{op.lower()}_{'_'.join(map(str, options.values()))}"
    for kind, x in inputs.items():
        yield Case(
            f"unary/{name}_{kind}", op, options or {}, [x], expected, rtol=tolerance,
            atol=1e-6 if tolerance > 1e-6 else 1e-37, oracle=oracle,
        )  # fmt: skip


EVERY = {"special": SPECIAL, "smooth": SMOOTH}
PLAIN = {"finite": FINITE, "smooth": SMOOTH}
SIGNS = {"special": SPECIAL, "int32": i32([[-7, 0, 9]])}


def prelu(name, x, alpha, **extra):
    expected = wide(lambda x: np.where(x >= 0, x, x * np.asarray(alpha, np.float64)))
    return Case(f"prelu/{name}", "PRELU", {}, [x, alpha], expected, **extra)


CASES = [
    *function("RELU", clip(0, np.inf), EVERY),
    *function("RELU6", clip(0, 6), EVERY),
    *function("RELU_N1_TO_1", clip(-1, 1), EVERY),
    *function("RELU_0_TO_1", clip(0, 1), EVERY),
    *function("TANH", wide(np.tanh), EVERY, tolerance=2e-6),
    *function("LOGISTIC", wide(lambda x: 1 / (1 + np.exp(-x))), EVERY, tolerance=2e-6),
    *function("ELU", wide(lambda x: np.where(x > 0, x, np.expm1(x))), EVERY, oracle=OPTIMIZED),
    *function("HARD_SWISH", hard_swish, EVERY, tolerance=2e-6),
    *function("GELU", gelu, EVERY, tolerance=2e-6),
    *function("GELU", gelu_tanh, PLAIN, {"approximate": True}, tolerance=2e-6),
    *function("LEAKY_RELU", leaky(0.1), EVERY, {"alpha": 0.1}),
    *function("LEAKY_RELU", leaky(1.5), EVERY, {"alpha": 1.5}),
    *function("ABS", np.abs, SIGNS, oracle=OPTIMIZED),  # the reference resolver lacks versions
    *function("ABS", np.abs, {"int16": np.array([-7, 0, 9], np.int16)}, oracle=OPTIMIZED),
    *function("NEG", np.negative, {**SIGNS, "int64": i64([-7, 0, 1 << 40])}),
    *function("SIGN", np.sign, SIGNS),
    *function("SQUARE", wide(np.square), {"smooth": SMOOTH}),
    *function("SQRT", wide(np.sqrt), {"special": SPECIAL, "positive": POSITIVE}),
    *function("RSQRT", wide(lambda x: 1 / np.sqrt(x)), {"positive": POSITIVE}),
    *function("EXP", wide(np.exp), PLAIN),
    *function("LOG", wide(np.log), {"special": SPECIAL, "positive": POSITIVE}),
    *function("SIN", wide(np.sin), PLAIN),
    *function("COS", wide(np.cos), PLAIN),
    *function("FLOOR", np.floor, EVERY),
    *function("CEIL", np.ceil, EVERY, oracle=OPTIMIZED),
    *function("ROUND", np.round, {**EVERY, "halves": f32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])},
              oracle=OPTIMIZED),
    *function("LOGICAL_NOT", np.logical_not, {"bool": np.array([[True, False, True]])}),
    *function("RELU", clip(0, np.inf), {"scalar": f32(-2), "empty": floats(2, 0)}),
    prelu("channels", floats(2, 3, 4), f32([0, 0.5, -1, 2]), constants=(1,)),
    prelu("scalar", floats(2, 3, 4), f32(0.25), constants=(1,)),
    prelu("ones_before", floats(2, 3, 4), f32([[[0, 0.5, -1, 2]]]), constants=(1,)),
    prelu("rows", floats(2, 3, 4), f32([[0.5], [-1], [2]]), constants=(1,)),
    prelu("own_for_each", floats(2, 3, 4), floats(2, 3, 4, seed=1)),
    prelu("at_run_time", floats(1, 3, 4), floats(3, 1, seed=1)),
    prelu("special", SPECIAL, f32(0.5), constants=(1,)),
    prelu("empty", floats(0, 4), floats(4, seed=1), constants=(1,)),
    Refuse("prelu/shape", "PRELU", {}, [floats(2, 3, 4), floats(5)],
           "alpha must be repeatable to the input's shape (2, 3, 4), got (5,)"),
    Refuse("prelu/rank", "PRELU", {}, [floats(3, 4), floats(1, 3, 4)],
           "alpha must be repeatable to the input's shape (3, 4), got (1, 3, 4)"),
    Refuse("unary/abs_int8_to_float", "ABS", {}, [np.zeros(3, np.int8)],
           "output 'out0' must be an integer, got float32", [np.float32],
           quantization={0: (0.5, 0), "out0": (0.5, 0)}),
    Refuse("unary/tanh_int8", "TANH", {}, [np.zeros(3, np.int8)], "int8 is not supported yet"),
    Refuse("unary/exp_int32", "EXP", {}, [i32([1, 2])], "int32 is not supported yet"),
]  # fmt: skip
