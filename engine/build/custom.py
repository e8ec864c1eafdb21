"""Kernels that are written outside of the engine: compiled here, for this process alone."""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence

from . import image, target
from .declaration import Declaration

_modules: dict[tuple[Callable[..., object], str], str] = {}
_lock = allocate_lock()


class CustomKernelError(ValueError):
    """A kernel that does not compile, or not as the engine needs it."""


def declared(name: str, declaration: str, sets: Mapping[str, Sequence[object]]) -> Declaration:
    """The declaration of a kernel; raises ValueError where it cannot be read."""
    return Declaration(name, declaration, sets)


def module_of(function: Callable[..., object], declaration: Declaration) -> str:
    """The kernel module that has `function` alone, all its specialisations compiled.

    Raises CustomKernelError.
    """
    key = function, declaration.text
    with _lock:
        module = _modules.get(key)
        if module is None:
            module = f"custom_{len(_modules)}"
            _compile(module, function, declaration)
            _modules[key] = module
    return module


def _compile(module: str, function: Callable[..., object], declaration: Declaration) -> None:
    """Makes the code of a kernel be found as that of a module of the engine is. Imports numba."""
    from . import compiler, driver
    from .kernel import Kernel

    try:
        compiled = compiler.compile_kernels(
            module, [Kernel(declaration.name, function, declaration)]
        )
        if target.supports_images():
            code = image.in_memory(*driver.link(compiled))
        else:
            code = driver.just_in_time(compiled)
    except compiler.KernelError as error:
        raise CustomKernelError(f"{declaration.name}: {error}") from error
    code.searched = True  # there is no file of it
    image.provide(module, code)
