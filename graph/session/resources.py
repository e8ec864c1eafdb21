"""Kernels of what a Session keeps for operations: their errors say which one failed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ...schema.errors import InvalidArgumentError, OpError
from ..core.operation_errors import of_operation
from .hosted import hosted
from .keys import shared_name

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import KernelResult
    from .state import State

    Kernel = Callable[..., KernelResult]

Resource = TypeVar("Resource")


def resource_kernel(*types: str) -> Callable[[Kernel], Kernel]:
    """Registers a kernel whose errors name the operation."""

    def register(function: Kernel) -> Kernel:
        @wraps(function)
        def kernel(op: Operation, state: State, *arrays: np.ndarray) -> KernelResult:
            try:
                if op.attrs.get("timeout_ms", -1) != -1:
                    raise InvalidArgumentError(None, None, "Timeout not supported yet.")
                return function(op, state, *arrays)
            except OpError as error:
                raise of_operation(error, op) from None

        return hosted(*types)(kernel)

    return register


def shared(op: Operation, state: State, make: Callable[[str], Resource]) -> Resource:
    """What an operation stands for in a Session; `make` gets the name for its messages."""
    name = shared_name(op)
    with state.lock:
        key = state.placed(op, name or f"/{op.name}")
        if key not in state.resources:
            state.resources[key] = make(name or f"_{len(state.resources)}_{op.name}")
        return cast("Resource", state.resources[key])


def handle_of(resource: object) -> np.ndarray:
    """A scalar that holds an object."""
    handle = np.empty((), object)
    handle[()] = resource
    return handle
