"""What distributions ask of their parameters and of the values they are shown."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import DType, as_dtype
from ...core.scopes import control_dependencies, name_scope
from ..array.casting import cast
from ..checks import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_positive,
)
from ..flow.control_flow import with_dependencies
from ..math.reductions import reduce_sum
from ..shape_checks import assert_rank_at_least, assert_same_float_dtype

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ...core.typing import DTypeLike, TensorLike

_WHOLE_TYPES = {"float16": np.int16, "float32": np.int32, "float64": np.int64}
"""Integers that hold the whole numbers of a type of floats."""


def log_combinations(n: Tensor, counts: Tensor) -> Tensor:
    """log(n! / (counts[..., 0]! counts[..., 1]! ...))."""
    with name_scope("log_combinations", values=[n, counts]):
        return ops.Lgamma(n + 1) - reduce_sum(ops.Lgamma(counts + 1), axis=[-1])


def another_seed(seed: int | None, salt: str) -> int | None:
    """TensorFlow's seed for the second operation of a draw whose first one takes `seed`."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def same_floats(
    validate_args: bool, positive: tuple[TensorLike, ...] = (), **parameters: TensorLike
) -> tuple[Tensor, ...]:
    """The parameters as tensors of their names, when those of `positive` are.

    Raises ValueError when they are not of one type of floats.
    """
    checks = [assert_positive(value) for value in positive] if validate_args else []
    with control_dependencies(checks):
        tensors = tuple(ops.Identity(value, name=name) for name, value in parameters.items())
        assert_same_float_dtype(tensors)
    return tensors


def positive_concentration(concentration: Tensor, validate_args: bool) -> Tensor:
    """`concentration`, when it is positive."""
    if not validate_args:
        return concentration
    check = assert_positive(concentration, message="Concentration parameter must be positive.")
    return with_dependencies([check], concentration)


def logits_and_probs(
    logits: TensorLike | None,
    probs: TensorLike | None,
    validate_args: bool,
    name: str,
    of_classes: bool = False,
) -> tuple[Tensor, Tensor]:
    """Both of two parameters of which one is there.

    With `of_classes` the last dimension is one of classes, else each number is one of its own.

    Raises:
        ValueError: Both are there or none is, or `validate_args` and there are too few classes.
        TypeError: The one is not of floats.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            x = _floats(logits, "logits")
            if not of_classes:
                return x, ops.Sigmoid(x, name="probs")
            x = classes(x) if validate_args else x
            return x, ops.Softmax(x, name="probs")
        p = _floats(probs, "probs")
        if validate_args:
            p = _checked_probs(p, of_classes)
        with name_scope("logits"):
            return (ops.Log(p) if of_classes else ops.Log(p) - ops.Log1p(-1.0 * p)), p


def _floats(value: TensorLike | None, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    if not as_dtype(tensor.dtype).is_floating:
        raise TypeError(f"{name} must having floating type.")
    return tensor


def _checked_probs(probs: Tensor, of_classes: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = np.ones((), probs.dtype)
        checks = [assert_non_negative(probs)]
        if of_classes:
            probs = classes(probs)
            total = reduce_sum(probs, -1)
            checks.append(assert_near(total, one, message="probs does not sum to 1."))
        else:
            words = "probs has components greater than 1."
            checks.append(assert_less_equal(probs, one, message=words))
        return with_dependencies(checks, probs)


def classes(parameter: Tensor) -> Tensor:
    """A parameter [..., classes], when there are two classes or more and the type counts them.

    Raises ValueError where the number is known and wrong.
    """
    dtype = as_dtype(parameter.dtype)
    most, shape = _largest(dtype), parameter.get_shape()
    few = "A categorical-distribution parameter must have at least 2 events."
    flat = "A categorical-distribution parameter must have at least 1 dimension."
    if shape.ndims == 0:
        raise ValueError(flat)
    n = None if shape.ndims is None else shape.as_list()[-1]
    if n is None:
        sizes = ops.Shape(parameter)
        many = f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} dtype "
        checks = [
            assert_rank_at_least(parameter, 1, message=flat),
            assert_greater_equal(sizes[-1], 2, message=few),
            assert_less_equal(sizes[-1], most, message=f"{many}cannot exceed {most} shape."),
        ]
        return with_dependencies(checks, parameter)
    if n < 2:
        raise ValueError(few)
    if n > most:
        raise ValueError(
            f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} implies shape ({n}) "
            f"cannot exceed {most}."
        )
    return parameter


def _largest(dtype: DType) -> int:
    """The last whole number up to which a type has all of them."""
    if dtype.is_bool:
        return 1
    kind = dtype.dtype
    return 2 ** (np.finfo(kind).nmant + 1) if dtype.is_floating else int(np.iinfo(kind).max)


def whole_numbers(x: Tensor, target: DTypeLike) -> Tensor:
    """`x`, when its elements are whole numbers from 0 that `target` has.

    Raises TypeError for a type that has no numbers.
    """
    dtype, kind = as_dtype(x.dtype), as_dtype(target)
    if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
        raise TypeError(f"{dtype.name}.dtype must be floating- or integer-type.")
    checks = [assert_non_negative(x, message="Elements must be non-negative.")]
    if dtype.is_floating:
        checks.append(_without_fractions(x, kind, f"Elements must be {kind.name}-equivalent."))
    elif _largest(dtype) > _largest(kind):
        words = f"Elements cannot exceed {_largest(kind)}."
        checks.append(assert_less_equal(x, np.asarray(_largest(kind), x.dtype), message=words))
    return with_dependencies(checks, x)


def counts(x: Tensor) -> Tensor:
    """`x`, when its elements are whole numbers from 0."""
    checks = [assert_non_negative(x, message=f"'{x}' must be non-negative.")]
    dtype = as_dtype(x.dtype)
    if not dtype.is_integer:
        words = f"'{x}' cannot contain fractional components."
        checks.append(_without_fractions(x, as_dtype(_WHOLE_TYPES[dtype.name]), words))
    return with_dependencies(checks, x)


def counts_of(x: Tensor, total: Tensor, message: str) -> Tensor:
    """`x`, when its last dimension counts `total` things."""
    x = counts(x)
    return with_dependencies([assert_equal(total, reduce_sum(x, -1), message=message)], x)


def _without_fractions(x: Tensor, whole: DType, message: str) -> Operation:
    return assert_equal(x, cast(cast(x, whole), x.dtype), message=message)
