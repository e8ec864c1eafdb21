"""Operators on two operands, comparisons and choices."""

import numpy as np
from cases import Case, Refuse, f32, floats, i32, i64

NO_KERNEL = "BUILTIN_REF lacks it"
SHAPES = {
    "same": ((2, 3, 4), (2, 3, 4)),
    "scalar": ((2, 3, 4), ()),
    "scalar_left": ((), (2, 3, 4)),
    "last": ((2, 3, 4), (4,)),
    "middle": ((2, 3, 4), (2, 1, 4)),
    "both": ((4, 1, 3), (1, 5, 3)),
    "outer": ((5, 1), (1, 7)),
    "rank6": ((2, 1, 3, 1, 2, 2), (1, 2, 1, 2, 2, 1)),
    "long": ((3, 1021), (3, 1021)),
}


def integers(shape, dtype, low=-9, high=9, seed=0):
    return np.random.default_rng((seed, *shape)).integers(low, high + 1, shape).astype(dtype)


def numbers(shape, dtype, seed=0):
    if np.dtype(dtype).kind == "f":
        return floats(*shape, low=-4, high=4, seed=seed).astype(dtype)
    return integers(shape, dtype, 0 if np.dtype(dtype).kind == "u" else -9, 9, seed)


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return (quotient * np.sign(a) * np.sign(b)).astype(a.dtype)


def shifted(a, b):
    return a >> np.clip(b, 0, a.itemsize * 8 - 1).astype(a.dtype)


ARITHMETIC = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2,
}
COMPARISONS = {
    "EQUAL": np.equal,
    "NOT_EQUAL": np.not_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
}
CLAMPS = {"RELU": (0, np.inf), "RELU_N1_TO_1": (-1, 1), "RELU6": (0, 6)}


def binary(name, op, expected, a, b, outputs=None, options=None, **extra):
    return Case(f"{op.lower()}/{name}", op, options or {}, [a, b], expected, outputs, **extra)


def clamped(function, low, high):
    return lambda a, b: np.clip(function(a, b), low, high).astype(a.dtype)


POT = {"pot_scale_int16": False}


def spread(shape, dtype, op, seed=0):
    """Numbers over the whole range; what DIV divides is far from 0, and by what is near."""
    known = np.iinfo(dtype)
    low, high = known.min, known.max
    if op == "DIV":
        middle = 103 if dtype == "uint8" else 3
        low, high = (middle + 1, middle + 9) if seed else (middle + 60, known.max)
    return integers(shape, dtype, low, high, seed)


def scheme(dtype, a, b, out):
    zero_points = {"int8": (3, -7, -20), "uint8": (103, 90, 120), "int16": (0, 0, 0)}[dtype]
    return dict(zip((0, 1, "out0"), zip((a, b, out), zero_points, strict=True), strict=True))


CASES = [
    *[
        binary(f"{name}_{dtype}", op, function, numbers(a, dtype), numbers(b, dtype, 1))
        for op, function in ARITHMETIC.items()
        for dtype in ("float32", "int32")
        for name, (a, b) in SHAPES.items()
        if dtype == "float32" or name in ("same", "middle", "both")
    ],
    *[
        binary(f"int64_{name}", op, ARITHMETIC[op], numbers(a, "int64"), numbers(b, "int64", 1))
        for op in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")
        for name, (a, b) in SHAPES.items()
        if name in ("same", "both")
    ],
    *[
        binary(
            f"{activation}_{dtype}",
            op,
            clamped(function, low, high),
            numbers((3, 7), dtype),
            numbers((7,), dtype, 1),
            options={"fused_activation_function": activation},
        )
        for op, function in (*[(k, ARITHMETIC[k]) for k in ("ADD", "SUB", "MUL")],)
        for activation, (low, high) in CLAMPS.items()
        for dtype in ("float32", "int32")
    ],
    *[
        binary(f"{dtype}_plain", op, ARITHMETIC[op], integers((3, 5), dtype, low),
            integers((5,), dtype, low, 9, 1))
        for op in ("MAXIMUM", "MINIMUM")
        for dtype, low in (("int8", -9), ("uint8", 0), ("int16", -9))
    ],
    binary("wraps", "ADD", np.add, i32([2**31 - 1, -(2**31), 5]), i32([1, -1, 5])),
    binary("wraps_int64", "MUL", np.multiply, i64([2**62, 3]), i64([6, -(2**62)])),
    *(
        Case(f"{op.lower()}/no_{dtype}", op, {}, [np.zeros((0, 3), dtype)] * 2, lambda a, b: a,
             oracle=None, why="LiteRT takes the type where there is nothing to compare")
        for op in ("MAXIMUM", "MINIMUM")
        for dtype in ("complex64", "bool")
    ),
    binary("nan", "MAXIMUM", lambda a, b: f32([2, np.nan, 3]), f32([np.nan, 2, 3]),
        f32([2, np.nan, 1])),
    binary(
        "infinite", "ADD", lambda a, b: f32([np.inf, -np.inf, np.inf]),
        f32([np.inf, -np.inf, 3e38]), f32([1, 1, 3e38]),
        oracle="AUTO",
    ),
    binary("by_zero", "DIV", lambda a, b: f32([np.inf, -np.inf, np.nan]), f32([1, -1, 0]),
        f32([0, 0, 0]), oracle="AUTO"),
    binary("empty", "ADD", np.add, floats(0, 3), floats(1, 3), oracle=None,
        why="LiteRT takes no empty input"),
    binary("empty_int", "MUL", np.multiply, integers((2, 0), "int32"), integers((), "int32"),
        oracle=None, why="LiteRT takes no empty input"),
    *[
        binary(name, "DIV", np.divide, numbers(a, "float32"), numbers(b, "float32", 1) + f32(9),
            rtol=1e-6)
        for name, (a, b) in SHAPES.items()
        if len(a) < 6
    ],
    binary("int32", "DIV", truncated, i32([7, -7, 7, -7, 0]), i32([2, 2, -2, -2, 5])),
    binary("int32_row", "DIV", truncated, integers((4, 5), "int32", -99, 99),
        i32([[3], [-4], [5], [-1]])),
    binary("int32_relu", "DIV", lambda a, b: np.clip(truncated(a, b), 0, 6),
        integers((4, 5), "int32", -99, 99), i32(3), options={"fused_activation_function": "RELU6"}),
    binary("int64", "DIV", truncated, i64([7, -7, 2**60]), i64([2, 2, -3]), oracle=None,
        why="LiteRT has no int64"),
    *[
        binary(f"{dtype}_{name}", op, function, numbers(a, dtype),
            np.where(numbers(b, dtype, 1) == 0, 3, numbers(b, dtype, 1)).astype(dtype), rtol=1e-5)
        for op, function in (("FLOOR_DIV", np.floor_divide), ("FLOOR_MOD", np.mod))
        for dtype in ("float32", "int32", "int8", "int16")
        for name, (a, b) in SHAPES.items()
        if name in ("same", "middle", "scalar")
    ],
    binary("int64", "FLOOR_MOD", np.mod, i64([7, -7, 7, -7]), i64([3, 3, -3, -3])),
    binary("just_below", "FLOOR_DIV", lambda a, b: f32([69, -70, 9, 9, -1]),
        f32([7, -7, 1, 6, -1e-45]), f32([0.1, 0.1, 0.1, 0.6, 3])),
    binary("lowest", "FLOOR_DIV", lambda a, b: i32([-(2**31), 7]), i32([-(2**31), -7]),
        i32([-1, -1]), oracle=None, why="LiteRT crashes"),
    binary("float32", "POW", np.power, floats(3, 5, low=0.1, high=3),
        floats(5, low=-2, high=3, seed=1), rtol=1e-5),
    binary("negative_base", "POW", np.power, f32([-2, -2, -1.5]), f32([3, 2, -1]), rtol=1e-5),
    binary("not_a_number", "POW", lambda a, b: f32([np.nan, 1]), f32([-2, 1]), f32([0.5, np.nan])),
    binary("int32", "POW", np.power, i32([[2, -3, 0], [5, 1, 7]]), i32([3, 4, 0])),
    binary("overflow", "POW", lambda a, b: i32([-(2**31), 2**30]), i32([10, 2]), i32([12, 30])),
    *[
        binary(dtype, "ATAN2", np.arctan2, floats(3, 5).astype(dtype),
            floats(3, 5, seed=1).astype(dtype), rtol=1e-6)
        for dtype in ("float32", "float64")
    ],
    binary("row", "ATAN2", np.arctan2, floats(3, 5), floats(5, seed=1), oracle=None,
        why="LiteRT reads past the row"),
    *[
        binary(name, op, function, numbers(a, "int32") > 0, numbers(b, "int32", 1) > 2)
        for op, function in (("LOGICAL_AND", np.logical_and), ("LOGICAL_OR", np.logical_or))
        for name, (a, b) in SHAPES.items()
        if len(a) < 5 and len(b) < 5
    ],
    *[
        binary(dtype, "BITWISE_XOR", np.bitwise_xor, integers((3, 5), dtype, low, 99),
            integers((5,), dtype, low, 99, 1))
        for dtype, low in (("int8", -99), ("uint8", 0), ("int16", -99), ("uint16", 0),
            ("int32", -99), ("uint32", 0))
    ],
    *[
        binary(dtype, "RIGHT_SHIFT", shifted, integers((3, 5), dtype, low, 99),
            integers((5,), dtype, low and -2, 40, 1))
        for dtype, low in (("int8", -99), ("uint8", 0), ("int16", -99), ("uint16", 0),
            ("int32", -99), ("uint32", 0))
    ],
    *[
        Case(f"add_n/{dtype}_{n}", "ADD_N", {}, [numbers((3, 4), dtype, i) for i in range(n)],
            lambda *parts: np.sum(parts, 0, dtype=parts[0].dtype))
        for dtype in ("float32", "int32")
        for n in (2, 5)
    ],
    *[
        binary(f"{dtype}_{name}", op, function, np.round(numbers(a, dtype) / 3),
            np.round(numbers(b, dtype, 1) / 3), [np.bool_])
        for op, function in COMPARISONS.items()
        for dtype in ("float32",)
        for name, (a, b) in SHAPES.items()
        if len(a) < 5 and len(b) < 5
    ],
    *[
        binary(f"{dtype}_both", op, function, integers((4, 1, 3), dtype, -2, 2),
            integers((1, 5, 3), dtype, -2, 2, 1), [np.bool_])
        for op, function in COMPARISONS.items()
        for dtype in ("int32", "int64")
    ],
    *[
        binary("int16", op, COMPARISONS[op], integers((9,), "int16", -2, 2),
            integers((9,), "int16", -2, 2, 1), [np.bool_])
        for op in ("EQUAL", "LESS", "LESS_EQUAL", "GREATER_EQUAL")
    ],
    *[
        binary("bool", op, COMPARISONS[op], integers((9,), "int8", 0, 1) > 0,
            integers((9,), "int8", 0, 1, 1) > 0, [np.bool_])
        for op in ("EQUAL", "NOT_EQUAL")
    ],
    *[
        binary(f"nan_{op.lower()}", op, function, f32([np.nan, 1, np.nan]),
            f32([1, np.nan, np.nan]), [np.bool_])
        for op, function in COMPARISONS.items()
    ],
    *[
        binary(
            f"quantized_{dtype}_{scale}",
            op,
            lambda a, b, of=function, s=scale: of((a.astype(int) - 3) * np.float64(s),
                (b.astype(int) + 2) * np.float64(0.5)),
            integers((40,), dtype, low, low + 255),
            integers((40,), dtype, low, low + 255, 1),
            [np.bool_],
            quantization={0: (scale, 3), 1: (0.5, -2)},
        )
        for op, function in COMPARISONS.items()
        for dtype, low in (("int8", -128), ("uint8", 0))
        for scale in (0.5, 0.25)
    ],
    *[
        binary(
            f"stored_{dtype}_{activation.lower()}_{j}", op, None, spread(a, dtype, op),
            spread(b, dtype, op, 1), options={"fused_activation_function": activation, **more},
            quantization=scheme(dtype, *scales),
        )
        for op, more in (("ADD", POT), ("SUB", POT), ("MUL", {}), ("DIV", {}))
        for dtype in ("int8", "uint8", "int16")
        for activation in ("NONE", "RELU6")
        for j, (a, b, scales) in enumerate((
            ((9, 30), (30,), (0.05, 0.031, 0.1)),
            ((4, 1, 30), (3, 1), (0.5, 0.002, 0.3)),
            ((200,), (200,), (0.1, 0.1, 0.004)),
            ((2, 3, 3, 24), (2, 1, 1, 24), (0.0213, 0.0331, 0.0457)),
            ((5, 1), (5, 40), (0.0213, 0.0331, 0.0457)),
        ))
    ],
    *[
        binary(
            f"stored_all_{j}", op, None, *np.ix_(np.arange(-128, 128, dtype=np.int8),
                np.arange(-128, 128, dtype=np.int8)),
            quantization=scheme("int8", *scales),
        )
        for op in ("ADD", "SUB", "MUL")
        for j, scales in enumerate(((0.0213, 0.0331, 0.0457), (0.0419, 0.0147, 0.0391)))
    ],
    *[
        binary(f"stored_large_{op.lower()}", op, None, spread((256, 300), "int8", ""),
            spread((256, 300), "int8", "", 1),
            quantization=scheme("int8", 0.0213, 0.0331, 0.0457))
        for op in ("ADD", "SUB")
    ],
    *[
        binary(
            f"stored_{j}", "SQUARED_DIFFERENCE", None, spread((9, 30), "int8", ""),
            spread((30,), "int8", "", 1), quantization=scheme("int8", *scales),
        )
        for j, scales in enumerate(((0.05, 0.031, 0.1), (0.5, 0.002, 9.0)))
    ],
    *[
        Case(f"{op.lower()}/{name}_{dtype}", op, {},
            [integers(c, "int8", 0, 1) > 0, numbers(x, dtype), numbers(y, dtype, 1)],
            np.where if op == "SELECT_V2" else None, [dtype])
        for dtype in ("float32", "int64", "int16", "int8", "bool")
        for op, name, c, x, y in (
            ("SELECT", "same", (3, 4), (3, 4), (3, 4)),
            ("SELECT", "rows", (3,), (3, 4), (3, 4)),
            ("SELECT", "scalar", (), (3, 4), (3, 4)),
            ("SELECT_V2", "same", (3, 4), (3, 4), (3, 4)),
            ("SELECT_V2", "scalars", (3, 4), (), (1,)),
            ("SELECT_V2", "condition", (4,), (3, 4), (3, 1)),
            ("SELECT_V2", "all", (2, 1, 1), (1, 3, 1), (1, 1, 4)),
        )
    ],
    Case("select_v2/empty", "SELECT_V2", {}, [np.zeros((0, 2), bool), floats(2), floats(1, 2)],
        np.where, [np.float32], oracle=None, why="LiteRT takes no empty input"),
    Refuse("add/shapes", "ADD", {}, [floats(2, 3), floats(2, 4)],
        "shapes (2, 3) and (2, 4) do not broadcast"),
    Refuse("add/types", "ADD", {}, [floats(2), i32([1, 2])], "inputs must be float32, got int32"),
    Refuse("add/bool", "ADD", {}, [np.ones(2, bool), np.ones(2, bool)], "bool is not supported"),
    Refuse("squared_difference/int16", "SQUARED_DIFFERENCE", {}, [integers((3,), "int16")] * 2,
        "quantized int16 is not supported, only int8", quantization=scheme("int16", 1.0, 1.0, 1.0)),
    Refuse("add/no_scale", "ADD", {}, [integers((3,), "int8")] * 2,
        "input 1 must have a scale", quantization={0: (0.5, 0)}),
    Refuse("add/zero_scale", "ADD", {}, [integers((3,), "int8")] * 2,
        "inputs and output must have one positive scale each, got [0.0]",
        quantization=scheme("int8", 1.0, 0.0, 1.0)),
    Refuse("add_n/shapes", "ADD_N", {}, [floats(2), floats(3)],
        "inputs must have one shape, got (2,) and (3,)"),
    Refuse("pow/negative", "POW", {}, [i32([2]), i32([-1])], "powers must not be negative, got -1",
        constants=(1,)),
    Refuse("maximum/scales", "MAXIMUM", {}, [integers((3,), "int8"), integers((3,), "int8")],
        "inputs and output must have one scale and zero point",
        quantization={0: (0.5, 0), 1: (0.25, 0), "out0": (0.5, 0)}),
    Refuse("less/shapes", "LESS", {}, [floats(2), floats(3)],
        "shapes (2,) and (3,) do not broadcast", [np.bool_]),
    Refuse("less/bool", "LESS", {}, [np.ones(2, bool), np.ones(2, bool)], "bool is not supported",
        [np.bool_]),
    Refuse("select/condition", "SELECT", {}, [i32([1]), f32([1]), f32([2])],
        "the condition must be bool, got int32", [np.float32]),
    Refuse("select/rows", "SELECT", {}, [np.ones(2, bool), floats(3, 4), floats(3, 4)],
        "shapes (2, 1), (3, 4) and (3, 4) do not broadcast", [np.float32]),
]  # fmt: skip
