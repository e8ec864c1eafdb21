"""TF1's metrics at thresholds, and among the k highest scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.composite.sparse_tensor import SparseTensor, SparseTensorValue
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, name_scope
from ...variables.variable_scope import variable_scope
from ..array import array
from ..array.casting import cast
from ..checks import assert_greater_equal, assert_less_equal
from ..math.reductions import reduce_any, reduce_sum
from ..sparse.tensors import reshape, to_dense
from .metrics import Collections, Metric, metric_variable, recorded
from .weights import broadcast_weights, matched

if TYPE_CHECKING:
    from ...core.typing import TensorLike

COUNTS = {
    "true_positives": (True, True),
    "false_negatives": (True, False),
    "true_negatives": (False, False),
    "false_positives": (False, True),
}
"""Name -> the label and the prediction that are counted."""
ROLES = "value", "update_op"
"""What the two results of a metric are called."""
_EPSILON = 1e-7


def _at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None,
    names: Sequence[str],
) -> tuple[list[Tensor], list[Tensor]]:
    """The counts at each threshold: so far, and after this batch."""
    scores = convert_to_tensor(predictions)
    words = "predictions must be in [0, 1]"
    bounds = cast(convert_to_tensor(0.0), scores.dtype), cast(convert_to_tensor(1.0), scores.dtype)
    checks = [
        assert_greater_equal(scores, bounds[0], message=words),
        assert_less_equal(scores, bounds[1], message=words),
    ]
    with control_dependencies(checks):
        scores = cast(ops.Identity(scores, name="checked"), np.float32)
    truth = cast(convert_to_tensor(labels), np.bool_)
    truth, scores, factors = matched(truth, scores, weights)
    limits = np.asarray(thresholds, np.float32).reshape(len(thresholds), 1)
    is_positive = ops.Greater(array.reshape(scores, [1, -1]), limits)
    is_true = ops.LogicalAnd(array.reshape(truth, [1, -1]), np.ones(limits.shape, bool))
    spread = None
    if factors is not None:
        spread = array.reshape(broadcast_weights(factors, scores), [1, -1])
    values: list[Tensor] = []
    updates: list[Tensor] = []
    for name in names:
        label, guess = COUNTS[name]
        hits = ops.LogicalAnd(
            is_true if label else ops.LogicalNot(is_true),
            is_positive if guess else ops.LogicalNot(is_positive),
        )
        numbers = cast(hits, np.float32)
        numbers = numbers if spread is None else ops.Mul(numbers, spread)
        count = metric_variable((len(limits),), np.float32, name)
        values.append(count.value())
        updates.append(convert_to_tensor(count.assign_add(reduce_sum(numbers, 1))))
    return values, updates


def _counts(name: str, doc: str) -> Callable[..., Metric]:
    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        kind = metric.__name__.removesuffix("_at_thresholds")
        with variable_scope(name, kind, [predictions, labels, weights]):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, [kind])
            value = ops.Identity(values[0])
            return recorded(value, updates[0], metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{name}_at_thresholds"
    metric.__doc__ = doc
    return metric


true_positives_at_thresholds = _counts("true_positives", "Of each threshold, true positives.")
false_negatives_at_thresholds = _counts("false_negatives", "Of each threshold, false negatives.")
false_positives_at_thresholds = _counts("false_positives", "Of each threshold, false positives.")
true_negatives_at_thresholds = _counts("true_negatives", "Of each threshold, true negatives.")


def _quotients(kind: str, other: str, doc: str) -> Callable[..., Metric]:
    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        thresholds: Sequence[float],
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, [predictions, labels, weights]):
            names = ["true_positives", other]
            counts = _at_thresholds(labels, predictions, thresholds, weights, names)
            value, update = (
                ops.RealDiv(hits, _EPSILON + hits + more, name=f"{kind}_{role}")
                for role, (hits, more) in zip(ROLES, counts, strict=True)
            )
            return recorded(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{kind}_at_thresholds"
    metric.__doc__ = doc
    return metric


precision_at_thresholds = _quotients("precision", "false_positives", "The precision at each.")
recall_at_thresholds = _quotients("recall", "false_negatives", "The recall at each.")


def _spaced(n: int) -> list[float]:
    """Thresholds from just below 0 to just above 1."""
    inner = [(i + 1) * 1.0 / (n - 1) for i in range(n - 2)]
    return [-_EPSILON, *inner, 1.0 + _EPSILON]


def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under a curve of true over false positives ("ROC") or precision over recall ("PR").

    Args:
        labels: Truth values.
        predictions: Numbers in [0, 1].
        weights: Of the elements.
        num_thresholds: How many points the curve has.
        metrics_collections, updates_collections: Where the results go.
        curve: "ROC" or "PR".
        name: Of the variable scope.
        summation_method: "trapezoidal", "careful_interpolation", "minoring" or "majoring".
        thresholds: The points, in place of even ones.

    Raises:
        ValueError: `curve` or `summation_method` is not known.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
    if summation_method not in HEIGHTS:
        raise ValueError(
            f"Invalid summation_method: {summation_method} summation_method should be "
            "'trapezoidal', 'careful_interpolation', 'minoring', or 'majoring'."
        )
    limits = _spaced(num_thresholds)
    if thresholds is not None:
        limits = [-_EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
    with variable_scope(name, "auc", [labels, predictions, weights]):
        counts = _at_thresholds(labels, predictions, limits, weights, list(COUNTS))
        area = _careful_area if (curve, summation_method) == ("PR", CAREFUL) else _area
        value, update = (
            area(numbers, curve, summation_method, role)
            for role, numbers in zip(ROLES, counts, strict=True)
        )
        return recorded(value, update, metrics_collections, updates_collections)


CAREFUL = "careful_interpolation"
HEIGHTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "trapezoidal": lambda a, b: (a + b) / 2.0,
    CAREFUL: lambda a, b: (a + b) / 2.0,
    "minoring": ops.Minimum,
    "majoring": ops.Maximum,
}
"""How high the curve is between two points."""


def _area(counts: list[Tensor], curve: str, method: str, name: str) -> Tensor:
    """The area under points, in the order of COUNTS."""
    hits, misses, rejections, alarms = counts
    tiny = 1.0e-6
    recalled = ops.RealDiv(hits + tiny, hits + misses + tiny)
    if curve == "ROC":
        x, y = ops.RealDiv(alarms, alarms + rejections + tiny), recalled
    else:
        x, y = recalled, ops.RealDiv(hits + tiny, hits + alarms + tiny)
    heights = HEIGHTS[method](y[:-1], y[1:])
    return reduce_sum(ops.Mul(x[:-1] - x[1:], heights), name=name)


def _careful_area(counts: list[Tensor], curve: str, method: str, name: str) -> Tensor:
    """The area under precision over recall, between points as Davis and Goadrich interpolate."""
    hits, misses, _, alarms = counts
    zero = np.float32(0)
    change, positives = hits[:-1] - hits[1:], hits + alarms
    before, after = positives[:-1], positives[1:]
    slope = ops.DivNoNan(change, ops.Maximum(before - after, zero))
    start = hits[1:] - ops.Mul(slope, after)
    both = ops.LogicalAnd(ops.Greater(before, zero), ops.Greater(after, zero))
    ratio = ops.DivNoNan(before, ops.Maximum(after, zero))
    ratio = ops.SelectV2(both, ratio, ops.OnesLike(after))
    areas = slope * (change + start * ops.Log(ratio))
    rates = ops.DivNoNan(areas, ops.Maximum(hits[1:] + misses[1:], zero))
    return reduce_sum(rates, name=name)


def _best(values: Tensor, keys: Tensor, name: str) -> Tensor:
    """The element of `values` where `keys` is largest."""
    return ops.GatherV2(values, ops.ArgMax(keys, np.int32(0)), np.int32(0), name=name)


def _at_best(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None,
    num_thresholds: int,
    choose: Callable[[Tensor, Tensor, str], Tensor],
) -> list[Tensor]:
    """What `choose` gives for sensitivities and specificities: so far, and after this batch."""
    limits = _spaced(num_thresholds)
    counts = _at_thresholds(labels, predictions, limits, weights, list(COUNTS))
    return [
        choose(
            ops.DivNoNan(hits, hits + misses + _EPSILON),
            ops.DivNoNan(rejections, rejections + alarms + _EPSILON),
            role,
        )
        for role, (hits, misses, rejections, alarms) in zip(ROLES, counts, strict=True)
    ]


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The sensitivity at the threshold whose specificity is nearest to `specificity`."""
    if not 0 <= specificity <= 1:
        raise ValueError(
            "`specificity` must be in the range [0, 1]. Currently, `specificity` got "
            f"{specificity}."
        )
    with variable_scope(name, "sensitivity_at_specificity", [labels, predictions, weights]):

        def choose(sensitivities: Tensor, specificities: Tensor, role: str) -> Tensor:
            return _best(sensitivities, -ops.Abs(specificities - specificity), role)

        value, update = _at_best(labels, predictions, weights, num_thresholds, choose)
        return recorded(value, update, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The specificity at the threshold whose sensitivity is nearest to `sensitivity`."""
    if not 0 <= sensitivity <= 1:
        raise ValueError(
            "`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` got "
            f"{sensitivity}."
        )
    with variable_scope(name, "specificity_at_sensitivity", [labels, predictions, weights]):

        def choose(sensitivities: Tensor, specificities: Tensor, role: str) -> Tensor:
            distance = ops.Abs(sensitivities - sensitivity)
            return _best(specificities[::-1], -distance[::-1], role)  # the last of several

        value, update = _at_best(labels, predictions, weights, num_thresholds, choose)
        return recorded(value, update, metrics_collections, updates_collections)


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
    metric.__doc__ = doc
    return metric


precision_at_top_k = _among_best(
    "precision", False, "Of the classes that are guessed, the part that is right."
)
recall_at_top_k = _among_best("recall", True, "Of the classes that are right, the part guessed.")


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
    """Of the `k` classes with the highest scores, the part that is right."""
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
    """Of the classes that are right, the part among the `k` with the highest scores."""
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
    """The mean over rows of the mean precision at each place, among the `k` best, that is right."""
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
