"""TF1's activations and biases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ....schema.errors import InvalidArgumentError
from ...core.build import ops
from ...core.composite.ragged_dispatch import with_ragged
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..arguments import one_of
from ..array.array import concat, transpose
from ..array.casting import cast
from ..linalg.linear_algebra import matmul
from ..rows import functions, unary

if TYPE_CHECKING:
    from ...core.typing import TensorLike

ONE_TO_ONE = """
elu             Elu         features # features, exp(features) - 1 below 0
relu            Relu        features # max(features, 0)
selu            Selu        features # 1.0507 features, 1.7581 (exp(features) - 1) below 0
softplus        Softplus    features # log(1 + exp(features))
softsign        Softsign    features # features / (1 + |features|), in (-1, 1)
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))


@unary
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6) (Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010).

    Args:
        features: Integers or real floats of any shape.
        name: Of the operation.

    Returns the shape and type of `features`. Raises TypeError for other types.
    """
    with name_scope(name, "Relu6", [features]) as scope:
        return ops.Relu6(convert_to_tensor(features, name="features"), name=scope)


@unary
def leaky_relu(features: TensorLike, alpha: float | None = 0.2, name: str | None = None) -> Tensor:
    """`features` where they are at least 0, else alpha * features (Maas et al., ICML 2013).

    Args:
        features: Real floats of any shape; integers become float32.
        alpha: The slope below 0; 0.2 with None.
        name: Of the operation.

    Returns the shape of `features`.
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.kind in "iu":
            features = cast(features, np.float32)
        return ops.LeakyRelu(features, alpha=0.2 if alpha is None else alpha, name=scope)


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """relu(features) and relu(-features) one after the other along `axis` (arXiv 1603.05201).

    Args:
        features: Integers or real floats, of rank 1 or more.
        name: Of the operations.
        axis: From -rank to rank - 1, twice as large in the result.

    Raises ValueError for an axis out of range.
    """
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return ops.Relu(concat([features, ops.Neg(features)], axis, name=scope))


@unary
def swish(features: TensorLike, beta: TensorLike = 1.0, name: str | None = None) -> Tensor:
    """features * sigmoid(beta * features) (Ramachandran et al., arXiv 1710.05941), or SiLU.

    Args:
        features: Floats or complex numbers, of any shape.
        beta: A number or tensor that broadcasts to it.
        name: Of the operations.

    Returns the shape and type of `features`. Raises TypeError for integers.
    """
    with name_scope(name, "swish", [features]):
        features = convert_to_tensor(features, name="features")
        if not isinstance(beta, Tensor) and np.all(np.asarray(beta) == 1):
            return ops.Mul(features, ops.Sigmoid(features))
        factor = cast(convert_to_tensor(beta, name="beta"), features.dtype)
        return ops.Mul(features, ops.Sigmoid(ops.Mul(factor, features)))


@with_ragged
def softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """exp(logits) / sum(exp(logits)) along `axis`: numbers from 0 to 1 whose sum is 1.

    Args:
        logits: Real floats, of rank 1 or more; also ragged.
        axis: From -rank to rank - 1; the last one by default.
        name: Of the operation.
        dim: An older name of `axis`.

    Returns the shape and type of `logits`.

    Raises TypeError for integers, ValueError for a scalar, InvalidArgumentError for an axis out of
    range.
    """
    return _along_last(ops.Softmax, logits, one_of("axis", axis, "dim", dim), name)


@unary
def log_softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """logits - log(sum(exp(logits))) along `axis`, which does not overflow.

    Args:
        logits: Real floats, of rank 1 or more; also ragged.
        axis: From -rank to rank - 1; the last one by default.
        name: Of the operation.
        dim: An older name of `axis`.

    Returns the shape and type of `logits`.

    Raises TypeError for integers, ValueError for a scalar, InvalidArgumentError for an axis out of
    range.
    """
    return _along_last(ops.LogSoftmax, logits, one_of("axis", axis, "dim", dim), name)


def _along_last(
    compute: Callable[..., Tensor], x: TensorLike, axis: int | None, name: str | None
) -> Tensor:
    x = convert_to_tensor(x)
    rank = None if x.sizes is None else len(x.sizes)
    if isinstance(axis, Tensor):
        order = _swapped(ops.Rank(x), ops.Cast(axis, DstT=np.dtype(np.int32)))
        return transpose(compute(transpose(x, order)), order, name=name or "transpose")
    if axis is None or axis == -1 or axis + 1 == rank:
        return compute(x, name=name)
    if rank is not None and not -rank <= axis < rank:
        words = f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of"
        words += f" dimensions in the input. Received: dim={axis}"
        raise InvalidArgumentError(None, None, words)
    if rank is None:
        order = _swapped(ops.Rank(x), convert_to_tensor(axis, np.int32))
    else:
        numbers = np.arange(rank, dtype=np.int32)
        numbers[[axis, -1]] = numbers[[-1, axis]]
        order = convert_to_tensor(numbers)
    return transpose(compute(transpose(x, order)), order, name=name or "transpose")


def _swapped(rank: Tensor, axis: Tensor) -> Tensor:
    """The dimensions in order, `axis` and the last one swapped."""
    axis, before, behind = dimensions_around(rank, axis)
    numbers = ops.ConcatV2([before, ops.ExpandDims(axis, np.int32(0)), behind], np.int32(0))
    last = rank - np.int32(1)
    moved = ops.SelectV2(ops.Equal(numbers, axis), last, numbers)
    return ops.SelectV2(ops.Equal(numbers, last), axis, moved)


def dimensions_around(rank: Tensor, axis: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`axis` counted from the first dimension, and the dimensions before and behind it.

    An axis that is not there is an error of the run.
    """
    axis = ops.SelectV2(ops.Less(axis, np.int32(0)), axis + rank, axis)
    before = ops.Range(np.int32(0), axis, np.int32(1))
    return axis, before, ops.Range(axis + np.int32(1), rank, np.int32(1))


def bias_add(
    value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """`value` with one number added to all elements of each channel.

    Args:
        value: [batch, ..., channels] or [batch, channels, ...], numbers, of rank 2 or more.
        bias: [channels], of the same type.
        data_format: "N...C" (the default) or "NC...".
        name: Of the operation.

    Returns the shape of `value`.

    Raises ValueError for another format or rank, and for another number of channels.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None and not data_format.startswith("N"):
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. Received: "
                f"data_format={data_format}"
            )
        layout = "NCHW" if data_format is not None and data_format.startswith("NC") else "NHWC"
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype, "bias")
        return ops.BiasAdd(value, bias, data_format=layout, name=scope)


def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """x @ weights + biases.

    Args:
        x: [batch, inputs], numbers.
        weights: [inputs, outputs], of the same type.
        biases: [outputs], of the same type.
        name: Of the operation.

    Returns [batch, outputs]. Raises ValueError for shapes that do not fit.
    """
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """max(x @ weights + biases, 0).

    Args:
        x: [batch, inputs], real floats or integers.
        weights: [inputs, outputs], of the same type.
        biases: [outputs], of the same type.
        name: Of the operation.

    Returns [batch, outputs]. Raises ValueError for shapes that do not fit.
    """
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return ops.Relu(bias_add(matmul(x, weights), biases), name=scope)
