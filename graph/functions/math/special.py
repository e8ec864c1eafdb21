"""Special functions, counts and confusion: what `tf.math` has beyond arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.arrays import as_array
from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.scopes import control_dependencies, name_scope
from ..array import array, creation
from ..array.casting import cast
from ..checks import assert_less, assert_non_negative
from ..ragged.operands import as_ragged
from ..ragged.operands import flat as flat_values
from ..rows import functions, unary
from .reductions import reduce_all, reduce_sum

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
approx_top_k            ApproxTopK          input k reduction_dimension=-1 recall_target=0.95 \
    is_max_k=True reduction_input_size_override=-1 aggregate_to_topk=True \
    # The `k` largest elements along a dimension, and where they are; exact here
betainc                 Betainc             a b x \
    # The regularized incomplete beta function I_x(a, b) (DLMF 8.17.2), x in [0, 1]
cumulative_logsumexp    CumulativeLogsumexp x axis=0 exclusive=False reverse=False \
    # log of the running sums of exp(x) along `axis`
igamma                  Igamma              a x \
    # The regularized lower incomplete gamma function P(a, x) (DLMF 8.2.4); NaN below 0
igammac                 Igammac             a x \
    # The regularized upper incomplete gamma function Q(a, x) (DLMF 8.2.4); NaN below 0
polygamma               Polygamma           a x \
    # Derivative `a` of digamma(x) (DLMF 5.15.1); NaN unless a is 0, 1, 2, ...
"""
ELEMENTWISE = """
as_string               AsString            input precision=-1 scientific=False shortest=False \\
    width=-1 fill='' \
    # Each number as C's printf writes it: %d, or %f, %e or %g with `precision` digits
bessel_i0               BesselI0            x # The modified Bessel function I0 (DLMF 10.25)
bessel_i0e              BesselI0e           x # exp(-|x|) I0(x)
bessel_i1               BesselI1            x # The modified Bessel function I1 (DLMF 10.25)
bessel_i1e              BesselI1e           x # exp(-|x|) I1(x)
bessel_j0               BesselJ0            x # The Bessel function J0 (DLMF 10.2)
bessel_j1               BesselJ1            x # The Bessel function J1 (DLMF 10.2)
bessel_k0               BesselK0            x \
    # The modified Bessel function K0 (DLMF 10.25), for x > 0
bessel_k0e              BesselK0e           x # exp(x) K0(x), for x > 0
bessel_k1               BesselK1            x \
    # The modified Bessel function K1 (DLMF 10.25), for x > 0
bessel_k1e              BesselK1e           x # exp(x) K1(x), for x > 0
bessel_y0               BesselY0            x # The Bessel function Y0 (DLMF 10.2), for x > 0
bessel_y1               BesselY1            x # The Bessel function Y1 (DLMF 10.2), for x > 0
dawsn                   Dawsn               x \
    # exp(-x**2) times the integral of exp(t**2) from 0 to x
erfinv                  Erfinv              x # The y with erf(y) = x, x in [-1, 1]
expint                  Expint              x \
    # The principal value of the integral of exp(t) / t from -inf to x; NaN where x < 0
fresnel_cos             FresnelCos          x # The integral of cos(pi t**2 / 2) from 0 to x
fresnel_sin             FresnelSin          x # The integral of sin(pi t**2 / 2) from 0 to x
multiply_no_nan         MulNoNan            x y \
    # x times y, 0 where y is 0, also where x is infinite or NaN
ndtri                   Ndtri               x \
    # The y at which the normal distribution reaches x, in (0, 1)
nextafter               NextAfter           x1 x2:x2 \
    # The number of the type that follows x1 towards x2
spence                  Spence              x \
    # Minus the integral of log(t) / (t - 1) from 1 to x; NaN where x < 0
xlog1py                 Xlog1py             x y # x log(1 + y), 0 where x is 0
zeta                    Zeta                x q \
    # Hurwitz's zeta function, the sum of (q + k)**-x over k = 0, 1, ... (DLMF 25.11.1)
"""
globals().update(functions(ONE_TO_ONE, __name__))
globals().update(functions(ELEMENTWISE, __name__, elementwise=True))


@unary
def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The angle of each element in the complex plane, in radians from -pi to pi.

    Args:
        input: Complex numbers, or real floats, of which negative ones are at pi and others at 0.
        name: Of the operations.

    Returns float32 for complex64, float64 for complex128, else the type of `input`.

    Raises TypeError for integers.
    """
    with name_scope(name, "Angle", [input]):
        x = convert_to_tensor(input, name="input")
        if x.dtype.kind == "c":
            return ops.Angle(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"))
        pi = as_array(np.pi, x.dtype)
        return ops.SelectV2(ops.Less(x, np.zeros((), x.dtype)), pi, np.zeros((), x.dtype))


@unary
def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The y with erfc(y) = x; NaN outside of [0, 2], infinite at its ends.

    Args:
        x: float32 or float64, of any shape.
        name: Of the operations.

    Raises TypeError for other types.
    """
    with name_scope(name, "erfcinv", [x]):
        value = convert_to_tensor(x, name="start")
        half, root = np.asarray(0.5, value.dtype), np.asarray(np.sqrt(0.5), value.dtype)
        return ops.Mul(ops.Neg(ops.Ndtri(ops.Mul(half, value))), root)


@unary
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0.

    Args:
        x: Floats or complex numbers, of any shape.
        name: Of the operation.

    Raises TypeError for integers.
    """
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        value = convert_to_tensor(x, name="x")
        return ops.DivNoNan(np.ones((), value.dtype), value, name=scope)


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """log |Beta(x)| of each vector of the last dimension: lgamma(x) summed less lgamma(sum).

    Args:
        x: [..., n], real floats.
        name: Of the operations.

    Returns [...]. Raises TypeError for integers.
    """
    with name_scope(name, "lbeta", [x]):
        vectors = convert_to_tensor(x, name="x")
        logs = reduce_sum(ops.Lgamma(vectors), -1)
        return ops.Sub(logs, ops.Lgamma(reduce_sum(vectors, -1)))


def sobol_sample(
    dim: TensorLike,
    num_results: TensorLike,
    skip: TensorLike = 0,
    dtype: DTypeLike = np.float32,
    name: str | None = None,
) -> Tensor:
    """[num_results, dim] numbers in (0, 1): points of a Sobol sequence, in its order.

    Args:
        dim: Coordinates of a point, an int32 scalar from 1 to 2111.
        num_results: Points, an int32 scalar of at least 1.
        skip: Points that are left out at the beginning, an int32 scalar of at least 0.
        dtype: float32 or float64.
        name: Of the operation.

    Raises InvalidArgumentError when it runs with numbers out of these ranges.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.math.sobol_sample(2, 3)).tolist())
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    with name_scope(name, "sobol", [dim, num_results, skip]):
        return ops.SobolSample(dim, num_results, skip, dtype=as_numpy(dtype))


def _in_pairs(x: TensorLike) -> tuple[Tensor, Tensor]:
    flat = array.reshape(convert_to_tensor(x), [-1])
    if flat.dtype.kind not in "iufcV":
        raise TypeError(f"Expected x to be numeric, instead found: {flat}")
    return flat[1:], flat[:-1]


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: whether no element, row by row, is smaller than the one before.

    Args:
        x: Numbers of any shape; true for less than two.
        name: Of the operations.

    Raises TypeError for what are no numbers.
    """
    with name_scope(name, "is_non_decreasing", [x]):
        after, before = _in_pairs(x)
        return reduce_all(ops.LessEqual(before, after))


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """A bool scalar: whether each element, row by row, is larger than the one before.

    Args:
        x: Numbers of any shape; true for less than two.
        name: Of the operations.

    Raises TypeError for what are no numbers.
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        after, before = _in_pairs(x)
        return reduce_all(ops.Less(before, after))


def bincount(
    arr: TensorLike | RaggedTensor | SparseTensor,
    weights: TensorLike | RaggedTensor | SparseTensor | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = np.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each of 0, 1, ... is in `arr`, or the sum of the weights where it is.

    Args:
        arr: Whole numbers that are not negative, of any shape, or ragged or sparse.
        weights: of the shape of `arr`, and the type of the result.
        minlength: The least size of the result, which else is the largest number and 1.
        maxlength: Numbers from here on are not counted.
        dtype: Of the result, without weights.
        name: Of the operations.
        axis: None or 0 counts in all of them, -1 in each row.
        binary_output: Whether to say only which are there.

    Raises ValueError for another axis, and for weights that would not count.
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if weights is not None and binary_output:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only "
            "one."
        )
    with name_scope(name, "bincount"):
        if isinstance(arr, SparseTensor):
            return _sparse_bincount(
                arr, weights, (minlength, maxlength), dtype, axis, binary_output
            )
        if isinstance(weights, SparseTensor):
            raise ValueError(f"Argument `weights` must be of the form of `arr`, got {weights}")
        x = as_ragged(arr)
        numbers = _whole_numbers(flat_values(x), axis is None and not binary_output)
        size = _size(numbers, minlength, maxlength)
        amounts = np.zeros(0, np.dtype(dtype)) if weights is None else flat_values(weights)
        if axis is None and not binary_output:
            return ops.Bincount(numbers, size, amounts)
        if isinstance(x, RaggedTensor) and axis == -1:
            splits = cast(x.row_splits, np.int64)
            return ops.RaggedBincount(splits, numbers, size, amounts, binary_output=binary_output)
        if axis != -1:
            numbers = array.reshape(numbers, [-1])
            amounts = amounts if weights is None else array.reshape(amounts, [-1])
        return ops.DenseBincount(numbers, size, amounts, binary_output=binary_output)


def _whole_numbers(x: Tensor, narrow: bool) -> Tensor:
    """Numbers that the operations count: int32 where they must be narrow."""
    return cast(x, np.int32) if narrow or x.dtype not in (np.int32, np.int64) else x


def _size(numbers: Tensor, minlength: TensorLike | None, maxlength: TensorLike | None) -> Tensor:
    """One more than the largest number, within the bounds."""
    dtype = np.dtype(numbers.dtype)
    flat = array.reshape(numbers, [-1])
    largest = ops.Max(ops.ConcatV2([flat, np.array([-1], dtype)], np.int32(0)), [0])
    size = ops.AddV2(largest, dtype.type(1))
    if minlength is not None:
        size = ops.Maximum(cast(minlength, dtype), size)
    if maxlength is not None:
        size = ops.Minimum(cast(maxlength, dtype), size)
    return size


def _sparse_bincount(
    sp: SparseTensor,
    weights: TensorLike | RaggedTensor | SparseTensor | None,
    lengths: tuple[TensorLike | None, TensorLike | None],
    dtype: DTypeLike,
    axis: int | None,
    binary_output: bool,
) -> Tensor:
    numbers = _whole_numbers(sp.values, narrow=False)
    amounts: Tensor | np.ndarray = np.zeros(0, np.dtype(dtype))
    if isinstance(weights, SparseTensor):
        amounts = weights.values
    elif weights is not None:
        raise ValueError(f"Argument `weights` must be a SparseTensor as `arr` is, got {weights}")
    size = _size(numbers, *lengths)
    if axis != -1:
        return ops.DenseBincount(numbers, size, amounts, binary_output=binary_output)
    return ops.SparseBincount(
        sp.indices, numbers, sp.dense_shape, size, amounts, binary_output=binary_output
    )


def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = np.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """[num_classes, num_classes]: how often label `row` was predicted as `column`.

    Args:
        labels, predictions: [n], whole numbers; a last dimension of 1 is taken away.
        num_classes: One more than the largest of both by default.
        dtype: Of the result.
        name: Of the operations.
        weights: [n], counted in place of ones.

    Raises InvalidArgumentError, when it runs, for labels or predictions out of range.
    """
    with name_scope(name, "confusion_matrix", [labels, predictions]):
        rows, columns = (_column(x) for x in (labels, predictions))
        rows = _not_negative(rows, "labels")
        columns = _not_negative(columns, "predictions")
        if num_classes is None:
            most = ops.Maximum(ops.Max(columns, [0]), ops.Max(rows, [0]))
            n = ops.Add(most, np.int64(1))
        else:
            n = cast(convert_to_tensor(num_classes), np.int64)
            rows = _below(rows, n, "labels")
            columns = _below(columns, n, "predictions")
        shape = ops.Pack([n, n])
        positions = ops.Pack([rows, columns], axis=1)
        counted = np.ones((), np.dtype(dtype)) if weights is None else cast(weights, dtype)
        values = ops.Add(ops.Fill(ops.Shape(rows), np.zeros((), np.dtype(dtype))), counted)
        return ops.ScatterNd(positions, values, shape)


def _not_negative(x: Tensor, name: str) -> Tensor:
    words = f"`{name}` contains negative values"
    with control_dependencies([assert_non_negative(x, message=words)]):
        return ops.Identity(x)


def _below(x: Tensor, n: Tensor, name: str) -> Tensor:
    with control_dependencies([assert_less(x, n, message=f"`{name}` out of bound")]):
        return ops.Identity(x)


def _column(x: TensorLike) -> Tensor:
    numbers = cast(convert_to_tensor(x), np.int64)
    if numbers.sizes is not None and len(numbers.sizes) == 2 and numbers.sizes[1] == 1:
        return array.squeeze(numbers, [-1])
    return numbers


def arg_max(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = np.int64,
    name: str | None = None,
) -> Tensor:
    """`argmax` under its older name: where along a dimension the first largest element stands.

    Args:
        input: Numbers or bool, of rank 1 or more.
        dimension: int16, int32 or int64 scalar from -rank to rank - 1.
        output_type: int16, uint16, int32 or int64.
        name: Of the operation.

    Raises ValueError for a dimension out of range.
    """
    return ops.ArgMax(input, dimension, output_type=output_type, name=name)


def arg_min(
    input: TensorLike,
    dimension: TensorLike,
    output_type: DTypeLike = np.int64,
    name: str | None = None,
) -> Tensor:
    """`argmin` under its older name: where along a dimension the first smallest element stands.

    Args:
        input: Numbers or bool, of rank 1 or more.
        dimension: int32 or int64 scalar from -rank to rank - 1.
        output_type: int32 or int64.
        name: Of the operation.

    Raises ValueError for a dimension out of range.
    """
    return ops.ArgMin(input, dimension, output_type=output_type, name=name)


def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The place of each index in an array of sizes `dims`, in the order of rows.

    Args:
        indices: A scalar or [n], int32 or int64, from 0 to the product of `dims` - 1.
        dims: [rank], the sizes, of the same type.
        name: Of the operation.

    Returns [rank] for a scalar, else [rank, n].

    Raises InvalidArgumentError when it runs, for indices out of range or of another rank.
    """
    return ops.UnravelIndex(indices, dims, name=name)


def reduce_euclidean_norm(
    input_tensor: TensorLike,
    axis: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The root of the sum of |x|**2 along `axis`, of the type of `input_tensor`.

    Args:
        input_tensor: Numbers of any shape; roots of integers are cut to whole numbers.
        axis: A dimension or a list of them, from the end when negative; all by default.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operation.

    Raises ValueError for an axis out of range.
    """
    x = convert_to_tensor(input_tensor)
    axes = creation.range(0, ops.Rank(x)) if axis is None else axis
    norm = ops.EuclideanNorm(x, axes, keep_dims=keepdims, name=name)
    if axis is None and not keepdims:
        norm.set_shape(())
    return norm
