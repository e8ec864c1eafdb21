"""Arithmetic on shapes that are known in part.

A shape is a tuple with None for each unknown size, or None when even the rank is unknown. Shape
functions take an operation, ask for what they need with the functions here, and return one shape,
or a list with one for each output. `known` stops a shape function early when a rank it needs is
unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

import numpy as np

if TYPE_CHECKING:
    from .protocols import OperationView

Dim: TypeAlias = "int | None"
Shape: TypeAlias = "tuple[int | None, ...] | None"

MAX_RANK = 254
"""TensorFlow's own bound on the rank of a tensor."""


class UnknownRank(Exception):
    """A shape function needs a rank that is not known: every output's shape is unknown."""


def require(op: OperationView, condition: object, message: str) -> None:
    """Raises ValueError "<TYPE> '<name>': <message>" unless `condition` holds."""
    if not condition:
        raise ValueError(f"{op.type} '{op.name}': {message}")


def require_rank(op: OperationView, index: int, rank: int, at_least: bool = False) -> None:
    """Raises ValueError, in TensorFlow's words, unless input `index` has a rank.

    Inputs of unknown rank pass.
    """
    shape = op.inputs[index].sizes
    if shape is None:
        return
    fits = len(shape) >= rank if at_least else len(shape) == rank
    words = "at least rank" if at_least else "rank"
    require(op, fits, f"Shape must be {words} {rank} but is rank {len(shape)}")


def known(op: OperationView, index: int, rank: int | None = None) -> tuple[Dim, ...]:
    """The shape of input `index`; unknown sizes when only the asked-for rank is known.

    Raises:
        UnknownRank: neither shape nor rank is known.
        ValueError: the input has another rank.
    """
    shape = op.inputs[index].sizes
    if shape is None:
        if rank is None:
            raise UnknownRank
        return (None,) * rank
    if rank is not None:
        require(op, len(shape) == rank, f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def require_size(op: OperationView, index: int, axis: int, size: int) -> None:
    """Raises ValueError, in TensorFlow's words, when an axis of an input has another size."""
    shape = op.inputs[index].sizes
    if shape is None or not -len(shape) <= axis < len(shape):
        return
    require(op, shape[axis] in (None, size), f"Dimension must be {size} but is {shape[axis]}")


def same(op: OperationView) -> Shape:
    """The shape of the first input."""
    return op.inputs[0].sizes


def scalar(op: OperationView) -> Shape:
    """The shape of a single number."""
    return ()


def unknown(op: OperationView) -> list[Shape]:
    """Nothing is known: the shape depends on the data."""
    return [None] * len(op.outputs)


def declared(op: OperationView) -> list[Shape]:
    """The shapes that were noted in the graph."""
    listed = op.attrs.get("_output_shapes")
    if isinstance(listed, list) and len(listed) == len(op.outputs):
        shapes = cast("list[Shape]", listed)
        return [shape if isinstance(shape, tuple) else None for shape in shapes]
    return unknown(op)


def merge_dims(a: Dim, b: Dim) -> Dim:
    """The size that both say; ValueError when they contradict."""
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
    return b if a is None else a


def agree(a: Shape, b: Shape) -> bool:
    """Whether a shape can be what both say."""
    if a is None or b is None:
        return True
    return len(a) == len(b) and all(None in (x, y) or x == y for x, y in zip(a, b, strict=True))


def merge(a: Shape, b: Shape) -> Shape:
    """What both shapes say together; ValueError when they contradict."""
    if a is None or b is None:
        return b if a is None else a
    if not agree(a, b):
        raise ValueError(f"Shapes {a} and {b} are not compatible")
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """What several shapes have in common."""
    if any(shape is None for shape in shapes) or len({len(s or ()) for s in shapes}) > 1:
        return None
    return tuple(
        sizes[0] if len(set(sizes)) == 1 else None
        for sizes in zip(*(shape or () for shape in shapes), strict=True)
    )


def merged(op: OperationView, indices: Iterable[int]) -> Shape:
    """The one shape the inputs at `indices` share."""
    shape: Shape = None
    for index in indices:
        shape = merged_shapes(op, shape, op.inputs[index].sizes)
    return shape


def merged_shapes(op: OperationView, a: Shape, b: Shape) -> Shape:
    """What two shapes say together; ValueError naming the operation when they contradict."""
    if a is None or b is None:
        return b if a is None else a
    same_rank = len(a) == len(b)
    require(op, same_rank, f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        words = f"Dimension {i} in both shapes must be equal, but are {x} and {y}."
        require(op, None in (x, y) or x == y, f"{words} Shapes are {shown(a)} and {shown(b)}.")
    return merge(a, b)


def shown(shape: Shape) -> str:
    """A shape as TensorFlow's runtime writes it."""
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"


def is_static(shape: Shape) -> TypeGuard[tuple[int, ...]]:
    """Whether every size is known."""
    return shape is not None and None not in shape


def count(shape: Iterable[Dim]) -> Dim:
    """The number of elements, None when a size is unknown."""
    sizes = tuple(shape)
    if is_static(sizes):
        return prod(sizes)
    return 0 if 0 in sizes else None


def plus(*dims: Dim) -> Dim:
    """The sum of sizes, None when one is unknown."""
    return sum(dims) if is_static(dims) else None


def times(*dims: Dim) -> Dim:
    """The product of sizes, None when one is unknown."""
    return prod(dims) if is_static(dims) else None


def divided(dim: Dim, by: int) -> Dim:
    """The whole part of a size divided by a number."""
    return None if dim is None or by <= 0 else dim // by


def broadcast_dims(a: Dim, b: Dim) -> Dim:
    """The size of a dimension that broadcasts `a` with `b`."""
    if a is not None and b is not None:
        if a != b and 1 not in (a, b):
            raise ValueError(f"Dimensions must be equal, but are {a} and {b}")
        return b if a == 1 else a
    size = b if a is None else a
    return size if size is not None and size > 1 else None


def broadcast_ranked(*shapes: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The shape to which shapes of known rank broadcast; ValueError when they cannot."""
    result: tuple[Dim, ...] = ()
    for shape in shapes:
        rank = max(len(result), len(shape))
        a = (1,) * (rank - len(result)) + result
        b = (1,) * (rank - len(shape)) + shape
        result = tuple(broadcast_dims(x, y) for x, y in zip(a, b, strict=True))
    return result


def broadcast(*shapes: Shape) -> Shape:
    """The shape to which all broadcast together; ValueError when they cannot."""
    ranked = [shape for shape in shapes if shape is not None]
    return broadcast_ranked(*ranked) if len(ranked) == len(shapes) else None


def broadcasting(op: OperationView) -> Shape:
    """The shape function of element-wise ops: all inputs broadcast together."""
    try:
        return broadcast(*(tensor.sizes for tensor in op.inputs))
    except ValueError as error:
        shapes = ", ".join(str(tensor.sizes) for tensor in op.inputs)
        raise ValueError(f"{op.type} '{op.name}': {error}, input shapes: {shapes}") from None


def axis_of(op: OperationView, axis: int, rank: int, words: str | None = None) -> int:
    """`axis` counted from the front; ValueError unless it is in [-rank, rank).

    `words` are TensorFlow's; without any they are those of ops that ask for a rank.
    """
    if words is None:
        words = f"Shape must be at least rank {axis + 1 if axis >= 0 else -axis} but is rank {rank}"
    require(op, -rank <= axis < rank, words)
    return axis % rank


def value(op: OperationView, index: int) -> np.ndarray | None:
    """The value of input `index` when all of it is known."""
    return whole(op.inputs[index].value)


def whole(array: np.ndarray | None) -> np.ndarray | None:
    """A value that is known in all its elements, else None."""
    if array is None or (array.dtype == object and any(item is None for item in array.flat)):
        return None
    return array


def integers(op: OperationView, index: int) -> list[int] | None:
    """The numbers of input `index` in order, None when not all are known."""
    array = value(op, index)
    return None if array is None else [int(item) for item in array.flat]


def vector_size(op: OperationView, index: int) -> int:
    """How many elements input `index`, a vector with one for each dimension, has.

    Raises UnknownRank when that is not known.
    """
    shape = op.inputs[index].sizes
    if shape is None or not shape or shape[0] is None:
        raise UnknownRank
    require(op, shape[0] <= MAX_RANK, f"rank must be <= {MAX_RANK}, got {shape[0]}")
    return shape[0]


def as_shape(op: OperationView, index: int) -> Shape:
    """The shape that input `index` spells: None where a number is unknown or -1.

    A vector of unknown numbers still gives the rank.
    """
    tensor = op.inputs[index]
    array = tensor.value
    if array is not None and array.ndim == 0 and array.item() == -1:
        return None
    if array is None:
        if tensor.sizes is None or len(tensor.sizes) != 1 or tensor.sizes[0] is None:
            return None
        return (None,) * vector_size(op, index)
    return shape_from(op, [None if item is None else int(item) for item in array.flat])


def shape_from(op: OperationView, sizes: Sequence[Dim]) -> Shape:
    """A shape from numbers of the graph: -1 is an unknown size, less is an error."""
    require(op, len(sizes) <= MAX_RANK, f"rank must be <= 254, got {len(sizes)}")
    for size in sizes:
        if size is not None and size < -1:
            raise ValueError(f"Invalid value in tensor used for shape: {size}")
    return tuple(None if size == -1 else size for size in sizes)
