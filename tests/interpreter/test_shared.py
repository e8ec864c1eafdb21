"""Servers: plans of two shapes, and packed weights that interpreters and processes share."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from building import Builder, save
from cases import floats
from running import answers

from flatlite.engine.plan.serialized import _CONSTANTS, SerializedProgram
from flatlite.engine.run import disk_cache
from flatlite.interpreter.plan.plan import Plan
from flatlite.lite import Interpreter

f32 = np.float32
DEPTH = 256


def dense(batch=None):
    """y = x W + b with packed weights; (file, W, b)."""
    b = Builder()
    weights, bias = floats(DEPTH, DEPTH, seed=1), floats(DEPTH, seed=2)
    x, y = b.input("x", (batch, DEPTH)), b.tensor("y", (batch, DEPTH))
    b.op("FULLY_CONNECTED", [x, b.constant("w", weights), b.constant("b", bias)], [y])
    return save(b.outputs(y)), weights.T, bias


def packed(interpreter):
    """The memory of an interpreter's packed weights."""
    program = interpreter._plans[0].first.program
    assert isinstance(program, SerializedProgram)
    region = program._memory[_CONSTANTS]
    assert region.nbytes >= 4 * DEPTH * DEPTH
    return region


def test_back_and_forth_prepares_nothing(monkeypatch):
    content, weights, bias = dense()
    interpreter = Interpreter(model_content=content)
    images = {n: floats(n, DEPTH, seed=n) for n in (1, 5)}
    for n in 1, 5:
        answers(interpreter, images[n])

    def refuse(*_, **__):
        raise AssertionError("a plan was made")

    monkeypatch.setattr(Plan, "__init__", refuse)
    for n in 1, 5, 1, 5:
        interpreter.resize_tensor_input(0, (n, DEPTH))
        interpreter.allocate_tensors()
        assert interpreter.get_output_details()[0]["shape"].tolist() == [n, DEPTH]
        assert not interpreter.get_tensor(0).any()  # as a new plan
        interpreter.set_tensor(0, images[n])
        interpreter.invoke()
        got = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(got, images[n] @ weights + bias, rtol=1e-4, atol=1e-4)
    interpreter.resize_tensor_input(0, (3, DEPTH))
    with pytest.raises(AssertionError, match="a plan was made"):
        interpreter.allocate_tensors()


def test_other_inputs_keep_their_values():
    b = Builder()
    x, z, y = b.input("x", (None,)), b.input("z", (1,)), b.tensor("y", (None,))
    b.op("ADD", [x, z], [y])
    interpreter = Interpreter(model_content=save(b.outputs(y)))
    for n in 2, 3, 2:
        interpreter.resize_tensor_input(x, [n])
        interpreter.allocate_tensors()
        if n == 2 and not interpreter.get_tensor(z).any():
            interpreter.set_tensor(z, f32([5]))
        interpreter.invoke()
        assert interpreter.get_tensor(y).tolist() == [5.0] * n


def test_variables_start_anew(litert):
    b = Builder()
    x, state = b.input("x", (1, 2)), b.tensor("state", (1, 1), is_variable=True)
    other, y, z = b.input("other", (None,)), b.tensor("y", (1, 1)), b.tensor("z", (None,))
    weights = [b.constant(f"w{i}", np.ones(s, f32)) for i, s in enumerate([(1, 2), (1, 1)])]
    b.op("RNN", [x, *weights, b.constant("b", np.zeros(1, f32)), state], [y])
    b.op("ABS", [other], [z])
    content = save(b.outputs(y, z))
    interpreter = Interpreter(model_content=content)
    steps = [[np.ones((1, 2), f32), np.ones(n, f32)] for n in (2, 2, 3, 2, 2, 3)]
    theirs = litert.run(content, steps)
    for feeds, want in zip(steps, theirs, strict=True):
        for got, expected in zip(answers(interpreter, *feeds), want, strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("share_weights", [False, True])
def test_interpreters_of_one_file_share_packed_weights(share_weights, plans, tmp_path):
    content, weights, bias = dense(3)
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    images = floats(3, DEPTH, seed=3)
    built = Interpreter(path, share_weights=share_weights)
    (want,) = answers(built, images)
    np.testing.assert_allclose(want, images @ weights + bias, rtol=1e-4, atol=1e-4)
    first = Interpreter(path, share_weights=share_weights)
    for other in first, Interpreter(path, share_weights=share_weights), first.clone():
        np.testing.assert_array_equal(answers(other, images)[0], want)
        assert packed(other) is packed(first)
    if share_weights:
        assert packed(built) is packed(first)
        assert not packed(first).flags.writeable
    assert len(list(plans.glob("*.data"))) == share_weights


def test_clones_of_a_content_share_packed_weights():
    content, weights, bias = dense(3)
    images = floats(3, DEPTH, seed=3)
    first = Interpreter(model_content=content, share_weights=True)
    (want,) = answers(first, images)
    np.testing.assert_allclose(want, images @ weights + bias, rtol=1e-4, atol=1e-4)
    for other in first.clone(), first.clone().clone():
        np.testing.assert_array_equal(answers(other, images)[0], want)
        assert packed(other) is packed(first)
    del first  # they live as long as anybody uses them
    np.testing.assert_array_equal(answers(other, images)[0], want)


CHILD = """
import json, sys
import numpy as np
from flatlite.engine.run import disk_cache
from flatlite.lite import Interpreter
disk_cache.SETTLED = 0
interpreter = Interpreter(sys.argv[1], share_weights=True)
interpreter.allocate_tensors()
interpreter.set_tensor(0, np.float32(json.load(sys.stdin)))
interpreter.invoke()
maps = [line for line in open("/proc/self/maps") if ".data" in line]
output = interpreter.get_output_details()[0]["index"]
print(json.dumps([interpreter.get_tensor(output).tolist(), len(maps)]))
"""


def child(path, images):
    """(result, whether packed weights are mapped) of another process."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        input=json.dumps(images.tolist()),
        capture_output=True,
        check=True,
        text=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="shows what is mapped")
def test_processes_map_one_file(plans, tmp_path):
    content, weights, bias = dense(2)
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    images = floats(2, DEPTH, seed=4)
    for _ in range(2):
        result, n_mapped = child(path, images)
        np.testing.assert_allclose(result, images @ weights + bias, rtol=1e-4, atol=1e-4)
        assert n_mapped == 1
    (recorded,) = plans.glob("*.data")
    before = recorded.read_bytes()
    recorded.write_bytes(before[:5000] + b"?" + before[5001:])
    result, n_mapped = child(path, images)
    np.testing.assert_allclose(result, images @ weights + bias, rtol=1e-4, atol=1e-4)
    assert n_mapped == 1 and recorded.read_bytes() == before  # made again


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_cache, "SETTLED", 0)
    monkeypatch.setenv("FLATLITE_PLANS", "")
    content, weights, bias = dense(2)
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    images = floats(2, DEPTH, seed=4)
    interpreter = Interpreter(path, share_weights=True)
    np.testing.assert_allclose(
        answers(interpreter, images)[0], images @ weights + bias, rtol=1e-4, atol=1e-4
    )
    assert answers(interpreter.clone(), images)[0].shape == (2, DEPTH)


def memory_of(interpreter):
    """The places of the packed weights of a plan that was not cached."""
    program = interpreter._plans[0].first.program
    places = [p for p in program._locations.values() if p[0].nbytes >= 4 * DEPTH * DEPTH]
    assert places
    return {(id(memory), first) for memory, first in places}


def test_plans_that_are_not_cached_share_packed_weights():
    content, weights, bias = dense()
    first = Interpreter(model_content=content)
    others = [first.clone(), first.clone()]
    for interpreter, n in zip((first, *others), (16, 16, 32), strict=True):
        images = floats(n, DEPTH, seed=n)
        (got,) = answers(interpreter, images)
        np.testing.assert_allclose(got, images @ weights + bias, rtol=1e-4, atol=1e-4)
    assert memory_of(first) == memory_of(others[0]) == memory_of(others[1])
    before = memory_of(first)
    images = floats(48, DEPTH, seed=48)
    (got,) = answers(first, images)
    np.testing.assert_allclose(got, images @ weights + bias, rtol=1e-4, atol=1e-4)
    assert memory_of(first) == before
    del first, others[0]
    (got,) = answers(others[0], images)
    np.testing.assert_allclose(got, images @ weights + bias, rtol=1e-4, atol=1e-4)


def test_weights_are_packed_again_when_nobody_holds_them():
    content, weights, bias = dense()
    interpreter = Interpreter(model_content=content)
    images = floats(16, DEPTH, seed=1)
    for _ in range(3):
        interpreter = interpreter.clone()  # the one before goes, and its memory with it
        (got,) = answers(interpreter, images)
        np.testing.assert_allclose(got, images @ weights + bias, rtol=1e-4, atol=1e-4)


def test_other_constants_are_not_taken_for_packed_ones():
    """Two models of other weights, and one whose weights are computed from constants."""
    for seed in range(3):
        b = Builder()
        weights = floats(DEPTH, DEPTH, seed=seed)
        x, y = b.input("x", (None, DEPTH)), b.tensor("y", (None, DEPTH))
        recorded = b.constant("w", weights)
        w = (
            b.op("NEG", [recorded], [b.tensor("negated", (DEPTH, DEPTH))])
            if seed == 2
            else recorded
        )
        b.op("FULLY_CONNECTED", [x, w, -1], [y])
        interpreter = Interpreter(model_content=save(b.outputs(y)))
        for n in 16, 24, 16:
            images = floats(n, DEPTH, seed=n)
            expected = images @ (-weights if seed == 2 else weights).T
            for one in interpreter, interpreter.clone():
                np.testing.assert_allclose(answers(one, images)[0], expected, rtol=1e-4, atol=1e-4)
