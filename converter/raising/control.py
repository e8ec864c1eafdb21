"""Branches, loops and calls, whose subgraphs are raised inside."""

import numpy as np

from ...graph.core.build import ops
from ...graph.core.shapes import merge
from ...graph.core.tensor_shape import TensorShape
from ...graph.functions.flow.conditional import cond, switch_case
from ...graph.functions.flow.loops import while_loop
from .registry import raises


@raises("CALL", "STABLEHLO_COMPOSITE")
def call(node, *operands):
    """What a subgraph gives, in its caller's place."""
    return node.body.raiser.run(node.op.graphs[0], operands)


@raises("IF")
def if_(node, condition, *operands):
    """One of two subgraphs."""
    then, otherwise = (
        lambda graph=graph: node.body.raiser.run(graph, operands) for graph in node.op.graphs
    )
    return cond(condition, then, otherwise, strict=True)


@raises("WHILE", "STABLEHLO_WHILE")
def while_(node, *operands):
    """A subgraph as long as another one holds."""
    condition, body = node.op.graphs
    run = node.body.raiser.run
    shapes = [
        _invariant(start, inside, after)
        for start, inside, after in zip(operands, body.inputs, node.op.outputs, strict=True)
    ]

    def turn(*values):
        return [settled(y, shape) for y, shape in zip(run(body, values), shapes, strict=True)]

    return while_loop(
        lambda *values: run(condition, values)[0],
        turn,
        list(operands),
        shapes,
        return_same_structure=True,
    )


@raises("STABLEHLO_CASE")
def case(node, index, *operands):
    """One of several subgraphs; the last where there is none of that number."""
    run = node.body.raiser.run
    branches = [lambda graph=graph: run(graph, operands) for graph in node.op.graphs]
    results = switch_case(ops.Reshape(index, np.zeros(0, np.int32)), branches)
    return results if isinstance(results, list | tuple) else [results]


def settled(result, shape):
    """A result of a turn, of which as much is known as of the loop's variable."""
    sizes = shape.as_shape()
    if merge(result.sizes, sizes) == result.sizes:
        return result
    return ops.EnsureShape(result, shape=sizes)


def _invariant(start, inside, after):
    """The shape that a loop's variable has at all turns."""
    if start.sizes is None or inside.sizes is None or after.sizes is None:
        return TensorShape(None)
    if not len(start.sizes) == len(inside.sizes) == len(after.sizes):
        return TensorShape(None)
    sizes = zip(start.sizes, inside.sizes, after.sizes, strict=True)
    return TensorShape([n if n == m and k in (n, None) else None for n, m, k in sizes])
