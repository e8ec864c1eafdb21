"""Constants around convolutions and matrix products move into their weights and bias.

Batch normalisation is MUL and ADD here, a bias is ADD, so one rule does for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...schema.tables import FULLY_CONNECTED_OPTIONS_WEIGHTS_FORMAT, PADDING
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Sizes, Tensor
from ..ir.pseudo import operator
from .driver import rewrite
from .reshape import constant_shape
from .rewrite import (
    LINEAR,
    NONE,
    RESHAPES,
    activation_of,
    builder,
    constant_of,
    is_float,
    options_of,
    producer_of,
    same_shape,
    split_constant,
    swap,
    with_options,
)

VALID = PADDING["VALID"]
DEFAULT = FULLY_CONNECTED_OPTIONS_WEIGHTS_FORMAT["DEFAULT"]
OPERAND_POSITIONS = {
    kind: (*row.operand_numbers("weights"), row.position("bias"), *row.numbers("channels"))
    for kind, row in ((kind, operator(kind)) for kind in sorted(LINEAR))
}
"""Linear op -> where its weights and its bias are, and the weights' axis of output channels."""
SCALED_BEFORE = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
"""Operators into whose weights `fuse_affine_before` moves a scale."""
AFFINE = ("ADD", "SUB", "MUL", "DIV", "NEG")


class Affine(NamedTuple):
    """x * scale + offset; None stands for 1 and 0."""

    x: Tensor
    scale: np.ndarray | None
    offset: np.ndarray | None


def affine(op: Op) -> Affine | None:
    """What an ADD, SUB, MUL, DIV or NEG of floats does with its one input that is not constant."""
    if not is_float(op.output):
        return None
    if op.kind == "NEG":
        return Affine(op.inputs[0], np.full(1, -1.0), None)
    parts = split_constant(op)
    if parts is None:
        return None
    x, value, position = parts
    value = value.astype(np.float64)
    if op.kind == "ADD":
        return Affine(x, None, value)
    if op.kind == "SUB":
        return Affine(x, None, -value) if position == 1 else Affine(x, np.full(1, -1.0), value)
    if op.kind == "MUL":
        return Affine(x, value, None)
    if position == 1 and np.all(value != 0):
        return Affine(x, 1.0 / value, None)
    return None


def per_channel(value: np.ndarray, n: int) -> np.ndarray | None:
    """`value` as a vector over the `n` channels of the last axis; None when it varies elsewhere."""
    if value.size == 1:
        return np.full(n, value.ravel()[0])
    return value.ravel() if value.size == n == value.shape[-1] else None


class Linear(NamedTuple):
    """A convolution or matrix product with constant weights."""

    op: Op
    weights: np.ndarray | None
    bias: np.ndarray | None
    axis: int
    n: int

    @classmethod
    def of(cls, op: Op | None) -> Linear | None:
        """`op` as a Linear; None when its weights or bias are of another sort."""
        if op is None or op.kind not in LINEAR or not is_float(op.output):
            return None
        if getattr(op.options, "weights_format", DEFAULT) != DEFAULT:
            return None
        position, bias_position, axis = OPERAND_POSITIONS[op.kind]
        weights, bias = op.input(position), op.input(bias_position)
        value = constant_of(weights)
        n = None if weights is None or weights.shape is None else weights.shape[axis]
        if weights is None or n is None:
            return None
        if not is_float(weights) or (bias is not None and constant_of(bias) is None):
            return None
        if value is not None and (weights.quantization or weights.sparsity):
            return None
        return cls(op, value, constant_of(bias), axis, n)

    def scaled(self, scale: np.ndarray) -> np.ndarray:
        """The weights times `scale` along the result's channels."""
        weights = self.op.inputs[1].data
        shape = [1] * weights.ndim
        shape[self.axis] = self.n
        with np.errstate(all="ignore"):
            return (weights * scale.reshape(shape)).astype(weights.dtype)

    def rewrite(self, b: Builder, weights: np.ndarray | None, bias: np.ndarray | None) -> None:
        """Gives the op other weights and another bias, where they are not None."""
        op = self.op
        if weights is not None:
            op.set_input(1, b.constant(weights, op.inputs[1].name))
        if bias is not None:
            position = OPERAND_POSITIONS[op.kind][1]
            before = op.input(position)
            name = before.name if before is not None else f"{b.origin_name}/bias"
            op.set_input(position, b.constant(bias.astype(op.output.dtype), name))


def _leading(tensor: Tensor) -> Sizes | None:
    """All dimensions but the last."""
    return None if tensor.sizes is None else tensor.sizes[:-1]


@rewrite(*AFFINE)
def fuse_affine_after(graph: Graph, op: Op) -> bool:
    """Moves ADD, SUB, MUL, DIV by a constant for each channel, and NEG, into the op before.

        x -> CONV_2D(w, b) -> y -> MUL(c) -> z      becomes      x -> CONV_2D(w * c, b * c) -> z
        x -> CONV_2D(w, b) -> y -> ADD(c) -> z      becomes      x -> CONV_2D(w, b + c) -> z

    Holds off when y has another reader or is an output, the constant varies along another axis or
    changes the shape, the first op has an activation, its weights are to be scaled and are not
    constant, or what they become is not finite.
    """
    after = affine(op)
    linear = None if after is None else Linear.of(after.x.producer)
    if after is None or linear is None or graph.sole_reader(after.x) is not op:
        return False
    if activation_of(linear.op) != NONE or not same_shape(after.x, op.output):
        return False
    scale, offset = (
        None if part is None else per_channel(part, linear.n)
        for part in (after.scale, after.offset)
    )
    if (scale is None) != (after.scale is None) or (offset is None) != (after.offset is None):
        return False
    if scale is not None and linear.weights is None:
        return False
    bias = None if linear.bias is None else linear.bias.astype(np.float64)
    if scale is not None and bias is not None:
        bias = bias * scale
    if offset is not None:
        bias = offset if bias is None else bias + offset
    weights = None if scale is None else linear.scaled(scale)
    if not all(part is None or np.all(np.isfinite(part)) for part in (weights, bias)):
        return False
    stated = linear.op.inputs[1].fake_quant
    linear.rewrite(builder(graph, op), weights, bias)
    if stated is not None and scale is not None:
        linear.op.inputs[1].fake_quant = stated.scaled(scale, linear.axis)
    if activation_of(op) != NONE:
        with_options(linear.op, fused_activation_function=activation_of(op))
    graph.absorb(linear.op, op)
    return True


@rewrite(*SCALED_BEFORE)
def fuse_affine_before(graph: Graph, op: Op) -> bool:
    """Moves ADD, SUB, MUL, DIV by a constant for each channel, and NEG, into the op after.

        x -> MUL(c) -> CONV_2D(w, b) -> y      becomes      x -> CONV_2D(w * c, b) -> y
        x -> ADD(c) -> CONV_2D(w, b) -> y      becomes      x -> CONV_2D(w, b + sum(w * c)) -> y

    Where the value in between has another reader or is an output, it stays for that, and one
    rounding less comes before this op; holds off then where the constant is a factor for each
    channel, which would make the weights uneven, and where other ops read the weights. Holds off on
    an activation in between, on ADD before anything that pads, where the constant varies along
    another axis, and where weights that the source fake-quantized would be scaled.
    """
    return _fuse_before(graph, op)


@rewrite(*SCALED_BEFORE)
def fuse_factors_before(graph: Graph, op: Op) -> bool:
    """The same where the value in between has other readers, for a factor for each channel.

    x -> MUL(c) -> y, ADD, FULLY_CONNECTED(w)   becomes   x -> MUL(c) -> y, ADD; FC(x, w * c)
    """
    return _fuse_before(graph, op, takes_uneven=True)


def _fuse_before(graph: Graph, op: Op, takes_uneven: bool = False) -> bool:
    """Both of the passes above."""
    linear = Linear.of(op)
    before = producer_of(op.inputs[0], *AFFINE)
    y = op.inputs[0]
    if linear is None or linear.weights is None or before is None:
        return False
    if activation_of(before) != NONE:
        return False
    inner, is_sole = affine(before), graph.sole_reader(y) is op
    if inner is not None and not is_sole:
        is_uneven = inner.scale is not None and inner.scale.size > 1
        if (is_uneven and not takes_uneven) or any(
            graph.sole_reader(x) is not op for x in op.present_inputs[1:]
        ):
            return False
    if inner is None or not same_shape(inner.x, y) or not y.shape:
        return False
    channels = y.shape[-1]
    if channels is None:  # which is no matter where all have the same factor
        if any(part is not None and part.size > 1 for part in (inner.scale, inner.offset)):
            return False
        channels = op.inputs[1].data.shape[-1]
    if inner.offset is not None and getattr(op.options, "padding", VALID) != VALID:
        return False
    if inner.scale is not None and op.inputs[1].fake_quant is not None:
        return False
    folded = _fold_before(linear, inner, channels)
    if folded is None:
        return False
    linear.rewrite(builder(graph, op), *folded)
    op.set_input(0, inner.x)
    if is_sole:
        graph.remove(before)
    return True


def _fold_before(linear: Linear, inner: Affine, channels: int) -> tuple | None:
    """(weights, bias) of a linear op that takes `inner.x` instead of the affine result."""
    weights = linear.op.inputs[1].data
    if linear.op.kind == "DEPTHWISE_CONV_2D":
        if linear.n % channels:
            return None
        repeat, axes = linear.n // channels, (0, 1, 2)
    elif weights.shape[-1] == channels:
        repeat, axes = 1, tuple(range(1, weights.ndim))
    else:
        return None
    parts = [
        None if part is None else per_channel(part, channels)
        for part in (inner.scale, inner.offset)
    ]
    if (parts[0] is None) != (inner.scale is None) or (parts[1] is None) != (inner.offset is None):
        return None
    scale, offset = (None if part is None else np.repeat(part, repeat) for part in parts)
    bias = None
    if offset is not None:
        bias = (weights.astype(np.float64) * offset).sum(axis=axes)
        bias = bias if linear.bias is None else bias + linear.bias
    return None if scale is None else (weights * scale).astype(weights.dtype), bias


@rewrite("ADD")
def move_bias_to_addend(graph: Graph, op: Op) -> bool:
    """Moves the ADD of a constant from a sum to a part of it that can take it in.

        FULLY_CONNECTED -> a;  ADD(a, b) -> ADD(c) -> y
            becomes      FULLY_CONNECTED -> ADD(c) -> a;  ADD(a, b) -> y

    Holds off when a or the sum has another reader or is an output, a is broadcast in the sum, or
    there is an activation before c.
    """
    parts = split_constant(op)
    total = None if parts is None else producer_of(parts[0], "ADD")
    if parts is None or total is None or activation_of(total) != NONE or not is_float(op.output):
        return False
    if graph.sole_reader(total.output) is not op or not same_shape(total.output, op.output):
        return False
    for i, part in enumerate(total.inputs):
        linear = Linear.of(part.producer)
        if linear is None or graph.sole_reader(part) is not total:
            continue
        if activation_of(linear.op) != NONE or not same_shape(part, total.output):
            continue
        if per_channel(parts[1], linear.n) is None:
            continue
        b = builder(graph, total)
        total.set_input(i, b.ADD(part, op.inputs[parts[2]]))
        with_options(total, fused_activation_function=activation_of(op))
        graph.absorb(total, op)
        return True
    return False


@rewrite("MUL", "DIV")
def fuse_scale_into_matmul(graph: Graph, op: Op) -> bool:
    """Moves a number that scales a product of computed matrices into weights before it.

        FULLY_CONNECTED -> RESHAPE -> TRANSPOSE -> q;  BATCH_MATMUL(q, k) -> MUL(0.35) -> y
            becomes      FULLY_CONNECTED (w * 0.35, b * 0.35) -> RESHAPE -> TRANSPOSE -> q; ...

    Holds off when a value in between has another reader or is an output, or neither matrix comes
    from constant weights.
    """
    product = producer_of(op.inputs[0], "BATCH_MATMUL")
    after = affine(op)
    if product is None or after is None or activation_of(op) != NONE:
        return False
    if after.scale is None or after.scale.size != 1 or graph.sole_reader(product.output) is not op:
        return False
    for tensor in product.inputs:
        linear = _weights_of(graph, tensor, product)
        if linear is None or not same_shape(product.output, op.output):
            continue
        scale = np.full(linear.n, after.scale.ravel()[0])
        bias = None if linear.bias is None else linear.bias * scale
        linear.rewrite(builder(graph, linear.op), linear.scaled(scale), bias)
        graph.absorb(product, op)
        return True
    return False


def _weights_of(graph: Graph, tensor: Tensor, reader: Op) -> Linear | None:
    """The linear op, without activation, that gives `tensor` to `reader` but for its shape."""
    while graph.sole_reader(tensor) is reader and tensor.producer is not None:
        op = tensor.producer
        if op.kind not in RESHAPES and op.kind != "TRANSPOSE":
            linear = Linear.of(op)
            plain = linear is not None and linear.weights is not None
            return linear if plain and activation_of(op) == NONE else None
        tensor, reader = op.inputs[0], op
    return None


@rewrite("CONV_2D", "DEPTHWISE_CONV_2D")
def add_missing_bias(graph: Graph, op: Op) -> bool:
    """Gives convolutions without a bias one of zeros.

        x -> CONV_2D(w) -> y      becomes      x -> CONV_2D(w, zeros) -> y

    Several runtimes and delegates take no convolution without one. Holds off on ops that cannot
    have one of floats.
    """
    linear = Linear.of(op)
    if linear is not None and op.input(2) is None:
        zeros = np.zeros(linear.n, op.output.dtype)
        op.set_input(2, builder(graph, op).constant(zeros, op.inputs[1].name))
        return True
    return False


@rewrite("BATCH_MATMUL")
def matmul_to_fully_connected(graph: Graph, op: Op) -> bool:
    """Turns a product with one constant matrix on the right into FULLY_CONNECTED.

        x -> BATCH_MATMUL(c) -> y      becomes      x -> FULLY_CONNECTED(transposed c) -> y

    Holds off when c is a stack of matrices, or x is transposed first.
    """
    x, right = op.inputs
    matrix = constant_of(right)
    if matrix is None or x.is_constant or op.options.adj_x or not is_float(right):
        return False
    if x.rank is None or x.rank < 2 or matrix.size != np.prod(matrix.shape[-2:]):
        return False
    if matrix.ndim > x.rank or matrix.ndim < 2:
        return False
    matrix = matrix.reshape(matrix.shape[-2:])
    matrix = matrix if op.options.adj_y else matrix.T
    b = builder(graph, op)
    weights = b.constant(matrix, right.name)
    if right.fake_quant is not None and right.data.ndim == 2:
        order = (0, 1) if op.options.adj_y else (1, 0)
        weights.fake_quant = right.fake_quant.transposed(order)
    swap(graph, op, b.FULLY_CONNECTED(x, weights, None, keep_num_dims=x.rank > 2))
    return True


@rewrite("BATCH_MATMUL")
def merge_matmul_reshape(graph: Graph, op: Op) -> bool:
    """Lets BATCH_MATMUL keep the leading dimensions that reshapes around it merge and split.

        x[a,b,k] -> RESHAPE [a*b,k] -> BATCH_MATMUL(y[k,n]) -> RESHAPE -> z
            becomes      x[a,b,k] -> BATCH_MATMUL(y) -> RESHAPE -> z

    Holds off when a value in between has another reader or is an output, or y is a stack.
    """
    first = producer_of(op.inputs[0], "RESHAPE")
    last = graph.sole_reader(op.output)
    if first is None or last is None or last.kind != "RESHAPE" or op.options.adj_x:
        return False
    x, merged, right = first.inputs[0], op.inputs[0], op.inputs[1]
    if graph.sole_reader(merged) is not op or merged.rank != 2 or right.rank != 2:
        return False
    if x.rank is None or x.rank < 2 or x.dims[-1] is None or x.dims[-1] != merged.dims[-1]:
        return False
    b = builder(graph, op)
    swap(graph, op, b.BATCH_MATMUL(x, right, **options_of(op)))
    graph.remove(first)
    return True


@rewrite("FULLY_CONNECTED")
def merge_fully_connected_reshapes(graph: Graph, op: Op) -> bool:
    """Lets FULLY_CONNECTED keep the leading dimensions that reshapes around it merge and restore.

        x[b,t,k] -> RESHAPE [b*t,k] -> FULLY_CONNECTED -> RESHAPE [b,t,n] -> y
            becomes      x[b,t,k] -> FULLY_CONNECTED(keep_num_dims) -> y

    Where x has other dimensions, one RESHAPE gives it those of y. Holds off when a value in between
    has another reader or is an output, or two dimensions of y are unknown.
    """
    first = producer_of(op.inputs[0], "RESHAPE")
    last = graph.sole_reader(op.output)
    if first is None or last is None or last.kind not in ("RESHAPE", "EXPAND_DIMS"):
        return False
    x, y = first.inputs[0], last.output
    if not x.rank or not y.rank or y.dims[-1] != op.output.dims[-1]:
        return False
    size = op.inputs[0].dims[-1]
    if size is None or graph.sole_reader(op.inputs[0]) is not op:
        return False
    if x.dims[-1] != size or _leading(x) != _leading(y):
        shape = constant_shape(y)
        if shape is None or len(shape) < 3:
            return False
        b = builder(graph, op)
        x = b.RESHAPE(x, b.constant(np.array([*shape[:-1], size], np.int32)))
    op.set_input(0, x)
    with_options(op, keep_num_dims=True)
    graph.absorb(op, last)
    graph.remove(first)
    return True


@rewrite("FULLY_CONNECTED")
def drop_merging_reshapes(graph: Graph, op: Op) -> bool:
    """Lets FULLY_CONNECTED merge the leading dimensions itself, which it does by default.

        x[b,t,k] -> RESHAPE [b*t,k] -> FULLY_CONNECTED -> y[b*t,n]
            becomes      x[b,t,k] -> FULLY_CONNECTED -> y[b*t,n]

    Holds off when something else reads the RESHAPE too, which then stays.
    """
    first = producer_of(op.inputs[0], "RESHAPE")
    if first is None or op.options.keep_num_dims or op.output.rank != 2:
        return False
    x, size = first.inputs[0], op.inputs[0].dims[-1]
    if x.rank is None or x.rank < 2 or size is None or x.dims[-1] != size:
        return False
    if graph.sole_reader(op.inputs[0]) is not op:
        return False
    op.set_input(0, x)
    graph.remove(first)
    return True
