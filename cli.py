"""The command `flatlite`: convert, run, inspect, compare, benchmark, warmup."""

from __future__ import annotations

import argparse
import dataclasses
import io
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from . import __version__
from .converter.terminal import Progress, error_text, show_json, show_table
from .schema.errors import ConverterError, OpError

BROKEN_PIPE = 128 + 13  # as for a program that SIGPIPE ended
INTERRUPTED = 128 + 2
NAMES = {"frozen": "a frozen GraphDef", "keras": "a Keras file", "onnx": "an ONNX file"}
N_SLOWEST = 20  # operators of a profile that are shown
SOURCES = "a SavedModel folder, or a .pb, .pbtxt, .keras, .h5, .onnx or .tflite file"


def main(argv: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after an error message."""
    arguments = parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.showwarning = show_warning
            arguments.function(arguments)
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


def show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """One line on standard error for a warning."""
    print(f"flatlite: warning: {error_text(message)}", file=sys.stderr)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(prog="flatlite", description="TensorFlow Lite without TensorFlow")
    top.add_argument("--version", action="version", version=f"flatlite {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def command(function: Callable, text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(function.__name__, help=text, description=text)
        sub.set_defaults(function=function)
        sub.add_argument("--json", action="store_true", help="print the result as JSON")
        return sub

    add_conversion(command(convert, "Convert a model to .tflite, and quantize it."))

    sub = command(run, "Run a .tflite file.")
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
    takes_delegates(sub)

    sub = command(inspect, "Show a .tflite file's signatures, operators, tensors and sizes.")
    sub.add_argument("model")
    takes_delegates(sub)

    sub = command(compare, "Run two models on the same inputs and show how their outputs differ.")
    sub.add_argument("a", help=SOURCES)
    sub.add_argument("b", help="another one")
    sub.add_argument("--runs", type=positive, default=3, help="random inputs to try (default: 3)")
    sub.add_argument("--signature", metavar="KEY", help="the signature to run")

    sub = command(benchmark, "Time a .tflite file: percentiles and a profile by operator.")
    sub.add_argument("model")
    sub.add_argument("--runs", type=positive, default=50, help="timed invokes (default: 50)")
    sub.add_argument("--warmup", type=positive, default=5, help="invokes before (default: 5)")
    sub.add_argument("--threads", type=positive, default=1, help="threads (default: 1)")
    takes_delegates(sub)

    command(warmup, "Compile all kernels for this machine now instead of when first needed.")
    return top


def add_conversion(sub: argparse.ArgumentParser) -> None:
    """The arguments of `flatlite convert`."""
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


def takes_delegates(sub: argparse.ArgumentParser) -> None:
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
    from .delegates.load import load_delegate

    return [load_delegate(name) for name in arguments.delegate]


def add_quantization(sub: argparse.ArgumentParser) -> None:
    """The options of `flatlite convert` for quantization."""
    group = sub.add_argument_group("quantization")
    group.add_argument(
        "--quantize",
        choices=("dynamic", "int8", "float16"),
        help="dynamic: weights in 8 bits; int8: everything, needs --representative-dataset",
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
        help="fail when an operator has no int8 kernel, instead of running it in float",
    )
    for end in ("input", "output"):
        group.add_argument(
            f"--{end}-type",
            choices=("float32", "int8", "uint8"),
            default="float32",
            help=f"type of the {end}s of an int8 model (default: float32)",
        )


def positive(text: str) -> int:
    """A count of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, got {text}")
    return int(text)


def shapes_of(texts: list[str]) -> dict[str, list[int | None]] | None:
    """--input-shape values as the converter takes them."""
    shapes = {}
    for text in texts:
        name, equals, sizes = text.rpartition("=")
        try:
            shapes[name] = [None if int(n) < 0 else int(n) for n in sizes.split(",") if sizes]
        except ValueError:
            equals = ""
        if not equals or not name:
            raise ValueError(f"--input-shape must be NAME=1,224,224,3, got '{text}'")
    return shapes or None


def split(text: str | None) -> list[str] | None:
    """A comma-separated list; None stays None."""
    return text.split(",") if text else None


def check_model(path: str) -> None:
    """Raises IsADirectoryError where a .tflite file is wanted and a folder is given."""
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"'{path}' is a folder, and a .tflite file is wanted; "
            "flatlite convert makes one of a SavedModel"
        )


def check_target(path: str) -> None:
    """Raises OSError when a file could not be written to `path`, before work is done for it."""
    from .schema.files import is_special

    if is_special(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"'{path}' cannot be written to")
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"'{path}' is a folder, not a file to write")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"the folder '{folder}' does not exist")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder '{folder}' cannot be written to")


def convert(arguments: argparse.Namespace) -> None:
    """`flatlite convert`."""
    from .converter import report
    from .schema.files import is_special, write_file

    check_target(arguments.output)
    calibrates = arguments.quantize == "int8"  # and shows its own progress
    with Progress("converting", quiet=arguments.json or calibrates):
        converter = converter_for(arguments)
        converter.verify = arguments.verify
        converter.io_order = arguments.io_order
        if arguments.verify_inputs is not None:
            arrays = load_arrays(arguments.verify_inputs, "")
            converter.verify_inputs = [*arrays.values()] if "" in arrays else arrays
        set_quantization(converter, arguments)
        content = converter.convert()
    write_file(arguments.output, content)
    result = report.inspect(arguments.output, content)
    n_ops = sum(result["operators"].values())
    if arguments.json:
        keys = ("file", "bytes", "operators", "signatures", "inputs", "outputs")
        told = {k: result[k] for k in keys} | {"verified": converter.verified}
        told["verified_on"] = {
            key: dataclasses.asdict(one) for key, one in converter.verified_on.items()
        }
        if arguments.quantize:
            told["signal_to_noise"] = converter.signal_to_noise
            told["reader_signal_to_noise"] = converter.reader_signal_to_noise
            told["measured_on"] = converter.measured_on
            told["float_operators"] = converter.float_operators
        return show_json(told)
    verified = "verified" if converter.verified else "not verified"
    say = partial(print, file=sys.stderr if is_special(arguments.output) else sys.stdout)
    say(f"wrote {arguments.output}: {len(content):,} bytes, {n_ops} operators, {verified}")
    for noise in (converter.signal_to_noise, converter.reader_signal_to_noise):
        for key, found in noise.items():
            for name, decibels in found.items():
                where = name if " -> " in name else f"'{name}'"
                inputs = converter.measured_on[key]
                say(f"quantized: {decibels:.1f} dB signal to noise at {where}, on {inputs}")
    if arguments.quantize and converter.float_operators:
        kinds = ", ".join(f"{kind} x {n}" for kind, n in converter.float_operators.items())
        say(f"in float: {kinds}")
    return None


def set_quantization(converter: Any, arguments: argparse.Namespace) -> None:
    """Tells a converter how the arguments want the model quantized."""
    from .converter.options import OpsSet, Optimize
    from .converter.quantize.dataset import file_dataset
    from .converter.sources.positions import arranged

    if arguments.quantize == "float16":
        raise ValueError("--quantize float16 is not supported yet; take dynamic or int8")
    path = arguments.representative_dataset
    if path is not None:
        sources = arranged(converter._sources, arguments.io_order)
        converter.representative_dataset = file_dataset(path, sources)
    if arguments.quantize is None:
        if arguments.int8_only:
            raise ValueError("--int8-only is for int8 models; add --quantize int8")
    elif arguments.quantize == "int8" and path is None:
        raise ValueError("--quantize int8 needs --representative-dataset, samples to calibrate on")
    elif arguments.quantize == "dynamic" and path is not None:
        raise ValueError("--representative-dataset is for --quantize int8, not for dynamic")
    else:
        converter.optimizations = [Optimize.DEFAULT]
    for end in ("input", "output"):
        kind = getattr(arguments, f"{end}_type")
        if kind != "float32" and arguments.quantize != "int8":
            raise ValueError(f"--{end}-type {kind} is for int8 models; add --quantize int8")
    if arguments.int8_only:
        converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    converter.inference_input_type = arguments.input_type
    converter.inference_output_type = arguments.output_type


def converter_for(arguments: argparse.Namespace) -> Any:
    """The converter that the arguments ask for."""
    from .converter.converter import TFLiteConverter
    from .converter.sources.kinds import kind_of

    kind, path = kind_of(arguments.source)
    inputs, outputs = split(arguments.inputs), split(arguments.outputs)
    shapes = shapes_of(arguments.input_shape)
    if kind == "tflite":
        if arguments.quantize is None:
            raise ValueError(f"'{path}' is a .tflite file already; --quantize makes it smaller")
        for option in ("signature", "tags", "inputs", "outputs", "input_shape"):
            if getattr(arguments, option):
                name = option.replace("_", "-")
                raise ValueError(f"--{name} cannot change a .tflite file; '{path}' is one")
        return TFLiteConverter.from_tflite_model(path)
    if kind == "saved_model":
        return TFLiteConverter.from_saved_model(
            path,
            input_arrays=inputs,
            input_shapes=shapes,
            output_arrays=outputs,
            tags=split(arguments.tags),
            signature_keys=arguments.signature,
        )
    for option in ("signature", "tags"):
        if getattr(arguments, option):
            raise ValueError(f"--{option} is for SavedModels; '{path}' is {NAMES[kind]}")
    if kind == "frozen":
        return TFLiteConverter.from_frozen_graph(path, inputs, outputs, shapes)
    load = {"keras": TFLiteConverter.from_keras_model_file, "onnx": TFLiteConverter.from_onnx_model}
    return load[kind](path, inputs, shapes, outputs)


def run(arguments: argparse.Namespace) -> None:
    """`flatlite run`."""
    from .converter import report
    from .converter.runnable import Flatbuffer
    from .schema.files import write_file

    check_model(arguments.model)
    if arguments.output:
        check_target(arguments.output)
    model = Flatbuffer(
        arguments.model,
        arguments.signature,
        threads=arguments.threads,
        delegates=delegates_of(arguments),
    )
    arrays = report.chosen_inputs(model, read_arrays(arguments.input))
    with Progress("running", quiet=arguments.json):
        outputs = report.run(model, arrays)
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


def npz(arrays: dict) -> bytes:
    """The bytes of a .npz file; strings become fixed-width ones, as pickles are not written."""
    import numpy as np

    file = io.BytesIO()
    plain = {k: x.astype(np.bytes_) if x.dtype.hasobject else x for k, x in arrays.items()}
    np.savez(file, **plain)
    return file.getvalue()


def read_arrays(texts: list[str]) -> dict:
    """--input values: arrays by input name, "" for a lone file without a name."""
    arrays = {}
    for text in texts:
        name, _, path = text.rpartition("=")
        if not path:
            raise ValueError(f"--input must be NAME=FILE.npy, got '{text}'")
        arrays.update(load_arrays(path, name))
    return arrays


def load_arrays(path: str, name: str) -> dict:
    """The arrays of a .npz file by name, or the one of a .npy file as `name`."""
    import zipfile
    import zlib

    import numpy as np

    from .schema.files import read_bytes

    try:
        loaded = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {name: loaded}
        return {key: loaded[key] for key in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = "" if "pickle" in str(error) else f": {error}"
        raise ValueError(f"'{path}' is not a .npy or .npz file of numbers{reason}") from None


def inspect(arguments: argparse.Namespace) -> None:
    """`flatlite inspect`."""
    from .converter import report

    check_model(arguments.model)
    result = report.inspect(arguments.model)
    delegates = delegates_of(arguments)
    if delegates:
        result["delegates"] = report.delegated(arguments.model, delegates)
    if arguments.json:
        return show_json(result)
    if delegates:
        return show_delegates(result["delegates"])
    print(
        f"{result['file']}: {result['bytes']:,} bytes, {result['constant_bytes']:,} of them "
        f"constants, {len(result['subgraphs'])} subgraph(s)"
    )
    for key, names in result["signatures"].items():
        inputs, outputs = ", ".join(names["inputs"]), ", ".join(names["outputs"])
        print(f"signature {key}: ({inputs}) -> ({outputs})")
    show_table("inputs", result["inputs"])
    show_table("outputs", result["outputs"])
    show_table("operators", [{"name": k, "count": n} for k, n in result["operators"].items()])
    for i, subgraph in enumerate(result["subgraphs"]):
        place = f" of subgraph {i} '{subgraph['name']}'" if len(result["subgraphs"]) > 1 else ""
        show_table(f"operators in order{place}", subgraph["operators"])
        show_table(f"tensors{place}", subgraph["tensors"])
    return None


def show_delegates(found: dict[str, Any]) -> None:
    """Who runs which operator, and what is copied."""
    show_table("operators in order", found["operators"])
    show_table(f"parts; {found['bytes_copied']:,} bytes copied in each run", found["parts"])


def compare(arguments: argparse.Namespace) -> None:
    """`flatlite compare`."""
    from .converter import report

    with Progress("comparing", quiet=arguments.json):
        result = report.compare(arguments.a, arguments.b, arguments.runs, arguments.signature)
    if arguments.json:
        return show_json(result)
    return show_table(f"largest differences over {result['runs']} inputs", result["outputs"])


def benchmark(arguments: argparse.Namespace) -> None:
    """`flatlite benchmark`."""
    from .converter import report

    check_model(arguments.model)
    total = arguments.runs + arguments.warmup
    with Progress("running", total, quiet=arguments.json) as progress:
        result = report.benchmark(
            arguments.model,
            arguments.runs,
            arguments.warmup,
            arguments.threads,
            progress.advance,
            delegates_of(arguments),
        )
    if arguments.json:
        return show_json(result)
    rows = sorted(result["operators"], key=lambda row: -row["ms"])
    for name, shape in result["inputs"].items():
        print(f"input {name}: {'x'.join(map(str, shape))}")
    print("  ".join(f"{k} {v:.3f}" for k, v in result.items() if k.endswith("_ms")))
    if "delegates" in result:
        show_table("parts of delegates", result["delegates"]["parts"])
    show_table("time by operator", report.by_kind(rows))
    return show_table(f"the {min(N_SLOWEST, len(rows))} slowest of {len(rows)}", rows[:N_SLOWEST])


def warmup(arguments: argparse.Namespace) -> None:
    """`flatlite warmup`."""
    from .engine import build, cache, image

    modules = cache.modules()
    missing = image.missing(modules)
    with Progress("compiling kernels", len(missing), quiet=arguments.json) as progress:
        build.build_all(lambda done, total, left: progress.reach(done))
    if arguments.json:
        return show_json({"modules": modules, "compiled": missing})
    print(f"{len(modules)} kernel modules are ready, {len(missing)} of them compiled now")
    return None


if __name__ == "__main__":
    sys.exit(main())
