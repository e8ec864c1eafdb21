"""Instructions of AVX-512, VNNI and NEON in plain LLVM: kernels for them run where there are none.

Each does what the manual says the instruction does; of estimates, which differ from processor to
processor, it gives a number that is as near as the manual promises.
"""

import re
from contextlib import contextmanager

import pytest
from llvmlite import ir

from flatlite.engine.build import compiler
from flatlite.engine.build.vector import BYTE, FLOAT, INT, WORD

SHORT = ir.IntType(16)
NAME = re.compile(r'@"llvm\.(x86\.avx512\.[\w.]+|aarch64\.neon\.sdot[\w.]+)"')
DECLARATION = re.compile(rf"declare [^\n]*{NAME.pattern}[^\n]*\n")
ESTIMATED_BITS = 14  # that an estimate is right to


def in_lanes(builder, a, b, lanes):
    """The elements of a and then b at `lanes`."""
    lanes = list(lanes)
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, len(lanes)), lanes))


def sums(builder, values, n):
    """The sums of `n` neighbours each."""
    parts = [in_lanes(builder, values, values, range(i, values.type.count, n)) for i in range(n)]
    total = parts[0]
    for part in parts[1:]:
        total = builder.add(total, part)
    return total


def multiply_add(element, n, first_is_signed):
    """total + the sums of `n` products of elements each."""

    def write(builder, total, a, b):
        kind = ir.VectorType(element, n * total.type.count)
        wide = ir.VectorType(INT, kind.count)
        a, b = (builder.bitcast(x, kind) for x in (a, b))
        a = builder.sext(a, wide) if first_is_signed else builder.zext(a, wide)
        return builder.add(total, sums(builder, builder.mul(a, builder.sext(b, wide)), n))

    return write


def pack(builder, a, b):
    """The nearest integers of half the width, by lanes of 16 bytes: those of a, then of b."""
    n, width = a.type.count, a.type.element.width
    lane, limit = 128 // width, 1 << (width // 2 - 1)
    order = [
        start + i + side * n for start in range(0, n, lane) for side in (0, 1) for i in range(lane)
    ]
    value = in_lanes(builder, a, b, order)
    low, high = (ir.Constant(value.type, [x] * 2 * n) for x in (-limit, limit - 1))
    for operator, end in (("<", low), (">", high)):
        value = builder.select(builder.icmp_signed(operator, value, end), end, value)
    return builder.trunc(value, ir.VectorType(ir.IntType(width // 2), 2 * n))


def multiply_pairs(builder, a, b):
    """The nearest int16 to the sums of two products each of unsigned with signed bytes."""
    wide = ir.VectorType(INT, a.type.count)
    value = sums(builder, builder.mul(builder.zext(a, wide), builder.sext(b, wide)), 2)
    low, high = (ir.Constant(value.type, [x] * value.type.count) for x in (-(1 << 15), 32767))
    for operator, end in (("<", low), (">", high)):
        value = builder.select(builder.icmp_signed(operator, value, end), end, value)
    return builder.trunc(value, ir.VectorType(SHORT, value.type.count))


def absolute_differences(builder, a, b):
    """The sums of eight differences of unsigned bytes each."""
    kind = ir.VectorType(WORD, a.type.count)
    difference = builder.sub(builder.zext(a, kind), builder.zext(b, kind))
    is_negative = builder.icmp_signed("<", difference, ir.Constant(kind, None))
    opposite = builder.sub(ir.Constant(kind, None), difference)
    return sums(builder, builder.select(is_negative, opposite, difference), 8)


def looked_up(builder, table, index):
    """The elements of a vector, a power of two of them, that the low bits of others say."""
    result, n = ir.Constant(index.type, ir.Undefined), table.type.count
    for i in range(index.type.count):
        place = builder.extract_element(index, INT(i))
        place = builder.and_(place, place.type(n - 1))
        element = builder.extract_element(table, place)
        result = builder.insert_element(result, element, INT(i))
    return result


def look_up_in_two(builder, a, index, b):
    """Those of two vectors."""
    return looked_up(builder, in_lanes(builder, a, b, range(2 * a.type.count)), index)


def estimate(of_root):
    """1 / x, or 1 / sqrt(x), of which the last bits are cut off; the mask is of all lanes."""

    def write(builder, x, source, mask):
        one = ir.Constant(x.type, [1.0] * x.type.count)
        if of_root:
            name = f"llvm.sqrt.v{x.type.count}f32"
            kind = ir.FunctionType(x.type, [x.type])
            x = builder.call(ir.Function(builder.module, kind, name), [x])
        whole = ir.VectorType(INT, x.type.count)
        bits = builder.bitcast(builder.fdiv(one, x), whole)
        top_bits = ir.Constant(whole, [-1 << (23 - ESTIMATED_BITS)] * whole.count)
        return builder.bitcast(builder.and_(bits, top_bits), x.type)

    return write


def products(element, n, first_is_signed):
    """The twins of vectors of 128, 256 and 512 bits."""
    write = multiply_add(element, n, first_is_signed)
    return {bits: (ir.VectorType(INT, bits // 32), [INT] * 3, write) for bits in (128, 256, 512)}


def vector(element):
    """A vector of 512 bits."""
    width = 32 if element == FLOAT else element.width
    return ir.VectorType(element, 512 // width)


TWINS = {
    **{f"x86.avx512.vpdpbusd.{n}": twin for n, twin in products(BYTE, 4, False).items()},
    **{f"x86.avx512.vpdpwssd.{n}": twin for n, twin in products(SHORT, 2, True).items()},
    "x86.avx512.pmaddubs.w.512": (vector(SHORT), [BYTE] * 2, multiply_pairs),
    "x86.avx512.packssdw.512": (vector(SHORT), [INT] * 2, pack),
    "x86.avx512.packsswb.512": (vector(BYTE), [SHORT] * 2, pack),
    "x86.avx512.psad.bw.512": (vector(WORD), [BYTE] * 2, absolute_differences),
    "x86.avx512.permvar.si.512": (vector(INT), [INT] * 2, looked_up),
    "x86.avx512.vpermi2var.qi.512": (vector(BYTE), [BYTE] * 3, look_up_in_two),
    "x86.avx512.rcp14.ps.512": (vector(FLOAT), [FLOAT, FLOAT, SHORT], estimate(False)),
    "x86.avx512.rsqrt14.ps.512": (vector(FLOAT), [FLOAT, FLOAT, SHORT], estimate(True)),
    "aarch64.neon.sdot.v4i32.v16i8": (
        ir.VectorType(INT, 4),
        [INT, BYTE, BYTE],
        multiply_add(BYTE, 4, True),
    ),
}
"""Name -> the result's type, what the elements of the operands are, and what writes the twin."""


def twin_text(name):
    """The LLVM text of a function that does what an instruction does."""
    returns, elements, write = TWINS[name]
    bits = returns.count * (32 if returns.element == FLOAT else returns.element.width)
    kinds = []
    for element in elements:
        width = 32 if element == FLOAT else element.width
        kinds.append(ir.VectorType(element, bits // width))
    if name.endswith("14.ps.512"):
        kinds[-1] = SHORT  # a mask
    module = ir.Module()
    function = ir.Function(module, ir.FunctionType(returns, kinds), f"twin.{name}")
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(write(builder, *function.args))
    text = str(module)
    return text[text.index("define") :], re.findall(r"declare [^\n]*\n", text)


@contextmanager
def twins_of_instructions():
    """A block in which microkernels are compiled with twins of these instructions."""
    original = compiler._microkernel_text

    def text_of(symbol, simd):
        text = original(symbol, simd)
        names = sorted(set(NAME.findall(text)))
        text = NAME.sub(r'@"twin.\1"', DECLARATION.sub("", text))
        for name in names:
            definition, declarations = twin_text(name)
            definition = re.sub(r"declare [^\n]*\n", "", definition)
            text += definition + "".join(x for x in declarations if x not in text)
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "_microkernel_text", text_of)
        yield
