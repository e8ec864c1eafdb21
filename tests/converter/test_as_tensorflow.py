"""What TensorFlow 2.21's converter says and writes: recorded by record_converter.py."""

import json
from pathlib import Path

import converter_calls
import pytest
from converter_calls import CALLS, KERAS_CALLS, OPEN, POSITIONS, TEXTS, VERSION_1, outcome

import flatlite.compat.v1.lite as lite_v1
import flatlite.lite
from flatlite.converter.sources.fingerprint import fingerprint64
from flatlite.converter.sources.saved_model import read_saved_model

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
    assert ours.partition("\n")[0] == text
    assert kind in types


def test_fingerprints():
    assert [fingerprint64(text) for text in TEXTS] == RECORDED["fingerprints"]
