"""Runs the table of a plan, instruction by instruction or fused, without Python."""

from ... import abi
from ...build.kernel import inline, native
from ._branches import destination
from ._memory import call, call_with, get, nanoseconds, put

DATA = 2  # where a numpy array has the address of its elements


@native(1)
def run_plan(context):
    """Runs the instructions of a table from the context's cursor on; gives 1 when all are done.

    Comes back before that, with the cursor to go on with, after the chunk that reported a fault
    (the cursor is ~cursor then) and after the first that ends when the budget is spent. Adds to
    each instruction's nanoseconds what it took by the context's clock.
    """
    table, stop = get(context, abi.TABLE), get(context, abi.STOP)
    faults, clock = get(context, abi.FAULTS), get(context, abi.CLOCK)
    cursor = get(context, abi.CURSOR)
    position, chunk = cursor >> abi.CHUNK_BITS, cursor & abi.CHUNK_MASK
    before = nanoseconds(clock)
    end = before + get(context, abi.BUDGET)
    while position < stop:
        instruction = table + position * abi.INSTRUCTION_WORDS * abi.WORD
        entry, record = get(instruction, abi.ENTRY), get(instruction, abi.RECORD)
        chunks = get(instruction, abi.CHUNKS)
        while chunk < chunks:
            fault = faults + chunk * abi.FAULT_WORDS * abi.WORD
            put(fault, 0, 0)
            call(entry, chunk, chunks, record)
            now = nanoseconds(clock)
            put(instruction, abi.NANOSECONDS, get(instruction, abi.NANOSECONDS) + now - before)
            before = now
            chunk += 1
            failed = get(fault, 0) != 0
            if failed or now >= end:
                cursor = position << abi.CHUNK_BITS | chunk
                if chunk == chunks:
                    cursor = (position + 1) << abi.CHUNK_BITS
                put(context, abi.CURSOR, ~cursor if failed else cursor)
                if failed or cursor < stop << abi.CHUNK_BITS:
                    return 0
        chunk = 0
        if chunks > 0:
            position += 1
            continue
        following = destination(instruction, position)
        if following < position:
            before = nanoseconds(clock)
            if before >= end:
                put(context, abi.CURSOR, following << abi.CHUNK_BITS)
                return 0
        position = following
    return 1


@native(3)
def fusion(ith, nth, record):
    """A kernel whose items are blocks of fused instructions: a block of each before the next block.

    Its instructions report no faults. Gives what nobody reads.
    """
    blocks, members = get(record, abi.BLOCKS), get(record, abi.MEMBERS)
    block, last = blocks * ith // nth, blocks * (ith + 1) // nth
    while block < last:
        member_address, member = record + abi.FIRST_MEMBER * abi.WORD, 0
        while member < members:
            call(get(member_address, 0), block, blocks, get(member_address, 1))
            member_address += 2 * abi.WORD
            member += 1
        block += 1
    return block


@inline
def _enter(context):
    """Runs its plan while Python's other threads run; gives Python's True or False.

    The functions of Python it needs stand in the context, so that this code is the same for all
    versions of Python.
    """
    thread = call_with(get(context, abi.SAVE_THREAD), 0)
    finished = call_with(get(context, abi.RUN), context)
    call_with(get(context, abi.RESTORE_THREAD), thread)
    result = get(context, abi.TRUE) if finished else get(context, abi.FALSE)
    call_with(get(context, abi.NEW_REFERENCE), result)
    return result


@native(2)
def begin(instance, arguments):
    """Runs a plan from its front: PyObject *begin(PyObject *, PyObject *) for Python to call.

    `instance` is the run context, a numpy array. Gives False at once where no runs are left.
    """
    context = get(instance, DATA)
    runs = get(context, abi.RUNS)
    if runs == 0:
        put(context, abi.CURSOR, abi.NOT_BEGUN)
        result = get(context, abi.FALSE)
        call_with(get(context, abi.NEW_REFERENCE), result)
        return result
    put(context, abi.RUNS, runs - 1)
    put(context, abi.CURSOR, 0)
    return _enter(context)


@native(2)
def resume(instance, arguments):
    """Runs a plan from its cursor on, as `begin` does from its front."""
    return _enter(get(instance, DATA))
