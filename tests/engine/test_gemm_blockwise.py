"""Products with weights of 4 and 8 bits against TFLite's arithmetic in numpy, for every processor.

Tiles of processors that this one is not run here as well: what LLVM makes of their vectors for this
one, with the products of bytes written out.
"""

from contextlib import ExitStack

import numpy as np
import pytest
from quantized_rows import blockwise_product, rounded
from targets import TARGETS, compiled_for, kinds
from twins import twins_of_instructions

from flatlite.engine.build.target import Target, find
from flatlite.engine.families import gemm_blockwise, quantization
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

OTHERS = {
    "avx512-vnni": {"avx512f", "avx512vnni"},
    "avx512": {"avx512f"},
    "avx-vnni": {"avx2", "fma", "avxvnni"},
    "arm-dot": {"neon", "dotprod"},
    "neon": {"neon"},
}
"""Processors -> features their vectors are chosen by."""
UNLIMITED = (-np.inf, np.inf)

SLOW = ("avx512", "avx-vnni", "neon")
"""Those whose tiles differ from another one's by their size alone."""


@pytest.fixture(scope="module", params=kinds([*TARGETS, *OTHERS], SLOW))
def vectors(request):
    """The kernels for one kind of vectors."""
    with ExitStack() as blocks, pytest.MonkeyPatch.context() as patch:
        aim = TARGETS.get(request.param)
        if aim is None:
            blocks.enter_context(twins_of_instructions())
            runs_on = find("x86-64-v3")
            aim = Target(request.param, runs_on.cpu, "", OTHERS[request.param])
            if not runs_on.needs <= TARGETS["avx2"].needs:
                pytest.skip("this processor does not run the code of vectors this wide")
            patch.setattr("targets.flags", lambda: OTHERS[request.param])
        with compiled_for(aim, "gemm_blockwise"):
            yield request.param


def weights_of(random, bits, n, depth):
    """All values, the extremes in whole rows, too: there sums are largest."""
    limit = 1 << (bits - 1)
    weights = random.integers(-limit, limit, (n, depth)).astype(np.int8)
    weights[0], weights[-1] = -limit, limit - 1
    return weights


def inputs_of(random, rows, depth):
    """Rows of several sizes; one all alike, one negative, one of zeros."""
    x = random.normal(size=(rows, depth)).astype(np.float32)
    x *= 10.0 ** random.integers(-3, 4, (rows, 1)).astype(np.float32)
    x[0] = 2.5
    x[-1] = -np.abs(x[-1])
    if rows > 3:
        x[2] = 0
    return x


def product(x, weights, bias, scheme, *, dealt=False):
    """What the kernels give: alone, or each item by itself."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program, fed = Program(guard=not dealt, threads=3 if dealt else 1), bound(x.shape, x.dtype)
        out = arena((len(x), len(weights)), np.float32)
        bias = None if bias is None else constant(bias)
        gemm_blockwise.matmul(
            program,
            fed,
            constant(weights.view(np.uint8)),
            bias,
            out,
            scheme=scheme,
            transpose_b=True,
        )
        program.keep(out)
        program.close({fed: x})
        program.run()
        return program.array(out).copy()


def near(got, want):
    """Holds results against those of float64, by the largest of their row."""
    largest = np.abs(want).max(1, keepdims=True)
    assert np.isfinite(got).all()
    assert (np.abs(got - want) <= 2e-6 * largest + 1e-30).all()


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(
    ("rows", "n", "depth", "block"),
    [
        (1, 1, 32, 32),
        (1, 64, 512, 32),
        (2, 33, 96, 32),
        (3, 8, 64, 64),
        (4, 70, 256, 128),
        (5, 31, 512, 256),
        (13, 40, 192, 96),
        (25, 65, 64, 32),
    ],
)
def test_blocks(vectors, bits, rows, n, depth, block):
    random = np.random.default_rng(rows)
    weights, x = weights_of(random, bits, n, depth), inputs_of(random, rows, depth)
    scales = random.uniform(0.001, 0.1, (n, depth // block)).astype(np.float16).astype(np.float32)
    bias = random.normal(size=n).astype(np.float32)
    scheme = quantization.Blockwise(constant(scales), block, bits, UNLIMITED)
    got = product(x, weights, bias, scheme)
    near(got, blockwise_product(x, weights, scales, bias))
    if rows > 3:
        np.testing.assert_array_equal(got[2], bias)
    np.testing.assert_array_equal(got, product(x, weights, bias, scheme, dealt=True))


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(
    ("rows", "n", "depth"), [(1, 5, 1), (1, 64, 100), (2, 32, 32), (7, 33, 65), (13, 40, 2048)]
)
def test_channels(vectors, rows, n, depth, per_channel, asymmetric):
    random = np.random.default_rng(depth)
    weights, x = weights_of(random, 4, n, depth), inputs_of(random, rows, depth)
    scales = random.uniform(0.001, 0.1, n if per_channel else 1).astype(np.float32)
    scheme = quantization.Hybrid(scales, asymmetric, UNLIMITED)
    got = product(x, weights, None, scheme)
    values, row_scales, zeros = rounded(x, asymmetric)
    sums = (values - zeros[:, None]) @ weights.T.astype(np.float64)
    want = sums.astype(np.float32) * (row_scales.astype(np.float32)[:, None] * scales)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(got, product(x, weights, None, scheme, dealt=True))


def test_limits(vectors):
    random = np.random.default_rng(1)
    weights, x = weights_of(random, 4, 40, 64), inputs_of(random, 6, 64)
    scales = np.full((40, 2), 0.05, np.float32)
    got = product(x, weights, None, quantization.Blockwise(constant(scales), 32, 4, (0.0, 6.0)))
    near(got, np.clip(blockwise_product(x, weights, scales), 0, 6))
    assert {0.0, 6.0} <= set(got.ravel().tolist())


def test_nothing_to_add(vectors):
    """Without inputs the results are the bias."""
    bias = np.float32([1, -2, 3])
    scheme = quantization.Hybrid(np.float32([0.5]), False, UNLIMITED)
    x, weights = np.zeros((2, 0), np.float32), np.zeros((3, 0), np.int8)
    np.testing.assert_array_equal(product(x, weights, bias, scheme), [bias, bias])
