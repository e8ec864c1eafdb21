"""The Recipe that a converter's attributes ask for; contradictions are errors here."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import noted
from ..api.options import OpsSet, Optimize, as_dtype, constants
from ..callers import caller
from ..lowering.fake_quant import has_dynamic_weights, has_fake_quant
from ..sources.source import Source, short_name, some
from .accuracy.algorithms import algorithms_of, needs_data
from .recipe import FLOAT32, IO_TYPES, Recipe
from .recipe_file import from_recipe
from .scheme import DYNAMIC, FLOAT16, INT8, INT16X8, UINT8, Scheme

if TYPE_CHECKING:
    from ..api.settings import Settings
    from ..ir.graph import Graph

INT16_SET = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
INTEGER_SETS = {INT16_SET: INT16X8, OpsSet.TFLITE_BUILTINS_INT8: INT8}
"""The sets of integer operators -> their scheme; the first of those asked for is the main one."""
FLOAT_SETS = frozenset({OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS})
ENDS = ("inference_input_type", "inference_output_type")
ROUNDING = ("FakeQuant", "FAKE_QUANT", "QuantizeAndDequantize", "QuantizeLinear")
"""How the types of operations begin that state ranges."""
STATED = ("i8", "u8")
"""Types of results whose ranges FakeQuant may state."""
DATASET = (
    "representative_dataset = RepresentativeDataset(samples), where samples() yields lists with "
    "one array for each input"
)


def recipe_of(settings: Settings) -> Recipe | None:
    """The Recipe that the attributes of a converter ask for; None for a float model.

    Raises ValueError when they contradict each other.
    """
    is_quantized = any(
        option is not Optimize.EXPERIMENTAL_SPARSITY for option in settings.optimizations
    )
    if settings.quantization_recipe is not None:
        recipe = from_recipe(settings.quantization_recipe)
        if recipe is not settings.quantization_recipe:
            recipe = with_types_of_ends(recipe, settings)
        if settings.strict_int8:
            recipe = dataclasses.replace(recipe, strict=True)
        return recipe
    has_data = settings.representative_dataset is not None
    if is_integer(settings) and (has_data or not is_quantized):
        return legacy_recipe(settings)
    ops = set(settings.target_spec.supported_ops)
    types = {
        as_dtype("target_spec.supported_types", t) for t in settings.target_spec.supported_types
    }
    halves = constants.FLOAT16 in types
    integer_sets = [kind for kind in INTEGER_SETS if kind in ops]
    if is_quantized and ops == {OpsSet.TFLITE_BUILTINS_INT8} and types - {np.dtype(np.int8)}:
        raise ValueError(
            "As full integer quantization has been enabled by setting "
            "`target_spec.supported_ops`={tf.lite.OpsSet.TFLITE_BUILTINS_INT8}, thus "
            "`target_spec.supported_types` should be left uninitizalized or set to {tf.int8}."
        )
    asks_integers = bool(integer_sets or types - {constants.FLOAT16})
    if asks_integers:
        require_data(settings)
    schemes = tuple(INTEGER_SETS[kind] for kind in integer_sets) or (INT8,)
    if settings._experimental_full_integer_quantization_bias_type is not None:
        name = "_experimental_full_integer_quantization_bias_type"
        if as_dtype(name, getattr(settings, name)) == constants.INT32:
            schemes = tuple(dataclasses.replace(scheme, bias="i32") for scheme in schemes)
    if halves and not asks_integers:
        schemes = (FLOAT16,)
    elif not has_data:
        schemes = (DYNAMIC,)
    io_types = types_of_ends(settings, schemes[0], is_quantized)
    if not is_quantized and (asks_integers or halves):
        warnings.warn(
            "target_spec (supported_ops, supported_types) asks for a quantized model, but "
            "optimizations is empty: the model stays float; set optimizations = [Optimize.DEFAULT]",
            stacklevel=caller(),
        )
    if not is_quantized or settings.experimental_use_stablehlo_quantizer:
        return None
    integers_only = bool(integer_sets) and not ops & FLOAT_SETS
    per_tensor: frozenset[str] = frozenset()
    if settings._experimental_disable_per_channel:
        from .rules import RULES

        per_tensor = frozenset(RULES)
    elif settings._experimental_disable_per_channel_quantization_for_dense_layers:
        per_tensor = frozenset({"FULLY_CONNECTED"})
    return Recipe(
        schemes,
        strict=settings.strict_int8,
        warns=integers_only,
        input_type=io_types[0],
        output_type=io_types[1],
        per_tensor=per_tensor,
        variables=bool(settings._experimental_variable_quantization),
        has_float_ends=not settings.experimental_new_quantizer,
    )


def with_types_of_ends(recipe: Recipe, settings: Settings) -> Recipe:
    """The recipe with the types of inputs and outputs that a converter's attributes ask for.

    Raises ValueError where it says others, and for those that its scheme has not.
    """
    types = []
    for name, stated in zip(ENDS, (recipe.input_type, recipe.output_type), strict=True):
        dtype = as_dtype(name, getattr(settings, name)) or FLOAT32
        if FLOAT32 not in (dtype, stated) and dtype != stated:
            raise ValueError(
                f"{name} must be {stated}, as quantization_recipe says, got {dtype}; set only one"
            )
        if dtype != FLOAT32 and recipe.main.activations is None:
            raise float_ends(name, dtype)
        types.append(stated if dtype == FLOAT32 else dtype)
    if recipe.main.activations is not None:
        check_types_of_ends(types, recipe.main)
    return dataclasses.replace(recipe, input_type=types[0], output_type=types[1])


def overruled(settings: Settings, recipe: Recipe | None) -> list[str]:
    """The attributes that ask for another scheme than the recipe that a user wrote, which holds."""
    if recipe is None or isinstance(settings.quantization_recipe, Recipe | None):
        return []
    spec = settings.target_spec
    others = [
        kind
        for kind, scheme in INTEGER_SETS.items()
        if kind in spec.supported_ops and scheme not in recipe.schemes
    ]
    is_set = {
        "target_spec.supported_ops": bool(others),
        "target_spec.supported_types": bool(spec.supported_types),
        "inference_type": is_integer(settings),
        "_experimental_disable_per_channel": settings._experimental_disable_per_channel,
    }
    return [name for name, has_value in is_set.items() if has_value]


def with_algorithms(recipe: Recipe | None, settings: Settings) -> Recipe | None:
    """The recipe with the algorithms that a converter's attribute asks for besides.

    Raises ValueError for those that there are not, and when samples that they need are missing.
    """
    requested = algorithms_of(settings.quantization_algorithms)
    if recipe is None:
        if requested:
            raise ValueError(
                f"quantization_algorithms ({requested[0].name}) need a quantized model; set "
                "optimizations = [Optimize.DEFAULT] or quantization_recipe"
            )
        return None
    algorithms = algorithms_of((*recipe.algorithms, *requested))
    names = needs_data(algorithms)
    if names and settings.representative_dataset is None:
        raise ValueError(f"the algorithms {', '.join(names)} measure on samples; set {DATASET}")
    return dataclasses.replace(recipe, algorithms=algorithms)


def legacy_recipe(settings: Settings) -> Recipe:
    """What TensorFlow 1's `inference_type` asks for: integers throughout, of stated ranges."""
    dtype = as_dtype("inference_type", settings.inference_type)
    scheme = integer_scheme(dtype)
    input_type, output_type = (as_dtype(name, getattr(settings, name)) or dtype for name in ENDS)
    for name, end in zip(ENDS, (input_type, output_type), strict=True):
        if end not in IO_TYPES[scheme.code]:
            raise ValueError(f"{name} must be float32 or {dtype}, as inference_type is, got {end}")
    return Recipe(
        (scheme,),
        strict=settings.strict_int8,
        warns=True,
        input_type=input_type or FLOAT32,
        output_type=output_type or FLOAT32,
        states_ranges=settings.representative_dataset is None,
    )


def integer_scheme(dtype: Any) -> Scheme:
    """The scheme of TensorFlow 1's `inference_type`; int8 where none is said."""
    return UINT8 if as_dtype("inference_type", dtype) == np.uint8 else INT8


def is_integer(settings: Settings) -> bool:
    """Whether TensorFlow 1's `inference_type` asks for integers."""
    return as_dtype("inference_type", settings.inference_type) not in (None, FLOAT32)


def with_stated_ranges(recipe: Recipe, graphs: Sequence[Graph], settings: Settings) -> Recipe:
    """Full integers in the place of dynamic range, where FakeQuant tells all ranges; else, with
    `_experimental_low_bit_qat`, weights that were fake-quantized as integers whatever their size.

    Raises ValueError for types of inputs and outputs that only integers can have.
    """
    if recipe.schemes != (DYNAMIC,) or recipe.layers:
        return recipe
    if has_fake_quant(graphs):
        scheme = integer_scheme(settings.inference_type)
        check_types_of_ends((recipe.input_type, recipe.output_type), scheme)
        return dataclasses.replace(recipe, schemes=(scheme,), states_ranges=True)
    if is_integer(settings):
        warnings.warn(
            "inference_type has no effect beside optimizations, as the graph has no FakeQuant "
            "operations: only weights are quantized; leave optimizations empty to quantize by "
            "default_ranges_stats",
            stacklevel=caller(),
        )
    for name, dtype in zip(ENDS, (recipe.input_type, recipe.output_type), strict=True):
        if dtype != FLOAT32:
            raise float_ends(name, dtype)
    if not settings._experimental_low_bit_qat:
        return recipe
    return dataclasses.replace(recipe, schemes=(dataclasses.replace(DYNAMIC, few_bits=8),))


def measured_or_stated(recipe: Recipe, graphs: Sequence[Graph], settings: Settings) -> Recipe:
    """The recipe, of the ranges that FakeQuant of `graphs` states where no samples measure them.

    Raises ValueError when there are neither.
    """
    if not recipe.calibrates or settings.representative_dataset is not None:
        return recipe
    if recipe.main.code not in STATED or not has_fake_quant(graphs):
        require_data(settings)
    return dataclasses.replace(recipe, states_ranges=True)


def input_statistics(settings: Settings, sources: Iterable[Source]) -> dict[str, Any]:
    """`quantized_input_stats` by the names of tensors; a signature's names of inputs do, too."""
    names = {port.key: short_name(port.name) for source in sources for port in source.inputs}
    stats = settings.quantized_input_stats or {}
    return {names.get(name) or name: row for name, row in stats.items()}


def needs_samples(recipe: Recipe, sources: Iterable[Source]) -> bool:
    """Whether nothing but samples tells the ranges that a recipe asks for: sources have no
    operations that say how they were rounded when they were trained.
    """
    if not recipe.calibrates:
        return False
    types = (name for source in sources for name in source.operation_types())
    return recipe.main.code not in STATED or not any(name.startswith(ROUNDING) for name in types)


def check_ranges_of_inputs(settings: Settings, graphs: Sequence[Graph] | None = None) -> None:
    """Raises ValueError where inputs of a graph of TensorFlow 1 are to be integers of an unknown
    scale: nobody measures it, and no FakeQuant of `graphs` states it.

    Without `graphs`, where inputs alone are to be integers, which no FakeQuant helps.
    """
    types = [as_dtype(name, getattr(settings, name)) for name in ("inference_type", ENDS[0])]
    has_ranges = settings.quantized_input_stats or settings.default_ranges_stats is not None
    is_quantized = settings.optimizations or settings.quantization_recipe is not None
    if has_ranges or is_quantized or not {np.dtype(np.int8), np.dtype(np.uint8)} & set(types):
        return
    missing = []
    if graphs is not None:
        from .fake_quant import fakes_of

        stated = {tensor for graph in graphs for tensor in fakes_of(graph)}
        inputs = [x for graph in graphs for x in graph.inputs if x.dtype == FLOAT32]
        missing = [short_name(x.name) for x in inputs if x not in stated]
    if missing or (graphs is None and types[0] in (None, FLOAT32)):
        inference_type, input_type = (None if t is None else f"tf.{t}" for t in types)
        inputs_text = f" {some(missing)}" if missing else ""
        raise noted(
            ValueError(
                "The `quantized_input_stats` flag must be defined when either `inference_type` "
                "flag or `inference_input_type` flag is set to tf.int8 or tf.uint8. Currently, "
                f"`inference_type={inference_type}` and `inference_input_type={input_type}`."
            ),
            f"Nothing tells the ranges of the inputs{inputs_text}; with inference_type, "
            "default_ranges_stats or FakeQuant operations behind them do, too.",
        )


def of_quantized_source(graphs: Sequence[Graph]) -> Recipe | None:
    """Integers of the scales that a quantized source states; None where it states none."""
    if has_fake_quant(graphs):
        return Recipe((INT8,), states_ranges=True, as_stated=True)
    return Recipe((DYNAMIC,), dynamic_only=True) if has_dynamic_weights(graphs) else None


def require_data(settings: Settings) -> None:
    """Raises ValueError without a representative dataset."""
    if settings.representative_dataset is None:
        raise noted(
            ValueError(
                "For full integer quantization, a `representative_dataset` must be specified."
            ),
            f"Set {DATASET}",
        )


def types_of_ends(settings: Settings, scheme: Scheme, is_quantized: bool) -> list[np.dtype]:
    """The types of inputs and outputs; raises ValueError for those that a scheme has not.

    Without samples it is not known yet whether the graph has FakeQuant.
    """
    io_types = [as_dtype(name, getattr(settings, name)) or FLOAT32 for name in ENDS]
    if is_quantized and scheme == DYNAMIC:
        return io_types
    has_data = settings.representative_dataset is not None
    for name, dtype in zip(ENDS, io_types, strict=True):
        from_statistics = name == ENDS[0] and takes_integers(settings)
        if dtype == FLOAT32 or from_statistics:
            continue
        if not (is_quantized and has_data) or scheme.activations is None:
            raise float_ends(name, dtype)
    if scheme.activations is not None:
        check_types_of_ends(io_types, scheme)
    return io_types


def takes_integers(settings: Settings) -> bool:
    """Whether a float model is to have integer inputs, on what `quantized_input_stats` tells."""
    dtype = as_dtype(ENDS[0], settings.inference_input_type)
    return (
        bool(settings.quantized_input_stats)
        and dtype in (np.int8, np.uint8)
        and not settings.optimizations
        and not is_integer(settings)
        and settings.quantization_recipe is None
    )


def check_types_of_ends(io_types: Sequence[np.dtype], scheme: Scheme) -> None:
    """Raises ValueError for types of inputs and outputs that a scheme has not."""
    for name, dtype in zip(ENDS, io_types, strict=True):
        if dtype not in IO_TYPES[scheme.code]:
            supported = [f"tf.{io_type}" for io_type in IO_TYPES[scheme.code]]
            raise noted(
                ValueError(
                    f"The inference_input_type and inference_output_type must be in {supported}."
                ),
                f"{name} is {dtype}.",
            )


def float_ends(name: str, dtype: np.dtype) -> Exception:
    """The error of a model whose inputs and outputs must be float32."""
    return noted(
        ValueError("The inference_input_type and inference_output_type must be tf.float32."),
        f"For {name} {dtype} the model must be quantized with samples: optimizations = "
        f"[Optimize.DEFAULT] and {DATASET}",
    )
