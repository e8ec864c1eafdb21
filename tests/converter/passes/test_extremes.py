"""Rows of infinities: their extreme is infinite in XNNPACK and the last finite number elsewhere."""

import numpy as np
import pytest

from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.converter.passes.extremes import compare_extremes
from flatlite.schema.model import save

LARGEST = np.finfo(np.float32).max
ROWS = np.float32([[-np.inf, -np.inf, -np.inf], [1, -np.inf, 2], [3, 4, 5]])
SIGNS = {"REDUCE_MAX": 1, "REDUCE_MIN": -1}


def graph_of(kind, lines):
    """What is asked of the extreme of each row."""
    text = f"m = {kind}(x, int32[1]{{1}})\n{lines}\nreturn y"
    constants = {"infinity": np.float32(-SIGNS[kind] * np.inf), "largest": LARGEST}
    graph = parse(f"graph main(x: float32[3,3]) {{\n{text}\n}}", constants)
    graph.output_names = ["y"]
    return graph


@pytest.mark.parametrize("kind", SIGNS)
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("y = EQUAL(m, float32[]#infinity)", [True, False, False]),
        ("y = NOT_EQUAL(float32[]#infinity, m)", [False, True, True]),
        ("r = RESHAPE(m, int32[1]{3})\ny = EQUAL(r, float32[]#infinity)", [True, False, False]),
        ("a = ABS(m)\ny = GREATER(a, float32[]#largest)", [True, False, False]),
        ("d = SUB(m, m)\ny = EQUAL(d, float32[]{0.0})", [False, True, True]),
    ],
)
def test_extremes_of_infinities_are_infinite(kind, lines, expected, litert):
    graph = graph_of(kind, lines)
    compare_extremes(graph)
    content = save(write(graph).model)
    for resolver in ("BUILTIN_REF", "BUILTIN"):
        ((answer,),) = litert.run(content, [[SIGNS[kind] * ROWS]], resolver)
        assert answer.tolist() == expected, resolver


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("EQUAL", "EQUAL"), [False, True, False, False]),
        (("GREATER_EQUAL", "LESS_EQUAL"), [False, True, False, False]),
        (("LESS", "GREATER"), [True, False, True, False]),
    ],
)
def test_numbers_are_infinite(kinds, expected, sign, litert):
    """The file has no infinite constants: what is compared with them is not wrong for that."""
    kind = kinds[sign < 0]
    constants = {"infinity": np.float32(sign * np.inf)}
    text = f"y = {kind}(x, float32[]#infinity)\nreturn y"
    graph = parse(f"graph main(x: float32[4]) {{\n{text}\n}}", constants)
    graph.output_names = ["y"]
    compare_extremes(graph)
    x = np.float32([1, sign * np.inf, -sign * np.inf, np.nan])
    content = save(write(graph).model)
    for resolver in ("BUILTIN_REF", "BUILTIN"):
        assert litert.run(content, [[x]], resolver)[0][0].tolist() == expected, resolver


@pytest.mark.parametrize("comparison", ["LESS(m, float32[]#infinity)", "EQUAL(m, float32[]{1.0})"])
def test_other_comparisons_stay(comparison):
    graph = graph_of("REDUCE_MAX", f"y = {comparison}")
    before = str(graph)
    compare_extremes(graph)
    assert str(graph) == before
