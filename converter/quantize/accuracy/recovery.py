"""Weights that lie on a grid: those of a model that had been quantized before.

Where every weight of a channel is a whole number of equal steps, these steps are its scale, and
quantizing it again loses nothing. The ranges that minmax would take are others wherever the largest
integer of a channel was not used.
"""

from __future__ import annotations

import numpy as np

MAX_STEPS = 127
TOLERANCE = 2e-3  # of a step; what a product in float32 or float16 may be off
NEIGHBOURS = 4  # float32 numbers on either side of a step that are tried, too


def step_of(values: np.ndarray, high: int) -> float | None:
    """The largest step of which all values are at most `high` multiples; None when there is none.

    >>> step_of(np.float32([0.5, -1.5, 0.0, 63.5]), 127)
    0.5
    """
    sizes = np.unique(np.abs(values[values != 0]).astype(np.float64))
    if not sizes.size:
        return None
    merged = sizes[np.append(True, np.diff(sizes) > TOLERANCE * sizes[0] / high)]
    if len(merged) > high:
        return None
    steps = merged[0] / np.arange(1, high + 1)
    multiples = merged / steps[:, np.newaxis]
    errors = np.abs(multiples - np.rint(multiples)).max(1)
    is_grid = (errors < TOLERANCE) & (np.rint(multiples[:, -1]) <= high)
    if not is_grid.any():
        return None
    step = steps[int(np.argmax(is_grid))]
    steps_of_each = np.rint(sizes / step)
    fitted = np.float32((sizes @ steps_of_each) / (steps_of_each @ steps_of_each))
    return exact_step(fitted, np.unique(np.abs(values)).astype(np.float32))


def exact_step(step: np.float32, sizes: np.ndarray) -> float:
    """The float32 number near `step` whose multiples are the most of `sizes` to the last bit."""
    bits = np.float32(step).view(np.int32) + np.arange(-NEIGHBOURS, NEIGHBOURS + 1, dtype=np.int32)
    candidates = bits.view(np.float32)[:, np.newaxis]
    multiples = np.rint(sizes / step).astype(np.float32)
    exact = (candidates * multiples == sizes).sum(1)
    best = np.flatnonzero(exact == exact.max())
    nearest = best[np.argmin(np.abs(best - NEIGHBOURS))]
    return float(candidates[nearest, 0])


def grid_scales(matrices: np.ndarray, scales: np.ndarray, high: int) -> np.ndarray | None:
    """`scales`, those of channels that lie on a grid replaced; None where no channel does.

    Args:
        matrices: weights, [groups, outputs, taps].
        scales: what they would have otherwise, [groups, outputs, 1].
        high: the largest integer.
    """
    on_grid = scales.copy()
    is_any = False
    for i in np.ndindex(*matrices.shape[:2]):
        step = step_of(matrices[i], high)
        if step is not None:
            on_grid[i], is_any = step, True
    return on_grid if is_any else None
