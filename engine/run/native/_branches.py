"""Which row comes after a jump."""

from ... import abi
from ...build.kernel import inline
from ._memory import byte, get, put


@inline
def destination(place, row):
    """The row after the jump `row`, whose words are at `place`; counts how often it jumps."""
    record = get(place, abi.RECORD)
    flag = get(record, abi.FLAG)
    if flag != 0 and byte(flag) != 0:
        return row + 1
    put(place, abi.NANOSECONDS, get(place, abi.NANOSECONDS) + 1)
    return get(record, abi.TARGET)
