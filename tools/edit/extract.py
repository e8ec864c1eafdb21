"""A part of a model as a model: from some of its tensors to others."""

from __future__ import annotations

from collections.abc import Sequence

from ...schema.model import Model, Operator, Signature, Subgraph
from ...schema.operators import operator
from .described import SIDES, describe_ends
from .subgraphs import (
    SIGNATURE,
    compact,
    end_names,
    listed,
    signature_of,
    tensor_index,
    update_release,
    with_subgraphs,
)


def extract(
    model: Model,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    subgraph: int = 0,
) -> Model:
    """What computes some tensors of a subgraph from others, as a model of its own.

        x -> A -> t -> B -> u -> C -> y      inputs=["t"], outputs=["u"]      t -> B -> u

    Operators that write variables and tables stay where the new inputs suffice for them; what
    metadata say of inputs and outputs that are still there stays, too.

    Args:
        model: any.
        inputs: names of tensors, any of the subgraph; None for its inputs that are needed.
        outputs: names of tensors; None for its outputs.
        subgraph: whose tensors they are; with what it runs it becomes the first of the model.

    Raises ValueError when a name is unknown or an input there twice, there are no outputs, or an
    output needs more than the inputs: all that is missing is named.
    """
    for side, names in zip(SIDES, (inputs, outputs), strict=True):
        if isinstance(names, str):
            raise ValueError(f"{side}s must be a list of names, got '{names}'")
    if outputs is not None and not outputs:
        raise ValueError("outputs must name a tensor at least, got none")
    result = with_subgraphs(model, [subgraph])
    graph = result.subgraphs[0]
    cut = None if inputs is None else [tensor_index(graph, name) for name in inputs]
    if cut is not None and len(set(cut)) < len(cut):
        raise ValueError(f"every input must be another tensor, got {listed(inputs or [])}")
    targets = graph.outputs if outputs is None else [tensor_index(graph, name) for name in outputs]
    sides = end_names(result, 0, "inputs"), end_names(result, 0, "outputs")
    input_names, output_names = {**sides[1], **sides[0]}, {**sides[0], **sides[1]}
    sources = list(graph.inputs) if cut is None else cut
    graph.operators, missing = _needed(graph, sources, targets)
    if missing:
        texts = [graph.tensors[i].name for i in missing]
        raise ValueError(
            f"{listed([graph.tensors[i].name for i in targets])} cannot be computed of "
            f"{listed([graph.tensors[i].name for i in sources]) or 'nothing'} alone: "
            f"{listed(texts)} must be among the inputs, too"
        )
    if cut is None:
        read = {i for op in graph.operators for i in op.inputs} | set(targets)
        sources = [i for i in sources if i in read]
    for i in sources:
        graph.tensors[i].data, graph.tensors[i].is_variable = None, False
    graph.inputs, graph.outputs = sources, list(targets)
    had_signature = signature_of(result, 0)
    result.signatures = []
    if had_signature is not None:
        ends = [
            {names.get(i, graph.tensors[i].name): i for i in ends}
            for ends, names in ((sources, input_names), (targets, output_names))
        ]
        result.signatures = [Signature(had_signature.key or SIGNATURE, ends[0], ends[1])]
    main = model.subgraphs[subgraph]
    described = {
        side: [(0, old.index(i)) if i in old else graph.tensors[i].name for i in new]
        for side, old, new in zip(
            SIDES, (main.inputs, main.outputs), (sources, targets), strict=True
        )
    }
    # metadata are those of the first subgraph
    describe_ends(result, [model] if subgraph == 0 else [], described)
    compact(result, 0)
    # what is left may run fewer subgraphs
    result = with_subgraphs(result, [0])
    update_release(result)
    return result


def _needed(
    graph: Subgraph, sources: Sequence[int], targets: Sequence[int]
) -> tuple[list[Operator], list[int]]:
    """The operators that compute `targets`, and the inputs of the subgraph that they lack."""
    cut = set(sources)
    missing = dict.fromkeys(i for i in graph.inputs if i not in cut)
    uncomputed = set(missing)
    computable = []
    for op in graph.operators:
        if uncomputed.isdisjoint(op.inputs):
            computable.append(op)
        else:
            uncomputed.update(i for i in op.outputs if i not in cut)
    lacking = _lacking(graph, cut, missing, [i for i in targets if i in uncomputed])
    needed = {i for i in targets if i not in cut}
    operators: list[Operator] = []
    for op in reversed(computable):
        row = operator(op.op)
        writes = row is not None and "writes" in row.traits
        if writes or needed.intersection(op.outputs):
            operators.append(op)
            needed.update(i for i in op.inputs if i not in cut)
    return operators[::-1], lacking


def _lacking(
    graph: Subgraph, cut: set[int], missing: dict[int, None], targets: Sequence[int]
) -> list[int]:
    """The inputs of a subgraph, of those that are missing, that some tensors need."""
    needed = set(targets)
    for op in reversed(graph.operators):
        if needed.intersection(op.outputs):
            needed.update(i for i in op.inputs if i not in cut)
    return [i for i in missing if i in needed]
