"""The walker of plan tables: runs rows one after the other, or some together, without Python."""

from ... import abi
from ...build.kernel import inline, native
from ._branches import destination
from ._memory import call, call_with, get, nanoseconds, put

DATA = 2  # where a numpy array has the address of its elements


@native(1)
def walk(order):
    """Runs the rows of a table from the order's cursor on; gives 1 when all are done.

    Comes back before that, with the cursor to go on with, after the chunk that reported a fault
    (the cursor is ~cursor then) and after the first that ends when the budget is spent. Adds to
    each row's nanoseconds what it took by the order's clock.
    """
    table, stop = get(order, abi.TABLE), get(order, abi.STOP)
    faults, clock = get(order, abi.FAULTS), get(order, abi.CLOCK)
    cursor = get(order, abi.CURSOR)
    row, chunk = cursor >> abi.CHUNK_BITS, cursor & abi.CHUNK_MASK
    before = nanoseconds(clock)
    end = before + get(order, abi.BUDGET)
    while row < stop:
        place = table + row * abi.ROW_WORDS * abi.WORD
        entry, record = get(place, abi.ENTRY), get(place, abi.RECORD)
        chunks = get(place, abi.CHUNKS)
        while chunk < chunks:
            fault = faults + chunk * abi.FAULT_WORDS * abi.WORD
            put(fault, 0, 0)
            call(entry, chunk, chunks, record)
            now = nanoseconds(clock)
            put(place, abi.NANOSECONDS, get(place, abi.NANOSECONDS) + now - before)
            before = now
            chunk += 1
            failed = get(fault, 0) != 0
            if failed or now >= end:
                cursor = row << abi.CHUNK_BITS | chunk
                if chunk == chunks:
                    cursor = (row + 1) << abi.CHUNK_BITS
                put(order, abi.CURSOR, ~cursor if failed else cursor)
                if failed or cursor < stop << abi.CHUNK_BITS:
                    return 0
        chunk = 0
        if chunks > 0:
            row += 1
            continue
        following = destination(place, row)
        if following < row:
            before = nanoseconds(clock)
            if before >= end:
                put(order, abi.CURSOR, following << abi.CHUNK_BITS)
                return 0
        row = following
    return 1


@native(3)
def chain(ith, nth, record):
    """A kernel whose items are pieces of other rows: does each row's piece before the next piece.

    Its rows report no faults. Gives what nobody reads.
    """
    pieces, members = get(record, abi.PIECES), get(record, abi.MEMBERS)
    piece, last = pieces * ith // nth, pieces * (ith + 1) // nth
    while piece < last:
        place, member = record + abi.FIRST_MEMBER * abi.WORD, 0
        while member < members:
            call(get(place, 0), piece, pieces, get(place, 1))
            place += 2 * abi.WORD
            member += 1
        piece += 1
    return piece


@inline
def _enter(order):
    """Runs an order while Python's other threads run; gives Python's True or False.

    The functions of Python it needs stand in the order, so that this code is the same for all
    versions of Python.
    """
    thread = call_with(get(order, abi.SAVE_THREAD), 0)
    done = call_with(get(order, abi.RUN), order)
    call_with(get(order, abi.RESTORE_THREAD), thread)
    answer = get(order, abi.TRUE) if done else get(order, abi.FALSE)
    call_with(get(order, abi.NEW_REFERENCE), answer)
    return answer


@native(2)
def begin(instance, arguments):
    """Runs an order from its front: PyObject *begin(PyObject *, PyObject *) for Python to call.

    `instance` is the order, a numpy array.
    """
    order = get(instance, DATA)
    put(order, abi.CURSOR, 0)
    return _enter(order)


@native(2)
def resume(instance, arguments):
    """Runs an order from its cursor on, as `begin` does from its front."""
    return _enter(get(instance, DATA))
