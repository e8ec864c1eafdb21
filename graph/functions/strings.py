"""Functions of strings: `tf.strings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.ragged_tensor import RaggedTensor
from ..core.scopes import name_scope
from ..core.sparse_tensor import SparseTensor
from .arguments import one_of
from .rows import functions, unary

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
decode_base64    DecodeBase64      input
encode_base64    EncodeBase64      input pad=False
length           StringLength      input unit='BYTE'
lower            StringLower       input encoding=''
regex_full_match RegexFullMatch    input pattern
strip            StringStrip       input
string_to_hash_bucket_fast StringToHashBucketFast input num_buckets
string_to_hash_bucket_strong StringToHashBucketStrong input num_buckets key
unicode_transcode UnicodeTranscode input input_encoding output_encoding errors='replace' \\
    replacement_char=65533 replace_control_characters=False
upper            StringUpper       input encoding=''
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))


def join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """The strings of all inputs one after another, with `separator` in between."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    tensors = [convert_to_tensor(item) for item in inputs]
    return ops.StringJoin(tensors, separator=separator, name=name)


@unary
def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""The strings with what matches replaced; \1 in `rewrite` is the first group."""
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return ops.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return ops.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


@unary
def substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """The part of each string from `pos` on, of `len` bytes or UTF8_CHARs at most.

    Raises ValueError for another unit, and for positions and lengths of different shapes.
    """
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be BYTE or UTF8_CHAR, got {unit!r}")
    return ops.Substr(input, pos, len, unit=unit, name=name)


def to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = np.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings spell; InvalidArgumentError when one is none."""
    text = one_of("string_tensor", string_tensor, "input", input)
    return ops.StringToNumber(text, out_type=out_type, name=name)


@unary
def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The number of bytes, or of characters."""
    return ops.StringLength(input, unit=unit, name=name)


@unary
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """A hash of each string, modulo `num_buckets`; weaker than the fast and the strong one."""
    text = one_of("input", input, "string_tensor", string_tensor)
    return ops.StringToHashBucket(text, num_buckets=num_buckets, name=name)


def reduce_join(
    inputs: TensorLike,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor:
    """Strings joined along `axis`, of several the first varies fastest; all axes by default."""
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keeps = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "reduce_join", [inputs]) as scope:
        x = convert_to_tensor(inputs)
        if axis is None:
            rank = ops.Rank(x)
            last = ops.Sub(rank, np.int32(1))
            axis = ops.Range(last, np.int32(-1), np.int32(-1))
            if x.sizes is not None:
                axis = np.arange(len(x.sizes))[::-1].astype(np.int32)
        return ops.ReduceJoin(x, axis, keep_dims=keeps, separator=separator, name=scope)


def split(
    input: TensorLike | None = None,
    sep: str | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | None = None,
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """The parts of each string between `sep`, or between white space without one.

    Args:
        input: [n] strings.
        sep: What separates; "" or None: any white space, and no empty parts.
        maxsplit: How often to split at most, when positive.
        result_type: "SparseTensor" or "RaggedTensor".
        source: Another name of `input`.
        name: Of the operations.

    Raises ValueError for another type of results.
    """
    _require_result_type(result_type)
    text = convert_to_tensor(one_of("input", input, "source", source))
    if text.sizes == ():
        text = ops.Reshape(text, np.array([1], np.int32))
    indices, values, shape = ops.StringSplitV2(text, sep or "", maxsplit=maxsplit, name=name)
    parts = SparseTensor(indices, values, shape)
    return RaggedTensor.from_sparse(parts) if result_type == "RaggedTensor" else parts


def string_split(
    source: TensorLike,
    sep: str | None = None,
    skip_empty: bool = True,
    delimiter: str | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """The parts of each string between any of the characters of `sep`; `delimiter` of old.

    Raises ValueError for another type of results than SparseTensor and RaggedTensor.
    """
    between = one_of("sep", sep, "delimiter", delimiter)
    _require_result_type(result_type)
    text = convert_to_tensor(source, np.dtype(object))
    if text.sizes == ():
        text = ops.Reshape(text, np.array([1], np.int32))
    separators = convert_to_tensor(" " if between is None else between, np.dtype(object))
    indices, values, shape = ops.StringSplit(text, separators, skip_empty=skip_empty, name=name)
    parts = SparseTensor(indices, values, shape)
    return RaggedTensor.from_sparse(parts) if result_type == "RaggedTensor" else parts


def _require_result_type(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(f"result_type must be one of ('SparseTensor', 'RaggedTensor'), "
                         f"got {result_type!r}")  # fmt: skip


def bytes_split(input: TensorLike, name: str | None = None) -> RaggedTensor | Tensor:
    """The bytes of each string, as rows of a ragged tensor; of a single string, as a vector.

    Raises ValueError when the rank of `input` is not known.
    """
    with name_scope(name, "StringsByteSplit", [input]):
        input = convert_to_tensor(input)
        if input.sizes is None:
            raise ValueError("input must have a statically-known rank.")
        flat = ops.Reshape(input, np.array([-1], np.int32))
        indices, values, shape = ops.StringSplit(flat, "", skip_empty=False)
        if not input.sizes:
            return values
        rows = RaggedTensor.from_sparse(SparseTensor(indices, values, shape))
        sizes = ops.Cast(ops.Shape(input), DstT=np.dtype(np.int64))
        for axis in range(len(input.sizes) - 1, 0, -1):
            n = ops.Prod(sizes[:axis], np.int32(0))
            starts = ops.Range(np.int64(0), n + np.int64(1), np.int64(1)) * sizes[axis]
            rows = RaggedTensor.from_row_splits(rows, starts)
        return rows


def format(
    template: str,
    inputs: object,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A template with tensors, as TensorFlow prints them, in its placeholders' places.

    Args:
        template: Text with one placeholder for each input.
        inputs: A tensor, or a sequence of them.
        placeholder: What is replaced.
        summarize: How many elements at both ends of each dimension are shown; -1: all.
        name: Of the operation.

    Raises ValueError when there are more or fewer placeholders than inputs.
    """
    many = isinstance(inputs, (list, tuple))
    items = list(cast("Sequence[object]", inputs)) if many else [inputs]
    if template.count(placeholder) != len(items):
        raise ValueError(
            f"num placeholders in template and num inputs must match: "
            f"{template.count(placeholder)} vs. {len(items)}"
        )
    tensors = [convert_to_tensor(cast("TensorLike", item)) for item in items]
    return ops.StringFormat(
        tensors, template=template, placeholder=placeholder, summarize=summarize, name=name
    )
