"""Boxes of several classes and histograms, as builtins, against TensorFlow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, TFLiteConverter

CASES = np.load(Path(__file__).with_name("detection_functions.npz"))
NAMES = sorted({key.rpartition("/")[0] for key in CASES})


def values(name, kind):
    return [CASES[f"{name}/{kind}{i}"] for i in range(9) if f"{name}/{kind}{i}" in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_results_of_tensorflow(name, tmp_path, litert):
    path = tmp_path / "graph.pb"
    path.write_bytes(CASES[f"{name}/graph"].tobytes())
    ends = [[end.split(":")[0] for end in CASES[f"{name}/{x}"]] for x in ("inputs", "outputs")]
    content = TFLiteConverter.from_frozen_graph(str(path), *ends).convert()
    interpreter, inputs = Interpreter(model_content=content), values(name, "x")
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    results = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    for outputs in (results, litert.run(content, [inputs])[0]):
        for result, expected in zip(outputs, values(name, "y"), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("least", "is_said"), [(float("-inf"), True), (0.0, True), (0.1, False)])
def test_boxes_that_tflite_alone_repeats_are_said(least, is_said, caplog, litert):
    with tf.Graph().as_default(), tf.Session() as session:
        boxes = tf.placeholder(tf.float32, [3, 4], name="boxes")
        scores = tf.placeholder(tf.float32, [3], name="scores")
        best = tf.image.non_max_suppression(boxes, scores, 3, score_threshold=least, name="best")
        feeds = [
            np.float32([[0, 0, 1, 1], [2, 2, 2, 3], [4, 4, 5, 5]]),
            np.float32([0.9, 0.8, 0.7]),
        ]
        expected = session.run(best, dict(zip((boxes, scores), feeds, strict=True)))
        content = TFLiteConverter.from_session(session, [boxes, scores], [best]).convert()
    (indices,) = litert.run(content, [feeds])[0]
    assert expected.tolist() == [0, 1, 2]
    assert indices.tolist() == [0, 1, 1]
    lines = [record.getMessage() for record in caplog.records]
    assert any("NON_MAX_SUPPRESSION for 'best/" in line for line in lines) == is_said
    assert all("\n" not in line for line in lines)
