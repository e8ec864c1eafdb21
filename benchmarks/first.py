"""What the first start costs: of a machine, and of a process that opens a file new to it.

    python benchmarks/first.py MODEL.tflite ... [--cold 3] [--opens 20]

CPU seconds of a process and its children up to the first result, with no kernel compiled before,
and with no folder to keep them in; and what `Interpreter` and `allocate_tensors` take above LiteRT
in fresh processes, in turns with it, where the kernels are compiled but no plan is kept.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from contestants import LITERT, OURS

START = Path(__file__).with_name("start.py")
OPEN = """
import sys, time
from importlib import import_module
import numpy
wall, cpu = time.perf_counter(), time.process_time()
interpreter = import_module(sys.argv[1]).Interpreter(model_path=sys.argv[2], num_threads=1)
interpreter.allocate_tensors()
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def child(*arguments: object, **environment: str) -> str:
    """Standard output of a Python process, which must succeed."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment}
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, env=variables, check=True, text=True, capture_output=True).stdout


def cold(model: Path, keeps: bool) -> float:
    """CPU seconds of a process and its children, where nothing is compiled yet."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder if keeps else os.devnull, "cache")
        before = os.times()
        child(START, OURS, model, FLATLITE_CACHE=cache, FLATLITE_PLANS="")
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def opens(model: Path, count: int) -> list[tuple[float, float]]:
    """Median (wall, CPU) seconds of ours and LiteRT from the import to allocated tensors."""
    taken: dict[str, list[list[float]]] = {OURS: [], LITERT: []}
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        for turn in range(count + 1):
            for library in list(taken)[:: 1 if turn % 2 else -1]:
                with tempfile.TemporaryDirectory() as plans:
                    os.chmod(plans, 0o700)
                    keep = {"FLATLITE_CACHE": cache, "FLATLITE_PLANS": plans}
                    words = child("-c", OPEN, library, model, **keep).split()
                taken[library].append([float(word) for word in words])
    # the first of each compiles kernels and bytecode
    return [tuple(map(statistics.median, zip(*runs[1:], strict=True))) for runs in taken.values()]


def main() -> None:
    """Measures and prints a line for each figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--cold", type=int, default=3, help="processes that compile; 0 for none")
    parser.add_argument("--opens", type=int, default=20, help="processes that open; 0 for none")
    options = parser.parse_args()
    for model in options.models:
        for keeps in (True, False):
            seconds = [cold(model, keeps) for _ in range(options.cold)]
            if seconds:
                where = "first result" if keeps else "first result, nothing kept"
                least, middle = min(seconds), statistics.median(seconds)
                print(f"{model.name}: {where}: CPU {least:.2f} s, median {middle:.2f} s")
        if options.opens:
            ours, litert = opens(model, options.opens)
            for what, mine, other in zip(("wall", "CPU"), ours, litert, strict=True):
                words = f"{1e3 * mine:.1f} ms, LiteRT {1e3 * other:.1f}"
                print(f"{model.name}: opened: {what} {words} ({1e3 * (mine - other):+.1f})")


if __name__ == "__main__":
    main()
