"""What a user asks for and gives: contradictions, mistaken samples, and the result's report."""

import numpy as np
import pytest
from rewriting import graph_of
from running import answers, kinds

import flatlite.compat.v1 as tf
import flatlite.lite
from flatlite.converter.api.proofs import n_measured
from flatlite.converter.api.samples import Samples
from flatlite.converter.quantize.check import Comparison, compare
from flatlite.converter.verify.verification import Function
from flatlite.errors import CalibrationError, ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, OpsSet, Optimize, RepresentativeDataset, TFLiteConverter

INT8_ONLY = {OpsSet.TFLITE_BUILTINS_INT8}
GENERATOR = np.random.default_rng(3)
GOOD = [GENERATOR.uniform(-1, 1, (2, 4)).astype(np.float32) for _ in range(5)]


def graph_def(*operations, width=3):
    """x [?, 4] -> product with w -> each of the operations -> y"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (None, 4)}).outputs
    w = np.linspace(-1, 1, 4 * width, dtype=np.float32).reshape(4, width)
    last = graph.add("MatMul", "product", [*x, graph.constant(w, "w")]).outputs
    for i, operation in enumerate(operations):
        last = graph.add(operation, f"op{i}", last).outputs
    graph.add("Identity", "y", last)
    return to_graph_def(graph)


def converter_of(*operations, dataset=GOOD, **settings):
    """A converter that quantizes; without a `dataset` only the weights."""
    width = settings.pop("width", 3)
    graph = graph_def(*operations, width=width)
    converter = TFLiteConverter(graph, None, None, [("x", [None, 4])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    if dataset is not None:
        converter.representative_dataset = samples(*[[x] for x in dataset])
    for name, value in settings.items():
        setattr(converter, name, value)
    return converter


def samples(*rows):
    return lambda: iter(rows)


def dtypes(content):
    """The types of inputs and outputs."""
    interpreter = Interpreter(model_content=content)
    ends = (interpreter.get_input_details(), interpreter.get_output_details())
    return [np.dtype(detail["dtype"]).name for end in ends for detail in end]


def test_int8():
    converter = converter_of("Tanh")
    assert kinds(converter.convert()) == ["QUANTIZE", "FULLY_CONNECTED", "TANH", "DEQUANTIZE"]
    assert converter.verified is True
    assert converter.float_operators == {}
    ((name, decibels),) = converter.signal_to_noise[""].items()
    assert name == "y"
    assert 30 < decibels < 60
    converter.optimizations = []
    converter.convert()
    assert converter.signal_to_noise == {}


@pytest.mark.parametrize("dataset", [samples(*[[x] for x in GOOD]), samples({"x": GOOD[0]})])
def test_forms_of_datasets(dataset):
    for one in (dataset, RepresentativeDataset(dataset)):
        assert "TANH" in kinds(converter_of("Tanh", representative_dataset=one).convert())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, "int8", flatlite.lite.constants.INT8])
def test_types_of_inputs_and_outputs(dtype):
    content = converter_of("Tanh", inference_input_type=dtype).convert()
    assert dtypes(content) == [np.dtype(dtype).name, "float32"]
    content = converter_of("Tanh", inference_output_type=dtype).convert()
    assert dtypes(content) == ["float32", np.dtype(dtype).name]


def test_types_of_ends_beside_a_recipe():
    settings = {"inference_input_type": np.uint8, "inference_output_type": np.int8}
    content = converter_of("Tanh", quantization_recipe={"scheme": "int8"}, **settings).convert()
    assert dtypes(content) == ["uint8", "int8"]
    recipe = {"scheme": "int8", "input_type": "int8"}
    with pytest.raises(ValueError, match="inference_input_type must be int8, as quantization_rec"):
        converter_of("Tanh", quantization_recipe=recipe, **settings).convert()
    with pytest.raises(ValueError, match="must be tf"):
        converter_of("Tanh", quantization_recipe={"scheme": "dynamic"}, **settings).convert()


@pytest.mark.parametrize("name", ["supported_types", "supported_ops"])
def test_a_recipe_holds(name):
    converter = converter_of("Tanh", quantization_recipe={"scheme": "int8"})
    int16 = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
    setattr(converter.target_spec, name, {"supported_types": [np.float16]}.get(name, [int16]))
    with pytest.warns(UserWarning, match=f"{name} has no effect beside quantization_recipe"):
        content = converter.convert()
    assert kinds(content)[0] == "QUANTIZE"


def test_int8_operators_and_float16_weights_contradict_each_other():
    converter = converter_of("Tanh")
    converter.target_spec.supported_ops = {flatlite.lite.OpsSet.TFLITE_BUILTINS_INT8}
    converter.target_spec.supported_types = [np.float16]
    words = r"^As full integer quantization has been enabled by setting .* set to \{tf.int8\}\.$"
    with pytest.raises(ValueError, match=words):
        converter.convert()


def test_a_generator_is_read_once():
    calls = []

    def dataset():
        calls.append(1)
        return iter([[x] for x in GOOD])

    converter_of("Tanh", representative_dataset=dataset).convert()
    assert len(calls) == 1


def test_the_same_bytes_every_time():
    converter = converter_of("Tanh")
    assert converter.convert() == converter.convert()


def test_all_samples_count():
    """The largest input is in the last sample."""
    content = converter_of(dataset=[*GOOD, GOOD[0] * 100]).convert()
    details = Interpreter(model_content=content).get_tensor_details()
    largest = max(d["quantization"][0] for d in details if d["dtype"] is np.int8)
    assert largest * 127 > 50


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"dataset": None, "target_ops": INT8_ONLY},
            "a `representative_dataset` must be specified.\nSet representative_dataset = Repres",
        ),
        (
            {"dataset": None, "inference_input_type": np.int8},
            r"and inference_output_type must be tf.float32.\nFor inference_input_type int8 the mo",
        ),
        ({"optimizations": [], "inference_output_type": np.uint8}, "For inference_output_type ui"),
        (
            {"inference_input_type": np.int16},
            r"must be in \['tf.float32', 'tf.int8', 'tf.uint8'\].\ninference_input_type is int16",
        ),
        ({"representative_dataset": GOOD}, "must be a RepresentativeDataset or a callable"),
        ({"representative_dataset": lambda: None}, "must return an iterable of samples, got None"),
        ({"representative_dataset": samples()}, "gave no samples"),
        ({"representative_dataset": samples(*GOOD)}, r"sample 0 .* yield \[x\]"),
        ({"representative_dataset": samples([GOOD[0], GOOD[0]])}, "must have 1 arrays"),
        ({"representative_dataset": samples({"z": GOOD[0]})}, "must have the keys 'x', got 'z'"),
        ({"dataset": [*GOOD, GOOD[0] * np.nan]}, "sample 5 .*'x' must be finite"),
        ({"dataset": [GOOD[0], GOOD[1][:, :3]]}, r"sample 1 .* must have the shape \(\?, 4\)"),
        ({"dataset": [x.astype(np.float64) for x in GOOD]}, r"use x.astype\(np.float32\)"),
    ],
)
@pytest.mark.parametrize("verify", [True, False])
def test_mistakes(settings, words, verify):
    settings = dict(settings)
    ops = settings.pop("target_ops", None)
    converter = converter_of("Tanh", **settings, verify=verify)
    if ops is not None:
        converter.target_spec.supported_ops = ops
    with pytest.raises(ValueError, match=words):
        converter.convert()


@pytest.mark.parametrize(
    ("dataset", "words"),
    [
        ([GOOD[0] * 0 + 3] * 4, "input 'x' is 3 in every sample, .* yield real inputs"),
        ([GOOD[0]] * 4, "input 'x' is the same in all 4 samples; yield different ones"),
        (
            [GOOD[0][0], GOOD[1][1]],
            r"the shape \(\?, 4\), and samples have \(4,\), which are taken as batches of one",
        ),
    ],
)
def test_suspicious_samples(dataset, words):
    with pytest.warns(UserWarning, match=words) as warned:
        converter_of("Tanh", dataset=dataset).convert()
    assert [one.filename for one in warned] == [__file__]


def pixels_converter(shape, *scaled):
    """x, moved and scaled or not -> RELU6"""
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": shape}
    last = graph.add("Placeholder", "x", (), attributes).outputs
    for value in scaled:
        order = graph.constant(np.int32([0, *range(len(shape) - 1, 0, -1)]), "order")
        last = graph.add("Transpose", "moved", [*last, order]).outputs
        last = graph.add("Mul", "scaled", [*last, graph.constant(np.float32(value), "by")]).outputs
    graph.add("Relu6", "y", last)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", list(shape))], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    return converter


@pytest.mark.parametrize("shape", [(1, 4, 4, 3), (1, 3, 4, 6), (1, 9, 8)])
def test_raw_pixels(shape):
    """Channels last, first, and none."""
    images = [GENERATOR.integers(0, 256, shape).astype(np.float32) for _ in range(3)]
    converter = pixels_converter(shape)
    converter.representative_dataset = samples(*[[x] for x in images])
    with pytest.warns(UserWarning, match=r"input 'x' has values from \d+ to \d+, as raw pixels"):
        converter.convert()
    converter = pixels_converter(shape, 1 / 255)
    converter.representative_dataset = samples(*[[x] for x in images])
    assert converter.convert()  # no warning, which would be an error
    converter = pixels_converter(shape)
    converter.representative_dataset = samples(*[[x / 255] for x in images])
    assert converter.convert()


def test_inputs_of_operators_that_only_converters_know():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (1, 4)}).outputs
    graph.add("Softplus", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [1, 4])], ["y"])
    assert kinds(converter.convert()) == ["EXP", "ADD", "LOG"]  # as TensorFlow writes it


def test_int8_operators_without_optimizations_stay_float():
    converter = converter_of("Tanh", optimizations=[])
    converter.target_spec.supported_ops = INT8_ONLY
    with pytest.warns(UserWarning, match=r"stays float; set optimizations = \[Optimize.DEFAULT"):
        assert kinds(converter.convert()) == ["FULLY_CONNECTED", "TANH"]


def test_arrays_in_another_order():
    graph = Graph()
    for name, width in (("a", 4), ("b", 2)):
        attributes = {"dtype": np.dtype("f4"), "shape": (None, width)}
        x = graph.add("Placeholder", name, (), attributes).outputs
        graph.add("Tanh", f"{name}/tanh", x)
    ends = [("a", [None, 4]), ("b", [None, 2])], ["a/tanh", "b/tanh"]
    converter = TFLiteConverter(to_graph_def(graph), None, None, *ends)
    converter.optimizations = [Optimize.DEFAULT]
    right = [GOOD[0], GOOD[1][:, :2]]
    converter.representative_dataset = samples(right[::-1])
    words = r"got \(2, 2\); the arrays would fit in another order: yield them for 'a', 'b', in"
    with pytest.raises(CalibrationError, match=words):
        converter.convert()
    converter.representative_dataset = samples(right)
    assert converter.convert()


def test_a_model_that_overflows():
    converter = converter_of("Exp", dataset=[*GOOD, GOOD[0] * 1000])
    with pytest.raises(CalibrationError, match=r"sample 5 of .*EXP '.*' must stay finite, got"):
        converter.convert()


def test_each_signature_needs_samples(request):
    folder = request.path.parents[1] / "tf/saved_models/orders"
    converter = TFLiteConverter.from_saved_model(folder, signature_keys=["skips", "nested"])
    converter.optimizations = [Optimize.DEFAULT]
    three, two = np.ones(3, np.float32), np.ones(2, np.float32)
    nested = "nested", {"p": two, "q": two, "z": two}
    converter.representative_dataset = samples(nested)
    with pytest.raises(CalibrationError, match="no samples for the signatures 'skips'; yield"):
        converter.convert()
    converter.representative_dataset = samples(nested, ("skips", {"a": three, "skipped": three}))
    assert converter.convert()
    assert list(converter.signal_to_noise) == ["skips", "nested"]


def test_float_fallback():
    converter = converter_of("Sin", "Tanh")
    assert kinds(converter.convert()) == [
        *("QUANTIZE", "FULLY_CONNECTED", "DEQUANTIZE", "SIN", "QUANTIZE", "TANH", "DEQUANTIZE")
    ]
    assert converter.float_operators == {"SIN": 1}
    assert converter.float_islands[0].kind == "SIN"
    converter.target_spec.supported_ops = INT8_ONLY
    words = r"these stay float:\n  SIN x 1, first for 'op0': TFLite has no int8 kernel .*% of the w"
    with pytest.warns(UserWarning, match=words) as warned:
        converter.convert()
    assert len(warned) == 1
    assert warned[0].filename == __file__
    (island,) = converter.float_islands
    assert (island.kind, island.names) == ("SIN", ("op0",))
    assert island.share == pytest.approx(3 / (12 + 3 + 3))  # product, SIN, TANH of one row
    converter.strict_int8 = True
    with pytest.raises(ConverterError, match=words):
        converter.convert()


def test_nothing_to_quantize():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs
    graph.add("Sin", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    with pytest.warns(UserWarning, match="the model stays float: it has no weights of 1024") as got:
        converter.convert()
    assert got[0].filename == __file__
    converter.representative_dataset = samples([GOOD[0]])
    with pytest.warns(
        UserWarning, match=r"none of its operators \(SIN\) has an int8 kernel"
    ) as got:
        assert kinds(converter.convert()) == ["SIN"]
    assert got[0].filename == __file__


def test_a_model_that_stays_float_says_why():
    """Steps of numbers up to 1000 round 1 to 0; LiteRT's kernel would end the process."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs
    graph.add("Softsign", "y", x)
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["y"])
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = samples([np.float32([[-999, 0, 1, 2], [3, 4, 5, 1000]])])
    with pytest.warns(UserWarning, match="the model stays float:") as got:
        converter.convert()
    lines = str(got[0].message).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["ABS", "ADD", "DIV"]
    assert "what it gives is a divisor, which its steps would round to zero" in lines[1]
    assert "it may divide by zero" in lines[3]


def test_dynamic_range():
    converter = converter_of("Tanh", dataset=None, width=256)
    content = converter.convert()
    assert kinds(content) == ["FULLY_CONNECTED", "TANH"]
    assert converter.float_operators == {"TANH": 1}
    assert converter.signal_to_noise[""]["y"] > 30
    details = Interpreter(model_content=content).get_tensor_details()
    assert sum(d["dtype"] is np.int8 for d in details) == 1


def compared(converter, *inputs):
    """Decibels of the outputs on inputs that the converter has not seen."""
    quantized = converter.convert()
    converter.optimizations = []
    before, after = (Function(one, None, {}) for one in (converter.convert(), quantized))
    return compare(before, after, [[x] for x in inputs])


def test_signal_to_noise():
    assert compared(converter_of("Tanh"), *GOOD)["y"] > 30
    assert compared(converter_of("Tanh"), GOOD[0] * 0) == {"y": np.inf}


def test_many_samples_tell_the_noise():
    """The figure is that of all samples: the first two are loud, and hide the noise of others."""
    dataset = [GOOD[0] * 1000, GOOD[1] * 1000, *(x for x in GOOD for _ in range(9))]
    converter = converter_of(dataset=dataset, width=300)
    files = [converter.convert(), converter_of(width=300, optimizations=[]).convert()]
    quantized, plain = (
        np.stack([answers(Interpreter(model_content=content), x)[0] for x in dataset[:32]])
        for content in files
    )
    decibels = 10 * np.log10(np.square(plain).sum() / np.square(quantized - plain).sum())
    assert converter.measured_on == {"": "32 samples of representative_dataset"}
    assert converter.signal_to_noise[""]["y"] == pytest.approx(decibels, abs=1e-3)


def test_a_saved_calibration_is_not_refused_on_random_inputs(tmp_path):
    """Products of the model's own inputs are about 0: what random ones lose says nothing of it."""
    biased = [np.float32([10, -10, -10, 10]) + x / 8 for x in GOOD]
    converter = converter_of("Cos", dataset=biased)
    converter.convert()
    converter.save_calibration(tmp_path / "ranges.json")
    converter.representative_dataset = None
    recipe = {"scheme": "int8", "layers": [["COS", "float"]]}
    converter.quantization_recipe = {**recipe, "ranges": str(tmp_path / "ranges.json")}
    with pytest.warns(UserWarning, match="'y'.*; it was measured on random inputs, which a saved"):
        converter.convert()
    converter.verify_inputs = [{"x": biased[0]}]
    converter.convert()
    assert converter.signal_to_noise[""]["y"] > 20


def test_large_samples_and_models_are_measured_on_few():
    converter = converter_of()
    converter.convert()
    sources = converter._last.sources
    for rows, count in ((1 << 10, 20), (1 << 16, 8), (1 << 20, 2)):
        dataset = Samples(samples(*[[np.zeros((rows, 4), np.float32)]] * 20), sources)
        assert len(list(dataset.each())) == 20
        assert len(dataset.first(0, 32)) == count  # 16 bytes a row, 8 MiB in all, at least two
    for rows, count in ((8, 32), (1 << 12, 4), (1 << 14, 2)):  # 2^16 products a row, 2^30 in all
        graph = graph_of(f"""graph main(x: float32[{rows},256], y: float32[256,256]) {{
            z = BATCH_MATMUL(x, y)
            return z
        }}""")
        assert n_measured(graph) == count


def test_signal_to_noise_of_each_reader():
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 4)}).outputs[0]
    sigmoid = graph.add("Sigmoid", "s", [x]).outputs[0]
    small = graph.add("Mul", "small", [x, graph.constant(np.float32(0.1), "tenth")]).outputs[0]
    graph.add("Minimum", "a", [sigmoid, small])
    w = graph.constant(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3), "w")
    graph.add("MatMul", "b", [sigmoid, w])
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", [2, 4])], ["a", "b"])
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = samples(*[[x] for x in GOOD])
    converter.convert()
    assert min(converter.signal_to_noise[""].values()) > 30  # of b it was 1.4
    noise = converter.reader_signal_to_noise[""]
    assert list(noise) == ["s -> FULLY_CONNECTED 'b'", "s -> MINIMUM 'a'"]
    assert min(noise.values()) > 30
    assert converter.measured_on == {"": "5 samples of representative_dataset"}
    converter.representative_dataset = None
    with pytest.warns(UserWarning, match="the model stays float"):
        converter.convert()
    assert converter.measured_on == {"": "seeded random inputs"}
    assert converter.reader_signal_to_noise == {"": {}}


def test_an_output_without_signal():
    tiny = [x / 1000 for x in GOOD]
    rising = np.float32([[-1, -1, 1, 1], [-2, -2, 2, 2]])
    with pytest.raises(ConverterError, match=r"'y', the float model .* does the representative"):
        compared(converter_of(dataset=tiny, width=1), rising)
    opposite = Comparison("y")
    opposite.add(np.array([1.0, -1.0]), np.array([-1.0, 1.0]))
    assert "its error is larger than the signal (-6.0 dB)" in opposite.problem(0.01)
    for sign, words in ((1.0, ""), (-1.0, "its error is larger")):  # one of three, two of three
        outlier = Comparison("y")
        for factor, rounded in ((1.0, 1.0), (1.0, sign), (1e6, -1.0)):
            outlier.add(np.array([factor, -factor]), rounded * np.array([factor, -factor]))
        assert outlier.decibels < 0
        assert words in outlier.problem(0.01)
        assert bool(words) == bool(outlier.problem(0.01))
    with pytest.raises(ConverterError, match="gives NaN or infinity for 'y'"):
        opposite.add(np.array([1.0]), np.array([np.nan]))


def test_without_samples_inputs_are_those_that_the_source_takes():
    """Of two unknown batch sizes that must be equal; `verify_inputs` come before random ones."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(tf.float32, [None, 32], name=name) for name in "xy")
        joined = tf.concat([x * y, x], 1)
        weights = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
        z = tf.matmul(joined, tf.constant(weights), name="z")
        converter = TFLiteConverter.from_session(session, [x, y], [z])
    converter.optimizations = [Optimize.DEFAULT]
    converter.convert()
    assert converter.measured_on == {"": "seeded random inputs"}
    assert "(1, 32), (2, 32)" in converter.verified_on[""].refused
    converter.verify_inputs = [np.ones((3, 32), np.float32)] * 2
    converter.convert()
    assert converter.measured_on == {"": "verify_inputs"}
