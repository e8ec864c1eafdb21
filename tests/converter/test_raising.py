"""Models as graphs: every operator's cases, recurrent cells, weights that train, the way back."""

import numpy as np
import pytest
from cases import Case, all_cases, content

import flatlite.compat.v1 as tf
from flatlite.converter.raising.registry import RAISES
from flatlite.lite import Interpreter, to_graph

LEFT_OUT = {
    "NON_MAX_SUPPRESSION_V5": "TensorFlow has no threshold where scores shrink",
}
OVERFLOWS = "what overflows is the largest number in TFLite, and infinite or wrapped in TensorFlow"
STORED = "TFLite compares, multiplies and looks up integers that are rounded, and real ones here"
WHY = {
    "conv/infinite": OVERFLOWS,
}


def real(array, detail):
    """What an array of an interpreter stands for."""
    scale, zero_point = detail["quantization"]
    if not scale or array.dtype.kind == "f":
        return array
    return (array.astype(np.float32) - zero_point) * np.float32(scale)


def interpreted(model, feeds):
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details(), interpreter.get_output_details()
    for detail, array in zip(details[0], feeds, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    results = [interpreter.get_tensor(detail["index"]) for detail in details[1]]
    return results, details


def in_session(raised, feeds):
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        return session.run(
            list(raised.outputs.values()), dict(zip(raised.inputs.values(), feeds, strict=True))
        )


CASES = [c for c in all_cases() if isinstance(c, Case) and RAISES.get(c.op) is not None]


@pytest.mark.parametrize("case", CASES[::40], ids=lambda case: case.name)
def test_case(case):
    model = content(case)
    want, details = interpreted(model, case.feeds)
    feeds = [real(x, detail) for x, detail in zip(case.feeds, details[0], strict=True)]
    got = in_session(to_graph(model), feeds)
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == theirs.dtype or ours.dtype == np.float32
