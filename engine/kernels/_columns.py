"""Tables of the addresses of input columns."""

from llvmlite import ir
from numba import types

from ..kernel import piece
from ..vector import INT, POINTER, WORD

COLUMNS = 16  # entries of a table
TABLE = 8 * COLUMNS  # bytes of one


@piece(types.void(*[types.int64] * 7), inline=True)
def point_columns(builder, lanes, table, row, first, step, width, pitch, nothing):
    """Fills a table: columns first, first + step, ... of the input row at `row`."""
    kind = ir.VectorType(WORD, COLUMNS)
    whole, order = ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(INT, COLUMNS), None)

    def repeat(value):
        one = builder.insert_element(whole, value, INT(0))
        return builder.shuffle_vector(one, whole, order)

    places = ir.Constant(kind, list(range(COLUMNS)))
    columns = builder.add(repeat(first), builder.mul(places, repeat(step)))
    inside = builder.icmp_unsigned("<", columns, repeat(width))
    found = builder.add(repeat(row), builder.mul(columns, repeat(pitch)))
    value = builder.select(inside, found, repeat(nothing))
    builder.store(value, builder.inttoptr(table, POINTER)).align = 8
