"""Layers of any rank: Dense, Dropout, Flatten."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.graph import Tensor
from ..core.shapes import is_static
from ..core.tensor_shape import TensorShape
from ..functions.array import array, creation
from ..functions.array.slices import get_item
from ..functions.flow.conditional import cond
from ..functions.nn import normalization
from ..functions.nn.activations import bias_add
from ..functions.nn.named_functions import activation_of
from ..variables.initializers import zeros_initializer
from .base import Activation, InputSpec, Layer
from .functional import functional
from .geometry import layout

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..core.typing import ShapeLike, TensorLike
    from ..functions.array.creation import DynamicShape
    from ..variables.variable_scope import InitializerLike, Regularizer, VariableScope
    from ..variables.variables import Constraint, Variable
    from .base import LayerOptions, NamedOptions, PlainOptions


class Dense(Layer):
    """activation(inputs @ kernel + bias), over the last dimension of the inputs.

    Args:
        units: How many results.
        activation: A function of a tensor, or its name; None for none.
        use_bias: Whether there is a bias.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        kernel_constraint, bias_constraint: Of its variables, as of get_variable.
        activity_regularizer: A function of the results, whose mean over the batch is a loss.
        trainable: Whether its variables are trained.
        name: Of its scope.
        **kwargs: Of Layer.

    Raises ValueError when the last dimension of the inputs is not known.
    """

    CONFIGURED = (
        "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint bias_constraint"
    )

    def __init__(
        self,
        units: int,
        activation: Activation | str | None = None,
        use_bias: bool = True,
        kernel_initializer: InitializerLike | None = None,
        bias_initializer: InitializerLike | None = None,
        kernel_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None,
        activity_regularizer: Callable[[Tensor], Tensor] | None = None,
        kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None,
        trainable: bool = True,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[LayerOptions],
    ):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        if self.units < 0:
            raise ValueError(
                f"Received an invalid value for `units`, expected a positive integer. "
                f"Received: units={units}"
            )
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = (
            zeros_initializer() if bias_initializer is None else bias_initializer
        )
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel: Variable | None = None
        self.bias: Variable | None = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: TensorShape) -> None:
        """Makes `kernel` [n, units] and `bias` [units] for an `input_shape` [..., n]."""
        if self.dtype is not None and not (self.dtype.is_floating or self.dtype.is_complex):
            raise TypeError(
                "A Dense layer can only be built with a floating-point dtype. Received: "
                f"dtype={self.dtype!s}"
            )
        shape = TensorShape(input_shape)
        depth = None if shape.ndims is None else shape.as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                f"Full input shape received: {input_shape}"
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            [depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """activation(inputs @ kernel + bias), [..., units]."""
        y = self._product(inputs)
        if self.bias is not None:
            y = bias_add(y, self.bias)
        return y if self.activation is None else self.activation(y)

    def _product(self, inputs: Tensor) -> Tensor:
        """inputs @ kernel, over the last dimension of `inputs`."""
        shape = inputs.sizes
        if shape is None or len(shape) == 2:
            return ops.MatMul(inputs, self.kernel)
        rows = array.reshape(inputs, [-1, shape[-1]])
        sizes = creation.shape(inputs)
        whole = array.concat([get_item(sizes, slice(None, -1)), [self.units]], 0)
        y = array.reshape(ops.MatMul(rows, self.kernel), whole)
        y.set_shape((*shape[:-1], self.units))
        return y

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """That of the inputs, with `units` as its last size."""
        shape = TensorShape(input_shape).with_rank_at_least(2).as_list()
        if shape[-1] is None:
            raise ValueError(
                "The last dimension of the input shape of a Dense layer should be defined. Found "
                f"None. Received: input_shape={input_shape}"
            )
        return TensorShape([*shape[:-1], self.units])


class Dropout(Layer):
    """Drops a part of the elements in training, and makes up for it in the others.

    Args:
        rate: The part that is dropped.
        noise_shape: The shape in which elements are dropped together, by broadcasting.
        seed: Of the random numbers.
        name: Of its scope.
        **kwargs: Of Layer.
    """

    CONFIGURED = "rate noise_shape seed"

    def __init__(
        self,
        rate: float | Tensor = 0.5,
        noise_shape: DynamicShape | None = None,
        seed: int | None = None,
        name: str | VariableScope | None = None,
        **kwargs: Unpack[PlainOptions],
    ):
        super().__init__(name=name, **kwargs)
        if isinstance(rate, (int, float)) and not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value {rate} received for `rate`, expected a value between 0 and 1."
            )
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Tensor, training: bool | Tensor = False) -> Tensor:
        """The `inputs`, with elements dropped where `training` holds."""

        def drop() -> Tensor:
            return normalization.dropout(
                inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate
            )

        if isinstance(training, Tensor):
            return cast("Tensor", cond(training, drop, lambda: ops.Identity(inputs)))
        return drop() if training else ops.Identity(inputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """That of the inputs."""
        return TensorShape(input_shape)


class Flatten(Layer):
    """[batch, ...] as [batch, everything else].

    Args:
        data_format: "channels_first" has channels moved behind the others before.
        **kwargs: Of Layer.
    """

    CONFIGURED = "data_format"

    def __init__(self, data_format: str | None = None, **kwargs: Unpack[NamedOptions]):
        super().__init__(**kwargs)
        self.data_format = "channels_last" if data_format is None else data_format
        layout(self.data_format, 2)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Tensor) -> Tensor:
        """The inputs in rows."""
        shape = inputs.sizes
        if self.data_format == "channels_first" and shape is not None and len(shape) > 2:
            inputs = array.transpose(inputs, [0, *np.arange(2, len(shape)).tolist(), 1])
        inner = None if inputs.sizes is None else inputs.sizes[1:]
        if is_static(inner):
            return array.reshape(inputs, [-1, prod(inner)])
        return array.reshape(inputs, array.stack([creation.shape(inputs)[0], -1]))

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """[batch, product of the others]."""
        batch, *inner = TensorShape(input_shape).as_list()
        sizes = tuple(inner)
        return TensorShape([batch, prod(sizes) if is_static(sizes) else None])


dense = functional(
    Dense,
    "dense",
    "activation(inputs @ kernel + bias), [..., units], with variables of a new layer.",
    "[..., n], floats, of rank 2 or more.",
)


def dropout(
    inputs: TensorLike,
    rate: float | Tensor = 0.5,
    noise_shape: DynamicShape | None = None,
    seed: int | None = None,
    training: bool | Tensor = False,
    name: str | None = None,
) -> Tensor:
    """`inputs` with elements set to 0 when `training` holds, the others times 1 / (1 - rate).

    Args:
        inputs: Real floats of any shape.
        rate: The part that is dropped, a number or scalar tensor from 0 to 1.
        noise_shape: The shape of the choices; it broadcasts to that of `inputs`.
        seed: Of the random numbers, with that of `tf.set_random_seed`.
        training: A truth value, or a bool scalar that is read when it runs.
        name: Of the layer's scope.

    Raises ValueError for a rate out of range.
    """
    return cast("Tensor", Dropout(rate, noise_shape, seed, name)(inputs, training=training))


def flatten(
    inputs: TensorLike, name: str | None = None, data_format: str = "channels_last"
) -> Tensor:
    """[batch, ...] as [batch, product of the other sizes].

    Args:
        inputs: Of any type, of rank 1 or more.
        name: Of the layer's scope.
        data_format: "channels_last", or "channels_first", whose channels are moved behind the
            others.

    Raises ValueError for another format.
    """
    return cast("Tensor", Flatten(data_format, name=name)(inputs))
