"""Kernels of what a Session keeps for operations: their errors say which one failed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from ...schema.errors import OpError
from .hosted import hosted
from .run_errors import of_operation

if TYPE_CHECKING:
    import numpy as np

    from ..core.graph import Operation
    from ..core.protocols import KernelResult
    from .state import State

    Kernel = Callable[..., KernelResult]


def resource_kernel(*types: str) -> Callable[[Kernel], Kernel]:
    """Registers a kernel whose errors name the operation."""

    def register(function: Kernel) -> Kernel:
        @wraps(function)
        def kernel(op: Operation, state: State, *arrays: np.ndarray) -> KernelResult:
            try:
                return function(op, state, *arrays)
            except OpError as error:
                raise of_operation(error, op) from None

        return hosted(*types)(kernel)

    return register
