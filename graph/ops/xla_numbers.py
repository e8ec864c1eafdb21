"""Which dimensions an XLA operation works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from ..core.shapes import require

if TYPE_CHECKING:
    from ...schema.proto import Message
    from ..core.protocols import OperationView

T = TypeVar("T")


class Windows(NamedTuple):
    """The dimensions of windows that are read out of a tensor, or written into it.

    Attributes:
        windows: dimensions of the windows in the result or the updates.
        dropped: dimensions of the operand that windows have one element of and that are not there.
        targets: the operand's dimension that each part of an index vector is of.
        index_axis: the dimension of the indices that their vectors lie along.
        batching: the operand's dimension -> that of the indices which it goes along with.
    """

    windows: list[int]
    dropped: list[int]
    targets: list[int]
    index_axis: int
    batching: dict[int, int]


def dimension_numbers(op: OperationView, kind: str) -> Message:
    """The attribute of a "Dot", "Convolution", "Gather" or "Scatter".

    Raises:
        ValueError: it is not such a message.
    """
    from google.protobuf.message import DecodeError

    from ...schema.proto import message

    content = cast("bytes", op.get_attr("dimension_numbers"))
    try:
        return message(f"{kind}DimensionNumbers").FromString(content)
    except DecodeError as error:
        words = f"dimension_numbers must be a {kind}DimensionNumbers, got {content!r:.40}"
        raise ValueError(f"{op.type} '{op.name}': {words}") from error


def _checked(op: OperationView, numbers: Windows, rank: int) -> Windows:
    """The numbers; an error where one is not of a dimension of the operand."""
    for name, axes in (("dropped", numbers.dropped), ("indexed", numbers.targets)):
        is_valid = all(0 <= axis < rank for axis in axes) and len(set(axes)) == len(axes)
        require(op, is_valid, f"{name} dimensions must be among {rank}, each once, got {axes}")
    return numbers


def gather_numbers(op: OperationView, rank: int) -> Windows:
    """The dimensions of an XlaGather whose operand has `rank` of them."""
    numbers = dimension_numbers(op, "Gather")
    batching = [*numbers.operand_batching_dims]
    windows = Windows(
        [*numbers.offset_dims],
        sorted([*numbers.collapsed_slice_dims, *batching]),
        [*numbers.start_index_map],
        numbers.index_vector_dim,
        dict(zip(batching, numbers.start_indices_batching_dims, strict=True)),
    )
    return _checked(op, windows, rank)


def scatter_numbers(op: OperationView, rank: int) -> Windows:
    """The dimensions of an XlaScatter whose operand has `rank` of them."""
    numbers = dimension_numbers(op, "Scatter")
    batching = [*numbers.input_batching_dims]
    windows = Windows(
        [*numbers.update_window_dims],
        sorted([*numbers.inserted_window_dims, *batching]),
        [*numbers.scatter_dims_to_operand_dims],
        numbers.index_vector_dim,
        dict(zip(batching, numbers.scatter_indices_batching_dims, strict=True)),
    )
    return _checked(op, windows, rank)


def permuted(numbers: Windows, batch: Iterable[T], windows: Sequence[T]) -> tuple[T, ...]:
    """What batch dimensions and those of windows have, in the order of the result."""
    others = list(batch)
    rank = len(windows) + len(others)
    if len(set(numbers.windows)) < len(windows) or not set(numbers.windows) <= set(range(rank)):
        raise ValueError(f"window dimensions must be among {rank}, got {numbers.windows}")
    inner, outer = iter(windows), iter(others)
    return tuple(next(inner) if i in numbers.windows else next(outer) for i in range(rank))
