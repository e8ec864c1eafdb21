"""Convolutions of 3x3 by fewer products against float64 and the direct form."""

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import gemm, winograd_f32
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.families.products import NO_CLAMP
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("gemm_f32", "winograd_f32")
IN_WIDE_VECTORS = True
BOUND = 1e-6  # of the sum of the terms' sizes, where these are of like size
WORSE = 4  # times the direct form's error, as root mean square
KERNELS = ["winograd_f32.inputs", "gemm_f32.matmul", "winograd_f32.results"]


def run(x, weights, bias, shape, before, clamp, *, threads=1):
    """What the convolution gives, and its kernels."""
    program = Program(threads=threads)
    fed, out = bound(x.shape, x.dtype), arena(shape, np.float32)
    operands = constant(weights), None if bias is None else constant(bias)
    gemm.conv2d(program, fed, *operands, out, Sliding(before=before), clamp=clamp)
    program.keep(out)
    program.close({fed: x})
    program.run()
    return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)]


def direct(*arguments):
    """`run` by the sums of all products."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd_f32, "fits", lambda *_: False)
        got, names = run(*arguments)
    assert names in (["gemm_f32.convolution"], ["gemm_f32.lines"])
    return got


@settings(max_examples=10)
@given(st.data())
def test_results(vectors, data):
    channels, n = (data.draw(st.integers(16, 40)) for _ in range(2))
    sizes = data.draw(st.integers(11, 17)), data.draw(st.integers(15, 33))
    padding = data.draw(st.sampled_from(["SAME", "VALID"]))
    clamp = data.draw(st.sampled_from([(-np.inf, np.inf), (0.0, 6.0)]))
    random = np.random.default_rng(channels)
    x = random.normal(size=(data.draw(st.integers(1, 2)), *sizes, channels)).astype(np.float32)
    weights = random.normal(size=(n, 3, 3, channels)).astype(np.float32)
    bias = random.normal(size=n).astype(np.float32) if data.draw(st.booleans()) else None
    filters, others = np.moveaxis(weights, 0, -1), ((1, 1), (1, 1), padding, 1)
    exact = definitions.convolution(x, filters, bias, *others)
    terms = definitions.convolution(np.abs(x), np.abs(filters), None, *others)
    before = (1, 1) if padding == "SAME" else (0, 0)
    arguments = (x, weights, bias, exact.shape, before, clamp)
    got, names = run(*arguments)
    assert names == KERNELS
    assert (np.abs(got - np.clip(exact, *clamp)) <= BOUND * terms).all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        patch.setattr(winograd_f32, "_BLOCK_BYTES", 1)  # the fewest rows of tiles at a time
        in_blocks, names = run(*arguments, threads=2)
    assert len(names) > len(KERNELS) or exact.shape[0] == 1
    np.testing.assert_array_equal(in_blocks, got)


@pytest.mark.parametrize("channels", [16, 64, 256])
def test_the_error_is_like_the_direct_form(channels):
    random = np.random.default_rng(channels)
    x = np.maximum(random.normal(size=(1, 16, 16, channels)), 0).astype(np.float32)
    weights = (random.normal(size=(32, 3, 3, channels)) / (3 * channels**0.5)).astype(np.float32)
    filters = np.moveaxis(weights, 0, -1)
    exact = definitions.convolution(x, filters, None, (1, 1), (1, 1), "SAME", 1)
    arguments = (x, weights, None, exact.shape, (1, 1), NO_CLAMP)
    errors = [np.sqrt(((y - exact) ** 2).mean()) for y in (run(*arguments)[0], direct(*arguments))]
    assert errors[0] <= WORSE * errors[1]


def test_what_it_is_for():
    weights, out = (
        constant(np.zeros((32, 3, 3, 32), np.float32)),
        arena((1, 12, 12, 32), np.float32),
    )
    assert winograd_f32.fits(weights, out, Sliding())
    assert not winograd_f32.fits(weights, out, Sliding(stride=(2, 2)))
    assert not winograd_f32.fits(weights, out, Sliding(dilation=(2, 1)))
    assert not winograd_f32.fits(weights, arena((1, 10, 10, 32), np.float32), Sliding())
    assert not winograd_f32.fits(arena((32, 3, 3, 32), np.float32), out, Sliding())
