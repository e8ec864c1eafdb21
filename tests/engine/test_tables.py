"""Functions of a byte by tables, for each kind of vectors."""

import numpy as np
import pytest

from flatlite.engine.families.elementwise import look_up
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("lookup",)
IN_BYTES = True
ON_AARCH64 = True


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


def rescaled(scale, offset, low=-128, high=127):
    """The table of a change of scale."""
    values = np.arange(256).astype(np.uint8).view(np.int8)
    return np.clip(np.floor(values * scale + offset + 0.5), low, high).astype(np.int8)


LINES = {
    "finer": rescaled(0.8317, 3.2),
    "coarser": rescaled(1.713, -40.7),
    "relu": rescaled(0.6021, 12.4, low=12),
    "shallow": rescaled(0.0319, 0.3),
    "halves": rescaled(0.5, 0),
}
CURVES = {
    "logistic": (256 / (1 + np.exp(-rescaled(1, 0) / 20.0)) - 128).astype(np.int8),
    "falling": rescaled(-0.8317, 3.2),
}


BENT = {
    "bent": np.where(rescaled(1, 0) < 0, rescaled(0.1, 0), rescaled(1, 0)).astype(np.int8),
    "bent_at_zero_point": np.maximum(rescaled(0.21, -4.2), rescaled(0.93, 1.5)),
}


@pytest.mark.parametrize("name", [*LINES, *BENT, *CURVES])
@pytest.mark.parametrize("size", [8192, 8192 + 45])
def test_tables_of_lines(monkeypatch, vectors, name, size):
    """Large operands take a line where the table is one, with the same bits."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    table = (LINES | BENT | CURVES)[name]
    x = np.resize(np.arange(256), size).astype(np.uint8).view(np.int8)
    program, fed = Program(guard=True), bound(x.shape, x.dtype)
    inner, out = arena(x.shape, x.dtype), arena(x.shape, x.dtype)
    program.call("copy.copy", fed, inner, split=size)
    look_up(program, inner, constant(table), out)
    program.keep(out)
    program.close({fed: x})
    program.run()
    np.testing.assert_array_equal(program.array(out), table[x.view(np.uint8)])
    kernel = [name for _, name, _ in program.run(profile=True)][-1]
    assert (kernel == "lookup.look_up") == (name in CURVES)
    if name in BENT:
        assert kernel == "lookup.largest_line"
