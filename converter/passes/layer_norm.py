"""Layer normalisation, recognised from the operators that sources write it with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..ir.graph import Graph, Op, Tensor
from ..lowering.formulas import square_of_difference
from .driver import rewrite
from .formulas import is_product, operands_of
from .linear import SCALED_BEFORE
from .rewrite import (
    NONE,
    activation_of,
    builder,
    constant_of,
    is_float,
    producer_of,
    same_shape,
    scalar_of,
    split_constant,
    swap,
)


class Parts(NamedTuple):
    """The operators of (x - mean) * scale / sqrt(variance + epsilon).

    Attributes:
        subtraction: gives x - mean.
        mean: gives the mean of x.
        square: gives the square of x - mean.
        variance: gives the mean of the squares.
        addition: adds epsilon to the variance.
        root: gives the root of that, or its inverse.
        scaling: multiplies the inverse root by the scale; None without one.
    """

    subtraction: Op
    mean: Op
    square: Op
    variance: Op
    addition: Op
    root: Op
    scaling: Op | None


@rewrite("MUL", "DIV")
def fuse_layer_norm(graph: Graph, op: Op) -> bool:
    """Recognises (x - mean) / sqrt(variance + epsilon).

        x -> MEAN -> m;  SUB(x, m) -> d -> POW(2) -> MEAN -> ADD(e) -> RSQRT -> r;  MUL(d, r) -> y
            becomes      x -> LAYER_NORM(e) -> y
        ... RSQRT -> MUL(c) -> r;  MUL(d, r) -> y
            becomes      x -> LAYER_NORM(e) -> MUL(c) -> y

    Also with SQUARE, MUL(d, d) or SQUARED_DIFFERENCE(x, m) for POW, and DIV by the SQRT. A scale is
    taken out of r only where a linear operator takes it in next. Holds off when a value in between
    has another reader or is an output, and on what `legalize` would write again.
    """
    if activation_of(op) != NONE or not is_float(op.output):
        return False
    for centered, root in (op.inputs,) if op.kind == "DIV" else (op.inputs, op.inputs[::-1]):
        parts = layer_norm_parts(op, centered, root)
        if parts is None or not _is_private(graph, op, parts):
            continue
        x, axes = parts.mean.inputs
        scale = None if parts.scaling is None else _constant_operand(parts.scaling)
        forms = ("SQUARED_DIFFERENCE", square_of_difference(x.rank))
        is_written_so = op.kind == "MUL" and parts.square.kind in forms
        is_gain = not is_written_so if scale is None else _feeds_linear(graph, op.output)
        if not is_gain or not same_shape(x, op.output):
            return False
        b = builder(graph, op)
        y = b.LAYER_NORM(x, axes, _constant_operand(parts.addition))
        swap(graph, op, y if scale is None else b.MUL(y, scale))
        return True
    return False


def layer_norm_parts(op: Op, centered: Tensor, divisor: Tensor) -> Parts | None:
    """The operators of a layer normalisation that ends in `op`; None where it is none."""
    subtraction = producer_of(centered, "SUB")
    scaling = producer_of(divisor, "MUL") if op.kind == "MUL" else None
    if scaling is not None and _constant_operand(scaling) is not None:
        divisor = next(tensor for tensor in scaling.inputs if not tensor.is_constant)
    else:
        scaling = None
    root = producer_of(divisor, "SQRT" if op.kind == "DIV" else "RSQRT")
    addition = producer_of(root.inputs[0], "ADD") if root is not None else None
    if subtraction is None or root is None or addition is None:
        return None
    if scalar_of(addition.inputs[1]) is None:
        return None
    x, mean = subtraction.inputs[0], producer_of(subtraction.inputs[1], "MEAN")
    variance = producer_of(addition.inputs[0], "MEAN")
    square = variance.inputs[0].producer if variance is not None else None
    if mean is None or variance is None or square is None or mean.inputs[0] is not x:
        return None
    if not _is_square(square, centered, x, mean.output) or not _same_axes(mean, variance):
        return None
    return Parts(subtraction, mean, square, variance, addition, root, scaling)


def _constant_operand(op: Op) -> Tensor | None:
    """The constant of an op with two operands, one of them constant."""
    parts = split_constant(op)
    return None if parts is None else op.inputs[parts[2]]


def _is_square(op: Op, centered: Tensor, x: Tensor, mean: Tensor) -> bool:
    """Whether an op gives (x - mean) ** 2."""
    if op.kind == "SQUARED_DIFFERENCE":
        return {*op.inputs} == {x, mean}
    return is_product(op) and operands_of(op) == [centered, centered]


def _same_axes(mean: Op, variance: Op) -> bool:
    """Whether both are taken over the same constant axes and keep the dimensions."""
    rank = mean.inputs[0].rank
    axes = [constant_of(op.inputs[1]) for op in (mean, variance)]
    if rank is None or any(values is None for values in axes):
        return False
    if not (mean.options.keep_dims and variance.options.keep_dims):
        return False
    first, second = (np.unique(values % rank) for values in axes if values is not None)
    return np.array_equal(first, second)


def _is_private(graph: Graph, op: Op, parts: Parts) -> bool:
    """Whether nothing but `op` and the parts reads what the parts give."""
    ops = {op, *(part for part in parts if part is not None)}
    return all(
        activation_of(part) == NONE
        and ops.issuperset(part.output.readers)
        and not graph.is_output(part.output)
        for part in parts
        if part is not None
    )


def _feeds_linear(graph: Graph, tensor: Tensor) -> bool:
    """Whether a linear op with constant weights reads a tensor, or its sum with a constant."""
    reader = graph.sole_reader(tensor)
    if reader is not None and reader.kind == "ADD" and split_constant(reader) is not None:
        reader = graph.sole_reader(reader.output)
    return reader is not None and reader.kind in SCALED_BEFORE and reader.inputs[1].is_constant
