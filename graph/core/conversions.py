"""How programs say what becomes a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .create import register_conversion
from .dtype import DType

if TYPE_CHECKING:
    from .graph import Tensor


def register_tensor_conversion_function(
    base_type: type[object] | tuple[type[object], ...],
    conversion_func: Callable[..., Tensor],
    priority: int = 100,
) -> None:
    """Says how values of a type become tensors wherever an operation takes one.

    Args:
        base_type: The type, or several.
        conversion_func: A function of a value, `dtype`, `name` and `as_ref` that gives a tensor,
            or NotImplemented.
        priority: Lower ones are tried first.

    Raises TypeError for what is no type or no function, and for Python's numbers.
    """
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types, got {kinds}")
    if any(issubclass(kind, (int, float, np.ndarray, np.generic)) for kind in kinds):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable, got {conversion_func}.")

    def convert(value: object, dtype: np.dtype | None, name: str | None, reference: bool) -> Tensor:
        kind = None if dtype is None else DType.of(dtype)
        return conversion_func(value, dtype=kind, name=name, as_ref=reference)

    for kind in kinds:
        register_conversion(kind, convert, priority)
