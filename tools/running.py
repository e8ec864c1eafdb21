"""Running a model once, on files or random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .runnable import Runnable

SEED = 20


def input_arrays(model: Runnable, files: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """An array for each input: one of `files` by any of its names, else a seeded random one.

    The name "" stands for the only input. Raises ValueError for a name that no input has.
    """
    unused, arrays = dict(files), []
    generator = np.random.default_rng(SEED)
    for port in model.inputs:
        names = [*port.names, ""] if len(model.inputs) == 1 else port.names
        name = next((name for name in names if name in unused), None)
        arrays.append(port.random(generator) if name is None else unused.pop(name))
    if unused:
        names = ", ".join(port.names[0] for port in model.inputs) or "none"
        name = next(iter(unused))
        what = f"no input is named '{name}'" if name else "an input file needs a name (NAME=FILE)"
        raise ValueError(f"{what}; the inputs of '{model.path}' are {names}")
    return arrays


def run(model: Runnable, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs by name, a number after names that occur twice."""
    outputs: dict[str, np.ndarray] = {}
    for port, array in zip(model.outputs, model.run(arrays), strict=True):
        name, i = port.names[0], 1
        while name in outputs:
            name, i = f"{port.names[0]}_{i}", i + 1
        outputs[name] = array
    return outputs
