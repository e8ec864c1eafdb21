"""Random numbers, spectra, and operations of TensorFlow that a file has as they are.

Not MULTINOMIAL, which has no kernel in a Session.
"""

import numpy as np

from ...graph.core.build import ops
from ...graph.core.create import append
from ...graph.core.graph import Graph, Tensor
from ...graph.core.scopes import get_default_graph
from ...graph.format.graphdef import import_node
from ...interpreter.select_ops import known_definition, node_def_of, reason_against
from ...schema.dtypes import RESOURCE
from ...schema.errors import ModelError
from .node import Node
from .registry import raise_rows, raises

raise_rows("""
RANDOM_STANDARD_NORMAL RandomStandardNormal dtype=:0 seed=seed seed2=seed2
RANDOM_UNIFORM RandomUniform dtype=:0 seed=seed seed2=seed2
""")


@raises("RFFT2D", deferred=(1,))
def rfft2d(node, x, _):
    """A spectrum of two axes, filled up with zeros to the length that is asked for."""
    length, sizes = node.known(1), node.sizes(0)
    if length is None:
        return ops.RFFT2D(x, node.operand(1))
    node.require(None not in sizes[-2:], f"rows and columns must be known, got {sizes}")
    missing = [max(int(n) - int(size or 0), 0) for n, size in zip(length, sizes[-2:], strict=True)]
    if any(missing):
        pairs = [[0, 0]] * (len(sizes) - 2) + [[0, n] for n in missing]
        x = ops.Pad(x, np.array(pairs, np.int32))
    return ops.RFFT2D(x, length)


@raises("CUSTOM")
def flex(node: Node, *operands: Tensor):
    """The operation that a Flex operator describes; not one that opens files or has a state."""
    alone = Graph()
    inputs = [
        alone.add("Placeholder", None, (), {"dtype": x.dtype, "shape": x.sizes}).outputs[0]
        for x in operands
    ]
    try:
        content = node_def_of(bytes(node.op.custom_options))
        if content is None:
            node.fail("the options must hold the operation's name and its NodeDef")
        op = import_node(alone, known_definition(content)[-1], inputs)
    except (ModelError, ValueError, TypeError) as error:
        node.fail(f"{error}")
    reason = reason_against(op.type)
    node.require(not reason, reason)
    has_state = any(tensor.dtype == RESOURCE for tensor in (*op.inputs, *op.outputs))
    words = "is about a table, an array or another state, which a graph would not order"
    node.require(not has_state, f"{op.type} {words}")
    graph = get_default_graph()
    return append(graph, op.type, graph.unique_name(op.type), operands, op.attrs).outputs
