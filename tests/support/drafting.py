"""Small TF graphs, operation by operation, for tests."""

from typing import Any

import numpy as np

from flatlite.converter.sources.source import GraphSource, Port
from flatlite.graph.core.graph import Graph


class Draft:
    """A TF graph in the making."""

    def __init__(self):
        self.graph = Graph()
        self.graph.inputs, self.graph.outputs = [], []

    def input(self, name, shape, dtype: Any = np.float32):
        attrs = {"dtype": np.dtype(dtype), "shape": shape}
        tensor = self.graph.add("Placeholder", name, (), attrs).outputs[0]
        self.graph.inputs.append(tensor)
        return tensor

    def op(self, kind, *inputs, **attrs):
        tensors = [
            x if hasattr(x, "consumers") else self.graph.constant(np.asarray(x)) for x in inputs
        ]
        return self.graph.add(kind, None, tensors, attrs).outputs[0]

    def source(self, *outputs):
        self.graph.outputs = list(outputs)
        ports = (
            tuple(Port(t.op.name, t.name, t) for t in tensors)
            for tensors in (self.graph.inputs, self.graph.outputs)
        )
        return GraphSource(None, self.graph, *ports)
