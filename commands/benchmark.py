"""`flatlite benchmark`."""

from __future__ import annotations

import argparse

from ..converter.api.progress import Progress
from ..tools.terminal import show_json, show_table
from .arguments import add_delegates, delegates_of, positive
from .files import check_model

SUMMARY = "Time a .tflite file: percentiles and a profile by operator."
N_SLOWEST = 20  # operators of a profile that are shown


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model")
    sub.add_argument("--runs", type=positive, default=50, help="timed invokes (default: 50)")
    sub.add_argument("--warmup", type=positive, default=5, help="invokes before (default: 5)")
    sub.add_argument("--threads", type=positive, default=1, help="threads (default: 1)")
    add_delegates(sub)


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite benchmark`."""
    from ..tools import timing

    check_model(arguments.model)
    total = arguments.runs + arguments.warmup
    with Progress("running", total, quiet=arguments.json) as progress:
        result = timing.benchmark(
            arguments.model,
            arguments.runs,
            arguments.warmup,
            arguments.threads,
            progress.advance,
            delegates_of(arguments),
        )
    if arguments.json:
        return show_json(result)
    rows = sorted(result["operators"], key=lambda row: -row["ms"])
    for name, shape in result["inputs"].items():
        print(f"input {name}: {'x'.join(map(str, shape))}")
    print("  ".join(f"{k} {v:.3f}" for k, v in result.items() if k.endswith("_ms")))
    if "delegates" in result:
        show_table("partitions of delegates", result["delegates"]["parts"])
    show_table("time by operator", timing.by_kind(rows))
    return show_table(f"the {min(N_SLOWEST, len(rows))} slowest of {len(rows)}", rows[:N_SLOWEST])
