"""Threads of a pool that fall asleep, and that are woken on other processors than who wakes them.

Linux may put a thread that is woken behind the one that wakes it, though another processor has
nothing to do: so it does in virtual machines, whose idle processors count as taken away. It would
wait there for milliseconds, as the one before it goes on. So a worker that is woken may run
anywhere but there until it is up, and then wherever the one who has woken it may.
"""

from ... import abi
from ...build.kernel import inline
from ...build.target import AFFINITY
from ._memory import add, get, put, read, sleep, swap, system_call, wake

_GET_PROCESSOR, _GET_PROCESSORS, _SET_PROCESSORS = AFFINITY or (0, 0, 0)
_BITS = 64
_NBYTES = abi.PROCESSOR_WORDS * abi.WORD


@inline
def slot_of(pool, thread):
    """The address of a thread's slot."""
    return pool + (abi.SLOTS + thread * abi.SLOT_WORDS) * abi.WORD


@inline
def sleep_until_offer(pool, thread, offer):
    """Sleeps until there is another offer, or for no reason."""
    slot = slot_of(pool, thread)
    put(slot, abi.SLEEP, abi.ASLEEP)
    add(pool, abi.SLEEPERS, 1)
    sleep(pool, abi.OFFER, offer)
    add(pool, abi.SLEEPERS, -1)
    if swap(slot, abi.SLEEP, abi.ASLEEP, abi.AWAKE) == 0:
        put(slot, abi.SLEEP, abi.AWAKE)
        if AFFINITY and thread > 0:
            system_call(_SET_PROCESSORS, 0, _NBYTES, pool + abi.PROCESSORS * abi.WORD)


@inline
def wake_caller(pool):
    """Wakes the thread that runs a program, if it sleeps."""
    sleeps = read(pool, abi.SLEEPERS) > 0
    if sleeps and swap(slot_of(pool, 0), abi.SLEEP, abi.ASLEEP, abi.WOKEN):
        wake(pool, abi.OFFER)


@inline
def wake_all(pool):
    """Wakes all who sleep and have not been woken yet."""
    if read(pool, abi.SLEEPERS) > 0:
        thread, n_woken, others = 0, 0, 0
        while thread < get(pool, abi.THREADS):
            slot = slot_of(pool, thread)
            if swap(slot, abi.SLEEP, abi.ASLEEP, abi.WOKEN):
                if AFFINITY and thread > 0:
                    others = others if n_woken else _note_others(pool)
                    if others:
                        mask = pool + abi.OTHER_PROCESSORS * abi.WORD
                        system_call(_SET_PROCESSORS, get(slot, abi.SYSTEM_ID), _NBYTES, mask)
                n_woken += 1
            thread += 1
        if n_woken:
            wake(pool, abi.OFFER)


@inline
def _note_others(pool):
    """Writes down where this thread may run, and these without where it runs: 0 if none is left."""
    here, others = pool + abi.PROCESSORS * abi.WORD, pool + abi.OTHER_PROCESSORS * abi.WORD
    if system_call(_GET_PROCESSORS, 0, _NBYTES, here) <= 0:
        return 0
    if system_call(_GET_PROCESSOR, others, 0, 0) != 0:
        return 0
    number, any_left = get(others, 0) & 0xFFFFFFFF, 0
    for i in range(abi.PROCESSOR_WORDS):
        word = get(here, i)
        if i == number // _BITS:
            word &= ~(1 << number % _BITS)
        put(others, i, word)
        any_left |= word
    return 1 if any_left else 0
