"""Functions of one byte, by a table of all its values."""

from llvmlite import ir
from numba import types

from ..kernel import address, kernel, piece
from ..vector import BYTE, WORD
from ._integers import Integers
from ._permute import VALUES, WHOLE, found_in, tail_mask


@piece(types.void(*[types.int64] * 4))
def look_up_bytes(builder, lanes, x, table, out, count):
    """out[i] = table[x[i]]"""
    w = Integers(builder, lanes)
    x, table, out = (w.pointer(p) for p in (x, table, out))
    if not lanes.permutes:
        with w.loop(0, count, 1) as (at, _):
            index = builder.zext(w.read(x, at, BYTE), WORD)
            w.write(w.read(table, index, BYTE), out, at)
        return
    kind = ir.VectorType(BYTE, WHOLE)
    quarters = [w.read(table, start, kind) for start in range(0, VALUES, WHOLE)]
    whole = builder.and_(count, WORD(-WHOLE))
    with w.loop(0, whole, WHOLE) as (at, _):
        w.write(found_in(w, quarters, w.read(x, at, kind)), out, at)
    mask = tail_mask(w, builder.sub(count, whole))
    index = w.read_some(w.move(x, whole), kind, mask)
    w.write_some(found_in(w, quarters, index), w.move(out, whole), mask)


@kernel("x:uint8[1] table:uint8[1] out:uint8[1]")
def look_up(x, table, out, first, last, fault):
    """out = table[x]"""
    look_up_bytes(address(x) + first, address(table), address(out) + first, last - first)


@kernel("x:uint16[1] table:uint16[1] out:uint16[1]")
def look_up_shorts(x, table, out, first, last, fault):
    """out = table[x]"""
    for i in range(first, last):
        out[i] = table[x[i]]
