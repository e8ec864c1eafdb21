"""Algorithms for accuracy: their formulas, what they leave as it is, and what they gain."""

import warnings
from functools import cache

import numpy as np
import pytest
from quantized_network import IMAGES, converter_of
from running import answers

import flatlite.compat.v1 as tf
from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.graphs import Lowering
from flatlite.converter.quantize.accuracy.adaround import Problem, adaround
from flatlite.converter.quantize.accuracy.algorithms import ALGORITHMS, algorithms_of
from flatlite.converter.quantize.accuracy.channels import groups
from flatlite.converter.quantize.accuracy.equalization import equalize, weight_factors
from flatlite.converter.quantize.accuracy.gptq import gptq
from flatlite.converter.quantize.accuracy.linear import (
    from_matrices,
    is_linear,
    linear_ops,
    matrices,
    rows_of,
)
from flatlite.converter.quantize.accuracy.observe import Written
from flatlite.converter.quantize.accuracy.recovery import step_of
from flatlite.converter.quantize.accuracy.rotation import hadamard, mean_preserving
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.model import load

GENERATOR = np.random.default_rng(3)


def normal(*shape):
    return GENERATOR.normal(size=shape).astype(np.float32)


def converter_of_graph(build, *shape):
    """A converter of what `build` makes of a placeholder, and samples for it."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, *shape], name="x")
        y = tf.identity(build(x), "y")
        converter = TFLiteConverter.from_session(session, [x], [y])
    samples = [normal(1, *shape) for _ in range(48)]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    return converter, samples


def float_graph(converter):
    """The float IR that a converter quantizes."""
    (graph,) = Lowering(converter, converter._sources).graphs()
    return graph


def uneven(n):
    """Factors of channels, from 1/8 to 8."""
    return (10 ** GENERATOR.uniform(-0.9, 0.9, n)).astype(np.float32)


def uneven_convolutions(x):
    """conv -> ReLU -> depthwise -> ReLU -> max -> conv -> mean -> head, uneven in between."""
    first, second, third = uneven(16), uneven(16), uneven(8)
    x = tf.nn.relu(tf.nn.conv2d(x, normal(3, 3, 4, 16) * first, [1] * 4, "SAME") + normal(16))
    filters = (normal(3, 3, 16, 1) * (second / first)[:, np.newaxis]).astype(np.float32)
    x = tf.nn.relu(tf.nn.depthwise_conv2d(x, filters, [1] * 4, "SAME"))
    x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    filters = (normal(1, 1, 16, 8) / second[:, np.newaxis] * third).astype(np.float32)
    x = tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(x, filters, [1] * 4, "VALID")), [1, 2])
    return tf.matmul(x, (normal(8, 5) / third[:, np.newaxis]).astype(np.float32))


def attention(x):
    """Layer normalisation with uneven factors, attention of one head, a residual, and a head."""
    width, factors = 16, uneven(16)
    x = tf.reshape(tf.matmul(tf.reshape(x, [-1, width]), normal(width, width)), [-1, 6, width])
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centered), -1, keepdims=True)
    y = tf.reshape(centered * tf.rsqrt(variance + 1e-3) * factors + normal(width), [-1, width])
    shape, scale = [-1, 6, width], (1 / factors)[:, np.newaxis] / 4
    q, k, v = (tf.reshape(tf.matmul(y, normal(width, width) * scale), shape) for _ in range(3))
    scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
    y = tf.reshape(tf.matmul(scores, v), [-1, width])
    x += tf.reshape(tf.matmul(y, normal(width, width)), shape)
    return tf.matmul(tf.reshape(tf.reduce_mean(x, 1), [-1, width]), normal(width, 4))


def even(x):
    """Convolutions whose channels are alike, and a head."""
    for n, channels in ((4, 32), (32, 32)):
        filters = normal(3, 3, n, channels) / (9 * n) ** 0.5
        x = tf.nn.relu(tf.nn.conv2d(x, filters, [1] * 4, "SAME") + 0.1 * normal(channels))
    return tf.matmul(tf.reduce_mean(x, [1, 2]), normal(32, 40))


NETWORKS = {
    "even": (even, (8, 8, 4)),
    "convolutions": (uneven_convolutions, (8, 8, 4)),
    "attention": (attention, (6, 16)),
}


@cache
def network(name):
    """A converter of a network, and samples for it."""
    build, shape = NETWORKS[name]
    return converter_of_graph(build, *shape)


def noise(converter, recipe):
    """Decibels of the only output of a recipe's file."""
    converter.quantization_recipe = recipe
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*(are int8|only integer operators)")
        converter.convert()
    ((decibels,),) = (row.values() for row in converter.signal_to_noise.values())
    return decibels


@pytest.mark.parametrize(
    ("algorithm", "name", "scheme", "gain"),
    [
        ("equalization", "convolutions", "int8", 6),
        ({"name": "smooth_quant", "linear": 1}, "convolutions", "int8", 6),
        ("smooth_quant", "attention", "int8", 0.5),
        ("gptq", "even", "int8_int4", 2),
        ("gptq", "even", "weight_only_int4", 2),
        ("adaround", "even", "int8_int4", 2),
        ("adaround", "even", "dynamic_int4", 2),
        ("bias_correction", "even", "int8_int4", 1),
    ],
)
def test_gain(algorithm, name, scheme, gain):
    """Decibels on networks whose channels are uneven by construction."""
    converter, _ = network(name)
    before = noise(converter, {"scheme": scheme})
    after = noise(converter, {"scheme": scheme, "algorithms": [algorithm]})
    assert after > before + gain


@pytest.mark.parametrize("name", NETWORKS)
def test_the_float_model_stays(name, litert):
    """Equalized, smoothed and rotated weights give the same answers."""
    converter, samples = network(name)
    converter.quantization_recipe = None
    plain = converter.convert()
    converter.quantization_recipe = {
        "scheme": "int8",
        "algorithms": ["equalization", {"name": "smooth_quant", "linear": 1}, "hadamard"],
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has nothing that it applies to")
        content = converter.convert()
    changed = converter._last.files[0][1][0].content
    assert changed != plain
    for file in (plain, changed, content):
        interpreter = Interpreter(model_content=file)
        interpreter.allocate_tensors()
        ((actual,),) = (answers(interpreter, samples[0]),)
        (expected,) = litert.run(plain, [[samples[0]]])[0]
        limit = 1e-4 if file is not content else 0.2
        np.testing.assert_allclose(actual, expected, atol=limit * np.abs(expected).max(), rtol=0)


def test_equalized_ranges_are_equal():
    """After the sweeps both weights of each channel have one range: the paper's optimum."""
    converter, _ = converter_of_graph(uneven_convolutions, 8, 8, 4)
    graph = float_graph(converter)
    before = [weight_factors(group) for group in groups(graph) if is_linear(group.source)]
    assert max(row.max() / row.min() for row in before) > 10
    assert equalize(graph) == len(before) == 3
    for group in groups(graph):
        np.testing.assert_allclose(weight_factors(group), 1, atol=2e-2)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_rows(padding, stride):
    """Rows times matrices are what the operators give, for each kind of them."""

    def build(x):
        options = {"strides": [1, stride, stride, 1], "padding": padding}
        x = tf.nn.conv2d(x, normal(3, 2, 4, 6), **options)
        x = tf.nn.depthwise_conv2d(x, normal(2, 3, 6, 2), **options)
        return tf.matmul(tf.reshape(tf.reduce_mean(x, [1, 2]), [-1, 12]), normal(12, 5))

    converter, samples = converter_of_graph(build, 9, 8, 4)
    conversion = Conversion(converter, converter._sources, 1)
    (graph,) = graphs = Lowering(converter, converter._sources).graphs()
    file = Written(*conversion._write(graphs))
    ops = linear_ops(graph)
    assert [op.kind for op in ops] == ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]
    for op in ops:
        ((data, expected),) = file.values([(0, "", samples[:1])], 0, [op.inputs[0], op.output])
        weights = op.inputs[1].data
        array = matrices(op, weights)
        np.testing.assert_array_equal(from_matrices(op, array), weights)
        rows = rows_of(op, data, 10**6, 0)
        results = rows @ array.transpose(0, 2, 1)  # [groups, rows, outputs]
        results = results.transpose(1, 0, 2).reshape(expected.shape)
        np.testing.assert_allclose(results, expected, atol=1e-4)
        few = rows_of(op, data, 3, 7)
        assert few.shape[1] == min(3, rows.shape[1])
        assert all(any(np.array_equal(row, other) for other in rows[0]) for row in few[0])


def rounding_problem(has_relu):
    """A layer of 24 taps whose inputs are correlated."""
    rows = np.maximum(normal(1, 400, 24) @ normal(24, 24) / 5, 0)
    weights = normal(1, 8, 24)
    scales = np.abs(weights).max(2, keepdims=True) / 7
    bias = normal(1, 1, 8)
    expected = rows @ weights.transpose(0, 2, 1)
    return Problem(weights, scales, (-7, 7), rows, expected, bias, has_relu)


@pytest.mark.parametrize("has_relu", [False, True])
def test_rounding(has_relu):
    problem = rounding_problem(has_relu)
    weights, scales, limits = problem.weights, problem.scales, problem.limits
    nearest = np.clip(np.rint(weights / scales), *limits) * scales
    learned = adaround(problem, 1000)
    steps = learned / scales
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)
    assert np.abs(learned - weights).max() <= 1.001 * scales.max()
    assert problem.error(learned) < 0.75 * problem.error(nearest)
    assert adaround(problem, 1000, deadline=0.0).tolist() == nearest.tolist()
    by_columns = gptq(weights, scales, limits, problem.rows)
    steps = by_columns / scales
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)
    assert np.abs(steps).max() <= 7.001
    plain = problem.difference(by_columns, problem.rows, problem.expected)[0]
    assert np.square(plain).mean() < 0.85 * problem.error(nearest) or has_relu


def test_gptq_of_independent_inputs_rounds_to_the_nearest():
    """With H = I no column makes up for another one."""
    weights, scales = normal(1, 5, 12), np.full((1, 5, 1), 0.3)
    actual = gptq(weights, scales, (-127, 127), np.eye(12, dtype=np.float32)[np.newaxis] * 3)
    np.testing.assert_allclose(actual, np.rint(weights / 0.3) * 0.3, atol=1e-6)


@pytest.mark.parametrize("size", [2, 12, 48, 64])
def test_rotations_are_orthogonal(size):
    for matrix in (hadamard(size), mean_preserving(size)):
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(size), atol=1e-9)
    np.testing.assert_allclose(mean_preserving(size) @ np.ones(size), 1, atol=1e-9)
    block = size & -size
    assert np.unique(np.abs(hadamard(size)).round(9)).tolist() == sorted(
        {0.0, round(block**-0.5, 9)} - ({0.0} if block == size else set())
    )


def test_recovery():
    """Weights that were quantized before become the same integers; minmax makes others of them."""
    integers = GENERATOR.integers(-90, 91, (64, 32)).astype(np.int8)
    scales = GENERATOR.uniform(0.01, 0.1, 32).astype(np.float32)
    weights = (integers * scales).astype(np.float32)
    converter, _ = converter_of_graph(lambda x: tf.matmul(x, weights), 64)
    actual = {}
    for algorithms in ([], ["recovery"]):
        converter.quantization_recipe = {"scheme": "int8", "algorithms": algorithms}
        (subgraph,) = load(converter.convert()).subgraphs
        (op,) = (op for op in subgraph.operators if op.op == "FULLY_CONNECTED")
        tensor = subgraph.tensors[op.inputs[1]]
        actual[bool(algorithms)] = tensor
    np.testing.assert_array_equal(actual[True].data, integers.T)
    np.testing.assert_array_equal(actual[True].quantization.scales, scales)
    assert (actual[False].data != integers.T).any()


def test_no_grid():
    assert step_of(normal(200), 127) is None
    assert step_of(np.zeros(4, np.float32), 127) is None
    assert step_of(np.float32([1, 8]), 7) is None  # eight steps of 1
    assert step_of(np.float32([2, 6]), 7) == 2.0


@pytest.mark.parametrize(
    ("algorithms", "words"),
    [
        ("adaround", "algorithms must be a list, got 'adaround'"),
        (["adaruond"], "got 'adaruond'; did you mean 'adaround'?"),
        (["gptq", "adaround"], "gptq and adaround both round the weights; leave one out"),
        (["gptq", "gptq"], "must have each name once, got 'gptq' 2x"),
        ([{"name": "gptq", "steps": 3}], "parameters are damping, reorder, got 'steps'"),
        ([{"name": "smooth_quant", "alpha": 2}], "alpha must be a number of 0 to 1, got 2"),
    ],
)
def test_refusals(algorithms, words):
    with pytest.raises(ValueError, match="algorithm") as error:
        algorithms_of(algorithms)
    assert words in str(error.value)


def test_refusals_of_the_converter():
    converter = converter_of("Relu6", quantization_algorithms=["gptq"])
    with pytest.raises(ValueError, match=r"quantization_algorithms \(gptq\) need a quantized"):
        converter.convert()
    converter.quantization_recipe = {"scheme": "dynamic"}
    converter.representative_dataset = None
    with pytest.raises(ValueError, match="the algorithms gptq measure on samples; set repr"):
        converter.convert()


def test_algorithms_by_attribute_and_recipe_agree():
    files = []
    for attribute, recipe in ((["bias_correction"], []), ([], ["bias_correction"])):
        converter = converter_of("Relu6", quantization_algorithms=attribute)
        converter.quantization_recipe = {"scheme": "int8", "algorithms": recipe}
        files.append(converter.convert())
    assert files[0] == files[1]
    assert [
        row.name for row in algorithms_of(name for name in reversed(ALGORITHMS) if name != "gptq")
    ] == [name for name in ALGORITHMS if name != "gptq"]


def test_nothing_to_rotate_is_a_warning():
    converter = converter_of("Relu6", quantization_recipe={"algorithms": ["hadamard"]})
    with pytest.warns(UserWarning, match="hadamard: the model has nothing that it applies to"):
        converter.convert()


def test_an_island_keeps_its_neighbours(litert):
    """Algorithms do not stop at operators that stay float, and LiteRT runs the file."""
    recipe = {"algorithms": ["equalization", "adaround"], "layers": [["elu", "float"]]}
    content = converter_of("Elu", quantization_recipe=recipe).convert()
    by_litert = litert.run(content, [[IMAGES[0]]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(by_litert, str), by_litert
