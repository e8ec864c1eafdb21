"""Runs the table of a plan by a thread pool: the thread that calls, and its workers.

The chunks of an instruction are offered to all, those of a long instruction some at a time: the
instruction's fields are written, then the offer is published, numbered one higher than before. Each
thread has chunks of its own in every offer, always in the same place, so that it finds near its
core what it wrote itself. It takes them from the front, by swapping its claim for one with a chunk
more. One that has nothing left to do waits a little, then takes what others have left, from the
back; it does not wait where the offer before ended like that, as others may not be running at all.
Whoever ends the last chunk on offer goes on: it runs the instructions of one chunk by itself
and offers what comes next, with its own first chunk claimed, or ends the run. So a thread that is
slow, late or asleep delays nobody for long, unless it holds a chunk.

A thread that was late may look at an offer that is over. It finds all its chunks claimed then, by
its number or a higher one, and so it never looks at the fields of another. At the end of a run
nothing of the program is read any more.
"""

from ... import abi
from ...build.kernel import inline, native
from ...build.target import FUTEX
from ._branches import destination
from ._memory import (
    add,
    call,
    get,
    give_way,
    nanoseconds,
    pause,
    post,
    publish,
    put,
    read,
    swap,
)
from ._stealing import LAST_STOLEN, N_STOLEN
from ._waking import sleep_until_offer, slot_of, wake_all, wake_caller

_YIELDING = 511
"""Pauses, about 10 us, before a thread that waits lets others run: one of them may be the thread it
waits for."""
_GRACE = 32
"""Pauses, about 1 us, before a thread claims what is another's, unless one is asleep or was late
for the offer before."""
_RECENT = 2
"""Numbers since that offer: the end of a run has one, too."""


@native(1)
def run_threaded(context):
    """Does with a thread pool what `run_plan` of launch.py does alone.

    When another thread runs with the pool, gives 0 at once and takes it from the context.
    """
    pool = get(context, abi.POOL)
    if pool == 0:
        return 0
    if swap(pool, abi.BUSY, 0, 1) == 0:
        put(context, abi.POOL, 0)
        return 0
    clock = get(context, abi.CLOCK)
    now = nanoseconds(clock)
    put(pool, abi.CONTEXT, context)
    put(pool, abi.CHUNK_FAULTS, get(context, abi.FAULTS))
    put(pool, abi.RUN_CLOCK, clock)
    put(pool, abi.RUN_END, now + get(context, abi.BUDGET))
    put(pool, abi.FAILED, 0)
    cursor = get(context, abi.CURSOR)
    claimed = _continue(pool, 0, cursor >> abi.CHUNK_BITS, cursor & abi.CHUNK_MASK, now)
    while True:
        offer = read(pool, abi.OFFER)
        if offer >> abi.NUMBER_BITS == 0:
            result = get(pool, abi.RESULT)
            publish(pool, abi.BUSY, 0)
            return result
        chunk = _next_chunk(pool, 0, offer, claimed)
        if chunk >= 0:
            claimed = _run_chunks(pool, 0, offer, chunk)
        else:
            _wait(pool, offer, 0)


@native(1)
def work(slot):
    """Runs chunks for a worker, by its slot in a pool, until that is halted: gives 0.

    Where threads cannot sleep here, gives 1 when nothing has come for a while.
    """
    pool, thread = get(slot, abi.POOL_OF), get(slot, abi.INDEX)
    claimed = -1
    while True:
        offer = read(pool, abi.OFFER)
        if read(pool, abi.HALTED):
            return 0
        chunk = _next_chunk(pool, thread, offer, claimed)
        if chunk >= 0:
            claimed = _run_chunks(pool, thread, offer, chunk)
        elif _wait(pool, offer, thread) == 0:
            return 1


@native(1)
def halt(pool):
    """Lets all workers of a pool return; gives 0 when it is busy."""
    if swap(pool, abi.BUSY, 0, 1) == 0:
        return 0
    publish(pool, abi.HALTED, 1)
    publish(pool, abi.OFFER, (get(pool, abi.OFFER) & abi.NUMBER_MASK) + 1)
    wake_all(pool)
    return 1


@inline
def _first_of(thread, threads, chunks):
    """The first of a thread's own among so many chunks on offer."""
    return (thread * chunks + threads - 1) // threads


@inline
def _next_chunk(pool, thread, offer, claimed):
    """A chunk on offer that is claimed for `thread`: -1 when there is none."""
    if claimed >= 0:
        return claimed
    chunk = _claim(pool, thread, offer, 0)
    if chunk >= 0:
        return chunk
    number, last_stolen = offer & abi.NUMBER_MASK, get(pool, LAST_STOLEN)
    is_late = read(pool, abi.SLEEPERS) > 0 or last_stolen + _RECENT >= number
    n_pauses = _GRACE if is_late else 0
    while n_pauses < _GRACE and read(pool, abi.OFFER) == offer:
        pause()
        n_pauses += 1
    other, threads = 0, get(pool, abi.THREADS)
    while chunk < 0 and other < threads and n_pauses == _GRACE:
        chunk = _claim(pool, other, offer, 1)
        other += 1
    if chunk >= 0 and last_stolen != number:
        put(pool, LAST_STOLEN, number)
        put(pool, N_STOLEN, get(pool, N_STOLEN) + 1)
    return chunk


@inline
def _claim(pool, thread, offer, for_another):
    """Claims the next chunk of a thread, for another the last one; -1 when all are claimed."""
    number, threads = offer & abi.NUMBER_MASK, get(pool, abi.THREADS)
    chunks = offer >> abi.NUMBER_BITS
    begin = _first_of(thread, threads, chunks)
    end = _first_of(thread + 1, threads, chunks)
    slot = slot_of(pool, thread)
    while True:
        before = get(slot, abi.CLAIM)
        claims = before & abi.CLAIMED_MASK
        if before >> abi.CLAIMED_BITS < number:
            claims = 0
        elif before >> abi.CLAIMED_BITS > number:
            return -1
        front, back = claims // abi.FROM_FRONT, claims % abi.FROM_FRONT
        if front + back >= end - begin:
            return -1
        claims += 1 if for_another else abi.FROM_FRONT
        if swap(slot, abi.CLAIM, before, number << abi.CLAIMED_BITS | claims):
            return end - 1 - back if for_another else begin + front


@inline
def _run_chunks(pool, thread, offer, chunk):
    """Runs a chunk that was claimed, and then what is left of the thread's own.

    Gives one of the next offer that the thread has claimed, or -1.
    """
    first, chunks = get(pool, abi.OFFER_FIRST), get(pool, abi.OFFER_CHUNKS)
    entry, record = get(pool, abi.OFFER_ENTRY), get(pool, abi.OFFER_RECORD)
    faults, n_done = get(pool, abi.CHUNK_FAULTS), 0
    while chunk >= 0:
        fault = faults + (first + chunk) * abi.FAULT_WORDS * abi.WORD
        if get(fault, 0) != 0:
            put(fault, 0, 0)
        call(entry, first + chunk, chunks, record)
        if get(fault, 0) != 0:
            put(pool, abi.FAILED, 1)
        n_done += 1
        chunk = _claim(pool, thread, offer, 0)
    on_offer = offer >> abi.NUMBER_BITS
    if add(pool, abi.DONE, n_done) + n_done < on_offer:
        return -1
    return _end_offer(pool, thread, first + on_offer, chunks)


@inline
def _end_offer(pool, thread, following, chunks):
    """Goes on after the last chunk on offer, in the only thread that has something to do."""
    position, now = get(pool, abi.OFFER_INSTRUCTION), nanoseconds(get(pool, abi.RUN_CLOCK))
    instruction = (
        get(get(pool, abi.CONTEXT), abi.TABLE) + position * abi.INSTRUCTION_WORDS * abi.WORD
    )
    _count(pool, instruction, now - get(pool, abi.OFFER_START))
    if following == chunks:
        position, following = position + 1, 0
    if get(pool, abi.FAILED) == 0 and now < get(pool, abi.RUN_END):
        return _continue(pool, thread, position, following, now)
    _end_run(pool, position << abi.CHUNK_BITS | following)
    return -1


@inline
def _count(pool, instruction, took):
    """Adds to an instruction's nanoseconds, when runs are timed: its table is near all cores."""
    if get(pool, abi.RUN_CLOCK) == abi.CLOCK_MONOTONIC:
        put(instruction, abi.NANOSECONDS, get(instruction, abi.NANOSECONDS) + took)


@inline
def _continue(pool, thread, position, chunk, now):
    """Runs instructions of one chunk until there is one to offer, or ends the run.

    Gives a chunk of what it offers that is claimed for `thread`, or -1.
    """
    context = get(pool, abi.CONTEXT)
    stop, faults = get(context, abi.STOP), get(context, abi.FAULTS)
    instruction = get(context, abi.TABLE) + position * abi.INSTRUCTION_WORDS * abi.WORD
    while position < stop:
        entry, record = get(instruction, abi.ENTRY), get(instruction, abi.RECORD)
        chunks = get(instruction, abi.CHUNKS)
        if chunks == 0:
            following = destination(instruction, position)
            instruction += (following - position) * abi.INSTRUCTION_WORDS * abi.WORD
            is_back = following < position
            position = following
            if is_back:
                now = nanoseconds(get(context, abi.CLOCK))
                if now >= get(pool, abi.RUN_END):
                    break
            continue
        if chunks > 1:
            put(pool, abi.DONE, 0)
            put(pool, abi.OFFER_INSTRUCTION, position)
            put(pool, abi.OFFER_START, now)
            return _offer(pool, thread, entry, record, chunk, chunks)
        put(faults, 0, 0)
        call(entry, 0, 1, record)
        before = now
        now = nanoseconds(get(context, abi.CLOCK))
        _count(pool, instruction, now - before)
        position += 1
        instruction += abi.INSTRUCTION_WORDS * abi.WORD
        if get(faults, 0) != 0:
            put(pool, abi.FAILED, 1)
            break
        if now >= get(pool, abi.RUN_END):
            break
    _end_run(pool, position << abi.CHUNK_BITS)
    return -1


@inline
def _offer(pool, thread, entry, record, first, chunks):
    """Offers chunks of an instruction from `first` on; gives one claimed for `thread`, or -1.

    All that others wait for is written in one go. A thread that falls asleep just now may miss it:
    others will do its share.
    """
    threads, on_offer = get(pool, abi.THREADS), chunks - first
    if chunks > threads * abi.MAX_PER_THREAD:
        on_offer = min(on_offer, threads)
    number = (get(pool, abi.OFFER) & abi.NUMBER_MASK) + 1
    claimed = _first_of(thread, threads, on_offer)
    if claimed < _first_of(thread + 1, threads, on_offer):
        put(slot_of(pool, thread), abi.CLAIM, number << abi.CLAIMED_BITS | abi.FROM_FRONT)
    else:
        claimed = -1
    put(pool, abi.OFFER_ENTRY, entry)
    put(pool, abi.OFFER_RECORD, record)
    put(pool, abi.OFFER_FIRST, first)
    put(pool, abi.OFFER_CHUNKS, chunks)
    post(pool, abi.OFFER, on_offer << abi.NUMBER_BITS | number)
    wake_all(pool)
    return claimed


@inline
def _end_run(pool, cursor):
    """Tells the caller where the run ended; what the context points to may be gone after."""
    context = get(pool, abi.CONTEXT)
    failed = get(pool, abi.FAILED)
    finished = failed == 0 and cursor == get(context, abi.STOP) << abi.CHUNK_BITS
    put(context, abi.CURSOR, ~cursor if failed else cursor)
    put(pool, abi.RESULT, 1 if finished else 0)
    publish(pool, abi.OFFER, (get(pool, abi.OFFER) & abi.NUMBER_MASK) + 1)
    wake_caller(pool)


@inline
def _wait(pool, offer, thread):
    """Waits for another offer; gives 0 when the thread should sleep and cannot."""
    n_pauses, spins = 0, get(pool, abi.SPINS)
    while read(pool, abi.OFFER) == offer:
        n_pauses += 1
        if n_pauses < spins:
            if n_pauses & _YIELDING:
                pause()
            else:
                give_way()
        elif FUTEX and get(pool, abi.NATIVE_SLEEP):
            sleep_until_offer(pool, thread, offer)
        elif thread == 0:
            give_way()
        else:
            return 0
    return 1
