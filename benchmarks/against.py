"""This checkout against a commit, in turns within one run: `run.py --against COMMIT`."""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from child import Child

HERE = Path(__file__).parent
ROUNDS = 20  # in which the two take turns
STARTS = 40  # processes of each, from their start to the first result


class Side(Child):
    """A process of checkout.py."""

    def __init__(self, root: Path) -> None:
        super().__init__([sys.executable, str(HERE / "checkout.py"), str(root)])


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A folder with a commit of this repository."""
    git = ["git", "-C", str(HERE.parent), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "before"
        subprocess.run([*git, "add", "--quiet", "--detach", root, commit], check=True)
        try:
            yield root
        finally:
            subprocess.run([*git, "remove", "--force", root], check=True)


def medians(sides: list[Side], do: str, rounds: int, **request: Any) -> tuple[float, float]:
    """Median seconds of both, which begin in turns."""
    seconds: list[list[float]] = [[], []]
    for i in range(rounds):
        for k in (0, 1) if i % 2 else (1, 0):
            seconds[k] += sides[k].ask(do, **request)
    before, now = map(statistics.median, seconds)
    return before, now


def starts(roots: list[Path], path: Path) -> tuple[float, float]:
    """Median seconds of processes that open a model and run it."""
    seconds: list[list[float]] = [[], []]
    for i in range(STARTS):
        for k in (0, 1) if i % 2 else (1, 0):
            seconds[k].append(started(roots[k], path))
    before, now = map(statistics.median, seconds)
    return before, now


def started(root: Path, path: Path) -> float:
    """Seconds of one such process."""
    begin = time.perf_counter()
    side = Side(root)
    side.ask("open", path=str(path), threads=1)
    seconds = time.perf_counter() - begin
    side.close()
    return seconds


@contextmanager
def running(roots: list[Path]) -> Iterator[list[Side]]:
    """A process for each folder."""
    sides = [Side(root) for root in roots]
    try:
        yield sides
    finally:
        for side in sides:
            side.close()


def invoked(roots: list[Path], path: Path, threads: int, calls: int) -> dict[str, Any]:
    """The line of one model; no numbers where one of the two does not run it."""
    what = f"{path.stem}, {threads} threads"
    with running(roots) as sides:
        try:
            for side in sides:
                side.ask("open", path=str(path), threads=threads)
        except RuntimeError:
            return {"what": what, "before_ms": math.nan, "now_ms": math.nan, "ratio": math.nan}
        return row(what, medians(sides, "invoke", ROUNDS, calls=calls))


def rows(options: argparse.Namespace, roots: list[Path]) -> Iterator[dict[str, Any]]:
    """What is compared, with median milliseconds before and now."""
    for path in sorted(options.folder.glob("*.tflite")):
        name, _, variant = path.stem.rpartition("_")
        if variant in options.variants and (not options.models or name in options.models):
            for threads in options.threads:
                yield invoked(roots, path, threads, max(1, options.calls // ROUNDS))
    for folder in options.saved_models:
        with running(roots) as sides:
            yield row(f"convert {folder}", medians(sides, "convert", ROUNDS, path=folder))
    for path in sorted(options.folder.glob("mobilenet_v1_*.tflite"))[:1]:
        yield row(f"start to first result, {path.stem}", starts(roots, path))


def row(what: str, pair: tuple[float, float]) -> dict[str, Any]:
    """One line of the table; above 1 it has become faster."""
    before, now = pair
    return {"what": what, "before_ms": 1e3 * before, "now_ms": 1e3 * now, "ratio": before / now}


def main(options: argparse.Namespace) -> None:
    """Prints a line for each model as it is measured."""
    with checked_out(options.against) as root:
        for one in rows(options, [root, HERE.parent]):
            print("{what:50} {before_ms:9.3f} {now_ms:9.3f} {ratio:6.3f}".format(**one), flush=True)
