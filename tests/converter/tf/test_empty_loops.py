"""Loops over no rows, parts without elements, and others: TensorFlow's answers, in LiteRT as well.

What make_empty_loops.py recorded lies in empty_loops.npz.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import answers

from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import load

with np.load(Path(__file__).with_name("empty_loops.npz")) as file:
    RECORDED = dict(file.items())
NAMES = sorted({key.partition("/")[0] for key in RECORDED})
MORE_OPERATORS = {"appended_constants": 1, "branches": 1, "parts": 2, "segments": 3}
"""TensorFlow's file has constants without elements for outputs, which LiteRT cannot read, and a
SEGMENT_SUM, which in LiteRT has no row for a segment that does not occur. LiteRT does not run its
loop that begins without elements and appends a constant."""
RAN_WITHOUT_RESULT = "ValueError: Invalid tensor size."
"""LiteRT does not hand out what has no elements."""


def content_of(name, folder):
    path = folder / "graph.pb"
    path.write_bytes(RECORDED[f"{name}/graph"].tobytes())
    ends = (
        [end.split(":")[0] for end in RECORDED[f"{name}/{side}"]] for side in ("inputs", "outputs")
    )
    return TFLiteConverter.from_frozen_graph(path, *ends).convert()


def arrays(name, run, letter):
    keys = (f"{name}/{run}/{letter}{i}" for i in range(4))
    return [RECORDED[key] for key in keys if key in RECORDED]


@pytest.mark.parametrize("name", NAMES)
def test_answers_and_operators(name, tmp_path, litert):
    content = content_of(name, tmp_path)
    n_operators = sum(len(graph.operators) for graph in load(content).subgraphs)
    if (bound := RECORDED.get(f"{name}/operators")) is not None:
        assert n_operators <= bound + MORE_OPERATORS.get(name, 0)
    interpreter = Interpreter(model_content=content)
    run = 0
    while feeds := arrays(name, run, "x"):
        expected = arrays(name, run, "y")
        check(answers(interpreter, *feeds), expected)
        for resolver in ("BUILTIN", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"):
            runs = litert.run(content, [feeds], resolver)
            if runs == RAN_WITHOUT_RESULT:
                assert any(y.size == 0 for y in expected)
            else:
                assert not isinstance(runs, str), runs
                check(runs[0], expected)
        run += 1


def check(results, expected):
    for result, y in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, y, rtol=1e-5, atol=1e-5)
