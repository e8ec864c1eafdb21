"""Cases of operators at the ends of shapes: without elements, and of ranks 0 to 8.

A variant is a case of tests/cases with other operands: a dimension of one operand is zero, or every
dimension of one size, one size that an operand states, or the rank of one operand or of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from cases import Case, all_cases
from operator_starts import MORE

from flatlite.schema import operators

RANKS = range(9)
NEUTRAL = {
    "paddings": 0,
    "begin": 0,
    "end": 1 << 20,
    "strides": 1,
    "size": -1,
    "multiples": 1,
    "window": 1,
    "dilations": 1,
}
"""What an operand with a row for each axis says of an axis that a variant adds."""


def starts(kind: str) -> list[Case]:
    """The cases of an operator that differ in their types, the operands left out and the ranks."""
    cases: dict[Any, Case] = {}
    for case in (*all_cases(), *MORE):
        if isinstance(case, Case) and case.op == kind and case.oracle is not None:
            forms = [None if x is None else (x.dtype, x.ndim) for x in case.inputs]
            quantized = sorted(map(str, case.quantization or ()))
            key = *forms, *quantized, *case.constants, *map(np.dtype, case.outputs or ())
            cases.setdefault(key, case)
    return sorted(cases.values(), key=lambda case: "float32" not in str(_first(case).dtype))


def variants(case: Case) -> Iterator[Case]:
    """The case's variants, named by what is different."""
    seen: list[list[np.ndarray | None]] = [list(case.inputs)]
    for name, inputs in (*_empty(case), *_ranked(case)):
        if not any(_alike(inputs, one) for one in seen):
            seen.append(inputs)
            scales = {
                key: _fitting(key, inputs, *q) for key, q in (case.quantization or {}).items()
            }
            yield replace(
                case, name=f"{case.name} {name}", inputs=inputs, quantization=scales or None
            )


def _fitting(key: int | str, inputs: list, scales: Any, zero: int, axis: int = 0) -> tuple:
    """The scales of an operand, as many as it has channels now."""
    scales = np.atleast_1d(scales)
    if len(scales) == 1:
        return scales, zero
    if isinstance(key, int):
        shape = inputs[key].shape
        channels = shape[axis] if axis < len(shape) else 1
        scales = scales[:1] if channels < 2 else np.resize(scales, channels)
        axis = axis if channels > 1 else 0
    return scales, zero, axis


def _empty(case: Case) -> Iterator[tuple[str, list]]:
    sizes: Counter[int] = Counter()
    for i, x in _arrays(case):
        for axis, n in enumerate(x.shape):
            sizes[n] += 1
            yield f"in{i}.shape[{axis}]=0", _with(case, {i: x.take(range(0), axis)})
    for n in (n for n, count in sizes.items() if count > 1):
        emptied = {i: x[(*(slice(0 if m == n else None) for m in x.shape), ...)] for i, x in
                   _arrays(case)}  # fmt: skip
        yield f"every {n}=0", _with(case, emptied)
        moving = {i: x for i, x in emptied.items() if i not in _lists(case)}
        yield f"every {n}=0 but in lists", _with(case, moving)
    for i, x in _arrays(case):
        for place in range(x.size if i in _sizes(case) else 0):
            other = x.copy()
            other.flat[place] = 0
            yield f"in{i}[{place}]:=0", _with(case, {i: other})


def _ranked(case: Case) -> Iterator[tuple[str, list]]:
    lists = _lists(case)
    for i, x in _arrays(case):
        for rank in RANKS:
            if rank != x.ndim:
                yield f"in{i}.rank={rank}", _with(case, {i: _of_rank(x, rank)})
    first = _first(case).ndim
    for rank in RANKS:
        changed = {i: _of_rank(x, rank) for i, x in _arrays(case) if x.ndim == first}
        changed = {i: x for i, x in changed.items() if i not in lists}
        rows = {i: _with_rows(name, x, rank) for i, name, x in _rows(case)}
        yield f"rank={rank}", _with(case, changed | rows)


def _of_rank(x: np.ndarray, rank: int) -> np.ndarray:
    """The elements with ones before their shape, or with their first axes made one."""
    if rank >= x.ndim:
        return x.reshape((1,) * (rank - x.ndim) + x.shape)
    if rank == 0:
        return x.ravel()[:1].reshape(()) if x.size else np.zeros((), x.dtype)
    split = x.ndim - rank + 1
    return x.reshape(prod(x.shape[:split]), *x.shape[split:])


def _with_rows(name: str, x: np.ndarray, rank: int) -> np.ndarray:
    """A list of one row for each axis at another rank."""
    n = max(rank - len(x), 0)
    if name == "perm":
        return np.append(np.arange(n), np.argsort(x[len(x) + n - rank :]) + n).astype(x.dtype)
    neutral = np.full((n, *x.shape[1:]), NEUTRAL.get(name, 0), x.dtype)
    return np.concatenate([neutral, x[len(x) + n - rank :]])


def _rows(case: Case) -> list[tuple[int, str, np.ndarray]]:
    row = operators.known(case.op)
    names = {i: row.operands[i].name for i in row.operand_numbers("rows")}
    if case.op == "TRANSPOSE":
        names[1] = "perm"
    return [(i, names[i], x) for i, x in _arrays(case) if i in names and x.ndim]


def _sizes(case: Case) -> set[int]:
    row = operators.known(case.op)
    return {i for word in ("sizes", "rows") for i in row.operand_numbers(word)}


def _lists(case: Case) -> set[int]:
    row = operators.known(case.op)
    return {i for word in ("sizes", "rows", "axes") for i in row.operand_numbers(word)}


def _first(case: Case) -> np.ndarray:
    return next(x for x in case.inputs if x is not None)


def _arrays(case: Case) -> list[tuple[int, np.ndarray]]:
    return [(i, x) for i, x in enumerate(case.inputs) if x is not None]


def _with(case: Case, changed: dict[int, np.ndarray]) -> list[np.ndarray | None]:
    return [changed.get(i, x) for i, x in enumerate(case.inputs)]


def _alike(one: list, two: list) -> bool:
    return all(
        a is b or (a is not None and a.shape == b.shape and a.tobytes() == b.tobytes())
        for a, b in zip(one, two, strict=True)
    )
