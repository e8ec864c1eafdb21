"""Running sums, one after another."""

from ...build.kernel import inline

_CHAINS = 4  # sums along rows at a time
RUNNING = "x:T[outer,n,inner] out:T[outer,n,inner] scratch:{}[outer,inner] exclusive:i reverse:i"


def running(accumulator):
    """The kernel out[o, r, j] = sum of x[o, s, j] over s <= r, summed in `scratch`.

    `exclusive` means s < r; `reverse` counts r from the end.
    """

    def cumulate(x, out, scratch, exclusive, reverse, first, last, fault):
        n = x.shape[1]
        while x.shape[2] == 1 and last - first >= _CHAINS:
            _along_rows(x[first:], out[first:], accumulator(0), exclusive, reverse)
            first += _CHAINS
        for o in range(first, last):
            if x.shape[2] == 1:
                _along(x[o], out[o], accumulator(0), exclusive, reverse)
                continue
            totals = scratch[o]
            for j in range(totals.size):
                totals[j] = accumulator(0)
            for i in range(n):
                r = n - 1 - i if reverse else i
                row, target = x[o, r], out[o, r]
                if exclusive:
                    for j in range(totals.size):
                        target[j] = totals[j]
                        totals[j] += accumulator(row[j])
                else:
                    for j in range(totals.size):
                        totals[j] += accumulator(row[j])
                        target[j] = totals[j]

    return cumulate


@inline
def _along(x, out, running_sum, exclusive, reverse):
    """The same of one column."""
    n = x.shape[0]
    for i in range(n):
        r = n - 1 - i if reverse else i
        after = running_sum + x[r, 0]
        out[r, 0] = running_sum if exclusive else after
        running_sum = after


@inline
def _along_rows(x, out, zero, exclusive, reverse):
    """The same of _CHAINS columns at once: none waits for the sum of another."""
    n, a, b, c, d = x.shape[1], zero, zero, zero, zero
    for i in range(n):
        r = n - 1 - i if reverse else i
        after_a, after_b = a + x[0, r, 0], b + x[1, r, 0]
        after_c, after_d = c + x[2, r, 0], d + x[3, r, 0]
        out[0, r, 0], out[1, r, 0] = (a, b) if exclusive else (after_a, after_b)
        out[2, r, 0], out[3, r, 0] = (c, d) if exclusive else (after_c, after_d)
        a, b, c, d = after_a, after_b, after_c, after_d
