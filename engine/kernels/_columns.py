"""Tables of the addresses of input columns, and the strips of results these are for."""

from llvmlite import ir
from numba import types

from ..build.kernel import inline, microkernel
from ..build.vector import INT, POINTER, WORD

COLUMNS = 16  # entries of a table
TABLE = 8 * COLUMNS  # bytes of one
KINDS = ((1, 1), (3, 1), (3, 2), (5, 1), (5, 2))
"""Width of the filter's rows and stride of the strips."""
_MAX_RESULTS = 7
"""Results of a strip: images of 224 have rows of 7 times 2 to some power, all the way down. Under
filter rows of five, small integers take more than 16 registers then; strips of four to six that
take no more were 3 to 50 % slower, as they are not filled at the end of such rows."""


def results_of(taps, stride, most=_MAX_RESULTS):
    """How many results a strip has under filter rows `taps` wide: a table has their columns."""
    return min(most, (COLUMNS - taps) // stride + 1)


strip_width = inline(results_of)


@microkernel(types.void(*[types.int64] * 7), inline=True)
def point_columns(builder, simd, table, row, first, step, width, pitch, padding):
    """Fills a table: columns first, first + step, ... of the input row at `row`."""
    kind = ir.VectorType(WORD, COLUMNS)
    undefined = ir.Constant(kind, ir.Undefined)
    order = ir.Constant(ir.VectorType(INT, COLUMNS), None)

    def repeat(value):
        first_lane = builder.insert_element(undefined, value, INT(0))
        return builder.shuffle_vector(first_lane, undefined, order)

    lanes = ir.Constant(kind, list(range(COLUMNS)))
    columns = builder.add(repeat(first), builder.mul(lanes, repeat(step)))
    inside = builder.icmp_unsigned("<", columns, repeat(width))
    addresses = builder.add(repeat(row), builder.mul(columns, repeat(pitch)))
    value = builder.select(inside, addresses, repeat(padding))
    builder.store(value, builder.inttoptr(table, POINTER)).align = 8
