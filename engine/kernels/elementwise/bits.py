"""Logic on the bits of two operands (_broadcast.py)."""

from ...build.kernel import WIDTHS, inline, kernel
from ._broadcast import PLAIN, plain, strided


@inline
def both_of(a, b):
    """a & b"""
    return a & b


@inline
def either_of(a, b):
    """a | b"""
    return a | b


@inline
def differ_of(a, b):
    """a ^ b"""
    return a ^ b


def shift_right_of(max_shift):
    """a shifted right by b, held in [0, max_shift]; the sign comes in from the left."""

    @inline
    def shifted(a, b):
        return a >> min(max(b, 0), max_shift)

    return shifted


kernel(PLAIN, name="both", T=("uint8",))(plain(both_of))
kernel(PLAIN, name="either", T=("uint8",))(plain(either_of))
kernel(PLAIN, name="differ", T=WIDTHS)(plain(differ_of))
for _bits in (8, 16, 32):
    kernel(PLAIN, name=f"shift_right_{_bits}", T=(f"int{_bits}", f"uint{_bits}"))(
        strided(shift_right_of(_bits - 1))
    )
