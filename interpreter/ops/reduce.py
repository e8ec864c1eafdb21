"""SUM, MEAN, REDUCE_*, ARG_MAX, ARG_MIN, CUMSUM: along some of the dimensions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import reductions
from ...engine.families.layout import fill
from ...engine.families.multipliers import (
    ALL_OF_SHIFT,
    INT64_SHIFT,
    cyclic_shift,
    quantize_multiplier,
)
from ...engine.plan.buffer import constant
from ...schema.dtypes import tf_name
from ..checks import limits_of, one_scale, required, supported
from ..plan.substitution import small_floats
from ..registry import op
from .quantized import is_quantized

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Protocol

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ...schema.quantization import Quantization
    from ..plan.node import Node, Operand, Prepared

    class Reduction(Protocol):
        """What adds the instructions of a reduction to a program."""

        def __call__(
            self, program: Program, *, x: Buffer, axes: Collection[int], out: Buffer
        ) -> None:
            """Adds out = the reduction of `x` over the dimensions `axes`."""
            ...


NUMBERS: Sequence[type] = (np.float32, np.int32, np.int64)
_QUANTIZED: Sequence[type] = (np.int8, np.uint8, np.int16)
REDUCTIONS = {
    "SUM": ("add", NUMBERS),
    "MEAN": ("mean", NUMBERS),
    "REDUCE_PROD": ("multiply", NUMBERS),
    "REDUCE_MAX": ("maximum", (*NUMBERS, *_QUANTIZED, np.bool_)),
    "REDUCE_MIN": ("minimum", (*NUMBERS, *_QUANTIZED, np.bool_)),
    "REDUCE_ANY": ("maximum", (np.bool_,)),
    "REDUCE_ALL": ("minimum", (np.bool_,)),
}
"""Operator -> what engine/families/reductions.py calls it, dtypes."""
_OF_BOOLS = {"SUM": "maximum", "REDUCE_PROD": "minimum"}
"""Operator -> what a sum or product of bools is, as a bool."""


_POSITIONS: Sequence[type] = (np.int32, np.int64)
_COMPARED: Sequence[type] = (np.float32, np.int32, np.int8, np.uint8, np.bool_)


@op(*REDUCTIONS)
@small_floats
def reduce(node: Node) -> Prepared:
    """The dimensions `axes` of `x` folded into one value each, kept as 1 or left out."""
    x, axes = required(node, 2)[0], node.constant(1)
    kind, dtypes = REDUCTIONS[node.kind]
    if axes.dtype != np.int32:
        node.fail(f"axes must be int32, got {tf_name(axes.dtype)}")
    folded: set[int] = set()
    if x.ndim:  # a scalar has nothing to fold, whatever the axes say
        folded = {node.axis("axes", x, int(axis)) for axis in axes.ravel()}
    out_shape = [1 if i in folded else n for i, n in enumerate(x.shape)]
    if not node.options.keep_dims:
        out_shape = [n for i, n in enumerate(x.shape) if i not in folded]
    if x.dtype == np.bool_ and node.kind in _OF_BOOLS:
        kind, dtypes = _OF_BOOLS[node.kind], (np.bool_,)
    quantized = is_quantized(x)
    if not quantized and x.dtype not in dtypes:
        if x.itemsize > 1 or node.kind == "REDUCE_PROD":
            from . import other_numbers

            if other_numbers.takes(node, other_numbers.REDUCTIONS, x):
                return other_numbers.reduction(node, x, folded, tuple(out_shape))
        supported(node, (x,), dtypes)
    out = node.result(out_shape, x.dtype)
    add_rows = (
        _quantized(node, kind, x, out) if quantized else partial(reductions.reduce, kind=kind)
    )

    def emit(program: Program) -> None:
        add_rows(program, x=x, axes=folded, out=out)

    return emit


def _quantized(node: Node, kind: str, x: Operand, out: Operand) -> Reduction:
    """The family's function for quantized integers, with its numbers."""
    before, after = one_scale(node, x)
    low, high = limits_of(x.dtype)
    if kind in ("maximum", "minimum"):
        node.require(
            before.scale == after.scale and before.zero_point == after.zero_point,
            "input and output must have one scale and zero point",
        )
        return partial(reductions.reduce, kind=kind)
    if kind == "multiply" and x.dtype == np.uint8:
        node.fail("quantized uint8 is not supported")
    if not x.size:
        return _empty_reduction(kind, after, x.dtype)
    count = max(x.size // max(out.size, 1), 1)
    ends = {"out_zero": after.zero_point, "low": low, "high": high}
    if kind == "add":
        with np.errstate(all="ignore"):
            scale = np.float32(before.scale) / np.float32(after.scale)
            bias = -np.float32(before.zero_point) * scale * np.float32(count)
        numbers = {"scale": float(scale), "bias": float(bias), **ends}
        return partial(reductions.sum_quantized, kernel="round_sums", **numbers)
    if kind == "mean":
        multiplier, shift = quantize_multiplier(before.scale / after.scale, ALL_OF_SHIFT)
        extra_bits = min(count.bit_length() - 1, 32, 31 + shift)
        numbers = {"multiplier": (multiplier << extra_bits) // count, **ends}
        numbers["shift"] = cyclic_shift(shift - extra_bits)
        offset = before.zero_point * count
        return partial(reductions.sum_quantized, kernel="rescale_sums", offset=offset, **numbers)
    scale = before.scale / after.scale ** (1 / count)
    multiplier, shift = quantize_multiplier(scale, INT64_SHIFT)
    numbers = {"x_zero": before.zero_point, "multiplier": multiplier, "shift": shift, **ends}
    return partial(reductions.multiply_quantized, **numbers)


def _empty_reduction(kind: str, quantization: Quantization, dtype: np.dtype) -> Reduction:
    """What fills the result of an empty tensor: a sum of 0, a product of 1.

    A mean has no value: it is quantized to 0, as TFLite leaves it.
    """
    quantized = 0
    if kind != "mean":
        real = 1 / quantization.scale if kind == "multiply" else 0.0
        low, high = limits_of(dtype)
        quantized = min(max(round(real) + quantization.zero_point, low), high)
    value = np.array([quantized], dtype)

    def add_rows(program: Program, x: Buffer, axes: Collection[int], out: Buffer) -> None:
        if out.size:
            fill(program, constant(value), out)

    return add_rows


@op("ARG_MAX", "ARG_MIN")
@small_floats
def arg_max(node: Node) -> Prepared:
    """Where along the axis the largest or smallest element comes first."""
    x, axes = required(node, 2)
    node.require(axes.size == 1, f"axis must be one number, got shape {axes.shape}")
    axis = node.axis("axis", x, node.integers(1)[0])
    others = None
    if x.dtype not in _COMPARED:
        from . import other_numbers

        others = other_numbers if other_numbers.is_ordered(x) else None
    node.require(x.dtype in _COMPARED or others, f"{tf_name(x.dtype)} is not supported")
    node.require(x.shape[axis] > 0, f"dimension {axis} must not be empty, got shape {x.shape}")
    shape, dtype = x.shape[:axis] + x.shape[axis + 1 :], node.outputs[0].dtype
    if dtype is not None and dtype not in _POSITIONS:
        node.fail(f"result must be an integer, got {tf_name(dtype)}")
    if others is not None:
        return others.position(node, axis, shape, dtype or np.dtype(np.int64))
    out = node.result(shape)
    source, smallest = x.view(np.uint8) if x.dtype == np.bool_ else x, node.kind == "ARG_MIN"

    def emit(program: Program) -> None:
        if out.size:
            reductions.position(program, source, axis, out, smallest=smallest)

    return emit


@op("CUMSUM")
@small_floats
def cumsum(node: Node) -> Prepared:
    """Sums of the elements up to each one, without it if `exclusive`, from the end if `reverse`."""
    x, axes = required(node, 2)
    node.require(axes.size == 1, f"axis must be one number, got shape {axes.shape}")
    axis = node.axis("axis", x, node.integers(1)[0])
    if x.dtype.type not in NUMBERS:
        from . import other_numbers

        if other_numbers.is_number(x):
            exclusive, reverse = bool(node.options.exclusive), bool(node.options.reverse)
            return other_numbers.running_total(node, x, axis, exclusive, reverse)
    supported(node, (x,), NUMBERS)
    out = node.result(x.shape, x.dtype)
    options = {name: getattr(node.options, name) for name in ("exclusive", "reverse")}

    def emit(program: Program) -> None:
        if x.size:
            reductions.cumulate(program, x, axis, out, **options)

    return emit
