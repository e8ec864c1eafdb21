"""Functions of boxes, grids, updates and norms: TensorFlow's answers in no more operators.

What make_function_operators.py recorded lies in function_operators.npz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import load

CASES = np.load(Path(__file__).with_name("function_operators.npz"))
NAMES = sorted({key.rpartition("/")[0] for key in CASES})

MORE_OPERATORS = {"boxes/v3": 2, "boxes/v4": 2, "boxes/v5": 3, "update/repeated": 5}
"""TensorFlow's file gives boxes that are none at the end, where TensorFlow gives fewer, and adds up
the updates of one place, of which TensorFlow takes the last."""
MORE_OPERATORS |= {"patches/cropped": 3, "patches/padded": 1}
"""TensorFlow's file has a Flex operator."""


def values(name, kind):
    return [CASES[f"{name}/{kind}{i}"] for i in range(9) if f"{name}/{kind}{i}" in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_results_and_operators_of_tensorflow(name, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(CASES[f"{name}/graph"].tobytes())
    ends = [[end.split(":")[0] for end in CASES[f"{name}/inputs"]], list(CASES[f"{name}/outputs"])]
    content = TFLiteConverter.from_frozen_graph(str(path), *ends).convert()
    n_operators = sum(len(graph.operators) for graph in load(content).subgraphs)
    assert n_operators <= CASES[f"{name}/operators"] + MORE_OPERATORS.get(name, 0)
    interpreter, inputs = Interpreter(model_content=content), values(name, "x")
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    results = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    for outputs in (results, litert.run(content, [inputs])[0]):
        for result, expected in zip(outputs, values(name, "y"), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
