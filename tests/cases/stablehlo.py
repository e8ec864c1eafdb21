"""StableHLO's functions of elements and its moves, for which shapes need not be declared."""

from math import erf

import numpy as np
from cases import OPTIMIZED, Case, Refuse, counting, f32, floats, i32

WITHOUT = {"oracle": None, "why": "LiteRT has no kernel"}
NAN = f32([[np.nan, 1, -np.inf, 0.0], [2, -3, np.inf, -0.0]])
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")


def divided(a, b):
    if a.dtype.kind == "f":
        return a / b
    quotient = np.abs(a.astype(object)) // np.abs(b.astype(object))
    return (quotient * np.sign(a.astype(object)) * np.sign(b.astype(object))).astype(a.dtype)


UNARY = {
    "ABS": np.abs,
    "CBRT": np.cbrt,
    "COSINE": np.cos,
    "EXPONENTIAL": np.exp,
    "FLOOR": np.floor,
    "LOG": np.log,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "NEGATE": np.negative,
    "RSQRT": lambda x: 1 / np.sqrt(x),
    "TANH": np.tanh,
}
BINARY = {
    "ADD": np.add,
    "DIVIDE": divided,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MULTIPLY": np.multiply,
    "POWER": np.power,
    "REMAINDER": np.fmod,
    "SUBTRACT": np.subtract,
}
LITERT = ("ADD", "MAXIMUM", "MINIMUM", "MULTIPLY")  # of float32 and int32 and int64
COMPARISONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
NUMPY = (np.equal, np.not_equal, np.greater_equal, np.greater, np.less_equal, np.less)


def numbers(dtype, offset=0):
    if dtype in ("float32", "float64"):
        return (floats(3, 4, seed=offset) + np.float32(1.5)).astype(dtype)
    return (np.arange(12).reshape(3, 4) * 7 % 11 + offset).astype(dtype)


def signed(x):
    signs = np.where(np.indices(x.shape).sum(0) % 2, 1, -1)
    return x if x.dtype.kind == "u" else (x * signs).astype(x.dtype)


def has_kernel(name, dtype):
    return {"oracle": OPTIMIZED} if name in LITERT and dtype in ("float32", "int32") else WITHOUT


def padded(x, value, low, high, interior):
    for axis, (a, b, k) in enumerate(zip(low, high, interior, strict=True)):
        moved = np.moveaxis(x, axis, 0)
        n = len(moved)
        wide = np.full(((n - 1) * (k + 1) + 1 if n else 0, *moved.shape[1:]), value)
        wide[:: k + 1] = moved
        edges = [np.full((max(m, 0), *moved.shape[1:]), value) for m in (a, b)]
        wide = np.concatenate([edges[0], wide, edges[1]])
        x = np.moveaxis(wide[max(-a, 0) : len(wide) - max(-b, 0)], 0, axis)
    return x


def pad(name, x, value, low, high, interior, **extra):
    options = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    return Case(f"stablehlo_pad/{name}", "STABLEHLO_PAD", options, [x, np.asarray(value, x.dtype)],
        lambda x, v: padded(x, v, low, high, interior).astype(x.dtype), **extra)  # fmt: skip


def put(x, update, row, column):
    x = x.copy()
    x[row : row + len(update), column : column + update.shape[1]] = update
    return x


def gathered(name, x, indices, options, expected, **extra):
    return Case(f"stablehlo_gather/{name}", "STABLEHLO_GATHER", options, [x, i32(indices)],
        expected, **extra)  # fmt: skip


CASES = [
    *(
        Case(f"stablehlo_{name.lower()}/{dtype}", f"STABLEHLO_{name}", {},
             [signed(numbers(dtype)) if name in ("ABS", "NEGATE") else numbers(dtype)], function,
             **WITHOUT)
        for name, function in UNARY.items()
        for dtype in ("float32", "float64", *(INTEGERS[2:] if name in ("ABS", "NEGATE") else ()))
    ),
    *(
        Case(f"stablehlo_{name.lower()}/{dtype}", f"STABLEHLO_{name}", {},
             [numbers(dtype) if name == "POWER" else signed(numbers(dtype, 2)), numbers(dtype, 1)],
             function, **has_kernel(name, dtype))
        for name, function in BINARY.items()
        for dtype in ("float32", "float64", *INTEGERS)
        if name != "POWER" or dtype not in ("int8", "uint8")
    ),
    *(
        Case(f"stablehlo_{name.lower()}/{dtype}", f"STABLEHLO_{name}", {},
             [counting((2, 5), dtype), counting((2, 5), dtype)[::-1]], function, **WITHOUT)
        for name, function in (("AND", np.bitwise_and), ("OR", np.bitwise_or))
        for dtype in ("bool", *INTEGERS)
    ),
    *(
        Case(f"stablehlo_shift_left/{dtype}", "STABLEHLO_SHIFT_LEFT", {},
             [numbers(dtype, 1), (np.arange(12).reshape(3, 4) % 6).astype(dtype)], np.left_shift,
             **WITHOUT)
        for dtype in INTEGERS
    ),
    *(
        Case(f"stablehlo_compare/{direction.lower()}_{x.dtype}", "STABLEHLO_COMPARE",
             {"comparison_direction": f"STABLEHLO_COMPARISON_DIRECTION_{direction}"},
             [x, x[::-1].copy()], function, [np.bool_], **WITHOUT)
        for direction, function in zip(COMPARISONS, NUMPY, strict=True)
        for x in (NAN, *(counting((2, 4), dtype) for dtype in ("int8", "uint32", "bool")))
    ),
    *(
        Case(f"stablehlo_select/{name}", "STABLEHLO_SELECT", {},
             [np.array(condition), floats(2, 3), floats(2, 3, seed=1)], np.where, [np.float32],
             **WITHOUT)
        for name, condition in (("each", [[True, False, True], [False] * 3]), ("scalar", False))
    ),
    *(
        Case(f"stablehlo_clamp/{x.dtype}_{low.ndim}", "STABLEHLO_CLAMP", {}, [low, x, high],
             lambda low, x, high: np.clip(x, low, high), **WITHOUT)
        for x in (floats(3, 4), counting((3, 4), "int16"), counting((3, 4), "float64"))
        for low, high in (((x * 0 - 0.25).astype(x.dtype), (x * 0 + 1).astype(x.dtype)),
                          (np.array(-0.5).astype(x.dtype), np.array(3).astype(x.dtype)))
    ),
    Case("stablehlo_convert/float_to_int", "STABLEHLO_CONVERT", {}, [floats(3, 4, low=-9, high=9)],
         lambda x: x.astype(np.int32), [np.int32], **WITHOUT),
    Refuse("stablehlo_add/shapes", "STABLEHLO_ADD", {}, [floats(2, 3), floats(3)],
           "operands must have one shape, got (2, 3) and (3,)"),
    Refuse("stablehlo_or/float", "STABLEHLO_OR", {}, [f32([1]), f32([1])],
           "float32 is not supported"),
    Case("stablehlo_transpose/three", "STABLEHLO_TRANSPOSE", {"permutation": [2, 0, 1]},
         [floats(2, 3, 4)], lambda x: x.transpose(2, 0, 1), **WITHOUT),
    Case("stablehlo_concatenate/three", "STABLEHLO_CONCATENATE", {"dimension": 1},
         [counting((2, n), "int8") for n in (3, 1, 2)], lambda *x: np.concatenate(x, 1), **WITHOUT),
    Case("stablehlo_slice/strides", "STABLEHLO_SLICE",
         {"start_indices": [1, 0], "limit_indices": [5, 7], "strides": [1, 3]}, [floats(6, 7)],
         lambda x: x[1:5, 0:7:3], **WITHOUT),
    *(
        Case(f"stablehlo_custom_call/{target}", "STABLEHLO_CUSTOM_CALL",
             {"call_target_name": target, "backend_config": "{replicated}"}, [x], lambda x: x,
             **WITHOUT)
        for target, x in (("Sharding", floats(3, 4)), ("SPMDFullToShardShape", i32([1, 2])),
                          ("SPMDShardToFullShape", np.float16([[1.5]])))
    ),
    Case("stablehlo_custom_call/erf", "STABLEHLO_CUSTOM_CALL", {"call_target_name": "mhlo.erf"},
         [floats(3, 4)], np.vectorize(erf, [np.float32]), **WITHOUT),
    Case("stablehlo_custom_call/softmax", "STABLEHLO_CUSTOM_CALL",
         {"call_target_name": "tf.Softmax"}, [floats(2, 3)],
         lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), **WITHOUT),
    Refuse("stablehlo_custom_call/unknown", "STABLEHLO_CUSTOM_CALL",
           {"call_target_name": "of.others"}, [f32([1])],
           "Encountered unresolved custom op: 'of.others' is called; what it computes is known "),
    Refuse("stablehlo_custom_call/opens_files", "STABLEHLO_CUSTOM_CALL",
           {"call_target_name": "tf.ReadFile"}, [f32([1])],
           "Encountered unresolved custom op: 'tf.ReadFile' is called; ReadFile opens files or "),
    Refuse("concat_embeddings/without_class", "CONCAT_EMBEDDINGS", {"num_channels": 2}, [i32([1])],
           "Didn't find op for builtin opcode 'CONCAT_EMBEDDINGS': TensorFlow Lite has no kernel"),
    Refuse("stablehlo_slice/limit", "STABLEHLO_SLICE",
           {"start_indices": [1], "limit_indices": [8], "strides": [1]}, [floats(6)],
           "start, limit and strides [[1], [8], [1]] must lie within shape (6,)"),
    pad("edges", floats(3, 4), 9, [1, 0], [0, 2], [0, 0], oracle=OPTIMIZED),
    pad("inside", counting((3, 4), "int32"), -1, [2, 1], [0, 1], [1, 2], oracle=OPTIMIZED),
    pad("cut", counting((5, 6), "int16"), 7, [-1, 2], [2, -3], [0, 1], oracle=OPTIMIZED),
    pad("cut_between", counting((4,), "int32"), 7, [-2], [-2], [2], oracle=OPTIMIZED),
    pad("nothing_left", floats(2, 2), 7, [-3, 0], [2, 0], [0, 0], **WITHOUT),
    *(
        Case(f"stablehlo_dynamic_slice/{name}", "STABLEHLO_DYNAMIC_SLICE", {"slice_sizes": [2, 3]},
             [floats(4, 5), i32(row), i32(column)], expected, **WITHOUT)
        for name, row, column, expected in (
            ("inside", 1, 2, lambda x, i, j: x[1:3, 2:5]),
            ("moved", -3, 9, lambda x, i, j: x[0:2, 2:5]),
        )
    ),
    *(
        Case(f"stablehlo_dynamic_update_slice/{name}", "STABLEHLO_DYNAMIC_UPDATE_SLICE", {},
             [counting((4, 5), "int32"), counting((2, 2), "int32"), i32(row), i32(column)],
             expected, **WITHOUT)
        for name, row, column, expected in (
            ("inside", 1, 2, lambda x, y, i, j: put(x, y, 1, 2)),
            ("moved", -3, 9, lambda x, y, i, j: put(x, y, 0, 3)),
        )
    ),
    gathered("rows", floats(5, 3), [4, 0, 2],
             {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0],
              "index_vector_dim": 1, "slice_sizes": [1, 3]}, lambda x, i: x[i], **WITHOUT),
]  # fmt: skip
