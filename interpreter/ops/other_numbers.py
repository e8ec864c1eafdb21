"""Arithmetic on numbers that no kernel takes (float64, float8, complex, other integers).

numpy computes it, in host steps of a stage.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import NO_LIMIT
from ..numpy_calls import array_by_numpy, arrays_by_numpy
from .quantized import is_quantized

if TYPE_CHECKING:
    from ..plan.node import DynamicResult, HostCall, Node, Operand

    Function = Callable[..., np.ndarray]

_INTEGERS, _ORDERED, _ANY = "iu", "iuf", "iufc"
"""Kinds of dtypes: integers, these and floats, these and complex numbers."""


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, of integers rounded towards zero."""
    if a.dtype.kind not in "iu":
        return a / b
    quotient = _floor_quotient(a, b)
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


def _floor_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _require_divisor(b)
    return np.floor_divide(a, b)


def _modulo(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    _require_divisor(b)
    return np.mod(a, b)


def _require_divisor(b: np.ndarray) -> None:
    if b.dtype.kind in "iu" and not b.all():
        raise ValueError("the divisor must not be 0")


def _squared_difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.square(a - b)


def _inverse_root(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


BINARY: dict[str, tuple[str, Function]] = {
    "ADD": (_ANY, np.add),
    "SUB": (_ANY, np.subtract),
    "MUL": (_ANY, np.multiply),
    "DIV": (_ANY, _quotient),
    "MAXIMUM": (_ORDERED, np.maximum),
    "MINIMUM": (_ORDERED, np.minimum),
    "SQUARED_DIFFERENCE": (_ANY, _squared_difference),
    "POW": ("fc", np.power),
    "FLOOR_DIV": (_ORDERED, _floor_quotient),
    "FLOOR_MOD": (_ORDERED, _modulo),
    "BITWISE_XOR": (_INTEGERS, np.bitwise_xor),
    "RIGHT_SHIFT": (_INTEGERS, np.right_shift),
    "EQUAL": (_ANY, np.equal),
    "NOT_EQUAL": (_ANY, np.not_equal),
    "LESS": (_ORDERED, np.less),
    "LESS_EQUAL": (_ORDERED, np.less_equal),
    "GREATER": (_ORDERED, np.greater),
    "GREATER_EQUAL": (_ORDERED, np.greater_equal),
}
UNARY: dict[str, tuple[str, Function]] = {
    "ABS": (_ORDERED, np.abs),
    "NEG": (_ANY, np.negative),
    "SIGN": (_ORDERED, np.sign),
    "SQUARE": (_ANY, np.square),
    "CEIL": ("f", np.ceil),
    "COS": ("fc", np.cos),
    "EXP": ("fc", np.exp),
    "FLOOR": ("f", np.floor),
    "LOG": ("fc", np.log),
    "ROUND": ("f", np.rint),
    "RSQRT": ("fc", _inverse_root),
    "SIN": ("fc", np.sin),
    "SQRT": ("fc", np.sqrt),
}
REDUCTIONS: dict[str, tuple[str, Function]] = {
    "SUM": (_ANY, np.sum),
    "MEAN": ("fc", np.mean),
    "REDUCE_PROD": (_ANY, np.prod),
    "REDUCE_MAX": (_ORDERED, np.max),
    "REDUCE_MIN": (_ORDERED, np.min),
}
"""Operator -> the kinds of dtypes it is for, and numpy's function."""


def kind_of(dtype: np.dtype) -> str:
    """The kind of a dtype; that of float8 is a float's, whatever numpy was told of it."""
    return "f" if dtype.name.startswith("float8") else dtype.kind


def takes(node: Node, functions: dict[str, tuple[str, Function]], x: Operand) -> bool:
    """Whether numpy has the operator for the numbers of `x`."""
    kinds, _ = functions.get(node.kind, ("", None))
    return kind_of(x.dtype) in kinds and not is_quantized(x)


def unary(node: Node, x: Operand) -> HostCall | DynamicResult:
    """The function of each element."""
    return array_by_numpy(node, UNARY[node.kind][1], x.shape, x.dtype)


def binary(
    node: Node,
    x: Operand,
    shape: tuple[int, ...],
    clamp: tuple[float, float] = (-NO_LIMIT, NO_LIMIT),
    dtype: np.dtype | None = None,
) -> HostCall | DynamicResult:
    """The function of each pair of elements within `clamp`, as numbers of `dtype` or that of x."""
    function = BINARY[node.kind][1]
    limits = [limit if abs(limit) < NO_LIMIT else None for limit in clamp]
    if limits != [None, None]:
        node.require(
            kind_of(x.dtype) in _ORDERED, f"{tf_name(x.dtype)} has no order, so no fused activation"
        )
        if x.dtype.kind == "u" and limits[0] is not None:
            limits[0] = max(limits[0], 0.0)
        low, high = (None if limit is None else np.array(limit, x.dtype)[()] for limit in limits)

        def clipped(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.clip(function(a, b), low, high)

        return array_by_numpy(node, clipped, shape, dtype or x.dtype)
    return array_by_numpy(node, function, shape, dtype or x.dtype)


def reduction(
    node: Node, x: Operand, axes: Collection[int], shape: tuple[int, ...]
) -> HostCall | DynamicResult:
    """`x` folded over `axes`, sums and products in its own type."""
    function = partial(REDUCTIONS[node.kind][1], axis=tuple(sorted(axes)))
    if node.kind in ("SUM", "REDUCE_PROD"):
        function = partial(function, dtype=x.dtype)
    elif node.kind in ("REDUCE_MAX", "REDUCE_MIN") and not x.size:
        lowest, highest = _ends(x.dtype)
        function = partial(function, initial=lowest if node.kind == "REDUCE_MAX" else highest)

    def folded(array: np.ndarray, _: np.ndarray) -> np.ndarray:
        return function(array)

    return array_by_numpy(node, folded, shape, x.dtype)


def _ends(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest finite number of a type."""
    limits = np.finfo(dtype) if kind_of(dtype) == "f" else np.iinfo(dtype.name)
    return np.array(limits.min, dtype), np.array(limits.max, dtype)


def is_ordered(x: Operand) -> bool:
    """Whether numbers of x without scales can be put into an order."""
    return kind_of(x.dtype) in _ORDERED and not is_quantized(x)


def is_number(x: Operand) -> bool:
    """Whether x has numbers without scales."""
    return kind_of(x.dtype) in _ANY and not is_quantized(x)


def total(node: Node, x: Operand) -> HostCall | DynamicResult:
    """The sum of all inputs, of one shape and type."""

    def run(*arrays: np.ndarray) -> np.ndarray:
        return sum(arrays[1:], arrays[0])

    return array_by_numpy(node, run, x.shape, x.dtype)


def running_total(
    node: Node, x: Operand, axis: int, exclusive: bool, reverse: bool
) -> HostCall | DynamicResult:
    """Sums of the elements up to each one, without it if `exclusive`, from the end if `reverse`."""

    def run(array: np.ndarray, _: np.ndarray) -> np.ndarray:
        array = np.flip(array, axis) if reverse else array
        sums = np.cumsum(array, axis, array.dtype)
        if exclusive:
            sums = sums - array
        return np.flip(sums, axis) if reverse else sums

    return array_by_numpy(node, run, x.shape, x.dtype)


def position(
    node: Node, axis: int, shape: Sequence[int], dtype: np.dtype
) -> HostCall | DynamicResult:
    """Where along an axis the largest (or smallest) element comes first."""
    function = np.argmin if node.kind == "ARG_MIN" else np.argmax

    def run(array: np.ndarray, _: np.ndarray) -> np.ndarray:
        return function(array, axis)

    return array_by_numpy(node, run, shape, dtype)


def top(node: Node, x: Operand, k: int, dtype: np.dtype) -> HostCall | DynamicResult:
    """The k largest of each row in falling order, the first of equal ones first, and where."""

    def run(array: np.ndarray, _: np.ndarray) -> list[np.ndarray]:
        rising = np.argsort(array[..., ::-1], axis=-1, kind="stable")
        positions = array.shape[-1] - 1 - rising[..., ::-1][..., :k]
        return [np.take_along_axis(array, positions, -1), positions]

    shape = (*x.shape[:-1], k)
    return arrays_by_numpy(node, run, (shape, x.dtype), (shape, dtype))
