"""What a converter can be told: operator sets, optimizations, data to calibrate on, target."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...interpreter.arguments import as_member


class OpsSet(enum.Enum):
    """The sets of operators a converted model may use; the values are TensorFlow's."""

    TFLITE_BUILTINS = "TFLITE_BUILTINS"
    SELECT_TF_OPS = "SELECT_TF_OPS"
    TFLITE_BUILTINS_INT8 = "TFLITE_BUILTINS_INT8"
    EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8 = (
        "EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8"
    )
    EXPERIMENTAL_STABLEHLO_OPS = "EXPERIMENTAL_STABLEHLO_OPS"

    def __str__(self) -> str:
        return self.value

    @staticmethod
    def get_options() -> list[str]:
        """The names of all sets."""
        return [option.value for option in OpsSet]


class Optimize(enum.Enum):
    """What to optimize a model for; everything but EXPERIMENTAL_SPARSITY means DEFAULT."""

    DEFAULT = "DEFAULT"
    OPTIMIZE_FOR_SIZE = "OPTIMIZE_FOR_SIZE"
    OPTIMIZE_FOR_LATENCY = "OPTIMIZE_FOR_LATENCY"
    EXPERIMENTAL_SPARSITY = "EXPERIMENTAL_SPARSITY"

    def __str__(self) -> str:
        return self.value


class RepresentativeDataset:
    """Samples to evaluate and calibrate a model on.

    Args:
        input_gen: a callable that returns an iterable of samples; a sample is a list with one array
            for each input, in input order, or a dict from input name to array.

    Raises:
        ValueError: `input_gen` is not callable.
    """

    def __init__(self, input_gen: Callable[[], Iterable[Any]]) -> None:
        if not callable(input_gen):
            raise ValueError(
                "`input_gen` must be a callable that returns an iterable of samples, got "
                f"{type(input_gen).__name__}; wrap it: RepresentativeDataset(lambda: samples)"
            )
        self.input_gen = input_gen


class TargetSpec:
    """The device a model is converted for.

    Args:
        supported_ops: OpsSet members the device supports; TFLITE_BUILTINS when omitted.
        supported_types: types of constants the device supports, for float16 quantization.
        experimental_select_user_tf_ops: names of the user's own TF operators to keep.
        experimental_supported_backends: "GPU" asks that a GPU delegate can run the model.
    """

    __slots__ = (
        "_experimental_custom_op_registerers",
        "_experimental_supported_accumulation_type",
        "experimental_select_user_tf_ops",
        "experimental_supported_backends",
        "supported_ops",
        "supported_types",
    )

    def __init__(
        self,
        supported_ops: Iterable[OpsSet] | None = None,
        supported_types: Iterable[Any] | None = None,
        experimental_select_user_tf_ops: Iterable[str] | None = None,
        experimental_supported_backends: Iterable[str] | None = None,
    ) -> None:
        self.supported_ops = set(supported_ops or {OpsSet.TFLITE_BUILTINS})
        self.supported_types = set(supported_types or ())
        self.experimental_select_user_tf_ops = set(experimental_select_user_tf_ops or ())
        self.experimental_supported_backends = set(experimental_supported_backends or ())
        self._experimental_custom_op_registerers: list[Any] = []
        self._experimental_supported_accumulation_type: Any = None


def as_members(values: Any, kind: type[enum.Enum]) -> Any:
    """A collection with the members of `kind` where it has TensorFlow's of that name."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return values
    members = [as_member(value, kind) for value in values]
    return set(members) if isinstance(values, set | frozenset) else members


def as_target_spec(spec: Any) -> Any:
    """A TargetSpec with the attributes of TensorFlow's class of that name; another object as is."""
    if type(spec).__name__ != TargetSpec.__name__:
        return spec
    if not isinstance(spec, TargetSpec):
        attributes = {
            name: getattr(spec, name) for name in TargetSpec.__slots__ if hasattr(spec, name)
        }
        spec = TargetSpec()
        for name, value in attributes.items():
            setattr(spec, name, value)
    spec.supported_ops = as_members(spec.supported_ops, OpsSet)
    return spec


constants = SimpleNamespace(
    FLOAT=np.dtype(np.float32),
    FLOAT16=np.dtype(np.float16),
    INT8=np.dtype(np.int8),
    INT16=np.dtype(np.int16),
    INT32=np.dtype(np.int32),
    INT64=np.dtype(np.int64),
    STRING=np.dtype(object),
    QUANTIZED_UINT8=np.dtype(np.uint8),
    TFLITE=2,
    GRAPHVIZ_DOT=3,
)
"""The type and output-format constants of `tf.lite.constants`, types as numpy dtypes."""


def as_dtype(name: str, value: Any) -> np.dtype | None:
    """A type given as numpy's, as one of lite.constants or as TensorFlow's; None stays None."""
    if value is None:
        return None
    try:
        return np.dtype(getattr(value, "as_numpy_dtype", value))
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a type such as np.float32 or lite.constants.FLOAT, got {value!r}"
        ) from None
