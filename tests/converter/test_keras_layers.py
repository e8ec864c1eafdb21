"""Layers of Keras 2 and 3, each in a small model: their values are those that Keras recorded."""

import io
import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from recorded import agree

from flatlite.converter.api.converter import TFLiteConverter
from flatlite.converter.sources import keras
from flatlite.graph.core.evaluate import evaluate

LAYERS = Path(__file__).parent / "keras_layers"
FILES = sorted(path.name.removesuffix(".npz.xz") for path in LAYERS.glob("*.npz.xz"))


@cache
def arrays(file):
    """What a family's file holds: {case: {name: array}}."""
    cases = {}
    with np.load(io.BytesIO(lzma.decompress((LAYERS / f"{file}.npz.xz").read_bytes()))) as stored:
        for key in stored:
            case, _, name = key.partition("/")
            cases.setdefault(case, {})[name] = stored[key]
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
