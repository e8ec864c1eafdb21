"""Programs as JAX writes them, each an operator with its regions, against what XLA computes."""

import numpy as np
import pytest
from running import answers
from stablehlo_programs import file_of, programs, recorded

from flatlite.lite import Interpreter

TOLERANCES = {"float64": 1e-6, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2,
              "complex64": 1e-5}  # fmt: skip
SLOW = ("uint8", "int16", "uint64", "float16")
"""Types whose programs other types stand for."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.endswith(SLOW) else name
        for name in programs()
    ],
)
def test_program(name):
    feeds, expected = recorded()[name]
    interpreter = Interpreter(model_content=file_of(name))
    for got, want in zip(answers(interpreter, *feeds), expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        tolerance = TOLERANCES.get(want.dtype.name)
        if tolerance is None:
            np.testing.assert_array_equal(got, want)
        else:
            wide = "complex64" if want.dtype.kind == "c" else "float64"
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), tolerance, tolerance)
