"""Maps of tensors, which variants hold: each op gives a new one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np

from ...core.registry import op
from ...core.shapes import scalar, unknown


class TensorMap(dict[Hashable, tuple[np.ndarray, np.ndarray]]):
    """What a key's type, shape and bytes are -> the key and its value."""

    def at(self, key: np.ndarray, verb: str) -> Hashable:
        """Where a key is; raises ValueError where it is not."""
        place = _place(key)
        if place not in self:
            raise ValueError(f"Trying to {verb} non-existent key. Could not find key {key}.")
        return place


def _place(key: np.ndarray) -> Hashable:
    content = tuple(key.ravel().tolist()) if key.dtype.hasobject else key.tobytes()
    return key.dtype.str, key.shape, content


def _boxed(value: object) -> np.ndarray:
    """A variant: a 0-d array of one object."""
    box = np.empty((), object)
    box[()] = value
    return box


def _opened(box: np.ndarray) -> TensorMap:
    content = cast("object", box[()])
    if not isinstance(content, TensorMap):
        raise ValueError(f"the variant must be a TensorMap, got {type(content).__name__}")
    return content


@op("EmptyTensorMap", shape=scalar, pure=False)
def empty_map() -> np.ndarray:
    """A map without keys."""
    return _boxed(TensorMap())


@op("TensorMapInsert", shape=scalar, pure=False)
def insert(box: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The map with another value of a key."""
    entries = _opened(box)
    return _boxed(TensorMap({**entries, _place(key): (key.copy(), value.copy())}))


@op("TensorMapErase", shape=scalar, pure=False)
def erase(box: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The map without a key that it has."""
    entries = _opened(box)
    place = entries.at(key, "erase")
    return _boxed(TensorMap({k: pair for k, pair in entries.items() if k != place}))


@op("TensorMapLookup", shape=unknown, pure=False)
def lookup(box: np.ndarray, key: np.ndarray) -> np.ndarray:
    """The value of a key."""
    entries = _opened(box)
    return entries[entries.at(key, "lookup")][1]


@op("TensorMapHasKey", shape=scalar, pure=False)
def has_key(box: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Whether there is a value of a key."""
    return np.array(_place(key) in _opened(box))


@op("TensorMapSize", shape=scalar, pure=False)
def size(box: np.ndarray) -> np.ndarray:
    """How many keys there are."""
    return np.array(len(_opened(box)), np.int32)


@op("TensorMapStackKeys", shape=unknown, pure=False)
def stack_keys(box: np.ndarray) -> np.ndarray:
    """The keys along a new first axis, in the order in which they came."""
    keys = [key for key, _ in _opened(box).values()]
    if not keys:
        raise ValueError("TensorMapStackKeys cannot be called on empty map.")
    return np.stack(keys)
