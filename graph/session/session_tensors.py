"""Tensors that a Session keeps between runs, and the handles that stand for them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from ...schema.errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np

MAX_DEAD = 10
"""Tensors without a TensorHandle that are kept: programs may still have their strings."""
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class SessionTensors:
    """The tensors of one Session by their handles, such as "name;0;/job:localhost/..."."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._numbers = count()
        self._dead: list[str] = []

    def add(self, name: str, array: np.ndarray) -> str:
        """Keeps an array under a new handle for the operation `name`."""
        handle = f"{name};{next(self._numbers)};{DEVICE}"
        self._arrays[handle] = array
        return handle

    def read(self, handle: str) -> np.ndarray:
        """The tensor of a handle; InvalidArgumentError where there is none."""
        array = self._arrays.get(handle)
        if array is None:
            words = f"The tensor with handle '{handle}' is not in the session store."
            raise InvalidArgumentError(None, None, words)
        return array

    def delete(self, handle: str) -> None:
        """Frees the tensor of a handle; InvalidArgumentError where there is none."""
        if self._arrays.pop(handle, None) is None:
            words = f"Failed to delete a tensor with handle '{handle}' in the session store."
            raise InvalidArgumentError(None, None, words)

    def drop(self, handle: str) -> None:
        """Notes that a TensorHandle is gone; frees the tensors of such once they are many."""
        self._dead.append(handle)
        if len(self._dead) > MAX_DEAD:
            dead, self._dead = self._dead, []
            for name in dead:
                self._arrays.pop(name, None)


class TensorHandle:
    """What a Session gives for `tf.get_session_handle`: a tensor that it keeps.

    It may be fed in the place of the tensor. When nobody has it any more, the tensor is freed.
    """

    def __init__(self, handle: str, tensors: SessionTensors):
        self._handle, self._tensors = handle, tensors
        self._is_owner = True

    def __del__(self) -> None:
        if self._is_owner:
            self._tensors.drop(self._handle)

    def __str__(self) -> str:
        return self._handle

    @property
    def handle(self) -> str:
        """The string that `tf.get_session_tensor` takes."""
        return self._handle

    def eval(self) -> np.ndarray:
        """The tensor's value.

        Raises:
            TypeError: `delete` or `get_raw_handle` was called.
            InvalidArgumentError: The session has it no more.
        """
        self._check()
        array = self._tensors.read(self._handle)
        return array.copy() if array.ndim else array[()]

    def delete(self) -> None:
        """Frees the tensor.

        Raises:
            TypeError: It, or `get_raw_handle`, was called before.
            InvalidArgumentError: The session has it no more.
        """
        self._check()
        self._tensors.delete(self._handle)
        self._is_owner = False

    def get_raw_handle(self) -> str:
        """The string, which alone stands for the tensor then: until an operation deletes it."""
        self._is_owner = False
        return self._handle

    def _check(self) -> None:
        if not self._is_owner:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")
