"""Kernels of float32 in vectors against float64 and their plain forms, for each kind of vectors."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flatlite.engine.families import reductions, resizing, windows
from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program

BOUND = 1e-6  # of the sum of the terms' sizes
ULPS = 4
MODULES = ("pool_f32", "power", "reduce_f32", "resize_f32", "softmax")
SOME = settings(
    max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def run(emit, inputs, shape, dtype=np.float32, dealt=False):
    """What `emit(program, *buffers, out)` writes, in memory that ends where it ends."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program, fed, copies = Program(guard=True), {}, []
        for x in inputs:
            buffer = bound(x.shape, x.dtype)
            fed[buffer] = x
            copies.append(arena(x.shape, x.dtype))
            program.call("copy.copy", buffer.ravel(), copies[-1].ravel(), split=x.size)
        out = arena(shape, dtype)
        emit(program, *copies, out)
        program.keep(out)
        program.close(fed)
        program.run()
        return program.array(out).copy()


def same_however_dealt(emit, inputs, shape, dtype=np.float32):
    """`run`, once as one piece and once in many, which must be equal."""
    got = run(emit, inputs, shape, dtype)
    np.testing.assert_array_equal(got, run(emit, inputs, shape, dtype, dealt=True))
    return got


def numbers(*shape):
    """Normal float32 of very different sizes."""
    random = np.random.default_rng(shape)
    return (random.normal(size=shape) * 10 ** random.uniform(-2, 2, shape)).astype(np.float32)


def some_axes(data, rank):
    return tuple(sorted(data.draw(st.sets(st.integers(0, rank - 1), min_size=1))))


SHAPES = st.lists(st.sampled_from([1, 2, 3, 7, 16, 17, 33, 70]), min_size=1, max_size=3)


@SOME
@given(st.data())
@pytest.mark.parametrize("kind", ["add", "mean", "multiply"])
def test_sums_and_products(vectors, kind, data):
    shape = tuple(data.draw(SHAPES))
    axes, x = some_axes(data, len(shape)), numbers(*shape)
    x = np.sign(x) * np.exp(x / 1000).astype(np.float32) if kind == "multiply" else x
    wide = x.astype(np.float64)
    exact = {"add": np.sum, "mean": np.mean, "multiply": np.prod}[kind](wide, axes)
    terms = np.abs(exact) if kind == "multiply" else np.abs(wide).sum(axes)
    if kind == "mean":
        terms = terms / (x.size // exact.size)

    def emit(program, source, out):
        reductions.reduce(program, kind, source, set(axes), out)

    got = same_however_dealt(emit, [x], exact.shape)
    assert (np.abs(got - exact) <= BOUND * terms).all()


def test_long_sums(vectors):
    """Numbers that are all alike, which bring out what a sum in float32 loses."""
    for shape, axis in (((3, 100_003), 1), ((100_003, 3), 0)):
        x = np.full(shape, 0.1, np.float32)

        def emit(program, source, out, axis=axis):
            reductions.reduce(program, "add", source, {axis}, out)

        exact = x.astype(np.float64).sum(axis)
        assert (np.abs(run(emit, [x], exact.shape) - exact) <= BOUND * exact).all()


@SOME
@given(st.data())
@pytest.mark.parametrize("kind", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
def test_extrema(vectors, kind, dtype, data):
    """With nan among them, which is passed over."""
    shape = tuple(data.draw(SHAPES))
    axes, x = some_axes(data, len(shape)), numbers(*shape).clip(-99, 99).astype(dtype)
    if dtype == "float32":
        x = np.where(np.random.default_rng(1).random(shape) < 0.2, np.nan, x).astype(dtype)
    limits = np.finfo(dtype) if dtype == "float32" else np.iinfo(dtype)
    whole = len(axes) == len(shape)
    start = limits.min if kind == "maximum" else limits.max
    function = np.fmax if kind == "maximum" else np.fmin
    exact = function.reduce(x, axes, initial=start) if len(axes) == 1 else None
    if exact is None:
        folded = np.moveaxis(x, axes, range(len(axes))).reshape(-1, *np.delete(shape, axes))
        exact = function.reduce(folded, 0, initial=start)
    if whole and np.isnan(x.ravel()[0]):
        exact = np.asarray(np.nan, dtype)

    def emit(program, source, out):
        reductions.reduce(program, kind, source, set(axes), out)

    np.testing.assert_array_equal(same_however_dealt(emit, [x], exact.shape, dtype), exact)


@SOME
@given(st.data())
@pytest.mark.parametrize("dtype", ["float32", "int8", "int32"])
def test_positions(vectors, dtype, data):
    """The first of several that are equal; nan is passed over, unless there is nothing else."""
    shape = tuple(data.draw(st.sampled_from([1, 3, 21, 64, 65, 150])) for _ in range(2))
    x = np.random.default_rng(shape).integers(-5, 5, shape).astype(dtype)
    if dtype == "float32":
        x[np.random.default_rng(1).random(shape) < 0.2] = np.nan
        x[0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    smallest = data.draw(st.booleans())
    worst = np.inf if smallest else -np.inf
    filled = np.where(np.isnan(x), worst, x)
    exact = filled.argmin(1) if smallest else filled.argmax(1)
    exact = np.where(np.isnan(x).all(1), 0, exact)
    among = ~np.isnan(x[np.arange(shape[0]), exact]) | np.isnan(x).all(1)
    exact = np.where(among, exact, np.argmax(~np.isnan(x), 1))

    def emit(program, source, out):
        reductions.position(program, source, 1, out, smallest=smallest)

    np.testing.assert_array_equal(same_however_dealt(emit, [x], shape[:1], np.int32), exact)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_running_sums(vectors, exclusive, reverse):
    for shape, axis in (((3, 50), 1), ((37, 50), 1), ((2, 30, 19), 1)):
        x = numbers(*shape)

        def emit(program, source, out, axis=axis):
            how = {"exclusive": exclusive, "reverse": reverse}
            reductions.cumulate(program, source, axis, out, **how)

        wide = np.flip(x, axis) if reverse else x
        exact, terms = (np.cumsum(v.astype(np.float64), axis) for v in (wide, np.abs(wide)))
        exact = exact - wide if exclusive else exact
        exact = np.flip(exact, axis) if reverse else exact
        terms = np.flip(terms, axis) if reverse else terms
        got = same_however_dealt(emit, [x], shape)
        assert (np.abs(got - exact) <= BOUND * terms).all()


@pytest.mark.parametrize("n", [1, 2, 7, 10, 16, 21, 63, 64, 65, 1001])
def test_softmax(vectors, n):
    x = np.random.default_rng(n).uniform(-30, 30, (5, n)).astype(np.float32)
    x[0] = np.linspace(-120, 0, n)
    x[1, 0] = -np.inf
    for kernel, more in (("softmax", {"beta": 1.0}), ("log_softmax", {})):

        def emit(program, source, out, kernel=kernel, more=more):
            program.call(f"softmax.{kernel}", source, out, split=5, **more)

        with np.errstate(all="ignore"):
            wide = x.astype(np.float64) - x.max(1, keepdims=True)
            shares = np.exp(wide)
            exact = shares / shares.sum(1, keepdims=True)
            if kernel == "log_softmax":
                exact = wide - np.log(shares.sum(1, keepdims=True))
        got, tiny = same_however_dealt(emit, [x], x.shape), 2.0**-149
        atol = 1e-7 if kernel == "log_softmax" else 4 * tiny
        np.testing.assert_allclose(got, exact, rtol=4e-6, atol=atol)


@SOME
@given(st.data())
@pytest.mark.parametrize("kind", ["average", "root_mean_square", "maximum"])
def test_pools(vectors, kind, data):
    """Against the plain kernels."""
    size, stride = (tuple(data.draw(st.integers(1, 4)) for _ in "hw") for _ in range(2))
    sizes = [data.draw(st.integers(k, 9)) for k in size]
    x = numbers(2, *sizes, data.draw(st.sampled_from([1, 3, 8, 16, 33, 70])))
    x[:, :, :, -1] = np.nan
    before = tuple(data.draw(st.integers(0, k - 1)) for k in size)
    counts = [(n + k - 1) // s + 1 for n, k, s in zip(sizes, before, stride, strict=True)]
    clamp = data.draw(st.sampled_from([(-np.inf, np.inf), (0.0, 6.0)]))
    how = {"size": size, "stride": stride, "before": before, "clamp": clamp}
    shape = (2, *(max(c - 1, 1) for c in counts), x.shape[3])

    def emit(program, source, out):
        windows.pool(program, kind, source, out, **how)

    got = same_however_dealt(emit, [x], shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "fits", lambda *_: False)
        plain = run(emit, [x], shape)
        terms = run(emit, [np.abs(x)], shape)
    if kind == "maximum":
        np.testing.assert_array_equal(got, plain)
    else:
        np.testing.assert_array_equal(np.isnan(got), np.isnan(plain))
        far = np.abs(got - plain) > 2 * BOUND * np.maximum(terms, np.abs(plain))
        assert not far[~np.isnan(plain)].any()


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize(
    ("shape", "size"),
    [((2, 5, 7, 3), (11, 4)), ((1, 9, 6, 35), (3, 20)), ((1, 1, 4, 64), (5, 9))],
)
def test_bilinear(vectors, shape, size, half):
    """Against the plain kernel."""
    x, out_shape = numbers(*shape), (shape[0], *size, shape[3])
    scales = [float(np.float32(a) / np.float32(b)) for a, b in zip(shape[1:3], size, strict=True)]
    split, steps = shape[0] * size[0], dict(zip(("scale_h", "scale_w"), scales, strict=True))

    def emit(program, source, out):
        resizing.bilinear(program, source, out, scales, half)

    def plain(program, source, out):
        numbers = {**steps, "half": int(half), "rounding": 0.0}
        program.call("resize.bilinear", source, out, split=split, **numbers)

    got, terms = same_however_dealt(emit, [x], out_shape), run(plain, [np.abs(x)], out_shape)
    assert (np.abs(got - run(plain, [x], out_shape)) <= 2 * BOUND * terms).all()


SPECIAL = np.float32([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, np.inf, -np.inf, np.nan, 1e-40])


def test_powers(vectors):
    """All pairs of special numbers as libm has them, others within a few units."""
    random = np.random.default_rng(7)
    many = np.concatenate([10 ** random.uniform(-37, 37, 600), random.uniform(0.9, 1.1, 500)])
    a = np.concatenate([np.repeat(SPECIAL, SPECIAL.size), many.astype(np.float32)])
    b = np.concatenate([np.tile(SPECIAL, SPECIAL.size), random.uniform(-30, 30, many.size)])
    b = b.astype(np.float32)

    def emit(program, x, y, out):
        elementwise(program, "power.power", (x, y), out)

    for x, y in ((a, b), (a, b[:1]), (a, np.float32([2.0])), (a, np.float32([0.5])), (a[:1], b)):
        got = same_however_dealt(emit, [x, y], a.shape)
        both = np.broadcast_arrays(x.astype(np.float64), y.astype(np.float64))
        with np.errstate(all="ignore"):
            exact = np.power(*map(np.copy, both))  # of one number numpy takes the root
            close = np.abs(got - exact) <= ULPS * np.spacing(np.abs(exact).astype(np.float32))
            same = (got == exact.astype(np.float32)) | (np.isnan(got) & np.isnan(exact))
        assert (close | same).all()
