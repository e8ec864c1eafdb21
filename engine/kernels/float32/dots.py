"""Products of one row with many.

Large weights are read once, as they lie, and never packed; small ones that stay near lie in panels.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, INT, WORD, Writer
from ...tiling import DOT_PANELS, DOT_ROWS, PANEL
from ._matvec import matvec_f32

_SIGNATURE = types.void(*[types.int64] * 6, types.float32, types.float32)


_ROWS_AT_ONCE, _VECTORS_AT_ONCE = 4, 2
_NEAR_PITCH = 2048
"""Bytes of a row up to which the rows after these are fetched ahead.

The processor does that by itself where rows are longer, and rows as many bytes apart as lie in the
same few places of the nearest cache push each other out.
"""


@microkernel(_SIGNATURE)
def dot_rows(builder, simd, x, weights, count, depth, bias, out, low, high):
    """out[r] = clamp(bias[r] + sum of x * weights[r]) for up to `_ROWS_AT_ONCE` rows of weights."""
    w = Writer(builder, simd)
    x, weights, bias, out = (w.pointer(p) for p in (x, weights, bias, out))
    pitch = w.mul(depth, 4)
    last = builder.sub(count, WORD(1))
    row_numbers = []
    for r in range(_ROWS_AT_ONCE):  # those beyond the last repeat it
        past_end = builder.icmp_signed(">", WORD(r), last)
        row_numbers.append(builder.select(past_end, last, WORD(r)))
    rows = [w.move(weights, w.mul(number, pitch)) for number in row_numbers]
    is_near = builder.icmp_signed("<=", pitch, WORD(_NEAR_PITCH))
    ahead = builder.select(is_near, w.mul(pitch, _ROWS_AT_ONCE), WORD(0))
    sums, begin = [w.zero()] * _ROWS_AT_ONCE, WORD(0)
    for n_vectors in (_VECTORS_AT_ONCE, 1):
        step = n_vectors * w.bytes
        end = builder.and_(pitch, WORD(-step))
        with w.loop(begin, end, step, sums) as (at, values):
            places = [w.add(at, i * w.bytes) for i in range(n_vectors)]
            inputs = [w.load(x, place) for place in places]
            for r, row in enumerate(rows):
                w.prefetch(w.move(w.move(row, at), ahead))
                for place, part in zip(places, inputs, strict=True):
                    values[r] = w.fma(part, w.load(row, place), values[r])
        sums, begin = w.results, end
    mask = w.mask(builder.sdiv(builder.sub(pitch, begin), WORD(4)))
    inputs = w.load_masked(x, mask, begin)
    sums = [
        w.fma(inputs, w.load_masked(row, mask, begin), value)
        for row, value in zip(rows, sums, strict=True)
    ]
    totals = _sums_of(w, sums)
    for r, number in enumerate(row_numbers):
        offset = w.mul(number, 4)
        total = builder.extract_element(totals, INT(r))
        total = w.add(total, w.load(bias, offset, FLOAT))
        w.store(w.clamp(total, low, high), out, offset)


def _sums_of(w, vectors):
    """A vector with the sums over the lanes of as many vectors: halves upon halves of each."""
    while len(vectors) > 1 or vectors[0].type.count > _ROWS_AT_ONCE:
        length = vectors[0].type.count * len(vectors) // _ROWS_AT_ONCE  # of what is left of a row
        vectors = [_halved(w, vectors[i : i + 2], length) for i in range(0, len(vectors), 2)]
    return vectors[0]


def _halved(w, pair, length):
    """The halves of each `length` lanes of one or two vectors, added."""
    first, second = pair[0], pair[-1]
    lanes = range(len(pair) * first.type.count)
    order = [i for i in lanes if i % length < length // 2]
    parts = []
    for offset in (0, length // 2):
        picked = [i + offset for i in order]
        picked = ir.Constant(ir.VectorType(INT, len(picked)), picked)
        parts.append(w.builder.shuffle_vector(first, second, picked))
    return w.builder.fadd(*parts)


@kernel(
    "a:float32[*,k] b:float32[*,n,k] bias:float32[n] a_of:int32[batch] b_of:int32[batch] "
    "out:float32[batch,n] low:float32 high:float32"
)
def rows(a, b, bias, a_of, b_of, out, low, high, first, last, fault):
    """out[i] = clamp(b[b_of[i]] @ a[a_of[i]] + bias). An item is DOT_ROWS elements of a row."""
    n, depth = out.shape[1], b.shape[2]
    blocks = (n + DOT_ROWS - 1) // DOT_ROWS
    for item in range(first, last):
        batch = item // blocks
        start = (item - batch * blocks) * DOT_ROWS
        x = address(a) + 4 * a_of[batch] * depth
        weights = address(b) + 4 * (b_of[batch] * n + start) * depth
        target = address(out) + 4 * (batch * n + start)
        row, end = 0, min(DOT_ROWS, n - start)
        while row < end:
            dot_rows(
                x,
                weights + 4 * row * depth,
                min(_ROWS_AT_ONCE, end - row),
                depth,
                address(bias) + 4 * (start + row),
                target + 4 * row,
                low,
                high,
            )
            row += _ROWS_AT_ONCE


@kernel(
    "a:float32[*,k] panels:float32[*,*,*,32] a_of:int32[batch] b_of:int32[batch] "
    "out:float32[batch,n] scratch:float32[items,128] low:float32 high:float32"
)
def packed(a, panels, a_of, b_of, out, scratch, low, high, first, last, fault):
    """out[i] = clamp(a[a_of[i]] @ packed[b_of[i]] + bias). An item is four panels of a row."""
    n, depth = out.shape[1], a.shape[1]
    blocks = (panels.shape[1] + DOT_PANELS - 1) // DOT_PANELS
    for item in range(first, last):
        batch = item // blocks
        start = (item - batch * blocks) * DOT_PANELS
        weights = panels[b_of[batch], start : min(start + DOT_PANELS, panels.shape[1])]
        sums = scratch[item]
        for panel in range(weights.shape[0]):
            for j in range(PANEL):
                sums[panel * PANEL + j] = weights[panel, 0, j]
        matvec_f32(
            address(a[a_of[batch]]), address(weights), weights.shape[0], depth, address(sums)
        )
        target = out[batch, start * PANEL : min((start + weights.shape[0]) * PANEL, n)]
        for j in range(target.size):
            y = low if sums[j] < low else sums[j]
            target[j] = high if y > high else y
