"""SignalWindow, SignalFftAutoScale, SignalEnergy: the fixed-point steps around a spectrum.

Source: TensorFlow Lite Micro's signal library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node, Operand

_LEAST, _MOST = -(1 << 15), (1 << 15) - 1


def require_dtype(node: Node, operand: Operand, *dtypes: type) -> None:
    """Refuses an operand of another type."""
    names = " or ".join(np.dtype(dtype).name for dtype in dtypes)
    node.require(
        any(operand.dtype == dtype for dtype in dtypes),
        f"'{operand.name}' must be {names}, got {tf_name(operand.dtype)}",
    )


@custom("SignalWindow")
def window(node: Node) -> HostCall:
    """Each row times the window's weights, shifted right, within int16."""
    x, weights = exactly(node, 2)
    shift = Options(node).integer("shift")
    for operand in (x, weights):
        require_dtype(node, operand, np.int16)
    node.require(0 <= shift < 32, f"option shift must be in [0, 32), got {shift}")
    node.require(
        weights.ndim == 1 and x.ndim >= 1 and x.shape[-1] == weights.size,
        f"the window must have as many weights as a row of {x.shape}, got shape {weights.shape}",
    )

    def run(x: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
        products = x.astype(np.int32) * weights.astype(np.int32) >> shift
        return [np.clip(products, _LEAST, _MOST)]

    return by_numpy(node, run, (x.shape, np.int16))


@custom("SignalFftAutoScale")
def fft_auto_scale(node: Node) -> HostCall:
    """The numbers shifted left as far as the largest one allows, and by how many bits."""
    (x,) = exactly(node, 1)
    require_dtype(node, x, np.int16)

    def run(x: np.ndarray) -> list[np.ndarray]:
        largest = min(int(np.abs(x.astype(np.int32)).max(initial=0)), _MOST)
        # The library takes 32 bits for those of 0, and so nothing is shifted.
        bits = max(15 - largest.bit_length(), 0) if largest else 0
        return [(x.astype(np.int32) << bits).astype(np.int16), np.array(bits)]

    return by_numpy(node, run, (x.shape, np.int16), ((), np.int32))


@custom("SignalEnergy")
def energy(node: Node) -> HostCall:
    """The squared sizes of complex numbers, pairs of int16, from start_index up to end_index.

    Outside of these is 0.
    """
    (x,) = exactly(node, 1)
    options = Options(node)
    start, end = options.integer("start_index"), options.integer("end_index")
    require_dtype(node, x, np.int16)
    n = (x.shape[-1] if x.ndim else 0) // 2
    node.require(
        x.ndim == 1 and x.shape[0] % 2 == 0, f"input must be pairs in a row, got shape {x.shape}"
    )
    node.require(
        0 <= start <= end <= n, f"indices must be in order within [0, {n}], got {start}, {end}"
    )

    def run(x: np.ndarray) -> list[np.ndarray]:
        real, imaginary = x.astype(np.int64).reshape(-1, 2).T
        squares = (real * real + imaginary * imaginary).astype(np.uint32)
        positions = np.arange(n)
        return [np.where((start <= positions) & (positions < end), squares, 0)]

    return by_numpy(node, run, ((n,), np.uint32))
