"""TensorBuffer: the memory of one input or output of a `CompiledModel`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypedDict

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

ALIGNMENT = 64
_DTYPES = frozenset(
    (
        *("bfloat16", "bool", "float16", "float32", "float8_e4m3fn", "float8_e5m2"),
        *("int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8", "float64"),
    )
)


class BufferDetails(TypedDict):
    """Type and shape of a buffer."""

    dtype: str
    shape: list[int]


class TensorBuffer:
    """Bytes of a tensor, written and read as arrays.

    Made by a `CompiledModel`'s `create_input_buffers` and its like, or on an array's own memory by
    `create_from_host_memory`.
    """

    def __init__(self, array: np.ndarray, is_host: bool = False):
        self._array: np.ndarray | None = array
        self._is_host = is_host

    @classmethod
    def create_from_host_memory(cls, data_array: np.ndarray) -> TensorBuffer:
        """A buffer on the memory of an array; on a copy where that does not start at 64 bytes.

        Raises ValueError for what is no array in C order of a type that tensors have.
        """
        _check_array(data_array)
        if not data_array.flags.c_contiguous:
            raise ValueError("data_array must be C-contiguous for zero-copy host-memory binding")
        if data_array.ctypes.data % ALIGNMENT or not data_array.flags.writeable:
            copy = empty(data_array.shape, data_array.dtype)
            copy[...] = data_array
            data_array = copy
        return cls(data_array.reshape(-1), is_host=True)

    def write(self, data_array: np.ndarray) -> None:
        """Copies an array's bytes to the start of the buffer.

        Raises ValueError for what is no array, RuntimeError when it is larger than the buffer.
        """
        _check_array(data_array)
        memory = self._bytes("WriteTensorBuffer")
        source = np.ascontiguousarray(data_array).reshape(-1).view(np.uint8)
        if source.nbytes > memory.nbytes:
            raise RuntimeError(
                "WriteTensorBuffer: source buffer is larger than the tensor buffer: "
                f"{source.nbytes} and {memory.nbytes} bytes"
            )
        memory[: source.nbytes] = source

    def read(self, num_elements: int, output_dtype: DTypeLike) -> np.ndarray:
        """A copy of the first elements, as an array of one dimension.

        Raises ValueError for a type that no tensor has, RuntimeError for more than there is.
        """
        dtype = _checked(output_dtype)
        memory = self._bytes("ReadTensorToBuffer")
        n_bytes = num_elements * dtype.itemsize
        if not 0 <= n_bytes <= memory.nbytes:
            raise RuntimeError(
                "ReadTensorToBuffer: destination buffer is larger than the tensor buffer: "
                f"{n_bytes} and {memory.nbytes} bytes"
            )
        return memory[:n_bytes].copy().view(dtype)

    def get_tensor_details(self) -> BufferDetails:
        """The type and shape of the buffer."""
        array = self.array
        return {"dtype": array.dtype.name, "shape": list(array.shape)}

    def destroy(self) -> None:
        """Lets go of the memory; later calls raise."""
        self._array = None

    @property
    def _private_array(self) -> np.ndarray | None:
        """The memory where no other buffer can lie in it; None where it is the caller's."""
        return None if self._is_host else self._array

    @property
    def array(self) -> np.ndarray:
        """The memory, typed and shaped; raises ValueError when it is destroyed."""
        if self._array is None:
            raise ValueError("TensorBuffer has been destroyed")
        return self._array

    def _bytes(self, what: str) -> np.ndarray:
        if self._array is None:
            raise RuntimeError(f"{what}: invalid capsule; TensorBuffer has been destroyed")
        return self._array.reshape(-1).view(np.uint8)


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros in memory that starts at a multiple of 64 bytes."""
    n_bytes = prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def _check_array(array: np.ndarray) -> None:
    if not isinstance(array, np.ndarray):
        raise ValueError("data_array must be a NumPy array")
    _checked(array.dtype)


def _checked(dtype: DTypeLike) -> np.dtype:
    try:
        checked = np.dtype(dtype)
    except TypeError as error:
        raise ValueError(f"Unsupported dtype: {dtype}") from error
    if checked.name not in _DTYPES:
        raise ValueError(f"Unsupported dtype: {dtype}")
    return checked
