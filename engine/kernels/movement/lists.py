"""Elements of a list written where an index says, and lists that grow."""

from ...build.kernel import WIDTHS, kernel, set_fault
from ...run.faults import INDEX_OUT_OF_RANGE, NEGATIVE_VALUE

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


@kernel("index:I[1] length:int32[1] items:T[*,s] out:T[s]", T=WIDTHS, I=INDICES)
def read(index, length, items, out, first, last, fault):
    """out = items[index], one of `length`"""
    position = index[0]
    if not 0 <= position < length[0]:
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, position, length[0])
        return
    for i in range(out.size):
        out[i] = items[position, i]


@kernel(
    "index:I[1] item:T[s] length:int32[1] inout:T[*,s] out_length:int32[1] may_grow:i",
    T=WIDTHS,
    I=INDICES,
)
def place(index, item, length, inout, out_length, may_grow, first, last, fault):
    """inout[index] = item, among `length`; or behind them, with zeros between, if it may grow"""
    position, count = index[0], length[0]
    limit = inout.shape[0] if may_grow else count
    if not 0 <= position < limit:
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, position, count)
        return
    for k in range(count, position):
        for i in range(item.size):
            inout[k, i] = 0
    for i in range(item.size):
        inout[position, i] = item[i]
    out_length[0] = max(count, position + 1)


@kernel("n:int32[1] out_length:int32[1]")
def reserve(n, out_length, first, last, fault):
    """out_length = n"""
    if n[0] < 0:
        set_fault(fault, NEGATIVE_VALUE, 0, n[0])
    out_length[0] = n[0]


@kernel("length:int32[1] n:int32[1] inout:T[*,s]", T=WIDTHS)
def resize(length, n, inout, first, last, fault):
    """inout[length:n] = 0"""
    if not 0 <= n[0] <= inout.shape[0]:
        set_fault(fault, NEGATIVE_VALUE, 0, n[0])
        return
    for k in range(length[0], n[0]):
        for i in range(inout.shape[1]):
            inout[k, i] = 0


@kernel("rows:T[*,s] n:int32[1] length:int32[1] inout:T[*,s]", T=WIDTHS)
def append(rows, n, length, inout, first, last, fault):
    """inout[length : length + n] = rows[:n]"""
    if not 0 <= n[0] <= min(rows.shape[0], inout.shape[0] - length[0]):
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, n[0], rows.shape[0])
        return
    for k in range(n[0]):
        for i in range(rows.shape[1]):
            inout[length[0] + k, i] = rows[k, i]


@kernel("items:T[*,s] n:int32[1] length:int32[1] inout_rows:T[*,s]", T=WIDTHS)
def take(items, n, length, inout_rows, first, last, fault):
    """inout_rows[:n] = items[length - n : length]"""
    if not 0 <= n[0] <= min(length[0], inout_rows.shape[0]):
        set_fault(fault, INDEX_OUT_OF_RANGE, 0, n[0], length[0])
        return
    start = length[0] - n[0]
    for k in range(n[0]):
        for i in range(items.shape[1]):
            inout_rows[k, i] = items[start + k, i]


@kernel("items:int32[*,1] n:int32[1] length:int32[1] out:int32[1]")
def total(items, n, length, out, first, last, fault):
    """out = the sum of items[length - n : length]"""
    out[0] = 0
    for k in range(max(0, length[0] - n[0]), length[0]):
        out[0] += items[k, 0]
