"""WHERE, UNIQUE, TOPK_V2, BUCKETIZE: elements found by their value."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.conversion import convert
from ...engine.plan.buffer import arena, constant
from ...engine.sizes import largest
from ...schema.dtypes import numpy_dtype, tf_name
from ..checks import required
from ..plan.substitution import small_floats
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.program import Program
    from ..plan.node import DynamicResult, Emit, Node, Prepared


_BUCKETS: Sequence[type] = (np.float32, np.float64, np.int32, np.int64)
_TOP: Sequence[type] = (np.float32, np.int32, np.int64, np.int16, np.int8, np.uint8)


@op("WHERE")
def where(node: Node) -> DynamicResult:
    """The indices of the elements that are not zero, in order."""
    (x,) = required(node, 1)

    def find(condition: np.ndarray) -> list[np.ndarray]:
        return [np.argwhere(condition).astype(np.int64)]

    return node.dynamic_result(find, [(None, x.ndim)])


@op("UNIQUE")
def unique(node: Node) -> DynamicResult:
    """The values of a vector as they first come, and for each element which one it is."""
    (x,) = required(node, 1)
    node.require(x.ndim == 1, f"input must have one dimension, got shape {x.shape}")
    dtype = numpy_dtype(int(node.options.idx_out_type))

    def find(values: np.ndarray) -> list[np.ndarray]:
        _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return [values[first[order]], rank[inverse].astype(dtype)]

    return node.dynamic_result(find, [(None,), x.shape])


@op("BUCKETIZE")
@small_floats
def bucketize(node: Node) -> Emit:
    """For each element, how many of the rising `boundaries` are not above it.

    Integers are compared as float32, as TFLite's kernel does.
    """
    (x,) = required(node, 1)
    node.require(x.dtype in _BUCKETS, f"{tf_name(x.dtype)} is not supported")
    boundaries = np.asarray(node.options.boundaries, np.float32)
    node.require(
        bool((np.diff(boundaries) >= 0).all()), f"boundaries must rise, got {boundaries.tolist()}"
    )
    out = node.result(x.shape, np.int32)

    def emit(program: Program) -> None:
        numbers = x if x.dtype.kind == "f" else convert(program, x, np.dtype(np.float32))
        if out.size:
            operands = (numbers.ravel(), constant(boundaries), out.ravel())
            program.call("search.bucketize", *operands, split=out.size)

    return emit


@op("TOPK_V2")
@small_floats
def top_k(node: Node) -> Prepared:
    """The k largest of each row in falling order, and where they are."""
    (x,) = required(node, 1)
    others = None
    if x.dtype not in _TOP:
        from . import other_numbers

        others = other_numbers if other_numbers.is_ordered(x) else None
    node.require(x.dtype in _TOP or others, f"{tf_name(x.dtype)} is not supported")
    node.require(x.ndim >= 1, f"input must have a dimension, got shape {x.shape}")
    k = largest(node.sizes(1)[0], 0)
    node.require(
        k <= x.shape[-1], f"k must be at most the {x.shape[-1]} elements of a row, got {k}"
    )
    node.require(len(node.outputs) == 2, f"must have 2 results, the model has {len(node.outputs)}")
    if others is not None:
        return others.top(node, x, k, node.outputs[1].dtype or np.dtype(np.int32))
    shape, n = (*x.shape[:-1], k), prod(x.shape[:-1])
    out = node.result(shape, x.dtype)
    where = node.result(shape, node.outputs[1].dtype or np.int32)

    def emit(program: Program) -> None:
        if out.size:
            indices = where if where.dtype == np.int32 else arena(shape, np.int32)
            program.call(
                "search.top",
                x.reshape((n, x.shape[-1])),
                out.reshape((n, k)),
                indices.reshape((n, k)),
                split=n,
            )
            if indices is not where:
                convert(program, indices, where.dtype, where)

    return emit
