"""Inputs that any machine computes alike, and answers short enough to store."""

from __future__ import annotations

from math import prod

import numpy as np

N_RECORDED = 96  # elements of an answer that are stored; of larger ones, so many of them


def values(shape, dtype="float32", seed=0, high=7) -> np.ndarray:
    """Scattered numbers: floats in [-1, 1) with 20 bits, integers in [0, high), booleans."""
    mixed = np.arange(prod(shape), dtype=np.uint32) * np.uint32(2654435761)
    mixed += np.uint32((seed * 97 + 13) % 2**32)
    for shift, factor in ((15, 739982445), (12, 695872825), (15, 1)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        array = (mixed >> np.uint32(12)).astype(np.float64) / 2**19 - 1
    else:
        array = mixed % (2 if dtype.kind == "b" else high)
    return array.astype(dtype).reshape(shape)


def feeds(inputs, shapes):
    """Arrays of these shapes for inputs (name, dims, dtype)."""
    return [
        values(shape, dtype, i, 9)
        for i, (shape, (_, _, dtype)) in enumerate(zip(shapes, inputs, strict=True))
    ]


def sample(array) -> np.ndarray:
    """All elements of an array in a row, or N_RECORDED of them, scattered from first to last."""
    row = np.asarray(array).ravel()
    if row.size <= N_RECORDED:
        return row
    places = np.arange(N_RECORDED) * 0.6180339887498949 % 1 * row.size
    places = np.sort(places.astype(np.int64))
    places[-1] = row.size - 1
    return row[places]


def difference(array, shape, elements, rounding=0.0, tolerance=1e-4) -> str:
    """ "" when an array has this shape and these kept elements, else what differs.

    Floats may differ by a share of the largest element, or by what `rounding` makes of them;
    everything else is exact.
    """
    array = np.asarray(array)
    if array.shape != tuple(shape):
        return f"shape {array.shape}, expected {tuple(shape)}"
    if array.dtype != elements.dtype:
        return f"type {array.dtype}, expected {elements.dtype}"
    got = sample(array)
    if array.dtype.kind != "f":
        n_wrong = np.count_nonzero(got != elements)
        return f"{n_wrong} of {got.size} elements differ" if n_wrong else ""
    scale = np.abs(elements[np.isfinite(elements)]).max(initial=1e-6)
    close = np.isclose(got, elements, 0, max(tolerance * scale, rounding), equal_nan=True)
    if close.all():
        return ""
    gap = np.abs(got[~close] - elements[~close]).max()
    return f"elements differ by up to {gap:.3g}, the largest is {scale:.3g}"
