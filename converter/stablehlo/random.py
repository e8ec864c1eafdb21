"""StableHLO's random numbers without a state, by TF's operations that have none either."""

from __future__ import annotations

from ...graph.core.graph import Tensor
from ...schema.errors import ConverterError
from ...schema.mlir.module import Enum, Operation
from .registry import writes
from .shapes import dtype_at
from .writer import Writer, attribute

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
