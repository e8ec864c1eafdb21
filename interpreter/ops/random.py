"""RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL, MULTINOMIAL, STABLEHLO_RNG_BIT_GENERATOR.

Seeds that are both 0 give other numbers each time. Any others give the stream of TFLite's kernels,
which goes on from invoke to invoke and begins anew when the operator is prepared again.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine import philox
from ...engine.philox import Philox
from ...engine.sizes import is_plain
from ...schema.dtypes import tf_name
from ..checks import check_result_size, required
from ..plan.node import NeedsValue
from ..plan.substitution import small_floats
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan.node import DynamicResult, Node

_NUMBERS = {"RANDOM_UNIFORM": philox.uniform, "RANDOM_STANDARD_NORMAL": philox.normal}
_THREEFRY = 2
_WORDS = tuple(map(np.dtype, ("int32", "uint32", "int64", "uint64")))
_GROUP = 4  # numbers of one counter
_PER_COUNTER = 2  # of float64
_BLOCK = 1 << 20  # numbers made at once
_PER_SAMPLE = 2 * 256  # counters that TensorFlow leaves out for each sample of MULTINOMIAL


@op(*_NUMBERS)
def random(node: Node) -> DynamicResult:
    """Numbers in [0, 1), or normal ones, of the shape that the input holds."""
    (shape,) = required(node, 1)
    node.require(
        shape.ndim == 1 and shape.dtype == np.int32,
        "the shape must be int32 of one dimension, got "
        f"{tf_name(shape.dtype)} of shape {shape.shape}",
    )
    if not is_plain(shape.size):
        raise NeedsValue(0)
    stream = _stream(node)
    known = [None] * shape.size if shape.value is None else node.sizes(0)

    def run(shape: np.ndarray) -> list[np.ndarray]:
        node.require((shape >= 0).all(), f"sizes must not be negative, got {shape.tolist()}")
        count = prod(shape.tolist())
        check_result_size(node, shape.tolist(), np.dtype(np.float32))
        numbers = np.empty(count, np.float32)
        for first, n in _blocks(node, count):
            numbers[first : first + n] = _NUMBERS[node.kind](stream, n, numbers.dtype)
            stream.skip(-(-n // _GROUP))
        return [numbers.reshape(shape)]

    return node.dynamic_result(run, [tuple(known)])


@op("MULTINOMIAL")
@small_floats
def multinomial(node: Node) -> DynamicResult:
    """For each row of `logits` as many classes as the second input says, as likely as exp(logit).

    Source: Categorical sampling by the inverse of the cumulative distribution, in float64.
    """
    logits, count = required(node, 2)
    node.require(logits.ndim == 2, f"logits must have 2 dimensions, got shape {logits.shape}")
    node.require(logits.dtype == np.float32, f"logits must be float32, got {tf_name(logits.dtype)}")
    node.require(logits.shape[1] > 0, f"there must be a class, got logits of {logits.shape}")
    node.require(
        count.size == 1 and count.dtype == np.int32,
        "the number of samples must be one int32, got "
        f"{tf_name(count.dtype)} of shape {count.shape}",
    )
    dtype, stream = node.outputs[0].dtype or np.int64, _stream(node)
    columns = None if count.value is None else node.sizes(1)[0]

    def run(logits: np.ndarray, count: np.ndarray) -> list[np.ndarray]:
        samples, rows = int(count.ravel()[0]), len(logits)
        node.require(samples >= 0, f"the number of samples must not be negative, got {samples}")
        check_result_size(node, (rows, samples), np.dtype(dtype))
        totals = np.cumsum(_weights(logits), axis=1)
        classes = np.empty(rows * samples, dtype)
        for first, n in _blocks(node, rows * samples):
            words = stream.advanced(first // _PER_COUNTER)
            chances = philox.uniform(words, n, np.dtype(np.float64))
            for row in range(first // samples, -(-(first + n) // samples)):
                begin, end = max(row * samples - first, 0), min((row + 1) * samples - first, n)
                drawn = chances[begin:end] * totals[row, -1]
                classes[first + begin : first + end] = np.searchsorted(totals[row], drawn, "right")
        stream.skip(rows * -(-samples // _GROUP) * _GROUP * _PER_SAMPLE)
        return [classes.reshape(rows, samples)]

    return node.dynamic_result(run, [(logits.shape[0], columns)])


@op("STABLEHLO_RNG_BIT_GENERATOR")
def rng_bit_generator(node: Node) -> DynamicResult:
    """The state after the input, and the random bits of Philox or Threefry that come from it.

    The state is uint64: a key, a counter and, of Philox, the counter's upper half, which is the
    key where it is left out.
    """
    (state,) = required(node, 1)
    algorithm = int(node.options.algorithm)
    node.require(0 <= algorithm <= _THREEFRY, f"algorithm must be 0 to 2, got {algorithm}")
    sizes = (2,) if algorithm == _THREEFRY else (2, 3)
    node.require(
        state.ndim == 1 and state.size in sizes and state.dtype == np.uint64,
        f"the state must be uint64 of size {sizes}, got "
        f"{tf_name(state.dtype)} of shape {state.shape}",
    )
    node.require(len(node.outputs) == 2, f"must have 2 results, the model has {len(node.outputs)}")
    shape, dtype = node.outputs[1].shape, node.outputs[1].dtype
    if shape is None or dtype is None or dtype not in _WORDS:
        name = "no type" if dtype is None else tf_name(dtype)
        node.fail(f"the result must be declared as integers of 32 or 64 bits, got {name} {shape}")
    n_words = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize // 4
    width = 2 if algorithm == _THREEFRY else _GROUP
    n_counters = -(-n_words // width)

    def run(state: np.ndarray) -> list[np.ndarray]:
        check_result_size(node, (n_counters, width), np.dtype(np.uint64))
        key, counter, *_ = numbers = [int(word) for word in state]
        if algorithm == _THREEFRY:
            with np.errstate(over="ignore"):
                words = philox.threefry(key, np.arange(n_counters, dtype=np.uint64) + state[1])
        else:
            upper = numbers[-1 if len(numbers) == 3 else 0] << 64
            n_first = min(n_counters, 2**64 - counter)  # from there on the lower half begins anew
            words = np.concatenate(
                [
                    Philox.at(key, upper | counter).words(np.arange(n_first)),
                    Philox.at(key, upper).words(np.arange(n_counters - n_first)),
                ]
            )
        after = state.copy()
        after[1] = (counter + n_counters) % 2**64
        bits = words.ravel()[:n_words].astype(np.uint32).view(dtype)
        return [after, bits.reshape(shape)]

    return node.dynamic_result(run, [state.shape, shape])


def _blocks(node: Node, count: int) -> Iterator[tuple[int, int]]:
    """Where each block of `count` numbers begins, and how many it has: a shape may ask for minutes.

    Raises what ends a run before its end.
    """
    for first in range(0, count, _BLOCK):
        if node.scope is not None:
            node.scope.control.check()
        yield first, min(_BLOCK, count - first)


def _weights(logits: np.ndarray) -> np.ndarray:
    """exp(logit - the largest) of each row; 0 for those that are not finite."""
    finite = np.isfinite(logits)
    largest = np.where(finite, logits, np.finfo(np.float32).min).max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        return np.where(finite, np.exp(logits.astype(np.float64) - largest), 0.0)


def _stream(node: Node) -> Philox:
    return Philox(int(node.options.seed), int(node.options.seed2))
