"""Element-wise ops of one, two or three inputs that broadcast together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...schema.errors import UnimplementedError
from ..core.node_words import type_word
from ..core.registry import add_row, op
from ..core.shapes import (
    Shape,
    broadcasting,
    is_static,
    merged,
    merged_shapes,
    require,
    same,
    scalar,
)
from .special.special import digamma, erf, erfc, erfinv, ndtri

if TYPE_CHECKING:
    from ..core.protocols import OperationView


Binary: TypeAlias = "Callable[[np.ndarray, np.ndarray], np.ndarray]"


def _round_half_even(x: np.ndarray) -> np.ndarray:
    return x if x.dtype.kind in "iu" else np.rint(x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return 1 / (1 + np.exp(-x))
    is_left = np.real(x) < 0
    power = np.exp(np.where(is_left, x, -x))  # of absolute value 1 at most
    return np.where(is_left, power, 1) / (1 + power)


def _rsqrt(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        x = x + 0  # -0 becomes 0: TensorFlow's branch cut belongs to the upper half plane
    return 1 / np.sqrt(x.astype(np.float32) if x.dtype.itemsize == 2 else x)


def _complex(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """real + i imag, infinities too."""
    parts = np.broadcast_arrays(real, imag)
    return np.stack(parts, -1).view(np.result_type(*parts, np.complex64))[..., 0]


def _log_gamma(x: float) -> float:
    is_pole = math.isfinite(x) and x <= 0 and x == math.floor(x)
    return math.inf if is_pole else math.lgamma(x)


_lgamma = np.frompyfunc(_log_gamma, 1, 1)

UNARY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Conj": np.conj,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Digamma": digamma,
    "Erf": erf,
    "Erfc": erfc,
    "Erfinv": erfinv,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Floor": np.floor,
    "Inv": np.reciprocal,
    "Invert": np.invert,
    "IsFinite": np.isfinite,
    "IsInf": np.isinf,
    "IsNan": np.isnan,
    "Lgamma": _lgamma,
    "Log": np.log,
    "Log1p": np.log1p,
    "LogicalNot": np.logical_not,
    "Ndtri": ndtri,
    "Neg": np.negative,
    "Reciprocal": np.reciprocal,
    "Rint": np.rint,
    "Round": _round_half_even,
    "Rsqrt": _rsqrt,
    "Sigmoid": _sigmoid,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Sqrt": np.sqrt,
    "Square": np.square,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "Angle": np.angle,
    "ComplexAbs": np.abs,
    "Imag": np.imag,
    "Real": np.real,
}

for _name, _function in UNARY.items():
    add_row(_name, _function, same)


@op("PopulationCount", shape=same)
def population_count(x: np.ndarray) -> np.ndarray:
    """How many bits of a number are 1."""
    if x.dtype.kind == "i":  # numpy counts those of the absolute value
        x = x.view(f"u{x.dtype.itemsize}")
    columns = np.ascontiguousarray(x).reshape(*x.shape, 1).view(np.uint8)
    return np.unpackbits(columns, axis=-1).sum(-1, dtype=np.uint8)


def _require_nonzero(x: np.ndarray, y: np.ndarray) -> None:
    """Raises ValueError for a zero among integers that something is divided by."""
    if y.dtype.kind in "iu" and x.size and not y.all():
        raise ValueError("Integer division by zero")


def _div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _truncate_div(x, y) if x.dtype.kind in "iu" else x / y


def _truncate_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    _require_nonzero(x, y)
    if x.dtype.kind not in "iu":
        return np.trunc(x / y)
    quotient = np.floor_divide(x, y)
    return quotient + ((np.mod(x, y) != 0) & ((x < 0) != (y < 0)))


def _floor_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        raise ValueError("No OpKernel was registered to support Op 'FloorDiv' of complex numbers")
    _require_nonzero(x, y)
    return np.floor_divide(x, y) if x.dtype.kind in "iu" else np.floor(x / y)


def _floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    _require_nonzero(x, y)
    return np.mod(x, y)


def _truncate_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    _require_nonzero(x, y)
    return np.fmod(x, y)


def _without_zeros(function: Binary, zero_of: Binary) -> Binary:
    """`function`, but zero wherever the input that `zero_of` picks is zero."""

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(zero_of(x, y) == 0, np.zeros((), x.dtype), function(x, y))

    return kernel


def _squared_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    difference = x - y
    return np.conj(difference) * difference


def _shift(function: Binary) -> Binary:
    """A shift by the number of bits that is kept within the width of the type."""

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return function(x, np.clip(y, 0, x.dtype.itemsize * 8 - 1))

    return kernel


BINARY: dict[str, Binary] = {
    "Add": np.add,
    "AddV2": np.add,
    "Atan2": np.arctan2,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Complex": _complex,
    "Div": _div,
    "DivNoNan": _without_zeros(np.divide, lambda x, y: y),
    "FloorDiv": _floor_div,
    "FloorMod": _floor_mod,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LeftShift": _shift(np.left_shift),
    "Less": np.less,
    "LessEqual": np.less_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Mod": _truncate_mod,
    "Mul": np.multiply,
    "MulNoNan": _without_zeros(np.multiply, lambda x, y: y),
    "NextAfter": np.nextafter,
    "Pow": np.power,
    "RealDiv": np.divide,
    "RightShift": _shift(np.right_shift),
    "SquaredDifference": _squared_difference,
    "Sub": np.subtract,
    "TruncateDiv": _truncate_div,
    "TruncateMod": _truncate_mod,
    "Xdivy": _without_zeros(np.divide, lambda x, y: x),
    "Xlog1py": _without_zeros(lambda x, y: x * np.log1p(y), lambda x, y: x),
    "Xlogy": _without_zeros(lambda x, y: x * np.log(y), lambda x, y: x),
}

for _name, _function in BINARY.items():
    add_row(_name, _function, broadcasting)


def _comparable(op: OperationView) -> Shape:
    """Broadcasting; a scalar where shapes may differ and do."""
    if op.get_attr("incompatible_shape_error"):
        return broadcasting(op)
    if not all(is_static(tensor.sizes) for tensor in op.inputs):
        return None
    try:
        return broadcasting(op)
    except ValueError:
        return ()


def _compared(function: Binary, otherwise: bool) -> Callable[..., np.ndarray | np.bool_]:
    """Equality, or `otherwise` as a whole where the shapes may differ and do."""

    def kernel(
        x: np.ndarray, y: np.ndarray, *, incompatible_shape_error: bool
    ) -> np.ndarray | np.bool_:
        try:
            return function(x, y)
        except ValueError:
            if incompatible_shape_error:
                raise
            return np.bool_(otherwise)

    return kernel


add_row("Equal", _compared(np.equal, False), _comparable)
add_row("NotEqual", _compared(np.not_equal, True), _comparable)


@op("ApproximateEqual", shape=lambda op: merged(op, range(2)))
def approximate_equal(x: np.ndarray, y: np.ndarray, *, tolerance: float) -> np.ndarray:
    """Whether two numbers are no more than `tolerance` apart."""
    return np.abs(x - y) <= np.float32(tolerance)


@op("AddN", "AccumulateNV2", shape=lambda op: merged(op, range(len(op.inputs))))
def add_n(*inputs: np.ndarray) -> np.ndarray:
    """The sum of all inputs, in their order, each sum rounded to the type."""
    total = inputs[0]
    for x in inputs[1:]:
        total = np.asarray(total + x)  # a sum of lists is no array yet
    return total


@op("ClipByValue", shape=same)
def clip_by_value(x: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """`x` within [lowest, highest]; of complex numbers each part."""
    if x.dtype.kind == "c":
        real, imag = (
            clip_by_value(*(getattr(each, part) for each in (x, lowest, highest)))
            for part in ("real", "imag")
        )
        return (real + 1j * imag).astype(x.dtype)
    return np.minimum(np.maximum(x, lowest), highest)


def _select_shape(op: OperationView) -> Shape:
    shape, condition = merged(op, (1, 2)), op.inputs[0].sizes
    if shape is None or not condition:
        return shape
    if len(condition) == 1 and shape:
        merged_shapes(op, condition, shape[:1])
        return shape
    return merged_shapes(op, shape, condition)


@op("Select", shape=_select_shape)
def select(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Elements or, for a vector of conditions, rows of `x` where it is true, else of `y`."""
    if condition.ndim == 1 and x.ndim > 1:
        condition = condition.reshape((-1,) + (1,) * (x.ndim - 1))
    return np.where(condition, x, y)


@op("SelectV2", shape=broadcasting)
def select_v2(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`x` where the condition is true, else `y`, all broadcast together."""
    return np.where(condition, x, y)


@op("Cast", shape=same)
def cast(x: np.ndarray, *, DstT: np.dtype) -> np.ndarray:
    """`x` as another type; floats lose what is behind the point."""
    if x.dtype.kind == "c" and DstT.kind != "c":
        x = np.real(x)
    if (DstT.kind == "O") != (x.dtype.kind == "O"):
        names = [type_word(dtype) for dtype in (x.dtype, DstT)]
        raise UnimplementedError(None, None, f"Cast {names[0]} to {names[1]} is not supported")
    if DstT.kind == "b":
        return x != 0
    return x.astype(DstT)


def _bitcast_shape(op: OperationView) -> Shape:
    shape = op.inputs[0].sizes
    old, new = op.inputs[0].dtype.itemsize, op.outputs[0].dtype.itemsize
    if shape is None or old == new:
        return shape
    if old > new:
        return shape + (old // new,)
    require(op, len(shape) > 0, "Shape must be at least rank 1 but is rank 0")
    last = shape[-1]
    words = f"Cannot bitcast from {old} to {new} due to shape. {last} does not match {new // old}"
    require(op, last in (None, new // old), words)
    return shape[:-1]


@op("Bitcast", shape=_bitcast_shape)
def bitcast(x: np.ndarray, *, type: np.dtype) -> np.ndarray:
    """The same bits as another type; the last dimension appears or goes when sizes differ."""
    x = np.ascontiguousarray(x).reshape(x.shape)
    if x.dtype.itemsize > type.itemsize:
        return x.reshape(*x.shape, 1).view(type)
    if x.dtype.itemsize < type.itemsize:
        return x.view(type).reshape(x.shape[:-1])
    return x.view(type)


@op("CheckNumerics", shape=same, pure=False)
def check_numerics(x: np.ndarray, *, message: bytes) -> np.ndarray:
    """`x`, when all of it is finite."""
    if not np.isfinite(x).all():
        kind = "NaN" if np.isnan(x).any() else "Inf"
        raise ValueError(f"{message.decode()} : Tensor had {kind} values")
    return x


@op("Print", shape=same, pure=False)
def print_tensor(
    x: np.ndarray, *data: np.ndarray, message: bytes, first_n: int, summarize: int
) -> np.ndarray:
    """`x`; only a Session prints."""
    return x


@op("Bucketize", shape=same)
def bucketize(x: np.ndarray, *, boundaries: Sequence[float]) -> np.ndarray:
    """The number of boundaries not above each element."""
    return np.searchsorted(np.array(boundaries, np.float32), x, side="right")


@op("ToBool", shape=scalar)
def to_bool(x: np.ndarray) -> np.ndarray:
    """Whether a number is not 0, or a text not empty; whether another tensor has elements."""
    return np.array(bool(x.item()) if x.ndim == 0 else x.size > 0)
