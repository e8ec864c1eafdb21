"""Nested lists as flat values and splits: what `tf.ragged.constant` makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt


class Parsed(NamedTuple):
    """The innermost values of nested lists, and how they are split, from the outside in."""

    values: list[object]
    splits: list[list[int]]
    inner_shape: tuple[int, ...]


def _array(x: object) -> np.ndarray | None:
    """An array as it is, None for anything else."""
    return np.asarray(cast("npt.ArrayLike", x)) if isinstance(x, np.ndarray) else None


def _is_list(x: object) -> bool:
    array = _array(x)
    return isinstance(x, (list, tuple)) or (array is not None and array.ndim > 0)


def _items(x: object) -> Sequence[object]:
    return list(cast("Sequence[object]", x))


def _depths(x: object) -> tuple[int | None, int]:
    """How deep the scalars lie, None without any, and how deep the lists nest."""
    array = _array(x)
    if array is not None and array.size:
        return array.ndim, array.ndim
    if not _is_list(x):
        return 0, 0
    scalar_depth, deepest = None, 1
    for item in _items(x):
        depth, nested = _depths(item)
        deepest = max(deepest, nested + 1)
        if depth is None:
            continue
        if scalar_depth not in (None, depth + 1):
            raise ValueError("all scalar values must have the same nesting depth")
        scalar_depth = depth + 1
    return scalar_depth, deepest


def _inner_shape(pylist: object, ragged_rank: int) -> tuple[int, ...]:
    """The shape that all values behind `ragged_rank` dimensions have."""
    level: list[object] = [pylist]
    for _ in np.arange(ragged_rank + 1).tolist():
        level = [item for row in level for item in (_items(row) if _is_list(row) else ())]
    return _shape_of(level[0]) if level else ()


def _shape_of(x: object) -> tuple[int, ...]:
    array = _array(x)
    if array is not None:
        return array.shape
    if not _is_list(x):
        return ()
    items = _items(x)
    return (len(items), *(_shape_of(items[0]) if items else ()))


def _require_shape(x: object, shape: tuple[int, ...]) -> None:
    array = _array(x)
    if array is not None:
        is_right = array.shape == shape
    elif not shape or not _is_list(x):
        is_right = not shape and not _is_list(x)
    else:
        items = _items(x)
        is_right = len(items) == shape[0]
        for item in items if is_right else ():
            _require_shape(item, shape[1:])
    if not is_right:
        raise ValueError("inner values have inconsistent shape")


def parse(
    pylist: object, ragged_rank: int | None, inner_shape: Sequence[int] | None
) -> Parsed | None:
    """Nested lists as values and splits; None where no dimension is ragged.

    Raises:
        TypeError: `inner_shape` is no sequence of ints.
        ValueError: Values stand at different depths, or do not suit `ragged_rank` or `inner_shape`.
    """
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape is not None and len(inner_shape) > 0:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return None
    scalar_depth, deepest = _depths(pylist)
    if scalar_depth is not None and deepest > scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    n_inner = 0 if inner_shape is None else len(inner_shape)
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + 1 + n_inner
        if (scalar_depth is not None and expected != scalar_depth) or deepest > expected:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={n_inner}"
            )
    depth = deepest - n_inner
    if ragged_rank == 0 or (ragged_rank is None and depth < 2):
        return None
    rank = max(1, depth - 1) if ragged_rank is None else ragged_rank
    if scalar_depth is not None and scalar_depth <= rank:
        raise ValueError(
            f"Invalid pylist={pylist!r}: pylist has scalar values depth {scalar_depth}, but "
            f"ragged_rank={rank} requires scalar value depth greater than {rank}"
        )
    shape = _inner_shape(pylist, rank) if inner_shape is None else tuple(inner_shape)
    level = [*_items(pylist)]
    splits: list[list[int]] = []
    for _ in np.arange(rank).tolist():
        rows = [_items(row) for row in level]
        splits.append([0, *np.cumsum([len(row) for row in rows], dtype=np.int64).tolist()])
        level = [item for row in rows for item in row]
    for item in level:
        _require_shape(item, shape)
    return Parsed(level, splits, shape)
