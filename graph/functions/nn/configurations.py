"""What layers and cells say of themselves in `get_config`, and the names they get."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

import numpy as np

from ...core.graph import Tensor
from ...core.scopes import get_default_graph
from ...format.tensor_values import get_static_value
from ...variables import initializers
from ...variables.initializers import ConfigValue, Initializer
from .named_functions import ACTIVATIONS, CONSTRAINTS, REGULARIZERS

Config: TypeAlias = "dict[str, object]"
"""Arguments by name: numbers, text, None, and what stands for functions."""

_COUNTS = "layer names"
_IDENTIFIERS = {
    function: name
    for functions in (ACTIVATIONS, REGULARIZERS, CONSTRAINTS)
    for name, function in cast("Mapping[str, Callable[..., object]]", functions).items()
}


def snake_case(name: str) -> str:
    """A class's name as that of a scope: BatchNormalization is batch_normalization."""
    parts = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def numbered(kind: str) -> str:
    """`dense_1`, `dense_2`, ... within a graph."""
    counts = cast("dict[str, int]", get_default_graph().scopes.extras.setdefault(_COUNTS, {}))
    counts[kind] = counts.get(kind, 0) + 1
    return f"{kind}_{counts[kind]}"


def as_config(value: object) -> object:
    """What stands for an argument: an object's class and configuration, a function's name."""
    if isinstance(value, Initializer):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, Tensor):
        number = get_static_value(value)
        return None if number is None else np.asarray(number).tolist()
    if callable(value) and not isinstance(value, type):
        return _IDENTIFIERS.get(value) or getattr(value, "__name__", type(value).__name__)
    return value


def from_config(value: object) -> object:
    """The argument that `as_config` stands for: an initializer, else what it is.

    Raises ValueError where there is no initializer of that name.
    """
    if not isinstance(value, Mapping):
        return value
    described = cast("Mapping[str, object]", value)
    if "class_name" not in described:
        return described
    kind = getattr(initializers, str(described["class_name"]), None)
    if not isinstance(kind, type) or not issubclass(kind, Initializer):
        raise ValueError(f"Unknown initializer: {described['class_name']}")
    return kind.from_config(cast("dict[str, ConfigValue]", described.get("config", {})))
