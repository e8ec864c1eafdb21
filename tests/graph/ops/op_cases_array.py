"""Shapes, order, slices and indices."""

import numpy as np
from op_cases import b, c, case, f, i, part, z

# Shapes and order.
case("Shape", "Shape", f(2, 3))
case("Shape/i64", "Shape", f(2, 3), out_type=np.int64)
case("ShapeN", "ShapeN", [f(2, 3), f(4)])
case("Size", "Size", f(2, 3))
case("Rank", "Rank", f(2, 3))
case("Reshape", "Reshape", f(2, 3, 4), c([-1, 6]))
case("Reshape/empty", "Reshape", f(0, 3), c([-1, 3]))
case("Transpose", "Transpose", f(2, 3, 4), c([2, 0, 1]))
case("ConjugateTranspose", "ConjugateTranspose", z(2, 3), c([1, 0]))
case("ExpandDims", "ExpandDims", f(2, 3), c(-2))
case("Squeeze", "Squeeze", f(1, 3, 1))
case("Squeeze/axis", "Squeeze", f(1, 3, 1), squeeze_dims=[-1])
case("Pack", "Pack", [f(2, 3), f(2, 3)], axis=1)
case("Unpack", "Unpack", f(2, 3, 4), num=3, axis=1)
case("ConcatV2", "ConcatV2", [f(2, 3), f(2, 1)], c(1))
case("Concat", "Concat", c(0), [f(2, 3), f(1, 3)])
case("ConcatOffset", "ConcatOffset", c(1), [c([2, 3]), c([2, 5])])
case("Split", "Split", c(1), f(2, 6), num_split=3)
case("SplitV", "SplitV", f(2, 6), c([1, -1, 2]), c(-1), num_split=3)
case("Tile", "Tile", f(2, 3), c([2, 3]))
case("BroadcastTo", "BroadcastTo", f(3, 1), c([2, 3, 4]))
case("BroadcastArgs", "BroadcastArgs", c([3, 1]), c([2, 1, 4]))
case("BroadcastGradientArgs", "BroadcastGradientArgs", c([3, 1]), c([2, 1, 4]), data_dependent=True)
case("Reverse", "ReverseV2", f(2, 3, 4), c([0, -1]))
case("ReverseSequence", "ReverseSequence", f(3, 5, 2), c([2, 5, 0]), seq_dim=1, batch_dim=0)
case("Roll", "Roll", f(3, 5), c([1, -2]), c([0, 1]))
case("InvertPermutation", "InvertPermutation", c([2, 0, 1, 3]))
case("Fill", "Fill", c([2, 3]), c(1.5, np.float32))
case("ZerosLike", "ZerosLike", f(2, 3))
case("OnesLike", "OnesLike", i(2, 3))
case("Range", "Range", c(2), c(11), c(3))
case(
    "Range/f32",
    "Range",
    c(0.5, np.float32),
    c(-2, np.float32),
    c(-0.4, np.float32),
    data_dependent=True,
)
case("LinSpace", "LinSpace", c(1, np.float32), c(2, np.float32), c(5))
case("EnsureShape", "EnsureShape", f(2, 3), shape=[None, 3])
case("Slice", "Slice", f(4, 5), c([1, 2]), c([2, -1]))
x345 = f(3, 4, 5)
for name, begin, end, strides, masks in (
    ("plain", [0, 1, 2], [2, 4, 5], [1, 2, 1], {}),
    ("negative", [-1, 3, -2], [-4, 0, -5], [-1, -2, -1], {}),
    ("masks", [1, 1, 1], [2, 2, 2], [1, 1, 2], {"begin_mask": 5, "end_mask": 2}),
    ("shrink", [1, 0, -1], [2, 4, 0], [1, 1, 1], {"shrink_axis_mask": 5}),
    ("new_axis", [0, 1, 0], [3, 3, 0], [1, 1, 1], {"new_axis_mask": 4}),
    ("ellipsis", [1, 0, 2], [2, 0, 4], [1, 1, 1], {"ellipsis_mask": 2, "shrink_axis_mask": 1}),
    ("ellipsis_new", [0, 0, 2], [0, 0, 4], [1, 1, 1], {"ellipsis_mask": 2, "new_axis_mask": 1}),
    ("short", [1], [3], [1], {}),
    ("empty", [2, 0], [1, 4], [1, 1], {}),
    ("beyond", [-9, 2], [9, 99], [2, 1], {}),
):
    case(f"StridedSlice/{name}", "StridedSlice", x345, c(begin), c(end), c(strides), **masks)
case("StridedSliceGrad", "StridedSliceGrad", c([3, 4]), c([0, 1]), c([3, 4]), c([2, 2]), f(2, 2))
case(
    "TensorStridedSliceUpdate",
    "TensorStridedSliceUpdate",
    f(3, 4),
    c([0, 1]),
    c([3, 4]),
    c([2, 2]),
    f(2, 2),
)
case("Pad", "Pad", f(2, 3), c([[1, 0], [2, 1]]))
case("PadV2", "PadV2", f(2, 3), c([[1, 0], [2, 1]]), c(7, np.float32))
for mode in ("REFLECT", "SYMMETRIC"):
    case(f"MirrorPad/{mode}", "MirrorPad", f(3, 4), c([[1, 2], [2, 0]]), mode=mode)
    case(
        f"MirrorPadGrad/{mode}", "MirrorPadGrad", f(6, 6), c([[1, 2], [2, 0]]), mode=mode, rtol=5e-6
    )
case("Gather", "Gather", f(4, 3), c([[0, 3], [2, 2]]))
case("GatherV2/axis", "GatherV2", f(4, 3, 2), c([[0, 2], [1, 1]]), c(1))
case("GatherV2/batch", "GatherV2", f(2, 3, 4), c([[0, 2], [1, 1]]), c(1), batch_dims=1)
case("GatherV2/batch_axis", "GatherV2", f(2, 3, 4), c([[0, 2, 1], [1, 1, 3]]), c(2), batch_dims=1)
case("GatherNd", "GatherNd", f(4, 3, 2), c([[0, 2], [3, 1]]))
case("GatherNd/slices", "GatherNd", f(4, 3, 2), c([[[3]], [[0]]]))
case("ScatterNd", "ScatterNd", c([[1], [3], [1]]), f(3, 2), c([5, 2]))
for name in ("Update", "Add", "Sub", "Max", "Min"):
    case(f"TensorScatter{name}", f"TensorScatter{name}", f(5, 2), c([[1], [3]]), f(2, 2))
case("OneHot", "OneHot", c([0, 2, -1, 5]), c(4), c(2.5, np.float32), c(-1, np.float32))
case("OneHot/axis", "OneHot", c([[0, 2], [1, 3]]), c(4), c(1), c(0), axis=0)
case("Where", "Where", b(3, 4), data_dependent=True)
case("Where/f32", "Where", part(f(3, 4)), data_dependent=True)
case("Unique", "Unique", c([4, 1, 4, 2, 1]), data_dependent=True)
case("UniqueV2", "UniqueV2", c([[1, 2], [0, 3], [1, 2]]), c([0]), data_dependent=True)
case("TopKV2", "TopKV2", i(3, 8, low=0, high=5), c(3))
case("TopKV2/f32", "TopKV2", f(3, 8), c(8))
case(
    "DynamicPartition",
    "DynamicPartition",
    f(5, 2),
    c([1, 0, 1, 2, 0]),
    num_partitions=4,
    data_dependent=True,
)
case(
    "DynamicStitch",
    "DynamicStitch",
    [c([0, 3]), c([2, 1])],
    [f(2, 2), f(2, 2)],
    data_dependent=True,
)
case("SparseToDense", "SparseToDense", c([[0, 1], [2, 0]]), c([3, 2]), f(2), c(9, np.float32))
case("UnravelIndex", "UnravelIndex", c([5, 7, 0]), c([3, 4]), data_dependent=True)
case("SpaceToBatchND", "SpaceToBatchND", f(2, 4, 5, 3), c([2, 3]), c([[0, 0], [1, 0]]))
case("BatchToSpaceND", "BatchToSpaceND", f(12, 2, 2, 3), c([2, 3]), c([[0, 1], [1, 0]]))
case("SpaceToBatch", "SpaceToBatch", f(2, 4, 5, 3), c([[0, 0], [1, 0]]), block_size=2)
case("BatchToSpace", "BatchToSpace", f(8, 2, 3, 3), c([[0, 0], [1, 0]]), block_size=2)
case("SpaceToDepth", "SpaceToDepth", f(2, 4, 6, 3), block_size=2)
case("DepthToSpace", "DepthToSpace", f(2, 2, 3, 12), block_size=2)
case("MatrixBandPart", "MatrixBandPart", f(2, 4, 5), c(1, np.int64), c(-1, np.int64))
case("MatrixDiag", "MatrixDiag", f(2, 3))
case("MatrixDiagPart", "MatrixDiagPart", f(2, 3, 4))
case("MatrixSetDiag", "MatrixSetDiag", f(2, 3, 4), f(2, 3))
case("Diag", "Diag", f(2, 3))
case("DiagPart", "DiagPart", f(2, 3, 2, 3))
for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
    case(
        f"MatrixDiagPartV3/{align}",
        "MatrixDiagPartV3",
        f(2, 4, 5),
        c([-2, 3]),
        c(7, np.float32),
        align=align,
    )
    case(
        f"MatrixDiagV3/{align}",
        "MatrixDiagV3",
        f(2, 3, 4),
        c([-1, 1]),
        c(-1),
        c(-1),
        c(9, np.float32),
        align=align,
    )
    case(
        f"MatrixSetDiagV3/{align}",
        "MatrixSetDiagV3",
        f(2, 4, 5),
        f(2, 3, 4),
        c([-1, 1]),
        align=align,
    )
case("MatrixDiagV3/single", "MatrixDiagV3", f(2, 3), c(1), c(-1), c(-1), c(0, np.float32))
case("MatrixDiagPartV2", "MatrixDiagPartV2", f(3, 4), c(-1), c(0, np.float32))
case("Reverse/flags", "Reverse", f(2, 3), c([True, False], bool))
case("MatrixDiagV2", "MatrixDiagV2", f(2, 3), c(-1), c(4), c(4), c(9, np.float32))
case("MatrixSetDiagV2", "MatrixSetDiagV2", f(2, 4, 5), f(2, 4), c(1))
case("Identity", "Identity", f(2, 3))
case("IdentityN", "IdentityN", [f(2, 3), i(2)])
case("StopGradient", "StopGradient", f(2, 3))
case("PreventGradient", "PreventGradient", f(2, 3))
case(
    "ParallelDynamicStitch",
    "ParallelDynamicStitch",
    [c([0, 3]), c([2, 1])],
    [f(2, 2), f(2, 2)],
    data_dependent=True,
)
case("ListDiff", "ListDiff", c([5, 1, 7, 1, 2]), c([1, 9]), data_dependent=True)
case("StringJoin", "StringJoin", [c([b"a", b"bc"], object), c(b"-", object)], separator="/")
case("ShardedFilename", "ShardedFilename", c(b"m/x", object), c(3), c(12))
