"""Nodes give what ONNX Runtime gives; make_runtime_nodes.py recorded it."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import runtime_language
import runtime_layers
import runtime_legacy
import runtime_nodes
import runtime_versions

from flatlite.converter.onnx.reference.evaluator import REPLACEMENTS, OnnxOracle
from flatlite.converter.sources.onnx import load
from flatlite.lite import Interpreter, TFLiteConverter

MODULES = (runtime_nodes, runtime_layers, runtime_language, runtime_versions, runtime_legacy)
ROWS = {name: row for module in MODULES for name, row in module.ROWS.items()}
RECORDED = {
    key: values
    for module in MODULES
    for key, values in np.load(Path(__file__).with_name(f"{module.__name__}.npz")).items()
}
WITHOUT_ORACLE = ("MaxRoiPool", *(row.kind for row in runtime_legacy.ROWS.values()))
LOWEST = 1e38
"""Numbers of this size stand for infinities."""
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


def close(result, want, tolerance):
    assert result.shape == want.shape and result.dtype == want.dtype
    if want.dtype.kind == "f":
        is_number = np.abs(want) < LOWEST
        np.testing.assert_array_equal(result[~is_number], want[~is_number])
        result, want = result[is_number], want[is_number]
        scale = max(np.abs(want).max(initial=0), 1e-3)
        np.testing.assert_allclose(result, want, 0, scale * max(tolerance, 2e-6))
    else:
        steps = np.abs(result.astype(np.int64) - want.astype(np.int64)).max(initial=0)
        assert steps <= (tolerance if tolerance >= 1 else 0)


def has_reference(row):
    if row.domain == "com.microsoft":
        return f"{row.domain}.{row.kind}" in REPLACEMENTS
    return row.kind not in WITHOUT_ORACLE


def converted(row):
    """The file; some operators of com.microsoft have no oracle to verify it with."""
    has_oracle = has_reference(row)
    converter = TFLiteConverter.from_onnx_model(row.model())
    with warnings.catch_warnings():
        if not has_oracle:
            warnings.filterwarnings("ignore", "the converted model was not verified: .* has no ref")
        content = converter.convert()
    assert converter.verified or not has_oracle
    return content


NAMES = [
    pytest.param(name, marks=pytest.mark.slow if name in runtime_versions.SLOW else ())
    for name in ROWS
]


@pytest.mark.filterwarnings("ignore:.*compute in float64 in the source:UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_node(name, litert):
    row = ROWS[name]
    content = converted(row)
    runner = Interpreter(model_content=content).get_signature_runner()
    feeds = {key: row.feeds[key] for key in runner.get_input_details()}
    results = runner(**feeds)
    expected = {output: RECORDED[f"{name}/{output}"] for output in row.outputs}
    for output, want in expected.items():
        close(results[output], want, row.tolerance)
    theirs = litert.run(content, [feeds], REFERENCE, "serving_default")
    has_empty = not all(want.size for want in expected.values())
    if has_empty and theirs == "ValueError: Invalid tensor size.":
        return  # LiteRT's Python does not give arrays that turn out to be empty
    assert not isinstance(theirs, str), theirs
    for output, want in expected.items():
        close(theirs[0][output], want, row.tolerance)


REFERENCED = [
    name for name, row in ROWS.items() if row.domain == "com.microsoft" and has_reference(row)
]


@pytest.mark.parametrize("name", REFERENCED)
def test_what_verifies_it_gives_the_same(name):
    row = ROWS[name]
    source = load(row.model())
    arrays = [row.feeds[port.name] for port in source.inputs]
    for output, result in zip(
        row.outputs, OnnxOracle(source).run(row.outputs, arrays), strict=True
    ):
        close(result, RECORDED[f"{name}/{output}"], row.tolerance)
