"""Keras files: what is read, with which values and names, and what is refused."""

import copy
import json
import sys
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from keras_files import h5, keras_file, model, one
from recorded import agree, group, load, rows

import flatlite.compat.v1 as tf
from flatlite.converter.api.converter import TFLiteConverter
from flatlite.converter.api.live import loaded_with
from flatlite.converter.sources import keras
from flatlite.errors import ConverterError, ModelError, UnsupportedOps
from flatlite.graph.core.evaluate import evaluate
from flatlite.schema.model import load as load_model

MODELS = Path(__file__).parent / "models"
KINDS = ("dots", "images", "nested", "sequences", "activations", "operators")
NAMES = [f"{n}_keras{v}" for v in (2, 3) for n in KINDS]


def run(source, *inputs):
    feeds = dict(zip(source.graph.inputs, inputs, strict=True))
    return evaluate(source.graph, source.graph.outputs, feeds)


def convert(path):
    converter = TFLiteConverter.from_keras_model_file(path)
    content = converter.convert()
    assert converter.verified
    return content


def cases(name):
    with np.load(MODELS / f"{name}.npz") as archive:
        return [[archive[k] for k in archive if k.startswith(part)] for part in ("in", "out")]


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_keras(name, suffix):
    inputs, outputs = cases(name)
    source = keras.load(MODELS / f"{name}.{suffix}")
    assert [port.tensor for port in source.inputs] == source.graph.inputs
    for got, want in zip(run(source, *inputs), outputs, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_files_give_the_values_of_keras(name, litert):
    inputs, outputs = cases(name)
    content = convert(MODELS / f"{name}.keras")
    for got, want in zip(litert.run(content, [inputs], "AUTO")[0], outputs, strict=True):
        assert not agree(want, got, 1e-5, 1e-5)


def corpus_rows():
    for row in rows():
        for kind in ("keras", "h5"):
            if row.get("variant") == "float" and kind in row.get("files", {}):
                yield pytest.param(row, row["files"][kind], id=row["files"][kind])


def recorded_steps(row):
    """(inputs, outputs) as TensorFlow gave them, in Keras' order."""
    if row["kind"] == "tflite_case":
        arrays = load(row["files"]["source_data"])
        yield [list(group(arrays, key).values()) for key in ("in", "tf")]
        return
    arrays = load(row["files"]["data_tf"])
    for i in range(2):
        outputs = group(arrays, f"tf{i}") or group(arrays, f"sig{i}")
        yield list(group(arrays, f"in{i}").values()), list(outputs.values())[:1]


def n_operators(content):
    return sum(len(graph.operators) for graph in load_model(content).subgraphs)


@pytest.mark.parametrize(("row", "file"), list(corpus_rows()))
def test_corpus_rows(row, file, corpus, litert):
    content = convert(corpus / file)
    if "tflite" in row["files"] and "/tflite_b1" not in row["id"]:  # that one has one LSTM, batch 1
        theirs = (corpus / row["files"]["tflite"]).read_bytes()
        assert n_operators(content) <= n_operators(theirs)
        assert len(content) <= len(theirs)
    steps = list(recorded_steps(row))
    results = litert.run(content, [inputs for inputs, _ in steps], "AUTO")
    for got, (_, want) in zip(results, steps, strict=True):
        for output, expected in zip(got, want, strict=True):
            assert not agree(expected, output, 1e-4, 1e-5)


def test_names_are_those_of_tensorflow():
    source = keras.load(MODELS / "nested_keras2.h5")
    assert [p.name for p in source.inputs] == ["b_in", "a_in"]
    assert [p.name for p in source.outputs] == ["Identity", "Identity_1"]
    source = keras.load(MODELS / "nested_keras2.keras")
    assert source.key == "serving_default"
    assert [(p.key, p.name) for p in source.inputs] == [
        ("b_in", "serving_default_b_in:0"),
        ("a_in", "serving_default_a_in:0"),
    ]
    names = [("zz", "StatefulPartitionedCall:1"), ("aa", "StatefulPartitionedCall:0")]
    assert [(p.key, p.name) for p in source.outputs] == names
    source = keras.load(MODELS / "nested_keras3.keras")
    names = [("output_0", "StatefulPartitionedCall:0"), ("output_1", "StatefulPartitionedCall:1")]
    assert [(p.key, p.name) for p in source.outputs] == names
    source = keras.load(MODELS / "activations_keras3.keras")
    assert source.outputs[2].name == "PartitionedCall:6"  # output_2 comes after output_13


def test_shared_weights_are_one_constant():
    graph = keras.load(MODELS / "nested_keras3.keras").graph
    assert len([op for op in graph.operations if op.name.endswith("shared/kernel")]) == 1
    assert len([op for op in graph.operations if "shared/MatMul" in op.name]) == 4


def test_inputs_and_outputs_by_name():
    path = MODELS / "nested_keras3.keras"
    source = keras.load(
        path, ["a_in", "serving_default_b_in"], ["aa", "output_0"], {"a_in": [7, 8]}
    )
    assert [port.key for port in source.inputs] == ["a_in", "b_in"]
    assert [port.name for port in source.outputs] == ["aa:0", "StatefulPartitionedCall:0"]
    assert source.inputs[0].tensor.shape == (7, 8)
    with pytest.raises(ValueError, match=r"(?s)Invalid tensors 'c'.*'b_in', 'a_in'"):
        keras.load(path, ["c"])
    with pytest.raises(ValueError, match=r"(?s)Invalid tensors 'x,y'.*its layers"):
        keras.load(path, None, ["x", "zz", "y"])
    with pytest.raises(ValueError, match="cannot be changed"):
        keras.load(path, input_shapes={"a_in": [1, 9]})


X = [["x", 0, 0]]
DENSE = model(one("Dense", "d", X, units=2), x=[None, 3])
KERNEL, BIAS = np.ones((3, 2), np.float32), np.zeros(2, np.float32)
VARS = "layers/dense/vars"
GOOD = {f"{VARS}/0": KERNEL, f"{VARS}/1": BIAS}


def test_channels_first_is_the_same_model(tmp_path):
    kernel = np.random.default_rng(0).normal(size=(3, 3, 2, 4)).astype(np.float32)
    weights = {"layers/conv2d/vars/0": kernel, "layers/conv2d/vars/1": np.float32([1, 2, 3, 4])}
    x = np.random.default_rng(1).normal(size=(1, 6, 7, 2)).astype(np.float32)
    results = []
    for layout, shape in (("channels_last", (6, 7, 2)), ("channels_first", (2, 6, 7))):
        layers = [
            one("ZeroPadding2D", "p", X, padding=[[1, 0], [0, 2]], data_format=layout),
            one(
                *("Conv2D", "c", [["p", 0, 0]]),
                filters=4,
                kernel_size=[3, 3],
                strides=[1, 1],
                padding="same",
                data_format=layout,
            ),
            one("MaxPooling2D", "m", [["c", 0, 0]], pool_size=2, data_format=layout),
            one("Cropping2D", "e", [["m", 0, 0]], cropping=[[0, 1], [1, 0]], data_format=layout),
            one("Flatten", "f", [["e", 0, 0]], data_format=layout),
        ]
        path = keras_file(tmp_path, model(*layers, x=[1, *shape]), weights)
        inputs = x if layout == "channels_last" else x.transpose(0, 3, 1, 2)
        results += run(keras.load(path), inputs)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-5)


def test_sequential_of_the_first_keras_2(tmp_path):
    config = {"name": "d", "units": 2, "batch_input_shape": [None, 3], "activation": "relu"}
    text = {"class_name": "Sequential", "config": [{"class_name": "Dense", "config": config}]}
    path = tmp_path / "old.h5"

    def edit(file):
        file.attrs["model_config"] = json.dumps(text)
        file["model_weights/d"].attrs["weight_names"] = [b"d/kernel:0", b"d/bias:0"]

    group = "model_weights/d/d"
    path.write_bytes(h5({f"{group}/kernel:0": KERNEL, f"{group}/bias:0": BIAS}, edit))
    source = keras.load(path)
    assert [port.key for port in source.inputs] == ["d_input"]
    assert [port.key for port in source.outputs] == ["d"]
    assert run(source, np.float32([[1, 2, 3]]))[0].tolist() == [[6, 6]]


PAIR = [["x", 0, 0], ["y", 0, 0]]
PAIRS = {
    "Minimum": ("keras.layers", np.minimum),
    "Add": ("keras.src.ops.numpy", np.add),
    "Divide": ("keras.src.ops.numpy", np.divide),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_two_inputs(kind, tmp_path):
    module, function = PAIRS[kind]
    path = keras_file(tmp_path, model(one(kind, "z", PAIR, module), x=[None, 3], y=[None, 3]))
    x, y = np.float32([[1, 5, 3]]), np.float32([[2, 4, 8]])
    np.testing.assert_allclose(run(keras.load(path), x, y)[0], function(x, y), rtol=1e-6)


def test_batch_normalization_along_another_axis(tmp_path):
    names = ("gamma", "beta", "mean", "variance")
    values = {n: np.float32([i + 1, i + 2]) for i, n in enumerate(names)}
    weights = {f"layers/batch_normalization/vars/{i}": values[n] for i, n in enumerate(names)}
    layer = one("BatchNormalization", "n", X, axis=1, epsilon=0.5)
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    (got,) = run(keras.load(keras_file(tmp_path, model(layer, x=[None, 2, 3]), weights)), x)
    gamma, beta, mean, variance = (values[n][:, None] for n in names)
    np.testing.assert_allclose(got, (x - mean) / np.sqrt(variance + 0.5) * gamma + beta, rtol=1e-5)


def test_all_unsupported_layers_are_listed(tmp_path):
    layers = [
        one("Lambda", "code", X, function="x"),
        one("Dense", "theirs", X, "their.layers", units=2),
        one("Dense", "complex", X, units=2, dtype="complex64"),
        one("Activation", "odd", X, activation="my_function"),
        one("HashedCrossing", "words", X, num_bins=2),
    ]
    with pytest.raises(UnsupportedOps) as caught:
        keras.load(keras_file(tmp_path, model(*layers, x=[None, 3])))
    lines = str(caught.value).splitlines()
    assert len(lines) == 7
    for word in (
        "Lambda 'code' holds Python",
        "their.layers.Dense",
        "computes in complex64",
        "my_function",
    ):
        assert any(word in line for line in lines)
    assert "from_saved_model" in lines[-1]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_models_of_other_floats_are_of_float32(dtype, tmp_path, litert):
    """Weights of bfloat16 lie in HDF5 as two bytes each that are no numbers to it.

    Of float64 a line warns, as it does of ONNX models.
    """
    kernel = np.float32([[1.5, -2], [0.25, 3], [-1, 0.5]])
    typed = kernel.astype(np.float32 if dtype == "bfloat16" else dtype)
    if dtype == "bfloat16":
        typed = np.right_shift(kernel.view(np.uint32), 16).astype(np.uint16).view("V2")
    layer = one("Dense", "d", X, units=2, use_bias=False, dtype=dtype)
    config = model(layer, x=[None, 3])
    config["config"]["layers"][0]["config"]["dtype"] = dtype
    path = keras_file(tmp_path, config, {"layers/dense/vars/0": typed})
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        content = convert(path)
    texts = [str(warning.message) for warning in seen]
    told = "2 layers, first InputLayer 'x', are of float64 in the source and of float32 in the file"
    assert [told in text for text in texts] == [True] * (dtype == "float64"), texts
    x = np.float32([[1, 2, 3], [-1, 0.5, 4]])
    (y,) = litert.run(content, [[x]], "AUTO")[0]
    np.testing.assert_array_equal(y, x @ kernel)


def test_calls_that_multiply_are_refused(tmp_path):
    inner = model(one("Dropout", "d", X), x=[None, 3])
    for _ in range(24):
        nested = {**inner, "name": "n", "inbound_nodes": one("n", "n", X)["inbound_nodes"]}
        second = one("n", "n", [["n", 0, 0]])["inbound_nodes"]
        nested["inbound_nodes"] = nested["inbound_nodes"] + second
        inner = model(nested, x=[None, 3])
        inner["config"]["output_layers"] = ["n", 2, 0]  # it counts from 1
    with pytest.raises(ModelError, match="must come to at most 262144 calls"):
        keras.load(keras_file(tmp_path, inner))


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_cut_files(suffix, tmp_path):
    content = (MODELS / f"sequences_keras3.{suffix}").read_bytes()
    for size in (0, 3, 8, 100, len(content) // 2, len(content) - 30):
        path = tmp_path / f"cut.{suffix}"
        path.write_bytes(content[:size])
        with pytest.raises(ModelError, match="cut"):
            keras.load(path)


JUNK = (None, -1, 0, 1.5, "x", [], {}, [[]], True, 1 << 40, {"class_name": "Dense"}, ["x", 0, 0])


def places(config, path=()):
    """The path of every value in nested dicts and lists."""
    items = config.items() if isinstance(config, dict) else enumerate(config)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@pytest.mark.parametrize("count", [40, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_junk_in_an_architecture_is_an_error_of_ours(name, count, tmp_path):
    with zipfile.ZipFile(MODELS / f"{name}.keras") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    config = json.loads(members["config.json"])
    rng = np.random.default_rng(0)
    paths = [p for p in places(config["config"], ("config",)) if "initializer" not in str(p)]
    path = tmp_path / "junk.keras"
    for i in rng.permutation(len(paths))[:count]:
        junk = JUNK[rng.integers(len(JUNK))]
        changed = owner = copy.deepcopy(config)
        for key in paths[i][:-1]:
            owner = owner[key]
        owner[paths[i][-1]] = junk
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                is_config = member == "config.json"
                archive.writestr(member, json.dumps(changed) if is_config else content)
        try:
            keras.load(path)
        except (ModelError, ConverterError):
            continue


def test_custom_objects_name_what_does_the_same(tmp_path):
    config = model(one("MyDense", "d", X, "their.layers", units=2), x=[None, 3])
    path = keras_file(
        tmp_path, config, {f"layers/my_dense/vars/{i}": GOOD[f"{VARS}/{i}"] for i in (0, 1)}
    )
    with pytest.raises(UnsupportedOps, match=r"their\.layers\.MyDense 'd'"):
        keras.load(path)
    source = keras.load(path, custom_objects={"MyDense": "Dense"})
    assert run(source, np.float32([[1, 2, 3]]))[0].tolist() == [[6, 6]]
    with pytest.raises(ConverterError, match=r"'MyDense' must be .*from_saved_model"):
        keras.load(path, custom_objects={"MyDense": object})
    with pytest.raises(ConverterError, match=r"'MyDense' must be the name .*, got 'Denss'"):
        keras.load(path, custom_objects={"MyDense": "Denss"})
    with pytest.raises(TypeError, match=r"custom_objects must be a dict of .*, got list"):
        TFLiteConverter.from_keras_model_file(path, custom_objects=["MyDense"])


def test_functions_may_be_among_classes_that_their_keras_reads(monkeypatch):
    package = SimpleNamespace(
        models=SimpleNamespace(
            load_model=lambda path, custom_objects, compile: (path, custom_objects)
        )
    )
    monkeypatch.setitem(sys.modules, "tf_keras", package)
    base = type("Layer", (), {"__module__": "tf_keras.layers"})
    objects = {"act": np.tanh, "Mine": type("Mine", (base,), {"call": lambda self, x: x})}
    assert loaded_with("m.h5", objects) == ("m.h5", objects)


def test_functions_are_read_by_the_keras_of_the_program(monkeypatch):
    def package(name):
        def load(path, custom_objects, compile):
            return name

        monkeypatch.setitem(
            sys.modules, name, SimpleNamespace(models=SimpleNamespace(load_model=load))
        )

    package("keras")
    assert loaded_with("m.h5", {"act": lambda x: x}) == "keras"
    package("tf_keras")
    assert loaded_with("m.h5", {"act": lambda x: x}) == "tf_keras"
    assert loaded_with("m.keras", {"act": lambda x: x}) == "keras"
    assert loaded_with("m.keras", {"act": "relu"}) is None


def test_activations_of_the_program_are_functions_of_flatlite(tmp_path):
    activation = {"class_name": "function", "config": "<lambda>", "module": "builtins"}
    config = model(one("Dense", "d", X, units=2, activation=activation), x=[None, 3])
    path = keras_file(tmp_path, config, GOOD)
    with pytest.raises(UnsupportedOps, match="activation '<lambda>'"):
        keras.load(path)
    x = np.float32([[1, 2, 3], [-1, -2, -3]])

    def capped(x):
        return tf.minimum(tf.maximum(0.5 * x, x), 5.0)

    source = keras.load(path, custom_objects={"<lambda>": capped})
    assert run(source, x)[0].tolist() == [[5, 5], [-3, -3]]
    source = keras.load(path, custom_objects={"<lambda>": "relu"})
    assert run(source, x)[0].tolist() == [[6, 6], [0, 0]]
    with pytest.raises(ConverterError, match="must give a tensor of flatlite's operations, got 3"):
        keras.load(path, custom_objects={"<lambda>": lambda x: 3})


def test_activations_within_wrapped_layers_are_of_the_program(tmp_path):
    cell = {"units": 1, "activation": "mine", "recurrent_activation": "mine", "name": "r"}
    inner = {"module": "keras.layers", "class_name": "SimpleRNN", "config": cell}
    config = model(one("Bidirectional", "b", X, layer=inner, merge_mode="sum"), x=[None, 2, 1])
    shapes = {"kernel": (1, 1), "recurrent_kernel": (1, 1), "bias": (1,)}
    weights = {
        f"layers/bidirectional/{way}_layer/cell/vars/{i}": np.ones(shape, np.float32)
        for way in ("forward", "backward")
        for i, shape in enumerate(shapes.values())
    }
    path = keras_file(tmp_path, config, weights)
    source = keras.load(path, custom_objects={"mine": lambda x: x * 2.0})
    x = np.float32([[[1], [2]]])  # forward 4 then 14, backward 6 then 16
    assert run(source, x)[0].tolist() == [[30]]


def test_architecture_in_json_beside_weights(tmp_path):
    path, weights = tmp_path / "model.json", tmp_path / "model.weights.h5"
    path.write_text(json.dumps(DENSE))
    weights.write_bytes(h5(GOOD))
    source = keras.load(path, weights_file=weights)
    assert run(source, np.float32([[1, 2, 3]]))[0].tolist() == [[6, 6]]

    def edit(file):
        file.attrs["layer_names"] = [b"x", b"d"]
        file["d"].attrs["weight_names"] = [b"d/kernel:0", b"d/bias:0"]

    weights.write_bytes(h5({"d/d/kernel:0": KERNEL, "d/d/bias:0": BIAS}, edit))
    source = keras.load(path, weights_file=weights)
    assert run(source, np.float32([[1, 2, 3]]))[0].tolist() == [[6, 6]]
    with pytest.raises(ValueError, match="weights_file"):
        keras.load(path)
    with pytest.raises(ValueError, match="for JSON alone"):
        keras.load(MODELS / "dots_keras3.keras", weights_file=weights)


@pytest.mark.parametrize("number_first", [False, True])
def test_arithmetic_with_a_number(number_first, tmp_path):
    layer = one("Subtract", "z", X, "keras.src.ops.numpy")
    layer["inbound_nodes"][0]["args"].insert(0 if number_first else 1, 3.5)
    x = np.float32([[1, 5, 3]])
    want = 3.5 - x if number_first else x - 3.5
    path = keras_file(tmp_path, model(layer, x=[None, 3]))
    np.testing.assert_array_equal(run(keras.load(path), x)[0], want)


@pytest.mark.parametrize(
    "name",
    ["steps/Reshape_1", "steps/dense/Tanh", "steps/dense/BiasAdd:0", "model/repeat/Tile", "steps"],
)
def test_outputs_by_the_names_of_operations(name, tmp_path):
    """TF1's converter takes the tensors of Keras' graph, these among them."""
    dense = one("Dense", "dense", units=3, activation="tanh")
    layers = [
        one("RepeatVector", "repeat", [["x", 0, 0]], n=2),
        one("TimeDistributed", "steps", [["repeat", 0, 0]], layer=dense),
        one("Flatten", "flat", [["steps", 0, 0]]),
    ]
    at = "layers/time_distributed/layer/vars"
    weights = {f"{at}/0": np.ones((4, 3), np.float32), f"{at}/1": np.ones(3, np.float32)}
    path = keras_file(tmp_path, model(*layers, x=[None, 4]), weights)
    source = keras.load(path, output_arrays=[name])
    x = np.full((1, 4), 0.125, np.float32)
    (got,) = run(source, x)
    total = {"steps/dense/BiasAdd:0": 1.5, "model/repeat/Tile": 0.125}.get(name, np.tanh(1.5))
    np.testing.assert_allclose(got, np.full(got.shape, total), rtol=1e-6)
