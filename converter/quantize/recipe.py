"""What a converter's attributes ask for, as one record; contradictions are errors here."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import noted
from ..api.options import OpsSet, Optimize, as_dtype
from .rules import RULES

if TYPE_CHECKING:
    from ..api.settings import Settings

FLOAT32 = np.dtype(np.float32)
INT16 = np.dtype(np.int16)
IO_TYPES = (FLOAT32, np.dtype(np.int8), np.dtype(np.uint8))
DATASET = (
    "representative_dataset = RepresentativeDataset(samples), where samples() yields lists with "
    "one array for each input"
)


@dataclass(frozen=True)
class Recipe:
    """How a model is quantized.

    Attributes:
        weights_only: dynamic range: int8 weights, everything else float32.
        float_fallback: whether operators without an int8 kernel may stay float32.
        input_type, output_type: float32, int8 or uint8, of float32 inputs and outputs.
        per_tensor: the kinds of operators whose weights have one scale, not one for each channel.
    """

    weights_only: bool = False
    float_fallback: bool = True
    input_type: np.dtype = FLOAT32
    output_type: np.dtype = FLOAT32
    per_tensor: frozenset[str] = frozenset()


def recipe_of(settings: Settings) -> Recipe | None:
    """The Recipe that the attributes of a converter ask for; None for a float model.

    Raises ValueError when they contradict each other.
    """
    is_quantized = any(
        option is not Optimize.EXPERIMENTAL_SPARSITY for option in settings.optimizations
    )
    ops = set(settings.target_spec.supported_ops)
    asks_int8 = OpsSet.TFLITE_BUILTINS_INT8 in ops or bool(settings.target_spec.supported_types)
    has_data = settings.representative_dataset is not None
    if asks_int8 and not has_data:
        raise noted(
            ValueError(
                "For full integer quantization, a `representative_dataset` must be specified."
            ),
            f"Set {DATASET}",
        )
    names = ("inference_input_type", "inference_output_type")
    io_types = [as_dtype(name, getattr(settings, name)) or FLOAT32 for name in names]
    for name, dtype in zip(names, io_types, strict=True):
        if dtype != FLOAT32 and not (is_quantized and has_data):
            raise noted(
                ValueError(
                    "The inference_input_type and inference_output_type must be tf.float32."
                ),
                f"For {name} {dtype} the model must be quantized with samples: optimizations = "
                f"[Optimize.DEFAULT] and {DATASET}",
            )
        if dtype == INT16:
            raise ValueError(f"{name} {dtype} is not supported yet; take int8 or uint8")
        if dtype not in IO_TYPES:
            supported = [f"tf.{io_type}" for io_type in (*IO_TYPES, INT16)]
            raise noted(
                ValueError(
                    f"The inference_input_type and inference_output_type must be in {supported}."
                ),
                f"{name} is {dtype}.",
            )
    if not is_quantized and asks_int8:
        warnings.warn(
            "target_spec asks for int8 operators, but optimizations is empty: the model stays "
            "float; set optimizations = [Optimize.DEFAULT]",
            stacklevel=5,
        )
    if not is_quantized or settings.experimental_use_stablehlo_quantizer:
        return None
    float_fallback = bool(ops & {OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS})
    per_tensor: frozenset[str] = frozenset()
    if settings._experimental_disable_per_channel:
        per_tensor = frozenset(RULES)
    elif settings._experimental_disable_per_channel_quantization_for_dense_layers:
        per_tensor = frozenset({"FULLY_CONNECTED"})
    return Recipe(not has_data, float_fallback, io_types[0], io_types[1], per_tensor)
