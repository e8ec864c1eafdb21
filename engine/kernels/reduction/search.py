"""Elements found by their value."""

from ...build.kernel import inline, kernel

NUMBERS = ("float32", "int32", "int64", "int16", "int8", "uint8")


@kernel("x:T[n] boundaries:float32[m] out:int32[n]", T=("float32", "float64"))
def bucketize(x, boundaries, out, first, last, fault):
    """For each element, how many of the rising boundaries are not above it; all for nan."""
    for i in range(first, last):
        low, high = 0, boundaries.size
        while low < high:
            middle = (low + high) // 2
            if x[i] < boundaries[middle]:
                high = middle
            else:
                low = middle + 1
        out[i] = low


@inline
def before(row, i, j):
    """Whether element `i` of `row` ranks before `j`: larger, or equal and further to the front.

    Nan ranks after all numbers.
    """
    a, b = row[i], row[j]
    if a == b or (a != a and b != b):
        return i < j
    return a > b or b != b


@inline
def sift(row, heap, root, size):
    """Lets the entry at `root` of a heap sink until both below it rank before it."""
    entry = heap[root]
    child = 2 * root + 1
    while child < size:
        if child + 1 < size and before(row, heap[child], heap[child + 1]):
            child += 1
        if not before(row, entry, heap[child]):
            break
        heap[root] = heap[child]
        root = child
        child = 2 * root + 1
    heap[root] = entry


@kernel("x:T[n,*] out:T[n,k] out_indices:int32[n,k]", T=NUMBERS)
def top(x, out, out_indices, first, last, fault):
    """The k largest of each row in falling order, equal ones as they come, and their positions."""
    k = out.shape[1]
    if k == 0:
        return
    for n in range(first, last):
        row, heap = x[n], out_indices[n]
        for i in range(k):
            heap[i] = i
        root = k // 2 - 1
        while root >= 0:
            sift(row, heap, root, k)
            root -= 1
        for i in range(k, row.size):
            if before(row, i, heap[0]):
                heap[0] = i
                sift(row, heap, 0, k)
        size = k - 1
        while size > 0:
            heap[0], heap[size] = heap[size], heap[0]
            sift(row, heap, 0, size)
            size -= 1
        for i in range(k):
            out[n, i] = row[heap[i]]


@inline
def less(a, b):
    """a < b"""
    return a < b


@inline
def greater(a, b):
    """a > b"""
    return a > b


def ordered(is_before):
    """out[n] = the positions of x[n] in the order of its elements, equal ones as they come.

    A merge sort from runs of one on.
    """

    def run(x, out, scratch, first, last, fault):
        n = x.shape[1]
        for item in range(first, last):
            row, order, merged = x[item], out[item], scratch[item]
            for i in range(n):
                order[i] = i
            width = 1
            while width < n:
                for start in range(0, n, 2 * width):
                    middle, end = min(start + width, n), min(start + 2 * width, n)
                    i, j = start, middle
                    for k in range(start, end):
                        if j >= end or (i < middle and not is_before(row[order[j]], row[order[i]])):
                            merged[k] = order[i]
                            i += 1
                        else:
                            merged[k] = order[j]
                            j += 1
                for k in range(n):
                    order[k] = merged[k]
                width *= 2

    return run


SORTED = (*NUMBERS, "float64", "uint16", "uint32", "uint64")

for _name, _is_before in (("rising", less), ("falling", greater)):
    kernel(
        "x:T[n,k] out:int64[n,k] scratch:int64[n,k]", name=_name, T=SORTED
    )(ordered(_is_before))  # fmt: skip
