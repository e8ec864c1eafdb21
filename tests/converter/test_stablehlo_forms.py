"""General forms of StableHLO's operations, converted, against what JAX computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from flatlite.lite import Interpreter, TFLiteConverter

CASES = np.load(Path(__file__).with_name("stablehlo_forms.npz"))
NAMES = sorted({key.rpartition("/")[0] for key in CASES})
SINGLE = {
    "running/product": "STABLEHLO_REDUCE_WINDOW",
    "scatter/segments": "STABLEHLO_SCATTER",
    "windows/average": "AVERAGE_POOL_2D",
    "windows/dilated": "STABLEHLO_REDUCE_WINDOW",
}
"""Cases -> an operator that the file must have."""
IN_LITERT = ("bits/philox", "gradient/average", "scatter/segments", "windows/dilated")


def convert(name, tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(CASES[f"{name}/graph"].tobytes())
    ends = [[t.split(":")[0] for t in CASES[f"{name}/{x}"]] for x in ("inputs", "outputs")]
    return TFLiteConverter.from_frozen_graph(str(path), *ends).convert(), ends[0]


def values(name, kind):
    return [CASES[f"{name}/{kind}{i}"] for i in range(9) if f"{name}/{kind}{i}" in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_outputs_of_jax(name, tmp_path, litert):
    content, inputs = convert(name, tmp_path)
    interpreter = Interpreter(model_content=content)
    details = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
    feeds = dict(zip(inputs, values(name, "x"), strict=True))
    for key, index in details.items():
        interpreter.resize_tensor_input(index, feeds[key].shape)
    interpreter.allocate_tensors()
    for key, index in details.items():
        interpreter.set_tensor(index, feeds[key])
    interpreter.invoke()
    results = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    if name in IN_LITERT:
        results += litert.run(content, [[feeds[key] for key in details]])[0]
    expected = values(name, "y")
    for result, y in zip(results, expected * 2, strict=False):
        np.testing.assert_allclose(result, y, rtol=1e-5, atol=1e-5)
    kinds = [op["op_name"] for op in interpreter._get_ops_details()]
    assert SINGLE.get(name, kinds[0]) in kinds
