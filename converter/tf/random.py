"""Random numbers: TFLite's streams of the same seeds, which are not TensorFlow's."""

from math import erf

import numpy as np

from ...graph.ops.stateless_random import PHILOX, XLA_THREEFRY
from ..lowering import formulas
from ..lowering.moves import as_int32, as_type, dimension, like
from .registry import lower

DRAWS = {"RandomUniform": "RANDOM_UNIFORM", "RandomStandardNormal": "RANDOM_STANDARD_NORMAL"}
DEVIATIONS = 2.0
"""From the mean, beyond which a truncated normal number is not."""


def seeds(node):
    """The seeds of an operation, as fields of a builtin's options."""
    return {"seed": node.attr("seed"), "seed2": node.attr("seed2")}


def uniform(node, shape, b):
    """Numbers in [0, 1)."""
    return b.RANDOM_UNIFORM(as_int32(shape, b), **seeds(node))


@lower(*DRAWS)
def random(node, b):
    """Numbers in [0, 1), or normal ones."""
    numbers = getattr(b, DRAWS[node.type])(as_int32(node.inputs[0], b), **seeds(node))
    return as_type(numbers, node.attr("dtype"), b)


@lower("RandomUniformInt")
def random_uniform_int(node, b):
    """Whole numbers in [low, high): low + floor(u * (high - low))."""
    shape, low, high = node.inputs
    extent = as_type(b.SUB(high, low), np.float32, b)
    steps = as_type(b.FLOOR(b.MUL(uniform(node, shape, b), extent)), low.dtype, b)
    return b.ADD(b.MINIMUM(steps, b.SUB(b.SUB(high, low), like(low, 1, b))), low)


@lower("TruncatedNormal")
def truncated_normal(node, b):
    """Normal numbers at most two deviations from 0: sqrt(2) * erfinv(u * erf(sqrt(2)))."""
    u = uniform(node, node.inputs[0], b)
    centred = b.SUB(b.MUL(u, like(u, 2, b)), like(u, 1, b))
    scaled = b.MUL(centred, like(u, erf(DEVIATIONS / np.sqrt(2)), b))
    numbers = b.MUL(formulas.erfinv(b, scaled), like(u, np.sqrt(2), b))
    return as_type(numbers, node.attr("dtype"), b)


@lower("RandomShuffle")
def random_shuffle(node, b):
    """The slices in the order of random numbers."""
    (x,) = node.inputs
    n = dimension(x, 0, b)
    numbers = uniform(node, b.RESHAPE(n, np.array([1], np.int32)), b)
    _, order = b.TOPK_V2(numbers, n)
    return b.GATHER(x, order, axis=0)


@lower("Multinomial")
def multinomial(node, b):
    """For each row of logits some classes, as likely as exp(logit)."""
    logits, count = node.inputs
    dtype = node.attr("output_dtype")
    return b.MULTINOMIAL(logits, as_int32(count, b), dtype=dtype, **seeds(node))


@lower("StatelessRandomGetAlg")
def algorithm(node, b):
    """The algorithm that random numbers by seed are of."""
    return b.constant(np.int32(PHILOX))


@lower("XlaRngBitGenerator")
def rng_bit_generator(node, b):
    """The state after one, and random bits of Philox or Threefry."""
    algorithm = "THREEFRY" if int(node.constant(0)) == XLA_THREEFRY else "PHILOX"
    sizes = node.constant(2).tolist()
    dtype = np.dtype(node.attr("dtype"))
    node.require(dtype.itemsize >= 4, f"its numbers must have 32 or 64 bits, got {dtype}")
    return b.op(
        "STABLEHLO_RNG_BIT_GENERATOR",
        node.inputs[1],
        n_outputs=2,
        algorithm=algorithm,
        dtype=[np.uint64, dtype],
        shapes=[node.inputs[1].dims, sizes],
    )
