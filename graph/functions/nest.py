"""Nested structures: `tf.nest`. Lists, tuples, namedtuples and mappings nest, by sorted keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.composite import structure as nests


def is_nested(seq: object) -> bool:
    """Whether it is a list, a tuple or a mapping; strings and arrays are none."""
    return nests.is_nested(seq)


def flatten(structure: object, expand_composites: bool = False) -> list[object]:
    """The leaves in order, mappings by their sorted keys; [structure] of a single leaf.

    Raises TypeError for keys that do not sort.
    """
    return nests.flatten(structure, expand_composites)


def pack_sequence_as(
    structure: object, flat_sequence: Sequence[object], expand_composites: bool = False
) -> object:
    """The items of a flat sequence in the structure of another.

    Raises:
        TypeError: `flat_sequence` is no sequence.
        ValueError: It has more or fewer items than the structure has leaves.
    """
    if not nests.is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    leaves = nests.flatten(structure, expand_composites)
    if not nests.is_nested(structure) and len(flat_sequence) != len(leaves):
        raise ValueError(
            f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the "
            f"input is a sequence ({type(flat_sequence)}) of length {len(flat_sequence)}."
        )
    if len(flat_sequence) != len(leaves):
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{len(leaves)} atoms, but flat_sequence had {len(flat_sequence)} items.  Structure: "
            f"{structure}, flat_sequence: {flat_sequence}."
        )
    return nests.pack(structure, flat_sequence, expand_composites)


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises ValueError unless both nest alike, TypeError where sequences are of other types."""
    nests.require_same_structure(nest1, nest2, check_types=bool(check_types))


def map_structure(func: Callable[..., object], *structure: object, **kwargs: bool) -> object:
    """What `func` gives for the leaves of structures alike, in the structure of the first.

    Args:
        func: Takes a leaf of each.
        structure: They must nest alike.
        kwargs: `check_types` (True) and `expand_composites` (False) as `assert_same_structure`
            has them.

    Raises:
        TypeError: `func` cannot be called, or sequences are of other types.
        ValueError: There is no structure, they differ, or a keyword is another.
    """
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments for `map_structure` are: `check_types` and "
            f"`expand_composites`, got {'`, `'.join(kwargs)}"
        )
    for other in structure[1:]:
        nests.require_same_structure(structure[0], other, check_types=check_types)
    leaves = zip(*(nests.flatten(item, expand) for item in structure), strict=True)
    return nests.pack(structure[0], [func(*items) for items in leaves], expand)
