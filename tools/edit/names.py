"""Other names for tensors, inputs, outputs and signatures, and models without what nobody needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...schema.model import Model, Tensor
from .subgraphs import copied, end_index, listed, signature_of, suggestion, tensor_index

PARTS = ("signatures", "weights", "names", "metadata")
"""What `strip` takes away."""


def rename(
    model: Model,
    *,
    tensors: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, str] | None = None,
    signatures: Mapping[str, str] | None = None,
    subgraph: int = 0,
) -> Model:
    """The model under other names; each argument is {old: new}.

    Args:
        model: any.
        tensors: of one subgraph; "name#index" tells tensors of one name apart.
        inputs: their names in the signature; of a model without one their tensors'.
        outputs: the same.
        signatures: their keys.
        subgraph: whose tensors, inputs and outputs are meant.

    Raises ValueError when there is no such name, or the new one is empty or would be there twice.
    """
    result = copied(model)
    graph = result.subgraphs[subgraph]
    indices = {tensor_index(graph, old): new for old, new in (tensors or {}).items()}
    for side, names in (("inputs", inputs), ("outputs", outputs)):
        _rename_ends(result, subgraph, side, names or {})
    for index, new in indices.items():
        graph.tensors[index].name = new
    _check_new_names("tensor", [t.name for t in graph.tensors], indices.values())
    keys = [signature.key for signature in result.signatures]
    for old in signatures or {}:
        if old not in keys:
            raise ValueError(f"there is no signature '{old}'{suggestion(old, keys)}")
    for signature in result.signatures:
        signature.key = (signatures or {}).get(signature.key, signature.key)
    new_keys = (signatures or {}).values()
    _check_new_names("signature", [s.key for s in result.signatures], new_keys)
    return result


def _rename_ends(model: Model, subgraph: int, side: str, names: Mapping[str, str]) -> None:
    graph = model.subgraphs[subgraph]
    by_index = {end_index(model, subgraph, side, old): new for old, new in names.items()}
    signature = signature_of(model, subgraph)
    if signature is None:
        for index, new in by_index.items():
            graph.tensors[index].name = new
    else:
        ends: dict[str, int] = getattr(signature, side)
        renamed = [(by_index.get(i, name), i) for name, i in ends.items()]
        _check_new_names(side[:-1], [name for name, _ in renamed], names.values())
        setattr(signature, side, dict(renamed))


def _check_new_names(kind: str, names: list[str], new_names: Collection[str]) -> None:
    """Raises ValueError where a new name is empty or there twice."""
    if "" in new_names:
        raise ValueError(f"the new name of a{'n' if kind[0] in 'io' else ''} {kind} must not be ''")
    repeated = [name for name in dict.fromkeys(new_names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"every {kind} must have a name of its own; {listed(repeated)} is taken")


def strip(model: Model, *parts: str) -> Model:
    """The model without some of its parts.

    Args:
        model: any.
        parts: "signatures"; "weights": the values of constants that are floats or have scales,
            which `set_weights` puts in again, as without them the model does not run; "names" of
            tensors and subgraphs; "metadata", the description and associated files among them.

    Raises ValueError for another word.
    """
    for part in parts:
        if part not in PARTS:
            raise ValueError(f"what is stripped must be of {listed(PARTS)}, got '{part}'")
    result = copied(model)
    if "signatures" in parts:
        result.signatures = []
    if "metadata" in parts:
        result.metadata, result.metadata_buffer, result.description = {}, [], ""
        result.associated_files = {}
    for graph in result.subgraphs:
        if "names" in parts:
            graph.name = ""
        for tensor in graph.tensors:
            if "names" in parts:
                tensor.name = ""
            if "weights" in parts and is_weight(tensor):
                tensor.data = None
    return result


def is_weight(tensor: Tensor) -> bool:
    """Whether a tensor is a constant of real numbers, floats or quantized, all of them stored."""
    return tensor.data is not None and tensor.sparsity is None and is_real(tensor)


def is_real(tensor: Tensor) -> bool:
    """Whether the values of a tensor are real numbers, floats or quantized."""
    has_scales = tensor.quantization is not None and (
        len(tensor.quantization.scales) > 0 or tensor.quantization.details is not None
    )
    return "FLOAT" in tensor.dtype or has_scales
