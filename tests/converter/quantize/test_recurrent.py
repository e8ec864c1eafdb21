"""Recurrent operators of files of others in dynamic range: which weights become int8, and LiteRT
runs them.
"""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from recurrent_models import SORTS, content
from running import answers

from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.converter.passes import optimize
from flatlite.converter.quantize.dynamic import quantize_weights
from flatlite.converter.quantize.rules import WEIGHT_RULES
from flatlite.converter.quantize.scheme import SCHEMES
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import load, save
from flatlite.schema.tables import ACTIVATION_FUNCTION_TYPE

LARGE = (3, 4, 48, 40, 32)  # batch, steps, depth, units, elements of a result
FLOATS = [
    replace(sort, sizes=LARGE)
    for sort in SORTS
    if sort.numbers == "float32" and sort.op != "LSTM" and not dict(sort.options).get("kernel_type")
]


def is_misread(sort):
    """Whether LiteRT's hybrid kernel reads what it should not."""
    options = dict(sort.options)
    is_merged = options.get("time_major") and (options.get("merge_outputs") or sort.auxiliary)
    plain = sort.op == "BIDIRECTIONAL_SEQUENCE_RNN"
    return plain and bool(is_merged or sort.auxiliary == "weights")


@pytest.mark.parametrize("sort", [s for s in FLOATS if is_misread(s)], ids=lambda s: s.name)
def test_what_litert_misreads_stays_float(sort):
    converter = TFLiteConverter.from_tflite_model(content(sort))
    converter.optimizations = [Optimize.DEFAULT]
    with pytest.warns(UserWarning, match="the model stays float"):
        quantized = converter.convert()
    assert "INT8" not in {tensor.dtype for tensor in load(quantized).subgraphs[0].tensors}


@pytest.mark.parametrize("sort", [s for s in FLOATS if not is_misread(s)], ids=lambda s: s.name)
def test_dynamic_range(sort, litert):
    plain = content(sort)
    converter = TFLiteConverter.from_tflite_model(plain)
    converter.optimizations = [Optimize.DEFAULT]
    quantized = converter.convert()
    (op,) = load(quantized).subgraphs[0].operators
    tensors = load(quantized).subgraphs[0].tensors
    rule = WEIGHT_RULES[sort.op]
    weights = [op.inputs[i] for i in (rule.weights, *rule.others) if i < len(op.inputs)]
    assert {tensors[i].dtype for i in weights if i >= 0} == {"INT8"}
    assert len(quantized) < 0.6 * len(plain)
    subgraph = load(plain).subgraphs[0]
    random = np.random.default_rng(2)
    shapes = [subgraph.tensors[i].shape for i in subgraph.inputs]
    feeds = [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    ours = answers(Interpreter(model_content=quantized), *feeds)
    (theirs,) = litert.run(quantized, [feeds])
    for mine, yours in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-5 * max(1, np.abs(yours).max()))
    expected = answers(Interpreter(model_content=plain), *feeds)
    for mine, expected_output in zip(ours, expected, strict=True):
        assert np.abs(mine - expected_output).max() < 0.1 * np.abs(expected_output).max()


def test_each_of_the_weights_has_blocks_where_they_divide_it(litert):
    """The other matrices of a cell are no constants any more when the last one is looked at."""
    sort = next(s for s in FLOATS if s.op == "UNIDIRECTIONAL_SEQUENCE_LSTM")
    plain = content(sort)
    converter = TFLiteConverter.from_tflite_model(plain)
    converter.quantization_recipe = {"scheme": "weight_only_int8_block32"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those that 32 does not divide have a scale for each row
        quantized = converter.convert()
    subgraph = load(plain).subgraphs[0]
    random = np.random.default_rng(2)
    shapes = [subgraph.tensors[i].shape for i in subgraph.inputs]
    feeds = [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    ours = answers(Interpreter(model_content=quantized), *feeds)
    (theirs,) = litert.run(quantized, [feeds])
    for mine, yours in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=0, atol=1e-5 * max(1, np.abs(yours).max()))


@pytest.mark.parametrize(
    ("n_inputs", "implements", "n_quantized"), [(20, "", 8), (12, "", 4), (20, "lstm_0", 0)]
)
def test_weights_that_only_the_source_has_as_one(n_inputs, implements, n_quantized, litert):
    """TensorFlow keeps the loop of Keras 3, whose weights are large, and fuses that of Keras 2.

    In the loop it stores each product's weights in 8 bits that are of 1024 elements or more.
    """
    random = np.random.default_rng(5)
    shapes = ((64, n_inputs), (64, 16), (64,))  # gates of 16 units
    weights = [random.uniform(-0.4, 0.4, shape).astype(np.float32) for shape in shapes]
    b = Builder(Graph())
    x = b.input("x", np.float32, (2, 5, n_inputs))
    y = b.LSTM_SEQUENCE(x, *weights, np.int32(ACTIVATION_FUNCTION_TYPE["TANH"]), np.bool_(False))
    y.producer.implements = implements
    b.graph.outputs = [y]
    plain = save(write([optimize(b.graph)]).model)
    assert quantize_weights(b.graph, lambda op: SCHEMES["dynamic"]) == n_quantized
    content = save(write([b.graph]).model)
    assert (len(content) < 0.9 * len(plain)) == (n_quantized > 0)
    feeds = [random.uniform(-1, 1, (2, 5, n_inputs)).astype(np.float32)]
    ((expected,),) = litert.run(content, [feeds])
    (result,) = answers(Interpreter(model_content=content), *feeds)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)
    (exact,) = answers(Interpreter(model_content=plain), *feeds)
    assert np.abs(result - exact).max() < 2e-2 * np.abs(exact).max()


def test_all_recurrent_operators_are_tested():
    kinds = {sort.op for sort in FLOATS}
    recurrent = {kind for kind in WEIGHT_RULES if any(x in kind for x in ("LSTM", "RNN", "SVDF"))}
    assert kinds == recurrent
