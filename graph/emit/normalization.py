"""Batch normalization and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ...engine.families.elementwise import broadcast_shape, elementwise
from ...engine.families.reductions import reduce
from ...engine.plan.buffer import arena, constant
from .elementwise import no_limits
from .registry import emit

if TYPE_CHECKING:
    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..session.stage import Site
    from .registry import Emitted

FLOATS = (np.float32,)


class _Formulas:
    """Formulas on rows of channels and on vectors of one number for each channel."""

    def __init__(self, program: Program):
        self._program = program

    def do(self, kind: str, a: Buffer, b: Buffer | float) -> Buffer:
        """`a` and `b` added, subtracted or multiplied."""
        if not isinstance(b, (int, float)):
            shape = broadcast_shape(a.shape, b.shape)
            assert shape is not None
        else:
            shape, b = a.shape, constant(np.array(b, np.float32))
        out = arena(shape, np.float32)
        elementwise(self._program, f"arithmetic.{kind}", (a, b), out, no_limits(out.dtype))
        return out

    def squared_difference(self, rows: Buffer, vector: Buffer) -> Buffer:
        """(rows - vector)**2"""
        out = arena(rows.shape, np.float32)
        elementwise(self._program, "arithmetic.squared_difference", (rows, vector), out)
        return out

    def over_rows(self, kind: str, rows: Buffer) -> Buffer:
        """The sum or mean of each channel."""
        out = arena(rows.shape[1:], np.float32)
        reduce(self._program, kind, rows, (0,), out)
        return out

    def ratio(self, variance: Buffer, epsilon: float) -> Buffer:
        """1 / sqrt(variance + epsilon)"""
        shifted = self.do("add", variance, epsilon)
        out = arena(variance.shape, np.float32)
        self._program.call("unary.rsqrt", shifted.ravel(), out.ravel(), split=out.size)
        return out

    def moved(self, old: Buffer, new: Buffer, factor: float) -> Buffer:
        """Of a moving average, what it becomes."""
        if factor == 1:
            return new
        parts = self.do("multiply", old, 1 - factor), self.do("multiply", new, factor)
        return self.do("add", *parts)


def _rows(x: Buffer, op: Site) -> Buffer | None:
    """The channels of each pixel as a row; None where they are not in the last dimension."""
    if op.get_attr("data_format") not in (b"NHWC", b"NDHWC") or not x.size:
        return None
    return x.reshape((x.size // x.shape[-1], x.shape[-1]))


@emit("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", dtypes=FLOATS)
def batch_norm(
    program: Program,
    op: Site,
    x: Buffer,
    scale: Buffer,
    offset: Buffer,
    mean: Buffer,
    variance: Buffer,
) -> Emitted:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, and the statistics."""
    rows, formulas = _rows(x, op), _Formulas(program)
    if rows is None:
        return None
    new_mean, new_variance = mean, variance
    if op.get_attr("is_training"):
        n, factor = rows.shape[0], cast("float", op.get_attr("exponential_avg_factor"))
        old_mean, old_variance = mean, variance
        mean = formulas.over_rows("mean", rows)
        variance = formulas.over_rows("mean", formulas.squared_difference(rows, mean))
        unbiased = formulas.do("multiply", variance, n / max(n - 1, 1))
        new_mean = formulas.moved(old_mean, mean, factor)
        new_variance = formulas.moved(old_variance, unbiased, factor)
    ratio = formulas.do("multiply", scale, formulas.ratio(variance, op.get_attr("epsilon")))
    scaled = formulas.do("multiply", formulas.do("subtract", rows, mean), ratio)
    y = formulas.do("add", scaled, offset).reshape(x.shape)
    reserved = [arena((0,), np.float32)] if op.type == "FusedBatchNormV3" else []
    return [y, new_mean, new_variance, mean, variance, *reserved]


@emit("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", dtypes=FLOATS)
def batch_norm_grad(
    program: Program,
    op: Site,
    dy: Buffer,
    x: Buffer,
    scale: Buffer,
    mean: Buffer,
    variance: Buffer,
    *reserved: Buffer,
) -> Emitted:
    """The gradients of input, scale and offset, from the statistics that were used."""
    rows, dy_rows, formulas = _rows(x, op), _rows(dy, op), _Formulas(program)
    if rows is None or dy_rows is None:
        return None
    ratio = formulas.ratio(variance, op.get_attr("epsilon"))
    normalized = formulas.do("multiply", formulas.do("subtract", rows, mean), ratio)
    d_offset = formulas.over_rows("add", dy_rows)
    d_scale = formulas.over_rows("add", formulas.do("multiply", dy_rows, normalized))
    dx = dy_rows
    if op.get_attr("is_training"):
        share = 1 / rows.shape[0]
        along = formulas.do("multiply", normalized, formulas.do("multiply", d_scale, share))
        dx = formulas.do("subtract", dx, formulas.do("multiply", d_offset, share))
        dx = formulas.do("subtract", dx, along)
    dx = formulas.do("multiply", dx, formulas.do("multiply", scale, ratio))
    unused = constant(np.zeros((), np.float32))
    return [dx.reshape(x.shape), d_scale, d_offset, unused, unused]
