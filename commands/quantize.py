"""`flatlite quantize`."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ..tools.terminal import show_json
from . import convert
from .arguments import SOURCES, positive
from .files import check_target

if TYPE_CHECKING:
    from ..converter.quantize.recipe import Recipe

SUMMARY = "Quantize a model by a scheme or a recipe, and report what each layer loses."


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    sub.add_argument("source", metavar="MODEL", help=SOURCES)
    sub.add_argument("-o", "--output", required=True, help="the .tflite file to write")
    group = sub.add_mutually_exclusive_group()
    group.add_argument("--scheme", help="int8, int16x8, dynamic, int8_int4 ... (default: int8)")
    group.add_argument("--recipe", metavar="PATH", help="a recipe in JSON")
    sub.add_argument(
        "--data",
        metavar="PATH",
        help="samples: a .npz with an array for each input, a .npy for a single one, or a folder "
        "with a file for each sample",
    )
    sub.add_argument(
        "--algorithm",
        action="append",
        default=[],
        metavar="NAME",
        help="equalization, smooth_quant, hadamard, recovery, gptq, adaround or bias_correction; "
        "may be repeated",
    )
    sub.add_argument(
        "--calibrator",
        metavar="NAME",
        help="how measured values become a range: minmax, moving_average, percentile, entropy, mse "
        "or octav (default: minmax)",
    )
    sub.add_argument(
        "--workers",
        type=positive,
        default=1,
        help="processes that run the model on samples (default: 1)",
    )
    sub.add_argument("--ranges", metavar="PATH", help="measured ranges, in the place of samples")
    sub.add_argument("--save-ranges", metavar="PATH", help="write what was measured, as JSON")
    sub.add_argument("--report", metavar="PATH", help="write a page about it, one HTML file")
    sub.add_argument("--strict", action="store_true", help="fail when an operator stays float")
    for end in ("input", "output"):
        sub.add_argument(
            f"--{end}-type",
            choices=("float32", "int8", "uint8", "int16"),
            help=f"type of the {end}s (default: float32)",
        )
    sub.add_argument("--signature", action="append", metavar="KEY", help="signature (SavedModel)")
    sub.add_argument(
        "--input-shape",
        action="append",
        default=[],
        metavar="NAME=1,224,224,3",
        help="shape of an input, -1 for an unknown dimension; may be repeated",
    )
    sub.add_argument(
        "--weights-file",
        metavar="PATH",
        help="what model.save_weights() wrote, beside an architecture in JSON (Keras)",
    )
    sub.set_defaults(
        tags=None,
        inputs=None,
        outputs=None,
        quantize="recipe",
        io_order="source",
        io_layout=None,
    )


def execute(arguments: argparse.Namespace) -> None:
    """`flatlite quantize`."""
    from ..schema.files import write_file
    from ..tools import contents
    from ..tools.quantization_report import write_report

    for path in (arguments.output, arguments.report, arguments.save_ranges):
        if path is not None:
            check_target(path)
    if arguments.report is not None and arguments.data is None:
        raise ValueError("--report compares layers on samples; add --data")
    recipe = recipe_of(arguments)
    converter = converter_of(arguments, recipe)
    content = converter.convert()
    write_file(arguments.output, content)
    if arguments.save_ranges is not None:
        converter.save_calibration(arguments.save_ranges)
    if arguments.report is not None:
        write_report(converter, arguments.report)
    result = contents.inspect(arguments.output, content)
    if arguments.json:
        return show_json(convert.as_json(converter, result, arguments))
    convert.show(converter, result, arguments)
    return print(f"report: {arguments.report}") if arguments.report is not None else None


def recipe_of(arguments: argparse.Namespace) -> dict[str, Any] | list[Any]:
    """The recipe that the arguments ask for: that of the file, and what they add."""
    recipe: dict[str, Any] = {"scheme": arguments.scheme or "int8"}
    if arguments.recipe is not None:
        recipe_or_rows = recipe_of_file(arguments.recipe)
        if isinstance(recipe_or_rows, list):
            check_rows_are_all(arguments)
            return recipe_or_rows
        recipe = recipe_or_rows
    for end in ("input_type", "output_type"):
        if getattr(arguments, end) is not None:
            recipe[end] = getattr(arguments, end)
    for key in ("calibrator", "ranges"):
        if getattr(arguments, key) is not None:
            recipe[key] = getattr(arguments, key)
    if arguments.algorithm:
        recipe["algorithms"] = [*recipe.get("algorithms", ()), *arguments.algorithm]
    return recipe | ({"strict": True} if arguments.strict else {})


def recipe_of_file(path: str) -> dict[str, Any] | list[Any]:
    """The recipe in a JSON file; a list has the rows of ai-edge-quantizer."""
    from ..schema.files import read_bytes

    try:
        recipe = json.loads(read_bytes(path))
    except ValueError as error:
        raise ValueError(f"'{path}' must be JSON, got {error}") from None
    if not isinstance(recipe, dict | list):
        raise ValueError(f"'{path}' must hold an object, got {recipe!r}")
    return recipe


def check_rows_are_all(arguments: argparse.Namespace) -> None:
    """Raises ValueError for options that add to a recipe which is that of another tool."""
    options = ("input_type", "output_type", "calibrator", "ranges", "algorithm", "strict")
    stated = [f"--{name.replace('_', '-')}" for name in options if getattr(arguments, name)]
    if stated:
        raise ValueError(
            f"{', '.join(stated)} cannot be beside a recipe of ai-edge-quantizer; write one of "
            'flatlite, {"scheme": ...}'
        )


def converter_of(arguments: argparse.Namespace, recipe: dict[str, Any] | list[Any]) -> Any:
    """The converter with its recipe and samples."""
    from ..converter.quantize.dataset import file_dataset
    from ..converter.quantize.recipe_file import from_recipe
    from ..converter.quantize.settings_recipe import needs_samples
    from ..converter.sources.positions import arranged

    converter = convert.converter_for(arguments)
    requested = from_recipe(recipe)
    if not requested.calibrates:
        check_measured(arguments, requested)
    converter.quantization_recipe = recipe
    converter.calibration_workers = arguments.workers
    if arguments.data is not None:
        sources = arranged(converter._sources, arguments.io_order)
        converter.representative_dataset = file_dataset(arguments.data, sources)
    elif needs_samples(requested, converter._sources):
        raise ValueError(
            f"scheme {requested.main.name} needs --data, samples to calibrate on, or --ranges"
        )
    return converter


def check_measured(arguments: argparse.Namespace, recipe: Recipe) -> None:
    """Raises ValueError for options about what is measured, where nothing is."""
    reason = "--ranges tells it" if recipe.ranges is not None else f"{recipe.main.name} needs none"
    for option in ("--calibrator", "--save-ranges"):
        if getattr(arguments, option[2:].replace("-", "_")) is not None:
            raise ValueError(f"{option} is for ranges that are measured, and {reason}")
