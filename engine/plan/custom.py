"""Instructions of a program that run kernels written outside of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..build.custom import CustomKernelError, declared, module_of
from .buffer import Buffer

if TYPE_CHECKING:
    from typing import TypeAlias

    from ...schema.custom_ops import CustomKernel
    from ..build.declaration import Number
    from .program import Program

    Argument: TypeAlias = "Buffer | Number"

__all__ = ["CustomKernelError", "add_instruction"]


def add_instruction(
    program: Program,
    kernel: CustomKernel[Callable[..., object]],
    name: str,
    arguments: Mapping[str, Argument],
) -> None:
    """Adds the instruction that runs a kernel on arguments by name; "split" says how many items.

    Raises ValueError where they are not what the kernel declares, CustomKernelError where it does
    not compile.
    """
    declaration = declared("run", kernel.declaration, kernel.sets)
    names = [argument.name for argument in declaration.arguments]
    values = {key: value for key, value in arguments.items() if key != "split"}
    if values.keys() != set(names):
        raise ValueError(
            f"{name}: arguments must give {', '.join(names)}, got {', '.join(values) or 'none'}"
        )
    buffers = {key: value for key, value in values.items() if isinstance(value, Buffer)}
    numbers = {key: value for key, value in values.items() if not isinstance(value, Buffer)}
    arrays = [argument.name for argument in declaration.arrays]
    if buffers.keys() != set(arrays):
        raise ValueError(
            f"{name}: buffers must be {', '.join(arrays)}, got {', '.join(buffers) or 'none'}"
        )
    split = arguments.get("split")
    if not isinstance(split, int):
        raise ValueError(
            f"{name}: arguments must give split, the number of items (1 where the kernel does not "
            f"divide its work), as an int, got {split!r}"
        )
    module = module_of(kernel.function, declaration)
    program.call(f"{module}.run", *(buffers[name] for name in arrays), split=split, **numbers)
