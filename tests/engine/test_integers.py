"""Requantization, rounding of reals and sums of integers against exact arithmetic in Python."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import fixedpoint, quantization, quantized_gemm
from flatlite.engine.families.multipliers import quantize_multiplier
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

FEW = settings(max_examples=60)
INTEGER_TYPES = ("int8", "uint8", "int16")
SMALL = st.integers(1, 4)
SCALE = st.floats(2.0**-40, 2.0**20)
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1


def run(build, x, out, dealt=False):
    """What `build(program, bound x, out)` computes, in one part or many."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program, x_buffer = Program(), bound(x.shape, x.dtype)
        build(program, x_buffer, out)
        program.keep(out)
        program.close({x_buffer: x})
        program.run()
        return program.array(out).copy()


def half_up(value):
    return floor(value + Fraction(1, 2))


def half_away(value):
    return half_up(value) if value >= 0 else -half_up(-value)


def wrapped(value):
    return (value - LOWEST) % (1 << 32) + LOWEST


def narrow(value, scale):
    """The product rounded to 31 bits, then by the right shift."""
    multiplier, shift = quantize_multiplier(scale)
    left, right = max(shift, 0), max(-shift, 0)
    first = half_up(Fraction(wrapped(value << left) * multiplier, 1 << 31))
    return half_away(Fraction(first, 1 << right))


def wide(value, scale):
    """The product with 15 bits of the multiplier, rounded once."""
    multiplier, shift = quantize_multiplier(scale)
    short = min((multiplier + (1 << 15)) >> 16, 0x7FFF)
    return wrapped(half_up(Fraction(value * short, 1) / Fraction(2) ** (15 - shift)))


def exact(value, scale):
    """What is beyond int32 is the lowest number, as x86 makes integers of floats."""
    result = half_away(Fraction(float(value) * scale))
    return result if LOWEST <= result <= HIGHEST else LOWEST


@FEW
@given(st.data())
@pytest.mark.parametrize(
    ("rounding", "definition", "sums"),
    [
        ("round_half_away", narrow, np.int32),
        ("round_int64_half_up", wide, np.int64),
        ("exact", exact, np.int32),
    ],
)
def test_requantize(rounding, definition, sums, data):
    dtype = (
        "int16" if rounding == "round_int64_half_up" else data.draw(st.sampled_from(INTEGER_TYPES))
    )
    n, most = data.draw(SMALL), 1 << 40 if rounding == "round_int64_half_up" else HIGHEST
    numbers = st.integers(-most, most) | st.integers(-999, 999)
    values = np.array(data.draw(st.lists(numbers, min_size=n, max_size=5 * n)), sums)
    values = values[: len(values) // n * n].reshape(-1, n)
    top = 2.0**-8 if rounding == "round_int64_half_up" else 2.0**20
    scales = np.array(data.draw(st.lists(st.floats(2.0**-34, top), min_size=n, max_size=n)))
    zero, known = data.draw(st.integers(-128, 255)), np.iinfo(dtype)
    limits = (known.min, known.max - data.draw(st.integers(0, 9)))
    scheme = quantization.Quantized(scales, (0, 0, zero), limits, sums, rounding)
    out = arena(values.shape, dtype)
    got = run(lambda p, x, out: scheme.requantize(p, x, None, None, out), values, out)
    want = [
        [definition(int(v), float(s)) for v, s in zip(row, scales, strict=True)] for row in values
    ]
    wraps = wrapped if rounding == "exact" else int
    clipped = [[min(max(wraps(v + zero), limits[0]), limits[1]) for v in row] for row in want]
    np.testing.assert_array_equal(got, clipped)


@FEW
@given(st.integers(LOWEST, HIGHEST), SCALE)
def test_scaled_arrays(value, scale):
    assert fixedpoint.multiply_by_quantized_multiplier(
        np.array([value]), *quantize_multiplier(scale)
    )[0] == narrow(value, scale)


@FEW
@given(SCALE)
def test_fixed_scale_is_near(scale):
    multiplier, shift = quantize_multiplier(scale)
    if shift > -31 and multiplier:
        assert 1 << 30 <= multiplier < 1 << 31
        assert (
            abs(Fraction(multiplier) * Fraction(2) ** (shift - 31) / Fraction(scale) - 1) <= 2**-31
        )


@pytest.mark.parametrize("scale", [0.0, 2.0**-33, 1e-300])
def test_scale_too_small_counts_as_0(scale):
    assert quantize_multiplier(scale) == (0, 0)


@pytest.mark.parametrize(("scale", "shift"), [(2.0**30, 31), (2.0**31, 0), (2.0**33, 2)])
def test_of_a_shift_too_large_five_bits_count(scale, shift):
    """LiteRT leaves it to the processor, which shifts int32 so."""
    assert quantize_multiplier(scale) == (1 << 30, shift)


def test_exp_is_near():
    values = -np.arange(0, 1 << 31, 999_983)
    got = fixedpoint.exp_on_negative_values(values) / 2**31
    np.testing.assert_allclose(got, np.exp(values / 2**26), rtol=0, atol=1e-6)


def test_inverse_root_is_near():
    values = [0, 1, 2, 3, 255, 65025, (1 << 29) + 1, HIGHEST]
    for value, inverse, places in zip(values, *fixedpoint.inverse_sqrt(values), strict=True):
        assert inverse * 2.0 ** (-31 - places) == pytest.approx(max(value, 1) ** -0.5, rel=2e-5)


@FEW
@given(st.data())
@pytest.mark.parametrize("asymmetric", [False, True])
def test_reals_to_8_bits(asymmetric, data):
    shape = (data.draw(SMALL), data.draw(st.integers(1, 20)))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.normal(data.draw(st.sampled_from([0, 3, -3])), 1, shape).astype(np.float32)
    x[0] *= data.draw(st.sampled_from([0, 1, 1e-20, 1e30]))
    scheme, scales = quantization.Hybrid(np.ones(1), asymmetric, (0.0, 0.0)), []
    out = arena(shape, np.int16)

    def build(program, x_buffer, out):
        built, row_scales = scheme.int16_input(program, x_buffer, shape[0])
        sums = arena(shape, np.int32)
        program.call(
            "plain_int.subtract_zero_point",
            built.ravel(),
            out.ravel(),
            split=out.size,
            zero_point=0,
        )
        program.keep(row_scales)
        scales.append((program, row_scales, sums))

    got = run(build, x, out)
    program, built, _ = scales[0]
    step = program.array(built)[:, None]
    reach = np.abs(x).max(1, keepdims=True)
    extremes = np.maximum(x.max(1), 0) - np.minimum(x.min(1), 0)
    width = extremes[:, None] / 255 if asymmetric else reach / 127
    np.testing.assert_allclose(step, np.where(width > 0, width, 1), rtol=1e-6)
    assert (np.abs(got.astype(np.float64) * step - x) <= 0.51 * step * (1 + asymmetric)).all()
    assert not (got[x == 0]).any()


def centred(random, *shape):
    return random.integers(-255, 256, shape).astype(np.int16)


@FEW
@given(st.data())
def test_matmul(data):
    m, k, n = (data.draw(st.integers(1, 9)) for _ in range(3))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    sums = data.draw(st.sampled_from([np.int32, np.int64]))
    a, b, bias = centred(random, 2, m, k), centred(random, k, n), random.integers(-9, 9, n)
    known = np.iinfo(np.int16)
    scheme = quantization.Quantized(np.ones(1), (0, 0, 0), (known.min, known.max), sums, "exact")

    def build(program, x, out):
        start = constant(bias.astype(sums))
        quantized_gemm.matmul(program, x, constant(b), start, out, scheme=scheme)

    want = np.clip(a.astype(np.int64) @ b + bias, known.min, known.max)
    for dealt in (False, True):
        out = arena((2, m, n), np.int16)
        np.testing.assert_array_equal(run(build, a, out, dealt), want)


@FEW
@given(st.data())
def test_conv2d(data):
    groups, depth, n = data.draw(SMALL), data.draw(SMALL), data.draw(SMALL)
    taps, stride = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    dilation, before = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x, weights = centred(random, 2, 7, 6, groups * depth), centred(random, groups * n, *taps, depth)
    shape = (2, data.draw(SMALL), data.draw(SMALL), groups * n)
    known = np.iinfo(np.int16)
    scheme = quantization.Quantized(
        np.ones(1), (0, 0, 0), (known.min, known.max), np.int32, "exact"
    )
    padded = np.pad(x.astype(np.int64), [(0, 0), (9, 40), (9, 40), (0, 0)])
    want = np.zeros(shape, np.int64)
    for y, c in np.ndindex(shape[1:3]):
        for i, j in np.ndindex(taps):
            pixel = padded[
                :,
                9 + y * stride[0] - before[0] + i * dilation[0],
                9 + c * stride[1] - before[1] + j * dilation[1],
            ].reshape(2, groups, depth)
            filters = weights[:, i, j].reshape(groups, n, depth).astype(np.int64)
            want[:, y, c] += np.einsum("bgd,gnd->bgn", pixel, filters).reshape(2, -1)

    def build(program, x_buffer, out):
        quantized_gemm.conv2d(
            program, x_buffer, constant(weights), None, out,
            Sliding(stride, before, dilation), scheme=scheme, groups=groups,
        )  # fmt: skip

    for dealt in (False, True):
        got = run(build, x, arena(shape, np.int16), dealt)
        np.testing.assert_array_equal(got, np.clip(want, known.min, known.max))
