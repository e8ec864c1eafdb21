"""Elements of a tensor array by their indices: each is written once, and may be read once alone."""

from ...build.kernel import WIDTHS, inline, kernel, set_fault
from ...run.array_faults import ALREADY_READ, ALREADY_WRITTEN, CLEARED_BY_READ, WITHOUT_VALUE
from ...run.faults import INDEX_OUT_OF_RANGE

INDICES = ("int32", "int64")
WRITTEN, READ, CLEARED = 1, 2, 4
"""What the state of an element consists of."""
CLEARS, ZEROS, ZEROS_IF_WRITTEN = 1, 2, 4
"""How is read: whether elements are gone then, and are zeros where nothing was written: in any case
or when another one was written.
"""


@kernel("inout_generation:int64[1] inout_state:uint8[n]")
def create(inout_generation, inout_state, first, last, fault):
    """A new array in the memory of the one before, without elements."""
    inout_generation[0] += 1
    for i in range(inout_state.size):
        inout_state[i] = 0


@kernel("generation:int64[1] inout_generation:int64[1] inout_state:uint8[n]")
def follow(generation, inout_generation, inout_state, first, last, fault):
    """An array without elements when that which it belongs to is a new one."""
    if inout_generation[0] != generation[0]:
        inout_generation[0] = generation[0]
        for i in range(inout_state.size):
            inout_state[i] = 0


@inline
def _may_write(position, state, may_repeat, fault, k):
    """Whether an element may be written; else there is a fault."""
    if not 0 <= position < state.size:
        set_fault(fault, INDEX_OUT_OF_RANGE, k, position, state.size)
        return False
    if state[position] & READ:
        set_fault(fault, ALREADY_READ, k, position, state.size)
        return False
    if state[position] & WRITTEN and not may_repeat:
        set_fault(fault, ALREADY_WRITTEN, k, position, state.size)
        return False
    return True


@kernel("indices:I[m] rows:T[m,s] inout_state:uint8[n] inout:T[n,s]", T=WIDTHS, I=INDICES)
def write(indices, rows, inout_state, inout, first, last, fault):
    """inout[indices[k]] = rows[k]"""
    for k in range(indices.size):
        position = indices[k]
        if not _may_write(position, inout_state, False, fault, k):
            return
        inout_state[position] |= WRITTEN
        for i in range(rows.shape[1]):
            inout[position, i] = rows[k, i]


@kernel(
    "indices:I[m] rows:T[m,s] inout_state:uint8[n] inout:T[n,s]",
    T=("float32", "float64", "int32", "int64"),
    I=INDICES,
)
def add(indices, rows, inout_state, inout, first, last, fault):
    """inout[indices[k]] += rows[k]; what was not written counts as zeros"""
    for k in range(indices.size):
        position = indices[k]
        if not _may_write(position, inout_state, True, fault, k):
            return
        if inout_state[position] & WRITTEN:
            for i in range(rows.shape[1]):
                inout[position, i] += rows[k, i]
        else:
            inout_state[position] |= WRITTEN
            for i in range(rows.shape[1]):
                inout[position, i] = rows[k, i]


@inline
def _is_any_written(state):
    known = 0
    for i in range(state.size):
        known |= state[i]
    return known & WRITTEN != 0


@kernel("indices:I[m] inout_state:uint8[n] inout:T[n,s] out:T[m,s] way:i", T=WIDTHS, I=INDICES)
def read(indices, inout_state, inout, out, way, first, last, fault):
    """out[k] = inout[indices[k]]"""
    for k in range(indices.size):
        position = indices[k]
        if not 0 <= position < inout_state.size:
            set_fault(fault, INDEX_OUT_OF_RANGE, k, position, inout_state.size)
            return
        if not inout_state[position] & WRITTEN:
            if not way & ZEROS and not (way & ZEROS_IF_WRITTEN and _is_any_written(inout_state)):
                set_fault(fault, WITHOUT_VALUE, k, position, inout_state.size)
                return
            inout_state[position] |= WRITTEN
            for i in range(out.shape[1]):
                inout[position, i] = 0
        if inout_state[position] & CLEARED:
            set_fault(fault, CLEARED_BY_READ, k, position, inout_state.size)
            return
        inout_state[position] |= READ | CLEARED if way & CLEARS else READ
        for i in range(out.shape[1]):
            out[k, i] = inout[position, i]
