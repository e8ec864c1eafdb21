"""What a Session does for the ops that write and read checkpoints."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema.bundle import Bundle, Slice, open_bundle, remove_bundle, write_bundle
from ...schema.files import make_folder, remove_folder
from .hosted import hosted

if TYPE_CHECKING:
    from ..core.graph import Operation
    from .state import State


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
    """Writes a checkpoint of tensors, in the order of their names; makes its folder, if missing."""
    path, keys = _path(prefix), _texts(names)
    if len(set(keys)) != len(keys):
        raise ValueError(f"tensor_names must differ, got {keys}")
    cut = [key for key, part in zip(keys, _texts(slices), strict=True) if part]
    if cut:
        raise ValueError(f"slices of variables cannot be saved yet, got one of '{cut[0]}'")
    make_folder(os.path.dirname(path) or os.curdir)
    pairs = zip(keys, tensors, strict=True)
    write_bundle(path, dict(sorted(pairs, key=lambda pair: pair[0].encode())))
    return ()


@hosted("RestoreV2")
def restore_v2(
    op: Operation, state: State, prefix: np.ndarray, names: np.ndarray, slices: np.ndarray
) -> np.ndarray | list[np.ndarray]:
    """The tensors of a checkpoint with these names."""
    bundle = open_bundle(_path(prefix))
    results: list[np.ndarray] = []
    for key, part, tensor in zip(_texts(names), _texts(slices), op.outputs, strict=True):
        value = _restored(bundle, key, part)
        if value.dtype != tensor.dtype:
            raise ValueError(
                f"tensor_name = {key}; expected dtype {tensor.dtype} does not equal original "
                f"dtype {value.dtype}"
            )
        results.append(value)
    return results[0] if len(results) == 1 else results


def _restored(bundle: Bundle, key: str, part: str) -> np.ndarray:
    """A tensor, or the part of it that "100 3 64,36:-" (shape, start and length) means."""
    if not part:
        return bundle.read(key)
    *shape, extents = part.split(" ")
    pairs = [
        [0, int(size)] if extent == "-" else [int(number) for number in extent.split(",")]
        for size, extent in zip(shape, extents.split(":"), strict=True)
    ]
    start, sizes = zip(*pairs, strict=True)
    return bundle.read_slice(key, Slice(start, sizes))


@hosted("MergeV2Checkpoints")
def merge_v2_checkpoints(
    op: Operation, state: State, prefixes: np.ndarray, destination: np.ndarray
) -> tuple[()]:
    """Makes one checkpoint of several, with a data file for each."""
    paths = _texts(prefixes)
    bundles = [open_bundle(path) for path in paths]
    parts = [{key: bundle.read(key) for key in bundle} for bundle in bundles]
    write_bundle(_path(destination), *parts)
    for path in paths if op.get_attr("delete_old_dirs") else ():
        remove_bundle(path)
        remove_folder(os.path.dirname(path))
    return ()


@hosted("StaticRegexFullMatch")
def static_regex_full_match(op: Operation, state: State, texts: np.ndarray) -> np.ndarray:
    """Whether each string as a whole is what the pattern says; in graphs that save in shards."""
    pattern = re.compile(op.get_attr("pattern"))
    matches = [pattern.fullmatch(text) is not None for text in texts.flat]
    return np.array(matches, bool).reshape(texts.shape)
