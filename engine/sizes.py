"""Choices among sizes: plain integers when a model runs.

While a model is converted some of them are a `Size` (converter/ir/sizes.py), an int that knows how
it comes from unknown dimensions. Shape rules choose by these functions, so that no choice is made
by the number that such a size happens to have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Protocol

    class Symbolic(Protocol):
        """A size that knows how it comes from unknown dimensions."""

        def least(self, *sizes: int) -> int:
            """The smallest of some sizes."""
            ...

        def largest(self, *sizes: int) -> int:
            """The largest of some sizes."""
            ...

        def broadcast_size(self, other: int) -> int | None:
            """The size to which it and another broadcast; None where they do not."""
            ...

        def from_front(self, size: int) -> int:
            """Itself as a position in a dimension of `size`."""
            ...


MAX_SIZE = 2**31 - 1


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


def broadcast_size(first: int, second: int) -> int | None:
    """The size to which both broadcast by numpy's rule; None where they do not."""
    symbolic = _symbolic((first, second))
    if symbolic is not None:
        is_first = not is_plain(first)
        return symbolic.broadcast_size(second if is_first else first)
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


def counted_slices(size: int, begin: int, n: int) -> int:
    """How many of n slices lie from `begin` on, where `size` of them are asked for, -1 for all."""
    if is_plain(size):
        return n - begin if size == -1 else size
    is_open = largest(-size, 0)  # 1 where the size is -1; less is none
    return size + is_open * (n - begin + 1)


def negative(sizes: Iterable[int]) -> bool:
    """Whether one of some sizes is a negative number."""
    return any(size < 0 and is_plain(size) for size in sizes)


def fit_int32(sizes: Iterable[int]) -> bool:
    """Whether all numbers among some sizes are those of dimensions in files: int32 from 0 on."""
    return all(0 <= size <= MAX_SIZE or not is_plain(size) for size in sizes)


def may_be_negative(sizes: Iterable[int]) -> bool:
    """Whether one of some sizes is, or is not proved never to be, a negative number."""
    return any(size < 0 if is_plain(size) else not is_plain(largest(-size, 0)) for size in sizes)


def _symbolic(sizes: Iterable[int]) -> Symbolic | None:
    """The first of the sizes that is a Size; None where all are plain."""
    return next((cast("Symbolic", size) for size in sizes if not is_plain(size)), None)
