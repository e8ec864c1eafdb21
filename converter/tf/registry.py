"""Which function lowers which TF operation, and what such a function sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...schema.errors import ConverterError
from ..lowerings import Lowerings

if TYPE_CHECKING:
    from ...graph.graph import Operation
    from ..ir import Tensor

FAMILIES = ("array", "control", "einsum", "image", "lists", "math", "nn", "reduce")
_LOWERINGS = Lowerings(__package__, FAMILIES)
LOWERINGS = _LOWERINGS.functions
lower, lower_rows, lowering_of = _LOWERINGS.lower, _LOWERINGS.lower_rows, _LOWERINGS.lowering_of


class Node:
    """A TF operation as its lowering sees it: attributes, and inputs already lowered to the IR."""

    def __init__(self, op: Operation, inputs: list[Tensor]) -> None:
        self.op, self.inputs = op, inputs
        self.name, self.type = op.name, op.type

    def attr(self, name: str) -> Any:
        """The attribute's value, TF's default where the graph does not state it."""
        return self.op.get_attr(name)

    def text(self, name: str) -> str:
        """A bytes attribute as str."""
        return self.attr(name).decode()

    def require(self, condition: bool, message: str) -> None:
        """Raises ConverterError naming this operation unless `condition` holds."""
        if not condition:
            self.fail(message)

    def fail(self, message: str) -> NoReturn:
        """Raises ConverterError naming this operation."""
        raise ConverterError(f"{self.type} '{self.name}': {message}")

    def known(self, index: int) -> np.ndarray | None:
        """The value of an input, None when it depends on the model's inputs."""
        return self.inputs[index].value

    def constant(self, index: int) -> np.ndarray:
        """The value of an input that the lowering cannot do without.

        Raises:
            ConverterError: the value depends on the model's inputs.
        """
        value = self.known(index)
        self.require(
            value is not None,
            f"input {index} ('{self.inputs[index].name}') must be constant; "
            "it is computed from the model's inputs, give them a fixed shape",
        )
        return np.asarray(value)

    def shape(self, index: int = 0) -> tuple[int | None, ...]:
        """The shape of an input; ConverterError when not even its rank is known."""
        shape = self.inputs[index].shape
        if shape is None:
            name = self.inputs[index].name
            raise ConverterError(
                f"{self.type} '{self.name}': the rank of input {index} ('{name}') must be known; "
                "give the model's inputs a fixed shape"
            )
        return shape

    def rank(self, index: int = 0) -> int:
        """The rank of an input."""
        return len(self.shape(index))

    def axis(self, value: Any, index: int = 0, n_new: int = 0) -> int:
        """An axis of an input to which `n_new` come, from the front where the rank is known."""
        axis = int(value)
        if self.inputs[index].shape is None:
            return axis
        rank = self.rank(index) + n_new
        self.require(-rank <= axis < rank, f"axis must be in [{-rank}, {rank}), got {axis}")
        return axis % rank
