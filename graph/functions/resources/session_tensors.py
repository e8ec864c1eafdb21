"""Tensors that a Session keeps between runs: handles for them, and their values by handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import output
from ...core.dtype import as_numpy
from ...core.graph import Operation, Tensor
from ...core.scopes import device
from ..array.creation import placeholder

if TYPE_CHECKING:
    from ...core.typing import DTypeLike


def get_session_handle(data: Tensor, name: str | None = None) -> Tensor:
    """Lets the Session keep `data`; a run gives the `TensorHandle` that stands for it.

    Raises TypeError for what is no tensor.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    return output("GetSessionHandle", [data], {}, name)


def get_session_tensor(
    handle: str, dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A tensor that a Session keeps, by its handle.

    Args:
        handle: The `handle` of a TensorHandle; others of tensors of this type may be fed later.
        dtype: The tensor's type.
        name: Of the operation.

    Returns:
        The placeholder that takes the handle, and the tensor.
    """
    with device(_device_of(handle)):
        holder = placeholder(np.dtype(object))
        return holder, output("GetSessionTensor", [holder], {"dtype": as_numpy(dtype)}, name)


def delete_session_tensor(handle: str, name: str | None = None) -> tuple[Tensor, Operation]:
    """The placeholder that takes a handle, and the operation that frees its tensor."""
    with device(_device_of(handle)):
        holder = placeholder(np.dtype(object))
        return holder, ops.DeleteSessionTensor(holder, name=name)


def _device_of(handle: str) -> str:
    return str(handle).rpartition(";")[2]
