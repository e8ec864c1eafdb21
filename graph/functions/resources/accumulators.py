"""Conditional accumulators: means of gradients that several threads bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.build import ops
from ...core.composite.indexed_slices import IndexedSlices
from ...core.create import convert_to_tensor, create
from ...core.dtype import DType
from ...core.tensor_shape import TensorShape

if TYPE_CHECKING:
    from ...core.graph import Operation, Tensor
    from ...core.protocols import AttrValue
    from ...core.typing import DTypeLike, ShapeLike, TensorLike


class ConditionalAccumulatorBase:
    """What accumulators have in common.

    Args:
        dtype: Of the gradients.
        shape: What is known of theirs.
        accumulator_ref: The tensor that stands for the accumulator.
    """

    _prefix = "Accumulator"

    def __init__(self, dtype: DTypeLike, shape: ShapeLike | None, accumulator_ref: Tensor):
        self._dtype = DType(dtype)
        self._shape = TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = accumulator_ref.op.name.rpartition("/")[2]

    @property
    def accumulator_ref(self) -> Tensor:
        """The tensor that stands for the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of the gradients."""
        return self._dtype

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients there are."""
        name = f"{self._name}_NumAccumulated" if name is None else name
        return self._call("NumAccumulated", [], name).outputs[0]

    def set_global_step(self, new_global_step: TensorLike, name: str | None = None) -> Operation:
        """An operation that sets `new_global_step`, below which gradients count no more."""
        return self._call("SetGlobalStep", [_int64(new_global_step)], name)

    def _call(
        self, what: str, inputs: list[TensorLike], name: str | None, **attrs: AttrValue
    ) -> Operation:
        return create(f"{self._prefix}{what}", [self._accumulator_ref, *inputs], attrs, name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean, or the sum, of gradients, taken when there are enough of them.

    Args:
        dtype: Of the gradients.
        shape: What is known of theirs.
        shared_name: Accumulators of one session with the same one are the same.
        name: Of the operation.
        reduction_type: "MEAN" or "SUM".

    Raises ValueError for another type of reduction.
    """

    _prefix = "ResourceAccumulator"

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        kind = "ResourceConditionalAccumulator"
        handle = _handle(kind, dtype, shape, shared_name, name, reduction_type)
        super().__init__(dtype, shape, handle)

    def apply_grad(
        self, grad: TensorLike, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """An operation that adds `grad`, unless `local_step`, an integer, is below the global step.

        Raises ValueError when it has another shape.
        """
        gradient = convert_to_tensor(grad, self._dtype)
        gradient.shape.assert_is_compatible_with(self._shape)
        return self._call("ApplyGradient", [_int64(local_step), gradient], name)

    def take_grad(self, num_required: TensorLike, name: str | None = None) -> Tensor:
        """The mean or sum, once there are `num_required` gradients; the step goes up by one."""
        (result,) = self._call(
            "TakeGradient", [num_required], name, dtype=self._dtype.dtype
        ).outputs
        result.set_shape(self._shape)
        return result


class SparseAccumulatorTakeGradient(NamedTuple):
    """Rows that an accumulator gives."""

    indices: Tensor
    values: Tensor
    shape: Tensor


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """The mean, or the sum, of gradients of rows, taken when there are enough of them.

    The arguments are those of ConditionalAccumulator; the mean of a row is over those that had it.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        shape: ShapeLike | None = None,
        shared_name: str | None = None,
        name: str = "sparse_conditional_accumulator",
        reduction_type: str = "MEAN",
    ):
        kind = "SparseConditionalAccumulator"
        handle = _handle(kind, dtype, shape, shared_name, name, reduction_type)
        super().__init__(dtype, shape, handle)

    def apply_indexed_slices_grad(
        self, grad: IndexedSlices, local_step: TensorLike = 0, name: str | None = None
    ) -> Operation:
        """Adds `grad`, IndexedSlices, unless `local_step` is below the global step."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(
        self,
        grad_indices: TensorLike,
        grad_values: TensorLike,
        grad_shape: TensorLike | None = None,
        local_step: TensorLike = 0,
        name: str | None = None,
    ) -> Operation:
        """An operation that adds the rows of a gradient, unless its step is over.

        Args:
            grad_indices: Which rows they are.
            grad_values: The rows.
            grad_shape: The shape of the whole, where it is known.
            local_step: The step of the gradient.
            name: Of the operation.
        """
        sizes = np.zeros(0, np.int64) if grad_shape is None else _int64(grad_shape)
        return create(
            "SparseAccumulatorApplyGradient",
            [self._accumulator_ref, _int64(local_step), _int64(grad_indices), grad_values, sizes],
            {"has_known_shape": grad_shape is not None},
            name,
        )

    def take_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> SparseAccumulatorTakeGradient:
        """Indices, rows, shape of the mean or sum, once there are `num_required` gradients."""
        indices, values, shape = create(
            "SparseAccumulatorTakeGradient",
            [self._accumulator_ref, num_required],
            {"dtype": self._dtype.dtype},
            name,
        ).outputs
        return SparseAccumulatorTakeGradient(indices, values, shape)

    def take_indexed_slices_grad(
        self, num_required: TensorLike, name: str | None = None
    ) -> IndexedSlices:
        """The mean or sum as IndexedSlices, once there are `num_required` gradients."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)


def _handle(
    kind: str,
    dtype: DTypeLike,
    shape: ShapeLike | None,
    shared_name: str | None,
    name: str,
    reduction_type: str,
) -> Tensor:
    if reduction_type not in ("MEAN", "SUM"):
        raise ValueError(
            f"Attr 'reduction_type' of '{kind}' Op passed string '{reduction_type}' not in: "
            '"MEAN", "SUM".'
        )
    attrs: dict[str, AttrValue] = {
        "dtype": DType(dtype).dtype,
        "shape": TensorShape(shape).as_shape(),
        "shared_name": (shared_name or "").encode(),
        "reduction_type": reduction_type.encode(),
    }
    return create(kind, (), attrs, name).outputs[0]


def _int64(value: TensorLike) -> Tensor:
    tensor = convert_to_tensor(value)
    return tensor if tensor.dtype == np.int64 else ops.Cast(tensor, DstT=np.dtype(np.int64))
