"""Products of one row with many.

Large weights are read once, as they lie, and never packed; small ones that stay near lie in panels.
"""

from numba import types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import FLOAT, WORD, Writer
from ...tiling import DOT_PANELS, DOT_ROWS, PANEL
from ._matvec import matvec_f32

_SIGNATURE = types.void(*[types.int64] * 6, types.float32, types.float32)


@microkernel(_SIGNATURE)
def dot_rows(builder, simd, x, weights, count, depth, bias, out, low, high):
    """out[r] = clamp(bias[r] + sum of x * weights[r]) for up to eight rows of weights."""
    w = Writer(builder, simd)
    x, weights, bias, out = (w.pointer(p) for p in (x, weights, bias, out))
    pitch = w.mul(depth, 4)
    last = builder.sub(count, WORD(1))
    row_numbers = []
    for r in range(DOT_ROWS):  # those beyond the last repeat it
        past_end = builder.icmp_signed(">", WORD(r), last)
        row_numbers.append(builder.select(past_end, last, WORD(r)))
    rows = [w.move(weights, w.mul(number, pitch)) for number in row_numbers]
    ahead = w.mul(pitch, DOT_ROWS)
    vector_end = builder.and_(pitch, WORD(-w.bytes))
    with w.loop(0, vector_end, w.bytes, [w.zero()] * DOT_ROWS) as (at, sums):
        inputs = w.load(x, at)
        for r, row in enumerate(rows):
            current = w.move(row, at)
            w.prefetch(w.move(current, ahead))
            sums[r] = w.fma(inputs, w.load(current), sums[r])
    sums = w.results
    mask = w.mask(builder.sdiv(builder.sub(pitch, vector_end), WORD(4)))
    inputs = w.load_masked(x, mask, vector_end)
    sums = [
        w.fma(inputs, w.load_masked(row, mask, vector_end), value)
        for row, value in zip(rows, sums, strict=True)
    ]
    for number, value in zip(row_numbers, sums, strict=True):
        offset = w.mul(number, 4)
        total = w.add(w.sum(value), w.load(bias, offset, FLOAT))
        w.store(w.clamp(total, low, high), out, offset)


@kernel(
    "a:float32[*,k] b:float32[*,n,k] bias:float32[n] a_of:int32[batch] b_of:int32[batch] "
    "out:float32[batch,n] low:float32 high:float32"
)
def rows(a, b, bias, a_of, b_of, out, low, high, first, last, fault):
    """out[i] = clamp(b[b_of[i]] @ a[a_of[i]] + bias). An item is eight elements of a row."""
    n, depth = out.shape[1], b.shape[2]
    blocks = (n + DOT_ROWS - 1) // DOT_ROWS
    for item in range(first, last):
        batch = item // blocks
        start = (item - batch * blocks) * DOT_ROWS
        x = address(a) + 4 * a_of[batch] * depth
        weights = address(b) + 4 * (b_of[batch] * n + start) * depth
        target = address(out) + 4 * (batch * n + start)
        dot_rows(
            x,
            weights,
            min(DOT_ROWS, n - start),
            depth,
            address(bias) + 4 * start,
            target,
            low,
            high,
        )


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
