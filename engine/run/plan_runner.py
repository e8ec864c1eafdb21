"""Walks: the native rows of a program between two host steps, entered as one call of machine code.

The order says what to run; machine code gets its address. Python calls machine code through a
builtin function made around the order, which costs 0.1 us; a call through ctypes costs 0.4.
"""

from __future__ import annotations

import ctypes
import sys
from math import inf
from time import perf_counter_ns

import numpy as np

from .. import abi
from ..build import image
from ..plan import arena
from ..plan.branches import by_turn
from ..plan.fusion import linked
from .faults import Fault

BUDGET = 50_000_000  # nanoseconds before machine code comes back to look for Ctrl-C
QUICK = 6 if sys.platform == "linux" else abi.EXACT  # CLOCK_MONOTONIC_COARSE, 5 ns, not 25
TRIALS = 2  # runs that are timed before the rows are dealt out in earnest
WORTH = 30_000  # nanoseconds of work that repay waking a crew
DOUBTFUL = 500_000  # nanoseconds of work up to which it is tried whether a crew is quicker
MATCHES = 10  # runs alone and as many with a crew, by which that is decided
BETTER = 0.95  # of the time alone that a crew may take: it keeps other processors busy
_METH_NOARGS = 4
_DATA = 16  # bytes before the address of its elements in a numpy array
_WORD_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_known = {}


class Walk:
    """Rows to be run one after the other, by one thread or a crew.

    Args:
        rows: the rows.
        table: their part of the table, a row of ROW_WORDS words for each.
        faults: FAULT_WORDS words for each chunk a row may have.
        pool: where crews are found; None to run alone.
        trials: runs that are timed first, where rows can be dealt out.
        chains: those among the rows.
    """

    def __init__(self, rows, table, faults, pool=None, trials=TRIALS, chains=()):
        self.rows, self._faults = rows, faults
        self._chains, self._each, self._table = chains, table, table
        if chains:
            self._table, self._links = linked(table, chains)
        self._pool, self._crew = pool, None
        self._threads = 1 if pool is None else pool.threads
        order = np.zeros(abi.ORDER_WORDS, np.int64)
        order[abi.TABLE] = arena.address(self._table)
        order[abi.STOP] = len(rows)
        order[abi.FAULTS] = arena.address(faults)
        order[abi.CLOCK] = QUICK
        order[abi.BUDGET] = BUDGET
        self._order = order.data
        self._begin, self._resume = (_function(order, name) for name in ("begin", "resume"))
        self._trials = trials if any((row.split or 0) > 1 for row in rows) else 0
        self._times = None
        self._best = []  # nanoseconds of the quickest run alone, and with a crew
        self._deal()

    @property
    def short_cut(self):
        """A builtin function that does what `run` does; None while there is none.

        It gives False when it came back before the end: `go_on` has to follow.
        """
        return self._begin if self._settled else None

    def run(self, check=None):
        """Runs the rows; `check()` is called whenever machine code comes back.

        Raises Fault when a kernel refuses its data. After any exception a run starts anew.
        """
        if self._settled and check is None:
            if not self._begin():
                self.go_on()
        elif self._trials:
            self._try(check)
        else:
            self._run(check)

    def _try(self, check):
        """A run that is timed; after the last of these the rows are dealt out in earnest."""
        if self._best:
            self._match(check)
            return
        times = self.time(check)
        self._times = times if self._times is None else [*map(min, self._times, times)]
        self._trials -= 1
        if not self._trials:
            self._deal()
            if self._sharing and sum(self._times) < DOUBTFUL:
                self._trials, self._best, self._settled = 2 * MATCHES, [inf, inf], False

    def _match(self, check):
        """A run alone, or later with a crew; after the last the quicker way is kept.

        Not by turns, as what a run leaves in the cores' caches is part of the matter.
        """
        way = int(self._trials <= MATCHES)
        self._deal(alone=not way)
        start = perf_counter_ns()
        self._run(check)
        self._best[way] = min(self._best[way], perf_counter_ns() - start)
        self._trials -= 1
        if not self._trials:
            alone, shared = self._best
            self._deal(alone=shared > BETTER * alone)

    def time(self, check=None):
        """Runs the rows as `run` does, but one after the other; gives the nanoseconds each took."""
        self._each[:, abi.NANOSECONDS] = 0
        self._order[abi.TABLE] = arena.address(self._each)
        self._order[abi.CLOCK] = abi.EXACT
        try:
            self._run(check)
        finally:
            self._order[abi.TABLE] = arena.address(self._table)
            self._order[abi.CLOCK] = QUICK
        return self._each[:, abi.NANOSECONDS].tolist()

    def _deal(self, alone=False):
        """Decides in how many chunks each row is run; `alone`, by one thread."""
        times: list = [None] * len(self.rows)
        threads = 1 if alone else self._threads
        if self._times:
            times = by_turn(self.rows, self._times)
            pairs = zip(self.rows, self._times, strict=True)
            if sum(time for row, time in pairs if row.split) < WORTH:
                threads = 1
        pairs = zip(self.rows, times, strict=True)
        chunks = [min(row.chunks(threads, time), len(self._faults)) for row, time in pairs]
        self._each[:, abi.CHUNKS] = self._table[:, abi.CHUNKS] = chunks
        for chain in self._chains:
            part = slice(chain.first, chain.last + 1)
            time = sum(times[part]) if self._times else None
            self._table[part, abi.CHUNKS] = 0
            chunks.append(min(chain.chunks(threads, time), len(self._faults)))
            self._table[chain.first, abi.CHUNKS] = chunks[-1]
        self._sharing = pool = self._pool if max(chunks) > 1 and threads > 1 else None
        self._settled = not self._trials and (pool is None or not pool.needs_calls)
        module, name = ("threads", "lead") if pool else ("launch", "walk")
        self._order[abi.RUN] = image.loaded(module).addresses[name]

    def _run(self, check):
        if self._crew is not None:
            self._crew.call()
        if not self._begin():
            self.go_on(check)
        if check is not None:
            check()

    def go_on(self, check=None):
        """Goes on until all is done with what machine code came back from."""
        while True:
            if self._order[abi.CURSOR] < 0:
                raise self._fault(~self._order[abi.CURSOR])
            pool = self._sharing
            if pool and not self._order[abi.CREW]:  # another program runs with the last one
                self._crew = pool.crew()
                self._crew.call()
                self._order[abi.CREW] = self._crew.address
            elif check is not None:
                check()
            if self._resume():
                return

    def _fault(self, cursor):
        """The fault of the first chunk that reported one, in the row before the cursor."""
        row = (cursor - 1) >> abi.CHUNK_BITS
        chunks = cursor & abi.CHUNK_MASK or self._table[row, abi.CHUNKS]
        reports = self._faults[:chunks]
        return Fault(self.rows[row].tag, *reports[reports[:, 0] != 0][0].tolist())


class _Method(ctypes.Structure):
    """PyMethodDef"""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _function(order, name):
    """A function without arguments that runs an order; true when it was run to its end.

    `name` says how: "begin" or "resume".
    """
    if not _builtin(order):
        return lambda: _run_by_ctypes(order, name)
    order[abi.SAVE_THREAD : abi.FALSE + 1] = _known["python"]
    return _known["make"](ctypes.byref(_known[name]), order, None)


def _run_by_ctypes(order, name):
    if name == "begin":
        order[abi.CURSOR] = 0
    return _WORD_FUNCTION(int(order[abi.RUN]))(arena.address(order))


def _builtin(order):
    """Whether builtin functions can be made: arrays are laid out as `begin` takes them to be."""
    if "make" not in _known:
        elements = ctypes.c_int64.from_address(id(order) + _DATA).value
        _known["make"] = None
        if sys.implementation.name == "cpython" and elements == arena.address(order):
            python = ctypes.pythonapi
            names = "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef"
            functions = [ctypes.cast(python[name], ctypes.c_void_p).value for name in names]
            _known["python"] = (*functions, id(True), id(False))
            kind = ctypes.PYFUNCTYPE(
                ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
            )
            for name in ("begin", "resume"):
                address = image.loaded("launch").addresses[name]
                method = _known[name] = _Method(name.encode(), address, _METH_NOARGS, None)
                python.Py_IncRef(ctypes.py_object(method))  # functions need it to the very end
            _known["make"] = kind(("PyCFunction_NewEx", python))
    return _known["make"] is not None
