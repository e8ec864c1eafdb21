"""TF1's changes of dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, overload

import numpy as np

from ...core.build import ops
from ...core.composite.indexed_slices import IndexedSlices
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.ragged_value import RaggedTensorValue
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.dtype import DType, as_dtype, as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..ragged.values import of_flat_values
from ..rows import functions, unary

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
bitcast             Bitcast          input type \
    # The same bits as another type; the last dimension appears or goes when sizes differ
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))


@overload
def cast(x: SparseTensor, dtype: DTypeLike, name: str | None = None) -> SparseTensor: ...
@overload
def cast(x: IndexedSlices, dtype: DTypeLike, name: str | None = None) -> IndexedSlices: ...
@overload
def cast(x: RaggedTensor, dtype: DTypeLike, name: str | None = None) -> RaggedTensor: ...
@overload
def cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor: ...
def cast(
    x: TensorLike | IndexedSlices | SparseTensor | RaggedTensor,
    dtype: DTypeLike,
    name: str | None = None,
) -> Tensor | IndexedSlices | SparseTensor | RaggedTensor:
    """`x` in another dtype; `x` itself when it has that one already.

    Args:
        x: Numbers or bool of any shape; SparseTensor, RaggedTensor and IndexedSlices stay such.
        dtype: Of the result. Floats are cut towards 0 as integers, complex numbers to their real
            part, and what is not 0 is true.
        name: Of the operation.

    Raises UnimplementedError, when it runs, for strings.
    """
    dtype = as_numpy(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype, name), x.indices, x.dense_shape)
    if isinstance(x, (RaggedTensor, RaggedTensorValue)):
        return of_flat_values(cast, x, dtype=dtype)
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, cast(x.values, dtype, name), x.dense_shape)
    if isinstance(x, Tensor) and x.dtype == dtype:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return x if x.dtype == dtype else ops.Cast(x, DstT=dtype, name=scope)


class Cast(Protocol):
    """A function that casts to one dtype."""

    @overload
    def __call__(self, x: IndexedSlices, name: str | None = ...) -> IndexedSlices: ...
    @overload
    def __call__(self, x: TensorLike, name: str | None = ...) -> Tensor: ...


def _cast_to(dtype: DTypeLike, default: str, public_name: str) -> Cast:
    @overload
    def function(x: IndexedSlices, name: str | None = ...) -> IndexedSlices: ...
    @overload
    def function(x: TensorLike, name: str | None = ...) -> Tensor: ...
    def function(
        x: TensorLike | IndexedSlices, name: str | None = default
    ) -> Tensor | IndexedSlices:
        return cast(x, dtype, name)

    function.__name__ = function.__qualname__ = public_name
    function.__doc__ = f"`x` as {as_numpy(dtype).name}."
    return function


to_bfloat16 = _cast_to("bfloat16", "ToBFloat16", "to_bfloat16")
to_complex128 = _cast_to(np.complex128, "ToComplex128", "to_complex128")
to_complex64 = _cast_to(np.complex64, "ToComplex64", "to_complex64")
to_float = _cast_to(np.float32, "ToFloat", "to_float")
to_double = _cast_to(np.float64, "ToDouble", "to_double")
to_int32 = _cast_to(np.int32, "ToInt32", "to_int32")
to_int64 = _cast_to(np.int64, "ToInt64", "to_int64")


@unary
def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """`value` in another dtype, held within its range; of a complex number each part.

    Args:
        value: Numbers of any shape.
        dtype: Of the result.
        name: Of the operation.

    Raises TypeError for what are no numbers.
    """
    with name_scope(name, "saturate_cast", [value]) as scope:
        x: Tensor = convert_to_tensor(value, name="value")
        dtype = as_numpy(dtype)
        if x.dtype.kind == dtype.kind == "c":
            source, target = _real_dtype(x.dtype), _real_dtype(dtype)
            if limits_of(source)[1] > limits_of(target)[1]:
                low, high = (source.type(limit) for limit in limits_of(target))
                parts = ops.Real(x, Tout=source), ops.Imag(x, Tout=source)
                x = ops.Complex(*(ops.ClipByValue(part, low, high) for part in parts), Tout=x.dtype)
            return cast(x, dtype, scope)
        if x.dtype.kind == "c":
            x = ops.Real(x, Tout=_real_dtype(x.dtype))
        if x.dtype.kind != "b" and dtype.kind not in "bO":
            low, high = _limits_within(x.dtype, _real_dtype(dtype))
            x = ops.ClipByValue(x, low, high, name="clamp")
        return cast(x, dtype, scope)


def _real_dtype(dtype: DType | np.dtype) -> DType | np.dtype:
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def limits_of(dtype: DType | np.dtype) -> tuple[float | np.floating, float | np.floating]:
    """The smallest and the largest finite number of a dtype."""
    return as_dtype(dtype).min, as_dtype(dtype).max


def _limits_within(
    dtype: DType | np.dtype, target: DType | np.dtype
) -> tuple[np.generic, np.generic]:
    """The range of `target` as numbers of `dtype` that lie within it."""
    inner, outer = limits_of(dtype), limits_of(target)
    if dtype.kind in "iu" and target.kind in "iu":
        return dtype.type(max(inner[0], outer[0])), dtype.type(min(inner[1], outer[1]))
    low, high = (dtype.type(float(_nearer(*pair))) for pair in zip(inner, outer, strict=True))
    if target.kind in "iu":
        exceeds = int(high) > outer[1]
        return low, np.nextafter(high, dtype.type(0)) if exceeds else high
    if float(high) > float(outer[1]):
        low, high = (np.nextafter(limit, dtype.type(0)) for limit in (low, high))
    return low, high


def _nearer(a: float | np.floating, b: float | np.floating) -> float | np.floating:
    """Which of two limits is the nearer to 0."""
    return a if abs(float(a)) <= abs(float(b)) else b
