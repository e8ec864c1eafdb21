"""Pooling of stored integers: the vectors against the plain kernels, bit for bit."""

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import windows
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

MODULES = ("pool_i8",)
SOME = settings(max_examples=40)


def run(kind, x, shape, plain=False, dealt=False, **how):
    """The result and the kernel, in memory that ends where it ends."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        if plain:
            patch.setattr(windows, "fits", lambda *_: False)
        program, fed = Program(guard=True), bound(x.shape, x.dtype)
        inner, out = arena(x.shape, x.dtype), arena(shape, x.dtype)
        program.call("copy.copy", fed.ravel(), inner.ravel(), split=x.size)
        windows.pool(program, kind, inner, out, **how)
        program.keep(out)
        program.close({fed: x})
        program.run()
        return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)][-1]


@SOME
@given(st.data())
@pytest.mark.parametrize("kind", ["average", "maximum"])
def test_pool(vectors, kind, data):
    dtype = data.draw(st.sampled_from(["int8", "uint8", "int16"]))
    size, stride = (tuple(data.draw(st.integers(1, 5)) for _ in "hw") for _ in range(2))
    padding = data.draw(st.sampled_from(["SAME", "VALID"]))
    sizes = [data.draw(st.integers(k if padding == "VALID" else 1, 12)) for k in size]
    channels = data.draw(st.integers(1, 9) | st.sampled_from([16, 37, 64, 70, 150]))
    spans = definitions.spans(sizes, size, stride, (1, 1), padding)
    known, shape = np.iinfo(dtype), (2, *(count for count, _, _ in spans), channels)
    random = np.random.default_rng(channels)
    x = random.integers(known.min, known.max, (2, *sizes, channels), endpoint=True).astype(dtype)
    edge = data.draw(st.integers(0, 40))
    how = {
        "size": size,
        "stride": stride,
        "before": tuple(before for _, before, _ in spans),
        "clamp": (int(known.min) + edge, int(known.max) - edge),
    }
    got, name = run(kind, x, shape, **how)
    assert name == f"pool_i8.{kind}_{dtype}"
    np.testing.assert_array_equal(got, run(kind, x, shape, dealt=True, **how)[0])
    plain, name = run(kind, x, shape, plain=True, **how)
    assert name.startswith("pool.")
    np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_means_of_many_and_of_halves(vectors, dtype):
    """Every sum there is of two numbers, and the largest windows the vectors take."""
    known = np.iinfo(dtype)
    few = np.linspace(known.min, known.max, 256).astype(dtype)
    pairs = np.stack(np.broadcast_arrays(few[:, None], few), -1).reshape(1, -1, 2, 1)
    side = 15 if dtype == "int16" else 150
    large = np.full((1, side, side, 3), known.min, dtype)
    large[..., 1], large[0, ::2, :, 2] = known.max, known.max
    limits = (int(known.min), int(known.max))
    for x, size in ((pairs, (1, 2)), (large, (side, side))):
        how = {"size": size, "stride": (1, 1), "before": (0, 0), "clamp": limits}
        shape = (1, x.shape[1] - size[0] + 1, 1, x.shape[3])
        got, name = run("average", x, shape, **how)
        assert name.startswith("pool_i8.")
        np.testing.assert_array_equal(got, run("average", x, shape, plain=True, **how)[0])
