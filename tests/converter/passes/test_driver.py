"""The driver of passes: order, counts, errors that say where, time that grows with the graph."""

import cProfile
import pstats

import numpy as np
import pytest

from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.converter.passes import LAST, PASSES, optimize
from flatlite.converter.passes.driver import Rewrite, rewrite, run_until_settled
from flatlite.errors import ConverterError

CHAIN = """graph main(x: float32[n,4]) {
  a = NEG(x)
  b = ABS(a)
  c = NEG(b)
  return c
}"""


def test_ops_come_in_the_order_of_the_graph_and_only_of_their_kinds():
    seen = []

    @rewrite("NEG", "EXP")
    def look(graph, op):
        """Sees."""
        seen.append(op.inputs[0].name)
        return False

    run_until_settled(parse(CHAIN), [look])
    assert seen == ["x", "b"]
    assert (look.__name__, look.__doc__) == ("look", "Sees.")


def test_passes_run_until_each_has_seen_what_the_others_left():
    runs = []

    @rewrite("ABS")
    def first(graph, op):
        return bool(runs) and runs.count("first") < 2 and not runs.append("first")

    @rewrite("NEG")
    def second(graph, op):
        return not runs and not runs.append("second")

    reported = []
    run_until_settled(parse(CHAIN), [first, second], reported.append)
    names = [(run.name, run.changes) for run in reported]
    assert names == [("first", 0), ("second", 1), ("first", 1), ("second", 0), ("first", 1),
                     ("second", 0), ("first", 0)]  # fmt: skip
    assert all(run.seconds >= 0 for run in reported)


def test_ops_that_a_change_removed_are_not_looked_at():
    @rewrite("NEG")
    def drop(graph, op):
        graph.replace(graph.ops[-1].output, graph.ops[0].output)
        for one in reversed(graph.ops[1:]):
            graph.remove(one)
        return True

    graph = parse(CHAIN)
    assert drop(graph) == 1
    assert [op.kind for op in graph.ops] == ["NEG"]


def test_an_error_names_pass_and_op():
    @rewrite("ABS")
    def stumble(graph, op):
        return {}["axis"]

    message = r"internal error in the pass stumble at ABS '.*' \(KeyError: 'axis'\); please report"
    with pytest.raises(ConverterError, match=message):
        run_until_settled(parse(CHAIN), [stumble])

    def whole(graph):
        raise TypeError("no graph")

    with pytest.raises(ConverterError, match=r"in the pass whole \(TypeError: no graph\)"):
        run_until_settled(parse(CHAIN), [whole])


def test_an_operator_that_cannot_be_built_is_said_in_its_own_words():
    @rewrite("ABS")
    def widen(graph, op):
        raise ConverterError("ABS 'b': float64 is not supported")

    with pytest.raises(ConverterError, match="float64") as raised:
        run_until_settled(parse(CHAIN), [widen])
    assert str(raised.value) == "ABS 'b': float64 is not supported"
    assert raised.value.__notes__ == ["(in the pass widen)"]


def test_every_pass_has_a_drawing():
    for one, reason in (*PASSES, *LAST):
        assert reason
        assert "->" in one.__doc__ or "becomes" in one.__doc__, one.__name__
    assert sum(isinstance(one, Rewrite) for one, _ in PASSES) > 40


def chain(n):
    """A graph of `n` groups of ops that many passes find something in."""
    graph = Graph()
    b = Builder(graph)
    x = b.input("x", np.float32, (None, 4, 4, 4))
    filters = np.ones((4, 1, 1, 4), np.float32)
    for i in range(n):
        y = b.RELU(b.TRANSPOSE(x, np.int32([0, 3, 1, 2])))
        y = b.TRANSPOSE(y, np.int32([0, 2, 3, 1]))
        y = b.CONV_2D(y, filters * i, None, padding="SAME", stride_h=1, stride_w=1)
        y = b.RELU(b.ADD(b.MUL(y, np.float32([1, 2, 3, 4]) + i), np.float32([1, 2, 3, 4])))
        x = b.ADD(b.TANH(b.MUL(y, np.float32(1))), x)
    graph.outputs = [x]
    return graph


def n_calls(graph):
    """How many functions are called to optimize and write a graph."""
    with cProfile.Profile() as profile:
        optimize(graph)
        write([graph])
    return pstats.Stats(profile).total_calls


def test_work_is_linear_in_ops():
    few, many = chain(100), chain(1000)
    assert len(many.ops) == 10_000
    assert n_calls(many) < 11 * n_calls(few)
    assert len(many.ops) == 4_000
