"""tf.train.Example messages as tensors: `parse_example` and its kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.composite.ragged_tensor import RaggedTensor
from ...core.composite.row_partition import RowPartition, checked
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..sparse.tensors import merge
from .features import (
    Columns,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
    index_keys_of,
)

if TYPE_CHECKING:
    from ...core.typing import TensorLike

    Parsed: TypeAlias = "dict[str, Tensor | SparseTensor | RaggedTensor]"

_ZERO = np.int32(0)
_OBJECT = np.dtype(object)
EXAMPLE_KINDS = (
    VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature,
)  # fmt: skip
SEQUENCE_KINDS = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
CONTEXT_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, RaggedFeature)


def parse_example(
    serialized: TensorLike,
    features: Mapping[str, object],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> Parsed:
    """The features of serialized tf.train.Example messages.

    Args:
        serialized: [n] strings, or a single one.
        features: Key -> FixedLenFeature (a tensor), FixedLenSequenceFeature (a tensor filled up),
            VarLenFeature or SparseFeature (a sparse tensor), RaggedFeature (a ragged tensor).
        name: Of the operations.
        example_names: [n], for messages of errors.

    Raises:
        ValueError: There are no features, or one says too little.
        InvalidArgumentError: When it runs, for a message that lacks a feature, or has it in
            another type or number.
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    columns = Columns(features, EXAMPLE_KINDS)
    for key, feature in columns.features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            dtype, shape, default = columns.dense[key]
            columns.dense[key] = dtype, (None, *(shape or ())), default
    with name_scope(name, "ParseExample", [serialized]):
        text = convert_to_tensor(serialized, name="serialized")
        if text.sizes is not None and len(text.sizes) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(text.sizes)}")
        names = _names(example_names)
        outputs = ops.ParseExampleV2(
            text, names, _keys(columns.sparse), _keys(columns.dense), _keys(columns.ragged),
            columns.defaults(),
            num_sparse=len(columns.sparse),
            sparse_types=[*columns.sparse.values()],
            ragged_value_types=[values for values, _ in columns.ragged.values()],
            ragged_split_types=[splits for _, splits in columns.ragged.values()],
            dense_shapes=[shape for _, shape, _ in columns.dense.values()],
        )  # fmt: skip
        return _assembled(columns, _Outputs(outputs), text.sizes == ())


def _names(names: TensorLike | None) -> Tensor:
    return convert_to_tensor(np.zeros(0, object) if names is None else names, _OBJECT, name="names")


def _keys(keys: Mapping[str, object]) -> Tensor:
    array = np.empty(len(keys), object)
    array[:] = [key.encode() for key in keys]
    return convert_to_tensor(array)


class _Outputs:
    """The outputs of an op, taken in their order."""

    def __init__(self, tensors: Sequence[Tensor]):
        self._tensors = list(tensors)

    def take(self, n: int) -> list[Tensor]:
        """The next ones."""
        taken, self._tensors = self._tensors[:n], self._tensors[n:]
        return taken


def _columns_of(columns: Columns, outputs: _Outputs, has_lengths: bool) -> tuple[
    dict[str, SparseTensor], dict[str, Tensor], dict[str, Tensor], list[Tensor]
]:  # fmt: skip
    """Sparse tensors, dense ones, their lengths, and the tensors of ragged ones."""
    n = len(columns.sparse)
    triples = zip(outputs.take(n), outputs.take(n), outputs.take(n), strict=True)
    sparse = {key: SparseTensor(*t) for key, t in zip(columns.sparse, triples, strict=True)}
    dense = dict(zip(columns.dense, outputs.take(len(columns.dense)), strict=True))
    lengths: dict[str, Tensor] = {}
    if has_lengths:
        lengths = dict(zip(columns.dense, outputs.take(len(columns.dense)), strict=True))
    parts = outputs.take(len(columns.ragged) * (3 if has_lengths else 2))
    return sparse, dense, lengths, parts


def _assembled(columns: Columns, outputs: _Outputs, is_single: bool) -> Parsed:
    """What is asked for, of the outputs for an Example."""
    sparse, dense, _, parts = _columns_of(columns, outputs, False)
    n = len(columns.ragged)
    ragged: dict[str, Tensor | RaggedTensor] = {}
    for key, values, splits in zip(columns.ragged, parts[:n], parts[n:], strict=True):
        ragged[key] = values if is_single else RaggedTensor(values, RowPartition(splits))
    return _chosen(columns, sparse, dense, ragged)


def _chosen(
    columns: Columns,
    sparse: Mapping[str, SparseTensor],
    dense: Mapping[str, Tensor],
    ragged: Mapping[str, Tensor | RaggedTensor],
) -> Parsed:
    results: Parsed = {}
    names = [*columns.sparse, *columns.dense, *columns.ragged]
    order = {key: i for i, key in enumerate(names)}  # TensorFlow's, of the dictionary it gives
    for key in sorted(columns.features, key=lambda key: (order.get(key, len(order)), key)):
        feature = columns.features[key]
        if isinstance(feature, SparseFeature):
            sizes = feature.size if isinstance(feature.size, (list, tuple)) else [feature.size]
            ids = [sparse[index_key] for index_key in index_keys_of(feature)]
            values = _as_many(sparse[feature.value_key], ids)
            results[key] = merge(ids, values, list(sizes), already_sorted=feature.already_sorted)
        elif isinstance(feature, RaggedFeature):
            results[key] = _partitioned(key, feature, ragged)
        elif isinstance(feature, VarLenFeature):
            results[key] = sparse[key]
        else:
            results[key] = dense[key]
    return results


def _as_many(values: SparseTensor, ids: Sequence[SparseTensor]) -> SparseTensor:
    """The values, once there are as many as indices."""
    count = ops.Size(values.values)
    same = [ops.Equal(ops.Size(part.values), count) for part in ids]
    words = "Number of elements in indices and values of a SparseFeature do not match"
    return SparseTensor(values.indices, checked(values.values, same, words), values.dense_shape)


def _lengths_of(part: object, ragged: RaggedTensor, counts: Tensor) -> RaggedTensor:
    """The lengths of the rows that a partition makes of the items of every message."""
    numbers = ragged.flat_values
    rows = ragged.rows
    one = np.dtype(numbers.dtype).type(1)
    if isinstance(part, RowLengths):
        return ragged
    if isinstance(part, RowSplits):
        starts, ends = ragged[:, :-1], ragged[:, 1:]
        return cast("RaggedTensor", ends) - starts
    if isinstance(part, RowLimits):
        columns = rows.columns()
        before = ops.ConcatV2([np.zeros(1, np.dtype(numbers.dtype)), numbers[:-1]], _ZERO)
        is_first = ops.Equal(columns, np.zeros((), rows.dtype))
        zeros = ops.ZerosLike(numbers)
        return ragged.with_values(numbers - ops.SelectV2(is_first, zeros, before))
    if isinstance(part, RowStarts):
        after = ops.ConcatV2([numbers[1:], np.zeros(1, np.dtype(numbers.dtype))], _ZERO)
        last = ops.Sub(ops.GatherV2(rows.lengths(), rows.rowids(), _ZERO), rows.dtype.type(1))
        ends = ops.GatherV2(ops.Cast(counts, DstT=np.dtype(numbers.dtype)), rows.rowids(), _ZERO)
        is_last = ops.Equal(rows.columns(), last)
        return ragged.with_values(ops.SelectV2(is_last, ends, after) - numbers)
    most = ops.UnsortedSegmentMax(numbers, rows.rowids(), rows.nrows())
    n_rows = ops.Maximum(ops.AddV2(most, one), np.dtype(numbers.dtype).type(0))
    zero = np.zeros(1, np.dtype(numbers.dtype))
    ends = ops.ConcatV2([zero, ops.Cumsum(n_rows, _ZERO)], _ZERO)
    outer = RowPartition(ends).of_type(rows.dtype)
    starts = ops.GatherV2(outer.starts(), rows.rowids(), _ZERO)
    at = ops.AddV2(starts, ops.Cast(numbers, DstT=rows.dtype))
    ones = ops.Fill(ops.Shape(at), rows.dtype.type(1))
    return RaggedTensor(ops.UnsortedSegmentSum(ones, at, outer.nvals()), outer)


def _partitioned(
    key: str, feature: RaggedFeature, ragged: Mapping[str, Tensor | RaggedTensor]
) -> Tensor | RaggedTensor:
    """The values of a feature in the rows that its partitions make."""
    values = ragged[feature.value_key or key]
    if not feature.partitions:
        return values
    is_single = isinstance(values, Tensor)
    split_type = as_numpy(feature.row_splits_dtype)
    batch = values
    if isinstance(batch, Tensor):
        batch = _one_message(batch, split_type)
    depth = batch.ragged_rank
    inner_most = batch
    while isinstance(inner_most.values, RaggedTensor):
        inner_most = inner_most.values
    counts = inner_most.rows.lengths()
    result: Tensor | RaggedTensor = inner_most.values
    for part in reversed(feature.partitions):
        if isinstance(part, UniformRowLength):
            size = split_type.type(part.length)
            n = ops.Cast(counts, DstT=split_type)
            fits = ops.All(ops.Equal(ops.FloorMod(n, size), split_type.type(0)), _ZERO)
            n = checked(n, [fits], f"Feature {key}: values and partitions are not aligned")
            counts = ops.FloorDiv(n, size)
            total = ops.Sum(counts, _ZERO)
            result = RaggedTensor.from_uniform_row_length(result, size, total, validate=False)
            continue
        numbers = ragged[cast("RowSplits", part).key]
        rows = _one_message(numbers, split_type) if isinstance(numbers, Tensor) else numbers
        while isinstance(rows.values, RaggedTensor):
            rows = rows.values
        lengths = _lengths_of(part, rows, counts)
        sums = ops.UnsortedSegmentSum(
            lengths.flat_values, lengths.rows.rowids(), lengths.rows.nrows()
        )
        flat = ops.Cast(lengths.flat_values, DstT=split_type)
        same = ops.All(
            ops.Equal(ops.Cast(sums, DstT=split_type), ops.Cast(counts, DstT=split_type)), _ZERO
        )
        if feature.validate:
            flat = checked(flat, [same], f"Feature {key}: values and partitions are not aligned")
        result = RaggedTensor.from_row_lengths(result, flat, validate=False)
        counts = lengths.rows.lengths()
    if is_single:
        return result
    outer = ops.Cast(counts, DstT=split_type)
    result = RaggedTensor.from_row_lengths(result, outer, validate=False)
    for rows in reversed(batch.nested_rows[: depth - 1]):
        result = RaggedTensor(result, rows)
    return result


def _one_message(x: Tensor, dtype: np.dtype) -> RaggedTensor:
    """A vector as the only row."""
    n = ops.Shape(x, out_type=dtype)
    return RaggedTensor(x, RowPartition(ops.ConcatV2([np.zeros(1, dtype), n], _ZERO)))


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, object],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> Parsed:
    """The features of a single tf.train.Example; see `parse_example`.

    Args:
        serialized: A scalar of strings.
        features: Names -> what they are, as of `parse_example`.
        name: Of the operations.
        example_names: What errors call the message, a scalar of strings.

    Raises ValueError unless `serialized` is a scalar.
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    with name_scope(name, "ParseSingleExample", [serialized]):
        return parse_example(_scalar(serialized, "serialized"), features, name, example_names)


def _scalar(value: TensorLike, name: str) -> Tensor:
    tensor = convert_to_tensor(value, _OBJECT, name=name)
    if tensor.sizes is None:
        return ops.Reshape(tensor, np.zeros(0, np.int32))
    if tensor.sizes:
        raise ValueError(f"Input {name} must be a scalar, got shape {tensor.get_shape()}")
    return tensor


def parse_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed, dict[str, Tensor]]:
    """The contexts and feature lists of serialized tf.train.SequenceExample messages.

    Args:
        serialized: [n] strings.
        context_features: Key -> FixedLenFeature, VarLenFeature, SparseFeature, RaggedFeature.
        sequence_features: Key -> FixedLenSequenceFeature, VarLenFeature, RaggedFeature.
        example_names: [n], for messages of errors.
        name: Of the operations.

    Returns:
        Context features, sequence features, and the lengths of the FixedLenSequenceFeatures.

    Raises ValueError without features; see `parse_example`.
    """
    with name_scope(name, "ParseSequenceExample", [serialized]):
        text = convert_to_tensor(serialized, _OBJECT, name="serialized")
        return _sequences(text, context_features, sequence_features, example_names)


def parse_single_sequence_example(
    serialized: TensorLike,
    context_features: Mapping[str, object] | None = None,
    sequence_features: Mapping[str, object] | None = None,
    example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Parsed, Parsed]:
    """The context and feature lists of a single tf.train.SequenceExample.

    Args:
        serialized: A scalar of strings.
        context_features, sequence_features: Names -> what they are, as of `parse_sequence_example`.
        example_name: What errors call the message, a scalar of strings.
        name: Of the operations.

    Raises ValueError unless `serialized` is a scalar; see `parse_sequence_example`.
    """
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        text = _scalar(serialized, "serialized")
        names = None if example_name is None else example_name
        context, lists, _ = _sequences(text, context_features, sequence_features, names)
        return context, lists


def _sequences(
    text: Tensor,
    context_features: Mapping[str, object] | None,
    sequence_features: Mapping[str, object] | None,
    names: TensorLike | None,
) -> tuple[Parsed, Parsed, dict[str, Tensor]]:
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one "
                         "should have values.")  # fmt: skip
    context = Columns(context_features, CONTEXT_KINDS)
    lists = Columns(sequence_features, SEQUENCE_KINDS)
    outputs = _Outputs(_parse_sequences(text, context, lists, names))
    is_single = text.sizes == ()
    parsed_context = _assembled(context, outputs, is_single)
    sparse, dense, lengths, parts = _columns_of(lists, outputs, True)
    n = len(lists.ragged)
    ragged: dict[str, Tensor | RaggedTensor] = {}
    columns = zip(lists.ragged, parts[:n], parts[n : 2 * n], parts[2 * n :], strict=True)
    for key, values, outer, inner in columns:
        steps = RaggedTensor(values, RowPartition(inner))
        ragged[key] = steps if is_single else RaggedTensor(steps, RowPartition(outer))
    return parsed_context, _chosen(lists, sparse, dense, ragged), lengths


def _parse_sequences(
    text: Tensor, context: Columns, lists: Columns, names: TensorLike | None
) -> Sequence[Tensor]:
    label = _names(names)
    return ops.ParseSequenceExampleV2(
        text, label,
        _keys(context.sparse), _keys(context.dense), _keys(context.ragged),
        _keys(lists.sparse), _keys(lists.dense), _keys(lists.ragged),
        np.array([key in lists.may_lack for key in lists.dense], np.bool_),
        context.defaults(),
        Ncontext_sparse=len(context.sparse),
        context_sparse_types=[*context.sparse.values()],
        context_ragged_value_types=[values for values, _ in context.ragged.values()],
        context_ragged_split_types=[splits for _, splits in context.ragged.values()],
        context_dense_shapes=[shape for _, shape, _ in context.dense.values()],
        Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense),
        feature_list_dense_types=[dtype for dtype, _, _ in lists.dense.values()],
        feature_list_sparse_types=[*lists.sparse.values()],
        feature_list_ragged_value_types=[values for values, _ in lists.ragged.values()],
        feature_list_ragged_split_types=[splits for _, splits in lists.ragged.values()],
        feature_list_dense_shapes=[shape for _, shape, _ in lists.dense.values()],
    )  # fmt: skip
