"""Ops on each element, or on pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.plan.buffer import Buffer, arena, constant
from .registry import emit

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

NUMBERS = (np.float32, np.int32, np.int64)
CLAMPED = {
    "Add": ("add", NUMBERS),
    "AddV2": ("add", NUMBERS),
    "Mul": ("multiply", NUMBERS),
    "RealDiv": ("divide", (np.float32,)),
    "Sub": ("subtract", NUMBERS),
}
"""Op type -> kernel of kernels/arithmetic.py that takes limits, dtypes."""

PLAIN = {
    "Maximum": ("arithmetic.maximum", NUMBERS),
    "Minimum": ("arithmetic.minimum", NUMBERS),
    "SquaredDifference": ("arithmetic.squared_difference", (np.float32, np.int32)),
    "FloorDiv": ("division.floor_divide_int32", (np.int32,)),
    "FloorMod": ("division.floor_modulo", (np.int32, np.int64)),
    "Pow": ("power.power", (np.float32,)),
    "LogicalAnd": ("bits.bitwise_and", (np.bool_,)),
    "LogicalOr": ("bits.bitwise_or", (np.bool_,)),
    "ReluGrad": ("backward.relu", (np.float32,)),
    "Relu6Grad": ("backward.relu6", (np.float32,)),
    "EluGrad": ("backward.elu", (np.float32,)),
    "RsqrtGrad": ("backward.rsqrt", (np.float32,)),
    "SigmoidGrad": ("backward.sigmoid", (np.float32,)),
    "SqrtGrad": ("backward.sqrt", (np.float32,)),
    "TanhGrad": ("backward.tanh", (np.float32,)),
}
"""Op type -> kernel of two operands, dtypes."""

COMPARISONS = {
    "Equal": ("equal", False),
    "NotEqual": ("not_equal", False),
    "Less": ("less", False),
    "LessEqual": ("less_equal", False),
    "Greater": ("less", True),
    "GreaterEqual": ("less_equal", True),
}
"""Op type -> kernel of kernels/compare.py, and whether the operands change places."""

UNARY = {
    "Ceil": "ceil",
    "Cos": "cos",
    "Elu": "elu",
    "Exp": "exp",
    "Floor": "floor",
    "Log": "log",
    "Rint": "round",
    "Round": "round",
    "Rsqrt": "rsqrt",
    "Sigmoid": "logistic",
    "Sin": "sin",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}
"""Op type of float32 -> kernel of kernels/unary.py."""

SIGNED = {"Abs": "absolute", "Neg": "negative", "Sign": "sign", "Square": "square"}
CLAMPS = {"Relu": (0.0, np.inf), "Relu6": (0.0, 6.0)}


@lru_cache(8)
def no_limits(dtype: np.dtype) -> Buffer:
    """The buffer of limits that hold nothing back."""
    ends = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return constant(np.array(ends, dtype))


def _pair(a: Buffer, b: Buffer, dtype: npt.DTypeLike) -> Buffer | None:
    """A new buffer in the shape to which both broadcast; None when they do not."""
    shape = broadcast_shape(a.shape, b.shape)
    return None if shape is None else arena(shape, dtype)


def _add_clamped(kind: str, kernel: str, dtypes: Sequence[npt.DTypeLike]) -> None:
    @emit(kind, dtypes=dtypes)
    def clamped(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
        out = _pair(a, b, a.dtype)
        if out is not None:
            elementwise(program, f"arithmetic.{kernel}", (a, b), out, no_limits(a.dtype))
        return out


def _add_plain(kind: str, kernel: str, dtypes: Sequence[npt.DTypeLike]) -> None:
    @emit(kind, dtypes=dtypes)
    def plain(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
        out = _pair(a, b, a.dtype)
        if out is not None:
            elementwise(program, kernel, (_bits(a), _bits(b)), _bits(out))
        return out


def _bits(x: Buffer) -> Buffer:
    """Truth values as the bytes that kernels take."""
    return x.view(np.uint8) if x.dtype == np.bool_ else x


def _add_unary(kind: str, kernel: str, dtypes: Sequence[npt.DTypeLike]) -> None:
    @emit(kind, dtypes=dtypes)
    def unary(program: Program, op: Site, x: Buffer) -> Emitted:
        out = arena(x.shape, x.dtype)
        if x.size:
            program.call(f"unary.{kernel}", _bits(x).ravel(), _bits(out).ravel(), split=x.size)
        return out


for _kind, (_kernel, _dtypes) in CLAMPED.items():
    _add_clamped(_kind, _kernel, _dtypes)
for _kind, (_kernel, _dtypes) in PLAIN.items():
    _add_plain(_kind, _kernel, _dtypes)
for _kind, _kernel in UNARY.items():
    _add_unary(_kind, _kernel, (np.float32,))
for _kind, _kernel in SIGNED.items():
    _add_unary(_kind, _kernel, NUMBERS)
_add_unary("LogicalNot", "logical_not", (np.bool_,))


@emit(*COMPARISONS, dtypes=NUMBERS)
def compare(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
    """Whether the comparison holds, element by element."""
    kernel, swapped = COMPARISONS[op.type]
    out = _pair(a, b, np.bool_)
    if out is not None:
        elementwise(program, f"compare.{kernel}", (b, a) if swapped else (a, b), out)
    return out


@emit(*CLAMPS, dtypes=(np.float32,))
def clamp(program: Program, op: Site, x: Buffer) -> Emitted:
    """`x` within two limits."""
    low, high = CLAMPS[op.type]
    out = arena(x.shape, x.dtype)
    if x.size:
        program.call("unary.clamp", x.ravel(), out.ravel(), split=x.size, low=low, high=high)
    return out


@emit("LeakyRelu", dtypes=(np.float32,))
def leaky_relu(program: Program, op: Site, x: Buffer) -> Emitted:
    """`x`, times alpha where it is negative."""
    out = arena(x.shape, x.dtype)
    if x.size:
        alpha = float(op.get_attr("alpha"))
        program.call("unary.leaky", x.ravel(), out.ravel(), split=x.size, alpha=alpha)
    return out


@emit("AddN", dtypes=NUMBERS)
def add_n(program: Program, op: Site, *inputs: Buffer) -> Emitted:
    """The sum of all inputs."""
    total = inputs[0]
    for x in inputs[1:]:
        if x.shape != total.shape:
            return None
    for x in inputs[1:]:
        out = arena(total.shape, total.dtype)
        elementwise(program, "arithmetic.add", (total, x), out, no_limits(x.dtype))
        total = out
    return total


_TO_REAL = frozenset(map(np.dtype, ("uint8", "int8", "int16", "int32", "int64", "float32")))
_REAL: frozenset[np.dtype] = frozenset(map(np.dtype, ("float32", "float64")))
_INTS: frozenset[np.dtype] = frozenset(map(np.dtype, ("int32", "int64")))


@emit("Cast")
def cast(program: Program, op: Site, x: Buffer) -> Emitted:
    """`x` in another dtype."""
    dtype = op.get_attr("DstT")
    if x.dtype == dtype:
        return x
    source = x.view(np.uint8) if x.dtype == np.bool_ else x
    kernel = None
    if dtype in _REAL and source.dtype in _TO_REAL:
        kernel = "cast.to_float"
    elif source.dtype in _INTS and dtype in _INTS:
        kernel = "cast.wrap"
    elif dtype in _INTS and source.dtype == np.uint8:
        kernel = "cast.widen"
    if kernel is None:
        return None
    out = arena(x.shape, dtype)
    if x.size:
        program.call(kernel, source.ravel(), out.ravel(), split=x.size)
    return out


@emit("DivNoNan", dtypes=(np.float32,))
def divide_no_nan(program: Program, op: Site, a: Buffer, b: Buffer) -> Emitted:
    """`a` divided by `b`, 0 where that is 0."""
    out = _pair(a, b, a.dtype)
    if out is not None:
        zero, quotient = constant(np.zeros((), a.dtype)), arena(out.shape, out.dtype)
        is_zero = arena(b.shape, np.bool_)
        elementwise(program, "compare.equal", (b, zero), is_zero)
        elementwise(program, "arithmetic.divide", (a, b), quotient, no_limits(a.dtype))
        elementwise(program, "compare.select", (is_zero, zero, quotient), out)
    return out


@emit("Select", "SelectV2")
def select(program: Program, op: Site, condition: Buffer, x: Buffer, y: Buffer) -> Emitted:
    """Elements of `x` where the condition holds, of `y` elsewhere."""
    shape = broadcast_shape(condition.shape, x.shape, y.shape)
    rows = op.type == "Select" and condition.shape not in ((), x.shape)
    if shape is None or rows or x.dtype.hasobject or x.dtype.itemsize > 8:
        return None
    out = arena(shape, x.dtype)
    elementwise(program, "compare.select", (condition, x, y), out)
    return out
