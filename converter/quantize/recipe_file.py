"""A recipe as data: a dict in Python, the same as JSON in a file.

{"scheme": "int8",
 "layers": [["head", "int16x8"], ["stem", "float"], ["dense", {"weights": "i4"}]],
 "calibrator": {"name": "percentile", "percentile": 99.9},
 "algorithms": ["equalization", {"name": "adaround", "steps": 2000}],
 "strict": true, "input_type": "int8", "output_type": "int8"}
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...schema.files import read_bytes
from .accuracy.algorithms import algorithms_of
from .aeq_recipe import from_rows
from .recipe import IO_TYPES, Layers, Recipe
from .recipe_keys import known_keys
from .scheme import BLOCK_SIZES, SCHEMES, Scheme
from .statistics import calibrator_of

KEYS = (
    *("scheme", "layers", "calibrator", "ranges"),
    *("strict", "input_type", "output_type", "per_tensor", "algorithms", "variables"),
)
FLOAT = "float"
CHOICES: dict[str, tuple[Any, ...]] = {
    "activations": (None, "i8", "i16"),
    "weights": ("i2", "i4", "i8", "f16"),
    "bias": (None, "i32", "i64"),
    "block": (None, *BLOCK_SIZES),
}
"""What the fields of a scheme may be."""


def from_recipe(recipe: Any) -> Recipe:
    """The Recipe that a dict, the path of a JSON file or a Recipe says.

    A list of rows is a recipe of ai-edge-quantizer.

    Raises ValueError for keys and values that there are not.
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str | os.PathLike):
        try:
            recipe = json.loads(read_bytes(recipe))
        except ValueError as error:
            raise ValueError(f"quantization_recipe must be JSON, got {error}") from None
    if isinstance(recipe, list | tuple):
        return from_rows(recipe)
    if not isinstance(recipe, Mapping):
        raise ValueError(
            "quantization_recipe must be a dict or the path of a JSON file, got "
            f"{type(recipe).__name__}"
        )
    known_keys("quantization_recipe", recipe, KEYS)
    schemes = recipe.get("scheme", "int8")
    names = schemes if isinstance(schemes, list | tuple) else [schemes]
    chosen = tuple(scheme_of(name) for name in names)
    if not chosen:
        raise ValueError("quantization_recipe: scheme must name at least one scheme, got none")
    return Recipe(
        chosen,
        tuple(map(layers_of, recipe.get("layers", ()))),
        strict=bool(recipe.get("strict", False)),
        warns=True,
        input_type=end_type(recipe.get("input_type", "float32"), chosen[0]),
        output_type=end_type(recipe.get("output_type", "float32"), chosen[0]),
        per_tensor=frozenset(recipe.get("per_tensor", ())),
        calibrator=calibrator_of(recipe.get("calibrator", "minmax")),
        ranges=recipe.get("ranges"),
        algorithms=algorithms_of(recipe.get("algorithms", ())),
        variables=bool(recipe.get("variables", False)),
    )


def scheme_of(value: Any) -> Scheme:
    """A scheme by its name, or by its fields."""
    if isinstance(value, Scheme):
        return value
    if isinstance(value, Mapping):
        fields = [field.name for field in dataclasses.fields(Scheme)]
        known_keys("a scheme", value, fields)
        for name, choices in CHOICES.items():
            if name in value and value[name] not in choices:
                raise ValueError(f"{name} of a scheme must be one of {choices}, got {value[name]}")
        return Scheme(**{"name": "custom", **value})
    if value not in SCHEMES:
        raise ValueError(f"a scheme must be one of {', '.join(SCHEMES)}, got {value!r}")
    return SCHEMES[value]


def layers_of(row: Any) -> Layers:
    """One exception: [pattern, scheme]."""
    if not isinstance(row, list | tuple) or len(row) != 2 or not isinstance(row[0], str):
        raise ValueError(f"layers must be rows of [pattern, scheme], got {row!r}")
    pattern, scheme = row
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"'{pattern}' must be a regular expression, got {error}") from None
    return Layers(pattern, None if scheme == FLOAT else scheme_of(scheme))


def end_type(name: str, scheme: Scheme) -> np.dtype:
    """The type of inputs or outputs."""
    choices = IO_TYPES.get(scheme.code, (np.dtype(np.float32),))
    if name not in [dtype.name for dtype in choices]:
        names = ", ".join(dtype.name for dtype in choices)
        raise ValueError(f"input_type and output_type must be one of {names}, got {name!r}")
    return np.dtype(name)
