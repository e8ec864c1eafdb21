"""Strings."""

from __future__ import annotations

import numpy as np

from ..core.registry import op
from ..core.shapes import broadcasting


@op("StringJoin", shape=broadcasting)
def string_join(*inputs, separator):
    """The strings of all inputs one after another, single ones for each of the others."""
    arrays = np.broadcast_arrays(*inputs)
    result = np.empty(arrays[0].shape, object)
    for place in np.ndindex(*result.shape):
        result[place] = separator.join(array[place] for array in arrays)
    return result
