"""Elements written at indices that are known only when the kernel runs; all are checked."""

from numba import int64

from ...build.kernel import WIDTHS, inline, kernel, set_fault
from ...run.faults import INDEX_OUT_OF_RANGE
from ._formulas import larger_of, product_of, smaller_of, sum_of
from ._points import SHAPE, STRIDES, WHOLE_SHAPE, flat

INDICES = ("int32", "int64")
NUMBERS = ("float32", "int32", "int64", "int16", "int8", "uint8")


@kernel(
    "indices:I[n,k] updates:T[n,s] dims:int64[k] inout:T[*,s]",
    T=(*NUMBERS, "bool"),
    I=("int32",),
)
def add(indices, updates, dims, inout, first, last, fault):
    """inout[indices[i]] += updates[i], where `inout` has the leading dimensions `dims`."""
    for item in range(indices.shape[0]):
        position = flat(indices, item, dims, fault)
        if position < 0:
            return
        for s in range(updates.shape[1]):
            inout[position, s] += updates[item, s]


@kernel("indices:I[p,s] on:T1 inout:T[p,depth,s]", T=WIDTHS, I=INDICES)
def one_hot(indices, on, inout, first, last, fault):
    """inout[p, indices[p, s], s] = on; an index outside [0, depth) marks nothing."""
    for p in range(first, last):
        for s in range(indices.shape[1]):
            index = indices[p, s]
            if 0 <= index < inout.shape[1]:
                inout[p, index, s] = on[0]


@kernel("update:T1 starts:int64[1] geometry:int64[2] inout:T1", T=WIDTHS)
def update_slice(update, starts, geometry, inout, first, last, fault):
    """Writes `update` into `inout` at `starts`, clamped so that it fits.

    The box is `update`, what it lies in is `inout`; an item is a row (last dimension) of update.
    """
    k = geometry.shape[1] - 1
    columns = geometry[SHAPE, k]
    for item in range(first, last):
        index, j = item, k - 1
        target = min(max(starts[k], 0), geometry[WHOLE_SHAPE, k] - columns)
        while j >= 0:
            outer_index = index // geometry[SHAPE, j]
            start = min(max(starts[j], 0), geometry[WHOLE_SHAPE, j] - geometry[SHAPE, j])
            target += (start + index - outer_index * geometry[SHAPE, j]) * geometry[STRIDES, j]
            index = outer_index
            j -= 1
        for c in range(columns):
            inout[target + c] = update[item * columns + c]


@kernel("indices:int64[n,k] values:T1 dims:int64[k] inout:T1", T=WIDTHS)
def assign(indices, values, dims, inout, first, last, fault):
    """inout[indices[i]] = values[i], or values[0] when there is but one"""
    step = 0 if values.size == 1 else 1
    for item in range(indices.shape[0]):
        position = flat(indices, item, dims, fault)
        if position < 0:
            return
        inout[position] = values[item * step]


@kernel("indices:I[k] updates:T[b,k,s] inout:T[b,n,s]", T=WIDTHS, I=INDICES)
def rows(indices, updates, inout, first, last, fault):
    """inout[i, indices[j]] = updates[i, j]; an index outside [0, n) writes nothing."""
    for i in range(first, last):
        for j in range(indices.shape[0]):
            index = indices[j]
            if 0 <= index < inout.shape[1]:
                for s in range(inout.shape[2]):
                    inout[i, index, s] = updates[i, j, s]


@inline
def difference_of(a, b):
    """a - b"""
    return a - b


@inline
def second_of(a, b):
    """b"""
    return b


def changed_rows(formula):
    """inout[indices[i]] = formula(inout[indices[i]], updates[i]), once all indices were looked at.

    The lowest number there is marks a row that is none (kernels/movement/unique.py).
    """

    def run(indices, updates, inout, none, first, last, fault):
        for i in range(indices.size):
            row = indices[i]
            if row != none and not 0 <= row < inout.shape[0]:
                set_fault(fault, INDEX_OUT_OF_RANGE, i, row, inout.shape[0])
                return
        for i in range(indices.size):
            row = indices[i]
            if row != none:
                for s in range(first, last):
                    inout[row, s] = formula(inout[row, s], updates[i, s])

    return run


for _name, _formula in (
    ("add_rows", sum_of),
    ("subtract_rows", difference_of),
    ("assign_rows", second_of),
):
    kernel(
        "indices:I[n] updates:T[n,s] inout:T[*,s] none:i",
        name=_name,
        T=("float32", "float64", "int32", "int64"),
        I=INDICES,
    )(changed_rows(_formula))


def changed_boxes(formula):
    """inout[at] = formula(inout[at], update) for each element of the boxes, one after the other.

    Box i begins along dimension d at starts[i, places[d]], at 0 where places[d] is negative. It is
    updates[i], of the sizes `window`; elements outside of `inout`, which has the dimensions `dims`,
    change nothing.
    """

    def run(starts, updates, places, dims, window, inout, first, last, fault):
        k = dims.size - 1
        columns = window[k]
        for i in range(updates.shape[0]):
            start = starts[i, places[k]] if places[k] >= 0 else int64(0)
            begin, end = max(int64(0), -start), min(columns, dims[k] - start)
            for row in range(updates.shape[1] // columns):
                index, base, pitch, inside = row, int64(0), dims[k], True
                j = k - 1
                while j >= 0:
                    outer_index = index // window[j]
                    at = index - outer_index * window[j]
                    if places[j] >= 0:
                        at += starts[i, places[j]]
                    inside = inside and 0 <= at < dims[j]
                    base += at * pitch
                    pitch *= dims[j]
                    index = outer_index
                    j -= 1
                if inside:
                    for c in range(begin, end):
                        place = base + start + c
                        inout[place] = formula(inout[place], updates[i, row * columns + c])

    return run


BOX_NUMBERS = (*NUMBERS, "float64", "uint16", "uint32", "uint64")

for _name, _formula, _types in (
    ("assign_boxes", second_of, WIDTHS),
    ("add_boxes", sum_of, BOX_NUMBERS),
    ("multiply_boxes", product_of, BOX_NUMBERS),
    ("maximum_boxes", larger_of, BOX_NUMBERS),
    ("minimum_boxes", smaller_of, BOX_NUMBERS),
):
    kernel(
        "starts:int64[n,*] updates:T[n,*] places:int64[k] dims:int64[k] window:int64[k] inout:T1",
        name=_name,
        T=_types,
    )(changed_boxes(_formula))
