"""Logic on the bits of two operands (_broadcast.py)."""

from ...build.kernel import WIDTHS, inline, kernel
from ._broadcast import PLAIN, plain, strided


@inline
def bitwise_and_of(a, b):
    """a & b"""
    return a & b


@inline
def bitwise_or_of(a, b):
    """a | b"""
    return a | b


@inline
def bitwise_xor_of(a, b):
    """a ^ b"""
    return a ^ b


def shift_right_of(max_shift):
    """a shifted right by b, held in [0, max_shift]; the sign comes in from the left."""

    @inline
    def shifted(a, b):
        return a >> min(max(b, 0), max_shift)

    return shifted


def shift_left_of(bits):
    """a shifted left by b; 0 where b is negative or leaves none of `bits`."""

    @inline
    def shifted(a, b):
        return a << b if 0 <= b < bits else a - a

    return shifted


kernel(PLAIN, name="bitwise_and", T=("uint8",))(plain(bitwise_and_of))
kernel(PLAIN, name="bitwise_or", T=("uint8",))(plain(bitwise_or_of))
kernel(PLAIN, name="bitwise_xor", T=WIDTHS)(plain(bitwise_xor_of))
for _bits in (8, 16, 32):
    kernel(PLAIN, name=f"shift_right_{_bits}", T=(f"int{_bits}", f"uint{_bits}"))(
        strided(shift_right_of(_bits - 1))
    )
kernel(PLAIN, name="shift_left_32", T=("int32", "uint32"))(strided(shift_left_of(32)))
