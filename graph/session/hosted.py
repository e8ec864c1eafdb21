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
from . import kernels

if TYPE_CHECKING:
    from ..core.protocols import Kernel

    KernelT = TypeVar("KernelT", bound=Kernel)

MODULES = (
    "accumulators",
    "barriers",
    "control",
    "dataset_caches",
    "dataset_functions",
    "dataset_iterators",
    "dataset_orders",
    "dataset_snapshots",
    "dataset_sources",
    "dataset_transforms",
    "distorted_boxes",
    "files",
    "modules",
    "pool",
    "printing",
    "python",
    "queues",
    "random",
    "readers",
    "rejection",
    "samplers",
    "serialized",
    "session_tensors",
    "staging",
    "tables",
    "tensor_arrays",
    "variables",
)
"""The modules that hold kernels; imported when a Session first asks."""

HOSTED: Registry[Kernel] = Registry("op", kernels.__name__, MODULES)


def hosted(*types: str) -> Callable[[KernelT], KernelT]:
    """Registers the decorated kernel for op `types`."""

    def register(function: KernelT) -> KernelT:
        for kind in types:
            HOSTED.add(kind, function)
        return function

    return register
