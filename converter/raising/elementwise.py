"""Operators on one element, or on one of each operand."""

from functools import partial

import numpy as np

from ...graph.core.build import number, ops
from ...schema.operators import known
from .quantized import is_quantized
from .registry import raise_rows, raises

raise_rows("""
ABS Abs
ADD AddV2
ATAN2 Atan2
BITWISE_XOR BitwiseXor
CEIL Ceil
COS Cos
ELU Elu
EQUAL Equal
EXP Exp
FLOOR Floor
FLOOR_DIV FloorDiv
FLOOR_MOD FloorMod
GREATER Greater
GREATER_EQUAL GreaterEqual
LEAKY_RELU LeakyRelu alpha=alpha
LESS Less
LESS_EQUAL LessEqual
LOG Log
LOGICAL_AND LogicalAnd
LOGICAL_NOT LogicalNot
LOGICAL_OR LogicalOr
LOGISTIC Sigmoid
MAXIMUM Maximum
MINIMUM Minimum
MUL Mul
NEG Neg
NOT_EQUAL NotEqual
POW Pow
RELU Relu
RELU6 Relu6
RIGHT_SHIFT RightShift
ROUND Round
RSQRT Rsqrt
SELECT Select
SELECT_V2 SelectV2
SIGN Sign
SIN Sin
SQRT Sqrt
SQUARE Square
SQUARED_DIFFERENCE SquaredDifference
SUB Sub
TANH Tanh
ZEROS_LIKE ZerosLike
COMPLEX_ABS ComplexAbs Tout=:0
IMAG Imag Tout=:0
REAL Real Tout=:0
BITCAST Bitcast type=:0
BUCKETIZE Bucketize boundaries=boundaries
""")


@raises("DIV")
def div(node, x, y):
    """A quotient; of integers without its fraction."""
    return ops.RealDiv(x, y) if x.dtype.kind in "fc" else ops.Div(x, y)


@raises("ADD_N")
def add_n(node, *operands):
    """A sum of equal shapes."""
    return ops.AddN(operands)


@raises("CAST")
def cast(node, x):
    """Another type; of quantized numbers it would be their integers."""
    tensor = node.op.inputs[0]
    node.require(
        not is_quantized(tensor),
        f"the operand must not be quantized, got {tensor.dtype} with a scale; use DEQUANTIZE",
    )
    return ops.Cast(x, DstT=node.result_dtype())


@raises("DEQUANTIZE")
def dequantize(node, x):
    """Numbers that are real already; of float16 as float32."""
    return x if x.dtype == node.result_dtype() else ops.Cast(x, DstT=node.result_dtype())


@raises("QUANTIZE", "DENSIFY")
def quantize(node, x):
    """The same numbers; what they are rounded to is the result's business."""
    return x


@raises("FAKE_QUANT")
def fake_quant(node, x):
    """Numbers rounded to a grid."""
    options = node.options
    return ops.FakeQuantWithMinMaxArgs(
        x,
        min=float(options.min),
        max=float(options.max),
        num_bits=int(options.num_bits),
        narrow_range=bool(options.narrow_range),
    )


def clipped(kind, x):
    """`x` within the limits of an operator that clamps."""
    low, high = known(kind).limits
    return ops.ClipByValue(x, number(low, x), number(high, x))


@raises("RELU_0_TO_1", "RELU_N1_TO_1")
def clamp(node, x):
    """x within two limits."""
    return clipped(node.kind, x)


FUSED_ACTIVATIONS = {
    "RELU": ops.Relu,
    "RELU6": ops.Relu6,
    "RELU_N1_TO_1": partial(clipped, "RELU_N1_TO_1"),
}
"""Those that kernels of TFLite apply; they leave the others out."""


@raises("HARD_SWISH")
def hard_swish(node, x):
    """x * relu6(x + 3) / 6."""
    return x * ops.Relu6(x + number(3, x)) * number(1 / 6, x)


@raises("GELU")
def gelu(node, x):
    """x * (1 + erf(x / sqrt(2))) / 2, or its approximation by tanh."""
    one, half = number(1, x), number(0.5, x)
    if not node.options.approximate:
        return x * (one + ops.Erf(x * number(np.sqrt(0.5), x))) * half
    cube = x * x * x * number(0.044715, x)
    return x * (one + ops.Tanh((x + cube) * number(np.sqrt(2 / np.pi), x))) * half


@raises("PRELU")
def prelu(node, x, alpha):
    """relu(x) - alpha * relu(-x)."""
    return ops.Relu(x) - alpha * ops.Relu(ops.Neg(x))
