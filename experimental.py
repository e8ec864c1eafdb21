"""The names of `tf.lite.experimental`, as `flatlite.lite.experimental`."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .converter.ophint import convert_op_hints_to_stubs
    from .delegates.load import load_delegate
    from .interpreter.interpreter import OpResolverType

__all__ = ["OpResolverType", "convert_op_hints_to_stubs", "load_delegate"]

_HOMES = {
    "OpResolverType": "interpreter.interpreter",
    "convert_op_hints_to_stubs": "converter.ophint",
    "load_delegate": "delegates.load",
}


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'flatlite.lite.experimental' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __package__), name)


def __dir__() -> list[str]:
    return __all__
