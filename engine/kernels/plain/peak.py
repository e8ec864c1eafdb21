"""What a processor can do at most: sums of products in registers, and reading memory.

The kernels of products do `count` turns of the instruction that tiles of their type are made of, on
as many sums as hide how long it takes, and tell how many products that were.
"""

from llvmlite import ir
from numba import types

from ...build.kernel import address, kernel, microkernel
from ...build.vector import WORD
from .._int32 import SHORT, Integers
from ..int8._gemm_i8_amx import Registers, begin_amx, end_amx

LINE = 64
_SUMS = 12  # independent ones: more than a processor begins before the first one ends
_WEIGHTS = 2  # vectors of weights of a tile with as many sums
_AMX_SUMS = 4
_AMX_PRODUCTS = 16 * 16 * 64  # of one instruction
_STEPS = types.void(*[types.int64] * 2)


def _chains(w, buffer, count, kind, add):
    """`count` turns of `add(sum, a, b)`; sums, a and b begin as vectors in memory."""
    buffer = w.pointer(buffer)
    *sums, a, b = (w.read(buffer, i * LINE, kind, 4) for i in range(_SUMS + 2))
    with w.loop(0, count, 1, sums) as (_, values):
        values[:] = [add(value, a, b) for value in values]
    for i, value in enumerate(w.results):
        w.write(value, buffer, i * LINE)


def _amx_chains(w, buffer, count):
    registers, buffer = Registers(w), w.pointer(buffer)
    a, b = _AMX_SUMS, _AMX_SUMS + 1
    for register in range(_AMX_SUMS + 2):
        registers.load(register, buffer, 0)
    with w.loop(0, count, 1):
        for register in range(_AMX_SUMS):
            registers.add(register, a, b)
    for register in range(_AMX_SUMS):
        registers.store(register, buffer, 0)


def _as_int16(w, vector):
    return w.builder.bitcast(vector, ir.VectorType(SHORT, 2 * w.width))


@microkernel(_STEPS)
def float32_steps(builder, simd, buffer, count):
    """Sums of products of float32."""
    w = Integers(builder, simd)
    _chains(w, buffer, count, w.vector, lambda value, a, b: w.fma(a, b, value))


@microkernel(_STEPS)
def int8_steps(builder, simd, buffer, count):
    """Sums of products of bytes; of int16 where the processor multiplies no bytes."""
    w = Integers(builder, simd)
    if simd.amx:
        _amx_chains(w, buffer, count)
    elif simd.dots:
        _chains(w, buffer, count, w.i32_vector, w.add_fours)
    else:
        _int16_chains(w, buffer, count)


@microkernel(_STEPS)
def int16_steps(builder, simd, buffer, count):
    """Sums of products of int16 and bytes."""
    w = Integers(builder, simd)
    (_amx_chains if simd.amx else _int16_chains)(w, buffer, count)


def _int16_chains(w, buffer, count):
    """As `_chains`, of pairs of int16.

    LLVM knows their products as such: it would multiply equal ones once, and those that are the
    same in each turn before all. They are those of a tile, of inputs that lie `beyond`, which is 0.
    """
    b, beyond, buffer = w.builder, w.builder.lshr(buffer, WORD(62)), w.pointer(buffer)
    lines = [w.read(buffer, i * LINE, w.i32_vector, 4) for i in range(_SUMS + _WEIGHTS)]
    weights = [_as_int16(w, line) for line in lines[_SUMS:]]
    with w.loop(0, count, 1, lines[:_SUMS]) as (at, values):
        place = w.move(buffer, w.mul(b.and_(at, beyond), 4))
        for i, value in enumerate(values):
            row, column = divmod(i, _WEIGHTS)
            inputs = _as_int16(w, w.read(place, row * LINE, w.i32_vector, 4))
            values[i] = w.add_pairs(value, weights[column], inputs)
    for i, value in enumerate(w.results):
        w.write(value, buffer, i * LINE)


@microkernel(types.int64(), inline=True)
def float32_products(builder, simd):
    """How many products a turn of `float32_steps` has."""
    return WORD(_SUMS * simd.width)


@microkernel(types.int64(), inline=True)
def int8_products(builder, simd):
    """How many products a turn of `int8_steps` has."""
    return WORD(
        _AMX_SUMS * _AMX_PRODUCTS if simd.amx else _SUMS * (4 if simd.dots else 2) * simd.width
    )


@microkernel(types.int64(), inline=True)
def int16_products(builder, simd):
    """How many products a turn of `int16_steps` has; by AMX each is two of bytes."""
    return WORD(_AMX_SUMS * _AMX_PRODUCTS // 2 if simd.amx else _SUMS * 2 * simd.width)


_OPERANDS = "inout_operands:{}[items,256] out_products:int64[items] count:i"


@kernel(_OPERANDS.format("float32"))
def float32(inout_operands, out_products, count, first, last, fault):
    """Items of `count` turns of products of float32, each in its operands."""
    for item in range(first, last):
        float32_steps(address(inout_operands) + 4 * 256 * item, count)
        out_products[item] = count * float32_products()


@kernel(_OPERANDS.format("int32"))
def int8(inout_operands, out_products, count, first, last, fault):
    """As `float32`, of bytes."""
    for item in range(first, last):
        begin = address(inout_operands) + 4 * 256 * item
        begin_amx(begin)
        int8_steps(begin, count)
        end_amx()
        out_products[item] = count * int8_products()


@kernel(_OPERANDS.format("int32"))
def int16(inout_operands, out_products, count, first, last, fault):
    """As `float32`, of int16 and bytes."""
    for item in range(first, last):
        begin = address(inout_operands) + 4 * 256 * item
        begin_amx(begin)
        int16_steps(begin, count)
        end_amx()
        out_products[item] = count * int16_products()


@microkernel(types.int64(types.int64, types.int64))
def sum_of_lines(builder, simd, begin, n_bytes):
    """The sum of the int32 in whole lines of memory."""
    w = Integers(builder, simd)
    begin, per_line = w.pointer(begin), max(LINE // w.bytes, 1)
    with w.loop(0, n_bytes, 4 * LINE, [w.splat(0)] * 4 * per_line) as (at, sums):
        for i, value in enumerate(sums):
            sums[i] = builder.add(value, w.read(w.move(begin, at), i * w.bytes, w.i32_vector, 4))
    total = w.results[0]
    for value in w.results[1:]:
        total = builder.add(total, value)
    name = f"llvm.vector.reduce.add.v{w.width}i32"
    return builder.sext(w.call(name, total.type.element, [total]), WORD)


@kernel("x:int32[items,*] out:int64[items] count:i")
def read(x, out, count, first, last, fault):
    """out[i] = the sum of row i, whose size 64 divides, `count` times."""
    for item in range(first, last):
        out[item] = 0
        for _ in range(count):
            out[item] += sum_of_lines(address(x) + 4 * item * x.shape[1], 4 * x.shape[1])
