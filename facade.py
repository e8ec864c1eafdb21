"""Modules whose names live elsewhere, and are imported when one is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from .collection import collection_paused

Homes = Mapping[str, str]
"""Module, from the root -> the public names it has; `new=old` is `old` under another name."""
Facade = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def facade(
    module: str, *tables: Homes, modules: Homes | None = None, absent: Homes | None = None
) -> Facade:
    """`__all__`, `__getattr__` and `__dir__` of a module.

    Args:
        module: its name.
        tables: the names it has.
        modules: modules it has as names -> where they are, from the root.
        absent: names that it does not have -> what to take instead.
    """
    homes = homes_of(*tables) | {name: (home, "") for name, home in (modules or {}).items()}
    names = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            advice = (absent or {}).get(name)
            words = f"module '{module}' has no attribute '{name}'"
            raise AttributeError(f"{words}: {advice}" if advice else words)
        home, attribute = homes[name]
        path = f"{__package__}.{home}"
        with nullcontext() if path in sys.modules else collection_paused():
            home_module = importlib.import_module(path)
        return getattr(home_module, attribute) if attribute else home_module

    return names, get, lambda: names


def homes_of(*tables: Homes) -> dict[str, tuple[str, str]]:
    """Public name -> (module from the root, name there)."""
    homes: dict[str, tuple[str, str]] = {}
    for home, words in (row for table in tables for row in table.items()):
        for word in words.split():
            name, _, old = word.partition("=")
            homes[name] = (home, old or name)
    return homes
