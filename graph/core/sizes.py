"""Shapes as users of TF1 handle them: tuples with the methods of TensorShape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Size(int):
    """A known size; TF1 programs ask for its `value`."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """The number itself."""
        return int(self)

    def __repr__(self) -> str:
        return int.__repr__(self)


class Sizes(tuple):
    """A shape of known rank: a tuple of sizes, None for unknown ones.

    It has the methods of TensorShape too, and equals lists and TensorShapes of the same sizes.

    >>> Sizes([None, 3]).as_list(), Sizes([None, 3]) == [None, 3]
    ([None, 3], True)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int | None]):
        """A shape of these sizes."""
        return super().__new__(cls, [None if n is None else Size(n) for n in sizes])

    def __getattr__(self, name: str) -> Any:
        from .tensor_shape import TensorShape

        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(TensorShape(tuple(self)), name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            other = tuple(other)
        elif hasattr(other, "as_list") and not isinstance(other, Sizes):
            return bool(other == tuple(self))
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __add__(self, other: Any) -> Sizes:
        return Sizes((*self, *other))

    def __radd__(self, other: Any) -> Sizes:
        return Sizes((*other, *self))

    def __reduce__(self):
        return tuple, (tuple(map(_plain, self)),)


def _plain(size: int | None) -> int | None:
    return None if size is None else int(size)
