"""Sums, squares and roots that TFLite has an operator for."""

from __future__ import annotations

from math import isclose

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Graph, Op, Tensor
from ..lowering.formulas import square_of_difference
from .driver import rewrite
from .formulas import is_product, operands_of
from .rewrite import (
    NONE,
    activation_of,
    builder,
    constant_of,
    is_float,
    producer_of,
    same_shape,
    scalar_of,
    swap,
)

EPSILONS = {"MAXIMUM": 1.01e-5, "ADD": 1.01e-8}
"""The largest epsilon that L2_NORMALIZATION stands for, by the op that brings it in."""
_KERNEL_EPSILON = 1.01e-12
"""What the kernel has itself: the only one for vectors of one element, of which many are short."""

RELU = ACTIVATION_FUNCTION_TYPE["RELU"]


@rewrite("MUL", "DIV")
def fuse_l2_normalization(graph: Graph, op: Op) -> bool:
    """Recognises x * rsqrt(max(sum(x**2), 1e-12)) along the last axis.

        x -> SQUARE -> SUM -> MAXIMUM -> RSQRT -> r;  MUL(x, r) -> y
            becomes      x -> L2_NORMALIZATION -> y

    Also DIV by the SQRT, ADD in place of MAXIMUM, without either, and without the SUM of a last
    axis of one element. The kernel has an epsilon of
    its own, 1e-12: up to 1e-5 in a MAXIMUM, which changes only vectors shorter than 0.004, and up
    to 1e-8 in an ADD are taken for it, but not for vectors of one element. Holds off on other axes,
    on ranks above 4, and when a constant gives the result more dimensions.
    """
    pairs = [op.inputs] if op.kind == "DIV" else [op.inputs, op.inputs[::-1]]
    for x, norm in pairs:
        root = producer_of(norm, "SQRT" if op.kind == "DIV" else "RSQRT")
        if root is None or not same_shape(x, op.output):
            continue
        if not _is_square_sum(graph, root.inputs[0], x):
            continue
        b = builder(graph, op)
        activation = activation_of(op)
        swap(graph, op, b.L2_NORMALIZATION(x, fused_activation_function=activation))
        return True
    return False


def _is_square_sum(graph: Graph, tensor: Tensor, x: Tensor) -> bool:
    """Whether `tensor` is max(sum(x**2, last axis), epsilon), the maximum optional."""
    if x.rank is None or not 0 < x.rank <= 4:
        return False
    guard = producer_of(tensor, *EPSILONS)
    if guard is not None:
        epsilon = scalar_of(guard.inputs[1])
        largest = _KERNEL_EPSILON if x.dims[-1] == 1 else EPSILONS[guard.kind]
        if epsilon is None or not 0 <= epsilon <= largest:
            return False
        tensor = guard.inputs[0]
    total = producer_of(tensor, "SUM")
    if total is not None:
        axes = constant_of(total.inputs[1])
        if axes is None or not total.options.keep_dims:
            return False
        if axes.size != 1 or axes.ravel()[0] not in (-1, x.rank - 1):
            return False
        tensor = total.inputs[0]
    elif guard is None or x.dims[-1] != 1:
        return False
    square = tensor.producer
    return is_product(square) and [x, x] == operands_of(square)


@rewrite("SQUARE", "MUL", "POW")
def fuse_squared_difference(graph: Graph, op: Op) -> bool:
    """Recognises (a - b) ** 2.

        SUB(a, b) -> d -> SQUARE -> y      becomes      SQUARED_DIFFERENCE(a, b) -> y

    Also MUL(d, d) and POW(d, 2). Holds off when d has another reader or is an output, and on
    broadcasts of more dimensions than all kernels take.
    """
    operands = operands_of(op) if is_product(op) else []
    if len(operands) != 2 or operands[0] is not operands[1]:
        return False
    difference = producer_of(operands[0], "SUB")
    if difference is None or activation_of(difference) != NONE:
        return False
    if set(operands[0].readers) != {op} or graph.is_output(operands[0]):
        return False
    broadcasts = not same_shape(*difference.inputs)
    if broadcasts and square_of_difference(op.output.rank) != "SQUARED_DIFFERENCE":
        return False
    swap(graph, op, builder(graph, op).SQUARED_DIFFERENCE(*difference.inputs))
    return True


@rewrite("DIV")
def fuse_rsqrt(graph: Graph, op: Op) -> bool:
    """Recognises 1 / sqrt(x) and y / sqrt(x).

        x -> SQRT -> s;  DIV(y, s) -> z      becomes      x -> RSQRT -> r;  MUL(y, r) -> z
        x -> SQRT -> s;  DIV(1, s) -> z      becomes      x -> RSQRT -> z

    Holds off when s has another reader or is an output.
    """
    y, divisor = op.inputs
    root = producer_of(divisor, "SQRT")
    if root is None or not is_float(divisor) or graph.sole_reader(divisor) is not op:
        return False
    b = builder(graph, op)
    inverse = b.RSQRT(root.inputs[0])
    if scalar_of(y) == 1.0 and same_shape(inverse, op.output) and activation_of(op) == NONE:
        swap(graph, op, inverse)
    else:
        swap(graph, op, b.MUL(y, inverse, fused_activation_function=activation_of(op)))
    return True


@rewrite("MUL", "DIV")
def fuse_mean(graph: Graph, op: Op) -> bool:
    """Recognises a sum divided by the number of its terms.

        x -> SUM -> s -> MUL(1 / n) -> y      becomes      x -> MEAN -> y

    Holds off when the number of terms is unknown, or s has another reader or is an output.
    """
    total = producer_of(op.inputs[0], "SUM")
    number = scalar_of(op.inputs[1])
    if total is None or not number or activation_of(op) != NONE:
        return False
    if not is_float(op.output) or graph.sole_reader(total.output) is not op:
        return False
    axes = constant_of(total.inputs[1])
    x = total.inputs[0]
    if axes is None or x.shape is None or not same_shape(total.output, op.output):
        return False
    sizes = [x.shape[axis] for axis in axes.ravel()]
    if None in sizes or not sizes:
        return False
    terms = 1 / number if op.kind == "MUL" else number
    if not isclose(terms, float(np.prod(sizes)), rel_tol=1e-6):
        return False
    b = builder(graph, op)
    swap(graph, op, b.MEAN(*total.inputs, keep_dims=total.options.keep_dims))
    graph.remove(total)
    return True


@rewrite("SUB")
def fuse_variance(graph: Graph, op: Op) -> bool:
    """Recognises the variance as the mean of squares without the square of the mean.

        x -> MEAN -> m -> SQUARE -> q;  x -> SQUARE -> MEAN -> s;  SUB(s, q) -> y
            becomes      x -> MEAN -> m;  SQUARED_DIFFERENCE(x, m) -> MEAN -> y

    Also with MUL for SQUARE, and a RELU in the SUB, which what is left needs not. Holds off on
    other axes, and where another value reads the squares.
    """
    if activation_of(op) not in (NONE, RELU) or not is_float(op.output):
        return False
    squares, mean = producer_of(op.inputs[0], "MEAN"), producer_of(_squared(op.inputs[1]), "MEAN")
    x = None if squares is None else _squared(squares.inputs[0])
    if squares is None or mean is None or x is None or mean.inputs[0] is not x:
        return False
    if not _same_reduction(mean, squares):
        return False
    if graph.sole_reader(squares.inputs[0]) is not squares:
        return False
    b = builder(graph, op)
    center = b.MEAN(*mean.inputs, keep_dims=True)
    kind = square_of_difference(x.rank)
    difference = (x, center) if kind == "SQUARED_DIFFERENCE" else (b.SUB(x, center),)
    keep_dims = squares.options.keep_dims
    swap(graph, op, b.MEAN(b.op(kind, *difference), squares.inputs[1], keep_dims=keep_dims))
    return True


def _squared(tensor: Tensor | None) -> Tensor | None:
    """x of a tensor that is x ** 2."""
    square = None if tensor is None else tensor.producer
    operands = operands_of(square) if is_product(square) else []
    return operands[0] if len(operands) == 2 and operands[0] is operands[1] else None


def _same_reduction(first: Op, second: Op) -> bool:
    """Whether two means are over the same constant axes, of equal ranks, and alike in shape."""
    axes, others = (constant_of(op.inputs[1]) for op in (first, second))
    rank = first.inputs[0].rank
    if axes is None or others is None or rank is None:
        return False
    is_alike = first.options.keep_dims == second.options.keep_dims
    return is_alike and np.array_equal(np.unique(axes % rank), np.unique(others % rank))


@rewrite("ADD")
def factor_difference(graph: Graph, op: Op) -> bool:
    """Takes the common factor out of a normalisation that was multiplied out.

        MUL(x, m) -> p;  NEG(u) -> MUL(m) -> ADD(c) -> q;  ADD(p, q) -> y
        MUL(x, m) -> p;  MUL(u, m) -> v;  SUB(c, v) -> q;  ADD(p, q) -> y
            becomes      SUB(x, u) -> MUL(m) -> ADD(c) -> y

    Holds off when a value in between has another reader or is an output, or there is an activation
    before the last.
    """
    for left, right in (op.inputs, op.inputs[::-1]):
        outer = _private_producer(graph, right, op, "ADD", "SUB")
        product = _private_producer(graph, left, op, "MUL")
        if outer is None or product is None:
            continue
        factors = _negated_term(graph, outer, product)
        if factors is None:
            continue
        x, u, m, c = factors
        b = builder(graph, op)
        scaled = b.MUL(b.SUB(x, u), m)
        swap(graph, op, b.ADD(scaled, c, fused_activation_function=activation_of(op)))
        return True
    return False


@rewrite("ADD")
def factor_mixture(graph: Graph, op: Op) -> bool:
    """Takes the share out of a mixture of two values, as cells of GRUs have it.

        MUL(z, a) -> p;  SUB(1, z) -> MUL(c) -> q;  ADD(p, q) -> y
            becomes      SUB(a, c) -> MUL(z) -> ADD(c) -> y

    Holds off when a value in between has another reader or is an output, on activations before
    the last, and when the shapes of a, c and z are not certainly equal.
    """
    for left, right in (op.inputs, op.inputs[::-1]):
        products = [_private_producer(graph, tensor, op, "MUL") for tensor in (left, right)]
        if products[0] is None or products[1] is None:
            continue
        for complement, c in (products[1].inputs, products[1].inputs[::-1]):
            difference = _private_producer(graph, complement, products[1], "SUB")
            if difference is None or scalar_of(difference.inputs[0]) != 1:
                continue
            z = difference.inputs[1]
            others = [t for t in products[0].inputs if t is not z]
            if len(others) != 1 or not (same_shape(others[0], c) and same_shape(z, c)):
                continue
            b = builder(graph, op)
            share = b.MUL(b.SUB(others[0], c), z)
            swap(graph, op, b.ADD(share, c, fused_activation_function=activation_of(op)))
            return True
    return False


def _private_producer(graph: Graph, tensor: Tensor, reader: Op, *kinds: str) -> Op | None:
    """The op of one of these kinds, without activation, that gives `tensor` to `reader` only."""
    op = producer_of(tensor, *kinds)
    if op is None or activation_of(op) != NONE or not is_float(tensor):
        return None
    return op if graph.sole_reader(tensor) is reader else None


def _negated_term(graph: Graph, outer: Op, product: Op) -> tuple[Tensor, ...] | None:
    """(x, u, m, c) where `outer` is -u * m + c and `product` is x * m; None otherwise."""
    first, second = outer.inputs
    is_difference = outer.kind == "SUB"
    for inner, c in ((second, first),) if is_difference else ((first, second), (second, first)):
        mul = _private_producer(graph, inner, outer, "MUL")
        if mul is None:
            continue
        for factor, m in (mul.inputs, mul.inputs[::-1]):
            neg = None if is_difference else producer_of(factor, "NEG")
            others = [t for t in product.inputs if t is not m]
            if len(others) == 1 and (is_difference or neg is not None):
                return others[0], factor if neg is None else neg.inputs[0], m, c
    return None
