"""Cases of test_derivatives.py: what is differentiated, by ops, and where."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flatlite.graph.core.build import ops

I32 = np.int32


@dataclass
class Case:
    """`function` makes a tensor, or a list of them, of tensors that stand for `inputs`."""

    id: str
    function: Callable
    inputs: list
    shapes_known: bool = False

    def arrays(self) -> list[np.ndarray]:
        """The inputs, the same at every run."""
        rng = np.random.RandomState(zlib.crc32(self.id.encode()))
        return [make(rng) for make in self.inputs]


CASES: list[Case] = []


def case(id, function, *inputs, shapes_known=False):
    CASES.append(Case(id, function, list(inputs), shapes_known))


def f(*shape, low=-2.0, high=2.0):
    """Numbers of which no two are close to one another, nor one to 0 or 1."""

    def make(rng):
        n = int(np.prod(shape))
        steps = (np.arange(n) + 0.5 + rng.uniform(-0.2, 0.2, n)) / n
        values = low + (high - low) * rng.permutation(steps)
        return np.where(np.abs(values) < 1e-3, 0.01, values).reshape(shape)

    return make


def positive(*shape):
    return f(*shape, low=0.3, high=3.0)


def c(value, dtype=I32):
    return np.array(value, dtype)


DOMAINS = {
    "Acos": f(3, 4, low=-0.9, high=0.9),
    "Acosh": f(3, 4, low=1.2, high=3),
    "Asin": f(3, 4, low=-0.9, high=0.9),
    "Atanh": f(3, 4, low=-0.9, high=0.9),
    "Erfinv": f(3, 4, low=-0.9, high=0.9),
    "Lgamma": positive(3, 4),
    "Log": positive(3, 4),
    "Log1p": positive(3, 4),
    "Ndtri": f(3, 4, low=0.1, high=0.9),
    "Rsqrt": positive(3, 4),
    "Sqrt": positive(3, 4),
    "Tan": f(3, 4, low=-1, high=1),
}
for _name in [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Erfc",
    "Erfinv",
    "Exp",
    "Expm1",
    "Inv",
    "L2Loss",
    "Lgamma",
    "Log",
    "Log1p",
    "LogSoftmax",
    "Ndtri",
    "Neg",
    "Reciprocal",
    "Relu",
    "Relu6",
    "Rsqrt",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Square",
    "Tan",
    "Tanh",
]:
    case(_name, getattr(ops, _name), DOMAINS.get(_name, f(3, 4)))
for _name in ["EluGrad", "ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad"]:
    if _name != "EluGrad":
        case(_name, getattr(ops, _name), f(3, 4), f(3, 4))
for _name in ["ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"]:
    case(_name, getattr(ops, _name), positive(3, 4), f(3, 4))
case("LeakyRelu", lambda x: ops.LeakyRelu(x, alpha=0.3), f(3, 4))

for _name in [
    "Add",
    "AddV2",
    "Atan2",
    "Div",
    "DivNoNan",
    "Maximum",
    "Minimum",
    "Mul",
    "MulNoNan",
    "RealDiv",
    "SquaredDifference",
    "Sub",
    "Xdivy",
    "Xlog1py",
    "Xlogy",
]:
    _second = positive if _name.startswith("X") else f
    case(f"{_name}/same", getattr(ops, _name), f(3, 4), _second(3, 4))
    case(f"{_name}/row", getattr(ops, _name), f(3, 4), _second(4))
    case(f"{_name}/both", getattr(ops, _name), f(2, 1, 4), _second(3, 1))
case("Pow/same", ops.Pow, positive(3, 4), f(3, 4))
case("Pow/scalar", ops.Pow, positive(3, 4), f())
case("FloorMod", lambda x: ops.FloorMod(x, c(0.7, float)), f(3, 4))
case("Mod", lambda x: ops.Mod(x, c(0.7, float)), f(3, 4))
case(
    "Complex",
    lambda x, y: ops.ComplexAbs(ops.Complex(x, y, Tout=np.dtype("c16")), Tout=x.dtype),
    f(3, 4),
    f(4),
)
case("AddN", lambda x, y: ops.AddN([x, y, x]), f(3, 4), f(3, 4))
case(
    "Select",
    lambda x, y: ops.Select(c([[True, False], [False, True]], bool), x, y),
    f(2, 2),
    f(2, 2),
)
case("Select/rows", lambda x, y: ops.Select(c([True, False], bool), x, y), f(2, 3), f(2, 3))
case(
    "SelectV2",
    lambda x, y: ops.SelectV2(c([[True, False], [False, True]], bool), x, y),
    f(2, 2),
    f(1, 2),
)
case("SelectV2/wide", lambda x, y: ops.SelectV2(c([[True], [False]], bool), x, y), f(3), f(2, 1))
case(
    "ClipByValue",
    lambda x, a, b: ops.ClipByValue(x, a, b),
    f(3, 4),
    lambda rng: np.array(-1.01),
    lambda rng: np.array(0.51),
)
case("Cast", lambda x: ops.Cast(x, DstT=np.dtype("c16")), f(3, 4))
case("CheckNumerics", lambda x: ops.CheckNumerics(x, message="x"), f(3))
case("Print", lambda x: ops.Print(x, [x]), f(3))


def _complex(x):
    return ops.Complex(x, x * x, Tout=np.dtype("c16"))


for _name in ["Angle", "Conj", "ComplexAbs", "Imag", "Real"]:
    case(
        f"complex/{_name}",
        lambda x, _name=_name: (
            getattr(ops, _name)(_complex(x))
            if _name == "Conj"
            else getattr(ops, _name)(_complex(x), Tout=x.dtype)
        ),
        positive(3, 4),
    )
for _name in [
    "Cos",
    "Exp",
    "Log",
    "Reciprocal",
    "Sin",
    "Square",
    "Sqrt",
    "Tanh",
    "Sigmoid",
    "Rsqrt",
]:
    case(
        f"complex/{_name}", lambda x, _name=_name: getattr(ops, _name)(_complex(x)), positive(3, 2)
    )
for _name in ["Mul", "RealDiv", "Sub", "Pow"]:
    case(
        f"complex/{_name}",
        lambda x, y, _name=_name: getattr(ops, _name)(_complex(x), _complex(y)),
        positive(3, 2),
        positive(2),
    )
case("complex/FFT", lambda x: ops.FFT(_complex(x)), f(2, 4))
case("complex/IFFT", lambda x: ops.IFFT(_complex(x)), f(2, 4))
case("complex/FFT2D", lambda x: ops.FFT2D(_complex(x)), f(3, 4))
case("complex/IFFT2D", lambda x: ops.IFFT2D(_complex(x)), f(3, 4))

for _a in (False, True):
    for _b in (False, True):

        def _matmul(x, y, _a=_a, _b=_b):
            return ops.MatMul(x, y, transpose_a=_a, transpose_b=_b)

        def _batch(x, y, _a=_a, _b=_b):
            return ops.BatchMatMulV2(x, y, adj_x=_a, adj_y=_b)

        _x, _y = (4, 3) if _a else (3, 4), (2, 4) if _b else (4, 2)
        case(f"MatMul/{_a:d}{_b:d}", _matmul, f(*_x), f(*_y))
        case(f"BatchMatMulV2/{_a:d}{_b:d}", _batch, f(2, *_x), f(2, *_y))
        case(f"BatchMatMulV2/wide{_a:d}{_b:d}", _batch, f(2, 1, *_x), f(3, *_y))
case("BatchMatMul", ops.BatchMatMul, f(2, 3, 4), f(2, 4, 2))
case("BatchMatMulV3", lambda x, y: ops.BatchMatMulV3(x, y, Tout=x.dtype), f(2, 3, 4), f(4, 2))


def _sound(x):
    """A symmetric matrix, well away from singular."""
    return ops.BatchMatMulV2(x, x, adj_y=True) + c(np.eye(3) * 2, float)


case("MatrixInverse", lambda x: ops.MatrixInverse(_sound(x)), f(2, 3, 3))
case("MatrixDeterminant", lambda x: ops.MatrixDeterminant(_sound(x)), f(2, 3, 3))
case("MatrixSolve", lambda x, y: ops.MatrixSolve(_sound(x), y), f(3, 3), f(3, 2))
case(
    "MatrixSolve/adjoint",
    lambda x, y: ops.MatrixSolve(_sound(x), y, adjoint=True),
    f(3, 3),
    f(3, 2),
)
case("Cholesky", lambda x: ops.Cholesky(_sound(x)), f(2, 3, 3))

case("BiasAdd", ops.BiasAdd, f(2, 3, 4), f(4))
case("BiasAdd/first", lambda x, b: ops.BiasAdd(x, b, data_format="NCHW"), f(2, 3, 2, 2), f(3))
case("BiasAddV1", ops.BiasAddV1, f(3, 4), f(4))

_conv = {"strides": [1, 2, 1, 1], "padding": "SAME"}
_dilated = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}
_explicit = {
    "strides": [1, 2, 2, 1],
    "padding": "EXPLICIT",
    "explicit_paddings": [0, 0, 1, 0, 0, 2, 0, 0],
}
for _name, _attrs in (("same", _conv), ("dilated", _dilated), ("explicit", _explicit)):
    case(
        f"Conv2D/{_name}",
        lambda x, w, _attrs=_attrs: ops.Conv2D(x, w, **_attrs),
        f(2, 6, 5, 2),
        f(3, 2, 2, 3),
    )
case("Conv2D/groups", lambda x, w: ops.Conv2D(x, w, **_conv), f(1, 4, 4, 4), f(2, 2, 2, 4))
case(
    "Conv2D/first",
    lambda x, w: ops.Conv2D(x, w, strides=[1, 1, 2, 1], padding="SAME", data_format="NCHW"),
    f(1, 2, 5, 4),
    f(2, 2, 2, 3),
)
case(
    "Conv2DBackpropInput",
    lambda w, dy: ops.Conv2DBackpropInput(c([2, 6, 5, 2]), w, dy, **_conv),
    f(3, 2, 2, 3),
    f(2, 3, 5, 3),
)
case(
    "Conv2DBackpropFilter",
    lambda x, dy: ops.Conv2DBackpropFilter(x, c([3, 2, 2, 3]), dy, **_conv),
    f(2, 6, 5, 2),
    f(2, 3, 5, 3),
)
_depth = {"strides": [1, 2, 2, 1], "padding": "SAME"}
case(
    "DepthwiseConv2dNative",
    lambda x, w: ops.DepthwiseConv2dNative(x, w, **_depth),
    f(2, 5, 4, 2),
    f(3, 2, 2, 2),
)
case(
    "DepthwiseConv2dNative/dilated",
    lambda x, w: ops.DepthwiseConv2dNative(x, w, **_dilated),
    f(1, 6, 4, 2),
    f(2, 2, 2, 1),
)
case(
    "DepthwiseConv2dNativeBackpropInput",
    lambda w, dy: ops.DepthwiseConv2dNativeBackpropInput(c([2, 5, 4, 2]), w, dy, **_depth),
    f(3, 2, 2, 2),
    f(2, 3, 2, 4),
)
case(
    "DepthwiseConv2dNativeBackpropFilter",
    lambda x, dy: ops.DepthwiseConv2dNativeBackpropFilter(x, c([3, 2, 2, 2]), dy, **_depth),
    f(2, 5, 4, 2),
    f(2, 3, 2, 4),
)
case(
    "Conv3D",
    lambda x, w: ops.Conv3D(x, w, strides=[1, 1, 2, 1, 1], padding="SAME"),
    f(1, 3, 3, 2, 2),
    f(2, 2, 1, 2, 2),
)

for _padding in ("SAME", "VALID"):
    _pool = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": _padding}
    case(f"MaxPool/{_padding}", lambda x, _pool=_pool: ops.MaxPool(x, **_pool), f(2, 5, 4, 2))
    case(f"AvgPool/{_padding}", lambda x, _pool=_pool: ops.AvgPool(x, **_pool), f(2, 5, 4, 2))
case(
    "AvgPoolGrad",
    lambda dy: ops.AvgPoolGrad(
        c([2, 5, 4, 2]), dy, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="VALID"
    ),
    f(2, 2, 3, 2),
)

for _name in ["Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"]:
    case(f"{_name}/axis", lambda x, _name=_name: getattr(ops, _name)(x, c([-1])), f(3, 4))
    case(
        f"{_name}/keep",
        lambda x, _name=_name: getattr(ops, _name)(x, c([0, 2]), keep_dims=True),
        f(3, 2, 2),
    )
    case(f"{_name}/all", lambda x, _name=_name: getattr(ops, _name)(x, c([0, 1])), f(3, 4))
case("Prod/zero", lambda x: ops.Prod(x, c([1])), lambda rng: c([[0, 2, 3], [0, 0, 4.0]], float))
for _name in ["Cumsum", "Cumprod"]:
    for _flags in ((False, False), (True, False), (False, True), (True, True)):
        case(
            f"{_name}/{_flags[0]:d}{_flags[1]:d}",
            lambda x, _name=_name, _flags=_flags: getattr(ops, _name)(
                x, c(1), exclusive=_flags[0], reverse=_flags[1]
            ),
            f(3, 4),
        )
for _name in ["SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin"]:
    case(_name, lambda x, _name=_name: getattr(ops, _name)(x, c([0, 0, 2, 2])), f(4, 3))
for _name in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
    taken = (c([3, 0, 0, 1]), c([0, 0, 2, 2]))
    case(_name, lambda x, _name=_name, taken=taken: getattr(ops, _name)(x, *taken), f(4, 3))
    case(
        f"{_name}WithNumSegments",
        lambda x, _name=_name, taken=taken: getattr(ops, f"{_name}WithNumSegments")(
            x, *taken, c(5)
        ),
        f(4, 3),
    )
for _name in ["UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin"]:
    case(_name, lambda x, _name=_name: getattr(ops, _name)(x, c([2, -1, 0, 2, 1]), c(3)), f(5, 3))

case("Reshape", lambda x: ops.Reshape(x, c([2, 6])), f(3, 4))
case("ExpandDims", lambda x: ops.ExpandDims(x, c(1)), f(3, 4))
case("Squeeze", lambda x: ops.Squeeze(x, squeeze_dims=[1]), f(3, 1, 4))
case("Transpose", lambda x: ops.Transpose(x, c([2, 0, 1])), f(2, 3, 4))
case("ConjugateTranspose", lambda x: ops.ConjugateTranspose(_complex(x), c([1, 0])), f(2, 3))
case("Tile", lambda x: ops.Tile(x, c([2, 3])), f(3, 2))
case("BroadcastTo", lambda x: ops.BroadcastTo(x, c([2, 3, 4])), f(3, 1))
case("Reverse", lambda x: ops.Reverse(x, c([True, False], bool)), f(3, 2))
case("ReverseV2", lambda x: ops.ReverseV2(x, c([1])), f(3, 2))
case("ReverseSequence", lambda x: ops.ReverseSequence(x, c([2, 3, 1]), seq_dim=1), f(3, 4))
case("Roll", lambda x: ops.Roll(x, c([1, -2]), c([0, 1])), f(3, 4))

case("ConcatV2", lambda x, y: ops.ConcatV2([x, y], c(-1)), f(3, 4), f(3, 2))
case("Concat", lambda x, y: ops.Concat(c(0), [x, y]), f(3, 2), f(1, 2))
case("Split", lambda x: ops.Split(c(1), x, num_split=2)[0], f(3, 4))
case("Split/both", lambda x: ops.Split(c(1), x, num_split=2), f(3, 4))
case("SplitV", lambda x: ops.SplitV(x, c([1, 3]), c(1), num_split=2), f(3, 4))
case("Pack", lambda x, y: ops.Pack([x, y], axis=1), f(3, 4), f(3, 4))
case("Unpack", lambda x: ops.Unpack(x, num=3, axis=1)[1], f(2, 3))

case("Gather", lambda x: ops.Gather(x, c([2, 0, 2])), f(3, 4))
case("GatherV2", lambda x: ops.GatherV2(x, c([[2, 0], [1, 2]]), c(0)), f(3, 4))
case("GatherV2/axis", lambda x: ops.GatherV2(x, c([2, 0, 2]), c(1)), f(2, 3, 2))
case(
    "GatherV2/batch",
    lambda x: ops.GatherV2(x, c([[1, 0, 1], [2, 2, 0]]), c(2), batch_dims=1),
    f(2, 2, 3, 2),
)
case("GatherNd", lambda x: ops.GatherNd(x, c([[0, 1], [2, 2], [0, 1]])), f(3, 4))
case("ScatterNd", lambda x: ops.ScatterNd(c([[0], [3], [0]]), x, c([5, 2])), f(3, 2))
for _name in ["TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"]:
    case(
        _name, lambda x, y, _name=_name: getattr(ops, _name)(x, c([[0], [3]]), y), f(4, 2), f(2, 2)
    )
case("TopKV2", lambda x: ops.TopKV2(x, c(2))[0], f(3, 4))
case("NthElement", lambda x: ops.NthElement(x, c(2)), f(3, 4))
case("DynamicPartition", lambda x: ops.DynamicPartition(x, c([1, 0, 1]), num_partitions=2), f(3, 2))
for _name in ["DynamicStitch", "ParallelDynamicStitch"]:
    case(
        _name,
        lambda x, y, _name=_name: getattr(ops, _name)([c([0, 3]), c([2, 1])], [x, y]),
        f(2, 2),
        f(2, 2),
    )
case(
    "SparseToDense", lambda v, d: ops.SparseToDense(c([[0, 1], [2, 0]]), c([3, 2]), v, d), f(2), f()
)

case("Slice", lambda x: ops.Slice(x, c([0, 1]), c([2, -1])), f(3, 4))
case(
    "StridedSlice",
    lambda x: ops.StridedSlice(x, c([2, 1]), c([0, 3]), c([-1, 1]), shrink_axis_mask=2),
    f(3, 4),
)
case(
    "StridedSliceGrad",
    lambda dy: ops.StridedSliceGrad(c([3, 4]), c([0, 1]), c([2, 4]), c([1, 2]), dy),
    f(2, 2),
)
case("Pad", lambda x: ops.Pad(x, c([[1, 0], [2, 1]])), f(2, 3))
case("PadV2", lambda x, v: ops.PadV2(x, c([[1, 0], [2, 1]]), v), f(2, 3), f())
for _mode in ("REFLECT", "SYMMETRIC"):
    case(
        f"MirrorPad/{_mode}",
        lambda x, _mode=_mode: ops.MirrorPad(x, c([[1, 1], [0, 2]]), mode=_mode),
        f(3, 3),
    )
    case(
        f"MirrorPadGrad/{_mode}",
        lambda x, _mode=_mode: ops.MirrorPadGrad(x, c([[1, 1], [0, 2]]), mode=_mode),
        f(5, 5),
    )

case("MatrixBandPart", lambda x: ops.MatrixBandPart(x, np.int64(1), np.int64(0)), f(2, 3, 4))
case("Diag", ops.Diag, f(3))
case("DiagPart", ops.DiagPart, f(3, 3))
case("MatrixDiag", ops.MatrixDiag, f(2, 3))
case("MatrixDiagPart", ops.MatrixDiagPart, f(2, 3, 4))
case("MatrixSetDiag", ops.MatrixSetDiag, f(2, 3, 4), f(2, 3))
for _v, _align in (("V2", {}), ("V3", {"align": "RIGHT_LEFT"})):
    case(
        f"MatrixDiag{_v}",
        lambda x, p, _v=_v, _a=_align: getattr(ops, f"MatrixDiag{_v}")(
            x, c([-1, 0]), c(-1), c(-1), p, **_a
        ),
        f(2, 3),
        f(),
    )
    case(
        f"MatrixDiagPart{_v}",
        lambda x, _v=_v, _a=_align: getattr(ops, f"MatrixDiagPart{_v}")(
            x, c([-1, 1]), c(0.0, float), **_a
        ),
        f(3, 4),
    )
    case(
        f"MatrixSetDiag{_v}",
        lambda x, d, _v=_v, _a=_align: getattr(ops, f"MatrixSetDiag{_v}")(x, d, c(1), **_a),
        f(3, 4),
        f(3),
    )

case("SpaceToDepth", lambda x: ops.SpaceToDepth(x, block_size=2), f(1, 4, 2, 3))
case("DepthToSpace", lambda x: ops.DepthToSpace(x, block_size=2), f(1, 2, 1, 8))
case(
    "SpaceToBatchND", lambda x: ops.SpaceToBatchND(x, c([2, 2]), c([[1, 1], [0, 2]])), f(1, 2, 2, 2)
)
case(
    "BatchToSpaceND", lambda x: ops.BatchToSpaceND(x, c([2, 2]), c([[1, 0], [0, 1]])), f(4, 2, 2, 1)
)
case(
    "SpaceToBatch", lambda x: ops.SpaceToBatch(x, c([[1, 1], [0, 2]]), block_size=2), f(1, 2, 2, 2)
)
case(
    "BatchToSpace", lambda x: ops.BatchToSpace(x, c([[1, 0], [0, 1]]), block_size=2), f(4, 2, 2, 1)
)

case("Identity", ops.Identity, f(3))
case("IdentityN", lambda x, y: ops.IdentityN([x, y]), f(3), f(2))
case("EnsureShape", lambda x: ops.EnsureShape(x, shape=(3,)), f(3))
case("PlaceholderWithDefault", lambda x: ops.PlaceholderWithDefault(x, shape=(3,)), f(3))
case("GuaranteeConst", ops.GuaranteeConst, f(3))
case("LinSpace", lambda a, b: ops.LinSpace(a, b, np.int32(5)), f(), f())
case("Fill", lambda v: ops.Fill(c([2, 3]), v), f())

case(
    "SoftmaxCrossEntropyWithLogits",
    lambda x, y: ops.SoftmaxCrossEntropyWithLogits(x, ops.Softmax(y))[0],
    f(3, 4),
    f(3, 4),
)
case(
    "SoftmaxCrossEntropyWithLogits/both",
    lambda x: ops.SoftmaxCrossEntropyWithLogits(x, c(np.eye(4)[:3], float)),
    f(3, 4),
)
case(
    "SparseSoftmaxCrossEntropyWithLogits",
    lambda x: ops.SparseSoftmaxCrossEntropyWithLogits(x, c([3, 0, 1]))[0],
    f(3, 4),
)
for _equation, *_shapes in (
    ("ij,jk->ki", (3, 4), (4, 2)),
    ("bij,bkj->bik", (2, 3, 4), (2, 2, 4)),
    ("ijk->ik", (2, 3, 4)),
    ("i,jk,j->ik", (2,), (3, 4), (3,)),
    ("ij,k->", (2, 3), (2,)),
):
    case(
        f"Einsum/{_equation}",
        lambda *inputs, _equation=_equation: ops.Einsum(list(inputs), equation=_equation),
        *(f(*shape) for shape in _shapes),
    )


DOUBLE = np.dtype(np.float64)
ROW = I32([3])


def _stacked(list_of_rows):
    return ops.TensorListStack(list_of_rows, ROW, element_dtype=DOUBLE)


def _row(list_of_rows, index):
    return ops.TensorListGetItem(list_of_rows, I32(index), ROW, element_dtype=DOUBLE)


def _set_and_push(x, y):
    rows = ops.TensorListSetItem(ops.TensorListFromTensor(x, ROW), I32(1), y * y)
    rows, last = ops.TensorListPopBack(ops.TensorListPushBack(rows, y), ROW, element_dtype=DOUBLE)
    return [_stacked(rows) * 2.0, last * last, _row(rows, 1) * _row(rows, 0)]


def _scattered(x, y):
    rows = ops.TensorListScatterV2(x, I32([2, 0]), ROW, I32(3))
    rows = ops.TensorListScatterIntoExistingList(rows, y, I32([1, 0]))
    rows = ops.TensorListResize(rows, I32(4))
    picked = ops.TensorListGather(rows, I32([1, 2, 1]), ROW, element_dtype=DOUBLE)
    return [picked * picked, _row(rows, 0)]


def _split(x):
    parts = ops.TensorListSplit(x, I32([-1, 3]), np.int64([1, 3]))
    joined, _ = ops.TensorListConcatV2(
        parts, I32([-1, 3]), np.zeros(0, np.int64), element_dtype=DOUBLE
    )
    return joined * joined


case("TensorListSetItem", _set_and_push, f(2, 3), f(3))
case("TensorListScatterV2", _scattered, f(2, 3), f(2, 3))
case("TensorListSplit", _split, f(4, 3))


case(
    "ResizeNearestNeighbor",
    lambda x: ops.ResizeNearestNeighbor(x, I32([5, 3]), half_pixel_centers=True),
    f(2, 3, 4, 2),
)
case("LRN", lambda x: ops.LRN(x, depth_radius=2, alpha=0.3, beta=0.6), f(1, 2, 2, 7))
case(
    "UnsortedSegmentProd",
    lambda x: ops.UnsortedSegmentProd(x, I32([0, 2, 0, 0]), I32(3)),
    positive(4, 2),
)
case(
    "TensorStridedSliceUpdate",
    lambda x, y: ops.TensorStridedSliceUpdate(x, I32([0, 1]), I32([2, 4]), I32([1, 2]), y),
    f(3, 4),
    f(2, 2),
)
case(
    "Conv3DBackpropInputV2",
    lambda w, x: ops.Conv3DBackpropInputV2(
        I32([1, 3, 4, 3, 2]), w, x, strides=[1, 2, 1, 1, 1], padding="SAME"
    ),
    f(2, 2, 2, 2, 3),
    f(1, 2, 4, 3, 3),
)


def _part_of(x, start):
    begin = ops.Pack([ops.Cast(start, DstT=np.dtype(I32)), I32(1)], axis=0)
    return ops.Slice(x, begin, I32([2, 2]))


case("Slice/known in part", lambda x: _part_of(x, ops.Sum(ops.ZerosLike(x), I32([0, 1]))), f(3, 4))

for _length in ([5, 6], [4, 7], [3, 4]):
    case(
        f"RFFT2D/{_length}",
        lambda x, _n=_length: ops.RFFT2D(x, I32(_n), Tcomplex=np.complex128),
        f(2, 5, 7),
    )
case("RFFT", lambda x: ops.RFFT(x, I32([6]), Tcomplex=np.complex128), f(2, 7))
