"""The walker of plan tables for several threads: a leader and its workers, together a crew.

A row of several chunks is offered to all: its fields are written, then the claim
`number << CHUNK_BITS | chunks left` is published, number one higher than before. Whoever swaps the
claim for one with a chunk less runs that chunk. Whoever ends the last chunk of a row goes on: it
runs the rows of one chunk by itself and offers the next row of several, or ends the run. So a
thread that is late or asleep delays nobody, unless it holds a chunk.

A thread that was late may read the fields of a row while they are being replaced. Its swap fails
then: that only happens once no chunk is left, and no claim with chunks left ever comes back. At
the end of a run nothing of the program is read any more.
"""

from .. import words
from ..kernel import inline, native
from ..target import FUTEX
from ._jumps import destination
from ._memory import (
    add,
    call,
    get,
    give_way,
    nanoseconds,
    pause,
    publish,
    put,
    read,
    sleep,
    swap,
    wake,
)


@native(1)
def lead(order):
    """Does with a crew what `walk` of launch.py does alone."""
    crew = get(order, words.CREW)
    clock = get(order, words.CLOCK)
    now = nanoseconds(clock)
    put(crew, words.ORDER, order)
    put(crew, words.CHUNK_FAULTS, get(order, words.FAULTS))
    put(crew, words.RUN_CLOCK, clock)
    put(crew, words.RUN_END, now + get(order, words.BUDGET))
    put(crew, words.FAILED, 0)
    cursor = get(order, words.CURSOR)
    _go_on(crew, cursor >> words.CHUNK_BITS, cursor & words.CHUNK_MASK, now)
    while True:
        claim = read(crew, words.CLAIM)
        if claim & words.CHUNK_MASK == words.NOTHING:
            return get(crew, words.RESULT)
        if _run_chunk(crew, claim) == 0:
            _wait(crew, claim, 1)


@native(1)
def serve(crew):
    """Runs chunks for a crew until it is halted: gives 0.

    Where threads cannot sleep here, gives 1 when nothing has come for a while.
    """
    while True:
        claim = read(crew, words.CLAIM)
        if _run_chunk(crew, claim) == 0 and _wait(crew, claim, 0) == 0:
            return 1
        if read(crew, words.HALTED):
            return 0


@native(1)
def halt(crew):
    """Lets all workers of a crew return."""
    publish(crew, words.HALTED, 1)
    return _tell(crew)


@inline
def _run_chunk(crew, claim):
    """Claims and runs the next chunk of the row on offer; gives 0 when all are claimed."""
    left = claim & words.CHUNK_MASK
    if left == 0 or left == words.NOTHING:
        return 0
    entry, record = get(crew, words.OFFER_ENTRY), get(crew, words.OFFER_RECORD)
    chunks = get(crew, words.OFFER_CHUNKS)
    if swap(crew, words.CLAIM, claim, claim - 1) == 0:
        return 1
    chunk = chunks - left
    fault = get(crew, words.CHUNK_FAULTS) + chunk * words.FAULT_WORDS * words.WORD
    put(fault, 0, 0)
    call(entry, chunk, chunks, record)
    now = nanoseconds(get(crew, words.RUN_CLOCK))
    ended = 1
    failed = get(fault, 0) != 0
    if failed:
        put(crew, words.FAILED, 1)
    if failed or now >= get(crew, words.RUN_END):
        ended += _withdraw(crew, chunks)
    if add(crew, words.DONE, ended) + ended == chunks:
        _end_row(crew, chunks, now)
    return 1


@inline
def _withdraw(crew, chunks):
    """Takes what is left of the row off offer; gives how many chunks that are."""
    while True:
        claim = read(crew, words.CLAIM)
        left = claim & words.CHUNK_MASK
        if left == 0:
            return 0
        if swap(crew, words.CLAIM, claim, claim - left):
            put(crew, words.REST, chunks - left)
            return left


@inline
def _end_row(crew, chunks, now):
    """Goes on after the last chunk of a row, in the only thread that has something to do."""
    order = get(crew, words.ORDER)
    row, rest = get(crew, words.OFFER_ROW), get(crew, words.REST)
    place = get(order, words.TABLE) + row * words.ROW_WORDS * words.WORD
    took = now - get(crew, words.OFFER_START)
    put(place, words.NANOSECONDS, get(place, words.NANOSECONDS) + took)
    if get(crew, words.FAILED) == 0 and rest == chunks and now < get(crew, words.RUN_END):
        _go_on(crew, row + 1, 0, now)
    elif rest == chunks:
        _end_run(crew, (row + 1) << words.CHUNK_BITS)
    else:
        _end_run(crew, row << words.CHUNK_BITS | rest)


@inline
def _go_on(crew, row, chunk, now):
    """Runs rows of one chunk until there is one to offer, or ends the run."""
    order = get(crew, words.ORDER)
    stop, faults = get(order, words.STOP), get(order, words.FAULTS)
    place = get(order, words.TABLE) + row * words.ROW_WORDS * words.WORD
    while row < stop:
        entry, record = get(place, words.ENTRY), get(place, words.RECORD)
        chunks = get(place, words.CHUNKS)
        if chunks == 0:
            following = destination(place, row)
            place += (following - row) * words.ROW_WORDS * words.WORD
            is_back = following < row
            row = following
            if is_back:
                now = nanoseconds(get(order, words.CLOCK))
                if now >= get(crew, words.RUN_END):
                    break
            continue
        if chunks > 1:
            put(crew, words.OFFER_ENTRY, entry)
            put(crew, words.OFFER_RECORD, record)
            put(crew, words.OFFER_CHUNKS, chunks)
            put(crew, words.OFFER_ROW, row)
            put(crew, words.OFFER_START, now)
            put(crew, words.REST, chunks)
            put(crew, words.DONE, chunk)
            _offer(crew, chunks - chunk)
            return
        put(faults, 0, 0)
        call(entry, 0, 1, record)
        before = now
        now = nanoseconds(get(order, words.CLOCK))
        put(place, words.NANOSECONDS, get(place, words.NANOSECONDS) + now - before)
        row += 1
        place += words.ROW_WORDS * words.WORD
        if get(faults, 0) != 0:
            put(crew, words.FAILED, 1)
            break
        if now >= get(crew, words.RUN_END):
            break
    _end_run(crew, row << words.CHUNK_BITS)


@inline
def _end_run(crew, cursor):
    """Tells the leader where the run ended; what the order points to may be gone after."""
    order = get(crew, words.ORDER)
    failed = get(crew, words.FAILED)
    finished = failed == 0 and cursor == get(order, words.STOP) << words.CHUNK_BITS
    put(order, words.CURSOR, ~cursor if failed else cursor)
    put(crew, words.RESULT, 1 if finished else 0)
    _offer(crew, words.NOTHING)


@inline
def _offer(crew, left):
    number = (get(crew, words.CLAIM) >> words.CHUNK_BITS) + 1
    publish(crew, words.CLAIM, number << words.CHUNK_BITS | left)
    _tell(crew)


@inline
def _tell(crew):
    """Wakes who sleeps; gives how often that was done before."""
    epoch = add(crew, words.EPOCH, 1)
    if read(crew, words.SLEEPERS) > 0:
        wake(crew, words.EPOCH)
    return epoch


@inline
def _wait(crew, claim, leads):
    """Waits for another row or the end; gives 0 when the thread should sleep and cannot."""
    turns, patience = 0, get(crew, words.PATIENCE)
    while True:
        epoch = read(crew, words.EPOCH)
        if (read(crew, words.CLAIM) ^ claim) >> words.CHUNK_BITS:
            return 1
        if leads == 0 and read(crew, words.HALTED):
            return 1
        turns += 1
        if turns < patience:
            pause()
        elif FUTEX and get(crew, words.PARKS):
            add(crew, words.SLEEPERS, 1)
            sleep(crew, words.EPOCH, epoch)
            add(crew, words.SLEEPERS, -1)
        elif leads:
            give_way()
        else:
            return 0
