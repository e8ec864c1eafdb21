"""Products and windows against float64, over random shapes; nothing may depend on the dealing."""

import definitions
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import (
    gemm,
    reductions,
    windows,
)
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

BOUND = 1e-6  # of the sum of the terms' sizes
SMALL = st.integers(1, 4)
SIZE = st.integers(1, 9)
PADDING = st.sampled_from(["SAME", "VALID"])
LIMITS = st.sampled_from([(-np.inf, np.inf), (0.0, np.inf), (-0.5, 0.25)])
FEW = settings(max_examples=60)


def numbers(*shape):
    """Normal float32 of very different sizes."""
    random = np.random.default_rng(shape)
    return (random.normal(size=shape) * 10 ** random.uniform(-2, 2, shape)).astype(np.float32)


def run(build, shape, *arrays, dtype=np.float32, dealt=False):
    """The result of what `build(program, *buffers, out)` appends; `dealt` in many parts."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program = Program()
        buffers = [x if x is None else bound(x.shape, x.dtype) for x in arrays]
        out = arena(shape, dtype)
        build(program, *buffers, out)
        program.keep(out)
        present = [x for x in arrays if x is not None]
        program.close(dict(zip([b for b in buffers if b is not None], present, strict=True)))
        program.run()
        return program.array(out).copy()


def check(build, shape, exact, terms, clamp, *arrays):
    """The result is within BOUND of the terms' sizes, and the same in one part or many."""
    got = run(build, shape, *arrays)
    np.testing.assert_array_equal(got, run(build, shape, *arrays, dealt=True))
    limits = np.asarray(clamp, np.float64)
    assert (np.abs(got - np.clip(exact, *limits)) <= BOUND * terms).all()


@FEW
@given(st.data())
def test_conv2d(data):
    groups, depth, taps = data.draw(SMALL), data.draw(SMALL), (data.draw(SMALL), data.draw(SMALL))
    stride, dilation = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    n, padding, clamp = groups * data.draw(SIZE), data.draw(PADDING), data.draw(LIMITS)
    reach = [(k - 1) * d + 1 for k, d in zip(taps, dilation, strict=True)]
    sizes = [data.draw(st.integers(r if padding == "VALID" else 1, 12 + r)) for r in reach]
    x = numbers(data.draw(SMALL), *sizes, groups * depth)
    weights, bias = numbers(n, *taps, depth), numbers(n) if data.draw(st.booleans()) else None
    arguments = (stride, dilation, padding, groups)
    packed = np.moveaxis(weights, 0, -1)
    exact = definitions.convolution(x, packed, bias, *arguments)
    sizes_of_bias = None if bias is None else np.abs(bias)
    terms = definitions.convolution(np.abs(x), np.abs(packed), sizes_of_bias, *arguments)
    spans = definitions.spans(x.shape[1:3], taps, stride, dilation, padding)

    def build(program, x, weights, bias, out):
        sliding = Sliding(stride, tuple(before for _, before, _ in spans), dilation)
        gemm.conv2d(program, x, weights, bias, out, sliding, groups=groups, clamp=clamp)

    check(build, exact.shape, exact, terms, clamp, x, weights, bias)


@FEW
@given(st.data())
def test_depthwise(data):
    channels, multiplier = data.draw(SIZE), data.draw(SMALL)
    taps, stride = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    x = numbers(data.draw(SMALL), data.draw(SIZE), data.draw(SIZE), channels)
    weights, bias = numbers(*taps, channels * multiplier), numbers(channels * multiplier)
    clamp = data.draw(LIMITS)
    arguments = (stride, (1, 1), "SAME")
    exact = definitions.depthwise(x, weights, bias, *arguments)
    terms = definitions.depthwise(np.abs(x), np.abs(weights), np.abs(bias), *arguments)
    spans = definitions.spans(x.shape[1:3], taps, *arguments)

    def build(program, x, weights, bias, out):
        sliding = Sliding(stride, tuple(before for _, before, _ in spans))
        gemm.depthwise(program, x, weights, bias, out, sliding, clamp=clamp)

    check(build, exact.shape, exact, terms, clamp, x, weights, bias)


@FEW
@given(st.data())
def test_transpose_conv2d(data):
    n, channels, padding = data.draw(SIZE), data.draw(SIZE), data.draw(PADDING)
    taps, stride = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    sizes = [data.draw(st.integers(k if padding == "VALID" else 1, 12)) for k in taps]
    spans = definitions.spans(sizes, taps, stride, (1, 1), padding)
    x = numbers(data.draw(SMALL), *(count for count, _, _ in spans), channels)
    weights, bias, clamp = numbers(n, *taps, channels), numbers(n), data.draw(LIMITS)
    packed = np.moveaxis(weights, 0, -1)
    arguments = (sizes, stride, (1, 1), padding)
    exact = definitions.transposed_convolution(x, packed, bias, *arguments)
    terms = definitions.transposed_convolution(np.abs(x), np.abs(packed), np.abs(bias), *arguments)

    def build(program, x, weights, bias, out):
        sliding = Sliding(stride, tuple(before for _, before, _ in spans))
        gemm.transpose_conv2d(program, x, weights, bias, out, sliding, clamp=clamp)

    check(build, exact.shape, exact, terms, clamp, x, weights, bias)


@FEW
@given(st.data())
def test_matmul(data):
    m, k, n = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 70)), data.draw(SIZE)
    batch = data.draw(st.sampled_from([((), ()), ((3,), ()), ((2, 1), (3,)), ((1,), (4,))]))
    left, right = data.draw(st.booleans()), data.draw(st.booleans())
    a, b = numbers(*batch[0], m, k), numbers(*batch[1], k, n)
    bias, clamp = numbers(n), data.draw(LIMITS)
    exact = a.astype(np.float64) @ b.astype(np.float64) + bias
    terms = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) + np.abs(bias)
    left_operand = np.ascontiguousarray(np.swapaxes(a, -1, -2)) if left else a
    right_operand = np.ascontiguousarray(np.swapaxes(b, -1, -2)) if right else b

    def build(program, a, b, bias, out):
        gemm.matmul(program, a, b, bias, out, transpose_a=left, transpose_b=right, clamp=clamp)

    check(build, exact.shape, exact, terms, clamp, left_operand, right_operand, bias)


@FEW
@given(st.data())
def test_pool(data):
    kind = data.draw(st.sampled_from(list(windows.POOLS)))
    size, stride = (data.draw(SMALL), data.draw(SMALL)), (data.draw(SMALL), data.draw(SMALL))
    x = numbers(data.draw(SMALL), data.draw(SIZE), data.draw(SIZE), data.draw(SIZE))
    spans = definitions.spans(x.shape[1:3], size, stride, (1, 1), "SAME")
    clamp = data.draw(LIMITS)
    exact = definitions.pool(kind, x, size, stride, "SAME")
    terms = definitions.pool("average", np.abs(x), size, stride, "SAME") + np.abs(exact)

    def build(program, x, out):
        before = tuple(before for _, before, _ in spans)
        windows.pool(program, kind, x, out, size=size, stride=stride, before=before, clamp=clamp)

    check(build, exact.shape, exact, terms, clamp, x)


@FEW
@given(st.data())
def test_reduce(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 5), max_size=5)))
    axes = tuple(i for i in range(len(shape)) if data.draw(st.booleans()))
    x = numbers(*shape)
    exact = np.sum(x, axis=axes, dtype=np.float64)
    terms = np.sum(np.abs(x), axis=axes, dtype=np.float64)

    def build(program, x, out):
        reductions.reduce(program, "add", x, axes, out)

    check(build, exact.shape, exact, terms, (-np.inf, np.inf), x)


def test_long_sums_stay_exact():
    """Equal terms, whose rounding errors would all point one way."""
    k = 100_000
    a, b = np.full((1, k), 0.1, np.float32), np.full((k, 3), 0.1, np.float32)
    got = run(lambda p, a, b, out: gemm.matmul(p, a, b, None, out), (1, 3), a, b)
    exact = k * float(np.float32(0.1)) ** 2
    assert (np.abs(got - exact) <= BOUND * exact).all()


def test_constant_weights_are_packed_once():
    program = Program()
    x, out = bound((1, 5, 5, 3), np.float32), arena((1, 5, 5, 4), np.float32)
    weights = constant(numbers(4, 3, 3, 3))
    gemm.conv2d(program, x, weights, None, out, Sliding(before=(1, 1)))
    program.keep(out)
    program.close({x: numbers(1, 5, 5, 3)})
    names = [name for _, name, _ in program.run(profile=True)]
    assert names == ["gemm_f32_packing.pad", "gemm_f32.convolution"]


@pytest.mark.parametrize("name", ["conv2d", "depthwise", "transpose_conv2d"])
def test_a_column_is_convolved_as_a_row(name):
    """By the same instructions, to the same values as float64 has."""
    x, channels, taps, step = numbers(2, 40, 1, 5), 5, 4, 3
    shape = (taps, 1, channels) if name == "depthwise" else (7, taps, 1, channels)
    weights, bias, n = numbers(*shape), numbers(shape[-1 if name == "depthwise" else 0]), 14
    packed = weights if name == "depthwise" else np.moveaxis(weights, 0, -1)
    exact = {
        "conv2d": lambda: definitions.convolution(x, packed, bias, (step, 1), (1, 1), "SAME", 1),
        "depthwise": lambda: definitions.depthwise(x, packed, bias, (step, 1), (1, 1), "SAME"),
        "transpose_conv2d": lambda: definitions.transposed_convolution(
            x[:, :n], packed, bias, (40, 1), (step, 1), (1, 1), "SAME"
        ),
    }[name]()
    x = x[:, :n].copy() if name == "transpose_conv2d" else x
    before = definitions.spans((40, 1), (taps, 1), (step, 1), (1, 1), "SAME")[0][1]
    instructions = []

    def turned(array, axis):
        return np.ascontiguousarray(np.swapaxes(array, axis, axis + 1))

    for is_row in (False, True):
        sliding = Sliding((1, step), (0, before)) if is_row else Sliding((step, 1), (before, 0))
        arrays = [x, weights, bias]
        if is_row:
            arrays[:2] = turned(x, 1), turned(weights, 0 if name == "depthwise" else 1)

        def build(program, *buffers, sliding=sliding):
            getattr(gemm, name)(program, *buffers, sliding)
            rows = [(i.name, [*i.record], i.split) for i in program.instructions]  # without memory
            instructions.append(rows)

        out = exact.swapaxes(1, 2) if is_row else exact
        np.testing.assert_allclose(run(build, out.shape, *arrays), out, rtol=1e-4, atol=1e-2)
    assert instructions[0] == instructions[1]
