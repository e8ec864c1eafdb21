"""What losses and metrics have in common: ranks made equal, weights spread over values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import control_dependencies, name_scope
from ...core.shapes import is_static
from ...core.tensor_shape import TensorShape
from ..array import array, creation
from ..array.casting import cast
from ..flow.control_flow import Assert as assert_
from ..math.reductions import reduce_all, reduce_sum

if TYPE_CHECKING:
    from ...core.typing import TensorLike


def squeezed(
    labels: TensorLike, predictions: TensorLike, expected_rank_diff: int = 0
) -> tuple[Tensor, Tensor]:
    """Labels and predictions, of which one that has a last dimension of 1 too many loses it."""
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    a, b = labels.sizes, predictions.sizes
    if a is not None and b is not None:
        difference = len(b) - len(a) - expected_rank_diff
        if difference == 1 and b[-1] in (1, None):
            predictions = array.squeeze(predictions, [-1])
        elif difference == -1 and a[-1] in (1, None):
            labels = array.squeeze(labels, [-1])
        return labels, predictions
    difference = ops.Rank(predictions) - ops.Rank(labels) - np.int32(expected_rank_diff)
    if b is None or (b and b[-1] in (1, None)):
        predictions = _without_last(predictions, ops.Equal(difference, np.int32(1)))
    if a is None or (a and a[-1] in (1, None)):
        labels = _without_last(labels, ops.Equal(difference, np.int32(-1)))
    return labels, predictions


def _without_last(x: Tensor, condition: Tensor) -> Tensor:
    """`x`, where a condition holds without its last dimension, which is then 1."""
    rank = ops.Rank(x)
    stays = ops.SelectV2(condition, rank - np.int32(1), rank)
    return ops.Reshape(x, ops.Shape(x)[:stays])


def squeezed_weights(weights: TensorLike, labels: Tensor) -> Tensor:
    """Weights, which lose a last dimension of 1 where they have one dimension more than labels."""
    factors = convert_to_tensor(weights)
    if factors.sizes is not None and labels.sizes is not None:
        is_more = len(factors.sizes) == len(labels.sizes) + 1
        return array.squeeze(factors, [-1]) if is_more else factors
    if factors.sizes == ():
        return factors
    return _without_last(factors, ops.Equal(ops.Rank(factors), ops.Rank(labels) + np.int32(1)))


def fitted_weights(weights: TensorLike, values: Tensor) -> Tensor:
    """Weights with as many dimensions as `values`: a last one of 1 goes, or comes."""
    weights = convert_to_tensor(weights)
    if values.sizes is None or weights.sizes == ():
        return weights
    if weights.sizes is None:
        return _fitted_when_run(weights, len(values.sizes))
    difference = len(weights.sizes) - len(values.sizes)
    if difference == 1:
        return array.squeeze(weights, [-1])
    return array.expand_dims(weights, [-1]) if difference == -1 else weights


def _fitted_when_run(weights: Tensor, rank: int) -> Tensor:
    """As fitted_weights, of weights whose rank only a run tells."""
    sizes, actual_rank = ops.Shape(weights), ops.Rank(weights)
    one_more = ops.Equal(actual_rank, np.int32(rank + 1))
    one_less = ops.LogicalAnd(
        ops.Equal(actual_rank, np.int32(rank - 1)), ops.Greater(actual_rank, np.int32(0))
    )
    stays = ops.SelectV2(one_more, actual_rank - np.int32(1), actual_rank)
    added = ops.Fill(ops.Reshape(cast(one_less, np.int32), [1]), np.int32(1))
    return ops.Reshape(weights, ops.ConcatV2([sizes[:stays], added], np.int32(0)))


def matched(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Labels, predictions and weights of one rank; ValueError when their shapes cannot fit."""
    labels, predictions = squeezed(labels, predictions)
    require_compatible(predictions, labels)
    if weights is None:
        return labels, predictions, None
    return labels, predictions, fitted_weights(weights, predictions)


def require_compatible(a: Tensor, b: Tensor) -> None:
    """Raises ValueError unless two shapes can be the same."""
    x, y = a.get_shape(), b.get_shape()
    if not x.is_compatible_with(y):
        raise ValueError(f"Shapes {x} and {y} are incompatible")


def check_weights(weights: Tensor, values: Tensor) -> list[Tensor]:
    """What to wait for before weights are used; ValueError when they cannot be spread.

    Weights are a scalar, or have in each dimension the size of `values` or 1.
    """
    a, b = weights.sizes, values.sizes
    if a == ():
        return []
    if a is not None and b is not None:
        words = "weights can not be broadcast to values."
        end = f"Received weights={weights}, values={values}"
        if len(a) != len(b):
            shapes = f"values.shape={TensorShape(b)}. weights.shape={TensorShape(a)}."
            raise ValueError(f"{words} values.rank={len(b)}. weights.rank={len(a)}. {shapes} {end}")
        for i, (n, m) in enumerate(zip(a, b, strict=True)):
            if n not in (1, None) and m is not None and n != m:
                sizes = [np.array(x) if is_static(x) else TensorShape(x) for x in (b, a)]
                raise ValueError(
                    f"{words} Mismatch at dim {i}. values.shape={sizes[0]}, "
                    f"weights.shape={sizes[1]}. {end}"
                )
        if is_static(a) and is_static(b):
            return []
    sizes, values_shape = creation.shape(weights), creation.shape(values)
    ranks = ops.Size(sizes), ops.Size(values_shape)
    shared = ops.Minimum(*ranks)
    ours, theirs = sizes[:shared], values_shape[:shared]
    alike = reduce_all(ops.LogicalOr(ops.Equal(ours, np.int32(1)), ops.Equal(ours, theirs)))
    fits = ops.LogicalOr(ops.Equal(ranks[0], np.int32(0)), ops.LogicalAnd(ops.Equal(*ranks), alike))
    check = assert_(fits, ["weights can not be broadcast to values.", sizes, values_shape])
    with control_dependencies([check]):
        return [ops.Identity(sizes)]


def broadcast_weights(weights: TensorLike, values: Tensor) -> Tensor:
    """Weights in the shape of `values`, as float32."""
    with name_scope(None, "broadcast_weights", [weights, values]):
        weights = cast(convert_to_tensor(weights), np.float32)
        if is_static(weights.sizes) and weights.sizes == values.sizes:
            return weights
        with control_dependencies(check_weights(weights, values)):
            return ops.Mul(weights, ops.OnesLike(cast(values, np.float32)))


def n_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many elements have a weight that is not 0; with `per_batch` in each row."""
    with name_scope(None, "num_present", [losses, weights]):
        present = cast(ops.NotEqual(weights, np.zeros((), weights.dtype)), np.float32)
        present = broadcast_weights(present, losses)
        if not per_batch:
            return reduce_sum(present)
        return reduce_sum(present, inner_axes(losses), keepdims=True)


def inner_axes(x: Tensor) -> Tensor | np.ndarray:
    """All axes but the first."""
    if x.sizes is not None:
        return np.arange(1, len(x.sizes), dtype=np.int32)
    return ops.Range(np.int32(1), creation.rank(x), np.int32(1))
