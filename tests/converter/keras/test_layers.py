"""Layers of Keras 2 and 3, each in a small model: their values are those that Keras recorded."""

import copy
import io
import json
import lzma
import zipfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from recorded import agree

from flatlite.converter.api.converter import TFLiteConverter
from flatlite.converter.sources import keras
from flatlite.errors import ConverterError, ModelError
from flatlite.graph.core.evaluate import evaluate
from flatlite.interpreter.interpreter import Interpreter

LAYERS = Path(__file__).parent / "layers"
FILES = sorted(path.name.removesuffix(".npz.xz") for path in LAYERS.glob("*.npz.xz"))


@cache
def arrays(file):
    """What a family's file holds: {case: {name: array}}."""
    cases = {}
    with np.load(io.BytesIO(lzma.decompress((LAYERS / f"{file}.npz.xz").read_bytes()))) as archive:
        for key in archive:
            case, _, name = key.partition("/")
            cases.setdefault(case, {})[name] = archive[key]
    return cases


def numbered(case, word):
    return [case[key] for key in case if key.removeprefix(word).isdecimal()]


def written(case, suffix, tmp_path):
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(case[suffix].tobytes())
    return path


def complaint(got, want):
    """ "" where values and types are Keras'."""
    if got.dtype != want.dtype:
        return f"{got.dtype} instead of {want.dtype}"
    return agree(want, got, 2e-5, 1e-5)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("file", FILES)
def test_values_are_those_of_keras(file, suffix, tmp_path):
    complaints = {}
    for name, case in arrays(file).items():
        if suffix not in case:
            continue
        source = keras.load(written(case, suffix, tmp_path))
        inputs, outputs = source.graph.inputs or (), source.graph.outputs or ()
        results = evaluate(
            source.graph, outputs, dict(zip(inputs, numbered(case, "in"), strict=True))
        )
        pairs = zip(results, numbered(case, "out"), strict=True)
        complaints[name] = [text for got, want in pairs if (text := complaint(got, want))]
    assert complaints
    assert not {name: texts for name, texts in complaints.items() if texts}


def litert_cases():
    """Every case; those of one Keras that say much of how operators go together are not slow."""
    fast = ("LSTM_all", "GRU_last", "masked", "both_masked", "causal_heads", "Conv1DTranspose")
    for file in FILES:
        for name in arrays(file):
            is_fast = file.endswith("3") and name in fast
            marks = () if is_fast else pytest.mark.slow
            yield pytest.param(file, name, marks=marks, id=f"{file}-{name}")


@pytest.mark.parametrize(("file", "name"), list(litert_cases()))
def test_files_give_the_values_of_keras(file, name, tmp_path, litert):
    case = arrays(file)[name]
    suffix = "keras" if "keras" in case else "h5"
    converter = TFLiteConverter.from_keras_model_file(written(case, suffix, tmp_path))
    content = converter.convert()
    assert converter.verified
    results = litert.run(content, [numbered(case, "in")], "AUTO")
    assert not isinstance(results, str), results
    for got, want in zip(results[0], numbered(case, "out"), strict=True):
        assert not complaint(got, want)


class Weight:
    """A variable of a backend: it has a shape and gives numpy."""

    def __init__(self, values):
        self.shape, self._values = values.shape, values

    def numpy(self):
        return self._values


class InMemory:
    """What a model of Keras shows of itself: its JSON, and its layers with their weights."""

    name, built = "model", True

    def __init__(self, content):
        with h5py.File(io.BytesIO(content)) as file:
            self._json = file.attrs["model_config"]
            group = file["model_weights"]
            names = {n: list(layer.attrs.get("weight_names", ())) for n, layer in group.items()}
            weights = {n: [Weight(group[n][w][()]) for w in names[n]] for n in names}
        self._layers = [
            SimpleNamespace(name=name, trainable_weights=values, non_trainable_weights=[])
            for name, values in weights.items()
        ]

    @property
    def layers(self):
        return self._layers

    @property
    def weights(self):
        return [weight for layer in self.layers for weight in layer.trainable_weights]

    def to_json(self):
        return self._json


@pytest.mark.parametrize("file", ["recurrent_keras3", "attention_keras3", "norm_keras3"])
def test_models_in_memory_are_those_in_files(file, tmp_path):
    name, case = next((n, c) for n, c in arrays(file).items() if "h5" in c)
    converter = TFLiteConverter.from_keras_model(InMemory(case["h5"].tobytes()))
    interpreter = Interpreter(model_content=converter.convert())
    runner = interpreter.get_signature_runner()
    results = runner(**dict(zip(runner.get_input_details(), numbered(case, "in"), strict=True)))
    for got, want in zip(results.values(), numbered(case, "out"), strict=True):
        assert not complaint(got, want), name


def test_a_model_in_memory_may_be_frozen():
    """TensorFlow 2.21 calls inputs as the layers, results Identity, and writes no signature."""
    converter = TFLiteConverter.from_keras_model(
        InMemory(arrays("norm_keras3")["Unit"]["h5"].tobytes())
    )
    (key,) = Interpreter(model_content=converter.convert()).get_signature_list().values()
    converter.experimental_lower_to_saved_model = False
    interpreter = Interpreter(model_content=converter.convert())
    assert not interpreter.get_signature_list()
    assert [detail["name"] for detail in interpreter.get_input_details()] == key["inputs"]
    assert [detail["name"] for detail in interpreter.get_output_details()] == ["Identity"]


def test_a_model_in_memory_must_be_built_and_described():
    model = InMemory(arrays("norm_keras3")["Unit"]["h5"].tobytes())
    model.built = False
    with pytest.raises(ModelError, match="must be built; call it on data"):
        TFLiteConverter.from_keras_model(model)
    model.built, model.to_json = True, lambda: '{"class_name": "Mine", "config": {}}'
    with pytest.raises(ModelError, match="Sequential or Functional model, got Mine"):
        TFLiteConverter.from_keras_model(model)


JUNK = (None, -1, 0, 1.5, "x", [], {}, [[]], True, 1 << 40, {"class_name": "Dense"}, ["x", 0, 0])


def places(config, path=()):
    """The path of every value in nested dicts and lists."""
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def junk_cases():
    """Half of one case of a family in the default run, all of all in the slow one."""
    for file in FILES:
        for i, name in enumerate(case for case in arrays(file) if "keras" in arrays(file)[case]):
            if not i:
                yield pytest.param(file, name, 30, id=f"{file}-{name}-30")
            yield pytest.param(file, name, 60, marks=pytest.mark.slow, id=f"{file}-{name}")


@pytest.mark.parametrize(("file", "name", "count"), list(junk_cases()))
def test_junk_in_an_architecture_is_an_error_of_ours(file, name, count, tmp_path):
    with zipfile.ZipFile(io.BytesIO(arrays(file)[name]["keras"].tobytes())) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    config = json.loads(members["config.json"])
    rng = np.random.default_rng(0)
    paths = [p for p in places(config["config"], ("config",)) if "initializer" not in str(p)]
    path = tmp_path / "junk.keras"
    for i in rng.permutation(len(paths))[:count]:
        changed = owner = copy.deepcopy(config)
        for key in paths[i][:-1]:
            owner = owner[key]
        owner[paths[i][-1]] = JUNK[rng.integers(len(JUNK))]
        with zipfile.ZipFile(path, "w") as archive:
            for member, content in members.items():
                is_config = member == "config.json"
                archive.writestr(member, json.dumps(changed) if is_config else content)
        try:
            keras.load(path)
        except (ModelError, ConverterError):
            continue
