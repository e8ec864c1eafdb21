"""Times operators one at a time beside LiteRT.

    python benchmarks/operators.py [PATTERN ...] [--threads 1] [--calls 40] [--below RATIO]
        [--json FILE]

Each row of operator_models.py is a file of its own, which both libraries run in turns in this
process; times are medians as measure.py takes them. Ratios are LiteRT / ours: above 1 flatlite is
faster. Only rows whose names match one of the regular expressions PATTERN run; `--below 1.0` prints
those that are slower.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from contestants import Contestant
from measure import Schedule, cost, enter, several, single
from operator_models import CACHES, cache, rows
from rich.console import Console
from rich.table import Table

Written = tuple[bytes, list[np.ndarray]]
"""A file and its inputs."""
SECONDS = 20.0  # for one row, at most


def files() -> Iterator[tuple[str, Callable[[], Written]]]:
    """Names, and what writes each."""
    for row in rows():
        yield row.name, row.write
    for name, arguments in CACHES.items():
        yield name, lambda arguments=arguments: cache(*arguments)


def difference(contestants: dict[str, Contestant]) -> float:
    """The largest difference of any output."""
    ours, theirs = (contestants[name].outputs() for name in ("ours", "auto"))
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        differs = a != b  # infinities that both have are no difference
        gaps = np.abs(a[differs].astype(np.float64) - b[differs])
        worst = max(worst, gaps.max(initial=0))
    return worst


def measured(written: Written, threads: int, calls: int) -> dict:
    """Seconds of both, or why one of them refuses."""
    content, inputs = written
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "operator.tflite")
        path.write_bytes(content)
        np.savez(path.with_suffix(".npz"), *inputs)
        entered = {name: enter(name, path, threads) for name in ("ours", "auto")}
    refusals = {name: why for name, why in entered.items() if isinstance(why, str)}
    if refusals:
        return {"refused": "; ".join(f"{name}: {why}" for name, why in refusals.items())}
    result = {"difference": difference(entered)}
    plan = Schedule({name: cost(c.invoke) for name, c in entered.items()}, 1, calls, SECONDS)
    gc.collect()
    gc.disable()
    samples = (single if threads == 1 else several)(entered, plan)
    gc.enable()
    return result | {name: statistics.median(taken) for name, taken in samples.items()}


def table_of(results: dict[str, dict], below: float) -> Table:
    """The table of what is below a ratio."""
    table = Table("operator", title="microseconds a call, medians")
    for column in ("LiteRT", "flatlite", "ratio", "largest difference"):
        table.add_column(column, justify="right")
    for name, result in results.items():
        if "refused" in result:
            table.add_row(name, result["refused"])
        elif (ratio := result["auto"] / result["ours"]) < below:
            times = (f"{result[key] * 1e6:.2f}" for key in ("auto", "ours"))
            table.add_row(name, *times, f"{ratio:.2f}", f"{result['difference']:.3g}")
    return table


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=[""], metavar="PATTERN")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--calls", type=int, default=40, help="samples of each library")
    parser.add_argument("--below", type=float, default=float("inf"), metavar="RATIO")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    options = parser.parse_args()
    results, console = {}, Console(stderr=True)
    with console.status("") as status:
        for name, write in files():
            if any(re.search(pattern, name) for pattern in options.patterns):
                status.update(name)
                results[name] = measured(write(), options.threads, options.calls)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    Console(width=110).print(table_of(results, options.below))


if __name__ == "__main__":
    main()
