"""SignatureRunner: a model called by names."""

import numpy as np
import pytest

from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.signature import SignatureRunner


def two_signatures(builder, saved):
    """`turn` (subgraph 0): y = x transposed; `row` (subgraph 1): first, second in one row."""
    main, other = builder("main"), builder("other")
    x, y = main.input("x", (None, 3)), main.tensor("y", (3, None))
    main.op("TRANSPOSE", [x, main.constant("p", np.int32([1, 0]))], [y])
    b, a = other.input("b", (None,)), other.input("a", (None,))
    z = other.tensor("z", (None,))
    other.op("CONCATENATION", [a, b], [z], axis=0)
    signatures = [
        ("turn", {"x": x}, {"y": y}, 0),
        ("row", {"second": b, "first": a}, {"z": z, "again": z}, 1),
    ]
    return saved(main.outputs(y), other.outputs(z), signatures=signatures)


@pytest.fixture
def interpreter(builder, saved):
    return Interpreter(model_content=two_signatures(builder, saved))


def test_list_and_names(interpreter, litert):
    assert interpreter.get_signature_list() == {
        "turn": {"inputs": ["x"], "outputs": ["y"]},
        "row": {"inputs": ["first", "second"], "outputs": ["again", "z"]},
    }
    assert interpreter._get_full_signature_list()["turn"] == {
        "inputs": {"x": 0},
        "outputs": {"y": 1},
    }


def test_each_signature_runs_its_own_subgraph(interpreter):
    turn, row = map(interpreter.get_signature_runner, ("turn", "row"))
    for n in (2, 5, 1, 0):
        x = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)
        np.testing.assert_array_equal(turn(x=x)["y"], x.T)
        results = row(first=x[:, 0], second=x[:, 1])
        assert list(results) == ["again", "z"]
        np.testing.assert_array_equal(results["z"], np.concatenate([x[:, 0], x[:, 1]]))
        np.testing.assert_array_equal(results["again"], results["z"])


def test_as_litert(builder, saved, litert):
    content = two_signatures(builder, saved)
    interpreter = Interpreter(model_content=content)
    steps = {
        "turn": {"x": np.float32([[1, 2, 3], [4, 5, 6]])},
        "row": {"first": np.float32([1, 2]), "second": np.float32([3])},
    }
    for key, inputs in steps.items():
        (expected,) = litert.run(content, [inputs], signature=key)
        got = interpreter.get_signature_runner(key)(**inputs)
        assert list(got) == list(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(got[name], array)


def test_details_follow_the_last_call(interpreter):
    runner = interpreter.get_signature_runner("row")
    runner(first=np.zeros(4, np.float32), second=np.zeros(3, np.float32))
    inputs, outputs = runner.get_input_details(), runner.get_output_details()
    assert {name: d["shape"].tolist() for name, d in inputs.items()} == {
        "first": [4],
        "second": [3],
    }
    assert {name: d["name"] for name, d in inputs.items()} == {"first": "a", "second": "b"}
    assert {name: d["shape"].tolist() for name, d in outputs.items()} == {"again": [7], "z": [7]}


def test_key_may_be_left_out_when_there_is_one(interpreter, transposer):
    runner = Interpreter(model_content=transposer).get_signature_runner()
    assert runner(x=np.zeros((2, 3), np.float32))["z"].shape == (6,)
    with pytest.raises(ValueError, match="signature_key is None and model has 2 Signatures"):
        interpreter.get_signature_runner()


def test_results_are_copies_and_state_stays(transposer):
    runner = SignatureRunner(Interpreter(model_content=transposer), "serve")
    first = runner(x=np.ones((1, 3), np.float32))
    runner(x=np.zeros((1, 3), np.float32))
    assert first["z"].tolist() == [1, 1, 1]


def test_call_that_fails_changes_nothing_for_the_next(interpreter):
    turn = interpreter.get_signature_runner("turn")
    for wrong in (np.zeros((2, 3)), np.zeros(3, np.float32)):
        with pytest.raises((ValueError, RuntimeError)):
            turn(x=wrong)
        assert turn(x=np.ones((1, 3), np.float32))["y"].tolist() == [[1], [1], [1]]


def test_second_subgraph_is_not_ready_for_invoke(interpreter):
    interpreter.get_signature_runner("row")(
        first=np.zeros(1, np.float32), second=np.zeros(1, np.float32)
    )
    with pytest.raises(RuntimeError, match="Invoke called on model that is not ready"):
        interpreter.invoke()
    assert interpreter.get_tensor(2, 1).tolist() == [0, 0]


WRONG = {
    "nothing": {},
    "one missing": {"first": np.ones(2, np.float32)},
    "one more": dict.fromkeys(("first", "second", "third"), np.ones(2, np.float32)),
    "another name": dict.fromkeys(("first", "third"), np.ones(2, np.float32)),
    "float64": dict.fromkeys(("first", "second"), np.ones(2)),
    "int32": dict.fromkeys(("first", "second"), np.ones(2, np.int32)),
    "text": dict.fromkeys(("first", "second"), np.array(["a"])),
    "a list": {"first": [1.0, 2.0], "second": [1.0, 2.0]},
    "a number": dict.fromkeys(("first", "second"), 1.0),
    "None": dict.fromkeys(("first", "second")),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_in_litert_s_words(builder, saved, litert, name):
    content, values = two_signatures(builder, saved), WRONG[name]
    theirs = litert.run(content, [values], signature="row")
    with pytest.raises((ValueError, AttributeError)) as raised:
        Interpreter(model_content=content).get_signature_runner("row")(**values)
    assert f"{raised.type.__name__}: {raised.value}" == theirs
