"""Tables, random and complex numbers, sparse embeddings, boxes: operators of few models."""

import numpy as np
from cases import Case, Refuse, counting, f32, floats, i32, i64

SEEDS = {"seed": 1234, "seed2": -5678}
COMPLEX = (floats(3, 5) + 1j * floats(3, 5, seed=1)).astype(np.complex64)
FAR = np.array([3e38 + 3e38j, 1e-40 + 1e-42j, np.inf + 1j, np.nan, 0], np.complex64)
SPARSE = [
    i32([1, 3, 0, 1]),
    i32([[0, 0], [0, 1], [1, 0], [2, 3]]),
    i32([3, 4]),
    f32([2, 0.5, 1, 3]),
    floats(4, 3, 2),
]
SCATTERED = [
    SPARSE[0],
    i32([[2, 0, 1], [0, 1, 0], [0, 1, 2], [1, 1, 0]]),
    i32([3, 2, 4]),
    *SPARSE[3:],
]
BOXES = floats(40, 4, low=0, high=4, seed=3)
SCORES = np.random.default_rng(4).permutation(40).astype(np.float32) / 40
FLAT = np.repeat(BOXES[:, :2], 2, axis=1)


def row(*numbers):
    return i64(list(numbers))


def windows(name, x, init, window, strides, dilations, function="ADD", **extra):
    return Case(f"reduce_window/{name}", "REDUCE_WINDOW", {"reduce_function": function},
        [x, np.asarray(init, x.dtype), row(*window), row(*strides), row(*dilations)],
        constants=(2, 3, 4), **extra)  # fmt: skip


def suppression(name, boxes, scores, count, limit, threshold, sigma=None, constants=(2,)):
    soft = sigma is not None
    return Case(f"non_max_suppression/{name}", f"NON_MAX_SUPPRESSION_V{4 + soft}", {},
        [boxes, scores, i32(count), f32(limit), f32(threshold), *([f32(sigma)] if soft else [])],
        outputs=[np.int32, *[np.float32] * soft, np.int32], constants=constants)  # fmt: skip


def transformed(x, sizes):
    return np.fft.rfft2(x.astype(float), sizes.tolist()).astype(np.complex64)


CASES = [
    *(
        Case(f"{op.lower()}/{name}", op, {}, [x], function, [np.float32])
        for op, function in (("REAL", np.real), ("IMAG", np.imag), ("COMPLEX_ABS", None))
        for name, x in (("matrix", COMPLEX), ("far", FAR), ("scalar", COMPLEX[0, 0]))
    ),
    *(
        Case(f"{op.lower()}/complex128", op, {}, [COMPLEX.astype(np.complex128)], function,
             [np.float64])
        for op, function in (("REAL", np.real), ("IMAG", np.imag), ("COMPLEX_ABS", np.abs))
    ),
    Refuse("real/float", "REAL", {}, [f32([1])], "input must be complex, got float32"),
    *(
        Case(f"rfft2d/{name}", "RFFT2D", {}, [x, i32(length)],
             transformed, [np.complex64],
             constants=constants)
        for name, x, length, constants in (
            ("plain", floats(4, 8), [4, 8], (1,)),
            ("one_row", floats(1, 16), [1, 16], (1,)),
            ("batches", floats(3, 2, 2, 4), [2, 4], (1,)),
            ("filled_up", floats(3, 5), [4, 8], (1,)),
            ("cut", floats(2, 5, 9), [2, 4], (1,)),
            ("late", floats(4, 8), [2, 8], ()),
        )
    ),
    Refuse("rfft2d/length", "RFFT2D", {}, [floats(4, 6), i32([4, 6])],
           "lengths must be powers of 2, got (4, 6)", [np.complex64], constants=(1,)),
    *(
        Case(f"random/{op.lower()}_{name}", op, SEEDS, [i32(shape)], None, [np.float32],
             constants=constants)
        for op in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL")
        for name, shape, constants in (("matrix", [7, 9], (0,)), ("late", [2, 3, 5], ()),
                                       ("one", [1], (0,)))
    ),
    *(
        Case(f"multinomial/{name}", "MULTINOMIAL", SEEDS, [logits, i32(count)], None, [dtype],
             constants=constants)
        for name, logits, count, dtype, constants in (
            ("matrix", floats(4, 6, low=-3, high=3), 25, np.int64, (1,)),
            ("late", floats(2, 3), 11, np.int32, ()),
            ("infinite", f32([[1, -np.inf, 2, np.nan, np.inf, 0]]), 30, np.int64, (1,)),
        )
    ),
    Refuse("multinomial/classes", "MULTINOMIAL", SEEDS, [floats(2, 0), i32(3)],
           "there must be a class, got logits of (2, 0)", [np.int64]),
    *(
        Case(f"dilate/{name}", "DILATE", {}, [x, i32(factors), np.asarray(value, x.dtype)],
             constants=(1,))
        for name, x, factors, value in (
            ("matrix", floats(3, 4), [2, 3], 9),
            ("one", floats(3, 4), [1, 1], 9),
            ("rows", counting((2, 3, 2), "int8"), [3, 1, 1], -1),
            ("columns", counting((2, 3), "int64"), [1, 4], 7),
            ("complex", COMPLEX, [2, 2], 1j),
            ("empty", floats(0, 2), [1, 1], 9),
        )
    ),
    Refuse("dilate/factors", "DILATE", {}, [floats(3, 4), i32([2]), f32(0)],
           "there must be 2 factors, one a dimension, got [2]", constants=(1,)),
    Refuse("dilate/empty_factor", "DILATE", {}, [floats(2, 0), i32([1, 2]), f32(0)],
           "factors of empty dimensions must be 1, got [1, 2] for shape (2, 0)", constants=(1,)),
    *(
        windows(f"{function.lower()}_{x.dtype}", x, init, (2, 3), (1, 2), (2, 1), function)
        for function, init in (("ADD", 1), ("MUL", 2), ("MINIMUM", 50), ("MAXIMUM", 3),
                               ("ALL", 1), ("ANY", 0))
        for x in (counting((6, 7), "int8"), counting((6, 7), "int32"), floats(6, 7))
    ),
    *(
        windows(f"{function.lower()}_bool", counting((6, 7), "bool"), init, (2, 3), (1, 2), (2, 1),
                function)
        for function, init in (("ADD", 0), ("MUL", 1), ("MINIMUM", 1), ("MAXIMUM", 0))
    ),
    windows("line", floats(9), 0, (3,), (1,), (2,)),
    windows("solid", counting((3, 4, 2, 5), "int64"), 0, (2, 1, 2, 3), (1, 2, 1, 1), (1, 1, 1, 1)),
    windows("double", floats(3, 4).astype(float), 0, (2, 2), (1, 1), (1, 1)),
    windows("outside", floats(2, 2), 0, (3, 1), (1, 1), (1, 1)),
    *(
        Case(f"embedding_lookup_sparse/{name}_{combiner.lower()}", "EMBEDDING_LOOKUP_SPARSE",
             {"combiner": combiner}, inputs, None, [np.float32])
        for name, inputs in (("rows", SPARSE), ("scattered", SCATTERED))
        for combiner in ("SUM", "MEAN", "SQRTN")
    ),
    Refuse("embedding_lookup_sparse/sizes", "EMBEDDING_LOOKUP_SPARSE", {},
           [i32([]), i32(np.zeros((0, 2))), i32([-3, 4]), f32([]), floats(3, 2)],
           "sizes must not be negative, got [-3]", [np.float32], constants=(2,)),
    Refuse("embedding_lookup_sparse/six", "EMBEDDING_LOOKUP_SPARSE", {}, [*SPARSE, f32([1])],
           "takes at most 5 inputs, got 6", [np.float32]),
    *(
        Case(f"hashtable_lookup/{name}", "HASHTABLE_LOOKUP", {},
             [i32([7, 2, 9, -4, 5]), i32([-4, 2, 5, 8]), values], None, [values.dtype, np.uint8])
        for name, values in (("rows", floats(4, 3)), ("numbers", counting((4,), "int32")),
                             ("bytes", counting((4, 2, 2), "int8")))
    ),
    Case("hashtable_lookup/no_rows", "HASHTABLE_LOOKUP", {},
         [i32([7, 2]), np.zeros(0, np.int32), np.zeros((0, 3), np.float32)],
         lambda *_: (np.zeros((2, 3)), np.zeros(2)), [np.float32, np.uint8], oracle=None,
         why="LiteRT refuses a table without rows; nothing is found in it"),
    *(
        Case(f"lsh_projection/{name}_{kind.lower()}", "LSH_PROJECTION", {"type": kind},
             [floats(3, 5, seed=7), *inputs], None, [np.int32])
        for kind in ("DENSE", "SPARSE")
        for name, inputs in (
            ("numbers", [counting((6,), "int32")]),
            ("weights", [counting((6, 3), "int64"), floats(6)]),
            ("long", [floats(3, 40), floats(3)]),
            ("bytes", [counting((4, 2), "int8")]),
        )
    ),
    suppression("plain", BOXES, SCORES, 10, 0.3, 0.2),
    suppression("few", BOXES, SCORES, 40, 0.1, 0.5),
    suppression("late", BOXES, SCORES, 10, 0.3, 0.2, constants=()),
    suppression("none", BOXES, SCORES, 5, 0.5, 2.0),
    suppression("soft", BOXES, SCORES, 20, 1.0, 0.05, 0.4),
    suppression("hard", BOXES, SCORES, 20, 0.5, 0.0, 0.0),
    suppression("without_area", FLAT, SCORES, 6, 0.5, 0.3),
    suppression("fewer_without_area", FLAT[:3], SCORES[:3], 6, 0.5, 0.0),
    Refuse("non_max_suppression/boxes", "NON_MAX_SUPPRESSION_V4", {},
           [floats(3, 3), floats(3), i32(2), f32(0.5), f32(0)],
           "boxes must be float32 [n, 4], got float32 of shape (3, 3)", [np.int32, np.int32],
           constants=(2,)),
]  # fmt: skip
