"""`flatlite diff`."""

from __future__ import annotations

import argparse

from ..tools.terminal import printable, show_json
from .files import read_model

SUMMARY = (
    "Say in words what differs between two .tflite files: structure, options, scales, weights."
)


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("a", help="a .tflite file")
    sub.add_argument("b", help="another one")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite diff`."""
    from ..tools.edit.differences import differences

    texts = differences(read_model(arguments.a), read_model(arguments.b))
    if arguments.json:
        return show_json({"a": arguments.a, "b": arguments.b, "differences": texts})
    return print("\n".join(map(printable, texts or ["no difference"])))
