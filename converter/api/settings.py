"""The attributes of a converter: names, defaults, and which values this version takes."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError
from ..callers import caller
from ..sources.positions import SOURCE, TENSORFLOW
from .ignored import REFUSED, SILENT, TARGET_REFUSED, TARGET_WITHOUT_EFFECT, WITHOUT_EFFECT
from .options import (
    OpsSet,
    Optimize,
    TargetSpec,
    as_dtype,
    as_members,
    as_target_spec,
    constants,
)
from .samples import dataset_function

if TYPE_CHECKING:
    from ..quantize.recipe import Recipe

KNOWN_SETS = set(OpsSet) - {OpsSet.EXPERIMENTAL_STABLEHLO_OPS}
INTERNAL = (
    "_sources",
    "_path",
    "_api_version",
    "_last",
    "_pareto_front",
    "_is_complete",
    "_deferred",
    "_frozen",
)
"""What is no setting."""


class Settings:
    """The attributes of TFLiteConverter; an unknown name is refused instead of ignored."""

    _is_complete = False
    experimental_stablehlo_quantizer_config: Any

    def __init__(self) -> None:
        self.optimizations: Any = []
        self.representative_dataset: Any = None
        self.target_spec = TargetSpec()
        self.inference_type: Any = constants.FLOAT
        self.inference_input_type: Any = None
        self.inference_output_type: Any = None
        self.output_format: int = constants.TFLITE
        self.quantized_input_stats: Any = {}
        self.default_ranges_stats: Any = None
        self.reorder_across_fake_quant: bool = False
        self.change_concat_input_ranges: bool = False
        self.quantization_recipe: Any = None
        self.quantization_algorithms: Any = []
        self.accuracy_budget: Any = None
        self.strict_int8 = False
        self.calibration_workers: int = 1
        self.allow_custom_ops = False
        self.conversion_summary_dir: Any = None
        self.dump_graphviz_dir: Any = None
        self.dump_graphviz_video: bool = False
        self.exclude_conversion_metadata = False
        self.experimental_lower_to_saved_model = True
        self.experimental_new_converter = True
        self.experimental_new_quantizer: bool | None = True
        self.experimental_use_stablehlo_quantizer = False
        self.canonicalizing_inf_as_min_max_float = True
        self.saved_model_dir: Any = None
        self.serialize_debug_metadata = False
        self.io_order = SOURCE
        self.target = "litert"
        self.unfold_batchmatmul = False
        self.verify = True
        self.verify_inputs: Any = None
        self._experimental_disable_per_channel = False
        self._experimental_disable_per_channel_quantization_for_dense_layers = False
        self._experimental_variable_quantization = False
        self._experimental_low_bit_qat = False
        self._experimental_full_integer_quantization_bias_type: Any = None
        self._experimental_qdq_conversion_mode: Any = None
        self.__dict__.update({**WITHOUT_EFFECT, **REFUSED, **SILENT})
        self._is_complete = True

    def __setattr__(self, name: str, value: Any) -> None:
        is_known = name in self.__dict__ or hasattr(type(self), name)
        if self._is_complete and not is_known and name not in INTERNAL:
            similar = difflib.get_close_matches(name, set(self.__dict__) - set(INTERNAL), 1)
            hint = f"; did you mean '{similar[0]}'?" if similar else ""
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")
        super().__setattr__(name, value)

    @property
    def target_ops(self) -> set[OpsSet]:
        """The deprecated name of `target_spec.supported_ops`."""
        warn_deprecated("target_ops", "target_spec.supported_ops")
        return self.target_spec.supported_ops

    @target_ops.setter
    def target_ops(self, value: Iterable[OpsSet]) -> None:
        warn_deprecated("target_ops", "target_spec.supported_ops", 4)
        self.target_spec.supported_ops = set(value)

    @property
    def post_training_quantize(self) -> bool:
        """Deprecated: whether `optimizations` has Optimize.DEFAULT."""
        warn_deprecated("post_training_quantize", "optimizations=[Optimize.DEFAULT]")
        return Optimize.DEFAULT in self.optimizations

    @post_training_quantize.setter
    def post_training_quantize(self, value: bool) -> None:
        warn_deprecated("post_training_quantize", "optimizations=[Optimize.DEFAULT]", 4)
        self.optimizations = [Optimize.DEFAULT] if value else []

    def check_kinds(self) -> None:
        """Raises ValueError for values that are not even of the kind that is read of them."""
        self.target_spec = as_target_spec(self.target_spec)
        if not isinstance(self.target_spec, TargetSpec):
            raise ValueError(f"target_spec must be a TargetSpec, got {self.target_spec!r}")
        for name, (is_kind, words) in KINDS.items():
            value = attrgetter(name)(self)
            if not is_kind(value):
                raise ValueError(f"{name} must be {words}, got {value!r}")

    def check(self) -> None:
        """Raises ValueError for values that contradict the documents or that would be ignored.

        Members of TensorFlow's enums, and its TargetSpec, become those of flatlite. Warns where a
        value has no effect.
        """
        from ..quantize.settings_recipe import (
            overruled,
            recipe_of,
            takes_integers,
            with_algorithms,
        )

        self.optimizations = as_members(self.optimizations, Optimize)
        check_choices(self)
        unsupported = [name for name, is_set in UNSUPPORTED.items() if is_set(self)]
        if unsupported:
            raise ValueError(
                f"{', '.join(unsupported)}: this way to quantize is not supported yet; "
                "optimizations = [Optimize.DEFAULT] stores weights in 8 bits, and with a "
                "representative_dataset everything"
            )
        recipe = recipe_of(self)
        check_bias_type(self, recipe)
        if self._experimental_variable_quantization and recipe is not None and recipe.weights_only:
            raise ValueError(
                "`_experimental_variable_quantization` is only supported for full integer "
                "quantization."
            )
        with_algorithms(recipe, self)
        is_float = as_dtype("inference_type", self.inference_type) in (None, np.float32)
        unread = {
            "quantized_input_stats": is_float and not takes_integers(self),
            "default_ranges_stats": is_float,
            "reorder_across_fake_quant": recipe is None,
            "change_concat_input_ranges": recipe is None,
        }
        for name, has_no_effect in unread.items():
            if getattr(self, name) and has_no_effect:
                warnings.warn(
                    f"{name} has no effect without inference_type = lite.constants.QUANTIZED_UINT8 "
                    "or INT8",
                    stacklevel=caller(),
                )
        if not self.experimental_new_quantizer and (recipe is None or recipe.weights_only):
            warnings.warn(
                "experimental_new_quantizer has no effect without full integer quantization",
                stacklevel=caller(),
            )
        for name in overruled(self, recipe):
            warnings.warn(
                f"{name} has no effect beside quantization_recipe; write it into the recipe",
                stacklevel=caller(),
            )
        spec = self.target_spec
        if spec.experimental_select_user_tf_ops and OpsSet.SELECT_TF_OPS not in spec.supported_ops:
            warnings.warn(
                "target_spec.experimental_select_user_tf_ops has no effect without "
                "OpsSet.SELECT_TF_OPS among target_spec.supported_ops",
                stacklevel=caller(),
            )
        for name in changed(self, WITHOUT_EFFECT, TARGET_WITHOUT_EFFECT):
            warnings.warn(f"{name} has no effect in flatlite", stacklevel=caller())


def check_choices(settings: Settings) -> None:
    """Raises ValueError unless every attribute is of its kind."""
    dataset_function(settings.representative_dataset)
    for name in ("inference_type", "inference_input_type", "inference_output_type"):
        as_dtype(name, getattr(settings, name))
    check_members("optimizations", settings.optimizations, Optimize)
    check_members("target_spec.supported_ops", settings.target_spec.supported_ops, OpsSet)
    if settings.output_format not in (constants.TFLITE, constants.GRAPHVIZ_DOT):
        raise ValueError(
            "output_format must be constants.TFLITE or constants.GRAPHVIZ_DOT, got "
            f"{settings.output_format!r}"
        )
    if settings.io_order not in (SOURCE, TENSORFLOW):
        raise ValueError(
            f"io_order must be '{SOURCE}' or '{TENSORFLOW}', got {settings.io_order!r}"
        )
    if settings.dump_graphviz_video and settings.dump_graphviz_dir is None:
        raise ValueError("dump_graphviz_video needs dump_graphviz_dir, the folder for drawings")
    workers = settings.calibration_workers
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ValueError(f"calibration_workers must be a positive integer, got {workers!r}")
    check_stablehlo(settings)
    check_qdq_mode(settings._experimental_qdq_conversion_mode)
    refused = changed(settings, REFUSED, TARGET_REFUSED)
    if refused:
        raise ValueError(f"{', '.join(refused)}: not supported; leave the default value")


def check_stablehlo(settings: Settings) -> None:
    """Raises ValueError for what TensorFlow's StableHLO quantizer does not take."""
    config = settings.experimental_stablehlo_quantizer_config
    if not settings.experimental_use_stablehlo_quantizer:
        if config is not None:
            raise ValueError(
                "QuantizationConfig should be provided only when "
                "experimental_use_stablehlo_quantizer is set to true."
            )
        return
    is_default = Optimize.DEFAULT in settings.optimizations
    if not (settings.representative_dataset is not None and is_default):
        if config is None or is_default:
            raise ValueError("StableHLO quantizer only supports static-range and weight-only PTQ.")
        return
    warnings.warn(
        "experimental_use_stablehlo_quantizer: the StableHLO quantizer does nothing to the "
        "operators of TensorFlow; the model stays float",
        stacklevel=caller(),
    )


def check_qdq_mode(mode: Any) -> None:
    """Raises an error for a mode that TensorFlow does not know, or that asks for another model."""
    if mode in (None, "NONE"):
        return
    if mode not in ("STATIC", "DYNAMIC"):
        raise ConverterError(f"Unknown QDQ conversion mode: {mode}")
    raise ValueError(
        f"_experimental_qdq_conversion_mode must be None or 'NONE', got {mode!r}: sources that are "
        "quantized already are not supported"
    )


def check_bias_type(settings: Settings, recipe: Recipe | None) -> None:
    """Raises ValueError unless the type of biases is one that models of the scheme have."""
    bias_type = settings._experimental_full_integer_quantization_bias_type
    if bias_type is None:
        return
    if recipe is None or recipe.weights_only:
        raise ValueError(
            "`full_integer_quantization_bias_type` is only supported for full integer quantization."
        )
    dtype = as_dtype("_experimental_full_integer_quantization_bias_type", bias_type)
    if recipe.main.symmetric:
        if dtype not in (constants.INT32, constants.INT64):
            raise ValueError(
                "Expected bias type to be `dtypes.int32` or `dtypes.int64` for Int16Quant. Current "
                f"setting bias type: {bias_type}"
            )
    elif dtype != constants.INT32:
        raise ValueError(
            "Expected bias type to be `dtypes.int32` for Int8Quant. Current setting bias type: "
            f"{bias_type}"
        )


def changed(settings: Settings, defaults: dict[str, Any], target: dict[str, Any]) -> list[str]:
    """The names of attributes, and of those of `target_spec`, that are not at their defaults."""
    spec = settings.target_spec
    names = [name for name, value in defaults.items() if getattr(settings, name) != value]
    return names + [
        f"target_spec.{name}" for name, value in target.items() if getattr(spec, name) != value
    ]


def check_members(name: str, values: Any, kind: type) -> None:
    """Raises ValueError unless `values` is a collection of members of the enum `kind`."""
    is_list = isinstance(values, Iterable) and not isinstance(values, str)
    if not is_list or not all(isinstance(value, kind) for value in values):
        raise ValueError(f"{name} must be a list of {kind.__name__} members, got {values!r}")


def is_path(value: object) -> bool:
    """Whether it may be a path; None is none."""
    return value is None or isinstance(value, str | os.PathLike)


def is_collection(value: object) -> bool:
    """Whether it has elements, and is no text."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | type)


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "quantized_input_stats": (
        lambda value: value is None or isinstance(value, Mapping),
        "a dict of (mean, standard deviation) by input name",
    ),
    "conversion_summary_dir": (is_path, "the path of a folder"),
    "dump_graphviz_dir": (is_path, "the path of a folder"),
    "target_spec.supported_types": (is_collection, "a list of types"),
    "target_spec.experimental_select_user_tf_ops": (is_collection, "a list of operator names"),
}
"""What attributes must be, by name: a test, and the words for it."""

UNSUPPORTED: dict[str, Callable[[Settings], object]] = {
    "inference_type": lambda s: (
        as_dtype("inference_type", s.inference_type) not in (None, np.float32, np.uint8, np.int8)
    ),
    "target_spec.supported_types": lambda s: (
        {as_dtype("target_spec.supported_types", t) for t in s.target_spec.supported_types}
        - {constants.INT8, constants.FLOAT16}
    ),
    "target_spec.supported_ops": lambda s: set(s.target_spec.supported_ops) - KNOWN_SETS,
}
"""What this version would have to ignore, by attribute, and whether it was asked for."""


def warn_deprecated(old: str, new: str, stacklevel: int = 3) -> None:
    """TensorFlow's warning for a deprecated attribute."""
    text = f"Property {old} is deprecated, please use {new} instead."
    warnings.warn(text, stacklevel=stacklevel)
