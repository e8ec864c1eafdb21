"""Constants in files beside the model: read below its folder, and refused everywhere else."""

import os
import pickle

import numpy as np
import pytest
from running import answers

from flatlite.errors import ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import model
from flatlite.schema.flatbuffer import record

WEIGHTS = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
BIAS = np.arange(4, dtype=np.float32)
X = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)


def written(
    folder, weights: np.ndarray = WEIGHTS, dtype="FLOAT32", name="parts/weights.bin", **fields
):
    """The path of FULLY_CONNECTED with weights in another file, and what that holds."""
    data = weights.tobytes()
    fields = {"id": 7, "group": 0, "offset": 16, "length": len(data), **fields}
    quantization = model.Quantization([0.05], [0]) if dtype != "FLOAT32" else None
    tensors = [
        model.Tensor("x", X.shape),
        model.Tensor("w", (4, 3), dtype, external_buffer=7, quantization=quantization),
        model.Tensor("b", (4,), data=BIAS),
        model.Tensor("y", (2, 4)),
    ]
    step = model.Operator("FULLY_CONNECTED", [0, 1, 2], [3], record("FullyConnectedOptions")())
    file = model.Model([model.Subgraph("main", tensors, [0], [3], [step])])
    file.external_buffers = [record("ExternalBuffer")(**fields)]
    file.external_buffer_groups = [record("ExternalBufferGroup")(name=name)]
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts/weights.bin").write_bytes(bytes(16) + data)
    path = folder / "model.tflite"
    path.write_bytes(model.save(file))
    return path


def test_constants_of_another_file(tmp_path):
    (y,) = answers(Interpreter(written(tmp_path)), X)
    np.testing.assert_allclose(y, X @ WEIGHTS.T + BIAS, rtol=1e-6)


def test_packed_weights(tmp_path):
    values = np.random.default_rng(2).integers(-8, 8, (4, 3))
    nibbles = values.ravel() & 15
    packed = (nibbles[::2] | nibbles[1::2] << 4).astype(np.uint8)
    (y,) = answers(Interpreter(written(tmp_path, packed, "INT4")), X)
    expected = X @ (0.05 * values.T) + BIAS
    assert np.abs(y - expected).max() < 0.05 * np.abs(expected).max()


def test_a_kept_plan_does_not_outlive_the_file(tmp_path, monkeypatch):
    """What is kept for the next process goes by the model's own file."""
    monkeypatch.setenv("FLATLITE_PLANS", str(tmp_path / "plans"))
    path = written(tmp_path)
    os.utime(path, (1e9, 1e9))  # long ago: its plan would be kept
    first = answers(Interpreter(path), X)
    written(tmp_path, 2 * WEIGHTS)
    os.utime(path, (1e9, 1e9))
    np.testing.assert_allclose(answers(Interpreter(path), X)[0], 2 * first[0] - BIAS, rtol=1e-5)


def test_clones_pickles_and_the_converter_find_them(tmp_path):
    path = written(tmp_path)
    interpreter = Interpreter(path)
    expected = X @ WEIGHTS.T + BIAS
    again = pickle.loads(pickle.dumps(interpreter))
    content = TFLiteConverter.from_tflite_model(str(path)).convert()
    for one in (interpreter.clone(), again, Interpreter(model_content=content)):
        np.testing.assert_allclose(answers(one, X)[0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "../weights.bin"}, "refers to '../weights.bin', which is not a file of its own"),
        ({"name": "/etc/passwd"}, "refers to '/etc/passwd', which is not a file of its own folder"),
        ({"name": ""}, "refers to '', which is not a file of its own folder"),
        ({"name": "a\0b"}, r"refers to 'a\\x00b', which is not a file of its own folder"),
        ({"name": "."}, "refers to '.', which is not a regular file"),
        ({"name": "parts"}, "refers to 'parts', which is not a regular file"),
        ({"name": "link.bin"}, "refers to 'link.bin', which is or passes a link"),
        ({"name": "none.bin"}, "none.bin' cannot be read: No such file or directory"),
        ({"length": 44}, r"tensor 1 'w': .* FLOAT32 of shape \(4, 3\) needs 48 bytes, got 44"),
        ({"offset": 20}, r"bytes 20 to 68 of 'parts/weights.bin', which has 64"),
        ({"offset": 2**63}, "which has 64"),
        ({"packing": "ruy"}, "external buffer 7: packing 'ruy' is not known"),
    ],
)
def test_refused(fields, message, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(bytes(64))
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    path = written(folder, **fields)
    with pytest.raises(ModelError, match=message):
        answers(Interpreter(path), X)


def test_content_alone_does_not_say_where(tmp_path):
    interpreter = Interpreter(model_content=written(tmp_path).read_bytes())
    message = "is in the file 'parts/weights.bin': open the model by its path, not by its content"
    with pytest.raises(ModelError, match=message):
        interpreter.allocate_tensors()
