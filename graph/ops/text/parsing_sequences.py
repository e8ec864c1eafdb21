"""Messages of tf.train.SequenceExample as tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from ....schema import proto
from ...core.evaluate import as_results
from ...core.registry import op
from ...core.shapes import shown
from .parsing import (
    Features,
    Wanted,
    Where,
    as_array,
    dense_value,
    fail,
    names_of,
    parse_features,
    requested,
    splits_of,
    texts,
    values_of,
)

if TYPE_CHECKING:
    from ...core.protocols import OperationView
    from ...core.shapes import Shape
    from .parsing import Items


class _FeatureList(Protocol):
    feature: Sequence[object]


FeatureLists: TypeAlias = "Mapping[str, _FeatureList]"


class _Batch(NamedTuple):
    contexts: list[Features]
    lists: list[FeatureLists]
    wheres: list[Where]
    is_single: bool


def _batch(serialized: np.ndarray, names: np.ndarray) -> _Batch:
    """The contexts and lists of every message."""
    contents = cast("list[bytes]", serialized.ravel().tolist())
    is_single = serialized.ndim == 0
    listed = names_of(names, len(contents))
    batch = _Batch([], [], [Where(name, i) for i, name in enumerate(listed)], is_single)
    for content, where in zip(contents, batch.wheres, strict=True):
        try:
            message = proto.parse("SequenceExample", content)
        except ValueError:
            words = f"Invalid protocol message input, example id: {where.name}"
            raise fail(words) from None
        batch.contexts.append(cast("Features", message.context.feature))  # pyright: ignore[reportAttributeAccessIssue]
        batch.lists.append(cast("FeatureLists", message.feature_lists.feature_list))  # pyright: ignore[reportAttributeAccessIssue]
    return batch


def _steps(
    lists: FeatureLists, key: str, dtype: np.dtype, where: Where
) -> list[Items | None] | None:
    """The values of every step of a list; None where it is not there."""
    if key not in lists:
        return None
    steps: list[Items | None] = []
    for i, feature in enumerate(lists[key].feature):
        at = f"Name: {where.name}, Feature list: {key}, Index: {i}."
        steps.append(values_of(cast("None", feature), dtype, at, "list"))
    return steps


def _sparse(batch: _Batch, key: str, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Places, values and shape of a list of several messages."""
    positions: list[tuple[int, ...]] = []
    values: list[object] = []
    most_steps = most_items = 0
    for row, (lists, where) in enumerate(zip(batch.lists, batch.wheres, strict=True)):
        steps = _steps(lists, key, dtype, where) or []
        most_steps = max(most_steps, len(steps))
        for step, items in enumerate(steps):
            elements = items or []
            most_items = max(most_items, len(elements))
            positions += [(row, step, i) for i in range(len(elements))]
            values += elements
    at = np.array(positions, np.int64).reshape(-1, 3)
    shape = np.array([len(batch.lists), most_steps, most_items], np.int64)
    first = 1 if batch.is_single else 0
    return at[:, first:], as_array(values, dtype), shape[first:]


def _row(
    items: Items, key: str, dtype: np.dtype, shape: Sequence[int | None], where: Where
) -> np.ndarray:
    """The values of a step in their shape."""
    if len(items) != prod(n or 1 for n in shape):
        words = f"values size: {len(items)} but output shape: {shown(tuple(shape))}"
        raise fail(f"{where.key(key)}  Number of values != expected.  {words}")
    return dense_value(items, key, dtype, shape, np.zeros(0, dtype), where)


def _dense(
    batch: _Batch, key: str, dtype: np.dtype, shape: Sequence[int | None], may_lack: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The values of a list of several messages, filled up with zeros, and their lengths."""
    rows: list[list[np.ndarray]] = []
    for lists, where in zip(batch.lists, batch.wheres, strict=True):
        steps = _steps(lists, key, dtype, where)
        if steps is None and not may_lack:
            raise fail(
                f"Name: {where.name}, Feature list '{key}' is required but could not be found.  "
                "Did you mean to include it in feature_list_dense_missing_assumed_empty or "
                "feature_list_dense_defaults?"
            )
        rows.append(
            [
                _row(items or [], key, dtype, shape, Where(where.name, i))
                for i, items in enumerate(steps or [])
            ]
        )
    lengths = np.array([*map(len, rows)], np.int64)
    sizes = tuple(n or 0 for n in shape)
    whole = np.empty((len(rows), lengths.max(initial=0), *sizes), dtype)
    whole[...] = b"" if dtype.hasobject else 0
    for target, row in zip(whole, rows, strict=True):
        for i, value in enumerate(row):
            target[i, ...] = value  # the dots, for strings of rank 0
    return (whole[0], lengths[0]) if batch.is_single else (whole, lengths)


def _ragged(
    batch: _Batch, key: str, dtype: np.dtype, split_type: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, the splits of messages into steps, and those of steps into values."""
    counts: list[int] = []
    lengths: list[int] = []
    values: list[object] = []
    for lists, where in zip(batch.lists, batch.wheres, strict=True):
        steps = _steps(lists, key, dtype, where) or []
        counts.append(len(steps))
        for items in steps:
            lengths.append(len(items or []))
            values += items or []
    outer = np.zeros(0, split_type) if batch.is_single else splits_of(counts, split_type)
    return as_array(values, dtype), outer, splits_of(lengths, split_type)


def _parse_lists(
    batch: _Batch, request: Wanted, may_lack: Sequence[bool], has_lengths: bool
) -> list[np.ndarray]:
    """The outputs for lists: sparse ones, dense ones, ragged ones."""
    sparse = [_sparse(batch, key, dtype) for key, dtype in request.sparse]
    dense = [
        _dense(batch, key, dtype, shape, lacks)
        for (key, dtype, shape, _), lacks in zip(request.dense, may_lack, strict=True)
    ]
    ragged = [_ragged(batch, *row) for row in request.ragged]
    outputs = [row[i] for i in range(3) for row in sparse]
    outputs += [row[i] for i in range(2 if has_lengths else 1) for row in dense]
    return [*outputs, *(row[i] for i in range(3) for row in ragged)]


def _no_defaults(count: int) -> list[np.ndarray]:
    return [np.zeros(0)] * count


def _v2_shapes(op: OperationView) -> list[Shape]:
    """Those of dense features; the others have as many elements as there are."""
    batch = op.inputs[0].sizes
    rank = None if batch is None else len(batch)

    def many(name: str) -> Sequence[object]:
        return cast("Sequence[object]", op.get_attr(name))

    def deeper(n: int) -> int | None:
        return None if rank is None else rank + n

    def under(shape: Shape, outer: tuple[int | None, ...]) -> Shape:
        return None if batch is None or shape is None else (*batch, *outer, *shape)

    def sparse(types: str, n: int) -> list[Shape]:
        count = len(many(types))
        positions, values, shapes = (None, deeper(n)), (None,), (deeper(n),)
        return [*[positions] * count, *[values] * count, *[shapes] * count]

    context = [under(cast("Shape", s), ()) for s in many("context_dense_shapes")]
    lists = [under(cast("Shape", s), (None,)) for s in many("feature_list_dense_shapes")]
    n_context = len(many("context_ragged_value_types"))
    n_lists = len(many("feature_list_ragged_value_types"))
    splits: Shape = (None,)
    return [
        *sparse("context_sparse_types", 1), *context, *[splits] * (2 * n_context),
        *sparse("feature_list_sparse_types", 2), *lists, *[batch] * len(lists),
        *[splits] * (3 * n_lists),
    ]  # fmt: skip


@op("ParseSequenceExampleV2", shape=_v2_shapes)
def parse_sequence_example_v2(
    serialized: np.ndarray,
    names: np.ndarray,
    context_sparse: np.ndarray,
    context_dense: np.ndarray,
    context_ragged: np.ndarray,
    list_sparse: np.ndarray,
    list_dense: np.ndarray,
    list_ragged: np.ndarray,
    may_lack: np.ndarray,
    *defaults: np.ndarray,
    Tcontext_dense: Sequence[object],
    context_sparse_types: Sequence[object],
    context_ragged_value_types: Sequence[object],
    context_ragged_split_types: Sequence[object],
    context_dense_shapes: Sequence[object],
    feature_list_dense_types: Sequence[object],
    feature_list_sparse_types: Sequence[object],
    feature_list_ragged_value_types: Sequence[object],
    feature_list_ragged_split_types: Sequence[object],
    feature_list_dense_shapes: Sequence[object],
) -> np.ndarray | Sequence[np.ndarray]:
    """The contexts and feature lists of SequenceExamples."""
    batch = _batch(serialized, names)
    keys = [texts(x) for x in (context_sparse, context_dense, context_ragged)]
    types = (
        context_sparse_types, Tcontext_dense, context_ragged_value_types,
        context_ragged_split_types,
    )  # fmt: skip
    request = requested(keys, types, context_dense_shapes, defaults)
    context = parse_features(batch.contexts, batch.wheres, request, batch.is_single)
    list_keys = [texts(x) for x in (list_sparse, list_dense, list_ragged)]
    list_types = (
        feature_list_sparse_types, feature_list_dense_types, feature_list_ragged_value_types,
        feature_list_ragged_split_types,
    )  # fmt: skip
    nothing = _no_defaults(len(feature_list_dense_types))
    lists = requested(list_keys, list_types, feature_list_dense_shapes, nothing)
    return as_results([*context, *_parse_lists(batch, lists, may_lack.tolist(), True)])


@op("ParseSingleSequenceExample", shape=lambda op: [None] * len(op.outputs))
def parse_single_sequence_example(
    serialized: np.ndarray,
    may_lack: np.ndarray,
    *parts: np.ndarray,
    context_sparse_types: Sequence[object],
    Tcontext_dense: Sequence[object],
    feature_list_dense_types: Sequence[object],
    context_dense_shapes: Sequence[object],
    feature_list_sparse_types: Sequence[object],
    feature_list_dense_shapes: Sequence[object],
) -> np.ndarray | Sequence[np.ndarray]:
    """The context and feature lists of one SequenceExample, each key an input of its own."""
    *remaining, name = parts
    types = (
        context_sparse_types, Tcontext_dense, feature_list_sparse_types, feature_list_dense_types,
    )  # fmt: skip
    keys: list[list[str]] = []
    for row in types:
        keys.append([texts(x)[0] for x in remaining[: len(row)]])
        remaining = remaining[len(row) :]
    batch = _batch(serialized, name)
    request = requested([*keys[:2], []], (*types[:2], (), ()), context_dense_shapes, remaining)
    context = parse_features(batch.contexts, batch.wheres, request, batch.is_single)
    nothing = _no_defaults(len(types[3]))
    lists = requested([*keys[2:], []], (*types[2:], (), ()), feature_list_dense_shapes, nothing)
    lacking = set(texts(may_lack))
    flags = [key in lacking for key in keys[3]]
    return as_results([*context, *_parse_lists(batch, lists, flags, False)])
