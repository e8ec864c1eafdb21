"""Which instruction comes after a branch."""

from ... import abi
from ...build.kernel import inline
from ._memory import byte, get, put


@inline
def destination(place, position):
    """The position after the branch at `position`, whose words are at `place`; counts its jumps."""
    record = get(place, abi.RECORD)
    flag = get(record, abi.FLAG)
    if flag != 0 and byte(flag) != 0:
        return position + 1
    put(place, abi.NANOSECONDS, get(place, abi.NANOSECONDS) + 1)
    return get(record, abi.TARGET)
