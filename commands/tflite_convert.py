"""`tflite_convert`: TensorFlow's command of that name, with its flags, on flatlite's converter."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from ..schema.errors import ConverterError, OpError
from ..tools.terminal import error_text

Number = TypeVar("Number", int, float)

DESCRIPTION = "Command line tool to run TensorFlow Lite Converter."
TYPES = {"FLOAT": "float32", "INT8": "int8", "UINT8": "uint8", "QUANTIZED_UINT8": "uint8"}
RENAMED = {
    "--input_file": "--graph_def_file",
    "--savedmodel_directory": "--saved_model_dir",
    "--std_value": "--std_dev_values",
    "--batch_size": "--input_shapes",
    "--dump_graphviz": "--dump_graphviz_dir",
}
"""Flags of the first versions -> what they are called now."""


NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Flag(NamedTuple):
    """A flag of the command; `options` are argparse's."""

    name: str
    help: str
    options: Mapping[str, Any] = NO_OPTIONS


SWITCH: dict[str, Any] = {"action": "store_true"}
NUMBER: dict[str, Any] = {"type": float}
WORD: dict[str, Any] = {"type": str.upper}


def truth(text: str) -> bool:
    """True or False, as a flag's value."""
    values = {"true": True, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"must be true or false, got {text}")
    return values[text.lower()]


TRUTH: dict[str, Any] = {"type": truth, "nargs": "?", "const": True}

COMMON = (
    Flag("output_file", "the file to write", {"required": True}),
    Flag("saved_model_tag_set", "comma-separated tags of the MetaGraph, default serve"),
    Flag("saved_model_signature_key", "key of the signature to convert"),
    Flag("experimental_new_converter", "false asks for known shapes", {**TRUTH, "default": True}),
    Flag("experimental_new_quantizer", "has no effect here", TRUTH),
    Flag("enable_v1_converter", "take the flags of TensorFlow 1", SWITCH),
)
SOURCES = (
    Flag("saved_model_dir", "the folder of a SavedModel"),
    Flag("keras_model_file", "a Keras model, .h5 or .keras"),
)
SOURCES_V1 = (Flag("graph_def_file", "a frozen GraphDef, binary or text"),)
FLAGS_V1 = (
    Flag("output_format", "TFLITE or GRAPHVIZ_DOT", WORD | {"choices": ["TFLITE", "GRAPHVIZ_DOT"]}),
    Flag("inference_type", "type of real numbers: FLOAT, INT8, UINT8", WORD | {"default": "FLOAT"}),
    Flag("inference_input_type", "type of real inputs: FLOAT, INT8, UINT8", WORD),
    Flag("input_arrays", "comma-separated names of input tensors"),
    Flag("input_shapes", "their shapes, separated by colons: 1,224,224,3:1,10"),
    Flag("output_arrays", "comma-separated names of output tensors"),
    Flag("mean_values", "comma-separated means of the inputs, for quantized ones"),
    Flag("std_dev_values", "comma-separated standard deviations of the inputs"),
    Flag("default_ranges_min", "lower bound of tensors without a known range", NUMBER),
    Flag("default_ranges_max", "upper bound of tensors without a known range", NUMBER),
    Flag("post_training_quantize", "store weights in 8 bits", SWITCH),
    Flag("quantize_weights", argparse.SUPPRESS, {**SWITCH, "dest": "post_training_quantize"}),
    Flag("quantize_to_float16", "with --post_training_quantize: in 16 bits", SWITCH),
    Flag("drop_control_dependency", "drop control dependencies silently", SWITCH),
    Flag("reorder_across_fake_quant", "let FakeQuant give way to what follows it", SWITCH),
    Flag("change_concat_input_ranges", "true: give inputs of concatenations its range", TRUTH),
    Flag("allow_custom_ops", "write unknown operations as custom operators", TRUTH),
    Flag("custom_opdefs", "OpDefs of custom operations, in text, separated by commas"),
    Flag("target_ops", "comma-separated OpsSet options that the device supports"),
    Flag("experimental_select_user_tf_ops", "comma-separated operations to leave to TensorFlow"),
    Flag("dump_graphviz_dir", "a folder for drawings before and after the passes"),
    Flag("dump_graphviz_video", "draw after every pass, too", SWITCH),
    Flag("conversion_summary_dir", "a folder for logs of the conversion, and a page"),
)


def parser(is_v1: bool) -> argparse.ArgumentParser:
    """The flags of TensorFlow 1 or 2."""
    result = argparse.ArgumentParser(prog="tflite_convert", description=DESCRIPTION)
    sources = result.add_mutually_exclusive_group(required=is_v1)
    _add(sources, (*SOURCES_V1, *SOURCES) if is_v1 else SOURCES)
    _add(result, (*COMMON, *FLAGS_V1) if is_v1 else COMMON)
    return result


def _add(group: Any, flags: Sequence[Flag]) -> None:
    for flag in flags:
        group.add_argument(f"--{flag.name}", help=flag.help, **flag.options)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit status is 0, or 1 after an error message."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    is_v1 = "--enable_v1_converter" in arguments
    flags, unknown = parser(is_v1).parse_known_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.showwarning = _show_warning
            (check_v1 if is_v1 else check_v2)(flags, unknown)
            write(converter_v1(flags) if is_v1 else converter_v2(flags), flags.output_file)
    except (ConverterError, OpError, ValueError, OSError, RuntimeError, MemoryError) as error:
        print(f"tflite_convert: error: {error_text(error)}", file=sys.stderr)
        return 1
    return 0


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    """One line on standard error for a warning."""
    print(f"tflite_convert: warning: {error_text(message)}", file=sys.stderr)


def write(converter: Any, path: str) -> None:
    """Converts to a file."""
    from ..schema.files import write_file
    from .files import check_target

    check_target(path)
    write_file(path, converter.convert())


def check_v2(flags: argparse.Namespace, unknown: Sequence[str]) -> None:
    """Raises ValueError without a source; warns of flags that are TensorFlow 1's."""
    if not flags.saved_model_dir and not flags.keras_model_file:
        raise ValueError(
            "one of the arguments --saved_model_dir --keras_model_file is required; "
            "--graph_def_file is a flag for --enable_v1_converter"
        )
    if unknown:
        warnings.warn(
            f"{' '.join(unknown)}: not a flag of TensorFlow 2, and ignored as there; "
            "--enable_v1_converter takes the flags of TensorFlow 1",
            stacklevel=2,
        )


def check_v1(flags: argparse.Namespace, unknown: Sequence[str]) -> None:
    """Raises ValueError for flags that do not go together, or are called otherwise now."""
    renamed = [
        f"\n  Use {new} instead of {old}"
        for flag in unknown
        for old, new in RENAMED.items()
        if flag.startswith(old)
    ]
    if renamed:
        raise ValueError("".join(renamed))
    if unknown:
        warnings.warn(f"{' '.join(unknown)}: not a flag, and ignored", stacklevel=2)
    for text, is_wrong in RULES:
        if is_wrong(flags):
            raise ValueError(text)


def _counts_differ(first: str, second: str) -> Callable[[argparse.Namespace], bool]:
    """Whether two comma-separated flags are given and have unequal numbers of items."""

    def differ(flags: argparse.Namespace) -> bool:
        texts = getattr(flags, first), getattr(flags, second)
        return all(texts) and texts[0].count(",") != texts[1].count(",")

    return differ


RULES: tuple[tuple[str, Callable[[argparse.Namespace], Any]], ...] = (
    (
        "--input_arrays and --output_arrays are required with --graph_def_file",
        lambda f: f.graph_def_file and not (f.input_arrays and f.output_arrays),
    ),
    (
        "--input_shapes must be used with --input_arrays",
        lambda f: f.input_shapes and not f.input_arrays,
    ),
    (
        "--input_shapes and --input_arrays must have the same number of items",
        lambda f: f.input_shapes and f.input_shapes.count(":") != f.input_arrays.count(","),
    ),
    (
        "--std_dev_values and --mean_values must be used together",
        lambda f: bool(f.std_dev_values) != bool(f.mean_values),
    ),
    (
        "--std_dev_values, --mean_values must have the same number of items",
        _counts_differ("std_dev_values", "mean_values"),
    ),
    (
        "--default_ranges_min and --default_ranges_max must be used together",
        lambda f: (f.default_ranges_min is None) != (f.default_ranges_max is None),
    ),
    (
        "--dump_graphviz_video must be used with --dump_graphviz_dir",
        lambda f: f.dump_graphviz_video and not f.dump_graphviz_dir,
    ),
    (
        "--custom_opdefs must be used with --experimental_new_converter",
        lambda f: f.custom_opdefs and not f.experimental_new_converter,
    ),
    (
        "--custom_opdefs must be used with --allow_custom_ops",
        lambda f: f.custom_opdefs and not f.allow_custom_ops,
    ),
    (
        "--experimental_select_user_tf_ops must be used with --experimental_new_converter",
        lambda f: f.experimental_select_user_tf_ops and not f.experimental_new_converter,
    ),
    (
        "--experimental_select_user_tf_ops can only be set if --target_ops contains SELECT_TF_OPS.",
        lambda f: (
            f.experimental_select_user_tf_ops
            and "SELECT_TF_OPS" not in (f.target_ops or "").split(",")
        ),
    ),
)
"""What TensorFlow says of flags that do not go together, and when."""


def converter_v2(flags: argparse.Namespace) -> Any:
    """The converter that the flags of TensorFlow 2 ask for."""
    from ..converter.api.converter import TFLiteConverter

    if flags.saved_model_dir:
        converter = TFLiteConverter.from_saved_model(
            flags.saved_model_dir,
            signature_keys=items(flags.saved_model_signature_key) or None,
            tags=tags(flags.saved_model_tag_set),
        )
    else:
        converter = TFLiteConverter.from_keras_model_file(flags.keras_model_file)
    set_experimental(converter, flags)
    return converter


def converter_v1(flags: argparse.Namespace) -> Any:
    """The converter that the flags of TensorFlow 1 ask for."""
    converter = source_v1(flags)
    converter.inference_type = _type("inference_type", flags.inference_type)
    if flags.inference_input_type:
        kind = _type("inference_input_type", flags.inference_input_type)
        converter.inference_input_type = kind
    if flags.output_format:
        from ..converter.api.options import constants

        converter.output_format = getattr(constants, flags.output_format)
    set_ranges(converter, flags)
    for name in ("reorder_across_fake_quant", "change_concat_input_ranges", "allow_custom_ops"):
        if getattr(flags, name) is not None:
            setattr(converter, name, getattr(flags, name))
    for name in ("dump_graphviz_dir", "dump_graphviz_video", "conversion_summary_dir"):
        if getattr(flags, name):
            setattr(converter, name, getattr(flags, name))
    set_target(converter, flags)
    set_quantization(converter, flags)
    set_experimental(converter, flags)
    return converter


def source_v1(flags: argparse.Namespace) -> Any:
    """A converter for the source that the flags name."""
    from ..converter.api.converter_v1 import TFLiteConverter
    from ..converter.sources.graph_def import load_graph_def
    from ..converter.sources.op_defs import note_types, parsed_op_defs

    inputs = items(flags.input_arrays) or None
    shapes = None
    if flags.input_shapes:
        texts = flags.input_shapes.split(":")
        shapes = dict(zip(inputs or (), map(shape, texts), strict=True))
    arrays = {
        "input_arrays": inputs,
        "input_shapes": shapes,
        "output_arrays": items(flags.output_arrays) or None,
    }
    if flags.graph_def_file:
        source: Any = flags.graph_def_file
        if flags.custom_opdefs:
            source = load_graph_def(source)
            note_types(source.node, parsed_op_defs(flags.custom_opdefs))
        return TFLiteConverter.from_frozen_graph(source, **arrays)
    if flags.keras_model_file:
        return TFLiteConverter.from_keras_model_file(flags.keras_model_file, **arrays)
    return TFLiteConverter.from_saved_model(
        flags.saved_model_dir,
        tag_set=tags(flags.saved_model_tag_set),
        signature_key=flags.saved_model_signature_key,
        **arrays,
    )


def set_ranges(converter: Any, flags: argparse.Namespace) -> None:
    """Tells a converter the ranges of inputs, and of tensors without one."""
    if flags.mean_values:
        names = converter.get_input_arrays()
        kind = float if flags.inference_type == "FLOAT" else int
        means = numbers("mean_values", flags.mean_values, kind)
        deviations = numbers("std_dev_values", flags.std_dev_values, float)
        if len(names) != len(means) or (not flags.input_arrays and len(names) > 1):
            raise ValueError(
                "Mismatching --input_arrays, --std_dev_values, and --mean_values. The flags must "
                "have the same number of items. The current input arrays are "
                f"'{','.join(names)}'. --input_arrays must be present when specifying "
                "--std_dev_values and --mean_values with multiple input tensors in order to map "
                "between names and values."
            )
        pairs = zip(means, deviations, strict=True)
        converter.quantized_input_stats = dict(zip(names, pairs, strict=True))
    if flags.default_ranges_min is not None:
        converter.default_ranges_stats = (flags.default_ranges_min, flags.default_ranges_max)


def set_target(converter: Any, flags: argparse.Namespace) -> None:
    """Tells a converter which operators the device supports."""
    from ..converter.api.options import OpsSet

    if flags.target_ops:
        options = OpsSet.get_options()
        chosen = flags.target_ops.split(",")
        if not set(chosen) <= set(options):
            raise ValueError(f"Invalid value for --target_ops. Options: {','.join(options)}")
        converter.target_spec.supported_ops = {OpsSet(option) for option in chosen}
    user_ops = items(flags.experimental_select_user_tf_ops)
    if user_ops:
        converter.target_spec.experimental_select_user_tf_ops = set(user_ops)


def set_quantization(converter: Any, flags: argparse.Namespace) -> None:
    """Tells a converter in how many bits weights are stored."""
    from ..converter.api.options import Optimize, constants

    if flags.post_training_quantize:
        converter.optimizations = [Optimize.DEFAULT]
        if flags.inference_type != "FLOAT":
            warnings.warn(
                "--post_training_quantize quantizes a graph of inference_type FLOAT. Overriding "
                "inference_type to FLOAT.",
                stacklevel=2,
            )
            converter.inference_type = constants.FLOAT
    if flags.quantize_to_float16:
        converter.target_spec.supported_types = {constants.FLOAT16}
        if not flags.post_training_quantize:
            warnings.warn(
                "--quantize_to_float16 will only take effect with the --post_training_quantize "
                "flag enabled.",
                stacklevel=2,
            )


def set_experimental(converter: Any, flags: argparse.Namespace) -> None:
    """Sets what chooses between the converters inside TensorFlow."""
    converter.experimental_new_converter = flags.experimental_new_converter
    if flags.experimental_new_quantizer is not None:
        converter.experimental_new_quantizer = flags.experimental_new_quantizer


def _type(flag: str, value: str) -> str:
    """The type that a flag's word names."""
    if value not in TYPES:
        raise ValueError(
            f"Unsupported value for `{flag}` flag. Expected FLOAT, INT8, UINT8, or "
            f"QUANTIZED_UINT8 instead got {value}."
        )
    return TYPES[value]


def items(text: str | None) -> list[str]:
    """The items of a comma-separated list; none of None."""
    return [item for item in (text or "").split(",") if item]


def tags(text: str | None) -> set[str] | None:
    """The tags of a flag, of which "" has none; None stays None."""
    return None if text is None else set(items(text))


def shape(text: str) -> list[int | None]:
    """The numbers of a shape, None for -1."""
    sizes = numbers("input_shapes", text, int)
    return [None if number < 0 else number for number in sizes]


def numbers(flag: str, text: str, kind: Callable[[str], Number]) -> list[Number]:
    """The numbers of a comma-separated list."""
    try:
        return [kind(item) for item in items(text)]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise ValueError(f"--{flag} must be {what}, got '{text}'") from None


if __name__ == "__main__":
    sys.exit(main())
