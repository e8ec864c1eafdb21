"""Modules whose functions have no operations: arguments passed on, constants, nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import answers

from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.errors import ModelError

RECORDED = np.load(Path(__file__).with_name("stablehlo_functions.npz"))
X, C = np.float32([-1, 5]), np.float32([3, 4])
RESULTS = {
    "argument": [X],
    "argument_twice": [X, X],
    "call": [X, X],
    "call_of_constant": [C],
    "call_of_nothing": [X],
    "case": [C],
    "composite": [X, C],
    "constant": [C],
    "constant_twice": [C, C],
    "exchange": [C, X],
    "loop": [X],
    "nothing": [X],
}


def converter_of(name, folder):
    path = folder / "graph.pb"
    path.write_bytes(RECORDED[f"{name}/graph"].tobytes())
    return TFLiteConverter.from_frozen_graph(str(path), ["x"], list(RECORDED[f"{name}/outputs"]))


@pytest.mark.parametrize("name", RESULTS)
def test_functions_without_operations(name, tmp_path, litert):
    converter = converter_of(name, tmp_path)
    content = converter.convert()
    assert converter.verified
    for results in (answers(Interpreter(model_content=content), X), litert.run(content, [[X]])[0]):
        for result, expected in zip(results, RESULTS[name], strict=True):
            np.testing.assert_array_equal(result, expected)


def test_functions_that_call_twice_each(tmp_path, monkeypatch):
    """2 ** 30 calls of what makes no operation are an error in time; the limit is lower here."""
    monkeypatch.setattr("flatlite.graph.stablehlo.writer.MAX_OPERATIONS", 2**12)
    with pytest.raises(ModelError, match="functions call more than 4096 times"):
        converter_of("doubling", tmp_path).convert()
