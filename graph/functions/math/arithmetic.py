"""TF1's arithmetic, element by element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload
from typing import cast as cast_type

import numpy as np

from ...core.arrays import type_name
from ...core.build import ops
from ...core.composite.indexed_slices import IndexedSlices, dense
from ...core.composite.ragged_dispatch import has_ragged
from ...core.create import convert_to_tensor, is_tensor_like
from ...core.dtype import as_dtype
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.tensor_shape import TensorShape
from ..array.casting import cast
from ..ragged.values import of_flat_values
from ..rows import functions, n_ary, sparse_unary, unary

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, ShapeLike, TensorLike

ONE_TO_ONE = """
acos             Acos              x # The arc cosine in [0, pi]; NaN outside of [-1, 1]
acosh            Acosh             x # The inverse hyperbolic cosine; NaN below 1
asin             Asin              x # The arc sine in [-pi/2, pi/2]; NaN outside of [-1, 1]
asinh            Asinh             x # The inverse hyperbolic sine
atan             Atan              x # The arc tangent in (-pi/2, pi/2)
atan2            Atan2             y x # The angle of the point (x, y) in [-pi, pi]
atanh            Atanh             x # The inverse hyperbolic tangent; NaN outside of [-1, 1]
bitwise_and      BitwiseAnd        x y # The bits that are set in both
bitwise_or       BitwiseOr         x y # The bits that are set in one of both
bitwise_xor      BitwiseXor        x y # The bits that are set in just one of both
ceil             Ceil              x # The smallest whole numbers that are not below x
cos              Cos               x # The cosine of radians
cosh             Cosh              x # The hyperbolic cosine
digamma          Digamma           x # The derivative of log(gamma(x))
equal            Equal             x y # Whether x and y are the same; NaN is never
erf              Erf               x \
    # The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x
erfc             Erfc              x # 1 - erf(x)
exp              Exp               x # e to the power of x
expm1            Expm1             x # exp(x) - 1, exact also near 0
floor            Floor             x # The largest whole numbers that are not above x
floor_div        FloorDiv          x y # x / y rounded down; integers divided by 0 fail
floormod         FloorMod          x y \
    # What is left of x after floordiv, of the sign of y; integers divided by 0 fail
greater          Greater           x y # Whether x > y
greater_equal    GreaterEqual      x y # Whether x >= y
invert           Invert            x # The bits of x, each turned
is_finite        IsFinite          x # Whether x is neither infinite nor NaN
is_inf           IsInf             x # Whether x is infinite
is_nan           IsNan             x # Whether x is NaN
left_shift       LeftShift         x y \
    # The bits of x moved y places up; y is limited to the width of the type
less             Less              x y # Whether x < y
less_equal       LessEqual         x y # Whether x <= y
lgamma           Lgamma            x # The logarithm of the absolute value of gamma(x)
log              Log               x # The natural logarithm; NaN below 0, -inf at 0
log1p            Log1p             x # log(1 + x), exact also near 0
logical_and      LogicalAnd        x y # Whether both are true
logical_not      LogicalNot        x # The other truth value
logical_or       LogicalOr         x y # Whether one is true
maximum          Maximum           x y # The larger of both
minimum          Minimum           x y # The smaller of both
multiply         Mul               x y # x times y
negative         Neg               x # -x
not_equal        NotEqual          x y # Whether x and y differ; NaN differs from everything
realdiv          RealDiv           x y # x / y of real numbers
reciprocal       Reciprocal        x # 1 / x
right_shift      RightShift        x y \
    # The bits of x moved y places down, with the sign for signed types
rint             Rint              x # The nearest whole numbers, halves to the even one
rsqrt            Rsqrt             x # 1 / sqrt(x)
sigmoid          Sigmoid           x # 1 / (1 + exp(-x)), in (0, 1)
sign             Sign              x # -1, 0 or 1; of complex numbers x / |x|
sin              Sin               x # The sine of radians
sinh             Sinh              x # The hyperbolic sine
sqrt             Sqrt              x # The square root; NaN below 0
square           Square            x # x times x
squared_difference SquaredDifference x y # (x - y)**2, of complex numbers its absolute value
subtract         Sub               x y # x minus y
tan              Tan               x # The tangent of radians
tanh             Tanh              x # The hyperbolic tangent, in (-1, 1)
truncatediv      TruncateDiv       x y # x / y rounded towards 0; integers divided by 0 fail
truncatemod      TruncateMod       x y # What is left of x after truncatediv, of the sign of x
xdivy            Xdivy             x y # x / y, 0 where x is 0
xlogy            Xlogy             x y # x log(y), 0 where x is 0
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))

_WIDER = {"int8": "float32", "uint8": "float32", "int16": "float32", "uint16": "float32"}
_WIDER.update(dict.fromkeys(("int32", "int64", "uint32", "uint64"), "float64"))
"""What true division makes of integers."""


@n_ary
def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x + y, element by element; strings are joined.

    Args:
        x, y: Of one type, numbers or strings, of shapes that broadcast. Of two that are no tensors,
            `y` takes the type of `x`.
        name: Of the operation.

    Raises TypeError for bool and for two types, ValueError for shapes that do not broadcast.
    """
    with name_scope(name, "Add", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
        kind = ops.Add if x.dtype.kind == "O" else ops.AddV2
        return kind(x, y, name=scope)


@sparse_unary
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value of each element, of the shape of `x`.

    Args:
        x: Real floats, int8 to int64, complex64 or complex128; sparse and
            ragged tensors, too. The lowest integer of a type stays as it is.
        name: Of the operation.

    Returns the type of `x`; the real type of half the width for complex numbers, sqrt(re**2 +
    im**2).

    Raises TypeError for other types.
    """
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.kind == "c":
            real = np.dtype(f"f{x.dtype.itemsize // 2}")
            return ops.ComplexAbs(x, Tout=real, name=scope)
        return ops.Abs(x, name=scope)


@n_ary
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x to the power of y, element by element.

    Args:
        x, y: Of one type of numbers, of shapes that broadcast; NaN for a real `x` below 0 and a `y`
            that is no whole number.
        name: Of the operation.

    Raises TypeError for two types; when it runs, InvalidArgumentError for integers to a power below
    0.
    """
    with name_scope(name, "Pow", [x]) as scope:
        return ops.Pow(x, y, name=scope)


@unary
def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest whole number of each element, halves to the even one.

    Args:
        x: Numbers of any shape; integers are given back as they are.
        name: Of the operation.

    Returns the shape and type of `x`.
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.kind in "iu" else ops.Round(x, name=name)


@n_ary
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y; integers are made floats before, those of 8 and 16 bits float32, wider ones float64.

    Args:
        x, y: Of one type of numbers, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError when the types differ or cannot be divided.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
        _require_one_dtype(x, y)
        if x.dtype.kind in "bO":
            raise TypeError(f"Invalid dtype tf.{type_name(x.dtype)} in __truediv__.")
        return ops.RealDiv(*_widened(x, y), name=scope)


def _widened(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Integers as the floats that true division makes of them."""
    wider = _WIDER.get(x.dtype.name)
    return (x, y) if wider is None else (cast(x, wider), cast(y, wider))


@n_ary
def div_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as truediv divides, and 0 where y is 0, also of NaN and infinity.

    Args:
        x, y: Of one type of numbers, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError when the types differ.
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        if is_tensor_like(y) and not is_tensor_like(x):
            y = convert_to_tensor(y, name="y")
            x = convert_to_tensor(x, y.dtype, "x")
        else:
            x = convert_to_tensor(x, name="x")
            y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
        _require_one_dtype(x, y)
        return ops.DivNoNan(*_widened(x, y), name=scope)


def _require_one_dtype(x: Tensor, y: Tensor) -> None:
    if x.dtype != y.dtype:
        raise TypeError(
            "`x` and `y` must have the same dtype, got "
            f"tf.{type_name(x.dtype)} != tf.{type_name(y.dtype)}."
        )


@n_ary
def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as Python 3 divides: truediv, but that an `x` that is no tensor takes the type of `y`.

    Args:
        x, y: Of one type of numbers, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError when the types differ or cannot be divided.
    """
    if is_tensor_like(y) and not is_tensor_like(x):
        x = convert_to_tensor(x, y.dtype, "x")
    return truediv(x, y, name)


@n_ary
def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y as Python 2 divides: floats and complex numbers exactly, integers rounded down.

    Args:
        x, y: Of one type of numbers, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError when the types differ; when it runs, InvalidArgumentError for integers over 0.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype, "y")
        kind = ops.RealDiv if x.dtype.kind in "fcV" else ops.FloorDiv
        return kind(x, y, name=scope)


@n_ary
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, rounded down, of the type of both.

    Args:
        x, y: Of one type of integers or real floats, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError when the types differ; when it runs, InvalidArgumentError for integers over 0.
    """
    with name_scope(name, "floordiv", [x, y]) as scope:
        return ops.FloorDiv(x, y, name=scope)


def add_n(inputs: Iterable[TensorLike | IndexedSlices | None], name: str | None = None) -> Tensor:
    """The sum of several tensors, element by element; nothing broadcasts.

    Args:
        inputs: One or more tensors of one shape and one type of numbers, or IndexedSlices, which
            are made whole; ragged tensors of equal rows.
        name: Of the operation.

    Raises ValueError without tensors, for None among them and for two shapes, TypeError for two
    types.
    """
    message = (
        "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
        "shape."
    )
    inputs = list(inputs)
    terms = [x for x in inputs if x is not None]
    if not terms or len(terms) < len(inputs):
        raise ValueError(message)
    if has_ragged(*terms):
        return cast_type("Tensor", of_flat_values(lambda *x: add_n(x, name), *terms))
    tensors = [dense(x) if isinstance(x, IndexedSlices) else convert_to_tensor(x) for x in terms]
    if len(tensors) == 1:
        return ops.Identity(tensors[0], name=name) if name else tensors[0]
    return ops.AddN(tensors, name=name)


def accumulate_n(
    inputs: Sequence[TensorLike | IndexedSlices],
    shape: ShapeLike | None = None,
    tensor_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum of several tensors of one shape and dtype.

    Args:
        inputs: A list of them, not empty.
        shape: What is known of their shape beside what they say themselves.
        tensor_dtype: Their dtype, where it is to be checked.
        name: Of the operation.

    Raises:
        ValueError: `inputs` is no such list, or a shape differs.
        TypeError: They are not of `tensor_dtype`.
    """
    words = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(words)
    terms = [x if isinstance(x, IndexedSlices) else convert_to_tensor(x) for x in inputs]
    if len({as_dtype(x.dtype) for x in terms}) > 1:
        raise ValueError(words)
    known = TensorShape(shape)
    for x in terms:
        known = known.merge_with(x.shape)
    if tensor_dtype is not None and as_dtype(tensor_dtype) != terms[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {as_dtype(tensor_dtype)!s}, but `input` is of "
            f"type {as_dtype(terms[0].dtype)!s}. These must be equal."
        )
    return add_n(terms, name)


@overload
def scalar_mul(scalar: TensorLike, x: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Tensor: ...
@n_ary
def scalar_mul(
    scalar: TensorLike, x: TensorLike | IndexedSlices, name: str | None = None
) -> Tensor | IndexedSlices:
    """`x` times one number; IndexedSlices stay such.

    Args:
        scalar: A number or a tensor of rank 0, of the type of `x`.
        x: Numbers of any shape, or IndexedSlices.
        name: Of the operation.

    Raises ValueError for a `scalar` of another rank.
    """
    like = x.values if isinstance(x, IndexedSlices) else convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, like.dtype, "scalar")
    if scalar.sizes != ():
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.sizes}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(ops.Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return ops.Mul(scalar, like, name=name)


@n_ary
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Whether just one of two is true, element by element.

    Args:
        x, y: bool, of shapes that broadcast.
        name: Of the operation.

    Raises TypeError for other types.
    """
    return ops.LogicalAnd(ops.LogicalOr(x, y), ops.LogicalNot(ops.LogicalAnd(x, y)), name=name)


@unary
def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), as -softplus(-x), which does not overflow; at most 0.

    Args:
        x: Real floats of any shape.
        name: Of the operations.

    Raises TypeError for other types.
    """
    with name_scope(name, "LogSigmoid", [x]) as scope:
        return ops.Neg(ops.Softplus(ops.Neg(convert_to_tensor(x, name="x"))), name=scope)


@unary
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate of each element; real numbers themselves.

    Args:
        x: Numbers of any type and shape, or variants.
        name: Of the operation.

    Raises TypeError for bool and strings.
    """
    tensor = convert_to_tensor(x, name="input")
    if tensor.dtype.kind == "c" or tensor.dtype.names == ("variant",):
        return ops.Conj(tensor, name=name)
    if tensor.dtype.kind not in "fiuV":
        raise TypeError(
            f"Expected numeric or variant tensor, got dtype tf.{type_name(tensor.dtype)}."
        )
    return tensor


_COMPLEX = {"float32": np.complex64, "float64": np.complex128}


@n_ary
def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """real + i imag, element by element.

    Args:
        real, imag: Both float32, for a result of complex64, or both float64, for complex128; of
            shapes that broadcast.
        name: Of the operation.

    Raises TypeError for other types.
    """
    x, y = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [x, y]) as scope:
        names = x.dtype.name, y.dtype.name
        if names[0] != names[1] or names[0] not in _COMPLEX:
            raise TypeError(
                f"The `real` and `imag` components have incorrect types: {' '.join(names)}. They "
                "must be consistent, and one of [tf.float32, tf.float64]"
            )
        return ops.Complex(x, y, Tout=np.dtype(_COMPLEX[names[0]]), name=scope)


@unary
def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part of each element; real numbers themselves.

    Args:
        input: Numbers of any shape.
        name: Of the operation.

    Returns float32 for complex64, float64 for complex128, else the type of `input`.

    Raises TypeError for what are no numbers.
    """
    with name_scope(name, "Real", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.kind in "fiuV":
            return x
        if x.dtype.kind != "c":
            words = f"got tensor with dtype {as_dtype(x.dtype)!s}"
            raise TypeError(f"input must be a numeric tensor, but {words}")
        return ops.Real(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"), name=scope)


@unary
def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part of each element; zeros for real numbers.

    Args:
        input: Numbers of any shape.
        name: Of the operation.

    Returns float32 for complex64, float64 for complex128, else the type of `input`.
    """
    with name_scope(name, "Imag", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.kind != "c":
            return ops.ZerosLike(x)
        return ops.Imag(x, Tout=np.dtype(f"f{x.dtype.itemsize // 2}"), name=scope)


def polyval(coeffs: Sequence[TensorLike], x: TensorLike, name: str | None = None) -> Tensor:
    """c[0] x**(n-1) + ... + c[n-1] by Horner's rule; zeros without coefficients.

    Args:
        coeffs: A list of numbers or tensors of the type of `x`, the highest power first, that
            broadcast with it.
        x: Numbers of any shape.
        name: Of the operations.

    Raises ValueError where `coeffs` is no list.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.math.polyval([1.0, 2.0, 3.0], tf.constant(2.0))))
    11.0
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return ops.ZerosLike(x)
        first, *others = (convert_to_tensor(c, name=f"coeff_{i}") for i, c in enumerate(coeffs))
        result = first
        for coefficient in others:
            result = ops.AddV2(coefficient, ops.Mul(result, x))
        return result
