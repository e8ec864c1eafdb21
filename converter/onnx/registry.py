"""Which function lowers which ONNX operator, and what such a function sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError
from ..lowerings import Lowerings

if TYPE_CHECKING:
    from onnx import NodeProto

    from ..ir import Tensor

FAMILIES = ("array", "conv", "math", "matmul", "norm", "reduce", "slice")
_LOWERINGS = Lowerings(__package__, FAMILIES)
LOWERINGS = _LOWERINGS.functions
lower, lower_rows, lowering_of = _LOWERINGS.lower, _LOWERINGS.lower_rows, _LOWERINGS.lowering_of
REQUIRED = object()
"""Default of an attribute that has none."""


class Node:
    """An ONNX node as its lowering sees it: attributes, and inputs already lowered to the IR.

    Attributes:
        type: the operator.
        name: the node's name, or its first output's where it has none.
        opset: the version of the operator set it is meant in.
        inputs: Tensors, None for an omitted one.
        n_outputs: how many results the graph gives names to.
    """

    def __init__(self, proto: NodeProto, opset: int, inputs: Sequence[Tensor | None]) -> None:
        from onnx.helper import get_attribute_value

        self.type, self.opset = proto.op_type, opset
        self.name = proto.name or next(iter(proto.output), "")
        self.inputs: list[Any] = list(inputs)
        self.n_outputs = len(proto.output)
        self._attributes = {a.name: get_attribute_value(a) for a in proto.attribute}

    def attr(self, name: str, default: Any = REQUIRED) -> Any:
        """The attribute's value, `default` where the node does not state it; text as str."""
        value = self._attributes.get(name, default)
        self.require(value is not REQUIRED, f"attribute {name} is missing")
        return value.decode() if isinstance(value, bytes) else value

    def require(self, condition: bool, message: str) -> None:
        """Raises ConverterError naming this node unless `condition` holds."""
        if not condition:
            raise ConverterError(f"{self.type} '{self.name}': {message}")

    def input(self, index: int) -> Tensor | None:
        """An input, None when it is omitted."""
        return self.inputs[index] if index < len(self.inputs) else None

    def known(self, index: int) -> np.ndarray | None:
        """The value of an input, None when it is omitted or depends on the model's inputs."""
        tensor = self.input(index)
        return None if tensor is None else tensor.value

    def constant(self, index: int) -> np.ndarray:
        """The value of an input that the lowering cannot do without.

        Raises ConverterError when the value depends on the model's inputs.
        """
        tensor, value = self.input(index), self.known(index)
        self.require(tensor is not None, f"input {index} is missing")
        if value is None:
            raise ConverterError(
                f"{self.type} '{self.name}': input {index} ('{self.inputs[index].name}') must be "
                "constant; it is computed from the model's inputs, give them a fixed shape "
                "(input_shapes)"
            )
        return np.asarray(value)

    def numbers(self, name: str, index: int, since: int) -> list[int] | None:
        """Integers that are attribute `name` before opset `since` and input `index` from then on.

        None where they are omitted. Raises ConverterError when they are computed.
        """
        if self.opset < since:
            values = self.attr(name, None)
        else:
            values = self.constant(index) if self.input(index) is not None else None
        return None if values is None else [int(v) for v in np.atleast_1d(values)]

    def shape(self, index: int = 0) -> tuple[int | None, ...]:
        """The shape of an input; ConverterError when not even its rank is known."""
        shape = self.inputs[index].shape
        self.require(
            shape is not None,
            f"the rank of input {index} ('{self.inputs[index].name}') must be known; give the "
            "model's inputs a fixed shape (input_shapes)",
        )
        return shape

    def rank(self, index: int = 0) -> int:
        """The rank of an input."""
        return len(self.shape(index))

    def axis(self, value: Any, rank: int | None = None) -> int:
        """An axis counted from the front; the default rank is the first input's."""
        rank = self.rank() if rank is None else rank
        axis = int(value)
        self.require(-rank <= axis < rank, f"axis must be in [-{rank}, {rank}), got {axis}")
        return axis % rank

    def axes(self, values: Any, rank: int | None = None) -> list[int]:
        """Different axes counted from the front."""
        axes = [self.axis(value, rank) for value in values]
        self.require(len(set(axes)) == len(axes), f"axes must be different, got {list(values)}")
        return axes
