"""Types that StableHLO's specification has for each operator, and those it has not."""

import numpy as np
import pytest
from declared import model
from running import answers

from flatlite.lite import Interpreter

COMPLEX = np.array([3 + 4j, -1j, 0, -8, 1 - 1j])
POWERS = np.array([[2, 10, 1024], [2, -1, 0], [1, -3, 1], [-1, -3, -1], [-1, -4, 1], [0, -1, 0],
                   [-3, 3, -27], [0, 0, 1], [3, 5, 243]])  # fmt: skip
ORDINARY = ("f2", "f4", "f8")
WHOLE = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
ANALYTIC = ("CBRT", "COSINE", "EXPONENTIAL", "LOG", "LOGISTIC", "RSQRT", "TANH")
TAKEN = {
    **dict.fromkeys(ANALYTIC, (*ORDINARY, "c8", "c16")),
    "ABS": (*ORDINARY, *WHOLE, "c8", "c16"),
    "NEGATE": (*ORDINARY, *WHOLE, "c8", "c16"),
    "FLOOR": ORDINARY,
    **dict.fromkeys(
        ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"), (*ORDINARY, *WHOLE, "c8", "c16", "?")
    ),
    **dict.fromkeys(("DIVIDE", "POWER", "SUBTRACT"), (*ORDINARY, *WHOLE, "c8", "c16")),
    "REMAINDER": (*ORDINARY, *WHOLE),
    "SHIFT_LEFT": WHOLE,
    **dict.fromkeys(("AND", "OR"), (*WHOLE, "?")),
}
"""Operator -> the types of its operands."""
TYPES = (*ORDINARY, *WHOLE, "c8", "c16", "?", "O")


def run(kind, *inputs, result=None, **options):
    result = inputs[0].dtype if result is None else np.dtype(result)
    content = model(kind, inputs, [(inputs[0].shape, result)], **options)
    return answers(Interpreter(model_content=content), *inputs)[0]


@pytest.mark.parametrize("size", [8, 16])
def test_complex_numbers(size):
    x, rtol = COMPLEX.astype(f"c{size}"), 1e-6
    np.testing.assert_allclose(run("ABS", x, result=f"f{size // 2}"), [5, 1, 0, 8, 2**0.5], rtol)
    roots = run("CBRT", x)
    np.testing.assert_allclose(roots**3, x, rtol, 1e-6)
    assert (np.abs(np.angle(roots)) <= np.pi / 3 + 1e-6).all()  # the principal ones


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_integer_powers(dtype):
    """Of negative exponents what is left of a fraction; a power wraps."""
    fits = np.abs(POWERS[:, 2]) <= np.iinfo(dtype).max
    base, exponent, want = (column[fits].astype(dtype) for column in POWERS.T)
    np.testing.assert_array_equal(run("POWER", base, exponent), want)


@pytest.mark.parametrize("kind", TAKEN)
def test_types(kind):
    """Others are refused before anything runs."""
    unary = kind in (*ANALYTIC, "ABS", "NEGATE", "FLOOR")
    for dtype in TYPES:
        x = np.array([b"a", b"b"], object) if dtype == "O" else np.array([1, 0.0]).astype(dtype)
        with np.errstate(all="ignore"):
            result = f"f{x.itemsize // 2}" if kind == "ABS" and dtype[0] == "c" else None
            if dtype in TAKEN[kind]:
                assert run(kind, x, *([] if unary else [x]), result=result).shape == (2,)
                continue
        with pytest.raises(RuntimeError, match=f"STABLEHLO_{kind} .* is not supported"):
            run(kind, x, *([] if unary else [x]))
