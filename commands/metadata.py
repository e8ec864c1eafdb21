"""`flatlite metadata`."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..tools.terminal import printable, show_json, show_table
from .files import check_target, read_model

if TYPE_CHECKING:
    from ..schema.flatbuffer import Record
    from ..schema.model import Model

SUMMARY = "Show, set or take out a .tflite file's metadata and associated files."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model", help="a .tflite file")
    sub.add_argument("-o", "--output", metavar="FILE", help="the .tflite file to write")
    sub.add_argument("--set", metavar="FILE", help="other metadata, JSON as --save writes it")
    sub.add_argument(
        "--file",
        action="append",
        default=[],
        metavar="FILE",
        help="a file that the metadata name, to be packed behind the model; may be repeated",
    )
    sub.add_argument("--remove", action="store_true", help="take out metadata and files")
    sub.add_argument("--save", metavar="FILE", help="write the metadata as JSON")
    sub.add_argument("--extract", metavar="FOLDER", help="write the associated files there")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite metadata`."""
    from ..schema.files import write_file
    from ..schema.model import save
    from ..tools.metadata import get_metadata, to_json

    is_edit = bool(arguments.set or arguments.file or arguments.remove)
    if is_edit != (arguments.output is not None):
        raise ValueError("--set, --file and --remove need -o FILE, and -o one of them")
    model = read_model(arguments.model)
    if is_edit:
        check_target(arguments.output)
        model = edited(model, arguments)
        write_file(arguments.output, save(model))
    metadata = get_metadata(model)
    if arguments.save is not None:
        if metadata is None:
            raise ValueError(f"'{arguments.model}' has no metadata to save")
        write_file(arguments.save, to_json(metadata).encode("utf-8", "replace") + b"\n")
    if arguments.extract is not None:
        extract(model, arguments.extract)
    show(metadata, model, arguments.json)


def edited(model: Model, arguments: argparse.Namespace) -> Model:
    """The model that the arguments ask for."""
    from ..schema.files import read_bytes
    from ..tools.metadata import from_json, get_metadata, set_metadata

    files = {os.path.basename(path): read_bytes(path) for path in arguments.file}
    if arguments.remove:
        if arguments.set or files:
            raise ValueError("--remove takes out all; give it without --set and --file")
        return set_metadata(model, None)
    described = get_metadata(model)
    if arguments.set:
        described = from_json(read_bytes(arguments.set))
    if described is None:
        raise ValueError(
            f"'{arguments.model}' has no metadata that name files; --set FILE gives some"
        )
    return set_metadata(model, described, files)


def extract(model: Model, folder: str) -> None:
    """Writes the associated files of a model into a folder."""
    from ..schema.associated_files import is_file_name
    from ..schema.files import make_folder, write_file

    for name in model.associated_files:
        if not is_file_name(name):
            raise ValueError(f"associated file {name!r:.99} must have a name without folders")
    make_folder(folder)
    for name, content in model.associated_files.items():
        write_file(os.path.join(folder, name), content)


def show(metadata: Record | None, model: Model, as_json: bool) -> None:
    """Prints metadata and the names of files."""
    from ..tools.metadata import as_object

    content = {} if metadata is None else as_object(metadata)
    files = {name: len(data) for name, data in model.associated_files.items()}
    if as_json:
        return show_json({"metadata": content, "associated_files": files})
    if metadata is None:
        print("no metadata")
    for name, value in content.items():
        if isinstance(value, str):
            print(f"{name}: {printable(value)}")
    for graph in content.get("subgraph_metadata", ()):
        for side in ("input", "output"):
            rows = [row_of(tensor) for tensor in graph.get(f"{side}_tensor_metadata", ())]
            show_table(f"{side}s", rows)
    if files:
        show_table("associated files", [{"name": n, "bytes": size} for n, size in files.items()])
    return None


def row_of(tensor: dict[str, Any]) -> dict[str, Any]:
    """What is said of an input or output, as a row of a table."""
    content = tensor.get("content", {})
    units = tensor.get("process_units", ())
    return {
        "name": tensor.get("name", ""),
        "description": tensor.get("description", ""),
        "content": content.get("content_properties_type", "").removesuffix("Properties"),
        "properties": content.get("content_properties", {}),
        "process units": [unit.get("options_type", "").removesuffix("Options") for unit in units],
        "files": [file.get("name", "") for file in tensor.get("associated_files", ())],
    }
