"""Large initializers are views of the model's bytes, and the rest of it is what it was."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx_models import floats, model_of, node

from flatlite.converter.sources.onnx import load
from flatlite.converter.sources.onnx_weights import without_weights
from flatlite.lite import TFLiteConverter
from flatlite.schema.files import map_file

LARGE = {"w": floats(64, 40), "i": np.arange(1200), "h": floats(50, 50).astype(np.float16)}
SMALL = {"b": floats(40), "c": np.float32(2)}


def model():
    return model_of([node("MatMul", "x w", "t"), node("Add", "t b")], {"x": floats(3, 64)},
                    constants={**LARGE, **SMALL})  # fmt: skip


def test_weights_are_views():
    content = model().SerializeToString()
    message, weights = without_weights(memoryview(content))
    names = [t.name for t in model().graph.initializer]
    assert [names[i] for i in weights] == list(LARGE)
    for i, array in weights.items():
        np.testing.assert_array_equal(array, LARGE[names[i]])
        assert np.shares_memory(array, np.frombuffer(content, "u1"))
    parsed = onnx.ModelProto.FromString(message)
    for tensor, want in zip(parsed.graph.initializer, model().graph.initializer, strict=True):
        assert (tensor.name, tensor.dims, tensor.data_type) == (
            want.name,
            want.dims,
            want.data_type,
        )
        if tensor.name in LARGE:
            tensor.raw_data = numpy_helper.from_array(LARGE[tensor.name]).raw_data
    assert parsed == model()


@pytest.mark.parametrize("cut", [1, 5, 3000, 9000])
def test_what_is_malformed_is_left_as_it_is(cut):
    content = model().SerializeToString()[:-cut]
    assert without_weights(memoryview(content)) == (content, {})


def test_elements_that_are_not_raw_are_left_as_they_are():
    typed = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [64, 40], LARGE["w"].ravel())
    whole = model()
    del whole.graph.initializer[0]
    whole.graph.initializer.insert(0, typed)
    content = whole.SerializeToString()
    message, weights = without_weights(memoryview(content))
    assert 0 not in weights and len(weights) == 2
    assert onnx.ModelProto.FromString(message).graph.initializer[0] == typed


def test_sizes_that_contradict_the_elements_are_left_as_they_are():
    whole = model()
    whole.graph.initializer[0].dims[:] = [64, 41]
    _, weights = without_weights(memoryview(whole.SerializeToString()))
    assert 0 not in weights


def test_a_file_and_its_bytes_become_the_same(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(model(), path)
    contents = [
        TFLiteConverter.from_onnx_model(source).convert()
        for source in (path, path.read_bytes(), model())
    ]
    assert contents[0] == contents[1] == contents[2]
    assert map_file(path).nbytes > sum(x.nbytes for x in LARGE.values())


def test_weights_in_another_file_are_views_of_it(tmp_path):
    weights = {"w": floats(64, 40), "v": floats(40, 64), "b": floats(64)}
    nodes = [node("MatMul", "x w", "t"), node("MatMul", "t v", "u"), node("Add", "u b")]
    path = tmp_path / "model.onnx"
    onnx.save(model_of(nodes, {"x": floats(3, 64)}, constants=weights), path,
              save_as_external_data=True, location="weights", size_threshold=0)  # fmt: skip
    arrays = load(path).arrays
    for name, want in weights.items():
        np.testing.assert_array_equal(arrays[name], want)
    mapped = np.frombuffer(whole_file(arrays["w"]), "u1")
    assert mapped.tobytes() == (tmp_path / "weights").read_bytes()
    assert [np.shares_memory(arrays[name], mapped) for name in "wvb"] == [True, True, False]


def whole_file(array):
    """What an array is a view of."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array
