"""Strings."""

from __future__ import annotations

import numpy as np

from ..core.registry import op
from ..core.shapes import broadcasting


@op("StringJoin", shape=broadcasting)
def string_join(*inputs: np.ndarray, separator: bytes) -> np.ndarray:
    """The strings of all inputs one after another, single ones for each of the others."""
    arrays = np.broadcast_arrays(*inputs)
    result = np.empty(arrays[0].shape, object)
    for i, parts in enumerate(zip(*(array.flat for array in arrays), strict=True)):
        result.flat[i] = separator.join(parts)
    return result
