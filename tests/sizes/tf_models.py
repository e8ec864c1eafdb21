"""Models with unknown sizes as people write them, for TensorFlow: what it makes of them is stored.

MODELS: name -> Model. A builder takes `tf` and gives the function of the inputs; the sizes are
unequal on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stored import values

MODELS: dict[str, Model] = {}
N = None
IMAGE = (N, N, N, 3)
IMAGES = ((1, 9, 7, 3), (2, 5, 8, 3), (1, 12, 31, 3), (3, 17, 4, 3))
SEQUENCE = (N, N, 8)
SEQUENCES = ((1, 1, 8), (2, 7, 8), (3, 61, 8), (1, 12, 8))


@dataclass(frozen=True)
class Model:
    """What to record.

    Attributes:
        build: given `tf`, the function of the inputs.
        inputs: name -> (shape, dtype, integers lie below).
        sizes: shapes of the inputs in order, at each of which answers are recorded.
    """

    build: Callable
    inputs: dict[str, tuple]
    sizes: tuple


def model(sizes, /, **inputs):
    """Registers a builder; an input is a shape, or (shape, dtype, integers lie below)."""
    specs = {
        key: spec if len(spec) == 3 and isinstance(spec[1], str) else (spec, "float32", 0)
        for key, spec in inputs.items()
    }
    rows = tuple(row if len(specs) > 1 else (row,) for row in sizes)

    def register(build):
        MODELS[build.__name__] = Model(build, specs, rows)
        return build

    return register


def weights(*shape):
    return values(shape, seed=len(shape) + sum(shape)) * 0.5
