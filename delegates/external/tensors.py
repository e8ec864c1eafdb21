"""The tensors of a TfLiteContext."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ...engine.run.stages import aligned
from ...schema.dtypes import PACKED_BITS
from .builtin_data import element_type
from .memory import Arrays, free, ints_at, malloced_ints, n_bytes
from .structures import (
    AFFINE,
    ARENA_RW,
    ELEMENT_TYPES,
    MMAP_RO,
    NO_BUFFER_HANDLE,
    NO_TENSOR,
    AffineQuantization,
    Structure,
    Tensor,
)

if TYPE_CHECKING:
    from ...interpreter.plan.node import Operand

SPARE = 128
"""Tensors that a library can add before the array of all moves, which it need not expect."""


def reason_against_tensor(operand: Operand) -> str | None:
    """Why a C library cannot be shown a tensor; None if it can."""
    quantization = operand.quantization
    if not element_type(operand.dtype):
        return f"'{operand.name}' has elements without a fixed size in bytes"
    if str(operand.dtype).upper() in PACKED_BITS and operand.packed is None:
        return f"'{operand.name}' is {operand.dtype} and no constant of the file"
    if quantization is not None and (quantization.block_size or quantization.details is not None):
        return f"'{operand.name}' has scales of blocks"
    return None


class Tensors:
    """The tensors of a context, numbered as they were first seen.

    Attributes:
        operands: those of the model; a library adds others behind them.
    """

    def __init__(self, context: Structure, arrays: Arrays) -> None:
        self.operands: list[Operand] = []
        self._context, self._arrays = context, arrays
        self._indices: dict[int, int] = {}
        self._table = (Tensor * 0)()
        self._memory: dict[int, np.ndarray] = {}  # of tensors that the library added

    def index(self, operand: Operand | None) -> int:
        """The number of an operand, which gets one if it has none."""
        if operand is None:
            return NO_TENSOR
        index = self._indices.get(id(operand))
        if index is None:
            index = self._indices[id(operand)] = len(self.operands)
            self.operands.append(operand)
        return index

    def make(self) -> None:
        """Makes a structure of each operand."""
        self._grow(len(self.operands))
        for tensor, operand in zip(self._table, self.operands, strict=False):
            self._fill(tensor, operand)

    def __getitem__(self, index: int) -> Structure:
        if not 0 <= index < self._context.tensors_size:
            raise IndexError(f"tensor {index} of {self._context.tensors_size}")
        return self._table[index]

    def add(self, n: int) -> int:
        """Adds tensors without a type and shape; gives the number of the first."""
        first = self._context.tensors_size
        if n < 1:
            raise ValueError(f"tensors to add must be at least 1, got {n}")
        self._grow(first + n)
        for tensor in self._table[first : first + n]:
            tensor.buffer_handle = NO_BUFFER_HANDLE
        return first

    def resize(self, address: int, shape: list[int]) -> None:
        """Gives the tensor that lies there another shape; those of the model have to keep theirs.

        Raises ValueError.
        """
        index = (address - ctypes.addressof(self._table)) // ctypes.sizeof(Tensor)
        tensor = self[index]
        if index < len(self.operands):
            operand = self.operands[index]
            if tuple(shape) != operand.shape:
                raise ValueError(
                    f"'{operand.name}' must keep its shape {operand.shape}, got {tuple(shape)}"
                )
            return
        if min(shape, default=0) < 0 or not 0 <= tensor.type < len(ELEMENT_TYPES):
            raise ValueError(f"tensor {index} cannot be of type {tensor.type} and shape {shape}")
        free(tensor.dims)
        tensor.dims = malloced_ints(shape)
        tensor.bytes = n_bytes(shape, _bits(ELEMENT_TYPES[tensor.type]))
        memory = self._memory[index] = aligned((tensor.bytes,), np.dtype(np.uint8))
        tensor.data = memory.ctypes.data

    def release(self) -> None:
        """Frees what libraries may have replaced."""
        for tensor in self._table[: self._context.tensors_size]:
            free(tensor.dims)
            tensor.dims = None

    def _grow(self, n: int) -> None:
        if n > len(self._table):
            table = (Tensor * (n + SPARE))()
            ctypes.memmove(table, self._table, ctypes.sizeof(self._table))
            self._table = table
            self._context.tensors = ctypes.addressof(table)
        self._context.tensors_size = n

    def _fill(self, tensor: Structure, operand: Operand) -> None:
        arrays, quantization = self._arrays, operand.quantization
        tensor.type = element_type(operand.dtype)
        tensor.dims = malloced_ints(operand.shape)
        tensor.name = arrays.text(operand.name)
        tensor.buffer_handle = NO_BUFFER_HANDLE
        tensor.allocation_type = ARENA_RW
        tensor.bytes = n_bytes(operand.shape, _bits(str(operand.dtype)))
        value = operand.value if operand.packed is None else operand.packed.value
        if value is not None:
            tensor.allocation_type = MMAP_RO
            tensor.data = arrays.array(value)
        if quantization is None or not quantization.scales.size:
            return
        if quantization.scales.size == 1:
            tensor.params.scale = float(quantization.scales[0])
            tensor.params.zero_point = int(quantization.zero_points[0])
        tensor.quantization.type = AFFINE
        tensor.quantization.params = arrays.put(
            AffineQuantization(
                scale=arrays.floats(quantization.scales),
                zero_point=arrays.ints(quantization.zero_points.tolist()),
                quantized_dimension=quantization.axis,
            )
        )

    def shape(self, index: int) -> list[int]:
        """The shape a library has given a tensor, or left it."""
        return ints_at(self[index].dims)


def _bits(name: str) -> int:
    """Bits of an element."""
    packed = PACKED_BITS.get(name.upper())
    if packed is not None:
        return packed
    if name.startswith(("bfloat16", "float8")):
        return 16 if name == "bfloat16" else 8
    return np.dtype(name).itemsize * 8 if name else 0
