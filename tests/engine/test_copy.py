import numpy as np
import pytest

from flatlite.engine.plan.buffer import arena, constant
from flatlite.engine.plan.program import Program

DTYPES = [
    np.bool_,
    np.int8,
    np.float16,
    np.int32,
    np.float32,
    np.int64,
    np.complex64,
    np.complex128,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_copy_moves_every_width(run_kernel, dtype, n):
    x = np.random.default_rng(n).integers(0, 100, n).astype(dtype)
    got = run_kernel("copy.copy", x, out=(x.shape, x.dtype), split=n)
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64])
def test_fill_repeats_one_value(run_kernel, dtype):
    got = run_kernel("copy.fill", np.array([3], dtype), out=((5,), dtype), split=5)
    np.testing.assert_array_equal(got, np.full(5, 3, dtype))


def test_fill_refuses_wide_elements():
    program = Program()
    message = r"fill: 'value' must be one of uint8, .*, got complex128"
    with pytest.raises(ValueError, match=message):
        program.call("copy.fill", constant(np.ones(1, complex)), arena((5,), complex))
