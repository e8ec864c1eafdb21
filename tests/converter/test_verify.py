"""Verification finds what is wrong with a file, names it, and says when it cannot look."""

import dataclasses
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from flatlite.converter.api.converter import TFLiteConverter
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.converter.sources import frozen, saved_model
from flatlite.converter.tf.lower import lower_graph
from flatlite.converter.verify import verification
from flatlite.converter.verify.oracle import NotVerified
from flatlite.converter.verify.trial_inputs import random_array, redrawn, trial_inputs
from flatlite.converter.verify.verification import Function, difference, verify
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.schema import model as files
from flatlite.schema.dtypes import RESOURCE

FLOAT = np.dtype("f4")


def placeholder(graph, shape=(None, 4), dtype="f4", name="x"):
    return graph.add("Placeholder", name, (), {"dtype": np.dtype(dtype), "shape": shape}).outputs[0]


def network(data_format="NHWC"):
    """Two convolutions with bias and activation, and a mean."""
    graph, rng = Graph(), np.random.default_rng(3)
    is_first = data_format == "NCHW"
    x = placeholder(graph, (None, 3, 8, 8) if is_first else (None, 8, 8, 3))
    for i, width in enumerate((4, 5)):
        kernel = rng.standard_normal((3, 3, 3 + i, width)).astype(np.float32)
        w = graph.constant(kernel, f"layer{i}/kernel")
        attrs = {"strides": [1, 1, 1, 1], "padding": b"SAME", "data_format": data_format.encode()}
        y = graph.add("Conv2D", f"layer{i}/conv", [x, w], attrs).outputs[0]
        bias = graph.constant(rng.standard_normal(width).astype(np.float32), f"layer{i}/bias")
        attrs = {"data_format": data_format.encode()}
        y = graph.add("BiasAdd", f"layer{i}/add", [y, bias], attrs).outputs[0]
        x = graph.add("Relu6", f"layer{i}/relu", [y]).outputs[0]
    axes = graph.constant(np.int32([2, 3] if is_first else [1, 2]), "axes")
    graph.add("Mean", "pooled", [x, axes])
    return graph


def written(graph, outputs=None):
    """(source graph, function, model) of a graph, converted."""
    source = frozen.load(to_graph_def(graph), None, outputs)
    lowered = optimize(lower_graph(source))
    result = write(lowered)
    function = Function(files.save(result.model), None, result.origins[0])
    return source.oracle(), function, result.model


def spoilt(function, model, change):
    """The function of a file in which `change(model)` spoilt something."""
    change(model)
    return dataclasses.replace(function, content=files.save(model))


def weights(model, position, kind="CONV_2D"):
    """A writable copy of the weights of the `position`-th operator of a kind, now in the model."""
    subgraph = model.subgraphs[0]
    op = [op for op in subgraph.operators if op.op == kind][position]
    tensor = subgraph.tensors[op.inputs[1]]
    tensor.data = np.array(tensor.data)
    return tensor.data


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("position", [0, 1])
def test_a_wrong_weight_is_found_and_its_layer_named(data_format, position):
    source, function, model = written(network(data_format))
    assert verify(source, function)

    def change(model):
        weights(model, position).flat[7] += 0.5

    words = rf"answer for 'pooled:0' on inputs .* CONV_2D for 'layer{position}/relu:0'; please"
    with pytest.raises(ConverterError, match=words):
        verify(source, spoilt(function, model, change))


def test_the_message_is_short_and_says_what_to_do():
    source, function, model = written(network())
    bad = spoilt(function, model, lambda model: weights(model, 0).fill(0))
    with pytest.raises(ConverterError, match=r"converter\.verify = False") as error:
        verify(source, bad)
    text = str(error.value)
    assert len(text.splitlines()) <= 15
    assert "inputs of the shapes (1, 8, 8, 3): largest difference" in text


def test_a_wrong_option_is_found():
    source, function, model = written(network())

    def change(model):
        (op, *_) = model.subgraphs[0].operators
        op.options.fused_activation_function = 0

    with pytest.raises(ConverterError, match="the first operator that differs is CONV_2D"):
        verify(source, spoilt(function, model, change))


def test_a_small_difference_is_none():
    source, function, model = written(network())

    def change(model):
        data = weights(model, 1)
        data += 1e-7 * np.abs(data)

    assert verify(source, spoilt(function, model, change))


def test_an_error_that_only_another_batch_shows():
    graph = Graph()
    x = placeholder(graph, (None, 2, 3))
    graph.add("Reshape", "y", [x, graph.constant(np.int32([-1, 6]), "shape")])
    source, function, model = written(graph)
    assert verify(source, function)

    def change(model):
        tensor = model.subgraphs[0].tensors[model.subgraphs[0].operators[0].inputs[1]]
        tensor.data = np.int32([1, 6])

    with pytest.raises(ConverterError, match=r"does not run on .* \(2, 2, 3\), which the source"):
        verify(source, spoilt(function, model, change))


def test_integers_must_be_equal():
    graph = Graph()
    x = placeholder(graph, (None, 3), "i4")
    graph.add("AddV2", "y", [x, graph.constant(np.int32([1, 2, 3]), "ones")])
    source, function, model = written(graph)
    assert verify(source, function)
    bad = spoilt(function, model, lambda m: weights(m, 0, "ADD").fill(2))
    with pytest.raises(ConverterError, match=r": 2 of 3 elements differ; .* is ADD for 'y:0'"):
        verify(source, bad)


def test_nan_and_infinity():
    graph = Graph()
    x = placeholder(graph, (None, 64))
    logarithm = graph.add("Log", "log", [x]).outputs[0]
    graph.add("Mul", "y", [logarithm, graph.constant(np.float32(2), "two")])
    source, function, model = written(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verify(source, function)
        bad = spoilt(function, model, lambda m: weights(m, 0, "MUL").fill(np.nan))
        with pytest.raises(ConverterError, match=r"elements are finite in one and not in the oth"):
            verify(source, bad)


@pytest.mark.parametrize(
    ("want", "got", "gap"),
    [
        ([1.0, -4.0], [1.0, -4.0], 0.0),
        ([1.0, -4.0], [1.5, -4.0], 0.125),
        ([np.nan, np.inf, 1], [np.nan, np.inf, 1], 0.0),
        ([np.inf], [-np.inf], np.inf),
        ([1.0], [np.nan], np.inf),
        ([np.nan], [1.0], np.inf),
        ([np.inf, 2.0], [1.0, 2.0], np.inf),
        ([0.0], [1e-9], 1e-6),
        ([1e-8], [1.1e-8], 1e-3),
        ([], [], 0.0),
        ([1.0], [[1.0]], np.inf),
    ],
)
def test_difference_of_floats(want, got, gap):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = difference(np.float32(want), np.float32(got))
    assert actual == pytest.approx(gap)


def test_difference_of_other_types():
    ones = np.ones(4, np.int32)
    assert difference(ones, ones) == 0
    assert difference(ones, ones.astype(np.int64)) == np.inf
    assert difference(ones, np.int32([1, 1, 1, 2])) == 0.25
    assert difference(np.array([True, False]), np.array([True, True])) == 0.5
    texts = np.array([b"a", b"b"], object)
    assert difference(texts, texts.copy()) == 0
    most = np.finfo(np.float32).max  # TFLite's extremes of no elements
    assert difference(np.float32([np.inf, -np.inf]), np.float32([most, -most])) == 0
    assert difference(np.float32([np.inf]), np.float32([-most])) == np.inf
    assert difference(np.float32([np.inf]), np.float32([1e38])) == np.inf
    assert difference(np.complex64([1j, 1]), np.complex64([1j, 2])) == 1
    assert difference(np.zeros(0, np.int32), np.zeros(0, np.int32)) == 0


def test_a_source_with_random_numbers_is_not_verified():
    graph = Graph()
    x = placeholder(graph, (4,))
    shape = graph.constant(np.int32([4]), "shape")
    noise = graph.add("RandomUniform", "noise", [shape], {"dtype": FLOAT}).outputs[0]
    graph.add("AddV2", "y", [x, noise])
    source = frozen.load(to_graph_def(graph)).oracle()
    with pytest.warns(
        UserWarning, match="not verified: RandomUniform 'noise' gives random numbers"
    ):
        assert not verify(source, Function(b"", None, {}))


def cast_to_uint8(factor, is_negative=False):
    """factor * x, or -factor * |x|, as bytes."""
    graph = Graph()
    x = placeholder(graph, (None, 9))
    if is_negative:
        x = graph.add("Abs", "above", [x]).outputs[0]
    y = graph.add("Mul", "scaled", [x, graph.constant(np.float32(factor), "factor")]).outputs[0]
    graph.add("Cast", "y", [y], {"DstT": np.dtype(np.uint8)})
    return graph


def test_only_floats_from_0_on_are_cast_to_unsigned_integers():
    source, function, model = written(cast_to_uint8(20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(verify(source, function).ran) == 2
    with pytest.raises(ConverterError, match="the first operator that differs is MUL"):
        verify(source, spoilt(function, model, lambda model: weights(model, 0, "MUL").fill(22)))


def test_a_cast_without_a_defined_result_is_not_verified():
    source, function, _ = written(cast_to_uint8(-20, is_negative=True))
    words = r"not verified: it casts 'scaled:0' to uint8, which is undefined for -\d.*; give inputs"
    with pytest.warns(UserWarning, match=words):
        assert not verify(source, function)


@pytest.mark.parametrize("is_negative", [True, False])
def test_an_output_that_is_nan_alone_is_not_verified(is_negative):
    """Where the magnitudes of what was drawn give numbers, it is."""
    graph = Graph()
    x = placeholder(graph, (1,))
    if is_negative:
        x = graph.add("Abs", "above", [x]).outputs[0]
        x = graph.add("Neg", "below", [x]).outputs[0]
    graph.add("Sqrt", "y", [x])
    source, function, _ = written(graph)
    if not is_negative:
        assert verify(source, function)
        return
    with pytest.warns(UserWarning, match="not verified: every number of its output 'y:0' is NaN"):
        assert not verify(source, function)
    assert verify(source, function, [[np.float32([1])]])


def test_a_source_that_refuses_its_inputs_is_not_verified():
    graph = Graph()
    indices = placeholder(graph, (9,), "i4")
    table = graph.constant(np.ones((1, 3), np.float32), "table")
    moved = graph.add("AddV2", "moved", [indices, graph.constant(np.int32(5), "five")]).outputs[0]
    graph.add("GatherV2", "y", [table, moved, graph.constant(np.int32(0), "axis")])
    source, function, _ = written(graph)
    with pytest.warns(UserWarning, match=r"not verified: the source refuses .* GatherV2 'y'"):
        assert not verify(source, function)
    assert verify(source, function, [[np.full(9, -5, np.int32)]])


@pytest.mark.parametrize("kind", ["FloorDiv", "FloorMod", "TruncateDiv"])
def test_integers_are_divided_by_none_that_is_0(kind):
    graph = Graph()
    operands = [placeholder(graph, (3, 9), "i4", name) for name in "ab"]
    graph.add(kind, "y", operands)
    source, function, _ = written(graph)
    done = verify(source, function)
    assert (done.ran, done.refused) == (["(3, 9), (3, 9)"], [])


def test_sizes_that_the_source_refuses_are_left_out():
    graph = Graph()
    x = placeholder(graph, (None,), "i4")
    length = graph.add("Size", "size", [x]).outputs[0]
    zero, one = (graph.constant(np.int32(n), f"n{n}") for n in (0, 1))
    positions = graph.add("Range", "range", [zero, length, one]).outputs[0]
    table = graph.constant(np.ones((1, 3), np.float32), "table")
    nothing = graph.add("Minimum", "nothing", [x, zero]).outputs[0]
    indices = graph.add("AddV2", "indices", [positions, nothing]).outputs[0]
    graph.add("GatherV2", "y", [table, indices, zero])
    source, function, _ = written(graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verify(source, function)


def test_sizes_grow_until_there_is_something_to_compute():
    graph = Graph()
    x = placeholder(graph, (None, None, None, 1))
    w = graph.constant(np.ones((75, 75, 1, 1), np.float32), "w")
    graph.add("Conv2D", "y", [x, w], {"strides": [1, 1, 1, 1], "padding": b"VALID"})
    source, function, _ = written(graph)
    done = verify(source, function)
    assert done.refused == ["(1, 5, 7, 1)", "(2, 29, 23, 1)"]
    assert len(done.ran) == 4


def test_a_slow_source_is_not_verified():
    source, function, _ = written(network())
    with pytest.warns(UserWarning, match=r"not verified: running the source takes over 1e-06 s"):
        assert not verify(source, function, seconds=1e-6)


def test_inputs_without_random_values():
    table = placeholder(Graph(), (2,), RESOURCE, "table")
    with pytest.raises(NotVerified, match=r"'table:0' has the type .*; set representative_dataset"):
        random_array(table, (2,), np.random.default_rng(1))


REDRAWN = {
    "axes": ("Sum", [((2, 3, 4), "f4"), ((2,), "i4")], {}),
    "a permutation": ("Transpose", [((2, 3, 4), "f4"), ((3,), "i4")], {}),
    "a shape": ("Reshape", [((2, 3), "f4"), ((2,), "i4")], {}),
    "the shape of updates": ("ScatterNd", [((4, 2), "i4"), ((4, 5), "f4"), ((3,), "i4")], {}),
    "the only index": ("Gather", [((1, 3), "f4"), ((9,), "i4")], {}),
    "the size of a larger image": (
        "Conv3DBackpropInputV2",
        [((5,), "i4"), ((2, 2, 2, 3, 2), "f4"), ((2, 3, 4, 5, 2), "f4")],
        {"strides": [1, 1, 2, 1, 1], "padding": b"VALID"},
    ),
    "texts": ("Equal", [((3,), object), ((3,), object)], {}),
}


@pytest.mark.parametrize("kind", list(REDRAWN))
def test_inputs_become_what_the_source_takes(kind):
    op, inputs, attributes = REDRAWN[kind]
    graph = Graph()
    tensors = [placeholder(graph, shape, dtype, f"x{i}") for i, (shape, dtype) in enumerate(inputs)]
    graph.add(op, "y", tensors, attributes)
    source, function, _ = written(graph)
    verified = verify(source, function)
    assert len(verified.ran) == 1 and not verified.refused


def test_texts_become_numbers():
    x = np.array([b"word"], object)
    *_, (numbers,) = redrawn([x])
    assert [float(text) for text in numbers]


@pytest.mark.parametrize(("dtype", "moved"), [("f4", "inputs"), ("i4", "constants")])
def test_an_unstable_output_is_no_error(dtype, moved):
    graph = Graph()
    x = placeholder(graph, (1, 1000), dtype)
    if dtype == "i4":
        x = graph.add("Cast", "real", [x], {"DstT": FLOAT}).outputs[0]
    steep = graph.add("Mul", "steep", [x, graph.constant(np.float32(1e6), "million")]).outputs[0]
    graph.add("Sin", "y", [steep])
    source, function, model = written(graph)

    def change(model):
        data = weights(model, 0, "MUL")
        data[...] = np.float32(1e6) * (1 + np.float32(2**-22))

    with pytest.warns(
        UserWarning, match=f"not verified: its output 'y:0' is unstable: .* the {moved}"
    ):
        assert not verify(source, spoilt(function, model, change))


def test_rounding_may_turn_over_few_integers():
    graph = Graph()
    x = placeholder(graph, (1, 40, 50, 7))
    graph.add("ArgMax", "y", [x, graph.constant(np.int32(-1), "axis")], {"output_type": "i8"})
    source, function, _ = written(graph)
    assert verify(source, function)
    want = np.zeros((40, 50), np.int64)
    for n_wrong, is_fine in ((2, True), (3, False)):
        got = want.copy()
        got.flat[:n_wrong] = 1
        assert (difference(want, got) <= verification.tolerance(want)) is is_fine


@pytest.mark.parametrize("spoilt_key", ["skips", "many_results"])
def test_every_signature_is_looked_at(request, spoilt_key):
    folder = request.path.parent / "tf/saved_models" / "orders"
    keys = ["serving_default", "skips", "many_results"]
    sources = saved_model.load(folder, signature_keys=keys)
    graphs = [optimize(lower_graph(source)) for source in sources]
    result = write(graphs)
    i = keys.index(spoilt_key)
    for tensor in result.model.subgraphs[i].tensors:
        if tensor.data is not None and tensor.dtype == "FLOAT32":
            tensor.data = np.asarray(tensor.data + np.float32(1))
    content = files.save(result.model)
    for j, (source, graph) in enumerate(zip(sources, graphs, strict=True)):
        function = Function(content, graph.signature, result.origins[j], j)
        if i != j:
            assert verify(source.oracle(), function)
            continue
        with pytest.raises(ConverterError, match="the first operator that differs is"):
            verify(source.oracle(), function)


def test_mobilenet_is_verified(corpus):
    converter = TFLiteConverter.from_saved_model(corpus / "C/mobilenet_v2_k3/saved_model")
    converter.convert()
    assert converter.verified


def test_infinite_constants_are_bounded_in_the_file_and_the_rest_is_compared():
    graph = Graph()
    limits = graph.constant(np.float32([np.inf, 1, -np.inf, 2]), "limits")
    graph.add("AddV2", "y", [placeholder(graph), limits])
    content, *arguments = to_graph_def(graph), None, None, [("x", [None, 4])], ["y"]
    converter = TFLiteConverter(content, *arguments)
    bounded = files.load(converter.convert())
    assert converter.verified
    (recorded,) = [t.data for t in bounded.subgraphs[0].tensors if t.data is not None]
    largest = np.finfo(np.float32).max
    np.testing.assert_array_equal(recorded, np.float32([largest, 1, -largest, 2]))


@pytest.mark.parametrize(
    ("answers", "first"), [((True, True, False), 21), ((True, True, None), 5), ((None,), 5)]
)
def test_lengths_are_doubled_until_it_takes_too_long_to_know(answers, first):
    """With hope, the doubled length; else that of the choice."""
    graph = Graph()
    x = placeholder(graph, (None, None))
    answered = iter(answers)
    oracle = SimpleNamespace(inputs=[x])
    (array,) = next(trial_inputs(oracle, (), lambda shapes: next(answered)))
    assert array.shape == (1, first)
