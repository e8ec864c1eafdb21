"""Measured ranges in a JSON file, so that a model is quantized again without its samples.

{"serving_default": {"conv/Relu": [0.0, 6.1], ...}}
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...schema.errors import CalibrationError
from ...schema.files import read_bytes
from ..ir.graph import Graph, Tensor
from .needs import Range
from .rules import is_float32

Ranges = Mapping[str, Mapping[str, Sequence[float]]]


def named_ranges(
    keys: Sequence[str], graphs: Sequence[Graph], ranges: Iterable[Mapping[Tensor, Range]]
) -> dict[str, dict[str, Range]]:
    """The ranges by signature key, or name of a called graph, and name of the tensor."""
    return {
        key: {name: row[tensor] for tensor, name in range_names(graph).items() if tensor in row}
        for key, graph, row in zip(names_of(keys, graphs), graphs, ranges, strict=True)
    }


def range_names(graph: Graph) -> dict[Tensor, str]:
    """The float32 tensors that are measured -> their names, numbered from the second of a name on.

    They are in the order of the graph, which each conversion of a model has.
    """
    names: dict[Tensor, str] = {}
    counts: Counter[str] = Counter()
    results = (tensor for op in graph.ops for tensor in (*op.outputs, *op.intermediates))
    states = (tensor for op in graph.ops for tensor in op.present_inputs if tensor.is_variable)
    for tensor in (*graph.inputs, *results, *states):
        if is_float32(tensor) and not tensor.is_constant and tensor not in names:
            n = counts[tensor.name]
            names[tensor] = f"{tensor.name};{n}" if n else tensor.name
            counts[tensor.name] += 1
    return names


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
    keys: Sequence[str], graphs: Sequence[Graph], named: Ranges
) -> list[dict[Tensor, Range]]:
    """The ranges of the tensors of graphs, by their names.

    Raises CalibrationError when an input or a result of a signature has none: they are of another
    model. In a graph that is called there may be branches that no sample came to.
    """
    rows: list[dict[Tensor, Range]] = []
    for key, graph in zip(names_of(keys, graphs), graphs, strict=True):
        by_name = named.get(key, {})
        names = range_names(graph)
        inner = {tensor for op in graph.ops for tensor in op.intermediates}  # some tell nothing
        missing = [name for t, name in names.items() if name not in by_name and t not in inner]
        if missing and key in keys:
            raise CalibrationError(
                f"the saved calibration must have a range for '{missing[0]}' of signature "
                f"'{key}', has none; is it of another model?"
            )
        pairs = ((tensor, by_name[name]) for tensor, name in names.items() if name in by_name)
        rows.append({tensor: (float(low), float(high)) for tensor, (low, high) in pairs})
    return rows
