"""Strings: case, parts, patterns, numbers and hashes, element by element."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ....schema.errors import UnimplementedError
from ...core.registry import op
from ...core.shapes import broadcasting, is_static, require, same, scalar, shown
from . import re2

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...core.protocols import OperationView
    from ...core.shapes import Shape

_MASK = 2**64 - 1


def _mapped(x: np.ndarray, function: Callable[[bytes], object], dtype: npt.DTypeLike) -> np.ndarray:
    result = np.empty(x.shape, dtype)
    for index, item in np.ndenumerate(x):
        result[index] = function(item)
    return result


def _case(x: np.ndarray, encoding: bytes, change: str) -> np.ndarray:
    if encoding not in (b"", b"utf-8"):
        raise ValueError(
            f"only utf-8 or '' (no encoding) is supported, received {encoding.decode()}"
        )

    def changed(item: bytes) -> bytes:
        return getattr(item.decode(), change)().encode() if encoding else getattr(item, change)()

    return _mapped(x, changed, object)


@op("StringLower", shape=same)
def string_lower(x: np.ndarray, *, encoding: bytes) -> np.ndarray:
    """The strings in lower case; ASCII alone unless `encoding` is utf-8."""
    return _case(x, encoding, "lower")


@op("StringUpper", shape=same)
def string_upper(x: np.ndarray, *, encoding: bytes) -> np.ndarray:
    """The strings in upper case; ASCII alone unless `encoding` is utf-8."""
    return _case(x, encoding, "upper")


@op("StringStrip", shape=same)
def string_strip(x: np.ndarray) -> np.ndarray:
    """The strings without white space at their ends."""
    return _mapped(x, bytes.strip, object)


@op("StringLength", shape=same)
def string_length(x: np.ndarray, *, unit: bytes) -> np.ndarray:
    """The number of bytes, or of characters."""
    count: Callable[[bytes], int] = len if unit == b"BYTE" else _n_characters
    return _mapped(x, count, np.int32)


def _n_characters(item: bytes) -> int:
    """How many characters there are; a byte that is no UTF-8 counts as one."""
    return len(re2.decoded(item))


def _substr_shape(op: OperationView) -> Shape:
    """Strings broadcast with positions, of which there are as many as lengths."""
    positions, lengths = op.inputs[1].sizes, op.inputs[2].sizes
    words = f"pos and len shapes must match: {shown(positions)} vs. {shown(lengths)}"
    is_known = is_static(positions) and is_static(lengths)
    require(op, not is_known or positions == lengths, words)
    return broadcasting(op)


@op("Substr", shape=_substr_shape)
def substr(x: np.ndarray, position: np.ndarray, length: np.ndarray, *, unit: bytes) -> np.ndarray:
    """The part of each string from `position` (from the end when negative) on."""
    if position.shape != length.shape:
        raise ValueError(
            f"pos and len shapes must match: {shown(position.shape)} vs. {shown(length.shape)}"
        )
    if x.shape != position.shape and position.ndim and max(x.ndim, position.ndim) > 2:
        raise UnimplementedError(
            None,
            None,
            f"Substr broadcast not implemented for {max(x.ndim, position.ndim)} dimensions",
        )
    strings, starts, lengths = np.broadcast_arrays(x, position, length)
    result = np.empty(strings.shape, object)
    for index, item in np.ndenumerate(strings):
        text = item if unit == b"BYTE" else re2.decoded(item)
        start, n = int(starts[index]), int(lengths[index])
        if not -len(text) <= start <= len(text):
            words = f"string b'{re2.decoded(item)}'" if unit == b"BYTE" else "string"
            place = index[0] if len(index) == 1 else index or 0
            raise ValueError(f"pos {start} out of range for {words} at index {place}")
        start += len(text) if start < 0 else 0
        part = text[start : start + n if n >= 0 else None]
        result[index] = part if isinstance(part, bytes) else re2.encoded(part)
    return result


def _pattern(pattern: bytes) -> re.Pattern[str]:
    try:
        return re2.compiled(pattern)
    except re2.PatternError as error:
        shown = pattern.decode(errors="replace")
        raise ValueError(f"Invalid pattern: {shown}, error: {error}") from None


def _replaced(x: np.ndarray, pattern: bytes, rewrite: bytes, everywhere: bool) -> np.ndarray:
    compiled = _pattern(pattern)
    return _mapped(x, lambda item: re2.replaced(compiled, rewrite, item, everywhere), object)


@op("RegexReplace", shape=same)
def regex_replace(
    x: np.ndarray, pattern: np.ndarray, rewrite: np.ndarray, *, replace_global: bool
) -> np.ndarray:
    """The strings with what matches replaced, everywhere or once."""
    return _replaced(x, pattern.item(), rewrite.item(), replace_global)


@op("StaticRegexReplace", shape=same)
def static_regex_replace(
    x: np.ndarray, *, pattern: bytes, rewrite: bytes, replace_global: bool
) -> np.ndarray:
    """The strings with what matches replaced, everywhere or once."""
    return _replaced(x, pattern, rewrite, replace_global)


def _matches(x: np.ndarray, pattern: bytes) -> np.ndarray:
    compiled = _pattern(pattern)
    return _mapped(x, lambda item: compiled.fullmatch(re2.decoded(item)) is not None, np.bool_)


@op("RegexFullMatch", shape=same)
def regex_full_match(x: np.ndarray, pattern: np.ndarray) -> np.ndarray:
    """Whether all of a string matches."""
    return _matches(x, pattern.item())


@op("StaticRegexFullMatch", shape=same)
def static_regex_full_match(x: np.ndarray, *, pattern: bytes) -> np.ndarray:
    """Whether all of a string matches."""
    return _matches(x, pattern)


@op("StringToNumber", shape=same)
def string_to_number(x: np.ndarray, *, out_type: np.dtype) -> np.ndarray:
    """The numbers that strings spell."""

    def number(text: str) -> float:
        if "_" in text:
            raise ValueError(text)
        if out_type.kind == "i":
            whole, limits = int(text), np.iinfo(out_type)
            if not limits.min <= whole <= limits.max:
                raise ValueError(text)
            return whole
        is_hex = text.strip().lower().lstrip("+-").startswith("0x")
        return float.fromhex(text) if is_hex else float(text)

    def converted(item: bytes) -> float:
        try:
            return number(item.decode())
        except ValueError:
            raise ValueError(
                f"StringToNumberOp could not correctly convert string: {item.decode()}"
            ) from None

    return _mapped(x, converted, out_type)


def _rotate(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (64 - bits))) & _MASK


def siphash(key: tuple[int, int], data: bytes) -> int:
    """SipHash-2-4 of some bytes (Aumasson and Bernstein, 2012)."""
    a, b = key[0] ^ 0x736F6D6570736575, key[1] ^ 0x646F72616E646F6D
    c, d = key[0] ^ 0x6C7967656E657261, key[1] ^ 0x7465646279746573

    def rounds(n: int) -> None:
        nonlocal a, b, c, d
        for _ in range(n):
            a, c = (a + b) & _MASK, (c + d) & _MASK
            b, d = _rotate(b, 13) ^ a, _rotate(d, 16) ^ c
            a = _rotate(a, 32)
            a, c = (a + d) & _MASK, (c + b) & _MASK
            d, b = _rotate(d, 21) ^ a, _rotate(b, 17) ^ c
            c = _rotate(c, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xFF
    rounds(4)
    return a ^ b ^ c ^ d


@op("StringToHashBucketStrong", shape=same)
def string_to_hash_bucket_strong(x: np.ndarray, *, num_buckets: int, key: list[int]) -> np.ndarray:
    """SipHash of each string with a key of two numbers, modulo `num_buckets`."""
    if len(key) != 2:
        raise ValueError(f"Key must have 2 elements, got {len(key)}")
    pair = key[0] & _MASK, key[1] & _MASK
    return _mapped(x, lambda item: siphash(pair, item) % num_buckets, np.int64)


@op("Fact", shape=scalar)
def fact() -> np.ndarray:
    """A string that is true."""
    return np.array(b"0! == 1", object)
