"""Elements of a tensor array by their indices: each is written once, and may be read once alone.

Of an array, `size` is how many elements there are, and how many writes may make of them. The state
of what is behind them is 0.
"""

from ...build.kernel import WIDTHS, inline, kernel, set_fault
from ...run.array_faults import ALREADY_READ, ALREADY_WRITTEN, CLEARED_BY_READ, WITHOUT_VALUE
from ...run.faults import INDEX_OUT_OF_RANGE, NEGATIVE_VALUE

INDICES = ("int32", "int64")
WRITTEN, READ, CLEARED = 1, 2, 4
"""What the state of an element consists of."""
CLEARS, ZEROS, ZEROS_IF_WRITTEN = 1, 2, 4
"""How is read: whether elements are gone then, and are zeros where nothing was written: in any case
or when another one was written.
"""


@inline
def _clear(size, state, n, limit):
    """Makes an array one of `n` elements that have no values."""
    for i in range(size[0]):
        state[i] = 0
    size[0], size[1] = n, limit


@kernel("n:int32[1] inout_generation:int64[1] inout_size:int64[1] inout_state:uint8[*] may_grow:i")
def create(n, inout_generation, inout_size, inout_state, may_grow, first, last, fault):
    """A new array in the memory of the one before, without values."""
    inout_generation[0] += 1
    if not 0 <= n[0] <= inout_state.size:
        set_fault(fault, NEGATIVE_VALUE, 0, n[0], inout_state.size)
        return
    _clear(inout_size, inout_state, n[0], inout_state.size if may_grow else n[0])


@kernel(
    "generation:int64[1] inout_whole:int64[1] inout_generation:int64[1] inout_size:int64[1] "
    "inout_state:uint8[*]"
)
def follow(generation, inout_whole, inout_generation, inout_size, inout_state, first, last, fault):
    """An array without values when that which it belongs to is a new one, which grows no more."""
    inout_whole[1] = inout_whole[0]
    if inout_generation[0] != generation[0]:
        inout_generation[0] = generation[0]
        _clear(inout_size, inout_state, inout_whole[0], inout_whole[0])


@kernel("size:int64[1] out:int32[1]")
def count(size, out, first, last, fault):
    """out = how many elements there are"""
    out[0] = size[0]


@inline
def _may_write(position, room, size, state, may_repeat, fault, k):
    """Whether an element, of which there is then one at least, may be written; or a fault."""
    if not 0 <= position < min(size[1], room):
        set_fault(fault, INDEX_OUT_OF_RANGE, k, position, size[0])
        return False
    if state[position] & READ:
        set_fault(fault, ALREADY_READ, k, position, size[0])
        return False
    if state[position] & WRITTEN and not may_repeat:
        set_fault(fault, ALREADY_WRITTEN, k, position, size[0])
        return False
    size[0] = max(size[0], position + 1)
    return True


@kernel(
    "indices:I[m] rows:T[m,s] inout_size:int64[1] inout_state:uint8[*] inout:T[*,s]",
    T=WIDTHS,
    I=INDICES,
)
def write(indices, rows, inout_size, inout_state, inout, first, last, fault):
    """inout[indices[k]] = rows[k]"""
    for k in range(indices.size):
        position = indices[k]
        if not _may_write(position, inout.shape[0], inout_size, inout_state, False, fault, k):
            return
        inout_state[position] |= WRITTEN
        for i in range(rows.shape[1]):
            inout[position, i] = rows[k, i]


@kernel(
    "indices:I[m] rows:T[m,s] inout_size:int64[1] inout_state:uint8[*] inout:T[*,s]",
    T=("float32", "float64", "int32", "int64"),
    I=INDICES,
)
def add(indices, rows, inout_size, inout_state, inout, first, last, fault):
    """inout[indices[k]] += rows[k]; what was not written counts as zeros"""
    for k in range(indices.size):
        position = indices[k]
        if not _may_write(position, inout.shape[0], inout_size, inout_state, True, fault, k):
            return
        if inout_state[position] & WRITTEN:
            for i in range(rows.shape[1]):
                inout[position, i] += rows[k, i]
        else:
            inout_state[position] |= WRITTEN
            for i in range(rows.shape[1]):
                inout[position, i] = rows[k, i]


@inline
def _is_any_written(size, state):
    known = 0
    for i in range(size[0]):
        known |= state[i]
    return known & WRITTEN != 0


@kernel(
    "indices:I[m] size:int64[1] inout_state:uint8[*] inout:T[*,s] out:T[m,s] way:i",
    T=WIDTHS,
    I=INDICES,
)
def read(indices, size, inout_state, inout, out, way, first, last, fault):
    """out[k] = inout[indices[k]]"""
    for k in range(indices.size):
        position = indices[k]
        if not 0 <= position < min(size[0], inout.shape[0]):
            set_fault(fault, INDEX_OUT_OF_RANGE, k, position, size[0])
            return
        if not inout_state[position] & WRITTEN:
            if not way & ZEROS and not (
                way & ZEROS_IF_WRITTEN and _is_any_written(size, inout_state)
            ):
                set_fault(fault, WITHOUT_VALUE, k, position, size[0])
                return
            inout_state[position] |= WRITTEN
            for i in range(out.shape[1]):
                inout[position, i] = 0
        if inout_state[position] & CLEARED:
            set_fault(fault, CLEARED_BY_READ, k, position, size[0])
            return
        inout_state[position] |= READ | CLEARED if way & CLEARS else READ
        for i in range(out.shape[1]):
            out[k, i] = inout[position, i]
