"""Kernels that repeat the smaller of their operands against numpy, over all ways to repeat."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.engine.run.faults import Fault

SOME = settings(max_examples=40)
LOW, HIGH = -60, 60
CASES = {
    "arithmetic.add": ("int32", lambda a, b: np.clip(a + b, LOW, HIGH)),
    "arithmetic.subtract": ("float32", lambda a, b: np.clip(a - b, LOW, HIGH)),
    "arithmetic.multiply": ("int64", lambda a, b: np.clip(a * b, LOW, HIGH)),
    "arithmetic.maximum": ("int8", np.maximum),
    "arithmetic.minimum": ("int16", np.minimum),
    "bits.bitwise_xor": ("uint8", np.bitwise_xor),
    "bits.shift_right_16": ("int16", lambda a, b: a >> np.clip(b, 0, 15)),
    "compare.less": ("float32", np.less),
    "division.floor_modulo": ("int32", np.remainder),
    "power.power": ("float32", lambda a, b: a.astype(np.float64) ** b),
}
"""Kernel -> dtype of the operands and what numpy makes of them."""
LIMITED = ("arithmetic.add", "arithmetic.subtract", "arithmetic.multiply")


@st.composite
def shapes(draw, n):
    """`n` shapes that broadcast, each with some dimensions of 1 and some missing in front."""
    whole = draw(st.lists(st.sampled_from([1, 2, 3, 7, 16, 33]), min_size=1, max_size=4))
    pairs = []
    for _ in range(n):
        repeated = draw(st.lists(st.booleans(), min_size=len(whole), max_size=len(whole)))
        shape = [1 if one else size for size, one in zip(whole, repeated, strict=True)]
        pairs.append(tuple(shape[draw(st.integers(0, len(shape))) :]))
    return pairs


def run(kernel, operands, out, *more, dealt=False):
    """The result, in memory that ends where it ends; `dealt` in many parts."""
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        program = Program(guard=True)
        buffers = [bound(x.shape, x.dtype) for x in operands]
        inner, out = [arena(x.shape, x.dtype) for x in buffers], arena(*out)
        for source, target in zip(buffers, inner, strict=True):
            program.call("copy.copy", source.ravel(), target.ravel(), split=source.size)
        elementwise(program, kernel, inner, out, *more)
        program.keep(out)
        program.close(dict(zip(buffers, operands, strict=True)))
        program.run()
        return program.array(out).copy()


@SOME
@given(shapes(2))
@pytest.mark.parametrize("kernel", CASES)
def test_two_operands(kernel, shapes):
    dtype, function = CASES[kernel]
    random, power = np.random.default_rng(len(str(shapes))), kernel == "power.power"
    lowest = 1 if power else 0 if dtype == "uint8" else -9
    a, b = (random.integers(lowest, 9, shape).astype(dtype) for shape in shapes)
    if kernel.startswith("division"):
        b = np.where(b == 0, 5, b).astype(dtype)
    expected = np.asarray(function(a, b))
    out = expected.shape, bool if kernel.startswith("compare") else dtype
    more = [constant(np.array([LOW, HIGH], dtype))] if kernel in LIMITED else []
    got = run(kernel, (a, b), out, *more)
    np.testing.assert_allclose(got, expected, rtol=4e-7 if power else 0)
    np.testing.assert_array_equal(got, run(kernel, (a, b), out, *more, dealt=True))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("b_shape", [(64, 1), (2, 1)])
def test_divisors_are_looked_at_where_they_divide(everything_is_shared, b_shape, dtype):
    """A part of the items without a zero among their divisors is done; the first zero is named."""
    b, a = np.full(b_shape, 7, dtype), np.arange(64, dtype=dtype).reshape(b_shape[0], -1)
    b.flat[-1] = 0
    kernel = f"division.floor_divide_{dtype}"
    program = Program(threads=2)
    inputs = {bound(x.shape, x.dtype): x for x in (a, b)}
    out = arena(a.shape, np.dtype(dtype))
    elementwise(program, kernel, list(inputs), out)
    program.keep(out)
    program.close(inputs)
    with pytest.raises(Fault) as raised:
        program.run()
    assert (raised.value.i, raised.value.value) == (b.size - 1, 0)
    if b.size == a.size:
        np.testing.assert_array_equal(program.array(out)[:4], a[:4] // 7)


@SOME
@given(shapes(3))
@pytest.mark.parametrize("dtype", ["int8", "float32", "int64"])
def test_choice(dtype, shapes):
    random = np.random.default_rng(len(str(shapes)))
    condition = random.integers(0, 2, shapes[0]).astype(bool)
    x, y = (random.integers(-99, 99, shape).astype(dtype) for shape in shapes[1:])
    expected = np.where(condition, x, y)
    for dealt in (False, True):
        got = run("compare.select", (condition, x, y), (expected.shape, dtype), dealt=dealt)
        np.testing.assert_array_equal(got, expected)
