"""`flatlite run`."""

from __future__ import annotations

import argparse

from ..converter.api.progress import Progress
from ..tools.terminal import show_json, show_table
from .arguments import add_delegates, delegates_of, positive
from .files import check_model, check_target, load_arrays, npz

SUMMARY = "Run a .tflite file."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model")
    sub.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="array for an input (or FILE.npz with arrays by input name); random when omitted",
    )
    sub.add_argument("--signature", metavar="KEY", help="the signature to run")
    sub.add_argument("--threads", type=positive, default=1, help="threads (default: 1)")
    sub.add_argument("-o", "--output", help="write the outputs to this .npz file")
    add_delegates(sub)


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite run`."""
    from ..schema.files import write_file
    from ..tools import running
    from ..tools.runnable import Flatbuffer

    check_model(arguments.model)
    if arguments.output:
        check_target(arguments.output)
    model = Flatbuffer(
        arguments.model,
        arguments.signature,
        threads=arguments.threads,
        delegates=delegates_of(arguments),
    )
    arrays = running.input_arrays(model, read_arrays(arguments.input))
    with Progress("running", quiet=arguments.json):
        outputs = running.run(model, arrays)
    if arguments.output:
        write_file(arguments.output, npz(outputs))
    rows = [
        {
            "name": name,
            "type": str(x.dtype),
            "shape": list(x.shape),
            "min": x.min().item() if x.size and x.dtype.kind in "biuf" else None,
            "max": x.max().item() if x.size and x.dtype.kind in "biuf" else None,
        }
        for name, x in outputs.items()
    ]
    if arguments.json:
        values = {n: x.tolist() for n, x in outputs.items()} if not arguments.output else None
        return show_json({"outputs": rows, "values": values})
    return show_table("outputs", rows)


def read_arrays(texts: list[str]) -> dict:
    """--input values: arrays by input name, "" for a lone file without a name."""
    arrays = {}
    for text in texts:
        name, _, path = text.rpartition("=")
        if not path:
            raise ValueError(f"--input must be NAME=FILE.npy, got '{text}'")
        arrays.update(load_arrays(path, name))
    return arrays
