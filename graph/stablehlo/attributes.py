"""Attributes and regions of a module's operations, of the type that an operation demands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...schema.errors import ModelError
from ...schema.mlir.module import Attribute, Block, Enum, Operation, Unread


def attribute(op: Operation, name: str) -> Attribute:
    """An attribute of any type; ModelError where there is none, as in all that follow."""
    value = op.attributes.get(name)
    if value is None or isinstance(value, Unread):
        raise ModelError(f"{op}: attribute {name} is missing or of an unknown form")
    return value


def _mismatch(op: Operation, name: str, expected: str, value: Attribute) -> ModelError:
    return ModelError(f"{op}: attribute {name} must be {expected}, got {value}")


def array(op: Operation, name: str) -> np.ndarray:
    """An attribute of numbers, or of one."""
    value = attribute(op, name)
    if isinstance(value, (np.ndarray, bool, int, float)):
        return np.asarray(value)
    raise _mismatch(op, name, "numbers", value)


def numbers(op: Operation, name: str) -> list[int]:
    """An attribute of integers, or of one."""
    value = attribute(op, name)
    if isinstance(value, tuple):
        return [whole(op, name, item) for item in value]
    items: list[int] = array(op, name).reshape(-1).tolist()
    return items


def whole(op: Operation, name: str, value: Attribute) -> int:
    """An attribute, or a part of one, that is an integer."""
    if isinstance(value, int):
        return value
    raise _mismatch(op, name, "an integer", value)


def number(op: Operation, name: str) -> int:
    """An attribute of one integer."""
    return whole(op, name, attribute(op, name))


def flag(op: Operation, name: str) -> bool:
    """An attribute that holds or does not."""
    return bool(attribute(op, name))


def text(op: Operation, name: str) -> str:
    """An attribute that is a name."""
    value = attribute(op, name)
    if isinstance(value, str):
        return value
    raise _mismatch(op, name, "a string", value)


def enumerated(op: Operation, name: str) -> int:
    """The number of an attribute that is a value of an enumeration."""
    value = attribute(op, name)
    if isinstance(value, Enum):
        return value.value
    raise _mismatch(op, name, "a value of an enumeration", value)


def fields(op: Operation, name: str) -> Mapping[str, Attribute]:
    """An attribute of attributes by name."""
    value = attribute(op, name)
    if isinstance(value, Mapping):
        return value
    raise _mismatch(op, name, "attributes by name", value)


def function_name(op: Operation) -> str:
    """The only function of the module that a call names."""
    value = attribute(op, "called_computations")
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], str):
        return value[0]
    raise _mismatch(op, "called_computations", "one name", value)


def pairs(op: Operation, name: str) -> np.ndarray:
    """[n, 2]: an attribute of a number before and one after each dimension."""
    return np.reshape(numbers(op, name), (-1, 2))


def regions(op: Operation) -> list[Block]:
    """The regions of an operation, none of which is empty; ModelError where one is."""
    blocks = [block for block in op.regions if block is not None]
    if len(blocks) != len(op.regions):
        raise ModelError(f"{op}: its regions must not be empty")
    return blocks
