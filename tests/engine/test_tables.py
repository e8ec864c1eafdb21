"""Functions of a byte by tables, for each kind of vectors."""

import numpy as np
import pytest

from flatlite.engine.families.elementwise import look_up
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("lookup",)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_look_up(monkeypatch, vectors, dtype, size):
    """Whole vectors and tails, in memory that ends where it ends, however the items are dealt."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    random = np.random.default_rng(size)
    x, table = (random.integers(0, 256, n).astype(np.uint8).view(dtype) for n in (size, 256))
    program, fed = Program(guard=True), bound(x.shape, dtype)
    inner, out = arena(x.shape, dtype), arena(x.shape, dtype)
    program.call("copy.copy", fed, inner, split=size)
    look_up(program, inner, constant(table), out)
    program.keep(out)
    program.close({fed: x})
    program.run()
    np.testing.assert_array_equal(program.array(out), table[x.view(np.uint8)])
