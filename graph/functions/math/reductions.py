"""TF1's sums, means and the like along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol
from typing import cast as cast_type

import numpy as np

from ...core.arrays import type_name
from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged, with_ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.create import constant, convert_to_tensor, is_tensor_like
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..arguments import one_of
from ..array.casting import cast
from ..array.creation import range
from ..ragged.arithmetic import reduce_ragged
from ..ragged.operands import as_ragged
from .arithmetic import add

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike


def argmax(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = np.int64,
) -> Tensor:
    """Where along `axis` the largest element stands, the first of several.

    Args:
        input: Numbers or bool, of rank 1 or more.
        axis: A dimension, int16, int32 or int64 scalar from -rank to rank - 1; 0 by default.
        name: Of the operation.
        dimension: An older name of `axis`.
        output_type: int16, uint16, int32 or int64.

    Returns the shape of `input` without `axis`.

    Raises ValueError for an axis out of range, TypeError for one that is no integer; when it runs,
    InvalidArgumentError where there is nothing along the axis.
    """
    if isinstance(axis, Tensor):
        if axis.dtype.kind not in "iu":
            raise TypeError(
                f"axis tensor dtypes <dtype: '{type_name(axis.dtype)}'> is not supported"
            )
    elif axis is not None and not hasattr(axis, "__index__"):
        raise TypeError("axis must be int or Tensor with integer datatype")
    return _place(ops.ArgMax, input, axis, dimension, output_type, name)


def argmin(
    input: TensorLike,
    axis: TensorLike | None = None,
    name: str | None = None,
    dimension: TensorLike | None = None,
    output_type: DTypeLike = np.int64,
) -> Tensor:
    """Where along `axis` the smallest element stands, the first of several.

    Args:
        input: Numbers or bool, of rank 1 or more.
        axis: A dimension, int32 or int64 scalar from -rank to rank - 1; 0 by default.
        name: Of the operation.
        dimension: An older name of `axis`.
        output_type: int32 or int64.

    Returns the shape of `input` without `axis`.

    Raises ValueError for an axis out of range, TypeError for one that is no integer; when it runs,
    InvalidArgumentError where there is nothing along the axis.
    """
    return _place(ops.ArgMin, input, axis, dimension, output_type, name)


def _place(
    kind: Callable[..., Tensor],
    input: TensorLike,
    axis: TensorLike | None,
    dimension: TensorLike | None,
    output_type: DTypeLike,
    name: str | None,
) -> Tensor:
    axis = one_of("axis", axis, "dimension", dimension)
    return kind(input, 0 if axis is None else axis, output_type=output_type, name=name)


@with_ragged
def cumsum(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Sums of the elements up to each along `axis`, of the shape and type of `x`.

    Args:
        x: Numbers, of rank 1 or more, or a ragged tensor.
        axis: A dimension, int32 or int64 scalar from -rank to rank - 1.
        exclusive: Whether an element is left out of its own sum, so that the first is 0.
        reverse: Whether sums begin at the end.
        name: Of the operation.

    Raises TypeError for other types; when it runs, InvalidArgumentError for an axis out of range.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.cumsum([1, 2, 3], exclusive=True, reverse=True)))
    [5 3 0]
    """
    with name_scope(name, "Cumsum", [x]) as scope:
        return ops.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Products of the elements up to each along `axis`, of the shape and type of `x`.

    Args:
        x: Numbers, of rank 1 or more.
        axis: A dimension, int32 or int64 scalar from -rank to rank - 1.
        exclusive: Whether an element is left out of its own product, so that the first is 1.
        reverse: Whether products begin at the end.
        name: Of the operation.

    Raises TypeError for other types; when it runs, InvalidArgumentError for an axis out of range.
    """
    with name_scope(name, "Cumprod", [x]) as scope:
        return ops.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


class Reduction(Protocol):
    """A reduction of TensorFlow's, such as reduce_sum."""

    def __call__(
        self,
        input_tensor: TensorLike,
        axis: TensorLike | None = ...,
        keepdims: bool | None = ...,
        name: str | None = ...,
        reduction_indices: TensorLike | None = ...,
        keep_dims: bool | None = ...,
    ) -> Tensor:
        """The reduced tensor."""
        ...


def _reduction(public_name: str, kind: str, what: str) -> Reduction:
    def reduce(
        input_tensor: TensorLike,
        axis: TensorLike | None = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: TensorLike | None = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
        if is_ragged(input_tensor):
            return cast_type("Tensor", reduce_ragged(kind, input_tensor, axis, keepdims, name))
        is_flag = kind in ("All", "Any") and not is_tensor_like(input_tensor)
        name_of_input = "input_tensor" if kind == "Sum" else None
        x = convert_to_tensor(input_tensor, np.bool_ if is_flag else None, name_of_input)
        result = getattr(ops, kind)(x, reduction_axes(x, axis), keep_dims=keepdims, name=name)
        if axis is None and not keepdims:
            result.set_shape(())
        return result

    reduce.__name__ = reduce.__qualname__ = public_name
    reduce.__doc__ = f"""{what} the elements along `axis`, all of them by default.

    Args:
        input_tensor: The tensor.
        axis: A dimension or a list of them, from the end when negative.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operation.
        reduction_indices, keep_dims: Old names of `axis` and `keepdims`.
    """
    return reduce


reduce_sum = _reduction("reduce_sum", "Sum", "The sum of")
reduce_mean = _reduction("reduce_mean", "Mean", "The mean of")
reduce_prod = _reduction("reduce_prod", "Prod", "The product of")
reduce_max = _reduction("reduce_max", "Max", "The largest of")
reduce_min = _reduction("reduce_min", "Min", "The smallest of")
reduce_all = _reduction("reduce_all", "All", "Whether all are true among")
reduce_any = _reduction("reduce_any", "Any", "Whether one is true among")


def reduction_axes(x: Tensor, axis: TensorLike | None) -> TensorLike:
    """The axes of a reduction: those given, or all."""
    if axis is not None:
        return axis
    if x.sizes is not None:
        return constant(np.arange(len(x.sizes), dtype=np.int32))
    return range(0, ops.Rank(x))


def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """log(sum(exp(x))) along `axis`, less the largest element before exp, so that none overflows.

    Args:
        input_tensor: Real floats, also ragged; -inf where nothing is summed.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operations.
        reduction_indices, keep_dims: Older names of `axis` and `keepdims`.

    Raises TypeError for other types, ValueError for an axis out of range.
    """
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        if is_ragged(input_tensor):
            return _ragged_logsumexp(
                cast_type(RaggedTensor, as_ragged(input_tensor)), axis, keepdims
            )
        x = convert_to_tensor(input_tensor)
        raw = reduce_max(x, axis, keepdims=True)
        zeros = ops.ZerosLike(raw)
        top = ops.StopGradient(ops.Select(ops.IsFinite(raw), raw, zeros))
        result = ops.Log(reduce_sum(ops.Exp(ops.Sub(x, top)), axis, keepdims=keepdims))
        if not keepdims:
            top = ops.Reshape(top, ops.Shape(result))
        return add(result, top)


def _ragged_logsumexp(x: RaggedTensor, axis: TensorLike | None, keepdims: bool) -> Tensor:
    """log(sum(exp(x))) along `axis` of a ragged tensor, without overflow of the largest."""
    top = ops.StopGradient(reduce_max(x.flat_values))
    lowered = x.with_flat_values(ops.Exp(x.flat_values - top))
    total = reduce_ragged("Sum", lowered, axis, keepdims, None)
    if isinstance(total, RaggedTensor):
        return cast_type("Tensor", total.with_flat_values(ops.Log(total.flat_values) + top))
    return ops.Log(total) + top


def reduce_variance(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """mean(|x - mean(x)|**2) along `axis`: divided by n, not n - 1.

    Args:
        input_tensor: Floats or complex numbers, also ragged ones of floats.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operations.

    Returns the type of `input_tensor`; real numbers for complex ones.

    Raises TypeError for integers, ValueError for complex ragged tensors.
    """
    with name_scope(name or "reduce_variance"):
        if is_ragged(input_tensor):
            ragged = cast_type(RaggedTensor, as_ragged(input_tensor))
            if ragged.dtype.kind == "c":
                raise ValueError(
                    "reduce_variance is not supported for RaggedTensors with complex dtypes."
                )
            squares = cast_type("Tensor", ragged * ragged)
            means = reduce_mean(cast_type("Tensor", ragged), axis, keepdims)
            difference = reduce_mean(squares, axis, keepdims) - means * means
            if isinstance(difference, RaggedTensor):  # rounding may leave it below 0
                clipped = ops.Maximum(difference.flat_values, np.zeros((), difference.dtype))
                return cast_type("Tensor", difference.with_flat_values(clipped))
            return ops.Maximum(difference, np.zeros((), difference.dtype))
        x = convert_to_tensor(input_tensor)
        means = reduce_mean(x, axis, keepdims=True)
        if means.dtype.kind in "iu":
            raise TypeError(
                "Input must be either real or complex. Received integer type "
                f"<dtype: '{type_name(means.dtype)}'>."
            )
        deviations = ops.Sub(x, means)
        if means.dtype.kind == "c":
            parts = np.dtype(f"f{means.dtype.itemsize // 2}")
            squares = ops.Real(ops.Mul(deviations, ops.Conj(deviations)), Tout=parts)
        else:
            squares = ops.Square(deviations)
        return reduce_mean(squares, axis, keepdims=keepdims)


def reduce_std(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation along `axis`, the root of `reduce_variance`.

    Args:
        input_tensor: Floats or complex numbers, also ragged ones of floats.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operations.

    Raises TypeError for integers, ValueError for complex ragged tensors.
    """
    with name_scope(name or "reduce_std"):
        variance = cast_type("Tensor | RaggedTensor", reduce_variance(input_tensor, axis, keepdims))
        if isinstance(variance, RaggedTensor):
            root = ops.Sqrt(variance.flat_values)
            return cast_type("Tensor", variance.with_flat_values(root))
        return ops.Sqrt(variance)


def count_nonzero(
    input_tensor: TensorLike | None = None,
    axis: TensorLike | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = np.int64,
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keep_dims: bool | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """How many elements along `axis` are not 0, false or empty strings; NaN counts.

    Args:
        input_tensor: Numbers, bool or strings, of any shape.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        dtype: Of the result, any type of numbers.
        name: Of the operations.
        reduction_indices, keep_dims, input: Older names of `axis`, `keepdims` and `input_tensor`.

    Raises ValueError for an axis out of range, or an argument under two names.
    """
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(one_of("input", input, "input_tensor", input_tensor))
        zero = constant(np.zeros((), x.dtype) if x.dtype.kind != "O" else b"")
        flags = cast(ops.NotEqual(x, zero), np.int64)
        return cast(reduce_sum(flags, axis, keepdims=keepdims), dtype)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The part of the elements that are 0, a float32 from 0 to 1; NaN where there are none.

    Args:
        value: Numbers, bool or strings, of any shape.
        name: Of the operations.
    """
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        nothing = b"" if value.dtype.kind == "O" else np.zeros((), value.dtype)
        zeros = ops.Equal(value, nothing)
        return reduce_mean(cast(zeros, np.float32), name="fraction")
