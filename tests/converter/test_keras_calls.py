"""Models of Keras with states, and of words: calls one after the other give what Keras recorded."""

import io
import lzma
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from recorded import agree

from flatlite.converter.sources import keras
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter

CALLS = Path(__file__).parent / "keras_calls"
FILES = sorted(path.name.removesuffix(".npz.xz") for path in CALLS.glob("*.npz.xz"))


@cache
def arrays(file):
    """What a family's file holds: {case: {name: array}}."""
    cases = {}
    with np.load(io.BytesIO(lzma.decompress((CALLS / f"{file}.npz.xz").read_bytes()))) as stored:
        for key in stored:
            case, _, name = key.partition("/")
            cases.setdefault(case, {})[name] = stored[key]
    return cases


def every(*families):
    """(file, case, suffix) of some families."""
    for file in FILES:
        if file.partition("_")[0] in families:
            for name, case in arrays(file).items():
                for suffix in {"keras", "h5"} & case.keys():
                    yield pytest.param(file, name, suffix, id=f"{file}-{name}-{suffix}")


def calls(case):
    """(inputs, outputs) of the calls of a case, in order."""
    numbers = sorted({key.partition("/")[0] for key in case if "/" in key})
    for number in numbers:
        yield tuple(
            [case[key] for key in case if key.startswith(f"{number}/{side}")]
            for side in ("in", "out")
        )


def converter_of(case, suffix, tmp_path):
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(case[suffix].tobytes())
    return TFLiteConverter.from_keras_model_file(path)


def objects(array):
    return array.astype(object) if array.dtype.kind == "S" else array


def check(results, outputs):
    """Raises unless results are those of Keras."""
    for got, want in zip(results, outputs, strict=True):
        if want.dtype.kind == "S":
            assert got.tolist() == want.tolist()
        else:
            assert got.dtype == want.dtype
            assert not agree(want, got, 2e-5, 1e-5)


@pytest.mark.parametrize(("file", "name", "suffix"), list(every("stateful")))
def test_states_last_from_call_to_call(file, name, suffix, tmp_path):
    case = arrays(file)[name]
    converter = converter_of(case, suffix, tmp_path)
    interpreter = Interpreter(model_content=converter.convert())
    assert converter.verified
    runner = interpreter.get_signature_runner()
    for inputs, outputs in calls(case):
        named = dict(zip(runner.get_input_details(), inputs, strict=True))
        check(list(runner(**named).values()), outputs)


FAST = ("LSTM_all", "both", "passed")


@pytest.mark.parametrize("name", FAST)
def test_litert_keeps_the_same_states(name, tmp_path, litert):
    case = arrays("stateful_keras3")[name]
    content = converter_of(case, "keras", tmp_path).convert()
    steps = litert.run(content, [inputs for inputs, _ in calls(case)], "AUTO")
    assert not isinstance(steps, str), steps
    for results, (_, outputs) in zip(steps, calls(case), strict=True):
        check(results, outputs)


def test_a_stateful_layer_needs_a_batch(tmp_path):
    case = arrays("stateful_keras3")["GRU_last"]
    with pytest.raises(ConverterError, match="stateful=True needs a batch that is known"):
        keras.load(without_batch(case, tmp_path))


def without_batch(case, tmp_path):
    """A model whose input has no batch any more."""
    path = tmp_path / "model.keras"
    with (
        zipfile.ZipFile(io.BytesIO(case["keras"].tobytes())) as old,
        zipfile.ZipFile(path, "w") as new,
    ):
        for name in old.namelist():
            text = old.read(name).replace(b'"batch_shape": [2,', b'"batch_shape": [null,')
            new.writestr(name, text)
    return path
