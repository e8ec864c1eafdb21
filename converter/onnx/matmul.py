"""Matrix products."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import int32s, like, reshaped, transposed
from .registry import lower


def product(b, x, y):
    """x @ y of two or more dimensions; of integers, which no kernel multiplies, as sums."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 4:
        return b.BATCH_MATMUL(x, y)
    rows, columns = b.EXPAND_DIMS(x, np.int32(-1)), b.EXPAND_DIMS(y, np.int32(-3))
    return b.SUM(b.MUL(rows, columns), int32s([-2]), keep_dims=False)


@lower("MatMul")
def matmul(node, b):
    """numpy's `x @ y`: vectors are a row on the left and a column on the right."""
    x, y = node.inputs
    row, column = node.rank(0) == 1, node.rank(1) == 1
    x = reshaped(x, (1, -1), b) if row else x
    y = reshaped(y, (-1, 1), b) if column else y
    out = product(b, x, y)
    axes = [axis for axis, drop in ((-2, row), (-1, column)) if drop]
    if not axes:
        return out
    return b.SQUEEZE(out, squeeze_dims=np.asarray([a % out.rank for a in axes], np.int32))


@lower("Gemm")
def gemm(node, b):
    """alpha * x @ y + beta * c of matrices, either transposed."""
    x, y, c = node.inputs[0], node.inputs[1], node.input(2)
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    x = transposed(x, (1, 0), b) if node.attr("transA", 0) else x
    y = y if node.attr("transB", 0) else transposed(y, (1, 0), b)
    if alpha != 1:
        scaled = None if y.value is None else b.constant((y.value * alpha).astype(y.dtype))
        y = b.MUL(y, like(y, alpha, b)) if scaled is None else scaled
    if c is not None and beta != 1:
        c = (
            b.MUL(c, like(c, beta, b))
            if c.value is None
            else b.constant((c.value * beta).astype(c.dtype))
        )
    if y.dtype.kind in "iu":
        out = product(b, x, transposed(y, (1, 0), b))
    else:
        out = b.FULLY_CONNECTED(x, y, None)
    return out if c is None else b.ADD(out, c)
