"""Arguments that several commands have."""

from __future__ import annotations

import argparse
from typing import Any

SOURCES = "a SavedModel folder, or a .pb, .pbtxt, .keras, .h5, .onnx or .tflite file"


def positive(text: str) -> int:
    """A count of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, got '{text}'")
    return int(text)


def natural(text: str) -> int:
    """A count, 0 too."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, got '{text}'")
    return int(text)


def add_delegates(sub: argparse.ArgumentParser) -> None:
    """Adds --delegate to a command."""
    sub.add_argument(
        "--delegate",
        "--delegates",
        action="append",
        default=[],
        metavar="NAME",
        help="who runs what it can: xla, cuda or module:Class; may be repeated",
    )


def delegates_of(arguments: argparse.Namespace) -> list[Any] | None:
    """The delegates that --delegate names."""
    if not arguments.delegate:
        return None
    from ..delegates.load import load_delegate

    return [load_delegate(name) for name in arguments.delegate]
