"""Attention whose scores a mask takes out: its large negative numbers cost the others no steps.

Files that TensorFlow 2.21 quantizes give the scores' range all of -1e9, and every unmasked position
the same weight; -inf and -3.4e38 (of Keras' float32 masks) leave LiteRT no scale that it takes.
"""

import numpy as np
import onnx
import onnx.reference
import pytest
from running import kinds

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter, TFLiteConverter

STEPS, SIZE = 8, 16
CAUSAL = np.tril(np.ones((1, STEPS, STEPS), bool))
LEAST = {"int8": 22.0, "int16x8": 35.0}
"""Decibels of the result over its error, in int16x8 with weights of 8 bits."""


def where(fill):
    return lambda scores, keep: tf.where(tf.constant(CAUSAL), scores, tf.fill(CAUSAL.shape, fill))


def constant(fill):
    return lambda scores, keep: scores + tf.constant(np.where(CAUSAL, 0, fill).astype(np.float32))


def computed(fill):
    return lambda scores, keep: scores + (1.0 - keep[:, None, :]) * fill


def chosen(fill):
    def add(scores, keep):
        mask = tf.where(tf.constant(CAUSAL), tf.zeros(CAUSAL.shape), tf.fill(CAUSAL.shape, fill))
        return scores + mask

    return add


MASKS = {
    "where -1e9": where(-1e9),
    "where -inf": where(-np.inf),
    "constant -1e9": constant(-1e9),
    "constant -inf": constant(-np.inf),
    "computed -1e4": computed(-1e4),
    "computed -1e9": computed(-1e9),
    "computed -3.4e38": computed(np.finfo(np.float32).min),
    "chosen -inf": chosen(-np.inf),
}


def attention(mask, generator):
    """A converter of one head, and the session and tensors to run it by."""
    x = tf.placeholder(tf.float32, [1, STEPS, SIZE], name="x")
    keep = tf.placeholder(tf.float32, [1, STEPS], name="keep")

    def projected():
        weights = generator.normal(size=(SIZE, SIZE)).astype(np.float32) / 2
        product = tf.matmul(tf.reshape(x, [STEPS, SIZE]), tf.constant(weights))
        return tf.reshape(product, [1, STEPS, SIZE])

    query, key, value = projected(), projected(), projected()
    scores = mask(tf.matmul(query, key, transpose_b=True) / 4.0, keep)
    return [x, keep], tf.matmul(tf.nn.softmax(scores), value)


@pytest.mark.parametrize("scheme", LEAST)
@pytest.mark.parametrize("name", MASKS)
def test_masks_cost_no_steps(name, scheme, litert):
    generator = np.random.default_rng(0)
    rows = [
        [
            generator.normal(size=(1, STEPS, SIZE)).astype(np.float32),
            np.float32([np.arange(STEPS) < generator.integers(2, STEPS + 1)]),
        ]
        for _ in range(12)
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, output = attention(MASKS[name], generator)
        expected = [session.run(output, dict(zip(inputs, row, strict=True))) for row in rows]
        converter = TFLiteConverter.from_session(session, inputs, [output])
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": scheme, "strict": True}
    content = converter.convert()
    assert kinds(content)[-1] == "DEQUANTIZE"
    answered = litert.run(content, rows, "BUILTIN")
    assert not isinstance(answered, str), answered
    error = np.array([theirs[0] for theirs in answered]) - expected
    decibels = 10 * np.log10(np.square(expected).sum() / np.square(error).sum())
    assert decibels > LEAST[scheme]


def test_a_mask_that_is_read_elsewhere_stays():
    """An output of the graph is what the float model gives."""
    generator = np.random.default_rng(0)
    rows = [[generator.normal(size=(1, STEPS, STEPS)).astype(np.float32)] for _ in range(4)]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, STEPS, STEPS], name="x")
        scores = where(-1e4)(x, None)
        converter = TFLiteConverter.from_session(session, [x], [tf.nn.softmax(scores), scores])
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": "int8"}
    converter.convert()
    (graph,) = converter._last.quantized_graphs
    selected = next(op.output for op in graph.ops if op.kind in ("SELECT", "SELECT_V2"))
    assert selected.quantization.scale == pytest.approx(1e4 / 255, rel=1e-2)


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
def test_padding_of_a_maximum_costs_no_steps(scheme, litert):
    """As frameworks pad whose pooling does: nothing but padding was left of it."""
    rows = [
        [np.random.default_rng(i).normal(size=(1, 6, 6, 2)).astype(np.float32)] for i in range(6)
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 6, 6, 2], name="x")
        padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], constant_values=-1e9)
        y = tf.nn.max_pool2d(padded, 3, 2, "VALID")
        expected = [session.run(y, {x: row[0]}) for row in rows]
        converter = TFLiteConverter.from_session(session, [x], [y])
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": scheme, "strict": True}
    answered = litert.run(converter.convert(), rows, "BUILTIN")
    step = 2 * max(np.abs(row[0]).max() for row in rows) / (255 if scheme == "int8" else 32767)
    np.testing.assert_allclose([theirs[0] for theirs in answered], expected, atol=step)


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
def test_the_maximum_of_masked_numbers(scheme, litert):
    """-1e9 never leaves REDUCE_MAX, and takes no steps."""
    rows = [[np.random.default_rng(i).normal(size=(1, 8, 4)).astype(np.float32)] for i in range(6)]
    mask = np.arange(8)[:, np.newaxis] < np.array([8, 3, 1, 5])
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 8, 4], name="x")
        masked = tf.where(tf.constant(mask[np.newaxis]), x, tf.fill([1, 8, 4], -1e9))
        converter = TFLiteConverter.from_session(session, [x], [tf.reduce_max(masked, 1)])
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": scheme, "strict": True}
    answered = litert.run(converter.convert(), rows, "BUILTIN")
    expected = [np.where(mask, row[0], -np.inf).max(1) for row in rows]
    step = 2 * max(np.abs(row[0]).max() for row in rows) / (255 if scheme == "int8" else 32767)
    np.testing.assert_allclose([theirs[0] for theirs in answered], expected, atol=step)


def test_a_maximum_without_a_mask():
    """What lies below every maximum has its steps, as in TensorFlow's file."""
    rows = [[np.random.default_rng(i).uniform(-1, 1, (1, 64)).astype("f4")] for i in range(6)]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1, 64], name="x")
        converter = TFLiteConverter.from_session(session, [x], [tf.reduce_max(x, 1)])
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": "int8"}
    converter.inference_input_type = np.int8
    scale, _ = Interpreter(model_content=converter.convert()).get_input_details()[0]["quantization"]
    np.testing.assert_allclose(scale, (np.max(rows) - np.min(rows)) / 255, rtol=1e-6)


@pytest.mark.parametrize("kind", ["MaxPool", "Softmax"])
def test_what_onnx_calls_infinite(kind, tmp_path, litert):
    """-inf as padding, which no SAME gives, and as a mask: before, no range could be measured."""
    shape = [1, 2, STEPS, STEPS]
    keep = np.broadcast_to(CAUSAL, shape)
    constants = {"keep": keep, "fill": np.float32(-np.inf)}
    nodes = [
        onnx.helper.make_node("Where", ["keep", "x", "fill"], ["scores"]),
        onnx.helper.make_node("Softmax", ["scores"], ["y"], axis=-1),
    ]
    if kind == "MaxPool":
        options = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 0, 0]}
        constants, nodes = {}, [onnx.helper.make_node("MaxPool", ["x"], ["y"], **options)]
    floats = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [onnx.helper.make_tensor_value_info("x", floats, shape)],
        [onnx.helper.make_tensor_value_info("y", floats, None)],
        [onnx.numpy_helper.from_array(np.array(v), k) for k, v in constants.items()],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "m.onnx")
    rows = [[np.random.default_rng(i).normal(size=shape).astype(np.float32)] for i in range(6)]
    evaluator = onnx.reference.ReferenceEvaluator(model)
    expected = [evaluator.run(None, {"x": row[0]})[0] for row in rows]
    converter = TFLiteConverter.from_onnx_model(tmp_path / "m.onnx")
    converter.representative_dataset = lambda: iter(rows)
    converter.quantization_recipe = {"scheme": "int8", "strict": True}
    answered = litert.run(converter.convert(), rows, "BUILTIN")
    np.testing.assert_allclose([theirs[0] for theirs in answered], expected, atol=0.03)
