"""`flatlite micro`."""

from __future__ import annotations

import argparse
import os
import re

from ..tools.terminal import show_json
from .files import check_target, read_model

SUMMARY = "Write the C++ sources of a model for TensorFlow Lite Micro, and say what arena it needs."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model", help="a .tflite file; flatlite convert --target tflm writes one")
    sub.add_argument("-o", "--output", metavar="FOLDER", help="the folder to write the sources to")
    sub.add_argument("--name", help="of the array and the files (default: the model's file name)")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite micro`."""
    from ..schema.files import make_folder, read_bytes, write_file
    from ..tools.micro.arena import arena_of
    from ..tools.micro.sources import sources

    model = read_model(arguments.model)
    content = read_bytes(arguments.model)
    name = arguments.name or name_of(arguments.model)
    files = sources(content, name)
    arena = arena_of(model)
    paths = []
    if arguments.output is not None:
        if os.path.isfile(arguments.output):
            raise NotADirectoryError(f"'{arguments.output}' is a file; -o names a folder")
        make_folder(arguments.output)
        paths = [os.path.join(arguments.output, file) for file in files]
        for path in paths:
            check_target(path)
        for path, text in zip(paths, files.values(), strict=True):
            write_file(path, text.encode())
    if arguments.json:
        sizes = {"arena": arena.size, **vars(arena)}
        return show_json({"model": len(content), **sizes, "files": paths})
    for path in paths:
        print(f"wrote {path}")
    return print(
        f"model {len(content):,} bytes; arena {arena.size:,} bytes: {arena.activations:,} of "
        f"activations, {arena.persistent:,} persistent"
    )


def name_of(path: str) -> str:
    """A file's name as an identifier, as `xxd -i` makes one."""
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0], flags=re.ASCII)
    return f"_{name}" if name[:1].isdigit() else name or "g_model"
