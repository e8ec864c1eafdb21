"""Child processes that answer many jobs each, and may die or hang of one."""

import importlib
import multiprocessing
import os
import sys
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
STARTS = 30.0  # seconds, on a busy machine


@dataclass(frozen=True)
class Died:
    """A job ended its process, or did not end in time."""

    text: str


def serve(pipe, path, module, function) -> None:
    """The child: sends function(job) for each job until the pipe closes."""
    sys.path[:] = path
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.environ["FLATLITE_PLANS"] = ""
    function_served = getattr(importlib.import_module(module), function)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(function_served(job))


class Child:
    """A process that runs `function` of a module, started again after a job that ended it.

    `send` and `receive` are apart so that two children may work at the same time.
    """

    def __init__(self, module: str, function: str):
        self._serves = module, function
        self._process = None
        self._n_jobs = 0  # of this process

    def send(self, job) -> None:
        """Gives a job to the child."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send(job)
        except OSError:  # it died of the job before, after its answer
            self._process.join()
            self._start()
            self._pipe.send(job)
        self._n_jobs += 1

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        search_path = (theirs, [str(TESTS), *sys.path], *self._serves)
        self._process = context.Process(target=serve, args=search_path, daemon=True)
        self._process.start()
        self._n_jobs = 0
        theirs.close()

    def receive(self, timeout: float = 60.0):
        """What the job gave, or Died; the first one has the time of the imports, too."""
        timeout += STARTS if self._n_jobs == 1 else 0
        try:
            if self._pipe.poll(timeout):
                return self._pipe.recv()
            died = f"no answer within {timeout:g} s"
            self._process.kill()
            self._process.join()
        except (EOFError, ConnectionResetError):
            self._process.join()
            died = f"ended with exit code {self._process.exitcode}"
        self._process = None
        return Died(died)

    def run(self, job, timeout: float = 60.0):
        """What one job gives, or Died."""
        self.send(job)
        return self.receive(timeout)

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._pipe.close()
            self._process.join(10)
            self._process = None
