"""Functions of float16 and bfloat16, of which LiteRT computes most in float32, as TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flatlite.lite import Interpreter, TFLiteConverter

CASES = np.load(Path(__file__).with_name("half_functions.npz"))
NAMES = sorted({key.rpartition("/")[0] for key in CASES})
PRECISION = {"float16": 2e-3, "bfloat16": 2e-2}


@pytest.mark.parametrize("name", NAMES)
def test_results_of_tensorflow(name, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(CASES[f"{name}/graph"].tobytes())
    ends = [[end.split(":")[0]] for end in CASES[f"{name}/ends"].tolist()]
    content = TFLiteConverter.from_frozen_graph(str(path), *ends).convert()
    x, expected = CASES[f"{name}/in"], CASES[f"{name}/out"]
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    tolerance = PRECISION[name.rpartition("/")[2]] * np.abs(expected).max()
    for y in (result, litert.run(content, [[x]])[0][0]):
        np.testing.assert_allclose(y, expected, atol=tolerance)
