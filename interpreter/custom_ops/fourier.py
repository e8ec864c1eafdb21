"""IRFFT2D: back from the half of a spectrum to what it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..numpy_calls import by_numpy
from .registry import custom, exactly

if TYPE_CHECKING:
    from ..plan.node import DynamicResult, HostCall, Node


@custom("IRFFT2D")
def irfft2d(node: Node) -> HostCall | DynamicResult:
    """The inverse transform over the last two dimensions, cut or filled up to the second input.

    That says the sizes of the result. It is computed in float64.
    """
    x, length = exactly(node, 2)
    node.require(x.ndim >= 2, f"input must have 2 dimensions or more, got shape {x.shape}")
    node.require(x.dtype == np.complex64, f"{tf_name(x.dtype)} is not supported")
    node.require(
        length.shape == (2,) and length.dtype == np.int32,
        f"the length must be two int32, got {tf_name(length.dtype)} of shape {length.shape}",
    )

    def run(x: np.ndarray, length: np.ndarray) -> list[np.ndarray]:
        height, width = (int(n) for n in length)
        _require_positive(node, (height, width))
        return [np.fft.irfft2(x.astype(np.complex128), (height, width)).astype(np.float32)]

    if length.value is None:
        return node.dynamic_result(run, [(*x.shape[:-2], None, None)])
    sizes = tuple(node.sizes(1))
    _require_positive(node, sizes)
    return by_numpy(node, run, ((*x.shape[:-2], *sizes), np.float32))


def _require_positive(node: Node, sizes: tuple[int, ...]) -> None:
    node.require(min(sizes) > 0, f"lengths must be positive, got {sizes}")
