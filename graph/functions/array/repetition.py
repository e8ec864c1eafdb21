"""TF1's functions that repeat elements: along an axis, and over a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core import shapes, tensor_shape
from ...core.build import ops, shape_of
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype
from ...core.scopes import name_scope
from .array import gather, reshape
from .creation import ones

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


def meshgrid(*args: TensorLike, indexing: str = "xy", name: str = "meshgrid") -> list[Tensor]:
    """Coordinates of a grid, a tensor for each of the vectors.

    Args:
        *args: Vectors of any type.
        indexing: "xy": the second vector runs along the first dimension; "ij": the first one does.

    Returns as many tensors as there are vectors, of one shape: a dimension for each vector.

    Raises ValueError for another `indexing`.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    if not args:
        return []
    with name_scope(name, "meshgrid", args):
        n = len(args)
        vectors = [convert_to_tensor(x) for x in args]
        shaped: list[Tensor] = []
        for i, x in enumerate(vectors):
            sizes = [1] * n
            sizes[i] = -1
            if indexing == "xy" and n > 1 and i < 2:
                sizes[0], sizes[1] = sizes[1], sizes[0]
            shaped.append(reshape(x, sizes))
        counts = [ops.Size(x) for x in vectors]
        if indexing == "xy" and n > 1:
            counts[0], counts[1] = counts[1], counts[0]
        whole = ones(ops.Pack(counts), vectors[0].dtype)
        flags = whole.dtype.kind == "b"
        return [ops.LogicalAnd(x, whole) if flags else x * whole for x in shaped]


def repeat(
    input: TensorLike,
    repeats: TensorLike,
    axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input` with each slice along `axis` repeated; flattened first without an axis.

    Args:
        input: Of any type.
        repeats: How often: an integer, or as many as there are slices.
        axis: The slices.
        name: Of the operations.

    Raises:
        TypeError: `repeats` are no integers.
        ValueError: their number is not that of the slices, or `axis` is out of range.
    """
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise TypeError(
            f"Argument `axis` must be an int. Received `axis` = {axis} of type "
            f"{type(axis).__name__}"
        )
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        if axis is None or data.sizes == ():
            data, axis = reshape(data, [-1]), axis or 0
        times = convert_to_tensor(repeats, name="repeats", preferred_dtype=np.int32)
        if times.dtype.kind not in "iu":
            raise TypeError(
                "Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
                f"{times} of dtype: {as_dtype(times.dtype)}"
            )
        shape = times.get_shape().with_rank_at_most(1)
        rank = None if data.sizes is None else len(data.sizes)
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        n_slices = None if data.sizes is None else data.sizes[axis]
        n = shape.as_list()[0] if shape.ndims == 1 else None
        if n is not None and n != 1:
            tensor_shape.Dimension(n_slices).assert_is_compatible_with(n)
        return gather(data, _repeated_positions(times, data, n_slices, axis), axis=axis)


def _repeated_positions(
    times: Tensor, data: Tensor, n_slices: int | None, axis: int
) -> Tensor | np.ndarray:
    """The number of each slice, as often as it comes."""
    known = shapes.whole(times.value)
    if known is not None and n_slices is not None:
        counts = np.broadcast_to(known, (n_slices,))
        return np.repeat(np.arange(n_slices, dtype=np.int32), np.maximum(counts, 0))
    n = np.int32(n_slices) if n_slices is not None else shape_of(data)[axis]
    counts = ops.BroadcastTo(ops.Cast(times, DstT=np.dtype(np.int32)), ops.Pack([n]))
    steps = ops.Range(np.int32(0), ops.Max(ops.Pad(counts, [[0, 1]]), np.int32(0)), np.int32(1))
    is_repeated = ops.Less(ops.ExpandDims(steps, 0), ops.ExpandDims(counts, 1))
    positions = ops.Where(is_repeated)
    return ops.Cast(positions[:, 0], DstT=np.dtype(np.int32))
