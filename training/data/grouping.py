"""Methods of datasets that put together elements with the same key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.scopes import control_dependencies
from ...graph.core.tensor_shape import TensorShape
from . import structures
from .base import DatasetBase
from .functions import ElementFunction, UserFunction
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import ShapeLike, TensorLike
    from .dataset import Dataset
    from .structures import Structure

_KEY = TensorSpec([], np.int64)
_NAME = "Dataset.group_by_window()"


class Grouping(DatasetBase):
    """Datasets of groups of elements."""

    def group_by_window(
        self,
        key_func: UserFunction,
        reduce_func: Callable[..., object],
        window_size: int | None = None,
        window_size_func: UserFunction | None = None,
        name: str | None = None,
    ) -> Dataset:
        """What a function makes of the next elements with the same key.

        Args:
            key_func: The key of an element, an int64 scalar.
            reduce_func: Gets the key and the dataset of a group; gives a dataset.
            window_size: How many elements a group has at most.
            window_size_func: Says that of a key, in place of `window_size`.
            name: Of the operation.

        Raises:
            TypeError: `reduce_func` gives no dataset.
            ValueError: A key is no int64 scalar; both sizes or none are given.
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified."
            )
        size_of = window_size_func or (lambda key: np.int64(cast("int", window_size)))
        key = self.function(_number_of(key_func), "Dataset.group_by_window()")
        _require_number(key.output_spec, "key_func")
        members = DatasetSpec(self._spec)
        reduce = ElementFunction(reduce_func, [_KEY, members], _NAME, unpacks=False)
        if not isinstance(reduce.output_spec, DatasetSpec):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` "
                f"object but its return type is {reduce.output_spec}."
            )
        sizes = ElementFunction(_number_of(size_of), [_KEY], _NAME)
        _require_number(sizes.output_spec, "window_size_func")
        return self.with_inputs(
            "GroupByWindowDataset", [key.captured, reduce.captured, sizes.captured],
            reduce.output_spec.element_spec, name, key_func=key.reference,
            reduce_func=reduce.reference, window_size_func=sizes.reference,
        )  # fmt: skip

    def bucket_by_sequence_length(
        self,
        element_length_func: UserFunction,
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Structure = None,
        padding_values: Structure = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of elements of like lengths.

        Args:
            element_length_func: The length of an element, an int32 scalar.
            bucket_boundaries: The least lengths of all buckets but the first.
            bucket_batch_sizes: How many elements a batch of each bucket has.
            padded_shapes, padding_values: As `padded_batch` has them.
            pad_to_bucket_boundary: Whether batches are as long as the bucket allows.
            no_padding: Whether batches are of equal shapes anyway, or sparse.
            drop_remainder: Whether last, smaller batches are left out.
            name: Taken for TensorFlow's sake.

        Raises ValueError where there are not one more sizes than boundaries.
        """
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
            )
        sizes = np.array(bucket_batch_sizes, np.int64)
        bounds = np.array(bucket_boundaries, np.int32)

        def bucket_of(*element: object) -> Tensor:
            length = convert_to_tensor(cast("TensorLike", element_length_func(*element)), np.int32)
            below = ops.Cast(ops.GreaterEqual(length, bounds), DstT=np.dtype(np.int64))
            return cast("Tensor", ops.Sum(below, np.int32(0)))

        def size_of(bucket: Tensor) -> Tensor:
            return cast("Tensor", ops.GatherV2(sizes, bucket, np.int32(0)))

        def batch_of(bucket: Tensor, group: Dataset) -> Dataset:
            size = size_of(bucket)
            if no_padding:
                return group.batch(size, drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                shapes = self._to_boundary(bucket, bounds, shapes)
            return group.padded_batch(size, shapes, padding_values, drop_remainder)

        return self.group_by_window(bucket_of, batch_of, window_size_func=size_of)

    def _to_boundary(self, bucket: Tensor, bounds: np.ndarray, shapes: Structure) -> Structure:
        """Shapes whose unknown sizes are the longest of a bucket; the last bucket must be empty."""
        is_last = ops.Equal(bucket, np.int64(len(bounds)))
        text = (
            "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
        )
        check = create("Assert", [ops.LogicalNot(is_last), [text.encode()]])
        leaves = structures.flatten(self._spec)
        unpadded = (
            [structures.shape_of(leaf) for leaf in leaves]
            if shapes is None
            else structures.shape_leaves(shapes, len(leaves))
        )
        with control_dependencies([check]):
            last = np.int64(len(bounds) - 1)
            bound = ops.GatherV2(bounds, ops.Minimum(bucket, last), np.int32(0))
            longest = ops.Cast(ops.Sub(bound, np.int32(1)), DstT=np.dtype(np.int64))
        padded: list[object] = []
        for shape in unpadded:
            sizes = TensorShape(cast("ShapeLike", shape)).as_list()
            parts = [longest if n is None else np.int64(n) for n in sizes]
            padded.append(ops.Pack(parts) if parts else np.zeros(0, np.int64))
        return structures.pack(self._spec, padded)


def _number_of(function: UserFunction) -> UserFunction:
    """A function whose results become int64."""
    return lambda *arguments: convert_to_tensor(cast("TensorLike", function(*arguments)), np.int64)


def _require_number(spec: Structure, name: str) -> None:
    if not isinstance(spec, TensorSpec) or spec.dtype != np.int64 or spec.shape.rank:
        raise ValueError(
            f"Invalid `{name}`. `{name}` must return a single `tf.int64` scalar tensor but its "
            f"return type is {spec}."
        )
