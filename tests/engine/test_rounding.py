"""Reals as small integers: the vectors against the plain kernels, bit for bit."""

from itertools import product

import numpy as np
import pytest

from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("quantize_f32",)


@pytest.fixture(scope="module", autouse=True)
def many_parts():
    """Rows are dealt out in parts, however short they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        yield


def run(x, outs, call):
    """What `call(program, x, *outs)` fills, from memory that ends where it ends."""
    program, fed = Program(guard=True), bound(x.shape, np.float32)
    inner, buffers = arena(x.shape, np.float32), [arena(shape, dtype) for shape, dtype in outs]
    program.call("copy.copy", fed.ravel(), inner.ravel(), split=x.size)
    call(program, inner, *buffers)
    for buffer in buffers:
        program.keep(buffer)
    program.close({fed: x})
    program.run()
    return [program.array(buffer).copy() for buffer in buffers]


def near_halves(scale, n):
    """Numbers whose quotients lie on halves of whole numbers and next to them."""
    whole = np.arange(-n, n + 1, dtype=np.float32) * np.float32(0.5)
    x = [whole * scale]
    for _ in range(3):
        x.append(np.nextafter(x[-1], np.float32(np.inf)))
        x.insert(0, np.nextafter(x[0], np.float32(-np.inf)))
    return np.concatenate(x)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quantize(vectors, dtype):
    """Quotients near halves and all kinds of others, among them nan and infinities."""
    limits, random = np.iinfo(dtype), np.random.default_rng(2)
    n = 600 if limits.bits == 8 else 70000
    zeros = [0] if dtype == "int16" else [7, limits.min, limits.max]
    strange = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 1e-45])
    scales = np.float32([0.1, 1 / 3, 1.0, 0.0235294, 1e-5, 3e7, *2 ** random.normal(size=4)])
    for scale, zero in product(scales, zeros):
        x = np.concatenate([near_halves(scale, n), random.normal(size=999) * scale * n, strange])
        x, ends = x.astype(np.float32), [(x.shape, dtype)]

        def plain(program, x, out, scale=scale, zero=zero):
            numbers = constant(np.float32([scale])), constant(np.int32([zero]))
            x, out = (buffer.reshape((1, 1, buffer.size)) for buffer in (x, out))
            span = {"low": int(limits.min), "high": int(limits.max)}
            program.call("quantize.quantize", x, *numbers, out, split=1, **span)

        def call(program, x, out, scale=scale, zero=zero):
            reach = 4.0 * (1 << limits.bits) * float(scale)
            numbers = {"scale": float(scale), "reach": reach, "zero": int(zero)}
            program.call(f"quantize_f32.to_{dtype}", x, out, split=x.size, **numbers)

        np.testing.assert_array_equal(run(x, ends, call)[0], run(x, ends, plain)[0])
