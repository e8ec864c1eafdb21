"""Elements read at indices that are known only when the kernel runs; all are checked."""

from numba import int64

from ...build.kernel import WIDTHS, kernel, set_fault
from ...records import Axis
from ...run.faults import INDEX_OUT_OF_RANGE, VALUE_OUT_OF_RANGE
from ._points import SHAPE, STRIDES, WHOLE_SHAPE, flat

INDICES = ("int32", "int64")


@kernel("params:T[b,o,*,s] indices:I[b,i] out:T[b,o,i,s]", T=WIDTHS, I=INDICES)
def slices(params, indices, out, first, last, fault):
    """out[b, o, i] = params[b, o, indices[b, i]]; an item is one (b, o)."""
    outer, limit, size = params.shape[1], params.shape[2], params.shape[3]
    for item in range(first, last):
        b = item // outer
        o = item - b * outer
        for i in range(indices.shape[1]):
            index = indices[b, i]
            if not 0 <= index < limit:
                set_fault(fault, INDEX_OUT_OF_RANGE, b * indices.shape[1] + i, index, limit)
                return
            for s in range(size):
                out[b, o, i, s] = params[b, o, index, s]


@kernel("params:T[*,s] indices:I[n] out:T[n,s] none:i", T=WIDTHS, I=INDICES)
def rows(params, indices, out, none, first, last, fault):
    """out[i] = params[indices[i]]; zeros where the index is `none` (unique.py)"""
    for i in range(first, last):
        row = indices[i]
        if row == none:
            for s in range(params.shape[1]):
                out[i, s] = 0
        elif 0 <= row < params.shape[0]:
            for s in range(params.shape[1]):
                out[i, s] = params[row, s]
        else:
            set_fault(fault, INDEX_OUT_OF_RANGE, i, row, params.shape[0])
            return


@kernel("params:T[*,s] indices:I[n,k] dims:int64[k] out:T[n,s]", T=WIDTHS, I=INDICES)
def points(params, indices, dims, out, first, last, fault):
    """out[i] = params[indices[i]], where `params` has the leading dimensions `dims`."""
    for item in range(first, last):
        position = flat(indices, item, dims, fault)
        if position < 0:
            return
        for s in range(params.shape[1]):
            out[item, s] = params[position, s]


@kernel("x:T1 starts:int64[1] geometry:int64[2] out:T1 wrap:i", T=WIDTHS)
def box(x, starts, geometry, out, wrap, first, last, fault):
    """The part of `x` from `starts` on; with `wrap` a negative start counts from the end.

    The box is `out`, what it lies in is `x`; an item is a row (last dimension) of out.
    """
    k = geometry.shape[1] - 1
    columns = geometry[SHAPE, k]
    for item in range(first, last):
        index, source = item * columns, int64(0)
        j = k
        while j >= 0:
            outer_index = index // geometry[SHAPE, j]
            start = starts[j]
            if wrap and start < 0:
                start += geometry[WHOLE_SHAPE, j]
            if start < 0 or start + geometry[SHAPE, j] > geometry[WHOLE_SHAPE, j]:
                limit = geometry[WHOLE_SHAPE, j] - geometry[SHAPE, j] + 1
                set_fault(fault, INDEX_OUT_OF_RANGE, j, starts[j], limit)
                return
            source += (start + index - outer_index * geometry[SHAPE, j]) * geometry[STRIDES, j]
            index = outer_index
            j -= 1
        for c in range(columns):
            out[item * columns + c] = x[source + c * geometry[STRIDES, k]]


@kernel(
    "x:T1 lengths:int64[1] out:T1 outer:Axis middle:Axis steps:Axis batch_stride:i inner:i",
    T=WIDTHS,
    Axis=Axis,
)
def reverse_sequence(
    x, lengths, out, outer, middle, steps, batch_stride, inner, first, last, fault
):
    """out[.., b, .., s] = x[.., b, .., r], where r = lengths[b] - 1 - s below lengths[b], else s"""
    for b in range(first, last):
        length = lengths[b]
        if not 0 <= length <= steps.size:
            set_fault(fault, VALUE_OUT_OF_RANGE, b, length, steps.size + 1)
            return
        for i in range(outer.size * middle.size):
            o = i // middle.size
            start = o * outer.stride + (i - o * middle.size) * middle.stride + b * batch_stride
            for s in range(steps.size):
                source = start + (length - 1 - s if s < length else s) * steps.stride
                target = start + s * steps.stride
                for c in range(inner):
                    out[target + c] = x[source + c]


@kernel(
    "x:T1 starts:int64[n,k] limits:int64[k] strides:int64[k] runs:int64[r] out:T[n,r,*]", T=WIDTHS
)
def boxes(x, starts, limits, strides, runs, out, first, last, fault):
    """out[n, r, c] = x[runs[r] + c + at], a box of `x` in runs of elements side by side.

    `at` is where the box begins: the sum over k of starts[n, k], held within [0, limits[k]], times
    strides[k].
    """
    for n in range(first, last):
        at = int64(0)
        for k in range(limits.size):
            at += min(max(starts[n, k], 0), limits[k]) * strides[k]
        for r in range(runs.size):
            for c in range(out.shape[2]):
                out[n, r, c] = x[at + runs[r] + c]


@kernel("x:T[n,*] order:int64[n,*] out:T[n,*]", T=WIDTHS)
def in_order(x, order, out, first, last, fault):
    """out[n, i] = x[n, order[n, i]]"""
    for n in range(first, last):
        for i in range(out.shape[1]):
            out[n, i] = x[n, order[n, i]]
