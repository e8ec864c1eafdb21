"""Points of an array, named by rows of indices, and boxes in one."""

from numba import int64

from ...build.kernel import inline, set_fault
from ...run.faults import INDEX_OUT_OF_RANGE

SHAPE, WHOLE_SHAPE, STRIDES = range(3)
"""The rows of the `geometry` of a box: its shape, and shape and strides of what it lies in."""


@inline
def flat(indices, item, dims, fault):
    """The position that row `item` of `indices` names in an array of `dims`; -1 when outside."""
    position = int64(0)
    for k in range(dims.size):
        index = indices[item, k]
        if not 0 <= index < dims[k]:
            set_fault(fault, INDEX_OUT_OF_RANGE, item * dims.size + k, index, dims[k])
            return int64(-1)
        position = position * dims[k] + index
    return position
