"""SUM, MEAN, REDUCE_*, ARG_MAX, ARG_MIN, CUMSUM."""

from functools import partial

import numpy as np
from cases import OPTIMIZED, Case, Refuse, f32, floats, i32, i64

LOWEST = np.finfo(np.float32).min


def truncated_mean(x, **axes):
    """The mean of integers, rounded towards zero; 0 of none."""
    total = np.sum(x, dtype=np.int64, **axes)
    count = max(x.size // max(total.size, 1), 1)
    return np.trunc(total / count).astype(x.dtype)


def mean(x, **axes):
    if x.dtype.kind == "i":
        return truncated_mean(x, **axes)
    return np.asarray(x, np.float64).mean(**axes)


def in_float64(function):
    def fold(x, **axes):
        wide = np.asarray(x, np.float64) if x.dtype.kind == "f" else x
        return function(wide, **axes).astype(x.dtype if x.dtype.kind == "i" else np.float64)

    return fold


def reduce_bools(function, x, axes):
    return function(x, tuple(axes))


FOLDS = {
    "SUM": in_float64(np.sum),
    "MEAN": mean,
    "REDUCE_PROD": in_float64(np.prod),
    "REDUCE_MAX": np.max,
    "REDUCE_MIN": np.min,
    "REDUCE_ANY": np.any,
    "REDUCE_ALL": np.all,
}


def reduce(name, op, x, axes, keep=False, **extra):
    def expected(x, axes):
        folded = tuple({int(axis) % max(x.ndim, 1) for axis in axes.ravel()}) if x.ndim else ()
        return FOLDS[op](x, axis=folded, keepdims=keep)

    return Case(
        f"reduce/{op.lower()}_{name}", op, {"keep_dims": keep}, [x, i32(axes)], expected,
        constants=(1,), **{"rtol": 1e-5, "atol": 1e-5, **extra},
    )  # fmt: skip


def geometry(op, x):
    """Every way to choose axes."""
    yield reduce("last", op, x, [3])
    yield reduce("last_kept", op, x, [3], keep=True)
    yield reduce("first", op, x, [0])
    yield reduce("middle", op, x, [1, 2])
    yield reduce("apart", op, x, [0, 2], keep=True)
    yield reduce("ends", op, x, [0, -1])
    yield reduce("all", op, x, [0, 1, 2, 3])
    yield reduce("none", op, x, [])
    yield reduce("repeated", op, x, [-1, 3, 1, 1])
    yield reduce("scalar_axis", op, x, 1)


def arg(name, op, x, axis, dtype=np.int32):
    function = np.argmax if op == "ARG_MAX" else np.argmin
    options = {"output_type": "INT32" if dtype == np.int32 else "INT64"}
    return Case(
        f"{op.lower()}/{name}", op, options, [x, i32(axis)],
        lambda x, axis: function(x, int(axis.ravel()[0])), outputs=[dtype], constants=(1,),
        oracle=OPTIMIZED,  # the reference resolver lacks the version for bool
    )  # fmt: skip


def cumsum(name, x, axis, exclusive=False, reverse=False):
    def expected(x, axis):
        y = np.flip(x, axis) if reverse else x
        y = np.cumsum(y, axis, np.float64 if x.dtype.kind == "f" else x.dtype)
        if exclusive:
            y = y - (np.flip(x, axis) if reverse else x)
        return np.flip(y, axis) if reverse else y

    return Case(
        f"cumsum/{name}", "CUMSUM", {"exclusive": exclusive, "reverse": reverse},
        [x, i32(axis)], expected, constants=(1,), rtol=1e-5, atol=1e-5,
    )  # fmt: skip


def numbers(dtype):
    return (floats(2, 3, 4, 5) * 50).astype(dtype)


BITS = np.random.default_rng(0).random((2, 3, 4, 5)) < 0.7
WORDS = i32([2**31 - 1, 2**31 - 1, 5])
CASES = [
    *geometry("SUM", numbers(np.float32)),
    *geometry("MEAN", numbers(np.float32)),
    *geometry("REDUCE_PROD", floats(2, 3, 4, 5, low=0.5, high=2)),
    *geometry("REDUCE_MAX", numbers(np.float32)),
    *geometry("REDUCE_MIN", numbers(np.float32)),
    *geometry("REDUCE_ANY", BITS),
    *geometry("REDUCE_ALL", BITS),
    *(
        reduce(np.dtype(dtype).name, op, numbers(dtype), [1, 3])
        for op in ("SUM", "MEAN", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN")
        for dtype in (np.int32, np.int64)
    ),
    reduce("wraps", "SUM", WORDS, [0]),
    reduce("does_not_wrap", "MEAN", WORDS, [0]),
    reduce("towards_zero", "MEAN", i32([[-7, 2, 1], [7, -2, 0]]), [1]),
    reduce("scalar", "SUM", f32(3.5), []),
    reduce("scalar_kept", "SUM", f32(3.5), [0], keep=True),
    reduce("large", "SUM", floats(1000, 33), [0]),
    reduce("empty", "SUM", floats(0, 3), [0]),
    reduce("empty", "REDUCE_PROD", i32(np.zeros((0, 3))), [0]),
    reduce("empty_result", "SUM", floats(0, 3), [1]),
    reduce("empty", "REDUCE_ANY", np.zeros((2, 0), bool), [1]),
    reduce("empty", "REDUCE_ALL", np.zeros((2, 0), bool), [1]),
    Case("reduce/reduce_max_empty", "REDUCE_MAX", {}, [floats(0, 3), i32([0])],
         lambda x, axes: f32([LOWEST] * 3), constants=(1,)),
    *(
        Case(f"reduce/{op.lower()}_bool{axis}", op, {}, [BITS, i32([axis])],
             partial(reduce_bools, function), constants=(1,), oracle=None,
             why="only LiteRT's reference kernels take bools, and give this")
        for op, function in (("SUM", np.any), ("REDUCE_PROD", np.all), ("REDUCE_MAX", np.any),
                             ("REDUCE_MIN", np.all))
        for axis in (0, 1)
    ),
    *(
        Case(f"reduce/prod_unscaled_{dtype}", "REDUCE_PROD", {},
             [np.array([[100, -100, 7], [50, 3, -128]]).astype(dtype), i32([0])],
             lambda x, axes: np.prod(x, 0, x.dtype), constants=(1,))
        for dtype in ("int8", "uint8", "int16")
    ),
    *(
        Case(f"reduce/{op.lower()}_empty_{dtype}", op, {}, [np.zeros((0, 3), dtype), i32([0])],
             lambda x, axes, value=value: np.full(3, value, x.dtype), constants=(1,), oracle=None,
             why="LiteRT does not take the type")
        for op, dtype, value in (
            ("REDUCE_MAX", "float64", np.finfo(np.float64).min),
            ("REDUCE_MIN", "float64", np.finfo(np.float64).max),
            ("REDUCE_MAX", "uint16", 0), ("REDUCE_MIN", "uint64", 2**64 - 1),
        )
    ),
    Case("reduce/mean_empty", "MEAN", {}, [floats(0, 3), i32([0])],
         lambda x, axes: f32([np.nan] * 3), constants=(1,)),
    Case("reduce/mean_empty_int32", "MEAN", {}, [i32(np.zeros((0, 3))), i32([0])],
         lambda x, axes: i32([0] * 3), constants=(1,)),
    Case("reduce/reduce_max_infinite", "REDUCE_MAX", {}, [f32([[-np.inf] * 2, [np.inf, 0]]),
         i32([1])], lambda x, axes: f32([LOWEST, np.inf]), constants=(1,)),
    Case("reduce/reduce_max_infinite_whole", "REDUCE_MAX", {}, [f32([-np.inf] * 2), i32([0])],
         lambda x, axes: f32(-np.inf), constants=(1,)),
    Case("reduce/reduce_min_nan", "REDUCE_MIN", {}, [f32([[np.nan, 1, 2], [1, np.nan, 2]]),
         i32([1])], lambda x, axes: f32([1, 1]), constants=(1,)),
    Case("reduce/reduce_min_nan_whole", "REDUCE_MIN", {}, [f32([np.nan, 1, 2]), i32([0])],
         lambda x, axes: f32(np.nan), constants=(1,)),
    *(
        arg(f"axis{axis}", op, numbers(np.float32), axis)
        for op in ("ARG_MAX", "ARG_MIN")
        for axis in (0, 1, -1, [2])
    ),
    *(
        arg(np.dtype(dtype).name, "ARG_MAX", (floats(3, 7) > 0.3).astype(dtype), 1, np.int64)
        for dtype in (np.float32, np.int32, np.int8, np.uint8, np.bool_)
    ),
    arg("ties", "ARG_MIN", f32([[3, 1, 1], [2, 2, 2]]), 1),
    arg("empty_result", "ARG_MAX", floats(0, 3), 1),
    Case("arg_max/passes_over_nan", "ARG_MAX", {"output_type": "INT32"},
         [f32([[np.nan, 1, 2], [1, np.nan, 0], [np.nan] * 3]), i32(1)],
         lambda x, axis: i32([2, 0, 0]), outputs=[np.int32], constants=(1,)),
    *(
        cumsum(f"{'exclusive_' * a}{'reverse_' * b}{dtype.__name__}", numbers(dtype)[0], 1, a, b)
        for a in (False, True)
        for b in (False, True)
        for dtype in (np.float32, np.int32, np.int64)
    ),
    cumsum("first", numbers(np.float32), 0),
    cumsum("last", numbers(np.float32), -1),
    cumsum("seven_rows", floats(7, 5), 1),
    cumsum("exclusive_reverse_seven_rows", floats(7, 5), 1, True, True),
    Refuse("reduce/axis", "SUM", {}, [floats(2, 3), i32([2])], "axes must be in [-2, 2), got 2",
           constants=(1,)),
    Refuse("reduce/axes_type", "SUM", {}, [floats(2, 3), i64([1])],
           "axes must be int32, got int64", constants=(1,)),
    Refuse("reduce/int8", "MEAN", {}, [np.zeros((2, 3), np.int8), i32([1])],
           "int8 is not supported yet without a scale; give the tensor", constants=(1,)),
    Refuse("reduce/bool", "MEAN", {}, [BITS, i32([1])], "bool is not supported yet",
           constants=(1,)),
    Refuse("arg_max/two_axes", "ARG_MAX", {}, [floats(2, 3), i32([0, 1])],
           "axis must be one number, got shape (2,)", outputs=[np.int32], constants=(1,)),
    Refuse("arg_max/word", "ARG_MAX", {}, [floats(2, 3), np.array(b"x", object)],
           "input 1 must be integers, got string", outputs=[np.int32], constants=(1,)),
    Refuse("arg_max/empty", "ARG_MAX", {}, [floats(2, 0), i32([1])],
           "dimension 1 must not be empty, got shape (2, 0)", outputs=[np.int32], constants=(1,)),
    Refuse("arg_max/result_type", "ARG_MAX", {}, [floats(2, 3), i32([1])],
           "result must be an integer, got float32", constants=(1,)),
    Refuse("cumsum/axis", "CUMSUM", {}, [floats(2, 3), i32(2)], "axis must be in [-2, 2), got 2",
           constants=(1,)),
]  # fmt: skip
