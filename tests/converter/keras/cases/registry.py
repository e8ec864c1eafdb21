"""The table of small Keras models, by family; each family is a module of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BOTH, THREE, TWO = (2, 3), (3,), (2,)
Case = tuple[tuple[int, ...], Callable[[Any], Any]]
FAMILIES: dict[str, dict[str, Case]] = {}
IMAGE, VOLUME = (6, 7, 4), (4, 5, 3, 2)


def case(family: str, versions: tuple[int, ...] = BOTH) -> Callable:
    """Adds a function that makes a model of the Keras it is given."""

    def register(function: Callable) -> Callable:
        FAMILIES.setdefault(family, {})[function.__name__] = versions, function
        return function

    return register


def single(family: str, name: str, make: Callable, *shapes, versions=BOTH, **settings) -> None:
    """Adds a model of one layer: `make(layers)` of inputs of `shapes`."""

    def model(k):
        inputs = [k.Input(shape, **settings) for shape in shapes]
        return k.Model(inputs, make(k.layers)(inputs[0] if len(inputs) == 1 else inputs))

    FAMILIES.setdefault(family, {})[name] = versions, model
