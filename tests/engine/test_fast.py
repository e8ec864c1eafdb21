"""The fast kernels against the plain ones and against float64, for each kind of vectors."""

from math import ceil

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import gemm, gemm_f32, winograd_f32
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.families.partition import partition, partition_int8, tile_step
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

BOUND = 1e-6  # of the sum of the terms' sizes
MODULES = ("depthwise_f32", "dots", "gemm_f32", "gemm_f32_packing")
IN_WIDE_VECTORS = True
ON_AARCH64 = True
SIZE, STEP = st.integers(1, 40), st.integers(1, 3)
LARGEST = float(np.finfo(np.float32).max)
LIMITLESS = (-np.inf, np.inf)
LIMITS = st.sampled_from([LIMITLESS, (-LARGEST, LARGEST), (0.0, 6.0)])
CONVOLUTIONS, DEPTHWISE = ("gemm_f32.convolution", "gemm_f32.lines"), ("depthwise_f32.depthwise",)
SOME = settings(max_examples=25)


def numbers(*shape):
    """Normal float32 of very different sizes."""
    random = np.random.default_rng(shape)
    return (random.normal(size=shape) * 10 ** random.uniform(-2, 2, shape)).astype(np.float32)


def run(emit, x, weights, bias, shape, *, plain=False, dealt=False):
    """What `emit(program, x, weights, bias, out)` gives: by plain kernels, or in many parts."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        for name in ("fits_dots", "fits_matmul", "fits_convolution", "fits_depthwise"):
            if plain:
                patch.setattr(gemm_f32, name, lambda *_: False)
        patch.setattr(winograd_f32, "fits", lambda *_: False)  # test_winograd.py has these
        program = Program()
        fed, out = bound(x.shape, x.dtype), arena(shape, np.float32)
        emit(program, fed, constant(weights), None if bias is None else constant(bias), out)
        program.keep(out)
        program.close({fed: x})
        program.run()
        return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)]


def check(emit, shape, exact, terms, clamp, *arrays, kernels):
    """Fast, plain and float64 results agree; the fast one does not depend on the dealing."""
    got, names = run(emit, *arrays, shape)
    assert any(name in kernels for name in names)
    np.testing.assert_array_equal(got, run(emit, *arrays, shape, dealt=True)[0])
    plain, names = run(emit, *arrays, shape, plain=True)
    assert not any(name in kernels for name in names)
    assert (np.abs(got - np.clip(exact, *clamp)) <= BOUND * terms).all()
    assert (np.abs(got - plain) <= 2 * BOUND * terms).all()


def check_conv2d(data, groups, depth, taps, dilation, kernels):
    """Convolutions of filters of `taps` over drawn images."""
    n, stride = data.draw(SIZE), (data.draw(STEP), data.draw(STEP))
    padding, clamp = data.draw(st.sampled_from(["SAME", "VALID"])), data.draw(LIMITS)
    reach = [(k - 1) * d + 1 for k, d in zip(taps, dilation, strict=True)]
    sizes = [data.draw(st.integers(r if padding == "VALID" else 1, 20 + r)) for r in reach]
    x = numbers(data.draw(st.integers(1, 2)), *sizes, groups * depth)
    weights = numbers(groups * n, *taps, depth)
    bias = numbers(groups * n) if data.draw(st.booleans()) else None
    arguments = (stride, dilation, padding, groups)
    filters = np.moveaxis(weights, 0, -1)
    exact = definitions.convolution(x, filters, bias, *arguments)
    terms = definitions.convolution(
        np.abs(x), np.abs(filters), None if bias is None else np.abs(bias), *arguments
    )
    spans = definitions.spans(x.shape[1:3], taps, stride, dilation, padding)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        sliding = Sliding(stride, before, dilation)
        gemm.conv2d(program, *buffers, sliding, groups=groups, clamp=clamp)

    check(emit, exact.shape, exact, terms, clamp, x, weights, bias, kernels=kernels)


@SOME
@given(st.data())
def test_conv2d(vectors, data):
    groups, depth = data.draw(st.integers(1, 3)), data.draw(SIZE)
    taps = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 5))
    dilation = data.draw(STEP), data.draw(STEP)
    is_depthwise = groups > 1 and depth == 1
    kernels = DEPTHWISE if is_depthwise else CONVOLUTIONS
    check_conv2d(data, groups, depth, taps, dilation, kernels)


@SOME
@given(st.data())
def test_conv2d_of_few_products(vectors, data):
    depth, taps = data.draw(st.integers(1, 6)), (data.draw(STEP), data.draw(st.integers(2, 7)))
    check_conv2d(data, 1, depth, taps, (data.draw(STEP), 1), CONVOLUTIONS)


@SOME
@given(st.data())
@pytest.mark.parametrize(("depth", "width"), [(64, 3), (65, 2), (47, 4), (21, 9), (1, 150)])
def test_conv2d_of_a_single_row_of_taps(vectors, depth, width, data):
    """More products than go to a total at once."""
    check_conv2d(data, 1, depth, (1, width), (1, 1), CONVOLUTIONS)


@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("width", [257, 700])
def test_long_lines_are_done_in_parts(vectors, height, width, monkeypatch):
    """Threads share few lines; the bytes are those of one part."""
    x, weights, bias = numbers(1, height, width, 3), numbers(20, height, 9, 3), numbers(20)
    filters, how = np.moveaxis(weights, 0, -1), ((1, 2), (1, 1), "SAME")
    exact = definitions.convolution(x, filters, bias, *how, 1)
    terms = definitions.convolution(np.abs(x), np.abs(filters), np.abs(bias), *how, 1)
    (_, top, _), (_, left, _) = definitions.spans((height, width), (height, 9), *how)

    def emit(program, *buffers):
        gemm.conv2d(program, *buffers, Sliding((1, 2), (top, left)))

    arrays = x, weights, bias
    check(emit, exact.shape, exact, terms, LIMITLESS, *arrays, kernels=("gemm_f32.lines",))
    in_parts, _ = run(emit, *arrays, exact.shape)
    monkeypatch.setattr(gemm_f32, "_MIN_PARTS", 1)
    np.testing.assert_array_equal(in_parts, run(emit, *arrays, exact.shape)[0])


@SOME
@given(st.data())
def test_transpose_conv2d(vectors, data):
    n, depth, padding = (
        data.draw(SIZE),
        data.draw(SIZE),
        data.draw(st.sampled_from(["SAME", "VALID"])),
    )
    taps, stride = (data.draw(STEP), data.draw(STEP)), (data.draw(STEP), data.draw(STEP))
    sizes = [data.draw(st.integers(k if padding == "VALID" else 1, 14)) for k in taps]
    spans = definitions.spans(sizes, taps, stride, (1, 1), padding)
    x = numbers(2, *(count for count, _, _ in spans), depth)
    weights, bias, clamp = numbers(n, *taps, depth), numbers(n), data.draw(LIMITS)
    filters = np.moveaxis(weights, 0, -1)
    arguments = (sizes, stride, (1, 1), padding)
    exact = definitions.transposed_convolution(x, filters, bias, *arguments)
    terms = definitions.transposed_convolution(np.abs(x), np.abs(filters), np.abs(bias), *arguments)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        gemm.transpose_conv2d(program, *buffers, Sliding(stride, before), clamp=clamp)

    check(
        emit, exact.shape, exact, terms, clamp, x, weights, bias, kernels=("gemm_f32.convolution",)
    )


@SOME
@given(st.data())
def test_depthwise(vectors, data):
    channels, width = data.draw(SIZE), data.draw(st.sampled_from([1, 2, 3, 3, 4, 5, 5]))
    kernels = DEPTHWISE if channels > 1 else CONVOLUTIONS
    taps = data.draw(st.integers(1 if channels > 1 else 2, 5)), width
    stride = data.draw(STEP), data.draw(STEP)
    dilation = data.draw(st.sampled_from([(1, 1), (1, 1), (2, 3)]))
    sizes = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 20))
    x, clamp = numbers(data.draw(st.integers(1, 2)), *sizes, channels), data.draw(LIMITS)
    n = channels * data.draw(st.sampled_from([1, 1, 2, 5]))
    weights = numbers(*taps, n)
    bias = numbers(n) if data.draw(st.booleans()) else None
    check_depthwise(x, weights, bias, stride, dilation, clamp, kernels)


def test_depthwise_of_a_large_image(vectors):
    """Its inputs are asked for before they are read, beyond its end, too."""
    x, weights, bias = numbers(1, 60, 61, 75), numbers(3, 3, 75), numbers(75)
    check_depthwise(x, weights, bias, (2, 2), (1, 1), LIMITLESS, DEPTHWISE)


@pytest.mark.parametrize("columns", [1, 4, 5, 7, 14])
def test_depthwise_of_crowded_pixels(vectors, columns):
    """Pixels of whole pages, under steps of one."""
    x, weights, bias = numbers(1, 3, columns, 256), numbers(3, 3, 256), numbers(256)
    check_depthwise(x, weights, bias, (1, 1), (1, 1), (0.0, 6.0), DEPTHWISE)


def check_depthwise(x, weights, bias, stride, dilation, clamp, kernels):
    """Convolutions of channels by themselves, whose padding is SAME."""
    whole = np.zeros(weights.shape[2]) if bias is None else bias
    arguments = (stride, dilation, "SAME")
    exact = definitions.depthwise(x, weights, whole, *arguments)
    terms = definitions.depthwise(np.abs(x), np.abs(weights), np.abs(whole), *arguments)
    spans = definitions.spans(x.shape[1:3], weights.shape[:2], *arguments)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        sliding = Sliding(stride, before, dilation)
        gemm.depthwise(program, *buffers, sliding, clamp=clamp)

    arrays = (x, weights, bias)
    check(emit, exact.shape, exact, terms, clamp, *arrays, kernels=kernels)


@SOME
@given(st.data())
def test_matmul(vectors, data):
    height, n = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 70))
    depth = data.draw(st.sampled_from([1, 7, 16, 100, 256, 257, 600, 1024]))
    batch, repeated = data.draw(st.integers(1, 3)), data.draw(st.booleans())
    transpose, clamp = data.draw(st.booleans()), data.draw(LIMITS)
    a = numbers(batch, height, depth)
    b = numbers(1 if repeated else batch, *((n, depth) if transpose else (depth, n)))
    bias = numbers(n) if data.draw(st.booleans()) else None
    right = np.swapaxes(b, 1, 2) if transpose else b
    exact = np.float64(a) @ np.float64(right)
    terms = np.abs(np.float64(a)) @ np.abs(np.float64(right))
    if bias is not None:
        exact, terms = exact + bias, terms + np.abs(bias)
    dots = "dots.rows" if n < 64 else "dots.packed"
    kernel = dots if height == 1 and transpose else "gemm_f32.matmul"

    def emit(program, *buffers):
        gemm.matmul(program, *buffers, transpose_b=transpose, clamp=clamp)

    check(emit, exact.shape, exact, terms, clamp, a, b, bias, kernels=(kernel,))


@pytest.mark.parametrize(
    ("height", "depth", "n", "whole_rows"),
    [(64, 512, 1408, False), (64, 512, 4096, False), (64, 256, 1024, True), (64, 512, 512, True)],
)
def test_threads_share_weights_where_that_saves_more_than_it_moves(height, depth, n, whole_rows):
    item_size, _ = partition(Program(threads=2), height, depth, n)
    assert (item_size.columns >= n) == whole_rows


@pytest.mark.parametrize("height", [49, 64, 100, 128])
@pytest.mark.parametrize(
    "divide", [partition, lambda *sizes: partition_int8(*sizes, for_amx=False)]
)
def test_threads_have_as_many_rows(divide, height):
    item_size, items = divide(Program(threads=2), height, 128, 64)
    assert item_size.columns >= 64
    assert ceil(items / 2) * item_size.rows <= height / 2 + tile_step()


def test_long_sums_of_equal_terms(vectors):
    """Rounding errors that all go one way must not add up."""
    a, b = np.full((1, 20, 4096), 0.1, np.float32), np.full((1, 4096, 3), 0.7, np.float32)
    exact = np.float64(a) @ np.float64(b)

    def emit(program, *buffers):
        gemm.matmul(program, *buffers)

    got, _ = run(emit, a, b, None, exact.shape)
    assert (np.abs(got - exact) <= BOUND * exact).all()


def test_long_sums_of_one_row(vectors):
    a, b = np.full((1, 1, 1024), 0.1, np.float32), np.full((1, 70, 1024), 0.7, np.float32)
    exact = np.float64(a) @ np.swapaxes(np.float64(b), 1, 2)

    def emit(program, *buffers):
        gemm.matmul(program, *buffers, transpose_b=True)

    got, names = run(emit, a, b, None, exact.shape)
    assert "dots.packed" in names
    assert (np.abs(got - exact) <= BOUND * exact).all()


@SOME
@given(st.data())
def test_packed_row(vectors, data):
    n, depth = data.draw(st.integers(64, 300)), data.draw(st.integers(1, 130))
    batch, clamp = data.draw(st.integers(1, 3)), data.draw(LIMITS)
    a, b, bias = numbers(batch, 1, depth), numbers(n, depth), numbers(n)
    exact = np.float64(a) @ np.float64(b).T + bias
    terms = np.abs(np.float64(a)) @ np.abs(np.float64(b)).T + np.abs(bias)

    def emit(program, *buffers):
        gemm.matmul(program, *buffers, transpose_b=True, clamp=clamp)

    check(emit, exact.shape, exact, terms, clamp, a, b, bias, kernels=("dots.packed",))


@pytest.mark.parametrize("n", [7, 40, 100])
@pytest.mark.parametrize("limit", [6.0, LARGEST, np.inf])
def test_values_far_away_meet_the_limits(vectors, limit, n):
    """One in a tile, or the sum of a tile's; nan stays."""
    a = np.ones((1, 60, 1), np.float32)
    a[0, [1, 20, 21, 59], 0] = np.nan, np.inf, -np.inf, np.inf
    a[0, 30:34, 0] = LARGEST
    b = np.ones((1, 1, n), np.float32)

    def emit(program, *buffers):
        gemm.matmul(program, *buffers, clamp=(-limit, limit))

    got, _ = run(emit, a, b, None, (1, 60, n))
    np.testing.assert_array_equal(got, np.repeat(a.clip(-limit, limit), n, 2))


def test_results_end_where_their_memory_ends(vectors):
    """Tails are neither read nor written past the arrays."""
    for n, channels in ((3, 5), (17, 19), (33, 33)):
        program = Program(guard=True)
        x = numbers(1, 6, 7, channels)
        source, middle = bound(x.shape, np.float32), arena(x.shape, np.float32)
        out = arena((1, 6, 7, n), np.float32)
        gemm.depthwise(
            program, source, constant(numbers(3, 3, channels)), None, middle,
            Sliding(before=(1, 1)),
        )  # fmt: skip
        gemm.conv2d(
            program, middle, constant(numbers(n, 3, 3, channels)), None, out,
            Sliding(before=(1, 1)),
        )  # fmt: skip
        program.keep(out)
        program.close({source: x})
        program.run()
        assert np.isfinite(program.array(out)).all()
