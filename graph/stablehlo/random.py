"""StableHLO's random numbers: bits that follow from a state, and numbers that have none."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError
from ...schema.mlir.module import Enum, Operation
from ..core.graph import Tensor
from .attributes import attribute, enumerated
from .registry import writes
from .shapes import dtype_at, known_shape_at
from .writer import Writer

DISTRIBUTIONS = {1: "RandomUniform", 2: "RandomStandardNormal"}
"""TF's operations by the number of a distribution."""


@writes("rng")
def rng(op: Operation, w: Writer) -> Tensor:
    """Numbers between two, or with a mean and a deviation."""
    first, second, shape = w.operands(op)
    distribution, dtype = attribute(op, "rng_distribution"), dtype_at(op.results[0])
    kind = DISTRIBUTIONS.get(distribution.value) if isinstance(distribution, Enum) else None
    if kind is None or (dtype.kind != "f" and kind != "RandomUniform"):
        raise ConverterError(f"{op}: {distribution} of {dtype} has no form in TFLite")
    if dtype.kind != "f":
        return w.add("RandomUniformInt", shape, first, second)
    numbers = w.add(kind, shape, dtype=dtype)
    factor = w.add("Sub", second, first) if kind == "RandomUniform" else second
    return w.add("AddV2", w.add("Mul", numbers, factor), first)


@writes("rng_bit_generator")
def rng_bit_generator(op: Operation, w: Writer) -> list[Tensor]:
    """The state after the operand, and random bits that come from it."""
    algorithm, dtype = enumerated(op, "rng_algorithm"), dtype_at(op.results[1])
    if dtype.itemsize < 4:  # the lowest bits of each word
        results = _bits(op, w, algorithm, np.dtype(np.uint32))
        return [results[0], w.add("Cast", results[1], DstT=dtype)]
    return _bits(op, w, algorithm, dtype)


def _bits(op: Operation, w: Writer, algorithm: int, dtype: np.dtype) -> list[Tensor]:
    shape = known_shape_at(op.results[1])
    return w.add_all(
        "XlaRngBitGenerator",
        w.constant(algorithm, np.int32),
        w.value(op.operands[0]),
        w.constant(shape, np.int32),
        dtype=dtype,
    )
