"""Rows times a Hadamard matrix."""

from __future__ import annotations

from ...build.kernel import kernel


@kernel("x:float32[rows,n] out:float32[rows,n] factor:float32")
def rotate(x, out, factor, first, last, fault):
    """out[r] = H x[r] * factor, where H is the Hadamard matrix of n rows, a power of 2.

    Sums and differences of pairs, ever further apart, all of one distance before the next.
    """
    n = x.shape[1]
    for r in range(first, last):
        for i in range(n):
            out[r, i] = x[r, i]
        half = 1
        while half < n:
            start = 0
            while start < n:
                for i in range(start, start + half):
                    a = out[r, i]
                    b = out[r, i + half]
                    out[r, i] = a + b
                    out[r, i + half] = a - b
                start += 2 * half
            half *= 2
        for i in range(n):
            out[r, i] = out[r, i] * factor
