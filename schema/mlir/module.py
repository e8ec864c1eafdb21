"""A module of MLIR operations as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np


@dataclass(frozen=True)
class TensorType:
    """Tensors of one element type.

    Attributes:
        element: the element type, as MLIR writes it: "f32", "si8", "ui64", "bool", "complex<f32>".
        shape: sizes, None where one is not known; None for an unknown rank.
    """

    element: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class FunctionType:
    """What a function takes and gives."""

    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]


@dataclass(frozen=True)
class OtherType:
    """A type that is no tensor: "token", "tuple", or a lone element type."""

    name: str


Type: TypeAlias = TensorType | FunctionType | OtherType


@dataclass(frozen=True)
class Enum:
    """A value of an enumeration, by its number."""

    kind: str
    value: int


@dataclass(frozen=True)
class Unread:
    """An attribute that nothing here reads, or one of another dialect."""

    kind: str


Attribute: TypeAlias = (
    bool
    | int
    | float
    | str
    | np.ndarray
    | Type
    | Enum
    | Unread
    | tuple["Attribute", ...]
    | Mapping[str, "Attribute"]
)


@dataclass(eq=False)
class Value:
    """A result of an operation, or an argument of a block."""

    type: Type


@dataclass(eq=False)
class Operation:
    """One operation.

    Attributes:
        name: without dialect and version: "add", "dot_general", "func".
        dialect: "vhlo", "builtin", ...
        location: the name that the source gave it, such as "jit(f)/dot_general"; may be empty.
    """

    dialect: str
    name: str
    location: str
    attributes: Mapping[str, Attribute]
    operands: Sequence[Value] = ()
    results: Sequence[Value] = ()
    regions: list[Block | None] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.dialect}.{self.name}" + (f" '{self.location}'" if self.location else "")


@dataclass(eq=False)
class Block:
    """The only block of a region; the last operation returns from it."""

    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Module:
    """The functions of a module, by name, and the stamp of what wrote it."""

    producer: str
    functions: dict[str, Operation]
