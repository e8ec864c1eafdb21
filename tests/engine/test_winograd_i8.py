"""Convolutions of 3x3 of int8 by fewer products against the sums of all, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import quantization, quantized_gemm, winograd_f32, winograd_i8
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("winograd_i8", "gemm_i8", "gemm_i8_input", "quantize_rows")


def run(x, weights, bias, shape, scheme, before, *, threads=1):
    """What the convolution gives, and its kernels."""
    dtype = np.float32 if isinstance(scheme, quantization.Hybrid) else x.dtype
    program = Program(threads=threads)
    fed, out = bound(x.shape, x.dtype), arena(shape, dtype)
    operands = constant(weights), None if bias is None else constant(bias)
    quantized_gemm.conv2d(program, fed, *operands, out, Sliding(before=before), scheme=scheme)
    program.keep(out)
    program.close({fed: x})
    program.run()
    return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)]


def check(*arguments, kernel):
    """The results are those of all products, however they are dealt out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd_i8, "multiplies_bytes", lambda: False)
        got, names = run(*arguments)
        assert names[-1] == kernel
        patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        patch.setattr(winograd_f32, "_BLOCK_BYTES", 1)  # the fewest rows of tiles at a time
        np.testing.assert_array_equal(run(*arguments, threads=2)[0], got)
        patch.setattr(winograd_i8, "multiplies_bytes", lambda: True)
        want, names = run(*arguments)
    assert kernel not in names
    np.testing.assert_array_equal(got, want)


@st.composite
def shapes(draw, batch):
    """Sizes of an input, how many filters, the result's shape, and the padding before."""
    sizes, pad = (draw(st.integers(12, 17)), draw(st.integers(15, 33))), draw(st.integers(0, 1))
    n, channels = draw(st.integers(16, 70)), draw(st.sampled_from([16, 32, 48, 80]))
    results = [size - 2 + 2 * pad for size in sizes]
    return (batch, *sizes, channels), n, (batch, *results, n), (pad, pad)


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_int8(vectors, data):
    shape, n, result, before = data.draw(shapes(data.draw(st.integers(1, 2))))
    dtype = data.draw(st.sampled_from([np.int8, np.int8, np.uint8]))
    limits = np.iinfo(dtype)
    random = np.random.default_rng(n)
    x = np.clip(random.integers(limits.min - 99, limits.max + 100, shape), limits.min, limits.max)
    weights = np.clip(random.integers(-200, 200, (n, 3, 3, shape[3])), -128, 127).astype(np.int8)
    bias = random.integers(-9999, 9999, n).astype(np.int32) if data.draw(st.booleans()) else None
    zeros = [data.draw(st.integers(limits.min, limits.max)) for _ in range(2)]
    scales = random.uniform(0.2, 1, n) / (5000 * shape[3] ** 0.5)
    scales *= data.draw(st.sampled_from([1.0, 2.0**-20, 2.0**9]))
    rounding = data.draw(st.sampled_from(["round_half_away", "exact"]))
    if rounding == "exact":
        scales = np.minimum(scales, 0.5)
    scheme = quantization.Quantized(
        scales, (zeros[0], 0, zeros[1]), (limits.min, limits.max), np.int32, rounding
    )
    check(x.astype(dtype), weights, bias, result, scheme, before, kernel="winograd_i8.results")


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_float32_rounded_to_int8(vectors, data):
    shape, n, result, before = data.draw(shapes(1))
    random = np.random.default_rng(n)
    x = random.normal(data.draw(st.sampled_from([0, 2])), 1, shape).astype(np.float32)
    weights = random.integers(-127, 128, (n, 3, 3, shape[3])).astype(np.int8)
    bias = random.normal(size=n).astype(np.float32) if data.draw(st.booleans()) else None
    clamp = data.draw(st.sampled_from([(-np.inf, np.inf), (0.0, 6.0)]))
    scheme = quantization.Hybrid(random.uniform(0.001, 0.1, n), data.draw(st.booleans()), clamp)
    check(x, weights, bias, result, scheme, before, kernel="winograd_i8.results_float32")


def test_extremes_of_deep_sums():
    """1024 channels of the largest inputs and weights: what overflows on the way is right."""
    x = np.full((1, 12, 12, 1024), 127, np.int8)
    weights = np.full((16, 3, 3, 1024), -128, np.int8)
    scheme = quantization.Quantized(np.full(16, 4e-7), (-128, 0, 3), (-128, 127))
    check(x, weights, None, (1, 12, 12, 16), scheme, (1, 1), kernel="winograd_i8.results")


def test_weights_with_a_zero_point_take_another_way():
    weights, out = constant(np.zeros((32, 3, 3, 32), np.int8)), arena((1, 12, 12, 32), np.int8)
    x = arena((1, 12, 12, 32), np.int8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(winograd_i8, "multiplies_bytes", lambda: False)
        for weights_zero, fits in ((0, True), (3, False)):
            scheme = quantization.Quantized(np.full(1, 0.01), (0, weights_zero, 0), (-128, 127))
            assert winograd_i8.fits(x, weights, None, out, scheme, Sliding()) == fits
