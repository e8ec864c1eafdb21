"""Windows over any dimensions, each folded into one element."""

from ...build.kernel import inline, kernel

_INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
NUMBERS = (*_INTEGERS, "float32", "float64")

FOLDS = {
    "add": inline(lambda a, b: a + b),
    "multiply": inline(lambda a, b: a * b),
    "minimum": inline(lambda a, b: a if a <= b else b),
    "maximum": inline(lambda a, b: a if a >= b else b),
    "all": inline(lambda a, b: 1 if a != 0 and b != 0 else 0),
    "any": inline(lambda a, b: 1 if a != 0 or b != 0 else 0),
}


def folded(fold):
    """out[n, i] = fold(start, x[rows[n] + i * stride + taps[0]], ... for each of the taps)"""

    def run(x, start, rows, taps, out, stride, first, last, fault):
        for n in range(first, last):
            for i in range(out.shape[1]):
                origin = rows[n] + i * stride
                out[n, i] = start[0]
                for k in range(taps.size):
                    out[n, i] = fold(out[n, i], x[origin + taps[k]])

    return run


for _name, _fold in FOLDS.items():
    kernel("x:T[n] start:T[1] rows:int64[m] taps:int64[k] out:T[m,*] stride:i", T=NUMBERS,
           name=_name)(folded(_fold))  # fmt: skip
