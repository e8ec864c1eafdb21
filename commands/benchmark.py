"""`flatlite benchmark`."""

from __future__ import annotations

import argparse
from typing import Any

from ..converter.api.progress import Progress
from ..tools.terminal import counted, show_json, show_table
from .arguments import add_delegates, delegates_of, positive
from .files import check_model

SUMMARY = "Time a .tflite file: percentiles and a profile by operator."
N_SLOWEST = 20  # operators of a profile that are shown
LONGEST_NAME = 40  # characters of a name in a table


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model")
    sub.add_argument("--runs", type=positive, default=50, help="timed invokes (default: 50)")
    sub.add_argument("--warmup", type=positive, default=5, help="invokes before (default: 5)")
    sub.add_argument("--threads", type=positive, default=1, help="threads (default: 1)")
    sub.add_argument(
        "--roofline",
        nargs="?",
        const=True,
        type=svg_file,
        metavar="FILE.svg",
        help="measure what this machine can do at most, and show how near each operator comes; "
        "with a file, draw it, too",
    )
    add_delegates(sub)


def svg_file(text: str) -> str:
    """The name of a picture, not that of a model that stands behind the option."""
    if not text.endswith(".svg"):
        raise argparse.ArgumentTypeError(f"draws an .svg file, got '{text}'; name the model first")
    return text


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite benchmark`."""
    from ..tools import timing

    check_model(arguments.model)
    picture = "" if arguments.roofline is True else arguments.roofline
    total = arguments.runs + arguments.warmup
    with Progress("running", total, quiet=arguments.json) as progress:
        result = timing.benchmark(
            arguments.model,
            arguments.runs,
            arguments.warmup,
            arguments.threads,
            progress.advance,
            delegates_of(arguments),
            roofline=picture,
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
    if picture is not None:
        show_roofline(result, picture)
    slowest = list(map(shown, rows[:N_SLOWEST]))
    return show_table(f"the {len(slowest)} slowest of {len(rows)}", slowest)


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the profile as the table shows it; `--json` has all of it."""
    name = row["name"]
    short = {**row, "name": name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."}
    if "of_limit" not in row:
        return short
    columns = {column: short[column] for column in ("index", "operator", "name", "ms", "share")}
    return {
        **columns,
        "products": f"{row['products'] / 1e6:.3g} M {row['numbers']}" if row["products"] else "",
        "MB": row["bytes"] / 1e6,
        "limited by": row["limited_by"],
        "of limit": row["of_limit"],
    }


def show_roofline(result: dict[str, Any], file: str) -> None:
    """The limits of the machine and what the model makes of them."""
    roofline = result["roofline"]
    products = ", ".join(f"{kind} {n / 1e9:.0f}" for kind, n in roofline["products"].items())
    near, far = (roofline["bandwidth"][i][1] / 1e9 for i in (0, -1))
    print(f"limits of {counted(result['threads'])}: G products/s {products}; reads", end=" ")
    print(f"{near:.0f} GB/s near, {far:.0f} GB/s far")
    whole = roofline["whole"]
    print(
        f"all operators: {whole['giga_products_per_second']:.3g} G products/s, "
        f"{whole['gigabytes_per_second']:.3g} GB/s, {whole['of_limit']:.0%} of the limit"
    )
    if file:
        print(f"drawn in {file}")
