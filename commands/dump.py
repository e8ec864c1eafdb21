"""`flatlite dump`."""

from __future__ import annotations

import argparse

from .arguments import natural
from .files import check_target, read_model

SUMMARY = "Write all that a .tflite file says as JSON; flatlite assemble makes a file of it again."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model")
    sub.add_argument("-o", "--output", help="the file to write (default: standard output)")
    sub.add_argument(
        "--numbers",
        type=natural,
        default=64,
        metavar="N",
        help="constants of up to N elements are lists of numbers, larger ones base64 (default: 64)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite dump`."""
    from ..schema.files import write_file
    from ..tools.edit.text import dump

    if arguments.output is not None:
        check_target(arguments.output)
    text = dump(read_model(arguments.model), arguments.numbers)
    if arguments.output is None:
        print(text)
    else:
        write_file(arguments.output, text.encode() + b"\n")
