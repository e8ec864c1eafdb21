"""What is asked of tf.train.Example messages: kinds of features, as the parsing ops take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.create import convert_to_tensor
from ...core.dtype import as_dtype, as_numpy
from ...core.tensor_shape import TensorShape

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.shapes import Shape
    from ...core.typing import DTypeLike, ShapeLike, TensorLike


_INT32 = np.dtype(np.int32)


class VarLenFeature(NamedTuple):
    """A feature of any number of values: it becomes a sparse tensor."""

    dtype: DTypeLike | None


class FixedLenFeature(NamedTuple):
    """A feature of a known shape; without a default every message must have it."""

    shape: ShapeLike | None
    dtype: DTypeLike | None
    default_value: TensorLike | None = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of parts of a known shape, filled up to the longest."""

    shape: ShapeLike | None
    dtype: DTypeLike | None
    allow_missing: bool = False
    default_value: TensorLike | None = None


class SparseFeature(NamedTuple):
    """A sparse tensor of two features or more: the indices of its values, and the values."""

    index_key: str | Sequence[str]
    value_key: str
    dtype: DTypeLike | None
    size: int | Sequence[int]
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """A partition by the feature that says where rows begin, and the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """A partition by the feature that says how long the rows are."""

    key: str


class RowStarts(NamedTuple):
    """A partition by the feature that says where rows begin."""

    key: str


class RowLimits(NamedTuple):
    """A partition by the feature that says where rows end."""

    key: str


class ValueRowIds(NamedTuple):
    """A partition by the feature that says the row of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """A partition into rows of equally many values."""

    length: int


Partition: TypeAlias = (
    "RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds | UniformRowLength"
)
PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    dtype: DTypeLike
    value_key: str | None = None
    partitions: Sequence[object] = ()
    row_splits_dtype: DTypeLike = _INT32
    validate: bool = False


class RaggedFeature(_RaggedFields):
    """A feature of any number of values, in rows that other features partition.

    Args:
        dtype: Of the values.
        value_key: The key of the values; that of the feature by default.
        partitions: From the outside in: RowSplits, RowLengths, ... of this class, or the length
            of uniform rows.
        row_splits_dtype: int32 or int64.
        validate: Whether the partitions are checked.
    """

    __slots__ = ()
    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: DTypeLike,
        value_key: str | None = None,
        partitions: Sequence[object] = (),
        row_splits_dtype: DTypeLike = _INT32,
        validate: bool = False,
    ) -> RaggedFeature:
        """See the class."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(
                f"Argument `value_key` must be a string; got {type(value_key).__name__}."
            )
        if as_numpy(row_splits_dtype) not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {row_splits_dtype}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("Argument `partitions` must be a list or tuple. Received "
                            f"{partitions} of type {type(partitions).__name__}.")  # fmt: skip
        listed: list[object] = []
        for item in partitions:
            part = UniformRowLength(item) if isinstance(item, int) else item
            if not isinstance(part, PARTITIONS):
                raise TypeError(f"Argument `partitions` must be a list of partition objects, got "
                                f"{item!r}")  # fmt: skip
            listed.append(part)
        return super().__new__(
            cls, as_dtype(dtype), value_key, tuple(listed), as_dtype(row_splits_dtype), validate
        )


Feature: TypeAlias = (
    "VarLenFeature | FixedLenFeature | FixedLenSequenceFeature | SparseFeature | RaggedFeature"
)


class Columns:
    """The columns that features need, in the order of their keys.

    Attributes:
        sparse: Key -> dtype.
        dense: Key -> dtype, shape, default.
        ragged: Key -> dtype of values and of row splits.
        may_lack: Keys of sequences that may be missing.

    Raises ValueError for a feature that says too little, or of a kind that does not belong here.
    """

    def __init__(self, features: Mapping[str, object] | None, kinds: Sequence[type]):
        self.sparse: dict[str, np.dtype] = {}
        self.dense: dict[str, tuple[np.dtype, Shape, TensorLike | None]] = {}
        self.ragged: dict[str, tuple[np.dtype, np.dtype]] = {}
        self.may_lack: set[str] = set()
        self.features = dict(features or {})
        for key in sorted(self.features):
            feature = self.features[key]
            if not isinstance(feature, tuple(kinds)):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r}")
            self._add(key, cast("Feature", feature))
        self._require_apart()

    def _require_apart(self) -> None:
        """Raises ValueError where a key stands for columns of two kinds."""
        kinds = {"Dense": self.dense, "sparse": self.sparse, "ragged": self.ragged}
        for first, second in (("Dense", "sparse"), ("Dense", "ragged"), ("sparse", "ragged")):
            both = sorted(kinds[first].keys() & kinds[second].keys())
            if both:
                raise ValueError(
                    f"{first.capitalize()} and {second} keys must not intersect; "
                    f"{first.lower()}_keys: {sorted(kinds[first])}, {second}_keys: "
                    f"{sorted(kinds[second])}, intersection: {both}"
                )

    def _add(self, key: str, feature: Feature) -> None:
        if isinstance(feature, RaggedFeature):
            self._add_ragged(key, feature)
            return
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
        if isinstance(feature, VarLenFeature):
            self._add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            self._add_sparse_feature(key, feature)
        elif isinstance(feature, FixedLenFeature):
            self._add_dense(key, feature)
        else:
            self._add_sequence(key, feature)

    def _add_sparse(self, key: str, dtype: DTypeLike) -> None:
        numpy_dtype = as_numpy(dtype)
        if (known := self.sparse.setdefault(key, numpy_dtype)) != numpy_dtype:
            raise ValueError(f"Conflicting type {known} vs {numpy_dtype} for feature {key}.")

    def _add_sparse_feature(self, key: str, feature: SparseFeature) -> None:
        index_keys = index_keys_of(feature)
        for index_key in index_keys:
            if index_key in self.sparse and self.sparse[index_key] != np.int64:
                raise ValueError(f"Conflicting type {self.sparse[index_key]} vs int64 for feature "
                                 f"{index_key}.")  # fmt: skip
        if not index_keys:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
        if len(index_keys) != len(sizes):
            raise ValueError(
                "SparseFeature must have the same number of entries in `index_key` and `size`, "
                f"got {index_keys} and {sizes} for feature {key}"
            )
        for index_key in sorted(index_keys):
            self._add_sparse(index_key, np.int64)
        self._add_sparse(feature.value_key, cast("DTypeLike", feature.dtype))

    def _add_dense(self, key: str, feature: FixedLenFeature) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        shape = TensorShape(feature.shape)
        if shape.rank is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        sizes = shape.as_list()
        if sizes and sizes[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                f"FixedLenSequenceFeature. Received feature={feature}."
            )
        if None in sizes:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received "
                f"{tuple(sizes)}. Received feature={feature}."
            )
        dtype = as_numpy(cast("DTypeLike", feature.dtype))
        if dtype.name not in ("float32", "int64", "object"):
            raise TypeError(
                f"Value passed to parameter 'dense_defaults' has DataType {dtype.name} not in list "
                f"of allowed values: float32, int64, string; it is that of feature {key}"
            )
        self.dense[key] = dtype, tuple(sizes), feature.default_value

    def _add_sequence(self, key: str, feature: FixedLenSequenceFeature) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
        sizes = tuple(TensorShape(feature.shape).as_list())
        dtype = as_numpy(cast("DTypeLike", feature.dtype))
        self.dense[key] = dtype, sizes, feature.default_value
        if feature.allow_missing:
            self.may_lack.add(key)
        if feature.default_value is not None and not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
            )

    def _add_ragged(self, key: str, feature: RaggedFeature) -> None:
        split_type = as_numpy(feature.row_splits_dtype)
        rows = [(feature.value_key or key, as_numpy(feature.dtype))]
        rows += [
            (cast("RowSplits", part).key, np.dtype(np.int64))
            for part in feature.partitions
            if not isinstance(part, UniformRowLength)
        ]
        for name, dtype in rows:
            types = dtype, split_type
            if self.ragged.setdefault(name, types) != types:
                raise ValueError(f"Conflicting type {self.ragged[name]} vs {types} for feature "
                                 f"{name}.")  # fmt: skip

    def defaults(self) -> list[Tensor]:
        """What stands for dense features that a message lacks: empty where it must have them."""
        return [_default(key, *row) for key, row in self.dense.items()]


def index_keys_of(feature: SparseFeature) -> list[str]:
    """The keys of the indices."""
    keys = feature.index_key
    return [keys] if isinstance(keys, str) else list(keys)


def _default(key: str, dtype: np.dtype, shape: Shape, value: TensorLike | None) -> Tensor:
    name = "key_" + "".join(c if c.isalnum() and c.isascii() else "_" for c in key)
    is_free = shape is not None and bool(shape) and shape[0] is None
    if value is None:
        filler = b"" if dtype.kind == "O" else np.zeros((), dtype)
        return convert_to_tensor(filler if is_free else np.zeros(0, dtype), dtype, name=name)
    tensor = convert_to_tensor(value, dtype, name=name)
    target = () if is_free or shape is None else shape
    return ops.Reshape(tensor, np.array(target, np.int32))
