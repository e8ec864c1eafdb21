"""Which row comes after a jump."""

from .. import words
from ..kernel import inline
from ._memory import byte, get, put


@inline
def destination(place, row):
    """The row after the jump `row`, whose words are at `place`; counts how often it jumps."""
    record = get(place, words.RECORD)
    flag = get(record, words.FLAG)
    if flag != 0 and byte(flag) != 0:
        return row + 1
    put(place, words.NANOSECONDS, get(place, words.NANOSECONDS) + 1)
    return get(record, words.TARGET)
