"""Derivatives of element-wise ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..core.build import number, ops
from ..core.graph import Operation, Tensor
from .broadcasting import unbroadcast
from .registry import constant, gradient

UnaryFormula: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
UNARY: dict[str, UnaryFormula] = {
    "Abs": lambda x, y, dy: dy * ops.Sign(x),
    "Acos": lambda x, y, dy: -dy / ops.Sqrt(1 - ops.Square(conj(x))),
    "Acosh": lambda x, y, dy: dy / ops.Sinh(conj(y)),
    "Angle": lambda x, y, dy: _angle(x, dy),
    "Asin": lambda x, y, dy: dy / ops.Sqrt(1 - ops.Square(conj(x))),
    "Asinh": lambda x, y, dy: dy / ops.Cosh(conj(y)),
    "Atan": lambda x, y, dy: dy / (1 + ops.Square(conj(x))),
    "Atanh": lambda x, y, dy: dy / (1 - ops.Square(conj(x))),
    "ComplexAbs": lambda x, y, dy: ops.DivNoNan(_complex(dy) * x, _complex(y)),
    "Conj": lambda x, y, dy: ops.Conj(dy),
    "Cos": lambda x, y, dy: -dy * ops.Sin(conj(x)),
    "Cosh": lambda x, y, dy: dy * ops.Sinh(conj(x)),
    "Erf": lambda x, y, dy: dy * number(2 / math.sqrt(math.pi), x) * ops.Exp(-ops.Square(x)),
    "Erfc": lambda x, y, dy: dy * number(-2 / math.sqrt(math.pi), x) * ops.Exp(-ops.Square(x)),
    "Erfinv": lambda x, y, dy: dy * number(math.sqrt(math.pi) / 2, x) * ops.Exp(ops.Square(y)),
    "Exp": lambda x, y, dy: dy * conj(y),
    "Expm1": lambda x, y, dy: dy * ops.Exp(conj(x)),
    "Imag": lambda x, y, dy: ops.Complex(ops.ZerosLike(dy), dy, Tout=x.dtype),
    "Inv": lambda x, y, dy: ops.ReciprocalGrad(y, dy),
    "Lgamma": lambda x, y, dy: dy * ops.Digamma(x),
    "Log": lambda x, y, dy: dy * ops.Reciprocal(conj(x)),
    "Log1p": lambda x, y, dy: dy * ops.Reciprocal(1 + conj(x)),
    "Ndtri": lambda x, y, dy: dy * number(math.sqrt(2 * math.pi), x) * ops.Exp(ops.Square(y) / 2),
    "Neg": lambda x, y, dy: -dy,
    "Real": lambda x, y, dy: ops.Complex(dy, ops.ZerosLike(dy), Tout=x.dtype),
    "Reciprocal": lambda x, y, dy: ops.ReciprocalGrad(y, dy),
    "Rsqrt": lambda x, y, dy: ops.RsqrtGrad(y, dy),
    "Sigmoid": lambda x, y, dy: ops.SigmoidGrad(conj(y), dy),
    "Sign": lambda x, y, dy: _sign(x, y, dy),
    "Sin": lambda x, y, dy: dy * ops.Cos(conj(x)),
    "Sinh": lambda x, y, dy: dy * ops.Cosh(conj(x)),
    "Sqrt": lambda x, y, dy: ops.SqrtGrad(y, dy),
    "Square": lambda x, y, dy: dy * (conj(x) * 2),
    "Tan": lambda x, y, dy: dy * ops.Square(ops.Reciprocal(ops.Cos(conj(x)))),
    "Tanh": lambda x, y, dy: ops.TanhGrad(conj(y), dy),
}
"""The gradient of x, from it, the result y and its gradient dy."""


def _sign(x: Tensor, y: Tensor, dy: Tensor) -> Tensor:
    """0; of complex numbers what is across the direction of x, over its length."""
    if x.dtype.kind != "c":
        return ops.ZerosLike(x)
    length = ops.ComplexAbs(x, Tout=x.dtype.real_dtype)
    across = (dy - ops.Square(y) * ops.Conj(dy)) * number(0.5, x)
    return ops.DivNoNan(across, _complex(length))


def _unary(formula: UnaryFormula) -> Callable[[Operation, Tensor], Tensor]:
    return lambda op, dy: formula(op.inputs[0], op.outputs[0], dy)


for _name, _formula in UNARY.items():
    gradient(_name)(_unary(_formula))

BinaryFormula: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
BINARY: dict[str, BinaryFormula] = {
    "Add": lambda x, y, z, dz: (dz, dz),
    "AddV2": lambda x, y, z, dz: (dz, dz),
    "Atan2": lambda y, x, z, dz: (
        dz * x / (ops.Square(x) + ops.Square(y)),
        -dz * y / (ops.Square(x) + ops.Square(y)),
    ),
    "Complex": lambda x, y, z, dz: (ops.Real(dz, Tout=x.dtype), ops.Imag(dz, Tout=y.dtype)),
    "Div": lambda x, y, z, dz: (dz / conj(y), dz * (-conj(x) / conj(y) / conj(y))),
    "DivNoNan": lambda x, y, z, dz: (
        ops.DivNoNan(dz, conj(y)),
        dz * ops.DivNoNan(ops.DivNoNan(-conj(x), conj(y)), conj(y)),
    ),
    "FloorMod": lambda x, y, z, dz: (dz, -dz * ops.FloorDiv(x, y)),
    "Maximum": lambda x, y, z, dz: _picked(ops.GreaterEqual(x, y), dz),
    "Minimum": lambda x, y, z, dz: _picked(ops.LessEqual(x, y), dz),
    "Mod": lambda x, y, z, dz: (dz, -dz * ops.TruncateDiv(x, y)),
    "Mul": lambda x, y, z, dz: (dz * conj(y), conj(x) * dz),
    "MulNoNan": lambda x, y, z, dz: (ops.MulNoNan(dz, y), ops.MulNoNan(x, dz)),
    "Pow": lambda x, y, z, dz: _power(conj(x), conj(y), conj(z), dz),
    "RealDiv": lambda x, y, z, dz: (dz / conj(y), dz * (-conj(x) / conj(y) / conj(y))),
    "SquaredDifference": lambda x, y, z, dz: _squared_difference(x, y, dz),
    "Sub": lambda x, y, z, dz: (dz, -dz),
    "Xdivy": lambda x, y, z, dz: (
        ops.Xdivy(_not_zero(x, y), y) * dz,
        ops.Xdivy(-x, ops.Square(y)) * dz,
    ),
    "Xlog1py": lambda x, y, z, dz: (
        ops.Xlog1py(_not_zero(x, y), y) * dz,
        ops.Xdivy(x, y + 1) * dz,
    ),
    "Xlogy": lambda x, y, z, dz: (ops.Xlogy(_not_zero(x, y), y) * dz, ops.Xdivy(x, y) * dz),
}
"""The gradients of x and y, from them, the result z and its gradient dz, in the shape of z."""


def _binary(formula: BinaryFormula) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    def function(op: Operation, dz: Tensor) -> list[Tensor | None]:
        x, y = op.inputs
        return unbroadcast(x, y, *formula(x, y, op.outputs[0], dz))

    return function


for _name, _formula in BINARY.items():
    gradient(_name)(_binary(_formula))


def conj(x: Tensor) -> Tensor:
    """The conjugate of a complex tensor; a real one as it is."""
    return ops.Conj(x) if x.dtype is not None and x.dtype.kind == "c" else x


def _complex(x: Tensor) -> Tensor:
    """A real tensor as a complex one."""
    wide = np.dtype(np.complex128 if x.dtype == np.float64 else np.complex64)
    return ops.Complex(x, ops.ZerosLike(x), Tout=wide)


def _angle(x: Tensor, dy: Tensor) -> Tensor:
    real, imaginary = (part(x, Tout=dy.dtype) for part in (ops.Real, ops.Imag))
    return -ops.Reciprocal(ops.Complex(imaginary, real, Tout=x.dtype)) * _complex(dy)


def _picked(first: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
    """`dz` to x where `first` is true, else to y."""
    zeros = ops.ZerosLike(dz)
    return ops.SelectV2(first, dz, zeros), ops.SelectV2(first, zeros, dz)


def _not_zero(x: Tensor, y: Tensor) -> Tensor:
    return ops.Cast(ops.NotEqual(x, number(0, x)), DstT=x.dtype)


def _squared_difference(x: Tensor, y: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
    dx = dz * 2 * (x - y)
    return dx, -dx


def _power(x: Tensor, y: Tensor, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
    """By y it is z log(x), which is 0 where x has no logarithm."""
    is_complex = x.dtype is not None and x.dtype.kind == "c"
    zero = number(0, x)
    sound = ops.NotEqual(x, zero) if is_complex else ops.Greater(x, zero)
    log_x = ops.SelectV2(sound, ops.Log(ops.SelectV2(sound, x, ops.OnesLike(x))), ops.ZerosLike(x))
    return dz * (y * ops.Pow(x, y - 1)), dz * z * log_x


@gradient("AddN", "AccumulateNV2")
def add_n(op: Operation, dy: Tensor) -> list[Tensor]:
    """To each input as it comes."""
    return [dy] * len(op.inputs)


@gradient("Select")
def select(op: Operation, dy: Tensor) -> tuple[None, Tensor, Tensor]:
    """To the input that was picked."""
    condition, zeros = op.inputs[0], ops.ZerosLike(dy)
    return None, ops.Select(condition, dy, zeros), ops.Select(condition, zeros, dy)


@gradient("SelectV2")
def select_v2(op: Operation, dz: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
    """To the input that was picked."""
    condition, x, y = op.inputs
    dx, dy = _picked(condition, dz)
    z = op.outputs[0]
    return None, unbroadcast(x, z, dx, None)[0], unbroadcast(y, z, dy, None)[0]


@gradient("ClipByValue")
def clip_by_value(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """To `x` where it lies between, else to the bound that took its place."""
    x, lowest, highest = op.inputs
    zeros = ops.ZerosLike(dy)
    below, above = ops.Less(x, lowest), ops.Greater(x, highest)
    inside = ops.SelectV2(ops.LogicalOr(below, above), zeros, dy)
    low = unbroadcast(lowest, x, ops.SelectV2(below, dy, zeros), None)[0]
    high = unbroadcast(highest, x, ops.SelectV2(above, dy, zeros), None)[0]
    return inside, low, high


@gradient("Cast")
def cast(op: Operation, dy: Tensor) -> Tensor | None:
    """Cast back, where both types have gradients."""
    source, target = op.inputs[0].dtype, op.outputs[0].dtype
    has_gradients = all(t.kind in "fc" or t.name == "bfloat16" for t in (source, target))
    return ops.Cast(dy, DstT=source) if has_gradients else None


@gradient("CheckNumerics")
def check_numerics(op: Operation, dy: Tensor) -> Tensor:
    """As it comes, and checked too."""
    message = b"Not a number (NaN) or infinity (Inf) values detected in gradient."
    return ops.CheckNumerics(dy, message=message)


@gradient("NextAfter")
def next_after(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """As it comes to the first, zeros to the second."""
    x, y = op.inputs
    return unbroadcast(x, y, dy, ops.ZerosLike(dy))


@gradient("Print")
def print_tensor(op: Operation, dy: Tensor) -> list[Tensor | None]:
    """As it comes."""
    return [dy, *[None] * (len(op.inputs) - 1)]


constant(
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Bitcast", "Bucketize", "Ceil", "Equal", "Floor",
    "FloorDiv", "Greater", "GreaterEqual", "Invert", "IsFinite", "IsInf", "IsNan", "LeftShift",
    "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "NotEqual",
    "RightShift", "Rint", "Round", "TruncateDiv",
)  # fmt: skip
