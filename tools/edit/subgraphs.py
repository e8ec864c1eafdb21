"""What all edits need: copies of models, tensors by name, subgraphs and tensors renumbered."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...schema.flatbuffer import Record
from ...schema.model import Model, Operator, Signature, Subgraph, unique_names
from ...schema.operators import operator
from ...schema.targets.versions import METADATA_BYTES, METADATA_NAME, runtime_version

MAX_LISTED = 8  # names in a message
SIGNATURE = "serving_default"  # TensorFlow's key of the one signature


def copied(model: Model) -> Model:
    """A model whose lists are its own; constants are those of `model`."""
    return replace(
        model,
        subgraphs=[copied_subgraph(graph) for graph in model.subgraphs],
        signatures=[
            replace(s, inputs=dict(s.inputs), outputs=dict(s.outputs)) for s in model.signatures
        ],
        metadata=dict(model.metadata),
        associated_files=dict(model.associated_files),
    )


def copied_subgraph(graph: Subgraph) -> Subgraph:
    """A subgraph whose lists are its own."""
    return replace(
        graph,
        tensors=[replace(tensor) for tensor in graph.tensors],
        inputs=list(graph.inputs),
        outputs=list(graph.outputs),
        operators=[
            replace(op, inputs=list(op.inputs), outputs=list(op.outputs)) for op in graph.operators
        ],
    )


def with_fields(record: Record, fields: Mapping[str, object]) -> Record:
    """A record with other values of some fields."""
    values = {name: getattr(record, name) for name in type(record).__slots__}
    return type(record)(**{**values, **fields})


def calls(op: Operator) -> tuple[str, ...]:
    """The options of an operator that hold the subgraphs it runs."""
    row = operator(op.op)
    return () if row is None or op.options is None else row.calls


def callees(graph: Subgraph) -> list[int]:
    """The subgraphs that the operators of one run, each once."""
    fields = (getattr(op.options, field) for op in graph.operators for field in calls(op))
    return list(dict.fromkeys(int(index) for field in fields for index in np.atleast_1d(field)))


def reachable(model: Model, roots: Iterable[int]) -> list[int]:
    """Some subgraphs and all that they run, directly or not."""
    ordered = list(dict.fromkeys(roots))
    for index in ordered:
        ordered += [i for i in callees(model.subgraphs[index]) if i not in ordered]
    return ordered


def renumber_calls(graphs: Iterable[Subgraph], numbers: Mapping[int, int]) -> None:
    """Lets operators run subgraph `numbers[i]` where they ran i, in place."""
    for op in (op for graph in graphs for op in graph.operators):
        fields = {field: _renumbered(getattr(op.options, field), numbers) for field in calls(op)}
        if fields and op.options is not None:
            op.options = with_fields(op.options, fields)


def _renumbered(value: int | np.ndarray, numbers: Mapping[int, int]) -> int | np.ndarray:
    """The numbers of one subgraph, or of several that one option lists."""
    if isinstance(value, np.ndarray):
        return np.array([numbers[int(index)] for index in value], value.dtype)
    return numbers[value]


def with_subgraphs(model: Model, roots: Iterable[int]) -> Model:
    """The model of some of its subgraphs and of what they run, with their signatures."""
    ordered = reachable(model, roots)
    numbers = {old: new for new, old in enumerate(ordered)}
    result = copied(model)
    result.subgraphs = [result.subgraphs[i] for i in ordered]
    result.signatures = [
        replace(s, subgraph=numbers[s.subgraph]) for s in result.signatures if s.subgraph in numbers
    ]
    renumber_calls(result.subgraphs, numbers)
    return result


def used_tensors(graph: Subgraph) -> set[int]:
    """The tensors that are an input or output of the subgraph or of one of its operators."""
    used = {*graph.inputs, *graph.outputs}
    for op in graph.operators:
        used.update(op.inputs, op.outputs, op.intermediates)
    for index in list(used - {-1}):
        quantization = graph.tensors[index].quantization
        details = None if quantization is None else quantization.details
        used.update(getattr(details, name, -1) for name in BLOCK_TENSORS)
    return used - {-1}


BLOCK_TENSORS = ("scales", "zero_points")
"""Fields of a BlockwiseQuantization that name tensors."""


def compact(model: Model, index: int) -> None:
    """Drops the tensors of a subgraph that nothing uses, in place."""
    graph = model.subgraphs[index]
    used = used_tensors(graph)
    used.update(
        i
        for signature in model.signatures
        if signature.subgraph == index
        for i in (*signature.inputs.values(), *signature.outputs.values())
    )
    numbers = {old: new for new, old in enumerate(sorted(used))}
    graph.tensors = [graph.tensors[i] for i in numbers]
    renumber_tensors(graph, numbers)
    for signature in model.signatures:
        if signature.subgraph == index:
            signature.inputs = {name: numbers[i] for name, i in signature.inputs.items()}
            signature.outputs = {name: numbers[i] for name, i in signature.outputs.items()}


def renumber_tensors(graph: Subgraph, numbers: Mapping[int, int]) -> None:
    """Lets all that names tensor i of a subgraph name `numbers[i]`, in place."""
    numbers = {**numbers, -1: -1}
    graph.inputs = [numbers[i] for i in graph.inputs]
    graph.outputs = [numbers[i] for i in graph.outputs]
    for op in graph.operators:
        op.inputs = [numbers[i] for i in op.inputs]
        op.outputs = [numbers[i] for i in op.outputs]
        op.intermediates = [numbers[i] for i in op.intermediates]
    for tensor in graph.tensors:
        quantization = tensor.quantization
        details = None if quantization is None else quantization.details
        if quantization is None or details is None:
            continue
        fields = {n: numbers[getattr(details, n)] for n in BLOCK_TENSORS if hasattr(details, n)}
        tensor.quantization = quantization.with_details(with_fields(details, fields))


def tensor_index(graph: Subgraph, name: str) -> int:
    """The tensor of a name; several of one name are told apart as "name#index".

    Raises ValueError when there is none, or several.
    """
    names = unique_names(tensor.name for tensor in graph.tensors)
    if name in names:
        return names.index(name)
    several = [unique for unique in names if unique.rpartition("#")[0] == name]
    if several:
        raise ValueError(
            f"{len(several)} tensors are called '{name}'; choose one: {listed(several)}"
        )
    raise ValueError(f"there is no tensor '{name}'{suggestion(name, names)}")


def end_index(model: Model, subgraph: int, side: str, name: str) -> int:
    """The tensor of an input or output, by its name in the signature or its tensor's.

    Args:
        model: any.
        subgraph: whose input or output it is.
        side: "inputs" or "outputs".
        name: of it.

    Raises ValueError when there is none of that name.
    """
    graph = model.subgraphs[subgraph]
    names = {graph.tensors[i].name: i for i in getattr(graph, side)}
    signature = signature_of(model, subgraph)
    if signature is not None:
        names.update(getattr(signature, side))
    if name not in names:
        raise ValueError(f"there is no {side[:-1]} '{name}'{suggestion(name, names)}")
    return names[name]


def signature_of(model: Model, subgraph: int) -> Signature | None:
    """The first signature of a subgraph."""
    return next((s for s in model.signatures if s.subgraph == subgraph), None)


def end_names(model: Model, subgraph: int, side: str) -> dict[int, str]:
    """Tensor -> the public name of an input or output."""
    graph = model.subgraphs[subgraph]
    names = {i: graph.tensors[i].name for i in getattr(graph, side)}
    signature = signature_of(model, subgraph)
    if signature is not None:
        names.update({i: name for name, i in getattr(signature, side).items()})
    return names


def update_release(model: Model) -> None:
    """Lets a model that names the release it needs name the one that it needs now, in place."""
    if METADATA_NAME in model.metadata:
        release = runtime_version(model).encode()
        model.metadata[METADATA_NAME] = release.ljust(METADATA_BYTES, b"\0")


def suggestion(name: str, names: Iterable[str]) -> str:
    """The names that are like one, or all when they are few, as the end of a message."""
    known = [known for known in names if known]
    near = difflib.get_close_matches(name, known, 3)
    if near:
        return f"; did you mean {listed(near)}?"
    return f", there are {listed(known)}" if known else ""


def listed(names: Sequence[str]) -> str:
    """Names for a message."""
    text = ", ".join(f"'{name}'" for name in names[:MAX_LISTED])
    return text + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")
