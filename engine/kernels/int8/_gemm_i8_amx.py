"""Products of 8-bit integers by AMX.

A block is BLOCK_ROWS rows of inputs, gathered from where a table says: signed bytes in
rows PITCH apart, one segment after the other, each filled up to a multiple of four, then zeros up
to a multiple of AMX_DEPTH. Rows that lie like that already are a block where they are. Two blocks
times a panel (_gemm_i8_tile.py) is a tile of sums in the eight tile registers: four of
sums, two of inputs, two of weights.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import BYTE, INT, WORD
from ...tiling import AMX_DEPTH, BLOCK_ROWS, PANEL, TILE_HEADERS
from .._int32 import Integers

_ROW = 4 * PANEL
_TABLE = 8 * BLOCK_ROWS
_HALF = 16 * _ROW  # bytes of sums of one block
_SUMS, _INPUTS, _WEIGHTS = (0, 1, 2, 3), (4, 5), (6, 7)  # registers
_NONE = ir.VoidType()


@microkernel(types.int64(), inline=True)
def has_amx(builder, simd):
    """Whether the processor has AMX."""
    return WORD(int(simd.amx))


@microkernel(types.void(types.int64))
def begin_amx(builder, simd, buffer):
    """Readies the registers: 16 rows of 64 bytes each; `buffer` is 64 bytes to work in."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    setting = [1] + 15 * [0] + 8 * [64, 0] + 16 * [0] + 8 * [16] + 8 * [0]
    w.write(ir.Constant(ir.VectorType(BYTE, 64), setting), w.pointer(buffer))
    w.call("llvm.x86.ldtilecfg", _NONE, [w.pointer(buffer)])


@microkernel(types.void())
def end_amx(builder, simd):
    """Lets go of the registers."""
    if simd.amx:
        Integers(builder, simd).call("llvm.x86.tilerelease", _NONE, [])


class Registers:
    """The instructions on tile registers."""

    def __init__(self, w):
        self.w = w

    def clear(self, register):
        self.w.call("llvm.x86.tilezero", _NONE, [BYTE(register)])

    def load(self, register, pointer, pitch):
        arguments = [BYTE(register), pointer, self.w.word(pitch)]
        self.w.call("llvm.x86.tileloadd64", _NONE, arguments)

    def store(self, register, pointer, pitch):
        arguments = [BYTE(register), pointer, self.w.word(pitch)]
        self.w.call("llvm.x86.tilestored64", _NONE, arguments)

    def add(self, sums, inputs, weights, name="llvm.x86.tdpbssd"):
        """Adds products of signed bytes."""
        self.w.call(name, _NONE, [BYTE(sums), BYTE(inputs), BYTE(weights)])

    def add_unsigned(self, sums, inputs, weights):
        """Adds products of unsigned bytes with signed weights."""
        self.add(sums, inputs, weights, "llvm.x86.tdpbusd")


@microkernel(types.void(*[types.int64] * 5))
def gather_block(builder, simd, headers, segments, depth, block, pitch):
    """Gathers the rows of a tile's tables in a block."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    table, block = w.move(w.pointer(headers), TILE_HEADERS * _TABLE), w.pointer(block)
    padded = builder.and_(builder.add(depth, WORD(3)), WORD(-4))
    end = w.move(block, w.mul(segments, padded))
    rows = [w.mul(pitch, m) for m in range(BLOCK_ROWS)]
    for row in rows:
        w.write(ir.Constant(ir.VectorType(INT, 16), None), w.move(end, row))
    kind = ir.VectorType(BYTE, AMX_DEPTH)
    zeros, bits = ir.Constant(kind, None), ir.VectorType(ir.IntType(1), AMX_DEPTH)
    with w.loop(0, w.mul(segments, _TABLE), _TABLE, [block]) as (entry, outer):
        begins = w.move(table, entry)
        with w.loop(0, depth, AMX_DEPTH, []) as (at, _):
            n_inputs = builder.sub(depth, at)
            is_full = builder.icmp_signed(">=", n_inputs, WORD(AMX_DEPTH))
            low_bits = builder.sub(builder.shl(WORD(1), builder.and_(n_inputs, WORD(63))), WORD(1))
            mask = builder.bitcast(builder.select(is_full, WORD(-1), low_bits), bits)
            target = w.move(outer[0], at)
            for m, row in enumerate(rows):
                source = w.move(w.load_pointer(begins, 8 * m), at)
                value = w.call("llvm.masked.load.v64i8.p0", kind, [source, INT(1), mask, zeros])
                w.write(value, w.move(target, row))
        outer[0] = w.move(outer[0], padded)


@microkernel(types.void(*[types.int64] * 6))
def amx_corrections(builder, simd, headers, block, pitch, steps, zero_point, buffer):
    """Fills the table of what rows of a block lack; `buffer` is 1 KiB to work in."""
    if not simd.amx:
        return
    w = Integers(builder, simd)
    corrections = w.move(w.pointer(headers), _TABLE)
    with builder.if_else(builder.icmp_signed("==", zero_point, WORD(0))) as (zero, nonzero):
        with zero:
            for at in range(0, _TABLE, w.bytes):
                w.write(w.splat(0), corrections, at)
        with nonzero:
            registers = Registers(w)
            factor = builder.trunc(zero_point, BYTE)
            buffer, block = w.pointer(buffer), w.pointer(block)
            for m in range(16):
                w.write(w.splat(factor, BYTE, AMX_DEPTH), buffer, AMX_DEPTH * m)
            registers.load(_WEIGHTS[0], buffer, AMX_DEPTH)
            registers.clear(_SUMS[0])
            with w.loop(0, w.mul(steps, AMX_DEPTH), AMX_DEPTH) as (at, _):
                registers.load(_INPUTS[0], w.move(block, at), pitch)
                registers.add(_SUMS[0], _INPUTS[0], _WEIGHTS[0])
            registers.store(_SUMS[0], buffer, AMX_DEPTH)
            for m in range(BLOCK_ROWS):
                total = w.read(buffer, AMX_DEPTH * m, INT)
                w.write(builder.sub(INT(0), total), corrections, 8 * m)


def _amx_tile(builder, simd, blocks, arguments):
    """Writes the tile of one or two blocks."""
    block, pitch, steps, panel, sums = arguments
    w = Integers(builder, simd)
    registers = Registers(w)
    sums, block = w.pointer(sums), w.pointer(block)
    inputs = [w.move(block, w.mul(pitch, BLOCK_ROWS * i)) for i in range(blocks)]
    panel = w.pointer(panel)
    for i, register in enumerate(_SUMS[: 2 * blocks]):
        registers.load(register, w.move(panel, i % 2 * AMX_DEPTH), 0)
    with w.loop(0, w.mul(steps, AMX_DEPTH), AMX_DEPTH, [w.move(panel, _ROW)]) as (at, values):
        for v in range(2):
            registers.load(_WEIGHTS[v], w.move(values[0], AMX_DEPTH * v), _ROW)
        for i, pointer in enumerate(inputs):
            registers.load(_INPUTS[i], w.move(pointer, at), pitch)
            for v in range(2):
                registers.add(_SUMS[2 * i + v], _INPUTS[i], _WEIGHTS[v])
        values[0] = w.move(values[0], 16 * _ROW)
    for i, register in enumerate(_SUMS[: 2 * blocks]):
        registers.store(register, w.move(sums, i // 2 * _HALF + i % 2 * AMX_DEPTH), _ROW)


@microkernel(types.void(*[types.int64] * 5))
def i8_amx_tile(builder, simd, *arguments):
    """Sums of products of two blocks that follow one another and a panel.

    Arguments: the first block; the bytes between its rows; how many steps there are; the panel, of
    signed weights; and where the sums go, in rows of a panel's width.
    """
    if simd.amx:
        _amx_tile(builder, simd, 2, arguments)


@microkernel(types.void(*[types.int64] * 5))
def i8_amx_half_tile(builder, simd, *arguments):
    """What `i8_amx_tile` does, for one block."""
    if simd.amx:
        _amx_tile(builder, simd, 1, arguments)
