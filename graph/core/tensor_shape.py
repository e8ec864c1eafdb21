"""TF1's objects for shapes: TensorShape and Dimension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
    SupportsIndex,
    TypeAlias,
    cast,
    overload,
)

from ...schema import proto
from . import shapes

if TYPE_CHECKING:
    from ..format.messages import TensorShapeProto
    from .typing import ShapeLike


class Dimension:
    """One size of a shape; `value` is None when it is unknown.

    It counts as its number in arithmetic and comparisons; what is done with an unknown one is
    unknown, and so is the comparison (None).
    """

    __slots__ = ("value",)

    def __init__(self, value: SupportsIndex | None):
        size = value.value if isinstance(value, Dimension) else value
        if size is not None:
            try:
                size = operator.index(size)
            except TypeError:
                raise TypeError(
                    f"Dimension value must be integer or None or have an __index__ method, got "
                    f"value '{size!r}' with type '{type(size)!r}'"
                ) from None
            if size < 0:
                raise ValueError(f"Dimension {size} must be >= 0")
        self.value: int | None = size

    def __int__(self) -> int:
        if self.value is None:
            raise TypeError("__int__ returned non-int (type NoneType)")
        return self.value

    def __index__(self) -> int:
        if self.value is None:
            raise TypeError("__index__ returned non-int (type NoneType)")
        return self.value

    def is_compatible_with(self, other: SupportsIndex | None) -> bool:
        """Whether both can be the same size."""
        size = Dimension(other).value
        return None in (self.value, size) or self.value == size

    def assert_is_compatible_with(self, other: SupportsIndex | None) -> None:
        """Raises ValueError unless both can be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: SupportsIndex | None) -> Dimension:
        """The size that both say; ValueError when they contradict."""
        self.assert_is_compatible_with(other)
        return Dimension(other) if self.value is None else Dimension(self)

    if TYPE_CHECKING:

        def __add__(self, other: SupportsIndex | None) -> Dimension: ...
        def __radd__(self, other: SupportsIndex | None) -> Dimension: ...
        def __sub__(self, other: SupportsIndex | None) -> Dimension: ...
        def __rsub__(self, other: SupportsIndex | None) -> Dimension: ...
        def __mul__(self, other: SupportsIndex | None) -> Dimension: ...
        def __rmul__(self, other: SupportsIndex | None) -> Dimension: ...
        def __floordiv__(self, other: SupportsIndex | None) -> Dimension: ...
        def __rfloordiv__(self, other: SupportsIndex | None) -> Dimension: ...
        def __mod__(self, other: SupportsIndex | None) -> Dimension: ...
        def __rmod__(self, other: SupportsIndex | None) -> Dimension: ...
        def __lt__(self, other: SupportsIndex | None) -> bool | None: ...
        def __le__(self, other: SupportsIndex | None) -> bool | None: ...
        def __gt__(self, other: SupportsIndex | None) -> bool | None: ...
        def __ge__(self, other: SupportsIndex | None) -> bool | None: ...

    def __truediv__(self, other: object) -> NoReturn:
        kinds = f"'Dimension' and '{type(other).__name__}'"
        raise TypeError(f"unsupported operand type(s) for /: {kinds}, please use // instead")

    def __rtruediv__(self, other: object) -> NoReturn:
        kinds = f"'{type(other).__name__}' and 'Dimension'"
        raise TypeError(f"unsupported operand type(s) for /: {kinds}, please use // instead")

    def __bool__(self) -> bool:
        return bool(self.value)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type[Dimension], tuple[int | None]]:
        return Dimension, (self.value,)

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


def _arithmetic(
    function: Callable[[int, int], int], reverse: bool = False
) -> Callable[[Dimension, SupportsIndex | None], Dimension]:
    def apply(self: Dimension, other: SupportsIndex | None) -> Dimension:
        try:
            a, b = self.value, Dimension(other).value
        except TypeError:
            return NotImplemented
        if a is None or b is None:
            return Dimension(None)
        return Dimension(function(b, a) if reverse else function(a, b))

    return apply


def _comparison(
    function: Callable[[int, int], bool],
) -> Callable[[Dimension, SupportsIndex | None], bool | None]:
    def apply(self: Dimension, other: SupportsIndex | None) -> bool | None:
        try:
            a, b = self.value, Dimension(other).value
        except (TypeError, AttributeError):
            return NotImplemented
        return None if a is None or b is None else function(a, b)

    return apply


for _name, _function in {
    "add": int.__add__,
    "sub": int.__sub__,
    "mul": int.__mul__,
    "floordiv": int.__floordiv__,
    "mod": int.__mod__,
}.items():
    setattr(Dimension, f"__{_name}__", _arithmetic(_function))
    setattr(Dimension, f"__r{_name}__", _arithmetic(_function, reverse=True))
for _name, _function in {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "lt": int.__lt__,
    "le": int.__le__,
    "gt": int.__gt__,
    "ge": int.__ge__,
}.items():
    setattr(Dimension, f"__{_name}__", _comparison(_function))


Item: TypeAlias = "Dimension | Any"  # pyright: ignore[reportExplicitAny] - or a number or None
"""One size of a shape."""


class TensorShape:
    """What is known of a shape: `TensorShape([None, 3])`, `TensorShape(None)`.

    It equals lists and tuples of the same sizes. Its items are Dimensions, as in TF1, or numbers
    and None once `enable_v2_tensorshape` was called.

    >>> TensorShape([None, 3]).merge_with([2, None]).as_list()
    [2, 3]
    """

    __slots__ = ("_sizes",)
    has_dimensions: ClassVar[bool] = True

    @staticmethod
    def of(sizes: shapes.Shape) -> TensorShape:
        """The object of a shape as the graph holds it, which is not checked."""
        shape = TensorShape.__new__(TensorShape)
        shape._sizes = sizes
        return shape

    def __init__(self, dims: ShapeLike | None):
        if isinstance(dims, TensorShape):
            self._sizes: shapes.Shape = dims._sizes
        elif dims is None:
            self._sizes = None
        elif hasattr(dims, "unknown_rank"):
            message = cast("TensorShapeProto", dims)
            sizes = tuple(None if dim.size == -1 else dim.size for dim in message.dim)
            self._sizes = None if message.unknown_rank else sizes
        elif isinstance(dims, Iterable) and not isinstance(dims, tuple | list):
            self._sizes = tuple(_size_of(dims, size) for size in dims)
        else:
            sizes = dims if isinstance(dims, tuple | list) else (dims,)
            self._sizes = tuple(_size(size) for size in sizes)

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes, None when not even the rank is known."""
        return None if self._sizes is None else [Dimension(size) for size in self._sizes]

    def as_proto(self) -> TensorShapeProto:
        """The TensorShapeProto message of it."""
        sizes = [-1 if size is None else size for size in self._sizes or ()]
        message = proto.TensorShapeProto(unknown_rank=self._sizes is None)
        message.dim.extend(proto.TensorShapeProto.Dim(size=size) for size in sizes)
        return cast("TensorShapeProto", message)

    @property
    def ndims(self) -> int | None:
        """The rank, None when it is unknown."""
        return None if self._sizes is None else len(self._sizes)

    rank = ndims

    def as_shape(self) -> shapes.Shape:
        """The shape as the graph holds it: a tuple, or None."""
        return self._sizes

    def as_list(self) -> list[int | None]:
        """The sizes, None for each that is unknown; ValueError for an unknown rank."""
        if self._sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._sizes)

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return shapes.is_static(self._sizes)

    def num_elements(self) -> int | None:
        """The number of elements, None when it is unknown."""
        return shapes.count(self._sizes) if shapes.is_static(self._sizes) else None

    def is_compatible_with(self, other: ShapeLike | None) -> bool:
        """Whether both can be the shape of one tensor."""
        try:
            shapes.merge(self._sizes, TensorShape(other)._sizes)
        except ValueError:
            return False
        return True

    def assert_is_compatible_with(self, other: ShapeLike | None) -> None:
        """Raises ValueError unless both can be the shape of one tensor."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError when the rank is another one."""
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: ShapeLike | None) -> None:
        """Raises ValueError when both ranks are known and differ."""
        shape = TensorShape(other)
        if None not in (self.ndims, shape.ndims) and self.ndims != shape.ndims:
            raise ValueError(f"Shapes {self} and {shape} must have the same rank")

    def most_specific_compatible_shape(self, other: ShapeLike | None) -> TensorShape:
        """What is true of both: sizes in which they differ are unknown."""
        shape = TensorShape(other)
        if self._sizes is None or shape._sizes is None or self.ndims != shape.ndims:
            return TensorShape(None)
        pairs = zip(self._sizes, shape._sizes, strict=True)
        return TensorShape([a if a == b else None for a, b in pairs])

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other: ShapeLike | None) -> TensorShape:
        """What both say together; ValueError when they contradict."""
        shape = TensorShape(other)
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        return TensorShape.of(shapes.merge(self._sizes, shape._sizes))

    def concatenate(self, other: ShapeLike | None) -> TensorShape:
        """The sizes of both, one after the other."""
        following = TensorShape(other)._sizes
        if self._sizes is None or following is None:
            return TensorShape(None)
        return TensorShape((*self._sizes, *following))

    def with_rank(self, rank: int) -> TensorShape:
        """The shape, when it can have that rank; else ValueError."""
        try:
            return self.merge_with([None] * rank)
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The shape; ValueError when its rank is lower."""
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """The shape; ValueError when its rank is higher."""
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self) -> int:
        if self._sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._sizes)

    def __bool__(self) -> bool:
        return self._sizes is not None

    def __iter__(self) -> Iterator[Item]:
        if self._sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter((self.dims if self.has_dimensions else self._sizes) or ())

    @overload
    def __getitem__(self, key: SupportsIndex) -> Item: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: SupportsIndex | slice) -> Item | TensorShape:
        if isinstance(key, slice):
            return TensorShape.of(_unknown_part(key) if self._sizes is None else self._sizes[key])
        if self._sizes is None:
            return Dimension(None) if self.has_dimensions else None
        return [Dimension(n) for n in self._sizes][key] if self.has_dimensions else self._sizes[key]

    def __add__(self, other: ShapeLike | None) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike | None) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __reduce__(self) -> tuple[type[TensorShape], tuple[list[Dimension] | None]]:
        return TensorShape, (self.dims,)

    def __eq__(self, other: object) -> bool:
        try:
            return self._sizes == TensorShape(cast("ShapeLike", other))._sizes
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __str__(self) -> str:
        if self._sizes is None:
            return "<unknown>"
        unknown = "?" if self.has_dimensions else "None"
        sizes = [unknown if size is None else str(size) for size in self._sizes]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._sizes is None else list(self)})"


def enable_v2_tensorshape() -> None:
    """Makes the items of shapes numbers and None."""
    TensorShape.has_dimensions = False


def disable_v2_tensorshape() -> None:
    """Makes the items of shapes Dimensions, as they are at first."""
    TensorShape.has_dimensions = True


def as_shape(shape: ShapeLike | None) -> shapes.Shape:
    """Anything that says a shape, as the graph holds it."""
    return TensorShape(shape).as_shape()


def dimension_value(dimension: Dimension | int | None) -> int | None:
    """The number of a Dimension, or the number itself; None when it is unknown."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: ShapeLike | None, index: int) -> Dimension:
    """The size of one dimension of a shape; unknown where the rank is."""
    known = TensorShape(shape)
    return Dimension(None) if known.dims is None else known.dims[index]


def _unknown_part(part: slice) -> shapes.Shape:
    """A part of a shape of unknown rank: how long it is, where both ends are counted from 0."""
    start, stop = part.start or 0, part.stop
    if part.step is not None:
        raise ValueError("Steps are not yet handled")
    if stop is None or start < 0 or stop < 0:
        return None
    return (None,) * max(stop - start, 0)


def shape_of_values(values: Iterable[SupportsIndex | None]) -> TensorShape:
    """The shape that a tensor's elements stand for: unknown where one is unknown or below 0."""
    sizes = [None if n is None else int(n) for n in values]
    return TensorShape([None if n is None or n < 0 else n for n in sizes])


def _size_of(dims: Iterable[SupportsIndex | None], dim: SupportsIndex | None) -> int | None:
    try:
        return _size(dim)
    except TypeError:
        raise TypeError(
            f"Failed to convert '{dims!r}' to a shape: '{dim!r}'could not be converted to a "
            "dimension. A shape should either be single dimension (e.g. 10), or an iterable of "
            "dimensions (e.g. [1, 10, None])."
        ) from None


def _size(dim: SupportsIndex | None) -> int | None:
    return Dimension(dim).value
