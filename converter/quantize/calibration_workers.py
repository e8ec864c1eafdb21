"""Processes that run a float model on samples, several at once, for calibration.

    (content, [(signature, subgraph), ...])                  at first, on the standard input
    (number of the function, arrays)                         for each sample
    (table of what was measured, the error or None)          for each sample, on the standard output

All as pickles. Tables come back in the order of the samples: ranges are those of one process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
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


class Workers:
    """Some processes with a model each; a context, which ends them.

    Args:
        n: how many.
        functions: those of the model's float file.
    """

    def __init__(self, n: int, functions: Sequence[Function]) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _ in range(n)
        ]
        model = functions[0].content, [(part.signature, part.subgraph) for part in functions]
        for process in self._processes:
            _send(process.stdin, model)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def measure(self, samples: Iterable[Sample]) -> Iterator[tuple[str, np.ndarray]]:
        """What each sample is called, and the table of what was measured on it; in their order.

        Raises what running the model raises.
        """
        waiting: deque[tuple[subprocess.Popen[bytes], str]] = deque()
        for position, (i, label, arrays) in enumerate(samples):
            process = self._processes[position % len(self._processes)]
            if len(waiting) == len(self._processes):
                yield _result(*waiting.popleft())
            _send(process.stdin, (i, list(arrays)))
            waiting.append((process, label))
        while waiting:
            yield _result(*waiting.popleft())


def _result(process: subprocess.Popen[bytes], label: str) -> tuple[str, np.ndarray]:
    """What a process has measured on a sample; raises what it has raised."""
    assert process.stdout is not None
    try:
        table, error = pickle.load(process.stdout)
    except EOFError:
        raise RuntimeError(f"{label}: the process that ran it has ended") from None
    if error is not None:
        raise error
    return label, table


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
    content, ends = pickle.load(source)
    functions = [Function(content, signature, {}, subgraph) for signature, subgraph in ends]
    interpreter = functions[0].interpreter()
    table = observe_ranges(interpreter).table
    while True:
        try:
            i, arrays = pickle.load(source)
        except EOFError:
            return
        error: Exception | None = None
        table[...] = 0
        try:
            functions[i].run(interpreter, arrays)
        except Exception as raised:
            error = raised
        _send(target, (table, error))
