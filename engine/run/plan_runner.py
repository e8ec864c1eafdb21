"""Plan runners: the instructions between two host steps, entered as one call of machine code.

The run context says what to run; machine code gets its address. Python calls machine code through a
builtin function made around the context, which costs 0.1 us; a call through ctypes costs 0.4.
"""

from __future__ import annotations

import ctypes
import sys
from itertools import repeat
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from .. import abi
from ..build import image
from ..plan import arena
from .faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..build.image import Image
    from ..plan.fusion import Fusion
    from ..plan.instruction import Branch, Instruction
    from .thread_pool import PoolSet, ThreadPool

BUDGET = 50_000_000  # nanoseconds before machine code comes back to look for Ctrl-C
COARSE_CLOCK = 6 if sys.platform == "linux" else abi.CLOCK_MONOTONIC  # 5 ns, not 25
TRIALS = 2  # runs that are timed before the instructions are partitioned by their times
WARM_TRIALS = 2  # such runs alone instead, where they are short: the first ones take far longer
MIN_SHARED = 3_500  # nanoseconds of work that may repay a thread pool, which costs about 1 us
MIN_PROMISING = 7_000  # nanoseconds of work that a pool repays unless its workers are late
MAX_COMPARED = 500_000  # nanoseconds of work up to which it is tried whether a pool is quicker
MAX_COMPARED_LOOPS = 1_000_000_000  # the same with loops, whose many instructions are small
MIN_COMPARISONS = 10  # runs alone, with a pool and alone again, by which that is decided
MAX_COMPARISONS = 100  # of short programs, as a thread may be late for some of their runs
COMPARISON_TIME = 2_000_000  # nanoseconds of the runs alone, within these numbers
MAX_RATIO = 0.95  # of the time alone that a pool may take: it keeps other processors busy
RETRIES = 20_000_000, 200_000_000, 2_000_000_000
"""Nanoseconds of runs after which a pool that was not quicker is tried anew: all may be busy."""
_MAX_STOLEN = 0.5  # of what a pool has on offer, beyond which its workers were late
_PHASES = 3  # alone, with a pool, alone again
_METH_NOARGS = 4
_DATA = 16  # bytes before the address of its elements in a numpy array
_WORD_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
_methods: dict[str, _Method] = {}  # what builtin functions are made of
_makers: list[Callable[..., Callable[[], bool]] | None] = []
_words: list[int | None] = []  # addresses of functions and objects of Python


def ensure(requests: Sequence[str]) -> None:
    """Makes the code for `requests` available. Raises what `driver.ensure` does."""
    if image.missing(requests):
        from ..build import driver  # the compiler is imported only here

        driver.ensure(requests)


def loaded(module: str) -> Image:
    """The image of a whole kernel module, built now when there is none."""
    code = image.complete(module)
    if code is None:
        ensure([module])
        code = image.complete(module)
        assert code is not None  # `ensure` has built it
    return code


class PlanRunner:
    """Runs instructions one after the other, by one thread or a thread pool.

    Args:
        instructions: the instructions.
        table: their part of the plan's table, INSTRUCTION_WORDS words for each.
        faults: FAULT_WORDS words for each chunk an instruction may have.
        pools: the thread pools to take one of; None to run alone.
        trials: runs that are timed first, where instructions can be partitioned.
        fusions: those among the instructions.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction | Branch],
        table: np.ndarray,
        faults: np.ndarray,
        pools: PoolSet | None = None,
        trials: int = TRIALS,
        fusions: Sequence[Fusion] = (),
    ):
        self.instructions, self._faults = instructions, faults
        self._fusions, self._unfused_table, self._table = fusions, table, table
        if fusions:
            from ..plan.fusion import fused_table

            entry = loaded("launch").addresses["fusion"]
            self._table, self._fusion_records = fused_table(table, fusions, entry)
        self._pools = pools
        self._pool: ThreadPool | None = None
        self._threads = 1 if pools is None else pools.threads
        context = np.zeros(abi.CONTEXT_WORDS, np.int64)
        context[abi.TABLE] = arena.address(self._table)
        context[abi.STOP] = len(instructions)
        context[abi.FAULTS] = arena.address(faults)
        context[abi.CLOCK] = COARSE_CLOCK
        context[abi.BUDGET] = BUDGET
        self._context = context.data
        self._begin, self._resume = (_function(context, name) for name in ("begin", "resume"))
        self._trials = trials if any((x.split or 0) > 1 for x in instructions) else 0
        self._warm_trials = WARM_TRIALS
        self._comparisons = 0
        self._times: list[int] | None = None
        self._compared: list[list[int]] = []  # nanoseconds of runs alone, with a pool, alone again
        self._n_stolen = 0
        self._retries = iter(RETRIES)
        self._partition()

    @property
    def fast_run(self) -> Callable[[], bool] | None:
        """A builtin function that does what `run` does; None while there is none.

        It gives False when it came back before the end: `resume` has to follow.
        """
        return self._begin if self._is_final else None

    def run(self, check: Callable[[], object] | None = None) -> None:
        """Runs the instructions; `check()` is called whenever machine code comes back.

        Raises Fault when a kernel refuses its data. After any exception a run starts anew.
        """
        if self._is_final and check is None:
            if not self._begin():
                self.resume()
        elif self._trials:
            self._run_trial(check)
        else:
            self._run(check)

    def _run_trial(self, check: Callable[[], object] | None) -> None:
        """A run that is timed; after the last of these the times say how to partition."""
        if self._compared:
            if not self._trials:
                self._start_comparisons()
            self._compare(check)
            return
        times = self.time(check)
        self._times = times if self._times is None else [*map(min, self._times, times)]
        self._trials -= 1
        if not self._trials and self._warm_trials and sum(self._times) < MAX_COMPARED:
            self._trials, self._warm_trials = self._warm_trials, 0
            self._partition(alone=True)
            self._times = None
            return
        if not self._trials:
            self._partition()
            from ..plan.branches import loops

            most = MAX_COMPARED_LOOPS if loops(self.instructions) else MAX_COMPARED
            if self._shared_pools and sum(self._times) < most:
                count = COMPARISON_TIME // max(1, sum(self._times))
                self._comparisons = min(max(MIN_COMPARISONS, count), MAX_COMPARISONS)
                self._start_comparisons()

    def _start_comparisons(self) -> None:
        alone = self._compared if len(self._compared) == 1 else []
        self._trials, self._compared = self._comparisons, [*alone, []]
        self._is_final = False

    def _compare(self, check: Callable[[], object] | None) -> None:
        """A run alone, with a pool, or alone again; after the last the quicker way stays.

        Not in alternation, as what a run leaves in the cores' caches is part of the matter. A pool
        that is quicker stays, if it still is when no run is among a program's first ones, which
        take longer. One that is not may have met a busy moment, and is tried again later: until
        then it stays if its workers did not come.
        """
        if not self._compared[-1]:
            self._partition(alone=len(self._compared) % 2 == 1)
            self._n_stolen = self._pool.n_stolen if self._pool else 0
        start = perf_counter_ns()
        self._run(check)
        self._compared[-1].append(perf_counter_ns() - start)
        self._trials -= 1
        if self._trials:
            return
        times = [*map(_first_quartile, self._compared)]
        alone = min(times[::2])
        is_short = alone < MIN_SHARED
        is_slower = len(times) > 1 and times[1] > MAX_RATIO * alone
        if is_slower and alone >= MIN_PROMISING and self._workers_were_late():
            self._compared.pop()
            self._partition()
            self._retry_later(alone)
            return
        if not (is_short or is_slower or len(times) == _PHASES):
            self._trials = self._comparisons
            self._compared.append([])
            return
        self._partition(alone=is_short or is_slower)
        if is_slower and not is_short:
            self._retry_later(alone)

    def _workers_were_late(self) -> bool:
        """Whether the caller did what was on offer to the workers, since the last comparison."""
        n_offers = int((self._table[:, abi.CHUNKS] > 1).sum()) * self._comparisons
        pool = self._pool
        return pool is not None and pool.n_stolen - self._n_stolen > _MAX_STOLEN * n_offers

    def _retry_later(self, time: int) -> None:
        """After as many runs of `time` nanoseconds as the next of RETRIES has."""
        wait = next(self._retries, None)
        if wait is not None:
            self._context[abi.RUNS] = max(1, wait // max(1, time))

    def time(self, check: Callable[[], object] | None = None) -> list[int]:
        """Runs as `run` does, but nothing fused; gives the nanoseconds each instruction took."""
        self._unfused_table[:, abi.NANOSECONDS] = 0
        self._context[abi.TABLE] = arena.address(self._unfused_table)
        self._context[abi.CLOCK] = abi.CLOCK_MONOTONIC
        runs, self._context[abi.RUNS] = self._context[abi.RUNS], 1
        try:
            self._run(check)
        finally:
            self._context[abi.TABLE] = arena.address(self._table)
            self._context[abi.CLOCK] = COARSE_CLOCK
            self._context[abi.RUNS] = runs
        return self._unfused_table[:, abi.NANOSECONDS].tolist()

    def _partition(self, alone: bool = False) -> None:
        """Decides in how many chunks each instruction is run; `alone`, by one thread."""
        times: list[float] | None = None
        threads = 1 if alone else self._threads
        if self._times:
            from ..plan.branches import per_iteration

            times = per_iteration(self.instructions, self._times)
            pairs = zip(self.instructions, self._times, strict=True)
            if sum(time for instruction, time in pairs if instruction.split) < MIN_SHARED:
                threads = 1
        most = len(self._faults)
        pairs = zip(self.instructions, times or repeat(None), strict=False)
        chunks = [min(instruction.chunks(threads, time), most) for instruction, time in pairs]
        self._unfused_table[:, abi.CHUNKS] = self._table[:, abi.CHUNKS] = chunks
        for fusion in self._fusions:
            members = slice(fusion.first, fusion.last + 1)
            time = sum(times[members]) if times else None
            self._table[members, abi.CHUNKS] = 0
            chunks.append(min(fusion.chunks(threads, time), most))
            self._table[fusion.first, abi.CHUNKS] = chunks[-1]
        self._shared_pools = pools = self._pools if max(chunks) > 1 and threads > 1 else None
        self._is_final = not self._trials and (pools is None or not pools.needs_wake)
        module, name = ("threads", "run_threaded") if pools else ("launch", "run_plan")
        self._context[abi.RUN] = loaded(module).addresses[name]
        self._context[abi.RUNS] = 0 if self._trials else abi.NO_END

    def _run(self, check: Callable[[], object] | None) -> None:
        if self._pool is not None:
            self._pool.wake()
        if self._trials:
            self._context[abi.RUNS] = 1
        if not self._begin():
            self.resume(check)
        if check is not None:
            check()

    def resume(self, check: Callable[[], object] | None = None) -> None:
        """Goes on until all is done with what machine code came back from.

        That is the whole run where it has done as many as it should before a retry.
        """
        if self._context[abi.CURSOR] == abi.NOT_BEGUN:
            self._run_trial(check)
            return
        while True:
            if self._context[abi.CURSOR] < 0:
                raise self._fault(~self._context[abi.CURSOR])
            pools = self._shared_pools
            if pools and not self._context[abi.POOL]:  # another program runs with the last one
                self._pool = pools.idle_pool()
                self._pool.wake()
                self._context[abi.POOL] = self._pool.address
            elif check is not None:
                check()
            if self._resume():
                return

    def _fault(self, cursor: int) -> Fault:
        """The fault of the first chunk that reported one, in the instruction before the cursor."""
        position = (cursor - 1) >> abi.CHUNK_BITS
        chunks = cursor & abi.CHUNK_MASK or self._table[position, abi.CHUNKS]
        reports = self._faults[:chunks]
        instruction = self.instructions[position]
        fault = Fault(instruction.tag, *reports[reports[:, 0] != 0][0].tolist())
        fault.instruction = instruction
        return fault


def _first_quartile(times: list[int]) -> int:
    """A time that a program often takes: not that of a run in which all went well."""
    return sorted(times)[len(times) // 4]


class _Method(ctypes.Structure):
    """PyMethodDef"""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _function(context: np.ndarray, name: str) -> Callable[[], bool]:
    """A function without arguments that runs a plan; true when it was run to its end.

    `name` says how: "begin" or "resume".
    """
    make = _builtin_maker(context)
    if make is None:
        return lambda: bool(_run_by_ctypes(context, name))
    context[abi.SAVE_THREAD : abi.FALSE + 1] = _words
    return make(ctypes.byref(_methods[name]), context, None)


def _run_by_ctypes(context: np.ndarray, name: str) -> int:
    if name == "begin":
        if not context[abi.RUNS]:
            context[abi.CURSOR] = abi.NOT_BEGUN
            return 0
        context[abi.RUNS] -= 1
        context[abi.CURSOR] = 0
    return _WORD_FUNCTION(int(context[abi.RUN]))(arena.address(context))


def _builtin_maker(context: np.ndarray) -> Callable[..., Callable[[], bool]] | None:
    """What makes builtin functions; None where arrays are not laid out as `begin` takes them."""
    if not _makers:
        elements = ctypes.c_int64.from_address(id(context) + _DATA).value
        maker = None
        if sys.implementation.name == "cpython" and elements == arena.address(context):
            python = ctypes.pythonapi
            names = "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef"
            functions = [ctypes.cast(python[name], ctypes.c_void_p).value for name in names]
            _words[:] = *functions, id(True), id(False)
            kind = ctypes.PYFUNCTYPE(
                ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
            )
            for name in ("begin", "resume"):
                address = loaded("launch").addresses[name]
                method = _methods[name] = _Method(name.encode(), address, _METH_NOARGS, None)
                python.Py_IncRef(ctypes.py_object(method))  # functions need it to the very end
            maker = kind(("PyCFunction_NewEx", python))
        _makers.append(maker)
    return _makers[0]
