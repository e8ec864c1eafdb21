"""The rows of derivatives: one function per op type that says what flows back to its inputs.

    @gradient("Mul")
    def mul(op, dy):
        x, y = op.inputs
        return unbroadcast(x, y, dy * y, dy * x)

The function takes the operation and one gradient for each of its outputs, and gives one for each of
its inputs, or just the one where the op has a single input. None is no gradient. Where an op has
several outputs, the gradient of one that nothing depends on is None.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass

from . import FAMILIES


@dataclass(frozen=True)
class Derivative:
    """What is known of the derivative of one op type.

    `function` is None where nothing flows back. With `takes_slices` it is given IndexedSlices as
    they come, else as tensors. With `fills_zeros` it is never given None.
    """

    type: str
    function: Callable | None
    takes_slices: bool = False
    fills_zeros: bool = False


_ROWS: dict[str, Derivative] = {}


def gradient(*types: str, **fields):
    """Registers the decorated function for op `types`; `fields` are further fields of the rows."""

    def register(function):
        for kind in types:
            _add(kind, function, fields)
        return function

    return register


def constant(*types: str) -> None:
    """Registers op `types` through which nothing flows back."""
    for kind in types:
        _add(kind, None, {})


def _add(kind: str, function: Callable | None, fields) -> None:
    if kind in _ROWS:
        raise KeyError(
            f"Registering two gradient with name '{kind}'! (Previous registration was in "
            f"{getattr(_ROWS[kind].function, '__module__', 'flatlite')})"
        )
    _ROWS[kind] = Derivative(kind, function, **fields)


def derivative_of(kind: str) -> Derivative | None:
    """The derivative of op type `kind`, or None when there is no row."""
    _load()
    return _ROWS.get(kind)


def registered_types() -> list[str]:
    """Every op type with a row."""
    _load()
    return sorted(_ROWS)


class RegisterGradient:
    """Registers a gradient function for an op type, or for a name of `gradient_override_map`.

    The function takes the operation and one gradient for each of its outputs (zeros where nothing
    depends on it) and gives one for each of its inputs, or None.

    Args:
        op_type: The op type, such as "Sub".

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: The type has a gradient already.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable) -> Callable:
        """Registers the function and gives it back."""
        _load()
        return gradient(self._op_type, fills_zeros=True)(f)


def NotDifferentiable(op_type: str) -> None:
    """Says that nothing flows back through op type `op_type`.

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: The type has a gradient already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _load()
    constant(op_type)


@functools.cache
def _load() -> None:
    for family in FAMILIES:
        importlib.import_module(f".{family}", __package__)
