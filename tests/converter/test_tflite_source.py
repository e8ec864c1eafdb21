"""`.tflite` files as sources: every float file of the corpus is read, shortened and verified."""

import warnings

import declared
import numpy as np
import pytest
from building import doubling
from cases import all_cases, content
from recorded import has_runs, rows, runs_of
from running import answers
from test_corpus import run_model

import flatlite.lite
from flatlite.converter.sources import tflite
from flatlite.errors import ConverterError, DeadlineExceededError, ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.flatbuffer import options_class, record
from flatlite.schema.model import Model, Operator, Signature, Subgraph, Tensor, load, save


def file_rows():
    """Rows with a file that can be run on recorded inputs."""
    return [row for row in rows() if has_runs(row)]


def n_operators(content):
    """How many operators a file has, in all its subgraphs: one may move from a loop before it."""
    return sum(len(graph.operators) for graph in load(content).subgraphs)


@pytest.mark.parametrize("row", file_rows(), ids=lambda row: row["id"])
def test_corpus(row, corpus, litert, record_property):
    record_property("corpus", f"convert {row['kind']} tflite")
    content = (corpus / row["files"]["tflite"]).read_bytes()
    with warnings.catch_warnings():
        # some files refuse any input but their own
        warnings.filterwarnings("ignore", "the converted model was (not )?verified")
        converter = TFLiteConverter.from_tflite_model(content)
        is_final = bool(converter._sources[0].reason)
        converter.verify = not is_final  # its results are compared below, bit for bit
        written = converter.convert()
    before, after = (Interpreter(model_content=one) for one in (content, written))
    assert n_operators(written) <= n_operators(content)
    assert after.get_signature_list() == before.get_signature_list()
    inputs = (one.get_input_details() for one in (after, before))
    outputs = (one.get_output_details() for one in (after, before))
    for ours, theirs in (*zip(*inputs, strict=True), *zip(*outputs, strict=True)):
        if ours["index"] >= len(before.get_input_details()):  # an output may be an input now
            assert ours["name"] == theirs["name"]
        assert ours["dtype"] == theirs["dtype"]
        assert ours["quantization"] == theirs["quantization"]
    if is_final:
        steps = runs_of(row).steps
        expected, results = (litert.run(one, steps) for one in (content, written))
        # a str: LiteRT lacks the version that the source has, which is higher than needed
        if not isinstance(expected, str) and not row.get("unstable_peer"):
            np.testing.assert_equal(results, expected)
        for interpreter in (before, after):
            interpreter.allocate_tensors()
        for inputs in steps:
            np.testing.assert_equal(run_model(after, inputs), run_model(before, inputs))


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


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
def test_a_bias_of_one_row_is_quantized_as_a_vector(scheme, litert):
    case = next(case for case in all_cases() if case.name == "fully_connected/bias_as_row")
    assert case.inputs[2].shape == (1, 4)
    (x,) = case.feeds
    converter = TFLiteConverter.from_tflite_model(content(case))
    converter.representative_dataset = lambda: ([share * x] for share in (1, 0.5))
    converter.quantization_recipe = {"scheme": scheme}
    outputs = litert.run(converter.convert(), [[x]], "BUILTIN_REF")
    np.testing.assert_allclose(outputs[0][0], case.expected(*case.inputs), atol=0.02)


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


def test_files_that_are_refused(tmp_path):
    with pytest.raises(ModelError):
        TFLiteConverter.from_tflite_model(b"TFL3")
    with pytest.raises(FileNotFoundError):
        TFLiteConverter.from_tflite_model(tmp_path / "none.tflite")


def test_a_quantized_file_is_not_quantized_again(corpus):
    row = next(row for row in rows() if row.get("variant") == "int8")
    path = corpus / row["files"]["tflite"]
    converter = TFLiteConverter.from_tflite_model(path)
    converter.optimizations = [flatlite.lite.Optimize.DEFAULT]
    words = r"quantized already: tensor '.*' is int8 with a scale; give its float form.*int8.tflite"
    with pytest.raises(ConverterError, match=words):
        converter.convert()


def test_metadata_stays(digits):
    model = load(digits)
    model.metadata["labels"] = b"0123456789"
    for exclude in (True, False):
        converter = TFLiteConverter.from_tflite_model(save(model))
        converter.exclude_conversion_metadata = exclude
        metadata = load(converter.convert()).metadata
        assert metadata["labels"] == b"0123456789"
        assert ("CONVERSION_METADATA" in metadata) is not exclude


def test_states_of_one_first_value_stay_apart(litert):
    """Two variables that equal operators fill from one constant are two variables."""
    half = np.zeros((1, 2), np.float16)
    tensors = [
        Tensor("x", (1, 2)),
        Tensor("zeros", (1, 2), "FLOAT16", half),
        Tensor("state_1", (1, 2), is_variable=True),
        Tensor("state_2", (1, 2), is_variable=True),
        Tensor("weights", (2, 2), data=np.float32([[1, 2], [3, 4]])),
        Tensor("recurrent", (2, 2), data=np.float32([[0.5, 0], [0, 0.25]])),
        Tensor("bias", (2,), data=np.float32([0.5, -0.5])),
        Tensor("h_1", (1, 2)),
        Tensor("h_2", (1, 2)),
    ]
    options = options_class("RNN")()
    operators = [
        Operator("DEQUANTIZE", [1], [2], options_class("DEQUANTIZE")(), 3),
        Operator("DEQUANTIZE", [1], [3], options_class("DEQUANTIZE")(), 3),
        Operator("RNN", [0, 4, 5, 6, 2], [7], options),
        Operator("RNN", [7, 4, 5, 6, 3], [8], options),
    ]
    content = save(Model([Subgraph("main", tensors, [0], [8], operators)]))
    written = TFLiteConverter.from_tflite_model(content).convert()
    assert sum(tensor.is_variable for tensor in load(written).subgraphs[0].tensors) == 2
    x = np.float32([[1, -1]])
    expected, results = (litert.run(one, [[x], [x]]) for one in (content, written))
    np.testing.assert_allclose(results, expected, rtol=1e-6)
    interpreter = Interpreter(model_content=written)
    interpreter.allocate_tensors()
    np.testing.assert_allclose(
        [run_model(interpreter, [x])["0"] for _ in "ab"], [y for (y,) in expected]
    )


def test_sparse_weights_are_written_sparse(litert):
    """What a file leaves out is left out again."""
    levels = (
        record("DimensionMetadata")(dense_size=3),
        record("DimensionMetadata")(
            format=1,
            array_segments=record("Int32Vector")(values=np.int32([0, 2, 2, 3])),
            array_indices=record("Uint8Vector")(values=np.uint8([0, 3, 1])),
        ),
    )
    sparsity = record("SparsityParameters")(traversal_order=[0, 1], dim_metadata=levels)
    tensors = [
        Tensor("x", (2, 4)),
        Tensor("weights", (3, 4), data=np.float32([1, 2, 3]).tobytes(), sparsity=sparsity),
        Tensor("dense", (3, 4)),
        Tensor("y", (2, 3)),
    ]
    operators = [
        Operator("DENSIFY", [1], [2], options_class("DENSIFY")()),
        Operator("FULLY_CONNECTED", [0, 2, -1], [3], options_class("FULLY_CONNECTED")()),
    ]
    content = save(Model([Subgraph("main", tensors, [0], [3], operators)]))
    written = TFLiteConverter.from_tflite_model(content).convert()
    (after,) = [t for t in load(written).subgraphs[0].tensors if t.sparsity is not None]
    assert after.sparsity == sparsity
    assert bytes(after.data) == np.float32([1, 2, 3]).tobytes()
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    want = x @ np.float32([[1, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0]]).T
    interpreter = Interpreter(model_content=written)
    interpreter.allocate_tensors()
    np.testing.assert_array_equal(run_model(interpreter, [x])["0"], want)
    np.testing.assert_array_equal(litert.run(written, [[x]])[0][0], want)


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


def test_subgraphs_of_which_one_option_lists_the_numbers():
    branches = [declared.body(kind, second=(2,)) for kind in ("ADD", "SUB", "MUL")]
    x, y = np.float32([3, 4]), np.float32([5, -1])
    calls = {"branch_subgraph_indices": [1, 2, 3]}
    inputs = [np.array(1, np.int32), x, y]
    content = declared.model("CASE", inputs, [((2,), "float32")], *branches, **calls)
    written = TFLiteConverter.from_tflite_model(content).convert()
    for index, want in enumerate((x + y, x - y, x * y)):
        (got,) = answers(Interpreter(model_content=written), np.array(index, np.int32), x, y)
        np.testing.assert_array_equal(got, want)


def test_subgraphs_that_call_twice():
    """What runs for years is read; that it cannot be run is known in time."""
    (source,) = tflite.load(doubling(30))
    with pytest.raises(DeadlineExceededError):
        source.oracle().run(["z"], [np.zeros((1, 2), np.float32)], seconds=0.2)
    assert len(source.lower().reachable()) <= 31
