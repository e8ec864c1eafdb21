"""Tensors that a Session keeps between runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..resources import resource_kernel

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State


@resource_kernel("GetSessionHandle", "GetSessionHandleV2")
def get_session_handle(op: Operation, state: State, array: np.ndarray) -> np.ndarray:
    """The string that stands for a tensor from now on."""
    return np.array(state.session_tensors.add(op.name, array.copy()).encode(), object)


@resource_kernel("GetSessionTensor")
def get_session_tensor(op: Operation, state: State, handle: np.ndarray) -> np.ndarray:
    """The tensor of a handle."""
    array = state.session_tensors.read(cast("bytes", handle.item()).decode())
    return array.astype(cast("np.dtype", op.get_attr("dtype")), copy=False)


@resource_kernel("DeleteSessionTensor")
def delete_session_tensor(op: Operation, state: State, handle: np.ndarray) -> list[np.ndarray]:
    """Frees the tensor of a handle."""
    state.session_tensors.delete(cast("bytes", handle.item()).decode())
    return []
