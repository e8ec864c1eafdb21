"""The kernels of accumulators."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import NotFoundError
from ..accumulators import Accumulator, SparseAccumulator
from ..resources import handle_of, resource_kernel, shared

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.protocols import KernelResult
    from ..state import State

PREFIXES = ("Accumulator", "ResourceAccumulator")


def _handle(op: Operation, state: State, kind: type[Accumulator]) -> np.ndarray:
    shape, is_mean = op.get_attr("shape"), op.get_attr("reduction_type") == b"MEAN"
    return handle_of(shared(op, state, lambda name: kind(name, shape, is_mean)))


def _accumulator(handle: np.ndarray) -> Accumulator:
    accumulator = cast("object", handle.item())
    if not isinstance(accumulator, Accumulator):
        raise NotFoundError(None, None, "the first input must be the handle of an accumulator")
    return accumulator


@resource_kernel("ConditionalAccumulator", "ResourceConditionalAccumulator")
def conditional_accumulator(op: Operation, state: State) -> np.ndarray:
    """An accumulator of whole gradients."""
    return _handle(op, state, Accumulator)


@resource_kernel("SparseConditionalAccumulator")
def sparse_conditional_accumulator(op: Operation, state: State) -> np.ndarray:
    """An accumulator of rows of gradients."""
    return _handle(op, state, SparseAccumulator)


@resource_kernel(*(f"{prefix}ApplyGradient" for prefix in PREFIXES))
def apply(
    op: Operation, state: State, handle: np.ndarray, step: np.ndarray, gradient: np.ndarray
) -> KernelResult:
    """Adds a gradient."""
    _accumulator(handle).apply(gradient, int(step))
    return ()


@resource_kernel("SparseAccumulatorApplyGradient")
def apply_rows(
    op: Operation, state: State, handle: np.ndarray, step: np.ndarray, *parts: np.ndarray
) -> KernelResult:
    """Adds the rows of a gradient."""
    indices, values, sizes = parts
    accumulator = cast("SparseAccumulator", _accumulator(handle))
    known: list[int] = sizes.tolist() if op.get_attr("has_known_shape") else []
    accumulator.apply_rows(indices, values, known, int(step))
    return ()


@resource_kernel(*(f"{prefix}TakeGradient" for prefix in PREFIXES))
def take(op: Operation, state: State, handle: np.ndarray, required: np.ndarray) -> KernelResult:
    """Takes the result."""
    (result,) = _accumulator(handle).take(int(required)).wait(state.control.check)
    return result[0]


@resource_kernel("SparseAccumulatorTakeGradient")
def take_rows(
    op: Operation, state: State, handle: np.ndarray, required: np.ndarray
) -> KernelResult:
    """Takes the result: indices, rows, and the shape of the whole."""
    (result,) = _accumulator(handle).take(int(required)).wait(state.control.check)
    return list(result)


@resource_kernel(*(f"{prefix}NumAccumulated" for prefix in PREFIXES))
def n_accumulated(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """How many gradients there are."""
    return np.array(_accumulator(handle).n_accumulated, np.int32)


@resource_kernel(*(f"{prefix}SetGlobalStep" for prefix in PREFIXES))
def set_global_step(
    op: Operation, state: State, handle: np.ndarray, step: np.ndarray
) -> KernelResult:
    """Sets the step below which gradients count no more."""
    _accumulator(handle).step = int(step)
    return ()
