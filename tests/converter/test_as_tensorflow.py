"""What TensorFlow 2.21's converter says and writes: recorded by record_converter.py."""

import json
import warnings
from pathlib import Path

import converter_calls
import numpy as np
import pytest
from conversion_metadata import metadata
from converter_calls import CALLS, KERAS_CALLS, OPEN, ORDERS, POSITIONS, TEXTS, VERSION_1, outcome

import flatlite.compat.v1.lite as lite_v1
import flatlite.lite
from flatlite.lite import Optimize
from flatlite.schema.fingerprint import fingerprint64
from flatlite.schema.model import load
from flatlite.schema.tensorflow.saved_model import read_saved_model

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "as_tensorflow.json").read_text())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the models; what the calls read besides lies in the current one."""
    monkeypatch.chdir(tmp_path)
    model = read_saved_model(Path(VERSION_1(str(HERE))))
    converter_calls.write_files(model.meta_graphs[0].graph_def.SerializeToString())
    return str(HERE)


@pytest.mark.filterwarnings("ignore:.* has no effect in flatlite")
@pytest.mark.parametrize("name", [*CALLS, *KERAS_CALLS])
def test_error_as_tensorflow(name, folder):
    kind, text = RECORDED["errors"][name]
    types, ours = outcome({**CALLS, **KERAS_CALLS}[name], flatlite.lite, lite_v1, folder)
    assert ours == text
    assert kind in types


def test_fingerprints():
    assert [fingerprint64(text) for text in TEXTS] == RECORDED["fingerprints"]


def converted(name, **attributes):
    kind, path, arguments = POSITIONS[name]
    lite = lite_v1 if kind == "v1" else flatlite.lite
    make = lite.TFLiteConverter.from_saved_model
    if kind == "keras":
        make = lite.TFLiteConverter.from_keras_model_file
    converter = make(path(str(HERE)), **arguments)
    for key, value in {"verify": False, "io_order": "tensorflow", **attributes}.items():
        setattr(converter, key, value)
    return converter.convert()


def keys_of(model, number):
    """A subgraph's key, and the keys of its inputs and outputs by position."""
    (signature,) = [one for one in model.signatures if one.subgraph == number]
    subgraph = model.subgraphs[number]
    ends = (subgraph.inputs, signature.inputs), (subgraph.outputs, signature.outputs)
    keys = [[sorted(k for k, at in named.items() if at == i) for i in end] for end, named in ends]
    return signature.key, *keys


@pytest.mark.parametrize("name", POSITIONS)
def test_positions_as_tensorflow(name):
    model = load(converted(name))
    rows = RECORDED["files"][name]["subgraphs"]
    assert len(model.subgraphs) == len(rows)
    for i, (subgraph, row) in enumerate(zip(model.subgraphs, rows, strict=True)):
        ours = keys_of(model, i)
        ends = zip(
            ("inputs", "outputs"), (subgraph.inputs, subgraph.outputs), ours[1:], strict=True
        )
        for kind, tensors, keys in ends:
            assert len(tensors) == len(row[kind])
            for t, there, (key, named, shape) in zip(tensors, keys, row[kind], strict=True):
                if row["key"] is None:  # the files of version 1 have no signatures
                    assert subgraph.tensors[t].name.removesuffix(":0") == named or kind == "outputs"
                else:
                    assert key in there
                sizes = subgraph.tensors[t].shape
                if kind == "inputs":
                    assert list(sizes) == shape
                assert all(n in (1, m) for n, m in zip(shape, sizes, strict=True))  # 1: not known
        assert row["key"] in (None, ours[0])


def test_positions_of_outputs_of_version_1():
    model = load(converted("orders, version 1"))
    outputs = [model.subgraphs[0].tensors[t].name for t in model.subgraphs[0].outputs]
    row = RECORDED["files"]["orders, version 1"]["subgraphs"][0]
    assert [name.removesuffix(":0") for name in outputs] == [
        named for _, named, _ in row["outputs"]
    ]


@pytest.mark.parametrize("name", POSITIONS)
def test_metadata_as_tensorflow(name):
    environment = metadata(converted(name))[0]
    row = RECORDED["files"][name]
    assert environment["api_version"] == row["api_version"]
    if row["model_type"]:  # TensorFlow forgets that of SavedModels in version 1
        assert environment["model_type"] == row["model_type"]


@pytest.mark.parametrize("name", RECORDED["modes"])
def test_optimization_modes_as_tensorflow(name):
    def samples():
        return ([np.linspace(i, 1, 48, dtype=np.float32).reshape(1, 16, 3)] for i in (-2, -1))

    converter = flatlite.lite.TFLiteConverter.from_saved_model(
        OPEN(str(HERE)), signature_keys=["fixed"]
    )
    converter.optimizations = [] if name in ("float", "samples alone") else [Optimize.DEFAULT]
    converter.representative_dataset = samples if name in ("int8", "samples alone") else None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the model stays float")
        assert metadata(converter.convert())[1] == RECORDED["modes"][name]


@pytest.mark.parametrize("name", ["orders", "several"])
def test_positions_are_the_sources_and_said_to_be(name, caplog):
    model = load(converted(name, io_order="source"))
    (line,) = [record.getMessage() for record in caplog.records]
    assert "\n" not in line
    assert "io_order = 'tensorflow' (--io-order tensorflow)" in line
    ours = [keys_of(model, i)[1:] for i in range(len(model.subgraphs))]
    caplog.clear()
    model = load(converted(name))
    assert ours != [keys_of(model, i)[1:] for i in range(len(model.subgraphs))]
    assert not caplog.records


def test_lists_of_samples_go_by_the_positions_of_the_file():
    converter = flatlite.lite.TFLiteConverter.from_saved_model(ORDERS(str(HERE)))
    zeta, mid, alpha = np.ones((1, 2), "f4"), np.float32(1), np.ones((1, 3), "f4")
    converter.io_order = "tensorflow"
    converter.representative_dataset = lambda: iter([[zeta, mid, alpha]])
    assert converter.convert()
    assert converter.get_input_arrays()[1] == "serving_default_mid"
    converter.io_order = "source"
    converter.representative_dataset = lambda: iter([[zeta, alpha, mid]])
    assert converter.convert()
