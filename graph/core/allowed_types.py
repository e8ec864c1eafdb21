"""Which types the inputs of TensorFlow's ops may have."""

from __future__ import annotations

import functools

from .allowed_types_table import ROWS


def allowed_types(kind: str, attr: str) -> tuple[str, ...] | None:
    """The names of the types that attribute `attr` of op type `kind` may have; None for all."""
    return _table().get(f"{kind}.{attr}")


@functools.cache
def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for row in ROWS.strip().splitlines():
        types, _, places = row.partition(": ")
        names = tuple(types.split())
        table.update(dict.fromkeys(places.split(), names))
    return table
