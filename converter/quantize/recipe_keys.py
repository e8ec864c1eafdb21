"""The keys that a recipe, or a part of it, may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def known_keys(what: str, mapping: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raises ValueError for a key that is not one of `keys`."""
    unknown = [str(key) for key in mapping if key not in keys]
    if unknown:
        raise ValueError(f"{what} must have keys of {', '.join(keys)}, got {', '.join(unknown)}")
