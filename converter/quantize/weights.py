"""The integers that weights are stored as, and their scales."""

from __future__ import annotations

import warnings

import numpy as np

from ...schema.quantization import Quantization
from ..callers import caller
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


def largest_scale(op: Op, tensor: Tensor, scheme: Scheme) -> float:
    """The largest scale that the weights of `op`, a float32 constant, are stored with."""
    integers = scheme.weight_integers(weights_code(op.kind, scheme))
    stated: FakeQuantized | None = tensor.fake_quant
    if stated is None:
        low, high = float(tensor.data.min(initial=0.0)), float(tensor.data.max(initial=0.0))
        n_steps = integers.high - integers.low
    else:
        low, high = min(float(stated.low.min()), 0.0), max(float(stated.high.max()), 0.0)
        n_steps = min(2**stated.bits - 1, integers.high - integers.low)
    scale = max(-low, high) / (n_steps // 2) if integers.symmetric else (high - low) / n_steps
    return scale if tensor.grid is None else max(scale, float(tensor.grid.scales.max()))


def lies_on(tensor: Tensor, integers: Integers) -> bool:
    """Whether the elements of a constant are steps of its grid that these integers reach."""
    return lies_within(tensor.data, tensor.grid, integers.high)


def of_fake_quantized(
    op: Op, tensor: Tensor, code: str, scheme: Scheme
) -> tuple[Quantization, Integers]:
    """The scales of the ranges that FakeQuant stated.

    Weights of four bits are stored as such where there is a kernel, else as int8 of the same
    scale. Ranges that are not symmetric keep their steps where those count from 0 in the type of
    the scheme, or where the kernel takes a zero point; others are made symmetric, with a warning.
    """
    stated: FakeQuantized = tensor.fake_quant
    widest = scheme.weight_integers(code)
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
    is_symmetric = bool((stated.low == -stated.high).all())
    grid = None if is_symmetric and stated.narrow else grid_from_zero(stated)
    for fitting in (used,) if is_symmetric else (used, integers, widest):
        if grid is not None and lies_within(tensor.data, grid, fitting.high):
            return grid, fitting
    if is_symmetric:
        return of_ranges(stated.low, stated.high, used, stated.axis), integers
    takes_zero_point = op.kind == "FULLY_CONNECTED" and scheme.activations == widest.code == "i8"
    if takes_zero_point and not stated.is_per_axis:
        ends = float(stated.low[0]), float(stated.high[0])
        low, high = nudged(*ends, stated.bits, stated.narrow)
        shifted = Integers("i8", int(stated.narrow) - 128, 127, symmetric=False)
        return of_ranges([low], [high], shifted, 0), shifted
    warnings.warn(
        f"{op.kind} {op.origin!r}: the range that its weights were fake-quantized in must be "
        f"symmetric, got {stated.low.min():g} to {stated.high.max():g}; it is made so, with larger "
        "steps than those of training, as LiteRT takes no zero point there",
        stacklevel=caller(),
    )
    return of_ranges(stated.low, stated.high, used, stated.axis), integers


def grid_from_zero(stated: FakeQuantized) -> Quantization | None:
    """The steps on which FakeQuant rounds, counted from 0; None for an empty range."""
    n_steps = 2**stated.bits - 1 - stated.narrow
    scales = (stated.high.astype(np.float64) - stated.low) / n_steps
    if not (scales > 0).all():
        return None
    return Quantization(scales.astype(np.float32).tolist(), [0] * scales.size, stated.axis)


def lies_within(array: np.ndarray, grid: Quantization, largest: int) -> bool:
    """Whether no element is more than `largest` steps from 0."""
    scale, _ = grid.shaped(array.ndim)
    return bool((np.abs(array) <= (largest + 0.5) * scale).all())
