"""Moving and filling whole buffers."""

from ...build.kernel import WIDTHS, WIDTHS16, address, kernel


@kernel("x:T1 out~x:T1", T=WIDTHS16)
def copy(x, out, first, last, fault):
    """out = x; nothing has to be done where the planner lets `out` lie on x."""
    if address(x) == address(out):
        return
    for i in range(first, last):
        out[i] = x[i]


@kernel("value:T1 out:T1", T=WIDTHS)
def fill(value, out, first, last, fault):
    """out[:] = value[0]"""
    for i in range(first, last):
        out[i] = value[0]
