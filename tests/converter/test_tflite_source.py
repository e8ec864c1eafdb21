"""`.tflite` files as sources: every float file of the corpus is read, shortened and verified."""

import warnings

import numpy as np
import pytest
from recorded import has_runs, rows
from refusals import not_yet

import flatlite.lite
from flatlite.converter.sources import tflite
from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.model import Model, Operator, Signature, Subgraph, Tensor, load, save

QUANTIZED = ("int8", "uint8io", "int8_pt", "int16x8", "dyn", "dynamic")


def float_rows():
    """Rows with a file that is not quantized."""
    for row in rows():
        variant = row.get("variant") or row.get("quant") or row["id"].rpartition("_")[2]
        if has_runs(row) and variant not in QUANTIZED and "wakeword" not in row["id"]:
            yield row


@pytest.mark.parametrize("row", list(float_rows()), ids=lambda row: row["id"])
def test_corpus(row, corpus, record_property):
    record_property("corpus", f"convert {row['kind']} tflite")
    content = (corpus / row["files"]["tflite"]).read_bytes()
    try:
        with warnings.catch_warnings():
            # some files refuse any input but their own
            warnings.filterwarnings("ignore", "the converted model was (not )?verified")
            converter = TFLiteConverter.from_tflite_model(content)
            written = converter.convert()
    except ConverterError as error:
        not_yet("interpreter", RuntimeError(str(error)), record_property)
    before, after = (Interpreter(model_content=one) for one in (content, written))
    assert len(after._get_ops_details()) <= len(before._get_ops_details())
    assert after.get_signature_list() == before.get_signature_list()
    inputs = (one.get_input_details() for one in (after, before))
    outputs = (one.get_output_details() for one in (after, before))
    for ours, theirs in (*zip(*inputs, strict=True), *zip(*outputs, strict=True)):
        if ours["index"] >= len(before.get_input_details()):  # an output may be an input now
            assert ours["name"] == theirs["name"]
        assert ours["dtype"] == theirs["dtype"]


@pytest.fixture
def digits(request):
    """The digits model as a float file."""
    folder = request.config.rootpath / "models/digits/saved_model"
    converter = TFLiteConverter.from_saved_model(folder)
    converter.verify = False
    return converter.convert()


def test_a_path_and_bytes(digits, tmp_path):
    path = tmp_path / "digits.tflite"
    path.write_bytes(digits)
    assert TFLiteConverter.from_tflite_model(path).convert() == (
        TFLiteConverter.from_tflite_model(digits).convert()
    )


def test_unknown_dimensions_stay_unknown(digits):
    converter = TFLiteConverter.from_tflite_model(digits)
    content = converter.convert()
    assert converter.verified is True
    assert converter.get_input_arrays() == ["serving_default_image"]
    (detail,) = Interpreter(model_content=content).get_input_details()
    assert detail["shape_signature"].tolist() == [-1, 8, 8, 1]


def test_quantizing_a_file_is_quantizing_its_source(digits, request):
    image = np.load(request.config.rootpath / "models/digits/example.npz")["image"]
    folder = request.config.rootpath / "models/digits/saved_model"
    written = []
    for converter in (
        TFLiteConverter.from_tflite_model(digits),
        TFLiteConverter.from_saved_model(folder),
    ):
        converter.optimizations = [flatlite.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[i : i + 1]] for i in range(20))
        converter.exclude_conversion_metadata = True
        written.append(load(converter.convert()))
    for model in written:
        for tensor in model.subgraphs[0].tensors:
            tensor.name = ""  # intermediate ones are named by what they are made from
    assert written[0] == written[1]


def two_signatures():
    """A file whose signatures `up` and `down` add 1 to x and take it away."""
    options = options_class("ADD")()
    graphs = [
        Subgraph(
            name,
            [
                Tensor("x", (1, 2), "FLOAT32"),
                Tensor("one", (1,), "FLOAT32", np.float32([value])),
                Tensor("y", (1, 2), "FLOAT32"),
            ],
            [0],
            [2],
            [Operator("ADD", [0, 1], [2], options)],
        )
        for name, value in (("up", 1), ("down", -1))
    ]
    names = [Signature(name, {"x": 0}, {"y": 2}, i) for i, name in enumerate(("up", "down"))]
    return save(Model(graphs, signatures=names))


def test_several_signatures():
    converter = TFLiteConverter.from_tflite_model(two_signatures())
    interpreter = Interpreter(model_content=converter.convert())
    assert converter.verified is True
    x = np.float32([[1, 2]])
    for key, want in (("up", x + 1), ("down", x - 1)):
        np.testing.assert_array_equal(interpreter.get_signature_runner(key)(x=x)["y"], want)


def test_files_that_are_refused(corpus, tmp_path):
    row = next(row for row in rows() if row.get("variant") == "int8")
    path = corpus / row["files"]["tflite"]
    words = r"quantized already: tensor '.*' is int8 with a scale; give its float form.*int8.tflite"
    with pytest.raises(ConverterError, match=words):
        TFLiteConverter.from_tflite_model(path)
    with pytest.raises(ModelError):
        TFLiteConverter.from_tflite_model(b"TFL3")
    with pytest.raises(FileNotFoundError):
        TFLiteConverter.from_tflite_model(tmp_path / "none.tflite")


def test_the_first_operator_that_differs_is_named(digits):
    """The oracle is the file as it was; here it is another one than what is converted."""
    model = load(digits)
    weights = model.subgraphs[0].tensors[model.subgraphs[0].operators[0].inputs[1]]
    weights.data = weights.data * np.float32(1.5)
    converter = TFLiteConverter.from_tflite_model(save(model))
    (source,) = converter._sources
    (true,) = tflite.load(digits)
    converter._sources = [
        type("Source", (), {"__getattr__": lambda _, name: getattr(source, name)})()
    ]
    converter._sources[0].oracle = true.oracle
    with pytest.raises(
        ConverterError,
        match="the first operator that differs is CONV_2D for 'digits_1/re_lu_1/Relu'",
    ):
        converter.convert()
