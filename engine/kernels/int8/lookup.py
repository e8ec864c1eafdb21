"""Functions of one byte, by a table of all its values."""

from functools import reduce

from llvmlite import ir
from numba import int64, types

from ...build.kernel import address, kernel, microkernel, set_fault
from ...build.vector import BYTE, INT, WORD
from ...run.faults import NEGATIVE_VALUE
from .._int32 import SHORT, Integers
from ._permute import LOOKUP_BYTES, VALUES, look_up_vectors, tail_mask

_FRACTION_BITS = 13
_TO_FRACTION, _TO_FRACTION_BITS = 1.5 * 2.0 ** (23 - _FRACTION_BITS), 0x44C00000
"""What numbers are added to, to have as many bits of a fraction in their last bits."""
_ROW, _PAIR = 16, 32  # bytes of a table that one instruction knows; that it looks up


def _by_bytes(w, x, table, out, start, count):
    with w.loop(start, count, 1) as (at, _):
        index = w.builder.zext(w.read(x, at, BYTE), WORD)
        w.write(w.read(table, index, BYTE), out, at)


def _by_rows(w, x, table, out, count):
    """Looks up whole vectors in one row of the table after the other; gives where these end.

    The instruction takes the last four bits of an index and gives 0 where its sign is set. It is
    given index - 16 * i for each row i, and an exclusive or goes over what it finds in `parts`:
    for i of up to 7, where differences wrap, those of the last eight rows up to the index's; from 8
    on, where they stay at the least number, all up to it. The parts are such that its own is left.
    """
    b, kind = w.builder, ir.VectorType(BYTE, _PAIR)
    step = ir.Constant(kind, [_ROW] * _PAIR)
    rows = [w.read(table, at, ir.VectorType(BYTE, _ROW)) for at in range(0, VALUES, _ROW)]
    parts = []
    for i, row in enumerate(rows):
        others = [rows[j] for j in (i - 1, i - 8, i - 9) if j >= 0]
        part = reduce(b.xor, others, row)
        parts.append(w.shuffle(part, part, 2 * list(range(_ROW))))
    vector_end = b.and_(count, WORD(-_PAIR))
    with w.loop(0, vector_end, _PAIR) as (at, _):
        index = w.read(x, at, kind)
        values = None
        for i, part in enumerate(parts):
            if i > 8:
                index = w.call("llvm.ssub.sat.v32i8", kind, [index, step])
            elif i:
                index = b.sub(index, step)
            values_of_row = w.call("llvm.x86.avx2.pshuf.b", kind, [part, index])
            values = values_of_row if values is None else b.xor(values, values_of_row)
        w.write(values, out, at)
    return vector_end


@microkernel(types.void(*[types.int64] * 4))
def look_up_int8(builder, simd, x, table, out, count):
    """out[i] = table[x[i]]"""
    w = Integers(builder, simd)
    x, table, out = (w.pointer(p) for p in (x, table, out))
    if not simd.permutes:
        start = _by_rows(w, x, table, out, count) if simd.width > 4 else 0
        _by_bytes(w, x, table, out, start, count)
        return
    kind = ir.VectorType(BYTE, LOOKUP_BYTES)
    quarters = [w.read(table, start, kind) for start in range(0, VALUES, LOOKUP_BYTES)]
    vector_end = builder.and_(count, WORD(-LOOKUP_BYTES))
    with w.loop(0, vector_end, LOOKUP_BYTES) as (at, _):
        w.write(look_up_vectors(w, quarters, w.read(x, at, kind)), out, at)
    mask = tail_mask(w, builder.sub(count, vector_end))
    index = w.read_masked(w.move(x, vector_end), kind, mask)
    w.write_masked(look_up_vectors(w, quarters, index), w.move(out, vector_end), mask)


@kernel("x:uint8[1] table:uint8[1] out~x:uint8[1]")
def look_up(x, table, out, first, last, fault):
    """out = table[x]"""
    look_up_int8(address(x) + first, address(table), address(out) + first, last - first)


@kernel("x:uint16[1] table:uint16[1] out~x:uint16[1]")
def look_up_int16(x, table, out, first, last, fault):
    """out = table[x]"""
    for i in range(first, last):
        out[i] = table[x[i]]


@kernel("x:T1 table:T1 out:T1 zero:i", T=("int8", "int16"))
def look_up_from(x, table, out, zero, first, last, fault):
    """out = table[x], where x is at least `zero`"""
    for i in range(first, last):
        value = int64(x[i])
        if value < zero:
            set_fault(fault, NEGATIVE_VALUE, i, value - zero)
            return
        out[i] = table[value & (table.size - 1)]


def _lines(n_lines):
    """The microkernel out[i] = the largest of some lines at x[i], within limits.

    A line is three int16: (x * multiplier / 256 + offset) / 2 ** shift, each quotient rounded down.
    It does whole vectors, and gives how many elements these are.
    """

    def emit(builder, simd, x, out, count, lines, low, high):
        w = Integers(builder, simd)
        n, x, out, lines = 4 * w.width, w.pointer(x), w.pointer(out), w.pointer(lines)
        bytes_kind, kind = ir.VectorType(BYTE, n), ir.VectorType(SHORT, n // 2)
        wide = ir.VectorType(INT, n // 2)

        def term(i, j):
            value = builder.trunc(w.read(lines, 24 * i + 8 * j, WORD, 8), SHORT)
            return w.splat(value, SHORT, n // 2)

        terms = [[term(i, j) for j in range(3)] for i in range(n_lines)]
        limits = [w.splat(builder.trunc(k, BYTE), BYTE, n) for k in (low, high)]

        def largest(words):
            values = []
            for multiplier, offset, shift in terms:
                product = builder.mul(builder.sext(words, wide), builder.sext(multiplier, wide))
                product = builder.trunc(builder.lshr(product, w.splat(16, INT, n // 2)), kind)
                total = w.call(f"llvm.sadd.sat.v{n // 2}i16", kind, [product, offset])
                values.append(builder.ashr(total, shift))
            return reduce(w.maximum, values)

        end = builder.and_(count, WORD(-n))
        zeros = ir.Constant(bytes_kind, None)
        with w.loop(0, end, n) as (at, _):
            elements = w.read(x, at, bytes_kind)
            halves = []
            for start in (0, 8):  # in each part of 16 bytes: 256 times the first eight, the others
                order = [
                    part + start + i // 2 + (n if i % 2 else 0)
                    for part in range(0, n, 16)
                    for i in range(16)
                ]
                words = builder.bitcast(w.shuffle(zeros, elements, order), kind)
                halves.append(largest(words))
            w.write(w.clamp_int(w.saturated_shorts(*halves), *limits), out, at)
        return end

    emit.__name__ = f"lines_{n_lines}"
    return microkernel(types.int64(*[types.int64] * 6))(emit)


_one_line, _two_lines = _lines(1), _lines(2)


@kernel("x:int8[1] lines:int64[lines,3] out~x:int8[1] low:i high:i")
def largest_line(x, lines, out, low, high, first, last, fault):
    """out = the largest of one or two lines at x, within limits"""
    source, target, count = address(x) + first, address(out) + first, last - first
    if lines.shape[0] == 1:
        i = _one_line(source, target, count, address(lines), low, high)
    else:
        i = _two_lines(source, target, count, address(lines), low, high)
    for k in range(first + i, last):
        y = low
        for line in range(lines.shape[0]):
            product = (int64(x[k]) * lines[line, 0]) >> 8
            y = max(y, (product + lines[line, 1]) >> lines[line, 2])
        out[k] = min(y, high)


@microkernel(
    types.void(types.int64, types.int64, types.int64, *[types.float32] * 2, *[types.int64] * 2)
)
def whole_parts(builder, simd, x, out, count, scale, offset, low, high):
    """out[i] = the whole part of x[i] * scale + offset, within limits."""
    w = Integers(builder, simd)
    x, out = w.pointer(x), w.pointer(out)
    scale, offset = w.repeat(scale), w.add(w.repeat(offset), w.repeat(_TO_FRACTION))

    def result(n, at, mask=None):
        totals = []
        for i in range(n):
            elements = w.read_masked(w.move(x, w.add(at, i * w.width)), w.i8_vector, mask)
            value = builder.sitofp(builder.sext(elements, w.i32_vector), w.vector)
            bits = builder.bitcast(w.fma(value, scale, offset), w.i32_vector)
            bits = builder.sub(bits, w.splat(_TO_FRACTION_BITS))
            totals.append(builder.ashr(bits, w.splat(_FRACTION_BITS)))
        value = w.saturated_bytes(totals)
        value = w.block_in_order(value) if n > 1 else value
        limits = (w.splat(builder.trunc(k, BYTE), BYTE, value.type.count) for k in (low, high))
        return w.clamp_int(value, *limits)

    begin = WORD(0)
    for n in (w.BLOCK, 1):
        end = builder.and_(count, WORD(-n * w.width))
        with w.loop(begin, end, n * w.width) as (at, _):
            w.write(result(n, at), out, at)
        begin = end
    n_last = builder.sub(count, begin)
    with builder.if_then(builder.icmp_signed(">", n_last, WORD(0))):
        mask = w.mask(n_last)
        w.write_masked(result(1, begin, mask), w.move(out, begin), mask)


@kernel("x:int8[1] out~x:int8[1] scale:float32 offset:float32 low:i high:i")
def line(x, out, scale, offset, low, high, first, last, fault):
    """out = the whole part of x * scale + offset, within limits"""
    source, target = address(x) + first, address(out) + first
    whole_parts(source, target, last - first, scale, offset, low, high)
