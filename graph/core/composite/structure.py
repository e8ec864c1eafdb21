"""Nested structures of tensors: what loops carry and branches give.

Lists, tuples, namedtuples, dicts and views of dicts nest; a dict's items come in the order of its
keys, those of a view in its own. An object that has `to_components` and `from_components`, as a
TensorArray, counts as its tensors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard, cast, runtime_checkable

if TYPE_CHECKING:
    from ..typing import TensorLike

    Structure = TensorLike | "Composite" | Sequence["Structure"] | Mapping[str, "Structure"] | None


@runtime_checkable
class Composite(Protocol):
    """What is made of tensors."""

    def to_components(self) -> list[object]:
        """Its tensors."""
        ...

    def from_components(self, components: Sequence[object]) -> Composite:
        """One like this, of other tensors."""
        ...


def is_nested(item: object) -> TypeGuard[Sequence[object] | Mapping[str, object]]:
    """Whether an item has items of its own."""
    return isinstance(item, (list, tuple, Mapping, MappingView))


def _items(item: Iterable[object]) -> Iterable[object]:
    if isinstance(item, Mapping):
        mapping = cast("Mapping[str, object]", item)
        return [mapping[key] for key in sorted(mapping)]
    return item


def flatten(item: object, expand: bool = False) -> list[object]:
    """The leaves, in order; with `expand` composites as their tensors."""
    if is_nested(item):
        return [leaf for inner in _items(item) for leaf in flatten(inner, expand)]
    if expand and isinstance(item, Composite) and not isinstance(item, type):
        return item.to_components()
    return [item]


def pack(like: object, leaves: Iterable[object], expand: bool = False) -> object:
    """The leaves in the structure of `like`; ValueError when there are more or fewer."""
    remaining = iter(leaves)
    try:
        packed = _packed(like, remaining, expand)
    except StopIteration:
        raise ValueError("Structure had more atoms than flat_sequence had items.") from None
    if next(remaining, _END) is not _END:
        raise ValueError("Structure had fewer atoms than flat_sequence had items.")
    return packed


_END = object()


def _packed(like: object, leaves: Iterator[object], expand: bool) -> object:
    if isinstance(like, Mapping):
        mapping = cast("Mapping[str, object]", like)
        values = {key: _packed(mapping[key], leaves, expand) for key in sorted(mapping)}
        return _rebuilt(mapping, [(key, values[key]) for key in mapping])
    if isinstance(like, (list, tuple)):
        items = [_packed(inner, leaves, expand) for inner in cast("Sequence[object]", like)]
        if isinstance(like, tuple):
            return _rebuilt(cast("object", like), items)
        return items
    if isinstance(like, MappingView):
        return [_packed(inner, leaves, expand) for inner in cast("Iterable[object]", like)]
    if expand and isinstance(like, Composite) and not isinstance(like, type):
        return like.from_components([next(leaves) for _ in like.to_components()])
    return next(leaves)


def _rebuilt(like: object, content: object) -> object:
    """A mapping or sequence of the type of `like`."""
    if isinstance(like, defaultdict):
        return defaultdict(like.default_factory, cast("Iterable[tuple[str, object]]", content))
    kind = cast("Callable[[object], object]", getattr(type(like), "_make", type(like)))
    return kind(content)


def map_structure(function: Callable[..., object], *structures: object) -> object:
    """What `function` gives for the leaves of structures alike, in the structure of the first."""
    require_same_structure(structures[0], *structures[1:])
    leaves = zip(*(flatten(structure) for structure in structures), strict=True)
    return pack(structures[0], [function(*items) for items in leaves])


def require_same_structure(first: object, *others: object, check_types: bool = True) -> None:
    """Raises ValueError unless all structures nest alike, TypeError where their types differ."""
    for other in others:
        _compare(first, other, check_types)


def _is_same_type(first: object, other: object) -> bool:
    """Whether two sequences are of one type; namedtuples when they have name and fields alike."""
    kinds = type(first), type(other)
    fields = [getattr(kind, "_fields", None) for kind in kinds]
    if all(fields):
        return fields[0] == fields[1] and kinds[0].__name__ == kinds[1].__name__
    if None not in fields or any(fields):
        return False
    return kinds[0] is kinds[1] or all(isinstance(item, list) for item in (first, other))


def _compare(first: object, other: object, check_types: bool) -> None:
    words = (
        f"The two structures don't have the same nested structure.\n\n"
        f"First structure: type={type(first).__name__} str={first}\n\n"
        f"Second structure: type={type(other).__name__} str={other}"
    )
    if is_nested(first) != is_nested(other):
        raise ValueError(words)
    if not is_nested(first) or not is_nested(other):
        return
    is_mapping = isinstance(first, Mapping)
    if check_types and is_mapping != isinstance(other, Mapping):
        raise TypeError(words)
    if check_types and not is_mapping and not _is_same_type(first, other):
        raise TypeError(words)
    if len(first) != len(other):
        raise ValueError(
            f"{words}\n\nMore specifically: The two structures don't have the same number of "
            f"elements. First structure: {first}. Second structure: {other}"
        )
    if isinstance(first, Mapping) and isinstance(other, Mapping) and set(first) != set(other):
        raise ValueError(words)
    for a, b in zip(_items(first), _items(other), strict=True):
        _compare(a, b, check_types)
