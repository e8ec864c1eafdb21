"""REAL, IMAG, COMPLEX_ABS, RFFT2D: complex numbers, pairs of floats."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import move
from ...engine.plan.buffer import Buffer, arena, constant
from ...engine.plan.view import View
from ...engine.sizes import is_plain
from ...schema.dtypes import tf_name
from ..checks import required
from ..plan.substitution import small_floats
from ..registry import op

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import DynamicResult, Emit, Node, Operand

_REAL = {"complex64": np.float32, "complex128": np.float64}
_PARTS = {"REAL": 0, "IMAG": 1}


@op(*_PARTS)
def part(node: Node) -> Callable[[Program], None]:
    """The real or the imaginary part of each number."""
    x = _complex(node)
    out = node.result(x.shape, _REAL[x.dtype.name])

    def emit(program: Program) -> None:
        move(program, View.of(_pairs(x)).pick(x.ndim, _PARTS[node.kind]), out)

    return emit


@op("COMPLEX_ABS")
def magnitude(node: Node) -> Callable[[Program], None]:
    """The distance of each number from 0."""
    x = _complex(node)
    out = node.result(x.shape, _REAL[x.dtype.name])

    def emit(program: Program) -> None:
        if out.size:
            pairs = _pairs(x).reshape((x.size, 2))
            program.call("complex.magnitude", pairs, out.ravel(), split=out.size)

    return emit


@op("RFFT2D")
@small_floats
def rfft2d(node: Node) -> Emit | DynamicResult:
    """The discrete Fourier transform over the last two dimensions, half of the last one.

    The second input says to which sizes, powers of 2, they are cut or filled up with zeros. It is
    computed in float64, as in TFLite.
    """
    x, length = required(node, 2)
    node.require(x.ndim >= 2, f"input must have 2 dimensions or more, got shape {x.shape}")
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(
        length.shape == (2,) and length.dtype == np.int32,
        f"the length must be two int32, got {tf_name(length.dtype)} of shape {length.shape}",
    )
    if length.value is not None:
        height, width = node.sizes(1)
        half = width // 2 + 1
        if is_plain(height) and is_plain(width):
            _require_powers(node, (height, width))
        out = node.result((*x.shape[:-2], height, half), np.complex64)
        return lambda program: _rfft2(program, x, out, width)

    def run(x: np.ndarray, length: np.ndarray) -> list[np.ndarray]:
        sizes = tuple(length.tolist())
        _require_powers(node, sizes)
        return [np.fft.rfft2(x.astype(float), sizes).astype(np.complex64)]

    return node.dynamic_result(run, [(*x.shape[:-2], None, None)])


def _rfft2(program: Program, x: Operand, out: Operand, width: int) -> None:
    if not out.size:
        return
    *outer, height, half = out.shape
    n, longest = prod(outer), max(width, height, 2)
    angles = 2 * np.pi / longest * np.arange(longest // 2)
    program.call(
        "fourier.rfft2",
        x.reshape((n, *x.shape[-2:])),
        constant(np.stack([np.cos(angles), np.sin(angles)], axis=1)),
        arena((n, 2, width, (height + 1) // 2), np.float64),
        arena((n, 2, height, half), np.float64),
        _pairs(out).reshape((n, height, half, 2)),
        split=n,
    )


def _require_powers(node: Node, sizes: tuple[int, ...]) -> None:
    node.require(
        all(n > 0 and n & (n - 1) == 0 for n in sizes), f"lengths must be powers of 2, got {sizes}"
    )


def _complex(node: Node) -> Operand:
    (x,) = required(node, 1)
    node.require(x.dtype.name in _REAL, f"input must be complex, got {tf_name(x.dtype)}")
    return x


def _pairs(x: Operand) -> Buffer:
    """The numbers as a last dimension of two floats."""
    return Buffer(_REAL[x.dtype.name], (*x.shape, 2), x.storage, x.offset)
