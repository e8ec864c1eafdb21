"""`flatlite assemble`."""

from __future__ import annotations

import argparse

from ..tools.terminal import show_json
from .files import check_target

SUMMARY = "Make a .tflite file of the JSON that flatlite dump writes."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("text", help="a file of flatlite dump")
    sub.add_argument("-o", "--output", required=True, help="the .tflite file to write")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite assemble`."""
    from ..schema.files import read_bytes, write_file
    from ..schema.model import save
    from ..tools.edit.text import assemble

    check_target(arguments.output)
    content = save(assemble(bytes(read_bytes(arguments.text))))
    write_file(arguments.output, content)
    if arguments.json:
        return show_json({"file": arguments.output, "bytes": len(content)})
    return print(f"wrote {arguments.output}: {len(content):,} bytes")
