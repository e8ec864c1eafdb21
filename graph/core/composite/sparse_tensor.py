"""SparseTensor: a tensor by the places and values of its elements that are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..create import convert_to_tensor
from ..dtype import as_dtype
from ..graph import Graph, Operation, Tensor
from ..scopes import name_scope
from ..tensor_shape import TensorShape, shape_of_values

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...session.session import Session
    from ..protocols import Evaluated, FeedDict, MaybeDType
    from ..typing import DTypeLike, ShapeLike, TensorLike


class SparseTensorValue(NamedTuple):
    """What a Session gives for a SparseTensor, and takes to feed one."""

    indices: npt.ArrayLike
    values: npt.ArrayLike
    dense_shape: npt.ArrayLike


class SparseTensor:
    """The elements at some places of a tensor that has nothing elsewhere.

    Args:
        indices: [n, rank], int64, in rising order of rows.
        values: [n].
        dense_shape: [rank], int64.

    Raises ValueError when their shapes do not go together.
    """

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, np.int64, name="indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, np.int64, name="dense_shape")
        n, rank = TensorShape(self._indices.sizes).with_rank(2).as_list()
        sizes = TensorShape(self._values.sizes).with_rank(1).as_list()
        shape = TensorShape(self._dense_shape.sizes).with_rank(1).as_list()
        self._known = TensorShape(None)
        if None not in (n, sizes[0]) and n != sizes[0]:
            raise ValueError(f"Dimensions {n} and {sizes[0]} are not compatible")
        if None not in (rank, shape[0]) and rank != shape[0]:
            raise ValueError(f"Dimensions {rank} and {shape[0]} are not compatible")

    @property
    def indices(self) -> Tensor:
        """[n, rank]: the places."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """[n]: the elements there."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """[rank]: the sizes of the whole."""
        return self._dense_shape

    @property
    def dtype(self) -> MaybeDType:
        """That of the values."""
        return self._values.dtype

    @property
    def op(self) -> Operation:
        """The operation that gives the values."""
        return self._values.op

    @property
    def graph(self) -> Graph:
        """The graph it belongs to."""
        return self._values.graph

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape of the whole."""
        value = self._dense_shape.value
        if value is None:
            sizes = self._dense_shape.sizes
            rank = sizes[0] if sizes else None
            return self._known.merge_with(None if rank is None else [None] * rank)
        return self._known.merge_with(shape_of_values(value.tolist()))

    def set_shape(self, shape: ShapeLike | None) -> None:
        """Adds what the caller knows of its shape; raises ValueError when it cannot be."""
        self._known = self.shape.merge_with(shape)

    def consumers(self) -> list[Operation]:
        """The operations that read one of its three tensors."""
        parts = (self._indices, self._values, self._dense_shape)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseTensor | Sequence[TensorLike]) -> SparseTensor:
        """A SparseTensor of `sparse_tensor_value`, a SparseTensorValue or one; else TypeError."""
        if isinstance(sparse_tensor_value, SparseTensor):
            value = sparse_tensor_value
            return cls(value.indices, value.values, value.dense_shape)
        if not hasattr(sparse_tensor_value, "dense_shape"):
            raise TypeError(
                "Argument `sparse_tensor_value` must be either a SparseTensor or "
                f"SparseTensorValue, got {sparse_tensor_value!r}"
            )
        return cls(*sparse_tensor_value)

    def get_shape(self) -> TensorShape:
        """What is known of the shape of the whole."""
        return self.shape

    def with_values(self, new_values: TensorLike) -> SparseTensor:
        """The same places with `new_values`, as many elements of any type."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def to_components(self) -> list[object]:
        """Its three tensors."""
        return [self._indices, self._values, self._dense_shape]

    def from_components(self, components: Sequence[object]) -> SparseTensor:
        """One of other tensors."""
        indices, values, shape = cast("Sequence[Tensor]", components)
        return SparseTensor(indices, values, shape)

    def eval(self, feed_dict: FeedDict | None = None, session: Session | None = None) -> Evaluated:
        """Its value in `session`, by default the default one."""
        from ..hooks import implementation

        session_for = implementation("session_for")
        active = session_for(self.graph, session, "evaluate tensor", "eval")
        return active.run(self, feed_dict)

    def _with_dense(self, kind: str, values: Tensor, dense: TensorLike) -> SparseTensor:
        """An operation with what a whole tensor, which broadcasts to this one, has there."""
        from ..build import call

        other = convert_to_tensor(dense, values.dtype, name="y")
        result = call(kind, self._indices, values, self._dense_shape, other)
        return SparseTensor(self._indices, cast("Tensor", result), self._dense_shape)

    def __mul__(self, y: TensorLike) -> SparseTensor:
        return self._with_dense("SparseDenseCwiseMul", self._values, y)

    def __rmul__(self, x: TensorLike) -> SparseTensor:
        return self * x

    def __div__(self, y: TensorLike) -> SparseTensor:
        return self._with_dense("SparseDenseCwiseDiv", self._values, y)

    def __truediv__(self, y: TensorLike) -> SparseTensor:
        from ..build import ops

        dtype = self._values.dtype
        if dtype.kind not in "iu":
            return self._with_dense("SparseDenseCwiseDiv", self._values, y)
        wide = np.dtype(np.float32 if dtype.itemsize < 4 else np.float64)
        values = ops.Cast(self._values, DstT=wide)
        dense = ops.Cast(convert_to_tensor(y, dtype, name="y"), DstT=wide)
        return self._with_dense("SparseDenseCwiseDiv", values, dense)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, "
            f"dense_shape={self._dense_shape})"
        )


def convert_to_tensor_or_sparse_tensor(
    value: SparseTensor | TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> SparseTensor | Tensor:
    """A SparseTensor of a `value` that is one or a SparseTensorValue; a tensor of others."""
    if not isinstance(value, SparseTensor) and hasattr(value, "dense_shape"):
        value = SparseTensor.from_value(cast("Sequence[TensorLike]", value))
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and value.dtype != dtype:
        raise RuntimeError(
            f"Sparse dtype mismatch. Requested: {as_dtype(dtype).name},  Actual: {value.dtype.name}"
        )
    return value
