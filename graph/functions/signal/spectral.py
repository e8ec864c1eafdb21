"""Fourier and cosine transforms: `tf.signal.rfft`, `dct` and their relatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...core.arrays import as_array
from ...core.build import ops, shape_of
from ...core.create import convert_to_tensor
from ...core.graph import Tensor
from ...core.scopes import name_scope
from ...core.shapes import is_static
from ..rows import functions

if TYPE_CHECKING:
    from ...core.typing import TensorLike

ONE_TO_ONE = """
fft3d            FFT3D             input \
    # The discrete Fourier transform along the last three dimensions
ifft3d           IFFT3D            input \
    # The inverse discrete Fourier transform along the last three dimensions
"""
globals().update(functions(ONE_TO_ONE, __name__))


class RealTransform(Protocol):
    """A transform from real numbers, or to them."""

    def __call__(
        self,
        input_tensor: TensorLike,
        fft_length: TensorLike | None = None,
        name: str | None = None,
    ) -> Tensor:
        """The transform over the last dimensions."""
        ...


def _input(x: TensorLike, kind: str, is_inverse: bool) -> Tensor:
    """The tensor; ValueError when it is not of the numbers that the transform takes."""
    value = convert_to_tensor(x, preferred_dtype=np.complex64 if is_inverse else np.float32)
    allowed = ("complex64", "complex128") if is_inverse else ("float32", "float64")
    if value.dtype.name not in allowed:
        words = " or ".join(f"tf.{name}" for name in allowed)
        raise ValueError(f"{kind} requires {words} inputs, got: {value}")
    return value


def _lengths(x: Tensor, rank: int, is_inverse: bool) -> Tensor | np.ndarray:
    """The sizes of the last dimensions as real numbers."""
    sizes = None if x.sizes is None else tuple(x.sizes[-rank:])
    if is_static(sizes):
        last = max(0, 2 * (sizes[-1] - 1)) if is_inverse else sizes[-1]
        return np.array([*sizes[:-1], last], np.int32)
    lengths = ops.StridedSlice(ops.Shape(x), [-rank], [0], [1], end_mask=1)
    if not is_inverse:
        return lengths
    last = ops.Maximum(np.int32(0), 2 * (lengths[-1:] - 1))
    return ops.ConcatV2([lengths[:-1], last], np.int32(0))


def _padded(x: Tensor, lengths: Tensor | np.ndarray, rank: int, is_inverse: bool) -> Tensor:
    """`x` with zeros behind where it is shorter than the transform."""
    if is_inverse and isinstance(lengths, np.ndarray):
        lengths = np.append(lengths[:-1], lengths[-1] // 2 + 1)
    elif is_inverse:
        lengths = ops.ConcatV2([lengths[:-1], lengths[-1:] // 2 + 1], np.int32(0))
    if x.sizes is not None and isinstance(lengths, np.ndarray) and is_static(x.sizes[-rank:]):
        missing = np.maximum(lengths - np.array(x.sizes[-rank:]), 0)
        if 0 in x.sizes or not missing.any():
            return x
        pads = np.zeros((len(x.sizes), 2), np.int32)
        pads[-rank:, 1] = missing
        return ops.Pad(x, pads)
    sizes = ops.StridedSlice(ops.Shape(x), [-rank], [0], [1], end_mask=1)
    missing = ops.Maximum(np.int32(0), ops.Sub(lengths, sizes))
    outer = ops.Fill(ops.Reshape(ops.Rank(x) - rank, [1]), np.int32(0))
    after = ops.ConcatV2([outer, missing], np.int32(0))
    return ops.Pad(x, ops.Pack([ops.ZerosLike(after), after], axis=1))


def _known(lengths: Tensor) -> Tensor | np.ndarray:
    value = lengths.value
    return lengths if value is None or value.dtype == object else value


def _real(name: str, kind: str, rank: int) -> RealTransform:
    is_inverse = kind.startswith("I")

    def transform(
        input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
    ) -> Tensor:
        with name_scope(name, label, [input_tensor, fft_length]) as scope:
            x = _input(input_tensor, "IRFFT" if is_inverse else "RFFT", is_inverse)
            x.get_shape().with_rank_at_least(rank)
            if fft_length is None:
                lengths = _lengths(x, rank, is_inverse)
            else:
                lengths = _known(convert_to_tensor(fft_length, np.int32))
            padded = _padded(x, lengths, rank, is_inverse)
            size = x.dtype.itemsize
            if is_inverse:
                other = {"Treal": np.dtype(f"f{size // 2}")}
            else:
                other = {"Tcomplex": np.dtype(f"c{size * 2}")}
            return getattr(ops, kind)(padded, lengths, name=scope, **other)

    label = name
    transform.__name__ = transform.__qualname__ = name
    what = "real numbers from half" if is_inverse else "of real numbers, half"
    transform.__doc__ = f"""The transform of the last {rank} dimensions: {what} of it.

    Args:
        input_tensor: {"complex64 or complex128" if is_inverse else "float32 or float64"}.
        fft_length: {rank} sizes of the real side; shorter inputs get zeros behind them.
        name: Of the operation.

    Raises ValueError for another type.
    """
    return transform


rfft = _real("rfft", "RFFT", 1)
rfft2d = _real("rfft2d", "RFFT2D", 2)
rfft3d = _real("rfft3d", "RFFT3D", 3)
irfft = _real("irfft", "IRFFT", 1)
irfft2d = _real("irfft2d", "IRFFT2D", 2)
irfft3d = _real("irfft3d", "IRFFT3D", 3)


def _shifts(x: Tensor, axes: int | Sequence[int] | None) -> tuple[Tensor, np.ndarray]:
    """Half of the size of each axis, and the axes from the front."""
    rank = len(x.get_shape())
    positions = np.atleast_1d(np.arange(rank) if axes is None else as_array(axes, np.int32))
    for place in positions:
        if not -rank <= place < rank:
            raise ValueError(f"slice index {place} of dimension 0 out of bounds. Rank is {rank}")
    along = (positions % max(rank, 1)).astype(np.int32)
    return ops.FloorDiv(ops.GatherV2(ops.Shape(x), along, np.int32(0)), np.int32(2)), along


def fftshift(
    x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """`x` with the frequency 0 in the middle of `axes`, of all by default."""
    with name_scope(name, "fftshift", [x]) as scope:
        value = convert_to_tensor(x)
        half, along = _shifts(value, axes)
        return ops.Roll(value, half, along, name=scope)


def ifftshift(
    x: TensorLike, axes: int | Sequence[int] | None = None, name: str | None = None
) -> Tensor:
    """What `fftshift` was given: each of the axes moved by minus half its size.

    Args:
        x: Of any type and shape.
        axes: A dimension or several; all by default.
        name: Of the operation.
    """
    with name_scope(name, "ifftshift", [x]) as scope:
        value = convert_to_tensor(x)
        half, along = _shifts(value, axes)
        return ops.Roll(value, ops.Neg(half), along, name=scope)


_INVERSE_TYPES = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The cosine transform of the last dimension.

    Args:
        input: float32 or float64.
        type: 1, 2, 3 or 4.
        n: How many elements are transformed; more are left out, fewer get zeros behind them.
        axis: -1.
        norm: "ortho" for a transform that keeps lengths.
        name: Of the operations.

    Raises:
        ValueError: Another type or norm, or an `n` below 1.
        NotImplementedError: Another axis.
    """
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in _INVERSE_TYPES:
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input)
        if type == 1:
            if norm == "ortho":
                raise ValueError("Normalization is not supported for the Type-I DCT.")
            size = None if x.sizes is None else x.sizes[-1]
            if size is not None and size < 2:
                raise ValueError("Type-I DCT requires the dimension to be greater than one.")
        if n is not None:
            x = _resized(x, n)
        size = ops.StridedSlice(shape_of(x), [-1], [0], [1], shrink_axis_mask=1)
        return _TYPES[type](x, size, norm == "ortho")


def idct(
    input: TensorLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """What undoes `dct` but for a factor 2 n, of type 1 of 2 (n - 1); exactly with norm "ortho".

    Args:
        input: [..., n], float32 or float64.
        type: 1, 2, 3 or 4: that of the `dct` that is undone.
        n: How many elements count, cut or filled with zeros; all by default.
        axis: -1: the last dimension.
        norm: None or "ortho".
        name: Of the operations.

    Raises ValueError for other numbers, as `dct` does, TypeError for other types.
    """
    with name_scope(name, "idct", [input]):
        return dct(input, _INVERSE_TYPES.get(type, type), n, axis, norm)


def _resized(x: Tensor, n: int) -> Tensor:
    """The last dimension cut to n elements, or with zeros behind them."""
    rank = len(x.get_shape())
    pads = np.zeros((rank, 2), np.int32)
    pads[-1, 1] = n
    result = ops.Pad(x, pads)[..., :n]
    result.set_shape((*(x.sizes or ())[:-1], n))
    return result


def _angles(x: Tensor, size: Tensor, sign: float) -> Tensor:
    """2 exp(sign i pi k / (2 size)) for each element."""
    n = ops.Cast(size, DstT=x.dtype)
    steps = ops.Cast(ops.Range(np.int32(0), size, np.int32(1)), DstT=x.dtype)
    turns = steps * np.asarray(sign * math.pi / 2, x.dtype) / n
    two = np.asarray(2, x.dtype)
    return ops.Complex(ops.Cos(turns) * two, ops.Sin(turns) * two, Tout=_complex_of(x))


def _complex_of(x: Tensor) -> np.dtype:
    return np.dtype(f"c{x.dtype.itemsize * 2}")


def _real_part(x: Tensor, like: Tensor) -> Tensor:
    return ops.Real(x, Tout=like.dtype)


def _weights(size: Tensor, x: Tensor, first: Tensor, inner: Tensor) -> Tensor:
    """One number for the first element, another for the rest."""
    is_first = ops.Equal(ops.Range(np.int32(0), size, np.int32(1)), np.int32(0))
    return ops.SelectV2(is_first, first, inner)


def _dct1(x: Tensor, size: Tensor, is_ortho: bool) -> Tensor:
    mirrored = ops.ConcatV2([x, x[..., -2:0:-1]], np.int32(-1))
    return _real_part(rfft(mirrored), x)


def _dct2(x: Tensor, size: Tensor, is_ortho: bool) -> Tensor:
    length = ops.Reshape(size * 2, [1])
    spectrum = rfft(x, length)[..., :size] * _angles(x, size, -1.0)
    result = _shaped(_real_part(spectrum, x), x)
    if not is_ortho:
        return result
    least = ops.Rsqrt(ops.Cast(size, DstT=x.dtype)) * np.asarray(0.5, x.dtype)
    return result * _weights(size, x, least, least * np.asarray(math.sqrt(2), x.dtype))


def _dct3(x: Tensor, size: Tensor, is_ortho: bool) -> Tensor:
    n = ops.Cast(size, DstT=x.dtype)
    if is_ortho:
        root = ops.Sqrt(n)
        x = x * _weights(size, x, root, root * np.asarray(math.sqrt(0.5), x.dtype))
    else:
        x = x * n
    spectrum = _angles(x, size, 1.0) * ops.Complex(x, ops.ZerosLike(x), Tout=_complex_of(x))
    return _shaped(irfft(spectrum, ops.Reshape(size * 2, [1]))[..., :size], x)


def _dct4(x: Tensor, size: Tensor, is_ortho: bool) -> Tensor:
    rank = len(x.get_shape())
    pads = ops.Pad(ops.Reshape(size, [1, 1]), np.array([[rank - 1, 0], [1, 0]], np.int32))
    result = _shaped(_dct2(ops.Pad(x, pads), size * 2, False)[..., 1::2], x)
    if not is_ortho:
        return result
    return result * ops.Rsqrt(ops.Cast(size, DstT=x.dtype)) * np.asarray(math.sqrt(0.5), x.dtype)


def _shaped(y: Tensor, like: Tensor) -> Tensor:
    y.set_shape(like.get_shape())
    return y


_TYPES: dict[int, Callable[[Tensor, Tensor, bool], Tensor]] = {
    1: _dct1,
    2: _dct2,
    3: _dct3,
    4: _dct4,
}
