"""XLA's operations that fold or order numbers by functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..ir.graph import Graph, Tensor
from ..lowering.moves import extent, int32s, like, positions, slice_along, transposed
from .control import body_of, inlined
from .registry import lower
from .xla import shape_of_parts

if TYPE_CHECKING:
    from ...graph.core import graph as tf
    from ..ir.builder import Builder

FOLDS = {
    "Add": "SUM",
    "AddV2": "SUM",
    "LogicalAnd": "REDUCE_ALL",
    "LogicalOr": "REDUCE_ANY",
    "Maximum": "REDUCE_MAX",
    "Minimum": "REDUCE_MIN",
    "Mul": "REDUCE_PROD",
}
"""The only operation of a function of two numbers -> the builtin that folds axes by it."""
JOINS = {
    "REDUCE_ALL": "LOGICAL_AND",
    "REDUCE_ANY": "LOGICAL_OR",
    "REDUCE_MAX": "MAXIMUM",
    "REDUCE_MIN": "MINIMUM",
    "REDUCE_PROD": "MUL",
    "SUM": "ADD",
}
"""What combines two folded values."""


UPDATE = "UPDATE"
"""What puts the second value in the place of the first."""
BODIES = {
    "REDUCE_ALL": "STABLEHLO_AND",
    "REDUCE_ANY": "STABLEHLO_OR",
    "REDUCE_MAX": "STABLEHLO_MAXIMUM",
    "REDUCE_MIN": "STABLEHLO_MINIMUM",
    "REDUCE_PROD": "STABLEHLO_MULTIPLY",
    "SUM": "STABLEHLO_ADD",
}
"""What folds axes -> the only operator of the subgraph that LiteRT's StableHLO kernels fold by."""


def subgraph_of(kind: str, dtype: np.dtype, b: Builder) -> Graph:
    """The subgraph that tells a StableHLO operator how it joins two elements; empty for UPDATE."""
    from ..ir.builder import Builder

    graph = Graph(f"{b.graph.name}_body", b.graph.scope)
    inner = Builder(graph)
    inner.origin(b.origin_name)
    graph.inputs = [Tensor(name, dtype, ()) for name in ("x", "y")]
    is_update = kind == UPDATE
    graph.outputs = [graph.inputs[1] if is_update else inner.op(BODIES[kind], *graph.inputs)]
    return graph


def copied(tensor: tf.Tensor) -> tf.Tensor:
    """What a tensor is a copy of."""
    while tensor.op.type in ("Identity", "StopGradient"):
        tensor = tensor.op.inputs[0]
    return tensor


def only_operation(body: tf.Graph) -> tuple[str, list[int]]:
    """The operation that a function consists of, and which of its inputs that takes in turn.

    Of others, the type is empty.
    """
    inputs = list(body.inputs or ())
    operation = copied((body.outputs or [])[0]).op
    operands = [copied(tensor) for tensor in operation.inputs]
    if len(body.outputs or ()) != 1 or not operands or any(x not in inputs for x in operands):
        return "", []
    return operation.type, [inputs.index(x) for x in operands]


def fold_of(body: tf.Graph) -> str | None:
    """The builtin that folds axes as a function of two numbers does, if there is one."""
    type_, operands = only_operation(body)
    return FOLDS.get(type_) if sorted(operands) == [0, 1] else None


def is_neutral(kind: str, start: Tensor) -> bool:
    """Whether a fold that begins with a constant gives the same without it."""
    if start.value is None:
        return False
    is_float = start.dtype.kind == "f"
    if kind in ("REDUCE_MAX", "REDUCE_MIN"):
        sign = -1 if kind == "REDUCE_MAX" else 1
        if is_float:
            return bool(np.all(start.value == sign * np.inf))
        if start.dtype == np.bool_:
            return False
        bounds = np.iinfo(start.dtype)
        return bool(np.all(start.value == (bounds.min if sign < 0 else bounds.max)))
    return bool(np.all(start.value == {"SUM": 0, "REDUCE_ANY": 0}.get(kind, 1)))


@lower("XlaReduce", "XlaVariadicReduce", "XlaVariadicReduceV2")
def reduce(node, b):
    """Dimensions folded by a function, from a start."""
    count = len(node.inputs) // 2
    inputs, starts = node.inputs[:count], node.inputs[count:]
    axes = [node.axis(axis) for axis in node.attr("dimensions_to_reduce")]
    body = body_of(node, "reducer")
    kind = fold_of(body) if count == 1 else None
    if kind is not None:
        (x,), (start,) = inputs, starts
        folded = b.op(kind, x, int32s(axes))
        return folded if is_neutral(kind, start) else b.op(JOINS[kind], folded, start)
    others = [i for i in range(node.rank()) if i not in axes]
    sizes = [node.shape()[i] for i in axes]
    node.require(
        None not in sizes,
        f"the sizes of the dimensions it folds must be known, got {sizes}; its function is none "
        f"of {', '.join(FOLDS)}",
    )
    rows = [
        b.RESHAPE(transposed(x, [*axes, *others], b), _folded(x, axes, others, b)) for x in inputs
    ]
    return tuple(inlined(body, b, [*starts, *_halved(body, rows, b)]))


def _folded(x: Tensor, axes: Sequence[int], others: Sequence[int], b: Builder) -> Tensor:
    """The shape [-1, *others]."""
    size = prod(cast("int", x.dims[i]) for i in axes)
    return shape_of_parts([size, *(extent(x, i, b) for i in others)], b)


def _halved(body: tf.Graph, rows: Sequence[Tensor], b: Builder) -> list[Tensor]:
    """The first axis folded: its halves by the function, again and again."""
    size = cast("int", rows[0].dims[0])
    while size > 1:
        half = size // 2
        halves = [slice_along(x, 0, i * half, half, b) for i in (0, 1) for x in rows]
        results = inlined(body, b, halves)
        if size % 2:
            lasts = [slice_along(x, 0, size - 1, 1, b) for x in rows]
            results = [
                b.CONCATENATION(x, last, axis=0) for x, last in zip(results, lasts, strict=True)
            ]
        rows, size = results, half + size % 2
    return [b.SQUEEZE(x, squeeze_dims=[0]) for x in rows]


def _ascending(x: Tensor, b: Builder) -> tuple[Tensor, Tensor]:
    """`x` in ascending order along its last axis, and where each element stood."""
    n = len(x.dims) - 1
    count = extent(x, n, b)
    turned = b.NEG(x) if x.dtype.kind == "f" else b.SUB(like(x, -1, b), x)
    values, indices = b.TOPK_V2(turned, count)
    return (b.NEG(values) if x.dtype.kind == "f" else b.SUB(like(x, -1, b), values)), indices


@lower("XlaSort")
def sort(node, b):
    """The elements in ascending order along the last dimension."""
    return _ascending(node.inputs[0], b)[0]


@lower("XlaKeyValueSort")
def key_value_sort(node, b):
    """Keys in ascending order along the last dimension, and the values beside them."""
    keys, values = node.inputs
    ordered, indices = _ascending(keys, b)
    n = node.rank() - 1
    return ordered, b.GATHER(values, indices, axis=n, batch_dims=n)


@lower("XlaVariadicSort")
def variadic_sort(node, b):
    """The inputs in the order of a function, which is asked of all pairs."""
    *inputs, _ = node.inputs
    axis = node.axis(node.constant(len(inputs)))
    n = node.rank() - 1
    order = [i for i in range(n + 1) if i != axis] + [axis]
    rows = [transposed(x, order, b) for x in inputs]
    indices = _order(body_of(node, "comparator"), rows, b)
    back = np.argsort(order).tolist()
    results = [b.GATHER(x, indices, axis=n, batch_dims=n) for x in rows]
    return tuple(transposed(x, back, b) for x in results)


def _order(body: tf.Graph, rows: Sequence[Tensor], b: Builder) -> Tensor:
    """Where each element of sorted rows stood before."""
    n = len(rows[0].dims) - 1
    size, row_positions = extent(rows[0], n, b), positions(rows[0], n, b)
    type_, operands = only_operation(body)
    if type_ in ("Less", "Greater") and operands == [0, 1] and rows[0].dtype.kind == "f":
        x = rows[0] if type_ == "Greater" else b.NEG(rows[0])
        return b.TOPK_V2(x, size)[1]
    pairs: list[Any] = []
    for x in rows:
        pairs += [b.EXPAND_DIMS(x, np.int32(n + 1)), b.EXPAND_DIMS(x, np.int32(n))]
    is_before = inlined(body, b, pairs)[0]  # [..., i, j]: i before j
    is_after = transposed(is_before, [*range(n), n + 1, n], b)
    comes_first = b.LESS(b.EXPAND_DIMS(row_positions, np.int32(1)), row_positions)
    tied = b.LOGICAL_AND(b.LOGICAL_NOT(is_after), comes_first)
    precedes = b.CAST(b.LOGICAL_OR(is_before, tied), dtype=np.float32)
    return b.TOPK_V2(b.NEG(b.SUM(precedes, int32s([n]))), size)[1]
