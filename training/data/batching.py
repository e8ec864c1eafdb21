"""Methods of datasets that make one element of several, and several of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.composite.ragged_tensor import RaggedTensor
from ...graph.core.composite.type_specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.dtype import as_dtype, as_numpy
from ...graph.core.graph import Tensor
from ...graph.core.tensor_shape import Dimension, TensorShape, shape_of_values
from . import structures
from .base import DatasetBase, int64, of_variant
from .structures import DatasetSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...graph.core.dtype import DType
    from ...graph.core.typing import DTypeLike, ShapeLike, TensorLike
    from .dataset import Dataset
    from .structures import Structure


class Batching(DatasetBase):
    """Datasets of batches and windows."""

    def batch(
        self,
        batch_size: TensorLike,
        drop_remainder: TensorLike = False,
        num_parallel_calls: TensorLike | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """So many elements at a time as the rows of one.

        Args:
            batch_size: How many.
            drop_remainder: Whether a last, smaller batch is left out.
            num_parallel_calls, deterministic: Taken for TensorFlow's sake.
            name: Of the operation.

        Raises InvalidArgumentError when it runs and elements are of unequal shapes.
        """
        size = int64(batch_size, "batch_size")
        drops = convert_to_tensor(drop_remainder, np.bool_, "drop_remainder")
        spec = structures.batched(self._spec, _size(size, drops))
        return self.with_inputs("BatchDatasetV2", [size, drops], spec, name)

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: Structure = None,
        padding_values: Structure = None,
        drop_remainder: TensorLike = False,
        name: str | None = None,
    ) -> Dataset:
        """So many elements at a time as the rows of one, padded at their ends to one shape.

        Args:
            batch_size: How many.
            padded_shapes: A shape for each component; None or -1 is the largest of the batch.
            padding_values: A scalar for each component; 0 or "" by default.
            drop_remainder: Whether a last, smaller batch is left out.
            name: Of the operation.

        Raises:
            ValueError: A shape has another rank than its component.
            TypeError: A value is of another type than its component.
        """
        size = int64(batch_size, "batch_size")
        leaves = structures.flatten(self._spec)
        shapes = [
            _padded_shape(leaf, shape)
            for leaf, shape in zip(leaves, _shapes(padded_shapes, leaves), strict=True)
        ]
        paddings = [
            _padding(leaf, value)
            for leaf, value in zip(leaves, _values(padding_values, leaves), strict=True)
        ]
        drops = convert_to_tensor(drop_remainder, np.bool_, "drop_remainder")
        front = TensorShape([_size(size, drops)])
        specs = [
            structures.with_shape(leaf, front.concatenate(_static(shape)))
            for leaf, shape in zip(leaves, shapes, strict=True)
        ]
        spec = structures.pack(self._spec, specs)
        inputs = [self._variant_tensor, size, shapes, paddings, drops]
        attrs = {"output_shapes": structures.component_shapes(spec)}
        op = create("PaddedBatchDatasetV2", cast("list[TensorLike]", inputs), attrs, name)
        return of_variant(op.outputs[0], spec, self._options)

    def sparse_batch(
        self, batch_size: TensorLike, row_shape: TensorLike, name: str | None = None
    ) -> Dataset:
        """So many single tensors at a time as the rows of a sparse tensor, `row_shape` at most."""
        leaf = self._spec
        if not isinstance(leaf, TensorSpec):
            words = "`tf.data.Dataset.sparse_batch` takes elements of one tensor"
            raise TypeError(f"{words}, got {leaf}.")
        rows = _static(_row_shape(row_shape))
        spec = SparseTensorSpec(TensorShape([None]).concatenate(rows), leaf.dtype)
        inputs = [int64(batch_size), _row_shape(row_shape)]
        return self.with_inputs("DenseToSparseBatchDataset", inputs, spec, name)

    def ragged_batch(
        self,
        batch_size: TensorLike,
        drop_remainder: TensorLike = False,
        row_splits_dtype: DTypeLike = np.int64,
        name: str | None = None,
    ) -> Dataset:
        """So many elements at a time as the rows of ragged tensors, where sizes are not known.

        Args:
            batch_size: How many.
            drop_remainder: Whether a last, smaller batch is left out.
            row_splits_dtype: The type of row splits, int32 or int64.
            name: Taken for TensorFlow's sake.
        """
        rows = self._of_ragged(as_dtype(row_splits_dtype))
        return rows.batch(batch_size, drop_remainder)

    def _of_ragged(self, row_splits_dtype: DType) -> Dataset:
        """The elements; tensors without a known size as ragged ones, encoded."""
        specs = [_ragged_spec(leaf, row_splits_dtype) for leaf in structures.flatten(self._spec)]
        function = self.function(lambda *parts: parts[0] if len(parts) == 1 else parts, "batch")
        with function.body.as_default():
            outputs = list[Tensor]()
            leaves = structures.flatten(function.output)
            for part, leaf, spec in zip(function.body.outputs, leaves, specs, strict=True):
                if isinstance(spec, RaggedTensorSpec) and isinstance(leaf, Tensor):
                    part = _encoded(leaf, spec)
                outputs.append(part)
            function.body.outputs = outputs
        attrs = {"f": function.renewed(), "preserve_cardinality": True}
        spec = structures.pack(self._spec, specs)
        return self.with_inputs("MapDataset", [function.captured], spec, None, **attrs)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of elements."""
        rows = of_variant(_as_rows(self), self._spec, self._options)
        return rows.with_inputs("UnbatchDataset", (), structures.unbatched(self._spec), name)

    def rebatch(
        self, batch_size: TensorLike, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset:
        """The rows of elements in batches of another size, or of several sizes in turns."""
        sizes = int64(batch_size)
        known = None if sizes.value is None else np.unique(sizes.value)
        size = int(known[0]) if drop_remainder and known is not None and known.size == 1 else None
        spec = structures.batched(structures.unbatched(self._spec), size)
        inputs = [sizes, convert_to_tensor(drop_remainder, np.bool_)]
        rows = of_variant(_as_rows(self), self._spec, self._options)
        return rows.with_inputs("RebatchDatasetV2", inputs, spec, name)

    def window(
        self,
        size: TensorLike,
        shift: TensorLike | None = None,
        stride: TensorLike = 1,
        drop_remainder: TensorLike = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of `size` elements, one for each component.

        Args:
            size: Of elements.
            shift: Between the first elements of two windows; `size` by default.
            stride: Between the elements of a window.
            drop_remainder: Whether windows with fewer elements are left out.
            name: Of the operation.
        """
        leaves = [DatasetSpec(leaf) for leaf in structures.flatten(self._spec)]
        spec = structures.pack(self._spec, leaves)
        numbers = [int64(x) for x in (size, size if shift is None else shift, stride)]
        inputs = [*numbers, convert_to_tensor(drop_remainder, np.bool_)]
        return self.with_inputs("WindowDataset", inputs, spec, name)


def _size(batch_size: Tensor, drop_remainder: Tensor) -> int | None:
    """The size of all batches, where it is known."""
    size, drops = batch_size.value, drop_remainder.value
    return int(size) if size is not None and drops is not None and drops else None


def _as_rows(dataset: DatasetBase) -> Tensor:
    """The variant of a dataset, of which the rows of all components are elements."""
    specs = structures.flatten(dataset.element_spec)
    if not any(isinstance(s, structures.SERIALIZED) for s in specs):
        return dataset.variant_tensor
    function = dataset.function(lambda *parts: parts[0] if len(parts) == 1 else parts, "unbatch")
    with function.body.as_default():
        function.body.outputs = structures.component_rows(function.output)
    attrs = {"f": function.renewed(), "preserve_cardinality": True}
    return dataset.with_inputs(
        "MapDataset", [function.captured], None, None, **attrs
    ).variant_tensor


def _ragged_spec(leaf: object, row_splits_dtype: DType) -> object:
    """What is known of a leaf; of a tensor without a known size, as a ragged one."""
    if not isinstance(leaf, TensorSpec) or leaf.shape.rank is None:
        return leaf
    unknown = [axis for axis, size in enumerate(leaf.shape.as_list()) if size is None]
    if not unknown:
        return leaf
    return RaggedTensorSpec(leaf.shape, leaf.dtype, unknown[-1], row_splits_dtype)


def _encoded(tensor: Tensor, spec: RaggedTensorSpec) -> Tensor:
    """A tensor as one value, ragged as `spec` says."""
    if not spec.ragged_rank:
        return structures.encoded(tensor, False)
    dtype = as_numpy(spec.row_splits_dtype)
    ragged = RaggedTensor.from_tensor(tensor, ragged_rank=spec.ragged_rank, row_splits_dtype=dtype)
    return structures.encoded(ragged, False)


def _shapes(padded_shapes: Structure, leaves: Sequence[object]) -> list[object]:
    if padded_shapes is not None:
        return structures.shape_leaves(padded_shapes, len(leaves))
    shapes = [structures.shape_of(leaf) for leaf in leaves]
    for i, shape in enumerate(shapes):
        if shape.rank is None:
            raise ValueError(
                f"You must provide `padded_shapes` argument because component {i} has unknown rank."
            )
    return list(shapes)


def _row_shape(shape: object) -> Tensor:
    """A shape as a vector, in which -1 stands for any size."""
    if isinstance(shape, Tensor):
        return convert_to_tensor(shape, np.int64)
    sizes = TensorShape(cast("ShapeLike", shape)).as_list()
    return int64(np.array([-1 if n is None else n for n in sizes], np.int64))


def _static(shape: Tensor) -> TensorShape:
    """What is known of a shape that a vector holds."""
    value = shape.value
    if value is None:
        rank = None if shape.sizes is None else shape.sizes[0]
        return TensorShape(None if rank is None else [None] * rank)
    return shape_of_values(value)


def _padded_shape(leaf: object, shape: object) -> Tensor:
    """The shape that a component is padded to; checks it."""
    if not isinstance(leaf, TensorSpec):
        raise TypeError(
            "`padded_batch` is only supported for datasets that produce tensor elements but type "
            f"spec of elements in the input dataset is not a subclass of TensorSpec: `{leaf}`."
        )
    if isinstance(shape, (list, tuple)):
        sizes = cast("Sequence[object]", shape)
        shape = [None if size in (None, -1) else size for size in sizes]
    elif isinstance(shape, Dimension):
        shape = [shape]
    padded = _row_shape(shape)
    static = _static(padded)
    if leaf.shape.rank is not None and static.rank is not None and leaf.shape.rank != static.rank:
        raise ValueError(
            f"The padded shape {static} is not compatible with the shape {leaf.shape} of the "
            "corresponding input component."
        )
    if leaf.shape.rank is not None and static.rank is not None:
        for n, most in zip(leaf.shape.as_list(), static.as_list(), strict=True):
            if n is not None and most is not None and most < n:
                raise ValueError(
                    f"The padded shape {static} is not compatible with the shape {leaf.shape} of "
                    "the corresponding input component."
                )
    return padded


def _values(padding_values: Structure, leaves: Sequence[object]) -> list[object]:
    if padding_values is None:
        return [None] * len(leaves)
    values = structures.flatten(padding_values)
    return values * len(leaves) if len(values) == 1 else values


def _padding(leaf: object, value: object) -> Tensor:
    """What a component is padded with; checks it."""
    dtype = as_numpy(cast("TensorSpec", leaf).dtype)
    if value is None:
        return convert_to_tensor(
            b"" if dtype.hasobject else np.zeros((), dtype), name="padding_value"
        )
    padding = convert_to_tensor(cast("TensorLike", value), name="padding_value")
    if padding.sizes not in ((), None):
        words = "`padding_values` must be scalars, but the shape of the padding value is"
        raise ValueError(f"Invalid `padding_values`. {words} {padding.shape}.")
    if padding.dtype != dtype:
        if not isinstance(value, Tensor):
            return convert_to_tensor(cast("TensorLike", value), dtype, name="padding_value")
        raise TypeError(
            "Invalid `padding_values`. `padding_values` values type "
            f"{as_dtype(padding.dtype)!s} does not match type {as_dtype(dtype)!s} of the "
            "corresponding input component."
        )
    return padding
