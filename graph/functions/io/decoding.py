"""Strings as numbers, columns of CSV, messages and tensors, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...core.build import ops
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ..arguments import one_of
from ..rows import functions
from ..sparse.tensors import sparse_of

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike
    from ..sparse.tensors import SparseLike

_STRING = np.dtype(object)
_FIELD_TYPES = ("float32", "float64", "int32", "int64", "string")

ONE_TO_ONE = """
decode_compressed DecodeCompressed bytes compression_type='' \
    # Strings that are compressed as what they were; `compression_type` is ZLIB, GZIP or ""
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[object],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The columns of records of CSV (RFC 4180), a tensor for each of `record_defaults`.

    Args:
        records: Strings.
        record_defaults: For each column what stands for an empty field, [] where it must not be
            empty, or a type.
        field_delim: What separates the fields.
        use_quote_delim: Whether double quotes stand around fields.
        name: Of the operation.
        na_value: What counts as empty, too.
        select_cols: The columns to take, in rising order; all by default.

    Raises ValueError for columns that do not rise, or as many as there are defaults.
    """
    if not isinstance(record_defaults, (list, tuple)):
        raise TypeError("Expected list for 'record_defaults' argument to 'decode_csv' Op, not "
                        f"{record_defaults!r}.")  # fmt: skip
    if select_cols is not None and any(a >= b for a, b in pairwise(select_cols)):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    defaults = [_default(x) for x in record_defaults]
    for default in defaults:
        if default.dtype.name not in _FIELD_TYPES:
            raise TypeError(
                f"Value passed to parameter 'record_defaults' has DataType {default.dtype.name} "
                f"not in list of allowed values: {', '.join(_FIELD_TYPES)}"
            )
    return ops.DecodeCSV(
        records, defaults, field_delim=field_delim, use_quote_delim=use_quote_delim,
        na_value=na_value, select_cols=[*(select_cols or ())], name=name,
    )  # fmt: skip


def _default(value: object) -> Tensor:
    """What stands for an empty field."""
    if isinstance(value, (Tensor, np.ndarray, list, tuple, str, bytes, int, float)):
        return convert_to_tensor(cast("TensorLike", value))
    return convert_to_tensor(np.zeros(0, as_numpy(cast("DTypeLike", value))))


def decode_raw(
    input_bytes: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: TensorLike | None = None,
) -> Tensor:
    """The bytes of strings of one length as numbers, in one more dimension.

    Args:
        input_bytes: The strings.
        out_type: The type of the numbers.
        little_endian: The order of their bytes.
        name: Of the operation.
        bytes: Old name of `input_bytes`.
    """
    text = one_of("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return ops.DecodeRaw(text, out_type=as_numpy(out_type), little_endian=little_endian, name=name)


def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """tf.train.Example messages, serialized, of `json_examples`, strings of JSON of any shape.

    Raises InvalidArgumentError, when it runs, for a string that is none.
    """
    return ops.DecodeJSONExample(convert_to_tensor(json_examples, np.dtype(object)), name=name)


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor of a serialized TensorProto.

    Args:
        serialized: A scalar of strings.
        out_type: The type that the tensor has.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for what is no such message, or one of another type.
    """
    return ops.ParseTensor(serialized, out_type=as_numpy(out_type), name=name)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, a scalar of strings.

    Args:
        tensor: Of any type and shape.
        name: Of the operation.
    """
    return ops.SerializeTensor(tensor, name=name)


def serialize_sparse(
    sp_input: SparseLike, name: str | None = None, out_type: DTypeLike = _STRING
) -> Tensor:
    """[3]: a sparse tensor as strings, of its indices, values and shape."""
    x = sparse_of(sp_input)
    return ops.SerializeSparse(
        x.indices, x.values, x.dense_shape, out_type=as_numpy(out_type), name=name
    )


def serialize_many_sparse(
    sp_input: SparseLike, name: str | None = None, out_type: DTypeLike = _STRING
) -> Tensor:
    """[n, 3]: each row of a sparse tensor as strings."""
    x = sparse_of(sp_input)
    return ops.SerializeManySparse(
        x.indices, x.values, x.dense_shape, out_type=as_numpy(out_type), name=name
    )


def deserialize_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensors that strings hold, joined along new first dimensions."""
    parts = ops.DeserializeSparse(serialized_sparse, dtype=as_numpy(dtype), name=name)
    return _of_rank(parts, rank)


def deserialize_many_sparse(
    serialized_sparse: TensorLike,
    dtype: DTypeLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The sparse tensors that the rows of [n, 3] strings hold, as one with a dimension more.

    Args:
        serialized_sparse: What `serialize_many_sparse` gave.
        dtype: Of the values.
        rank: Of the single ones, where it is known.
        name: Of the operation.
    """
    with name_scope(name, "DeserializeManySparse") as scope:
        parts = ops.DeserializeManySparse(serialized_sparse, dtype=as_numpy(dtype), name=scope)
        return _of_rank(parts, None if rank is None else rank + 1)


def _of_rank(parts: Sequence[Tensor], rank: int | None) -> SparseTensor:
    indices, values, shape = parts
    indices.set_shape((None, rank))
    values.set_shape((None,))
    shape.set_shape((rank,))
    return SparseTensor(indices, values, shape)


class DecodedFields(NamedTuple):
    """What `decode_proto` gives.

    Attributes:
        sizes: [..., fields], int32, how many values each field has in each message.
        values: For each field [..., most], filled up behind the values that there are.
    """

    sizes: Tensor
    values: list[Tensor]


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[DTypeLike],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> DecodedFields:
    """The fields of messages of protocol buffers.

    Args:
        bytes: [...], the messages, strings.
        message_type: The full name of their type.
        field_names: Which fields.
        output_types: The type of each; strings for messages within them and for strings.
        descriptor_source: "local://" for TensorFlow's messages, the path of a file with a
            FileDescriptorSet, or "bytes://" and such a set.
        message_format: "binary", or "text" for messages in text form.
        sanitize: Taken for TensorFlow's sake.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for types and fields that there are not and for an
    output type that a field does not have; DataLossError for what is no message.
    """
    results = ops.DecodeProtoV2(
        bytes,
        message_type=message_type,
        field_names=list(field_names),
        output_types=[as_numpy(dtype) for dtype in output_types],
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )
    sizes, *values = cast("Sequence[Tensor]", results if isinstance(results, list) else [results])
    return DecodedFields(sizes, values)


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Messages of protocol buffers, of the values of their fields.

    Args:
        sizes: [..., fields], int32, how many values of each field a message has.
        values: For each field [..., most]; what is behind its size does not count.
        field_names: The fields.
        message_type: The full name of the type of the messages.
        descriptor_source: See `decode_proto`.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for types and fields that there are not, values of
    another type, and sizes that are larger than the values.
    """
    return ops.EncodeProto(
        sizes,
        [convert_to_tensor(value) for value in values],
        field_names=list(field_names),
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
