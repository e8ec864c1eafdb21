"""Slices of tensors, ragged and sparse ones for `map_fn`, and what it makes of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_dispatch import is_ragged
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from ...core.composite.type_specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ..ragged.operands import as_ragged, wrapped
from ..ragged.picking import row
from ..ragged.rows import of_lengths
from .tensor_array import TensorArray

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike

    Element: TypeAlias = "Tensor | RaggedTensor | SparseTensor"

_ZERO = np.int32(0)


class Slices(Protocol):
    """What has slices along a first dimension."""

    def size(self) -> int | None:
        """How many there are, where that is known."""
        ...

    def count(self) -> Tensor:
        """How many there are, in int32."""
        ...

    def read(self, i: Tensor | int) -> Element:
        """One of them."""
        ...


class _TensorSlices:
    def __init__(self, x: Tensor):
        if x.sizes == ():
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
        self._tensor = x
        n = self.size()
        self._array = TensorArray(x.dtype, size=self.count() if n is None else n).unstack(x)

    def size(self) -> int | None:
        return self._tensor.sizes[0] if self._tensor.sizes else None

    def count(self) -> Tensor:
        sizes = ops.Shape(self._tensor)
        return ops.StridedSlice(sizes, [0], [1], [1], shrink_axis_mask=1)

    def read(self, i: Tensor | int) -> Element:
        return self._array.read(i)


class _RaggedSlices:
    def __init__(self, x: RaggedTensor):
        self._tensor = x

    def size(self) -> int | None:
        return self._tensor.rows.known_count

    def count(self) -> Tensor:
        return self._tensor.nrows(np.int32)

    def read(self, i: Tensor | int) -> Element:
        return row(self._tensor, convert_to_tensor(i))


class _SparseSlices:
    def __init__(self, x: SparseTensor):
        self._tensor = x

    def size(self) -> int | None:
        shape = self._tensor.shape
        return shape.as_list()[0] if shape.rank else None

    def count(self) -> Tensor:
        n = ops.StridedSlice(self._tensor.dense_shape, [0], [1], [1], shrink_axis_mask=1)
        return ops.Cast(n, DstT=np.dtype(np.int32))

    def read(self, i: Tensor | int) -> Element:
        x = self._tensor
        wide = ops.Cast(convert_to_tensor(i), DstT=np.dtype(np.int64))
        first = ops.StridedSlice(
            x.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
        )
        positions = ops.Reshape(ops.Where(ops.Equal(first, wide)), np.array([-1], np.int32))
        inner = ops.StridedSlice(x.indices, [0, 1], [0, 0], [1, 1], begin_mask=1, end_mask=3)
        shape = ops.StridedSlice(x.dense_shape, [1], [0], [1], end_mask=1)
        indices, values = (ops.GatherV2(part, positions, _ZERO) for part in (inner, x.values))
        return SparseTensor(indices, values, shape)


def slices_of(elem: object) -> Slices:
    """The slices of a tensor, a ragged or a sparse one; ValueError for a scalar."""
    if is_ragged(elem):
        return _RaggedSlices(cast("RaggedTensor", as_ragged(cast("RaggedTensor", elem))))
    if isinstance(elem, SparseTensor) or hasattr(elem, "dense_shape"):
        sparse = convert_to_tensor_or_sparse_tensor(cast("SparseTensor", elem))
        if isinstance(sparse, SparseTensor):
            return _SparseSlices(sparse)
    return _TensorSlices(convert_to_tensor(cast("TensorLike", elem), name="elem"))


class Results(Protocol):
    """What is made of the results of all iterations."""

    def arrays(self, n: Tensor | int) -> list[TensorArray]:
        """The arrays that results are written to, which a loop carries."""
        ...

    def write(
        self, arrays: Sequence[TensorArray], i: Tensor | int, value: object
    ) -> list[TensorArray]:
        """The arrays after the result of iteration i."""
        ...

    def stack(self, arrays: Sequence[TensorArray], n: Tensor | int) -> Element:
        """All results."""
        ...


class _TensorResults:
    def __init__(self, dtype: DTypeLike, infer_shape: bool):
        self._dtype, self._infer_shape = dtype, infer_shape

    def arrays(self, n: Tensor | int) -> list[TensorArray]:
        return [TensorArray(self._dtype, size=n, infer_shape=self._infer_shape)]

    def write(
        self, arrays: Sequence[TensorArray], i: Tensor | int, value: object
    ) -> list[TensorArray]:
        return [arrays[0].write(i, cast("TensorLike", value))]

    def stack(self, arrays: Sequence[TensorArray], n: Tensor | int) -> Element:
        stacked = arrays[0].stack()
        if isinstance(n, int) and stacked.sizes is not None:
            stacked.set_shape((n, *stacked.sizes[1:]))
        return stacked


class _RaggedResults:
    """Results whose first dimensions are ragged: their values and the lengths of their rows."""

    def __init__(self, spec: RaggedTensorSpec):
        self._spec = spec

    def arrays(self, n: Tensor | int) -> list[TensorArray]:
        dtype = self._spec.row_splits_dtype
        lengths = [TensorArray(dtype, size=n, infer_shape=False)
                   for _ in np.arange(self._spec.ragged_rank)]  # fmt: skip
        values = TensorArray(self._spec.dtype, size=n, infer_shape=False)
        return [values, TensorArray(dtype, size=n), *lengths]

    def write(
        self, arrays: Sequence[TensorArray], i: Tensor | int, value: object
    ) -> list[TensorArray]:
        x = as_ragged(cast("TensorLike", value))
        rank, dtype = self._spec.ragged_rank, self._spec.row_splits_dtype.as_numpy_dtype
        if isinstance(x, Tensor) and rank:
            x = RaggedTensor.from_tensor(x, ragged_rank=rank)
        actual = x.ragged_rank if isinstance(x, RaggedTensor) else 0
        if actual != rank or x.dtype != as_numpy(self._spec.dtype):
            raise ValueError(
                f"Expected `fn` to return a:\n  {self._spec}\nBut it returned a:\n  {x}"
            )
        if isinstance(x, Tensor):
            rows = [ops.Cast(ops.Shape(x)[0], DstT=np.dtype(dtype))]
            flat = x
        else:
            counted = x.with_row_splits_dtype(dtype)
            rows = [counted.rows.nrows(), *(level.lengths() for level in counted.nested_rows)]
            flat = x.flat_values
        return [array.write(i, part) for array, part in zip(arrays, [flat, *rows], strict=True)]

    def stack(self, arrays: Sequence[TensorArray], n: Tensor | int) -> Element:
        values, outer, *lengths = arrays
        rows = [of_lengths(outer.stack()), *(of_lengths(array.concat()) for array in lengths)]
        flat = values.concat()
        inner = self._spec.shape.as_list()[self._spec.ragged_rank + 1 :] \
            if self._spec.shape.rank is not None else None  # fmt: skip
        if inner is not None:
            flat.set_shape((None, *inner))
        if isinstance(n, int):
            rows[0].splits.set_shape((n + 1,))
        return wrapped(flat, rows)


class _SparseResults:
    """Results that are sparse: their places, behind the number of the iteration, and values."""

    def __init__(self, dtype: DTypeLike):
        self._dtype = dtype

    def arrays(self, n: Tensor | int) -> list[TensorArray]:
        positions = TensorArray(np.int64, size=n, infer_shape=False)
        values = TensorArray(self._dtype, size=n, infer_shape=False)
        return [positions, values, TensorArray(np.int64, size=n)]

    def write(
        self, arrays: Sequence[TensorArray], i: Tensor | int, value: object
    ) -> list[TensorArray]:
        if not isinstance(value, SparseTensor):
            raise ValueError(
                f"Expected `fn` to return a SparseTensor\nBut it returned a:\n  {value}"
            )
        wide = np.dtype(np.int64)
        rows = ops.Pack([ops.Shape(value.indices, out_type=wide)[0], np.int64(1)])
        number = ops.Fill(rows, ops.Cast(convert_to_tensor(i), DstT=wide))
        positions = ops.ConcatV2([number, value.indices], np.int32(1))
        parts = (positions, value.values, value.dense_shape)
        return [array.write(i, part) for array, part in zip(arrays, parts, strict=True)]

    def stack(self, arrays: Sequence[TensorArray], n: Tensor | int) -> Element:
        shapes = arrays[2].stack()
        count = ops.Cast(ops.Reshape(convert_to_tensor(n), [1]), DstT=np.dtype(np.int64))
        shape = ops.ConcatV2([count, ops.Max(shapes, _ZERO)], _ZERO)
        positions, values = arrays[0].concat(), arrays[1].concat()
        sizes = shapes.sizes
        rank = None if sizes is None or sizes[1] is None else sizes[1] + 1
        positions.set_shape((None, rank))
        values.set_shape((None,))
        return SparseTensor(positions, values, shape)


def results_of(signature: object, infer_shape: bool = True) -> Results:
    """What is made of results that are of a type, or as a spec of one of them says."""
    if isinstance(signature, RaggedTensorSpec):
        if signature.ragged_rank < 0:
            return _TensorResults(signature.dtype, infer_shape)
        return _RaggedResults(signature)
    if isinstance(signature, SparseTensorSpec):
        return _SparseResults(signature.dtype)
    if isinstance(signature, TensorSpec):
        return _TensorResults(signature.dtype, infer_shape)
    return _TensorResults(cast("DTypeLike", signature), infer_shape)


def result_like(elem: object) -> object:
    """The spec of results that are as the slices of a tensor are."""
    if is_ragged(elem):
        x = cast("RaggedTensor", as_ragged(cast("RaggedTensor", elem)))
        inner = x.shape[1:] if x.shape.rank is not None else None
        return RaggedTensorSpec(inner, x.dtype, x.ragged_rank - 1, x.rows.dtype)
    if isinstance(elem, SparseTensor):
        return SparseTensorSpec(None, elem.dtype)
    return convert_to_tensor(cast("TensorLike", elem), name="elem").dtype
