"""The command `flatlite`: convert, quantize, run, inspect, compare, edit, diff and others."""

from __future__ import annotations

import argparse
import os
import sys
import warnings

from . import __version__
from .commands import (
    assemble,
    benchmark,
    compare,
    convert,
    diff,
    dump,
    edit,
    inspect,
    metadata,
    micro,
    quantize,
    run,
    warmup,
)
from .schema.errors import ConverterError, OpError
from .tools.terminal import error_text

COMMANDS = (
    *(convert, quantize, run, inspect, compare),
    *(edit, metadata, dump, assemble, diff, micro, benchmark, warmup),
)
BROKEN_PIPE = 128 + 13  # as for a program that SIGPIPE ended
INTERRUPTED = 128 + 2


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after an error message."""
    arguments, unrecognized = parser().parse_known_args(argv)
    if unrecognized:  # refused by the command's parser, whose usage lists what it takes
        arguments.refuse(f"unrecognized arguments: {' '.join(unrecognized)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.showwarning = show_warning
            check_values(arguments)
            arguments.execute(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ConverterError, OpError, ValueError, OSError, RuntimeError, MemoryError) as error:
        print(f"flatlite: error: {error_text(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("flatlite: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def check_values(arguments: argparse.Namespace) -> None:
    """Raises ValueError where a value is empty: no path, name, shape or list of names is."""
    for name, value in vars(arguments).items():
        if value == "" or (isinstance(value, list) and "" in value):
            raise ValueError(f"{name.replace('_', '-')} must not be empty, got ''")


def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """One line on standard error for a warning."""
    print(f"flatlite: warning: {error_text(message)}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(prog="flatlite", description="TensorFlow Lite without TensorFlow")
    top.add_argument("--version", action="version", version=f"flatlite {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2]
        sub = commands.add_parser(name, help=command.SUMMARY, description=command.SUMMARY)
        sub.set_defaults(execute=command.execute, refuse=sub.error)
        sub.add_argument("--json", action="store_true", help="print the result as JSON")
        command.add_arguments(sub)
    return top
