"""Products of computed matrices without BATCH_MATMUL, for runtimes that have none."""

from __future__ import annotations

import math

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .rewrite import builder, swap

MAX_UNFOLDED = 4096
"""Products that one operator becomes."""


@rewrite("BATCH_MATMUL")
def unfold_batch_matmul(graph: Graph, op: Op) -> bool:
    """Turns a product of float32 matrices into FULLY_CONNECTED, one for each of a batch.

        x, y[k,n] -> BATCH_MATMUL -> z      becomes      y -> TRANSPOSE -> w;  FULLY_CONNECTED(x, w)

    Stacks of matrices on the right are unpacked, and so are those on the left; the products are
    packed. Holds off when there is a stack on the right and a size is not known, or the products
    were more than MAX_UNFOLDED.
    """
    x, y = op.inputs
    if x.dtype != np.float32 or y.dtype != np.float32 or x.rank is None or y.rank is None:
        return False
    b = builder(graph, op)
    if y.rank == 2:
        left = _transposed(b, x) if op.options.adj_x else x
        right = y if op.options.adj_y else _transposed(b, y)
        swap(graph, op, b.FULLY_CONNECTED(left, right, None, keep_num_dims=x.rank > 2))
        return True
    left_sizes, right_sizes, result = map(_known_sizes, (x, y, op.output))
    if left_sizes is None or right_sizes is None or result is None:
        return False
    batch = result[:-2]
    if math.prod(batch) > MAX_UNFOLDED:
        return False
    lefts = _matrices(b, _transposed(b, x) if op.options.adj_x else x)
    rights = _matrices(b, y if op.options.adj_y else _transposed(b, y))
    pairs = zip(_positions(left_sizes, batch), _positions(right_sizes, batch), strict=True)
    products = [b.FULLY_CONNECTED(lefts[i], rights[j], None) for i, j in pairs]
    packed = b.PACK(*products, values_count=len(products), axis=0)
    swap(graph, op, b.RESHAPE(packed, np.array(result, np.int32)))
    return True


def _known_sizes(x: Tensor) -> tuple[int, ...] | None:
    """The shape of a tensor where every size is known."""
    sizes = tuple(n for n in x.dims if n is not None)
    return sizes if len(sizes) == len(x.dims) else None


def _transposed(b: Builder, x: Tensor) -> Tensor:
    """Matrices transposed."""
    order = [*range(len(x.dims) - 2), len(x.dims) - 1, len(x.dims) - 2]
    return b.TRANSPOSE(x, np.array(order, np.int32))


def _matrices(b: Builder, x: Tensor) -> list[Tensor]:
    """Each matrix of a stack of known size."""
    sizes = _known_sizes(x)
    assert sizes is not None
    n = math.prod(sizes[:-2])
    if n == 1:
        return [b.RESHAPE(x, np.array(sizes[-2:], np.int32))]
    stack = b.RESHAPE(x, np.array([n, *sizes[-2:]], np.int32))
    return list(b.UNPACK(stack, num=n, axis=0))


def _positions(sizes: tuple[int, ...], batch: tuple[int, ...]) -> list[int]:
    """Which matrix of a stack belongs to each of the products."""
    leading = sizes[:-2]
    positions = np.arange(math.prod(leading)).reshape(leading)
    return np.broadcast_to(positions, batch).ravel().tolist()
