"""Measured ranges in a JSON file, so that a model is quantized again without its samples.

{"serving_default": {"conv/Relu": [0.0, 6.1], ...}}
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...schema.errors import CalibrationError
from ...schema.files import read_bytes
from ...schema.operators import having, known
from ..ir.graph import Graph, Op, Tensor
from ..passes.rewrite import activation_of, scalar_of
from .needs import Range
from .rules import is_float32

Ranges = Mapping[str, Mapping[str, Sequence[float]]]


def named_ranges(
    keys: Sequence[str],
    graphs: Sequence[Graph],
    ranges: Iterable[Mapping[Tensor, Range]],
    names: Mapping[Tensor, str],
) -> dict[str, dict[str, Range]]:
    """The ranges by signature key, or name of a called graph, and name of the tensor."""
    return {
        key: {name: row[t] for t, name in range_names(graph, names).items() if t in row}
        for key, graph, row in zip(names_of(keys, graphs), graphs, ranges, strict=True)
    }


def range_names(graph: Graph, names: Mapping[Tensor, str] | None = None) -> dict[Tensor, str]:
    """The float32 tensors that are measured -> their names, numbered from the second of a name on.

    They are in the order of the graph, which each conversion of a model has. Other forms of
    operators are written for some recipes: `names` are those before that, and tensors that are new
    have the kind of their operator in their names.
    """
    all_names: dict[Tensor, str] = {}
    counts: Counter[str] = Counter()
    results = (tensor for op in graph.ops for tensor in (*op.outputs, *op.intermediates))
    states = (tensor for op in graph.ops for tensor in op.present_inputs if tensor.is_variable)
    for tensor in (*graph.inputs, *results, *states):
        if not is_float32(tensor) or tensor.is_constant or tensor in all_names:
            continue
        name = tensor.name
        if names is not None and tensor in names:
            all_names[tensor] = names[tensor]
            continue
        if names is not None and tensor.producer is not None:
            name = f"{name};{tensor.producer.kind}"
        n = counts[name]
        all_names[tensor] = f"{name};{n}" if n else name
        counts[name] += 1
    return all_names


def read_ranges(path: Any) -> Ranges:
    """The ranges in a file that `save_calibration` wrote; raises CalibrationError for another.

    Ranges that are there already, as in `calibrated_ranges`, are taken as they are.
    """
    if isinstance(path, Mapping):
        return path
    try:
        ranges = json.loads(read_bytes(path))
    except ValueError as error:
        raise CalibrationError(f"'{path}' must be JSON, got {error}") from None
    rows = ranges.values() if isinstance(ranges, dict) else [None]
    if not all(isinstance(row, dict) and all(map(is_range, row.values())) for row in rows):
        raise CalibrationError(
            f"'{path}' must have {{signature: {{tensor: [low, high]}}}}; save_calibration writes it"
        )
    return ranges


def is_range(value: Any) -> bool:
    """Whether a value is two numbers, the smaller one first."""
    numbers = isinstance(value, list) and all(isinstance(x, int | float) for x in value)
    return numbers and len(value) == 2 and value[0] <= value[1]


def names_of(keys: Sequence[str], graphs: Iterable[Graph]) -> list[str]:
    """What the graphs are called in a file: signature keys, then the names of called graphs."""
    called = list(graphs)[len(keys) :]
    return [*keys, *(f"{graph.name} of subgraph {len(keys) + i}" for i, graph in enumerate(called))]


def ranges_of(
    keys: Sequence[str], graphs: Sequence[Graph], named: Ranges, names: Mapping[Tensor, str]
) -> list[dict[Tensor, Range]]:
    """The ranges of the tensors of graphs, by their names.

    Raises CalibrationError when an input or a result of a signature has none: they are of another
    model. In a graph that is called there may be branches that no sample came to.
    """
    rows: list[dict[Tensor, Range]] = []
    for key, graph in zip(names_of(keys, graphs), graphs, strict=True):
        by_name = named.get(key, {})
        all_names = range_names(graph, names)
        inner = {tensor for op in graph.ops for tensor in op.intermediates}  # some tell nothing
        pairs = ((tensor, by_name[name]) for tensor, name in all_names.items() if name in by_name)
        row = {tensor: (float(low), float(high)) for tensor, (low, high) in pairs}
        row = derived_ranges(graph, row)
        missing = [name for t, name in all_names.items() if t not in row and t not in inner]
        if missing and key in keys:
            raise CalibrationError(
                f"the saved calibration must have a range for '{missing[0]}' of signature "
                f"'{key}', has none; is it of another model, or of settings that write an operator "
                "in another form? calibrate with a representative_dataset"
            )
        rows.append(row)
    return rows


def _clamped(limits: Range, x: np.ndarray) -> np.ndarray:
    return np.clip(x, *limits)


MONOTONIC: dict[str, Callable[..., np.ndarray]] = {
    "ABS": np.abs,
    "ADD": np.add,
    "EXP": np.exp,
    "LOG": np.log,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "SUB": np.subtract,
    **{kind: partial(_clamped, known(kind).limits) for kind in having("clamp")},
}
"""Operators of one variable that rise or fall with it, above 0 and below."""


def derived_ranges(graph: Graph, ranges: Mapping[Tensor, Range]) -> dict[Tensor, Range]:
    """The ranges of what has none, where those of its operand or of its square tell them."""
    derived = dict(ranges)
    for op in graph.ops:
        if op.kind == "MUL" and op.inputs[0] is op.inputs[1] and op.output in ranges:
            x = op.inputs[0]
            if x not in derived and x.producer is not None and set(x.readers) == {op}:
                largest = math.sqrt(max(ranges[op.output][1], 0.0))
                derived[x] = -largest, largest
    for op in graph.ops:
        variables = [tensor for tensor in op.present_inputs if not tensor.is_constant]
        if op.kind not in MONOTONIC or op.output in derived or len(variables) != 1:
            continue
        constants = [scalar_of(tensor) for tensor in op.present_inputs if tensor.is_constant]
        if variables[0] in derived and None not in constants and not activation_of(op):
            derived[op.output] = range_at(op, *derived[variables[0]])
    return derived


def range_at(op: Op, low: float, high: float) -> Range:
    """The range of the result of a monotonic operator whose variable takes one."""
    ends = np.array([low, high] + [0.0] * (low < 0 < high), np.float64)
    operands = [ends if not tensor.is_constant else scalar_of(tensor) for tensor in op.inputs]
    values = MONOTONIC[op.kind](*operands)
    return float(values.min()), float(values.max())
