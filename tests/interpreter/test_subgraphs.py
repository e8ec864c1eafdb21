"""Variables, branches and loops: what several subgraphs do together."""

import copy
import pickle

import numpy as np
import pytest
from custom_ops import custom
from running import answers as run

from flatlite.interpreter.interpreter import Interpreter


def counter(builder, saved):
    """y = x + total; total += x, kept in a resource variable that starts as 100."""
    main, first = builder("main"), builder("first")

    def handle(b):
        h = b.tensor("handle", (), "RESOURCE")
        return b.op("VAR_HANDLE", [], [h], shared_name="total")

    first.op("ASSIGN_VARIABLE", [handle(first), first.constant("start", np.float32([100]))], [])
    x = main.input("x", (1,))
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    h = handle(main)
    total, pair, y = main.tensor("total", (1,)), main.tensor("pair", (2,)), main.tensor("y", (1,))
    main.op("READ_VARIABLE", [h], [total])
    main.op("CONCATENATION", [x, total], [pair], axis=0)
    main.op("CUSTOM", [pair], [y], custom_code="Sum")
    main.op("ASSIGN_VARIABLE", [h, y], [])
    return saved(main.outputs(y), first)


def test_variables_last_and_are_copied(builder, saved, make):
    interpreter = make(counter(builder, saved))
    one = np.float32([1])
    assert [run(interpreter, one)[0].item() for _ in range(3)] == [101, 102, 103]
    copies = [
        interpreter.clone(),
        copy.deepcopy(interpreter),
        pickle.loads(pickle.dumps(interpreter)),
    ]
    assert run(interpreter, one)[0].item() == 104
    for other in copies:
        assert run(other, one)[0].item() == 104
        assert run(other, one)[0].item() == 105
    assert run(interpreter, one)[0].item() == 105


def test_variables_as_litert(builder, saved, litert):
    main, first = builder("main"), builder("first")

    def handle(b, name):
        return b.op("VAR_HANDLE", [], [b.tensor(name, (), "RESOURCE")], shared_name=name)

    for name, value in (("sum", 100), ("product", 2)):
        start = first.constant(name, np.float32([value, -value]))
        first.op("ASSIGN_VARIABLE", [handle(first, name), start], [])
    x = main.input("x", (2,))
    main.op("CALL_ONCE", [], [], init_subgraph_index=1)
    outputs = []
    for name, kind in (("sum", "ADD"), ("product", "MUL")):
        h, old, new = handle(main, name), main.tensor("old", (2,)), main.tensor("new", (2,))
        main.op("READ_VARIABLE", [h], [old])
        main.op(kind, [old, x], [new])
        main.op("ASSIGN_VARIABLE", [h, new], [])
        outputs += [old, new]
    content = saved(main.outputs(*outputs), first)
    steps = [[np.float32([n, 2 * n])] for n in range(1, 5)]
    expected = litert.run(content, steps, resolver="BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    interpreter = Interpreter(model_content=content)
    for step, arrays in zip(steps, expected, strict=True):
        got = run(interpreter, *step)
        interpreter.reset_all_variables()
        np.testing.assert_array_equal(got, arrays)


def test_variable_that_is_read_first_is_named(builder, saved):
    b = builder()
    b.input("x", (1,))
    h, y = b.tensor("h", (), "RESOURCE"), b.tensor("y", (2,))
    b.op("VAR_HANDLE", [], [h], shared_name="v")
    b.op("READ_VARIABLE", [h], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match="READ_VARIABLE 'y': the variable is read before"):
        interpreter.invoke()


def test_variable_tensors_start_again(builder, saved):
    b = builder()
    b.input("x", (1,))
    state = b.tensor("state", (2, 2), is_variable=True)
    y = b.tensor("y", (4,))
    b.op("RESHAPE", [state, b.constant("shape", np.int32([4]))], [y])
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    interpreter.allocate_tensors()
    interpreter.set_tensor(state, np.float32([[1, 2], [3, 4]]))
    copies = [interpreter.clone(), pickle.loads(pickle.dumps(interpreter))]
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [1, 2, 3, 4]
    interpreter.reset_all_variables()
    interpreter.invoke()
    assert interpreter.get_tensor(y).tolist() == [0, 0, 0, 0]
    for other in copies:
        other.allocate_tensors()
        other.invoke()
        assert other.get_tensor(y).tolist() == [1, 2, 3, 4]


def test_if_runs_one_branch(builder, saved, make):
    main, then, otherwise = builder("main"), builder("then"), builder("else")
    flag, x, y = main.input("flag", (), "BOOL"), main.input("x", (3,)), main.tensor("y", (None,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=2)
    then.outputs(custom(then, "Twice", then.input("x", (3,)), (3,)))
    otherwise.outputs(custom(otherwise, "Positive", otherwise.input("x", (3,)), (None,)))
    interpreter = make(saved(main.outputs(y), then, otherwise))
    x = np.float32([1, -2, 3])
    for _ in range(2):
        assert run(interpreter, np.array(True), x)[0].tolist() == [2, -4, 6]
        assert run(interpreter, np.array(False), x)[0].tolist() == [1, 3]


def test_while_with_a_state_that_grows_and_one_that_is_swapped(builder, saved, make):
    main, condition, body = builder("main"), builder("condition"), builder("body")
    inputs = [main.input("x", (None,)), main.input("a", (1,)), main.input("b", (1,))]
    results = [main.tensor("y", (None,)), main.tensor("c", (1,)), main.tensor("d", (1,))]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    x, *_ = [condition.input(n, (None,)) for n in "xab"]
    condition.outputs(custom(condition, "Below", x, (), "BOOL"))
    x, a, b = [body.input(n, (None,)) for n in "xab"]
    y = body.tensor("xx", (None,))
    body.op("CONCATENATION", [x, x], [y], axis=0)
    content = saved(main.outputs(*results), condition, body.outputs(y, b, a))
    interpreter = make(content)
    for n, turns in ((3, 3), (5, 2), (40, 0), (3, 3)):
        y, c, d = run(interpreter, np.arange(n, dtype=np.float32), np.float32([7]), np.float32([8]))
        np.testing.assert_array_equal(y, np.tile(np.arange(n), 2**turns))
        assert (c.item(), d.item()) == ((8, 7) if turns % 2 else (7, 8))


def test_subgraph_that_calls_itself_is_refused(builder, saved):
    main = builder("main")
    x, y = main.input("x", (1,)), main.tensor("y", (1,))
    main.op("WHILE", [x], [y], cond_subgraph_index=1, body_subgraph_index=1)
    loop = builder("loop")
    a, b = loop.input("x", (1,)), loop.tensor("y", (1,))
    loop.op("WHILE", [a], [b], cond_subgraph_index=1, body_subgraph_index=1)
    with pytest.raises((ValueError, RuntimeError)):
        run(
            Interpreter(model_content=saved(main.outputs(y), loop.outputs(b))),
            np.zeros(1, np.float32),
        )


def test_failure_inside_a_subgraph_names_both_operators(builder, saved):
    main, then = builder("main"), builder("then")
    flag, x, y = main.input("flag", (), "BOOL"), main.input("x", (3,)), main.tensor("y", (2,))
    main.op("IF", [flag, x], [y], then_subgraph_index=1, else_subgraph_index=1)
    a, b = then.input("x", (3,)), then.tensor("reshaped", (2,))
    then.op("RESHAPE", [a, then.constant("shape", np.int32([2]))], [b])
    interpreter = Interpreter(model_content=saved(main.outputs(y), then.outputs(b)))
    with pytest.raises(RuntimeError) as info:
        run(interpreter, np.array(True), np.zeros(3, np.float32))
    lines = str(info.value).splitlines()
    assert lines[0].startswith("RESHAPE 'reshaped'")
    assert lines[-2] == "Node number 0 (RESHAPE) failed to prepare. of subgraph 1 'then'"
    assert lines[-1] == "Node number 0 (IF) failed to invoke."
