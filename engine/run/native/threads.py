"""The walker of plan tables for several threads: a leader and its workers, together a crew.

The chunks of a row are offered to all, those of a long row some at a time: the row's fields are
written, then the offer is published, numbered one higher than before. Each thread has chunks of its
own in every offer, always in the same place, so that it finds near its core what it wrote itself.
It takes them from the front, by swapping its claim for one with a chunk more. One that has nothing
left to do waits a little, then takes what others have left, from the back. Whoever ends the last
chunk on offer goes on: it runs the rows of one chunk by itself and offers what comes next, with its
own first chunk claimed, or ends the run. So a thread that is slow, late or asleep delays nobody for
long, unless it holds a chunk.

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
    sleep,
    swap,
    wake,
)

_GRACE = 32
"""Pauses, about 1 us, before a thread claims what is another's, unless one is asleep."""


@native(1)
def lead(order):
    """Does with a crew what `walk` of launch.py does alone.

    When another leads the crew, gives 0 at once and takes it from the order.
    """
    crew = get(order, abi.CREW)
    if crew == 0:
        return 0
    if swap(crew, abi.BUSY, 0, 1) == 0:
        put(order, abi.CREW, 0)
        return 0
    clock = get(order, abi.CLOCK)
    now = nanoseconds(clock)
    put(crew, abi.ORDER, order)
    put(crew, abi.CHUNK_FAULTS, get(order, abi.FAULTS))
    put(crew, abi.RUN_CLOCK, clock)
    put(crew, abi.RUN_END, now + get(order, abi.BUDGET))
    put(crew, abi.FAILED, 0)
    cursor = get(order, abi.CURSOR)
    claimed = _go_on(crew, 0, cursor >> abi.CHUNK_BITS, cursor & abi.CHUNK_MASK, now)
    while True:
        offer = read(crew, abi.OFFER)
        if offer >> abi.NUMBER_BITS == 0:
            result = get(crew, abi.RESULT)
            publish(crew, abi.BUSY, 0)
            return result
        chunk = _next_chunk(crew, 0, offer, claimed)
        if chunk >= 0:
            claimed = _run_chunks(crew, 0, offer, chunk)
        else:
            _wait(crew, offer, 1)


@native(1)
def serve(place):
    """Runs chunks from a worker's place in a crew until that is halted: gives 0.

    Where threads cannot sleep here, gives 1 when nothing has come for a while.
    """
    crew, own = get(place, abi.CREW_OF), get(place, abi.OWN)
    claimed = -1
    while True:
        offer = read(crew, abi.OFFER)
        if read(crew, abi.HALTED):
            return 0
        chunk = _next_chunk(crew, own, offer, claimed)
        if chunk >= 0:
            claimed = _run_chunks(crew, own, offer, chunk)
        elif _wait(crew, offer, 0) == 0:
            return 1


@native(1)
def halt(crew):
    """Lets all workers of a crew return; gives 0 when it cannot be halted, as it is led."""
    if swap(crew, abi.BUSY, 0, 1) == 0:
        return 0
    publish(crew, abi.HALTED, 1)
    publish(crew, abi.OFFER, (get(crew, abi.OFFER) & abi.NUMBER_MASK) + 1)
    _wake_all(crew)
    return 1


@inline
def _place(crew, thread):
    return crew + (abi.PLACES + thread * abi.APART) * abi.WORD


@inline
def _first_of(thread, threads, chunks):
    """The first of a thread's own among so many chunks on offer."""
    return (thread * chunks + threads - 1) // threads


@inline
def _next_chunk(crew, own, offer, claimed):
    """A chunk on offer that is claimed for the thread `own`: -1 when there is none."""
    if claimed >= 0:
        return claimed
    chunk = _claim(crew, own, offer, 0)
    if chunk >= 0:
        return chunk
    turns = _GRACE if read(crew, abi.SLEEPERS) > 0 else 0
    while turns < _GRACE and read(crew, abi.OFFER) == offer:
        pause()
        turns += 1
    other, threads = 0, get(crew, abi.THREADS)
    while chunk < 0 and other < threads and turns == _GRACE:
        chunk = _claim(crew, other, offer, 1)
        other += 1
    return chunk


@inline
def _claim(crew, thread, offer, for_another):
    """Claims the next chunk of a thread, for another the last one; -1 when all are claimed."""
    number, threads = offer & abi.NUMBER_MASK, get(crew, abi.THREADS)
    chunks = offer >> abi.NUMBER_BITS
    begin = _first_of(thread, threads, chunks)
    end = _first_of(thread + 1, threads, chunks)
    place = _place(crew, thread)
    while True:
        before = get(place, abi.CLAIM)
        taken = before & abi.TAKEN_MASK
        if before >> abi.TAKEN_BITS < number:
            taken = 0
        elif before >> abi.TAKEN_BITS > number:
            return -1
        front, back = taken // abi.FROM_FRONT, taken % abi.FROM_FRONT
        if front + back >= end - begin:
            return -1
        taken += 1 if for_another else abi.FROM_FRONT
        if swap(place, abi.CLAIM, before, number << abi.TAKEN_BITS | taken):
            return end - 1 - back if for_another else begin + front


@inline
def _run_chunks(crew, own, offer, chunk):
    """Runs a chunk that was claimed, and then what is left of the thread's own.

    Gives one of the next offer that the thread has claimed, or -1.
    """
    first, chunks = get(crew, abi.OFFER_FIRST), get(crew, abi.OFFER_CHUNKS)
    entry, record = get(crew, abi.OFFER_ENTRY), get(crew, abi.OFFER_RECORD)
    faults, done = get(crew, abi.CHUNK_FAULTS), 0
    while chunk >= 0:
        fault = faults + (first + chunk) * abi.FAULT_WORDS * abi.WORD
        if get(fault, 0) != 0:
            put(fault, 0, 0)
        call(entry, first + chunk, chunks, record)
        if get(fault, 0) != 0:
            put(crew, abi.FAILED, 1)
        done += 1
        chunk = _claim(crew, own, offer, 0)
    on_offer = offer >> abi.NUMBER_BITS
    if add(crew, abi.DONE, done) + done < on_offer:
        return -1
    return _end_offer(crew, own, first + on_offer, chunks)


@inline
def _end_offer(crew, own, following, chunks):
    """Goes on after the last chunk on offer, in the only thread that has something to do."""
    row, now = get(crew, abi.OFFER_ROW), nanoseconds(get(crew, abi.RUN_CLOCK))
    place = get(get(crew, abi.ORDER), abi.TABLE) + row * abi.ROW_WORDS * abi.WORD
    _count(crew, place, now - get(crew, abi.OFFER_START))
    if following == chunks:
        row, following = row + 1, 0
    if get(crew, abi.FAILED) == 0 and now < get(crew, abi.RUN_END):
        return _go_on(crew, own, row, following, now)
    _end_run(crew, row << abi.CHUNK_BITS | following)
    return -1


@inline
def _count(crew, place, took):
    """Adds to a row's nanoseconds, when somebody wants to know: its table is near all cores."""
    if get(crew, abi.RUN_CLOCK) == abi.EXACT:
        put(place, abi.NANOSECONDS, get(place, abi.NANOSECONDS) + took)


@inline
def _go_on(crew, own, row, chunk, now):
    """Runs rows of one chunk until there is one to offer, or ends the run.

    Gives a chunk of what it offers that is claimed for the thread `own`, or -1.
    """
    order = get(crew, abi.ORDER)
    stop, faults = get(order, abi.STOP), get(order, abi.FAULTS)
    place = get(order, abi.TABLE) + row * abi.ROW_WORDS * abi.WORD
    while row < stop:
        entry, record = get(place, abi.ENTRY), get(place, abi.RECORD)
        chunks = get(place, abi.CHUNKS)
        if chunks == 0:
            following = destination(place, row)
            place += (following - row) * abi.ROW_WORDS * abi.WORD
            is_back = following < row
            row = following
            if is_back:
                now = nanoseconds(get(order, abi.CLOCK))
                if now >= get(crew, abi.RUN_END):
                    break
            continue
        if chunks > 1:
            put(crew, abi.DONE, 0)
            put(crew, abi.OFFER_ROW, row)
            put(crew, abi.OFFER_START, now)
            return _offer(crew, own, entry, record, chunk, chunks)
        put(faults, 0, 0)
        call(entry, 0, 1, record)
        before = now
        now = nanoseconds(get(order, abi.CLOCK))
        _count(crew, place, now - before)
        row += 1
        place += abi.ROW_WORDS * abi.WORD
        if get(faults, 0) != 0:
            put(crew, abi.FAILED, 1)
            break
        if now >= get(crew, abi.RUN_END):
            break
    _end_run(crew, row << abi.CHUNK_BITS)
    return -1


@inline
def _offer(crew, own, entry, record, first, chunks):
    """Offers a row's chunks from `first` on; gives one claimed for the thread `own`, or -1.

    All that others wait for is written in one go. A thread that falls asleep just now may miss it:
    others will do its share.
    """
    threads, on_offer = get(crew, abi.THREADS), chunks - first
    if chunks > threads * abi.EACH:
        on_offer = min(on_offer, threads)
    number = (get(crew, abi.OFFER) & abi.NUMBER_MASK) + 1
    claimed = _first_of(own, threads, on_offer)
    if claimed < _first_of(own + 1, threads, on_offer):
        put(_place(crew, own), abi.CLAIM, number << abi.TAKEN_BITS | abi.FROM_FRONT)
    else:
        claimed = -1
    put(crew, abi.OFFER_ENTRY, entry)
    put(crew, abi.OFFER_RECORD, record)
    put(crew, abi.OFFER_FIRST, first)
    put(crew, abi.OFFER_CHUNKS, chunks)
    post(crew, abi.OFFER, on_offer << abi.NUMBER_BITS | number)
    _wake_all(crew)
    return claimed


@inline
def _end_run(crew, cursor):
    """Tells the leader where the run ended; what the order points to may be gone after."""
    order = get(crew, abi.ORDER)
    failed = get(crew, abi.FAILED)
    finished = failed == 0 and cursor == get(order, abi.STOP) << abi.CHUNK_BITS
    put(order, abi.CURSOR, ~cursor if failed else cursor)
    put(crew, abi.RESULT, 1 if finished else 0)
    publish(crew, abi.OFFER, (get(crew, abi.OFFER) & abi.NUMBER_MASK) + 1)
    _wake_all(crew)


@inline
def _wake_all(crew):
    if read(crew, abi.SLEEPERS) > 0:
        wake(crew, abi.OFFER)


@inline
def _wait(crew, offer, leads):
    """Waits for another offer; gives 0 when the thread should sleep and cannot."""
    turns, patience = 0, get(crew, abi.PATIENCE)
    while read(crew, abi.OFFER) == offer:
        turns += 1
        if turns < patience:
            pause()
        elif FUTEX and get(crew, abi.PARKS):
            add(crew, abi.SLEEPERS, 1)
            sleep(crew, abi.OFFER, offer)
            add(crew, abi.SLEEPERS, -1)
        elif leads:
            give_way()
        else:
            return 0
    return 1
