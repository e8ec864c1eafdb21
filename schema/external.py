"""Constants in files beside a model, which the model names: read from its own folder alone."""

from __future__ import annotations

import os
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from . import tables
from .dtypes import PACKED_BITS, numpy_dtype
from .errors import ModelError
from .files import map_file, member

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from .record import Record


class ExternalBuffers:
    """The external buffers of a model.

    Args:
        model: its record.
        folder: that of the model's file; None for one that was given as bytes.
    """

    def __init__(self, model: Record, folder: str | None):
        self._groups = [group.name or "" for group in model.external_buffer_groups or ()]
        self._buffers = {buffer.id: buffer for buffer in model.external_buffers or ()}
        self._folder = folder
        self._files: dict[str, memoryview] = {}

    @property
    def n_bytes(self) -> int:
        """Bytes of the files that were opened."""
        return sum(map(len, self._files.values()))

    def data(self, index: int, tensor: Record) -> np.ndarray:
        """The bytes of tensor `index`, a view of the mapped file.

        Raises ModelError when they are not those of a file below the model's folder, or not as many
        as the tensor's shape and type say.
        """
        buffer = self._buffers[tensor.external_buffer]
        type_name = tables.name_of("TensorType", tensor.type)
        words = f"tensor {index} '{tensor.name}': external buffer {buffer.id}"
        if buffer.packing:
            raise ModelError(f"{words}: packing '{buffer.packing}' is not known")
        if tensor.sparsity is not None or type_name == "STRING":
            raise ModelError(f"{words}: sparse tensors and strings must be in the model itself")
        shape = () if tensor.shape is None else tuple(map(int, tensor.shape))
        n_bits = PACKED_BITS.get(type_name, 8 * numpy_dtype(tensor.type).itemsize)
        size = (prod(shape) * n_bits + 7) // 8
        if buffer.length != size:
            raise ModelError(
                f"{words}: {type_name} of shape {shape} needs {size} bytes, got {buffer.length}"
            )
        content = self._content(self._groups[buffer.group], words)
        if buffer.offset + size > len(content):
            raise ModelError(
                f"{words}: bytes {buffer.offset} to {buffer.offset + size} of "
                f"'{self._groups[buffer.group]}', which has {len(content)}"
            )
        return np.frombuffer(content, np.uint8, size, buffer.offset)

    def _content(self, name: str, words: str) -> memoryview:
        """The mapped file of a group."""
        if self._folder is None:
            raise ModelError(
                f"{words} is in the file '{name}': open the model by its path, not by its content"
            )
        content = self._files.get(name)
        if content is None:
            try:
                content = self._files[name] = map_file(member(self._folder, name))
            except OSError as error:
                raise ModelError(
                    f"{words}: '{os.path.join(self._folder, name)}' cannot be read: "
                    f"{error.strerror or error}"
                ) from error
        return content


def embedded(content: ReadableBuffer, folder: str) -> bytes:
    """A model file's bytes with all constants inside, those too that it has in other files.

    Raises ModelError as `ExternalBuffers.data` does.
    """
    from .flatbuffer import parse
    from .model import load, save

    root, model = parse(content), load(content)
    buffers = ExternalBuffers(root, folder)
    for record, subgraph in zip(root.subgraphs, model.subgraphs, strict=True):
        tensors = zip(record.tensors or (), subgraph.tensors, strict=True)
        for i, (declared, tensor) in enumerate(tensors):
            if declared.external_buffer:
                data = buffers.data(i, declared)
                whole = tensor.dtype in PACKED_BITS
                dtype = numpy_dtype(declared.type)
                tensor.data = data.tobytes() if whole else data.view(dtype).reshape(tensor.shape)
                tensor.external_buffer = 0
    model.external_buffers, model.external_buffer_groups = [], []
    return save(model)
