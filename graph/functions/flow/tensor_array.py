"""TensorArray: tensors by index, which loops write and read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError
from ...core.build import ops
from ...core.contexts import control_flow_v2
from ...core.create import convert_to_tensor
from ...core.dtype import DType, as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import Shape, merge
from ...core.tensor_shape import TensorShape
from ...format.tensor_values import get_static_value
from .array_operations import ArrayOperations, ListOperations

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ...core.typing import DTypeLike, ShapeLike, TensorLike


class TensorArray:
    """Tensors of one type by index.

    It is a list, of which a write gives a new one, and the old one stays. With control flow of
    TensorFlow 1 (`disable_control_flow_v2`) it is an array behind a handle: each element is written
    once, and read once unless `clear_after_read` is False.

    Args:
        dtype: Of the elements.
        size: How many there are; 0 by default where it may grow.
        dynamic_size: Whether it grows when something is written behind its end.
        infer_shape: Whether all elements have one shape.
        element_shape: What is known of it.
        clear_after_read: Whether an element of an array is gone once it was read; True by default.
        tensor_array_name: What errors call an array.
        handle: That of an array, in place of a new one.
        flow: The list to be, in place of a new one; with a handle what comes before.
        name: Of the operations.
        colocate_with_first_write_call: Taken for TensorFlow's sake.

    Raises:
        ValueError: There is neither a size nor `flow`, or a handle without `flow`.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        self._dtype = DType.of(as_numpy(dtype))
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        self._shape: Shape = (
            None if element_shape is None else TensorShape(element_shape).as_shape()
        )
        self._n_known = size if isinstance(size, int) and not dynamic_size else None
        if handle is not None and flow is None:
            raise ValueError("flow must not be None if handle is not None.")
        self._operations = ListOperations(self._dtype, grows=self._dynamic_size)
        if handle is not None:
            self._operations = ArrayOperations(self._dtype, grows=self._dynamic_size, handle=handle)
        if flow is not None:
            self._flow = flow
            return
        if size is None:
            raise ValueError("Argument `size` must be provided if handle is not provided.")
        with name_scope(name, "TensorArray") as scope:
            if not control_flow_v2():
                self._operations = ArrayOperations(
                    self._dtype,
                    grows=self._dynamic_size,
                    clears=clear_after_read is not False,
                    is_identical=infer_shape,
                    array_name=tensor_array_name or "",
                    scope=scope,
                )
            self._flow = self._operations.create(size, self._shape)

    @property
    def flow(self) -> Tensor:
        """The list itself; of an array what orders its operations."""
        return self._flow

    @property
    def handle(self) -> Tensor | None:
        """The array's; None of a list, which is its flow."""
        return self._operations.handle

    @property
    def dtype(self) -> DType:
        """Of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether it grows."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the elements' shape."""
        return TensorShape(self._shape)

    def to_components(self) -> list[object]:
        """Its flow."""
        return [self._flow]

    def from_components(self, components: Sequence[object]) -> TensorArray:
        """One like this with another flow."""
        (flow,) = components
        assert isinstance(flow, Tensor)
        return self._with(flow)

    def _with(self, flow: Tensor) -> TensorArray:
        array = TensorArray(self._dtype, flow=flow, infer_shape=self._infer_shape)
        array._shape, array._n_known = self._shape, self._n_known
        array._dynamic_size, array._operations = self._dynamic_size, self._operations
        return array

    def _note(self, shape: Shape) -> None:
        """Learns the elements' shape from one of them, which must agree with what is known."""
        try:
            merged = merge(self._shape, shape)
        except ValueError:
            raise ValueError(
                f"Inconsistent shapes: saw {TensorShape(shape)} but expected "
                f"{TensorShape(self._shape)}"
            ) from None
        if self._infer_shape:
            self._shape = merged

    def identity(self) -> TensorArray:
        """The array as a new operation's."""
        return self._with(ops.Identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array of the gradients that a computation `source` adds up.

        Raises NotImplementedError for a list, whose gradients flow through the operations.
        """
        if not isinstance(self._operations, ArrayOperations):
            raise NotImplementedError("TensorArray.grad is not supported; use tf.gradients")
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad"):
            handle, flow = self._operations.grad(flow, source, name)
        array = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape)
        array._shape = self._shape
        return array

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`, an int32 scalar."""
        item = self._operations.read(self._flow, index, self._shape, name)
        item.set_shape(self._shape)
        return item

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with `value`, of its type and element shape, at `index`, an int32 scalar.

        Raises TypeError for another type, ValueError for another shape.
        """
        with name_scope(name, "TensorArrayWrite"):
            tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else self._dtype)
            self._require_dtype(tensor)
            self._note(tensor.sizes)
            flow = self._operations.write(self._flow, index, tensor)
        return self._with(flow)

    def _require_dtype(self, tensor: Tensor) -> None:
        if tensor.dtype != self._dtype:
            raise ValueError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name}"
            )

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, of one shape, along a new first axis."""
        with name_scope(None, "TensorArrayStack") if self.handle is not None else nullcontext():
            stacked = self._operations.stack(self._flow, self._n_known, self._shape, name)
        if self._shape is not None:
            stacked.set_shape((self._n_known, *self._shape))
        return stacked

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, int32 [n], along a new first axis."""
        gathered = self._operations.gather(self._flow, indices, self._shape, name)
        if self._shape is not None:
            gathered.set_shape((None, *self._shape))
        return gathered

    def concat(self, name: str | None = None) -> Tensor:
        """The elements one behind another along their first axis, equal in all others."""
        shape = None if self._shape is None else (None, *self._shape[1:])
        joined = self._operations.concat(self._flow, self._shape, name)
        if self._shape and self._shape[0] is not None and self._n_known is not None:
            shape = (int(self._shape[0]) * self._n_known, *self._shape[1:])
        joined.set_shape(shape)
        return joined

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array of the slices of `value` along its first axis."""
        with name_scope(name, "TensorArrayUnstack"):
            tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else self._dtype)
            self._require_dtype(tensor)
            if tensor.sizes is not None:
                self._note(tensor.sizes[1:])
            array = self._with(self._operations.unstack(self._flow, tensor, self._shape))
        if tensor.sizes and not self._dynamic_size:
            array._n_known = tensor.sizes[0]
        return array

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The array with slice i of `value` at indices[i].

        Args:
            indices: int32 [n].
            value: [n, ...], of the type of the array.
            name: Of the operation.

        Raises TypeError for another type, ValueError for another shape.
        """
        with name_scope(name, "TensorArrayScatter"):
            tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else self._dtype)
            self._require_dtype(tensor)
            if tensor.sizes is not None:
                self._note(tensor.sizes[1:])
            positions = convert_to_tensor(indices, np.int32)
            sizes = [x.sizes[0] for x in (tensor, positions) if x.sizes]
            if len(sizes) == 2 and None not in sizes and sizes[0] != sizes[1]:
                raise ValueError(f"Dimensions must be equal, but are {sizes[0]} and {sizes[1]}")
            flow = self._operations.scatter(self._flow, positions, tensor)
        return self._with(flow)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """The array of parts of `value` of these lengths along its first axis.

        Raises InvalidArgumentError where known lengths are not as many as the array has elements,
        or, with `infer_shape`, not all the same.
        """
        with name_scope(name, "TensorArraySplit"):
            tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else self._dtype)
            self._require_dtype(tensor)
            sizes = ops.Cast(convert_to_tensor(lengths), DstT=np.dtype(np.int64))
            if self.handle is None:
                self._require_lengths(cast("np.ndarray | None", get_static_value(sizes)))
            if tensor.sizes is not None:
                self._note((None, *tensor.sizes[1:]))
            return self._with(self._operations.split(self._flow, tensor, sizes, self._shape))

    def _require_lengths(self, lengths: np.ndarray | None) -> None:
        if lengths is None or lengths.ndim != 1:
            return
        if self._n_known is not None and len(lengths) != self._n_known:
            raise InvalidArgumentError(
                None,
                None,
                "TensorArray's size is not equal to the size of lengths "
                f"({self._n_known} vs. {len(lengths)}), and the TensorArray is not marked as "
                "dynamically resizeable",
            )
        other = np.flatnonzero(lengths != lengths[:1])
        if self._infer_shape and other.size:
            name = self._flow.op.name.rpartition("/")[0]
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray {name}: Could not write to TensorArray index {other[0]} because the "
                f"value has {lengths[other[0]]} rows, which is incompatible "
                f"with the TensorArray's inferred element shape, of {lengths[0]} rows (consider "
                "setting infer_shape=False).",
            )

    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are."""
        return self._operations.size(self._flow, name)

    def close(self, name: str | None = None) -> Operation:
        """Drops the elements of an array; a list goes when nobody reads it."""
        return self._operations.close(name)
