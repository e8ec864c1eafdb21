"""What a worker process (worker.py) does: compiles what is ordered, until no order comes."""

from __future__ import annotations

import gc
import json
import os
import select
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeVar

from . import driver
from .worker import IDLE

T = TypeVar("T")


def serve() -> None:
    """Builds what is ordered, until no order comes any more."""
    gc.disable()  # while code is written, there are ever more objects, and hardly any garbage
    # Where scipy is, numba imports it to look for LAPACK.
    sys.modules["scipy"] = None  # pyright: ignore[reportArgumentType]
    driver.compile_unoptimised()
    poll = select.poll()
    poll.register(sys.stdin.fileno(), select.POLLIN)
    while poll.poll(IDLE):
        order = sys.stdin.readline()
        if not order:
            break
        os.environ["FLATLITE_CACHE"], *parts = json.loads(order)
        _import_compiler(chain.from_iterable(parts))
        children = [_fork(driver.build_here, part) for part in parts]
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        print(json.dumps(codes), flush=True)
    os._exit(0)  # without clearing up after numba


def _import_compiler(requests: Iterable[str]) -> None:
    """Imports all that the processes which compile will need."""
    from . import bitcode, compiler

    modules = {request.partition(".")[0] for request in requests}
    if not all(bitcode.is_current(module) for module in modules):
        compiler.import_numba()


def _fork(function: Callable[[T], object], argument: T) -> int:
    """The number of a process that calls a function."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        function(argument)
        code = 0
    finally:
        os._exit(code)
