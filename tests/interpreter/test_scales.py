"""Stored integers of all scales, as LiteRT's reference kernels take them."""

import numpy as np
import pytest
from cases import Case, content
from far_scales import KINDS, case_of
from hypothesis import given, settings
from hypothesis import strategies as st
from running import answers

from flatlite.lite import Interpreter

TYPES = ("int8", "uint8", "int16")
ACTIVATIONS = st.sampled_from(["NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
STEPS = {"stride_h": 1, "stride_w": 1}
POOL = {**STEPS, "filter_height": 2, "filter_width": 2}
BY_TYPE = {"LOGISTIC": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0)},
           "TANH": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128)}}  # fmt: skip
"""Operator -> type -> the scale and zero point its results must have."""


def scales(low, high):
    """Scales from 10 ** low to 10 ** high, their logarithms alike."""
    return st.floats(low, high).map(lambda power: float(np.float32(10.0**power)))


# Results from 1e-8 on: LiteRT makes an int32 of 6 / scale. Nothing is scaled by 2 ** 30 or more:
# LiteRT shifts an int32 by more than it has bits.
SCALES, RATIOS = scales(-8, 24), scales(-7, 8)


@st.composite
def scheme(draw, dtype, scale=SCALES):
    """A scale and a zero point of `dtype`."""
    known = np.iinfo(dtype)
    zero_point = st.just(0) if dtype == "int16" else st.integers(known.min, known.max)
    return draw(scale), draw(zero_point)


def numbers(dtype, shape, seed):
    """Integers over the whole range; weights have no lowest one."""
    known = np.iinfo(dtype)
    low = known.min + (dtype == "int8" and seed > 0)
    return np.random.default_rng(seed).integers(low, known.max + 1, shape).astype(dtype)


def every(dtype):
    """All numbers of a type, of 16 bits those of a grid."""
    known = np.iinfo(dtype)
    return np.arange(known.min, known.max + 1, 1 if known.bits == 8 else 37).astype(dtype)


@st.composite
def rescaled(draw):
    """Operators that bring stored integers to another scale, and cut them off."""
    dtype = draw(st.sampled_from(TYPES))
    kinds = ["RELU", "RELU6", "LEAKY_RELU"]
    kinds += ["RELU_N1_TO_1", "RELU_0_TO_1"] if dtype != "int16" else []
    kinds += ["ABS"] if dtype != "uint8" else []
    kind = draw(st.sampled_from(kinds))
    x, ratio = draw(scheme(dtype)), draw(RATIOS)
    out = (max(x[0] / ratio, 1e-8), draw(scheme(dtype))[1])
    options = {"alpha": draw(st.floats(-2, 2, width=32))} if kind == "LEAKY_RELU" else {}
    return Case(kind, kind, options, [every(dtype)], quantization={0: x, "out0": out})


@st.composite
def functions(draw):
    """Operators that are tables of a function of reals."""
    dtype = draw(st.sampled_from(["int8", "uint8"]))
    kinds = ["TANH", "LOGISTIC", "GELU"] + (["EXP", "LOG"] if dtype == "int8" else [])
    kind = draw(st.sampled_from(kinds))
    x, out = draw(scheme(dtype, scales(-6, 2))), draw(scheme(dtype, scales(-6, 2)))
    if kind == "EXP":  # below infinity
        x, out = (x[0] / 100, x[1]), (max(out[0], 1e-3), out[1])
    options = {"approximate": draw(st.booleans())} if kind == "GELU" else {}
    out = BY_TYPE.get(kind, {}).get(dtype, out)
    return Case(kind, kind, options, [every(dtype)], quantization={0: x, "out0": out})


@st.composite
def pairs(draw):
    """Operators of two operands with a fused activation."""
    kind, dtype = draw(st.sampled_from(["ADD", "SUB", "MUL"])), draw(st.sampled_from(TYPES))
    a, b, out = draw(scheme(dtype)), draw(scheme(dtype)), draw(scheme(dtype))
    if kind == "MUL":
        b = (draw(scales(-8, 8)), b[1])
        widest = a[0] * b[0]
    else:
        b = (a[0] * draw(scales(-4, 4)), b[1])
        widest = max(a[0], b[0])
    ratio = draw(RATIOS if kind == "MUL" else scales(-7, 4))  # LiteRT aborts above 2 ** 14
    out = (max(widest / ratio, 1e-8), out[1])
    options = {"fused_activation_function": draw(ACTIVATIONS)}
    if dtype == "int16" and kind != "MUL":
        options["pot_scale_int16"] = False
    inputs = [numbers(dtype, (64,), seed) for seed in (0, 2)]
    return Case(kind, kind, options, inputs, quantization={0: a, 1: b, "out0": out})


@st.composite
def products(draw):
    """Operators that multiply by weights; sums times the scale stay within int32."""
    dtype = draw(st.sampled_from(TYPES))
    weights = "uint8" if dtype == "uint8" else "int8"
    kind = draw(st.sampled_from(["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]))
    x, w = draw(scheme(dtype)), (draw(scales(-8, 4)), draw(scheme(weights))[1])
    w = w if weights == "uint8" else (w[0], 0)
    ratio = draw(scales(-6, -1 if dtype == "int16" else 2))
    out = (max(x[0] * w[0] / ratio, 1e-8), draw(scheme(dtype))[1])
    options = {"fused_activation_function": draw(ACTIVATIONS)}
    shapes = {"CONV_2D": (5, 2, 2, 8), "DEPTHWISE_CONV_2D": (1, 2, 2, 8), "FULLY_CONNECTED": (5, 8)}
    options |= {} if kind == "FULLY_CONNECTED" else STEPS
    options |= {"depth_multiplier": 1} if kind == "DEPTHWISE_CONV_2D" else {}
    values = numbers(dtype, (4, 8) if kind == "FULLY_CONNECTED" else (1, 3, 3, 8), 0)
    shape = shapes[kind]
    bias = np.zeros(8 if shape[0] == 1 else 5, np.int64 if dtype == "int16" else np.int32)
    operands = [values, numbers(weights, shape, 1), bias]
    if kind == "FULLY_CONNECTED" and draw(st.booleans()) and dtype != "uint8":
        kind, options = "BATCH_MATMUL", {}
        operands = [values, numbers(dtype, (8, 5), 1)]
    constants = range(1, len(operands)) if kind != "BATCH_MATMUL" else ()
    of_bias = (float(np.float32(x[0]) * np.float32(w[0])), 0)
    schemes = {0: x, 1: w, 2: of_bias, "out0": out}
    return Case(kind, kind, options, operands, constants=constants, quantization=schemes)


@st.composite
def pools(draw):
    """Pooling with a fused activation."""
    kind = draw(st.sampled_from(["AVERAGE_POOL_2D", "MAX_POOL_2D"]))
    dtype = draw(st.sampled_from(TYPES))
    x = draw(scheme(dtype))
    options = {**POOL, "fused_activation_function": draw(ACTIVATIONS)}
    values = numbers(dtype, (1, 4, 4, 3), 0)
    return Case(kind, kind, options, [values], quantization={0: x, "out0": x})


@pytest.mark.parametrize("cases", [rescaled, functions, pairs, products, pools])
def test_as_litert(cases, litert):
    @settings(max_examples=80)
    @given(cases())
    def check(case):
        theirs = litert.run(content(case), [case.feeds])
        assert not isinstance(theirs, str), theirs
        ours = answers(Interpreter(model_content=content(case)), *case.feeds)
        np.testing.assert_array_equal(ours[0], theirs[0][0], err_msg=str(case))

    check()


def as_litert_far(kind, seeds, litert):
    """How many cases of a kind LiteRT runs; ours must give its results there, and stop nowhere."""
    n_runs = 0
    for seed in seeds:
        case = case_of(kind, seed)
        file = content(case)
        theirs = litert.run(file, [case.feeds], case.oracle)
        try:
            ours = answers(Interpreter(model_content=file), *case.feeds)
        except RuntimeError:  # one clear refusal, of what LiteRT refuses or aborts on
            assert isinstance(theirs, str), str(case)
            continue
        if not isinstance(theirs, str):
            n_runs += 1
            np.testing.assert_array_equal(ours[0], theirs[0][0], err_msg=f"{seed} {case}")
    return n_runs


@pytest.mark.parametrize("kind", KINDS)
def test_far_scales(kind, litert):
    """Scales from 1e-30 to 1e30, their logarithms alike."""
    assert as_litert_far(kind, range(5), litert)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_far_scales(kind, litert):
    assert as_litert_far(kind, range(1000, 1500), litert) > 100


@pytest.mark.parametrize("adj_y", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_columns_with_scales_are_those_of_fully_connected(dtype, adj_y, litert):
    """LiteRT's BATCH_MATMUL takes such scales for 0; AI Edge Quantizer writes them."""
    x, weights = numbers(dtype, (9, 34), 0), numbers("int8", (6, 34), 1)
    params = {0: (0.02, 0 if dtype == "int16" else 5), "out0": (0.3, 0 if dtype == "int16" else -7)}
    columns = np.float32([0.01, 0.02, 0.003, 0.4, 0.05, 0.06])

    def case(kind, y, axis, **options):
        quantization = params | {1: (columns, 0, axis)}
        return Case(kind, kind, options, [x, y], constants=(1,), quantization=quantization)

    ((expected,),) = litert.run(content(case("FULLY_CONNECTED", weights, 0)), [[x]])
    y = weights if adj_y else np.ascontiguousarray(weights.T)
    file = content(case("BATCH_MATMUL", y, 0 if adj_y else 1, adj_y=adj_y))
    np.testing.assert_array_equal(answers(Interpreter(model_content=file), x)[0], expected)
    assert np.unique(expected).size > 20
