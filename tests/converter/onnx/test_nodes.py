"""The ONNX project's own cases of single nodes, through `.tflite` to both interpreters.

onnx_nodes.txt says which are not converted and why; each of them must be refused in its words. The
cases are made by the modules of onnx.backend.test.case.node, of which every run has a spread.
"""

import contextlib
import fnmatch
import functools
import importlib
import io
import pkgutil
import warnings
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

CASES = "onnx.backend.test.case.node"
MODULES = sorted(m.name for m in pkgutil.iter_modules(importlib.import_module(CASES).__path__))
SPREAD = (
    "batchnorm", "bernoulli", "bitshift", "cumsum", "depthtospace", "gathernd", "gru", "hardmax",
    "loop", "lppool", "maxunpool", "nonmaxsuppression", "onehot", "pad", "qlinearmatmul",
    "reversesequence", "scan", "scatterelements", "shrink", "slice", "topk", "trilu", "unsqueeze",
)  # fmt: skip
"""Modules whose cases are in every run."""
NO_ARRAYS = ("bfloat16", "int4")
"""Types that LiteRT's wrapper has no arrays for."""
RANDOM = "(random numbers)"
BFLOAT16_RTOL = 2.0**-6
"""What onnx.backend.test.runner allows: its reference rounds each sum of a softmax to bfloat16."""
EXOTIC = tuple(
    np.dtype(getattr(ml_dtypes, name))
    for name in dir(ml_dtypes)
    if name.startswith(("float", "bf"))
)


def refusals():
    """(pattern of case names, words of the error), in the order of the file."""
    rows, words = [], ""
    for line in Path(__file__).with_name("nodes.txt").read_text().splitlines():
        if line.startswith("  "):
            rows += [(pattern, words) for pattern in line.split()]
        elif line and not line.startswith("#"):
            words = line
    return rows


REFUSALS = refusals()


def expected_refusal(name):
    """The words with which a case is refused, None for one that is converted."""
    return next((words for pattern, words in REFUSALS if fnmatch.fnmatch(name, pattern)), None)


@functools.cache
def cases_of(module):
    """The cases that a module makes when it is imported; what it draws is the same in every run."""
    from onnx.backend.test.case.node import _NodeTestCases

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        del _NodeTestCases[:]
        np.random.seed(0)  # noqa: NPY002 - what the cases are drawn with
        importlib.import_module(f"{CASES}.{module}")
        cases = list(_NodeTestCases)
        del _NodeTestCases[:]
    return cases


def array_of(x):
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)


def finite(x):
    """LiteRT's sums give the largest number in the place of infinities."""
    limits = np.finfo(x.dtype)
    return np.clip(x, limits.min, limits.max)


def compare(case, actual, expected):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    if expected_refusal(case.name) == RANDOM:
        assert actual.dtype == expected.dtype
        return
    if expected.dtype.kind in "OSU":
        texts = [[x if isinstance(x, bytes) else str(x).encode() for x in y.ravel()] for y in
                 (actual, expected)]  # fmt: skip
        assert texts[0] == texts[1]
        return
    assert actual.dtype == expected.dtype
    if expected.dtype == ml_dtypes.bfloat16:
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
        np.testing.assert_allclose(actual, expected, max(case.rtol, BFLOAT16_RTOL), case.atol)
        return
    if expected.dtype.kind == "f":
        atol = max(case.atol, 1e-6)
        np.testing.assert_allclose(finite(actual), finite(expected), case.rtol, atol)
    else:
        np.testing.assert_array_equal(actual, expected)


def checked(case, litert):
    """Converts a case, and compares what both interpreters give with the stored outputs."""
    words = expected_refusal(case.name)
    converter = TFLiteConverter.from_onnx_model
    if words not in (None, RANDOM):
        with pytest.raises(ConverterError) as error:
            unverified(converter(case.model))
        assert words in str(error.value)
        assert len(str(error.value).splitlines()) <= 15
        return
    content = unverified(converter(case.model))
    graph = case.model.graph
    for inputs, outputs in case.data_sets:
        runner = Interpreter(model_content=content).get_signature_runner()
        used = runner.get_input_details()
        feeds = {v.name: array_of(x) for v, x in zip(graph.input, inputs, strict=False)}
        feeds = {name: x for name, x in feeds.items() if name in used}
        results = runner(**feeds)
        for value, expected in zip(graph.output, outputs, strict=True):
            compare(case, results[value.name], array_of(expected))
        arrays = [*feeds.values(), *map(array_of, outputs)]
        if any(0 in x.shape or x.dtype.name in NO_ARRAYS for x in arrays):
            continue  # LiteRT's wrapper hands out no empty tensor
        theirs = litert.run(
            content, [feeds], "BUILTIN_WITHOUT_DEFAULT_DELEGATES", "serving_default"
        )
        assert not isinstance(theirs, str), theirs
        for value, expected in zip(graph.output, outputs, strict=True):
            compare(case, theirs[0][value.name], array_of(expected))


def unverified(converter):
    converter.verify = False
    return converter.convert()


def failures(module, litert):
    """What is wrong with the cases of a module: name, and what was said."""
    for case in cases_of(module):
        problem = failure(case, litert)
        if problem:
            yield problem


def failure(case, litert):
    try:
        checked(case, litert)
    except (AssertionError, ValueError, RuntimeError, pytest.fail.Exception) as error:
        return f"{case.name}: {type(error).__name__}: {str(error)[:300]}"
    return ""


@pytest.mark.parametrize(
    "module", [pytest.param(m, marks=() if m in SPREAD else pytest.mark.slow) for m in MODULES]
)
def test_nodes_of(module, litert):
    assert not list(failures(module, litert))


@pytest.mark.slow
def test_most_plain_nodes_are_converted():
    """At least 95 of 100 cases of tensors of types that TFLite computes."""
    plain = [case.name for module in MODULES for case in cases_of(module) if is_plain(case.model)]
    refused = [name for name in plain if expected_refusal(name) is not None]
    assert len(refused) <= 0.05 * len(plain), f"{len(refused)} of {len(plain)}"


TYPES = ("BOOL", "FLOAT", "FLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32")
COMPUTED = {getattr(onnx.TensorProto, name) for name in TYPES}


def is_plain(model):
    values = [*model.graph.input, *model.graph.output]
    return all(
        v.type.WhichOneof("value") == "tensor_type" and v.type.tensor_type.elem_type in COMPUTED
        for v in values
    )
