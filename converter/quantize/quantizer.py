"""Quantizes the float graphs of a model: what `TFLiteConverter.convert` calls."""

from __future__ import annotations

import dataclasses
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..callers import caller
from ..ir.write import all_subgraphs
from ..passes.fold import merge_duplicates
from .blocks import reason_against_blocks
from .cells import hide_inner, measured_results
from .dynamic import has_large_weights, hybrid_code, quantize_weights
from .fake_quant import (
    clamp_at_stated,
    fakes_of,
    keep_rounding,
    stated_ranges,
    take_fake_quant,
)
from .forms import use_integer_forms
from .islands import Island, islands, listed, refuse, work_of
from .masks import cut_masks
from .ranges import Range, Scales
from .recipe import FLOAT32, Recipe
from .rewrite import rewrite
from .rules import (
    NO_KERNEL,
    WEIGHT_RULES,
    is_finer_in_float,
    is_float32,
    rule_of,
    touches_float32,
    weights_code,
)
from .scheme import DYNAMIC, dtype_of
from .size_dependent import size_dependent_operands
from .stated import source_scales, take_stated
from .variables import variable_scales

if TYPE_CHECKING:
    from ...schema.quantization import Quantization
    from ..ir.graph import Graph, Op, Tensor
    from .scheme import Scheme


class Statements(NamedTuple):
    """What a user states of ranges.

    Attributes:
        inputs: (mean, standard deviation) of inputs by name.
        default: the range of tensors that nothing tells one of.
        reorder: whether FAKE_QUANT gives way to what would move into the op before it.
        share_concat_ranges: whether what CONCATENATION joins, and its result, have one range.
    """

    inputs: Mapping[str, tuple[float, float]] = MappingProxyType({})
    default: tuple[float, float] | None = None
    reorder: bool = False
    share_concat_ranges: bool = False


NOTHING_STATED = Statements()


class Quantized(NamedTuple):
    """What became of graphs.

    Attributes:
        float_operators: how many operators stay float32, by kind.
        float_islands: these with reasons, where integers are asked for.
        masked: the tensors that are cut off, as nothing is meant to choose what lies below.
    """

    float_operators: Counter[str]
    float_islands: Sequence[Island] = ()
    masked: frozenset[Tensor] = frozenset()


def quantize(
    graphs: Sequence[Graph],
    recipe: Recipe,
    ranges: Sequence[Mapping[Tensor, Range]],
    stated: Statements = NOTHING_STATED,
) -> Quantized:
    """Quantizes `graphs` in place.

    Args:
        graphs: float graphs, one for each signature; those that they call are quantized, too,
            and get and give float32.
        recipe: what is asked for.
        ranges: for each graph, called ones behind the others (all_subgraphs), what its tensors
            were measured to be; not looked at when only weights are quantized; FAKE_QUANT goes
            before it.
        stated: what is known of models that nothing is measured of.

    Returns:
        What stays float32, and what is cut off.

    Raises ConverterError when the recipe allows no float32 operators and some would stay so.

    Warns (UserWarning) of what stays float, where only integer operators were asked for; when
    nothing could be quantized, or no weights are large enough.
    """
    subgraphs = all_subgraphs(graphs)
    recipe.check_layers(graphs)
    warn_of_other_weights(graphs, recipe)
    if recipe.weights_only:
        quantize_floats(graphs, recipe, always=not recipe.dynamic_only)
        for graph in subgraphs:
            merge_duplicates(graph)
        counts = count(op for graph in subgraphs for op in graph.ops if computes_float32(op))
        return Quantized(counts)
    n_ops = 0
    size_dependent = size_dependent_operands(graphs)
    variables = variable_scales(subgraphs, ranges, recipe)
    float_ops: list[Op] = []
    float_islands: list[Island] = []
    masked: set[Tensor] = set()
    main_dtype = ""
    for graph, measured in zip(subgraphs, ranges, strict=True):
        ends, is_called = recipe, graph not in graphs
        if is_called:
            ends = dataclasses.replace(recipe, input_type=FLOAT32, output_type=FLOAT32)
        measured = {t: r for t, r in measured.items() if t not in size_dependent}
        if recipe.strict or recipe.warns:
            measured |= use_integer_forms(graph, recipe.integer_schemes_of, measured)
        fakes = fakes_of(graph)
        if recipe.as_stated:
            fake, fakes = take_stated(graph)
        else:
            fake = take_fake_quant(graph, stated.reorder, stated.share_concat_ranges)
        measured = {**measured, **fake}
        n_ops += sum(computes_in_float32(op) for op in graph.ops)
        if recipe.states_ranges and not recipe.as_stated:
            measured = stated_ranges(
                graph, measured, recipe.main, stated.inputs, stated.default, is_called
            )
        measured |= measured_results(graph, measured)
        cut: dict[Tensor, Range] = {}
        if not recipe.as_stated:
            cut = cut_masks(graph, measured, recipe.integer_schemes_of)
        measured |= cut
        masked |= cut.keys()
        work = {op: work_of(op) for op in graph.ops}
        to_be_float = {op for op in graph.ops if not recipe.integer_schemes_of(op)}
        main, scales = scales_of(graph, measured, ends, variables)
        scales |= dict.fromkeys(clamp_at_stated(graph, fake, main), main)
        unquantized = rewrite(graph, scales, main, ends, variables)
        hide_inner(graph)
        keep_rounding(graph, fakes)
        if not recipe.strict:
            unquantized = [op for op in unquantized if computes_in_float32(op)]
        unasked = [op for op in unquantized if op not in to_be_float]
        float_islands += islands(graph, work, unasked, main.size_dependent, main.scheme)
        float_ops += unquantized
        main_dtype = main.scheme.integers.dtype.name
    quantize_floats(graphs, recipe, always=False)
    for graph in subgraphs:
        merge_duplicates(graph)
    if recipe.strict:
        refuse(float_islands)
    has_float_ends = recipe.input_type == recipe.output_type == FLOAT32
    if 0 < len(float_ops) == n_ops and has_float_ends and not recipe.as_stated:
        kinds = ", ".join(count(float_ops))
        reasons = f"none of its operators ({kinds}) has an {main_dtype} kernel"
        if not all(island.reason.startswith(NO_KERNEL) for island in float_islands):
            reasons = f"\n{listed(float_islands)}"
        warnings.warn(f"the model stays float: {reasons}", stacklevel=caller())
    elif float_islands and recipe.warns:
        warnings.warn(
            "only integer operators were asked for, but these stay float:\n"
            f"{listed(float_islands)}\nstrict_int8 = True makes it an error",
            stacklevel=caller(),
        )
    return Quantized(count(float_ops), float_islands, frozenset(masked))


def warn_of_other_weights(graphs: Sequence[Graph], recipe: Recipe) -> None:
    """Warns of operators that have no kernel for the weights of their scheme, or for its blocks."""
    kinds: dict[str, Counter[str]] = {}
    unblocked: dict[str, Counter[str]] = {}
    for op in (op for graph in graphs for called in graph.reachable() for op in called.ops):
        schemes, rule = recipe.schemes_of(op), WEIGHT_RULES.get(op.kind)
        if not schemes or rule is None or not has_large_weights(op, rule, schemes[0]):
            continue
        code = hybrid_code if schemes[0].activations is None else weights_code
        if schemes[0].hybrid and code(op.kind, schemes[0]) != schemes[0].weights:
            kinds.setdefault(schemes[0].weights, Counter())[op.kind] += 1
        elif schemes[0].block and (
            reason := reason_against_blocks(op, rule.weights, rule, schemes[0])
        ):
            unblocked.setdefault(reason, Counter())[op.kind] += 1
    for reason, counts in unblocked.items():
        kinds_text = ", ".join(f"{kind} x {n}" for kind, n in counts.items())
        warnings.warn(
            f"the weights of {kinds_text} have a scale for each channel, none for each block: "
            f"{reason}",
            stacklevel=caller(),
        )
    for code, counts in kinds.items():
        kinds_text = ", ".join(f"{kind} x {n}" for kind, n in counts.items())
        warnings.warn(
            f"LiteRT has no {dtype_of(code)} kernel for the weights of {kinds_text}; they are int8",
            stacklevel=caller(),
        )


def scales_of(
    graph: Graph,
    measured: Mapping[Tensor, Range],
    recipe: Recipe,
    variables: Mapping[Op, Quantization] = MappingProxyType({}),
) -> tuple[Scales, dict[Op, Scales]]:
    """The scales of inputs and outputs, and those in which each operator is quantized."""
    by_scheme: dict[Scheme, Scales] = {}

    def of(scheme: Scheme) -> Scales:
        if scheme not in by_scheme:
            fixed = variables if scheme == recipe.main else {}
            source = source_scales(graph, measured, scheme) if recipe.as_stated else None
            by_scheme[scheme] = Scales(graph, measured, scheme, fixed, source)
        return by_scheme[scheme]

    integer_schemes = [scheme for scheme in recipe.schemes if scheme.activations is not None]
    layer_schemes = [row.scheme for row in recipe.layers if row.scheme is not None]
    integer_schemes += [scheme for scheme in layer_schemes if scheme.activations is not None]
    scales = {}
    may_be_float = not (recipe.strict or recipe.warns)
    may_be_float &= recipe.input_type == recipe.output_type == FLOAT32
    for op in graph.ops:
        if may_be_float and is_finer_in_float(op, graph):
            continue
        for scheme in recipe.integer_schemes_of(op):
            if rule_of(op, scheme) is not None:
                scales[op] = of(scheme)
                break
    return of(integer_schemes[0]), scales


def quantize_floats(graphs: Sequence[Graph], recipe: Recipe, always: bool) -> None:
    """Stores the weights of operators that stay float, as the recipe says.

    Args:
        graphs: the graphs.
        recipe: what is asked for.
        always: whether having none is worth a warning.
    """

    def weights_scheme(op: Op) -> Scheme | None:
        schemes = recipe.schemes_of(op)
        return next((scheme for scheme in schemes if scheme.activations is None), None)

    n_quantized = sum(
        [quantize_weights(graph, weights_scheme, recipe.per_tensor) for graph in graphs]
    )
    if not n_quantized and always:
        is_dynamic = recipe.main.name == DYNAMIC.name
        how = (
            "dynamic-range quantization could store in 8 bits"
            if is_dynamic
            else f"the scheme {recipe.main.name} could store in {recipe.main.weights}"
        )
        warnings.warn(
            f"the model stays float: it has no weights of {recipe.main.smallest} elements or more "
            f"that {how}; a representative_dataset quantizes it whole",
            stacklevel=caller(),
        )


def computes_in_float32(op: Op) -> bool:
    """Whether `op` has float32 operands and does something with them, not the graphs it calls."""
    return touches_float32(op) and not op.graphs


def computes_float32(op: Op) -> bool:
    """Whether `op` has float32 inputs only, no weights of 8 bits."""
    integer_weights = any(
        tensor.quantization is not None and not is_float32(tensor) for tensor in op.present_inputs
    )
    return touches_float32(op) and not integer_weights


def count(ops: Iterable[Op]) -> Counter[str]:
    """How many operators there are of each kind."""
    return Counter(op.custom_code or op.kind for op in ops)
