"""StableHLO's functions of elements, products and pads, with the results of their definitions.

Source: The StableHLO specification. Results are computed in wider types and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from declared import model

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind in "fc":
        return a / b
    return np.array([_towards_zero(int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)])


def _towards_zero(x: int, y: int) -> int:
    return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    pairs = [(int(x), int(y)) for x, y in zip(a.flat, b.flat, strict=True)]
    return np.array([x if y == 0 else x - y * _towards_zero(x, y) for x, y in pairs])


UNARY: dict[str, tuple[Sequence[str], Callable[[np.ndarray], np.ndarray]]] = {
    "ABS": ((*INTEGERS, *FLOATS), np.abs),
    "CBRT": (FLOATS, np.cbrt),
    "COSINE": ((*FLOATS, *COMPLEX), np.cos),
    "EXPONENTIAL": ((*FLOATS, *COMPLEX), np.exp),
    "FLOOR": (FLOATS, np.floor),
    "LOGISTIC": (FLOATS, lambda x: 1 / (1 + np.exp(-x))),
    "NEGATE": (NUMBERS, np.negative),
    "TANH": ((*FLOATS, *COMPLEX), np.tanh),
}
BINARY: dict[str, tuple[Sequence[str], Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "ADD": (NUMBERS, np.add),
    "AND": ((*INTEGERS, "bool"), np.bitwise_and),
    "DIVIDE": (NUMBERS, _quotient),
    "MAXIMUM": ((*INTEGERS, *FLOATS, "bool"), np.maximum),
    "MINIMUM": ((*INTEGERS, *FLOATS, "bool"), np.minimum),
    "MULTIPLY": (NUMBERS, np.multiply),
    "OR": ((*INTEGERS, "bool"), np.bitwise_or),
    "REMAINDER": ((*INTEGERS, *FLOATS), _remainder),
    "SUBTRACT": (NUMBERS, np.subtract),
}


def _one_of(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _values(rng: np.random.Generator, dtype: str, shape: Sequence[int]) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        span = (limits.min, limits.max) if rng.random() < 0.3 else (-(limits.min < 0) * 9, 9)
        return rng.integers(*span, shape, kind, endpoint=True)
    real = np.asarray(rng.normal(0, 2, shape))
    return (real if kind.kind == "f" else real + 1j * rng.normal(0, 1, shape)).astype(kind)


def _shape(rng: np.random.Generator, most: int = 4) -> tuple[int, ...]:
    return tuple(rng.integers(1, 6, int(rng.integers(0, most + 1))).tolist())


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


def elements(rng: np.random.Generator) -> tuple[bytes, list[np.ndarray], np.ndarray]:
    """A function of each element, or of each pair."""
    name = _one_of(rng, [*UNARY, *BINARY])
    types, function = UNARY[name] if name in UNARY else BINARY[name]
    dtype, shape = _one_of(rng, types), _shape(rng)
    inputs = [_values(rng, dtype, shape) for _ in range(1 if name in UNARY else 2)]
    with np.errstate(all="ignore"):
        expected = np.asarray(function(*map(_wide, inputs))).astype(dtype).reshape(shape)
    return model(name, inputs, [(shape, dtype)]), inputs, expected


def product(rng: np.random.Generator) -> tuple[bytes, list[np.ndarray], np.ndarray]:
    """DOT_GENERAL over some dimensions, for each index of others, in any order."""
    dtype = _one_of(rng, NUMBERS)
    letters = iter("abcdefghij")
    groups = [[next(letters) for _ in range(int(rng.integers(0, 3)))] for _ in range(4)]
    sizes = {letter: int(rng.integers(1, 5)) for group in groups for letter in group}
    batch, depth, left, right = groups
    lhs, rhs = (rng.permutation([*batch, *depth, *side]).tolist() for side in (left, right))
    inputs = [_values(rng, dtype, [sizes[n] for n in side]) for side in (lhs, rhs)]
    free = [n for side in (lhs, rhs) for n in side if n in (*left, *right)]  # as they come there
    formula = f"{''.join(lhs)},{''.join(rhs)}->{''.join([*batch, *free])}"
    with np.errstate(all="ignore"):
        expected = np.asarray(np.einsum(formula, *map(_wide, inputs))).astype(dtype)
    options = {
        f"{name}_{what}_dimensions": [side.index(n) for n in group]
        for name, side in (("lhs", lhs), ("rhs", rhs))
        for what, group in (("batching", batch), ("contracting", depth))
    }
    return model("DOT_GENERAL", inputs, [(expected.shape, dtype)], **options), inputs, expected


def pad(rng: np.random.Generator) -> tuple[bytes, list[np.ndarray], np.ndarray]:
    """Elements put around, between, and, where it is negative, left out."""
    dtype, shape = _one_of(rng, (*NUMBERS, "bool")), _shape(rng)
    x, filler = _values(rng, dtype, shape), _values(rng, dtype, ())
    inside = rng.integers(0, 3, len(shape))
    spread = [n + (n - 1) * int(gap) for n, gap in zip(shape, inside, strict=True)]
    low, high = (np.array([rng.integers(-(n // 3), 3) for n in spread], np.int64) for _ in "lh")
    whole = np.full(spread, filler, dtype)
    whole[tuple(slice(None, None, int(gap) + 1) for gap in inside)] = x
    expected = np.full([n + a + b for n, a, b in zip(spread, low, high, strict=True)], filler)
    sides = list(zip(low.tolist(), high.tolist(), strict=True))
    target = tuple(
        slice(max(a, 0), n - max(b, 0)) for n, (a, b) in zip(expected.shape, sides, strict=True)
    )
    source = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(spread, sides, strict=True)
    )
    expected[target] = whole[source]
    options = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": inside}
    options = {key: np.asarray(value, np.int64) for key, value in options.items()}
    return model("PAD", [x, filler], [(expected.shape, dtype)], **options), [x, filler], expected


KINDS = {"elements": elements, "product": product, "pad": pad}
