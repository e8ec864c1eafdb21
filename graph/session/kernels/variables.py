"""The kernels of operations that look at variables through their handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import kernel_of
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State


@hosted("ResourceGather")
def resource_gather(
    op: Operation, state: State, variable: np.ndarray, indices: np.ndarray
) -> KernelResult:
    """The rows of a variable at `indices`."""
    kernel = kernel_of("GatherV2")
    assert kernel is not None
    return kernel(variable, indices, np.int32(0), batch_dims=op.get_attr("batch_dims"))


@hosted("ResourceGatherNd")
def resource_gather_nd(
    op: Operation, state: State, variable: np.ndarray, indices: np.ndarray
) -> KernelResult:
    """The parts of a variable at index tuples."""
    kernel = kernel_of("GatherNd")
    assert kernel is not None
    return kernel(variable, indices)


@hosted("VariableShape")
def variable_shape(op: Operation, state: State, variable: np.ndarray) -> np.ndarray:
    """The shape of a variable."""
    return np.array(variable.shape, op.get_attr("out_type"))
