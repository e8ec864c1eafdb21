"""The ONNX project's own cases of single nodes, through `.tflite` to both interpreters.

onnx_nodes.txt says which are not converted and why; each of them must be refused in its words. The
cases are made by the modules of onnx.backend.test.case.node, of which every run has a spread.
"""

import pytest
from onnx_nodes import (
    MODULES,
    RANDOM,
    array_of,
    cases_of,
    compare,
    expected_refusal,
    is_plain,
    unverified,
)

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

SPREAD = (
    "batchnorm", "bernoulli", "bitshift", "cumsum", "depthtospace", "gathernd", "gru", "hardmax",
    "loop", "lppool", "maxunpool", "nonmaxsuppression", "onehot", "pad", "qlinearmatmul",
    "reversesequence", "scan", "scatterelements", "shrink", "slice", "topk", "trilu", "unsqueeze",
)  # fmt: skip
"""Modules whose cases are in every run."""
pytestmark = pytest.mark.filterwarnings("ignore:.*compute in float64 in the source:UserWarning")
NO_ARRAYS = ("bfloat16", "int4")
"""Types that LiteRT's wrapper has no arrays for."""


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
