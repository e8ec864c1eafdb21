"""TF1's metrics: `tf.metrics`. Each gives its value so far and the operation that adds a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import GraphKeys, get_default_graph
from ...core.shapes import Shape, is_static
from ...variables.variable_scope import variable_scope
from ...variables.variables import Updated, Variable
from ..array import array, creation
from ..array.casting import cast
from ..math.reductions import reduce_mean, reduce_sum
from .weights import broadcast_weights, fitted_weights, matched, require_compatible, squeezed

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...core.typing import TensorLike

Collections: TypeAlias = "str | Sequence[str] | None"
Metric: TypeAlias = "tuple[Tensor, Updated]"
"""The value so far, and the value after a batch is added, which adds it."""
COMMON = """\
    weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
    metrics_collections, updates_collections: Where the value and the operation are put.
    name: Of its variables' scope.
"""
"""What metrics say of these arguments."""
LOCAL = "Its variables are local: `tf.local_variables_initializer` sets them to 0."
PAIR = f"""\
Returns the value so far, float32, and the operation that adds a batch and gives the value then.
{LOCAL}

Raises ValueError where shapes do not go together."""
"""What metrics of one number say of their results."""


def metric_variable(shape: Shape, dtype: npt.DTypeLike, name: str) -> Variable:
    """A local variable of zeros that a metric adds to."""
    if not is_static(shape):
        raise ValueError(f"metric '{name}': the shape must be known, got {shape}")
    return Variable(
        lambda: creation.zeros(shape, np.dtype(dtype)),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        name=name,
    )


def recorded(
    value: Tensor,
    update: Updated,
    metrics_collections: Collections,
    updates_collections: Collections,
) -> Metric:
    """Both, after they were put into collections."""
    graph = get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def _ratio(total: Updated, count: Updated, name: str) -> Tensor:
    return ops.DivNoNan(total, ops.Maximum(count, np.zeros((), count.dtype)), name=name)


def _mean(
    values: TensorLike,
    weights: TensorLike | None,
    shape: Callable[[Tensor], Shape],
    reduce: Callable[[Tensor], Tensor],
    names: tuple[str, str],
    collections: tuple[Collections, Collections],
    name: str | None,
) -> Metric:
    """A weighted mean, of all elements or of each."""
    with variable_scope(name, "mean", [values, weights]):
        tensor = cast(convert_to_tensor(values), np.float32)
        total = metric_variable(shape(tensor), np.float32, names[0])
        count = metric_variable(shape(tensor), np.float32, names[1])
        factors = ops.OnesLike(tensor)
        if weights is not None:
            factors = broadcast_weights(fitted_weights(weights, tensor), tensor)
            tensor = ops.Mul(tensor, factors)
        update_total = total.assign_add(reduce(tensor))
        update_count = count.assign_add(reduce(factors))
        value = _ratio(total.value(), count.value(), "value")
        return recorded(value, _ratio(update_total, update_count, "update_op"), *collections)


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all elements so far.

    Args:
        values: Any numbers, of any shape.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    collections = metrics_collections, updates_collections
    return _mean(values, weights, lambda _: (), reduce_sum, ("total", "count"), collections, name)


def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of each element so far.

    Args:
        values: Any numbers, of one shape in all batches.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32 in that shape, and the operation that adds a batch and gives
    the value then. Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    collections = metrics_collections, updates_collections
    names = "total_tensor", "count_tensor"
    return _mean(values, weights, lambda t: t.sizes, lambda t: t, names, collections, name)


def accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """How often predictions equal labels.

    Args:
        labels, predictions: Classes, tensors of one shape; cast to one type.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    a, b, factors = matched(labels, predictions, weights)
    is_right = cast(ops.Equal(cast(b, a.dtype), a), np.float32)
    return mean(is_right, factors, metrics_collections, updates_collections, name or "accuracy")


def _error(
    name: str, formula: Callable[[Tensor, Tensor], Tensor], doc: str
) -> Callable[..., Metric]:
    """The mean of an error of predictions."""

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        a, b, factors = matched(labels, predictions, weights)
        collections = metrics_collections, updates_collections
        return mean(formula(a, b), factors, *collections, name or metric.__name__)

    metric.__name__ = metric.__qualname__ = name
    operands = "    labels, predictions: Numbers of one type and shape.\n"
    metric.__doc__ = f"{doc} so far.\n\nArgs:\n{operands}{COMMON}\n{PAIR}"
    return metric


mean_absolute_error = _error(
    "mean_absolute_error", lambda a, b: ops.Abs(b - a), "The mean of |predictions - labels|"
)
mean_squared_error = _error(
    "mean_squared_error", ops.SquaredDifference, "The mean of (predictions - labels)**2"
)


def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The root of the mean of (predictions - labels)**2.

    Args:
        labels, predictions: Tensors of one shape.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    value, update = mean_squared_error(
        labels, predictions, weights, name=name or "root_mean_squared_error"
    )
    collections = metrics_collections, updates_collections
    return recorded(ops.Sqrt(value), ops.Sqrt(update), *collections)


def mean_relative_error(
    labels: TensorLike,
    predictions: TensorLike,
    normalizer: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean of |predictions - labels| / normalizer, 0 where that is 0.

    Args:
        labels, predictions: Tensors of one shape.
        normalizer: What an error is divided by, of their shape.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    a, b, factors = matched(labels, predictions, weights)
    b, scale = squeezed(b, normalizer)
    require_compatible(b, scale)
    quotient = ops.RealDiv(ops.Abs(a - b), scale)
    is_zero = ops.Equal(scale, np.zeros((), scale.dtype))
    values = ops.SelectV2(is_zero, ops.ZerosLike(a), quotient)
    collections = metrics_collections, updates_collections
    return mean(values, factors, *collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """1 - the mean of sum(labels * predictions) along `dim`.

    Args:
        labels, predictions: Tensors of one shape. Vectors along `dim` have length 1.
        dim: The dimension of the vectors.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    a, b, factors = matched(labels, predictions, weights)
    products = reduce_sum(ops.Mul(b, a), [dim], keepdims=True)
    value, update = mean(products, factors, name=name or "mean_cosine_distance")
    one = np.float32(1)
    distances = ops.Sub(one, value), ops.Sub(one, update)
    return recorded(*distances, metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike,
    threshold: float,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The part of the elements that are smaller than `threshold`.

    Args:
        values: Any numbers, of any shape.
        threshold: A scalar.
        weights: A factor for each element, or 1 to broadcast; elements of weight 0 do not count.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the value then.
    Its variables are local: `tf.local_variables_initializer` sets them to 0.

    Raises ValueError where shapes do not go together.
    """
    is_below = cast(ops.Less(values, threshold), np.float32)
    collections = metrics_collections, updates_collections
    return mean(is_below, weights, *collections, name or "percentage_below_threshold")


def _counted(
    labels: Tensor, predictions: Tensor, weights: Tensor | None, cell: tuple[bool, bool]
) -> tuple[Tensor, Updated]:
    """The count in `cell` of the confusion matrix: so far, and after this batch."""
    a = labels if cell[0] else ops.LogicalNot(labels)
    b = predictions if cell[1] else ops.LogicalNot(predictions)
    count = metric_variable((), np.float32, "count")
    hits = cast(ops.LogicalAnd(a, b), np.float32)
    if weights is not None:
        hits = ops.Mul(hits, cast(weights, np.float32))
    return ops.Identity(count.value()), count.assign_add(reduce_sum(hits))


def _count(name: str, cell: tuple[bool, bool], doc: str) -> Callable[..., Metric]:
    """A metric that counts."""

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, [predictions, labels, weights]):
            a, b, factors = _truths(labels, predictions, weights)
            value, update = _counted(a, b, factors, cell)
            return recorded(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"{doc} so far, each as its weight.\n\nArgs:\n{_TRUTHS}{COMMON}\n{PAIR}"
    return metric


_TRUTHS = "    labels, predictions: Of one shape; cast to bool, so that all but 0 is true.\n"


def _truths(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    a = cast(convert_to_tensor(labels), np.bool_)
    return matched(a, cast(convert_to_tensor(predictions), np.bool_), weights)


true_positives = _count("true_positives", (True, True), "How often true was predicted rightly")
false_negatives = _count("false_negatives", (True, False), "How often true was not predicted")
false_positives = _count("false_positives", (False, True), "How often true was predicted wrongly")
true_negatives = _count("true_negatives", (False, False), "How often false was predicted rightly")


def _quotient(name: str, other: Callable[..., Metric], doc: str) -> Callable[..., Metric]:
    """True positives over themselves and something else."""

    def metric(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None = None,
        metrics_collections: Collections = None,
        updates_collections: Collections = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, metric.__name__, [predictions, labels, weights]):
            operands = _truths(labels, predictions, weights)
            hits, hits_update = true_positives(*operands)
            misses, misses_update = other(*operands)
            value = ops.DivNoNan(hits, hits + misses, name="value")
            update = ops.DivNoNan(hits_update, hits_update + misses_update, name="update_op")
            return recorded(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"{doc}, so far; 0 without any.\n\nArgs:\n{_TRUTHS}{COMMON}\n{PAIR}"
    return metric


precision = _quotient("precision", false_positives, "Of what was predicted true, the part that is")
recall = _quotient("recall", false_negatives, "Of what is true, the part that was predicted")


def mean_iou(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of hits / (labels + predictions - hits) of a class, so far.

    Args:
        labels, predictions: Tensors of one shape: classes from 0 to num_classes - 1.
        num_classes: How many there are.
        weights: A factor for each element, of their shape.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, over classes that were met, and the operation that adds a
    batch and gives the [num_classes, num_classes] float64 counts by label and prediction. Its
    variable is local: `tf.local_variables_initializer` sets it to 0.

    Raises ValueError where shapes do not go together; when it runs, InvalidArgumentError for a
    class out of range.
    """
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        a, b = convert_to_tensor(labels), convert_to_tensor(predictions)
        require_compatible(b, a)
        shape = num_classes, num_classes
        table = metric_variable(shape, np.float64, "total_confusion_matrix")
        rows, columns = (cast(array.reshape(t, [-1]), np.int64) for t in (a, b))
        hits = ops.OnesLike(cast(rows, np.float64))
        if weights is not None:
            hits = cast(array.reshape(convert_to_tensor(weights), [-1]), np.float64)
            require_compatible(hits, rows)
        positions = ops.Pack([rows, columns], axis=1)
        counts = ops.ScatterNd(positions, hits, np.array(shape, np.int64))
        update = table.assign_add(counts)
        so_far = table.value()
        by_prediction = cast(reduce_sum(so_far, 0), np.float32)
        by_label = cast(reduce_sum(so_far, 1), np.float32)
        right = cast(ops.MatrixDiagPart(so_far), np.float32)
        union = by_prediction + by_label - right
        n_valid = reduce_sum(cast(ops.NotEqual(union, np.float32(0)), np.float32))
        some = ops.Select(ops.Greater(union, np.float32(0)), union, ops.OnesLike(union))
        mean = ops.RealDiv(reduce_sum(ops.RealDiv(right, some), name="mean_iou"), n_valid)
        value = ops.Select(ops.Greater(n_valid, np.float32(0)), mean, np.float32(0))
        return recorded(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of how often a class is predicted where it is right, so far.

    Args:
        labels, predictions: As many classes each, from 0 to num_classes - 1.
        num_classes: How many there are; one that was not met counts as 0.
        weights: A factor for each element, of their shape.
        metrics_collections, updates_collections: Where the value and the operation are put.
        name: Of its variables' scope.

    Returns the value so far, float32, and the operation that adds a batch and gives the
    [num_classes] accuracies. Its variables are local: `tf.local_variables_initializer` sets them to
    0.

    Raises ValueError where shapes do not go together; when it runs, InvalidArgumentError for a
    class out of range.
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        classes = cast(array.reshape(convert_to_tensor(labels), [-1]), np.int64)
        guesses = cast(array.reshape(convert_to_tensor(predictions), [-1]), np.int64)
        require_compatible(guesses, classes)
        total = metric_variable((num_classes,), np.float32, "total")
        count = metric_variable((num_classes,), np.float32, "count")
        is_right = cast(ops.Equal(guesses, classes), np.float32)
        ones = ops.OnesLike(is_right)
        if weights is not None:
            factors = cast(array.reshape(convert_to_tensor(weights), [-1]), np.float32)
            is_right, ones = ops.Mul(is_right, factors), ops.Mul(ones, factors)
        size = np.array([num_classes], np.int64)
        positions = array.expand_dims(classes, 1)
        new_total = total.assign_add(ops.ScatterNd(positions, ones, size))
        new_count = count.assign_add(ops.ScatterNd(positions, is_right, size))
        value = reduce_mean(_ratio(count.value(), total.value(), "ratio"), name="mean_accuracy")
        update = _ratio(new_count, new_total, "update_op")
        return recorded(value, update, metrics_collections, updates_collections)
