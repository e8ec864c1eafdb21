"""Quantized values as the float32 that they stand for, of which the quantizer makes integers.

    x -> QuantizeLinear -> q -> DequantizeLinear -> y       becomes     x -> FAKE_QUANT -> y

The integers of every QuantizeLinear are written out, too, for readers that compute with them; where
nobody reads them, they are dead code.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..callers import caller
from ..ir.graph import Tensor
from ..lowering.fake_quant import FakeQuantized

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from .registry import Node

BITS = 8
INT8, UINT8 = np.dtype(np.int8), np.dtype(np.uint8)
LARGEST = 2 ** (BITS - 1) - 1
CONSTANTS = {INT8, UINT8, np.dtype(np.int32)}
WIDEST = 1e6
"""Integers for a wider range than +-WIDEST are computed as ONNX says: FAKE_QUANT gives no exact
zeros there, and the difference of two large numbers is a large one, such as of masks."""
SAME_SCALE = {
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "MaxPool",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
}
"""Operators that move or choose integers, whose result has the scale of their first operand."""


class Quantized(NamedTuple):
    """What a tensor of integers stands for.

    Attributes:
        x: the float32 tensor that was quantized.
        scale: float32, a scalar.
        zero_point: of `dtype`, a scalar.
    """

    x: Tensor
    scale: np.ndarray
    zero_point: np.ndarray

    def has(self, scale: np.ndarray, zero_point: np.ndarray) -> bool:
        """Whether these are its scale and zero point."""
        return bool(self.scale == scale and self.zero_point == zero_point)

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest number that the integers can stand for."""
        info = np.iinfo(self.zero_point.dtype)
        scale, zero_point = float(self.scale), int(self.zero_point)
        return (info.min - zero_point) * scale, (info.max - zero_point) * scale


class QuantizedValues:
    """The quantized tensors of a graph.

    Attributes:
        asymmetric: nodes that read weights which int8 without a zero point does not hold exactly.
    """

    def __init__(self) -> None:
        self._of: dict[Tensor, Quantized] = {}
        self._rounded: dict[Tensor, Tensor] = {}
        self.asymmetric: list[str] = []

    def __contains__(self, x: Any) -> bool:
        return isinstance(x, Tensor) and x in self._of

    def __getitem__(self, integers: Tensor) -> Quantized:
        return self._of[integers]

    def note(self, integers: Tensor, x: Tensor, scale: Tensor, zero_point: Tensor | None) -> None:
        """Remembers what `integers` were made of, where one constant scale of 8 bits did."""
        parameters = _scalars(scale, zero_point, integers.dtype)
        if parameters is None or integers.dtype not in (INT8, UINT8) or x.value is not None:
            return
        quantized = Quantized(x, *parameters)
        if max(map(abs, quantized.limits)) <= WIDEST:
            self._of[integers] = quantized

    def rounded(self, integers: Tensor, b: Builder) -> Tensor:
        """What `integers` stand for: the float32 tensor behind a FAKE_QUANT."""
        if integers not in self._rounded:
            quantized = self._of[integers]
            low, high = quantized.limits
            fake = b.FAKE_QUANT(quantized.x, min=low, max=high, num_bits=BITS)
            self._rounded[integers] = fake
        return self._rounded[integers]

    def dequantized(
        self, node: Node, b: Builder, x: Tensor, scale: Tensor, zero_point: Tensor | None
    ) -> Tensor | None:
        """What integers stand for; None where they have to be computed with as integers."""
        if x.value is not None:
            return self._constant(node, b, x, scale, zero_point)
        parameters = _scalars(scale, zero_point, x.dtype)
        if x in self and parameters is not None and self[x].has(*parameters):
            return self.rounded(x, b)
        return None

    def _constant(
        self, node: Node, b: Builder, x: Tensor, scale: Tensor, zero_point: Tensor | None
    ) -> Tensor | None:
        """Dequantized weights, which know the range that their integers have."""
        if x.dtype not in CONSTANTS or scale.value is None or scale.dtype != np.float32:
            return None
        zeros = np.zeros(1, x.dtype) if zero_point is None else zero_point.value
        if zeros is None:
            return None
        scales = scale.value.ravel()
        zeros = zeros.ravel()
        if (scale.rank or 0) > 1 or {scales.size, zeros.size} - {1, scales.size}:
            return None
        axis = weights_axis(node, x) if scales.size > 1 else 0
        shape = [-1 if i == axis else 1 for i in range(x.data.ndim)] if scales.size > 1 else []
        offsets = zeros.astype(np.float32).reshape(shape if zeros.size > 1 else [])
        steps = x.data.astype(np.float32) - offsets
        result = b.constant(steps * scales.reshape(shape))
        is_symmetric = np.abs(steps).max(initial=0) <= LARGEST
        if x.dtype.itemsize == 1 and is_symmetric:
            high = np.float32(LARGEST) * scales
            result.fake_quant = FakeQuantized(-high, high, axis, BITS, True)
        elif x.dtype.itemsize == 1 and x.data.ndim > 1:
            self.asymmetric.append(node.name)
        return result

    def moved(
        self, node: Node, b: Builder, lowering: Callable[..., Any], quantize: Callable[..., Any]
    ) -> tuple[Any, ...] | None:
        """The integers that a node moves, moved as what they stand for; None for other nodes."""
        integers = next(iter(node.inputs), None)
        if node.domain or node.type not in SAME_SCALE or integers is None or integers not in self:
            return None
        if node.type == "MaxPool" and node.n_outputs != 1:
            return None
        quantized = self[integers]
        results = lowering(node.with_inputs(self.rounded(integers, b), *node.inputs[1:]), b)
        results = results if isinstance(results, tuple | list) else (results,)
        parameters = b.constant(quantized.scale), b.constant(quantized.zero_point)
        return tuple(quantize(node, b, result, *parameters) for result in results)

    def warn(self) -> None:
        """Warns of weights that are stored in other integers than the source's."""
        if self.asymmetric:
            warnings.warn(
                f"the weights of {len(self.asymmetric)} nodes, first '{self.asymmetric[0]}', have "
                f"zero points or steps below -{LARGEST}, which TFLite's int8 kernels do not take; "
                "they are quantized again, symmetrically: quantize the source with symmetric int8 "
                "weights to keep its integers",
                stacklevel=caller(),
            )


def weights_axis(node: Node, x: Tensor) -> int:
    """The dimension of weights with a scale for each index."""
    if node.type == "DequantizeLinear":
        axis = node.attr("axis", 1)
    else:
        axis = 0 if node.type.endswith("Conv") or node.attr("transB", 0) else -1
    return axis % (x.rank or 1)


def _scalars(
    scale: Tensor, zero_point: Tensor | None, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray] | None:
    """Scale and zero point where both are constant scalars, else None."""
    if scale.value is None or scale.value.size != 1 or scale.dtype != np.float32:
        return None
    if zero_point is None:
        return scale.value.reshape(()), np.zeros((), dtype)
    if zero_point.value is None or zero_point.value.size != 1:
        return None
    return scale.value.reshape(()), zero_point.value.reshape(())
