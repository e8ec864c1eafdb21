"""float16 models: their nodes compute in float32, and only what leaves the model is rounded.

A node's float16 operands are cast to float32 and its results back; where such a result is an
operand again, the float32 that it was cast from is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Tensor
from .names import schema_of
from .registry import Node

if TYPE_CHECKING:
    from ..ir.builder import Builder

HALF = np.dtype(np.float16)
PASS_THROUGH = {
    "BitCast",
    "Cast",
    "CastLike",
    "Constant",
    "Identity",
    "If",
    "Loop",
    "Scan",
    "Shape",
    "Size",
}
"""Operators that mean float16 itself, or that other nodes are inside of."""


def is_half(node: Node) -> bool:
    """Whether a node computes in float16."""
    if node.type in PASS_THROUGH and not node.domain:
        return False
    return any(isinstance(x, Tensor) and x.dtype == HALF for x in node.inputs)


def in_float32(node: Node, b: Builder, originals: dict[Tensor, Tensor]) -> Node:
    """The node on float32 operands."""
    inputs = []
    for x in node.inputs:
        if isinstance(x, Tensor) and x.dtype == HALF:
            x = originals.get(x) or b.CAST(x, dtype=np.float32)
        inputs.append(x)
    return node.with_inputs(*inputs)


def in_float16(
    node: Node, results: tuple[Any, ...], b: Builder, originals: dict[Tensor, Tensor]
) -> tuple[Any, ...]:
    """The results in the types that the node declares; `originals` has what they were before."""
    out = []
    for i, result in enumerate(results):
        if isinstance(result, Tensor) and result.dtype == np.float32 and _is_half_result(node, i):
            half = b.CAST(result, dtype=HALF)
            if half.value is None:
                originals[half] = result
            result = half
        out.append(result)
    return tuple(out)


def _is_half_result(node: Node, index: int) -> bool:
    """Whether a result has the type of a float16 operand."""
    schema = schema_of(node.type, node.domain, node.opset)
    if schema is None:
        return True
    declared = schema.outputs[min(index, len(schema.outputs) - 1)].type_str
    sources = [
        x
        for i, x in enumerate(node.inputs)
        if isinstance(x, Tensor)
        and schema.inputs[min(i, len(schema.inputs) - 1)].type_str == declared
    ]
    return bool(sources) and sources[0].dtype == HALF
