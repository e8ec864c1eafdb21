"""Nodes of unknown sizes give what ONNX Runtime gives; make_runtime_nodes.py recorded it."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import runtime_sizes

from flatlite.converter.onnx.names import qualified
from flatlite.converter.onnx.reference.evaluator import REPLACEMENTS
from flatlite.lite import Interpreter, TFLiteConverter

RECORDED = np.load(Path(__file__).with_name("runtime_sizes.npz"))
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
TOLERANCE = 1e-5
"""By the largest element; ONNX Runtime computes places and weights in float32."""
NAMES = [
    pytest.param(name, marks=() if name in runtime_sizes.QUICK else pytest.mark.slow)
    for name in runtime_sizes.ROWS
]


@pytest.mark.parametrize("name", NAMES)
def test_node_of_unknown_sizes(name, litert):
    row = runtime_sizes.ROWS[name]
    converter = TFLiteConverter.from_onnx_model(row.model())
    has_oracle = not row.node.domain or qualified(row.node.domain, row.node.op_type) in REPLACEMENTS
    with warnings.catch_warnings():
        if not has_oracle:
            warnings.filterwarnings("ignore", "the converted model was not verified: .* has no ref")
        content = converter.convert()
    assert converter.verified or not has_oracle
    runner = Interpreter(model_content=content).get_signature_runner()
    for i, feeds in enumerate(row.sets):
        want = RECORDED[f"{name}/{i}"]
        theirs = litert.run(content, [feeds], REFERENCE, "serving_default")
        assert not isinstance(theirs, str), theirs
        for results in (runner(**feeds), theirs[0]):
            scale = max(np.abs(want).max(initial=0), 1.0)
            np.testing.assert_allclose(results["y"], want, 0, TOLERANCE * scale)
