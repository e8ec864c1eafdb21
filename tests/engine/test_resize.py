"""Resizing of bytes: the vectors against the plain kernel, bit for bit."""

import numpy as np

from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

MODULES = ("resize",)


def test_bilinear(monkeypatch, vectors):
    """Larger and smaller, with and without half pixels, in memory that ends where it ends."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    random = np.random.default_rng(6)
    for shape, size in (((2, 5, 7, 3), (11, 4)), ((1, 9, 6, 35), (3, 20)), ((1, 1, 4, 64), (5, 9))):
        x = random.integers(-128, 127, shape, endpoint=True).astype(np.int8)
        x[..., 0] = -128
        for half in (0, 1):
            program, fed = Program(guard=True), bound(shape, np.int8)
            inner = arena(shape, np.int8)
            program.call("copy.copy", fed.ravel(), inner.ravel(), split=x.size)
            scales = [(1024 * a + b // 2) // b for a, b in zip(shape[1:3], size, strict=True)]
            numbers = {"scale_h": scales[0], "scale_w": scales[1], "half": half}
            outs = []
            for kernel in ("int8", "integer"):
                outs.append(arena((shape[0], *size, shape[3]), np.int8))
                items = shape[0] * size[0]
                program.call(f"resize.bilinear_{kernel}", inner, outs[-1], split=items, **numbers)
                program.keep(outs[-1])
            program.close({fed: x})
            program.run()
            np.testing.assert_array_equal(*map(program.array, outs))
