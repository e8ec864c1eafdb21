"""Strings taken apart, put together and written in other alphabets."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....schema.errors import OutOfRangeError
from ...core.registry import op
from ...core.shapes import Shape, require, same, scalar
from .printing import element

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...core.protocols import OperationView

_MASK = 2**64 - 1
_MURMUR, _SHIFT, _SEED = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE
_SPARSE: list[Shape] = [(None, 2), (None,), (2,)]


def _each(
    x: np.ndarray, function: Callable[[bytes], object], dtype: npt.DTypeLike = object
) -> np.ndarray:
    values = np.empty(x.size, dtype)
    for i, item in enumerate(x.reshape(-1).tolist()):
        values[i] = function(item)
    return values.reshape(x.shape)


def size_of(fill: bytes, width: int) -> str:
    """How printf is told to fill up to a width."""
    return fill.decode() + (str(width) if width > -1 else "")


FILLS = (b"", b" ", b"+", b"-", b"0", b"#")
"""What printf knows to fill up with."""


@op("AsString", shape=same)
def as_string(
    x: np.ndarray, *, precision: int, scientific: bool, shortest: bool, width: int, fill: bytes
) -> np.ndarray:
    """Each number as C's printf writes it: %d, or %f, %e or %g with `precision` digits."""
    if len(fill) > 1:
        raise ValueError("Fill string must be one or fewer characters")
    if fill not in FILLS:
        raise ValueError(f'Fill argument not supported: "{fill.decode()}"')
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    if x.dtype.kind == "b":
        return np.array([b"false", b"true"], object)[x.astype(int)]
    if x.dtype.kind in "iuO" and (scientific or shortest):
        name = "string" if x.dtype.kind == "O" else x.dtype.name
        raise ValueError(f"scientific and shortest format not supported for datatype {name}")
    if x.dtype.kind == "O":
        return _each(x, lambda item: f"%{size_of(fill, width)}s".encode() % item)
    if x.dtype.kind in "iu" and precision >= 0:
        raise ValueError(f"precision not supported for datatype {x.dtype.name}")
    letter = "e" if scientific else "g" if shortest else "f"
    digits = f".{precision}" if precision > -1 else ""
    pattern = f"%{size_of(fill, width)}" + ("d" if x.dtype.kind in "iu" else f"{digits}{letter}")

    def written(number: complex) -> bytes:
        if isinstance(number, complex):
            return f"({pattern % number.real},{pattern % number.imag})".encode()
        return (pattern % number).encode()

    values = np.empty(x.size, object)
    values[:] = [written(number) for number in x.reshape(-1).tolist()]
    return values.reshape(x.shape)


def _joined_shape(op: OperationView) -> Shape:
    shape, axes = op.inputs[0].sizes, op.inputs[1].value
    if shape is None or axes is None:
        return None
    reduced = [int(axis) for axis in axes.reshape(-1).tolist()]
    for axis in reduced:
        words = f"Invalid reduction dimension {axis} for input with {len(shape)} dimensions."
        require(op, -len(shape) <= axis < len(shape), words)
    joined = {axis % len(shape) for axis in reduced}
    keeps = bool(op.get_attr("keep_dims"))
    return tuple(1 if i in joined else n for i, n in enumerate(shape) if keeps or i not in joined)


@op("ReduceJoin", shape=_joined_shape)
def reduce_join(
    x: np.ndarray, axes: np.ndarray, *, keep_dims: bool, separator: bytes
) -> np.ndarray:
    """Strings joined along axes, of which the first varies fastest."""
    reduced = [int(axis) for axis in axes.reshape(-1).tolist()]
    joined: list[int] = []
    for axis in reduced:
        if not -x.ndim <= axis < x.ndim:
            raise OutOfRangeError(
                None,
                None,
                f"Invalid reduction dimension {axis} for input with {x.ndim} dimension(s)",
            )
        if axis % x.ndim in joined:
            raise ValueError(f"Duplicate reduction dimension {axis}")
        joined.append(axis % x.ndim)
    others = [i for i in range(x.ndim) if i not in joined]
    sizes = [x.shape[i] for i in others]
    rows = x.transpose(*others, *joined[::-1]).reshape(
        int(np.prod(sizes)), int(np.prod([x.shape[i] for i in joined]))
    )
    values = np.empty(len(rows), object)
    values[:] = [separator.join(row) for row in rows.tolist()]
    if keep_dims:
        sizes = [1 if i in joined else n for i, n in enumerate(x.shape)]
    return values.reshape(sizes)


def _ragged(rows: Sequence[Sequence[bytes]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of a sparse tensor of rows."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(indices), object)
    values[:] = [item for row in rows for item in row]
    longest = max((len(row) for row in rows), default=0)
    return (
        np.array(indices, np.int64).reshape(-1, 2),
        values,
        np.array([len(rows), longest], np.int64),
    )


@op("StringSplitV2", shape=lambda op: _SPARSE)
def string_split_v2(
    x: np.ndarray, separator: np.ndarray, *, maxsplit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of each string; between white space where the separator is empty."""
    between, most = separator.item() or None, maxsplit if maxsplit > 0 else -1
    strings: list[bytes] = x.tolist()
    rows = [item.split(between, most) for item in strings]
    if between is None and most > 0:  # TensorFlow's last part is what follows, also if nothing does
        rows = [[*row, b""] if len(row) == most else row for row in rows]
    return _ragged(rows)


def _parts(item: bytes, delimiters: bytes) -> Iterator[bytes]:
    """The parts between any of the delimiters; without one, each byte."""
    if not delimiters:
        yield from (item[i : i + 1] for i in range(len(item)))
        return
    start = 0
    for i, byte in enumerate(item):
        if byte in delimiters:
            yield item[start:i]
            start = i + 1
    yield item[start:]


def _string_split_shape(op: OperationView) -> list[Shape]:
    sizes = op.inputs[0].sizes
    if sizes is not None and len(sizes) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(sizes)}")
    return _SPARSE


@op("StringSplit", shape=_string_split_shape)
def string_split(
    x: np.ndarray, delimiter: np.ndarray, *, skip_empty: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The parts of each string between any of the characters of `delimiter`."""
    if delimiter.ndim:
        raise ValueError(f"delimiter must be a scalar, got shape: {list(delimiter.shape)}")
    rows = [
        [part for part in _parts(item, delimiter.item()) if part or (item and not skip_empty)]
        for item in x.tolist()
    ]
    return _ragged(rows)


@op("EncodeBase64", shape=same)
def encode_base64(x: np.ndarray, *, pad: bool) -> np.ndarray:
    """Web-safe base64, with = at the end when asked for."""

    def encoded(item: bytes) -> bytes:
        text = base64.urlsafe_b64encode(item)
        return text if pad else text.rstrip(b"=")

    return _each(x, encoded)


@op("DecodeBase64", shape=same)
def decode_base64(x: np.ndarray) -> np.ndarray:
    """What web-safe base64 holds, with or without = at its end."""

    def decoded(item: bytes) -> bytes:
        n_padded = len(item) - len(item.rstrip(b"="))
        if b"+" in item or b"/" in item or item.count(b"=") > n_padded:
            raise ValueError("Invalid character found in base64.")
        if n_padded > 2 or (n_padded and len(item) % 4):
            raise ValueError("Invalid padding in base64.")
        if len(item.rstrip(b"=")) % 4 == 1 and b"=" not in item:
            raise ValueError("Base64 string length cannot be 1 modulo 4.")
        try:
            padded = item.rstrip(b"=") + b"=" * (-len(item.rstrip(b"=")) % 4)
            return base64.b64decode(padded, altchars=b"-_", validate=True)
        except binascii.Error:
            raise ValueError("Invalid character found in base64.") from None

    return _each(x, decoded)


def murmur64(data: bytes) -> int:
    """MurmurHash64A of some bytes (A. Appleby) with TensorFlow's seed."""
    value = _SEED ^ (len(data) * _MURMUR & _MASK)
    n_full = len(data) // 8 * 8
    for i in range(0, n_full, 8):
        word = int.from_bytes(data[i : i + 8], "little") * _MURMUR & _MASK
        word = (word ^ (word >> _SHIFT)) * _MURMUR & _MASK
        value = (value ^ word) * _MURMUR & _MASK
    if n_full < len(data):
        value = (value ^ int.from_bytes(data[n_full:], "little")) * _MURMUR & _MASK
    value = (value ^ (value >> _SHIFT)) * _MURMUR & _MASK
    return value ^ (value >> _SHIFT)


@op("StringToHashBucket", shape=same)
def string_to_hash_bucket(x: np.ndarray, *, num_buckets: int) -> np.ndarray:
    """MurmurHash64A of each string, modulo a number."""
    return _each(x, lambda item: murmur64(item) % num_buckets, np.int64)


def _element(value: object) -> str:
    return f'"{element(value)}"' if isinstance(value, bytes) else element(value)


def _summary(x: np.ndarray, most: int, depth: int = 0) -> str:
    """An array as TensorFlow prints it: `most` elements at both ends of each dimension."""
    if x.ndim == 0:
        return _element(x[()])
    positions = list(range(len(x)))
    if 0 <= 2 * most < len(positions):
        positions = [*positions[:most], -1, *positions[len(positions) - most :]]
    between = " " if x.ndim == 1 else "\n" * (x.ndim - 1) + " " * (depth + 1)
    return (
        "["
        + between.join(
            "..." if i < 0 else _summary(x[i : i + 1].reshape(x.shape[1:]), most, depth + 1)
            for i in positions
        )
        + "]"
    )


@op("StringFormat", shape=scalar)
def string_format(
    *inputs: np.ndarray, template: bytes, placeholder: bytes, summarize: int
) -> np.ndarray:
    """A template with arrays in the places of its placeholders."""
    parts = template.split(placeholder)
    if len(parts) - 1 != len(inputs):
        raise ValueError(
            f"num placeholders in template and num inputs must match: {len(parts) - 1} vs. "
            f"{len(inputs)}"
        )
    texts = [_summary(x, summarize).encode() for x in inputs]
    pieces = [piece for pair in zip(parts, [*texts, b""], strict=True) for piece in pair]
    return np.array(b"".join(pieces), object)
