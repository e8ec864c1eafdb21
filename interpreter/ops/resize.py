"""RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR: images of another size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.resizing import bilinear
from ...engine.sizes import negative
from ...schema.dtypes import tf_name
from ..checks import rank, required, required_input
from ..plan.substitution import moves_any, small_floats
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand


_INTEGERS: Sequence[type] = (np.int8, np.int16)
_SUPPORTED: Sequence[type] = (np.float32, np.uint8, *_INTEGERS)


@op("RESIZE_NEAREST_NEIGHBOR")
@moves_any
def resize_nearest(node: Node) -> Emit:
    """Each pixel of the result is the nearest one of the input."""
    x, out = _images(node, 0)
    align, half = bool(node.options.align_corners), bool(node.options.half_pixel_centers)

    def emit(program: Program) -> None:
        if out.size:
            program.call(
                "resize.nearest",
                x,
                out,
                split=out.shape[0] * out.shape[1],
                scale_h=_scale(x.shape[1], out.shape[1], align),
                scale_w=_scale(x.shape[2], out.shape[2], align),
                offset=0.5 if half else 0.0,
                align_corners=align,
            )

    return emit


@op("RESIZE_BILINEAR")
@small_floats
def resize_bilinear(node: Node) -> Emit:
    """Each pixel of the result is a weighted mean of the four around its place in the input."""
    x, out = _images(node, 1)
    align, half = bool(node.options.align_corners), bool(node.options.half_pixel_centers)
    node.require(not (align and half), "align_corners and half_pixel_centers must not both be set")
    node.require(x.dtype in _SUPPORTED, f"{tf_name(x.dtype)} is not supported")
    kernel, scale = "resize.bilinear", _scale
    more = {"rounding": 0.5 if x.is_integer else 0.0}
    if x.dtype in _INTEGERS:
        kernel = "resize.bilinear_int8" if x.dtype == np.int8 else "resize.bilinear_integer"
        scale, more = _scale_integer, {}

    def emit(program: Program) -> None:
        if out.size and x.is_float:
            scales = [scale(*sizes, align) for sizes in zip(x.shape, out.shape, strict=True)]
            bilinear(program, x, out, scales[1:3], half)
        elif out.size:
            program.call(
                kernel,
                x,
                out,
                split=out.shape[0] * out.shape[1],
                scale_h=scale(x.shape[1], out.shape[1], align),
                scale_w=scale(x.shape[2], out.shape[2], align),
                half=half,
                **more,
            )

    return emit


def _images(node: Node, least: int) -> tuple[Operand, Operand]:
    """The input and the result of the size that the second input says, each `least` or more."""
    (x,) = required(node, 1)
    rank(node, "input", x, 4)
    size = node.sizes(1)
    node.require(
        required_input(node, 1).shape == (2,) and not negative(n - least for n in size),
        f"the size must be two numbers of {least} or more, got {size}",
    )
    node.require(
        min(x.shape[1:3]) > 0, f"the input must have rows and columns, got shape {x.shape}"
    )
    return x, node.result((x.shape[0], *size, x.shape[3]), x.dtype)


def _scale(before: int, after: int, align: bool) -> float:
    """Steps in the input for one step in the result, in float32 as TFLite divides."""
    if align and after > 1:
        before, after = before - 1, after - 1
    return float(np.float32(before) / np.float32(after))


def _scale_integer(before: int, after: int, align: bool) -> int:
    """`_scale` in steps of 1 / 1024, rounded to nearest."""
    if align and after > 1:
        before, after = before - 1, after - 1
    return (1024 * before + after // 2) // after
