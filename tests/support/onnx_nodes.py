"""The ONNX project's own cases of single nodes, and which of them are refused."""

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
from onnx import numpy_helper

CASES = "onnx.backend.test.case.node"
MODULES = sorted(m.name for m in pkgutil.iter_modules(importlib.import_module(CASES).__path__))
RANDOM = "(random numbers)"
BFLOAT16_RTOL = 2.0**-6
"""What onnx.backend.test.runner allows: its reference rounds each sum of a softmax to bfloat16."""


def refusals():
    """(pattern of case names, words of the error), in the order of the file."""
    rows, words = [], ""
    for line in (Path(__file__).parents[1] / "converter/onnx/nodes.txt").read_text().splitlines():
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


def unverified(converter):
    converter.verify = False
    return converter.convert()


TYPES = ("BOOL", "FLOAT", "FLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32")
COMPUTED = {getattr(onnx.TensorProto, name) for name in TYPES}


def is_plain(model):
    values = [*model.graph.input, *model.graph.output]
    return all(
        v.type.WhichOneof("value") == "tensor_type" and v.type.tensor_type.elem_type in COMPUTED
        for v in values
    )
