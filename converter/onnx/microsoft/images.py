"""com.microsoft: images in which pixels are taken from boxes, or put with computed padding."""

from __future__ import annotations

import numpy as np

from ...lowering.moves import as_int32, int32s, reshaped, to_channels_first, to_channels_last
from ..offsets import product
from ..registry import lower
from ..sample import Tap, gathered, linear_taps, pixels_of
from ..term import Term, clip, either, floor, greater, length_of, less, operand_of, where
from ..transpose_conv import conv_transpose
from .fused import DOMAIN, as_onnx


@lower(f"{DOMAIN}CropAndResize")
def crop_and_resize(node, b):
    """Boxes, in parts of the image's size, cut out and resized; a value for what is outside."""
    x, boxes, images = to_channels_last(node.inputs[0], b), *node.inputs[1:3]
    mode, cells = node.attr("mode", "bilinear"), node.constant(3).tolist()
    modes = ("bilinear", "nearest")
    node.require(mode in modes, f"mode must be one of {modes}, got '{mode}'")
    corners = [Term(b, reshaped(c, (-1, 1), b)) for c in b.UNPACK(boxes, axis=1, num=4)]
    taps, outside = [], None
    for axis, count in enumerate(cells):
        last, (first, end) = length_of(b, x, axis + 1) - 1.0, corners[axis::2]
        steps = np.arange(count)[None] / max(count - 1, 1) if count > 1 else np.full((1, 1), 0.5)
        coordinates = (first + (end - first) * steps.astype(np.float32)) * last
        beyond = _along(b, either(less(coordinates, 0.0), greater(coordinates, last)), axis)
        outside = beyond if outside is None else either(outside, beyond)
        near = [(floor(coordinates + 0.5), 1.0)] if mode == "nearest" else linear_taps(coordinates)
        taps.append(
            [
                Tap(
                    _along(b, clip(place, 0.0, last), axis),
                    weight if mode == "nearest" else _along(b, weight, axis),
                )
                for place, weight in near
            ]
        )
    batch = b.MUL(as_int32(images, b), product(b, pixels_of(b, x)))
    values = gathered(b, x, taps, b.RESHAPE(batch, int32s([-1, 1, 1])))
    assert outside is not None
    outside = Term(b, b.EXPAND_DIMS(outside.tensor, np.int32(3)))
    value = float(node.attr("extrapolation_value", 0.0))
    return to_channels_first(operand_of(b, where(outside, value, Term(b, values))), b)


def _along(b, x, axis):
    """[boxes, cells] along the rows or columns of each box."""
    return Term(b, b.EXPAND_DIMS(x.tensor, np.int32(1 if axis else 2)))


@lower(f"{DOMAIN}ConvTransposeWithDynamicPads")
def conv_transpose_with_pads(node, b):
    """A transposed convolution whose padding is an input, which must be constant."""
    x, filters, _, bias = (node.input(i) for i in range(4))
    pads = [0] * (2 * (x.rank - 2)) if node.input(2) is None else node.constant(2).tolist()
    return conv_transpose(as_onnx(node, x, filters, bias, kind="ConvTranspose", pads=pads), b)
