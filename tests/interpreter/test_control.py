"""WHILE, IF and CALL in machine code, and by Python where that cannot be."""

import numpy as np
import pytest
from running import answers

from flatlite.interpreter.plan.inline import MAX_INLINED
from flatlite.interpreter.plan.planner import Planner
from flatlite.lite import Interpreter

f32, i32 = np.float32, np.int32


def fibonacci(builder, saved):
    """a, b, x, n -> the n-th pair, and x + n ones: values that are swapped, kept and counted."""
    main, condition, body = builder("main"), builder("condition"), builder("body")
    kinds = (("i", (1,), "INT32"), ("n", (1,), "INT32"), ("a", (2,), "FLOAT32"))
    kinds += (("b", (2,), "FLOAT32"),)
    inputs = [main.input(*kind) for kind in kinds]
    results = [main.tensor(f"{name}_out", shape, dtype) for name, shape, dtype in kinds]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    i, n, *_ = [condition.input(*kind) for kind in kinds]
    condition.outputs(condition.op("LESS", [i, n], [condition.tensor("less", (1,), "BOOL")]))
    i, n, a, b = [body.input(*kind) for kind in kinds]
    following, both = body.tensor("following", (1,), "INT32"), body.tensor("sum", (2,))
    body.op("ADD", [i, body.constant("one", i32([1]))], [following])
    body.op("ADD", [a, b], [both])
    return saved(main.outputs(*results), condition, body.outputs(following, n, b, both))


def test_while_is_one_native_call(builder, saved, litert):
    content = fibonacci(builder, saved)
    interpreter = Interpreter(model_content=content)
    for turns in (5, 0, 1, 30):
        feeds = [i32([0]), i32([turns]), f32([1, 2]), f32([1, 3])]
        got, want = answers(interpreter, *feeds), litert.run(content, [feeds])[0]
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    plan = interpreter._plans[0]
    assert plan.first.cut is None
    assert not interpreter._scope.plans


@pytest.mark.parametrize("preserve", [False, True])
def test_while_by_python_gives_the_same(builder, saved, preserve):
    content = fibonacci(builder, saved)
    interpreter = Interpreter(
        model_content=content, experimental_preserve_all_tensors=preserve, num_threads=2
    )
    got = answers(interpreter, i32([0]), i32([6]), f32([1, 2]), f32([1, 3]))
    assert [x.tolist() for x in got] == [[6], [6], [13, 34], [21, 55]]
    assert bool(interpreter._scope.plans) == preserve


@pytest.mark.parametrize("operator", ["IF", "STABLEHLO_CASE"])
def test_branches_give_constant_strings(builder, saved, operator):
    """LiteRT ends on such a file, or gives the strings of the run before."""
    words = [np.array([b"no", b""], object), np.array([b"yes", b"ja"], object)]
    branches = [builder("branch"), builder("branch")]
    for branch, word in zip(branches, words, strict=True):
        branch.outputs(branch.tensor("word", (2,), "STRING", data=word))
    main, is_if = builder("main"), operator == "IF"
    chooses = main.input("chooses", (), "BOOL" if is_if else "INT32")
    y = main.tensor("y", (2,), "STRING")
    if is_if:
        main.op(operator, [chooses], [y], then_subgraph_index=2, else_subgraph_index=1)
    else:
        main.op(operator, [chooses], [y], branch_subgraph_indices=i32([1, 2]))
    interpreter = Interpreter(model_content=saved(main.outputs(y), *branches))
    for choice in (0, 1, 1, 0):
        (got,) = answers(interpreter, np.array(choice, np.bool_ if is_if else i32))
        assert got.tolist() == words[choice].tolist()


def chooser(builder, saved, n_then=2):
    """flag, x -> x + 1 or x * x."""
    main, then, other = builder("main"), builder("then"), builder("other")
    flag, x = main.input("flag", (), "BOOL"), main.input("x", (2,))
    y = main.tensor("y", (2,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    a = then.input("a", (2,))
    then.op("ADD", [a, then.constant("one", f32([1] * n_then))], [then.tensor("b", (n_then,))])
    c = other.input("c", (2,))
    other.op("MUL", [c, c], [other.tensor("d", (2,))])
    then.outputs(len(then.subgraph.tensors) - 1)
    return saved(main.outputs(y), then, other.outputs(1))


def test_if_chooses_at_each_invoke(builder, saved, litert):
    content = chooser(builder, saved)
    interpreter = Interpreter(model_content=content)
    for flag in (True, False, True):
        feeds = [np.array(flag), f32([3, 4])]
        np.testing.assert_array_equal(
            answers(interpreter, *feeds)[0], litert.run(content, [feeds])[0][0]
        )
    assert interpreter._plans[0].first.cut is None


def test_a_branch_that_must_fail_is_no_trouble_until_it_is_taken(builder, saved, litert):
    """It picks from what has no elements."""
    main, then, other = builder("main"), builder("then"), builder("other")
    flag, x = main.input("flag", (), "BOOL"), main.input("x", (2,))
    y = main.tensor("y", (2,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    a, empty, picked = then.input("a", (2,)), then.tensor("empty", (0,)), then.tensor("p", (1,))
    bounds = [then.constant("begin", i32([1])), then.constant("size", i32([0]))]
    then.op("SLICE", [a, *bounds], [empty])
    then.op("GATHER", [empty, then.constant("first", i32([3]))], [picked])
    total = then.op("ADD", [a, picked], [then.tensor("total", (2,))])
    content = saved(main.outputs(y), then.outputs(total), other.outputs(other.input("b", (2,))))
    interpreter, feeds = Interpreter(model_content=content), [np.array(False), f32([3, 4])]
    expected = litert.run(content, [feeds])[0][0]
    np.testing.assert_array_equal(answers(interpreter, *feeds)[0], expected)
    with pytest.raises(RuntimeError, match=r"indices must be in \[0, 0\), got 3 at position 0"):
        answers(interpreter, np.array(True), f32([3, 4]))
    np.testing.assert_array_equal(answers(interpreter, *feeds)[0], expected)
    assert interpreter._plans[0].first.cut is None


def test_loop_in_a_branch_of_a_loop(builder, saved, litert):
    """while i < n: i += 1; x = (while x < 100: x += x) if x < 50 else x / 2"""
    main, condition, body = builder("main"), builder("condition"), builder("body")
    then, other = builder("then"), builder("other")
    inner_condition, inner_body = builder("inner_condition"), builder("inner_body")
    inputs = [main.input("i", (1,)), main.input("n", (1,)), main.input("x", (1,))]
    outs = [main.tensor(f"out{k}", (1,)) for k in range(3)]
    main.op("WHILE", inputs, outs, cond_subgraph_index=1, body_subgraph_index=2)
    i, n, _ = [condition.input(k, (1,)) for k in "inx"]
    condition.outputs(condition.op("LESS", [i, n], [condition.tensor("l", (1,), "BOOL")]))
    i, n, x = [body.input(k, (1,)) for k in "inx"]
    following, flag = body.tensor("f", (1,)), body.tensor("flag", (1,), "BOOL")
    body.op("ADD", [i, body.constant("one", f32([1]))], [following])
    body.op("LESS", [x, body.constant("fifty", f32([50]))], [flag])
    y = body.tensor("y", (1,))
    body.op("IF", [flag, x], [y], then_subgraph_index=3, else_subgraph_index=4)
    x, y2 = then.input("x", (1,)), then.tensor("y", (1,))
    then.op("WHILE", [x], [y2], cond_subgraph_index=5, body_subgraph_index=6)
    x, y4 = other.input("x", (1,)), other.tensor("y", (1,))
    other.op("MUL", [x, other.constant("half", f32([0.5]))], [y4])
    x = inner_condition.input("x", (1,))
    less = inner_condition.tensor("l", (1,), "BOOL")
    inner_condition.op("LESS", [x, inner_condition.constant("hundred", f32([100]))], [less])
    x, y6 = inner_body.input("x", (1,)), inner_body.tensor("y", (1,))
    inner_body.op("ADD", [x, x], [y6])
    content = saved(
        main.outputs(*outs), condition, body.outputs(following, n, y), then.outputs(y2),
        other.outputs(y4), inner_condition.outputs(less), inner_body.outputs(y6),
    )  # fmt: skip
    interpreter = Interpreter(model_content=content)
    for turns, value in ((1, 3), (4, 7), (6, 30)):
        feeds = [f32([0]), f32([turns]), f32([value])]
        want = litert.run(content, [feeds])[0]
        for ours, theirs in zip(answers(interpreter, *feeds), want, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert interpreter._plans[0].first.cut is None


def test_branches_of_different_shapes_are_run_by_python(builder, saved):
    main, then, other = builder("main"), builder("then"), builder("other")
    flag, x = main.input("flag", (), "BOOL"), main.input("x", (2,))
    y = main.tensor("y", (None,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    a, b = then.input("a", (2,)), then.tensor("b", (4,))
    then.op("CONCATENATION", [a, a], [b], axis=0)
    c, d = other.input("c", (2,)), other.tensor("d", (2,))
    other.op("MUL", [c, c], [d])
    interpreter = Interpreter(
        model_content=saved(main.outputs(y), then.outputs(b), other.outputs(d))
    )
    assert answers(interpreter, np.array(True), f32([1, 2]))[0].tolist() == [1, 2, 1, 2]
    assert answers(interpreter, np.array(False), f32([1, 2]))[0].tolist() == [1, 4]


def test_failure_in_a_native_loop_names_both_operators(builder, saved):
    """The body reads beyond the table in the third turn."""
    main, condition, body = builder("main"), builder("condition"), builder("body")
    kinds = (("i", (1,), "INT32"), ("x", (1,), "FLOAT32"))
    inputs = [main.input(*kind) for kind in kinds]
    results = [main.tensor(f"{name}_out", shape, dtype) for name, shape, dtype in kinds]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    i, _ = [condition.input(*kind) for kind in kinds]
    less = condition.tensor("less", (1,), "BOOL")
    condition.op("LESS", [i, condition.constant("ten", i32([10]))], [less])
    i, _ = [body.input(*kind) for kind in kinds]
    following, picked = body.tensor("following", (1,), "INT32"), body.tensor("picked", (1,))
    body.op("ADD", [i, body.constant("one", i32([1]))], [following])
    body.op("GATHER", [body.constant("table", f32([5, 6])), i], [picked])
    content = saved(
        main.outputs(*results), condition.outputs(less), body.outputs(following, picked)
    )
    interpreter = Interpreter(model_content=content)
    for _ in range(2):
        with pytest.raises(RuntimeError) as info:
            answers(interpreter, i32([0]), f32([0]))
        lines = str(info.value).splitlines()
        assert "indices must be in [0, 2), got 2" in lines[0]
        assert lines[-2] == "Node number 1 (GATHER) failed to invoke. of subgraph 2 'body'"
        assert lines[-1] == "Node number 0 (WHILE) failed to invoke."


def test_call(builder, saved):
    main, other = builder("main"), builder("other")
    x, y, z = main.input("x", (2,)), main.tensor("y", (2,)), main.tensor("z", (2,))
    main.op("CALL", [x], [y], subgraph=1)
    main.op("CALL", [y], [z], subgraph=1)
    a, b = other.input("a", (2,)), other.tensor("b", (2,))
    other.op("ADD", [a, a], [b])
    interpreter = Interpreter(model_content=saved(main.outputs(z), other.outputs(b)))
    assert answers(interpreter, f32([1, 2]))[0].tolist() == [4, 8]
    assert interpreter._plans[0].first.cut is None


def test_calls_that_double_at_each_level_stay_small(builder, saved):
    """Thirty levels of two calls each would be a thousand million operators."""
    levels = 30
    graphs = []
    for level in range(levels):
        graph = builder(f"level{level}")
        x, y, z = graph.input("x", (1,)), graph.tensor("y", (1,)), graph.tensor("z", (1,))
        if level == levels - 1:
            graph.op("ADD", [x, x], [z])
        else:
            graph.op("CALL", [x], [y], subgraph=level + 1)
            graph.op("CALL", [y], [z], subgraph=level + 1)
        graphs.append(graph.outputs(z))
    Interpreter(model_content=saved(*graphs)).allocate_tensors()


def leaf(builder, kind="ABS", late=False):
    """A subgraph (x, flag) -> y; with `late`, it looks at data in between."""
    b = builder(kind)
    x, _ = b.input("x", (4,)), b.input("flag", (), "BOOL")
    if late:
        flags, value = b.tensor("flags", (4,), "BOOL"), b.tensor("found", (1, 1), "INT64")
        b.op("WHERE", [b.op("GREATER", [x, b.constant("zero", f32(0))], [flags])], [value])
        places = b.op("CAST", [value], [b.tensor("places", (1, 1), "FLOAT32")])
        axes = b.constant("axes", i32([0, 1]))
        x = b.op(
            "ADD", [x, b.op("SUM", [places, axes], [b.tensor("sum", ())])], [b.tensor("s", (4,))]
        )
    return b.outputs(b.op(kind, [x], [b.tensor("y", (4,))]))


def chosen(b, x, flag, then, otherwise):
    """The result of an IF of two such subgraphs."""
    options = {"then_subgraph_index": then, "else_subgraph_index": otherwise}
    return b.op("IF", [flag, x, flag], [b.tensor("chosen", (4,))], **options)


def ifs(builder, n, shape, late=False):
    """n IFs in a row or in one another: in one branch of each, or in both."""
    graphs = [builder(f"level{i}") for i in range(1 if shape == "row" else n)]
    ends = len(graphs), len(graphs) + 1
    for level, b in enumerate(graphs):
        x, flag = b.input("x", (4,)), b.input("flag", (), "BOOL")
        if shape == "row":
            for _ in range(n):
                x = chosen(b, x, flag, *ends)
        else:
            inner = level + 1 if level + 1 < n else ends[0]
            x = chosen(b, x, flag, inner, inner if shape == "both" else ends[1])
        b.outputs(x)
    return [*graphs, leaf(builder, late=late), leaf(builder, "NEG")]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("shape", ["row", "one", "both"])
def test_sixty_ifs_are_prepared_in_a_few_steps(builder, saved, monkeypatch, litert, shape, late):
    """Each operator a few times; where calls double, no more than one program may have."""
    n_prepared, add = 0, Planner.add

    def counted(*arguments):
        nonlocal n_prepared
        n_prepared += 1
        return add(*arguments)

    monkeypatch.setattr(Planner, "add", counted)
    graphs = ifs(builder, 60, shape, late)
    content = saved(*graphs)
    interpreter = Interpreter(model_content=content)
    x, flag = f32([1, -2, 3, 0]), np.array(True)
    ours = answers(interpreter, x, flag)[0]
    n_operators = sum(len(graph.subgraph.operators) for graph in graphs)
    n_calls = 120 if shape == "row" else 1
    assert n_prepared <= (3 * MAX_INLINED if shape == "both" else 2 * n_operators + 2 * n_calls)
    if shape == "both":  # LiteRT would not come to an end
        np.testing.assert_array_equal(ours, abs(x + 2 * late))
    else:
        np.testing.assert_array_equal(ours, litert.run(content, [[x, flag]])[0][0])
