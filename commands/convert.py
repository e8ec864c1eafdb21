"""`flatlite convert`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from functools import partial
from typing import Any

from ..converter.api.progress import Progress
from ..tools.terminal import show_json
from .arguments import SOURCES
from .files import check_target, load_arrays
from .values import names_of, shapes_of

SUMMARY = "Convert a model to .tflite, and quantize it."
NAMES = {"frozen": "a frozen GraphDef", "keras": "a Keras file", "onnx": "an ONNX file"}


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("source", help=SOURCES)
    sub.add_argument("-o", "--output", required=True, help="the .tflite file to write")
    sub.add_argument(
        "--signature",
        action="append",
        metavar="KEY",
        help="signature to convert (SavedModel); repeat it for a file with several",
    )
    sub.add_argument("--tags", help="comma-separated tags of the MetaGraph (SavedModel)")
    sub.add_argument(
        "--weights-file",
        metavar="PATH",
        help="what save_weights() wrote, for a Keras architecture in JSON",
    )
    sub.add_argument(
        "--inputs", help="comma-separated input tensors (default: the signature's, or placeholders)"
    )
    sub.add_argument(
        "--outputs",
        help="comma-separated output tensors (default: the signature's, or those nobody reads)",
    )
    sub.add_argument(
        "--input-shape",
        action="append",
        default=[],
        metavar="NAME=1,224,224,3",
        help="shape of an input, -1 for an unknown dimension; may be repeated",
    )
    sub.add_argument(
        "--io-order",
        choices=("source", "tensorflow"),
        default="source",
        help="positions of inputs and outputs: the source's, or TensorFlow's (default: source)",
    )
    sub.add_argument(
        "--target",
        default="litert",
        metavar="NAME",
        help="the runtime that the file is for: litert (default), flatlite, tf-2.N, tflm, edgetpu",
    )
    sub.add_argument(
        "--io-layout",
        choices=("channels_last",),
        help="moves the channels of an ONNX model's inputs and outputs to the end",
    )
    sub.add_argument(
        "--select-tf-ops",
        action="store_true",
        help="operations that TFLite lacks become operators of TensorFlow's Flex delegate",
    )
    sub.add_argument(
        "--allow-custom-ops",
        action="store_true",
        help="operations that TFLite lacks become custom operators",
    )
    sub.add_argument(
        "--verify-inputs",
        metavar="PATH",
        help="a .npz with an array for each input, by name: compare on these first",
    )
    sub.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compare the written file with its source (default: yes)",
    )
    add_quantization(sub)


def add_quantization(sub: argparse.ArgumentParser) -> None:
    """The options of `flatlite convert` for quantization."""
    group = sub.add_argument_group("quantization")
    group.add_argument(
        "--quantize",
        metavar="SCHEME",
        help="dynamic, weight_only, float16: weights in 8 or 16 bits; int8, int16x8: everything, "
        "needs --representative-dataset; or the path of a recipe in JSON",
    )
    group.add_argument(
        "--representative-dataset",
        metavar="PATH",
        help="samples: a .npz with an array for each input, a .npy for a single one, or a folder "
        "with a file for each sample",
    )
    group.add_argument(
        "--int8-only",
        action="store_true",
        help="ask for int8 operators only: what has none is a warning, with --strict an error",
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="fail when an operator has no integer kernel, instead of running it in float",
    )
    for end in ("input", "output"):
        group.add_argument(
            f"--{end}-type",
            choices=("float32", "int8", "uint8", "int16"),
            default="float32",
            help=f"type of the {end}s of an integer model (default: float32)",
        )


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite convert`."""
    from ..converter.api.options import OpsSet
    from ..schema.files import write_file
    from ..tools import contents

    check_target(arguments.output)
    calibrates = arguments.quantize == "int8"  # and shows its own progress
    with Progress("converting", quiet=arguments.json or calibrates):
        converter = converter_for(arguments)
        converter.verify = arguments.verify
        converter.io_order = arguments.io_order
        converter.target = arguments.target
        converter.allow_custom_ops = arguments.allow_custom_ops
        if arguments.verify_inputs is not None:
            arrays = load_arrays(arguments.verify_inputs, "")
            converter.verify_inputs = [*arrays.values()] if "" in arrays else arrays
        set_quantization(converter, arguments)
        if arguments.select_tf_ops:
            converter.target_spec.supported_ops.add(OpsSet.SELECT_TF_OPS)
        content = converter.convert()
    write_file(arguments.output, content)
    summary = contents.inspect(arguments.output, content)
    if arguments.json:
        return show_json(as_json(converter, summary, arguments))
    return show(converter, summary, arguments)


def as_json(converter: Any, summary: dict, arguments: argparse.Namespace) -> dict[str, Any]:
    """What a conversion came to, as --json prints it; `summary` is what `inspect` says of it."""
    keys = ("file", "bytes", "operators", "signatures", "inputs", "outputs")
    result = {key: summary[key] for key in keys} | {"verified": converter.verified}
    result["verified_on"] = {
        key: dataclasses.asdict(verified) for key, verified in converter.verified_on.items()
    }
    result["passes"] = {key: row._asdict() for key, row in converter.pass_statistics.items()}
    if arguments.quantize:
        measured = ("signal_to_noise", "reader_signal_to_noise", "measured_on", "float_operators")
        result |= {name: getattr(converter, name) for name in measured}
    return result


def show(converter: Any, summary: dict, arguments: argparse.Namespace) -> None:
    """Prints what a conversion came to; on standard error where a device or FIFO got the file."""
    from ..schema.files import is_special

    say = partial(print, file=sys.stderr if is_special(arguments.output) else sys.stdout)
    n_ops = sum(summary["operators"].values())
    verified = "verified" if converter.verified else "not verified"
    say(f"wrote {arguments.output}: {summary['bytes']:,} bytes, {n_ops} operators, {verified}")
    for noise in (converter.signal_to_noise, converter.reader_signal_to_noise):
        for key, by_name in noise.items():
            for name, decibels in by_name.items():
                tensor = name if " -> " in name else f"'{name}'"
                inputs = converter.measured_on[key]
                say(f"quantized: {decibels:.1f} dB signal to noise at {tensor}, on {inputs}")
    if arguments.quantize and converter.float_operators:
        kinds = ", ".join(f"{kind} x {n}" for kind, n in converter.float_operators.items())
        say(f"in float: {kinds}")


def converter_for(arguments: argparse.Namespace) -> Any:
    """The converter that the arguments ask for."""
    from ..converter.api.converter import TFLiteConverter
    from ..converter.sources.kinds import kind_of

    kind, path = kind_of(arguments.source)
    if kind != "onnx" and arguments.io_layout is not None:
        raise ValueError(f"--io-layout is for ONNX models, not for '{path}'")
    inputs, outputs, tags = (
        names_of(f"--{name}", getattr(arguments, name)) for name in ("inputs", "outputs", "tags")
    )
    shapes = shapes_of(arguments.input_shape)
    if kind == "tflite":
        if arguments.quantize is None and arguments.target == "litert":
            raise ValueError(f"'{path}' is a .tflite file already; --quantize makes it smaller")
        for option in ("signature", "tags", "weights_file", "inputs", "outputs", "input_shape"):
            if getattr(arguments, option):
                name = option.replace("_", "-")
                raise ValueError(f"--{name} cannot change a .tflite file; '{path}' is one")
        return TFLiteConverter.from_tflite_model(path)
    if kind != "keras" and arguments.weights_file is not None:
        raise ValueError(f"--weights-file is for Keras architectures in JSON, not for '{path}'")
    if kind == "saved_model":
        return TFLiteConverter.from_saved_model(
            path,
            input_arrays=inputs,
            input_shapes=shapes,
            output_arrays=outputs,
            tags=tags,
            signature_keys=arguments.signature,
        )
    for option in ("signature", "tags"):
        if getattr(arguments, option):
            raise ValueError(f"--{option} is for SavedModels; '{path}' is {NAMES[kind]}")
    if kind == "frozen":
        return TFLiteConverter.from_frozen_graph(path, inputs, outputs, shapes)
    if kind == "keras":
        return TFLiteConverter.from_keras_model_file(
            path, inputs, shapes, outputs, weights_file=arguments.weights_file
        )
    return TFLiteConverter.from_onnx_model(
        path, inputs, shapes, outputs, io_layout=arguments.io_layout
    )


def set_quantization(converter: Any, arguments: argparse.Namespace) -> None:
    """Tells a converter how the arguments want the model quantized."""
    from ..converter.api.options import OpsSet, Optimize
    from ..converter.quantize.dataset import file_dataset
    from ..converter.quantize.recipe_file import from_recipe
    from ..converter.quantize.settings_recipe import needs_samples
    from ..converter.sources.positions import arranged

    name, path = arguments.quantize, arguments.representative_dataset
    ends = [(end, getattr(arguments, f"{end}_type")) for end in ("input", "output")]
    options = [*(f"--{end}-type {kind}" for end, kind in ends if kind != "float32")]
    options += [
        f"--{x}" for x in ("int8-only", "strict") if getattr(arguments, x.replace("-", "_"))
    ]
    if path is not None:
        sources = arranged(converter._sources, arguments.io_order)
        converter.representative_dataset = file_dataset(path, sources)
    if name is None:
        if options:
            raise ValueError(f"{options[0]} is for int8 models; add --quantize int8")
        return
    is_file = name.endswith(".json")
    recipe = from_recipe(name if is_file else {"scheme": name})
    if recipe.weights_only and path is not None:
        raise ValueError(f"--representative-dataset is for --quantize int8, not for {name}")
    if recipe.weights_only and options:
        raise ValueError(f"{options[0]} is for int8 models; add --quantize int8")
    if path is None and needs_samples(recipe, converter._sources):
        raise ValueError(
            f"--quantize {name} needs --representative-dataset, samples to calibrate on"
        )
    converter.strict_int8 = arguments.strict
    if name in ("int8", "dynamic"):
        converter.optimizations = [Optimize.DEFAULT]
        if arguments.int8_only:
            converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
        converter.inference_input_type = arguments.input_type
        converter.inference_output_type = arguments.output_type
        return
    types = {f"{end}_type": kind for end, kind in ends if kind != "float32"}
    if is_file and (types or arguments.int8_only):
        raise ValueError(f"{options[0]} cannot change a recipe; write it into '{name}'")
    converter.quantization_recipe = name if is_file else {"scheme": name, **types}
