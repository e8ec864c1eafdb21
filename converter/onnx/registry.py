"""Which function lowers which ONNX operator, and what such a function sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering.node import SourceNode
from ..lowering.registry import Homes, Lowerings
from .homes import HOMES
from .names import domain_of, qualified

if TYPE_CHECKING:
    from onnx import NodeProto

    from ..ir.graph import Tensor
    from .lower import Block

LOWERINGS = Lowerings("ONNX operator", __package__, Homes(HOMES))
lower, lower_rows = LOWERINGS.lower, LOWERINGS.lower_rows
REQUIRED = object()
"""Default of an attribute that has none."""


class Node(SourceNode):
    """An ONNX node as its lowering sees it: attributes, and inputs already lowered to the IR.

    Attributes:
        proto: the message.
        name: the node's name, or its first output's where it has none.
        domain: of its operator; "" for ai.onnx.
        opset: the version of the operator set it is meant in.
        n_outputs: how many results the graph gives names to.
        block: the nodes it is one of, whose values the graphs among its attributes see.
    """

    def __init__(
        self, proto: NodeProto, opset: int, inputs: Sequence[Tensor | None], block: Block
    ) -> None:
        from onnx.helper import get_attribute_value

        super().__init__(proto.op_type, proto.name or next(iter(proto.output), ""), inputs)
        self.proto, self.domain, self.block = proto, domain_of(proto.domain), block
        self.opset, self.n_outputs = opset, len(proto.output)
        self._attributes = {a.name: get_attribute_value(a) for a in proto.attribute}

    @property
    def qualified_type(self) -> str:
        """The operator with its domain, as its lowering is registered."""
        return qualified(self.domain, self.type)

    def with_inputs(self, *inputs: Tensor | None) -> Node:
        """The same node on other inputs."""
        return Node(self.proto, self.opset, inputs, self.block)

    def sizes_of(self, x: Tensor) -> tuple[int, ...]:
        """The sizes of a tensor, all of which must be known."""
        self.require(
            x.is_static,
            f"the shape of '{x.name}' must be known, got {x.shape}; give the model's inputs a "
            "fixed shape (input_shapes)",
        )
        return tuple(n for n in x.dims if n is not None)

    def has_output(self, index: int) -> bool:
        """Whether the graph gives an output a name."""
        return index < len(self.proto.output) and bool(self.proto.output[index])

    def attr(self, name: str, default: Any = REQUIRED) -> Any:
        """The attribute's value, `default` where the node does not state it; text as str."""
        value = self._attributes.get(name, default)
        self.require(value is not REQUIRED, f"attribute {name} is missing")
        return value.decode() if isinstance(value, bytes) else value

    def dtype(self, name: str) -> np.dtype:
        """An attribute that is one of ONNX's type numbers, as a numpy dtype."""
        from onnx.helper import tensor_dtype_to_np_dtype

        code = self.attr(name)
        try:
            return np.dtype(tensor_dtype_to_np_dtype(code))
        except KeyError:
            self.fail(f"{name} must be an ONNX type, got {code}")

    def numbers(self, name: str, index: int, since: int) -> list[int] | None:
        """Integers that are attribute `name` before opset `since` and input `index` from then on.

        None where they are omitted. Raises ConverterError when they are computed.
        """
        if self.opset < since:
            values = self.attr(name, None)
        else:
            values = self.constant(index) if self.input(index) is not None else None
        return None if values is None else [int(v) for v in np.atleast_1d(values)]
