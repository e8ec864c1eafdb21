"""The gradient of a whole function, as TensorFlow 1's SymbolicGradient computes it."""

from __future__ import annotations

from ..core.build import ops
from ..core.composite.indexed_slices import dense
from ..core.function_graph import FunctionGraph, copy_graph
from ..core.graph import Graph
from ..core.hooks import hook
from ..core.library import FunctionLibrary
from ..core.signatures.attributes import FunctionRef
from .gradients import gradients, is_trainable


@hook("gradient_body")
def gradient_body(library: FunctionLibrary, reference: FunctionRef) -> Graph:
    """The body of a function's gradient: that of the function that `library` names as such, if any.

    Its arguments are those of the function, and the gradients of the function's results behind
    them; its results are the gradients of the function's arguments. What it adds to the functions
    is in a library of its own.
    """
    name = library.gradients.get(reference.name)
    if name is not None:
        return library.body(FunctionRef(name, reference.attrs))
    body = library.body(reference)
    functions = FunctionLibrary(library.values())
    functions.gradients.update(library.gradients)
    graph = FunctionGraph(Graph(functions))
    copies = copy_graph(body, graph)
    xs = [copies[tensor] for tensor in body.inputs or ()]
    ys = [copies[tensor] for tensor in body.outputs or ()]
    graph.inputs = list(xs)
    with graph.as_default():
        pairs = [(y, graph.argument(y)) for y in ys]
        arrived = {y: dy for y, dy in pairs if is_trainable(y)}
        flown = gradients([*arrived], xs, [*arrived.values()]) if arrived else [None] * len(xs)
        graph.outputs = [
            ops.ZerosLike(x) if dx is None else dense(dx) for x, dx in zip(xs, flown, strict=True)
        ]
    return graph
