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
    """The elements held within 0 and 6."""
    with name_scope(name, "Relu6", [features]) as scope:
        return ops.Relu6(convert_to_tensor(features, name="features"), name=scope)


@unary
def leaky_relu(features: TensorLike, alpha: float | None = 0.2, name: str | None = None) -> Tensor:
    """The elements, times `alpha`, 0.2 by default, where they are negative."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.kind in "iu":
            features = cast(features, np.float32)
        return ops.LeakyRelu(features, alpha=0.2 if alpha is None else alpha, name=scope)


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """relu of the elements and of their negatives, side by side."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return ops.Relu(concat([features, ops.Neg(features)], axis, name=scope))


@unary
def swish(features: TensorLike, beta: TensorLike = 1.0, name: str | None = None) -> Tensor:
    """x * sigmoid(beta x), as Ramachandran et al. (arXiv 1710.05941)."""
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
    """exp(x) over its sum along `axis`, the last one by default."""
    return _along_last(ops.Softmax, logits, one_of("axis", axis, "dim", dim), name)


@unary
def log_softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """The logarithm of softmax."""
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
    """`value` with a number added to each channel."""
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
    """x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    """relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return ops.Relu(bias_add(matmul(x, weights), biases), name=scope)
