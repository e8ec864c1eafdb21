"""What callers hand over: models, names and shapes, tensors of flatlite or a running TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..sources.source import Shapes


def path_of(argument: str, model: Any, message: str | None = None) -> str | os.PathLike | None:
    """The path of a model that is given by one; None where its bytes or a message are given.

    Args:
        argument: its name in the caller's signature.
        model: what the caller gives.
        message: the type of protocol buffer that may be given; "" for bytes alone, None for neither
            bytes nor a message.

    Raises TypeError for anything else.
    """
    if isinstance(model, str | os.PathLike):
        return model
    kind = type(model).__name__
    if message is None:
        raise TypeError(f"{argument} must be a path, got {kind}")
    descriptor = getattr(model, "DESCRIPTOR", None)
    is_message = bool(message) and getattr(descriptor, "name", None) == message
    if not is_message and not _has_buffer(model):
        forms = f"a path, the file's bytes or a {message}" if message else "a path or bytes"
        raise TypeError(f"{argument} must be {forms}, got {kind}")
    return None


def _has_buffer(value: Any) -> bool:
    try:
        return memoryview(value).c_contiguous
    except TypeError:
        return False


def check_kinds(shapes: Any = None, **lists: Any) -> None:
    """Raises TypeError for `input_shapes` that are no mapping, or names that are no list of them.

    A single name may stand for a list of one where a source takes that. Raises ValueError for sizes
    below -1.
    """
    if shapes is not None and not isinstance(shapes, Mapping):
        raise TypeError(
            f"input_shapes must be a dict of shapes by tensor name, got {type(shapes).__name__}"
        )
    for name, shape in (shapes or {}).items():
        if not isinstance(name, str):
            raise TypeError(f"input_shapes must have tensor names as keys, got {name!r}")
        sizes = shape if isinstance(shape, (list, tuple)) else ()
        if any(isinstance(n, int) and n < -1 for n in sizes):
            raise ValueError(
                f"sizes of '{name}' in input_shapes must not be negative, but -1 for an unknown "
                f"one, got {list(sizes)}"
            )
    for argument, names in lists.items():
        if names is not None and not isinstance(names, Iterable):
            raise TypeError(f"{argument} must be a list of names, got {type(names).__name__}")


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
