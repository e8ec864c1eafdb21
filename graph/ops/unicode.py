"""Strings as characters, n-grams of words, and words joined by segment."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema.fingerprint import fingerprint64
from ..core.registry import add_row, op
from ..core.shapes import Shape, integers, known

if TYPE_CHECKING:
    from ..core.protocols import OperationView

_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}
_INVALID = "Invalid formatting on input string"


def _characters(text: bytes, codec: str) -> Iterator[tuple[int | None, int]]:
    """Each character's number, None for what is none, and where it begins."""
    start = 0
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
            yield None, end
        start = after


def _codec(encoding: bytes) -> str:
    name = encoding.decode()
    codec = _CODECS.get(name, name)
    try:
        "".encode(codec)
    except LookupError:
        raise ValueError(f"Could not create converter for input encoding: {name}") from None
    return codec


def _decoded(
    x: np.ndarray, encoding: bytes, errors: bytes, replacement: int, replaces_controls: bool
) -> tuple[list[int], list[int], list[int]]:
    """Where the characters of each string begin among all, the characters, and their places."""
    splits, numbers, places = [0], list[int](), list[int]()
    codec = _codec(encoding)
    for text in cast("list[bytes]", x.reshape(-1).tolist()):
        for number, place in _characters(text, codec):
            is_wrong = number is None or (replaces_controls and number < 32)
            if is_wrong and errors == b"strict":
                raise ValueError(_INVALID)
            if is_wrong and errors == b"ignore":
                continue
            numbers.append(replacement if is_wrong or number is None else number)
            places.append(place)
        splits.append(len(numbers))
    return splits, numbers, places


def _decode_shape(op: OperationView) -> list[Shape]:
    shape = op.inputs[0].sizes
    n = None if shape is None or None in shape else int(np.prod(cast("tuple[int, ...]", shape)))
    return [(None if n is None else n + 1,), *[(None,)] * (len(op.outputs) - 1)]


def _decoder(has_places: bool) -> Callable[..., Sequence[np.ndarray]]:
    def kernel(
        x: np.ndarray,
        *,
        input_encoding: bytes,
        errors: bytes,
        replacement_char: int,
        replace_control_characters: bool,
    ) -> Sequence[np.ndarray]:
        splits, numbers, places = _decoded(
            x, input_encoding, errors, replacement_char, replace_control_characters
        )
        results = [np.array(splits, np.int64), np.array(numbers, np.int32)]
        return [*results, np.array(places, np.int64)] if has_places else results

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
                raise ValueError("Code point is out of range for Unicode, or a noncharacter.")
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
    row_shape = known(op, 0)[len(known(op, 1)) :]
    return (None if n is None else n[0], *row_shape)


@op("UnsortedSegmentJoin", shape=_join_shape)
def unsorted_segment_join(
    x: np.ndarray, ids: np.ndarray, n_segments: np.ndarray, *, separator: bytes
) -> np.ndarray:
    """The strings of each segment joined, in the order they come; negative ids are left out."""
    n, inner = int(n_segments), x.shape[ids.ndim :]
    if ids.size and int(ids.max()) >= n:
        raise ValueError(f"segment ids must be < num_segments, got {int(ids.max())} >= {n}")
    rows = x.reshape(ids.size, -1)
    parts: list[list[list[bytes]]] = [[[] for _ in range(rows.shape[1])] for _ in range(n)]
    segments = cast("list[int]", ids.reshape(-1).tolist())
    for row, segment in zip(cast("list[list[bytes]]", rows.tolist()), segments, strict=True):
        if segment >= 0:
            for place, text in zip(parts[segment], row, strict=True):
                place.append(text)
    result = np.empty((n, rows.shape[1]), object)
    for i, places in enumerate(parts):
        result[i] = [separator.join(texts) for texts in places]
    return result.reshape(n, *inner)
