"""Softmax, and activations with exp, recognised from the operators that sources write them with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..lowering import formulas
from ..lowering.moves import transposed
from .driver import rewrite
from .rewrite import (
    NONE,
    activation_of,
    builder,
    constant_of,
    producer_of,
    same_shape,
    scalar_of,
    split_constant,
    swap,
)


@rewrite("DIV")
def fuse_softmax(graph: Graph, op: Op) -> bool:
    """Recognises exp(x) / sum(exp(x)) along one axis.

        x -> REDUCE_MAX -> m;  SUB(x, m) -> EXP -> e -> SUM -> s;  DIV(e, s) -> y
            becomes      x -> SOFTMAX -> y

    Also without the maximum, and between two TRANSPOSE on another axis than the last. Holds off on
    other types than float32 and on several axes.
    """
    exponents, total = op.inputs
    axis = _summed_axis(total, exponents)
    if axis is None or activation_of(op) != NONE or not same_shape(exponents, op.output):
        return False
    x = _shifted(producer_of(exponents, "EXP"), axis)
    b = builder(graph, op)
    swap(graph, op, _along(b, x, axis, lambda y: b.SOFTMAX(y, beta=1.0)))
    return True


@rewrite("SUB")
def fuse_log_softmax(graph: Graph, op: Op) -> bool:
    """Recognises x - log(sum(exp(x))) along one axis.

        x -> REDUCE_MAX -> m;  SUB(x, m) -> d -> EXP -> SUM -> LOG -> s;  SUB(d, s) -> y
            becomes      x -> LOG_SOFTMAX -> y

    Also without the maximum. Holds off where `fuse_softmax` does.
    """
    difference, logarithm = op.inputs
    log = producer_of(logarithm, "LOG")
    total = None if log is None else producer_of(log.inputs[0], "SUM")
    exponential = None if total is None else producer_of(total.inputs[0], "EXP")
    if log is None or exponential is None or exponential.inputs[0] is not difference:
        return False
    axis = _summed_axis(log.inputs[0], exponential.output)
    if axis is None or activation_of(op) != NONE or not same_shape(difference, op.output):
        return False
    b = builder(graph, op)
    swap(graph, op, _along(b, _shifted(exponential, axis), axis, b.LOG_SOFTMAX))
    return True


def _summed_axis(total: Tensor, exponents: Tensor) -> int | None:
    """The axis along which a tensor is the sum of others that EXP gives, kept; None for others."""
    summing, exponential = producer_of(total, "SUM"), producer_of(exponents, "EXP")
    axes = None if summing is None else constant_of(summing.inputs[1])
    if summing is None or axes is None or exponential is None or exponents.rank is None:
        return None
    is_whole = summing.inputs[0] is exponents and summing.options.keep_dims and axes.size == 1
    if not is_whole or exponents.dtype != np.float32:
        return None
    return int(axes.ravel()[0]) % exponents.rank


def _shifted(exponential: Op | None, axis: int) -> Tensor:
    """x of exp(x - max(x)), what EXP takes of other forms."""
    if exponential is None:
        raise ValueError("must be the result of an EXP")
    y = exponential.inputs[0]
    difference = producer_of(y, "SUB")
    if difference is None or activation_of(difference) != NONE:
        return y
    x, shift = difference.inputs
    view = producer_of(shift, "RESHAPE")
    folded = producer_of(shift if view is None else view.inputs[0], "REDUCE_MAX")
    axes = None if folded is None else constant_of(folded.inputs[1])
    if folded is None or folded.inputs[0] is not x or axes is None or x.rank is None:
        return y
    maximum_sizes = tuple(1 if i == axis else n for i, n in enumerate(x.sizes or ()))
    is_along = [int(i) % x.rank for i in axes.ravel()] == [axis]
    return x if is_along and shift.sizes == maximum_sizes and same_shape(x, y) else y


def _along(b: Builder, x: Tensor, axis: int, kind: Callable[[Tensor], Tensor]) -> Tensor:
    """What an operator of the last axis gives along another one."""
    order = [i for i in range(x.rank or 0) if i != axis] + [axis]
    return transposed(kind(transposed(x, order, b)), np.argsort(order).tolist(), b)


@rewrite("DIV")
def fuse_logistic(graph: Graph, op: Op) -> bool:
    """Recognises 1 / (1 + exp(-x)) and y / (1 + exp(-x)).

        x -> NEG -> EXP -> ADD(1) -> d;  DIV(1, d) -> y      becomes      x -> LOGISTIC -> y
        x -> NEG -> EXP -> ADD(1) -> d;  DIV(z, d) -> y
            becomes      x -> LOGISTIC -> s;  MUL(z, s) -> y

    Holds off when d has another reader or is an output, and on other types than float32.
    """
    numerator, divisor = op.inputs
    negative = _exponent(_increased(divisor))
    neg = None if negative is None else producer_of(negative, "NEG")
    if neg is None or divisor.dtype != np.float32 or graph.sole_reader(divisor) is not op:
        return False
    b, activation = builder(graph, op), activation_of(op)
    gate = b.LOGISTIC(neg.inputs[0])
    if scalar_of(numerator) == 1.0 and same_shape(gate, op.output) and activation == NONE:
        swap(graph, op, gate)
    else:
        swap(graph, op, b.MUL(numerator, gate, fused_activation_function=activation))
    return True


@rewrite("ADD")
def fuse_softplus(graph: Graph, op: Op) -> bool:
    """Recognises log(exp(x) + 1) where it is written for large x, too.

        x -> ABS -> NEG -> EXP -> ADD(1) -> LOG -> l;  x -> RELU -> r;  ADD(r, l) -> y
            becomes      x -> ABS -> LOGISTIC -> LOG -> s;  x -> RELU -> r;  SUB(r, s) -> y

    Holds off on a fused activation.
    """
    if activation_of(op) != NONE:
        return False
    for positive, logarithm in (op.inputs, op.inputs[::-1]):
        relu, log = producer_of(positive, "RELU"), producer_of(logarithm, "LOG")
        exponent = None if log is None else _exponent(_increased(log.inputs[0]))
        neg = producer_of(exponent, "NEG")
        size = None if neg is None else producer_of(neg.inputs[0], "ABS")
        if relu is None or size is None or relu.inputs[0] is not size.inputs[0]:
            continue
        swap(graph, op, formulas.softplus(builder(graph, op), relu.inputs[0]))
        return True
    return False


@rewrite("SELECT_V2")
def drop_nan_guard(graph: Graph, op: Op) -> bool:
    """Drops what keeps x from softplus where it is not a number: the formula gives nan for it.

        NOT_EQUAL(x, x) -> c;  x -> ABS -> LOGISTIC -> LOG -> s;  x -> RELU -> r;
        SUB(r, s) -> y;  SELECT_V2(c, x, y) -> z      becomes      z = y

    Holds off on other functions of x.
    """
    condition, x, y = op.inputs
    compare, difference = producer_of(condition, "NOT_EQUAL"), producer_of(y, "SUB")
    if compare is None or difference is None or [*compare.inputs] != [x, x]:
        return False
    relu, log = producer_of(difference.inputs[0], "RELU"), producer_of(difference.inputs[1], "LOG")
    logistic = None if log is None else producer_of(log.inputs[0], "LOGISTIC")
    size = None if logistic is None else producer_of(logistic.inputs[0], "ABS")
    if relu is None or size is None or relu.inputs[0] is not x or size.inputs[0] is not x:
        return False
    if activation_of(difference) != NONE or not same_shape(y, op.output):
        return False
    swap(graph, op, y)
    return True


@rewrite("SELECT_V2")
def fuse_selected_branches(graph: Graph, op: Op) -> bool:
    """Recognises activations that are x where it is positive.

        GREATER(x, 0) -> c;  x -> MUL(alpha) -> m;  SELECT_V2(c, x, m) -> y
            becomes      x -> LEAKY_RELU(alpha) -> y
        GREATER(x, 0) -> c;  x -> EXP -> SUB(1) -> MUL(alpha) -> m;  SELECT_V2(c, x, m) -> y
            becomes      x -> ELU -> y, or the formula of another alpha

    Also GREATER_EQUAL, and EXP of what is at most 0 of x. Holds off on other types than float32.
    """
    condition, x, negative = op.inputs
    if not _is_positive(condition, x) or x.dtype != np.float32 or not same_shape(x, op.output):
        return False
    y, alpha = _scaled(negative)
    b = builder(graph, op)
    if y is x:
        swap(graph, op, b.LEAKY_RELU(x, alpha=alpha))
        return True
    exponent = _decreased_exponent(y)
    if exponent is None or not _is_below(exponent, x):
        return False
    swap(graph, op, formulas.elu(b, x, alpha))
    return True


@rewrite("SUB")
def fuse_negative_exponential(graph: Graph, op: Op) -> bool:
    """Recognises exp(x) - 1 of numbers that are at most 0, as CELU and SELU have it.

        MINIMUM(x, 0) -> n;  n -> MUL(2) -> EXP -> SUB(1) -> y    becomes    n -> MUL(2) -> ELU -> y

    Holds off on a fused activation, and on negative factors.
    """
    exponent = _exponent(op.inputs[0])
    if exponent is None or scalar_of(op.inputs[1]) != 1.0 or activation_of(op) != NONE:
        return False
    negative, factor = _scaled(exponent)
    minimum = producer_of(negative, "MINIMUM")
    if minimum is None or scalar_of(minimum.inputs[1]) != 0.0 or factor < 0:
        return False
    if exponent.dtype != np.float32 or not same_shape(exponent, op.output):
        return False
    swap(graph, op, builder(graph, op).ELU(exponent))
    return True


@rewrite("ADD")
def fuse_elu(graph: Graph, op: Op) -> bool:
    """Recognises ELU as the sum of its halves.

        x -> RELU -> r;  MINIMUM(x, 0) -> ELU -> n;  ADD(r, n) -> y      becomes      x -> ELU -> y

    Holds off on a fused activation.
    """
    for positive, negative in (op.inputs, op.inputs[::-1]):
        relu, elu = producer_of(positive, "RELU"), producer_of(negative, "ELU")
        minimum = None if elu is None else producer_of(elu.inputs[0], "MINIMUM")
        if relu is None or minimum is None or minimum.inputs[0] is not relu.inputs[0]:
            continue
        if scalar_of(minimum.inputs[1]) == 0.0 and activation_of(op) == NONE:
            swap(graph, op, builder(graph, op).ELU(relu.inputs[0]))
            return True
    return False


def _is_positive(condition: Tensor, x: Tensor) -> bool:
    """Whether a condition is x > 0 or x >= 0."""
    compare = producer_of(condition, "GREATER", "GREATER_EQUAL")
    return compare is not None and compare.inputs[0] is x and scalar_of(compare.inputs[1]) == 0.0


def _is_below(exponent: Tensor, x: Tensor) -> bool:
    """Whether a tensor is x where x is negative."""
    select = producer_of(exponent, "SELECT_V2")
    if select is not None:
        condition, zero, other = select.inputs
        return _is_positive(condition, x) and scalar_of(zero) == 0.0 and other is x
    minimum = producer_of(exponent, "MINIMUM")
    if minimum is not None:
        return minimum.inputs[0] is x and scalar_of(minimum.inputs[1]) == 0.0
    return exponent is x


def _scaled(tensor: Tensor) -> tuple[Tensor, float]:
    """(y, c) of a tensor that is c * y; c is 1 for others."""
    mul = producer_of(tensor, "MUL")
    parts = None if mul is None or activation_of(mul) != NONE else split_constant(mul)
    factor = None if mul is None or parts is None else scalar_of(mul.inputs[parts[2]])
    if parts is None or factor is None or not same_shape(parts[0], tensor):
        return tensor, 1.0
    return parts[0], factor


def _increased(tensor: Tensor) -> Tensor | None:
    """x of a tensor that is x + 1."""
    add = producer_of(tensor, "ADD")
    if add is None or activation_of(add) != NONE or scalar_of(add.inputs[1]) != 1.0:
        return None
    return add.inputs[0] if same_shape(add.inputs[0], tensor) else None


def _decreased_exponent(tensor: Tensor) -> Tensor | None:
    """x of a tensor that is exp(x) - 1, or ELU of an x that may be one of negative numbers."""
    elu, decreased = producer_of(tensor, "ELU"), producer_of(tensor, "SUB")
    if elu is not None:
        return elu.inputs[0]
    if decreased is None or scalar_of(decreased.inputs[1]) != 1.0:
        return None
    return _exponent(decreased.inputs[0]) if activation_of(decreased) == NONE else None


def _exponent(tensor: Tensor | None) -> Tensor | None:
    """x of a tensor that is exp(x)."""
    exponential = producer_of(tensor, "EXP")
    return None if exponential is None else exponential.inputs[0]
