"""Softmax of bytes: the vectors against the plain kernel, bit for bit."""

import numpy as np
import pytest

from flatlite.engine.families.fixedpoint import exp_on_negative_values, rounding_divide_by_pot
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

MODULES = ("softmax_i8",)
IN_BYTES = True


@pytest.fixture(scope="module", autouse=True)
def many_parts():
    """Rows are dealt out in parts, however short they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        yield


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("step", [1e-6, 0.003, 0.05, 0.4])
def test_softmax(vectors, dtype, step):
    """Rows of all lengths; alike and long ones have sums beyond what the vectors take."""
    limits, random = np.iinfo(dtype), np.random.default_rng(4)
    exps = exp_on_negative_values(-np.int64(np.arange(256) * min(step * 2**26, 2**22)))
    exps = exps.astype(np.int32)[None]
    rounded = rounding_divide_by_pot(exps.astype(np.int64), 12)[0]
    planes = np.array([rounded >> 8 * i & 255 for i in range(3)], np.uint8)
    span = {"low": int(limits.min), "high": int(limits.max)}
    for n in (1, 2, 63, 64, 65, 200, 1000, 5000):
        x = random.integers(limits.min, limits.max, (4, n), endpoint=True).astype(dtype)
        x[1], x[2] = limits.min, np.sort(x[2])
        program, fed = Program(guard=True), bound(x.shape, dtype)
        inner, got, want = (arena(x.shape, dtype) for _ in range(3))
        program.call("copy.copy", fed.ravel(), inner.ravel(), split=x.size)
        call = (inner, constant(exps))
        name = f"softmax_i8.softmax_{dtype}"
        program.call(name, *call, constant(planes), got, split=4, **span)
        program.call("quantized.softmax", *call, want, split=4, bits=8, **span)
        for out in (got, want):
            program.keep(out)
        program.close({fed: x})
        program.run()
        np.testing.assert_array_equal(program.array(got), program.array(want))
