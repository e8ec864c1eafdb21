"""`flatlite edit`."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ..tools.terminal import show_json
from .files import check_target, load_arrays, npz, read_model
from .values import batch_of, names_of, pairs_of, shapes_of

if TYPE_CHECKING:
    import numpy as np

    from ..schema.model import Model

SUMMARY = "Change a .tflite file: cut, append, shapes, weights, names; in this order."
RENAMED = ("tensor", "input", "output", "signature")


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("model", help="a .tflite file")
    sub.add_argument("-o", "--output", required=True, help="the .tflite file to write")
    sub.add_argument("--inputs", metavar="A,B", help="cut: tensors that become the inputs")
    sub.add_argument("--outputs", metavar="C,D", help="cut: tensors that become the outputs")
    sub.add_argument("--append", metavar="FILE", help="a .tflite file that runs after it")
    sub.add_argument(
        "--connect",
        action="append",
        default=[],
        metavar="OUTPUT=INPUT",
        help="an output and the input of --append that takes it (default: by names, or in order)",
    )
    sub.add_argument(
        "--input-shape",
        action="append",
        default=[],
        metavar="NAME=1,224,224,3",
        help="shape of an input, -1 for an unknown dimension; may be repeated",
    )
    sub.add_argument("--batch", metavar="N", help="first size of all inputs; -1 for any")
    sub.add_argument("--weights", metavar="PATH", help="a .npz with other values of weights")
    sub.add_argument("--save-weights", metavar="PATH", help="writes the weights to a .npz")
    sub.add_argument("--strip", metavar="PARTS", help="of signatures,weights,names,metadata")
    for kind in RENAMED:
        sub.add_argument(
            f"--rename-{kind}",
            action="append",
            default=[],
            metavar="OLD=NEW",
            help=f"another name of a{'n' if kind[0] in 'io' else ''} {kind}; may be repeated",
        )


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite edit`."""
    from ..schema.files import write_file
    from ..schema.model import save
    from ..tools.edit.differences import differences

    check_target(arguments.output)
    if arguments.save_weights is not None:
        check_target(arguments.save_weights)
        if os.path.realpath(arguments.save_weights) == os.path.realpath(arguments.output):
            raise ValueError(f"--save-weights and --output are one file, '{arguments.output}'")
    before = read_model(arguments.model)
    after = edited(before, arguments)
    content = save(after)
    write_file(arguments.output, content)
    texts = differences(before, after)
    if arguments.json:
        result = {"file": arguments.output, "bytes": len(content), "differences": texts}
        return show_json(result)
    changes = f"{len(texts)} difference{'s' if len(texts) != 1 else ''}"
    return print(f"wrote {arguments.output}: {len(content):,} bytes, {changes}")


def edited(model: Model, arguments: argparse.Namespace) -> Model:
    """The model that the arguments ask for."""
    from ..schema.files import write_file
    from ..tools.edit.extract import extract
    from ..tools.edit.merge import merge
    from ..tools.edit.names import rename, strip
    from ..tools.edit.shapes import set_batch, set_input_shapes
    from ..tools.edit.weights import set_weights, weights

    ends = names_of("--inputs", arguments.inputs), names_of("--outputs", arguments.outputs)
    if ends != (None, None):
        model = extract(model, *ends)
    if arguments.append is not None:
        connections = pairs_of("--connect", arguments.connect)
        model = merge(model, read_model(arguments.append), connections or None)
    elif arguments.connect:
        raise ValueError("--connect says how --append FILE is connected; there is none")
    shapes = shapes_of(arguments.input_shape)
    if shapes is not None:
        model = set_input_shapes(model, shapes)
    if arguments.batch is not None:
        model = set_batch(model, batch_of(arguments.batch))
    if arguments.weights is not None:
        arrays = load_arrays(arguments.weights, "")
        if "" in arrays:
            raise ValueError(f"--weights must be a .npz with names, got '{arguments.weights}'")
        model = set_weights(model, arrays)
    if arguments.save_weights is not None:
        arrays = {name: storable(values) for name, values in weights(model).items()}
        write_file(arguments.save_weights, npz(arrays))
    parts = names_of("--strip", arguments.strip)
    if parts is not None:
        model = strip(model, *parts)
    tensors, inputs, outputs, signatures = (
        pairs_of(f"--rename-{kind}", getattr(arguments, f"rename_{kind}")) for kind in RENAMED
    )
    if not (tensors or inputs or outputs or signatures):
        return model
    return rename(model, tensors=tensors, inputs=inputs, outputs=outputs, signatures=signatures)


def storable(array: np.ndarray) -> np.ndarray:
    """An array in a type that .npz files have: int8 for integers of 4 and 2 bits, else float32."""
    if array.dtype.kind != "V":
        return array
    return array.astype("int8" if "int" in array.dtype.name else "float32")
