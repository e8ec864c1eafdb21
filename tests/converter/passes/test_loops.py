"""Zeros that are shared, and loop values that are equal in every iteration."""

import numpy as np
import pytest
import running
from rewriting import Rewrite, check, graph_of

from flatlite.converter.ir.write import write
from flatlite.converter.passes.fold import merge_duplicates, share_zeros
from flatlite.converter.passes.hoist import hoist_invariants
from flatlite.converter.passes.loop_values import (
    copy_exchanged_values,
    merge_loop_values,
    order_exchanged_values,
)
from flatlite.converter.passes.trim_loops import take_last_row, trim_loops
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


TWO_COUNTERS = """graph main(x: float32[2,4]) {
                 i: int32[], k: int32[], y: float32[2,4] = WHILE(
                     int32[]{0}, int32[]{0}, x; calls=[test, step])
                 return y
               }

               graph test(i: int32[], k: int32[], y: float32[2,4]) {
                 t = LESS(i, int32[]{3})
                 return t
               }

               graph step(i: int32[], k: int32[], y: float32[2,4]) {
                 i2 = ADD(i, int32[]{1})
                 k2 = ADD(k, int32[]{1})
                 number = CAST(k2; dtype=float32)
                 z = MUL(y, number)
                 return i2, k2, z
               }"""


def test_what_equal_values_become_is_computed_once():
    graph = graph_of(TWO_COUNTERS)
    before = answers(graph)
    for one in (graph, *graph.callees()):
        merge_duplicates(one)
    assert merge_loop_values(graph)
    (loop,) = (op for op in graph.ops if op.kind == "WHILE")
    assert [op.kind for op in loop.graphs[1].ops] == ["ADD", "CAST", "MUL"]
    for old, new in zip(before, answers(graph), strict=True):
        np.testing.assert_array_equal(old, new)


LAST_ROW = """graph main(x: float32[2,4]) {
             i: int32[], h: float32[2,4], y: float32[1,2,4] = WHILE(
                 int32[]{0}, x, float32[1,2,4]#first; calls=[test, step])
             z = EXP(y)
             return z
           }

           graph test(i: int32[], h: float32[2,4], y: float32[1,2,4]) {
             t = LESS(i, int32[]{COUNT})
             return t
           }

           graph step(i: int32[], h: float32[2,4], y: float32[1,2,4]) {
             j = ADD(i, int32[]{1})
             k = SIN(h)
             r = EXPAND_DIMS(k, int32[]{0})
             u = DYNAMIC_UPDATE_SLICE(y, r, int32[3]{0, 0, 0})
             return j, k, u
           }"""


@pytest.mark.parametrize(("count", "values"), [(3, 2), (0, 3)])
def test_the_last_row_is_taken_from_the_state(count, values):
    graph = graph_of(LAST_ROW.replace("COUNT", str(count)))
    before = answers(graph)
    assert bool(take_last_row(graph)) == (values == 2)
    trim_loops(graph)
    (loop,) = (op for op in graph.ops if op.kind == "WHILE")
    assert len(loop.inputs) == values
    np.testing.assert_array_equal(answers(graph)[0], before[0])


ROTATION = """graph main(SHAPED) {
             i: int32[], p: float32DIMS, q: float32DIMS, r: float32DIMS = WHILE(
                 int32[]{0}, a, b, c; calls=[test, step])
             return p, q, r
           }

           graph test(i: int32[], SHAPED) {
             t = LESS(i, int32[]{4})
             return t
           }

           graph step(i: int32[], SHAPED) {
             j = ADD(i, int32[]{1})
             return j, b, c, a
           }"""


@pytest.mark.parametrize("dims", ["[]", "[3]", "[1,1,1,1,1,3]"])
def test_rotated_values_of_a_loop(dims):
    """After four rotations of three values the second is first, in LiteRT too."""
    shaped = ", ".join(f"{name}: float32{dims}" for name in "abc")
    graph = graph_of(ROTATION.replace("SHAPED", shaped).replace("DIMS", dims))
    assert copy_exchanged_values(graph) == 1
    feeds = [np.full(tuple(tensor.sizes), i, np.float32) for i, tensor in enumerate(graph.inputs)]
    interpreter = Interpreter(model_content=save(write(graph).model))
    results = running.answers(interpreter, *feeds)
    assert [result.flat[0] for result in results] == [1, 2, 0]


PASSED_ON = """graph main(x: float32[2,4], y: float32[2,4], z: float32[2,4]) {
             i: int32[], p: float32[2,4], q: float32[2,4], r: float32[2,4] = WHILE(
                 int32[]{0}, x, y, z; calls=[test, step])
             return p, q, r
           }

           graph test(i: int32[], p: float32[2,4], q: float32[2,4], r: float32[2,4]) {
             t = LESS(i, int32[]{COUNT})
             return t
           }

           graph step(i: int32[], p: float32[2,4], q: float32[2,4], r: float32[2,4]) {
             j = ADD(i, int32[]{1})
             s = SIN(p)
             return j, NEXT
           }"""


@pytest.mark.parametrize("following", ["s, p, q", "s, p, p", "r, s, q", "q, r, s"])
def test_values_that_others_take_over_are_written_last(following):
    """Without a copy, as none of them go round, and in LiteRT's way: ours gives the same before."""
    graph = graph_of(PASSED_ON.replace("NEXT", following).replace("COUNT", "3"))
    before = answers(graph)
    order_exchanged_values(graph)
    (loop,) = (op for op in graph.ops if op.kind == "WHILE")
    body = loop.graphs[1]
    assert copy_exchanged_values(graph) == 0
    assert not any(x in body.inputs[:j] for j, x in enumerate(body.outputs))
    for old, new in zip(before, answers(graph), strict=True):
        np.testing.assert_array_equal(old, new)


INVARIANT = """graph main(x: float32[2,4], w: float32[2,4]) {
             i: int32[], y: float32[2,4], v: float32[2,4] = WHILE(
                 int32[]{0}, x, w; calls=[test, step])
             return y RESULT
           }

           graph test(i: int32[], y: float32[2,4], v: float32[2,4]) {
             t = LESS(i, int32[]{COUNT})
             return t
           }

           graph step(i: int32[], y: float32[2,4], v: float32[2,4]) {
             j = ADD(i, int32[]{1})
             m = GREATER(v, float32[]{0.5})
             s = REDUCE_MAX(v, int32[2]{0, 1})
             n = REDUCE_MIN(v, int32[2]{0, 1})
             d = SUB(s, n)
             u = MUL(y, OTHER)
             z = SELECT_V2(m, u, y)
             return j, z, v
           }"""


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize(
    ("other", "result", "n_ops"),
    [
        ("d", "", 3),
        ("v", "", 7),  # v would be copied beside what is computed of it
        ("d", ", v", 7),
    ],
)
def test_what_does_not_change_is_computed_before_the_loop(count, other, result, n_ops):
    text = INVARIANT.replace("COUNT", str(count)).replace("OTHER", other)
    graph = graph_of(text.replace("RESULT", result))
    merge_duplicates(graph)
    before = answers(graph)
    hoist_invariants(graph)
    trim_loops(graph)
    (loop,) = (op for op in graph.ops if op.kind == "WHILE")
    assert len(loop.graphs[1].ops) == n_ops
    for old, new in zip(before, answers(graph), strict=True):
        np.testing.assert_array_equal(old, new)
