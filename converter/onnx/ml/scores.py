"""What classifiers of ai.onnx.ml share: scores after a transformation, and labels of the best."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...lowering.moves import int32s, like, reshaped

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
NEAR_ZERO = 1e-7
"""Scores within this are zeros to SOFTMAX_ZERO."""
PROBIT_FACTOR = 0.147
"""Of Winitzki's approximation of the inverse error function."""


def transform_of(node):
    """The name that `post_transform` is."""
    name = node.attr("post_transform", "NONE")
    name = TRANSFORMS[name] if isinstance(name, int) else name
    node.require(name in TRANSFORMS, f"post_transform must be one of {TRANSFORMS}, got '{name}'")
    return name


def transformed(node, b, scores):
    """The scores as `post_transform` says."""
    return {
        "NONE": lambda x: x,
        "LOGISTIC": b.LOGISTIC,
        "SOFTMAX": lambda x: b.SOFTMAX(x, beta=1.0),
        "SOFTMAX_ZERO": lambda x: _softmax_zero(b, x),
        "PROBIT": lambda x: _probit(b, x),
    }[transform_of(node)](scores)


def _softmax_zero(b, x):
    """The softmax in which a score of 0 stays 0 times exp(-largest), that is 0."""
    largest = b.REDUCE_MAX(x, int32s([1]), keep_dims=True)
    is_zero = b.LESS_EQUAL(b.ABS(x), like(x, NEAR_ZERO, b))
    powers = b.EXP(b.SUB(x, largest))
    powers = b.SELECT_V2(is_zero, b.MUL(x, b.EXP(b.NEG(largest))), powers)
    total = b.SUM(powers, int32s([1]), keep_dims=True)
    is_empty = b.EQUAL(total, like(x, 0, b))
    shares = b.DIV(powers, b.SELECT_V2(is_empty, like(x, 1, b), total))
    return b.SELECT_V2(is_empty, like(x, 0.5, b), shares)


def _probit(b, x):
    """sqrt(2) * the inverse error function of 2 x - 1, by Winitzki's approximation."""
    y = b.SUB(b.MUL(x, like(x, 2, b)), like(x, 1, b))
    one = like(x, 1, b)
    log = b.LOG(b.MUL(b.SUB(one, y), b.ADD(one, y)))
    half = b.ADD(b.MUL(log, like(x, 0.5, b)), like(x, 2 / (np.pi * PROBIT_FACTOR), b))
    scaled_log = b.MUL(log, like(x, 1 / PROBIT_FACTOR, b))
    root = b.SQRT(b.SUB(b.SQRT(b.SUB(b.SQUARE(half), scaled_log)), half))
    return b.MUL(b.MUL(b.SIGN(y), root), like(x, np.sqrt(2), b))


def labels_of(node) -> Any:
    """The classes: an array of int64 or of texts."""
    for name in ("classlabels_ints", "classlabels_int64s"):
        labels = node.attr(name, None)
        if labels:
            return np.asarray(labels, np.int64)
    labels = node.attr("classlabels_strings", None)
    return texts(labels) if labels else None


def texts(values):
    """A list of bytes as TFLite has strings."""
    array = np.empty(len(values), object)
    array[:] = [v if isinstance(v, bytes) else str(v).encode() for v in values]
    return array


def best_label(b, scores, labels):
    """The class of the largest score of each row."""
    dtype = np.dtype(np.int32)
    index = b.ARG_MAX(scores, np.int32(1), dtype=dtype, output_type=b.tensor_type(dtype))
    return b.GATHER(b.constant(labels), index)


def with_complement(b, scores, complement):
    """Two columns of one: what the first class gets, and the score."""
    return b.CONCATENATION(complement(scores), scores, axis=1)


def matrix(b, x):
    """A matrix of float32: a vector is one row."""
    x = x if x.dtype == np.float32 else b.CAST(x, dtype=np.float32)
    return reshaped(x, (1, -1), b) if x.rank == 1 else x
