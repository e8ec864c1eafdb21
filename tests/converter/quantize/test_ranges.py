"""No reader gets a tensor cut off: random small graphs, measured on samples, quantized and run."""

import numpy as np
import pytest
from rewriting import graph_of

import flatlite.compat.v1 as tf
from flatlite.converter.ir.write import write
from flatlite.converter.quantize.calibrate import calibrate
from flatlite.converter.quantize.check import compare
from flatlite.converter.quantize.range_file import derived_ranges
from flatlite.converter.quantize.ranges import Scales
from flatlite.converter.quantize.recipe import Recipe
from flatlite.converter.quantize.rewrite import rewrite
from flatlite.converter.quantize.scales import of_range
from flatlite.converter.quantize.scheme import INT8 as INT8_SCHEME
from flatlite.converter.quantize.scheme import INT16X8
from flatlite.converter.verify.verification import Function
from flatlite.lite import TFLiteConverter
from flatlite.schema.model import save

INT8 = np.dtype("i1")
CHOOSING = "MINIMUM MAXIMUM CONCATENATION RESHAPE SLICE QUANTIZE".split()  # noqa: SIM905
"""What lies outside of their results' range may be cut off of their inputs."""
UNARY = ["LOGISTIC({})", "TANH({})", "SOFTMAX({}; beta=1.0)", "RELU({})", "ABS({})"]
BINARY = ["MINIMUM({}, {})", "MAXIMUM({}, {})", "MUL({}, {})", "ADD({}, {})"]
SCALED = ["MUL({}, float32[]{{{:.3f}}})", "MINIMUM({}, float32[]{{{:.3f}}})"]
SCALED += ["MAXIMUM({}, float32[]{{{:.3f}}})"]


def random_graph(seed):
    """The text of a graph of five to nine operators, two or three of whose tensors are outputs."""
    rng = np.random.default_rng(seed)
    lines, names = [], ["x", "y"]
    for i in range(rng.integers(5, 10)):
        one, other = (names[rng.integers(len(names))] for _ in range(2))
        kind = rng.integers(10)
        if kind < 3:
            text = UNARY[rng.integers(len(UNARY))].format(one)
        elif kind < 6:
            text = BINARY[rng.integers(len(BINARY))].format(one, other)
        elif kind < 9:
            text = SCALED[rng.integers(len(SCALED))].format(
                one, rng.choice([-1, 1]) * rng.uniform(0.2, 1)
            )
        else:
            lines.append(f"c{i} = CONCATENATION({one}, {other}; axis=0)")
            text = f"RESHAPE(c{i}, int32[2]{{4, 8}})"
            lines.append(f"r{i} = {text}")
            text = f"SLICE(r{i}, int32[2]{{0, 2}}, int32[2]{{4, 4}})"
        lines.append(f"t{i} = {text}")
        names.append(f"t{i}")
    outputs = [names[-1], *rng.choice(names[2:-1], 2, replace=False).tolist()]
    body = "\n".join([*lines, f"return {', '.join(dict.fromkeys(outputs))}"])
    return f"graph main(x: float32[4,4], y: float32[4,4]) {{\n{body}\n}}"


def quantized(graph):
    """What `graph` becomes: (ranges by tensor name, decibels by output name)."""
    rng = np.random.default_rng(1)
    samples = [[rng.normal(size=(4, 4)).astype("f4") for _ in range(2)] for _ in range(4)]
    written = write([graph])
    before = Function(save(written.model), None, {})
    labelled = ((0, f"sample {i}", arrays) for i, arrays in enumerate(samples))
    (ranges,) = calibrate([before], written.tensors[:1], labelled)
    named = {tensor.name: range_ for tensor, range_ in ranges.items()}
    scales = Scales(graph, ranges)
    recipe = Recipe(input_type=INT8, output_type=INT8)
    rewrite(graph, dict.fromkeys(graph.ops, scales), scales, recipe)
    after = Function(save(write([graph]).model), None, {})
    return named, compare(before, after, samples)


def cut_off(graph, ranges):
    """The readers, the end of the graph among them, of tensors that do not hold their range."""
    reads = [(op.kind, t) for op in graph.ops if op.kind not in CHOOSING for t in op.inputs]
    for reader, tensor in [*reads, *(("output", t) for t in graph.outputs)]:
        if tensor.quantization is None or tensor.is_constant or tensor.dtype != INT8:
            continue
        scale, zero_point = tensor.quantization.scale, tensor.quantization.zero_point
        limits = (np.array([-128, 127]) - zero_point) * scale + [-1.01 * scale, 1.01 * scale]
        low, high = ranges[tensor.name]
        if low < limits[0] or high > limits[1]:
            yield reader, tensor.name, (low, high), limits.tolist()


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_no_reader_gets_a_tensor_cut_off(start):
    for seed in range(start, start + 20):
        text = random_graph(seed)
        graph = graph_of(text)
        ranges, noise = quantized(graph)
        assert list(cut_off(graph, ranges)) == [], text
        assert min(noise.values()) > 15, (noise, text)


def test_a_minimum_leaves_other_readers_of_a_prescribed_scale_alone():
    """The second output had 1.4 dB when both readers got the range of MINIMUM."""
    weights = ", ".join(f"{np.sin(i):.3f}" for i in range(16))
    graph = graph_of(
        f"""graph main(x: float32[4,4], y: float32[4,4]) {{
              s = LOGISTIC(x)
              t = TANH(x)
              u = MUL(t, float32[]{{0.1}})
              a = MINIMUM(s, u)
              b = FULLY_CONNECTED(s, float32[4,4]{{{weights}}})
              return a, b
            }}"""
    )
    _, noise = quantized(graph)
    assert min(noise.values()) > 35


def test_a_tensor_joined_with_a_much_larger_one_keeps_its_scale_for_others():
    """In the scale of the CONCATENATION, the second output would have 7 steps in all."""
    weights = ", ".join(f"{np.sin(i):.3f}" for i in range(16))
    graph = graph_of(
        f"""graph main(x: float32[4,4], y: float32[4,4]) {{
              s = MUL(x, float32[]{{0.01}})
              t = MUL(y, float32[]{{0.4}})
              a = CONCATENATION(s, t; axis=0)
              b = FULLY_CONNECTED(s, float32[4,4]{{{weights}}})
              return a, b
            }}"""
    )
    _, noise = quantized(graph)
    assert min(noise.values()) > 30


def test_in_int16_a_join_rescales_its_inputs_for_itself_alone():
    """Other readers get what was moved in its own scale, as in TensorFlow 2.21's file."""
    graph = graph_of(
        """graph main(x: float32[4,4]) {
             p = PAD(x, int32[2,2]{0, 1, 0, 0})
             m = MUL(p, float32[]{3.0})
             c = CONCATENATION(p, m; axis=1)
             return c
           }"""
    )
    x, p, m, c = (*graph.inputs, *(op.output for op in graph.ops))
    ranges = {x: (-1.0, 1.0), p: (-1.0, 1.0), m: (-3.0, 3.0), c: (-3.0, 3.0)}
    scales = Scales(graph, ranges, INT16X8)
    _, product, join = graph.ops
    assert scales.of[p] == scales.of[x] == scales.required(product, 0)
    assert scales.of[x].scale == pytest.approx(1 / 32767)
    assert scales.required(join, 0) == scales.of[c] == scales.of[m]


@pytest.mark.parametrize("scheme", [INT8_SCHEME, INT16X8], ids=["int8", "int16x8"])
def test_a_product_that_was_always_zero(scheme, litert):
    """RELU cut all of it off: a scale of nothing would make the kernel's sums overflow."""
    rng = np.random.default_rng(0)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4, 8], name="x")
        weights = rng.uniform(0.1, 1, (8, 8)).astype(np.float32)
        y = tf.nn.relu(tf.matmul(x, tf.constant(weights)) - np.float32(100))
        converter = TFLiteConverter.from_session(session, [x], [y, tf.nn.relu(x)])
    samples = rng.uniform(0, 3, (8, 1, 4, 8)).astype(np.float32)
    converter.representative_dataset = lambda: ([*sample] for sample in samples)
    converter.quantization_recipe = {"scheme": scheme.name}
    content = converter.convert()
    for resolver in ("BUILTIN_REF", "BUILTIN_WITHOUT_DEFAULT_DELEGATES"):
        ((zeros, _),) = litert.run(content, [[samples[0][0]]], resolver)
        np.testing.assert_array_equal(zeros, 0)


def test_a_product_that_is_cut_off_far_below_its_largest(litert):
    """Half the step that every sum of so many bits would take, and XNNPACK runs it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [4, 8], name="x")
        product = tf.matmul(x, tf.constant(np.eye(8, dtype=np.float32)))
        y = tf.minimum(tf.maximum(product, -1.0), 1.0)
        converter = TFLiteConverter.from_session(session, [x], [y])
    samples = np.random.default_rng(0).uniform(-1e5, 1e5, (8, 1, 4, 8)).astype(np.float32)
    converter.representative_dataset = lambda: ([*sample] for sample in samples)
    content = converter.convert()
    for resolver in ("BUILTIN_REF", "BUILTIN"):
        ((cut_off,),) = litert.run(content, [[samples[0][0]]], resolver)
        np.testing.assert_allclose(cut_off, np.sign(samples[0][0]), atol=0.02)


@pytest.mark.parametrize("scheme", ["int8", "int16x8"])
@pytest.mark.parametrize("end", [1.0, 6.0])
def test_an_activation_whose_end_is_too_many_steps_away(scheme, end, litert):
    """LiteRT refuses a RELU6 of steps so small that 6 is more than 2^31 of them."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 8], name="x")
        y = x - tf.constant(np.float32(0.25))
        y = tf.nn.relu6(y) if end == 6.0 else tf.minimum(tf.maximum(y, -1.0), 1.0)
        product = tf.matmul(y, tf.constant(np.eye(8, dtype=np.float32)))
        converter = TFLiteConverter.from_session(session, [x], [tf.add(product, 0.5)])
    samples = np.full((4, 1, 2, 8), 0.25, np.float32)
    samples[1:] += np.linspace(0, 1e-5, 8, dtype=np.float32)
    converter.representative_dataset = lambda: ([*sample] for sample in samples)
    converter.quantization_recipe = {"scheme": scheme}
    converter.verify = False
    outputs = litert.run(converter.convert(), [[samples[1][0]]], "BUILTIN_REF")
    np.testing.assert_allclose(outputs[0][0], 0.5, rtol=0.01)


def test_a_range_that_is_wider_than_float32_holds():
    widest = float(np.finfo(np.float32).max)
    assert of_range(-widest, widest).scale == pytest.approx(2 * widest / 255)
    assert of_range(-widest, widest, INT16X8.integers).scale == pytest.approx(widest / 2**15, 1e-4)


CLAMPED = {"RELU": (0, 9), "RELU6": (0, 6), "RELU_0_TO_1": (0, 1), "RELU_N1_TO_1": (-1, 1)}


@pytest.mark.parametrize("kind", CLAMPED)
def test_a_saved_calibration_has_the_range_behind_an_operator_that_clamps(kind):
    graph = graph_of(f"graph main(x: float32[4]) {{\ny = {kind}(x)\nreturn y\n}}")
    (x,), (y,) = graph.inputs, graph.outputs
    assert derived_ranges(graph, {x: (-3.0, 9.0)})[y] == CLAMPED[kind]
