"""Activations, initializers, regularizers and constraints by their names, as layers take them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ...core.build import ops
from ...core.graph import Tensor
from ...variables import initializers
from ..math.reductions import reduce_sum
from . import activations

if TYPE_CHECKING:
    from ...variables.variable_scope import InitializerLike, Regularizer
    from ...variables.variables import Constraint, Variable

    Activation = Callable[[Tensor], Tensor]

Function = TypeVar("Function")

EPSILON = np.float32(1e-7)
"""What norms are kept above."""
RATE = np.float32(0.01)
"""The factor of regularizers."""


def _hard_sigmoid(x: Tensor) -> Tensor:
    return ops.ClipByValue(x * 0.2 + 0.5, np.asarray(0, x.dtype), np.asarray(1, x.dtype))


def _gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1.0 + ops.Erf(x / np.asarray(np.sqrt(2.0), x.dtype)))


ACTIVATIONS: dict[str, Activation] = {
    "elu": ops.Elu,
    "exponential": ops.Exp,
    "gelu": _gelu,
    "hard_sigmoid": _hard_sigmoid,
    "leaky_relu": activations.leaky_relu,
    "linear": lambda x: x,
    "log_softmax": activations.log_softmax,
    "mish": lambda x: x * ops.Tanh(ops.Softplus(x)),
    "relu": ops.Relu,
    "relu6": ops.Relu6,
    "selu": ops.Selu,
    "sigmoid": ops.Sigmoid,
    "silu": activations.swish,
    "softmax": activations.softmax,
    "softplus": ops.Softplus,
    "softsign": ops.Softsign,
    "swish": activations.swish,
    "tanh": ops.Tanh,
}

INITIALIZERS: dict[str, Callable[[], initializers.Initializer]] = {
    "constant": initializers.Constant,
    "glorot_normal": initializers.GlorotNormal,
    "glorot_uniform": initializers.GlorotUniform,
    "he_normal": initializers.he_normal,
    "he_uniform": initializers.he_uniform,
    "identity": initializers.Identity,
    "lecun_normal": initializers.lecun_normal,
    "lecun_uniform": initializers.lecun_uniform,
    "ones": initializers.Ones,
    "orthogonal": initializers.Orthogonal,
    "random_normal": lambda: initializers.RandomNormal(stddev=0.05),
    "random_uniform": lambda: initializers.RandomUniform(-0.05, 0.05),
    "truncated_normal": lambda: initializers.TruncatedNormal(stddev=0.05),
    "variance_scaling": initializers.VarianceScaling,
    "zeros": initializers.Zeros,
}
SHORT = {"normal": "random_normal", "one": "ones", "uniform": "random_uniform", "zero": "zeros"}
"""Other names of initializers."""


def _absolute(x: Variable) -> Tensor:
    return RATE * reduce_sum(ops.Abs(x))


def _squared(x: Variable) -> Tensor:
    return RATE * reduce_sum(ops.Square(x))


REGULARIZERS: dict[str, Regularizer] = {
    "l1": _absolute,
    "l1_l2": lambda x: _absolute(x) + _squared(x),
    "l2": _squared,
}


def _scaled(limits: Callable[[Tensor], Tensor]) -> Constraint:
    """Columns with norms in limits."""

    def constrain(weights: Tensor) -> Tensor:
        norms = ops.Sqrt(reduce_sum(ops.Square(weights), 0, keepdims=True))
        return weights * (limits(norms) / (EPSILON + norms))

    return constrain


CONSTRAINTS: dict[str, Constraint] = {
    "max_norm": _scaled(lambda norms: ops.ClipByValue(norms, np.float32(0), np.float32(2))),
    "min_max_norm": _scaled(lambda norms: ops.ClipByValue(norms, np.float32(0), np.float32(1))),
    "non_neg": lambda weights: weights * ops.Cast(weights >= 0, DstT=weights.dtype),
    "unit_norm": _scaled(ops.OnesLike),
}


def activation_of(activation: Activation | str | None) -> Activation | None:
    """A function of a tensor, also by its name."""
    if activation is not None and not isinstance(activation, str) and not callable(activation):
        raise TypeError(f"Could not interpret activation function identifier: {activation}")
    return _named("activation function", ACTIVATIONS, activation)


def initializer_of(initializer: InitializerLike | None) -> InitializerLike | None:
    """An initializer, also by its name."""
    if not isinstance(initializer, str):
        return initializer
    make = _named("initializer", INITIALIZERS, SHORT.get(initializer, initializer))
    return cast("Callable[[], initializers.Initializer]", make)()


def regularizer_of(regularizer: Regularizer | str | None) -> Regularizer | None:
    """A function of a variable that gives a loss, also by its name."""
    return _named("regularizer", REGULARIZERS, regularizer)


def constraint_of(constraint: Constraint | str | None) -> Constraint | None:
    """A function that variables are passed through, also by its name."""
    return _named("constraint", CONSTRAINTS, constraint)


def _named(
    kind: str, functions: Mapping[str, Function], identifier: Function | str | None
) -> Function | None:
    """The function that a name stands for, in the words of names or of classes."""
    if not isinstance(identifier, str):
        return identifier
    name = identifier
    if re.match("[A-Z][a-z]", name):
        name = re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
    if name not in functions:
        raise ValueError(
            f"Unknown {kind}: '{identifier}', must be one of {', '.join(sorted(functions))}"
        )
    return functions[name]
