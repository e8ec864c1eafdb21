"""Formulas that TFLite has an operator for.

A product is matched as a bag of factors, however it was associated: see `product`. What remains of
a formula when its last op has been replaced is dead code.
"""

from __future__ import annotations

from math import isclose, pi, sqrt
from typing import NamedTuple, TypeGuard

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import (
    NONE,
    activation_of,
    builder,
    is_float,
    producer_of,
    same_shape,
    scalar_of,
    split_constant,
    swap,
)

RELU6 = ACTIVATION_FUNCTION_TYPE["RELU6"]
PRODUCTS = ("DIV", "MUL", "NEG", "POW", "SQUARE")
TOLERANCE = 1e-3  # relative, of constants such as 1 / 6 and sqrt(2 / pi)


class Product(NamedTuple):
    """factor * the product of `leaves`."""

    factor: float
    leaves: list[Tensor]
    ops: list[Op]


def product(graph: Graph, op: Op) -> Product:
    """The result of `op` as a product: MUL, DIV, NEG and SQUARE, POW by 2 or 3 taken apart.

    An op inside is taken apart only when nothing else reads its result; `ops` lists those that
    disappear with the product, readers first.
    """
    matched = Product(1.0, [], [op])
    factor = _factors(graph, op, matched)
    return matched._replace(factor=factor)


def _factors(graph: Graph, op: Op, matched: Product) -> float:
    factor = 1.0
    for tensor in operands_of(op):
        number = scalar_of(tensor)
        if number is not None:
            factor *= number
        elif is_product(tensor.producer) and graph.sole_reader(tensor) is op:
            matched.ops.append(tensor.producer)
            factor *= _factors(graph, tensor.producer, matched)
        else:
            matched.leaves.append(tensor)
    if op.kind == "NEG":
        factor = -factor
    if op.kind == "DIV":
        divisor = scalar_of(op.inputs[1])
        factor = factor / divisor if divisor else float("nan")
    return factor


def operands_of(op: Op) -> list[Tensor]:
    """The factors of one op; a divisor is left to `_factors`."""
    first = op.inputs[0]
    if op.kind == "SQUARE":
        return [first, first]
    if op.kind == "POW":
        return [first] * int(scalar_of(op.inputs[1]) or 0)
    return [first] if op.kind in ("DIV", "NEG") else list(op.inputs)


def is_product(op: Op | None) -> TypeGuard[Op]:
    """Whether `product` takes this op apart."""
    if op is None or not is_float(op.output) or activation_of(op) != NONE:
        return False
    if op.kind == "POW":
        return scalar_of(op.inputs[1]) in (2.0, 3.0)
    if op.kind == "DIV":
        return bool(scalar_of(op.inputs[1]))
    return op.kind in PRODUCTS


def sum_with(tensor: Tensor) -> tuple[Tensor, float, int] | None:
    """(x, c, activation) of a tensor that is x + c; None of others."""
    op = producer_of(tensor, "ADD", "SUB")
    if op is None or not is_float(tensor):
        return None
    parts = split_constant(op)
    number = None if parts is None else scalar_of(op.inputs[parts[2]])
    if parts is None or number is None:
        return None
    if op.kind == "SUB":
        if parts[2] == 0:
            return None
        number = -number
    return parts[0], number, activation_of(op)


def near(value: float, expected: float) -> bool:
    """Whether a constant of a formula is `expected`, as float32 or typed by hand."""
    return isclose(value, expected, rel_tol=TOLERANCE)


@rewrite(*PRODUCTS)
def fuse_hard_swish(graph: Graph, op: Op) -> bool:
    """Recognises x * relu6(x + 3) / 6.

        x -> ADD(3) -> RELU6 -> r;  MUL(x, r) -> MUL(1 / 6) -> y
            becomes      x -> HARD_SWISH -> y

    In any association. Holds off when a partial product has another reader or is an output, or a
    constant gives the result more dimensions.
    """
    if not is_product(op):
        return False
    matched = product(graph, op)
    if len(matched.leaves) != 2 or not near(matched.factor, 1 / 6):
        return False
    for x, gate in (matched.leaves, matched.leaves[::-1]):
        if _is_gate(gate, x) and same_shape(x, op.output):
            swap(graph, op, builder(graph, op).HARD_SWISH(x))
            return True
    return False


def _is_gate(tensor: Tensor, x: Tensor) -> bool:
    """Whether `tensor` is relu6(x + 3)."""
    relu = producer_of(tensor, "RELU6")
    addition = sum_with(relu.inputs[0] if relu is not None else tensor)
    if addition is None or addition[0] is not x or not near(addition[1], 3.0):
        return False
    return addition[2] == (NONE if relu is not None else RELU6)


@rewrite(*PRODUCTS)
def fuse_gelu(graph: Graph, op: Op) -> bool:
    """Recognises Hendrycks and Gimpel's GELU (arXiv:1606.08415), exact and with tanh.

        x -> MUL(sqrt(1 / 2)) -> ERF -> ADD(1) -> g;  MUL(x, g) -> MUL(0.5) -> y
            becomes      x -> GELU -> y
        x -> MUL, POW, ADD, MUL, TANH, ADD, MUL -> y      becomes      x -> GELU(approximate) -> y

    The gates are 1 + erf(x / sqrt(2)), also as 1 - erf of the opposite, and 1 + tanh(sqrt(2 / pi) *
    (x + 0.044715 * x**3)), also with x * (1 + 0.044715 * x**2) inside. In any association. Holds
    off when a partial product has another reader or is an output, or a constant gives the result
    more dimensions.
    """
    if not is_product(op):
        return False
    matched = product(graph, op)
    if len(matched.leaves) != 2 or not near(matched.factor, 0.5):
        return False
    for x, gate in (matched.leaves, matched.leaves[::-1]):
        is_tanh = _is_tanh_gate(graph, gate, x)
        if (is_tanh or _is_erf_gate(graph, gate, x)) and same_shape(x, op.output):
            swap(graph, op, builder(graph, op).GELU(x, approximate=is_tanh))
            return True
    return False


def _is_erf_gate(graph: Graph, tensor: Tensor, x: Tensor) -> bool:
    """Whether `tensor` is 1 + erf(x * sqrt(1 / 2))."""
    op = producer_of(tensor, "ADD", "SUB")
    parts = None if op is None or activation_of(op) != NONE else split_constant(op)
    if op is None or parts is None or scalar_of(op.inputs[parts[2]]) != 1.0:
        return False
    sign = 1.0 if op.kind == "ADD" else -1.0 if parts[2] == 0 else 0.0
    erf = producer_of(parts[0], "ERF")
    factor = None if erf is None else _factor_of(graph, erf.inputs[0], x)
    return factor is not None and near(sign * factor, sqrt(0.5))


def _factor_of(graph: Graph, tensor: Tensor, x: Tensor) -> float | None:
    """c of a tensor that is c * x, whoever else reads what is between them; None of others."""
    factor = 1.0
    while tensor is not x:
        if not is_product(tensor.producer):
            return None
        inner = product(graph, tensor.producer)
        if len(inner.leaves) != 1:
            return None
        factor *= inner.factor
        (tensor,) = inner.leaves
    return factor


def _is_tanh_gate(graph: Graph, tensor: Tensor, x: Tensor) -> bool:
    """Whether `tensor` is 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))."""
    addition = sum_with(tensor)
    tanh = None if addition is None or addition[1] != 1.0 else producer_of(addition[0], "TANH")
    source = None if tanh is None else tanh.inputs[0].producer
    if not is_product(source):
        return False
    inner = product(graph, source)
    if not near(inner.factor, sqrt(2 / pi)):
        return False
    others = [leaf for leaf in inner.leaves if leaf is not x]
    if len(others) != 1 or len(inner.leaves) > 2:
        return False
    n_outside = len(inner.leaves) - 1
    add = producer_of(others[0], "ADD")
    if add is None or activation_of(add) != NONE:
        return False
    for plain, cube in (add.inputs, add.inputs[::-1]):
        is_plain = scalar_of(plain) == 1.0 if n_outside else plain is x
        if is_plain and is_product(cube.producer):
            term = product(graph, cube.producer)
            if near(term.factor, 0.044715) and len(term.leaves) == 3 - n_outside:
                return all(leaf is x for leaf in term.leaves)
    return False


@rewrite("MAXIMUM")
def fuse_leaky_relu(graph: Graph, op: Op) -> bool:
    """Recognises max(x, alpha * x) with alpha below 1.

        x -> MUL(alpha) -> m;  MAXIMUM(x, m) -> y      becomes      x -> LEAKY_RELU(alpha) -> y

    Holds off when alpha gives the result more dimensions.
    """
    for x, scaled in (op.inputs, op.inputs[::-1]):
        inner = producer_of(scaled, "MUL")
        parts = None if inner is None else split_constant(inner)
        if inner is None or parts is None or parts[0] is not x:
            continue
        if activation_of(inner) != NONE:
            continue
        alpha = scalar_of(inner.inputs[parts[2]])
        if alpha is None or not same_shape(x, op.output):
            continue
        if 0 <= alpha < 1 and is_float(x):
            swap(graph, op, builder(graph, op).LEAKY_RELU(x, alpha=alpha))
            return True
    return False


@rewrite("ADD", "SUB")
def fuse_prelu(graph: Graph, op: Op) -> bool:
    """Recognises relu(x) - alpha * relu(-x).

        x -> RELU -> p;  x -> NEG -> RELU -> MUL(-alpha) -> n;  ADD(p, n) -> y
            becomes      x -> PRELU(alpha) -> y

    Also SUB with MUL(alpha). Holds off when alpha has a batch dimension.
    """
    if activation_of(op) != NONE or not is_float(op.output):
        return False
    pairs = [op.inputs] if op.kind == "SUB" else [op.inputs, op.inputs[::-1]]
    for positive, negative in pairs:
        relu = producer_of(positive, "RELU")
        if relu is None:
            continue
        x = relu.inputs[0]
        alpha = _negative_slope(negative, x)
        if alpha is None:
            continue
        alpha = alpha if op.kind == "SUB" else -alpha
        if not same_shape(x, op.output) or alpha.ndim > len(x.dims) - 1:
            continue
        b = builder(graph, op)
        swap(graph, op, b.PRELU(x, b.constant(alpha)))
        return True
    return False


def _negative_slope(tensor: Tensor, x: Tensor) -> np.ndarray | None:
    """c of a tensor that is c * relu(-x)."""
    mul = producer_of(tensor, "MUL")
    parts = None if mul is None or activation_of(mul) != NONE else split_constant(mul)
    if parts is None:
        return None
    relu = producer_of(parts[0], "RELU")
    neg = None if relu is None else producer_of(relu.inputs[0], "NEG")
    return parts[1] if neg is not None and neg.inputs[0] is x else None
