"""Models of float16 and float64: their nodes compute in float32, and what leaves the model is cast.

A node's operands are cast to float32 and its results back; where such a result is an operand again,
the float32 that it was cast from is taken. Constants of float64 alone are computed as they are,
where a kernel does.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..callers import caller
from ..ir.graph import Tensor
from .names import schema_of
from .registry import Node

if TYPE_CHECKING:
    from ..ir.builder import Builder

HALF, DOUBLE = np.dtype(np.float16), np.dtype(np.float64)
OTHER_FLOATS = (HALF, DOUBLE)
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
"""Operators that mean these types themselves, or that other nodes are inside of."""
FLOAT32_ALONE = {
    *("Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"),
    *("Elu", "Erf", "Gelu", "HardSigmoid", "HardSwish", "LogSoftmax", "Mish", "PRelu", "Selu"),
    *("Sigmoid", "Softmax", "Softplus", "Softsign", "Swish", "Tanh"),
    *("LayerNormalization", "RMSNormalization", "ScatterElements", "ScatterND"),
}
"""Operators that are not computed in float64, of constants neither."""
LIKE_INPUT = {"Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"}
"""Operators that give the type of their operand, unless the attribute dtype says another."""


class OtherFloats:
    """The tensors of a graph that are float16 or float64 in the source.

    Attributes:
        doubles: the nodes that compute in float64 there.
    """

    def __init__(self) -> None:
        self._originals: dict[Tensor, Tensor] = {}
        self.doubles: list[str] = []

    def are_in(self, node: Node) -> bool:
        """Whether a node computes in another float than float32."""
        if node.type in PASS_THROUGH and not node.domain:
            return False
        operands = [x for x in node.inputs if isinstance(x, Tensor)]
        is_computed = node.type in FLOAT32_ALONE or any(x.value is None for x in operands)
        return any(
            x.dtype == HALF or (x.dtype == DOUBLE and (is_computed or x.value is None))
            for x in operands
        )

    def in_float32(self, node: Node, b: Builder) -> Node:
        """The node on float32 operands."""
        if any(isinstance(x, Tensor) and x.dtype == DOUBLE for x in node.inputs):
            self.computes_in_float64(node)
        inputs = []
        for x in node.inputs:
            if isinstance(x, Tensor) and x.dtype in OTHER_FLOATS:
                x = self._original(x) or b.CAST(x, dtype=np.float32)
            inputs.append(x)
        return node.with_inputs(*inputs)

    def computes_in_float64(self, node: Node) -> None:
        """Notes that a node has more digits in the source."""
        if node.name not in self.doubles:
            self.doubles.append(node.name)

    def _original(self, x: Tensor) -> Tensor | None:
        """The float32 that `x` was cast from without loss, or is the result of."""
        cast = x.producer
        if x.dtype == DOUBLE and cast is not None and cast.kind == "CAST":
            return cast.inputs[0] if cast.inputs[0].dtype == np.float32 else None
        return self._originals.get(x)

    def cast_back(self, node: Node, results: tuple[Any, ...], b: Builder) -> tuple[Any, ...]:
        """The results in the types that the node declares."""
        out = []
        for i, result in enumerate(results):
            dtype = _type_of_result(node, i)
            is_other = dtype is not None and dtype in OTHER_FLOATS  # None is equal to float64
            if is_other and isinstance(result, Tensor) and result.dtype == np.float32:
                cast = b.CAST(result, dtype=dtype)
                if cast.value is None:
                    self._originals[cast] = result
                result = cast
            out.append(result)
        return tuple(out)

    def warn(self) -> None:
        """Warns of nodes that compute with fewer digits than in the source."""
        if self.doubles:
            warnings.warn(
                f"{len(self.doubles)} nodes, first '{self.doubles[0]}', compute in float64 in the "
                "source and in float32 in the file: no kernel of TFLite computes float64",
                stacklevel=caller(),
            )


def _type_of_result(node: Node, index: int) -> np.dtype | None:
    """The type of a result that is a float in the source; None for one that is no other type."""
    schema = schema_of(node.type, node.domain, node.opset)
    sources = [x for x in node.inputs if isinstance(x, Tensor)]
    if node.type in LIKE_INPUT:
        return None if node.attr("dtype", 0) else sources[0].dtype
    if schema is not None:
        declared = schema.outputs[min(index, len(schema.outputs) - 1)].type_str
        sources = [
            x
            for i, x in enumerate(node.inputs)
            if isinstance(x, Tensor)
            and schema.inputs[min(i, len(schema.inputs) - 1)].type_str == declared
        ]
        return sources[0].dtype if sources else None
    return next((x.dtype for x in sources if x.dtype in OTHER_FLOATS), None)
