"""A node of a source as its lowering sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...schema.errors import ConverterError, UnsupportedOps

if TYPE_CHECKING:
    from ..ir.graph import Tensor


class SourceNode:
    """What the nodes of every source have in common.

    Attributes:
        type: the operation.
        name: the node's name, for messages.
        inputs: what its inputs were lowered to, None for an omitted one.
    """

    def __init__(self, type_: str, name: str, inputs: Sequence[Tensor | None]) -> None:
        self.type, self.name = type_, name
        self.inputs: list[Any] = list(inputs)

    def require(self, condition: object, message: str) -> None:
        """Raises ConverterError naming this node unless `condition` holds."""
        if not condition:
            self.fail(message)

    def fail(self, message: str) -> NoReturn:
        """Raises ConverterError naming this node."""
        raise ConverterError(f"{self.type} '{self.name}': {message}")

    @contextmanager
    def named(self) -> Iterator[None]:
        """Puts this node before the text of an error that is about what it is lowered to.

        So do the nodes that it is inside of: "Loop 'l': Reshape 'r': RESHAPE 'y': 3 elements ...".
        """
        try:
            yield
        except UnsupportedOps:  # names all nodes itself
            raise
        except (ConverterError, ValueError) as error:
            prefix = f"{self.type} '{self.name}': "
            if not str(error).startswith(prefix):
                error.args = (f"{prefix}{error}", *error.args[1:])
            raise

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
        tensor = self.input(index)
        if tensor is None:
            self.fail(f"input {index} is missing")
        if tensor.value is None:
            self.fail(
                f"input {index} ('{tensor.name}') must be constant; it is computed from the "
                "model's inputs, give them a fixed shape (input_shapes)"
            )
        return np.asarray(tensor.value)

    def shape(self, index: int = 0) -> tuple[int | None, ...]:
        """The shape of an input; ConverterError when not even its rank is known."""
        tensor = self.inputs[index]
        if tensor.shape is None:
            self.fail(
                f"the rank of input {index} ('{tensor.name}') must be known; give the model's "
                "inputs a fixed shape (input_shapes)"
            )
        return tensor.shape

    def rank(self, index: int = 0) -> int:
        """The rank of an input."""
        return len(self.shape(index))

    def axis(self, value: Any, index: int = 0, n_new: int = 0) -> int:
        """An axis of an input to which `n_new` come, from the front where the rank is known."""
        axis = int(value)
        if self.inputs[index].shape is None:
            return axis
        rank = self.rank(index) + n_new
        self.require(-rank <= axis < rank, f"axis must be in [-{rank}, {rank}), got {axis}")
        return axis % rank

    def axes(self, values: Iterable[Any], n_new: int = 0) -> list[int]:
        """Different axes of the first input to which `n_new` come, as `axis` gives them."""
        values = list(values)
        axes = [self.axis(value, 0, n_new) for value in values]
        self.require(len(set(axes)) == len(axes), f"axes must be different, got {values}")
        return axes
