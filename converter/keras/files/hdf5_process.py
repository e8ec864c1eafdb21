"""HDF5 files, read by another process: libhdf5 can crash on damaged ones, or never come back.

A server imports h5py once and forks a reader for each file, with limits on its time and memory.
Parent and reader speak over the server's standard input and output:

    open       {"what": ..., "size": bytes} newline content
    question   [method, argument, ...] newline
    answer     [value] newline, {"error": text} newline, {"signal": number} newline,
               or, of an array, {"dtype": ..., "shape": ...} newline values
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import numpy as np

from ....schema.errors import ModelError
from .limits import unpack_limit

SECONDS = 10
"""That reading any file may take a processor; large ones may take more."""
BYTES_PER_SECOND = 10_000_000
MIN_MEMORY = 1 << 30
CLOSE = b"[]\n"
_idle: list[Server] = []
# "" in the path would be the working folder.
_SERVE = f"""import sys
sys.path[:] = filter(None, sys.path)
from {__name__} import serve
serve()
"""


class Store:
    """An HDF5 file in memory; groups and datasets are found by their path."""

    def __init__(self, content: bytes, what: str) -> None:
        """Opens; raises ModelError when `content`, called `what` in messages, is no HDF5."""
        self.what = what
        self._server = _idle.pop() if _idle else Server()
        self._release = weakref.finalize(self, self._server.release)
        header = {"what": what, "size": len(content)}
        self._server.write(json.dumps(header).encode() + b"\n", content)
        self._read_reply()

    def names(self, path: str) -> list[str]:
        """The names in a group; none when there is no such group."""
        return self._ask("names", path)

    def text(self, path: str, name: str) -> str | None:
        """An attribute that is a text, None when there is none."""
        return self._ask("text", path, name)

    def texts(self, path: str, name: str) -> list[str]:
        """An attribute that is a list of texts; Keras stores a long one in parts."""
        return self._ask("texts", path, name)

    def shape(self, path: str) -> tuple[int, ...] | None:
        """The shape of a dataset, None when there is none."""
        shape = self._ask("shape", path)
        return None if shape is None else tuple(shape)

    def array(self, path: str) -> np.ndarray:
        """The values of a dataset.

        Raises ModelError when they are not numbers, not in the file, or far more than it can hold.
        """
        return self._ask("array", path)

    def _ask(self, *question: str) -> Any:
        if self._server.is_open:
            self._server.write(json.dumps(question).encode() + b"\n")
        return self._read_reply()

    def _read_reply(self) -> Any:
        """What the reader answers; ModelError when it refuses or has ended."""
        reply = self._server.read() if self._server.is_open else {}
        if isinstance(reply, np.ndarray):
            return reply
        if isinstance(reply, list):
            return reply[0]
        if "error" in reply:
            raise ModelError(reply["error"])
        raise ModelError(
            f"{self.what} cannot be read as HDF5: libhdf5 ended with {_ending(reply)} on it; the "
            "file is damaged, copy or save it again"
        )


def _ending(reply: dict) -> str:
    """How a reader has ended, in words."""
    return signal.Signals(reply["signal"]).name if reply.get("signal") else "an error"


class Server:
    """A process that reads HDF5 files one after another, with our import path."""

    def __init__(self) -> None:
        path = os.pathsep.join(os.path.abspath(path) for path in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _SERVE],
            env={**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
            cwd=os.sep,  # one that nobody removes
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._owner = os.getpid()
        self.is_open = False

    def write(self, *parts: bytes) -> None:
        """Sends a question, or a file to open; what has ended is noticed by `read`."""
        stdin = self.process.stdin
        assert stdin is not None
        self.is_open = True
        try:
            for part in parts:
                stdin.write(part)
            stdin.flush()
        except BrokenPipeError:
            pass
        except BaseException:  # Ctrl-C
            self.end()
            raise

    def read(self) -> Any:
        """The answer: an array, a list of one value, a dict with an error or the way of ending."""
        stdout: Any = self.process.stdout
        try:
            reply = json.loads(stdout.readline() or b"{}")
            if "dtype" in reply:
                values = np.empty(reply["shape"], reply["dtype"])
                if stdout.readinto(_bytes(values)) == values.nbytes:
                    return values
                reply = {}
        except BaseException:  # Ctrl-C
            self.end()
            raise
        if "signal" in reply:
            self.is_open = False
        elif not reply:
            self.end()
        return reply

    def release(self) -> None:
        """Closes the file, and keeps the process for the next."""
        if self._owner != os.getpid() or self.process.returncode is not None:
            return
        if self.is_open:
            self.write(CLOSE)
            self.read()
        if self.process.returncode is None:
            _idle.append(self)

    def end(self) -> None:
        """Ends the process."""
        self.is_open = False
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # what a reader that has ended did not take
                pipe.close()
        self.process.wait()


def serve() -> None:
    """Reads files until the standard input is closed."""
    import h5py  # noqa: F401  # pyright: ignore[reportUnusedImport]  # for all readers at once

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions = os.fdopen(0, "rb", 0)
    while header := questions.readline():
        if not header.startswith(b"{"):  # a question, or its end, to a reader that has ended
            continue
        opened = json.loads(header)
        what, content = opened["what"], _read_exactly(questions, opened["size"])
        pid = os.fork()
        if not pid:
            _limit(content)
            _read_file(questions, content, what)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        _send({"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0})


def _read_exactly(file: Any, size: int) -> bytes:
    parts = []
    while size and (part := file.read(min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _limit(content: bytes) -> None:
    """Sets the processor time and memory that reading may take."""
    import resource

    seconds = SECONDS + len(content) // BYTES_PER_SECOND
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = MIN_MEMORY + unpack_limit(content)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _read_file(questions: BinaryIO, content: bytes, what: str) -> None:
    """Answers questions about a file until there are no more."""
    from .hdf5 import HDF5File

    file: HDF5File | None = None
    with _refusing(what):
        file = HDF5File(content, what)
        _send([None])
    while question := json.loads(questions.readline() or CLOSE):
        with _refusing(what):
            value = getattr(file, question[0])(*question[1:])
            if isinstance(value, np.ndarray):
                values = np.ascontiguousarray(value)
                _send({"dtype": values.dtype.str, "shape": value.shape}, _bytes(values))
            else:
                _send([value])


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Sends the error where a file cannot be read."""
    try:
        yield
    except ModelError as error:
        _send({"error": str(error)})
    except MemoryError:
        _send({"error": f"{what} cannot be read as HDF5: it takes too much memory"})


def _bytes(values: np.ndarray) -> memoryview:
    # Only from Python 3.12 on do arrays say in their type that they are buffers.
    return memoryview(values.reshape(-1).view(np.uint8))  # pyright: ignore[reportArgumentType]


def _send(reply: Any, *values: memoryview) -> None:
    """Writes an answer to the standard output."""
    for part in (memoryview(json.dumps(reply).encode() + b"\n"), *values):
        unwritten = part
        while unwritten:
            unwritten = unwritten[os.write(1, unwritten) :]


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _forget_idle() -> None:
    """In a forked child: the servers are the parent's, which waits for them."""
    while _idle:
        _idle.pop().process.returncode = 0


atexit.register(_end_idle)
os.register_at_fork(after_in_child=_forget_idle)
