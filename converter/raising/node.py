"""A TFLite operator as the function that raises it sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ...schema.errors import ConverterError
from ...schema.tables import name_of
from ..ir.pseudo import operator
from .quantized import dtype_of

if TYPE_CHECKING:
    from ..ir import graph as ir
    from .raiser import Body


class Node:
    """An operator of the IR while it is raised.

    Attributes:
        op: the operator.
        body: what is raised of the graph it is in.
        options: its options record.
    """

    def __init__(self, op: ir.Op, body: Body) -> None:
        self.op, self.body, self.options = op, body, op.options

    @property
    def kind(self) -> str:
        """The operator."""
        return self.op.kind

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.op.name

    def require(self, condition: object, message: str) -> None:
        """Raises ConverterError naming this operator unless `condition` holds."""
        if not condition:
            self.fail(message)

    def fail(self, message: str) -> NoReturn:
        """Raises ConverterError naming this operator."""
        raise ConverterError(f"{self.kind} '{self.name}': {message}")

    def result_dtype(self, i: int = 0) -> np.dtype:
        """The type of a result; float32 where it is quantized."""
        return dtype_of(self.op.outputs[i])

    def option(self, enumeration: str, name: str) -> str:
        """The name of the value of an option that is one of an enumeration."""
        return name_of(enumeration, getattr(self.options, name))

    def has(self, i: int) -> bool:
        """Whether an operand is given."""
        return self.op.input(i) is not None

    def operand(self, i: int) -> Any:
        """An operand, None when it is left out."""
        tensor = self.op.input(i)
        return None if tensor is None else self.body.operand(self, i, tensor)

    def arranged(
        self, i: int, order: Sequence[int] | None = None, shape: Sequence[int] | None = None
    ) -> Any:
        """An operand transposed to `order`, then in `shape`: data of the model is stored so."""
        tensor = self.op.input(i)
        if tensor is None:
            return None
        return self.body.operand(self, i, tensor, order, None if shape is None else tuple(shape))

    def known(self, i: int) -> np.ndarray | None:
        """The value of an operand, None when it is left out or depends on the model's inputs."""
        tensor = self.op.input(i)
        return None if tensor is None else tensor.value

    def constant(self, i: int) -> np.ndarray:
        """The value of an operand that must be known."""
        value = self.known(i)
        if value is None:
            label = operator(self.kind).operands[i].name
            self.fail(f"operand '{label}' must be constant, and is computed")
        return value

    def sizes(self, i: int) -> tuple[int | None, ...]:
        """The shape of an operand, whose rank must be known."""
        tensor = self.op.inputs[i]
        if tensor.shape is None:
            self.fail(f"the rank of '{tensor.name}' must be known")
        return tensor.shape

    def weight_sizes(self, i: int) -> tuple[int, ...]:
        """The shape of an operand, which must be known."""
        sizes = tuple(n for n in self.sizes(i) if n is not None)
        self.require(len(sizes) == len(self.sizes(i)), f"operand {i} must have a known shape")
        return sizes
