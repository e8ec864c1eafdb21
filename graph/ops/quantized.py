"""Quantized tensors: floats as codes of a range, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..core.registry import add_row, op
from ..core.shapes import Shape, as_shape, known, plus, require, same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.protocols import OperationView

_ONE = np.float32(1)


class _Codes(NamedTuple):
    """The integers that a quantized type is made of."""

    dtype: np.dtype
    integer: np.dtype

    @classmethod
    def of(cls, dtype: np.dtype) -> _Codes:
        """Those of quint8 and its like, which are records of one integer."""
        if dtype.names is None:
            return cls(dtype, dtype)
        fields = cast("dict[str, tuple[np.dtype, int]]", dict(dtype.fields or {}))
        return cls(dtype, fields[dtype.names[0]][0])

    @property
    def low(self) -> np.float32:
        return np.float32(np.iinfo(self.integer).min)

    @property
    def high(self) -> np.float32:
        return np.float32(np.iinfo(self.integer).max)

    @property
    def is_signed(self) -> bool:
        return self.integer.kind == "i"

    @property
    def steps(self) -> float:
        return float(2 ** (8 * self.integer.itemsize))

    def written(self, values: np.ndarray) -> np.ndarray:
        """Whole numbers as the type holds them; beyond its range they wrap."""
        return values.astype(np.int64).astype(self.integer).view(self.dtype)

    def read(self, codes: np.ndarray) -> np.ndarray:
        """The numbers of codes, in float32."""
        return (
            np.ascontiguousarray(codes).view(self.integer).reshape(codes.shape).astype(np.float32)
        )


def _round_half_away(x: np.ndarray) -> np.ndarray:
    return np.trunc(x + np.copysign(np.float32(0.5), x))


def _widened(low: np.ndarray, high: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """A range that holds 0 and is not too narrow."""
    size = np.maximum(_ONE, np.maximum(np.abs(low), np.abs(high))) * np.float32(least)
    low = np.minimum(np.float32(0), low)
    return low, np.maximum(np.float32(0), np.maximum(high, low + size))


def _first_codes(x: np.ndarray, low: np.ndarray, high: np.ndarray, codes: _Codes) -> np.ndarray:
    """By steps of which one is 0: the mode MIN_FIRST."""
    width = (high - low).astype(np.float64) * (codes.steps / (codes.steps - 1))
    with np.errstate(all="ignore"):
        scale = np.where(high == low, 0.0, codes.steps / width).astype(np.float32)
    first = _round_half_away(low * scale)
    numbers = _round_half_away(x * scale) - first + codes.low
    # float32 has no number between 2**31 - 128 and 2**31.
    highest = codes.high if codes.steps < 2**24 else np.nextafter(codes.high, np.float32(0))
    return np.clip(numbers, codes.low, highest)


def _first_floats(
    numbers: np.ndarray, low: np.ndarray, high: np.ndarray, codes: _Codes
) -> np.ndarray:
    scale = ((high - low) / np.float64(codes.steps - 1)).astype(np.float32)
    with np.errstate(all="ignore"):
        rounded = np.where(high == low, low, _round_half_away(low / scale) * scale)
    return (numbers - codes.low) * scale + rounded


def _scaled_range(
    low: np.ndarray, high: np.ndarray, codes: _Codes, narrow: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The scale of the mode SCALED, and the range it holds."""
    first, last = codes.low + np.float32(narrow), codes.high
    largest = np.float32(np.finfo(np.float32).max)
    with np.errstate(all="ignore"):
        from_low = np.where(first * low > 0, first / low, largest)
        from_high = np.where(last * high > 0, last / high, largest)
    scale = np.minimum(from_low, from_high).astype(np.float32)
    return scale, first / scale, last / scale


def _rows(values: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """Values along an axis, for arithmetic with a whole tensor."""
    values = np.asarray(values, np.float32)
    if axis < 0:
        return values.reshape(())
    return values.reshape([-1 if i == axis else 1 for i in range(rank)])


def _range_shape(op: OperationView) -> Shape:
    axis = op.get_attr("axis")
    if axis < 0:
        return ()
    shape = op.inputs[0].sizes
    return (None if shape is None else shape[axis],)


@op("QuantizeV2", shape=lambda op: [op.inputs[0].sizes, _range_shape(op), _range_shape(op)])
def quantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    T: np.dtype,
    mode: bytes,
    round_mode: bytes,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The codes of numbers within a range, and the range that they have in the end."""
    if round_mode == b"HALF_TO_EVEN" and mode != b"SCALED":
        raise ValueError(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is "
            f"'{mode.decode()}'."
        )
    codes = _Codes.of(T)
    first, last = _rows(low, x.ndim, axis), _rows(high, x.ndim, axis)
    lows, highs = _widened(first, last, ensure_minimum_range)
    x = x.astype(np.float32)
    if mode == b"MIN_COMBINED":
        scale = (codes.high - codes.low) / (highs - lows)
        half = np.float32(codes.steps / 2) if codes.is_signed else np.float32(0)
        numbers = _round_half_away((np.clip(x, lows, highs) - lows) * scale - half)
    elif mode == b"MIN_FIRST":
        numbers = _first_codes(x, lows, highs, codes)
    else:
        scale, lows, highs = _scaled_range(lows, highs, codes, narrow_range)
        scaled = np.clip(x, lows, highs) * scale
        is_even = round_mode == b"HALF_TO_EVEN"
        numbers = np.rint(scaled) if is_even else _round_half_away(scaled)
    shape = (-1,) if axis >= 0 else ()
    lows, highs = (end.reshape(shape).astype(np.float32) for end in (lows, highs))
    return codes.written(numbers), lows, highs


@op("Dequantize", shape=same)
def dequantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    T: np.dtype,
    mode: bytes,
    narrow_range: bool,
    axis: int,
) -> np.ndarray:
    """The numbers that codes of a range stand for."""
    if axis >= x.ndim:
        raise ValueError(f"Axis must be less than input dimension({x.ndim}), got {axis}")
    codes = _Codes.of(T)
    numbers = codes.read(x)
    lows, highs = (_rows(end, x.ndim, axis) for end in (low, high))
    if mode == b"MIN_COMBINED":
        half = np.float32(codes.steps / 2) if codes.is_signed else np.float32(0)
        return (numbers + half) * ((highs - lows) / (codes.high - codes.low)) + lows
    if mode == b"MIN_FIRST":
        return _first_floats(numbers, lows, highs, codes)
    first = codes.low + np.float32(narrow_range)
    scale = highs / codes.high
    return numbers * (np.maximum(lows / first, scale) if first else scale)


def _concat_shape(op: OperationView) -> list[Shape]:
    n = (len(op.inputs) - 1) // 3
    axis = op.inputs[0].value
    if axis is None:
        return [None, (), ()]
    shapes = [known(op, i) for i in range(1, n + 1)]
    at = int(axis)
    require(op, -len(shapes[0]) <= at < len(shapes[0]), f"axis {at} is out of range")
    joined = list(shapes[0])
    joined[at] = plus(*(shape[at] for shape in shapes))
    return [tuple(joined), (), ()]


@op("QuantizedConcat", shape=_concat_shape)
def quantized_concat(
    axis: np.ndarray, *parts: np.ndarray, N: int, T: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes one behind another, as codes of the range that holds all of theirs."""
    codes = _Codes.of(T)
    values, lows, highs = parts[:N], parts[N : 2 * N], parts[2 * N :]
    low, high = np.float32(np.min(lows)), np.float32(np.max(highs))
    if codes.is_signed:
        high = max(-low, high)
        low = -high
    moved: list[np.ndarray] = []
    for x, first, last in zip(values, lows, highs, strict=True):
        if first == low and last == high:
            moved.append(x)
            continue
        floats = _first_floats(codes.read(x), first, last, codes)
        numbers = _first_codes(floats, np.asarray(low), np.asarray(high), codes)
        moved.append(codes.written(numbers))
    return np.concatenate(moved, int(axis)), np.asarray(low), np.asarray(high)


def _with_range(op: OperationView) -> list[Shape]:
    return [op.inputs[0].sizes, (), ()]


def _code_of(number: float, low: np.ndarray, high: np.ndarray, codes: _Codes) -> np.float32:
    """The code of a number within a range."""
    return np.float32(_first_codes(np.asarray(number, np.float32), low, high, codes))


def _clipped(*limits: float) -> Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Codes of numbers within limits, of the same range."""

    def kernel(
        x: np.ndarray, low: np.ndarray, high: np.ndarray, *, out_type: np.dtype
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        codes = _Codes.of(out_type)
        least, *most = (_code_of(limit, low, high, codes) for limit in limits)
        numbers = np.maximum(codes.read(x), least)
        return codes.written(np.minimum(numbers, most[0]) if most else numbers), low, high

    kernel.__doc__ = f"Codes of numbers within {limits}, of the same range."
    return kernel


add_row("QuantizedRelu", _clipped(0.0), _with_range)
add_row("QuantizedRelu6", _clipped(0.0, 6.0), _with_range)


@op("QuantizedReshape", shape=lambda op: [as_shape(op, 1), (), ()])
def quantized_reshape(
    x: np.ndarray, shape: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes in another shape."""
    return x.reshape(shape.tolist()), low, high
