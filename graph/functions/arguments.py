"""Arguments that TF1 takes under two names."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def one_of(new_name: str, new: Value | None, old_name: str, old: Value | None) -> Value | None:
    """The argument under its new or old name; ValueError when both are given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old
