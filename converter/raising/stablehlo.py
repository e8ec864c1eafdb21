"""StableHLO's operators that TensorFlow's operations say."""

import numpy as np

from ...graph.core.build import ops
from .registry import raise_rows, raises

raise_rows("""
STABLEHLO_ABS Abs
STABLEHLO_ADD AddV2
STABLEHLO_COSINE Cos
STABLEHLO_EXPONENTIAL Exp
STABLEHLO_FLOOR Floor
STABLEHLO_LOG Log
STABLEHLO_LOGISTIC Sigmoid
STABLEHLO_MAXIMUM Maximum
STABLEHLO_MINIMUM Minimum
STABLEHLO_MULTIPLY Mul
STABLEHLO_NEGATE Neg
STABLEHLO_POWER Pow
STABLEHLO_RSQRT Rsqrt
STABLEHLO_SELECT SelectV2
STABLEHLO_SUBTRACT Sub
STABLEHLO_TANH Tanh
""")

COMPARISONS = {
    "STABLEHLO_COMPARISON_DIRECTION_EQ": ops.Equal,
    "STABLEHLO_COMPARISON_DIRECTION_NE": ops.NotEqual,
    "STABLEHLO_COMPARISON_DIRECTION_GE": ops.GreaterEqual,
    "STABLEHLO_COMPARISON_DIRECTION_GT": ops.Greater,
    "STABLEHLO_COMPARISON_DIRECTION_LE": ops.LessEqual,
    "STABLEHLO_COMPARISON_DIRECTION_LT": ops.Less,
}


@raises("STABLEHLO_AND", "STABLEHLO_OR")
def logic(node, x, y):
    """Of booleans, or of the bits of integers."""
    is_and = node.kind == "STABLEHLO_AND"
    if x.dtype == np.bool_:
        return ops.LogicalAnd(x, y) if is_and else ops.LogicalOr(x, y)
    return ops.BitwiseAnd(x, y) if is_and else ops.BitwiseOr(x, y)


@raises("STABLEHLO_COMPARE")
def compare(node, x, y):
    """A comparison."""
    name = node.option("StablehloComparisonDirection", "comparison_direction")
    return COMPARISONS[name](x, y)


@raises("STABLEHLO_DIVIDE")
def divide(node, x, y):
    """A quotient; of integers without its fraction."""
    return ops.RealDiv(x, y) if x.dtype.kind in "fc" else ops.Div(x, y)


@raises("STABLEHLO_REMAINDER")
def remainder(node, x, y):
    """The remainder with the sign of x."""
    return ops.TruncateMod(x, y)


@raises("STABLEHLO_CONVERT")
def convert(node, x):
    """Another type."""
    return ops.Cast(x, DstT=node.result_dtype())


@raises("STABLEHLO_CLAMP")
def clamp(node, low, x, high):
    """`x` within two limits."""
    return ops.Minimum(ops.Maximum(x, low), high)


@raises("STABLEHLO_CONCATENATE")
def concatenate(node, *parts):
    """The operands one after another."""
    if len(parts) == 1:
        return ops.Identity(parts[0])
    return ops.ConcatV2(parts, np.int32(node.options.dimension))


@raises("STABLEHLO_TRANSPOSE")
def transpose(node, x):
    """Axes in another order."""
    return ops.Transpose(x, np.asarray(node.options.permutation, np.int32))


@raises("STABLEHLO_RESHAPE")
def reshape(node, x):
    """The same elements in the shape of the result."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    return ops.Reshape(x, np.array(tensor.shape, np.int32))


@raises("STABLEHLO_SLICE")
def slice_(node, x):
    """Every n-th element between two limits."""
    options = node.options
    names = ("start_indices", "limit_indices", "strides")
    return ops.StridedSlice(x, *(np.asarray(getattr(options, name), np.int32) for name in names))


@raises("STABLEHLO_IOTA")
def iota(node):
    """Numbers that count along an axis."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    axis, shape = int(node.options.iota_dimension), tensor.shape
    line = np.arange(shape[axis]).astype(tensor.dtype)
    line = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return ops.Identity(np.ascontiguousarray(np.broadcast_to(line, shape)))


@raises("STABLEHLO_BROADCAST_IN_DIM")
def broadcast_in_dim(node, x):
    """`x` repeated along new axes, and along those of 1."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    axes = [int(axis) for axis in node.options.broadcast_dimensions]
    shape = [1] * len(tensor.shape)
    for axis, n in zip(axes, node.sizes(0), strict=True):
        shape[axis] = n
    return ops.BroadcastTo(
        ops.Reshape(x, np.array(shape, np.int32)), np.array(tensor.shape, np.int32)
    )
