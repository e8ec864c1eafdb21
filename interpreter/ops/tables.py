"""Functions of one quantized integer: a table of all its values, made when the plan is made.

`TABLES` has for each operator and type a function (node, quantized values, input's and output's
quantization) -> quantized results, with the roundings of TFLite's kernel.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from math import erfc, log
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import elementwise
from ...engine.families.fixedpoint import (
    inverse_sqrt,
    multiply_by_quantized_multiplier,
    rounded,
    rounding_divide_by_pot,
    sampled,
)
from ...engine.families.multipliers import ALL_OF_SHIFT, cyclic_shift, quantize_multiplier
from ...engine.plan.buffer import constant
from ...schema.dtypes import tf_name
from ...schema.operators import known
from ..checks import limits_of, name_of_dtype, one_scale, required_input
from .quantized import quotient, to_int32, wrapped, wrapped_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from ...schema.quantization import Quantization
    from ..plan.node import Emit, Node, Operand

    Function: TypeAlias = Callable[[np.ndarray], np.ndarray]
    """Of an array of floats, element by element."""
    TableOf: TypeAlias = Callable[[Node, np.ndarray, Quantization, Quantization], np.ndarray]
    """(node, quantized values, input's and output's quantization) -> quantized results."""


_F = np.float32


def look_up(node: Node, x: Operand) -> Emit:
    """What emits the instruction that replaces each element of `x` by its entry of the table."""
    input_params, output_params = one_scale(node, x)
    make = TABLES.get(node.kind, {}).get(name_of_dtype(x.dtype))
    if make is None:
        node.fail(f"quantized {tf_name(x.dtype)} is not supported")
    unsigned, (lowest, highest) = np.dtype(f"uint{8 * x.itemsize}"), limits_of(x.dtype)
    values = np.arange(1 << 8 * x.itemsize).astype(unsigned).view(x.dtype).astype(np.int64)
    results = make(node, values, input_params, output_params)
    results = np.minimum(np.maximum(results, lowest), highest)
    table = constant(results.astype(x.dtype))
    out = node.result(x.shape, x.dtype)
    zero = input_params.zero_point if node.kind in _OF_NONNEGATIVE else None
    return lambda program: elementwise.look_up(program, x, table, out, zero)


def _through(function: Function) -> Function:
    """`function` of float32 computed in float64 and rounded once."""

    def apply(x: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return function(x.astype(np.float64)).astype(_F)

    return apply


def _real(
    make: Callable[[Node, Quantization], Function],
    node: Node,
    values: np.ndarray,
    input_params: Quantization,
    output_params: Quantization,
) -> np.ndarray:
    """The float function that `make(node, output's quantization)` gives, of quantized values."""
    return _real_by(make(node, output_params), values, input_params, output_params)


def _real_by(
    function: Function, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    scale = _F(output_params.scale)
    if len(values) > 1 << 8:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            low, high = (
                _F(input_params.scale) * _F(v - input_params.zero_point) for v in (-32768, 32767)
            )
            inverse = _F(65536) / (scale * _F(32767) - scale * _F(-32768))
        return sampled(function, low, high, inverse)[values + 32768]
    with np.errstate(all="ignore"):
        x = _F(input_params.scale) * (values - input_params.zero_point).astype(_F)
        results = rounded(function(x) * (_F(1) / scale))
    if values.min() >= 0:  # uint8, whose sums are not held within its limits before
        return to_int32(results + _F(output_params.zero_point))
    results[np.isnan(results)] = 0
    return results.astype(np.float64) + output_params.zero_point


def _log(node: Node, output_params: Quantization) -> Function:
    lowest = limits_of(required_input(node, 0).dtype)[0] - output_params.zero_point
    with np.errstate(over="ignore"):
        lowest_result = _F(lowest) * _F(output_params.scale)
    log = _through(np.log)

    def function(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, log(np.where(x > 0, x, 1.0)), lowest_result)

    return function


def _rsqrt(node: Node, output_params: Quantization) -> Function:
    largest = _F(32767) * _F(output_params.scale)

    def function(x: np.ndarray) -> np.ndarray:
        return np.where(x > 0, 1 / np.sqrt(np.where(x > 0, x, _F(1))), largest)

    return function


def _gelu(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    gelu = _gelu_by_tanh if node.options.approximate else _gelu_by_erfc
    return _real_by(gelu, values, input_params, output_params)


def _gelu_by_erfc(x: np.ndarray) -> np.ndarray:
    """In float32 step by step, as TFLite's GeluTransform."""
    half = [erfc(y) for y in (x.astype(_F) * _F(-(0.5**0.5))).tolist()]
    return _F(0.5) * x.astype(_F) * np.array(half, _F)


def _gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    """In float32 step by step, as TFLite's GeluTransformApproximate."""
    x = x.astype(_F)
    inner = _F((2 / np.pi) ** 0.5) * (x + _F(0.044715) * x * x * x)
    return _F(0.5) * x * (_F(1) + np.tanh(inner.astype(np.float64)).astype(_F))


def _elu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, _through(np.expm1)(x), x)


def _plain(function: Function) -> Callable[[Node, Quantization], Function]:
    def make(node: Node, output_params: Quantization) -> Function:
        return function

    return make


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _sigmoid_by_steps(x: np.ndarray) -> np.ndarray:
    """In float32 step by step, as TFLite's kernel: half a step may round the other way."""
    return 1 / (1 + _through(np.exp)(-x))


def _rescaled(
    values: np.ndarray, input_params: Quantization, output_params: Quantization, factor: float = 1.0
) -> np.ndarray:
    """Stored values on the output's scale, times `factor`."""
    if factor < 0:  # halves go the other way
        return 2 * output_params.zero_point - _rescaled(
            values, input_params, output_params, -factor
        )
    fixed = quantize_multiplier(quotient((input_params.scale, factor), (output_params.scale,)))
    return (
        multiply_by_quantized_multiplier(values - input_params.zero_point, *fixed)
        + output_params.zero_point
    )


def _clamp(kind: str) -> TableOf:
    low, high = known(kind).limits

    def table(
        node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
    ) -> np.ndarray:
        limits = wrapped_limits(low, high, required_input(node, 0).dtype, output_params)
        return np.clip(_rescaled(values, input_params, output_params), *limits)

    return table


def _leaky(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    below = _rescaled(values, input_params, output_params, node.options.alpha)
    return np.where(
        values < input_params.zero_point, below, _rescaled(values, input_params, output_params)
    )


def _absolute(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    sizes = abs(values - input_params.zero_point)
    if input_params.scale != output_params.scale:
        sizes = multiply_by_quantized_multiplier(
            sizes, *quantize_multiplier(quotient((input_params.scale,), (output_params.scale,)))
        )
    return sizes + output_params.zero_point


def _negative(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    node.require(
        input_params.scale == output_params.scale,
        f"input and output must have one scale, got {input_params.scale} and {output_params.scale}",
    )
    return input_params.zero_point + output_params.zero_point - values


def _square_root(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    with np.errstate(over="ignore"):
        x = _F(input_params.scale) * np.maximum(values - input_params.zero_point, 0).astype(_F)
        roots = to_int32(np.sqrt(x) / _F(output_params.scale))
    return wrapped(roots + output_params.zero_point)


def _halved(fixed: tuple[int, int]) -> tuple[int, int]:
    """A 31-bit multiplier as 15 bits."""
    multiplier, shift = fixed
    return min((multiplier + (1 << 15)) >> 16, 32767), shift


def _hard_swish(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    """x * clamp(x + 3, 0, 6) / 6 in 16-bit steps, as TFLite's reference kernel.

    That shifts an int32 by more than it has bits from a scale of 5e7 on, with a result that
    depends on where in the tensor a value stands; here the gate is the last one then.
    """
    fine = float(_F(1 / 128) * _F(input_params.scale))
    scale, gate_scale = (quotient((fine,), (one,)) for one in (output_params.scale, 3 / 32768))
    multiplier, shift = _halved(quantize_multiplier(scale, ALL_OF_SHIFT))
    gate_multiplier, gate_shift = _halved(quantize_multiplier(gate_scale, ALL_OF_SHIFT))
    node.require(shift <= 0, f"output scale must exceed {fine}, got {output_params.scale}")
    x = (values - input_params.zero_point) << 7
    on_output = _product_16(x, multiplier)
    gate = x
    if gate_shift > 0:
        factor = int(wrapped(1 << gate_shift - 1)) if gate_shift <= 32 else 1 << 32
        gate = _within_16(gate * factor)
    gate = _product_16(gate, gate_multiplier)
    if gate_shift > 0:
        gate = _within_16(gate << 1)
    gate = (_divided_16(gate, -gate_shift) + (1 << 15)) >> 1
    product = gate * on_output
    product = np.where(product < 0, -(-product >> 15), product >> 15)
    return _divided_16(product, -shift) + output_params.zero_point


def _divided_16(values: np.ndarray, exponent: int) -> np.ndarray:
    """values / 2 ** exponent as `rounding_divide_by_pot` of int16, whose masks end at 16 bits."""
    if exponent < 16:
        return rounding_divide_by_pot(values, exponent)
    return (values >> exponent) + (values >= 0)


def _product_16(a: np.ndarray, b: np.ndarray | int) -> np.ndarray:
    """a * b / 2 ** 15 rounded to nearest, halves up; of int16."""
    return _within_16((a * b + (1 << 14)) >> 15)


def _within_16(values: np.ndarray) -> np.ndarray:
    return np.clip(values, -32768, 32767)


@cache
def _sigmoids() -> np.ndarray:
    """65536 / (1 + exp(-i / 24)), moved by half the error in the middle of the interval."""
    here, middle, after = (65536 * _sigmoid((np.arange(256) + part) / 24) for part in (0, 0.5, 1))
    table = np.rint(here - ((here + after) / 2 - middle) / 2).astype(np.int64)
    return np.append(table[:255], [65535, 65535])


def _input_steps(
    values: np.ndarray, input_params: Quantization, whole_shifts: Sequence[int]
) -> np.ndarray:
    """Quantized values in steps of 1 / 3 / 4096."""
    rough = _F(log(input_params.scale)) * (_F(1) / _F(log(2)))
    shift = 12 + round(float(rough))
    if abs(rough - round(float(rough))) < 1e-3 and shift in whole_shifts:
        return values * (3 << shift)
    factor, shift = input_params.scale * 4096 * 3, 0
    while factor <= 32767 / 2 and shift <= 30:
        factor, shift = factor * 2, shift + 1
    multiplier = int(to_int32(factor))
    if not multiplier:  # TFLite takes the shift for the logarithm of the scale
        multiplier, shift = int(wrapped(3 << shift)), 0
    return wrapped(values * multiplier + ((1 << shift) >> 1)) >> shift


def _between(sizes: np.ndarray, bits: int) -> np.ndarray:
    """The sigmoid of sizes / 24 / 2 ** bits, times 2 ** (16 + bits)."""
    at = np.minimum(sizes >> bits, 255)
    fraction = sizes & ((1 << bits) - 1)
    sigmoids = _sigmoids()
    line = (sigmoids[at] << bits) + fraction * (sigmoids[at + 1] - sigmoids[at])
    return np.where(sizes >> bits >= 255, (65535 if bits == 8 else 65534) << bits, line)


def _tanh_16(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    x = _input_steps(values, input_params, (0, 1))
    y = _between(abs(x), 8)
    y = np.where(x >= 0, y - (1 << 23) + (1 << 7), -y + (1 << 23) + (1 << 7) - 1)
    return y >> 8


def _sigmoid_16(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    x = _input_steps(values, input_params, (0,))
    y = _between(abs(x), 9)
    return np.where(x >= 0, y + (1 << 9), (1 << 25) - y + (1 << 9) - 1) >> 10


def _inverse_root(
    node: Node, values: np.ndarray, input_params: Quantization, output_params: Quantization
) -> np.ndarray:
    """1 / sqrt(x); the largest result where x is not positive."""
    sizes = values - input_params.zero_point
    with np.errstate(over="ignore"):
        scale = float(np.sqrt(_F(input_params.scale)) * _F(output_params.scale))
    multiplier, shift = quantize_multiplier(1 / scale if scale else np.inf, ALL_OF_SHIFT)
    results = (
        multiply_by_quantized_multiplier(
            _roots(input_params.zero_point), multiplier, cyclic_shift(shift - 20)
        )
        + output_params.zero_point
    )
    return np.where(sizes > 0, results, 127)


@lru_cache(16)
def _roots(zero_point: int) -> np.ndarray:
    """2 ** 20 / sqrt(x) of the positive values of int8, without their zero point."""
    inverses, shifts = inverse_sqrt(np.arange(256).astype(np.int8).astype(np.int64) - zero_point)
    roots = np.empty_like(inverses)
    for shift in {*shifts.tolist()}:  # np.unique would import numpy's masked arrays
        alike = shifts == shift
        roots[alike] = multiply_by_quantized_multiplier(1, inverses[alike], 20 - shift)
    return roots


def _rows(make: TableOf, *dtypes: str) -> dict[str, TableOf]:
    return dict.fromkeys(dtypes, make)


_BYTES, _SIGNED, _ALL = ("int8", "uint8"), ("int8", "int16"), ("int8", "uint8", "int16")

TABLES: dict[str, dict[str, TableOf]] = {
    "TANH": {**_rows(partial(_real, _plain(_through(np.tanh))), *_BYTES), "int16": _tanh_16},
    "LOGISTIC": {**_rows(partial(_real, _plain(_sigmoid_by_steps)), *_BYTES), "int16": _sigmoid_16},
    "ELU": _rows(partial(_real, _plain(_elu)), "int8"),
    "EXP": _rows(partial(_real, _plain(_through(np.exp))), *_SIGNED),
    "LOG": _rows(partial(_real, _log), *_SIGNED),
    "GELU": _rows(_gelu, *_ALL),
    "NEG": _rows(_negative, *_SIGNED),
    "RSQRT": {"int8": _inverse_root, "int16": partial(_real, _rsqrt)},
    "SQRT": _rows(_square_root, *_SIGNED),
    "ABS": _rows(_absolute, *_SIGNED),
    "HARD_SWISH": _rows(_hard_swish, *_BYTES),
    "LEAKY_RELU": _rows(_leaky, *_ALL),
    **{kind: _rows(_clamp(kind), *_ALL) for kind in ("RELU", "RELU6")},
    **{kind: _rows(_clamp(kind), *_BYTES) for kind in ("RELU_N1_TO_1", "RELU_0_TO_1")},
}
"""Operator -> type -> the function that makes its table."""
_OF_NONNEGATIVE = ("SQRT", "RSQRT")
"""Operators that fail of a negative number, as in LiteRT; their tables have what stands below 0."""
