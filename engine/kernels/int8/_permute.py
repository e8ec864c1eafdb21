"""Tables of bytes in registers."""

from llvmlite import ir

from ...build.vector import BYTE

LOOKUP_BYTES = 64  # bytes looked up at once
VALUES = 256


def look_up_vectors(w, quarters, index):
    """The entries of a table, four vectors of LOOKUP_BYTES bytes, that `index` says."""
    name, kind = "llvm.x86.avx512.vpermi2var.qi.512", index.type
    low, high = (w.call(name, kind, [a, index, b]) for a, b in (quarters[:2], quarters[2:]))
    return w.builder.select(w.builder.icmp_signed("<", index, ir.Constant(kind, None)), high, low)


def tail_mask(w, count):
    """True in the first `count` of LOOKUP_BYTES lanes."""
    lanes = ir.Constant(ir.VectorType(BYTE, LOOKUP_BYTES), list(range(LOOKUP_BYTES)))
    return w.builder.icmp_signed(
        "<", lanes, w.splat(w.builder.trunc(count, BYTE), BYTE, LOOKUP_BYTES)
    )
