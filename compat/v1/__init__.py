"""The names of TensorFlow 1: `import flatlite.compat.v1 as tf`.

Everything is imported on first use. What a name does is said where it lives:
`help(tf.get_variable)`.
"""

from __future__ import annotations

import importlib

from .homes import CORE, MATH, namespace

_MODULES = {
    "bitwise": ".bitwise",
    "errors": "...errors",
    "initializers": "...graph.initializers",
    "layers": "...graph.functions.layers",
    "lite": ".lite",
    "logging": ".logging",
    "math": ".math",
    "nn": ".nn",
    "random": "...graph.functions.random",
    "train": "...train",
}
"""Modules by name, from here."""

_names, _get, _ = namespace(__name__, CORE, MATH)
__all__ = sorted([*_MODULES, *_names])


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(_MODULES[name], __name__)
    return _get(name)


def __dir__() -> list[str]:
    return __all__
