"""Arrays as TensorFlow's errors and logs show them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def element(value: object) -> str:
    """One element: 6 digits (15 of 64 bits) where they are enough, else all it has."""
    if isinstance(value, bytes):
        return "".join(map(_escaped, value.decode(errors="replace")))
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, np.complexfloating):
        return "?"
    if isinstance(value, np.floating) or getattr(value, "dtype", None) == "bfloat16":
        number = float(value)  # pyright: ignore[reportArgumentType] - bfloat16 has no types
        if isinstance(value, np.float64):
            short = f"{number:.15g}"
            return short if float(short) == number or number != number else f"{number:.17g}"
        short = f"{number:.6g}"
        is_same = np.float32(short) == np.float32(number) or number != number
        return short if is_same else f"{number:.9g}"
    return str(value)


_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}


def _escaped(char: str) -> str:
    """A character as C writes it; those beyond ASCII as they are."""
    is_plain = " " <= char <= "~" or char > "\x7f"
    return _ESCAPES.get(char, char if is_plain else f"\\{ord(char):03o}")


def summary(x: np.ndarray, most: int) -> str:
    """The first `most` elements (all when it is negative), inner dimensions in brackets."""
    limit = x.size if most < 0 else min(most, x.size)
    dots = "..." if x.size > limit else ""
    if x.ndim == 0:
        return element(x[()]) + dots if limit else dots
    return "".join(_dimension(x.shape, 0, x.reshape(-1), [0], limit)) + dots


def _dimension(
    shape: tuple[int, ...], axis: int, flat: np.ndarray, place: list[int], limit: int
) -> Iterator[str]:
    """The pieces of one dimension; `place` is the next element."""
    for i in range(shape[axis]):
        if place[0] >= limit:
            if axis and axis == len(shape) - 1:
                yield "..."
            return
        if axis == len(shape) - 1:
            yield (" " if i else "") + element(flat[place[0]])
            place[0] += 1
        else:
            yield "["
            yield from _dimension(shape, axis + 1, flat, place, limit)
            yield "]"
