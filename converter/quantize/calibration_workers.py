"""Processes that run a float model on samples, several at once, for calibration.

    (content, [(signature, subgraph), ...], a sample)        at first, on the standard input
    (number of the function, arrays)                         a sample
    (table of what was measured, the error or None)          for each, on the standard output

All as pickles. The answer to the first message says that a process is ready. Tables come back in
the order of the samples: ranges are those of one process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ...interpreter.plan.observation import observe_ranges

if TYPE_CHECKING:
    from ..api.samples import Sample
    from ..verify.verification import Function

# "" in the path would be the working folder.
_SERVE = f"""import sys
sys.path[:] = filter(None, sys.path)
from {__name__} import serve
serve()
"""


PATIENCE = 1.0
"""Seconds for which one process calibrates: others would begin to help when it is done."""
DEPTH = 2
"""Samples that a process may have: one that it runs on, and the next."""
MOST_WAITING = 64
"""Answers that wait for an earlier one."""
Run = Callable[["Sample"], np.ndarray]


class _PendingSample:
    """What a process, or this one, has measured on a sample, or will have.

    Attributes:
        label: what the sample is called.
        worker: the process that was asked; None for this one.
        table: what was measured, once it is there.
        error: what running the model raised, else None.
    """

    def __init__(self, label: str, worker: _Worker | None = None) -> None:
        self.label, self.worker = label, worker
        self.table: np.ndarray | None = None
        self.error: Exception | None = None


class _Worker:
    """A process with a model: one thread sends it samples, another reads its results.

    Args:
        first: the message that it starts with.
        changed: notified when it is ready, has returned a result, or has ended.

    Attributes:
        is_ready, has_ended: whether it has answered the first message, and whether it is gone.
        waiting: the samples that it has not returned yet.
    """

    def __init__(self, first: object, changed: threading.Condition) -> None:
        self.is_ready = self.has_ended = False
        self.waiting: deque[_PendingSample] = deque()
        self._changed = changed
        self._messages: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._messages.put(first)
        self._threads = [threading.Thread(target=one) for one in (self._send_all, self._read_all)]
        for thread in self._threads:
            thread.start()

    def submit(self, pending: _PendingSample, message: object) -> None:
        """Lets it measure a sample."""
        self.waiting.append(pending)
        self._messages.put(message)

    def close(self) -> None:
        """Ends the process, and waits for it."""
        self._process.kill()
        self._process.wait()
        self._messages.put(None)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # of what it has not read
                    pipe.close()

    def _send_all(self) -> None:
        while (message := self._messages.get()) is not None:
            _send(self._process.stdin, message)

    def _read_all(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            pickle.load(self._process.stdout)
            with self._changed:
                self.is_ready = True
            while True:
                table, error = pickle.load(self._process.stdout)
                with self._changed:
                    pending = self.waiting.popleft()
                    pending.table, pending.error = table, error
                    self._changed.notify()
        with self._changed:
            self.has_ended = True
            self._changed.notify()


class Workers:
    """Some processes with a model each; a context, which ends them.

    They are started when calibration has taken PATIENCE seconds, and this process goes on without
    them until one is ready. None waits for another: each has DEPTH samples at most, this one takes
    the next where all have as many, and results are put in order.

    Args:
        n: how many.
        functions: those of the model's float file.
    """

    def __init__(self, n: int, functions: Sequence[Function]) -> None:
        self._n, self._functions = n, functions
        self._workers: list[_Worker] = []
        self._changed = threading.Condition()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.close()

    def measure(self, samples: Iterable[Sample], run: Run) -> Iterator[tuple[str, np.ndarray]]:
        """What each sample is called, and the table of what was measured on it; in their order.

        Args:
            samples: the samples.
            run: measures a sample in this process.

        Raises what running the model raises.
        """
        begin = time.monotonic()
        unfinished: deque[_PendingSample] = deque()
        for sample in samples:
            if self._n and not self._workers and time.monotonic() - begin >= PATIENCE:
                self._start(sample)
            worker = self._idle_worker()
            pending = _PendingSample(sample[1], worker)
            unfinished.append(pending)
            if worker is not None:
                worker.submit(pending, (sample[0], list(sample[2])))
            else:
                try:
                    table = run(sample)
                    pending.table = table.copy() if len(unfinished) > 1 else table
                except Exception as raised:  # those before it may have raised, too
                    pending.error = raised
            yield from self._completed(unfinished, 0 if pending.error else MOST_WAITING)
        yield from self._completed(unfinished, 0)

    def _idle_worker(self) -> _Worker | None:
        """The process that has fewest samples, unless all have as many as they may."""
        with self._changed:
            ready = [one for one in self._workers if one.is_ready and not one.has_ended]
        worker = min(ready, key=lambda one: len(one.waiting), default=None)
        return worker if worker is not None and len(worker.waiting) < DEPTH else None

    def _completed(
        self, unfinished: deque[_PendingSample], most: int
    ) -> Iterator[tuple[str, np.ndarray]]:
        """Results in order, as far as complete; waits until at most `most` are unfinished."""
        while unfinished:
            first = unfinished[0]
            with self._changed:
                while first.table is None and first.error is None and len(unfinished) > most:
                    if first.worker is not None and first.worker.has_ended:
                        raise RuntimeError(f"{first.label}: the process that ran it has ended")
                    self._changed.wait()
            if first.error is not None:
                raise first.error
            if first.table is None:
                return
            unfinished.popleft()
            yield first.label, first.table

    def _start(self, sample: Sample) -> None:
        """Starts the processes; each has run `sample` when it is ready."""
        ends = [(part.signature, part.subgraph) for part in self._functions]
        message = self._functions[0].content, ends, (sample[0], list(sample[2]))
        self._workers = [_Worker(message, self._changed) for _ in range(self._n)]


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    """Sends a message to a process; one that has ended says so when its result is read."""
    assert pipe is not None
    try:
        pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
        pipe.flush()
    except BrokenPipeError:
        return


def serve() -> None:
    """Measures samples until the standard input ends."""
    from ..verify.verification import Function

    source, target = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no result
    content, ends, first = pickle.load(source)
    functions = [Function(content, signature, {}, subgraph) for signature, subgraph in ends]
    interpreter = functions[0].interpreter()
    table = observe_ranges(interpreter).table
    i, arrays = first
    while True:
        error: Exception | None = None
        table[...] = 0
        try:
            functions[i].run(interpreter, arrays)
        except Exception as raised:
            error = raised
        _send(target, (table, error))
        try:
            i, arrays = pickle.load(source)
        except EOFError:
            return
