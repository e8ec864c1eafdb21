"""Strings as characters, n-grams and joined segments: what `tf.strings` has of Unicode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.composite.ragged_dispatch import has_ragged
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from .ragged.operands import as_ragged
from .rows import unary

if TYPE_CHECKING:
    from ..core.typing import TensorLike

_FLAT = np.array([-1], np.int32)
_ZERO = np.int32(0)
_REPLACEMENT = 65533


def _rows_of(flat: RaggedTensor, text: Tensor) -> Tensor | RaggedTensor:
    """A ragged tensor with a row for each string, in the shape of the strings."""
    shape = text.sizes
    if shape is None:
        raise ValueError("Rank of `input` must be statically known.")
    if not shape:
        return flat.flat_values
    result = flat
    for axis in range(len(shape) - 1, 0, -1):
        sizes = ops.Shape(text, out_type=np.dtype(np.int64))
        n = ops.Prod(sizes[:axis], _ZERO)
        splits = ops.Mul(ops.Range(np.int64(0), n + 1, np.int64(1)), sizes[axis])
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result


def _decoded(
    input: TensorLike | RaggedTensor, kind: str, attrs: dict[str, str | int | bool], label: str
) -> list[Tensor | RaggedTensor]:
    """Characters, and their places, of each string."""
    with name_scope(None, label):
        if has_ragged(input):
            input = cast("RaggedTensor", as_ragged(input))
        if isinstance(input, RaggedTensor):
            inner = _decoded(input.flat_values, kind, attrs, label)
            results: list[Tensor | RaggedTensor] = []
            for part in inner:
                for splits in input.nested_row_splits[::-1]:
                    part = RaggedTensor.from_row_splits(part, splits, validate=False)
                results.append(part)
            return results
        text = convert_to_tensor(input, np.dtype(object), "input")
        splits, *columns = getattr(ops, kind)(ops.Reshape(text, _FLAT), **attrs)
        return [
            _rows_of(RaggedTensor.from_row_splits(x, splits, validate=False), text) for x in columns
        ]


def _attrs(
    encoding: str, errors: str, replacement_char: int, controls: bool
) -> dict[str, str | int | bool]:
    return {
        "input_encoding": encoding,
        "errors": errors,
        "replacement_char": replacement_char,
        "replace_control_characters": controls,
    }


def unicode_decode(
    input: TensorLike | RaggedTensor,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The number of each character of strings, in a dimension behind theirs.

    Args:
        input: Strings of known rank, or a ragged tensor of them.
        input_encoding: UTF-8, UTF-16-BE, UTF-32-BE or another.
        errors: What is done with bytes that are no characters: "replace", "ignore" or "strict".
        replacement_char: What they are replaced by.
        replace_control_characters: Whether numbers below 32 count as such, too.
        name: Of the operations.

    Raises InvalidArgumentError, when it runs and is strict, for such bytes.
    """
    attrs = _attrs(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded(input, "UnicodeDecode", attrs, name or "UnicodeDecode")[0]


def unicode_decode_with_offsets(
    input: TensorLike | RaggedTensor,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Tensor | RaggedTensor, Tensor | RaggedTensor]:
    """As `unicode_decode` of `input`, and where in its string each character begins, in bytes.

    Returns two tensors of one shape, int32 and int64; arguments and errors are those of
    `unicode_decode`.
    """
    attrs = _attrs(input_encoding, errors, replacement_char, replace_control_characters)
    label = name or "UnicodeDecodeWithOffsets"
    characters, positions = _decoded(input, "UnicodeDecodeWithOffsets", attrs, label)
    return characters, positions


def _one_by_one(
    characters: Tensor | RaggedTensor, encoding: str, errors: str
) -> Tensor | RaggedTensor:
    """Each character as a string."""
    if isinstance(characters, RaggedTensor):
        return characters.with_flat_values(_strings(characters.flat_values, encoding, errors))
    return _strings(characters, encoding, errors)


def _strings(numbers: Tensor, encoding: str, errors: str) -> Tensor:
    n = ops.Size(numbers)
    splits = ops.Range(np.int64(0), ops.Cast(n, DstT=np.dtype(np.int64)) + 1, np.int64(1))
    return ops.UnicodeEncode(numbers, splits, output_encoding=encoding, errors=errors)


def unicode_split(
    input: TensorLike | RaggedTensor,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The characters of strings as strings, UTF-8 or as `input_encoding` says.

    Args:
        input: Strings of known rank, or a ragged tensor of them.
        input_encoding, errors, replacement_char, name: Of `unicode_decode`.

    Returns a RaggedTensor with one dimension more, a vector for a single string. Raises what
    `unicode_decode` does.
    """
    characters = unicode_decode(input, input_encoding, errors, replacement_char, name=name)
    return _one_by_one(characters, input_encoding, "ignore")


def unicode_split_with_offsets(
    input: TensorLike | RaggedTensor,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> tuple[Tensor | RaggedTensor, Tensor | RaggedTensor]:
    """As `unicode_split` of `input`, and where each character begins, in bytes, int64.

    Arguments and errors are those of `unicode_decode`.
    """
    characters, positions = unicode_decode_with_offsets(
        input, input_encoding, errors, replacement_char, name=name
    )
    return _one_by_one(characters, input_encoding, "ignore"), positions


def unicode_encode(
    input: TensorLike | RaggedTensor,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = _REPLACEMENT,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The strings whose characters the numbers of the last dimension are.

    Args:
        input: int32 [..., characters], numbers of Unicode; also ragged.
        output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
        errors, replacement_char, name: Of `unicode_decode`.

    Returns [...] strings. Raises ValueError for a single number; see `unicode_decode` for the rest.
    """
    attrs = {
        "output_encoding": output_encoding,
        "errors": errors,
        "replacement_char": replacement_char,
    }
    with name_scope(name, "UnicodeEncode"):
        if isinstance(input, RaggedTensor):
            inner = input.values
            if isinstance(inner, RaggedTensor):
                values = unicode_encode(inner, output_encoding, errors, replacement_char)
                return input.with_values(values)
            if inner.sizes is None or len(inner.sizes) > 1:
                encoded = unicode_encode(inner, output_encoding, errors, replacement_char)
                return input.with_values(cast("Tensor", encoded))
            return ops.UnicodeEncode(inner, input.row_splits, **attrs)
        numbers = convert_to_tensor(input, np.int32)
        if numbers.sizes is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if not numbers.sizes:
            raise ValueError("input_tensor's rank must be at least 1.")
        sizes = ops.Shape(numbers, out_type=np.dtype(np.int64))
        outer, width = sizes[:-1], sizes[-1]
        n = ops.Prod(outer, _ZERO)
        splits = ops.Mul(ops.Range(np.int64(0), n + 1, np.int64(1)), width)
        flat = ops.UnicodeEncode(ops.Reshape(numbers, _FLAT), splits, **attrs)
        return ops.Reshape(flat, outer)


@unary
def unicode_script(input: TensorLike, name: str | None = None) -> Tensor:
    """The script of each character, as a code of ICU's UScriptCode: 25 is Latin, 8 Cyrillic.

    Args:
        input: Numbers of characters, int32; `unicode_decode` gives them.
        name: Of the operation.

    Returns int32 of the shape of `input`: 0 for what all scripts share, -1 for numbers that are no
    characters of Unicode.
    """
    return ops.UnicodeScript(input, name=name)


def _padding(pad_values: object) -> tuple[str | bytes, str | bytes]:
    """What rows are padded with at the left and the right."""
    if pad_values is None:
        return "", ""
    is_pair = isinstance(pad_values, (list, tuple))
    pair = cast("Sequence[object]", pad_values) if is_pair else (pad_values, pad_values)
    left, right = pair if len(pair) == 2 else (None, None)
    if not isinstance(left, (str, bytes)) or not isinstance(right, (str, bytes)):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return left, right


def ngrams(
    data: TensorLike | RaggedTensor,
    ngram_width: int | Sequence[int],
    separator: str = " ",
    pad_values: str | tuple[str, str] | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """Runs of words along the last dimension, each joined to one string.

    Args:
        data: Words.
        ngram_width: How many words a run has, or several such numbers.
        separator: What stands between the words.
        pad_values: What rows are padded with, at both ends, or at the left and the right one.
        padding_width: How often at most; by default one less than the run has words.
        preserve_short_sequences: Whether a row without a run becomes one as a whole.
        name: Of the operations.

    Raises ValueError for widths below 1, and for a padding width without padding.
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if min(widths, default=0) < 1:
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    if padding_width is not None and padding_width < 1:
        raise ValueError("padding_width must be greater than 0.")
    left, right = _padding(pad_values)
    pad_width = 0 if pad_values is None else (-1 if padding_width is None else padding_width)
    attrs: dict[str, object] = {
        "separator": separator,
        "ngram_widths": widths,
        "left_pad": left,
        "right_pad": right,
        "pad_width": pad_width,
        "preserve_short_sequences": preserve_short_sequences,
    }
    with name_scope(name, "StringNGrams"):
        if isinstance(data, RaggedTensor):
            inner = data.values
            if isinstance(inner, RaggedTensor):
                values = ngrams(
                    inner, widths, separator, pad_values, padding_width, preserve_short_sequences
                )
                return data.with_values(values)
            return _ngrams(inner, data.row_splits, attrs)
        words = convert_to_tensor(data, np.dtype(object))
        if not words.sizes:
            raise ValueError("Data must have rank>0")
        sizes = ops.Shape(words, out_type=np.dtype(np.int64))
        n = ops.Prod(sizes[:-1], _ZERO)
        splits = ops.Mul(ops.Range(np.int64(0), n + 1, np.int64(1)), sizes[-1])
        rows = _ngrams(ops.Reshape(words, _FLAT), splits, attrs)
        if len(words.sizes) == 1:
            return rows.flat_values
        whole = rows.to_tensor("")
        last = ops.Shape(whole, out_type=np.dtype(np.int64))[1:]
        return ops.Reshape(whole, ops.ConcatV2([sizes[:-1], last], _ZERO))


def _ngrams(words: Tensor, splits: Tensor, attrs: dict[str, object]) -> RaggedTensor:
    values, ends = ops.StringNGrams(words, splits, **attrs)  # pyright: ignore[reportArgumentType] - as the op has them
    return RaggedTensor.from_row_splits(values, ends, validate=False)


def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment joined, in the order they come; "" where there are none.

    Args:
        inputs: Strings, [ids..., ...].
        segment_ids: int32 or int64, of a shape that begins that of `inputs`, from 0 to
            `num_segments` - 1, in any order.
        num_segments: How many, an integer scalar.
        separator: Stands between two strings.
        name: Of the operation.

    Returns [num_segments, ...]. Raises InvalidArgumentError, when it runs, for ids out of range.
    """
    return ops.UnsortedSegmentJoin(
        inputs, segment_ids, num_segments, separator=separator, name=name
    )


def fingerprint(data: TensorLike, method: str = "farmhash64", name: str | None = None) -> Tensor:
    """[rows, 8] uint8: a fingerprint of each row of `data`, the lowest byte first."""
    return ops.Fingerprint(data, method, name=name)
