"""Derivatives of Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.build import ops, shape_of
from ..core.graph import Operation, Tensor
from .registry import gradient

_RANKS = {"": 1, "2D": 2, "3D": 3}


def _size(x: Tensor, rank: int, like: Tensor) -> Tensor:
    """The number of elements of the last dimensions."""
    shape = ops.StridedSlice(ops.Shape(x), [-rank], [0], [1], end_mask=1)
    return ops.Cast(ops.Prod(shape, np.array([0], np.int32)), DstT=like.dtype)


def _fft(suffix: str, rank: int) -> Callable[[Operation, Tensor], Tensor]:
    def fft(op: Operation, dy: Tensor) -> Tensor:
        """The inverse transform, not divided by the size."""
        return getattr(ops, f"IFFT{suffix}")(dy) * _size(dy, rank, dy)

    return fft


def _ifft(suffix: str, rank: int) -> Callable[[Operation, Tensor], Tensor]:
    def ifft(op: Operation, dy: Tensor) -> Tensor:
        """The transform, divided by the size."""
        return getattr(ops, f"FFT{suffix}")(dy) / _size(dy, rank, dy)

    return ifft


def _placed(x: Tensor, like: Tensor) -> Tensor:
    """`x` with zeros behind it, in the shape of a tensor that is no smaller."""
    missing = ops.Shape(like) - ops.Shape(x)
    padded = ops.Pad(x, ops.Pack([ops.ZerosLike(missing), missing], axis=1))
    return ops.Reshape(padded, shape_of(like))


def _rfft(suffix: str, rank: int) -> Callable[[Operation, Tensor], tuple[Tensor, None]]:
    def rfft(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
        """The real part of the inverse of dy with zeros for the half that is not there."""
        x, lengths = op.inputs
        missing = lengths[-1] - ops.Shape(dy)[-1]
        outer = ops.ZerosLike(ops.Shape(dy))[1:]
        after = ops.ConcatV2([outer, ops.Reshape(missing, [1])], np.int32(0))
        whole = ops.Pad(dy, ops.Pack([ops.ZerosLike(after), after], axis=1))
        dx = ops.Real(getattr(ops, f"IFFT{suffix}")(whole), Tout=x.dtype)
        return _placed(dx * _size(whole, rank, x), x), None

    return rfft


def _irfft(suffix: str, rank: int) -> Callable[[Operation, Tensor], tuple[Tensor, None]]:
    def irfft(op: Operation, dy: Tensor) -> tuple[Tensor, None]:
        """The transform divided by the size, twice where a number stands for its mirror too."""
        y, lengths = op.inputs
        spectrum = getattr(ops, f"RFFT{suffix}")(dy, lengths, Tcomplex=y.dtype)
        positions = ops.Range(np.int32(0), ops.Shape(spectrum)[-1], np.int32(1))
        once = ops.LogicalOr(
            ops.Equal(positions, np.int32(0)), ops.Equal(positions * 2, lengths[-1])
        )
        counts = ops.SelectV2(once, np.asarray(1, dy.dtype), np.asarray(2, dy.dtype))
        factors = counts / _size(dy, rank, dy)
        return _placed(spectrum * ops.Cast(factors, DstT=y.dtype), y), None

    return irfft


for _suffix, _rank in _RANKS.items():
    gradient(f"FFT{_suffix}")(_fft(_suffix, _rank))
    gradient(f"IFFT{_suffix}")(_ifft(_suffix, _rank))
    gradient(f"RFFT{_suffix}")(_rfft(_suffix, _rank))
    gradient(f"IRFFT{_suffix}")(_irfft(_suffix, _rank))
