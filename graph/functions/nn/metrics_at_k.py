"""TF1's metrics of the k highest scores of each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..array import array
from ..array.casting import cast
from ..math.reductions import reduce_any, reduce_sum
from ..sparse.tensors import reshape, to_dense
from .metrics import LOCAL, Collections, Metric, metric_variable, recorded

if TYPE_CHECKING:
    from ...core.typing import TensorLike


_OF_BEST = f"""
    weights: [...]: a factor for each row, or 1 to broadcast; rows of weight 0 do not count.
    metrics_collections, updates_collections: Where the value and the operation are put.
    name: Of the operations.

Returns the value so far, float64, NaN before any counts, and the operation that adds a batch and
gives the value then. {LOCAL}

Raises ValueError where shapes do not go together."""


class Labels(NamedTuple):
    """The classes that are right for each row, and which of them there are; None for all."""

    classes: Tensor
    present: Tensor | None


LabelsLike: TypeAlias = "TensorLike | SparseTensor"
"""Labels as callers have them."""


def _labels(labels: LabelsLike, guesses: Tensor) -> Labels:
    """Labels as dense ones; sparse rows may have any number of them."""
    if isinstance(labels, SparseTensorValue):
        labels = SparseTensor(*map(np.asarray, labels))
    if not isinstance(labels, SparseTensor):
        return Labels(_rows(labels, guesses), None)
    if guesses.sizes is not None and labels.get_shape().ndims == len(guesses.sizes) - 1:
        one = np.ones(1, np.int64)  # a class for each row
        labels = reshape(labels, ops.ConcatV2([labels.dense_shape, one], np.int32(0)))
    positions = SparseTensor(labels.indices, ops.OnesLike(labels.values), labels.dense_shape)
    present = ops.NotEqual(to_dense(positions), np.zeros((), labels.dtype))
    return Labels(cast(to_dense(labels), np.int64), present)


def _rows(labels: TensorLike, guesses: Tensor) -> Tensor:
    """Labels with a last dimension of the classes that are right for each row."""
    tensor = cast(convert_to_tensor(labels), np.int64)
    if tensor.sizes is not None and guesses.sizes is not None:
        if len(tensor.sizes) == len(guesses.sizes) - 1:
            return array.expand_dims(tensor, -1)
        if len(tensor.sizes) != len(guesses.sizes):
            raise ValueError(
                f"Unexpected labels shape {tensor.get_shape()} for predictions shape "
                f"{guesses.get_shape()}. Predictions rank should be the same rank as labels rank "
                "or labels rank plus one ."
            )
    return tensor


def _hits(rows: Labels, guesses: Tensor, class_id: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """Which guesses are right, which are counted, and which labels are counted and missed."""
    labels, present = rows
    equal = ops.Equal(array.expand_dims(guesses, -1), array.expand_dims(labels, -2))
    again = ops.Equal(array.expand_dims(labels, -1), array.expand_dims(labels, -2))
    if present is not None:
        equal = ops.LogicalAnd(equal, array.expand_dims(present, -2))
        again = ops.LogicalAnd(again, array.expand_dims(present, -2))
    right = reduce_any(equal, -1)
    counted = ops.OnesLike(right)
    size = labels.sizes[-1] if labels.sizes else None
    if size is None:
        numbers = ops.Range(np.int32(0), ops.Shape(labels)[-1], np.int32(1))
        earlier = ops.Less(
            ops.ExpandDims(numbers, np.int32(0)), ops.ExpandDims(numbers, np.int32(1))
        )
    else:
        earlier = np.tril(np.ones((size, size), bool), -1)
    is_first = ops.LogicalNot(reduce_any(ops.LogicalAnd(again, earlier), -1))
    missed = ops.LogicalAnd(is_first, ops.LogicalNot(reduce_any(equal, -2)))
    if present is not None:
        missed = ops.LogicalAnd(missed, present)
    if class_id is not None:
        selected = np.int64(class_id)
        counted = ops.Equal(guesses, selected)
        missed = ops.LogicalAnd(missed, ops.Equal(labels, selected))
    return ops.LogicalAnd(right, counted), counted, missed


def _summed(flags: Tensor, weights: Tensor | None, name: str) -> tuple[Tensor, Tensor]:
    """How many flags there are: so far, and after this batch."""
    counts = reduce_sum(cast(flags, np.float64), -1)
    if weights is not None:
        counts = ops.Mul(counts, cast(weights, np.float64))
    count = metric_variable((), np.float64, name)
    return count.value(), convert_to_tensor(count.assign_add(reduce_sum(counts)))


_TOP_K = """
Args:
    labels: [..., m] right classes of each row, int64; [...] of one each; or a SparseTensor, whose
        rows may have any number of them.
    predictions_idx: [..., k], int64: the classes that are guessed.
    k: How many these are; only for names.
    class_id: The one class that counts; all with None."""


def _among_best(name: str, is_recall: bool, doc: str) -> Callable[..., Metric]:
    def metric(
        labels: LabelsLike,
        predictions_idx: TensorLike,
        k: int | None = None,
        class_id: int | None = None,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        at = "k" if k is None else k
        suffix = f"_at_{at}" if class_id is None else f"_at_{at}_class{class_id}"
        default = f"{metric.__name__.removesuffix('_at_top_k')}{suffix}"
        with name_scope(name, default, [predictions_idx, labels, weights]) as scope:
            guesses = cast(convert_to_tensor(predictions_idx), np.int64)
            if guesses.sizes is not None and len(guesses.sizes) < 2:
                raise ValueError(f"Shape must be at least rank 2 but is rank {len(guesses.sizes)}")
            factors = None if weights is None else convert_to_tensor(weights)
            right, counted, missed = _hits(_labels(labels, guesses), guesses, class_id)
            hits, new_hits = _summed(right, factors, f"true_positive{suffix}")
            wrong = missed if is_recall else ops.LogicalAnd(counted, ops.LogicalNot(right))
            label = "false_negative" if is_recall else "false_positive"
            others, new_others = _summed(wrong, factors, f"{label}{suffix}")
            value = ops.RealDiv(hits, hits + others, name=scope)
            update = ops.RealDiv(new_hits, new_hits + new_others, name="update")
            return recorded(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{name}_at_top_k"
    metric.__doc__ = f"{doc}, so far.\n{_TOP_K}{_OF_BEST}"
    return metric


precision_at_top_k = _among_best(
    "precision", False, "Of the classes that are guessed, the part that is right"
)
recall_at_top_k = _among_best(
    "recall", True, "Of the classes that are right, the part that is guessed"
)


def precision_at_k(
    labels: LabelsLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the `k` classes with the highest scores of each row, the part that is right, so far.

    Args:
        labels: [..., m] right classes of each row, int64; [...] of one each; or a SparseTensor.
        predictions: [..., classes], real floats: their scores.
        k: From 1 to the number of classes.
        class_id: The one class that counts; all with None.
        weights: [...]: a factor for each row, or 1 to broadcast.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of the operations.

    Returns and raises what `precision_at_top_k` does, and ValueError for a `k` that is too large.
    """
    _, guesses = ops.TopKV2(predictions, np.int32(k))
    collections = metrics_collections, updates_collections
    return precision_at_top_k(labels, guesses, k, class_id, weights, *collections, name)


def recall_at_k(
    labels: LabelsLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """Of the classes that are right, the part among the `k` with the highest scores, so far.

    Args:
        labels: [..., m] right classes of each row, int64; [...] of one each; or a SparseTensor.
        predictions: [..., classes], real floats: their scores.
        k: From 1 to the number of classes.
        class_id: The one class that counts; all with None.
        weights: [...]: a factor for each row, or 1 to broadcast.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of the operations.

    Returns and raises what `recall_at_top_k` does, and ValueError for a `k` that is too large.
    """
    _, guesses = ops.TopKV2(predictions, np.int32(k))
    collections = metrics_collections, updates_collections
    return recall_at_top_k(labels, guesses, k, class_id, weights, *collections, name)


sparse_precision_at_k = precision_at_k


def average_precision_at_k(
    labels: LabelsLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over rows of sum(precision at i * is_right(i)) / min(k, right classes), so far.

    Args:
        labels: [..., m] right classes of each row, int64, negative ones for none; or a
            SparseTensor.
        predictions: [..., classes], real floats: their scores; i goes over the `k` highest.
        k: From 1 to the number of classes.
        weights: [...]: a factor for each row, or 1 to broadcast.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of the operations.

    Returns the value so far, float64, and the operation that adds a batch and gives the value then.

    Raises ValueError for a `k` out of range, and for shapes that do not go together.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}. `k` should be >= 1.")
    operands = [predictions, labels, weights]
    with name_scope(name, f"average_precision_at_{k}", operands) as scope:
        _, best = ops.TopKV2(predictions, np.int32(k))
        guesses = cast(best, np.int64)
        rows = _labels(labels, guesses)
        right, _, missed = _hits(rows, guesses, None)
        hits = cast(right, np.float64)
        positions = np.arange(1, k + 1, dtype=np.float64)
        precisions = ops.RealDiv(ops.Cumsum(hits, np.int32(-1)), positions)
        if rows.present is None:  # negative ones only fill the rows
            relevant = cast(ops.GreaterEqual(rows.classes, np.int64(0)), np.float64)
            n_relevant = reduce_sum(relevant, -1)
        else:
            n_relevant = reduce_sum(hits, -1) + reduce_sum(cast(missed, np.float64), -1)
        most = ops.Minimum(n_relevant, np.float64(k))
        average = ops.DivNoNan(reduce_sum(ops.Mul(precisions, hits), -1), most)
        factors = ops.OnesLike(average)
        if weights is not None:
            factors = ops.Mul(factors, cast(convert_to_tensor(weights), np.float64))
        most_variable = metric_variable((), np.float64, "max_1")
        total = metric_variable((), np.float64, "total")
        new_most = most_variable.assign_add(reduce_sum(factors))
        new_total = total.assign_add(reduce_sum(ops.Mul(average, factors)))
        value = ops.DivNoNan(total.value(), most_variable.value(), name="mean")
        update = ops.DivNoNan(new_total, new_most, name=scope)
        return recorded(value, update, metrics_collections, updates_collections)


sparse_average_precision_at_k = average_precision_at_k
