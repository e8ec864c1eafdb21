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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ...schema.registry import Homes, Registry
from .homes import HOMES

if TYPE_CHECKING:
    from ..core.composite.indexed_slices import IndexedSlices
    from ..core.graph import Tensor

Gradient: TypeAlias = "Tensor | IndexedSlices"
GradientFunction: TypeAlias = "Callable[..., Gradient | Sequence[Gradient | None] | None]"
Function = TypeVar("Function", bound=GradientFunction)


@dataclass(frozen=True)
class Derivative:
    """What is known of the derivative of one op type.

    `function` is None where nothing flows back. With `takes_slices` it is given IndexedSlices as
    they come, else as tensors. With `fills_zeros` it is never given None.
    """

    type: str
    function: GradientFunction | None
    takes_slices: bool = False
    fills_zeros: bool = False


DERIVATIVES: Registry[Derivative] = Registry("op", __package__, Homes(HOMES))


def gradient(
    *types: str, takes_slices: bool = False, fills_zeros: bool = False
) -> Callable[[Function], Function]:
    """Registers the decorated function for op `types`; see Derivative."""

    def register(function: Function) -> Function:
        for kind in types:
            DERIVATIVES.add(kind, Derivative(kind, function, takes_slices, fills_zeros))
        return function

    return register


def constant(*types: str) -> None:
    """Registers op `types` through which nothing flows back."""
    for kind in types:
        DERIVATIVES.add(kind, Derivative(kind, None))


def _require_new(kind: str) -> None:
    """Raises KeyError, in TensorFlow's words, when a type has a gradient already."""
    row = DERIVATIVES.get(kind)
    if row is not None:
        home = getattr(row.function, "__module__", "flatlite")
        raise KeyError(
            f"Registering two gradient with name '{kind}'! (Previous registration was in {home})"
        )


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

    def __call__(self, f: Function) -> Function:
        """Registers the function and gives it back."""
        _require_new(self._op_type)
        return gradient(self._op_type, fills_zeros=True)(f)


def NotDifferentiable(op_type: str) -> None:
    """Says that nothing flows back through op type `op_type`.

    Raises:
        TypeError: `op_type` is not a string.
        KeyError: The type has a gradient already.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _require_new(op_type)
    constant(op_type)
