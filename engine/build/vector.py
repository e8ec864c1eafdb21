"""Writes vector code as LLVM instructions: what the microkernels of kernels are made of.

    from ..kernel import microkernel
    from ..vector import Writer

    @microkernel(types.void(types.int64, types.int64, types.int64))
    def double(builder, simd, x, out, count):
        \"\"\"out[i] = 2 * x[i]; `count` is a multiple of the width.\"\"\"
        w = Writer(builder, simd)
        x, out = w.pointer(x), w.pointer(out)
        with w.loop(0, w.mul(count, 4), 4 * simd.width) as (at, _):
            value = w.load(x, at)
            w.store(w.add(value, value), out, at)

Addresses are int64 numbers and offsets are in bytes. One source serves every processor: LLVM's own
vector types as wide as its registers, never an instruction of one processor.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from llvmlite import ir
from numba.core import cgutils

if TYPE_CHECKING:
    from .simd import Simd

BIT, BYTE, INT, WORD = (ir.IntType(n) for n in (1, 8, 32, 64))
FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
POINTER = ir.PointerType()


class Writer:
    """Appends instructions at `builder` for the vectors `simd` describes.

    Attributes:
        width: float32 in a vector.
        bytes: bytes of a vector.
    """

    def __init__(self, builder: ir.IRBuilder, simd: Simd) -> None:
        self.builder, self.simd = builder, simd
        self.width, self.bytes = simd.width, 4 * simd.width
        self.vector = ir.VectorType(FLOAT, self.width)

    def word(self, value: ir.Value | int) -> ir.Value:
        """A Python int as an int64; a value as it is."""
        return WORD(value) if isinstance(value, int) else value

    def add(self, a: ir.Value, b: ir.Value | int) -> ir.Value:
        """a + b of int64 or of floats."""
        if a.type == WORD:
            return self.builder.add(a, self.word(b))
        return self.builder.fadd(a, self.word(b))

    def mul(self, a: ir.Value, b: ir.Value | int) -> ir.Value:
        """a * b of int64 or of floats."""
        if a.type == WORD:
            return self.builder.mul(a, self.word(b))
        return self.builder.fmul(a, self.word(b))

    def pointer(self, address: ir.Value) -> ir.Value:
        """The pointer an int64 stands for."""
        return self.builder.inttoptr(address, POINTER)

    def move(self, pointer: ir.Value, offset: ir.Value | int) -> ir.Value:
        """The pointer `offset` bytes further."""
        if isinstance(offset, int) and not offset:
            return pointer
        return self.builder.gep(pointer, [self.word(offset)], source_etype=BYTE)

    def local(self, n_bytes: int, alignment: int) -> ir.Value:
        """A pointer to memory of the microkernel's own, until it returns; to be asked for first."""
        memory = self.builder.alloca(ir.ArrayType(BYTE, n_bytes))
        memory.align = alignment
        return self.pointer(self.builder.ptrtoint(memory, WORD))

    def load(
        self, pointer: ir.Value, offset: ir.Value | int = 0, kind: ir.Type | None = None
    ) -> ir.Value:
        """A vector of float32, or what `kind` says, at any address that 4 divides."""
        value = self.builder.load(self.move(pointer, offset), typ=kind or self.vector)
        value.align = 8 if kind is WORD else 4
        return value

    def store(self, value: ir.Value, pointer: ir.Value, offset: ir.Value | int = 0) -> None:
        """Writes a vector of float32, or a number, at any address that 4 divides."""
        self.builder.store(value, self.move(pointer, offset)).align = 4

    def load_pointer(self, pointer: ir.Value, offset: ir.Value | int = 0) -> ir.Value:
        """The pointer that lies in memory as an int64."""
        return self.pointer(self.load(pointer, offset, WORD))

    def zero(self) -> ir.Value:
        """A vector of zeros."""
        return ir.Constant(self.vector, None)

    def repeat(self, value: ir.Value | float) -> ir.Value:
        """A vector that holds one number in every lane."""
        if isinstance(value, int | float):
            return ir.Constant(self.vector, [value] * self.width)
        kind = ir.VectorType(value.type, self.width)
        undefined = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(undefined, value, INT(0))
        order = ir.Constant(ir.VectorType(INT, self.width), [0] * self.width)
        return self.builder.shuffle_vector(first, undefined, order)

    def call(self, name: str, returns: ir.Type, arguments: Sequence[ir.Value]) -> ir.Value:
        """The result of one of LLVM's intrinsic functions."""
        kind = ir.FunctionType(returns, [a.type for a in arguments])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, arguments)

    def fma(self, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """a * b + c, rounded once where the processor can."""
        if not self.simd.fused:
            return self.builder.fadd(self.builder.fmul(a, b), c)
        name = f"v{self.width}f32" if a.type == self.vector else "f64"
        return self.call(f"llvm.fma.{name}", a.type, [a, b, c])

    def clamp(self, value: ir.Value, low: ir.Value, high: ir.Value) -> ir.Value:
        """`value` within [low, high]; nan stays nan."""
        builder = self.builder
        value = builder.select(builder.fcmp_ordered("<", value, low), low, value)
        return builder.select(builder.fcmp_ordered(">", value, high), high, value)

    def sum(self, value: ir.Value) -> ir.Value:
        """The sum over a vector's lanes, always in the same order: halves upon halves."""
        builder, n = self.builder, self.width
        while n > 1:
            n //= 2
            order = [*range(n, 2 * n), *[0] * (self.width - n)]
            lanes = ir.Constant(ir.VectorType(INT, self.width), order)
            upper = builder.shuffle_vector(value, ir.Constant(self.vector, ir.Undefined), lanes)
            value = builder.fadd(value, upper)
        return builder.extract_element(value, INT(0))

    def mask(self, count: ir.Value) -> ir.Value:
        """True in the first `count` lanes."""
        lanes = ir.Constant(ir.VectorType(INT, self.width), list(range(self.width)))
        limit = self.repeat(self.builder.trunc(count, INT))
        return self.builder.icmp_signed("<", lanes, limit)

    def load_masked(
        self, pointer: ir.Value, mask: ir.Value, offset: ir.Value | int = 0
    ) -> ir.Value:
        """A vector of which only the lanes of `mask` are read; the others are 0."""
        name = f"llvm.masked.load.v{self.width}f32.p0"
        arguments = [self.move(pointer, offset), INT(4), mask, self.zero()]
        return self.call(name, self.vector, arguments)

    def store_masked(
        self, value: ir.Value, pointer: ir.Value, mask: ir.Value, offset: ir.Value | int = 0
    ) -> None:
        """Writes the lanes of `mask` only."""
        name = f"llvm.masked.store.v{self.width}f32.p0"
        self.call(name, ir.VoidType(), [value, self.move(pointer, offset), INT(4), mask])

    def prefetch(self, pointer: ir.Value) -> None:
        """Asks for the cache line at `pointer` to be brought near."""
        self.call("llvm.prefetch.p0", ir.VoidType(), [pointer, INT(0), INT(2), INT(1)])

    @contextmanager
    def loop(
        self,
        start: ir.Value | int,
        stop: ir.Value | int,
        step: ir.Value | int,
        carried: Sequence[ir.Value] = (),
    ) -> Generator[tuple[ir.Value, list[ir.Value]], None, None]:
        """The instructions written inside run for start, start + step, ... below `stop`.

        Gives (position, values): `values` is a list of what the turns hand on, `carried` at first;
        what it holds at the end of the block goes to the next turn. `results` of the writer has
        the values after the loop, `position` where it ended.
        """
        builder, before = self.builder, self.builder.block
        head, body, after = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        position = builder.phi(WORD)
        position.add_incoming(self.word(start), before)
        phis: list[ir.PhiInstr] = []
        for value in carried:
            phis.append(builder.phi(value.type))
            phis[-1].add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", position, self.word(stop)), body, after)
        builder.position_at_end(body)
        values: list[ir.Value] = [*phis]
        yield position, values
        following = self.add(position, step)
        position.add_incoming(following, builder.block)
        for phi, value in zip(phis, values, strict=True):
            phi.add_incoming(value, builder.block)
        builder.branch(head)
        builder.position_at_end(after)
        self.results, self.position = phis, position
