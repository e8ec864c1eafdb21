"""`flatlite compare`."""

from __future__ import annotations

import argparse

from ..converter.api.progress import Progress
from ..tools.terminal import show_json, show_table
from .arguments import SOURCES, positive

SUMMARY = "Run two models on the same inputs and show how their outputs differ."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("a", help=SOURCES)
    sub.add_argument("b", help="another one")
    sub.add_argument("--runs", type=positive, default=3, help="random inputs to try (default: 3)")
    sub.add_argument("--signature", metavar="KEY", help="the signature to run")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite compare`."""
    from ..tools.comparison import compare

    with Progress("comparing", quiet=arguments.json):
        result = compare(arguments.a, arguments.b, arguments.runs, arguments.signature)
    if arguments.json:
        return show_json(result)
    return show_table(f"largest differences over {result['runs']} inputs", result["outputs"])
