"""Shapes as users of TF1 handle them: tuples with the methods of TensorShape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast


class Size(int):
    """A known size; TF1 programs ask for its `value`."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """The number itself."""
        return int(self)

    def __repr__(self) -> str:
        return int.__repr__(self)


class Sizes(tuple["int | None", ...]):
    """A shape of known rank: a tuple of sizes, None for unknown ones.

    It has the methods of TensorShape too, and equals lists and TensorShapes of the same sizes.

    >>> Sizes([None, 3]).as_list(), Sizes([None, 3]) == [None, 3]
    ([None, 3], True)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int | None]) -> Sizes:
        """A shape of these sizes."""
        return super().__new__(cls, [None if n is None else Size(n) for n in sizes])

    if not TYPE_CHECKING:

        def __getattr__(self, name: str):
            from .tensor_shape import TensorShape

            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(TensorShape(tuple(self)), name)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            other = tuple(cast("list[object]", other))
        elif hasattr(other, "as_list") and not isinstance(other, Sizes):
            return bool(other == tuple(self))
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    # A tuple takes other items too.
    def __add__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: Iterable[int | None]
    ) -> Sizes:
        return Sizes((*self, *other))

    def __radd__(self, other: Iterable[int | None]) -> Sizes:
        return Sizes((*other, *self))

    def __reduce__(self) -> tuple[type[tuple[int | None, ...]], tuple[tuple[int | None, ...]]]:
        return tuple, (tuple(map(_plain, self)),)


def _plain(size: int | None) -> int | None:
    return None if size is None else int(size)
