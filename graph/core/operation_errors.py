"""Errors that name an operation, in TensorFlow's types and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ...schema import errors

if TYPE_CHECKING:
    from .graph import Operation


def located(op: Operation | None, message: str) -> str:
    """A message with the operation's name behind it, as TensorFlow puts it."""
    return message if op is None else f"{message}\n\t [[{{{{node {op.name}}}}}]]"


def of_operation(error: errors.OpError, op: Operation) -> errors.OpError:
    """An error that names the operation that failed."""
    if error.op is not None:
        return error
    kind = cast("Callable[[None, Operation, str], errors.OpError]", type(error))
    return kind(None, op, located(op, error.message))


def failed(op: Operation | None, message: str) -> errors.OpError:
    """The error of an operation whose inputs do not suit it."""
    return errors.InvalidArgumentError(None, op, located(op, message))
