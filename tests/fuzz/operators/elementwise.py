"""Functions of one, two or three elements at the same place."""

import numpy as np
from fuzz.drawing import QUANTIZED, Draw, dtype_of, rows
from fuzz.operators.layout import HALVES, OTHERS, SCALED

from flatlite.schema.model import Quantization

NUMBERS = "float32 int32 int64"
ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
PRESCRIBED = {
    ("LOGISTIC", "qint8"): (1 / 256, -128),
    ("LOGISTIC", "quint8"): (1 / 256, 0),
    ("LOGISTIC", "qint16"): (1 / 32768, 0),
    ("TANH", "qint8"): (1 / 128, 0),
    ("TANH", "quint8"): (1 / 128, 128),
    ("TANH", "qint16"): (1 / 32768, 0),
}
"""Scale and zero point that LiteRT asks of a result."""
POSITIVE = ("LOG", "SQRT", "RSQRT")


def prescribed(op, kind):
    """The quantization that LiteRT asks of a result, None where it may be any."""
    if (op, kind) not in PRESCRIBED:
        return None
    scale, zero = PRESCRIBED[op, kind]
    return Quantization(np.array([scale], np.float32), np.array([zero], np.int64))


@rows(
    {
        "ABS": "float32 int16 int32 qint8 qint16",
        "NEG": f"float32 {HALVES} int8 int16 int32 int64 qint8 qint16",
        "SQUARE": "float32",
        "CEIL": "float32",
        "FLOOR": f"float32 {HALVES}",
        "ROUND": f"float32 {HALVES}",
        "SIGN": "float32 float64 int32",
        "SIN": "float32 float16",
        "COS": "float32 float16",
        "EXP": "float32 qint8 qint16",
        "LOG": "float32 qint8 qint16",
        "SQRT": "float32 qint8 qint16",
        "RSQRT": "float32 qint8 qint16",
        "LOGICAL_NOT": "bool",
        "RELU": f"float32 {SCALED}",
        "RELU6": f"float32 {SCALED}",
        "RELU_N1_TO_1": "float32 qint8 quint8",
        "RELU_0_TO_1": "float32 qint8 quint8",
        "TANH": f"float32 {HALVES} {SCALED}",
        "LOGISTIC": f"float32 {HALVES} {SCALED}",
        "ELU": "float32 qint8",
        "HARD_SWISH": "float32 qint8 quint8",
        "GELU": f"float32 float16 {SCALED}",
        "LEAKY_RELU": f"float32 {SCALED}",
    }
)
def unary(d: Draw, op, kind):
    above_zero = {"low": 0.0, "high": 9.0} if op in POSITIVE and kind == "float32" else {}
    x = d.x(kind, **above_zero)
    scheme = prescribed(op, kind)
    if scheme is None and d.chance(0.2):
        scheme = d.at(x).quantization
    options = {}
    if op == "LEAKY_RELU":
        options["alpha"] = d.pick([0.0, 0.01, 0.2, 1.0, 2.5, -0.5])
    if op == "GELU":
        options["approximate"] = d.flag()
    d.add(op, [x], [d.like(x, scheme=scheme or d.scheme(kind))], **options)


def repeatable(d: Draw, shape):
    """A shape that broadcasts to `shape` or, dimension by dimension, the other way."""
    suffix = shape[d.integer(0, len(shape)) :] if d.chance(0.3) else shape
    return tuple(1 if d.chance(0.15) else n for n in suffix)


def broadcast(d: Draw, *operands):
    return np.broadcast_shapes(*(d.at(x).shape for x in operands))


ORDERS = ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")


def pair(d: Draw, kind, **limits):
    """Two operands whose shapes broadcast, in either order."""
    a = d.x(kind)
    b = d.x(kind, shape=repeatable(d, d.at(a).shape), **limits)
    return (b, a) if d.chance(0.2) and not limits else (a, b)


@rows({"ADD": f"{NUMBERS} float16 int16 {SCALED}", "DIV": f"float32 int32 {SCALED}"})
@rows(dict.fromkeys(("SUB", "MUL"), f"{NUMBERS} {SCALED}"))
def arithmetic(d: Draw, op, kind):
    limits = {"low": 1, "high": 9} if op == "DIV" and kind != "float32" else {}
    a, b = pair(d, kind, **limits)
    activation = d.pick(ACTIVATIONS) if kind in (*QUANTIZED, "float32") else "NONE"
    options = {"fused_activation_function": activation}
    if op in ("ADD", "SUB") and kind == "qint16":
        options["pot_scale_int16"] = d.flag()
    d.add(op, [a, b], [d.rescaled(a, broadcast(d, a, b), kind)], **options)


@rows(
    {
        "SQUARED_DIFFERENCE": "float32 int32 qint8",
        "POW": "float32 int32",
        "ATAN2": f"float32 {HALVES} float64",
        "FLOOR_DIV": "float32 int32 int64 int8 int16 qint8 qint16",
        "FLOOR_MOD": "float32 int32 int64 int8 int16 qint8 qint16",
        "LOGICAL_AND": "bool",
        "LOGICAL_OR": "bool",
        "BITWISE_XOR": "bool int8 uint8 int16 uint16 int32 uint32",
        "RIGHT_SHIFT": "int8 uint8 int16 uint16 int32 uint32",
    }
)
def plain(d: Draw, op, kind):
    limits = {}
    if op.startswith("FLOOR_") and kind != "float32":
        limits = {"low": 1, "high": 9}
    if op == "POW":
        limits = {"low": 0, "high": 4}
    if op == "RIGHT_SHIFT":
        limits = {"low": 0, "high": 7}
    a, b = pair(d, kind, **limits)
    d.add(op, [a, b], [d.rescaled(a, broadcast(d, a, b), kind)])


@rows(dict.fromkeys(("MAXIMUM", "MINIMUM"), f"{NUMBERS} {HALVES} int8 uint8 int16 {SCALED}"))
def extreme(d: Draw, op, kind):
    a = d.x(kind)
    scheme = d.at(a).quantization
    b = d.x(kind, shape=repeatable(d, d.at(a).shape), scheme=scheme)
    d.add(op, [a, b], [d.like(a, broadcast(d, a, b))])


@rows(dict.fromkeys(("EQUAL", "NOT_EQUAL"), f"{NUMBERS} bool float16 int16 string {SCALED}"))
@rows(dict.fromkeys(ORDERS, f"{NUMBERS} {HALVES} int16 {SCALED}"))
def compare(d: Draw, op, kind):
    a, b = pair(d, kind)
    d.add(op, [a, b], [d.tensor("bool", broadcast(d, a, b))])


@rows(dict.fromkeys(("SELECT", "SELECT_V2"), f"{NUMBERS} bool int8 uint8 int16 {SCALED} {OTHERS}"))
def select(d: Draw, op, kind):
    x = d.x(kind, ranks=range(5))
    shape, scheme = d.at(x).shape, d.at(x).quantization
    operand_shapes = [repeatable(d, shape) if op == "SELECT_V2" else shape for _ in range(2)]
    if op == "SELECT":
        operand_shapes[0] = d.pick([shape, shape, shape[:1]])
    y = d.x(kind, shape=operand_shapes[1], scheme=scheme)
    condition = d.x("bool", shape=operand_shapes[0])
    d.add(op, [condition, x, y], [d.like(x)])


@rows({"ADD_N": "float32 int32"})
def add_n(d: Draw, op, kind):
    x = d.x(kind)
    others = [d.x(kind, shape=d.at(x).shape) for _ in range(d.integer(1, 3))]
    d.add(op, [x, *others], [d.like(x)])


@rows({"PRELU": "float32 qint8 quint8"})
def prelu(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    shape = d.at(x).shape
    slope_shape = d.pick([shape[1:], shape[-1:], tuple(1 if d.flag() else n for n in shape)])
    d.add(op, [x, d.constant(kind, slope_shape)], [d.rescaled(x)])


CASTS = ("float32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool")


@rows({"CAST": " ".join(CASTS) + f" {HALVES} float64 complex64 int4 {SCALED}"})
def cast(d: Draw, op, kind):
    """To any type that LiteRT casts to; numbers beyond its integers are not drawn."""
    x = d.x(kind, low=0, high=9) if "float" in kind or kind == "complex64" else d.x(kind)
    expected = "float32" if kind == "int4" else d.pick((*CASTS, "float16", "bfloat16", "float64"))
    names = {"in_data_type": kind.removeprefix("q").upper(), "out_data_type": expected.upper()}
    d.add(op, [x], [d.tensor(expected, d.at(x).shape)], **names)


@rows({"QUANTIZE": f"float32 {SCALED}"})
def quantize(d: Draw, op, kind):
    x = d.x(kind)
    expected, shape = d.pick(QUANTIZED), d.at(x).shape
    if kind == "float32" and shape and expected != "quint8" and d.chance(0.3):
        axis = d.integer(0, len(shape) - 1)
        scheme = d.scheme(expected, shape[axis], axis) if shape[axis] else d.scheme(expected)
        out = d.tensor(expected, shape, scheme)
        d.close(out)
    else:
        out = d.rescaled(x, kind=expected)
    d.add(op, [x], [out])


@rows({"DEQUANTIZE": f"float16 {SCALED} qint4"})
def dequantize(d: Draw, op, kind):
    x = d.x(kind)
    shape = d.at(x).shape
    if kind == "qint8" and shape and all(shape) and d.chance(0.3):
        axis = d.integer(0, len(shape) - 1)
        x = d.constant(kind, shape, d.scheme(kind, shape[axis], axis))
        d.close(x)
    d.add(op, [x], [d.tensor("float32", d.at(x).shape)])


@rows({"FAKE_QUANT": "float32"})
def fake_quant(d: Draw, op, kind):
    x = d.x(kind)
    low = d.pick([-8.0, -1.0, -0.3, 0.0, 0.5])
    options = {"min": low, "max": low + d.pick([0.7, 1.0, 6.0]), "num_bits": d.pick([8, 8, 4, 16])}
    d.add(op, [x], [d.like(x)], narrow_range=d.flag(), **options)


BITS = {
    8: ("float64", "int64", "uint64"),
    4: ("float32", "int32", "uint32"),
    2: ("int16", "uint16", "float16"),
    1: ("int8", "uint8"),
}


@rows({"BITCAST": " ".join(kind for kinds in BITS.values() for kind in kinds)})
def bitcast(d: Draw, op, kind):
    """To a type as wide, wider by the innermost dimension, or narrower with one more."""
    wide = dtype_of(kind).itemsize
    other = d.pick([wide, wide, *BITS])
    if other > wide:
        x = d.x(kind, shape=(*d.shape(range(4)), other // wide))
        shape = d.at(x).shape[:-1]
    else:
        x = d.x(kind, ranks=range(5))
        shape = (*d.at(x).shape, *[wide // other] * (other < wide))
    d.add(op, [x], [d.tensor(d.pick(BITS[other]), shape)])
