"""TF1's arithmetic: element by element, products, reductions, segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..build import ops
from ..create import constant, convert_to_tensor, type_name
from ..graph import Tensor
from ..indexed_slices import IndexedSlices, dense
from ..scopes import name_scope
from ..shapes import is_static
from .rows import functions

ONE_TO_ONE = """
acos             Acos              x
acosh            Acosh             x
asin             Asin              x
asinh            Asinh             x
atan             Atan              x
atan2            Atan2             y x
atanh            Atanh             x
bincount_dense   DenseBincount     input size weights binary_output=False
bitwise_and      BitwiseAnd        x y
bitwise_or       BitwiseOr         x y
bitwise_xor      BitwiseXor        x y
ceil             Ceil              x
complex          Complex           real imag
cholesky         Cholesky          input
conj             Conj              x:input
cos              Cos               x
cosh             Cosh              x
digamma          Digamma           x
div_no_nan       DivNoNan          x y
equal            Equal             x y
erf              Erf               x
erfc             Erfc              x
exp              Exp               x
expm1            Expm1             x
fft              FFT               input
fft2d            FFT2D             input
ifft             IFFT              input
ifft2d           IFFT2D            input
floor            Floor             x
floor_div        FloorDiv          x y
floormod         FloorMod          x y
greater          Greater           x y
greater_equal    GreaterEqual      x y
invert           Invert            x
is_finite        IsFinite          x
is_inf           IsInf             x
is_nan           IsNan             x
left_shift       LeftShift         x y
less             Less              x y
less_equal       LessEqual         x y
lgamma           Lgamma            x
log              Log               x
log1p            Log1p             x
logical_and      LogicalAnd        x y
logical_not      LogicalNot        x
logical_or       LogicalOr         x y
matrix_determinant MatrixDeterminant input
matrix_inverse   MatrixInverse     input adjoint=False
matrix_solve     MatrixSolve       matrix rhs adjoint=False
maximum          Maximum           x y
minimum          Minimum           x y
multiply         Mul               x y
negative         Neg               x
not_equal        NotEqual          x y
realdiv          RealDiv           x y
reciprocal       Reciprocal        x
right_shift      RightShift        x y
rint             Rint              x
rsqrt            Rsqrt             x
segment_max      SegmentMax        data segment_ids
segment_mean     SegmentMean       data segment_ids
segment_min      SegmentMin        data segment_ids
segment_prod     SegmentProd       data segment_ids
segment_sum      SegmentSum        data segment_ids
sigmoid          Sigmoid           x
sign             Sign              x
sin              Sin               x
sinh             Sinh              x
sqrt             Sqrt              x
square           Square            x
squared_difference SquaredDifference x y
subtract         Sub               x y
tan              Tan               x
tanh             Tanh              x
truncatediv      TruncateDiv       x y
truncatemod      TruncateMod       x y
unsorted_segment_max  UnsortedSegmentMax  data segment_ids num_segments
unsorted_segment_min  UnsortedSegmentMin  data segment_ids num_segments
unsorted_segment_prod UnsortedSegmentProd data segment_ids num_segments
unsorted_segment_sum  UnsortedSegmentSum  data segment_ids num_segments
xdivy            Xdivy             x y
xlogy            Xlogy             x y
"""
globals().update(functions(ONE_TO_ONE))
mod = globals()["floormod"]

_WIDER = {"int8": "float32", "uint8": "float32", "int16": "float32", "uint16": "float32"}
_WIDER.update(dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64"))
"""What true division makes of integers."""


def add(x, y, name=None) -> Tensor:
    """x + y, element by element."""
    with name_scope(name, "Add", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
        kind = ops.Add if x.dtype.kind == "O" else ops.AddV2
        return kind(x, y, name=scope)


def abs(x, name=None) -> Tensor:
    """The absolute value of each element."""
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.kind == "c":
            real = np.dtype(f"f{x.dtype.itemsize // 2}")
            return ops.ComplexAbs(x, Tout=real, name=scope)
        return ops.Abs(x, name=scope)


def pow(x, y, name=None) -> Tensor:
    """x to the power of y, element by element."""
    with name_scope(name, "Pow", [x]) as scope:
        return ops.Pow(x, y, name=scope)


def round(x, name=None) -> Tensor:
    """The nearest whole numbers, halves to the even one."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.kind in "iu" else ops.Round(x, name=name)


def truediv(x, y, name=None) -> Tensor:
    """x / y; integers are made floats before.

    Raises TypeError when the dtypes differ or cannot be divided.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
        if x.dtype != y.dtype:
            raise TypeError(
                "`x` and `y` must have the same dtype, got "
                f"tf.{type_name(x.dtype)} != tf.{type_name(y.dtype)}."
            )
        if x.dtype.kind in "bO":
            raise TypeError(f"Invalid dtype tf.{type_name(x.dtype)} in __truediv__.")
        wider = _WIDER.get(x.dtype.name)
        if wider is not None:
            x, y = cast(x, wider), cast(y, wider)
        return ops.RealDiv(x, y, name=scope)


def divide(x, y, name=None) -> Tensor:
    """x / y as Python 3 divides."""
    return truediv(x, y, name)


def div(x, y, name=None) -> Tensor:
    """x / y as Python 2 divides: whole numbers stay whole."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype if not isinstance(y, Tensor) else None, "y")
        if x.dtype != y.dtype:
            raise TypeError(
                "`x` and `y` must have the same dtype, got "
                f"tf.{type_name(x.dtype)} != tf.{type_name(y.dtype)}."
            )
        kind = ops.RealDiv if x.dtype.kind in "fcV" else ops.FloorDiv
        return kind(x, y, name=scope)


def floordiv(x, y, name=None) -> Tensor:
    """x / y, rounded down."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return ops.FloorDiv(x, y, name=scope)


def cast(x, dtype, name=None) -> Any:
    """`x` in another dtype; `x` itself when it has that one already."""
    dtype = np.dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype, name), x.indices, x.dense_shape)
    if isinstance(x, Tensor) and x.dtype == dtype:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype == dtype else ops.Cast(x, DstT=dtype, name=scope)


def _cast_to(dtype, default: str):
    def function(x, name=default):
        return cast(x, dtype, name)

    function.__doc__ = f"`x` as {np.dtype(dtype).name}."
    return function


to_float = _cast_to(np.float32, "ToFloat")
to_double = _cast_to(np.float64, "ToDouble")
to_int32 = _cast_to(np.int32, "ToInt32")
to_int64 = _cast_to(np.int64, "ToInt64")


def saturate_cast(value, dtype, name=None) -> Tensor:
    """`value` in another dtype, held within its range."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value, dtype = convert_to_tensor(value, name="value"), np.dtype(dtype)
        if dtype.kind in "iu" and value.dtype.kind in "iuf":
            low, high = _limits_within(value.dtype, np.iinfo(dtype))
            with name_scope("clamp"):
                value = ops.Maximum(ops.Minimum(value, high), low)
        return cast(value, dtype, scope)


def _limits_within(dtype: np.dtype, limits) -> tuple:
    """The range of an integer type as numbers of `dtype` that lie within it."""
    if dtype.kind in "iu":
        own = np.iinfo(dtype)
        return dtype.type(max(own.min, limits.min)), dtype.type(min(own.max, limits.max))
    high = dtype.type(limits.max)
    if int(high) > limits.max:
        high = np.nextafter(high, dtype.type(0))
    return dtype.type(limits.min), high


def matmul(
    a,
    b,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name=None,
) -> Tensor:
    """The product of two matrices, or of stacks of them.

    Args:
        a, b: [..., rows, inner] and [..., inner, columns], of one dtype.
        transpose_a, transpose_b: Whether the last two dimensions are swapped before.
        adjoint_a, adjoint_b: The same, and conjugated.
        a_is_sparse, b_is_sparse: Taken for TensorFlow's sake.
        name: Of the operation.

    Raises:
        ValueError: A matrix is to be transposed and adjoint, or the sizes do not fit.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        for side, transposed, adjoint in (
            ("a", transpose_a, adjoint_a),
            ("b", transpose_b, adjoint_b),
        ):
            if transposed and adjoint:
                raise ValueError(
                    f"Only one of `transpose_{side}` and `adjoint_{side}` can be True. Received "
                    f"`transpose_{side}`={transposed}, `adjoint_{side}`={adjoint}."
                )
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b", preferred_dtype=a.dtype)
        if any(x.shape is None or len(x.shape) > 2 for x in (a, b)):
            a = _conj(a) if transpose_a else a
            b = _conj(b) if transpose_b else b
            swaps = {"adj_x": transpose_a or adjoint_a, "adj_y": transpose_b or adjoint_b}
            return ops.BatchMatMulV2(a, b, name=scope, **swaps)
        a = _conj(a) if adjoint_a else a
        b = _conj(b) if adjoint_b else b
        swaps = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
        return ops.MatMul(a, b, name=scope, **swaps)


def _conj(x: Tensor) -> Tensor:
    return ops.Conj(x) if x.dtype.kind == "c" else x


def add_n(inputs, name=None) -> Tensor:
    """The sum of several tensors of one shape and dtype; ValueError when there are none."""
    message = (
        "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
        "shape."
    )
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(message)
    tensors = [dense(x) if isinstance(x, IndexedSlices) else convert_to_tensor(x) for x in inputs]
    if any(x.dtype != tensors[0].dtype for x in tensors):
        raise ValueError(message)
    if len(tensors) == 1:
        return ops.Identity(tensors[0], name=name) if name else tensors[0]
    return ops.AddN(tensors, name=name)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None) -> Tensor:
    """The sum of several tensors of one shape and dtype."""
    return add_n(inputs, name)


def argmax(input, axis=None, name=None, dimension=None, output_type: Any = np.int64) -> Tensor:
    """Where along `axis` (0 by default) the largest element comes first."""
    return ops.ArgMax(
        input, _axis(axis, dimension, 0), output_type=np.dtype(output_type), name=name
    )


def argmin(input, axis=None, name=None, dimension=None, output_type: Any = np.int64) -> Tensor:
    """Where along `axis` (0 by default) the smallest element comes first."""
    return ops.ArgMin(
        input, _axis(axis, dimension, 0), output_type=np.dtype(output_type), name=name
    )


def _axis(axis, old, default):
    if axis is not None and old is not None:
        raise ValueError("Cannot specify both 'axis' and 'dimension'")
    found = old if axis is None else axis
    return default if found is None else found


def cumsum(x, axis=0, exclusive: bool = False, reverse: bool = False, name=None) -> Tensor:
    """Sums of the elements up to each along `axis`."""
    with name_scope(name, "Cumsum", [x]) as scope:
        return ops.Cumsum(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(x, axis=0, exclusive: bool = False, reverse: bool = False, name=None) -> Tensor:
    """Products of the elements up to each along `axis`."""
    with name_scope(name, "Cumprod", [x]) as scope:
        return ops.Cumprod(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def range(start, limit=None, delta=1, dtype=None, name="range") -> Tensor:
    """start, start + delta, ... below `limit`; from 0 on when only `start` is given."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        numbers = [
            convert_to_tensor(x, None if isinstance(x, Tensor) else dtype, label)
            for x, label in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        order = ["int32", "int64", "float16", "bfloat16", "float32", "float64"]
        found = max((x.dtype.name for x in numbers), key=order.index) if dtype is None else dtype
        return ops.Range(*(cast(x, found) for x in numbers), name=scope)


def lin_space(start, stop, num, name=None) -> Tensor:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    return ops.LinSpace(start, stop, num, name=name)


linspace = lin_space


def _reduction(kind: str):
    """The function of a row of REDUCTIONS."""

    def reduce(
        input_tensor,
        axis=None,
        keepdims=None,
        name=None,
        reduction_indices=None,
        keep_dims=None,
    ) -> Tensor:
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
        x = convert_to_tensor(input_tensor, name="input_tensor" if kind == "Sum" else None)
        result = getattr(ops, kind)(x, reduction_axes(x, axis), keep_dims=keepdims, name=name)
        if axis is None and not keepdims:
            result.set_shape(())
        return result

    return reduce


REDUCTIONS = {
    "reduce_sum": ("Sum", "The sum of"),
    "reduce_mean": ("Mean", "The mean of"),
    "reduce_prod": ("Prod", "The product of"),
    "reduce_max": ("Max", "The largest of"),
    "reduce_min": ("Min", "The smallest of"),
    "reduce_all": ("All", "Whether all are true among"),
    "reduce_any": ("Any", "Whether one is true among"),
}
for _name, (_kind, _what) in REDUCTIONS.items():
    globals()[_name] = _reduction(_kind)
    globals()[_name].__name__ = _name
    globals()[_name].__doc__ = f"""{_what} the elements along `axis`, all of them by default.

    Args:
        input_tensor: The tensor.
        axis: A dimension or a list of them, from the end when negative.
        keepdims: Whether they stay as dimensions of size 1.
        name: Of the operation.
        reduction_indices, keep_dims: Old names of `axis` and `keepdims`.
    """
reduce_sum, reduce_mean, reduce_max = (globals()[f"reduce_{w}"] for w in ("sum", "mean", "max"))


def one_of(new_name: str, new, old_name: str, old):
    """The argument under its new or old name; ValueError when both are given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def reduction_axes(x: Tensor, axis):
    """The axes of a reduction: those given, or all."""
    if axis is not None:
        return axis
    if x.shape is not None:
        return constant(np.arange(len(x.shape), dtype=np.int32))
    return range(0, ops.Rank(x))


def reduce_logsumexp(
    input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None
) -> Tensor:
    """log(sum(exp(x))) along `axis`, without overflow."""
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        x = convert_to_tensor(input_tensor)
        raw = reduce_max(x, axis, keepdims=True)
        zeros = ops.ZerosLike(raw)
        top = ops.StopGradient(ops.Select(ops.IsFinite(raw), raw, zeros))
        result = ops.Log(reduce_sum(ops.Exp(ops.Sub(x, top)), axis, keepdims=keepdims))
        if not keepdims:
            top = ops.Reshape(top, ops.Shape(result))
        return add(result, top)


def reduce_variance(input_tensor, axis=None, keepdims: bool = False, name=None) -> Tensor:
    """The variance of the elements along `axis`."""
    with name_scope(name or "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        means = reduce_mean(x, axis, keepdims=True)
        if means.dtype.kind in "iu":
            raise TypeError(
                "Input must be either real or complex. Received integer type "
                f"tf.{type_name(means.dtype)}."
            )
        return reduce_mean(ops.Square(ops.Sub(x, means)), axis, keepdims=keepdims)


def reduce_std(input_tensor, axis=None, keepdims: bool = False, name=None) -> Tensor:
    """The standard deviation of the elements along `axis`."""
    with name_scope(name or "reduce_std"):
        return ops.Sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype: Any = np.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
) -> Tensor:
    """How many elements along `axis` are not zero."""
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "count_nonzero", [input_tensor]):
        x = convert_to_tensor(one_of("input", input, "input_tensor", input_tensor))
        zero = constant(np.zeros((), x.dtype) if x.dtype.kind != "O" else b"")
        flags = cast(ops.NotEqual(x, zero), np.int64)
        return cast(reduce_sum(flags, axis, keepdims=keepdims), dtype)


def logical_xor(x, y, name="LogicalXor") -> Tensor:
    """Whether just one of two is true."""
    return ops.LogicalAnd(ops.LogicalOr(x, y), ops.LogicalNot(ops.LogicalAnd(x, y)), name=name)


def log_sigmoid(x, name=None) -> Tensor:
    """log(sigmoid(x))."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        return ops.Neg(ops.Softplus(ops.Neg(convert_to_tensor(x, name="x"))), name=scope)


def real(input, name=None) -> Tensor:
    """The real parts."""
    return _part(ops.Real, "Real", input, name)


def imag(input, name=None) -> Tensor:
    """The imaginary parts."""
    with name_scope(name, "Imag", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.kind != "c":
            return ops.ZerosLike(x)
        return ops.Imag(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"), name=scope)


def _part(kind, label: str, x, name) -> Tensor:
    with name_scope(name, label, [x]) as scope:
        x = convert_to_tensor(x, name="input")
        if x.dtype.kind != "c":
            return x
        return kind(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"), name=scope)


def scalar_mul(scalar, x, name=None):
    """`x` times a number; IndexedSlices stay such."""
    like = x.values if isinstance(x, IndexedSlices) else convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, like.dtype, "scalar")
    if scalar.shape != ():
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(ops.Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return ops.Mul(scalar, like, name=name)


def tensordot(a, b, axes, name=None) -> Tensor:
    """The product of two tensors, summed over pairs of their dimensions.

    Args:
        a, b: Tensors of known shape.
        axes: How many of the last of `a` and the first of `b`, or two lists of dimensions.
        name: Of the operation.
    """
    with name_scope(name, "Tensordot", [a, b]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if not is_static(a.shape) or not is_static(b.shape):
            raise ValueError(f"tensordot needs known shapes, got {a.shape} and {b.shape}")
        first, second = _tensordot_axes(len(a.shape), axes)
        left, free_a = _as_matrix(a, first, False)
        right, free_b = _as_matrix(b, second, True)
        return ops.Reshape(ops.MatMul(left, right), np.array(free_a + free_b, np.int32), name=scope)


def _tensordot_axes(rank: int, axes) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        numbers: list[int] = np.arange(axes).tolist()
        return [rank - axes + i for i in numbers], numbers
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return first, second


def _as_matrix(x: Tensor, axes, summed_first: bool) -> tuple[Tensor, list[int]]:
    """`x` as a matrix of free and summed dimensions, and the sizes of the free ones."""
    sizes: list[Any] = list(x.shape or ())
    axes = [int(axis) % len(sizes) for axis in axes]
    free = [i for i in np.arange(len(sizes)).tolist() if i not in axes]
    order = axes + free if summed_first else free + axes
    if order != sorted(order):
        x = ops.Transpose(x, np.array(order, np.int32))
    counts = [int(np.prod([sizes[i] for i in part])) for part in (free, axes)]
    shape = counts[::-1] if summed_first else counts
    return ops.Reshape(x, np.array(shape, np.int32)), [sizes[i] for i in free]


def einsum(equation: str, *inputs, name=None) -> Tensor:
    """Products of elements summed as `equation` says: "ij,jk->ik" is a matrix product."""
    return ops.Einsum(list(inputs), equation=equation, name=name)


def norm(
    tensor, ord: Any = "euclidean", axis=None, keepdims=None, name=None, keep_dims=None
) -> Tensor:
    """The norm of the elements along `axis`, of all by default.

    `ord` is "euclidean", 1, 2, np.inf or another positive number; matrices have only the first.
    """
    keepdims = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    several = isinstance(axis, (list, np.ndarray)) and len(axis) == 2
    order: Any = 2 if ord in ("euclidean", "fro") else ord
    if not isinstance(order, (int, float)) or order <= 0 or (several and ord == order):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if order == 2:
            return ops.Sqrt(reduce_sum(x * x, axis, keepdims=keepdims))
        if order == np.inf:
            return reduce_max(abs(x), axis, keepdims=keepdims)
        if order == 1:
            return reduce_sum(abs(x), axis, keepdims=keepdims)
        power = reduce_sum(pow(abs(x), convert_to_tensor(order, x.dtype)), axis, keepdims=keepdims)
        return pow(power, convert_to_tensor(1.0 / order, x.dtype))


def trace(x, name=None) -> Tensor:
    """The sums of the diagonals."""
    with name_scope(name, "Trace", [x]) as scope:
        return reduce_sum(ops.MatrixDiagPart(convert_to_tensor(x, name="x")), [-1], name=scope)


def polyval(coeffs, x, name=None) -> Tensor:
    """The polynomial with these coefficients, the highest first."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return ops.ZerosLike(x)
        result, *rest = (convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs))
        for coefficient in rest:
            result = ops.AddV2(coefficient, ops.Mul(result, x))
        return result


def segment_counts(segment_ids, num_segments, dtype) -> Tensor:
    """How many rows each segment has, one at least."""
    ids = convert_to_tensor(segment_ids)
    ones = ops.Fill(ops.Shape(ids), np.ones((), dtype))
    return ops.Maximum(ops.UnsortedSegmentSum(ones, ids, num_segments), np.ones((), dtype))


def unsorted_segment_mean(data, segment_ids, num_segments, name=None) -> Tensor:
    """The mean of the rows of each segment."""
    with name_scope(name, "UnsortedSegmentMean", [data, segment_ids]):
        return _over_counts(data, segment_ids, num_segments, lambda n: n)


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None) -> Tensor:
    """The sum of the rows of each segment over the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN", [data, segment_ids]):
        return _over_counts(data, segment_ids, num_segments, lambda n: ops.Sqrt(n))


def _over_counts(data, segment_ids, num_segments, divisor) -> Tensor:
    data = convert_to_tensor(data)
    counts = divisor(segment_counts(segment_ids, num_segments, data.dtype))
    sums = ops.UnsortedSegmentSum(data, segment_ids, num_segments)
    inner = len(data.shape or ()) - 1
    shape = ops.ConcatV2([ops.Shape(counts), np.ones(inner, np.int32)], 0)
    return ops.RealDiv(sums, ops.Reshape(counts, shape))
