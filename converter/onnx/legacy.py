"""Experimental operators of the first operator sets, which ONNX Runtime still runs."""

from __future__ import annotations

import numpy as np

from ..lowering import formulas
from ..lowering.moves import like
from .registry import lower


@lower("Affine", "Scale")
def affine(node, b):
    """alpha * x + beta; Scale has the factor alone."""
    factor, offset = (
        (node.attr("scale", 1.0), 0.0)
        if node.type == "Scale"
        else (node.attr("alpha", 1.0), node.attr("beta", 0.0))
    )
    x = node.inputs[0]
    scaled = b.MUL(x, like(x, factor, b))
    return b.ADD(scaled, like(x, offset, b)) if offset else scaled


@lower("ScaledTanh")
def scaled_tanh(node, b):
    """alpha * tanh(beta * x)."""
    x = node.inputs[0]
    return b.MUL(b.TANH(b.MUL(x, like(x, node.attr("beta"), b))), like(x, node.attr("alpha"), b))


@lower("ParametricSoftplus")
def parametric_softplus(node, b):
    """alpha * log(exp(beta * x) + 1)."""
    x = node.inputs[0]
    soft = formulas.softplus(b, b.MUL(x, like(x, node.attr("beta"), b)))
    return b.MUL(soft, like(x, node.attr("alpha"), b))


@lower("ImageScaler")
def image_scaler(node, b):
    """x * scale, plus what is added to each channel."""
    x = node.inputs[0]
    bias = np.asarray(node.attr("bias"), x.dtype).reshape(-1, 1, 1)
    return b.ADD(b.MUL(x, like(x, node.attr("scale", 1.0), b)), b.constant(bias))


@lower("Crop")
def crop(node, b):
    """Images without borders: left, top, and right, bottom or what a size leaves of them."""
    left, top, right, bottom = node.attr("border")
    size = node.attr("scale", None)
    ends = [-bottom, -right] if size is None else [top + size[0], left + size[1]]
    end_mask = 3 | sum((end == 0) << i for i, end in enumerate(ends, 2))
    corners = [0, 0, top, left], [0, 0, *ends], [1] * 4
    return b.STRIDED_SLICE(
        node.inputs[0],
        *(np.asarray(corner, np.int32) for corner in corners),
        begin_mask=3,
        end_mask=end_mask,
    )
