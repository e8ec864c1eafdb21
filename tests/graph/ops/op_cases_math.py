"""Element-wise ops and reductions."""

import numpy as np
from op_cases import b, c, case, f, i, part, z

# Element-wise.
for name in [
    "Abs",
    "Atan",
    "Ceil",
    "Cos",
    "Elu",
    "Erf",
    "Erfc",
    "Exp",
    "Expm1",
    "Floor",
    "Neg",
    "Relu",
    "Relu6",
    "Rint",
    "Round",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Cosh",
    "Softplus",
    "Softsign",
    "Square",
    "Tan",
    "Tanh",
    "Asinh",
    "Reciprocal",
    "Inv",
]:
    case(f"{name}/f32", name, f(3, 5), rtol=4e-6)
for name in ("Log", "Log1p", "Rsqrt", "Sqrt", "Lgamma", "Digamma"):
    case(f"{name}/f32", name, f(3, 5, low=0.1), rtol=1e-5)
for name in ("Acos", "Asin", "Atanh", "Erfinv"):
    case(f"{name}/f32", name, f(3, 5, low=-0.95, high=0.95), rtol=1e-5)
case("Ndtri/f32", "Ndtri", f(3, 5, low=0.05, high=0.95), rtol=1e-5)
case("Acosh/f32", "Acosh", f(3, 5, low=1.1, high=9), rtol=4e-6)
for name in ("Abs", "Neg", "Sign", "Square"):
    case(f"{name}/i32", name, i(3, 5))
for name in ("Abs", "Exp", "Neg", "Sqrt", "Sigmoid"):
    case(f"{name}/f16", name, f(3, 5, low=0.5, dtype=np.float16), rtol=2e-3)
    case(f"{name}/f64", name, f(3, 5, low=0.5, dtype=np.float64), rtol=1e-12)
special = c([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 2.5, -2.5], np.float32)
for name in ("IsFinite", "IsInf", "IsNan", "Round", "Rint", "Relu", "Relu6", "Sign", "Sigmoid"):
    case(f"{name}/special", name, special)
case("Invert/u8", "Invert", i(7, low=0, high=256, dtype=np.uint8))
case("LogicalNot", "LogicalNot", b(3, 2))
for name in ("Real", "Imag", "ComplexAbs", "Angle"):
    case(f"{name}/c64", name, z(2, 3), rtol=1e-5, Tout=np.float32)
for name in ("Conj", "Neg", "Exp", "Square"):
    case(f"{name}/c64", name, z(2, 3), rtol=1e-5)
for name in [
    "AddV2",
    "Sub",
    "Mul",
    "RealDiv",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Atan2",
    "FloorDiv",
    "FloorMod",
    "Greater",
    "GreaterEqual",
    "Less",
    "LessEqual",
    "Div",
    "TruncateDiv",
    "TruncateMod",
]:
    if name != "TruncateMod":
        case(f"{name}/broadcast", name, f(4, 1, 3), f(2, 1), rtol=5e-6)
    if name not in ("RealDiv", "Atan2"):
        case(f"{name}/i32", name, i(4, 1, 3, low=-9, high=9), c([[3], [-2]]))
for name in ("Equal", "NotEqual"):
    case(f"{name}/f32", name, c([1, 2, np.nan], np.float32), c([1, 3, np.nan], np.float32))
    case(f"{name}/shapes", name, i(2, 3), i(4), incompatible_shape_error=False)
    case(f"{name}/string", name, c([b"a", b"b"], object), c([b"a", b"c"], object))
case("Pow/f32", "Pow", f(3, 4, low=0.1), f(4), rtol=5e-6)
case("Pow/i32", "Pow", i(3, 4), i(4, low=0, high=5))
for name in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"):
    case(f"{name}/zeros", name, part(f(3, 4, low=0.1)), part(f(4, low=0.1)), rtol=5e-6)
for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"):
    case(f"{name}/i32", name, i(3, 4, low=0, high=99), i(4, low=0, high=9))
case("RightShift/negative", "RightShift", i(6, low=-99), i(6, low=0, high=9))
for name in ("LogicalAnd", "LogicalOr"):
    case(name, name, b(3, 1), b(4))
case("Complex", "Complex", f(3), f(3), Tout=np.complex64)
case("NextAfter", "NextAfter", f(4), f(4))
case("AddV2/string", "Add", c([b"a", b"b"], object), c(b"x", object))
case("AddN", "AddN", [f(2, 3), f(2, 3), f(2, 3)])
case("ClipByValue", "ClipByValue", f(3, 4), c(-1, np.float32), c(1, np.float32))
case("Select/same", "Select", b(3, 4), f(3, 4), f(3, 4))
case("Select/rows", "Select", b(3), f(3, 4), f(3, 4))
case("Select/scalar", "Select", c(True, bool), f(3, 4), f(3, 4))
case("SelectV2/broadcast", "SelectV2", b(3, 1), f(4), f(2, 1, 1))
for source, target in (
    ("float32", "int32"),
    ("float32", "bool"),
    ("int32", "float32"),
    ("bool", "float32"),
    ("int64", "int8"),
    ("float64", "float16"),
    ("float32", "uint8"),
    ("uint8", "int64"),
):
    low = 0 if target == "uint8" else -4
    case(
        f"Cast/{source}_{target}",
        "Cast",
        f(9, low=low, high=4, dtype=source),
        DstT=np.dtype(target).type,
    )
case("Bitcast/f32_i32", "Bitcast", f(3, 2), type=np.int32)
case("Bitcast/f32_u8", "Bitcast", f(3, 2), type=np.uint8)
case("Bitcast/u8_i32", "Bitcast", i(3, 4, low=0, dtype=np.uint8), type=np.int32)
case("LeakyRelu", "LeakyRelu", f(3, 4), alpha=0.3)
for name in ("TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "InvGrad"):
    case(name, name, f(5, low=0.2, high=0.9), f(5), rtol=1e-5)
for name in ("ReluGrad", "Relu6Grad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"):
    case(name, name, f(9), f(9, low=-1, high=7 if name == "Relu6Grad" else 3), rtol=1e-5)
case("LeakyReluGrad", "LeakyReluGrad", f(9), f(9), alpha=0.3)

# Reductions.
for name in ("Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm"):
    case(f"{name}/axis", name, f(2, 3, 4), c([1]), rtol=5e-6)
    case(f"{name}/keep", name, f(2, 3, 4), c([-1, 0]), keep_dims=True, rtol=5e-6)
    case(f"{name}/all", name, f(2, 3, 4), c([0, 1, 2]), rtol=5e-6)
    case(f"{name}/scalar_axis", name, f(2, 3), c(1, np.int64), rtol=5e-6)
    case(f"{name}/none", name, f(2, 3), c([]), rtol=5e-6)
for name in ("Sum", "Mean", "Max", "Min", "Prod"):
    case(f"{name}/i32", name, i(4, 5), c([1]))
    case(f"{name}/empty", name, f(3, 0), c([1]))
for name in ("All", "Any"):
    case(name, name, b(3, 3), c([1]))
case("Sum/long", "Sum", f(1, 200000, low=0), c([1]), rtol=1e-5)
for name in ("ArgMax", "ArgMin"):
    case(f"{name}/axis", name, i(4, 6, low=0, high=4), c(1), output_type=np.int32)
    case(f"{name}/negative", name, f(4, 6), c(-2))
for name in ("Cumsum", "Cumprod"):
    case(f"{name}/plain", name, f(3, 4), c(1), rtol=5e-6)
    case(f"{name}/exclusive", name, f(3, 4), c(0), exclusive=True, rtol=5e-6)
    case(f"{name}/reverse", name, f(3, 4), c(-1), reverse=True, rtol=5e-6)
    case(f"{name}/both", name, i(3, 4), c(1), reverse=True, exclusive=True)
for name in ("Sum", "Mean", "Prod", "Min", "Max"):
    ids = c([0, 0, 2, 2, 3])
    case(f"Segment{name}", f"Segment{name}", f(5, 2), ids, rtol=5e-6, data_dependent=True)
for name in ("Sum", "Prod", "Min", "Max"):
    case(
        f"UnsortedSegment{name}",
        f"UnsortedSegment{name}",
        f(5, 2),
        c([3, 0, -1, 3, 1]),
        c(5),
        rtol=5e-6,
    )
case(
    "UnsortedSegmentSum/2d",
    "UnsortedSegmentSum",
    f(2, 3, 2),
    i(2, 3, low=0, high=4),
    c(4),
    rtol=5e-6,
)
for name in ("Sum", "Mean", "SqrtN"):
    case(
        f"SparseSegment{name}",
        f"SparseSegment{name}",
        f(6, 2),
        c([5, 0, 1, 1]),
        c([0, 0, 2, 2]),
        rtol=5e-6,
    )
case("Mod/i32", "Mod", i(3, 4), c([3, -2, 5, -4]))
case("ReciprocalGrad", "ReciprocalGrad", f(5), f(5), rtol=1e-5)
case("Bucketize", "Bucketize", f(3, 4), boundaries=[-1.0, 0.0, 2.0])
for name in ("Sum", "Mean", "SqrtN"):
    kind = f"SparseSegment{name}WithNumSegments"
    case(kind, kind, f(6, 2), c([5, 0, 1, 1]), c([0, 0, 2, 2]), c(4), rtol=5e-6)
for _name in ("ReciprocalGrad", "RsqrtGrad", "SigmoidGrad", "SqrtGrad", "TanhGrad"):
    case(f"{_name}/complex", _name, z(2, 3), z(2, 3), rtol=1e-5)
