"""How products are shared out: rows of their own for threads, or columns; the same bytes."""

from math import ceil

import numpy as np
import pytest

from flatlite.engine.families import gemm, partition, quantization, quantized_gemm
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.engine.run import plan_runner

f32, i8 = np.float32, np.int8
SHAPES = [(1, 1, 40, 100), (3, 5, 8, 33), (1, 49, 70, 160), (2, 49, 12, 96), (1, 125, 64, 64)]
SHAPES += [(1, 400, 16, 40), (1, 30, 600, 700)]


pytestmark = pytest.mark.usefixtures("everything_is_shared")


@pytest.fixture(params=[7, 6])
def step(request, monkeypatch):
    """Rows of an item where tiles are 14 rows tall, and where they are no taller than 6."""
    flags = frozenset({"avx512f"} if request.param == 7 else ())
    monkeypatch.setattr(partition.target, "flags", lambda: flags)
    return request.param


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_threads_have_rows_of_their_own(step, n_threads):
    """As many as each other, of all columns, where there are enough."""
    program, rows = Program(threads=n_threads), 2 * step
    assert partition.partition(program, 784, 64, 100) == ((rows, 128), ceil(784 / rows))
    assert partition.partition(program, 3136, 2000, 2000) == ((rows, 2016), ceil(3136 / rows))


@pytest.mark.parametrize("height", [196, 256, 784, 1000])
def test_threads_have_as_many_rows_of_int8(step, height):
    """None has half a tile more than its share: 196 rows are 98 for each, not 112 and 84."""
    size, items = partition.partition_int8(Program(threads=2), height, 512, 512, False)
    assert items == ceil(height / size.rows)
    assert size.rows * ceil(items / 2) - height / 2 < step


def test_threads_of_few_rows_have_all_of_theirs_at_once(step):
    rows = step * 5  # of 10 or 11 steps each thread has 5 or 6
    rows += step if step == 6 else 0
    assert partition.partition(Program(threads=2), 64, 256, 256) == ((rows, 256), 2)
    assert partition.partition(Program(threads=1), 64, 256, 256) == ((step, 256), ceil(64 / step))


def test_few_rows_of_many_products_are_shared_out_by_columns(step):
    two, blocks = Program(threads=2), ceil(49 / step)
    assert partition.partition(two, 49, 1024, 1024) == ((step * blocks, 32), 32)
    assert partition.partition(two, 49, 96, 100)[0].columns == 128
    assert partition.partition(two, 1, 1024, 1024) == ((step, 32), 32)


def shared(n_threads, *outputs, emit, **fed):
    """The bytes of `outputs` of a program that `emit(program, *fed, *outputs)` adds to."""
    program = Program(threads=n_threads)
    inputs = {bound(x.shape, x.dtype): x for x in fed.values()}
    emit(program, *inputs, *outputs)
    for out in outputs:
        program.keep(out)
    program.close(inputs)
    for _ in range(plan_runner.TRIALS + 1):
        for out in outputs:
            program.array(out)[...] = 0
        program.run()
    return [program.array(out).copy() for out in outputs]


def scheme(depth):
    scale = np.full(1, 2.0**-3 / (60 * depth**0.5))
    return quantization.Quantized(scale, (3, 0, -4), (-128, 127), np.int32, "round_half_away")


@pytest.mark.parametrize("shape", SHAPES)
def test_matrix_products_do_not_depend_on_threads(shape):
    batch, height, depth, n = shape
    rng = np.random.default_rng(depth)
    a = rng.normal(size=(batch, height, depth)).astype(f32)
    b = rng.normal(size=(batch, n, depth)).astype(f32)
    small_a, small_b = (rng.integers(-127, 128, x.shape).astype(i8) for x in (a, b))

    def emit(program, x, small, out, small_out):
        gemm.matmul(program, x, constant(b), None, out, transpose_b=True)
        weights = constant(small_b)
        quantized_gemm.matmul(
            program, small, weights, None, small_out, scheme=scheme(depth), transpose_b=True
        )

    def run(n_threads):
        outputs = (arena((batch, height, n), dtype) for dtype in (f32, i8))
        return shared(n_threads, *outputs, emit=emit, a=a, small_a=small_a)

    alone = run(1)
    np.testing.assert_allclose(alone[0], a @ b.transpose(0, 2, 1), rtol=1e-4, atol=1e-4)
    assert len(np.unique(alone[1])) > 5
    for n_threads in (2, 3, 5):
        for got, want in zip(run(n_threads), alone, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("size", "depth", "n"), [(5, 6, 40), (13, 8, 70), (7, 64, 200)])
def test_convolutions_do_not_depend_on_threads(size, depth, n, groups):
    rng = np.random.default_rng(depth)
    x = rng.normal(size=(2, size, size, groups * depth)).astype(f32)
    weights = rng.normal(size=(groups * n, 3, 3, depth)).astype(f32)
    small_x, small_weights = (rng.integers(-127, 128, a.shape).astype(i8) for a in (x, weights))
    sliding = Sliding(before=(1, 1))

    def emit(program, x, small, out, small_out):
        gemm.conv2d(program, x, constant(weights), None, out, sliding, groups=groups)
        constant_weights = constant(small_weights)
        quantized_gemm.conv2d(
            program,
            small,
            constant_weights,
            None,
            small_out,
            sliding,
            scheme=scheme(9 * depth),
            groups=groups,
        )

    def run(n_threads):
        outputs = (arena((2, size, size, groups * n), dtype) for dtype in (f32, i8))
        return shared(n_threads, *outputs, emit=emit, x=x, small_x=small_x)

    alone = run(1)
    assert len(np.unique(alone[1])) > 5
    for n_threads in (2, 3, 5):
        for got, want in zip(run(n_threads), alone, strict=True):
            np.testing.assert_array_equal(got, want)
