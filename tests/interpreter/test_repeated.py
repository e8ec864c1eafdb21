"""Calls after the first of their kind, which take shorter ways, keep every promise."""

import threading

import numpy as np
import pytest
from cases import Case, content, floats, i32

from flatlite.engine.run import plan_runner
from flatlite.lite import Interpreter


@pytest.fixture
def gathering():
    """(interpreter that has run twice, its params, indices, output)"""
    case = Case("gather", "GATHER", {}, [floats(3, 2), i32([2, 0])])
    interpreter = Interpreter(model_content=content(case))
    interpreter.allocate_tensors()
    params, indices = (detail["index"] for detail in interpreter.get_input_details())
    out = interpreter.get_output_details()[0]["index"]
    for _ in range(2):
        interpreter.set_tensor(params, case.inputs[0])
        interpreter.set_tensor(indices, case.inputs[1])
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(out), case.inputs[0][[2, 0]])
    return interpreter, params, indices, out


def test_results_are_of_the_latest_run(gathering):
    interpreter, params, indices, out = gathering
    first = interpreter.get_tensor(out)
    values = floats(3, 2, seed=1)
    interpreter.set_tensor(params, values)
    interpreter.set_tensor(indices, i32([1, 1]))
    interpreter.invoke()
    np.testing.assert_array_equal(interpreter.get_tensor(out), values[[1, 1]])
    assert not np.array_equal(first, interpreter.get_tensor(out))


def test_fault_in_a_later_run(gathering):
    interpreter, _, indices, out = gathering
    interpreter.set_tensor(indices, i32([0, 3]))
    with pytest.raises(RuntimeError, match="got 3 at position 1"):
        interpreter.invoke()
    with pytest.raises(ValueError, match="did not come to its end"):
        interpreter.get_tensor(out)
    interpreter.set_tensor(indices, i32([0, 1]))
    interpreter.invoke()
    assert interpreter.get_tensor(out).shape == (2, 2)


def test_view_in_between(gathering):
    interpreter, _, indices, out = gathering
    view = interpreter.tensor(out)()
    with pytest.raises(RuntimeError, match="reference to internal data"):
        interpreter.invoke()
    before = interpreter.get_tensor(out)
    del view
    interpreter.set_tensor(indices, i32([1, 1]))
    interpreter.invoke()
    assert not np.array_equal(before, interpreter.get_tensor(out))


def test_resize_in_between(gathering):
    interpreter, _, indices, out = gathering
    interpreter.resize_tensor_input(indices, (3,))
    with pytest.raises(RuntimeError, match="not ready"):
        interpreter.invoke()
    with pytest.raises(ValueError, match="null"):
        interpreter.get_tensor(out)
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="Dimension mismatch"):
        interpreter.set_tensor(indices, i32([0, 1]))
    interpreter.set_tensor(indices, i32([0, 1, 2]))
    interpreter.invoke()
    assert interpreter.get_tensor(out).shape == (3, 2)


@pytest.mark.parametrize("value", [i32([0]), np.zeros(2, np.int64), np.zeros(2, np.float32)])
def test_wrong_value_after_a_right_one(gathering, value):
    interpreter, _, indices, _ = gathering
    with pytest.raises(ValueError, match="Cannot set tensor"):
        interpreter.set_tensor(indices, value)


def test_calls_while_it_runs_are_refused(gathering):
    interpreter, _, indices, out = gathering
    refused = []

    def others():
        for call in (
            interpreter.invoke,
            lambda: interpreter.get_tensor(out),
            lambda: interpreter.set_tensor(indices, i32([0, 0])),
        ):
            with pytest.raises(RuntimeError, match="in use"):
                call()
            refused.append(call)

    with interpreter._call_lock:
        thread = threading.Thread(target=others)
        thread.start()
        thread.join()
    assert len(refused) == 3
    interpreter.invoke()


@pytest.mark.parametrize("call", ["invoke", "set_tensor", "get_tensor"])
def test_an_interrupt_just_inside_a_call_locks_nobody_out(gathering, call):
    class Interrupted(list):
        """Ctrl-C, seen as soon as something was taken out."""

        def pop(self):
            super().pop()
            raise KeyboardInterrupt

    interpreter, params, _, out = gathering
    arguments = {"set_tensor": (params, floats(3, 2)), "get_tensor": (out,)}.get(call, ())
    call_lock = interpreter._call_lock
    call_lock.free = Interrupted(call_lock.free)
    with pytest.raises(KeyboardInterrupt):
        getattr(interpreter, call)(*arguments)
    call_lock.free = [*call_lock.free]
    getattr(interpreter, call)(*arguments)
    interpreter.invoke()


def test_runs_that_come_back_after_each_row(builder, saved, monkeypatch):
    monkeypatch.setattr(plan_runner, "BUDGET", 0)
    b = builder()
    x = last = b.input("x", (4,))
    for i in range(3):
        last = b.op("EXP", [last], [b.tensor(f"y{i}", (4,))])
    b.outputs(last)
    interpreter = Interpreter(model_content=saved(b))
    interpreter.allocate_tensors()
    for value in (-1.0, 0.5, -3.0):
        interpreter.set_tensor(x, np.full(4, value, np.float32))
        interpreter.invoke()
        expected = np.exp(np.exp(np.exp(np.float32(value))))
        np.testing.assert_allclose(interpreter.get_tensor(last), expected, 1e-5)
