"""Tensors and functions that callers hand over: of flatlite, or of a running TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..sources.source import Shapes


def is_concrete(function: Any) -> bool:
    """Whether something is one of TensorFlow's concrete functions."""
    return any(kind.__name__ == "ConcreteFunction" for kind in type(function).__mro__)


def tensors_of(argument: str, values: Any) -> list[Any]:
    """The items of a list of tensors; TypeError when it is none."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{argument} must be a list of tensors, got {values!r}")
    for item in values:
        if not hasattr(item, "name"):
            raise TypeError(
                f"{argument} must be tensors, got {item!r}; graph.get_tensor_by_name gives the "
                "tensor of a name"
            )
    return list(values)


def known_shapes(tensors: Sequence[Any]) -> Shapes:
    """The shapes of tensors of ours or of TensorFlow, by name, where they are known."""
    shapes = {}
    for tensor in tensors:
        shape: Any = getattr(tensor, "shape", None)
        if hasattr(shape, "as_list"):
            shape = shape.as_list() if shape.rank is not None else None
        if shape is not None:
            shapes[tensor.name] = tuple(shape)
    return shapes
