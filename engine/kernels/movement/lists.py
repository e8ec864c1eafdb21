"""Elements of a list written where an index says; reading them is gather.slices."""

from ...build.kernel import WIDTHS, kernel, set_fault
from ...run.faults import INDEX_OUT_OF_RANGE

INDICES = ("int32", "int64")


@kernel("index:I[1] item:T[s] inout:T[*,s]", T=WIDTHS, I=INDICES)
def write(index, item, inout, first, last, fault):
    """inout[index] = item"""
    position = index[0]
    if not 0 <= position < inout.shape[0]:
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, position, inout.shape[0])
        return
    for i in range(first, last):
        inout[position, i] = item[i]


@kernel("index:I[1] item:T[s] inout:T[*,s]", T=("float32", "float64", "int32", "int64"), I=INDICES)
def add(index, item, inout, first, last, fault):
    """inout[index] += item"""
    position = index[0]
    if not 0 <= position < inout.shape[0]:
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, position, inout.shape[0])
        return
    for i in range(first, last):
        inout[position, i] += item[i]
