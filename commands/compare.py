"""`flatlite compare`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..converter.api.progress import Progress
from ..tools.terminal import show_json, show_table
from .arguments import SOURCES, positive

if TYPE_CHECKING:
    from ..tools.compared_inputs import InputChoice

SUMMARY = "Run two models on the same inputs and show how their outputs differ."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("a", help=SOURCES)
    sub.add_argument("b", help="another one")
    sub.add_argument("--runs", type=positive, default=3, help="random inputs to try (default: 3)")
    sub.add_argument("--signature", metavar="KEY", help="the signature to run")
    sub.add_argument(
        "--layers",
        action="store_true",
        help="compare every layer of two .tflite files, and name the first that differs",
    )
    sub.add_argument(
        "--runtimes",
        type=runtimes,
        metavar="A,B",
        help="what runs each of them: flatlite, litert or litert-reference (default: flatlite)",
    )
    sub.add_argument(
        "--tolerance",
        type=float,
        help="the relative difference from which on layers differ (default: 1e-4, and 0.01 or "
        "0.05 where both or one of them is quantized)",
    )
    sub.add_argument("--seed", type=int, help="of the random inputs of --layers (default: 20)")
    sub.add_argument(
        "--range",
        type=ends,
        metavar="LOW,HIGH",
        help="random inputs of --layers lie in it (default: normals, within what integers hold)",
    )
    sub.add_argument(
        "--data",
        metavar="PATH",
        help="inputs of --layers: a .npz with an array for each input, a .npy for a single one, or "
        "a folder with a file for each sample",
    )
    sub.add_argument("--sample", type=int, help="which sample of --data (default: 0)")


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite compare`."""
    if arguments.layers:
        return compare_layers(arguments)
    for option in ("runtimes", "tolerance", "seed", "range", "data", "sample"):
        if getattr(arguments, option) is not None:
            raise ValueError(f"--{option} is for layers; add --layers")
    from ..tools.comparison import compare

    with Progress("comparing", quiet=arguments.json):
        result = compare(arguments.a, arguments.b, arguments.runs, arguments.signature)
    if arguments.json:
        return show_json(result)
    return show_table(f"largest differences over {result['runs']} inputs", result["outputs"])


def compare_layers(arguments: argparse.Namespace) -> None:
    """`flatlite compare --layers`."""
    from ..tools.layer_comparison import compare_layers as compare

    with Progress("comparing", quiet=arguments.json):
        result = compare(
            arguments.a,
            arguments.b,
            arguments.runtimes or ("flatlite", "flatlite"),
            arguments.tolerance,
            arguments.signature,
            choice_of(arguments),
        )
    if arguments.json:
        return show_json(result)
    show_table(f"{len(result['layers'])} layers", result["layers"])
    values = [
        f"'{row['input']}' of {row['min']:.4g} to {row['max']:.4g}"
        for row in result["inputs"]["values"]
        if "min" in row
    ]
    print(f"on {result['inputs']['from']}: {', '.join(values) or 'no numbers'}")
    first = result["first"]
    if first is None:
        return print("no layer differs")
    print(
        f"the first layer that differs: {first['operator']} '{first['layer']}', by "
        f"{first['max_abs']:.4g} ({first['snr_db']:.1f} dB)"
    )
    if result["mixes_schemes"] and arguments.data is None:
        print("random inputs are not what a model was calibrated on; --data takes a sample of that")


def choice_of(arguments: argparse.Namespace) -> InputChoice:
    """The inputs that the options of --layers choose; raises ValueError for contradictions."""
    from ..tools.compared_inputs import InputChoice

    options = {
        "seed": arguments.seed,
        "ends": arguments.range,
        "data": arguments.data,
        "sample": arguments.sample,
    }
    if arguments.data is not None and (arguments.seed, arguments.range) != (None, None):
        raise ValueError("--seed and --range are for random inputs; leave them or --data out")
    if arguments.data is None and arguments.sample is not None:
        raise ValueError("--sample is for --data, which has the samples")
    return InputChoice(**{name: value for name, value in options.items() if value is not None})


def ends(text: str) -> tuple[float, float]:
    """Two numbers of --range."""
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be two numbers, got {text}") from None
    return low, high


def runtimes(text: str) -> tuple[str, str]:
    """Two runtimes of --runtimes."""
    names = tuple(text.split(","))
    if len(names) != 2:
        raise argparse.ArgumentTypeError(f"must be two names, got {text}")
    return names
