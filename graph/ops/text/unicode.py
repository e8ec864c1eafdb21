"""Strings as characters, n-grams of words, and words joined by segment."""

from __future__ import annotations

import codecs
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.fingerprint import fingerprint64
from ...core.registry import add_row, op
from ...core.shapes import Shape, integers, known, require, same

if TYPE_CHECKING:
    from ...core.protocols import OperationView

_INVALID = "Invalid formatting on input string"
_CODECS = {
    "ibm437": "cp437", "macroman": "mac-roman", "ksc56011987": "cp949", "big5": "cp950",
    "shiftjis": "cp932",
}  # fmt: skip
"""Python's name of an encoding where ICU means another one, or Python lacks the name."""
_NO_ENCODINGS = {
    "idna",
    "punycode",
    "raw-unicode-escape",
    "undefined",
    "unicode-escape",
    "utf-8-sig",
}
_WITH_CONTROLS = re.compile(r"cp125\d|gb2312|euc_(kr|jp)")
"""Where a byte from 0x80 to 0x9F that begins no character is that control character."""
_MARKED = {
    "utf-16": {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"},
    "utf-32": {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"},
}
"""What the mark at the beginning of a string says of the order of its bytes."""


def _characters(text: bytes, codec: str) -> Iterator[tuple[int | None, int]]:
    """Each character's number, None for what is none, and where it begins."""
    start = 0
    if codec in _MARKED:
        marks, n = _MARKED[codec], 2 if codec == "utf-16" else 4
        start = n if text[:n] in marks else 0
        codec = marks.get(text[:n], f"{codec}-be")
    controls = _WITH_CONTROLS.fullmatch(codec) is not None
    while start < len(text):
        try:
            good, end, after = text[start:].decode(codec), len(text), len(text)
        except UnicodeDecodeError as error:
            end, after = start + error.start, start + error.end
            good = text[start:end].decode(codec)
        place = start
        for character in good:
            yield ord(character), place
            place += len(character.encode(codec))
        if after > end:
            is_control = controls and 0x80 <= text[end] < 0xA0
            after = end + 1 if is_control else after
            yield (text[end] if is_control else None), end
        start = after


def _codec(encoding: bytes) -> str:
    name = encoding.decode()
    try:
        codec = codecs.lookup(_CODECS.get(re.sub(r"[-_ ]", "", name.lower()), name)).name
        if codec in _NO_ENCODINGS:
            raise LookupError(codec)
        "".encode(codec)
    except LookupError:
        raise ValueError(f"Could not create converter for input encoding: {name}") from None
    return codec


def _numbers(
    text: bytes, codec: str, errors: bytes, replacement: int, replaces_controls: bool
) -> Iterator[tuple[int, int]]:
    """Each character's number and where it begins, after what is wrong was treated as asked."""
    for number, place in _characters(text, codec):
        is_wrong = number is None or (replaces_controls and number < 32)
        if is_wrong and errors == b"strict":
            raise ValueError(_INVALID)
        if is_wrong and errors == b"ignore":
            continue
        yield (replacement if is_wrong or number is None else number), place


def _require_character(number: int) -> None:
    if not 0 <= number < 0x110000:
        raise ValueError("replacement_char out of unicode codepoint range")


def _decoded(
    x: np.ndarray, encoding: bytes, errors: bytes, replacement: int, replaces_controls: bool
) -> tuple[list[int], list[int], list[int]]:
    """Where the characters of each string begin among all, the characters, and their places."""
    splits, numbers, positions = [0], list[int](), list[int]()
    codec = _codec(encoding)
    _require_character(replacement)
    for text in cast("list[bytes]", x.reshape(-1).tolist()):
        for number, place in _numbers(text, codec, errors, replacement, replaces_controls):
            numbers.append(number)
            positions.append(place)
        splits.append(len(numbers))
    return splits, numbers, positions


@op("UnicodeTranscode", shape=same)
def unicode_transcode(
    x: np.ndarray,
    *,
    input_encoding: bytes,
    output_encoding: bytes,
    errors: bytes,
    replacement_char: int,
    replace_control_characters: bool,
) -> np.ndarray:
    """The strings in another encoding of Unicode."""
    before, after = _codec(input_encoding), _codec(output_encoding)
    _require_character(replacement_char)
    result = np.empty(x.shape, object)
    for index, text in np.ndenumerate(x):
        numbers = _numbers(text, before, errors, replacement_char, replace_control_characters)
        result[index] = "".join(chr(number) for number, _ in numbers).encode(after)
    return result


def _decode_shape(op: OperationView) -> list[Shape]:
    shape = op.inputs[0].sizes
    n = None if shape is None or None in shape else int(np.prod(cast("tuple[int, ...]", shape)))
    return [(None if n is None else n + 1,), *[(None,)] * (len(op.outputs) - 1)]


def _decoder(has_offsets: bool) -> Callable[..., Sequence[np.ndarray]]:
    def kernel(
        x: np.ndarray,
        *,
        input_encoding: bytes,
        errors: bytes,
        replacement_char: int,
        replace_control_characters: bool,
    ) -> Sequence[np.ndarray]:
        splits, numbers, positions = _decoded(
            x, input_encoding, errors, replacement_char, replace_control_characters
        )
        results = [np.array(splits, np.int64), np.array(numbers, np.int32)]
        return [*results, np.array(positions, np.int64)] if has_offsets else results

    return kernel


add_row("UnicodeDecode", _decoder(False), _decode_shape)
add_row("UnicodeDecodeWithOffsets", _decoder(True), _decode_shape)


def _encode_shape(op: OperationView) -> Shape:
    splits = op.inputs[1].sizes
    return (None if splits is None or splits[0] is None else splits[0] - 1,)


@op("UnicodeEncode", shape=_encode_shape)
def unicode_encode(
    numbers: np.ndarray,
    splits: np.ndarray,
    *,
    errors: bytes,
    output_encoding: bytes,
    replacement_char: int,
) -> np.ndarray:
    """The strings of characters between one number of `splits` and the next."""
    codec = _codec(output_encoding)
    result = np.empty(len(splits) - 1, object)
    for i, (begin, end) in enumerate(zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)):
        characters: list[str] = []
        for number in cast("list[int]", numbers[begin:end].tolist()):
            is_character = 0 <= number < 0x110000 and not 0xD800 <= number < 0xE000
            if not is_character and errors == b"strict":
                raise ValueError("Code point is out of range for Unicode, or is a surrogate.")
            if not is_character and errors == b"ignore":
                continue
            characters.append(chr(number if is_character else replacement_char))
        result[i] = "".join(characters).encode(codec)
    return result


def _grams(
    row: list[bytes], widths: Sequence[int], left: bytes, right: bytes, pad: int, short: bool
) -> Iterator[list[bytes]]:
    """The runs of words of each width, padded at both ends."""
    is_any = False
    for width in widths:
        n = min(pad, width - 1) if pad >= 0 else width - 1
        words = [left] * n + row + [right] * n
        for i in range(len(words) - width + 1):
            is_any = True
            yield words[i : i + width]
    if short and not is_any and row:
        n = pad if pad >= 0 else 0
        yield [left] * n + row + [right] * n


@op("StringNGrams", shape=lambda op: [(None,), op.inputs[1].sizes])
def string_n_grams(
    words: np.ndarray,
    splits: np.ndarray,
    *,
    separator: bytes,
    ngram_widths: Sequence[int],
    left_pad: bytes,
    right_pad: bytes,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of each row of words, one after another, and where those of each row begin."""
    grams: list[bytes] = []
    ends = [0]
    bounds = cast("list[int]", splits.tolist())
    for begin, end in itertools.pairwise(bounds):
        row = cast("list[bytes]", words[begin:end].tolist())
        runs = _grams(row, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences)
        grams += [separator.join(run) for run in runs]
        ends.append(len(grams))
    values = np.empty(len(grams), object)
    values[:] = grams
    return values, np.array(ends, splits.dtype)


def _fingerprint_shape(op: OperationView) -> Shape:
    shape = op.inputs[0].sizes
    return (shape[0] if shape else None, 8)


@op("Fingerprint", shape=_fingerprint_shape)
def fingerprint(x: np.ndarray, method: np.ndarray) -> np.ndarray:
    """The fingerprint of each row, the lowest byte first."""
    if method.item() != b"farmhash64":
        raise ValueError(f"Unsupported fingerprint method: {method.item().decode()}")
    if x.ndim == 0:
        raise ValueError("input should have at least one dimension")
    rows: list[bytes] = [
        _row_bytes(row) for row in np.ascontiguousarray(x).reshape(len(x), x[:1].size)
    ]
    numbers = np.array([fingerprint64(row) for row in rows], "<u8")
    return numbers.view(np.uint8).reshape(len(x), 8)


def _row_bytes(row: np.ndarray) -> bytes:
    """A row in bytes; of several strings, their fingerprints."""
    if not row.dtype.hasobject:
        return row.tobytes()
    texts = cast("list[bytes]", row.tolist())
    if len(texts) == 1:
        return texts[0]
    return b"".join(fingerprint64(text).to_bytes(8, "little") for text in texts)


def _join_shape(op: OperationView) -> Shape:
    n = integers(op, 2)
    require(
        op,
        n is None or n[0] >= 0,
        f"Dimension size, given by scalar input 2, must be non-negative but is {n and n[0]}",
    )
    shape, ids = known(op, 0), known(op, 1)
    for a, b in zip(shape, ids, strict=False):
        fits = None in (a, b) or a == b
        require(op, fits, f"Dimensions must be equal, but are {a} and {b}")
    return (None if n is None else n[0], *shape[len(ids) :])


@op("UnsortedSegmentJoin", shape=_join_shape)
def unsorted_segment_join(
    x: np.ndarray, ids: np.ndarray, n_segments: np.ndarray, *, separator: bytes
) -> np.ndarray:
    """The strings of each segment joined, in the order they come.

    Raises ValueError for ids below 0 or from the number of segments on.
    """
    n, inner = int(n_segments), x.shape[ids.ndim :]
    for axis, (size, n_rows) in enumerate(zip(ids.shape, x.shape, strict=False)):
        if size != n_rows:
            raise ValueError(
                f"Segment dimension is {size} while input dimension is {n_rows} in rank {axis}"
            )
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < n:
        raise ValueError(
            "segment_ids are not allowed to exceed num_segments or to have negative values. Got "
            f"{int(ids.min())} to {int(ids.max())} for {n} segments"
        )
    rows = x.reshape(ids.size, int(np.prod(inner)))
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(n)]
    segments = cast("list[int]", ids.reshape(-1).tolist())
    for row, segment in zip(cast("list[list[bytes]]", rows.tolist()), segments, strict=True):
        for place, text in zip(parts[segment], row, strict=True):
            place.append(text)
    result = np.empty((n, rows.shape[1]), object)
    for i, positions in enumerate(parts):
        result[i] = [separator.join(texts) for texts in positions]
    return result.reshape(n, *inner)


@cache
def _scripts() -> np.ndarray:
    """[2, runs]: the first character of each run with one script, and the script."""
    lines = Path(__file__).with_name("unicode_scripts.txt").read_text().splitlines()
    rows = [[*map(int, line.split())] for line in lines if not line.startswith("#")]
    return np.array(rows, np.int32).T


@op("UnicodeScript", shape=same)
def unicode_script(numbers: np.ndarray) -> np.ndarray:
    """The script of each character; -1 for what is none."""
    starts, scripts = _scripts()
    runs = np.searchsorted(starts, numbers, "right") - 1
    is_character = (numbers >= 0) & (numbers <= sys.maxunicode)
    return np.where(is_character, scripts[runs], np.int32(-1))
