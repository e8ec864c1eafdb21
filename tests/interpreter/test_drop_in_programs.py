"""Programs written for LiteRT do here what they do there, errors included."""

import json
import subprocess
import sys
from pathlib import Path

import drop_in_programs
import numpy as np
import pytest
from building import Builder, save
from flatbuffers import flexbuffers
from recurrent_models import Sort, content

from flatlite import lite
from flatlite.schema.model import Quantization

SCRIPT = Path(drop_in_programs.__file__)
OTHER_WORDS = {
    "miss_a_custom_operator": "Encountered unresolved custom op: Nobodys",
    "load_what_is_no_model": "The model is not a valid Flatbuffer buffer",
    "miss_a_file": "Could not open 'no_such_model.tflite'.",
}
"""Programs whose errors name LiteRT's source files, or more than ours need to; what both say."""


def random(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def scores():
    """SOFTMAX of a layer over pictures of 4 by 4, for any batch, under a signature."""
    b = Builder()
    x, flat, y, z = (
        b.input("image", (None, 4, 4, 3)),
        b.tensor("flat", (None, 48)),
        b.tensor("logits", (None, 5)),
        b.tensor("probabilities", (None, 5)),
    )
    b.op("RESHAPE", [x, b.constant("shape", np.int32([-1, 48]))], [flat])
    weights, bias = b.constant("weights", random(5, 48) / 8), b.constant("bias", random(5))
    b.op("FULLY_CONNECTED", [flat, weights, bias], [y])
    b.op("SOFTMAX", [y], [z], beta=1.0)
    signature = ("serving_default", {"image": x}, {"scores": z}, 0)
    return save(b.outputs(z), signatures=[signature])


def quantized():
    """AVERAGE_POOL_2D, then SOFTMAX, in uint8 as old files have it."""
    b = Builder()

    def scaled(scale, zero):
        return {"quantization": Quantization(np.float32([scale]), np.int64([zero]), 0)}

    x = b.input("image", (1, 4, 4, 5), "UINT8", **scaled(1 / 128, 128))
    pooled = b.tensor("pooled", (1, 1, 1, 5), "UINT8", **scaled(1 / 128, 128))
    b.op("AVERAGE_POOL_2D", [x], [pooled], padding=1, stride_w=4, stride_h=4, filter_width=4,
         filter_height=4)  # fmt: skip
    flat = b.tensor("flat", (1, 5), "UINT8", **scaled(1 / 128, 128))
    b.op("RESHAPE", [pooled, b.constant("shape", np.int32([1, 5]))], [flat])
    y = b.tensor("scores", (1, 5), "UINT8", **scaled(1 / 256, 0))
    b.op("SOFTMAX", [flat], [y], beta=1.0)
    return save(b.outputs(y))


def detector():
    b = Builder()
    n, classes = 30, 4
    boxes, classed = b.input("boxes", (1, n, 4)), b.input("classes", (1, n, classes + 1))
    anchors = b.constant("anchors", np.abs(random(n, 4)))
    shapes = [(1, 10, 4), (1, 10), (1, 10), (1,)]
    results = [b.tensor(f"Detection:{i}", shape) for i, shape in enumerate(shapes)]
    options = {"max_detections": 10, "max_classes_per_detection": 1, "num_classes": classes,
               "nms_score_threshold": 0.4, "nms_iou_threshold": 0.5, "use_regular_nms": False,
               "y_scale": 10.0, "x_scale": 10.0, "h_scale": 5.0, "w_scale": 5.0}  # fmt: skip
    b.op("CUSTOM", [boxes, classed, anchors], results,
         custom_code="TFLite_Detection_PostProcess",
         custom_options=bytes(flexbuffers.Dumps(options)))  # fmt: skip
    return save(b.outputs(*results))


def stream():
    """The sum of all frames, in a variable."""
    b, first = Builder(), Builder("first")

    def handle(b):
        return b.op("VAR_HANDLE", [], [b.tensor("v", (), "RESOURCE")], shared_name="sum")

    first.op("ASSIGN_VARIABLE", [handle(first), first.constant("zeros", np.zeros(4, "f4"))], [])
    x, before, after = b.input("frame", (4,)), b.tensor("before", (4,)), b.tensor("after", (4,))
    b.op("CALL_ONCE", [], [], init_subgraph_index=1)
    variable = handle(b)
    b.op("READ_VARIABLE", [variable], [before])
    b.op("ADD", [x, before], [after])
    b.op("ASSIGN_VARIABLE", [variable, after], [])
    return save(b.outputs(after), first)


def signatures():
    encode, decode = Builder("encode"), Builder("decode")
    x, code = encode.input("encode_image:0", (1, 3)), encode.tensor("PartitionedCall:0", (1, 3))
    encode.op("NEG", [x], [code])
    y, back = decode.input("decode_code:0", (1, 3)), decode.tensor("PartitionedCall_1:0", (1, 3))
    decode.op("ABS", [y], [back])
    return save(
        encode.outputs(code),
        decode.outputs(back),
        signatures=[
            ("encode", {"image": x}, {"code": code}, 0),
            ("decode", {"code": y}, {"image": back}, 1),
        ],
    )


def custom():
    b = Builder()
    x, y = b.input("x", (1,)), b.tensor("y", (1,))
    b.op("CUSTOM", [x], [y], custom_code="Nobodys")
    return save(b.outputs(y))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The models of all programs."""
    path = tmp_path_factory.mktemp("models")
    lstm = content(
        Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", options=(("fused_activation_function", 4),))
    )
    makers = (scores, quantized, detector, stream, signatures, custom)
    for name, data in {"lstm": lstm, **{make.__name__: make() for make in makers}}.items():
        (path / f"{name}.tflite").write_bytes(data)
    return path


@pytest.fixture(scope="module")
def theirs(folder):
    """What LiteRT does, by program."""
    command = [sys.executable, str(SCRIPT), "ai_edge_litert.interpreter", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", drop_in_programs.PROGRAMS)
def test_does_what_it_does_with_litert(name, theirs, folder):
    kind, expected = theirs[name]
    ours, result = drop_in_programs.outcome(name, lite, folder)
    assert ours.replace("ModelError", "ValueError").replace("PlanError", "RuntimeError") == kind
    if name in OTHER_WORDS:
        assert OTHER_WORDS[name] in expected and OTHER_WORDS[name] in result
    elif kind:
        assert result == expected or result.startswith(f"{expected}\n")
    else:
        assert json.loads(json.dumps(result)) == close_to(expected)


def close_to(value):
    """Results of which floats, to four digits, may differ in the last one."""
    if isinstance(value, list):
        return [close_to(one) for one in value]
    if isinstance(value, dict):
        return {key: close_to(one) for key, one in value.items()}
    return pytest.approx(value, rel=2e-3, abs=1e-6) if isinstance(value, float) else value
