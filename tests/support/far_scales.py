"""Operators on integers with scales anywhere in float32's positive range, drawn by a seed."""

import numpy as np
from cases import OPTIMIZED, Case

TYPES, BYTES, SIGNED = ("int8", "uint8", "int16"), ("int8", "uint8"), ("int8", "int16")
ACTIVATIONS = ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"]
STEPS = {"stride_h": 1, "stride_w": 1}
LOWEST, HIGHEST = 1e-38, 3e38
FUNCTIONS = {
    "RELU": TYPES, "RELU6": TYPES, "LEAKY_RELU": TYPES, "RELU_N1_TO_1": BYTES,
    "RELU_0_TO_1": BYTES, "ABS": SIGNED, "TANH": TYPES, "LOGISTIC": TYPES, "GELU": BYTES,
    "EXP": SIGNED, "LOG": SIGNED, "RSQRT": SIGNED, "SQRT": SIGNED, "HARD_SWISH": BYTES,
    "DEQUANTIZE": TYPES, "SOFTMAX": TYPES, "LOG_SOFTMAX": BYTES, "L2_NORMALIZATION": BYTES,
    "QUANTIZE": TYPES,
}  # fmt: skip
PRESCRIBED = {
    "LOGISTIC": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)},
    "TANH": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)},
    "SOFTMAX": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)},
    "LOG_SOFTMAX": {"int8": (1 / 16, 127), "uint8": (1 / 16, 255)},
    "L2_NORMALIZATION": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)},
}
HIGHEST_POWERS = {"EXP": {"int16": -3}, "HARD_SWISH": {"int8": 7, "uint8": 7}}
"""Operator -> type -> power of 10 beyond which LiteRT's result is none: it makes integers of
infinity minus infinity, or shifts by 32 bits. tests/cases/edges.py says what is right."""
PAIRS = {
    "ADD": TYPES, "SUB": TYPES, "MUL": TYPES, "DIV": BYTES, "SQUARED_DIFFERENCE": ("int8",),
    "MAXIMUM": TYPES, "EQUAL": BYTES, "LESS": BYTES,
}  # fmt: skip
FUSED = ("ADD", "SUB", "MUL", "DIV")
PRODUCTS = {
    "CONV_2D": TYPES, "DEPTHWISE_CONV_2D": TYPES, "FULLY_CONNECTED": TYPES, "BATCH_MATMUL": SIGNED
}  # fmt: skip
FOLDS = {"MEAN": TYPES, "SUM": TYPES, "REDUCE_PROD": SIGNED, "REDUCE_MAX": TYPES}
OTHERS = ("AVERAGE_POOL_2D", "MAX_POOL_2D", "CONCATENATION", "PRELU", "RESIZE_BILINEAR", "FLOATS")
KINDS = (*FUNCTIONS, *PAIRS, *PRODUCTS, *FOLDS, *OTHERS)


class Draw:
    """What is drawn for one case."""

    def __init__(self, kind: str, seed: int) -> None:
        self.random = np.random.default_rng((sum(map(ord, kind)), seed))
        self.is_near = self.random.random() < 0.6

    def dtype(self, dtypes):
        return str(self.random.choice(dtypes))

    def scale(self, low=-30, high=30):
        return float(np.float32(10.0 ** self.random.uniform(low, high)))

    def scheme(self, dtype, low=-30, high=30):
        limits = np.iinfo(dtype)
        zero = 0 if dtype == "int16" else int(self.random.integers(limits.min, limits.max + 1))
        return self.scale(low, high), zero

    def other(self, dtype, scale):
        """Another scheme, mostly with a scale that is not too far from one."""
        drawn, zero = self.scheme(dtype)
        if self.is_near:
            drawn = scale * 10.0 ** self.random.uniform(-6, 6)
        return float(np.float32(np.clip(drawn, LOWEST, HIGHEST))), zero

    def numbers(self, dtype, *shape):
        limits = np.iinfo(dtype)
        return self.random.integers(limits.min, limits.max + 1, shape).astype(dtype)

    def activation(self):
        return {"fused_activation_function": str(self.random.choice(ACTIVATIONS))}


def every(dtype):
    """All numbers of a type, of 16 bits those of a grid."""
    known = np.iinfo(dtype)
    return np.arange(known.min, known.max + 1, 1 if known.bits == 8 else 37).astype(dtype)


def case_of(kind, seed):
    """A case of `kind`."""
    draw = Draw(kind, seed)
    for kinds, make in (
        (FUNCTIONS, function), (PAIRS, pair), (PRODUCTS, product), (FOLDS, fold)
    ):  # fmt: skip
        if kind in kinds:
            return make(draw, kind, draw.dtype(kinds[kind]))
    return OTHER[kind](draw, kind)


def function(draw, kind, dtype):
    x = draw.scheme(dtype, -30, HIGHEST_POWERS.get(kind, {}).get(dtype, 30))
    out = PRESCRIBED.get(kind, {}).get(dtype) or draw.other(dtype, x[0])
    values = every(dtype)
    if kind in ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"):
        values = draw.numbers(dtype, 4, 9)
    if kind in ("LOG", "RSQRT", "SQRT"):
        x = (x[0], min(x[1], np.iinfo(dtype).max - 9))
        values = values[values.astype(int) > x[1]]
    options = {
        "LEAKY_RELU": {"alpha": float(draw.random.uniform(-2, 2))},
        "GELU": {"approximate": bool(draw.random.random() < 0.5)},
        "SOFTMAX": {"beta": float(10.0 ** draw.random.uniform(-2, 2))},
    }.get(kind, {})
    if kind == "DEQUANTIZE":
        return Case(kind, kind, {}, [values], None, [np.float32], quantization={0: x})
    return Case(kind, kind, options, [values], quantization={0: x, "out0": out})


def pair(draw, kind, dtype):
    a = draw.scheme(dtype)
    b = draw.other(dtype, a[0])
    with np.errstate(all="ignore"):
        scale = {"MUL": a[0] * b[0], "DIV": a[0] / b[0]}.get(kind, max(a[0], b[0]))
    out = draw.other(dtype, scale**2 if kind == "SQUARED_DIFFERENCE" else scale)
    options = draw.activation() if kind in FUSED else {}
    if dtype == "int16" and kind in ("ADD", "SUB"):
        options["pot_scale_int16"] = False
    inputs = [draw.numbers(dtype, 64), draw.numbers(dtype, 64)]
    if kind == "DIV":
        step = 1 if b[1] < np.iinfo(dtype).max else -1
        inputs[1] = np.where(inputs[1] == b[1], b[1] + step, inputs[1]).astype(dtype)
    if kind in ("LESS", "EQUAL"):
        return Case(kind, kind, {}, inputs, None, [np.bool_], quantization={0: a, 1: b})
    if kind == "MAXIMUM":
        b = out = a
    return Case(kind, kind, options, inputs, quantization={0: a, 1: b, "out0": out})


def product(draw, kind, dtype):
    weights_type = "uint8" if dtype == "uint8" else "int8"
    x, w = draw.scheme(dtype), draw.scheme(weights_type)
    w = w if weights_type == "uint8" else (w[0], 0)
    out = draw.other(dtype, x[0] * w[0])
    if kind == "BATCH_MATMUL":
        y = draw.other(dtype, x[0]) if dtype == "int8" else draw.scheme(dtype)
        inputs = [draw.numbers(dtype, 4, 8), draw.numbers(dtype, 8, 5)]
        return Case(kind, kind, {}, inputs, quantization={0: x, 1: y, "out0": out})
    shape = {"CONV_2D": (5, 2, 2, 8), "DEPTHWISE_CONV_2D": (1, 2, 2, 8), "FULLY_CONNECTED": (5, 8)}
    n = 8 if kind == "DEPTHWISE_CONV_2D" else 5
    bias = draw.numbers("int32", n) // 1000
    bias = bias.astype(np.int64 if dtype == "int16" else np.int32)
    options = draw.activation() | ({} if kind == "FULLY_CONNECTED" else STEPS)
    options |= {"depth_multiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
    values = draw.numbers(dtype, *((4, 8) if kind == "FULLY_CONNECTED" else (1, 3, 3, 8)))
    weights = draw.numbers(weights_type, *shape[kind])
    weights = np.maximum(weights, -127) if weights_type == "int8" else weights
    with np.errstate(all="ignore"):
        of_bias = float(np.float32(x[0]) * np.float32(w[0]))
    schemes = {0: x, 1: w, 2: (of_bias, 0), "out0": out}
    inputs = [values, weights, bias]
    return Case(kind, kind, options, inputs, constants=(1, 2), quantization=schemes)


def fold(draw, kind, dtype):
    x = draw.scheme(dtype)
    out = x if kind == "REDUCE_MAX" else draw.other(dtype, x[0])
    n = int(10.0 ** draw.random.uniform(0, 5 if kind in ("MEAN", "SUM") else 2))
    inputs = [draw.numbers(dtype, 3, n), np.array([1], np.int32)]
    oracle = OPTIMIZED if kind == "SUM" else "BUILTIN_REF"  # LiteRT's reference of SUM gives -1
    schemes = {0: x, "out0": out}
    return Case(kind, kind, {}, inputs, constants=(1,), quantization=schemes, oracle=oracle)


def pool(draw, kind):
    """LiteRT takes limits that are no int32 from memory that it did not write."""
    dtype = draw.dtype(TYPES)
    x = draw.scheme(dtype)
    options = {**STEPS, "filter_height": 2, "filter_width": 2}
    options |= draw.activation() if x[0] > 1e-8 else {}
    schemes = {0: x, "out0": x}
    return Case(kind, kind, options, [draw.numbers(dtype, 1, 4, 4, 3)], quantization=schemes)


def concatenation(draw, kind):
    x = draw.scheme("uint8")
    schemes = {0: x, 1: draw.other("uint8", x[0]), "out0": draw.other("uint8", x[0])}
    return Case(kind, kind, {"axis": 0}, [every("uint8")] * 2, quantization=schemes)


def prelu(draw, kind):
    dtype = draw.dtype(BYTES)
    x = draw.scheme(dtype)
    schemes = {0: x, 1: draw.scheme(dtype, -6, 6), "out0": draw.other(dtype, x[0])}
    inputs = [draw.numbers(dtype, 4, 8), draw.numbers(dtype, 8)]
    return Case(kind, kind, {}, inputs, constants=(1,), quantization=schemes)


def resized(draw, kind):
    dtype = draw.dtype(TYPES)
    x = draw.scheme(dtype)
    inputs = [draw.numbers(dtype, 1, 3, 3, 2), np.array([5, 7], np.int32)]
    return Case(kind, kind, {}, inputs, constants=(1,), quantization={0: x, "out0": x})


def floats(draw, kind):
    """QUANTIZE of floats."""
    dtype = draw.dtype(TYPES)
    out = draw.scheme(dtype)
    power = 10.0 ** draw.random.uniform(-2, 6)
    values = (draw.random.normal(size=200) * out[0] * power).astype(np.float32)
    return Case(kind, "QUANTIZE", {}, [values], None, [np.dtype(dtype)], quantization={"out0": out})


OTHER = {
    "AVERAGE_POOL_2D": pool,
    "MAX_POOL_2D": pool,
    "CONCATENATION": concatenation,
    "PRELU": prelu,
    "RESIZE_BILINEAR": resized,
    "FLOATS": floats,
}
