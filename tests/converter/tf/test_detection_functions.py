"""Boxes of several classes and histograms, as builtins, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flatlite.lite import Interpreter, TFLiteConverter

CASES = np.load(Path(__file__).with_name("detection_functions.npz"))
NAMES = sorted({key.rpartition("/")[0] for key in CASES})


def values(name, kind):
    return [CASES[f"{name}/{kind}{i}"] for i in range(9) if f"{name}/{kind}{i}" in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_results_of_tensorflow(name, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(CASES[f"{name}/graph"].tobytes())
    ends = [[end.split(":")[0] for end in CASES[f"{name}/{x}"]] for x in ("inputs", "outputs")]
    content = TFLiteConverter.from_frozen_graph(str(path), *ends).convert()
    interpreter, inputs = Interpreter(model_content=content), values(name, "x")
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    results = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    for outputs in (results, litert.run(content, [inputs])[0]):
        for result, expected in zip(outputs, values(name, "y"), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)
