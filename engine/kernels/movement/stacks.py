"""Elements of a stack, in memory that has room for more of them than there ever are."""

from ...build.kernel import WIDTHS, kernel, set_fault
from ...run.array_faults import NO_ELEMENT, NO_ROOM


@kernel("inout_count:int64[1]")
def clear(inout_count, first, last, fault):
    """A stack without elements."""
    inout_count[0] = 0


@kernel("item:T[s] inout_count:int64[1] inout:T[n,s] max_size:i", T=WIDTHS)
def push(item, inout_count, inout, max_size, first, last, fault):
    """Puts an element on a stack of at most `max_size`."""
    count = inout_count[0]
    if count >= min(max_size, inout.shape[0]):
        set_fault(fault, NO_ROOM, 0, count, max_size)
        return
    for i in range(item.size):
        inout[count, i] = item[i]
    inout_count[0] = count + 1


@kernel("inout_count:int64[1] items:T[n,s] out:T[s]", T=WIDTHS)
def pop(inout_count, items, out, first, last, fault):
    """Takes the last element off a stack."""
    count = inout_count[0] - 1
    if count < 0:
        set_fault(fault, NO_ELEMENT, 0, count)
        return
    for i in range(out.size):
        out[i] = items[count, i]
    inout_count[0] = count
