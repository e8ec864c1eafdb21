"""Sums of small integers, for each kind of vectors."""

import numpy as np
import pytest

from flatlite.engine.families.reductions import totals
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

MODULES = ("sum_i8",)
IN_BYTES = True


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((3, 7, 21), {1}),
        ((2, 5, 4, 16), {1, 2}),
        ((4, 37), {1}),
        ((11, 70), {1}),
        ((2, 1), {1}),
        ((2, 3, 1), {0}),
        ((70000, 2), {0}),
        ((1, 70000), {1}),
    ],
)
def test_totals(vectors, dtype, shape, axes):
    """Of random numbers and of the largest, in memory that ends where it ends."""
    known, random = np.iinfo(dtype), np.random.default_rng(3)
    for low in (known.min, known.max):
        x = random.integers(low, known.max, shape, endpoint=True).astype(dtype)
        program, fed = Program(guard=True), bound(shape, dtype)
        inner = arena(shape, dtype)
        program.call("copy.copy", fed.ravel(), inner.ravel(), split=x.size)
        sums = totals(program, inner, axes)
        program.keep(sums)
        program.close({fed: x})
        program.run()
        exact = x.sum(tuple(axes), dtype=np.int64)
        np.testing.assert_array_equal(program.array(sums).ravel(), exact.ravel())
