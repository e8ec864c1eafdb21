"""TF1's layers as functions: `tf.layers`. Each makes its variables in a variable scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import GraphKeys, add_to_collection, name_scope
from ..core.shapes import is_static
from ..variables.get_variable import get_variable
from ..variables.initializers import zeros_initializer
from ..variables.variable_scope import variable_scope
from . import array, creation, normalization, windows
from .activations import bias_add
from .batch_norm import batch_normalization as batch_normalization
from .conditional import cond
from .slices import get_item

if TYPE_CHECKING:
    from ..core.typing import TensorLike
    from ..variables.variable_scope import InitializerLike, Regularizer, Reuse
    from ..variables.variables import Constraint, Variable
    from .creation import DynamicShape

Activation: TypeAlias = Callable[[Tensor], Tensor]


def flatten(
    inputs: TensorLike, name: str | None = None, data_format: str = "channels_last"
) -> Tensor:
    """[batch, ...] as [batch, everything else]."""
    inputs = convert_to_tensor(inputs)
    if _layout(data_format) == "NCHW" and inputs.shape is not None and len(inputs.shape) > 2:
        inputs = array.transpose(inputs, [0, *np.arange(2, len(inputs.shape)).tolist(), 1])
    inner = None if inputs.shape is None else inputs.shape[1:]
    with name_scope(name, "flatten", [inputs]):
        if is_static(inner):
            return array.reshape(inputs, [-1, prod(inner)])
        return array.reshape(inputs, array.stack([creation.shape(inputs)[0], -1]))


def dense(
    inputs: TensorLike,
    units: int,
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: InitializerLike | None = None,
    bias_initializer: InitializerLike | None = None,
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Callable[[Tensor], Tensor] | None = None,
    kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
) -> Tensor:
    """activation(inputs @ kernel + bias), with variables `<name>/kernel` and `<name>/bias`.

    Raises ValueError when the last dimension of `inputs` is not known.
    """
    inputs = convert_to_tensor(inputs)
    shape = inputs.shape or ()
    depth = shape[-1] if shape else None
    if depth is None:
        raise ValueError(
            "The last dimension of the inputs to a Dense layer should be defined. Found None. "
            f"Full input shape received: {inputs.get_shape()}"
        )
    with variable_scope(name, "dense", reuse=reuse):
        kernel = get_variable(
            "kernel",
            [depth, units],
            inputs.dtype,
            kernel_initializer,
            kernel_regularizer,
            trainable,
            constraint=kernel_constraint,
        )
        y = _product(inputs, kernel, units)
        if use_bias:
            more = (bias_initializer, bias_regularizer, bias_constraint, trainable)
            y = _with_bias(y, units, *more)
        return _activated(y, activation, activity_regularizer)


def _product(inputs: Tensor, kernel: Variable, units: int) -> Tensor:
    """inputs @ kernel, over the last dimension of `inputs`."""
    shape = inputs.shape
    if shape is None or len(shape) == 2:
        return ops.MatMul(inputs, kernel)
    rows = array.reshape(inputs, [-1, shape[-1]])
    sizes = creation.shape(inputs)
    whole = array.concat([get_item(sizes, slice(None, -1)), [units]], 0)
    y = array.reshape(ops.MatMul(rows, kernel), whole)
    y.set_shape((*shape[:-1], units))
    return y


def _with_bias(
    y: Tensor,
    n: int,
    initializer: InitializerLike | None,
    regularizer: Regularizer | None,
    constraint: Constraint | None,
    trainable: bool,
    data_format: str | None = None,
) -> Tensor:
    """`y` plus a variable `bias` of `n` numbers, one for each channel."""
    initializer = zeros_initializer() if initializer is None else initializer
    bias = get_variable(
        "bias", [n], y.dtype, initializer, regularizer, trainable, constraint=constraint
    )
    return bias_add(y, bias, data_format)


def _activated(
    y: Tensor, activation: Activation | None, regularizer: Callable[[Tensor], Tensor] | None
) -> Tensor:
    """The activation of `y`; its regularizer's mean over the batch becomes a loss."""
    y = y if activation is None else activation(y)
    if regularizer is not None:
        with name_scope(None, "ActivityRegularizer", [y]):
            batch = ops.Cast(get_item(creation.shape(y), 0), DstT=y.dtype)
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, ops.RealDiv(regularizer(y), batch))
    return y


def _pair(numbers: int | Sequence[int], name: str) -> list[int]:
    pair = [int(n) for n in np.atleast_1d(np.asarray(numbers))]
    if len(pair) not in (1, 2):
        raise ValueError(
            f"The `{name}` argument must be a tuple of 2 integers. Received: {numbers}"
        )
    return pair * (3 - len(pair))


def _layout(data_format: str) -> str:
    layouts = {"channels_last": "NHWC", "channels_first": "NCHW"}
    if data_format not in layouts:
        raise ValueError(f"data_format must be one of {tuple(layouts)}, got {data_format!r}")
    return layouts[data_format]


def conv2d(
    inputs: TensorLike,
    filters: int,
    kernel_size: int | Sequence[int],
    strides: int | Sequence[int] = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: int | Sequence[int] = (1, 1),
    activation: Activation | None = None,
    use_bias: bool = True,
    kernel_initializer: InitializerLike | None = None,
    bias_initializer: InitializerLike | None = None,
    kernel_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None,
    activity_regularizer: Callable[[Tensor], Tensor] | None = None,
    kernel_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Reuse = None,
) -> Tensor:
    """A convolution, a bias and an activation, with variables `<name>/kernel`, `<name>/bias`."""
    inputs, layout = convert_to_tensor(inputs), _layout(data_format)
    axis = 3 if layout == "NHWC" else 1
    if inputs.shape is None or len(inputs.shape) != 4 or inputs.shape[axis] is None:
        raise ValueError(
            "The channel dimension of the inputs should be defined. The input_shape received is "
            f"{inputs.get_shape()}, where axis {axis} is the channel dimension, which found to be "
            "`None`."
        )
    with variable_scope(name, "conv2d", reuse=reuse):
        kernel = get_variable(
            "kernel",
            [*_pair(kernel_size, "kernel_size"), inputs.shape[axis], filters],
            inputs.dtype,
            kernel_initializer,
            kernel_regularizer,
            trainable,
            constraint=kernel_constraint,
        )
        steps, gaps = _pair(strides, "strides"), _pair(dilation_rate, "dilation_rate")
        y = windows.conv2d(inputs, kernel, steps, padding.upper(), True, layout, gaps)
        if use_bias:
            more = (bias_initializer, bias_regularizer, bias_constraint, trainable)
            y = _with_bias(y, filters, *more, data_format=layout)
        return _activated(y, activation, activity_regularizer)


def max_pooling2d(
    inputs: TensorLike,
    pool_size: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The largest element under each position of a window."""
    with name_scope(name, "max_pooling2d", [inputs]):
        size, steps = _pair(pool_size, "pool_size"), _pair(strides, "strides")
        return windows.max_pool(inputs, size, steps, padding.upper(), _layout(data_format))


def average_pooling2d(
    inputs: TensorLike,
    pool_size: int | Sequence[int],
    strides: int | Sequence[int],
    padding: str = "valid",
    data_format: str = "channels_last",
    name: str | None = None,
) -> Tensor:
    """The mean of the elements under each position of a window."""
    with name_scope(name, "average_pooling2d", [inputs]):
        size, steps = _pair(pool_size, "pool_size"), _pair(strides, "strides")
        return windows.avg_pool(inputs, size, steps, padding.upper(), _layout(data_format))


def dropout(
    inputs: TensorLike,
    rate: float | Tensor = 0.5,
    noise_shape: DynamicShape | None = None,
    seed: int | None = None,
    training: bool | Tensor = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` with a part `rate` of its elements dropped when `training` holds."""
    with name_scope(name, "dropout", [inputs]):
        x = convert_to_tensor(inputs)

        def drop() -> Tensor:
            return normalization.dropout(x, noise_shape=noise_shape, seed=seed, rate=rate)

        if isinstance(training, Tensor):
            return cast("Tensor", cond(training, drop, lambda: ops.Identity(x)))
        return drop() if training else ops.Identity(x)
