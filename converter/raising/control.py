"""Branches, loops and calls, whose subgraphs are raised inside."""

from ...graph.functions.conditional import cond
from ...graph.functions.loops import while_loop
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


@raises("WHILE")
def while_(node, *operands):
    """A subgraph as long as another one holds."""
    condition, body = node.op.graphs
    run = node.body.raiser.run
    shapes = [
        _invariant(start, inside, after)
        for start, inside, after in zip(operands, body.inputs, node.op.outputs, strict=True)
    ]
    return while_loop(
        lambda *values: run(condition, values)[0],
        lambda *values: run(body, values),
        list(operands),
        shapes,
        return_same_structure=True,
    )


def _invariant(start, inside, after):
    """The shape that a loop's variable has at all turns."""
    if start.shape is None or inside.shape is None or after.shape is None:
        return None
    if not len(start.shape) == len(inside.shape) == len(after.shape):
        return None
    return tuple(
        n if n == inside.shape[i] and after.shape[i] in (n, None) else None
        for i, n in enumerate(start.shape)
    )
