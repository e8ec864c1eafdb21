"""Functions of the innermost values of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from .broadcasting import broadcast
from .operands import as_ragged, rank_of, same_index_type, wrapped

if TYPE_CHECKING:
    from ...core.typing import TensorLike

Function = Callable[..., object]
_ZERO = np.int32(0)
INCOMPATIBLE = (
    "RowPartition._merge_precomputed_encodings: partitions have incompatible row_splits; ragged "
    "arguments must have the same rows"
)
"""What is wrong with ragged tensors whose rows are not the same."""


def of_flat_values(function: Function, *operands: object, **named: object) -> RaggedTensor:
    """`function` of the innermost values of ragged operands, in rows as theirs.

    Other operands are numbers, or tensors that go with the innermost values. Rows of different
    form broadcast, where dimensions of equal sizes stand against ragged ones.

    Raises:
        ValueError: Rows must broadcast, and the rank of an operand is not known.
        TypeError: An operand is sparse.
        InvalidArgumentError: When it runs, unless all have the same rows.
    """
    names = [*range(len(operands)), *named]
    items = [*operands, *named.values()]
    positions = [i for i, x in enumerate(items) if is_ragged(x)]
    if any(isinstance(x, SparseTensor) for x in items):
        raise TypeError("sparse and ragged tensors do not go together; see RaggedTensor.to_sparse")
    ragged = [cast("RaggedTensor", as_ragged(cast("RaggedTensor", items[i]))) for i in positions]
    for i, x in zip(positions, ragged, strict=True):
        items[i] = x
    first = max(ragged, key=lambda x: x.ragged_rank)
    wide = [i for i, x in enumerate(items) if i not in positions and _is_wide(x, first)]
    if wide or not all(_is_alike(first, x) for x in ragged):
        chosen = [*positions, *wide]
        tensors = [
            as_ragged(cast("TensorLike", items[i]), preferred_dtype=first.dtype) for i in chosen
        ]
        parts, rows = broadcast(tensors)
        for i, part in zip(chosen, parts, strict=True):
            items[i] = part
    else:
        rows, splits = _checked_rows(ragged)
        for i, x in zip(positions, ragged, strict=True):
            items[i] = x.flat_values
        if splits:
            items[positions[0]] = checked(ragged[0].flat_values, splits, INCOMPATIBLE)
    count = len(operands)
    keywords = {str(name): x for name, x in zip(names[count:], items[count:], strict=True)}
    return wrapped(cast("Tensor", function(*items[:count], **keywords)), rows)


def mapped(
    op: Callable[..., object], args: Sequence[object], kwargs: dict[str, object]
) -> RaggedTensor:
    """`op` of the innermost values of ragged arguments, and of those in lists, in the same rows.

    Raises:
        ValueError: As far as it is known, the arguments have other rows than one another, or `op`
            gives other than one item for each value.
        InvalidArgumentError: When it runs, unless all have the same rows.
    """
    names = [*range(len(args)), *kwargs]
    items: list[object] = [
        list(cast("Sequence[object]", x)) if isinstance(x, (list, tuple)) else x
        for x in (*args, *kwargs.values())
    ]
    lists = [cast("list[object]", x) for x in items if isinstance(x, list)]
    positions = [(row, i) for row in (items, *lists) for i, x in enumerate(row) if is_ragged(x)]
    ragged = [cast("RaggedTensor", as_ragged(cast("RaggedTensor", row[i]))) for row, i in positions]
    if len({x.ragged_rank for x in ragged}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    counts = {x.flat_values.get_shape()[:1].as_list()[0] for x in ragged} - {None}
    if len(counts) > 1:
        raise ValueError(
            "Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got "
            f"sizes: {counts}"
        )
    rows, conditions = _checked_rows(ragged)
    for (row, i), x in zip(positions, ragged, strict=True):
        row[i] = x.flat_values
    if conditions:
        row, i = positions[0]
        row[i] = checked(ragged[0].flat_values, conditions, INCOMPATIBLE)
    keywords = {str(name): x for name, x in zip(names, items, strict=True) if name in kwargs}
    result = convert_to_tensor(cast("TensorLike", op(*items[: len(args)], **keywords)))
    shape = result.get_shape()
    known = None if not shape.rank else shape.as_list()[0]
    expected = next(iter(counts), None)
    if shape.rank == 0 or (None not in (known, expected) and known != expected):
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same "
            f"outer-dimension size as flat_values of any ragged inputs. (output shape: {shape}; "
            f"expected outer dimension size: {expected})"
        )
    return wrapped(result, rows)


def flat_operands(*operands: object) -> tuple[Tensor, ...]:
    """The innermost values of ragged operands, in rows that are checked to be the same."""
    values: list[Tensor] = []

    def collect(*parts: object) -> Tensor:
        values.extend(convert_to_tensor(cast("TensorLike", part)) for part in parts)
        return values[0]

    of_flat_values(collect, *operands)
    return tuple(values)


def _is_wide(x: object, first: RaggedTensor) -> bool:
    """Whether a dense operand has dimensions that stand against ragged ones."""
    if not isinstance(x, (Tensor, np.ndarray, list, tuple)):
        return False
    rank = rank_of(convert_to_tensor(cast("TensorLike", x)))
    if rank is None or rank == 0:
        return False
    whole = rank_of(first)
    return whole is not None and rank >= whole - first.ragged_rank


def _is_alike(first: RaggedTensor, other: RaggedTensor) -> bool:
    """Whether two have rows of one form, so that they must be the same ones."""
    if first is other or first.nested_row_splits == other.nested_row_splits:
        return True
    ranks = rank_of(first), rank_of(other)
    if first.ragged_rank != other.ragged_rank or ranks[0] != ranks[1] or None in ranks:
        return False
    if any(rows.uniform is not None for x in (first, other) for rows in x.nested_rows):
        return False
    counts = first.rows.known_count, other.rows.known_count
    return None in counts or counts[0] == counts[1]


def _checked_rows(ragged: Sequence[RaggedTensor]) -> tuple[Sequence[RowPartition], list[Tensor]]:
    """The rows of ragged tensors, and the conditions that they are those of all."""
    first = same_index_type(ragged)[0]
    rows = cast("RaggedTensor", first).nested_rows
    conditions: list[Tensor] = []
    for other in ragged[1:]:
        for a, b in zip(ragged[0].nested_row_splits, other.nested_row_splits, strict=True):
            if a is not b:
                conditions.append(same_splits(a, b))
    return rows, conditions


def same_splits(a: Tensor, b: Tensor) -> Tensor:
    """Whether two lists of splits are equal."""
    wide = [ops.Cast(x, DstT=np.dtype(np.int64)) for x in (a, b)]
    equal = ops.All(ops.Equal(ops.Shape(wide[0]), ops.Shape(wide[1])), _ZERO)
    shorter = ops.Minimum(ops.Size(wide[0]), ops.Size(wide[1]))
    starts = [ops.Slice(x, np.zeros(1, np.int32), ops.ExpandDims(shorter, 0)) for x in wide]
    return ops.LogicalAnd(equal, ops.All(ops.Equal(*starts), _ZERO))
