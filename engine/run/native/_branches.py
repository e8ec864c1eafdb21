"""Which instruction comes after a branch."""

from ... import abi
from ...build.kernel import inline
from ._memory import byte, get, put


@inline
def destination(instruction, position):
    """The position after that of a branch, whose words are at `instruction`; counts its jumps."""
    record = get(instruction, abi.RECORD)
    flag = get(record, abi.FLAG)
    if flag != 0 and byte(flag) != 0:
        return position + 1
    put(instruction, abi.NANOSECONDS, get(instruction, abi.NANOSECONDS) + 1)
    return get(record, abi.TARGET)
