"""Arguments that TF1 takes under two names."""

from __future__ import annotations


def one_of(new_name: str, new, old_name: str, old):
    """The argument under its new or old name; ValueError when both are given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old
