"""TensorFlow 1's deprecated names of the converter."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from . import converter
from .converter_v1 import TFLiteConverter
from .options import OpsSet, Optimize

OPTIONS = (
    "inference_type",
    "inference_input_type",
    "input_format",
    "input_shapes",
    "output_format",
    "quantized_input_stats",
    "default_ranges_stats",
    "drop_control_dependency",
    "reorder_across_fake_quant",
    "allow_custom_ops",
    "change_concat_input_ranges",
    "post_training_quantize",
    "quantize_to_float16",
    "dump_graphviz_dir",
    "dump_graphviz_video",
    "target_ops",
    "allow_nonexistent_arrays",
    "debug_info",
    "conversion_summary_dir",
)
"""The arguments of `toco_convert` after the first three, in TensorFlow's order."""
NEUTRAL = {
    "allow_nonexistent_arrays": False,
    "debug_info": None,
    "input_format": 1,  # TENSORFLOW_GRAPHDEF
    "quantize_to_float16": False,
}
"""Arguments that are no attributes of a converter, with the only value that is taken."""


class TocoConverter:
    """Deprecated: the class methods of TFLiteConverter under their old name; each warns."""

    @classmethod
    def from_session(
        cls, sess: Any, input_tensors: Sequence[Any], output_tensors: Sequence[Any]
    ) -> converter.TFLiteConverter:
        """Deprecated: use `lite.TFLiteConverter.from_session`."""
        _warn("TocoConverter.from_session", "lite.TFLiteConverter.from_session")
        return TFLiteConverter.from_session(sess, input_tensors, output_tensors)

    @classmethod
    def from_frozen_graph(
        cls,
        graph_def_file: Any,
        input_arrays: Sequence[str],
        output_arrays: Sequence[str],
        input_shapes: Any = None,
    ) -> converter.TFLiteConverter:
        """Deprecated: use `lite.TFLiteConverter.from_frozen_graph`."""
        _warn("TocoConverter.from_frozen_graph", "lite.TFLiteConverter.from_frozen_graph")
        return TFLiteConverter.from_frozen_graph(
            graph_def_file, input_arrays, output_arrays, input_shapes
        )

    @classmethod
    def from_saved_model(
        cls,
        saved_model_dir: Any,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Any = None,
        output_arrays: Sequence[str] | None = None,
        tag_set: Any = None,
        signature_key: str | None = None,
    ) -> converter.TFLiteConverter:
        """Deprecated: use `lite.TFLiteConverter.from_saved_model`."""
        _warn("TocoConverter.from_saved_model", "lite.TFLiteConverter.from_saved_model")
        return TFLiteConverter.from_saved_model(
            saved_model_dir, input_arrays, input_shapes, output_arrays, tag_set, signature_key
        )

    @classmethod
    def from_keras_model_file(
        cls,
        model_file: Any,
        input_arrays: Sequence[str] | None = None,
        input_shapes: Any = None,
        output_arrays: Sequence[str] | None = None,
    ) -> converter.TFLiteConverter:
        """Deprecated: use `lite.TFLiteConverter.from_keras_model_file`."""
        _warn("TocoConverter.from_keras_model_file", "lite.TFLiteConverter.from_keras_model_file")
        return TFLiteConverter.from_keras_model_file(
            model_file, input_arrays, input_shapes, output_arrays
        )


def toco_convert(
    input_data: Any,
    input_tensors: Sequence[Any],
    output_tensors: Sequence[Any],
    *args: Any,
    **kwargs: Any,
) -> bytes:
    """Deprecated: use `lite.TFLiteConverter`.

    Args:
        input_data: a frozen GraphDef: a message, its bytes or a path.
        input_tensors: tensors with `.name` and `.shape`.
        output_tensors: tensors with `.name`.
        args, kwargs: values of OPTIONS; attributes of the converter under their old names.

    Returns:
        The flatbuffer, or the drawing that `output_format` asks for.

    Raises:
        TypeError: an argument is none of OPTIONS, or given twice.
        ValueError: what `TFLiteConverter` and its `convert` raise; a value that has no effect here.
    """
    _warn("toco_convert", "lite.TFLiteConverter")
    if len(args) > len(OPTIONS):
        raise TypeError(f"toco_convert takes at most {len(OPTIONS) + 3} arguments")
    settings: dict[str, Any] = dict(zip(OPTIONS, args, strict=False))
    for name, value in kwargs.items():
        if name not in OPTIONS or name in settings:
            reason = "twice" if name in settings else f"which is none of {', '.join(OPTIONS)}"
            raise TypeError(f"toco_convert got '{name}', {reason}")
        settings[name] = value
    shapes = settings.pop("input_shapes", None)
    if shapes is not None and input_tensors:
        names = [tensor.name.partition(":")[0] for tensor in input_tensors]
        outputs = [tensor.name.partition(":")[0] for tensor in output_tensors]
        converter = TFLiteConverter(
            input_data, None, None, list(zip(names, shapes, strict=True)), outputs
        )
    else:
        converter = TFLiteConverter(input_data, input_tensors, output_tensors)
    if settings.pop("post_training_quantize", False):
        converter.optimizations = [Optimize.DEFAULT]
    target_ops = settings.pop("target_ops", None)
    if target_ops is not None:
        converter.target_spec.supported_ops = set(target_ops) or {OpsSet.TFLITE_BUILTINS}
    for name, value in NEUTRAL.items():
        if settings.pop(name, value) != value:
            raise ValueError(f"{name} must be {value!r}, as nothing else has an effect in flatlite")
    for name, value in settings.items():
        setattr(converter, name, value)
    return converter.convert()


class SupportedOp(NamedTuple):
    """An operation of TensorFlow that TFLite might run; `op` is its name."""

    op: str


def get_potentially_supported_ops() -> list[SupportedOp]:
    """The TF operations that flatlite has a lowering for, by name.

    A lowering may still refuse some forms of an operation: only a conversion tells.
    """
    from ..tf.registry import LOWERINGS

    return [SupportedOp(name) for name in sorted(LOWERINGS.names())]


def _warn(old: str, new: str) -> None:
    """TensorFlow's warning for a deprecated function."""
    text = f"{old} is deprecated and will be removed in a future version; use `{new}` instead."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
