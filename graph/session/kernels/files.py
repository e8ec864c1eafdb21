"""What a Session does for the ops that write and read checkpoints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.files import make_folder, remove_folder
from ....schema.tensorflow.bundle import (
    FULL_EXTENT,
    Bundle,
    Saved,
    Slice,
    SlicedTensor,
    open_bundle,
    remove_bundle,
    write_bundle,
)
from ....schema.tensorflow.slice_table import SliceTable, open_checkpoint, write_slice_table
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ..state import State


def _texts(array: np.ndarray) -> list[str]:
    texts = cast("list[bytes]", array.ravel().tolist())
    return [text.decode("utf-8", "surrogateescape") for text in texts]


def _path(array: np.ndarray) -> str:
    """A single file name."""
    if array.size != 1:
        raise ValueError(f"prefix must be a single string, got {array.size}")
    return _texts(array)[0]


@hosted("SaveV2")
def save_v2(
    op: Operation,
    state: State,
    prefix: np.ndarray,
    names: np.ndarray,
    slices: np.ndarray,
    *tensors: np.ndarray,
) -> tuple[()]:
    """Writes a checkpoint of tensors, some of them in slices; makes its folder, if missing."""
    path, saved = _path(prefix), _saved(names, slices, tensors)
    make_folder(os.path.dirname(path) or os.curdir)
    write_bundle(path, saved)
    return ()


@hosted("Save", "SaveSlices")
def save_v1(
    op: Operation, state: State, filename: np.ndarray, names: np.ndarray, *inputs: np.ndarray
) -> tuple[()]:
    """Writes a checkpoint of version 1, in one file; makes its folder, if missing."""
    slices = inputs[0] if op.type == "SaveSlices" else np.full(names.shape, b"", object)
    tensors = inputs[1:] if op.type == "SaveSlices" else inputs
    path, saved = _path(filename), _saved(names, slices, tensors)
    make_folder(os.path.dirname(path) or os.curdir)
    write_slice_table(path, saved)
    return ()


def _saved(
    names: np.ndarray, slices: np.ndarray, tensors: Sequence[np.ndarray]
) -> dict[str, Saved]:
    """What is written, by name; ValueError when slices do not fit."""
    rows = list(zip(_texts(names), _texts(slices), tensors, strict=True))
    if len({row[:2] for row in rows}) != len(rows):
        raise ValueError(f"tensor_names must differ, got {_texts(names)}")
    saved: dict[str, Saved] = {}
    for key, text, tensor in rows:
        if not text:
            saved[key] = tensor
            continue
        shape, part = _slice_of(text)
        sizes = _within(part, shape).shape
        if tensor.shape != sizes:
            raise ValueError(
                f"Slice in shape_and_slice specification does not match the shape of the tensor to "
                f"save: {list(sizes)}, tensor: {list(tensor.shape)}"
            )
        before = saved.get(key)
        parts = before.parts if isinstance(before, SlicedTensor) else ()
        saved[key] = SlicedTensor(shape, (*parts, (part, tensor)))
    return saved


@hosted("RestoreV2")
def restore_v2(
    op: Operation, state: State, prefix: np.ndarray, names: np.ndarray, slices: np.ndarray
) -> np.ndarray | list[np.ndarray]:
    """The tensors of a checkpoint with these names."""
    bundle = open_checkpoint(_path(prefix))
    rows = zip(_texts(names), _texts(slices), op.outputs, strict=True)
    results = [_restored(bundle, key, part, tensor) for key, part, tensor in rows]
    return results[0] if len(results) == 1 else results


@hosted("Restore", "RestoreSlice")
def restore_v1(
    op: Operation, state: State, pattern: np.ndarray, name: np.ndarray, *part: np.ndarray
) -> np.ndarray:
    """One tensor of the checkpoint whose files have this name or pattern."""
    (key,), (text,) = _texts(name), _texts(part[0]) if part else ("",)
    return _restored(open_checkpoint(_path(pattern)), key, text, op.outputs[0])


def _restored(bundle: Bundle | SliceTable, key: str, text: str, tensor: Tensor) -> np.ndarray:
    """A tensor, or the part of it that is meant, which must be of the type of `tensor`."""
    if text:
        shape, part = _slice_of(text)
        value = bundle.read_slice(key, _within(part, shape))
    else:
        value = bundle.read(key)
    if value.dtype != tensor.dtype:
        raise ValueError(
            f"tensor_name = {key}; expected dtype {tensor.dtype.name} does not equal original "
            f"dtype {value.dtype}"
        )
    return value


def _slice_of(text: str) -> tuple[tuple[int, ...], Slice]:
    """The shape of a tensor and the part of it that "100 3 64,36:-" (start, length) means."""
    *shape, extents = text.split(" ")
    pairs = [
        [0, FULL_EXTENT] if extent == "-" else [int(number) for number in extent.split(",")]
        for extent in extents.split(":")
    ]
    start, sizes = zip(*pairs, strict=True)
    return tuple(map(int, shape)), Slice(start, sizes)


def _within(part: Slice, shape: tuple[int, ...]) -> Slice:
    """The same with the sizes of the dimensions that are not cut."""
    pairs = zip(part.shape, shape, strict=True)
    return Slice(part.start, tuple(n if size == FULL_EXTENT else size for size, n in pairs))


@hosted("MergeV2Checkpoints")
def merge_v2_checkpoints(
    op: Operation, state: State, prefixes: np.ndarray, destination: np.ndarray
) -> tuple[()]:
    """Makes one checkpoint of several, with a data file for each."""
    paths = _texts(prefixes)
    bundles = [open_bundle(path) for path in paths]
    parts = [{key: bundle.read_saved(key) for key in bundle.keys_by_offset()} for bundle in bundles]
    write_bundle(_path(destination), *parts)
    for path in paths if op.get_attr("delete_old_dirs") else ():
        remove_bundle(path)
        remove_folder(os.path.dirname(path))
    return ()
