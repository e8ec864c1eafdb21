"""A small network whose layers have weights large enough to be quantized."""

import numpy as np

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import TFLiteConverter

GENERATOR = np.random.default_rng(9)
IMAGES = [GENERATOR.normal(size=(1, 8, 8, 4)).astype(np.float32) for _ in range(6)]


def network(activation):
    """x -> conv -> RELU -> depthwise -> activation -> mean -> head -> y"""
    graph = Graph()
    attributes = {"dtype": np.dtype("f4"), "shape": (1, 8, 8, 4)}
    x = graph.add("Placeholder", "x", (), attributes).outputs[0]

    def weights(name, *shape):
        return graph.constant(GENERATOR.normal(size=shape).astype(np.float32), name)

    options = {"strides": [1, 1, 1, 1], "padding": b"SAME", "T": np.dtype("f4")}
    y = graph.add("Conv2D", "stem/conv", [x, weights("w1", 3, 3, 4, 32)], options).outputs[0]
    y = graph.add("Relu", "stem/relu", [y]).outputs[0]
    filters = weights("w2", 3, 3, 32, 4)
    y = graph.add("DepthwiseConv2dNative", "middle/dw", [y, filters], options).outputs[0]
    y = graph.add(activation, "middle/elu", [y]).outputs[0]
    axes = graph.constant(np.int32([1, 2]), "axes")
    y = graph.add("Mean", "pool", [y, axes]).outputs[0]
    y = graph.add("MatMul", "head/product", [y, weights("w3", 128, 16)]).outputs[0]
    graph.add("Identity", "y", [y])
    return to_graph_def(graph)


NETWORKS = {activation: network(activation) for activation in ("Elu", "Relu6")}
"""ELU has no int16 kernel, and LiteRT's reference kernels lack it."""


def converter_of(activation="Elu", **settings):
    graph_def = NETWORKS[activation]
    converter = TFLiteConverter(graph_def, None, None, [("x", [1, 8, 8, 4])], ["y"])
    converter.representative_dataset = lambda: ([x] for x in IMAGES)
    for name, value in settings.items():
        setattr(converter, name, value)
    return converter
