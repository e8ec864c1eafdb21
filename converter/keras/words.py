"""Words as numbers and back: vocabularies become TFLite's hash tables.

Hashes of words, and texts that are split, have no operators there: they become Flex operators where
OpsSet.SELECT_TF_OPS allows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..sources.state import Table
from .preprocess import MAX_VOCABULARY, encoded, stripped, vocabulary_of
from .registry import Call, is_integer, layer

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor

TEXT, INTEGER = np.dtype(object), np.dtype(np.int64)
ABSENT = -1
"""An index that no category has."""
PUNCTUATION = r"""[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"""
STANDARDS: dict[Any, tuple[bool, bool]] = {
    None: (False, False),
    "lower": (True, False),
    "strip_punctuation": (False, True),
    "lower_and_strip_punctuation": (True, True),
}
"""Whether texts become lower case, and lose their punctuation."""


def texts(words: list[Any]) -> np.ndarray:
    """Words as TensorFlow's strings."""
    array = np.empty(len(words), object)
    array[:] = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return array


def looked_up(call: Call, keys: np.ndarray, values: np.ndarray, x: Tensor, default: Any) -> Tensor:
    """What a table has for each of `x`, or the default."""
    name = call.graph.unique_name(f"{call.scope}/table")
    table = call.graph.add(
        "HashTableV2", name, (), {"key_dtype": keys.dtype, "value_dtype": values.dtype}
    )
    call.writer.tables[name] = Table(keys, values)
    other = call.constant_of(default, values.dtype)
    y = call.op("LookupTableFindV2", table.outputs[0], x, other, Tin=keys.dtype, Tout=values.dtype)
    y.set_shape(x.sizes)
    return y


def place_in(
    call: Call, x: Tensor, vocabulary: list[bytes], mask: str | None
) -> tuple[Tensor, int]:
    """The index of each word, and how many indices there are.

    Of indices, those of the mask and of unknown words come first; where categories are encoded, the
    mask has none.
    """
    n_others = call.setting("num_oov_indices", 1)
    call.check(is_integer(n_others) and n_others >= 0, "num_oov_indices", "a number of indices")
    is_index = call.setting("output_mode", "int") == "int"
    first_other = 1 if mask is not None and is_index else 0
    first = first_other + n_others
    keys = texts([*vocabulary, *([mask] if mask is not None else [])])
    values = np.arange(first, first + len(vocabulary))
    if mask is not None:
        values = np.append(values, 0 if is_index else ABSENT)
    is_hashed = n_others > 1
    default = first_other if n_others == 1 else ABSENT - 1 if is_hashed else ABSENT
    index = looked_up(call, keys, values.astype(INTEGER), x, default)
    if is_hashed:
        salt = call.setting("salt")
        call.require(salt is None, "a salt of unknown words is not supported; leave it None")
        bucket = call.op("StringToHashBucketFast", x, num_buckets=n_others)
        bucket = call.op("AddV2", bucket, call.constant(first_other, bucket))
        is_unknown = call.op("Equal", index, call.constant(default, index))
        index = call.op("SelectV2", is_unknown, bucket, index)
    return index, first + len(vocabulary)


def categories(call: Call, index: Tensor, depth: int) -> Tensor:
    """Indices as the output mode has them, of Keras' types."""
    if call.setting("output_mode", "int") == "int":
        return index
    if call.flag("pad_to_max_tokens"):
        (depth,) = call.integers("max_tokens", 1)
    y = encoded(call, call.cast(index, np.int32), depth)
    return call.cast(y, INTEGER) if call.is_keras3 else y


def mask_token(call: Call) -> str | None:
    """The word that stands for none, None where there is no such word."""
    token = call.setting("mask_token")
    call.check(token is None or isinstance(token, str), "mask_token", "a text")
    return token


def known_words(call: Call, mask: str | None) -> list[bytes]:
    """A vocabulary without the words that have a place of their own."""
    words = vocabulary_of(call)
    is_valid = 0 < len(words) <= MAX_VOCABULARY and all(isinstance(w, str | bytes) for w in words)
    call.check(is_valid, "vocabulary", "texts; give it when the layer is made, or adapt the layer")
    is_index = call.setting("output_mode", "int") == "int"
    special = [mask] if mask is not None and is_index else []
    others = call.setting("num_oov_indices", 1)
    is_count = is_integer(others) and 0 <= others <= MAX_VOCABULARY
    call.check(is_count, "num_oov_indices", "a number of indices")
    special += [call.setting("oov_token", "[UNK]")] * others
    return stripped(list(texts(words)), list(texts(special)))


@layer("StringLookup")
def string_lookup(call: Call, x: Tensor) -> Tensor:
    """The place of words in a vocabulary, or the words at places."""
    encoding = call.setting("encoding", "utf-8")
    call.require(encoding in (None, "utf-8"), f"encoding must be utf-8, got {encoding}")
    mask = mask_token(call)
    words = known_words(call, mask)
    if not call.flag("invert"):
        index, depth = place_in(call, x, words, mask)
        return categories(call, index, depth)
    first = int(mask is not None) + call.setting("num_oov_indices", 1)
    keys = np.arange(first, first + len(words), dtype=INTEGER)
    if mask is not None:
        keys, words = np.append(keys, np.int64(0)), [*words, mask.encode()]
    other = call.setting("oov_token", "[UNK]")
    call.check(isinstance(other, str), "oov_token", "a text")
    return looked_up(call, keys, texts(words), call.cast(x, INTEGER), other.encode())


@layer("Hashing")
def hashing(call: Call, x: Tensor) -> Tensor:
    """A category for each word or integer, by its hash."""
    (n_bins,) = call.integers("num_bins", 1)
    mask, salt = call.setting("mask_value"), call.setting("salt")
    has_mask = mask is not None and n_bins > 1
    values = call.cast(x, INTEGER) if x.dtype.kind == "f" else x
    if values.dtype != TEXT:
        values = call.op("AsString", values)
    n = n_bins - has_mask
    if salt is None:
        y = call.op("StringToHashBucketFast", values, num_buckets=n)
    else:
        key = [salt, salt] if is_integer(salt) else salt
        is_key = isinstance(key, list) and len(key) == 2 and all(map(is_integer, key))
        call.check(is_key and min(key) >= 0, "salt", "an integer or two of them")
        y = call.op("StringToHashBucketStrong", values, num_buckets=n, key=key)
    if has_mask:
        is_text = x.dtype == TEXT
        call.check(isinstance(mask, str if is_text else int), "mask_value", "of the inputs' type")
        like = str(mask).encode() if is_text else mask
        is_mask = call.op("Equal", x, call.constant_of(like, x.dtype))
        y = call.op("AddV2", y, call.constant(1, y))
        y = call.op("SelectV2", is_mask, call.constant(0, y), y)
    mode = call.text("output_mode", "int", "one_hot", "multi_hot", "count")
    return y if mode == "int" else encoded(call, call.cast(y, np.int32), n_bins)


@layer("TextVectorization")
def text_vectorization(call: Call, x: Tensor) -> Tensor:
    """The words of texts as places in a vocabulary, or which of them there are."""
    for name in ("ngrams", "idf_weights"):
        call.require(call.setting(name) is None, f"{name} is not supported; leave it None")
    call.require(not call.flag("ragged"), "ragged=True is not supported")
    is_lower, is_stripped = STANDARDS.get(call.setting("standardize"), (None, None))
    call.check(is_lower is not None, "standardize", f"one of {', '.join(map(str, STANDARDS))}")
    split = call.setting("split", "whitespace")
    call.require(split in ("whitespace", None), f"split must be whitespace or None, got {split}")
    if is_lower:
        x = call.op("StringLower", x)
    if is_stripped:
        x = call.op("StaticRegexReplace", x, pattern=PUNCTUATION, rewrite="")
    mode = call.text("output_mode", "int", "multi_hot", "count")
    mask = "" if mode == "int" else None
    words = known_words(call, mask)
    if split is None:
        index, depth = place_in(call, x, words, mask)
        return categories(call, index, depth)
    rank = len(call.shape(x, 1, 2))
    if rank == 2:
        call.require(call.shape(x)[1] == 1, "must be called with one text in each row")
        x = call.op("Squeeze", x, squeeze_dims=[1])
    indices, values, shape = call.ops("StringSplitV2", x, call.constant_of(b"", object))
    index, depth = place_in(call, values, words, mask)
    absent = call.constant(0 if mode == "int" else ABSENT, index)
    y = call.op("SparseToDense", indices, shape, index, absent)
    y.set_shape((call.shape(x)[0], None))
    length = call.setting("output_sequence_length")
    if length is not None and mode == "int":
        (length,) = call.integers("output_sequence_length", 1)
        y = call.op("PadV2", y, call.constant([[0, 0], [0, length]]), absent)
        y = call.op("Slice", y, call.constant([0, 0]), call.constant([-1, length]))
        y.set_shape((call.shape(x)[0], length))
    return categories(call, y, depth)
