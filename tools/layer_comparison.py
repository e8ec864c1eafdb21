"""Where two .tflite files, or two runtimes of one, begin to differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .compared_inputs import InputChoice, facts_of, limits_of
from .comparison import check_inputs, paired
from .layer_values import LayerValue, layer_values
from .runnable import Flatbuffer, Runnable, open_runnable

FLOAT_TOLERANCE = 1e-4  # of a layer's largest value
SAME_STEP_TOLERANCE = 0.01  # of its root mean square, where both are quantized alike
QUANTIZED_TOLERANCE = 0.05  # the same, where one of both is not, or another way
INFINITE = 300.0  # decibels shown for no difference


def compare_layers(
    a: str,
    b: str,
    runtimes: tuple[str, str] = ("flatlite", "flatlite"),
    tolerance: float | None = None,
    signature: str | None = None,
    choice: InputChoice | None = None,
) -> dict[str, Any]:
    """How far each layer of two files lies apart on the same inputs.

    Layers are paired by the names and shapes of their results. Those of float files differ by their
    largest difference. Where a file is quantized, layers are compared dequantized, and differ by
    the root of their mean square difference, if they do by more than a step.

    Args:
        a, b: .tflite files, or the same one twice.
        runtimes: what runs them: "flatlite", "litert" or "litert-reference".
        tolerance: the difference from which on layers differ, of a layer's largest value or root
            mean square; None takes 1e-4 for float files, 0.01 for those that are quantized alike,
            and 0.05 for others.
        signature: the signature to run.
        choice: which inputs are taken; None for random ones.

    Returns:
        {"layers": rows, "first": the row of the first layer that differs or None, "inputs": on
        what, "mixes_schemes": whether they are not quantized alike, ...}

    Raises ValueError when the inputs do not fit, or no layers have the same name and shape.
    """
    left, right = (open_file(path, signature) for path in (a, b))
    pairs = paired(left, right, "inputs")
    check_inputs(left, right, pairs)
    choice = replace(choice or InputChoice(), limits=limits_of(pairs, (left, right), signature))
    ports = [x.sized_like(y) for x, y in pairs]
    samples = choice.arrays(a, signature, ports)
    values = [y.quantize(x.dequantize(s)) for (x, y), s in zip(pairs, samples, strict=True)]
    left_arrays = [x.quantize(y.dequantize(v)) for (x, y), v in zip(pairs, values, strict=True)]
    by_port = {id(y): value for (_, y), value in zip(pairs, values, strict=True)}
    right_arrays = [by_port[id(port)] for port in right.inputs]
    first = layer_values(a, runtimes[0], left_arrays, signature)
    second = layer_values(b, runtimes[1], right_arrays, signature)
    layers = pairs_of(first, second, is_same_file=a == b)
    is_float = not any(x.step or y.step for x, y in layers)
    default = default_tolerance(layers)
    limit = default if tolerance is None else tolerance
    rows = [row_of(x, y, limit, is_float) for x, y in layers]
    if not rows:
        raise ValueError(
            f"'{a}' and '{b}' have no layers of the same name and shape; compare files that one "
            "converter made of one model, or leave --layers out"
        )
    return {
        "a": a,
        "b": b,
        "runtimes": list(runtimes),
        "inputs": facts_of(choice, [x for x, _ in pairs], left_arrays),
        "layers": rows,
        "mixes_schemes": default == QUANTIZED_TOLERANCE,
        "unpaired": len(first) + len(second) - 2 * len(rows),
        "first": next((row for row in rows if row["differs"]), None),
    }


def open_file(path: str, signature: str | None) -> Runnable:
    """A .tflite file; raises ValueError for another model."""
    model = open_runnable(path, signature)
    if not isinstance(model, Flatbuffer):
        raise ValueError(f"--layers compares .tflite files, '{path}' is none; convert it first")
    return model


def pairs_of(
    first: list[LayerValue], second: list[LayerValue], is_same_file: bool
) -> list[tuple[LayerValue, LayerValue]]:
    """Layers of the same name and shape, in the order of the first file."""
    if is_same_file and len(first) == len(second):
        return list(zip(first, second, strict=True))
    by_name = {row.name: row for row in reversed(second)}
    pairs = ((row, by_name.get(row.name)) for row in first)
    return [
        (x, y)
        for x, y in pairs
        if y is not None and x.value.shape == y.value.shape and not x.value.dtype.hasobject
    ]


def default_tolerance(pairs: list[tuple[LayerValue, LayerValue]]) -> float:
    """What counts as a difference: by whether the files are float, quantized alike, or not."""
    if not any(x.step or y.step for x, y in pairs):
        return FLOAT_TOLERANCE
    is_alike = all(x.step == y.step for x, y in pairs)
    return SAME_STEP_TOLERANCE if is_alike else QUANTIZED_TOLERANCE


def row_of(x: LayerValue, y: LayerValue, tolerance: float, is_float: bool) -> dict[str, Any]:
    """How far two values of a layer lie apart; `is_float` files hold no quantized layers."""
    kind = x.kind if x.kind == y.kind else f"{x.kind} / {y.kind}"
    row: dict[str, Any] = {"layer": x.name, "operator": kind}
    if x.value.shape != y.value.shape:
        shapes = f"{x.value.shape} and {y.value.shape}"
        return row | {
            "max_abs": np.inf,
            "snr_db": 0.0,
            "cosine": 0.0,
            "differs": f"shapes {shapes}",
        }
    expected, actual = (v.astype(np.float64).ravel() for v in (x.value, y.value))
    with np.errstate(invalid="ignore"):
        is_equal = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
        error = np.where(is_equal, 0.0, np.nan_to_num(actual - expected, nan=np.inf))
    finite = expected[np.isfinite(expected)]
    largest = float(np.abs(finite).max(initial=0.0))
    difference = float(np.abs(error).max(initial=0.0))
    if is_float:
        differs = difference > tolerance * largest
    else:
        is_more = float(np.linalg.norm(error)) > tolerance * float(np.linalg.norm(finite))
        differs = is_more and difference > 1.01 * max(x.step, y.step)
    return row | {
        "max_abs": difference,
        "snr_db": decibels(finite, error),
        "cosine": cosine(expected, actual),
        "differs": bool(differs),
    }


def decibels(signal: np.ndarray, error: np.ndarray) -> float:
    """10 log10 of the energy of a signal over that of an error, at most INFINITE."""
    noise, energy = float(np.square(error).sum()), float(np.square(signal).sum())
    if not noise:
        return INFINITE
    return float(np.clip(10 * np.log10(max(energy, 1e-300) / noise), -INFINITE, INFINITE))


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """The cosine of the angle between two vectors; 1 for two of zeros."""
    length = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y / length) if length else float(np.array_equal(x, y))
