"""Optimize.EXPERIMENTAL_SPARSITY: what TensorFlow 2.21's converter does with the same zeros."""

import numpy as np
import pytest
from conversion_metadata import metadata
from running import answers, kinds

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import load

GENERATOR = np.random.default_rng(6)
SPARSE = [Optimize.EXPERIMENTAL_SPARSITY]
MODES = {
    "float": SPARSE,
    "dynamic": [Optimize.DEFAULT, *SPARSE],
    "int8": [Optimize.DEFAULT, *SPARSE],
}


def weights(block, share, shape=(128, 64)):
    """[inputs, outputs] with a share of blocks of inputs left, the others zero."""
    present = np.repeat(GENERATOR.random((shape[0] // block, shape[1])) < share, block, 0)
    return GENERATOR.normal(size=shape).astype(np.float32) * present


BLOCK4, BLOCK16, SCATTERED = weights(4, 0.3), weights(16, 0.3), weights(1, 0.2)


def product(array):
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (2, len(array))}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    graph.add("MatMul", "y", [x, graph.constant(array, "w")])
    return to_graph_def(graph), [2, len(array)]


def convolution():
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (2, 8, 8, 16)}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    filters = weights(1, 0.15, (3 * 3 * 16, 24)).reshape(3, 3, 16, 24)
    options = {"strides": [1, 1, 1, 1], "padding": b"SAME", "T": np.dtype("f4")}
    graph.add("Conv2D", "y", [x, graph.constant(filters, "w")], options)
    return to_graph_def(graph), [2, 8, 8, 16]


def activation():
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (2, 8)}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]
    graph.add("Relu", "y", [x])
    return to_graph_def(graph), [2, 8]


def converted(graph_def, shape, mode, optimizations):
    converter = TFLiteConverter(graph_def, None, None, [("x", shape)], ["y"])
    converter.optimizations = optimizations
    if mode == "int8":
        samples = [GENERATOR.normal(size=shape).astype(np.float32) for _ in range(4)]
        converter.representative_dataset = lambda: ([x] for x in samples)
    return converter.convert()


def form(content):
    """(whether a DENSIFY stands there, the block of the sparse weights; None when they are not)"""
    tensors = [t for t in load(content).subgraphs[0].tensors if t.sparsity is not None]
    if not tensors:
        return False, None
    (tensor,) = tensors
    is_cut = tensor.sparsity.block_map is not None and len(tensor.sparsity.block_map) > 0
    return "DENSIFY" in kinds(content), tensor.sparsity.dim_metadata[-1].dense_size if is_cut else 1


CASES = {
    ("block4", "float"): (product(BLOCK4), (False, 4)),
    ("block16", "float"): (product(BLOCK16), (False, 4)),
    ("block16", "int8"): (product(BLOCK16), (False, 16)),
    ("scattered", "float"): (product(SCATTERED), (True, 1)),
    ("convolution", "float"): (convolution(), (True, 1)),
    ("small", "float"): (product(weights(1, 0.3, (8, 4))), (True, 1)),
}
NO_EFFECT = {
    "dense": (
        product(weights(1, 0.9)),
        r"the most zeros are 9\.\d% of the weights 'y', and 30% are",
    ),
    "barely": (product(weights(1, 0.67, (1, 200))), "no weights are smaller, not even 'y'"),
    "no weights": (activation(), "the model has no constant float32 or int8 weights of CONV_2D, "),
}
"""What the warning says where TensorFlow writes a dense file and no word."""
REFUSED = {
    ("block4", "int8"): product(BLOCK4),
    ("block16", "dynamic"): product(BLOCK16),
    ("scattered", "int8"): product(SCATTERED),
    ("convolution", "dynamic"): convolution(),
}


@pytest.mark.parametrize("case", REFUSED, ids="-".join)
def test_what_litert_refuses_stays_dense(case):
    (graph_def, shape), mode = REFUSED[case], case[1]
    with pytest.warns(UserWarning, match="the int8 weights of 1 operators have many zeros"):
        content = converted(graph_def, shape, mode, MODES[mode])
    assert form(content) == (False, None)


@pytest.mark.parametrize("case", NO_EFFECT)
def test_nothing_sparse_is_said(case):
    (graph_def, shape), reason = NO_EFFECT[case]
    with pytest.warns(UserWarning, match=f"EXPERIMENTAL_SPARSITY has no effect: .*{reason}"):
        content = converted(graph_def, shape, "float", SPARSE)
    assert form(content) == (False, None)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_sparse_weights(case, litert):
    (graph_def, shape), expected = CASES[case]
    mode = case[1]
    content = converted(graph_def, shape, mode, MODES[mode])
    assert form(content) == expected
    modes = metadata(content)[1]  # of conversion_metadata.fbs: 3001 RANDOM_, 3002 BLOCK_SPARSITY
    assert modes[-1:] == {None: [], 1: [3001]}.get(expected[1], [3002])
    assert (1003 in modes) == (mode == "int8")
    x = GENERATOR.normal(size=shape).astype(np.float32)
    (ours,) = answers(Interpreter(model_content=content), x)
    for resolver in ("BUILTIN_WITHOUT_DEFAULT_DELEGATES", "AUTO"):
        theirs = litert.run(content, [[x]], resolver)
        assert not isinstance(theirs, str), theirs
        share = 1 / 100 if mode == "int8" else 1e-5
        np.testing.assert_allclose(ours, theirs[0][0], rtol=0, atol=share * np.abs(ours).max())
    if mode != "int8":  # whose samples are drawn anew
        dense = converted(graph_def, shape, mode, MODES[mode][:-1])
        outputs = answers(Interpreter(model_content=dense), x)[0]
        np.testing.assert_allclose(ours, outputs, rtol=0, atol=1e-5 * np.abs(outputs).max())
        assert len(content) < len(dense) or case[0] == "small"  # a DENSIFY takes 200 bytes
