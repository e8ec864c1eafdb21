"""Products of one row with packed weights: one step of a recurrent network.

Weights lie in panels of 32 columns. float32 ones as gemm_f32_packing.py packs them: a row of bias,
which is not read here, then a row for each element of x. int8 ones as pairs: for each two elements
of x, two int8 for each column. What a panel has beyond the last column or element is 0.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import inline, microkernel
from ...build.vector import BYTE, FLOAT, INT, WORD, Writer
from ...tiling import PANEL
from .._int32 import SHORT, Integers

_SUMS = 8  # vectors of sums in registers at a time
_ROW = 4 * PANEL  # bytes of a row of float32 weights
_PAIR = 2 * PANEL  # bytes of two rows of int8 weights
_CHAIN = 64  # products added before their sum goes to the total: keeps rounding errors small
_SIGNATURE = types.void(*[types.int64] * 4)


def _n_panels(simd):
    """Panels of which all sums are in registers at a time."""
    return max(_SUMS * simd.width // PANEL, 1)


@microkernel(types.int64(), inline=True)
def panels_at_once(builder, simd):
    """How many panels `f32_panels` and `i8_panels` do."""
    return WORD(_n_panels(simd))


def _f32(builder, simd, n_panels, x, weights, depth, sums):
    w = Writer(builder, simd)
    x, weights, sums = (w.pointer(p) for p in (x, weights, sums))
    pitch = w.mul(w.add(depth, 1), _ROW)
    panels = [w.move(weights, w.add(w.mul(pitch, p), _ROW)) for p in map(WORD, range(n_panels))]
    offsets = range(0, _ROW, w.bytes)
    carried = [w.load(sums, _ROW * p + at) for p in range(n_panels) for at in offsets]
    end = w.mul(depth, 4)
    with w.loop(0, end, 4 * _CHAIN, carried) as (begin, totals):
        stop = w.add(begin, 4 * _CHAIN)
        stop = builder.select(builder.icmp_signed("<", stop, end), stop, end)
        with w.loop(begin, stop, 4, [w.zero()] * len(totals)) as (at, chain):
            factor, row = w.repeat(w.load(x, at, FLOAT)), w.mul(at, PANEL)
            vectors = [w.load(w.move(panel, row), offset) for panel in panels for offset in offsets]
            chain[:] = [w.fma(factor, v, total) for v, total in zip(vectors, chain, strict=True)]
        totals[:] = [w.add(total, part) for total, part in zip(totals, w.results, strict=True)]
    for i, total in enumerate(w.results):
        w.store(total, sums, i * w.bytes)


def _i8(builder, simd, n_panels, x, weights, depth, sums):
    w = Integers(builder, simd)
    x, weights, sums = (w.pointer(p) for p in (x, weights, sums))
    i32_vector, pairs = ir.VectorType(INT, w.width), ir.VectorType(SHORT, 2 * w.width)
    i8_pairs = ir.VectorType(BYTE, 2 * w.width)
    n_pairs = builder.sdiv(w.add(depth, 1), WORD(2))
    pitch = w.mul(n_pairs, _PAIR)
    panels = [w.move(weights, w.mul(pitch, p)) for p in map(WORD, range(n_panels))]
    offsets = range(0, PANEL, w.width)
    carried = [
        w.load(sums, 4 * (PANEL * p + at), i32_vector) for p in range(n_panels) for at in offsets
    ]
    with w.loop(0, w.mul(n_pairs, 4), 4, carried) as (at, totals):
        inputs = builder.bitcast(w.repeat(w.load(x, at, INT)), pairs)
        row, i = w.mul(at, _PAIR // 4), 0
        for panel in panels:
            begin = w.move(panel, row)
            for offset in offsets:
                value = builder.load(w.move(begin, 2 * offset), typ=i8_pairs)
                value.align = 1
                totals[i] = w.add_pairs(totals[i], inputs, builder.sext(value, pairs))
                i += 1
    for i, total in enumerate(w.results):
        w.store(total, sums, i * w.bytes)


@microkernel(_SIGNATURE)
def f32_panels(builder, simd, x, weights, depth, sums):
    """sums += x @ weights for `panels_at_once` panels."""
    _f32(builder, simd, _n_panels(simd), x, weights, depth, sums)


@microkernel(_SIGNATURE)
def f32_panel(builder, simd, x, weights, depth, sums):
    """sums += x @ weights for one panel."""
    _f32(builder, simd, 1, x, weights, depth, sums)


@microkernel(_SIGNATURE)
def i8_panels(builder, simd, x, weights, depth, sums):
    """sums += x @ weights of int16 and int8 for `panels_at_once` panels."""
    _i8(builder, simd, _n_panels(simd), x, weights, depth, sums)


@microkernel(_SIGNATURE)
def i8_panel(builder, simd, x, weights, depth, sums):
    """sums += x @ weights of int16 and int8 for one panel."""
    _i8(builder, simd, 1, x, weights, depth, sums)


@inline
def matvec_f32(x, weights, n_panels, depth, sums):
    """sums += x @ weights, all at addresses and of float32."""
    n_at_once, i = panels_at_once(), 0
    pitch = (depth + 1) * 128
    while i + n_at_once <= n_panels:
        f32_panels(x, weights + i * pitch, depth, sums + 128 * i)
        i += n_at_once
    while i < n_panels:
        f32_panel(x, weights + i * pitch, depth, sums + 128 * i)
        i += 1


@inline
def matvec_i8(x, weights, n_panels, depth, sums):
    """sums += x @ weights, at addresses: int16 (one more, 0, when odd), panels of int8, int32."""
    n_at_once, i = panels_at_once(), 0
    pitch = (depth + 1) // 2 * 64
    while i + n_at_once <= n_panels:
        i8_panels(x, weights + i * pitch, depth, sums + 128 * i)
        i += n_at_once
    while i < n_panels:
        i8_panel(x, weights + i * pitch, depth, sums + 128 * i)
        i += 1
