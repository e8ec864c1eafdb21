"""What ONNX demands of operands and the ONNX project's evaluator does not look at.

Each function raises ValueError where a node's result is not defined, so that nothing is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Attributes = Mapping[str, Any]


def require(condition: bool, text: str) -> None:
    """Raises ValueError unless the condition holds."""
    if not condition:
        raise ValueError(text)


def no_zeros(_: Attributes, x: np.ndarray, y: np.ndarray) -> None:
    """Integers divided by 0 are 0 in numpy."""
    require(y.dtype.kind not in "iu" or bool(y.all()), "integers must not be divided by 0")


def whole_powers(_: Attributes, x: np.ndarray, y: np.ndarray) -> None:
    """Powers of integers by fractions are integers of the same type."""
    if x.dtype.kind == "f" or y.dtype.kind != "f":
        return
    with np.errstate(all="ignore"):
        powers = np.trunc(x.astype(np.float64) ** y)
    limits = np.iinfo(x.dtype)
    is_inside = (limits.min <= powers) & (powers <= limits.max)
    require(bool(is_inside.all()), f"powers must be numbers that {x.dtype} holds")


def same_batch(_: Attributes, theta: np.ndarray, size: np.ndarray) -> None:
    """AffineGrid has a transformation for each image."""
    require(len(theta) == size[0], f"there must be {size[0]} transformations, got {len(theta)}")


def whole_depth(_: Attributes, indices: np.ndarray, depth: np.ndarray, values: np.ndarray) -> None:
    """The depth of OneHot may have a type of fractions."""
    number = float(np.ravel(depth)[0])
    require(number >= 1 and number.is_integer(), f"depth must be positive and whole, got {number}")


def distinct_axes(_: Attributes, x: np.ndarray, *operands: Any) -> None:
    """Slice takes each axis once."""
    axes = operands[2] if len(operands) > 2 else None
    if axes is not None:
        distinct = {int(axis) % x.ndim for axis in axes}
        require(len(distinct) == len(axes), f"axes must be distinct, got {axes}")


def distinct_updates(
    attributes: Attributes, x: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> None:
    """ScatterElements has an index for each update; without a reduction, for each place one."""
    require(indices.shape == updates.shape, "indices and updates must have one shape")
    if attributes.get("reduction", b"none") == b"none" and indices.size:
        axis = attributes.get("axis", 0)
        ordered = np.sort(np.where(indices < 0, indices + x.shape[axis], indices), axis)
        require(bool((np.diff(ordered, axis=axis) != 0).all()), "indices must be distinct")


def distinct_rows(
    attributes: Attributes, x: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> None:
    """ScatterND without a reduction writes to each place once."""
    if attributes.get("reduction", b"none") == b"none" and indices.size:
        depth = indices.shape[-1]
        rows = indices.reshape(-1, depth)
        rows = np.where(rows < 0, rows + np.array(x.shape[:depth]), rows)
        require(len(np.unique(rows, axis=0)) == len(rows), "indices must be distinct")


def distinct_elements(_: Attributes, x: np.ndarray, indices: np.ndarray, *shape: Any) -> None:
    """MaxUnpool writes to each place once."""
    require(np.unique(indices).size == indices.size, "indices must be distinct")


def mirrored_inside(
    attributes: Attributes, x: np.ndarray, pads: np.ndarray | None = None, *operands: Any
) -> None:
    """Pad with mode reflect mirrors what an axis has; numpy goes on from end to end."""
    if attributes.get("mode", b"constant") != b"reflect":
        return
    counts = np.asarray(attributes.get("pads", ()) if pads is None else pads)
    axes = operands[1] if len(operands) > 1 else None
    axes = range(x.ndim) if axes is None else [int(axis) % x.ndim for axis in np.ravel(axes)]
    for axis, pair in zip(axes, counts.reshape(2, -1).T, strict=True):
        limit = x.shape[axis] - 1
        require(bool((pair <= limit).all()), f"at most {limit} elements can be mirrored")


def positive_scales(_: Attributes, x: np.ndarray, *operands: Any) -> None:
    """Resize makes images of sizes above 0."""
    scales = operands[1] if len(operands) > 1 else None
    if scales is not None:
        require(bool((scales > 0).all()), f"scales must be positive, got {scales}")


def whole_split(attributes: Attributes, x: np.ndarray, split: np.ndarray | None = None) -> None:
    """The parts of Split are all of it."""
    if split is not None:
        size = x.shape[attributes.get("axis", 0)]
        fits = int(split.sum()) == size and bool((split >= 0).all())
        require(fits, f"split must add up to {size}, got {split}")


def right_direction(_: Attributes, start: Any, limit: Any, delta: Any) -> None:
    """RANGE of TFLite refuses what would be empty for its sign."""
    require((limit - start) * delta >= 0 and delta != 0, f"{delta} must lead to {limit}")


CHECKS: dict[str, Callable[..., None]] = {
    "AffineGrid": same_batch,
    "Div": no_zeros,
    "MaxUnpool": distinct_elements,
    "Mod": no_zeros,
    "OneHot": whole_depth,
    "Pad": mirrored_inside,
    "Pow": whole_powers,
    "Range": right_direction,
    "Resize": positive_scales,
    "ScatterElements": distinct_updates,
    "ScatterND": distinct_rows,
    "Scatter": distinct_updates,
    "Slice": distinct_axes,
    "Split": whole_split,
    "Upsample": lambda _, x, *scales: positive_scales(_, x, None, *scales),
}
