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
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ...interpreter.observation import observe_ranges

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
Run = Callable[["Sample"], np.ndarray]


class Workers:
    """Some processes with a model each; a context, which ends them.

    They are started when calibration has taken PATIENCE seconds, and this process goes on without
    them until one is ready.

    Args:
        n: how many.
        functions: those of the model's float file.
    """

    def __init__(self, n: int, functions: Sequence[Function]) -> None:
        self._n, self._functions = n, functions
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ready: list[subprocess.Popen[bytes]] = []
        self._starters: list[threading.Thread] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        for thread in self._starters:
            thread.join()
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):  # of what it has not read
                        pipe.close()

    def measure(self, samples: Iterable[Sample], run: Run) -> Iterator[tuple[str, np.ndarray]]:
        """What each sample is called, and the table of what was measured on it; in their order.

        Args:
            samples: the samples.
            run: measures a sample in this process.

        Raises what running the model raises.
        """
        begin = time.monotonic()
        waiting: list[tuple[str, subprocess.Popen[bytes]]] = []
        for sample in samples:
            if self._n and not self._processes and time.monotonic() - begin >= PATIENCE:
                self._start(sample)
            if len(waiting) < len(self._ready):
                process = self._ready[len(waiting)]
                _send(process.stdin, (sample[0], list(sample[2])))
                waiting.append((sample[1], process))
                continue
            error: Exception | None = None
            table: np.ndarray | None = None
            try:
                table = run(sample)
            except Exception as raised:  # those before it may have raised, too
                error = raised
            if waiting and table is not None:
                table = table.copy()
            yield from _answers(waiting)
            waiting.clear()
            if error is not None:
                raise error
            assert table is not None
            yield sample[1], table
        yield from _answers(waiting)

    def _start(self, sample: Sample) -> None:
        """Starts the processes; each has run `sample` when it is ready."""
        path = os.pathsep.join(filter(None, sys.path))
        ends = [(part.signature, part.subgraph) for part in self._functions]
        message = self._functions[0].content, ends, (sample[0], list(sample[2]))
        for _ in range(self._n):
            process = subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._processes.append(process)
            self._starters.append(threading.Thread(target=self._prepare, args=(process, message)))
            self._starters[-1].start()

    def _prepare(self, process: subprocess.Popen[bytes], message: object) -> None:
        """Waits for a process to be ready; one that ends before that is never asked."""
        _send(process.stdin, message)
        assert process.stdout is not None
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            pickle.load(process.stdout)
            self._ready.append(process)


def _answers(
    waiting: Iterable[tuple[str, subprocess.Popen[bytes]]],
) -> Iterator[tuple[str, np.ndarray]]:
    """What processes have measured on a sample each; raises what they have raised."""
    for label, process in waiting:
        assert process.stdout is not None
        try:
            table, error = pickle.load(process.stdout)
        except EOFError:
            raise RuntimeError(f"{label}: the process that ran it has ended") from None
        if error is not None:
            raise error
        yield label, table


def _send(pipe: IO[bytes] | None, message: Any) -> None:
    """Sends a message to a process; what has ended says so when its answer is read."""
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
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed is no answer
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
