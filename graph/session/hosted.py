"""Kernels that use what a Session keeps: random streams, queues, files.

    @hosted("RandomUniform")
    def random_uniform(op, state, shape):
        ...

The function takes the operation, the Session's State and the inputs as arrays, and returns one
array, or one for each output. What must outlive the run is kept in the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ...schema.registry import Registry

if TYPE_CHECKING:
    from ..core.protocols import Kernel

    KernelT = TypeVar("KernelT", bound=Kernel)

MODULES = (
    "accumulator_kernels",
    "control_kernels",
    "files_kernels",
    "python_kernels",
    "pool_kernels",
    "print_kernels",
    "queue_kernels",
    "random_kernels",
    "reader_kernels",
    "rejection_kernels",
    "sampler_kernels",
    "serialized_kernels",
    "table_kernels",
    "tensor_array_kernels",
    "tensor_array_kernels",
    "variable_kernels",
)
"""The modules that hold kernels; imported when a Session first asks."""

HOSTED: Registry[Kernel] = Registry("op", __package__, MODULES)


def hosted(*types: str) -> Callable[[KernelT], KernelT]:
    """Registers the decorated kernel for op `types`."""

    def register(function: KernelT) -> KernelT:
        for kind in types:
            HOSTED.add(kind, function)
        return function

    return register
