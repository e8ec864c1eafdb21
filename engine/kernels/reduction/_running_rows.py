"""Running sums along many rows of float32 at once."""

from llvmlite import ir
from numba import types

from ...build.kernel import microkernel
from ...build.vector import DOUBLE, WORD, Writer
from .._transposed import transposed


@microkernel(types.void(*[types.int64] * 5))
def running_rows(builder, simd, x, out, n, rows, exclusive):
    """out[r, i] = sum of x[r, j] over j <= i, or j < i if `exclusive`, of `n` in each row.

    Sums are float64, one after another. `rows` is a multiple of `width`, and as many go side by
    side: squares of them are turned, so that a vector holds what is below one another.
    """
    w, kind = Writer(builder, simd), ir.VectorType(DOUBLE, simd.width)
    x, out, pitch = w.pointer(x), w.pointer(out), w.mul(n, 4)
    is_exclusive = builder.icmp_signed("!=", exclusive, WORD(0))
    vector_end = builder.and_(n, WORD(-w.width))

    def square(source, target, total, mask):
        """The running sums of a square of columns; gives the sums after it."""
        lines = []
        for _ in range(w.width):
            lines.append(w.load(source) if mask is None else w.load_masked(source, mask))
            source = w.move(source, pitch)
        sums = []
        for _, column in sorted(transposed(builder, lines), key=lambda pair: pair[0]):
            after = builder.fadd(total, builder.fpext(column, kind))
            value = builder.select(is_exclusive, total, after)
            sums.append(builder.fptrunc(value, w.vector))
            total = after
        for _, line in sorted(transposed(builder, sums), key=lambda pair: pair[0]):
            if mask is None:
                w.store(line, target)
            else:
                w.store_masked(line, target, mask)
            target = w.move(target, pitch)
        return total

    with w.loop(0, rows, w.width, [x, out]) as (_, pointers):
        source, target = pointers
        with w.loop(0, vector_end, w.width, [ir.Constant(kind, None)]) as (i, carried):
            at = w.mul(i, 4)
            carried[0] = square(w.move(source, at), w.move(target, at), carried[0], None)
        total, n_columns = w.results[0], builder.sub(n, vector_end)
        with builder.if_then(builder.icmp_signed(">", n_columns, WORD(0))):
            at = w.mul(vector_end, 4)
            square(w.move(source, at), w.move(target, at), total, w.mask(n_columns))
        step = w.mul(pitch, w.width)
        pointers[:] = [w.move(source, step), w.move(target, step)]
