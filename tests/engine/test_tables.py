"""Functions of a byte by tables, for each kind of vectors."""

import numpy as np
import pytest

from flatlite.engine import build, image, rows
from flatlite.engine.buffer import arena, bound, constant
from flatlite.engine.families.elementwise import look_up
from flatlite.engine.program import Program
from flatlite.engine.target import HOST, SHIPPED, Target

TARGETS = {
    "host": HOST,
    "avx2": next(aim for aim in SHIPPED if aim.cpu == "x86-64-v3"),
    "sse2": Target("x86-64", "x86-64"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_look_up(monkeypatch, target, dtype, size):
    """Whole vectors and tails, in memory that ends where it ends, however the items are dealt."""
    if target != "host":
        made = image.in_memory(*build.compile_flat("tables", TARGETS[target]))
        monkeypatch.setitem(image._images, "tables", made)
    monkeypatch.setattr(rows, "LONG", 0)
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
