"""Operators without an integer kernel in a scheme, as formulas of others that have one.

    x, y -> SQUARED_DIFFERENCE -> z         in int16 becomes      SUB(x, y) -> d;  MUL(d, d) -> z
    x -> LOCAL_RESPONSE_NORMALIZATION -> y  in integers becomes
        MUL(x, x) -> CONV_2D(a band of alpha) -> LOG -> MUL(-beta) -> EXP -> s;  MUL(x, s) -> y

They are written before anything is measured: every value within has a range of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...schema.operators import known
from ..lowering import formulas
from ..lowering.moves import like
from ..passes.rewrite import builder, hand_over
from .rules import is_float32, rule_of, rules_of

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.graph import Graph, Op, Tensor
    from .cells import SchemesOf
    from .scheme import Scheme


class Formula(NamedTuple):
    """What an operator becomes.

    Attributes:
        write: gives the result; None where the formula does not hold for an operator.
        kinds: the operators it is written with.
        exact: whether it loses no more than the operator, so that it is used wherever the operator
            has no kernel; others only where no float operator may stay.
    """

    write: Callable[[Builder, Op], Tensor | None]
    kinds: tuple[str, ...]
    exact: bool = False


def squared_difference(b: Builder, op: Op) -> Tensor | None:
    """(x - y) ** 2."""
    difference = b.SUB(*op.inputs[:2])
    return b.MUL(difference, difference)


def sum_of_all(b: Builder, op: Op) -> Tensor | None:
    """x + y + ..."""
    return None if len(op.inputs) < 2 else reduce(b.ADD, op.inputs)


def elu(b: Builder, op: Op) -> Tensor | None:
    """relu(x) + exp(min(x, 0)) - 1."""
    x = op.inputs[0]
    negative = b.EXP(b.MINIMUM(x, like(x, 0, b)))
    return b.ADD(b.RELU(x), b.SUB(negative, like(x, 1, b)))


def prelu(b: Builder, op: Op) -> Tensor | None:
    """relu(x) + min(x, 0) * slope."""
    return formulas.prelu(b, *op.inputs[:2])


def hard_swish(b: Builder, op: Op) -> Tensor | None:
    """x * relu6(x + 3) / 6."""
    x = op.inputs[0]
    gate = b.RELU6(b.ADD(x, like(x, 3, b)))
    return b.MUL(x, b.MUL(gate, like(x, 1 / 6, b)))


def local_response_normalization(b: Builder, op: Op) -> Tensor | None:
    """x * (bias + alpha * (sum of the squares of the channels near by)) ** -beta.

    Convolution with a band is that sum; the logarithm is of what is at least `bias`.
    """
    x, options = op.inputs[0], op.options
    depth = x.dims[-1] if x.rank == 4 else None
    if depth is None or options.bias <= 0 or options.alpha < 0:
        return None
    channel = np.arange(depth)
    band = np.abs(channel[:, None] - channel) <= options.radius
    filters = (options.alpha * band).astype(np.float32).reshape(depth, 1, 1, depth)
    bias = np.full(depth, options.bias, np.float32)
    steps = {"stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
    total = b.CONV_2D(b.MUL(x, x), filters, bias, padding="VALID", **steps)
    return b.MUL(x, b.EXP(b.MUL(b.LOG(total), like(x, -options.beta, b))))


def depth_to_space(b: Builder, op: Op) -> Tensor | None:
    """[n, h, w, block, block, c] -> [n, h, block, w, block, c]."""
    sizes = _sizes(op.inputs[0])
    if sizes is None:
        return None
    (h, w, depth), block = sizes, op.options.block_size
    n_channels = depth // block**2
    split = [-1, h, w, block, block, n_channels]
    return _regrouped(b, op.inputs[0], split, [-1, h * block, w * block, n_channels])


def space_to_depth(b: Builder, op: Op) -> Tensor | None:
    """[n, h, block, w, block, c] -> [n, h, w, block, block, c]."""
    sizes = _sizes(op.inputs[0])
    if sizes is None:
        return None
    (h, w, depth), block = sizes, op.options.block_size
    split = [-1, h // block, block, w // block, block, depth]
    return _regrouped(b, op.inputs[0], split, [-1, h // block, w // block, depth * block**2])


def _regrouped(b: Builder, x: Tensor, split: Sequence[int], merged: Sequence[int]) -> Tensor:
    """`x` in the shape `split`, of which the third and fourth dimension change places."""
    rows = b.RESHAPE(x, np.array(split, np.int32))
    moved = b.TRANSPOSE(rows, np.array([0, 1, 3, 2, 4, 5], np.int32))
    return b.RESHAPE(moved, np.array(merged, np.int32))


def clipped(b: Builder, op: Op) -> Tensor | None:
    """min(max(x, low), high)."""
    x, (low, high) = op.inputs[0], known(op.kind).limits
    return b.MINIMUM(b.MAXIMUM(x, like(x, low, b)), like(x, high, b))


def l2_normalization(b: Builder, op: Op) -> Tensor | None:
    """x * rsqrt(max(mean(x * x), least)) / sqrt(n): the kernel's least sum of squares is 1e-6."""
    x = op.inputs[0]
    n = x.dims[-1] if x.rank else None
    if not n:
        return None
    squares = b.MEAN(b.MUL(x, x), np.array([-1], np.int32), keep_dims=True)
    root = b.RSQRT(b.MAXIMUM(squares, like(x, 1e-6 / n, b)))
    return b.MUL(x, b.MUL(root, like(x, n**-0.5, b)))


def log_softmax(b: Builder, op: Op) -> Tensor | None:
    """x - max(x) - log(mean(exp(x - max(x)))) - log(n)."""
    x = op.inputs[0]
    n = x.dims[-1] if x.rank else None
    if not n:
        return None
    last = np.array([-1], np.int32)
    shifted = b.SUB(x, b.REDUCE_MAX(x, last, keep_dims=True))
    mean = b.MEAN(b.EXP(shifted), last, keep_dims=True)
    return b.SUB(shifted, b.ADD(b.LOG(mean), like(x, np.log(n), b)))


def _sizes(x: Tensor) -> tuple[int, int, int] | None:
    """Height, width and channels of images; None where one is not known."""
    if x.rank != 4:
        return None
    h, w, depth = x.dims[1:]
    return None if h is None or w is None or depth is None else (h, w, depth)


FORMULAS: dict[str, Formula] = {
    "ADD_N": Formula(sum_of_all, ("ADD",)),
    "DEPTH_TO_SPACE": Formula(depth_to_space, ("RESHAPE", "TRANSPOSE"), exact=True),
    "ELU": Formula(elu, ("ADD", "EXP", "MINIMUM", "RELU", "SUB")),
    "HARD_SWISH": Formula(hard_swish, ("ADD", "MUL", "RELU6")),
    "L2_NORMALIZATION": Formula(l2_normalization, ("MAXIMUM", "MEAN", "MUL", "RSQRT")),
    "LOCAL_RESPONSE_NORMALIZATION": Formula(
        local_response_normalization, ("CONV_2D", "EXP", "LOG", "MUL")
    ),
    "LOG_SOFTMAX": Formula(log_softmax, ("ADD", "EXP", "LOG", "MEAN", "REDUCE_MAX", "SUB")),
    "PRELU": Formula(prelu, ("ADD", "MINIMUM", "MUL", "RELU")),
    "RELU_0_TO_1": Formula(clipped, ("MAXIMUM", "MINIMUM"), exact=True),
    "RELU_N1_TO_1": Formula(clipped, ("MAXIMUM", "MINIMUM"), exact=True),
    "SPACE_TO_DEPTH": Formula(space_to_depth, ("RESHAPE", "TRANSPOSE"), exact=True),
    "SQUARED_DIFFERENCE": Formula(squared_difference, ("MUL", "SUB"), exact=True),
}


def write_formulas(graphs: Iterable[Graph], schemes_of: SchemesOf, integers_only: bool) -> None:
    """Puts formulas in the place of operators that their first scheme has no kernel for.

    Args:
        graphs: float graphs.
        schemes_of: the schemes in which an operator may work on integers.
        integers_only: whether no float operator may stay.
    """
    for graph in dict.fromkeys(called for main in graphs for called in main.reachable()):
        for op in list(graph.ops):
            schemes = schemes_of(op) if op.kind in FORMULAS and is_float32(op.output) else []
            if schemes and is_written(op, FORMULAS[op.kind], schemes, integers_only):
                replace(graph, op, FORMULAS[op.kind])


def is_written(op: Op, formula: Formula, schemes: list[Scheme], integers_only: bool) -> bool:
    """Whether a formula has kernels in the first scheme where its operator has none.

    One that is not exact waits until the operator has none in any.
    """
    lacking = schemes[:1] if formula.exact else schemes
    if not (integers_only or formula.exact) or any(rule_of(op, one) for one in lacking):
        return False
    return all(kind in rules_of(schemes[0].code) for kind in formula.kinds)


def replace(graph: Graph, op: Op, formula: Formula) -> None:
    """Puts a formula in the place of an operator, unless it does not hold for that."""
    old, result = op.output, formula.write(builder(graph, op), op)
    if result is None:
        return
    hand_over(result, old)
    graph.remove(op)
