"""Values of options: lists of names, shapes, pairs; what is empty or there twice is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

NUMBER = re.compile(r"-?\d+", re.ASCII)
T = TypeVar("T")


def names_of(option: str, text: str | None) -> list[str] | None:
    """The names of an option A,B; None where it is absent."""
    if text is None:
        return None
    names = text.split(",")
    if not all(names):
        raise ValueError(f"{option} must be names separated by commas, got '{text}'")
    return [*_by_name(option, ((name, name) for name in names))]


def pairs_of(option: str, texts: Iterable[str]) -> dict[str, str]:
    """The values of an option OLD=NEW, by OLD."""
    pairs = []
    for text in texts:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise ValueError(f"{option} must be OLD=NEW, got '{text}'")
        pairs.append((old, new))
    return _by_name(option, pairs)


def shapes_of(texts: Iterable[str]) -> dict[str, list[int | None]] | None:
    """The values of --input-shape as the converter takes them; None where it is absent."""
    shapes = []
    for text in texts:
        name, _, sizes = text.rpartition("=")
        numbers = sizes.split(",") if sizes else []
        if not name or not all(map(NUMBER.fullmatch, numbers)):
            raise ValueError(f"--input-shape must be NAME=1,224,224,3, got '{text}'")
        shapes.append((name, [None if n == "-1" else int(n) for n in numbers]))
    return _by_name("--input-shape", shapes) or None


def batch_of(text: str) -> int | None:
    """The value of --batch: a size, None for any."""
    try:
        batch = int(text)
    except ValueError:
        batch = 0
    if batch == 0 or batch < -1:
        raise ValueError(f"--batch must be a positive number, or -1 for any, got '{text}'")
    return None if batch < 0 else batch


def _by_name(option: str, items: Iterable[tuple[str, T]]) -> dict[str, T]:
    values: dict[str, T] = {}
    for name, value in items:
        if name in values:
            raise ValueError(f"{option} must name '{name}' once, not twice")
        values[name] = value
    return values
