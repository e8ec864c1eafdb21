"""Operators that choose elements by index or by value, and those that make new ones."""

import numpy as np
from cases import OPTIMIZED, Case, Refuse, counting, f32, floats, i32, i64

EMPTY = "LiteRT takes no empty input"
MARK = f32([[2, 0, 5], [0, 0, 7]])
HOLES = np.where(floats(4, 9, seed=5) < -0.3, np.nan, floats(4, 9)).astype(np.float32)
HOLES[0, 0] = np.nan


def gather(name, shape, indices, axis=0, dtype="float32", of=i32, **extra):
    return Case(f"gather/{name}", "GATHER", {"axis": axis}, [counting(shape, dtype), of(indices)],
        lambda p, i: np.take(p, i.astype(np.int64), axis), **extra)  # fmt: skip


def batched(params, indices):
    return np.stack([np.take(p, i, 0) for p, i in zip(params, indices, strict=True)])


def points(params, indices):
    return params[tuple(np.moveaxis(indices, -1, 0))]


def scattered(indices, updates, shape):
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, tuple(np.moveaxis(indices, -1, 0)), updates)
    return out


def scatter(name, indices, updates, shape, **extra):
    extra = {"constants": (2,), **extra}
    return Case(f"scatter_nd/{name}", "SCATTER_ND", {}, [i32(indices), updates, i32(shape)],
        scattered, [updates.dtype], **extra)  # fmt: skip


def sparse_to_dense(indices, shape, values, default):
    out = np.full(shape, default)
    rows = indices.reshape(-1, indices.shape[-1] if indices.ndim == 2 else 1)
    out[tuple(rows.T)] = values
    return out


def updated(x, update, starts):
    out = x.copy()
    starts = [min(max(0, s), n - m) for s, n, m in zip(starts, x.shape, update.shape, strict=True)]
    out[tuple(slice(s, s + m) for s, m in zip(starts, update.shape, strict=True))] = update
    return out


def one_hot(axis):
    def expected(indices, depth, on, off):
        hot = np.arange(depth) == indices[..., None]
        return np.moveaxis(np.where(hot, on, off), -1, axis).astype(on.dtype)

    return expected


def top(x, k):
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


def segments(function, start):
    def expected(x, ids, count=None):
        n = int(ids.max()) + 1 if count is None else int(count)
        out = np.full((n, *x.shape[ids.ndim :]), start(x.dtype), x.dtype)
        for at in np.ndindex(*ids.shape):
            if ids[at] >= 0:
                out[ids[at]] = function(out[ids[at]], x[at])
        return out

    return expected


def limits(dtype):
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)


SEGMENTS = {
    "UNSORTED_SEGMENT_SUM": segments(np.add, lambda dtype: 0),
    "UNSORTED_SEGMENT_PROD": segments(np.multiply, lambda dtype: 1),
    "UNSORTED_SEGMENT_MAX": segments(np.maximum, lambda dtype: limits(dtype).min),
    "UNSORTED_SEGMENT_MIN": segments(np.minimum, lambda dtype: limits(dtype).max),
}

CASES = [
    gather("rows", (4, 3), [2, 0, 2]),
    gather("columns", (2, 4, 3), [3, 1], 1),
    gather("last", (2, 3, 4), [[0, 3], [1, 1]], -1),
    gather("scalar", (4, 3), 2),
    gather("matrix", (5,), [[4, 0], [1, 2]]),
    gather("none", (4, 3), np.zeros((0,)), oracle=None, why=EMPTY),
    gather("by_int64", (4, 3), [2, 0, 2], of=i64),
    gather("by_int16", (4, 3), [2, 0, 2], of=lambda x: np.array(x, np.int16)),
    gather("constant", (4, 3), [2, 0, 2], constants=(0, 1)),
    *[gather(dtype, (4, 3), [2, 0, 2], 1, dtype) for dtype in ("int8", "int16", "int64", "bool")],
    Case("gather/batch", "GATHER", {"axis": 1, "batch_dims": 1},
        [counting((2, 4, 3)), i32([[3, 0], [1, 1]])], batched),
    Case("gather/batch_late_axis", "GATHER", {"axis": 2, "batch_dims": 1},
        [counting((2, 3, 4)), i32([[3, 0], [1, 1]])],
        lambda p, i: np.stack([np.take(a, b, 1) for a, b in zip(p, i, strict=True)])),
    Case("gather/batch_scalar", "GATHER", {"axis": 1, "batch_dims": 1},
        [counting((2, 4)), i32([3, 1])], lambda p, i: p[[0, 1], i]),
    Refuse("gather/axis", "GATHER", {"axis": 2}, [counting((4, 3)), i32([0])],
        "axis must be in [-2, 2), got 2"),
    Refuse("gather/float", "GATHER", {}, [counting((4, 3)), f32([0])],
        "indices must be integers, got float32"),
    Refuse("gather/batch_dims", "GATHER", {"axis": 0, "batch_dims": 1},
        [counting((2, 3)), i32([0, 1])], "batch_dims must be in [0, 0], got 1"),
    Refuse("gather/batch_shape", "GATHER", {"axis": 1, "batch_dims": 1},
        [counting((2, 3)), i32([0])], "the first 1 dimensions must be equal, got (2, 3) and (1,)"),
    Case("gather_nd/elements", "GATHER_ND", {}, [counting((3, 4)), i32([[0, 1], [2, 3]])], points),
    Case("gather_nd/whole", "GATHER_ND", {}, [counting((3, 4)), np.zeros((2, 0), np.int32)],
        lambda x, indices: np.stack([x, x]), oracle=None,
        why="LiteRT finds an index of no numbers out of bounds; TensorFlow does not"),
    Case("gather_nd/rows", "GATHER_ND", {}, [counting((3, 4, 2), "int64"), i64([[2], [0]])],
        points),
    Case("gather_nd/grid", "GATHER_ND", {}, [counting((3, 4, 2), "int8"), i32([[[0, 1], [2, 3]]])],
        points),
    Refuse("gather_nd/depth", "GATHER_ND", {}, [counting((3,)), i32([[0, 1]])],
        "indices must have 1 to 1 numbers in each row, got shape (1, 2)"),
    scatter("vector", [[4], [1], [7]], f32([1, 2, 3]), [8]),
    scatter("twice", [[1], [1], [0]], i32([1, 2, 3]), [3]),
    scatter("rows", [[2], [0]], counting((2, 3)), [4, 3]),
    scatter("elements", [[0, 1], [1, 2]], i64([5, 6]), [2, 3]),
    scatter("late", [[0, 1], [1, 2]], i64([5, 6]), [2, 3], constants=()),
    Case("scatter_nd/bool", "SCATTER_ND", {}, [i32([[1], [1]]), np.array([True, True]), i32([3])],
        lambda *_: np.array([False, True, False]), [np.bool_], constants=(2,)),
    Refuse("scatter_nd/updates", "SCATTER_ND", {}, [i32([[1]]), f32([1, 2]), i32([3])],
        "updates must have shape (1,), got (2,)", [np.float32], constants=(2,)),
    Refuse("scatter_nd/types", "SCATTER_ND", {}, [i64([[1]]), f32([1]), i32([3])],
        "indices must be int32, got int64", [np.float32], constants=(2,)),
    *[
        Case(f"sparse_to_dense/{name}", "SPARSE_TO_DENSE", {},
            [of(indices), of(shape), values, other], sparse_to_dense, [values.dtype],
            constants=(1,))
        for name, indices, shape, values, other, of in (
            ("scalar", 3, [5], f32(7), f32(-1), i32),
            ("vector", [1, 3], [5], f32([7, 8]), f32(0), i32),
            ("matrix", [[0, 1], [2, 0]], [3, 2], i32([5, 6]), i32(-1), i32),
            ("one_value", [[0, 1], [2, 0]], [3, 2], i64(5), i64(-1), i64),
        )
    ],
    Refuse("sparse_to_dense/rank", "SPARSE_TO_DENSE", {}, [i32([[0, 1]]), i32([3]), f32(1), f32(0)],
        "indices must be rows of 1 numbers, got shape (1, 2)", [np.float32], constants=(1,)),
    *[
        Case(f"embedding_lookup/{dtype}", "EMBEDDING_LOOKUP", {},
            [i32([2, 0]), counting((3, 4, 2), dtype)], lambda i, t: t[i], [dtype], constants=(1,))
        for dtype in ("float32", "int8")
    ],
    Case("embedding_lookup/stored", "EMBEDDING_LOOKUP", {}, [i32([2, 0]), counting((3, 4), "int8")],
        lambda i, t: t[i] * f32(0.5), [np.float32], constants=(1,), quantization={1: (0.5, 0)}),
    Refuse("embedding_lookup/rank", "EMBEDDING_LOOKUP", {}, [i32([2, 0]), counting((3,))],
        "the table must have 2 dimensions, got shape (3,)", [np.float32]),
    *[
        Case(f"dynamic_update_slice/{name}", "DYNAMIC_UPDATE_SLICE", {},
            [counting(shape, dtype),
            -counting(size, dtype) if dtype != "bool" else ~counting(size, dtype),
            of(starts)], updated)
        for name, shape, size, starts, dtype, of in (
            ("inside", (4, 5), (2, 3), [1, 2], "float32", i32),
            ("clamped", (4, 5), (2, 3), [-1, 4], "int32", i32),
            ("whole", (4, 5), (4, 5), [1, 1], "int64", i64),
            ("rank4", (2, 3, 4, 2), (1, 2, 2, 2), [1, 0, 2, 0], "float32", i64),
            ("bool", (6,), (2,), [3], "bool", i32),
        )
    ],
    Refuse("dynamic_update_slice/size", "DYNAMIC_UPDATE_SLICE", {},
        [floats(2, 3), floats(3, 3), i32([0, 0])], "update must fit into shape (2, 3), got (3, 3)"),
    Refuse("dynamic_update_slice/starts", "DYNAMIC_UPDATE_SLICE", {},
        [floats(2, 3), floats(2, 3), i32([0])], "start indices must have shape (2,), got (1,)"),
    *[
        Case(f"one_hot/{name}", "ONE_HOT", {"axis": axis}, [of(indices), i32(depth), on, off],
            one_hot(axis), [on.dtype], constants=(1,))
        for name, indices, depth, axis, on, off, of in (
            ("last", [0, 2, 1], 3, -1, f32(1), f32(0), i32),
            ("first", [[0, 2], [1, 5]], 3, 0, i32(7), i32(-1), i32),
            ("middle", [[0, 2], [1, -1]], 3, 1, i64(7), i64(-1), i64),
            ("bool", [0, 1], 2, -1, np.array(True), np.array(False), i32),
        )
    ],
    Refuse("one_hot/indices", "ONE_HOT", {}, [np.int16([0]), i32(3), f32(1), f32(0)],
        "indices must be int32 or int64, got int16", [np.float32], constants=(1,)),
    Refuse("one_hot/axis", "ONE_HOT", {"axis": 2}, [i32([0]), i32(3), f32(1), f32(0)],
        "axis must be in [-1, 2), got 2", [np.float32], constants=(1,)),
    *[
        Case(f"topk_v2/{name}", "TOPK_V2", {}, [x, i32(k)], top, [x.dtype, np.int32],
            constants=constants)
        for name, x, k, constants in (
            ("matrix", floats(4, 9), 3, (1,)),
            ("all", floats(2, 7), 7, (1,)),
            ("one", floats(2, 3, 5), 1, (1,)),
            ("ties", i32([[3, 1, 3, 2, 3], [1, 1, 1, 1, 1]]), 4, (1,)),
            ("int8", counting((3, 6), "int8"), 2, (1,)),
            ("int64", counting((3, 6), "int64"), 2, (1,)),
            ("late", floats(4, 9), 3, ()),
        )
    ],
    *[
        Case(f"topk_v2/nan_{k}", "TOPK_V2", {}, [HOLES, i32(k)], top, [np.float32, np.int32],
            constants=(1,))
        for k in (1, 3, 9)
    ],
    Refuse("topk_v2/one_result", "TOPK_V2", {}, [floats(2, 3), i32(2)],
        "must have 2 results, the model has 1", constants=(1,)),
    Refuse("topk_v2/k", "TOPK_V2", {}, [floats(2, 3), i32(4)],
        "k must be at most the 3 elements of a row, got 4", [np.float32, np.int32], constants=(1,)),
    *(
        Case(f"bucketize/{dtype}", "BUCKETIZE", {"boundaries": f32([0, 10, 10, 100.5])},
             [np.array([[-5, 10, 0], [100, 101, 9]], dtype)],
             lambda x: np.searchsorted(f32([0, 10, 10, 100.5]), x, "right").astype(np.int32),
             [np.int32], oracle=OPTIMIZED)
        for dtype in ("float32", "float64", "int32", "int64")
    ),
    Case("bucketize/nan_and_no_boundaries", "BUCKETIZE", {"boundaries": f32([])},
         [f32([1, np.nan])], lambda x: np.zeros(2, np.int32), [np.int32], oracle=OPTIMIZED),
    Refuse("bucketize/falling", "BUCKETIZE", {"boundaries": f32([3, 1])}, [f32([1])],
           "boundaries must rise, got [3.0, 1.0]", [np.int32]),
    Case("where/matrix", "WHERE", {}, [MARK], lambda x: np.argwhere(x), [np.int64]),
    Case("where/bool", "WHERE", {}, [counting((5,), "bool")], lambda x: np.argwhere(x), [np.int64]),
    Case("where/constant", "WHERE", {}, [i32([0, 3, 0, 1])], lambda x: i64([[1], [3]]), [np.int64],
        constants=(0,)),
    *[
        Case(f"unique/{dtype}_{index}", "UNIQUE", {"idx_out_type": index},
            [np.array([5, 2, 5, 9, 2], dtype)],
            lambda x: (np.array([5, 2, 9], x.dtype), np.array([0, 1, 0, 2, 1])),
            [dtype, index.lower()])
        for dtype, index in (("int32", "INT32"), ("float32", "INT64"), ("int64", "INT32"))
    ],
    Refuse("unique/rank", "UNIQUE", {"idx_out_type": "INT32"}, [i32([[1]])],
        "input must have one dimension, got shape (1, 1)", [np.int32, np.int32]),
    *[
        Case(f"segment_sum/{name}", "SEGMENT_SUM", {}, [x, i32(ids)],
            segments(np.add, lambda dtype: 0), constants=constants, oracle=OPTIMIZED)
        for name, x, ids, constants in (
            ("rows", floats(5, 3), [0, 0, 1, 2, 2], (1,)),
            ("vector", i32([1, 2, 3]), [0, 1, 1], (1,)),
            ("late", floats(5, 3), [0, 0, 1, 2, 2], ()),
        )
    ],
    *[
        Case(f"{op.lower()}/{name}_{dtype}", op, {}, [counting(shape, dtype), i32(ids), i32(n)],
            expected, constants=(1, 2))
        for op, expected in SEGMENTS.items()
        for dtype in ("float32", "int32")
        for name, shape, ids, n in (
            ("rows", (4, 3), [2, 0, 2, -1], 4),
            ("elements", (2, 3), [[0, 1, 0], [1, 1, 0]], 2),
        )
    ],
    Refuse("segment_sum/shape", "SEGMENT_SUM", {}, [floats(3, 2), i32([0, 1])],
        "segment ids must have the first dimensions of (3, 2), got (2,)", constants=(1,)),
    Refuse("unsorted_segment_sum/count", "UNSORTED_SEGMENT_SUM", {},
        [floats(2), i32([0, 1]), i32(-1)], "the number of segments must not be negative, got -1",
        constants=(2,)),
    Case("shape/int32", "SHAPE", {"out_type": "INT32"}, [floats(2, 3, 4)],
        lambda x: np.array(x.shape), [np.int32]),
    Case("shape/int64", "SHAPE", {"out_type": "INT64"}, [floats(2, 3)], lambda x: np.array(x.shape),
        [np.int64]),
    Case("rank/three", "RANK", {}, [floats(2, 3, 4)], lambda x: np.int32(3), [np.int32]),
    Case("zeros_like/float32", "ZEROS_LIKE", {}, [floats(2, 3)], np.zeros_like),
    Case("zeros_like/int64", "ZEROS_LIKE", {}, [i64([4, 5])], np.zeros_like),
    *[
        Case(f"fill/{name}", "FILL", {}, [dims, value], lambda d, v: np.full(d, v), [value.dtype],
            constants=constants)
        for name, dims, value, constants in (
            ("constant", i32([2, 3]), f32(7), (0,)),
            ("late", i64([2, 3, 4]), i32(-7), ()),
            ("bool", i32([5]), np.array(True), (0,)),
            ("int8", i32([2, 2]), np.array(3, np.int8), (0,)),
        )
    ],
    Case("fill/scalar", "FILL", {}, [i32([]), f32(7)], lambda d, v: v, [np.float32],
        constants=(0,)),
    Refuse("fill/negative", "FILL", {}, [i32([2, -1]), f32(7)],
        "sizes must not be negative, got [2, -1]", [np.float32], constants=(0,)),
    Refuse("fill/value", "FILL", {}, [i32([2]), f32([7, 8])],
        "the value must be one element, got shape (2,)", [np.float32], constants=(0,)),
    *[
        Case(f"range/{name}", "RANGE", {}, list(map(of, numbers)), np.arange, constants=constants)
        for name, numbers, of, constants in (
            ("int32", (1, 10, 3), i32, (0, 1, 2)),
            ("down", (5, -5, -2), i32, (0, 1, 2)),
            ("float32", (0.5, 3, 0.25), f32, (0, 1, 2)),
            ("late", (2, 9, 2), i32, ()),
        )
    ],
    Case("range/none", "RANGE", {}, [i32(5), i32(5), i32(1)], np.arange, constants=(0, 1, 2),
        oracle=None, why=EMPTY),
    Case("range/sums", "RANGE", {}, [f32(0), f32(1), f32(0.1)],
        lambda *_: np.cumsum(f32([0, *[0.1] * 9]), dtype=np.float32), constants=(0, 1, 2), rtol=0,
        atol=0),
    Refuse("range/complex", "RANGE", {}, [np.complex64(n) for n in (0, 5, 1)],
        "numbers that are ordered are needed, got complex64", constants=(0, 1, 2)),
    Refuse("range/away", "RANGE", {}, [i32(1), i32(5), i32(-1)],
        "delta must lead from start to limit, got 1, 5 and -1", constants=(0, 1, 2)),
    Case("broadcast_args/both", "BROADCAST_ARGS", {}, [i32([2, 1, 3]), i32([4, 1])],
        lambda *_: i32([2, 4, 3])),
    Refuse("broadcast_args/apart", "BROADCAST_ARGS", {}, [i32([2]), i32([3])],
        "shapes [2] and [3] do not broadcast", constants=(0, 1)),
]  # fmt: skip
