"""Choices among sizes: plain integers when a model runs.

While a model is converted some of them are a `Size` (converter/ir/sizes.py), an int that knows how
it comes from unknown dimensions. Shape rules choose by these functions, so that no choice is made
by the number that such a size happens to have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def is_plain(size: int) -> bool:
    """Whether a size is just a number."""
    return not hasattr(size, "least")


def least(*sizes: int) -> int:
    """The smallest of some sizes."""
    symbolic = _symbolic(sizes)
    return min(sizes) if symbolic is None else symbolic.least(*sizes)


def largest(*sizes: int) -> int:
    """The largest of some sizes."""
    symbolic = _symbolic(sizes)
    return max(sizes) if symbolic is None else symbolic.largest(*sizes)


def meet(first: int, second: int) -> int | None:
    """The size of a dimension in which both meet by numpy's rule; None where they cannot."""
    symbolic = _symbolic((first, second))
    if symbolic is not None:
        return symbolic.meet(second if symbolic is first else first)
    if first == second or second == 1:
        return first
    return second if first == 1 else None


def from_front(position: int, size: int) -> int:
    """A position in a dimension of `size`, where a negative one counts from its end."""
    symbolic = _symbolic((position,))
    if symbolic is not None:
        return symbolic.from_front(size)
    return position + size if position < 0 else position


def steps(start: int, stop: int, step: int) -> int:
    """How many numbers range(start, stop, step) has."""
    return largest(-((start - stop) // step), 0)


def negative(sizes: Iterable[int]) -> bool:
    """Whether one of some sizes is a negative number."""
    return any(size < 0 and is_plain(size) for size in sizes)


def _symbolic(sizes: Iterable[int]) -> Any:
    """The first of the sizes that is a Size; None where all are plain."""
    return next((size for size in sizes if not is_plain(size)), None)
