"""Matrices turned in vectors."""

from llvmlite import ir

from ..build.vector import INT

_LANE = 16  # bytes of a vector that are moved among themselves in one step


def transposed(builder, rows):
    """(column, vector) for the columns of a matrix of `rows`, as many as it has columns.

    Vectors are of `len(rows)` elements, or of more: then the elements behind are those of further
    rows, and so in the results. Each lane of 16 bytes is turned by itself, then the lanes.
    """
    kind = rows[0].type
    in_lane = _LANE // (4 if kind.element == ir.FloatType() else kind.element.width // 8)
    groups = [rows[start : start + in_lane] for start in range(0, len(rows), in_lane)]
    turned = [_interleaved(builder, lines, kind.count, in_lane, 1) for lines in groups]
    for column, lines in enumerate(zip(*turned, strict=True)):
        for lane, line in enumerate(_interleaved(builder, lines, kind.count, len(groups), in_lane)):
            yield lane * in_lane + column, line


def _interleaved(builder, lines, n, count, unit):
    """`count` vectors of `n` elements turned, where as many units of elements are side by side.

    Those of the lower and the upper half of the vectors are interleaved, as often as that halves
    their number.
    """
    half = count // 2
    for _ in range(count.bit_length() - 1):
        pairs, lines = zip(lines[:half], lines[half:], strict=True), []
        for pair in pairs:
            for start in (0, half):
                order = [
                    begin + (start + i // 2) * unit + n * (i % 2) + k
                    for begin in range(0, n, count * unit)
                    for i in range(count)
                    for k in range(unit)
                ]
                order = ir.Constant(ir.VectorType(INT, n), order)
                lines.append(builder.shuffle_vector(*pair, order))
    return lines
