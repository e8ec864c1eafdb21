"""`flatlite quantize` and its page: errors that are those of the files, and advice that fits."""

import json
import warnings
from html.parser import HTMLParser
from pathlib import Path

import building
import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from running import kinds

import flatlite
import flatlite.compat.v1 as tf
from flatlite.cli import main
from flatlite.converter.quantize.islands import Island
from flatlite.lite import Interpreter, OpsSet, Optimize, TFLiteConverter
from flatlite.tools.layer_errors import layer_errors
from flatlite.tools.quantization_report import cure_of, page, write_report

DIGITS = Path(flatlite.__file__).parent / "models/digits"
ONNX = Path(flatlite.__file__).parent / "tests/converter/onnx/quantized"
AEQ = Path(flatlite.__file__).parent / "tests/converter/quantize/aeq"
EMPTY = {"meta", "br", "rect", "line", "path", "circle", "polyline"}


class Elements(HTMLParser):
    """What a page has: tags, ids, links and words; tags that do not close are an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.words, self.tags = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self.ids.append(attributes.get("id"))
        self.links.append(attributes.get("href") or attributes.get("src"))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def quantized(activation="Relu6", **recipe):
    converter = converter_of(activation, quantization_recipe={"scheme": "int8", **recipe})
    converter.convert()
    return converter


def test_errors_are_those_of_the_files():
    converter = quantized(scheme="int8_int4")
    plain = converter_of("Relu6").convert()
    rows = layer_errors(converter)
    assert [row.operator for row in rows] == [
        *("CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED")
    ]
    files = []
    for content in (plain, converter.convert()):
        interpreter = Interpreter(model_content=content, experimental_preserve_all_tensors=True)
        interpreter.allocate_tensors()
        index = next(
            op["outputs"][0]
            for op in interpreter._get_ops_details()
            if op["op_name"] == "DEPTHWISE_CONV_2D"
        )
        (detail,) = (d for d in interpreter.get_tensor_details() if d["index"] == index)
        scale, zero_point = detail["quantization"]
        values = []
        for image in IMAGES:
            interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
            interpreter.invoke()
            array = interpreter.get_tensor(index).astype(np.float64)
            values.append((array - zero_point) * scale if scale else array)
        files.append(np.array(values))
    error = files[1] - files[0]
    row = rows[1]
    decibels = 10 * np.log10(np.square(files[0]).sum() / np.square(error).sum())
    assert row.decibels == pytest.approx(decibels, abs=1e-3)
    assert row.max_abs == pytest.approx(np.abs(error).max(), rel=1e-5)
    assert row.weight_type == "INT4"
    assert row.weight_bytes == (row.weights.nbytes, row.weights.size // 2)
    assert 10 < row.weight_decibels < 25
    assert any("adaround" in words for words in row.advice)


def test_a_mask_is_no_loss():
    """What is cut off below the scores is not counted, and nothing is advised against it."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(16, 8)).astype(np.float32)
    mask = np.where(np.tri(8, dtype=bool), 0, -1e9).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [8, 16], name="x")
        scores = tf.add(tf.matmul(x, tf.constant(weights)), tf.constant(mask), name="masked")
        y = tf.matmul(tf.nn.softmax(scores), tf.constant(weights.T[:, :4]))
        converter = TFLiteConverter.from_session(session, [x], [y])
    converter.representative_dataset = lambda: (
        [np.random.default_rng(i).normal(size=(8, 16)).astype(np.float32)] for i in range(8)
    )
    converter.quantization_recipe = {"scheme": "int8"}
    converter.convert()
    rows = {row.name: row for row in layer_errors(converter)}
    assert [row.name for row in rows.values() if row.is_masked] == ["masked"]
    assert rows["masked"].decibels > 30
    assert rows["masked"].max_abs < 1
    assert rows["masked"].weights is None
    assert not rows["masked"].advice
    assert "a mask lies farther below" in page(converter)


def test_an_algorithm_that_was_used_is_no_advice():
    rows = layer_errors(quantized(scheme="int8_int4", algorithms=["gptq"]))
    advice = [words for row in rows for words in row.advice]
    assert any("weights of more bits" in words for words in advice)
    assert not any("adaround" in words for words in advice)


def test_the_page_needs_nothing_else():
    text = page(quantized(layers=[["pool", "float"]]))
    elements = Elements(text)
    links = [link for link in elements.links if link]
    assert links
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(elements.ids)
    assert "script" not in elements.tags
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    words = " ".join(elements.words)
    for heading in (
        "Outputs",
        "Noise through the network",
        "What to change",
        "Float islands",
        "Sizes",
        "Layers",
        "Graph",
    ):
        assert heading in words
    assert "MEAN" in words
    assert "scheme int8" in " ".join(words.split())
    assert "3 of 4 operators give integers" in " ".join(words.split())
    bars = text.split("Noise through the network")[1].split("</section>")[0]
    assert bars.count("<rect") == 4
    assert all(name in words for name in ("int8", "uint8", "int16", "other"))
    assert elements.tags.count("svg") >= 8  # two for each layer with weights, and the graph
    drawn = [word.split()[0] for word in elements.words if "  " in word and word.endswith(" dB")]
    assert drawn == ["CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED"]


def test_advice_about_loops():
    """What a loop calls is what to keep wider, and the advice does help; `strict` is another."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(16, 16)).astype(np.float32) / 5
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 16], name="x")

        def step(i, state):
            return i + 1, tf.nn.relu(tf.matmul(state, tf.constant(weights)))

        _, y = tf.while_loop(lambda i, _: i < 8, step, (0, x), name="loop")
        converter = TFLiteConverter.from_session(session, [x], [tf.abs(tf.identity(y))])
    converter.representative_dataset = lambda: (
        [np.random.default_rng(i).normal(size=(1, 16)).astype(np.float32)] for i in range(16)
    )
    converter.optimizations = [Optimize.DEFAULT]
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    converter.convert()
    (loop,) = (row for row in layer_errors(converter) if row.operator == "WHILE")
    assert loop.decibels < 20
    (inner,) = (row for row in layer_errors(converter) if row.operator == "FULLY_CONNECTED")
    assert (inner.type, inner.values.size) == ("int8", 16 * 8 * 16)  # samples, steps, elements
    np.testing.assert_array_equal(inner.weights, weights.T)
    (words,) = (words for words in loop.advice if words.startswith("keep what it calls wider: "))
    patterns = words.partition(": ")[2].partition(", or")[0]
    converter.quantization_recipe = {"scheme": "int8"} | json.loads(f"{{{patterns}}}")
    converter.convert()
    (wider,) = (row for row in layer_errors(converter) if row.operator == "WHILE")
    assert wider.decibels > loop.decibels + 20
    island = Island("FILL", ("a",), "WHILE reads it, which stays float", 0.1)
    assert cure_of(island).startswith("strict_int8 writes out loops of known lengths")
    assert "another operator" in cure_of(Island("SIN", ("a",), "TFLite has no int8 kernel", 0.1))


def test_layers_of_branches():
    """Each branch is measured on the samples that take it; errors are those of the numbers."""
    weights = np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 4], name="x")
        matrix = tf.constant(weights)
        branches = lambda: tf.matmul(x, matrix), lambda: tf.tanh(x)
        y = tf.cond(tf.reduce_sum(x) > 0.0, *branches)
        converter = TFLiteConverter.from_session(session, [x], [y])
    samples = np.random.default_rng(2).normal(size=(16, 1, 4)).astype(np.float32)
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    converter.optimizations = [Optimize.DEFAULT]
    converter.convert()
    rows = {row.operator: row for row in layer_errors(converter)}
    is_positive = samples.sum((1, 2)) > 0
    positive, negative = samples[is_positive], samples[~is_positive]
    np.testing.assert_allclose(rows["TANH"].values, np.tanh(negative).ravel(), rtol=1e-5)
    products = (positive @ weights).ravel()
    np.testing.assert_allclose(rows["FULLY_CONNECTED"].values, products, rtol=1e-4, atol=1e-5)
    assert rows["TANH"].max_abs < 2 / 128
    assert rows["IF"].decibels > 30


def test_ranges_on_the_command_line(tmp_path):
    """Measured by two processes, kept, and read again in the place of samples."""
    source, data = str(tmp_path / "m.tflite"), str(tmp_path / "x.npy")
    Path(source).write_bytes(converter_of("Relu6").convert())
    np.save(data, np.concatenate(IMAGES))
    ranges, files = str(tmp_path / "ranges.json"), [str(tmp_path / f"{i}.tflite") for i in range(3)]
    options = ["--calibrator", "octav", "--workers", "2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a histogram is counted by one process
        assert main(["quantize", source, "-o", files[0], "--data", data, *options]) == 0
    assert main(["quantize", source, "-o", files[1], "--data", data, "--save-ranges", ranges]) == 0
    assert main(["quantize", source, "-o", files[2], "--ranges", ranges]) == 0
    first, second, third = (Path(path).read_bytes() for path in files)
    assert first != second == third
    assert main(["quantize", source, "-o", files[0], "--data", data, "--calibrator", "best"]) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "scheme int8 needs --data, samples to calibrate on, or --ranges"),
        (["--scheme", "int16x8"], "scheme int16x8 needs --data"),
        (["--scheme", "dynamic", "--calibrator", "mse"], "--calibrator is for ranges that are mea"),
        (["--ranges", "r.json", "--save-ranges", "s.json"], "measured, and --ranges tells it"),
    ],
)
def test_what_is_not_measured(options, message, tmp_path, capsys):
    source = str(ONNX / ("qdq_s8s8_channel.onnx" if "int16x8" in options else "float.onnx"))
    assert main(["quantize", source, "-o", str(tmp_path / "m.tflite"), *options]) == 1
    assert message in capsys.readouterr().err


def test_a_recipe_of_ai_edge_quantizer(tmp_path, capsys):
    """It is taken as it is: `test_aeq_recipes` has the files."""
    recorded = json.loads((AEQ / "recipes.json").read_text())["recipes"]["static_wi8_ai8"]["rows"]
    recipe, target = tmp_path / "recipe.json", str(tmp_path / "m.tflite")
    recipe.write_text(json.dumps(recorded))
    command = ["quantize", str(AEQ / "float.tflite"), "-o", target, "--recipe", str(recipe)]
    assert main([*command, "--data", str(AEQ / "samples.npz")]) == 0
    (detail,) = Interpreter(model_path=target).get_input_details()
    assert detail["dtype"] is np.int8
    assert main([*command, "--data", str(AEQ / "samples.npz"), "--calibrator", "mse"]) == 1
    assert "--calibrator cannot be beside a recipe of ai-edge" in capsys.readouterr().err


def test_a_source_that_states_its_ranges_needs_no_samples(tmp_path):
    target = tmp_path / "m.tflite"
    source = str(ONNX / "qdq_s8s8_channel.onnx")
    assert main(["quantize", source, "-o", str(target), "--input-type", "int8"]) == 0
    interpreter = Interpreter(model_content=target.read_bytes())
    assert interpreter.get_input_details()[0]["dtype"] is np.int8


def test_names_are_escaped():
    converter = quantized()
    for row in layer_errors(converter):
        row.name = "<b>"
    last = converter._last
    last.files[1][0].model.subgraphs[0].name = "<script>"
    assert "<script>" not in page(converter)


def test_outliers_are_seen():
    """One pixel of one image, a thousand times as large, takes the range from all others."""
    converter = converter_of("Relu6", quantization_recipe={"scheme": "int8"})
    assert not any("outliers" in words for words in advice_of(converter))
    rough = [image.copy() for image in IMAGES]
    rough[-1][0, 0, 0, 0] = 2000.0
    converter.representative_dataset = lambda: ([x] for x in rough)
    converter.verify = False
    assert any("outliers" in words for words in advice_of(converter))


def advice_of(converter):
    """All that is said of the layers, measured on the first images."""
    converter.convert()
    converter.representative_dataset = lambda: ([x] for x in IMAGES[:5])
    return [words for row in layer_errors(converter) for words in row.advice]


def test_refusals(tmp_path):
    converter = converter_of("Relu6")
    converter.convert()
    with pytest.raises(ValueError, match="a report needs a quantized model"):
        write_report(converter, tmp_path / "report.html")
    converter.quantization_recipe = {"scheme": "dynamic"}
    converter.convert()
    converter.representative_dataset = None
    with pytest.raises(ValueError, match="compares layers on samples; set representative_dataset"):
        write_report(converter, tmp_path / "report.html")


def run(capsys, *arguments):
    status = main(["quantize", str(DIGITS / "saved_model"), *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_command_line(tmp_path, capsys):
    target, report = tmp_path / "q.tflite", tmp_path / "q.html"
    data = ("--data", DIGITS / "example.npz")
    status, out, _ = run(capsys, "-o", target, *data, "--report", report, "--scheme", "int8_int4")
    assert status == 0
    assert f"report: {report}" in out
    words = " ".join(Elements(report.read_text()).words)
    assert "int4" in words
    status, out, _ = run(capsys, "-o", target, *data, "--algorithm", "bias_correction", "--json")
    assert status == 0
    assert json.loads(out)["signal_to_noise"]
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"scheme": "int8", "layers": [["conv2d", "float"]]}))
    types = ("--input-type", "int8")
    status, _, _ = run(capsys, "-o", target, *data, "--recipe", recipe, *types)
    assert status == 0
    assert "DEQUANTIZE" in kinds(target.read_bytes())
    interpreter = Interpreter(model_path=str(target))
    assert interpreter.get_input_details()[0]["dtype"] == np.int8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--scheme", "int8"], "scheme int8 needs --data, samples to calibrate on"),
        (["--scheme", "int5"], "a scheme must be one of int8"),
        (["--scheme", "dynamic", "--report", "r.html"], "--report compares layers on samples"),
        (["--scheme", "dynamic", "--algorithm", "gptq"], "the algorithms gptq measure on samples"),
        (["--recipe", "{here}"], "must be JSON, got"),
    ],
)
def test_refusals_of_the_command(arguments, words, tmp_path, capsys):
    text = tmp_path / "text.json"
    text.write_text("no JSON")
    arguments = [str(text) if one == "{here}" else one for one in arguments]
    status, _, err = run(capsys, "-o", tmp_path / "q.tflite", *arguments)
    assert status == 1
    assert words in err
    assert not (tmp_path / "q.tflite").exists()


def test_layers_that_only_hand_errors_on_get_no_advice():
    """EXP of a wide range loses most; what reads it, and moves it, has lost no more."""
    b = building.Builder()
    shape = (4, 16)
    x = b.input("x", shape)
    exp, moved, y = b.tensor("exp", shape), b.tensor("moved", (16, 4)), b.tensor("y", (16, 4))
    b.op("EXP", [x], [exp])
    b.op("RESHAPE", [exp, b.constant("shape", np.int32([16, 4]))], [moved])
    b.op("ABS", [moved], [y])
    converter = TFLiteConverter.from_tflite_model(building.save(b.outputs(y)))
    samples = [np.random.default_rng(i).normal(-4, 3, shape).astype(np.float32) for i in range(40)]
    samples[-1][0, 0] = 9.0
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    converter.quantization_recipe = {"scheme": "int8"}
    converter.verify = False
    converter.convert()
    rows = {row.name: row for row in layer_errors(converter)}
    assert max(row.decibels for row in rows.values()) < 20
    assert [name for name, row in rows.items() if row.advice] == ["exp"]
