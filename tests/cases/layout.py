"""Operators that only move elements."""

import numpy as np
from cases import OPTIMIZED, Case, Refuse, counting, f32, i32, i64

WIDTHS = ("float32", "int8", "int16", "int64", "bool")
WORDS = np.array([b"a", b"b"], object)
EMPTY = "LiteRT takes no empty input"
NO_TYPE = "LiteRT has no kernel for the type"
# LiteRT's reference resolver lacks the later versions of STRIDED_SLICE, DEPTH_TO_SPACE and TILE.


def transpose(name, shape, permutation, dtype="float32", **extra):
    return Case(f"transpose/{name}", "TRANSPOSE", {}, [counting(shape, dtype), i32(permutation)],
        np.transpose, constants=(1,), **extra)  # fmt: skip


def space_to_depth(block):
    def expected(x):
        n, h, w, c = x.shape
        y = x.reshape(n, h // block, block, w // block, block, c).transpose(0, 1, 3, 2, 4, 5)
        return y.reshape(n, h // block, w // block, block * block * c)

    return expected


def depth_to_space(block):
    def expected(x):
        n, h, w, _ = x.shape
        y = x.reshape(n, h, w, block, block, -1).transpose(0, 1, 3, 2, 4, 5)
        return y.reshape(n, h * block, w * block, -1)

    return expected


def with_diagonal(x, diagonals):
    y, n = x.copy(), diagonals.shape[-1]
    y[..., np.arange(n), np.arange(n)] = diagonals
    return y


def space_to_batch(x, blocks, paddings, fill=0):
    edges = [(0, 0), *paddings.tolist(), *[(0, 0)] * (x.ndim - 1 - len(blocks))]
    x = np.pad(x, edges, constant_values=fill)
    parts = [
        x[(slice(None), *(slice(o, None, b) for o, b in zip(at, blocks, strict=True)))]
        for at in np.ndindex(*blocks)
    ]
    return np.concatenate(parts)


def batch_to_space(x, blocks, crops):
    parts = np.split(x, np.prod(blocks))
    sizes = [n * b for n, b in zip(x.shape[1:], blocks, strict=False)]
    y = np.zeros((parts[0].shape[0], *sizes, *x.shape[1 + len(blocks) :]), x.dtype)
    for at, part in zip(np.ndindex(*blocks), parts, strict=True):
        y[(slice(None), *(slice(o, None, b) for o, b in zip(at, blocks, strict=True)))] = part
    cut = (slice(a, n - b) for (a, b), n in zip(crops, sizes, strict=True))
    return y[(slice(None), *cut)]


def strided(
    name, shape, begin, end, stride, want, dtype="float32", oracle=OPTIMIZED, why="", **masks
):
    return Case(f"strided_slice/{name}", "STRIDED_SLICE", masks,
        [counting(shape, dtype), i32(begin), i32(end), i32(stride)], lambda x, *_: want(x),
        constants=(1, 2, 3), oracle=oracle, why=why)  # fmt: skip


def box(x, begin, size):
    ends = [n if k == -1 else i + k for i, k, n in zip(begin, size, x.shape, strict=True)]
    return x[tuple(slice(i, end) for i, end in zip(begin, ends, strict=True))]


def concatenation(name, axis, *parts, **extra):
    return Case(f"concatenation/{name}", "CONCATENATION", {"axis": axis}, parts,
        lambda *p: np.concatenate(p, axis), **extra)  # fmt: skip


def bytes_of(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def pad(name, shape, paddings, dtype="float32", **extra):
    return Case(f"pad/{name}", "PAD", {}, [counting(shape, dtype), np.array(paddings, np.int32)],
        np.pad, constants=(1,), **extra)  # fmt: skip


def mirror(name, mode, shape, paddings, **extra):
    return Case(
        f"mirror_pad/{name}", "MIRROR_PAD", {"mode": mode}, [counting(shape), i32(paddings)],
        lambda x, p: np.pad(x, p, mode.lower()), constants=(1,), **extra,
    )  # fmt: skip


CASES = [
    transpose("matrix", (3, 5), (1, 0)),
    transpose("large", (67, 130), (1, 0)),
    transpose("nchw", (2, 5, 6, 3), (0, 3, 1, 2)),
    transpose("nhwc", (2, 3, 5, 6), (0, 2, 3, 1)),
    transpose("reverse", (2, 3, 4, 5), (3, 2, 1, 0)),
    transpose("five", (2, 3, 2, 4, 3), (2, 0, 4, 1, 3)),
    transpose("six", (2, 3, 2, 2, 3, 2), (5, 0, 3, 1, 4, 2)),
    transpose("ones", (1, 3, 1, 4), (2, 1, 0, 3)),
    transpose("same", (2, 3), (0, 1)),
    transpose("empty", (3, 0, 2), (2, 0, 1), oracle=None, why=EMPTY),
    transpose("negative", (2, 3, 4), (-1, 0, 1), oracle=None,
        why="LiteRT wants axes from the front"),
    *[transpose(dtype, (4, 3, 5), (1, 2, 0), dtype) for dtype in WIDTHS],
    Case("transpose/late", "TRANSPOSE", {}, [counting((2, 3, 4)), i32([2, 0, 1])], np.transpose),
    *(
        Refuse(f"{op.lower()}/word_and_{inputs[0].dtype.name}", op, {}, inputs, text, [object],
            constants)
        for op, inputs, text, constants in (
            ("CONCATENATION", [WORDS, i32([1, 2])], "inputs must be string, got int32", ()),
            ("PACK", [WORDS, i32([1, 2])], "inputs must be string, got int32", ()),
            ("PADV2", [WORDS, i32([[1, 0]]), i32(7)], "the value must be one string", (1,)),
            ("DYNAMIC_UPDATE_SLICE", [WORDS, i32([7]), i32([0])],
             "inputs must be string, got int32", ()),
            ("GATHER", [WORDS, WORDS], "indices must be integers, got string", ()),
            ("GATHER", [f32([1, 2]), WORDS], "indices must be integers, got string", ()),
            ("ONE_HOT", [WORDS, i32(3), i32(1), i32(0)], "indices must be int32", (1,)),
            ("SELECT_V2", [np.array([True, False]), WORDS, i32([7, 8])],
             "inputs must be string, got int32", ()),
            ("MATRIX_SET_DIAG", [WORDS.reshape(1, 2), i32([7])],
             "inputs must be string, got int32", ()),
        )
    ),
    Refuse("transpose/words", "TRANSPOSE", {}, [counting((2, 3)), WORDS],
        "input 1 must be integers, got string", constants=(1,)),
    Refuse("transpose/twice", "TRANSPOSE", {}, [counting((2, 3)), i32([0, 0])],
        "permutation must name each of the 2 axes once, got [0, 0]", constants=(1,)),
    *[
        Case(f"space_to_depth/{b}_{dtype}", "SPACE_TO_DEPTH", {"block_size": b},
            [counting((2, 2 * b, 3 * b, 3), dtype)], space_to_depth(b))
        for b, dtype in ((1, "float32"), (2, "float32"), (3, "int8"), (2, "int64"))
    ],
    *[
        Case(f"depth_to_space/{b}_{dtype}", "DEPTH_TO_SPACE", {"block_size": b},
            [counting((2, 2, 3, 2 * b * b), dtype)], depth_to_space(b), oracle=OPTIMIZED)
        for b, dtype in ((1, "float32"), (2, "float32"), (3, "int8"), (2, "int64"))
    ],
    *[
        Case(f"matrix_diag/{name}", "MATRIX_DIAG", {}, [counting(shape, dtype)],
            lambda x: x[..., None] * np.eye(x.shape[-1], dtype=x.dtype))
        for name, shape, dtype in (
            ("vector", (3,), "float32"),
            ("batch", (2, 3, 4), "int32"),
            ("int8", (2, 2), "int8"),
        )
    ],
    *[
        Case(f"matrix_set_diag/{name}", "MATRIX_SET_DIAG", {},
            [counting(shape, dtype), -counting((*shape[:-2], min(shape[-2:])), dtype)],
            with_diagonal)
        for name, shape, dtype in (
            ("square", (3, 3), "float32"),
            ("wide", (2, 3, 5), "int32"),
            ("tall", (2, 4, 2), "int64"),
        )
    ],
    Refuse("matrix_set_diag/size", "MATRIX_SET_DIAG", {}, [counting((2, 3)), counting((3,))],
        "diagonals must have shape (2,), got (3,)"),
    Refuse("space_to_depth/odd", "SPACE_TO_DEPTH", {"block_size": 2}, [counting((1, 3, 2, 1))],
        "height and width must be multiples of block_size 2, got (1, 3, 2, 1)"),
    Refuse("space_to_depth/rank", "SPACE_TO_DEPTH", {"block_size": 2}, [counting((2, 2, 1))],
        "input must have 4 dimensions, got shape (2, 2, 1)"),
    Refuse("depth_to_space/channels", "DEPTH_TO_SPACE", {"block_size": 2}, [counting((1, 1, 1, 6))],
        "channels must be a multiple of block_size squared, 4, got 6"),
    Refuse("depth_to_space/block", "DEPTH_TO_SPACE", {"block_size": 0}, [counting((1, 1, 1, 4))],
        "block_size must be positive, got 0"),
    concatenation("axis0", 0, counting((2, 3)), counting((1, 3)), counting((4, 3))),
    concatenation("axis1", 1, counting((2, 3, 2)), counting((2, 1, 2))),
    concatenation("last", -1, counting((2, 3)), counting((2, 2)), counting((2, 7))),
    concatenation("one", 0, counting((2, 3))),
    concatenation("vectors", 0, i32([1]), i32([2, 3])),
    concatenation("some_empty", 1, counting((2, 3)), counting((2, 0)), counting((2, 2)),
        oracle=None, why=EMPTY),
    *[concatenation(dtype, 1, counting((2, 3), dtype),
        counting((2, 2), dtype)) for dtype in WIDTHS],
    concatenation("quantized", 1, counting((2, 3), "int8"), counting((2, 2), "int8"),
        quantization={0: (0.5, 3), 1: (0.5, 3), "out0": (0.5, 3)}),
    *[
        Case(f"concatenation/uint8_scales{i}", "CONCATENATION", {"axis": axis},
            [bytes_of(2, 40, seed=i), bytes_of(2, 40, seed=i + 9), bytes_of(2, 40)],
            quantization={0: (0.1, 3), 1: (own_size, 200), 2: (0.15, 5), "out0": (0.15, 5)})
        for i, axis, own_size in (
            (0, 0, 0.2), (1, 1, 0.0004), (2, -1, 50.0), (3, 0, 0.075), (4, 0, 1e-20)
        )
    ],
    Refuse("concatenation/scales", "CONCATENATION", {"axis": 0},
        [counting((2,), "int8"), counting((2,), "int8")],
        "inputs must have the output's scale 0.5 and zero point 3, got 0.25 and 3 of 'in1'; put a "
        "QUANTIZE before it", quantization={0: (0.5, 3), 1: (0.25, 3), "out0": (0.5, 3)}),
    Refuse("concatenation/shapes", "CONCATENATION", {"axis": 0},
        [counting((2, 3)), counting((2, 4))],
        "inputs must have equal shapes but for axis 0, got (2, 3) and (2, 4)"),
    Refuse("concatenation/axis", "CONCATENATION", {"axis": 2}, [counting((2, 3))],
        "axis must be in [-2, 2), got 2"),
    Refuse("concatenation/types", "CONCATENATION", {"axis": 0}, [counting((2,)), i32([1])],
        "inputs must be float32, got int32"),
    Refuse("concatenation/relu", "CONCATENATION", {"axis": 0, "fused_activation_function": "RELU"},
        [counting((2,))], "fused activation must be NONE, got RELU"),
    *[
        Case(f"pack/axis{axis}_{dtype}", "PACK", {"axis": axis, "values_count": 3},
            [counting((2, 3), dtype)] * 3, lambda *p, at=axis: np.stack(p, at))
        for axis, dtype in ((0, "float32"), (1, "int8"), (2, "int64"), (-1, "int16"),
            (-3, "float32"))
    ],
    Case("pack/scalars", "PACK", {"axis": 0, "values_count": 2}, [i32(4), i32(5)],
        lambda *p: np.stack(p)),
    Refuse("pack/shapes", "PACK", {"axis": 0, "values_count": 2}, [counting((2,)), counting((3,))],
        "inputs must have equal shapes, got (2,) and (3,)"),
    Refuse("pack/axis", "PACK", {"axis": 3, "values_count": 1}, [counting((2, 2))],
        "axis must be in [-3, 3), got 3"),
    *[
        Case(f"unpack/axis{axis}_{dtype}", "UNPACK", {"axis": axis, "num": n},
            [counting((2, 3, 4), dtype)], lambda x, at=axis: list(np.moveaxis(x, at, 0)),
            [dtype] * n)
        for axis, n, dtype in ((0, 2, "float32"), (1, 3, "int8"), (-1, 4, "int32"), (2, 4, "int16"))
    ],
    Refuse("unpack/num", "UNPACK", {"axis": 0, "num": 3}, [counting((2, 3))],
        "num must be the size 2 of axis 0, got 3", ["float32"] * 3),
    *[
        Case(f"split/axis{axis}_{dtype}", "SPLIT", {"num_splits": n},
            [i32(axis), counting((4, 6, 2), dtype)], lambda _, x, at=axis, n=n: np.split(x, n, at),
            [dtype] * n, constants=(0,))
        for axis, n, dtype in ((0, 2, "float32"), (1, 3, "int8"), (-1, 2, "int32"), (1, 1, "int16"))
    ],
    Refuse("split/uneven", "SPLIT", {"num_splits": 4}, [i32(1), counting((4, 6))],
        "num_splits must divide the size 6 of axis 1, got 4", ["float32"] * 4, constants=(0,)),
    Refuse("split/axis", "SPLIT", {"num_splits": 1}, [i32(2), counting((4, 6))],
        "axis must be in [-2, 2), got 2", ["float32"], constants=(0,)),
    Case("split_v/sizes", "SPLIT_V", {"num_splits": 3}, [counting((4, 6)), i32([1, 3, 2]), i32(1)],
        lambda x, *_: np.split(x, [1, 4], 1), ["float32"] * 3, constants=(1, 2)),
    Case("split_v/rest", "SPLIT_V", {"num_splits": 2},
        [counting((4, 6), "int64"), i32([-1, 2]), i32(-1)], lambda x, *_: np.split(x, [4], 1),
        ["int64"] * 2, constants=(1, 2)),
    Case("split_v/late", "SPLIT_V", {"num_splits": 2}, [counting((4, 6)), i32([1, 3]), i32(0)],
        lambda x, *_: np.split(x, [1], 0), ["float32"] * 2),
    Refuse("split_v/sum", "SPLIT_V", {"num_splits": 2}, [counting((4, 6)), i32([1, 2]), i32(0)],
        "sizes must add up to the size 4 of axis 0, got [1, 2]", ["float32"] * 2, constants=(1, 2)),
    Refuse("split_v/two_rests", "SPLIT_V", {"num_splits": 2},
        [counting((4, 6)), i32([-1, -1]), i32(0)],
        "sizes must not be negative but for one -1, got [-1, -1]", ["float32"] * 2,
        constants=(1, 2)),
    *[
        Case(f"slice/{name}", "SLICE", {}, [counting(shape, dtype), of(begin), of(size)],
            box, constants=constants)
        for name, shape, begin, size, dtype, of, constants in (
            ("plain", (4, 5), (1, 2), (2, 3), "float32", i32, (1, 2)),
            ("rest", (4, 5), (1, 2), (-1, -1), "int8", i32, (1, 2)),
            ("int64", (4, 5, 3), (0, 2, 1), (4, -1, 1), "int64", i64, (1, 2)),
            ("rank5", (2, 3, 2, 4, 3), (1, 0, 1, 2, 1), (1, 2, 1, 2, 2), "bool", i32, (1, 2)),
            ("late", (4, 5), (1, 2), (2, 3), "float32", i32, ()),
            ("to_end", (4, 5), (4, 0), (0, 5), "float32", i32, (1, 2)),
        )
    ],
    Refuse("slice/outside", "SLICE", {}, [counting((4, 5)), i32([1, 2]), i32([2, 4])],
        "begin 2 and size 4 must lie within the 5 slices of dimension 1, got begin [1, 2] and "
        "size [2, 4] for shape (4, 5)", constants=(1, 2)),
    Refuse("slice/length", "SLICE", {}, [counting((4, 5)), i32([1]), i32([2])],
        "begin and size must have one number for each of 2 dimensions, got [1] and [2]",
        constants=(1, 2)),
    strided("plain", (6, 7), [1, 2], [5, 6], [2, 1], lambda x: x[1:5:2, 2:6]),
    strided("negative", (6, 7), [-2, -1], [0, -8], [-2, -3], lambda x: x[-2:0:-2, ::-3]),
    strided("out_of_range", (4,), [-9], [9], [1], lambda x: x),
    strided("nothing", (4,), [3], [1], [1], lambda x: x[3:1]),
    strided("begin_mask", (6, 7), [3, 3], [5, 5], [1, 1], lambda x: x[:5, 3:5], begin_mask=1),
    strided("end_mask", (6, 7), [3, 3], [5, 5], [1, -1], lambda x: x[3:5, 3::-1], end_mask=2),
    strided("shrink", (6, 7, 2), [2, -1], [3, 0], [1, 1], lambda x: x[2, -1], shrink_axis_mask=3),
    strided("shrink_middle", (6, 7, 2), [1, 3], [4, 4], [1, 1], lambda x: x[1:4, 3],
        shrink_axis_mask=2),
    strided("ellipsis", (2, 3, 4, 5), [1, 0, 1], [2, 0, 4], [1, 1, 2], lambda x: x[1:2, ..., 1:4:2],
        ellipsis_mask=2),
    strided("ellipsis_of_none", (4, 5), [2, 0, 5], [4, 0, 2], [1, 1, -1],
        lambda x: x[2:4, ..., 5:2:-1], ellipsis_mask=2, oracle=None,
        why="LiteRT lets the ellipsis take a dimension"),
    strided("new_axis", (4, 5), [0, 0, 1], [0, 4, 3], [1, 1, 1], lambda x: x[None, 0:4, 1:3],
        new_axis_mask=1),
    strided("new_last", (4, 5), [1, 0, 0], [3, 5, 1], [1, 1, 1], lambda x: x[1:3, 0:5, None],
        new_axis_mask=4),
    strided("everything", (4, 5, 6, 3), [0, 0, 2, 0, 1], [0, 0, 3, 0, 3], [1, 1, 1, 1, 1],
        lambda x: x[None, :, 2, ..., 1:3][:, 0:0], shrink_axis_mask=4, new_axis_mask=1,
        ellipsis_mask=8, oracle=None, why=EMPTY),
    strided("rest", (4, 5, 6), [1], [3], [1], lambda x: x[1:3]),
    strided("five", (2, 3, 4, 3, 2), [0, 2, 1, 0, 1], [2, 0, 4, 3, 2], [1, -1, 2, 2, 1],
        lambda x: x[0:2, 2:0:-1, 1:4:2, 0:3:2, 1:2]),
    strided("empty", (0, 3), [0, 0], [2, 2], [1, 1], lambda x: x[0:2, 0:2], oracle=None, why=EMPTY),
    Case("strided_slice/offset", "STRIDED_SLICE", {"offset": True},
        [counting((6, 7)), i32([2, 3]), i32([3, 2]), i32([1, 1])], lambda x, b, *_: x[2:5, 3:5],
        constants=(1, 2, 3), oracle=OPTIMIZED),
    Case("strided_slice/late", "STRIDED_SLICE", {}, [counting((6,)), i32([2]), i32([5]), i32([1])],
        lambda x, *_: x[2:5]),
    *[
        Case(f"strided_slice/late_{name}", "STRIDED_SLICE", masks,
            [counting(shape, "int64"), i32(begin), i32(np.array(begin) + 1), i32([1] * len(begin))],
            lambda x, *_, want=want: want(x), constants=(3,), oracle=OPTIMIZED)
        for name, shape, begin, masks, want in (
            ("row", (4, 5), [2], {"shrink_axis_mask": 1}, lambda x: x[2]),
            ("last_row", (4, 5), [-1], {"shrink_axis_mask": 1}, lambda x: x[-1]),
            ("element", (4, 5), [1, 3], {"shrink_axis_mask": 3}, lambda x: x[1, 3]),
            ("column", (4, 5, 2), [0, 3], {"shrink_axis_mask": 2, "begin_mask": 1, "end_mask": 1},
                lambda x: x[:, 3]),
            ("new", (4, 5), [0, 3], {"shrink_axis_mask": 2, "new_axis_mask": 1},
                lambda x: x[None, 3]),
            ("ellipsis", (4, 5, 2), [0, 1], {"shrink_axis_mask": 2, "ellipsis_mask": 1},
                lambda x: x[..., 1]),
        )
    ],
    *[strided(dtype, (6, 7), [1, 2], [5, 6], [2, 1], lambda x: x[1:5:2, 2:6],
        dtype) for dtype in WIDTHS],
    Refuse("strided_slice/stride", "STRIDED_SLICE", {},
        [counting((4,)), i32([0]), i32([4]), i32([0])],
        "strides must not be zero, got 0 at position 0", constants=(1, 2, 3)),
    Refuse("strided_slice/index", "STRIDED_SLICE", {"shrink_axis_mask": 1},
        [counting((4,)), i32([4]), i32([5]), i32([1])], "index 4 at position 0 must be in [-4, 4)",
        constants=(1, 2, 3)),
    Refuse("strided_slice/lengths", "STRIDED_SLICE", {},
        [counting((4,)), i32([0]), i32([4, 1]), i32([1])],
        "begin, end and strides must have one length, got (1, 2, 1)",
        constants=(1, 2, 3)),
    Refuse("strided_slice/two_ellipses", "STRIDED_SLICE", {"ellipsis_mask": 3},
        [counting((4,)), i32([0, 0]), i32([4, 1]), i32([1, 1])], "at most one ellipsis, got mask 3",
        constants=(1, 2, 3)),
    *[
        Case(f"reverse_v2/axis{axis}_{dtype}", "REVERSE_V2", {},
            [counting((3, 4, 5), dtype), i32([axis])], lambda x, a: np.flip(x, a), constants=(1,))
        for axis, dtype in ((0, "float32"), (1, "int8"), (2, "int64"), (-1, "bool"))
    ],
    Case("reverse_v2/two", "REVERSE_V2", {}, [counting((3, 4, 5)), i32([0, 1])],
        lambda x, a: x[::-1, ::-1], constants=(1,)),
    Refuse("reverse_v2/twice", "REVERSE_V2", {}, [counting((3, 4)), i32([1, -1])],
        "axes must differ, got [1, -1]", constants=(1,)),
    *[
        Case(f"reverse_sequence/{name}", "REVERSE_SEQUENCE", {"seq_dim": steps, "batch_dim": batch},
            [counting(shape, dtype), of(lengths)], None)
        for name, shape, steps, batch, lengths, dtype, of in (
            ("batch_first", (3, 5, 2), 1, 0, [2, 5, 1], "float32", i32),
            ("steps_first", (5, 3, 2), 0, 1, [3, 5, 4], "int32", i64),
            ("apart", (2, 5, 3, 4), 1, 3, [2, 5, 1, 4], "int64", i32),
            ("apart_late", (2, 3, 5, 4), 2, 1, [2, 5, 1], "int16", i32),
        )
    ],
    Case("reverse_sequence/by_hand", "REVERSE_SEQUENCE", {"seq_dim": 1, "batch_dim": 0},
        [counting((2, 3)), i32([2, 0])], lambda *_: f32([[1, 0, 2], [3, 4, 5]])),
    Refuse("reverse_sequence/axes", "REVERSE_SEQUENCE", {"seq_dim": 1, "batch_dim": 1},
        [counting((2, 3)), i32([1, 1])], "seq_dim and batch_dim must differ, both are 1"),
    Refuse("reverse_sequence/lengths", "REVERSE_SEQUENCE", {"seq_dim": 1, "batch_dim": 0},
        [counting((2, 3)), i32([1, 1, 1])], "lengths must have shape (2,), got (3,)"),
    pad("matrix", (2, 3), [[1, 2], [0, 3]]),
    pad("image", (2, 3, 4, 2), [[0, 0], [1, 1], [2, 0], [0, 0]]),
    pad("channels", (2, 3, 4), [[0, 0], [0, 0], [1, 5]]),
    pad("none", (2, 3), [[0, 0], [0, 0]]),
    pad("empty", (0, 3), [[1, 1], [1, 0]], oracle=None, why=EMPTY),
    *[pad(dtype, (2, 3), [[1, 0], [2, 1]], dtype) for dtype in ("float32", "int8", "int64")],
    *[
        pad(dtype, (2, 3), [[1, 0], [2, 1]], dtype, oracle=None, why=NO_TYPE)
        for dtype in ("int16", "bool")
    ],
    Case("pad/late", "PAD", {}, [counting((2, 3)), i64([[1, 2], [0, 3]])], np.pad),
    Case("pad/zero_point", "PAD", {}, [counting((2, 3), "int8"), i32([[1, 2], [0, 3]])],
        lambda x, p: np.pad(x, p, constant_values=-7), constants=(1,),
        quantization={0: (0.5, -7), "out0": (0.5, -7)}),
    Case("padv2/value", "PADV2", {}, [counting((2, 3)), i32([[1, 2], [0, 3]]), f32(7)],
        lambda x, p, v: np.pad(x, p, constant_values=v), constants=(1, 2)),
    Case("padv2/late", "PADV2", {}, [counting((2, 3), "int64"), i32([[1, 2], [0, 3]]), i64([7])],
        lambda x, p, v: np.pad(x, p, constant_values=7)),
    Refuse("pad/shape", "PAD", {}, [counting((2, 3)), i32([[1, 2]])],
        "paddings must have shape (2, 2), got (1, 2)", constants=(1,)),
    Refuse("pad/negative", "PAD", {}, [counting((2,)), i32([[1, -2]])],
        "paddings must not be negative, got [[1, -2]]", constants=(1,)),
    Refuse("padv2/type", "PADV2", {}, [counting((2,)), i32([[1, 2]]), i32(7)],
        "the value must be one float32, got int32 of shape ()", constants=(1, 2)),
    *[
        mirror(f"{mode.lower()}_{name}", mode, shape, paddings)
        for mode in ("REFLECT", "SYMMETRIC")
        for name, shape, paddings in (
            ("vector", (4,), [[2, 3]]),
            ("matrix", (3, 4), [[1, 2], [3, 1]]),
            ("image", (2, 4, 3, 2), [[0, 0], [3, 1], [2, 2], [0, 1]]),
        )
    ],
    mirror("symmetric_all", "SYMMETRIC", (2, 3), [[2, 2], [3, 3]]),
    mirror("one_side", "REFLECT", (5, 2), [[4, 0], [0, 0]]),
    Refuse("mirror_pad/far", "MIRROR_PAD", {"mode": "REFLECT"}, [counting((3,)), i32([[3, 0]])],
        "paddings of dimension 0 must be at most 2, got (3, 0)", constants=(1,)),
    Refuse("mirror_pad/far_symmetric", "MIRROR_PAD", {"mode": "SYMMETRIC"},
        [counting((3,)), i32([[0, 4]])], "paddings of dimension 0 must be at most 3, got (0, 4)",
        constants=(1,)),
    *[
        Case(f"space_to_batch_nd/{name}", "SPACE_TO_BATCH_ND", {},
            [counting(shape, dtype), i32(block), i32(paddings)], space_to_batch,
            constants=constants)
        for name, shape, block, paddings, dtype, constants in (
            ("plain", (2, 4, 6, 3), [2, 3], [[0, 0], [0, 0]], "float32", (1, 2)),
            ("padded", (1, 5, 4, 2), [3, 2], [[1, 0], [3, 1]], "float32", (1, 2)),
            ("far", (2, 1, 2, 1), [2, 2], [[5, 2], [0, 4]], "int32", (1, 2)),
            ("one_axis", (2, 5, 3), [3], [[2, 2]], "int64", (1, 2)),
            ("late", (1, 5, 4, 2), [3, 2], [[1, 0], [3, 1]], "float32", ()),
        )
    ],
    Case("space_to_batch_nd/zero_point", "SPACE_TO_BATCH_ND", {},
        [counting((1, 3, 2, 1), "int8"), i32([2, 2]), i32([[0, 1], [0, 0]])],
        lambda *args: space_to_batch(*args, -5), constants=(1, 2),
        quantization={0: (0.5, -5), "out0": (0.5, -5)}),
    Refuse("space_to_batch_nd/uneven", "SPACE_TO_BATCH_ND", {},
        [counting((1, 3, 2, 1)), i32([2, 2]), i32([[0, 0], [0, 0]])],
        "padded sizes [3, 2] must be multiples of the block [2, 2]", constants=(1, 2)),
    *[
        Case(f"batch_to_space_nd/{name}", "BATCH_TO_SPACE_ND", {},
            [counting(shape, dtype), i32(block), i32(crops)], batch_to_space, constants=constants)
        for name, shape, block, crops, dtype, constants in (
            ("plain", (12, 2, 3, 3), [2, 3], [[0, 0], [0, 0]], "float32", (1, 2)),
            ("cropped", (6, 3, 4, 2), [3, 2], [[1, 2], [3, 1]], "float32", (1, 2)),
            ("one_axis", (6, 5, 3), [3], [[2, 4]], "int64", (1, 2)),
            ("late", (6, 3, 4, 2), [3, 2], [[1, 2], [3, 1]], "int8", ()),
        )
    ],
    *(
        Refuse(f"{op.lower()}/{what}", op, {}, [counting((4, 2, 2)), *lists],
            f"input {i} must be integers, got string", constants=(1, 2))
        for op in ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")
        for what, i, lists in (("blocks", 1, [WORDS, i32([[0, 0]])]),
                               ("pairs", 2, [i32([2]), WORDS.reshape(1, 2)]))
    ),
    Refuse("batch_to_space_nd/batch", "BATCH_TO_SPACE_ND", {},
        [counting((3, 2, 2, 1)), i32([2, 2]), i32([[0, 0], [0, 0]])],
        "the batch must be a multiple of the block's 4, got 3", constants=(1, 2)),
    Refuse("batch_to_space_nd/crops", "BATCH_TO_SPACE_ND", {},
        [counting((4, 2, 2, 1)), i32([2, 2]), i32([[0, 0], [3, 2]])],
        "crops [(0, 0), (3, 2)] must not exceed shape (4, 2, 2, 1)", constants=(1, 2)),
    *[
        Case(f"tile/{name}", "TILE", {}, [counting(shape, dtype), of(times)], np.tile,
            constants=constants, oracle=OPTIMIZED)
        for name, shape, times, dtype, of, constants in (
            ("matrix", (2, 3), [2, 3], "float32", i32, (1,)),
            ("once", (2, 3), [1, 1], "float32", i32, (1,)),
            ("inner", (2, 3, 2), [1, 1, 4], "int32", i32, (1,)),
            ("outer", (2, 3, 2), [3, 1, 1], "int64", i64, (1,)),
            ("five", (2, 1, 3, 2, 2), [2, 3, 1, 2, 2], "int8", i32, (1,)),
            ("late", (2, 3), [2, 3], "float32", i32, ()),
        )
    ],
    Case("tile/zero", "TILE", {}, [counting((2, 3)), i32([0, 2])], np.tile, constants=(1,)),
    Refuse("tile/length", "TILE", {}, [counting((2, 3)), i32([2])],
        "multiples must have one number for each of 2 dimensions, got [2]", constants=(1,)),
    *[
        Case(f"broadcast_to/{name}", "BROADCAST_TO", {}, [counting(shape, dtype), of(dims)],
            lambda x, d: np.broadcast_to(x, d), constants=(1,))
        for name, shape, dims, dtype, of in (
            ("matrix", (1, 3), [2, 3], "float32", i32),
            ("new", (3,), [2, 4, 3], "int8", i32),
            ("scalar", (), [2, 3], "int64", i64),
            ("inner", (2, 1, 3, 1), [2, 4, 3, 5], "bool", i32),
        )
    ],
    Refuse("broadcast_to/shape", "BROADCAST_TO", {}, [counting((2, 3)), i32([2, 4])],
        "shape (2, 3) does not broadcast to (2, 4)", constants=(1,)),
    Case("reshape/input", "RESHAPE", {}, [counting((2, 6)), i32([3, -1])], np.reshape,
        constants=(1,)),
    Case("reshape/option", "RESHAPE", {"new_shape": i32([4, 3])}, [counting((2, 6))],
        lambda x: x.reshape(4, 3)),
    Case("reshape/late", "RESHAPE", {}, [counting((2, 6)), i32([3, 4])], np.reshape),
    Case("expand_dims/last", "EXPAND_DIMS", {}, [counting((2, 6)), i32(-1)], lambda x,
        _: x[:, :, None], constants=(1,)),
    Case("squeeze/all", "SQUEEZE", {}, [counting((1, 2, 1, 3))], np.squeeze),
    Case("squeeze/some", "SQUEEZE", {"squeeze_dims": i32([-2])}, [counting((1, 2, 1, 3))],
        lambda x: x[:, :, 0]),
    Refuse("squeeze/size", "SQUEEZE", {"squeeze_dims": i32([1])}, [counting((1, 2))],
        "dimension 1 must be 1, got 2"),
    Refuse("reshape/elements", "RESHAPE", {}, [counting((2, 6)), i32([5, -1])],
        "12 elements of shape (2, 6) do not divide into [5, -1]", constants=(1,)),
    Refuse("expand_dims/axis", "EXPAND_DIMS", {}, [counting((2, 6)), i32(3)],
        "axis must be in [-3, 3), got 3", constants=(1,)),
]  # fmt: skip
