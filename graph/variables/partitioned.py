"""Variables in parts: each is saved as a part of the whole, and together they are one tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.arrays import type_name
from ..core.create import create, output, register_conversion
from ..core.dtype import DType, as_dtype, as_numpy
from ..core.scopes import control_dependencies, name_scope
from ..core.signatures.operands import Operands
from ..core.tensor_shape import TensorShape
from .variables import Updated, Variable

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from ..core.typing import DTypeLike, TensorLike

Partitioner: TypeAlias = "Callable[..., Sequence[int]]"
"""Called as `partitioner(shape=, dtype=)`; gives the number of parts of each dimension."""


def parts_of(
    shape: Sequence[int], partitions: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Where each part begins and its shape; the first parts are larger by what is left over."""
    axis, n_parts = split_axis(partitions)
    least, left_over = divmod(shape[axis], n_parts)
    offset = [0] * len(shape)
    for i in range(n_parts):
        sizes = list(shape)
        sizes[axis] = least + (i < left_over)
        yield list(offset), sizes
        offset[axis] += sizes[axis]


def split_axis(partitions: Sequence[int]) -> tuple[int, int]:
    """The dimension that is cut, and the number of parts."""
    for axis, n_parts in enumerate(partitions):
        if n_parts > 1:
            return axis, n_parts
    return 0, 1


def partitions_of(partitioner: Partitioner, shape: TensorShape, dtype: np.dtype) -> list[int]:
    """What a partitioner gives for a variable.

    Raises ValueError when the shape is not known, or it gives something else than one number above
    0 for each dimension, of which one alone may be above 1.
    """
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if (shape.ndims or 0) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    counts: object = partitioner(shape=shape, dtype=dtype)
    if not isinstance(counts, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {counts}")
    slicing = list(cast("Sequence[int]", counts))
    if len(slicing) != shape.ndims:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: "
            f"{slicing} vs. {shape}"
        )
    if any(n < 1 for n in slicing):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {slicing}")
    if sum(n > 1 for n in slicing) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: "
            f"{slicing}"
        )
    return slicing


class PartitionedVariable(Operands):
    """A variable whose rows, or columns, are variables of their own.

    Where a tensor is asked for, it stands for all of them in one.

    Args:
        name: Of the whole.
        shape: Of the whole.
        dtype: Of all parts.
        variable_list: The parts, which know where they lie.
        partitions: How many parts there are along each dimension.

    Raises:
        TypeError: The parts or their numbers are not lists.
        ValueError: They do not go together.
    """

    def __init__(
        self,
        name: str,
        shape: TensorShape | Sequence[int],
        dtype: DTypeLike,
        variable_list: Sequence[Variable],
        partitions: Sequence[int],
    ):
        for what, items in (("variable_list", variable_list), ("partitions", partitions)):
            if not isinstance(items, (list, tuple)):
                raise TypeError(f"{what} is not a list or tuple: {items}")
        whole = TensorShape(shape)
        if any(n < 1 for n in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if len(whole) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {whole} vs. {partitions}")
        infos = [variable.save_slice_info for variable in variable_list]
        if None in infos:
            names = [variable.name for variable in variable_list]
            raise ValueError(f"All variables must have a save_slice_info available: {names}")
        wrong = [info.full_shape for info in infos if info and info.full_shape != whole.as_list()]
        if wrong:
            raise ValueError(
                f"All variables' full shapes must match shape: {whole}; but full shapes were: "
                f"{wrong}"
            )
        self._parts = sorted(variable_list, key=_offset)
        self._name = name
        self._shape = whole
        self._dtype = as_dtype(dtype)
        self._partitions = list(partitions)

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of all parts."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    @property
    def partitions(self) -> list[int]:
        """How many parts there are along each dimension."""
        return list(self._partitions)

    @property
    def partition_axes(self) -> list[int]:
        """The dimensions that are cut; the first one when none is."""
        return [i for i, n in enumerate(self._partitions) if n > 1] or [0]

    def __iter__(self) -> Iterator[Variable]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return iter(self._parts)

    def _get_variable_list(self) -> list[Variable]:  # pyright: ignore[reportUnusedFunction]
        """All parts, under the name that TensorFlow's documents call it by."""
        return list(self._parts)

    def __len__(self) -> int:
        if len(self.partition_axes) > 1:
            raise ValueError(
                f"Cannot get a length for {len(self.partition_axes)} > 1 partition axes"
            )
        return len(self._parts)

    def as_tensor(self) -> Tensor:
        """All parts in one tensor."""
        with control_dependencies(None):
            if len(self._parts) == 1:
                with name_scope(None):
                    return output("Identity", [self._parts[0]], name=self._name)
            (axis,) = self.partition_axes
            with name_scope(f"{self._name}/ConcatPartitions/"):
                whole = output("ConcatV2", [self._parts, np.int32(axis)], name="concat")
            with name_scope(None):
                return output("Identity", [whole], name=self._name)

    value = as_tensor

    def as_graph_element(self) -> Tensor:
        """What a Session fetches for it: all parts in one tensor."""
        return self.as_tensor()

    def _pieces(
        self, value: TensorLike | PartitionedVariable | list[TensorLike]
    ) -> list[TensorLike]:
        """What each part gets of a value."""
        if isinstance(value, PartitionedVariable):
            return cast("list[TensorLike]", list(value))
        if isinstance(value, list):
            return value
        (axis,) = self.partition_axes
        sizes = [(part.sizes or ())[axis] for part in self._parts]
        attrs = {"num_split": len(sizes)}
        split = create("SplitV", [value, np.array(sizes, np.int32), np.int32(axis)], attrs)
        return cast("list[TensorLike]", split.outputs)

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Updated | Operation]:
        """Gives all parts values; their new ones, or the operations that do so."""
        pairs = zip(self._parts, self._pieces(value), strict=True)
        return [part.assign(x, use_locking, name, read_value=read_value) for part, x in pairs]

    def assign_add(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Updated | Operation]:
        """Adds to all parts; their new values, or the operations that do so."""
        pairs = zip(self._parts, self._pieces(value), strict=True)
        return [part.assign_add(x, use_locking, name, read_value=read_value) for part, x in pairs]

    def assign_sub(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Updated | Operation]:
        """Subtracts from all parts; their new values, or the operations that do so."""
        pairs = zip(self._parts, self._pieces(value), strict=True)
        return [part.assign_sub(x, use_locking, name, read_value=read_value) for part, x in pairs]


def _offset(variable: Variable) -> list[int]:
    info = variable.save_slice_info
    return list(info.var_offset or ()) if info else []


def _as_tensor(
    variable: PartitionedVariable, dtype: np.dtype | None, name: str | None, reference: bool
) -> Tensor:
    if dtype is not None and variable.dtype != dtype:
        raise ValueError(
            f"Incompatible type conversion requested to type '{type_name(dtype)}' for variable of "
            f"type '{type_name(variable.dtype)}'"
        )
    return variable.as_tensor()


register_conversion(PartitionedVariable, _as_tensor)


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts `axis` into so many parts, or as many as it has elements."""

    def partitioner(shape: TensorShape, **kwargs: object) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, cast("int", shape.as_list()[axis]))
        return partitions

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """Cuts `axis` so that no part has more than so many bytes, where that goes.

    Raises ValueError when one of the numbers is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, "
            f"max_shard_bytes is {max_shard_bytes} and bytes_per_string_element is "
            f"{bytes_per_string_element}"
        )
    if max_shards is not None and max_shards < 0:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        sizes = cast("list[int]", shape.as_list())
        kind = as_numpy(dtype)
        n_bytes = bytes_per_string_element if kind.kind == "O" else kind.itemsize
        bytes_per_slice = math.prod(sizes) / sizes[axis] * n_bytes
        slices = max(1, math.floor(max_shard_bytes / bytes_per_slice))
        shards = math.ceil(sizes[axis] / slices)
        partitions = [1] * len(sizes)
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """Cuts `axis` into as many parts as bytes / `min_slice_size`, rounded up, within a limit.

    Args:
        max_partitions: How many parts there are at most.
        axis: Which dimension is cut.
        min_slice_size: How many bytes of a variable are worth a part.
        bytes_per_string_element: What a string counts for.

    Returns what `variable_scope` takes as `partitioner`; it raises ValueError for a variable that
    lacks the dimension.
    """

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if axis >= len(shape):
            raise ValueError(
                f"Cannot partition variable along axis {axis} when shape is only {shape}"
            )
        sizes = cast("list[int]", shape.as_list())
        kind = as_numpy(dtype)
        n_bytes = bytes_per_string_element if kind.kind == "O" else kind.itemsize
        n_slices = math.ceil(math.prod(sizes) * n_bytes / min_slice_size)
        partitions = [1] * len(sizes)
        partitions[axis] = max(1, min(sizes[axis], max_partitions, n_slices))
        return partitions

    return partitioner
