"""RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL: TFLite's random numbers.

Both seeds 0 give other numbers each time. Any others give the stream that TFLite's kernels give,
which goes on from invoke to invoke and begins anew when the operator is prepared again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...engine import philox
from ...engine.philox import Philox
from ..checks import required
from ..registry import op

if TYPE_CHECKING:
    from ..node import DynamicResult, Node

_NUMBERS = {"RANDOM_UNIFORM": philox.uniform, "RANDOM_STANDARD_NORMAL": philox.normal}
_GROUP = 4  # numbers of one counter
_PER_SAMPLE = 2 * 256  # counters that TensorFlow leaves out for each sample of MULTINOMIAL


@op(*_NUMBERS)
def random(node: Node) -> DynamicResult:
    """Numbers in [0, 1), or normal ones, of the shape that the input holds."""
    (shape,) = required(node, 1)
    node.require(
        shape.ndim == 1 and shape.dtype == np.int32,
        f"the shape must be int32 of one dimension, got {shape.dtype} of shape {shape.shape}",
    )
    stream = _stream(node)
    dims = shape.value
    known = [None] * shape.size if dims is None else node.sizes(0)

    def run(shape: np.ndarray) -> list[np.ndarray]:
        node.require((shape >= 0).all(), f"sizes must not be negative, got {shape.tolist()}")
        count = int(np.prod(shape, dtype=np.int64))
        numbers = _NUMBERS[node.kind](stream, count, np.dtype(np.float32))
        stream.skip(-(-count // _GROUP))
        return [numbers.reshape(shape)]

    return node.dynamic_result(run, [tuple(known)])


@op("MULTINOMIAL")
def multinomial(node: Node) -> DynamicResult:
    """For each row of `logits` as many classes as the second input says, as likely as exp(logit).

    Source: Categorical sampling by the inverse of the cumulative distribution, in float64.
    """
    logits, count = required(node, 2)
    node.require(logits.ndim == 2, f"logits must have 2 dimensions, got shape {logits.shape}")
    node.require(logits.dtype == np.float32, f"logits must be float32, got {logits.dtype}")
    node.require(logits.shape[1] > 0, f"there must be a class, got logits of {logits.shape}")
    node.require(
        count.size == 1 and count.dtype == np.int32,
        f"the number of samples must be one int32, got {count.dtype} of shape {count.shape}",
    )
    dtype, stream = node.outputs[0].dtype or np.int64, _stream(node)
    columns = None if count.value is None else node.sizes(1)[0]

    def run(logits: np.ndarray, count: np.ndarray) -> list[np.ndarray]:
        samples, rows = int(count.ravel()[0]), len(logits)
        node.require(samples >= 0, f"the number of samples must not be negative, got {samples}")
        chances = philox.uniform(stream, rows * samples, np.dtype(np.float64))
        stream.skip(rows * -(-samples // _GROUP) * _GROUP * _PER_SAMPLE)
        totals = np.cumsum(_weights(logits), axis=1)
        found = [
            np.searchsorted(total, chance * total[-1], "right")
            for total, chance in zip(totals, chances.reshape(rows, samples), strict=True)
        ]
        return [np.array(found, dtype).reshape(rows, samples)]

    return node.dynamic_result(run, [(logits.shape[0], columns)])


def _weights(logits: np.ndarray) -> np.ndarray:
    """exp(logit - the largest) of each row; 0 for those that are not finite."""
    finite = np.isfinite(logits)
    largest = np.where(finite, logits, np.finfo(np.float32).min).max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        return np.where(finite, np.exp(logits.astype(np.float64) - largest), 0.0)


def _stream(node: Node) -> Philox:
    return Philox(int(node.options.seed), int(node.options.seed2))
