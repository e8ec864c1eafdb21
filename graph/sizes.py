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

    It has the methods of TensorShape too.

    >>> Sizes([None, 3]).as_list()
    [None, 3]
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

    def __reduce__(self):
        return tuple, (tuple(map(_plain, self)),)


def _plain(size: int | None) -> int | None:
    return None if size is None else int(size)
