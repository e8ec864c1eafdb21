"""The integers that weights are stored as, and their scales."""

from __future__ import annotations

import numpy as np

from ...schema.quantization import Quantization
from ..ir.graph import Op, Tensor
from ..lowering.fake_quant import FakeQuantized, nudged
from .rules import weights_code
from .scales import of_constant, of_ranges, of_weights
from .scheme import Integers, Scheme


def weights_of(
    op: Op, tensor: Tensor, axis: int | None, scheme: Scheme, per_tensor: frozenset[str]
) -> tuple[Quantization, Integers]:
    """The scales of the weights of `op`, and the integers they are stored as.

    Args:
        op: the operator.
        tensor: its weights, float32.
        axis: the dimension with a scale for each index; None for one scale.
        scheme: how they are stored.
        per_tensor: the kinds of operators whose weights have one scale.
    """
    code = weights_code(op.kind, scheme) if scheme.hybrid else scheme.weights
    if tensor.fake_quant is not None:
        return of_fake_quantized(op, tensor, code, scheme)
    integers = scheme.weight_integers(code)
    if not integers.symmetric:
        return of_constant(tensor.data, integers), integers
    if tensor.grid is not None and lies_on(tensor, integers):
        return tensor.grid, integers
    is_per_axis = axis is not None and scheme.axis and op.kind not in per_tensor
    return of_weights(tensor.data, axis if is_per_axis else None, integers), integers


def lies_on(tensor: Tensor, integers: Integers) -> bool:
    """Whether the elements of a constant are steps of its grid that these integers reach."""
    return lies_within(tensor.data, tensor.grid, integers.high)


def of_fake_quantized(
    op: Op, tensor: Tensor, code: str, scheme: Scheme
) -> tuple[Quantization, Integers]:
    """The scales of the ranges that FakeQuant stated.

    Weights of four bits are stored as such where there is a kernel, else as int8 of the same
    scale.
    """
    stated: FakeQuantized = tensor.fake_quant
    if stated.bits <= 4 and code == "i8":
        code = weights_code(op.kind, scheme, "i4")
    integers = scheme.weight_integers(code)
    if not integers.symmetric:
        low, high = float(stated.low.min()), float(stated.high.max())
        low, high = nudged(low, high, stated.bits, stated.narrow)
        integers = integers._replace(low=int(stated.narrow))
        return of_ranges([low], [high], integers, 0), integers
    largest = 2 ** (stated.bits - 1) - 1
    used = integers._replace(low=-largest, high=largest)
    grid = None if stated.narrow else grid_around_zero(stated)
    if grid is not None and lies_within(tensor.data, grid, largest):
        return grid, used
    return of_ranges(stated.low, stated.high, used, stated.axis), integers


def grid_around_zero(stated: FakeQuantized) -> Quantization | None:
    """The steps on which FakeQuant rounds, one more below 0 than above; None for other ranges."""
    n_steps = 2**stated.bits - 1
    scales = (stated.high.astype(np.float64) - stated.low) / n_steps
    if not scales.all() or (np.floor(-stated.low / scales + 0.5) != (n_steps + 1) // 2).any():
        return None
    return Quantization(scales.astype(np.float32).tolist(), [0] * scales.size, stated.axis)


def lies_within(array: np.ndarray, grid: Quantization, largest: int) -> bool:
    """Whether no element is more than `largest` steps from 0."""
    scale, _ = grid.shaped(array.ndim)
    return bool((np.abs(array) <= (largest + 0.5) * scale).all())
