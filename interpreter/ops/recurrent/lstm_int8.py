"""LSTM of one step over int8, whose products are rounded to int8 before they are added.

Twelve intermediate tensors have the scales: for each gate those of the sum, of the product with the
input and of the product with the state. TFLite computes it with coupled gates only: weights of the
input gate are not read.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....engine.families.fixedpoint import multiply_by_quantized_multiplier, rounding_divide_by_pot
from ....engine.families.multipliers import quantize_multiplier
from ....schema.dtypes import tf_name
from ..quantized import quantization_of
from .rnn import initialized, state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....engine.families.recurrent import SequenceLayout
    from ....engine.plan.program import Program
    from ...plan.node import Emit, Node, Operand
    from .lstm import Parts

INTERMEDIATES = 12
_FORGET, _OUTPUT, _NEW = 1, 2, 3
"""Gates in the order of Parts."""
_OF_GATES = {_FORGET: (3, 4, 5), _NEW: (6, 7, 8), _OUTPUT: (9, 10, 11)}
"""Gate -> the intermediates of its sum and its two products."""
_CELL_SCALE = 2.0**-15
"""What TFLite computes with, whatever scale the cell state has."""
_CELL_TYPES = ("int16", "int32")
"""TFLite keeps int16 in the memory of either."""
_STEPS = 15  # bits after the point of gates and of the cell

_Multiplier = tuple[int, int]


class _Product(NamedTuple):
    """A product with weights [n, k], as int8 and as a part of a sum of int16.

    Attributes:
        weights: transposed, int64.
        zero_point: of what is multiplied.
        scale: from the product to int8.
        product_zero_point: of the product as int8.
        to_sum: from there to the sum.
    """

    weights: np.ndarray
    zero_point: int
    scale: _Multiplier
    product_zero_point: int
    to_sum: _Multiplier

    def term(self, x: np.ndarray) -> np.ndarray:
        """What the product with `x` adds to the sum."""
        zero = self.product_zero_point
        sums = (x.astype(np.int64) - self.zero_point) @ self.weights
        product = np.clip(multiply_by_quantized_multiplier(sums, *self.scale) + zero, -128, 127)
        return multiply_by_quantized_multiplier(product - zero, *self.to_sum)


class _Gate(NamedTuple):
    """One gate: the sum of two products, normalized, and a curve."""

    products: tuple[_Product, _Product]
    coefficients: np.ndarray
    scale: np.float32
    bias: np.ndarray
    curve: np.ndarray

    def values(self, x: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """int16 with 15 bits after the point, as int64."""
        terms = [
            product.term(operand)
            for product, operand in zip(self.products, (x, hidden), strict=True)
        ]
        return self.curve[self._normalized(np.clip(sum(terms), -32768, 32767)) + 32768]

    def _normalized(self, sums: np.ndarray) -> np.ndarray:
        """Layer norm in float32, sums one after the other as in TFLite."""
        values, n = sums.astype(np.float32), np.float32(sums.shape[1])
        mean = np.add.accumulate(values, axis=1)[:, -1:] / n
        variance = np.add.accumulate(values * values, axis=1)[:, -1:] / n - mean * mean
        one = np.float32(1)
        inverse = one / np.sqrt(np.where(variance == 0, np.float32(1e-8), variance))
        weighted = (values - mean) * inverse * self.coefficients * self.scale
        weighted += self.bias * (np.float32(2.0**-10) * self.scale)
        steps = weighted.astype(np.float64) * 4096
        rounded = np.trunc(steps + np.copysign(0.5, steps))
        return np.clip(np.nan_to_num(rounded, nan=-32768), -32768, 32767).astype(np.int64)


class _Cell(NamedTuple):
    """The cell: gates, the projection and the limits of both states, 0 for none."""

    forget: _Gate
    new: _Gate
    output: _Gate
    projection: np.ndarray
    projection_bias: np.ndarray
    projection_scale: _Multiplier
    zero_point: int
    limits: tuple[int, int]

    def step(
        self, x: np.ndarray, hidden: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Both states after a step: int8 and int16, as int64."""
        forget, new = self.forget.values(x, hidden), self.new.values(x, hidden)
        remembered = rounding_divide_by_pot(forget * memory, _STEPS)
        added = rounding_divide_by_pot((32767 - forget) * new, _STEPS)
        memory = np.clip(remembered + added, -32768, 32767)
        if self.limits[0] > 0:
            memory = np.clip(memory, -self.limits[0], self.limits[0])
        bent = _curves()[2][memory + 32768]
        outputs = rounding_divide_by_pot(self.output.values(x, hidden) * bent, _STEPS)
        sums = outputs @ self.projection + self.projection_bias
        hidden = np.clip(_scaled(sums, *self.projection_scale) + self.zero_point, -128, 127)
        if self.limits[1] > 0:
            hidden = np.clip(hidden, -self.limits[1], self.limits[1])
        return hidden, memory


def lstm_int8(
    node: Node,
    x: Operand,
    parts: Parts,
    positions: tuple[int, int],
    layout: SequenceLayout,
    sizes: tuple[int, int],
) -> Emit:
    """`emit` of one step; `positions` are of the states, `sizes` cells and elements of a result."""
    n, n_out = sizes
    node.require(
        any(parts.norms) and parts.projection_bias is not None,
        f"int8 with {INTERMEDIATES} intermediate tensors needs layer norm coefficients, and a "
        "projection with a bias",
    )
    hidden = state_of(node, positions[0], layout.batch, n_out)
    memory = state_of(node, positions[1], layout.batch, n)
    cell = _cell(node, x, parts, positions)
    out = node.result((*x.shape[:-1], n_out), np.int8)

    def run(
        x: np.ndarray,
        hidden: np.ndarray,
        memory: np.ndarray,
        hidden_after: np.ndarray,
        memory_after: np.ndarray,
        out: np.ndarray,
    ) -> None:
        before, updated = _as_int16(memory), _as_int16(memory_after)
        with np.errstate(all="ignore"):
            after = cell.step(x, hidden, before.astype(np.int64))
        hidden_after[...], updated[...] = after
        out[...] = after[0]

    def emit(program: Program) -> None:
        states = initialized(program, hidden), initialized(program, memory)
        program.host(run, (x, *states), (*states, out))

    return emit


def _as_int16(memory: np.ndarray) -> np.ndarray:
    """The int16 that a cell state [batch, n] begins with."""
    numbers = memory.reshape(-1).view(np.int16)
    return numbers[: memory.size].reshape(memory.shape)


def _cell(node: Node, x: Operand, parts: Parts, positions: tuple[int, int]) -> _Cell:
    hidden, memory = (node.inputs[place] for place in positions)
    assert hidden is not None and memory is not None
    states = ((hidden, ("int8",)), (memory, _CELL_TYPES))
    for state, names in states:
        node.require(
            state.dtype.name in names,
            f"'{state.name}' must be {' or '.join(names)}, got {tf_name(state.dtype)}",
        )
    inner = [
        quantization_of(node, tensor, f"intermediate tensor {i}")
        for i, tensor in enumerate(node.intermediates)
    ]
    scales = [np.float32(one.scale) for one in inner]
    zero_points = [int(one.zero_point) for one in inner]
    to_sums = [
        quantize_multiplier(float(scales[product] / scales[total]))
        for total, *products in ((0, 1, 2), *_OF_GATES.values())
        for product in products
    ]

    def product(operand: Operand, weights: Operand | None, at: int, remainder: int) -> _Product:
        assert weights is not None
        ratio = _scale(node, weights) * _scale(node, operand) / scales[at]
        return _Product(
            _value(node, weights, np.int8).T.astype(np.int64),
            quantization_of(node, operand, f"'{operand.name}'").zero_point,
            quantize_multiplier(float(ratio)),
            zero_points[at],
            to_sums[remainder],
        )

    def gate(i: int, curve: int) -> _Gate:
        norm, bias = parts.norms[i], parts.biases[i]
        assert norm is not None and bias is not None
        _, of_input, of_state = _OF_GATES[i]
        remainder = 2 * (of_input // 3)
        multiplier, shift = quantize_multiplier(float(_scale(node, norm)))
        first = product(x, parts.weights[i], of_input, remainder)
        second = product(hidden, parts.recurrent[i], of_state, remainder + 1)
        if i == _OUTPUT:  # TFLite reads other entries of its tables: a shift as multiplier
            odd = to_sums[3][1], to_sums[7][1]
            second = second._replace(product_zero_point=zero_points[7], to_sum=odd)
        return _Gate(
            (first, second),
            _value(node, norm, np.int16).astype(np.float32),
            np.float32(multiplier * 2.0 ** (shift - 31)),
            _value(node, bias, np.int32).astype(np.float32),
            _curves()[curve],
        )

    assert parts.projection is not None and parts.projection_bias is not None
    projected = float(_scale(node, parts.projection)) * _CELL_SCALE / float(_scale(node, hidden))
    return _Cell(
        gate(_FORGET, 0),
        gate(_NEW, 1),
        gate(_OUTPUT, 0),
        _value(node, parts.projection, np.int8).T.astype(np.int64),
        _value(node, parts.projection_bias, np.int32).astype(np.int64),
        quantize_multiplier(float(np.float32(projected))),
        quantization_of(node, hidden, f"'{hidden.name}'").zero_point,
        _limits(node, _scale(node, memory)),
    )


def _limits(node: Node, cell_scale: np.float32) -> tuple[int, int]:
    """Limits of both states, cell and result, 0 for none.

    TFLite reads them only where the cell state has the scale that it computes with.
    """
    if cell_scale != _CELL_SCALE:
        return 0, 0
    options, out = node.options, quantization_of(node, node.outputs[0], "the output")
    cell_clip = options.cell_clip if 0 < options.cell_clip < 1 else 0.0
    return (
        int(min(np.float32(cell_clip) / cell_scale, 32767)),
        int(min(np.float32(options.proj_clip) / np.float32(out.scale), 127)),
    )


def _scale(node: Node, part: Operand) -> np.float32:
    """The one scale of an input."""
    quantization = quantization_of(node, part, f"'{part.name}'")
    node.require(
        not quantization.is_per_channel and quantization.scale > 0,
        f"'{part.name}' must have one positive scale, got {quantization.scales.tolist()}",
    )
    return np.float32(quantization.scale)


def _value(node: Node, part: Operand, dtype: type[np.signedinteger]) -> np.ndarray:
    """What a constant input of this type holds."""
    node.require(
        part.dtype == dtype and part.value is not None,
        f"'{part.name}' must be a constant {np.dtype(dtype)}, got {tf_name(part.dtype)}",
    )
    assert part.value is not None
    return part.value


def _scaled(sums: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """MultiplyByQuantizedMultiplier of int64, with a multiplier of 16 bits."""
    reduced = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    right = 15 - shift
    return (sums * reduced + (1 << (right - 1))) >> right


@lru_cache(1)
def _curves() -> Sequence[np.ndarray]:
    """Logistic and tanh of int16 in steps of 2 ** -12, and tanh of those of 2 ** -15.

    Each is computed in float32, as a C library does that rounds correctly, and cut to 15 bits after
    the point. The GNU C library before 2.41 gives tanh of 60 of these numbers a step less or more.
    """
    steps = np.arange(-32768, 32768, dtype=np.float64)
    x = steps * 2.0**-12
    one = np.float32(1)
    logistic = one / (one + np.exp(-x).astype(np.float32))
    curves = (logistic, *(np.tanh(x).astype(np.float32) for x in (x, steps * 2.0**-15)))
    return tuple(
        np.minimum(np.trunc(curve * np.float32(32768)), 32767).astype(np.int64) for curve in curves
    )
