"""flatlite: TensorFlow Lite without TensorFlow.

`flatlite.lite` has the converter and the interpreter, `flatlite.compat.v1.lite` the same names as
TF1 has them, `flatlite.train` optimizers and checkpoints, `flatlite.errors` the exceptions.
Everything is imported on first use.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import compat, errors, lite, train

__version__ = "0.1.0"
__all__ = ["__version__", "compat", "errors", "lite", "train"]

_MODULES = frozenset(("compat", "errors", "lite", "train"))


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'flatlite' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
