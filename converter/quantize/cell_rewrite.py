"""A recurrent operator on integers: weights, biases, states and the scales of what is within.

    SPLIT(zeros) -> h:f32, c:f32;  LSTM(x, h, c) -> y        becomes

    FILL(shape, zero point) -> h:i8;  FILL(shape, 0) -> c:i16;  LSTM(x:i8, h, c) -> y:i8

States that nothing writes, which LiteRT sets to zero once, stay so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.quantization import Quantization
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..lowering.moves import int32s
from ..passes.rewrite import builder, constant_of
from .cells import HIDDEN, LEAST_CELL, MOST_CELL, POWER_OF_TWO, RESULT, Cell, Product
from .scales import (
    ACTIVATIONS,
    constant,
    of_range,
    of_weights,
    quantized,
    quantized_bias,
    quantized_weights,
)
from .scheme import Integers, dtype_of, integers

if TYPE_CHECKING:
    from .ranges import Scales
    from .rewrite import Rewriter

BIAS = dtype_of("i32")
CODES = {dtype_of(code): code for code in ("i8", "i16")}
RANGES = {"i8": ACTIVATIONS, "i16": integers("i16", symmetric=True, narrow=True)}
"""The integers of values within a cell, by their type."""
ZEROS = ("SPLIT", "SPLIT_V", "TILE", "SLICE")
"""Operators that give zeros of zeros."""


class CellScales(NamedTuple):
    """The scales of what a recurrent operator keeps and computes within.

    Attributes:
        states: of its states, by operand.
        inner: of its intermediate tensors; None for those that tell nothing.
    """

    states: dict[str, Quantization]
    inner: dict[int, Quantization | None]


def scales_of_cell(op: Op, cell: Cell, scales: Scales) -> CellScales | None:
    """The scales within `op`; None where they were not measured, or the kernel has no room."""
    ranges, states = scales.needs.calibrated, {}
    inner: dict[int, Quantization | None] = {}
    for name, (code, kind) in cell.states.items():
        state = cell.operand(op, name)
        if state not in ranges:
            return None
        largest = max(map(abs, ranges[state]))
        if kind == POWER_OF_TWO and largest > MOST_CELL:
            return None
        states[name] = (
            scales.result(op, 0) if kind == RESULT else of_state(largest, integers_of(code), kind)
        )
    for (i, (code, name)), tensor in zip(cell.inner.items(), op.intermediates, strict=True):
        if cell.operand(op, name) is None:
            inner[i] = scales.result(op, 0) if i == HIDDEN else None
        elif tensor not in ranges:
            return None
        else:
            inner[i] = of_range(*ranges[tensor], RANGES[code])
    for i, other in cell.stand_ins.items():
        inner[i] = inner[i] or inner[other]
    return CellScales(states, inner)


def integers_of(code: str) -> Integers:
    """The symmetric integers of a type, the lowest left out."""
    return integers(code, symmetric=True, narrow=True)


def of_state(largest: float, limits: Integers, kind: str) -> Quantization:
    """The scale of a state without a zero point."""
    if kind != POWER_OF_TWO:
        return of_range(-largest, largest, limits)
    bound = 2.0 ** np.ceil(np.log2(max(largest, LEAST_CELL)))
    return Quantization([bound / (limits.high + 1)], [0])


def quantize_cell(rewriter: Rewriter, op: Op, cell: Cell, scales: Scales) -> None:
    """Lets a recurrent operator work on integers."""
    within = scales_of_cell(op, cell, scales)
    assert within is not None  # asked before
    x = scales.required(op, 0)
    params = {"x": x, **within.states}
    for name, code in cell.weights.items():
        tensor = cell.operand(op, name)
        if tensor is not None:
            limits = integers_of(code)
            limits = limits._replace(high=cell.reach.get(name, limits.high))
            limits = limits._replace(low=-limits.high)
            params[name] = of_weights(tensor.data, None, limits)
            array = quantized_weights(tensor.data, params[name], limits)
            op.set_input(cell.position(name), constant(tensor, array, params[name]))
    for name, products in cell.biases.items():
        tensor = cell.operand(op, name)
        if tensor is not None:
            scale = scale_of_bias(products, params, within.inner)
            array = quantized_bias(tensor.data, scale, BIAS)
            op.set_input(cell.position(name), constant(tensor, array, scale))
    for name, (code, _) in cell.states.items():
        state, dtype = cell.operand(op, name), dtype_of(code)
        assert state is not None
        quantized_state = written_state(rewriter, op, state, dtype, params[name])
        op.set_input(cell.position(name), quantized_state)
        remove_unread(rewriter.graph, state.producer)
    for (i, (code, _)), tensor in zip(cell.inner.items(), op.intermediates, strict=True):
        if (inner := within.inner[i]) is not None:
            tensor.dtype, tensor.quantization = dtype_of(code), inner
    entering = op.inputs[0]
    op.set_input(0, rewriter.as_integers(entering, dtype_of("i8"), x, op))
    rewriter.quantize_result(op, 0, op.output, scales)


def scale_of_bias(
    products: tuple[Product, ...],
    params: dict[str, Quantization],
    inner: dict[int, Quantization | None],
) -> Quantization:
    """The scale of a bias: the first product whose operands are there."""
    product = next(one for one in products if all(name in params for name in one.operands))
    scale = 1.0 / product.steps
    for name in product.operands:
        scale *= params[name].scale
    hidden = None if product.intermediate is None else inner[product.intermediate]
    return Quantization([scale * (1.0 if hidden is None else hidden.scale)], [0])


def written_state(
    rewriter: Rewriter, op: Op, state: Tensor, dtype: np.dtype, params: Quantization
) -> Tensor:
    """A variable of integers in the place of `state`, written as that is."""
    result = Tensor(state.name, dtype, state.sizes, quantization=params)
    writer, graph = state.producer, rewriter.graph
    if writer is None:
        result.is_variable = True
        return result
    if is_zeros(state):
        b = builder(graph, op)
        zero = np.full((), params.zero_point, dtype)
        value = Tensor(f"{state.name}/zero", dtype, (), zero, quantization=params)
        filled = b.FILL(shape_of(b, op, state), value)
        filled.name, filled.quantization, result = state.name, params, filled
    else:
        source = writer.inputs[0] if writer.kind == "SLICE" else state
        if source.is_constant:
            array = quantized(source.data, params, RANGES[CODES[dtype]])
            result = builder(graph, op).SLICE(
                constant(source, array, params), int32s([0, 0]), int32s([-1, -1])
            )
            result.name, result.quantization = state.name, params
        else:
            rewriter.insert("QUANTIZE", source, result, op)
    result.is_variable = True
    return result


def shape_of(b: Builder, op: Op, state: Tensor) -> Tensor:
    """The shape of a state [batch, n]."""
    batch, n = state.dims
    assert n is not None  # as many as rows of the weights
    if batch is not None:
        return b.constant(int32s([batch, n]))
    axis = 1 if getattr(op.options, "time_major", False) else 0
    sizes = b.STRIDED_SLICE(b.SHAPE(op.inputs[0]), *map(int32s, ([axis], [axis + 1], [1])))
    return b.CONCATENATION(sizes, int32s([n]))


def is_zeros(tensor: Tensor | None) -> bool:
    """Whether a tensor is computed of nothing but zeros."""
    value = constant_of(tensor)
    if tensor is None or value is not None:
        return value is not None and not value.any()
    op = tensor.producer
    if op is None or op.kind not in (*ZEROS, "ZEROS_LIKE"):
        return False
    return op.kind == "ZEROS_LIKE" or is_zeros(op.inputs[1 if op.kind == "SPLIT" else 0])


def remove_unread(graph: Graph, op: Op | None) -> None:
    """Takes an operator whose results nobody reads out, and those that it was alone to read."""
    if op is None or any(y.readers or graph.is_output(y) for y in op.outputs):
        return
    sources = [tensor.producer for tensor in op.present_inputs]
    graph.remove(op)
    for source in sources:
        remove_unread(graph, source)
