"""Steps of training, beside TensorFlow's compat.v1.Session where it is installed.

    python benchmarks/train.py [--programs lenet,lstm] [--threads 1,2] [--tensorflow PYTHON]

Each library has a process of its own with the same program and the same weights; they take turns in
blocks, and the table shows medians of the time of a step, and TensorFlow's divided by ours: above 1
ours is faster. The losses of the first steps are compared before anything is timed. Where rounding
decides which element of a pool is the largest, both ways are right, so inputs with other last bits
may be tried until flatlite takes TensorFlow's. PYTHON is an interpreter that has TensorFlow
(default: this one, if it has).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from child import Child
from rich.console import Console
from rich.table import Table
from train_programs import PROGRAMS, TITLES

TRAINER = Path(__file__).with_name("trainer.py")
OURS, THEIRS = "flatlite.compat.v1", "tensorflow.compat.v1"
COMPARED = 10
"""Steps whose losses are compared."""
TOLERANCE = 1e-4
"""How far apart they may be, as part of the loss."""
ROUNDINGS = 8
"""How often inputs with other last bits are tried where the losses are further apart."""
WARM_UP = 30
"""Steps that are not counted: in the first ones flatlite tries how to share its work."""
BLOCK, DROPPED, PAUSE = 12, 2, 0.015  # steps in a block, its first ones not counted, sleep before


class Contestant(Child):
    """A process of trainer.py."""

    def __init__(self, python: str, module: str):
        super().__init__([python, str(TRAINER), module])


def cpu() -> str:
    """The processor's name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown processor"


def compare(contestants: dict[str, Contestant], program: str, threads: int) -> str:
    """Opens the program; by how much the first losses differ at most, as part of the loss.

    Raises SystemExit when no rounding of the inputs gives losses within TOLERANCE of TensorFlow's.
    """
    ours, *others = contestants.values()
    for contestant in others:
        contestant.ask("open", program=program, threads=threads)
    theirs = [contestant.ask("losses", steps=COMPARED) for contestant in others]
    differences: list[float] = []
    for rounding in range(ROUNDINGS + 1):
        ours.ask("open", program=program, threads=threads, rounding=rounding)
        if not theirs:
            return ""
        losses = ours.ask("losses", steps=COMPARED)
        differences.append(max(abs(a - b) / abs(b) for a, b in zip(losses, *theirs, strict=True)))
        if differences[-1] <= TOLERANCE:
            return f"{differences[-1]:.0e}" + (f" (rounding {rounding})" if rounding else "")
    raise SystemExit(f"{program}: the losses differ by {min(differences):.1e} from {theirs}")


def measure(contestants: dict[str, Contestant], seconds: float) -> dict[str, list[list[float]]]:
    """(wall, CPU) seconds of steps by contestant, taken in turns."""
    taken: dict[str, list[list[float]]] = {name: [] for name in contestants}
    for contestant in contestants.values():
        contestant.ask("steps", steps=WARM_UP)
    end, turn = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or turn < 4:
        for name in list(contestants)[:: 1 if turn % 2 else -1]:
            time.sleep(PAUSE)
            taken[name] += contestants[name].ask("steps", steps=BLOCK)[DROPPED:]
        turn += 1
    return taken


def result(
    contestants: dict[str, Contestant], program: str, threads: int, seconds: float
) -> dict[str, Any]:
    """One line of the table."""
    difference = compare(contestants, program, threads)
    taken = measure(contestants, seconds)
    times = {
        name: [1e3 * statistics.median(step[i] for step in steps) for i in (0, 1)]
        for name, steps in taken.items()
    }
    return {"program": program, "threads": threads, "ms": times, "losses": difference}


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--programs", type=lambda s: s.split(","), default=list(PROGRAMS))
    parser.add_argument("--threads", type=lambda s: [*map(int, s.split(","))], default=[1, 2])
    parser.add_argument("--seconds", type=float, default=6.0, help="for each line of the table")
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    options = parser.parse_args()
    libraries = {"flatlite": (sys.executable, OURS)}
    if options.tensorflow or importlib.util.find_spec("tensorflow"):
        libraries["TensorFlow"] = (options.tensorflow or sys.executable, THEIRS)
    table = Table(title=f"milliseconds for a step (CPU time), {cpu()}")
    table.add_column("program")
    for heading in ("threads", *libraries, "TensorFlow / flatlite", "losses differ by"):
        table.add_column(heading, justify="right")
    results = []
    for threads in options.threads:  # TensorFlow's threads are those of its first session
        contestants = {name: Contestant(*library) for name, library in libraries.items()}
        for program in options.programs:
            results.append(result(contestants, program, threads, options.seconds))
            table.add_row(*cells(results[-1], list(contestants)))
        for contestant in contestants.values():
            contestant.close()
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    if options.json:
        options.json.write_text(json.dumps({"cpu": cpu(), "results": results}, indent=1))


def cells(line: dict[str, Any], names: list[str]) -> list[str]:
    """What the table shows of a result."""
    ms = line["ms"]
    times = [f"{ms[name][0]:.2f} ({ms[name][1]:.2f})" for name in names]
    ratio = "-"
    if len(names) > 1:
        wall, cpu_time = (theirs / ours for ours, theirs in zip(*ms.values(), strict=True))
        ratio = f"{wall:.2f} ({cpu_time:.2f})"
    return [TITLES[line["program"]], str(line["threads"]), *times, ratio, line["losses"] or "-"]


if __name__ == "__main__":
    main()
