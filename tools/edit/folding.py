"""What is computed from sizes alone, as constants once the sizes are known."""

from __future__ import annotations

import numpy as np

from ...interpreter.interpreter import Interpreter
from ...schema.model import Model, Operator, save
from ...schema.operators import operator
from .subgraphs import calls, compact, copied

LIMIT = 4096
"""Elements of a constant that may take the place of an operator."""
SIZES = frozenset({"SHAPE", "RANK"})


def fold_sizes(model: Model) -> None:
    """Replaces operators of the first subgraph that known sizes alone decide, in place.

        x [2, 3] -> SHAPE -> STRIDED_SLICE -> n -> RESHAPE      becomes      n = [2] -> RESHAPE

    Operators that give an output of the subgraph, or what a variable begins with, stay.
    """
    graph = model.subgraphs[0]
    folded = _decided(model)
    outputs = {i for op in folded for i in op.outputs}
    others = [op for op in graph.operators if not any(op is other for other in folded)]
    read = sorted(outputs.intersection(i for op in others for i in op.inputs))
    if not folded:
        return
    for index, value in zip(read, _values(model, folded, read), strict=True):
        graph.tensors[index].data = value
    graph.operators = others
    compact(model, 0)


def _decided(model: Model) -> list[Operator]:
    """The operators whose results depend on sizes and constants, and on a size at least."""
    graph, known = model.subgraphs[0], _known_shapes(model)
    constants = {i for i, t in enumerate(graph.tensors) if t.data is not None and not t.is_variable}
    from_sizes: set[int] = set()
    folded = []
    for op in graph.operators:
        present = {i for i in op.inputs if i >= 0}
        is_size = op.op in SIZES and present <= known
        is_computed = bool(from_sizes & present) and present <= from_sizes | constants
        is_small = all(np.prod(graph.tensors[i].shape, dtype=int) <= LIMIT for i in op.outputs)
        is_inner = not set(op.outputs).intersection(graph.outputs)
        is_inner &= not any(graph.tensors[i].is_variable for i in op.outputs)
        if (is_size or is_computed) and is_small and is_inner and _is_pure(op):
            folded.append(op)
            from_sizes.update(op.outputs)
    return folded


def _known_shapes(model: Model) -> set[int]:
    """The tensors with dimensions whose shapes the sizes of the inputs decide.

    The interpreter tells what the file says of a shape that it does not know: here, nothing.
    """
    blank = copied(model)
    graph = blank.subgraphs[0]
    for i in {i for op in graph.operators for i in op.outputs}:
        graph.tensors[i].shape, graph.tensors[i].shape_signature = (), None
    interpreter = Interpreter(model_content=save(blank), experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    unknown = {i for i in graph.inputs if -1 in (graph.tensors[i].shape_signature or ())}
    shapes = {d["index"]: d["shape"] for d in interpreter.get_tensor_details()}
    return {i for i, shape in shapes.items() if len(shape)} - unknown


def _is_pure(op: Operator) -> bool:
    row = operator(op.op)
    return row is not None and row.is_pure and not calls(op)


def _values(model: Model, operators: list[Operator], tensors: list[int]) -> list[np.ndarray]:
    """What some operators give for tensors of the first subgraph."""
    part = copied(model)
    graph = part.subgraphs[0]
    computed = {i for op in operators for i in op.outputs}
    read = {i for op in operators for i in op.inputs if i >= 0} - computed
    graph.inputs = sorted(i for i in read if graph.tensors[i].data is None)
    graph.operators, graph.outputs = operators, tensors
    part.signatures = []
    interpreter = Interpreter(model_content=save(part))
    interpreter.allocate_tensors()
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
