"""TF1's losses: `tf.losses`. Each is a weighted sum or mean, and goes to a collection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import constant, convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import GraphKeys, control_dependencies, get_default_graph, name_scope
from ..arguments import one_of
from ..array import creation
from ..array.casting import cast
from ..math.arithmetic import add_n, div_no_nan, truediv
from ..math.reductions import reduce_sum
from . import losses
from .weights import (
    check_weights,
    inner_axes,
    n_present,
    require_compatible,
    squeezed,
    squeezed_weights,
)

if TYPE_CHECKING:
    from ...core.typing import TensorLike


class Reduction:
    """How weighted losses become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for anything else."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}. Key should be one of {cls.all()}.")


def _divisor(reduction: str, values: Tensor, weights: Tensor) -> Tensor | None:
    """What a sum of weighted losses is divided by."""
    if reduction == Reduction.MEAN:
        return reduce_sum(ops.Mul(ops.OnesLike(values), weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return n_present(values, weights)
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return cast(creation.size(values), np.float32)
    return None


def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike | None = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The weighted losses, in one number unless `reduction` is NONE.

    Args:
        losses: Numbers.
        weights: A scalar, or in each dimension of the size of `losses` or 1.
        scope: The name scope of the operations.
        loss_collection: Where the result goes.
        reduction: One of Reduction.

    Raises:
        ValueError: `weights` is None or cannot be spread over `losses`; `reduction` is not known.
    """
    Reduction.validate(reduction)
    if weights is None:
        raise ValueError("`weights` must not be None.")
    with name_scope(scope, "weighted_loss", [losses, weights]):
        tensor = convert_to_tensor(losses)
        values = cast(tensor, np.float32)
        factors = cast(convert_to_tensor(weights), np.float32)
        with control_dependencies(check_weights(factors, values)):
            loss = ops.Mul(values, factors)
            if reduction != Reduction.NONE:
                loss = reduce_sum(loss)
                divisor = _divisor(reduction, values, factors)
                loss = loss if divisor is None else ops.DivNoNan(loss, divisor, name="value")
        loss = cast(loss, tensor.dtype)
        add_loss(loss, loss_collection)
        return loss


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Puts a loss into a collection."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of a collection whose names start with `scope`."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """What regularizers gave."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Tensor:
    """The sum of what regularizers gave, 0 when there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Tensor:
    """The sum of the losses, and of what regularizers gave."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)


def _operands(
    labels: TensorLike | None, predictions: TensorLike | None, names: Sequence[str]
) -> tuple[Tensor, Tensor]:
    """Both as float32 tensors of one shape."""
    if labels is None or predictions is None:
        name = names[0] if labels is None else names[1]
        raise ValueError(f"Argument `{name}` must not be None.")
    a, b = convert_to_tensor(labels), convert_to_tensor(predictions)
    a, b = cast(a, np.float32), cast(b, np.float32)
    require_compatible(b, a)
    return a, b


def _elementwise(
    name: str, formula: Callable[..., Tensor], doc: str, second: str = "predictions", **extra: float
) -> Callable[..., Tensor]:
    """A loss of labels and predictions, element by element."""
    (parameter, default) = next(iter(extra.items()), ("", 0.0))

    def compute(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike | None,
        number: float,
        scope: str | None,
        loss_collection: str | None,
        reduction: str,
    ) -> Tensor:
        with name_scope(scope, name, [labels, predictions]) as inner:
            if weights is None:
                raise ValueError("Argument `weights` must not be None.")
            pair = _operands(labels, predictions, ("labels", second))
            values = formula(*pair, number) if parameter else formula(*pair)
            return compute_weighted_loss(values, weights, inner, loss_collection, reduction)

    return _signed(compute, name, doc, second, parameter, default)


def _signed(
    compute: Callable[..., Tensor],
    name: str,
    doc: str,
    second: str,
    parameter: str,
    default: float,
) -> Callable[..., Tensor]:
    """`compute` with the parameters that TensorFlow's function has."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    defaults = {
        "weights": 1.0,
        **({parameter: default} if parameter else {}),
        "scope": None,
        "loss_collection": GraphKeys.LOSSES,
        "reduction": Reduction.SUM_BY_NONZERO_WEIGHTS,
    }
    parameters = [inspect.Parameter("labels", kind), inspect.Parameter(second, kind)]
    parameters += [inspect.Parameter(key, kind, default=v) for key, v in defaults.items()]
    signature = inspect.Signature(parameters)

    def loss(*args: TensorLike, **kwargs: TensorLike) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        return compute(
            arguments["labels"],
            arguments[second],
            arguments["weights"],
            arguments.get(parameter, 0.0),
            arguments["scope"],
            arguments["loss_collection"],
            arguments["reduction"],
        )

    loss.__name__ = loss.__qualname__ = name
    loss.__module__ = __name__
    loss.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    number = f"    {parameter}: A number, {default:g} by default.\n" if parameter else ""
    loss.__doc__ = f"""{doc}

Args:
    labels, {second}: Numbers of one shape; cast to float32.
    weights: A factor for each loss: a scalar, or of a shape that broadcasts to theirs.
{number}    scope: Of the operations.
    loss_collection: Where the result is put, None for nowhere.
    reduction: What of `tf.losses.Reduction` makes one number of the losses.

Returns a scalar, or with Reduction.NONE a loss for each element.

Raises ValueError where shapes do not go together, or one of both or the weights are None."""
    return loss


def _absolute(labels: Tensor, predictions: Tensor) -> Tensor:
    return ops.Abs(predictions - labels)


def _hinge(labels: Tensor, logits: Tensor) -> Tensor:
    return ops.Relu(1.0 - (2.0 * labels - 1.0) * logits)


def _huber(labels: Tensor, predictions: Tensor, delta: float) -> Tensor:
    size = ops.Abs(predictions - labels)
    near = ops.Minimum(size, np.float32(delta))
    return 0.5 * near * near + delta * (size - near)


def _log(labels: Tensor, predictions: Tensor, epsilon: float) -> Tensor:
    right = labels * ops.Log(predictions + epsilon)
    return -right - (1.0 - labels) * ops.Log(1.0 - predictions + epsilon)


absolute_difference = _elementwise(
    "absolute_difference",
    _absolute,
    "weights * |predictions - labels|, made one number by `reduction`.",
)
hinge_loss = _elementwise(
    "hinge_loss",
    _hinge,
    "weights * max(0, 1 - (2 labels - 1) logits), with labels of 0 and 1.",
    "logits",
)
huber_loss = _elementwise(
    "huber_loss",
    _huber,
    "weights * (e**2 / 2, or delta (|e| - delta / 2) above delta), e = predictions - labels.",
    delta=1.0,
)
log_loss = _elementwise(
    "log_loss",
    _log,
    "weights * (-labels log(p + epsilon) - (1 - labels) log(1 - p + epsilon)), p = predictions.",
    epsilon=1e-7,
)
mean_squared_error = _elementwise(
    "mean_squared_error",
    ops.SquaredDifference,
    "weights * (predictions - labels)**2, made one number by `reduction`.",
)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike | None = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """The weighted 1 - sum(labels * predictions) along `axis`, of vectors of length 1.

    Args:
        labels, predictions: Vectors of length 1 along `axis`, in tensors of one shape.
        axis: Their dimension; `dim` under its older name.
        weights: A factor for each loss: a scalar, or of a shape that broadcasts to theirs.
        scope: Of the operations.
        loss_collection: Where the result is put, None for nowhere.
        reduction: What of `tf.losses.Reduction` makes one number of the losses.

    Returns a scalar, or with Reduction.NONE a loss for each element of the batch.

    Raises ValueError where shapes do not go together, or there are no labels.
    """
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels]) as inner:
        a, b = _operands(labels, predictions, ("labels", "predictions"))
        values = 1.0 - reduce_sum(ops.Mul(b, a), (axis,), keepdims=True)
        return compute_weighted_loss(values, weights, inner, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The mean square of differences between pairs of errors in each row, weighted by rows.

    Args:
        labels, predictions: [batch, ...], numbers of one shape.
        weights: A factor for each row: a scalar, or of a shape that broadcasts to theirs.
        scope: Of the operations.
        loss_collection: Where the result is put, None for nowhere.

    Returns a scalar.

    Raises ValueError where shapes do not go together, or there are no labels.
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels]):
        a, b = _operands(labels, predictions, ("labels", "predictions"))
        factors = cast(convert_to_tensor(weights), np.float32)
        with control_dependencies(check_weights(factors, a)):
            errors = b - a
            axes = inner_axes(errors)
            count = n_present(errors, factors, per_batch=True)
            squares = reduce_sum(ops.Square(errors), axes, keepdims=True)
            size = ops.Maximum(count - 1.0, np.float32(0))
            first = 2.0 * ops.DivNoNan(squares, size, name="value")
            total = reduce_sum(errors, axes, keepdims=True)
            pairs = ops.Maximum(count * (count - 1.0), np.float32(0))
            second = 2.0 * ops.DivNoNan(ops.Square(total), pairs, name="value")
            loss = reduce_sum(ops.Mul(first - second, factors))
            is_weighted = reduce_sum(count) > 0.0
            mean = ops.SelectV2(is_weighted, loss, ops.ZerosLike(loss), name="value")
        add_loss(mean, loss_collection)
        return mean


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike | None,
    logits: TensorLike | None,
    weights: TensorLike | None = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The weighted cross entropy of independent classes; labels move to 1/2 by smoothing.

    Args:
        multi_class_labels: [batch, classes], from 0 to 1.
        logits: Of the same shape, any numbers.
        label_smoothing: From 0 to 1: how far labels move to 1/2.
        weights: A factor for each loss: a scalar, or of a shape that broadcasts to theirs.
        scope: Of the operations.
        loss_collection: Where the result is put, None for nowhere.
        reduction: What of `tf.losses.Reduction` makes one number of the losses.

    Returns a scalar, or with Reduction.NONE a loss for each element of the batch.

    Raises ValueError where shapes do not go together, or there are no labels.
    """
    if multi_class_labels is None or logits is None:
        raise ValueError("Arguments `multi_class_labels` and `logits` must not be None.")
    operands = [logits, multi_class_labels]
    with name_scope(scope, "sigmoid_cross_entropy_loss", operands) as inner:
        scores = convert_to_tensor(logits)
        labels = cast(convert_to_tensor(multi_class_labels), scores.dtype)
        require_compatible(scores, labels)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        values = losses.sigmoid_cross_entropy_with_logits(labels, scores, name="xentropy")
        return compute_weighted_loss(values, weights, inner, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike | None,
    logits: TensorLike | None,
    weights: TensorLike | None = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The weighted cross entropy of rows of probabilities, which smoothing makes more alike.

    Args:
        onehot_labels: [batch, classes], rows that sum to 1.
        logits: Of the same shape, any numbers.
        label_smoothing: From 0 to 1: how far labels move to 1 / classes.
        weights: A factor for each loss: a scalar, or of a shape that broadcasts to theirs.
        scope: Of the operations.
        loss_collection: Where the result is put, None for nowhere.
        reduction: What of `tf.losses.Reduction` makes one number of the losses.

    Returns a scalar, or with Reduction.NONE a loss for each element of the batch.

    Raises ValueError where shapes do not go together, or there are no labels.
    """
    if onehot_labels is None or logits is None:
        raise ValueError("Arguments `onehot_labels` and `logits` must not be None.")
    operands = [logits, onehot_labels]
    with name_scope(scope, "softmax_cross_entropy_loss", operands) as inner:
        scores = convert_to_tensor(logits)
        labels = cast(convert_to_tensor(onehot_labels), scores.dtype)
        require_compatible(scores, labels)
        if label_smoothing > 0:
            classes = cast(creation.shape(labels)[1], scores.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = ops.StopGradient(labels, name="labels_stop_gradient")
        values = losses.softmax_cross_entropy_with_logits_v2(labels, scores, name="xentropy")
        return compute_weighted_loss(values, weights, inner, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike | None,
    logits: TensorLike | None,
    weights: TensorLike | None = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The weighted -log of the probability of the class that is right.

    Args:
        labels: [batch], classes from 0 on, int32 or int64.
        logits: [batch, classes], any numbers.
        weights: A factor for each loss: a scalar, or of a shape that broadcasts to theirs.
        scope: Of the operations.
        loss_collection: Where the result is put, None for nowhere.
        reduction: What of `tf.losses.Reduction` makes one number of the losses.

    Returns a scalar, or with Reduction.NONE a loss for each element of the batch.

    Raises ValueError where shapes do not go together, or there are no labels.
    """
    if labels is None or logits is None:
        raise ValueError("Arguments `labels` and `logits` must not be None.")
    operands = [logits, labels]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", operands) as inner:
        classes, scores = squeezed(labels, logits, expected_rank_diff=1)
        factors = squeezed_weights(convert_to_tensor(weights), classes)
        values = losses.sparse_softmax_cross_entropy_with_logits(
            labels=classes, logits=scores, name="xentropy"
        )
        return compute_weighted_loss(values, factors, inner, loss_collection, reduction)


def compute_average_loss(
    per_example_loss: TensorLike,
    sample_weight: TensorLike | None = None,
    global_batch_size: TensorLike | None = None,
) -> Tensor:
    """The sum of losses, each with its weight, over the size of the batch; 0 of no examples.

    Args:
        per_example_loss: [batch], or more dimensions.
        sample_weight: One for all, or one for each example.
        global_batch_size: What is divided by, that of `per_example_loss` by default.

    Raises ValueError for a scalar loss and a batch size that is none, TypeError for one that is no
    integer.
    """
    losses = convert_to_tensor(per_example_loss)
    if losses.sizes == ():
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={losses}"
        )
    dtype = losses.dtype
    if sample_weight is not None:
        weights = convert_to_tensor(sample_weight)
        losses = losses * cast(_beside(weights, losses), dtype)
    size = creation.shape(losses)[0] if global_batch_size is None else global_batch_size
    count = convert_to_tensor(size)
    if count.sizes not in (None, ()):
        raise ValueError(f"global_batch_size must be scalar but got {count.get_shape()}")
    if count.dtype.kind not in "iu":
        raise TypeError(f"global_batch_size must be an int, got {count.dtype.name}")
    return div_no_nan(reduce_sum(losses), cast(count, dtype))


def _beside(weights: Tensor, losses: Tensor) -> Tensor:
    """Weights of examples with the dimensions of losses."""
    ranks = [None if x.sizes is None else len(x.sizes) for x in (weights, losses)]
    if None in ranks or ranks[0] == 0 or ranks[0] == ranks[1]:
        return weights
    behind = [1] * (len(losses.sizes or ()) - len(weights.sizes or ()))
    return ops.Reshape(weights, ops.ConcatV2([ops.Shape(weights), np.array(behind, np.int32)], 0))


def scale_regularization_loss(regularization_loss: TensorLike) -> Tensor:
    """The sum of `regularization_loss`, a float: there is one replica to share it among."""
    return truediv(reduce_sum(convert_to_tensor(regularization_loss)), 1)
