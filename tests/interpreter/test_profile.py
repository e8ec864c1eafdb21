"""Times per operator."""

import numpy as np
import pytest

from flatlite.interpreter.delegation.with_custom_ops import InterpreterWithCustomOps
from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.profile import profile


def test_operators_that_run_are_timed_in_order(corpus):
    interpreter = Interpreter(corpus / "C/lenet_k3/float.tflite")
    interpreter.allocate_tensors()
    times = profile(interpreter, repeats=3)
    ops = interpreter._get_ops_details()
    folded = {"SHAPE", "STRIDED_SLICE", "PACK", "RESHAPE"}
    assert [(t.position, t.kind) for t in times] == [
        (op["index"], op["op_name"]) for op in ops if op["op_name"] not in folded
    ]
    names = [d["name"] for d in interpreter.get_tensor_details()]
    assert [t.name for t in times] == [names[ops[t.position]["outputs"][0]] for t in times]
    assert all(0 < t.seconds < 10 for t in times)


def test_profile_leaves_the_outputs_of_a_run(transposer):
    interpreter = Interpreter(model_content=transposer)
    interpreter.resize_tensor_input(0, [2, 3])
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.float32([[1, 2, 3], [4, 5, 6]]))
    assert [t.kind for t in profile(interpreter)] == ["TRANSPOSE"]
    y = interpreter.get_output_details()[0]["index"]
    assert interpreter.get_tensor(y).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_steps_between_stages_are_timed(builder, saved):
    class Positive:
        def run(self, x):
            return x[x > 0]

    b = builder()
    x, y = b.input("x", (3,)), b.tensor("y", (None,))
    b.op("CUSTOM", [x], [y], custom_code="Positive")
    interpreter = InterpreterWithCustomOps(
        [lambda custom_op: custom_op("Positive")(Positive)], model_content=saved(b.outputs(y))
    )
    interpreter.allocate_tensors()
    assert [(t.position, t.kind, t.name) for t in profile(interpreter)] == [(0, "Positive", "y")]


def test_misuse(transposer):
    interpreter = Interpreter(model_content=transposer)
    with pytest.raises(RuntimeError, match="Invoke called on model that is not ready"):
        profile(interpreter)
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        profile(interpreter, 0)
    with pytest.raises(TypeError, match="repeats must be an integer, got '2'"):
        interpreter.profile("2")
    view = interpreter.tensor(0)()
    with pytest.raises(RuntimeError, match="There is at least 1 reference"):
        profile(interpreter)
    del view
