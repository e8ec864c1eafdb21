"""Random numbers, drawn when the model runs: TFLite's streams, which are not ONNX Runtime's."""

from __future__ import annotations

import numpy as np

from ..lowering.moves import as_int32, as_type, like
from .registry import lower

DRAWS = {
    "RandomNormal": "RANDOM_STANDARD_NORMAL",
    "RandomNormalLike": "RANDOM_STANDARD_NORMAL",
    "RandomUniform": "RANDOM_UNIFORM",
    "RandomUniformLike": "RANDOM_UNIFORM",
}


def seeds(node):
    """The seed of a node, as fields of a builtin's options; 0 draws others in each run."""
    return {"seed": int(node.attr("seed", 0.0)), "seed2": 0}


@lower(*DRAWS)
def random(node, b):
    """Normal numbers, or numbers between two limits, of a shape or that of a tensor."""
    if node.type.endswith("Like"):
        x = node.inputs[0]
        shape = b.SHAPE(x, out_type="INT32")
        dtype = node.dtype("dtype") if node.attr("dtype", None) else x.dtype
    else:
        shape = b.constant(np.asarray(node.attr("shape"), np.int32))
        dtype = node.dtype("dtype") if node.attr("dtype", None) else np.dtype(np.float32)
    y = getattr(b, DRAWS[node.type])(shape, **seeds(node))
    if "Normal" in node.type:
        offset, scale = node.attr("mean", 0.0), node.attr("scale", 1.0)
    else:
        offset = node.attr("low", 0.0)
        scale = node.attr("high", 1.0) - offset
    y = y if scale == 1 else b.MUL(y, like(y, scale, b))
    y = b.ADD(y, like(y, offset, b)) if offset else y
    return as_type(y, dtype, b)


@lower("Multinomial")
def multinomial(node, b):
    """For each row of logarithms some classes, as likely as they say."""
    dtype = node.dtype("dtype") if node.attr("dtype", None) else np.dtype(np.int32)
    count = as_int32(b.constant(np.int32(node.attr("sample_size", 1))), b)
    return b.MULTINOMIAL(node.inputs[0], count, dtype=dtype, **seeds(node))


@lower("Bernoulli")
def bernoulli(node, b):
    """1 as often as each element says, else 0."""
    (p,) = node.inputs
    u = b.RANDOM_UNIFORM(b.SHAPE(p, out_type="INT32"), **seeds(node))
    dtype = node.dtype("dtype") if node.attr("dtype", None) else p.dtype
    return as_type(b.LESS(u, as_type(p, np.float32, b)), dtype, b)
