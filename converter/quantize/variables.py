"""Variables that are stored as integers: what is read and assigned has one scale in all graphs.

    READ_VARIABLE(v) -> x:f32;  y:f32 -> ASSIGN_VARIABLE(v)        becomes

    READ_VARIABLE(v) -> x:i8;  y:i8 -> ASSIGN_VARIABLE(v)

As in TensorFlow, variables are integers in int16x8, and in int8 where that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..passes.rewrite import ops_of
from .needs import constant_range, hull
from .rules import VARIABLES, is_float32
from .scales import constant, of_range, quantized

if TYPE_CHECKING:
    from ...schema.quantization import Quantization
    from ..ir.graph import Graph, Op, Tensor
    from .needs import Range
    from .recipe import Recipe
    from .rewrite import Rewriter

READ, _ = VARIABLES
Name = tuple[str, str]


def variable_scales(
    graphs: Iterable[Graph], ranges: Sequence[Mapping[Tensor, Range]], recipe: Recipe
) -> dict[Op, Quantization]:
    """The scale in which each operator reads or assigns a variable, if it is one of integers.

    Args:
        graphs: all graphs of a model.
        ranges: what was measured in each.
        recipe: what is asked for.
    """
    if not recipe.quantizes_variables:
        return {}
    uses: dict[Name, list[Op]] = {}
    hulls: dict[Name, Range] = {}
    float_variables: set[Name] = set()
    for graph, measured in zip(graphs, ranges, strict=True):
        for op in ops_of(graph, *VARIABLES):
            name = name_of(op)
            if name is None:  # any variable may be meant
                return {}
            uses.setdefault(name, []).append(op)
            value = op.output if op.kind == READ else op.inputs[1]
            value_range = range_of(value, measured)
            if value_range is not None:
                hulls[name] = hull(hulls.get(name), value_range)
            elif not is_unread(op):
                float_variables.add(name)
            if recipe.main not in recipe.integer_schemes_of(op):
                float_variables.add(name)
    return {
        op: of_range(*hulls[name], recipe.main.integers)
        for name, ops in uses.items()
        for op in ops
        if name in hulls and name not in float_variables
    }


def name_of(op: Op) -> Name | None:
    """The name of the variable that `op` reads or assigns; None where it is not told."""
    handle = op.inputs[0].producer
    if handle is None or handle.kind != "VAR_HANDLE":
        return None
    return handle.options.container or "", handle.options.shared_name or ""


def range_of(tensor: Tensor, measured: Mapping[Tensor, Range]) -> Range | None:
    """What a tensor was measured to be, or the constant that it is; None where nothing tells."""
    if not is_float32(tensor):
        return None
    if tensor.is_constant:
        return constant_range(tensor) if np.isfinite(tensor.data).all() else None
    return measured.get(tensor)


def is_unread(op: Op) -> bool:
    """Whether nothing takes what `op` reads."""
    return op.kind == READ and is_float32(op.output) and not op.output.readers


def quantize_variable(rewriter: Rewriter, op: Op, params: Quantization) -> None:
    """Lets `op` read or assign integers on a scale."""
    integers = rewriter.scales.scheme.integers
    if op.kind == READ:
        rewriter.make_integers(op.output, integers.dtype, params)
        return
    value = op.inputs[1]
    if value.is_constant and is_float32(value):
        array = quantized(value.data, params, integers)
        op.set_input(1, constant(value, array, params))
    else:
        op.set_input(1, rewriter.as_integers(value, integers.dtype, params, op))
