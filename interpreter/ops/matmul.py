"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import broadcast_shape
from ...engine.plan.buffer import arena
from ..checks import clamp_of, rank, required
from ..plan.substitution import small_floats
from ..registry import op
from .arithmetic import arithmetic, one_scale_each

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand


@op("FULLY_CONNECTED")
@small_floats
def fully_connected(node: Node) -> Emit:
    """Rows of `x` times the transpose of weights [n, depth], plus bias.

    With `keep_num_dims` the result keeps all dimensions of `x` but the last; else `x` is cut into
    rows of `depth`, whatever its shape. uint8 may give int16. Shuffled weights have a second
    result, the shuffled input.
    """
    x, weights = required(node, 2)
    bias = node.optional(2)
    rank(node, "weights", weights, 2)
    n, depth = weights.shape
    if bias is not None:
        node.require_equal(
            bias.size, n, f"bias must have {n} elements, one a unit, got shape {bias.shape}"
        )
    shuffle = None
    if node.options.weights_format:
        from .shuffled import unshuffled

        weights, shuffle = unshuffled(node, x, weights)
    family, matrix, epilogue = arithmetic(
        node,
        x,
        weights,
        bias,
        clamp_of(node, ignored=()),
        exact=shuffle is None,
        asymmetric=bool(node.options.asymmetric_quantize_inputs),
        infinite=True,
        in_rows=True,
    )
    one_scale_each(node, epilogue, n)
    if node.options.keep_num_dims:
        node.require_equal(
            x.shape[-1] if x.ndim else None,
            depth,
            f"last dimension of the input must be {depth}, as in the weights, got shape {x.shape}",
        )
        shape = (*x.shape[:-1], n)
    else:
        node.require_equal(
            x.size % depth if depth else x.shape[-1:] != (0,),
            0,
            f"input must divide into rows of {depth}, as in the weights, got shape {x.shape}",
        )
        shape = (x.size // depth if depth else prod(x.shape[:-1]), n)
    wide = x.dtype == np.uint8 and node.outputs[0].dtype == np.int16
    out = node.result(shape, np.int16 if wide else x.dtype)
    n_rows = prod(shape[:-1])
    write_shuffled = shuffle and shuffle(n_rows)

    def emit(program: Program) -> None:
        if write_shuffled:
            write_shuffled(program)
        rows, results = x.reshape((n_rows, depth)), out.reshape((n_rows, n))
        starts = _as_sums(program, bias) if weights.dtype == np.int16 else bias
        family.matmul(program, rows, matrix, starts, results, transpose_b=True, **epilogue)

    return emit


def _as_sums(program: Program, bias: Operand | None) -> Buffer | None:
    """The bias of int16 weights, whose sums are int64 whatever its type is."""
    if bias is None or bias.dtype == np.int64:
        return bias
    from ...engine.families.conversion import convert  # few biases

    return convert(program, bias, np.int64, arena(bias.shape, np.int64))


@op("BATCH_MATMUL")
@small_floats
def batch_matmul(node: Node) -> Emit:
    """Matrix products of the last two dimensions, the others repeated by numpy's rule.

    Quantized columns of `y` may have a scale each. Where `x` is quantized, LiteRT takes these for
    0; the result is that of FULLY_CONNECTED then.
    """
    x, y = required(node, 2)
    for name, operand in (("left", x), ("right", y)):
        node.require(
            operand.ndim >= 2,
            f"{name} input must have 2 dimensions or more, got shape {operand.shape}",
        )
    adj_x, adj_y = bool(node.options.adj_x), bool(node.options.adj_y)
    rows, depth = x.shape[-2:][:: -1 if adj_x else 1]
    same_depth, columns = y.shape[-2:][:: -1 if adj_y else 1]
    node.require_equal(
        depth,
        same_depth,
        f"inner dimensions must agree, got {depth} and {same_depth} in {x.shape} and {y.shape}",
    )
    batch = broadcast_shape(x.shape[:-2], y.shape[:-2])
    if batch is None:
        node.fail(f"batch dimensions must be equal or 1, got {x.shape} and {y.shape}")
    params = y.quantization
    by_column = params is not None and params.is_per_channel
    family, matrices, epilogue = arithmetic(
        node,
        x,
        y,
        None,
        asymmetric=bool(node.options.asymmetric_quantize_inputs),
        narrow=not by_column,
        exact=by_column,
    )
    one_scale_each(node, epilogue, columns)
    if params is not None and by_column:
        side = y.ndim - (2 if adj_y else 1)
        node.require(
            params.axis == side, f"scales must be those of dimension {side}, got {params.axis}"
        )
    out = node.result((*batch, rows, columns), x.dtype)

    def emit(program: Program) -> None:
        family.matmul(
            program, x, matrices, None, out, transpose_a=adj_x, transpose_b=adj_y, **epilogue
        )

    return emit
