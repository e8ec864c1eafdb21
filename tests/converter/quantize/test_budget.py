"""accuracy_budget: as few wider layers as a metric needs, and what was tried."""

from xml.etree import ElementTree

import building
import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from running import answers

import flatlite.compat.v1 as tf
from flatlite.errors import ConverterError
from flatlite.experimental import AccuracyBudget
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import load


def outputs(content):
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    return np.concatenate([answers(interpreter, x)[0] for x in IMAGES])


EXPECTED = outputs(converter_of("Relu6", representative_dataset=None).convert())


def metric(content):
    """The smaller the mean error, the better."""
    return -float(np.abs(outputs(content) - EXPECTED).mean())


def converted(tolerance, wider="int16x8", scheme="int8_int4", **settings):
    converter = converter_of("Relu6", quantization_recipe={"scheme": scheme}, **settings)
    converter.accuracy_budget = AccuracyBudget(metric, tolerance, wider)
    return converter, converter.convert()


def test_nothing_is_wider_where_the_metric_holds():
    converter, content = converted(100.0)
    assert content == converter_of("Relu6", quantization_recipe={"scheme": "int8_int4"}).convert()
    (candidate,) = converter.pareto_front.candidates
    assert candidate[:2] == ((), 0.0)
    assert converter.pareto_front.sensitivity == {}


@pytest.mark.parametrize(("wider", "limit"), [("int16x8", 1.0), ("float", 0.1)])
def test_the_metric_decides(wider, limit):
    converter, content = converted(limit, wider)
    front = converter.pareto_front
    assert front.float_metric == 0.0
    chosen = [row for row in front.candidates if row.metric >= front.limit]
    best = min(chosen, key=lambda row: len(row.layers))
    assert metric(content) == best.metric >= -limit
    by_count = {len(row.layers): row for row in front.candidates}
    assert by_count[len(best.layers) - 1].metric < front.limit  # one less would not do
    ordered = sorted(front.sensitivity, key=lambda name: -front.sensitivity[name])
    assert list(best.layers) == ordered[: len(best.layers)]
    types = {tensor.dtype for tensor in load(content).subgraphs[0].tensors}
    assert {"int16x8": "INT16", "float": "FLOAT32"}[wider] in types
    assert converter.quantization_recipe == {"scheme": "int8_int4"}


def test_the_most_sensitive_layer_is_the_one_that_makes_the_most_noise():
    """The noise of each layer alone is that of a file in which only it is quantized."""
    converter, _ = converted(1.0)
    sensitivity = converter.pareto_front.sensitivity
    for name in ("stem/relu", "head/product"):
        recipe = {"scheme": "int8_int4", "layers": [[f"^{name}$", "int8_int4"], ["", "float"]]}
        content = converter_of("Relu6", quantization_recipe=recipe).convert()
        errors = np.square(outputs(content) - EXPECTED).sum(1) / np.square(EXPECTED).sum(1)
        assert sensitivity[name] == pytest.approx(errors.mean(), rel=1e-3)


def test_wider_layers_that_are_written_in_another_form():
    """Squared differences are SUB and MUL in int16, LRN has a formula in int8 alone."""
    b = building.Builder()
    x = b.input("x", (1, 4, 4, 8))
    square, lrn, y = (b.tensor(name, (1, 4, 4, 8)) for name in ("square", "lrn", "y"))
    b.op("SQUARED_DIFFERENCE", [x, b.constant("one", np.float32(1))], [square])
    b.op("LOCAL_RESPONSE_NORMALIZATION", [square], [lrn], radius=2, bias=1.0, alpha=1.0, beta=0.5)
    content = building.save(b.outputs(b.op("MUL", [lrn, x], [y])))
    images = np.random.default_rng(2).normal(size=(4, 1, 1, 4, 4, 8)).astype(np.float32)

    def run(file):
        interpreter = Interpreter(model_content=file)
        interpreter.allocate_tensors()
        return np.concatenate([answers(interpreter, *sample)[0] for sample in images])

    expected = run(content)
    converter = TFLiteConverter.from_tflite_model(content)
    converter.representative_dataset = lambda: ([*sample] for sample in images)
    converter.quantization_recipe = {"scheme": "int8"}
    error = float(np.abs(run(converter.convert()) - expected).mean())
    converter.accuracy_budget = AccuracyBudget(
        lambda file: -float(np.abs(run(file) - expected).mean()), error / 2
    )
    converter.convert()
    front = converter.pareto_front
    assert len(front.sensitivity) == 3
    assert front.candidates[-1].metric >= front.limit > front.candidates[0].metric


@pytest.mark.parametrize("strict", [False, True])
def test_layers_of_loops(strict):
    """In the body of a loop, and in the steps that `strict` writes out."""
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(16, 16)).astype(np.float32) / 4
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 16], name="x")

        def step(i, state):
            return i + 1, tf.tanh(tf.matmul(state, tf.constant(weights))) + state

        _, y = tf.while_loop(lambda i, _: i < 3, step, (0, x))
        converter = TFLiteConverter.from_session(session, [x], [tf.nn.relu(y)])
    samples = generator.normal(size=(16, 1, 1, 16)).astype(np.float32)
    converter.representative_dataset = lambda: ([*sample] for sample in samples)

    def run(content):
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
        return np.concatenate([answers(interpreter, *sample)[0] for sample in samples])

    expected = run(converter.convert())
    converter.quantization_recipe = {"scheme": "int8", "strict": strict}
    error = float(np.abs(run(converter.convert()) - expected).mean())
    converter.accuracy_budget = AccuracyBudget(
        lambda content: -float(np.abs(run(content) - expected).mean()), error / 1.5
    )
    content = converter.convert()
    assert float(np.abs(run(content) - expected).mean()) <= error / 1.5
    assert (len(load(content).subgraphs) == 1) == strict
    assert len(converter.pareto_front.sensitivity) > (3 if strict else 1)


def test_table_and_picture():
    converter, _ = converted(1.0)
    front = converter.pareto_front
    table = front.table().splitlines()
    assert len(table) == len(front.candidates) + 1
    assert [row.startswith("*") for row in table[1:]] == [
        row.is_on_front for row in front.candidates
    ]
    for row in front.front:
        assert not any(
            other.metric >= row.metric and other.share < row.share for other in front.candidates
        )
    picture = ElementTree.fromstring(front.svg())
    words = " ".join(picture.itertext())
    assert f"float {front.float_metric:.4g}" in words
    assert f"limit {front.limit:.4g}" in words
    assert all(f"{len(row.layers)} wider, {row.bytes:,} bytes" in words for row in front.front)
    circles = [node for node in picture if node.tag.endswith("circle")]
    assert len(circles) == len(front.candidates)


def test_refusals():
    with pytest.raises(ConverterError, match=r'at most:[\s\S]*wider="float"'):
        converted(1e-9, scheme="int8")
    with pytest.raises(ValueError, match="metric of an AccuracyBudget must be a function"):
        AccuracyBudget(0.5, 1.0)
    with pytest.raises(ValueError, match="tolerance must be a number of at least 0, got -1"):
        AccuracyBudget(metric, -1)
    with pytest.raises(ValueError, match="wider must be one of int16x8, float, got 'int4'"):
        AccuracyBudget(metric, 1, "int4")
    converter = converter_of("Relu6", optimizations=[Optimize.DEFAULT])
    converter.accuracy_budget = AccuracyBudget(lambda content: float("nan"), 1.0)
    with pytest.raises(ValueError, match="the metric of accuracy_budget must be finite, got nan"):
        converter.convert()
    converter.accuracy_budget = AccuracyBudget(str, 1.0)
    with pytest.raises(ValueError, match="the metric of accuracy_budget must give a number, got s"):
        converter.convert()
    converter.accuracy_budget = AccuracyBudget(lambda content: 1 / (len(content) * 0), 1.0)
    with pytest.raises(ValueError, match="metric of accuracy_budget raised ZeroDivisionError: div"):
        converter.convert()
    converter.accuracy_budget = 0.01
    with pytest.raises(ValueError, match=r"accuracy_budget must be an AccuracyBudget.*, got 0.01"):
        converter.convert()
    converter.optimizations = []
    converter.accuracy_budget = AccuracyBudget(metric, 1.0)
    with pytest.raises(ValueError, match="in a model that is quantized with samples"):
        converter.convert()
