"""The process that compiles kernels for others.

numba costs a process 0.4 s and 140 MB, and one program's kernels are asked for in several orders:
those that compute constants, those of the first stage, those of the next. So the worker imports
numba once and then waits for orders, as long as more may come. For each list of requests in an
order it forks: what was imported is shared, and what compiling leaves behind is gone afterwards.

    requests of an order, as JSON lines on the standard input       [folder, [request, ...], ...]
    how the processes that built them ended, on the standard output [exit code, ...]
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

IDLE = 5_000  # milliseconds after which a worker that nobody needs ends
_PAUSE = 20  # milliseconds between looks at what is built
_idle: list[Worker] = []
# "" in the path would be the working folder.
_SERVE = f"""import sys
sys.path[:] = filter(None, sys.path)
from {__package__}.compile_server import serve
serve()
"""


def build(parts: Sequence[Sequence[str]], folder: str, look: Callable[[], object]) -> int:
    """Has each list of requests in `parts` built into `folder` by a process of its own.

    `look()` is called now and then until that is done. Gives the signal that has ended one of the
    processes, 0 when there was none. Raises OSError when none can be started.
    """
    order = json.dumps([folder, *parts]).encode() + b"\n"
    worker = _idle.pop() if _idle else Worker()
    reply = worker.ask(order, look)
    if not reply:  # it may have been about to leave
        worker = Worker()
        reply = worker.ask(order, look)
    if not reply:
        return max(0, -worker.process.returncode)
    _idle.append(worker)
    return max(0, *(-code for code in json.loads(reply)))


class Worker:
    """A process that compiles, with our import path."""

    def __init__(self) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        environment["FLATLITE_BUILDING"] = "1"
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVE],
            env=environment,
            cwd=os.sep,  # one that nobody removes
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, order: bytes, look: Callable[[], object]) -> bytes:
        """The answer to an order; b"" when the worker has ended without one."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(order)
            poll = select.poll()
            poll.register(stdout, select.POLLIN)
            while not poll.poll(_PAUSE):
                look()
            reply = stdout.readline()
        except BrokenPipeError:
            reply = b""
        except BaseException:  # Ctrl-C
            self.process.terminate()
            self.end()
            raise
        if not reply:
            self.end()
        return reply

    def let_go(self) -> None:
        """Closes this process's ends of the pipes."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def end(self) -> None:
        """Lets the worker go, which ends as soon as no order can come."""
        self.let_go()
        self.process.wait()


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _forget_idle() -> None:
    """In a forked child: the workers are the parent's, which waits for them."""
    while _idle:
        worker = _idle.pop()
        worker.let_go()
        worker.process.returncode = 0


atexit.register(_end_idle)
os.register_at_fork(after_in_child=_forget_idle)
