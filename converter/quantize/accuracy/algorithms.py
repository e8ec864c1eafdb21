"""The algorithms that lower the error of a quantized model, by name, and what may be set of them.

"algorithms": ["equalization", {"name": "adaround", "steps": 2000}, "bias_correction"]
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its parameters.

    Attributes:
        name: a key of ALGORITHMS.
        parameters: (name, value) of those that were set.
    """

    name: str
    parameters: tuple[tuple[str, float], ...] = ()

    def parameter(self, name: str, default: float) -> float:
        """A parameter, or what it is when it was not set."""
        return dict(self.parameters).get(name, default)


@dataclass(frozen=True)
class Description:
    """What an algorithm needs.

    Attributes:
        needs_data: whether it measures on samples.
        parameters: their names, and the smallest and largest value of each.
    """

    needs_data: bool
    parameters: Mapping[str, tuple[float, float]]


COUNT = (1, 1e9)
SHARE = (0.0, 1.0)
POSITIVE = (1e-12, 1e12)
SWITCH = (0, 1)
ALGORITHMS = {
    "recovery": Description(False, {}),
    "equalization": Description(False, {"sweeps": COUNT}),
    "smooth_quant": Description(True, {"alpha": SHARE, "linear": SWITCH}),
    "hadamard": Description(False, {}),
    "gptq": Description(True, {"damping": POSITIVE, "reorder": SWITCH}),
    "adaround": Description(
        True,
        {"steps": COUNT, "rate": POSITIVE, "regularization": POSITIVE, "seconds": POSITIVE},
    ),
    "bias_correction": Description(True, {}),
}
"""What there is, in the order in which it is done."""


def algorithms_of(values: Any) -> tuple[Algorithm, ...]:
    """The algorithms that a list of names, or of {"name": ..., a parameter: ...}, asks for.

    Returned in the order in which they are done.

    Raises ValueError for names, parameters and values that there are not, for one asked for twice,
    and for two that both round weights.
    """
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ValueError(f"algorithms must be a list, got {values!r}; use [{values!r}]")
    chosen = [algorithm_of(value) for value in values]
    names = [algorithm.name for algorithm in chosen]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"algorithms must have each name once, got '{twice}' {names.count(twice)}x"
        )
    if {"gptq", "adaround"} <= set(names):
        raise ValueError("algorithms: gptq and adaround both round the weights; leave one out")
    return tuple(sorted(chosen, key=lambda algorithm: [*ALGORITHMS].index(algorithm.name)))


def algorithm_of(value: Any) -> Algorithm:
    """One of them."""
    if isinstance(value, Algorithm):
        return value
    parameters = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = parameters.pop("name", None)
    if name not in ALGORITHMS:
        similar = difflib.get_close_matches(str(name), ALGORITHMS, 1)
        hint = f"; did you mean '{similar[0]}'?" if similar else ""
        raise ValueError(f"an algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r}{hint}")
    known = ALGORITHMS[name].parameters
    for key, number in parameters.items():
        if key not in known:
            available = ", ".join(known) or "none"
            raise ValueError(f"algorithm {name}: parameters are {available}, got {key!r}")
        low, high = known[key]
        is_number = isinstance(number, int | float)
        if not is_number or not low <= number <= high:
            raise ValueError(
                f"algorithm {name}: {key} must be a number of {low:g} to {high:g}, got {number!r}"
            )
    return Algorithm(name, tuple(sorted(parameters.items())))


def needs_data(algorithms: Iterable[Algorithm]) -> list[str]:
    """The names of those that measure on samples."""
    return [row.name for row in algorithms if ALGORITHMS[row.name].needs_data]
