"""invoke(timeout=) and cancel(): a run ends early, and the interpreter stays usable."""

import threading
import time

import numpy as np
import pytest
from building import Builder
from declared import model
from running import answers

from flatlite.lite import Interpreter

f32, i32 = np.float32, np.int32
FOREVER, ONCE = i32([1]), i32([0])


def looping(builder, saved):
    """again, x -> 2 * x until `again` is 0: never, where it is 1."""
    main, condition, body = builder("main"), builder("condition"), builder("body")
    kinds = (("again", (1,), "INT32"), ("x", (2,), "FLOAT32"))
    inputs = [main.input(*kind) for kind in kinds]
    results = [main.tensor(f"{name}_out", shape, dtype) for name, shape, dtype in kinds]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    again, _ = (condition.input(*kind) for kind in kinds)
    zero = condition.constant("zero", i32([0]))
    flag = condition.tensor("flag", (1,), "BOOL")
    condition.outputs(condition.op("GREATER", [again, zero], [flag]))
    again, x = (body.input(*kind) for kind in kinds)
    same, total = body.tensor("same", (1,), "INT32"), body.tensor("total", (2,))
    body.op("MUL", [again, again], [same])
    body.op("ADD", [x, x], [total])
    return saved(main.outputs(*results), condition, body.outputs(same, total))


WAYS = [(1, False), (2, False), (1, True)]  # in machine code, with a pool, and by Python


@pytest.fixture(params=WAYS, ids=["native", "pool", "python"])
def endless(request, builder, saved):
    threads, preserve = request.param
    interpreter = Interpreter(
        model_content=looping(builder, saved),
        num_threads=threads,
        experimental_preserve_all_tensors=preserve,
    )
    interpreter.allocate_tensors()
    return interpreter


def feed(interpreter, again):
    for detail, value in zip(interpreter.get_input_details(), (again, f32([1, 2])), strict=True):
        interpreter.set_tensor(detail["index"], value)


def test_a_timeout_ends_a_loop_that_never_ends(endless):
    feed(endless, FOREVER)
    with pytest.raises(TimeoutError, match=r"invoke did not come to its end within 0\.1 s"):
        endless.invoke(timeout=0.1)
    with pytest.raises(ValueError, match="the last invoke did not come to its end"):
        endless.get_tensor(endless.get_output_details()[1]["index"])
    assert answers(endless, ONCE, f32([1, 2]))[1].tolist() == [1, 2]
    feed(endless, ONCE)
    endless.invoke(timeout=60)
    endless.invoke()


def test_a_timeout_ends_random_numbers_without_end(builder, saved):
    b = builder()
    shape, y = b.input("shape", (1,), "INT32"), b.tensor("y", (1,), shape_signature=(-1,))
    b.op("RANDOM_UNIFORM", [shape], [y], seed=1, seed2=2)
    interpreter = Interpreter(model_content=saved(b.outputs(y)))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, i32([1 << 28]))
    with pytest.raises(TimeoutError, match="did not come to its end"):
        interpreter.invoke(timeout=0.05)
    assert answers(interpreter, i32([5]))[0].shape == (5,)


def test_a_timeout_ends_a_sort_by_a_subgraph():
    """It goes through Python step by step, each of them short."""
    b = Builder("comparator")  # of no keys: a - b < 0
    parameters, difference = [b.input(n, ()) for n in "ab"], b.tensor("difference", ())
    b.op("SUB", parameters, [difference])
    pair = [difference, b.constant("zero", f32(0))]
    b.outputs(b.op("LESS", pair, [b.tensor("less", (), "BOOL")]))
    x = np.ones((16, 20_000), np.float32)
    options = {"dimension": 1, "comparator_subgraph_index": 1}
    file = model("SORT", [x], [(x.shape, x.dtype)], b, **options)
    interpreter = Interpreter(model_content=file)
    interpreter.allocate_tensors()
    with pytest.raises(TimeoutError, match="did not come to its end"):
        interpreter.invoke(timeout=0.05)
    canceller = threading.Timer(0.05, interpreter.cancel)
    canceller.start()
    with pytest.raises(RuntimeError, match=r"^Client requested cancel during Invoke\(\)"):
        interpreter.invoke()
    canceller.join()


def test_cancel_ends_an_invoke_of_another_thread(endless):
    feed(endless, FOREVER)
    canceller = threading.Timer(0.1, endless.cancel)
    canceller.start()
    with pytest.raises(RuntimeError, match=r"^Client requested cancel during Invoke\(\)"):
        endless.invoke()
    canceller.join()
    assert answers(endless, ONCE, f32([1, 2]))[1].tolist() == [1, 2]


def test_cancel_of_nothing_changes_nothing(endless):
    for _ in range(3):
        endless.cancel()
        assert answers(endless, ONCE, f32([1, 2]))[1].tolist() == [1, 2]


def test_a_cancel_that_came_too_late_is_forgotten(builder, saved):
    """An invoke that nobody cancels comes to its end, however short the one before was."""
    interpreter = Interpreter(model_content=looping(builder, saved))
    interpreter.allocate_tensors()
    feed(interpreter, ONCE)
    ends = threading.Event()

    def cancel():
        while not ends.is_set():
            interpreter.cancel()
            time.sleep(0)

    canceller = threading.Thread(target=cancel)
    canceller.start()
    finished = sum(_finishes(interpreter) for _ in range(300))
    ends.set()
    canceller.join()
    interpreter.invoke()
    assert finished


def _finishes(interpreter):
    try:
        interpreter.invoke()
    except RuntimeError as error:
        assert "cancel" in str(error)
        return False
    return True


@pytest.mark.parametrize(
    ("timeout", "error", "words"),
    [
        (-1, ValueError, "not negative, got -1"),
        (float("nan"), ValueError, "not negative, got nan"),
        ("1", TypeError, "got '1'"),
        (True, TypeError, "got True"),
        ([1.0], TypeError, r"got \[1.0\]"),
    ],
)
def test_a_senseless_timeout_is_refused(endless, timeout, error, words):
    """And the interpreter stays usable."""
    for call in (endless.invoke, endless.async_invoke):
        with pytest.raises(error, match=f"^timeout must be a number of seconds, {words}$"):
            call(timeout=timeout)
    assert answers(endless, ONCE, f32([1, 2]))[1].tolist() == [1, 2]


def test_a_signature_is_not_cancelled_by_what_came_before(builder, saved, endless):
    feed(endless, FOREVER)
    with pytest.raises(TimeoutError):
        endless.invoke(timeout=0)
    assert answers(endless, ONCE, f32([3, 4]))[1].tolist() == [3, 4]


@pytest.mark.parametrize("name", ["again", "timeout"])
def test_a_call_of_a_signature_takes_a_timeout(name, builder, saved):
    """Unless an input has that name."""

    def named(*graphs):
        ends = dict(zip((name, "x"), graphs[0].subgraph.inputs, strict=True))
        results = dict(zip(("again", "x"), graphs[0].subgraph.outputs, strict=True))
        return saved(*graphs, signatures=[("serve", ends, results, 0)])

    runner = Interpreter(model_content=looping(builder, named)).get_signature_runner("serve")
    assert runner(**{name: ONCE, "x": f32([1, 2])})["x"].tolist() == [1, 2]
    if name == "again":
        with pytest.raises(TimeoutError, match=r"invoke did not come to its end within 0\.1 s"):
            runner(again=FOREVER, x=f32([1, 2]), timeout=0.1)
        with pytest.raises(TypeError, match=r"^timeout must be a number of seconds, got '1'$"):
            runner(again=ONCE, x=f32([1, 2]), timeout="1")
    assert runner(**{name: ONCE, "x": f32([3, 2])})["x"].tolist() == [3, 2]
