"""`flatlite inspect`."""

from __future__ import annotations

import argparse
from typing import Any

from ..tools.terminal import printable, show_json, show_table
from .arguments import add_delegates, delegates_of
from .files import check_model

SUMMARY = "Show a .tflite file's signatures, operators, tensors and sizes."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model")
    add_delegates(sub)


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite inspect`."""
    from ..tools import contents

    check_model(arguments.model)
    result = contents.inspect(arguments.model)
    delegates = delegates_of(arguments)
    if delegates:
        result["delegates"] = contents.delegated(arguments.model, delegates)
    if arguments.json:
        return show_json(result)
    if delegates:
        return show_delegates(result["delegates"])
    print(
        f"{result['file']}: {result['bytes']:,} bytes, {result['constant_bytes']:,} of them "
        f"constants, {len(result['subgraphs'])} subgraph(s)"
    )
    for kind in ("metadata", "associated_files"):
        if result[kind]:
            sizes = ", ".join(f"{printable(n)} ({size:,})" for n, size in result[kind].items())
            print(f"{kind.replace('_', ' ')}: {sizes}")
    for key, names in result["signatures"].items():
        inputs, outputs = ", ".join(names["inputs"]), ", ".join(names["outputs"])
        print(f"signature {key}: ({inputs}) -> ({outputs})")
    show_table("inputs", result["inputs"])
    show_table("outputs", result["outputs"])
    show_table("operators", [{"name": k, "count": n} for k, n in result["operators"].items()])
    for i, subgraph in enumerate(result["subgraphs"]):
        suffix = f" of subgraph {i} '{subgraph['name']}'" if len(result["subgraphs"]) > 1 else ""
        show_table(f"operators in order{suffix}", subgraph["operators"])
        show_table(f"tensors{suffix}", subgraph["tensors"])
    return None


def show_delegates(summary: dict[str, Any]) -> None:
    """Who runs which operator, and what is copied."""
    show_table("operators in order", summary["operators"])
    show_table(
        f"partitions; {summary['bytes_copied']:,} bytes copied in each run", summary["parts"]
    )
