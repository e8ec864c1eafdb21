"""Functions of one element: at most a few units in the last place off, over all of float32."""

import math

import numpy as np
import pytest
from emulated import compiled_for_aarch64
from targets import kinds

from flatlite.engine.build import driver, image
from flatlite.engine.build.target import HOST, Target, find

AARCH64 = pytest.param("aarch64", marks=pytest.mark.slow)
TARGETS = {
    "host": (HOST, 4),
    "avx2": (find("x86-64-v3"), 4),
    "sse2": (Target("x86-64", "x86-64"), 5),  # it rounds products before it adds
}
"""Kind of vectors -> the processor, and how many units in the last place results are off."""
erfc = np.vectorize(math.erfc, otypes=[np.longdouble])


def gelu_tanh(x):
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x / (1 + np.exp(-2 * u))


EXACT = {
    "cos": np.cos,
    "elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "exp": np.exp,
    "gelu": lambda x: x / 2 * erfc((-x / np.sqrt(np.longdouble(2))).astype(np.float64)),
    "gelu_tanh": gelu_tanh,
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "log": np.log,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}
POSITIVE = ("log", "rsqrt", "sqrt")


def every_size(n=20_000):
    """float32 numbers of all exponents, denormals included, and many near 1."""
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**32, n, np.uint32).view(np.float32)
    near = random.uniform(-20, 20, n).astype(np.float32)
    x = np.concatenate([bits[np.isfinite(bits)], near])
    return x[np.abs(x) < 1e37]  # hard_swish multiplies by 6 before it divides


@pytest.fixture(scope="module", params=[*kinds(TARGETS), AARCH64])
def units(request, tmp_path_factory):
    """The kernels compiled for one kind of vectors; gives what results may be off."""
    if request.param == "aarch64":
        with compiled_for_aarch64(tmp_path_factory.mktemp("aarch64"), "unary"):
            yield 4
        return
    aim, most = TARGETS[request.param]
    with pytest.MonkeyPatch.context() as patch:
        if aim is not HOST:
            loaded_image = image.in_memory(*driver.compile_flat("unary", aim))
            patch.setitem(image._images, "unary", loaded_image)
        yield most


@pytest.mark.parametrize("name", EXACT)
def test_within_few_units(units, run_kernel, name):
    x = every_size()
    x = np.abs(x) if name in POSITIVE else x
    got = run_kernel(f"unary.{name}", x, out=(x.shape, x.dtype), split=x.size)
    with np.errstate(all="ignore"):
        exact = EXACT[name](x.astype(np.longdouble))
        unit = np.spacing(np.abs(exact).astype(np.float32))
        both = (got == exact.astype(np.float32)) | (np.abs(got - exact) <= units * unit)
    assert both.all(), (x[~both][:5], got[~both][:5], exact[~both][:5])


@pytest.mark.parametrize(("name", "most", "beyond"), [("gelu", 7, 1 / 500), ("gelu_tanh", 4, 0)])
@pytest.mark.parametrize("limit", [4.5, 6, 9])
def test_usual_numbers(units, run_kernel, name, most, beyond, limit):
    """No number among them that lets its neighbours take the form for all numbers."""
    x = np.random.default_rng(2).uniform(-limit, limit, 40_000).astype(np.float32)
    got = run_kernel(f"unary.{name}", x, out=(x.shape, x.dtype), split=x.size)
    exact = EXACT[name](x.astype(np.longdouble))
    off = np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert off.max() <= most
    assert (off > units).mean() <= beyond


@pytest.mark.parametrize("name", ["exp", "gelu", "gelu_tanh"])
def test_runs_of_unusual_numbers(units, run_kernel, name):
    """Alone, together with a neighbour, and more than the form for all numbers takes in a call."""
    x = np.random.default_rng(3).uniform(-4, 4, 12_345).astype(np.float32)
    far = 95 if name == "exp" else 12
    for begin, n in ((77, 1), (640, 64), (2000, 500), (4096, 4096), (12_200, 145)):
        x[begin : begin + n] -= np.float32(far)
    got = run_kernel(f"unary.{name}", x, out=(x.shape, x.dtype), split=x.size)
    exact = EXACT[name](x.astype(np.longdouble))
    off = np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert off.max() <= (7 if name == "gelu" else units)


SPECIAL = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0])
AT_SPECIAL = {
    "cos": [np.nan, np.nan, np.nan, 1, 1],
    "elu": [np.inf, -1, np.nan, 0, 0],
    "exp": [np.inf, 0, np.nan, 1, 1],
    "gelu": [np.inf, np.nan, np.nan, 0, 0],
    "gelu_tanh": [np.inf, np.nan, np.nan, 0, 0],
    "log": [np.inf, np.nan, np.nan, -np.inf, -np.inf],
    "logistic": [1, 0, np.nan, 0.5, 0.5],
    "rsqrt": [0, np.nan, np.nan, np.inf, -np.inf],
    "sin": [np.nan, np.nan, np.nan, 0, 0],
    "tanh": [1, -1, np.nan, 0, 0],
}
"""What TFLite gives for `SPECIAL`: infinity times 0 is nan in its GELU."""


@pytest.mark.parametrize("name", AT_SPECIAL)
def test_special_numbers(units, run_kernel, name):
    for x in (SPECIAL, np.tile(SPECIAL, 13)):
        want = np.resize(np.float32(AT_SPECIAL[name]), x.shape)
        got = run_kernel(f"unary.{name}", x, out=(x.shape, x.dtype), split=x.size)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["absolute", "negative", "sign", "square"])
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_integers_wrap(run_kernel, name, dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, -3, 0, 4, limits.max], dtype)
    function = {"absolute": np.abs, "negative": np.negative}.get(name, getattr(np, name, None))
    with np.errstate(over="ignore"):
        want = function(x)
    got = run_kernel(f"unary.{name}", x, out=(x.shape, x.dtype), split=x.size)
    np.testing.assert_array_equal(got, want)
