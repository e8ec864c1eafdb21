"""TF1's cross entropies and what else is made small: `tf.nn`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core import shapes
from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.signatures.attribute_checks import int_value
from ..arguments import one_of
from ..array import array, creation
from ..array.casting import cast
from ..math.arithmetic import add
from ..rows import functions, n_ary
from .activations import dimensions_around

if TYPE_CHECKING:
    from ...core.tensor_shape import TensorShape
    from ...core.typing import TensorLike
    from ...variables.variables import Variable

ONE_TO_ONE = """
l2_loss         L2Loss      t # Half the sum of the squares of all elements
"""
globals().update(functions(ONE_TO_ONE, __name__))


def _require_named(function: str, labels: TensorLike | None, logits: TensorLike | None) -> None:
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided for {function}")


def softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    dim: int = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """-sum(labels * log(softmax(logits))) along one dimension, without a gradient for the labels.

    Args:
        labels: Probabilities of the classes, of the shape of `logits`; cast to its type.
        logits: Real floats, [..., classes].
        dim: The dimension of the classes, the last one by default.
        name: Of the operation.
        axis: A newer name of `dim`.

    Returns the shape of `logits` without the classes.

    Raises ValueError where one of both is missing and for shapes that do not fit, TypeError for
    integer logits.
    """
    axis = dim if axis is None else axis
    _require_named("softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = ops.StopGradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels, logits, axis, scope)


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """-sum(labels * log(softmax(logits))) along `axis`, the last one by default.

    Args:
        labels: Probabilities, in the shape of `logits`.
        logits: Any numbers.
        axis: The classes.
        name: Of the operation.
        dim: Old name of `axis`.
    """
    axis = one_of("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    _require_named("softmax_cross_entropy_with_logits_v2", labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        precise = cast(logits, np.float32) if logits.dtype.itemsize == 2 else logits
        labels = cast(labels, precise.dtype)
        rank = creation.rank(precise)
        if axis != -1 and logits.sizes is not None and axis != len(logits.sizes) - 1:
            n = len(logits.sizes)
            axis = int_value("axis", axis)
            if not -n <= axis < n:
                raise ValueError(f"Requires start <= limit when delta > 0: {axis + 1}/{n}")
            order = np.arange(n)
            order = np.append(np.delete(order, axis), order[axis]).astype(np.int32)
            precise, labels = array.transpose(precise, order), array.transpose(labels, order)
        elif axis != -1 and logits.sizes is None:
            place, before, behind = dimensions_around(rank, convert_to_tensor(axis, np.int32))
            order = ops.ConcatV2([before, behind, ops.ExpandDims(place, np.int32(0))], np.int32(0))
            precise, labels = array.transpose(precise, order), array.transpose(labels, order)
        shape = creation.shape(precise)
        precise, labels = _flat_rows(precise), _flat_rows(labels)
        cost, _ = ops.SoftmaxCrossEntropyWithLogits(precise, labels, name=scope)
        cost = ops.Reshape(cost, ops.Slice(shape, [0], [ops.Sub(rank, 1)]))
        if logits.sizes is not None:
            known = list(logits.sizes)
            del known[axis]
            cost.set_shape(tuple(known))
        return cast(cost, logits.dtype)


def _flat_rows(x: Tensor) -> Tensor:
    """`x` as a matrix of its last dimension."""
    rank = creation.rank(x)
    last = ops.Slice(creation.shape(x), [ops.Sub(rank, 1)], [1])
    result = array.reshape(x, array.concat([[-1], last], 0))
    if x.sizes is not None:
        rows = shapes.count(x.sizes[:-1]) if None not in x.sizes[:-1] else None
        result.set_shape((rows, x.sizes[-1]))
    return result


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    name: str | None = None,
    **others: TensorLike,
) -> Tensor:
    """-log(softmax(logits))[label] for each row.

    Args:
        labels: [...], the number of the right class in each row, int32 or int64.
        logits: [..., classes].
        name: Of the operation.
        **others: None are known.

    Raises:
        ValueError: The shapes do not fit.
        TypeError: An argument is unknown.
    """
    if others:
        raise TypeError(f"unknown arguments: {', '.join(others)}")
    _require_named("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        precise = cast(logits, np.float32) if logits.dtype == np.float16 else logits
        known, label_shape = labels.get_shape(), creation.shape(labels)
        if logits.sizes == ():
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
        if None not in (logits.sizes, labels.sizes):
            _check_labels(known, logits)
        if logits.sizes is not None and len(logits.sizes) == 2:
            cost, _ = ops.SparseSoftmaxCrossEntropyWithLogits(precise, labels, name=name)
            return cast(cost, logits.dtype)
        classes = creation.shape(logits)[creation.rank(logits) - 1]
        precise = array.reshape(precise, array.stack([-1, classes]))
        rows = array.reshape(labels, [-1])
        cost, _ = ops.SparseSoftmaxCrossEntropyWithLogits(precise, rows, name=name)
        cost = array.reshape(cost, label_shape)
        cost.set_shape(known.as_shape())
        return cast(cost, logits.dtype)


def _check_labels(known: TensorShape, logits: Tensor) -> None:
    shape = logits.get_shape()
    if len(known) != len(shape) - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={known} of rank {len(known)} and logits.shape={shape} of rank "
            f"{len(shape)}"
        )
    if not known.is_compatible_with(shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={known} and logits.shape={shape}"
        )


@n_ary
def sigmoid_cross_entropy_with_logits(
    labels: TensorLike | None = None, logits: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """-labels log(p) - (1 - labels) log(1 - p) with p = sigmoid(logits), element by element.

    Taken as max(logits, 0) - logits * labels + log(1 + exp(-|logits|)), which does not overflow.

    Args:
        labels: Probabilities from 0 to 1.
        logits: Real floats of the same shape and type.
        name: Of the operation.

    Raises ValueError where one of both is missing and for two shapes, TypeError for two types.
    """
    _require_named("sigmoid_cross_entropy_with_logits", labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if not labels.get_shape().is_compatible_with(logits.get_shape()):
            raise ValueError(
                "`logits` and `labels` must have the same shape, received "
                f"({logits.get_shape()} vs {labels.get_shape()})."
            )
        zeros = creation.zeros_like(logits)
        positive = ops.GreaterEqual(logits, zeros)
        relu_logits = ops.Select(positive, logits, zeros)
        negative = ops.Select(positive, ops.Neg(logits), logits)
        linear = relu_logits - logits * labels
        return add(linear, ops.Log1p(ops.Exp(negative)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: float | np.ndarray | Tensor | Variable = 1.0,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """-pos_weight labels log(p) - (1 - labels) log(1 - p) of each element, p = sigmoid(logits).

    Args:
        labels: Probabilities from 0 to 1.
        logits: Real floats of the same shape and type.
        pos_weight: A number or a tensor that broadcasts to `logits`; above 1 it raises the recall.
        name: Of the operation.
        targets: An older name of `labels`.

    Raises ValueError for two shapes.
    """
    labels = one_of("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        if not logits.get_shape().is_compatible_with(labels.get_shape()):
            raise ValueError(
                "`logits` and `labels` must have the same shape, received "
                f"({logits.get_shape()} vs {labels.get_shape()})."
            )
        weight = 1 + (pos_weight - 1) * labels
        tail = ops.Log1p(ops.Exp(ops.Neg(ops.Abs(logits)))) + ops.Relu(ops.Neg(logits))
        return add((1 - labels) * logits, weight * tail, name=scope)
