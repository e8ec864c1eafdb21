"""load_delegate: a delegate by name."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

DELEGATES = {
    "cuda": ("flatlite.delegates.cuda.delegate", "CudaDelegate"),
    "xla": ("flatlite.delegates.xla.delegate", "XlaDelegate"),
}
"""Name -> the module and class of a delegate that comes with flatlite."""
KNOWN = f"{', '.join(map(repr, DELEGATES))} and 'module:Class'"


def load_delegate(library: str | os.PathLike[str], options: dict[str, Any] | None = None) -> Any:
    """A delegate for `Interpreter(experimental_delegates=[...])`.

    Args:
        library: "cuda" (NVIDIA GPUs), "xla" (TPU, GPU or CPU through JAX), "module:Class" for a
            class of your own, or the path of a shared library as libedgetpu.so.1.
        options: arguments of the class by name; all of flatlite's take minimum_size and fallback.
            A library is given names and values as text.

    Raises:
        ValueError: the delegate cannot be loaded; the message says why.
        OSError: `library` is the path of a shared library, and there is none.
    """
    name = os.fsdecode(library)
    if not isinstance(options or {}, Mapping):
        raise _failed(name, f"options must be a dictionary, got {options!r}")
    arguments = dict(options or {})
    module, colon, attribute = name.rpartition(":")
    if name in DELEGATES:
        module, attribute = DELEGATES[name]
    elif not colon or os.sep in name or not module or not attribute.isidentifier():
        return _external(name, arguments)
    try:
        cls = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise _failed(name, _missing(name, error)) from error
    except AttributeError as error:
        raise _failed(name, f"module {module} has no {attribute}") from error
    try:
        delegate = cls(**arguments)
    except (TypeError, ValueError) as error:
        raise _failed(name, f"options {arguments} are not accepted: {error}") from error
    return delegate


def _external(name: str, options: dict[str, Any]) -> Any:
    """The delegate of a shared library."""
    from .external.library import ExternalDelegate

    try:
        return ExternalDelegate(name, options)
    except ValueError as error:
        raise _failed(name, str(error)) from error
    except OSError as error:
        if os.sep in name or ".so" in name or ".dylib" in name:
            raise
        raise OSError(f"{error}; known delegates are {KNOWN}") from None


def _missing(name: str, error: ImportError) -> str:
    if not isinstance(error, ModuleNotFoundError):
        return str(error)
    if name in DELEGATES:
        return f"{error.name} is not installed; pip install 'flatlite[{name}]'"
    return f"module {error.name} is not there; a module must be on Python's path"


def _failed(name: str, reason: str) -> ValueError:
    return ValueError(f"Failed to load delegate from {name}\n{reason}")
