"""Depthwise convolution of integers: the vectors against the plain kernels, bit for bit."""

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine import tiling
from flatlite.engine.families import depthwise_i8, quantization, quantized_gemm
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("depthwise_i8",)
IN_BYTES = "slow"
SOME = settings(max_examples=30)
SIZE, STEP = st.integers(1, 40), st.integers(1, 3)


def numbers(dtype, *shape, most=None):
    random, known = np.random.default_rng(shape), np.iinfo(dtype)
    low, high = (known.min, known.max) if most is None else (-most, most)
    return random.integers(low, high, shape, endpoint=True).astype(dtype)


def run(scheme, sliding, x, weights, bias, shape, dtype, *, plain=False, dealt=False, guard=False):
    """The result, and the kernels that took part."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        if plain:
            patch.setattr(depthwise_i8, "fits", lambda *_: False)
            patch.setattr(depthwise_i8, "in_strips", lambda *_: True)
        program = Program(guard=guard)
        fed, out = bound(x.shape, x.dtype), arena(shape, dtype)
        middle = fed
        if guard:  # memory that ends where it ends
            middle = arena(x.shape, x.dtype)
            program.call("copy.copy", fed.ravel(), middle.ravel(), split=x.size)
        constants = [constant(weights), None if bias is None else constant(bias)]
        quantized_gemm.depthwise(program, middle, *constants, out, sliding, scheme=scheme)
        program.keep(out)
        program.close({fed: x})
        program.run()
        return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)]


@st.composite
def layers(draw):
    """A layer: shape of x, taps, channels of the result, how it slides, shape of the result."""
    channels, width = draw(SIZE), draw(st.sampled_from([1, 2, 3, 3, 4, 5, 5]))
    taps = draw(st.integers(1, 5)), width
    stride = draw(STEP), draw(STEP)
    dilation = draw(st.sampled_from([(1, 1), (1, 1), (2, 3)]))
    sizes = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    n = channels * draw(st.sampled_from([1, 1, 2, 5]))
    spans = definitions.spans(sizes, taps, stride, dilation, "SAME")
    sliding = Sliding(stride, tuple(before for _, before, _ in spans), dilation)
    x_shape = (draw(st.integers(1, 2)), *sizes, channels)
    return x_shape, taps, n, sliding, (x_shape[0], *(count for count, _, _ in spans), n)


def is_fast(names, x_shape, taps, n, sliding, shape):
    """Whether one of the kernels that should do a layer is among `names`."""
    modules = {name.partition(".")[0] for name in names}
    if x_shape[3] > 1 or depthwise_i8.in_strips(taps, sliding):
        return "depthwise_i8" in modules
    return bool({"gemm_i8", "gemm_i16"} & modules)  # as filters of a convolution


KINDS = {
    "int8": ("int8", "round_half_away", np.int32),
    "uint8": ("uint8", "round_half_away", np.int32),
    "exact": ("int8", "exact", np.int32),
    "int16": ("int16", "round_int64_half_up", np.int64),
}


@SOME
@given(layers(), st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_stored(vectors, kind, layer, data):
    dtype, rounding, sums = KINDS[kind]
    x_shape, taps, n, sliding, shape = layer
    x, known = numbers(dtype, *x_shape), np.iinfo(dtype)
    weights = numbers("uint8" if dtype == "uint8" else "int8", *taps, n)
    size = {"int16": 1 << 33}.get(kind, 1 << data.draw(st.sampled_from([4, 14, 30])))
    bias = numbers(sums, n, most=size) if data.draw(st.booleans()) else None
    spread = 2.0 ** data.draw(st.sampled_from([-18, -9, 0])) / (1 << 8 if kind == "int16" else 1)
    random = np.random.default_rng(n)
    scales = random.uniform(0.1, 1, n if data.draw(st.booleans()) else 1) * spread
    zero_points = (0, 0, 0)
    if kind != "int16":
        middle = data.draw(st.integers(0, 255)) if dtype == "uint8" else 0
        zero_points = (int(x.flat[0]), middle, data.draw(st.integers(known.min, known.max)))
    scheme = quantization.Quantized(scales, zero_points, (known.min, known.max - 3), sums, rounding)
    arguments = (scheme, sliding, x, weights, bias, shape, dtype)
    got, names = run(*arguments)
    assert is_fast(names, *layer)
    np.testing.assert_array_equal(got, run(*arguments, dealt=True)[0])
    plain, names = run(*arguments, plain=True)
    assert "plain_int.depthwise" in names
    np.testing.assert_array_equal(got, plain)


@SOME
@given(layers(), st.booleans(), st.booleans())
def test_hybrid(vectors, layer, asymmetric, has_bias):
    x_shape, taps, n, sliding, shape = layer
    random = np.random.default_rng(n)
    x, bias = (random.normal(size=s).astype(np.float32) for s in (x_shape, n))
    weights, scales = numbers("int8", *taps, n), random.uniform(0.1, 1, n).astype(np.float32)
    scheme = quantization.Hybrid(scales, asymmetric, (-40.0, np.inf))
    arguments = (scheme, sliding, x, weights, bias if has_bias else None, shape, np.float32)
    got, names = run(*arguments)
    assert is_fast(names, *layer)
    plain, _ = run(*arguments, plain=True)
    np.testing.assert_array_equal(got, plain)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("channels", [8, 19, 33, 100])
@pytest.mark.parametrize(("taps", "stride"), tiling.SQUARE_STRIPS)
def test_square_filters(vectors, taps, stride, channels, hybrid):
    """Rows shorter than a filter, of one strip and of several; any number of blocks of channels."""
    for columns in (1, 2, 7, 17, 30):
        sizes = 6, columns
        spans = definitions.spans(sizes, (taps, taps), (stride, stride), (1, 1), "SAME")
        sliding = Sliding((stride, stride), tuple(before for _, before, _ in spans))
        shape = (2, *(count for count, _, _ in spans), channels)
        x, weights = numbers("int8", 2, *sizes, channels), numbers("int8", taps, taps, channels)
        bias, dtype = numbers("int32", channels, most=1 << 14), "int8"
        scales = np.random.default_rng(channels).uniform(2.0**-11, 2.0**-9, channels)
        scheme = quantization.Quantized(scales, (5, 0, -3), (-128, 120), np.int32)
        if hybrid:
            scheme = quantization.Hybrid(scales.astype(np.float32), True, (-40.0, 90.0))
            x, bias, dtype = x.astype(np.float32) / 7, bias.astype(np.float32) / 4096, np.float32
        arguments = (scheme, sliding, x, weights, bias, shape, dtype)
        got, _ = run(*arguments)
        assert np.unique(got).size > min(got.size, 20) / 2
        np.testing.assert_array_equal(got, run(*arguments, plain=True)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_results_end_where_their_memory_ends(vectors, kind):
    """Tails are neither read nor written past the arrays."""
    dtype, rounding, sums = KINDS[kind]
    for channels in (1, 5, 19, 33):
        x, weights = numbers(dtype, 1, 6, 7, channels), numbers("int8", 3, 3, channels)
        scheme = quantization.Quantized(np.array([2.0**-9]), (0, 0, 0), (0, 100), sums, rounding)
        sliding = Sliding(before=(1, 1))
        arguments = (scheme, sliding, x, weights, None, x.shape, dtype)
        guarded, _ = run(*arguments, guard=True)
        np.testing.assert_array_equal(guarded, run(*arguments, plain=True)[0])
