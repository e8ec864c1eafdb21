"""Arithmetic of two stored operands: the vectors against the plain kernels, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families import rescaled
from flatlite.engine.families.multipliers import common_terms, product_terms
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program
from flatlite.engine.tiling import AWAY_SUM_FORM, FORM, NEAR_SUM_FORM, PRODUCT_FORM

MODULES = ("rescaled_simd", "rescaled_product")
IN_BYTES = True
ON_AARCH64 = True
SOME = settings(max_examples=30)
LEFT = {"int8": 20, "uint8": 20, "int16": 15}
SHAPES = st.sampled_from(
    [
        ((40,), (40,)),
        ((5, 37), (5, 37)),
        ((6, 19), (19,)),
        ((33,), (4, 33)),
        ((3, 50), (1,)),
        ((1,), (70,)),
        ((2, 5, 17), (2, 1, 17)),
        ((2, 3, 1, 16), (2, 1, 5, 16)),
        ((4, 35), (4, 1)),
        ((4, 1), (4, 35)),
        ((1,), (1,)),
    ]
)


def numbers(dtype, shape, seed):
    """Integers of all sizes, the extremes among them."""
    known, random = np.iinfo(dtype), np.random.default_rng(seed)
    values = random.integers(known.min, known.max, shape, endpoint=True)
    return np.where(
        random.random(shape) < 0.2, random.choice([known.min, known.max], shape), values
    )


def run(kind, a, b, terms, *, plain=False, dealt=False, guard=False):
    """The result, and the kernels that took part."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        if plain:
            patch.setattr(rescaled, "simd_form", lambda *_: None)
        program = Program(guard=guard)
        operands = [bound(x.shape, x.dtype) for x in (a, b)]
        inner, out = [arena(x.shape, x.dtype) for x in operands], arena(shape, a.dtype)
        for source, target in zip(operands, inner, strict=True):  # memory that ends where it ends
            program.call("copy.copy", source.ravel(), target.ravel(), split=source.size)
        rescaled.pair(program, kind, *inner, out, terms)
        program.keep(out)
        program.close(dict(zip(operands, (a, b), strict=True)))
        program.run()
        return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)][-1]


@SOME
@given(SHAPES, st.data())
@pytest.mark.parametrize("kind", ["sum", "difference", "product", "squared_difference"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_pairs(vectors, kind, dtype, shapes, data):
    if kind == "squared_difference" and dtype == "int16":
        return
    known, zeros = np.iinfo(dtype), st.just(0)
    if dtype != "int16":
        zeros = st.integers(int(known.min), int(known.max))
    scale = st.floats(1e-4, 10) | st.sampled_from([0.05, 0.25])
    first, second, expected = ((data.draw(scale), data.draw(zeros)) for _ in range(3))
    if kind == "product":
        factor = 2.0 ** data.draw(st.floats(-24, -1))
        terms = product_terms(first, second, expected, (known.min, known.max - 5), factor)
    else:
        squared = kind == "squared_difference"
        left = 7 if squared else LEFT[dtype]
        limits = (known.min + 3, known.max)
        terms = common_terms(first, second, expected, limits, left, 1 + squared)
    a, b = (numbers(dtype, s, i).astype(dtype) for i, s in enumerate(shapes))
    got, name = run(kind, a, b, terms)
    simd_form = rescaled.simd_form(kind, np.dtype(dtype), terms)
    assert name.startswith("rescaled." if simd_form is None else "rescaled_simd.")
    np.testing.assert_array_equal(got, run(kind, a, b, terms, dealt=True)[0])
    np.testing.assert_array_equal(got, run(kind, a, b, terms, plain=True)[0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("kind", ["sum", "difference", "product"])
def test_every_pair_of_bytes(vectors, kind, dtype):
    """All pairs there are (of int16: some), with scales of models; no plain kernel runs."""
    limits, zero = np.iinfo(dtype), 0 if dtype == "int16" else 7
    values = np.linspace(limits.min, limits.max, 256).astype(dtype)
    a, b = (np.ascontiguousarray(x) for x in np.broadcast_arrays(values[:, None], values))
    step = 1 if dtype != "int16" else 1 / 256
    schemes = [(scale * step, zero) for scale in (0.0235, 0.0417, 0.0519)]
    limits = (int(limits.min), int(limits.max))
    for first, second, expected in (schemes, schemes[::-1], [schemes[0]] * 3):
        terms = common_terms(first, second, expected, limits, LEFT[dtype])
        if kind == "product":
            terms = product_terms(
                first, second, expected, limits, first[0] * second[0] / expected[0]
            )
        got, name = run(kind, a, b, terms)
        assert name.startswith("rescaled_simd.")
        np.testing.assert_array_equal(got, run(kind, a, b, terms, plain=True)[0])


@pytest.mark.parametrize("kind", ["sum", "product"])
def test_results_end_where_their_memory_ends(vectors, kind):
    """Tails are neither read nor written past the arrays."""
    for dtype in ("int8", "int16"):
        for shapes in (((19,), (19,)), ((3, 21), (21,)), ((3, 21), (1,)), ((3, 1), (3, 7))):
            a, b = (numbers(dtype, s, i).astype(dtype) for i, s in enumerate(shapes))
            terms = common_terms((0.1, 0), (0.2, 0), (0.3, 0), (-100, 100), LEFT[dtype])
            if kind == "product":
                terms = product_terms((0.1, 0), (0.2, 0), (0.3, 0), (-100, 100), 2.0**-6)
            guarded = run(kind, a, b, terms, guard=True)[0]
            np.testing.assert_array_equal(guarded, run(kind, a, b, terms, plain=True)[0])


def grid():
    """All pairs of int8."""
    values = np.arange(-128, 128).astype(np.int8)
    return [np.ascontiguousarray(x) for x in np.broadcast_arrays(values[:, None], values)]


@pytest.mark.parametrize("kind", ["sum", "difference", "product"])
@pytest.mark.parametrize("seed", range(8))
def test_short_form(vectors, kind, seed):
    """Large ones go by a line, or a product of floats, found for scales as models have them."""
    random = np.random.default_rng(seed)
    schemes = [
        (float(np.float32(random.uniform(0.01, 0.08))), int(random.integers(-128, 128)))
        for _ in range(3)
    ]
    limits = (-128, 127) if seed % 2 else (schemes[2][1], 127)
    terms = common_terms(*schemes, limits, 20)
    if kind == "product":
        factor = schemes[0][0] * schemes[1][0] / schemes[2][0]
        terms = product_terms(*schemes, limits, factor)
    check_short_form(kind, terms, PRODUCT_FORM if kind == "product" else NEAR_SUM_FORM)


@pytest.mark.parametrize("kind", ["sum", "difference"])
@pytest.mark.parametrize(
    "schemes",
    [
        ((0.05, 3), (0.05, -5), (0.1, 7)),
        ((0.02, -128), (0.04, 127), (0.04, -128)),
        ((0.1, 1), (0.05, 3), (0.1, -10)),
    ],
)
def test_short_form_where_halves_abound(vectors, kind, schemes):
    """Those of negative totals go away from zero, which no line does."""
    check_short_form(kind, common_terms(*schemes, (-128, 127), 20), AWAY_SUM_FORM)


@pytest.mark.parametrize("kind", ["sum", "difference"])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_short_form_where_halves_are_few(vectors, kind, is_reversed):
    """Vectors without one go by a line, which is right for all other pairs."""
    schemes = [(0.0234, 3), (0.0317, -5)][:: -1 if is_reversed else 1]
    terms = common_terms(*schemes, (0.0418, 2), (-128, 127), 20)
    check_short_form(kind, terms, NEAR_SUM_FORM)


def check_short_form(kind, terms, form):
    """All pairs go by the form, in all ways to repeat an operand, and are right."""
    finder = "_product" if kind == "product" else "_line"
    (a, b), shorts = grid(), []
    with pytest.MonkeyPatch.context() as patch:
        built = getattr(rescaled, finder)

        def recorded(program, *arguments):
            shorts.append(built(program, *arguments))
            program.keep(shorts[-1])
            program.close = lambda *_, close=program.close: (close(*_), shorts.append(program))
            return shorts[0]

        patch.setattr(rescaled, finder, recorded)
        got, name = run(kind, a, b, terms)
    assert name.startswith("rescaled_simd.")
    assert shorts[1].array(shorts[0])[FORM] == form
    np.testing.assert_array_equal(got, run(kind, a, b, terms, plain=True)[0])
    column, row = np.ascontiguousarray(a[:, :1]), b[0]
    for operands in ((a, row), (row, a), (a, column), (column, a), (column, row), (row, column)):
        got = run(kind, *operands, terms, dealt=True)[0]
        np.testing.assert_array_equal(got, run(kind, *operands, terms, plain=True)[0])


def test_no_form_where_sums_are_almost_halves(vectors):
    """Each goes where the rounding of its operands takes it."""
    terms = common_terms((0.02, 3), (0.03, -5), (0.04, 2), (-128, 127), 20)
    a, b = grid()
    got, name = run("sum", a, b, terms)
    assert name == "rescaled_simd.pairs_8"
    np.testing.assert_array_equal(got, run("sum", a, b, terms, plain=True)[0])


@pytest.mark.parametrize("kind", ["sum", "product"])
def test_short_forms_are_found_together(vectors, kind):
    """By one instruction for all operators of a program, another for those that it takes in."""
    (a, b), limits = grid(), (-128, 127)
    program, recorded = Program(), Program()
    operands = [bound(x.shape, x.dtype) for x in (a, b)]
    results, expected = [], []
    for i, scale in enumerate((0.021, 0.033, 0.021, 0.047, 0.052)):
        schemes = [(scale, 3), (0.0317, -5), (0.0418, 2)]
        terms = common_terms(*schemes, limits, 20)
        if kind == "product":
            terms = product_terms(*schemes, limits, scale * 0.0317 / 0.0418)
        maker = recorded if i > 2 else program
        results.append(arena(a.shape, a.dtype))
        rescaled.pair(maker, kind, *operands, results[-1], terms)
        maker.keep(results[-1])
        expected.append(run(kind, a, b, terms, plain=True)[0])
    program.append(recorded)
    program.live_out |= recorded.live_out
    names = []
    program.close(
        dict(zip(operands, (a, b), strict=True)),
        lambda layout: names.extend(x.name for x in layout.instructions),
    )
    program.run()
    assert names.count(f"rescaled_{kind}.fit") == 2
    for result, answer in zip(results, expected, strict=True):
        np.testing.assert_array_equal(program.array(result), answer)
