"""Functions of numbers that keras.ops has besides those of operations.py, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer, is_number
from .operations import axes_of, binary, floating, operands, operation, tensor, unary, where

operation("Fabs")(unary("Abs"))
operation("BitwiseInvert", "BitwiseNot")(unary("Invert", is_real=False))
operation("BitwiseLeftShift", "LeftShift")(binary("LeftShift"))
operation("BitwiseRightShift", "RightShift")(binary("RightShift"))
operation("Erfinv")(unary("Erfinv"))
operation("I0")(unary("BesselI0"))


def like(call: Call, value: float | np.ndarray, x: Tensor) -> Tensor:
    """Numbers of the type of `x`."""
    return call.constant_of(value, x.dtype)


def infinite(value: float) -> Callable:
    """Whether a number is an infinity."""

    def write(call: Call, x: Any) -> Tensor:
        x = floating(call, x)
        return call.op("Equal", x, like(call, value, x))

    return write


operation("Isposinf")(infinite(np.inf))
operation("Isneginf")(infinite(-np.inf))


@operation("Signbit")
def sign_bit(call: Call, x: Any) -> Tensor:
    """Whether a number is below 0, or is -0."""
    x = tensor(call, x)
    below = call.op("Less", x, like(call, 0, x))
    if x.dtype.kind != "f":
        return below
    inverse = call.op("Reciprocal", x)
    return call.op("LogicalOr", below, call.op("Equal", inverse, like(call, -np.inf, x)))


@operation("Cbrt")
def cube_root(call: Call, x: Any) -> Tensor:
    """The number whose third power is x."""
    x = floating(call, x)
    root = call.op("Pow", call.op("Abs", x), like(call, 1 / 3, x))
    return call.op("Mul", call.op("Sign", x), root)


@operation("Sinc")
def sinc(call: Call, x: Any) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0."""
    x = floating(call, x)
    scaled = call.op("Mul", x, like(call, np.pi, x))
    ratio = call.op("DivNoNan", call.op("Sin", scaled), scaled)
    return where(call, call.op("Equal", x, like(call, 0, x)), like(call, 1, x), ratio)


@operation("Heaviside")
def heaviside(call: Call, x1: Any, x2: Any) -> Tensor:
    """0 below 0, 1 above, x2 at 0."""
    x, at_zero = (floating(call, v) for v in operands(call, x1, x2))
    zero = like(call, 0, x)
    above = call.cast(call.op("Greater", x, zero), x.dtype)
    return call.op("SelectV2", call.op("Equal", x, zero), at_zero, above)


@operation("Ldexp")
def times_power_of_two(call: Call, x1: Any, x2: Any) -> Tensor:
    """x1 * 2 ** x2."""
    x, power = floating(call, x1), floating(call, x2)
    return call.op("Mul", x, call.op("Pow", like(call, 2, x), power))


@operation("Logaddexp2")
def log_add_exp2(call: Call, x1: Any, x2: Any) -> Tensor:
    """log2(2 ** x1 + 2 ** x2)."""
    x, y = (floating(call, v) for v in operands(call, x1, x2))
    distance = call.op("Abs", call.op("Sub", x, y))
    softplus = call.op("Softplus", call.op("Mul", distance, like(call, -np.log(2), x)))
    more = call.op("Mul", softplus, like(call, 1 / np.log(2), x))
    return call.op("AddV2", call.op("Maximum", x, y), more)


@operation("Isclose")
def is_close(
    call: Call, x1: Any, x2: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
) -> Tensor:
    """|x1 - x2| <= atol + rtol |x2|; equal infinities are close."""
    x, y = (floating(call, v) for v in operands(call, x1, x2))
    call.require(is_number(rtol) and is_number(atol), "rtol and atol must be numbers")
    allowed = call.op("Mul", call.op("Abs", y), like(call, rtol, x))
    allowed = call.op("AddV2", allowed, like(call, atol, x))
    close = call.op("LessEqual", call.op("Abs", call.op("Sub", x, y)), allowed)
    both = call.op("LogicalAnd", close, call.op("IsFinite", y))
    both = call.op("LogicalOr", both, call.op("Equal", x, y))
    if equal_nan is not True:
        return both
    nans = call.op("LogicalAnd", call.op("IsNan", x), call.op("IsNan", y))
    return call.op("LogicalOr", both, nans)


@operation("AllClose")
def all_close(
    call: Call, x1: Any, x2: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: Any = False
) -> Tensor:
    """Whether all of `is_close` hold."""
    close = is_close(call, x1, x2, rtol, atol, equal_nan)
    return call.op("All", close, call.constant(list(range(len(call.shape(close))))))


@operation("IsIn")
def is_in(call: Call, x1: Any, x2: Any, assume_unique: Any = False, invert: Any = False) -> Tensor:
    """Whether each value of x1 is among those of x2."""
    x, values = operands(call, x1, x2)
    rank = len(call.shape(x))
    row = call.op("Reshape", values, call.constant([-1]))
    equal = call.op("Equal", call.op("ExpandDims", x, call.constant(rank)), row)
    is_member = call.op("Any", equal, call.constant([rank]))
    return call.op("LogicalNot", is_member) if invert is True else is_member


@operation("Select")
def select(call: Call, condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """The choice of the first condition that holds."""
    is_valid = isinstance(condlist, list) and isinstance(choicelist, list)
    is_valid = is_valid and len(condlist) == len(choicelist) > 0
    call.require(is_valid, "there must be as many conditions as choices")
    *choices, result = operands(call, *choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        result = call.op("SelectV2", call.cast(tensor(call, condition), bool), choice, result)
    return result


@operation("Gcd")
def greatest_divisor(call: Call, x1: Any, x2: Any) -> Tensor:
    """The greatest common divisor, by Euclid's steps: at most 46 for 32 bits."""
    x, y = (call.op("Abs", v) for v in operands(call, x1, x2))
    call.require(x.dtype.kind in "iu" and x.dtype.itemsize <= 4, "must be integers of 32 bits")
    zero, one = like(call, 0, x), like(call, 1, x)
    for _ in range(EUCLID_STEPS):
        is_done = call.op("Equal", y, zero)
        remainder = call.op("FloorMod", x, call.op("SelectV2", is_done, one, y))
        x, y = (
            call.op("SelectV2", is_done, x, y),
            call.op("SelectV2", is_done, zero, remainder),
        )
    return x


EUCLID_STEPS = 46
"""Of the largest pair of Fibonacci numbers below 2 ** 31."""


@operation("Lcm")
def least_multiple(call: Call, x1: Any, x2: Any) -> Tensor:
    """The least common multiple."""
    x, y = operands(call, x1, x2)
    divisor = greatest_divisor(call, x, y)
    safe = call.op("Maximum", divisor, like(call, 1, x))
    return call.op("Abs", call.op("Mul", call.op("FloorDiv", x, safe), y))


@operation("Ndim")
def rank_of(call: Call, x: Tensor) -> Tensor:
    """The number of dimensions."""
    return call.constant(len(call.shape(x)))


def flipped(axis: int) -> Callable:
    """From the end along one axis."""
    return lambda call, x: call.op("ReverseV2", x, call.constant([axis]))


operation("Flipud")(flipped(0))
operation("Fliplr")(flipped(1))


@operation("Rot90")
def quarter_turns(call: Call, array: Tensor, k: Any = 1, axes: Any = (0, 1)) -> Tensor:
    """Turned by 90 degrees, k times, in the plane of two axes."""
    rank = len(call.shape(array))
    is_valid = isinstance(axes, list | tuple) and len(axes) == 2 and is_integer(k)
    call.require(is_valid, "k must be an integer and axes two")
    first, second = axes_of(call, list(axes), rank)
    order = list(range(rank))
    order[first], order[second] = second, first
    for _ in range(k % 4):
        turned = call.op("ReverseV2", array, call.constant([second]))
        array = call.op("Transpose", turned, call.constant(order))
    return array
