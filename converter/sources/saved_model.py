"""SavedModels of TensorFlow 1 and 2: signatures, functions inlined, variables made constants."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ...collection import collection_paused
from ...graph.core.graph import Graph, Tensor
from ...graph.core.shapes import Shape
from ...graph.core.signatures.attributes import read_shape
from ...graph.format.graphdef import import_graph_def
from ...schema.errors import noted
from ...schema.tensorflow.saved_model import (
    ASSETS,
    CHECKPOINT,
    INITIALIZER,
    MAIN_OPS,
    asset_files,
    inside,
    missing_tags,
    read_saved_model,
)
from .calls import argument_order, result_order
from .freeze import Ends, Frozen, freeze_all
from .op_defs import note_types
from .signatures import choose_signatures, tensorflow_order
from .source import (
    GraphSource,
    Port,
    Shapes,
    among_signatures,
    check_names,
    find_tensors,
    full_name,
    op_name,
    prune_nodes,
    set_shapes,
    short_name,
    some,
)
from .tables import FILLING, HASH_TABLES, Tables
from .variables import Variables, variable_copies

DEFAULT_TAGS = ("serve",)


@collection_paused()
def load(
    saved_model_dir,
    tags: Iterable[str] | None = None,
    signature_keys: Sequence[str] | None = None,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
    input_shapes: Shapes | None = None,
    api_version: int = 1,
) -> list[GraphSource]:
    """Signatures of a SavedModel, in the order asked for.

    Inputs come in the order of the arguments of the signature's function, outputs in that of its
    results; both by key where the model has no functions, as TensorFlow 1 wrote them.

    Args:
        saved_model_dir: The folder.
        tags: Which of the model's graphs, {"serve"} by default.
        signature_keys: What `api_version` says by default.
        input_arrays: Names of tensors to be the inputs instead of the signature's.
        output_arrays: Names of tensors to be the outputs instead of the signature's.
        input_shapes: What is known of the shapes of inputs, by tensor name or key.
        api_version: 1 for the signature, and the positions, that TensorFlow 1's converter takes
            by default, 2 for those of TensorFlow 2's.

    Raises:
        OSError: A file is missing, is no SavedModel, or is a link that leads outside the folder.
        ValueError: The model has no such tags, signature or tensors.
        ModelError: The model is malformed, or its variables have no values.
        DataLossError: The checkpoint is damaged.
        UnsupportedOps: A signature writes to variables.
    """
    folder = Path(saved_model_dir)
    meta = choose_graph(read_saved_model(folder), tags, folder, api_version)
    refuse_keys(meta, input_arrays)
    keys = choose_signatures(meta, signature_keys, api_version)
    known = {node.name: node.op for node in meta.graph_def.node}
    signatures = [
        _signature_names(key, meta.signature_def[key]).replaced(input_arrays, output_arrays, known)
        for key in keys
    ]
    restore_op = op_name(meta.saver_def.restore_op_name)
    roots = [op_name(name) for signature in signatures for name in signature.names()]
    filling = _table_roots(meta)
    copies = variable_copies(meta.graph_def.node)
    prune_nodes(meta.graph_def, [restore_op, *filling, *roots])
    bodies = [function.node_def for function in meta.graph_def.library.function]
    definitions = {op.name: op for op in meta.meta_info_def.stripped_op_list.op}
    note_types(chain(meta.graph_def.node, *bodies), definitions)
    graph = import_graph_def(meta.graph_def)
    variables = Variables(graph, restore_op, inside(folder, CHECKPOINT), copies)
    tables = Tables(graph, filling, _assets(meta, folder), variables.table)
    ports = [_tensors(graph, signature, known) for signature in signatures]
    ends = [
        Ends(
            list(zip(inputs.values(), _shapes(inputs, signature, input_shapes), strict=True)),
            list(outputs.values()),
        )
        for (inputs, outputs), signature in zip(ports, signatures, strict=True)
    ]
    with among_signatures(keys):
        graphs = freeze_all(graph, ends, variables, tables)
    rows = zip(signatures, ports, graphs, strict=True)
    return [
        _source(signature, inputs, outputs, frozen, api_version)
        for signature, (inputs, outputs), frozen in rows
    ]


def _source(
    signature: _SignatureNames,
    inputs: dict[str, Tensor],
    outputs: dict[str, Tensor],
    frozen: Frozen,
    api_version: int,
) -> GraphSource:
    """A signature whose inputs and outputs, tensors by key, `frozen` computes."""
    return GraphSource(
        signature.key,
        frozen.graph,
        _ports(inputs, signature.inputs, frozen.graph.inputs),
        _ports(outputs, signature.outputs, frozen.graph.outputs),
        "saved_model",
        (
            tensorflow_order(signature.inputs, api_version),
            tensorflow_order(signature.outputs, api_version),
        ),
        frozen.state_variables,
        frozen.state,
    )


def _table_roots(meta) -> list[str]:
    """The operations that initialise a model with tables, by name; none where it has no tables."""
    if not any(node.op in HASH_TABLES for node in meta.graph_def.node):
        return []
    names = []
    if INITIALIZER in meta.signature_def:
        names = [info.name for info in meta.signature_def[INITIALIZER].outputs.values()]
    for collection in MAIN_OPS:
        if collection in meta.collection_def:
            names += meta.collection_def[collection].node_list.value
    names += [node.name for node in meta.graph_def.node if node.op in FILLING]
    return list(dict.fromkeys(map(op_name, names)))


def _assets(meta, folder: Path) -> dict[str, Path]:
    """The model's files, by the names of the tensors that hold their paths."""
    return {
        tensor: inside(folder, f"{ASSETS}/{file}") for tensor, file in asset_files(meta).items()
    }


def choose_graph(saved_model, tags: Iterable[str] | None, folder: Path, api_version: int = 1):
    """The MetaGraphDef with these tags; without any, the one for serving or the only one."""
    meta_graphs = {frozenset(meta.meta_info_def.tags): meta for meta in saved_model.meta_graphs}
    if tags is None and len(meta_graphs) == 1:
        return next(iter(meta_graphs.values()))
    tag_set = frozenset([tags] if isinstance(tags, str) else tags or DEFAULT_TAGS)
    if tag_set not in meta_graphs and api_version == 2 and len(meta_graphs) == 1:
        (names,) = map(sorted, meta_graphs)
        raise noted(
            ValueError(
                f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {folder} has "
                f"one MetaGraph with tags {names}. You may omit the argument, pass 'None', or pass "
                "matching tags."
            )
        )
    if tag_set not in meta_graphs:
        raise noted(missing_tags(saved_model, tag_set))
    return meta_graphs[tag_set]


def refuse_keys(meta, input_arrays) -> None:
    """Raises ValueError when `input_arrays` has keys of signatures, as TF2 takes them there."""
    arrays = [input_arrays] if isinstance(input_arrays, str) else list(input_arrays or ())
    keys = [name for name in arrays if isinstance(name, str) and name in meta.signature_def]
    if keys and len(keys) == len(arrays) and keys[0] not in {n.name for n in meta.graph_def.node}:
        raise ValueError(
            f"input_arrays must name input tensors, got the signature keys {some(keys)}; write "
            f"from_saved_model(folder, signature_keys={keys})"
        )


@dataclass(frozen=True)
class _SignatureNames:
    """A signature by names: keys and tensor names of inputs and outputs, shapes by input key."""

    key: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    shapes: dict[str, Shape]
    is_ordered: bool = False

    def names(self) -> list[str]:
        """The names of all tensors."""
        return [*self.inputs.values(), *self.outputs.values()]

    def replaced(
        self,
        input_arrays: Iterable[str] | None,
        output_arrays: Iterable[str] | None,
        known: Container[str],
    ) -> _SignatureNames:
        """The same with other tensors, by name or by key, in the order of the arguments.

        What names an operation of `known` is no key, as for TensorFlow 1's converter.
        """
        if input_arrays is None and output_arrays is None:
            return self
        inputs = _chosen(self.inputs, input_arrays, known, "input_arrays")
        outputs = _chosen(self.outputs, output_arrays, known, "output_arrays")
        return _SignatureNames(self.key, inputs, outputs, self.shapes, True)


def _signature_names(key: str, signature_def) -> _SignatureNames:
    """The names in a SignatureDef message, everything in the order of the keys."""
    tensor_names = {}
    for kind, infos in (("input", signature_def.inputs), ("output", signature_def.outputs)):
        for name, info in infos.items():
            if info.WhichOneof("encoding") != "name":
                raise ValueError(
                    f"The {kind} '{name}' of signature '{key}' must be one tensor, got a "
                    f"{info.WhichOneof('encoding')}; save a signature that takes and gives tensors"
                )
        tensor_names[kind] = {name: infos[name].name for name in sorted(infos)}
    if not tensor_names["output"]:
        raise ValueError(f"Signature '{key}' must have outputs, and has none")
    shapes = {k: read_shape(info.tensor_shape) for k, info in signature_def.inputs.items()}
    return _SignatureNames(key, tensor_names["input"], tensor_names["output"], shapes)


def _chosen(
    tensor_names: dict[str, str],
    arrays: Iterable[str] | None,
    known: Container[str],
    argument: str,
) -> dict[str, str]:
    """The tensors of a signature, or `arrays` in their place: tensor names by key."""
    if arrays is None:
        return tensor_names
    check_names(arrays, argument)
    names = [_tensor_name(name, tensor_names, known) for name in arrays]
    check_names(names, argument)
    keys = {full_name(name): key for key, name in tensor_names.items()}
    chosen = {}
    for name in names:
        is_key = short_name(name) in tensor_names
        other = full_name(name) if is_key else short_name(name)
        chosen[keys.get(full_name(name), other)] = name
    return chosen


def _tensor_name(name: str, tensor_names: dict[str, str], known: Container[str]) -> str:
    """The tensor a caller means by a name: that of an operation of `known`, or else of a key."""
    return name if op_name(name) in known else tensor_names.get(name, name)


def _tensors(
    graph: Graph, signature: _SignatureNames, known: dict[str, str]
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """A signature's inputs and outputs by key; `known` are the types of all operations by name."""
    tensors = dict(
        zip(signature.names(), find_tensors(graph, signature.names(), known), strict=True)
    )
    inputs = {key: tensors[name] for key, name in signature.inputs.items()}
    outputs = {key: tensors[name] for key, name in signature.outputs.items()}
    if signature.is_ordered:
        return inputs, outputs
    return (
        {key: inputs[key] for key in argument_order(inputs)},
        {key: outputs[key] for key in result_order(outputs)},
    )


def _shapes(
    inputs: dict[str, Tensor], signature: _SignatureNames, shapes: Shapes | None
) -> list[Shape]:
    """What graph, signature and the caller's `shapes`, by key or tensor name, say of the inputs."""
    names = {signature.inputs[key]: tensor for key, tensor in inputs.items()}
    known = set(map(op_name, names))
    requested = {
        _tensor_name(name, signature.inputs, known): shape for name, shape in (shapes or {}).items()
    }
    declared = {signature.inputs[key]: signature.shapes.get(key) for key in inputs}
    return list(set_shapes(names, declared, requested).values())


def _ports(
    keys: Iterable[str], names: dict[str, str], tensors: Iterable[Tensor] | None
) -> tuple[Port, ...]:
    keys = list(keys)
    pairs = zip(keys, list(tensors or ())[: len(keys)], strict=True)
    return tuple(Port(key, full_name(names[key]), tensor) for key, tensor in pairs)
