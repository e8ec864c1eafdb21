"""Products of int16 with int8 by AMX, which multiplies bytes (_gemm_i8_amx.py).

An input is 256 times its upper byte, which is signed, and its lower one, which is not: products of
these are summed apart. A block is BLOCK_ROWS rows of lower bytes, then as many of upper ones,
each as the rows of a block there; sums are rows of a panel's width, those of lower bytes first.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import AMX_DEPTH, BLOCK_ROWS, PANEL
from .._int32 import SHORT, Integers
from ..int8._gemm_i8_amx import Registers
from ._gemm_i16_tile import TOTALS, halves, store_rows

_ROW, _TABLE = 4 * PANEL, 8 * BLOCK_ROWS
_UPPER = BLOCK_ROWS * _ROW  # bytes from sums of lower bytes to those of upper ones
_LOW_SUMS, _HIGH_SUMS, _LOW, _HIGH, _WEIGHTS = (0, 1), (2, 3), 4, 5, (6, 7)  # registers


@microkernel(types.void(*[types.int64] * 5))
def gather_halves(builder, simd, tables, segments, depth, block, pitch):
    """Gathers the rows of a tile's tables in a block, lower and upper bytes apart."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    tables, lower = w.pointer(tables), w.pointer(block)
    upper = w.mul(pitch, BLOCK_ROWS)
    padded = builder.and_(builder.add(depth, WORD(3)), WORD(-4))
    end = w.move(lower, w.mul(segments, padded))
    rows = [w.mul(pitch, m) for m in range(BLOCK_ROWS)]
    for row in rows:
        for address in (row, builder.add(row, upper)):
            w.write(ir.Constant(ir.VectorType(INT, 16), None), w.move(end, address))
    shorts, kind = ir.VectorType(SHORT, AMX_DEPTH), ir.VectorType(BYTE, AMX_DEPTH)
    zeros, bits = ir.Constant(shorts, None), ir.VectorType(ir.IntType(1), AMX_DEPTH)
    with w.loop(0, w.mul(segments, _TABLE), _TABLE, [lower]) as (entry, outer):
        begins = w.move(tables, entry)
        with w.loop(0, depth, AMX_DEPTH) as (at, _):
            n_inputs = builder.sub(depth, at)
            is_full = builder.icmp_signed(">=", n_inputs, WORD(AMX_DEPTH))
            low_bits = builder.sub(builder.shl(WORD(1), builder.and_(n_inputs, WORD(63))), WORD(1))
            mask = builder.bitcast(builder.select(is_full, WORD(-1), low_bits), bits)
            target = w.move(outer[0], at)
            for m, row in enumerate(rows):
                source = w.move(w.load_pointer(begins, 8 * m), w.mul(at, 2))
                name = f"llvm.masked.load.v{AMX_DEPTH}i16.p0"
                value = w.call(name, shorts, [source, INT(1), mask, zeros])
                address = w.move(target, row)
                w.write(builder.trunc(value, kind), address)
                value = builder.ashr(value, w.splat(8, SHORT, AMX_DEPTH))
                w.write(builder.trunc(value, kind), w.move(address, upper))
        outer[0] = w.move(outer[0], padded)


@microkernel(types.void(*[types.int64] * 5))
def i16_amx_tile(builder, simd, block, pitch, steps, panel, sums):
    """Sums of products of a block and a panel.

    Arguments: the block; the bytes between its rows; how many steps there are; the panel, of fours
    of weights; and where the sums go.
    """
    if not simd.amx:
        return
    w = Integers(builder, simd)
    registers = Registers(w)
    sums, lower = w.pointer(sums), w.pointer(block)
    upper = w.move(lower, w.mul(pitch, BLOCK_ROWS))
    for register in (*_LOW_SUMS, *_HIGH_SUMS):
        registers.clear(register)
    with w.loop(0, w.mul(steps, AMX_DEPTH), AMX_DEPTH, [w.pointer(panel)]) as (at, values):
        for v, register in enumerate(_WEIGHTS):
            registers.load(register, w.move(values[0], AMX_DEPTH * v), _ROW)
        registers.load(_LOW, w.move(lower, at), pitch)
        registers.load(_HIGH, w.move(upper, at), pitch)
        for low, high, weights in zip(_LOW_SUMS, _HIGH_SUMS, _WEIGHTS, strict=True):
            registers.add_unsigned(low, _LOW, weights)
            registers.add(high, _HIGH, weights)
        values[0] = w.move(values[0], 16 * _ROW)
    for v in range(2):
        registers.store(_LOW_SUMS[v], w.move(sums, AMX_DEPTH * v), _ROW)
        registers.store(_HIGH_SUMS[v], w.move(sums, _UPPER + AMX_DEPTH * v), _ROW)


def _byte_sums(w, sums, m, v):
    """The sums of lower and of upper bytes of a vector in row m."""
    row = w.move(sums, w.add(w.mul(m, _ROW), v * w.bytes))
    return [w.read(row, at, w.i32_vector, 4) for at in (0, _UPPER)]


@microkernel(types.void(types.int64, types.int64), inline=True)
def totals_of_amx_sums(builder, simd, sums, totals):
    """The totals (_gemm_i16_tile.py) of sums."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    sums, totals = w.pointer(sums), w.pointer(totals)
    with w.loop(0, BLOCK_ROWS, 1) as (m, _):
        row = w.move(totals, w.mul(m, TOTALS))
        for v in range(PANEL // w.width):
            low, high = (halves(w, value) for value in _byte_sums(w, sums, m, v))
            for k in range(2):
                upper = builder.shl(high[k], w.splat(8, WORD, w.width // 2))
                w.write(builder.add(low[k], upper), row, (2 * v + k) * w.bytes)


@microkernel(types.void(*[types.int64] * 8))
def quick_of_amx_sums(builder, simd, sums, n_rows, targets, out_skip, columns, terms, low, high):
    """Stores results of sums that are int32, as i16_tile does."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    sums = w.pointer(sums)

    def result(epilogue, m, v):
        lower, upper = _byte_sums(w, sums, m, v)
        return epilogue.from_int32(builder.add(lower, builder.shl(upper, w.splat(8))))

    arguments = (n_rows, targets, out_skip, columns)
    store_rows(w, terms, (low, high), result, PANEL // w.width, 2, *arguments)
