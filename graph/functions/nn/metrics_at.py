"""TF1's metrics at thresholds, and among the k highest scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import control_dependencies
from ...variables.variable_scope import variable_scope
from ..array import array
from ..array.casting import cast
from ..checks import assert_greater_equal, assert_less_equal
from ..math.reductions import reduce_sum
from .metrics import COMMON, LOCAL, Collections, Metric, metric_variable, recorded
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
_AT_THRESHOLDS = f"""
Args:
    labels, predictions: Of one shape; labels cast to bool, predictions real floats in [0, 1].
    thresholds: A list of n numbers.
{COMMON}
Returns [n] values so far, float32, and the operation that adds a batch and gives those then.
{LOCAL}

Raises ValueError where shapes do not go together; when it runs, InvalidArgumentError for
predictions that are not in [0, 1]."""


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
    metric.__doc__ = f"{doc} of which predictions count as true.\n{_AT_THRESHOLDS}"
    return metric


true_positives_at_thresholds = _counts(
    "true_positives", "How often true was predicted rightly, for each threshold above"
)
false_negatives_at_thresholds = _counts(
    "false_negatives", "How often true was not predicted, for each threshold above"
)
false_positives_at_thresholds = _counts(
    "false_positives", "How often true was predicted wrongly, for each threshold above"
)
true_negatives_at_thresholds = _counts(
    "true_negatives", "How often false was predicted rightly, for each threshold above"
)


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
    metric.__doc__ = f"{doc}, for each threshold of predictions.\n{_AT_THRESHOLDS}"
    return metric


precision_at_thresholds = _quotients(
    "precision", "false_positives", "Of what is predicted true, the part that is"
)
recall_at_thresholds = _quotients(
    "recall", "false_negatives", "Of what is true, the part that is predicted"
)


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
    """The recall at the threshold whose specificity is nearest to `specificity`, so far.

    Args:
        labels, predictions: Of one shape; labels cast to bool, predictions real floats in [0, 1].
        specificity: From 0 to 1: of what is false, the part predicted so.
        weights: A factor for each element, or 1 to broadcast.
        num_thresholds: How many thresholds from 0 to 1 are tried.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.

    Raises ValueError for a number out of range and for shapes that do not go together; when it
    runs, InvalidArgumentError for predictions that are not in [0, 1].
    """
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
    """The specificity at the threshold whose recall is nearest to `sensitivity`, so far.

    Args:
        labels, predictions: Of one shape; labels cast to bool, predictions real floats in [0, 1].
        sensitivity: From 0 to 1: of what is true, the part predicted so.
        weights: A factor for each element, or 1 to broadcast.
        num_thresholds: How many thresholds from 0 to 1 are tried.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.

    Raises ValueError for a number out of range and for shapes that do not go together; when it
    runs, InvalidArgumentError for predictions that are not in [0, 1].
    """
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
