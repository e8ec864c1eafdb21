"""Zeros that are shared, and loop values that are equal in every iteration."""

import numpy as np
import pytest
from rewriting import Rewrite, check, graph_of

from flatlite.converter.ir.write import write
from flatlite.converter.passes.fold import share_zeros
from flatlite.converter.passes.loop_values import merge_loop_values
from flatlite.converter.passes.trim_loops import trim_loops
from flatlite.lite import Interpreter
from flatlite.schema.model import save

ZEROS = [
    Rewrite(
        "zeros/of_one_shape",
        share_zeros,
        """graph main(x: float32[n,4]) {
             s = SHAPE(x)
             a = FILL(s, float32[]{0})
             y = LOGISTIC(x)
             z = ZEROS_LIKE(y)
             r = MAXIMUM(y, z)
             return r, a
           }""",
        """graph main(x: float32[n,4]) {
             s = SHAPE(x)
             a = FILL(s, float32[]{0})
             y = LOGISTIC(x)
             r = MAXIMUM(y, a)
             return r, a
           }""",
    ),
    Rewrite(
        "zeros/holds_off_on_other_types_shapes_and_values",
        share_zeros,
        """graph main(x: float32[n,4]) {
             s = SHAPE(x)
             a = FILL(s, float32[]{0})
             b = FILL(s, float32[]{-0.0})
             c = FILL(s, int32[]{0})
             d = FILL(s, float32[]{1})
             y = TRANSPOSE(x, int32[2]{1, 0})
             e = ZEROS_LIKE(y)
             return a, b, c, d, e
           }""",
    ),
]
LOOP = """graph main(x: float32[n,4], w: float32[n,4]) {
             i: int32[], a: float32[n,4], b: float32[n,4], c: float32[n,4] = WHILE(
                 int32[]{0}, x, x, SECOND; calls=[test, step])
             return a, b, c
           }

           graph test(i: int32[], a: float32[n,4], b: float32[n,4], c: float32[n,4]) {
             t = LESS(i, int32[]{3})
             return t
           }

           graph step(i: int32[], a: float32[n,4], b: float32[n,4], c: float32[n,4]) {
             j = ADD(i, int32[]{1})
             d = SIN(a)
             e = SIN(b)
             f = SIN(c)
             return j, d, LAST, f
           }"""


@pytest.mark.parametrize("row", ZEROS, ids=str)
def test_rewrite(row):
    check(row)


def answers(graph):
    interpreter = Interpreter(model_content=save(write(graph).model))
    rng = np.random.default_rng(0)
    for detail in interpreter.get_input_details():
        interpreter.resize_tensor_input(detail["index"], (2, 4))
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], rng.normal(size=(2, 4)).astype(np.float32))
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


@pytest.mark.parametrize(
    ("start", "last", "values"),
    [
        ("x", "e", 2),  # all three are one
        ("w", "e", 3),  # the third starts from another value
        ("w", "f", 4),  # the second goes on as the third
    ],
)
def test_equal_values_of_a_loop_become_one(start, last, values):
    graph = graph_of(LOOP.replace("SECOND", start).replace("LAST", last))
    before = answers(graph)
    changed = merge_loop_values(graph)
    assert bool(changed) == (values < 4)
    trim_loops(graph)
    (loop,) = (op for op in graph.ops if op.kind == "WHILE")
    assert len(loop.inputs) == values
    for old, new in zip(before, answers(graph), strict=True):
        np.testing.assert_array_equal(old, new)
