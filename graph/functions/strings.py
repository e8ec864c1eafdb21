"""Functions of strings: `tf.strings`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.composite.ragged_dispatch import has_ragged
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.sparse_tensor import SparseTensor
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from .arguments import one_of
from .ragged.arithmetic import reduce_ragged
from .ragged.operands import as_ragged, wrapped
from .ragged.picking import like_dense
from .ragged.text import as_text
from .ragged.values import of_flat_values
from .rows import functions, unary

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike

_FLAT = np.array([-1], np.int32)

ONE_TO_ONE = """
decode_base64    DecodeBase64      input \
    # What web-safe base64 holds, with or without = at its end; InvalidArgumentError for anything \
    else
encode_base64    EncodeBase64      input pad=False \
    # Web-safe base64, with = at the end when `pad` says so
lower            StringLower       input encoding='' \
    # The strings in lower case; ASCII alone unless `encoding` is utf-8
strip            StringStrip       input # The strings without white space at their ends
string_to_hash_bucket_fast StringToHashBucketFast input num_buckets \
    # The fingerprint (FarmHash) of each string modulo `num_buckets`, int64
string_to_hash_bucket_strong StringToHashBucketStrong input num_buckets key \
    # SipHash of each string with a key of two numbers, modulo `num_buckets`, int64
unicode_transcode UnicodeTranscode input input_encoding output_encoding errors='replace' \\
    replacement_char=65533 replace_control_characters=False # Strings of one encoding in another
upper            StringUpper       input encoding='' \
    # The strings in upper case; ASCII alone unless `encoding` is utf-8
"""
globals().update(functions(ONE_TO_ONE, __name__, elementwise=True))


def join(
    inputs: Sequence[TensorLike | RaggedTensor], separator: str = "", name: str | None = None
) -> Tensor | RaggedTensor:
    """The strings of all inputs one after another, with `separator` in between.

    Args:
        inputs: A list of strings, of one shape or scalars; also ragged.
        separator: Python's string.
        name: Of the operation.

    Raises TypeError for what is no list, ValueError for shapes that do not fit.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    if has_ragged(*inputs):
        return of_flat_values(partial(_join, separator), *inputs)
    return _join(separator, *inputs, name=name)


def _join(separator: str, *inputs: TensorLike | RaggedTensor, name: str | None = None) -> Tensor:
    tensors = [convert_to_tensor(cast("TensorLike", item)) for item in inputs]
    return ops.StringJoin(tensors, separator=separator, name=name)


@unary
def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""The strings with what matches replaced; \1 in `rewrite` is what the first group matched.

    Args:
        input: Strings of any shape; also ragged.
        pattern: A regular expression of RE2: Python's string, or a scalar of strings.
        rewrite: What stands instead: Python's string, or a scalar of strings; \0 is the whole
            match.
        replace_global: Whether every match is replaced, or the first one only.
        name: Of the operation.

    Returns the shape of `input`. Raises InvalidArgumentError, when it runs, for a wrong pattern.
    """
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return ops.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return ops.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


@unary
def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether all of each string matches a pattern, bool.

    Args:
        input: Strings.
        pattern: A regular expression of RE2: Python's string, or a scalar of strings.
        name: Of the operation.

    Raises InvalidArgumentError, when it runs, for a pattern that is none.
    """
    if isinstance(pattern, (str, bytes)):
        return ops.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return ops.RegexFullMatch(input, pattern, name=name)


@unary
def substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """The part of each string from `pos` on, `len` bytes or characters at most.

    Args:
        input: Strings of any shape; also ragged.
        pos: int32 or int64, where parts begin; from the end when negative.
        len: Of the same type and shape as `pos`; both broadcast with `input`.
        name: Of the operation.
        unit: "BYTE" or "UTF8_CHAR".

    Raises ValueError for another unit, and for positions and lengths of different shapes; when it
    runs, InvalidArgumentError for a position outside of its string.
    """
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"unit must be BYTE or UTF8_CHAR, got {unit!r}")
    return ops.Substr(input, pos, len, unit=unit, name=name)


@unary
def to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = np.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings spell, of the shape of the strings.

    Args:
        string_tensor: Strings of any shape; also ragged.
        out_type: float32, float64, int32, int64, uint32 or uint64.
        name: Of the operation.
        input: Another name of `string_tensor`.

    Raises InvalidArgumentError, when it runs, for a string that is no number of that type.
    """
    text = one_of("string_tensor", string_tensor, "input", input)
    return ops.StringToNumber(text, out_type=out_type, name=name)


@unary
def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """int32: how many bytes or characters each string has.

    Args:
        input: Strings of any shape; also ragged.
        name: Of the operation.
        unit: "BYTE" or "UTF8_CHAR".

    Raises ValueError for another unit.
    """
    return ops.StringLength(input, unit=unit, name=name)


@unary
def string_to_hash_bucket(
    string_tensor: TensorLike | None = None,
    num_buckets: int | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """int64: a hash of each string, from 0 to num_buckets - 1; the weakest of the three.

    Args:
        string_tensor: Strings of any shape; also ragged.
        num_buckets: At least 1.
        name: Of the operation.
        input: Another name of `string_tensor`.

    Raises ValueError for fewer buckets.
    """
    text = one_of("input", input, "string_tensor", string_tensor)
    return ops.StringToHashBucket(text, num_buckets=num_buckets, name=name)


def reduce_join(
    inputs: TensorLike | RaggedTensor,
    axis: TensorLike | None = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: TensorLike | None = None,
    keepdims: bool | None = None,
) -> Tensor | RaggedTensor:
    """Strings joined along `axis`, in the order of the axes; all of them by default.

    Args:
        inputs: Strings of known rank; also ragged.
        axis: A dimension or a list of them, of which the first varies slowest.
        keep_dims, keepdims: Whether the dimensions stay with size 1.
        separator: Stands between two strings.
        name: Of the operation.
        reduction_indices: An older name of `axis`.

    Raises ValueError for an axis out of range.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     print(session.run(tf.reduce_join([["a", "b"], ["c", "d"]], 1, separator="-")))
    [b'a-b' b'c-d']
    """
    axis = one_of("axis", axis, "reduction_indices", reduction_indices)
    keeps = bool(one_of("keepdims", keepdims, "keep_dims", keep_dims))
    if has_ragged(inputs):
        return _ragged_join(inputs, axis, keeps, separator, name)
    with name_scope(name, "reduce_join", [inputs]) as scope:
        x = convert_to_tensor(cast("TensorLike", inputs))
        if axis is None:
            rank = ops.Rank(x)
            last = ops.Sub(rank, np.int32(1))
            axis = ops.Range(last, np.int32(-1), np.int32(-1))
            if x.sizes is not None:
                axis = np.arange(len(x.sizes))[::-1].astype(np.int32)
        return ops.ReduceJoin(x, axis, keep_dims=keeps, separator=separator, name=scope)


def _ragged_join(
    inputs: TensorLike | RaggedTensor,
    axis: TensorLike | None,
    keepdims: bool,
    separator: str,
    name: str | None,
) -> Tensor | RaggedTensor:
    """The strings of the rows of a ragged tensor joined."""

    def joined(values: Tensor, ids: Tensor, n: Tensor) -> Tensor:
        return ops.UnsortedSegmentJoin(values, ids, n, separator=separator)

    x = as_ragged(inputs)
    if axis is None:
        flat = cast("RaggedTensor", x).flat_values
        whole = reduce_join(flat, separator=separator, name=name)
        return ops.Reshape(whole, np.ones(x.shape.rank or 1, np.int32)) if keepdims else whole
    return reduce_ragged("Join", x, axis, keepdims, name, joined)


def split(
    input: TensorLike | RaggedTensor | None = None,
    sep: str | None = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: TensorLike | RaggedTensor | None = None,
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """The parts of each string between `sep`, or between white space without one.

    Args:
        input: Strings of known rank, or ragged ones.
        sep: What separates; "" or None: any white space, and no empty parts.
        maxsplit: How often to split at most, when positive.
        result_type: "SparseTensor" or "RaggedTensor".
        source: Another name of `input`.
        name: Of the operations.

    Raises ValueError for another type of results, and for strings of unknown rank.
    """

    def split_flat(text: Tensor) -> SparseTensor:
        indices, values, shape = ops.StringSplitV2(text, sep or "", maxsplit=maxsplit)
        return SparseTensor(indices, values, shape)

    with name_scope(name, "StringSplit"):
        text = as_ragged(cast("TensorLike", one_of("input", input, "source", source)), object)
        return _split(text, result_type, split_flat)


def string_split(
    source: TensorLike | RaggedTensor,
    sep: str | None = None,
    skip_empty: bool = True,
    delimiter: str | None = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> SparseTensor | RaggedTensor:
    """The parts of each string between any of the characters of `sep`.

    Args:
        source: [n] strings; here also of any known rank, and ragged.
        sep: Characters, each of which separates; a space with None. "" gives single bytes.
        skip_empty: Whether empty parts are left out.
        delimiter: An older name of `sep`.
        result_type: "SparseTensor" or "RaggedTensor".
        name: Of the operations.

    Returns a SparseTensor [n, most parts] or a RaggedTensor [n, (parts)].

    Raises ValueError for another type of results.
    """
    between = one_of("sep", sep, "delimiter", delimiter)
    separators = convert_to_tensor(" " if between is None else between, np.dtype(object))

    def split_flat(text: Tensor) -> SparseTensor:
        parts = ops.StringSplit(text, separators, skip_empty=skip_empty)
        return SparseTensor(*parts)

    with name_scope(name, "StringSplit"):
        return _split(as_ragged(source, object), result_type, split_flat)


def _split(
    text: Tensor | RaggedTensor,
    result_type: str,
    split_flat: Callable[[Tensor], SparseTensor],
) -> SparseTensor | RaggedTensor:
    """The parts of strings, sparse or ragged."""
    _require_result_type(result_type)
    if isinstance(text, Tensor) and text.sizes == ():
        text = ops.Reshape(text, _FLAT)
    if isinstance(text, Tensor) and text.sizes is not None and len(text.sizes) == 1:
        parts = split_flat(text)
        return _rows_of(parts) if result_type == "RaggedTensor" else parts
    if isinstance(text, RaggedTensor):
        inner = _split(text.flat_values, "RaggedTensor", split_flat)
        ragged = wrapped(cast("RaggedTensor", inner), text.nested_rows)
        return ragged.to_sparse() if result_type == "SparseTensor" else ragged
    if text.sizes is None:
        if result_type == "SparseTensor":
            return split_flat(text)
        raise ValueError("Rank of input must be statically known.")
    rows = _rows_of(split_flat(ops.Reshape(text, _FLAT)))
    ragged = cast("RaggedTensor", like_dense(rows, text, len(text.sizes)))
    return ragged.to_sparse() if result_type == "SparseTensor" else ragged


def _rows_of(parts: SparseTensor) -> RaggedTensor:
    """The parts of each string as a row."""
    ids = ops.StridedSlice(
        parts.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    n = ops.StridedSlice(parts.dense_shape, [0], [1], [1], shrink_axis_mask=1)
    return RaggedTensor.from_value_rowids(parts.values, ids, n, validate=False)


def _require_result_type(result_type: str) -> None:
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError(
            f"result_type must be 'RaggedTensor' or 'SparseTensor'. Received {result_type!r}"
        )


def bytes_split(input: TensorLike | RaggedTensor, name: str | None = None) -> RaggedTensor | Tensor:
    """The bytes of each string, as rows of a ragged tensor; of a single string, as a vector.

    Raises ValueError when the rank of `input` is not known.
    """

    def split_flat(text: Tensor) -> SparseTensor:
        return SparseTensor(*ops.StringSplit(text, "", skip_empty=False))

    with name_scope(name, "StringsByteSplit", [input]):
        text = as_ragged(input)
        if isinstance(text, Tensor) and text.sizes is None:
            raise ValueError("input must have a statically-known rank.")
        parts = cast("RaggedTensor", _split(text, "RaggedTensor", split_flat))
        return parts.flat_values if isinstance(text, Tensor) and not text.sizes else parts


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
        inputs: A tensor, or a sequence of them; ragged ones are shown as lists of Python.
        placeholder: What is replaced.
        summarize: How many elements at both ends of each dimension are shown; -1: all.
        name: Of the operation.

    Raises ValueError when there are more or fewer placeholders than inputs.
    """
    many = isinstance(inputs, (list, tuple))
    items = list(cast("Sequence[object]", inputs)) if many else [inputs]
    if template.count(placeholder) != len(items):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs only has "
            f"{len(items)}. Please ensure the number of placeholders in template matches inputs "
            "length."
        )
    if has_ragged(*items):
        return _joined_format(template.split(placeholder), items, summarize, name)
    tensors = [convert_to_tensor(cast("TensorLike", item)) for item in items]
    return ops.StringFormat(
        tensors, template=template, placeholder=placeholder, summarize=summarize, name=name
    )


def _joined_format(
    pieces: list[str], items: Sequence[object], summarize: int, name: str | None
) -> Tensor:
    """`format` of items of which some are ragged: text between pieces of the template."""
    parts: list[TensorLike] = [pieces[0]]
    for item, piece in zip(items, pieces[1:], strict=True):
        if has_ragged(item):
            text = as_text(cast(RaggedTensor, as_ragged(cast("RaggedTensor", item))), summarize)
        else:
            text = format("{}", item, summarize=summarize)
        parts += [text, piece]
    return ops.StringJoin(parts, name=name)


def my_fact() -> Tensor:
    """The string "0! == 1"."""
    return ops.Fact()
