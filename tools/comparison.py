"""How far the outputs of two models lie apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .compared_inputs import InputChoice, limits_of
from .runnable import Port, Runnable, open_runnable
from .running import SEED


def compare(a: str, b: str, runs: int = 3, signature: str | None = None) -> dict[str, Any]:
    """How far the outputs of two models lie apart on the same random inputs: what the integers that
    a model makes of its inputs can hold, else normals.

    Inputs and outputs are paired by name where both models have the same names, else in order.
    Quantized ones are compared dequantized.

    Raises:
        ValueError: the models do not have the same inputs or outputs.
    """
    left, right = (open_runnable(path, signature) for path in (a, b))
    inputs = paired(left, right, "inputs")
    check_inputs(left, right, inputs)
    outputs = paired(left, right, "outputs")
    generator = np.random.default_rng(SEED)
    choice = InputChoice(limits=limits_of(inputs, (left, right), signature))
    rows = [{"a": x.names[0], "b": y.names[0], "max_abs": 0.0, "max_rel": 0.0} for x, y in outputs]
    for _ in range(runs):
        samples = [choice.random(x.sized_like(y), generator) for x, y in inputs]
        values = [y.quantize(x.dequantize(s)) for (x, y), s in zip(inputs, samples, strict=True)]
        left_outputs = left.run(
            [x.quantize(y.dequantize(v)) for (x, y), v in zip(inputs, values, strict=True)]
        )
        right_inputs = {id(y): value for (_, y), value in zip(inputs, values, strict=True)}
        right_outputs = right.run([right_inputs[id(port)] for port in right.inputs])
        by_port = dict(zip(map(id, right.outputs), right_outputs, strict=True))
        for row, (x, y), value in zip(rows, outputs, left_outputs, strict=True):
            update_row(row, x.dequantize(value), y.dequantize(by_port[id(y)]))
    return {"a": a, "b": b, "runs": runs, "outputs": rows}


def paired(a: Runnable, b: Runnable, kind: str) -> list[tuple[Port, Port]]:
    """The inputs or outputs of two models, pair by pair, in the order of the first."""
    left_ports, right_ports = getattr(a, kind), getattr(b, kind)
    if len(left_ports) != len(right_ports):
        raise ValueError(
            f"'{a.path}' has {len(left_ports)} {kind}, '{b.path}' has {len(right_ports)}"
        )
    by_name = {port.names[0]: port for port in right_ports}
    if by_name.keys() == {port.names[0] for port in left_ports}:
        right_ports = [by_name[port.names[0]] for port in left_ports]
    return list(zip(left_ports, right_ports, strict=True))


def check_inputs(a: Runnable, b: Runnable, pairs: Sequence[tuple[Port, Port]]) -> None:
    """Raises ValueError unless two models take the same inputs."""
    rows = []
    for x, y in pairs:
        is_float = not (x.quantization[0] or y.quantization[0])
        shapes_match = len(x.shape) == len(y.shape) and all(
            m == n or -1 in (m, n) for m, n in zip(x.shape, y.shape, strict=True)
        )
        if not shapes_match or (is_float and x.dtype != y.dtype):
            rows.append(f"{x.described()} in the first, {y.described()} in the second")
    if rows:
        raise ValueError(
            f"'{a.path}' and '{b.path}' do not take the same inputs: {'; '.join(rows)}"
        )


def update_row(row: dict[str, Any], x: np.ndarray, y: np.ndarray) -> None:
    """Raises a row's largest differences to those between two arrays."""
    if x.shape != y.shape:
        raise ValueError(
            f"output '{row['a']}' has the shape {x.shape} in the first model, {y.shape} in the "
            "second"
        )
    if x.dtype.hasobject:
        difference, magnitude = float(np.count_nonzero(x != y)), float(x.size)
    else:
        x, y = (array.astype(np.result_type(array, np.float64)) for array in (x, y))
        with np.errstate(invalid="ignore"):
            equal = (x == y) | (np.isnan(x) & np.isnan(y))
            difference = float(
                np.where(equal, 0.0, np.nan_to_num(np.abs(x - y), nan=np.inf, posinf=np.inf)).max(
                    initial=0
                )
            )
        magnitude = float(np.abs(x[np.isfinite(x)]).max(initial=0.0))
    row["max_abs"] = max(row["max_abs"], difference)
    row["max_rel"] = max(row["max_rel"], difference / magnitude if magnitude else difference)
