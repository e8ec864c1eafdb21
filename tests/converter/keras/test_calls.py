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
from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, OpsSet, TFLiteConverter

CALLS = Path(__file__).parent / "calls"
FILES = sorted(path.name.removesuffix(".npz.xz") for path in CALLS.glob("*.npz.xz"))


@cache
def arrays(file):
    """What a family's file holds: {case: {name: array}}."""
    cases = {}
    with np.load(io.BytesIO(lzma.decompress((CALLS / f"{file}.npz.xz").read_bytes()))) as archive:
        for key in archive:
            case, _, name = key.partition("/")
            cases.setdefault(case, {})[name] = archive[key]
    return cases


def every(*families):
    """(file, case, suffix) of some families."""
    for file in FILES:
        if file.partition("_")[0] in families:
            for name, case in arrays(file).items():
                for suffix in sorted({"keras", "h5"} & case.keys()):
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


def run_all(content, case):
    """Raises unless the calls of a case give what Keras gave."""
    interpreter = Interpreter(model_content=content)
    for inputs, outputs in calls(case):
        details = interpreter.get_input_details()
        for detail, x in zip(details, inputs, strict=True):
            interpreter.resize_tensor_input(detail["index"], x.shape)
        interpreter.allocate_tensors()
        for detail, x in zip(details, inputs, strict=True):
            interpreter.set_tensor(detail["index"], objects(x))
        interpreter.invoke()
        results = interpreter.get_output_details()
        check([interpreter.get_tensor(detail["index"]) for detail in results], outputs)


@pytest.mark.parametrize(("file", "name", "suffix"), list(every("stateful")))
def test_states_last_from_call_to_call(file, name, suffix, tmp_path):
    case = arrays(file)[name]
    converter = converter_of(case, suffix, tmp_path)
    run_all(converter.convert(), case)
    assert converter.verified


@pytest.mark.parametrize(("file", "name", "suffix"), list(every("expanded")))
def test_classes_of_programs_are_written_as_what_they_consist_of(file, name, suffix, tmp_path):
    case = arrays(file)[name]
    converter = converter_of(case, suffix, tmp_path)
    run_all(converter.convert(), case)
    assert converter.verified


def test_a_weight_that_is_a_layer_has_a_shape(tmp_path):
    case = arrays("expanded_keras3")["weights_of_some_size"]
    with pytest.raises(ModelError, match=r"flatlite.Weight '.*': shape must be a list of sizes"):
        keras.load(changed(case, b'"shape": [8, 40]', b'"shape": [8, -1]', tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"used": [0, 1, 2]', b'"used": [0, 1, 9]', "used must be numbers below 3"),
        (b'"results": [["float32"', b'"results": [["float9"', "results must be lists of a type"),
        (b'"module": "TUzv', b'"module": "!Uzv', "module must be bytes in base 64"),
        (b'"equal": [[1, 0, 0, 0]', b'"equal": [[1, 0, 0, 9]', "equal must be lists of a tensor"),
    ],
)
def test_a_module_that_is_a_layer_is_checked(old, new, message, tmp_path):
    case = arrays("expanded_keras3")["open_sizes"]
    with pytest.raises(ModelError, match=rf"flatlite.Module '.*': {message}"):
        keras.load(changed(case, old, new, tmp_path))


def test_sizes_that_a_module_takes_for_equal_must_be(tmp_path, litert):
    case = arrays("expanded_keras3")["open_sizes"]
    content = converter_of(case, "keras", tmp_path).convert()
    x, memory, _ = next(calls(case))[0]
    assert memory.shape[:2] == (3, 3)
    for shape in ((3, 1), (3, 6), (1, 3), (9, 1), (1, 9)):
        inputs = [x, memory, np.ones(shape, np.int64)]
        assert "SLICE" in litert.run(content, [inputs], "AUTO")
        interpreter = Interpreter(model_content=content)
        for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.resize_tensor_input(detail["index"], array.shape)
        with pytest.raises(RuntimeError, match=r"SLICE '.*EqualSizes.*': begin .* and size . must"):
            interpreter.allocate_tensors()


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
        keras.load(changed(case, b'"batch_shape": [2,', b'"batch_shape": [null,', tmp_path))


def changed(case, old, new, tmp_path):
    """A model with another text in its settings."""
    path = tmp_path / "model.keras"
    with (
        zipfile.ZipFile(io.BytesIO(case["keras"].tobytes())) as before,
        zipfile.ZipFile(path, "w") as after,
    ):
        for name in before.namelist():
            text = before.read(name)
            assert name != "config.json" or old in text
            after.writestr(name, text.replace(old, new))
    return path


BY_TENSORFLOW = {
    "hashed": r"StringToHashBucketStrong x 2.*SELECT_TF_OPS",
    "texts": r"StringSplitV2 x 4.*StaticRegexReplace x 3.*StringLower x 2.*SELECT_TF_OPS",
    "unknown": "hashes of strings have no form in TFLite but for one bucket, got 3; compute them",
    "whole": r"StringLower x 1.*SELECT_TF_OPS",
}
"""Cases that builtins do not suffice for, and what is said of them."""
ADAPTED = ("adapted", "whole")  # whose vocabulary an .h5 file does not have
UNVERIFIED = "ignore:the converted model was not verified"


@pytest.mark.filterwarnings(UNVERIFIED)
@pytest.mark.parametrize(("file", "name", "suffix"), list(every("strings")))
def test_words(file, name, suffix, tmp_path):
    case = arrays(file)[name]
    if suffix == "h5" and name in ADAPTED:
        with pytest.raises(ModelError, match=r"adapted, save the model as \.keras, whose archive"):
            converter_of(case, suffix, tmp_path)
        return
    converter = converter_of(case, suffix, tmp_path)
    if name in BY_TENSORFLOW:
        with pytest.raises(ConverterError, match=f"(?s){BY_TENSORFLOW[name]}"):
            converter.convert()
        converter = converter_of(case, suffix, tmp_path)
        builtins = OpsSet.TFLITE_BUILTINS
        converter.target_spec.supported_ops = [builtins, OpsSet.SELECT_TF_OPS]
    run_all(converter.convert(), case)


@pytest.mark.filterwarnings(UNVERIFIED)
@pytest.mark.parametrize("name", ["masked", "counted", "back"])
def test_litert_finds_words(name, tmp_path, litert):
    case = arrays("strings_keras3")[name]
    content = converter_of(case, "keras", tmp_path).convert()
    results = litert.run(
        content, [inputs for inputs, _ in calls(case)], "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
    )
    assert not isinstance(results, str), results
    for got, (_, outputs) in zip(results, calls(case), strict=True):
        check([np.asarray(x) for x in got], outputs)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("given", b'"vocabulary": ["a"', b'"vocabulary": [3', "vocabulary must be texts; give it"),
        ("given", b'"mask_token": null', b'"mask_token": 7', "mask_token must be a text, got 7"),
        ("given", b'"encoding": "utf-8"', b'"encoding": "utf-7"', "encoding must be utf-8, got"),
        (
            "given",
            b'"output_mode": "int"',
            b'"output_mode": "one"',
            "output_mode must be one of",
        ),
        (
            "given",
            b'"output_mode": "int"',
            b'"output_mode": "tf_idf"',
            "StringLookup .*: output_mode 'tf_idf'; take 'count' and weight the words behind it",
        ),
        (
            "hashed",
            b'"salt": [3, 9]',
            b'"salt": "x"',
            "salt must be an integer or two of them, got 'x'",
        ),
        ("texts", b'"split": "whitespace"', b'"split": "character"', "split must be whitespace or"),
        ("texts", b'"ngrams": null', b'"ngrams": 2', "ngrams is not supported; leave it None"),
        (
            "texts",
            b'"standardize": null',
            b'"standardize": "x"',
            "standardize must be one of None,",
        ),
        ("texts", b'"ragged": false, "v', b'"ragged": true, "v', "ragged=True is not supported"),
        ("unknown", b'"salt": null', b'"salt": 3', "a salt of unknown words is not supported"),
    ],
)
def test_words_that_are_refused(name, old, new, message, tmp_path):
    path = changed(arrays("strings_keras3")[name], old, new, tmp_path)
    with pytest.raises((ConverterError, ModelError), match=message):
        keras.load(path)
