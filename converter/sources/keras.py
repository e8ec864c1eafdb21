"""Keras model files, `.h5` and `.keras`, read without Keras."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.graph import Graph, Tensor
from ...schema.errors import ModelError, noted
from ..keras.build import Writer, placeholder, refuse_unsupported, warn_of_float64, why_not
from ..keras.files import symbolic
from ..keras.files.architecture import INPUT, Model, flatten, read_layer, read_model
from ..keras.files.archive import Archive, open_archive
from ..keras.files.live import archive_of, note_custom, spec_of
from ..keras.files.weights import find_parts, find_weights, trainable_first
from ..keras.registry import INVALID, inner_scope
from .freeze import freeze
from .signatures import tensorflow_order
from .source import (
    GraphSource,
    Port,
    Shapes,
    check_names,
    full_name,
    set_shapes,
    short_name,
    some,
)
from .state import StateVariable

if TYPE_CHECKING:
    from typing import TypeAlias

    Ends: TypeAlias = tuple[dict[str, Tensor], dict[str, Tensor]]
    """Inputs and outputs by key."""
    Positions: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
    """Keys of inputs and outputs in order."""

KEY = "serving_default"


def load(
    model_file: str | os.PathLike,
    input_arrays: Iterable[str] | None = None,
    output_arrays: Iterable[str] | None = None,
    input_shapes: Shapes | None = None,
    custom_objects: Mapping | None = None,
    weights_file: str | os.PathLike | None = None,
) -> GraphSource:
    """The computation of a Keras model, with the names TensorFlow gives it in a `.tflite` file.

    Args:
        model_file: A `.keras` or `.h5` file of Keras 2 (tf_keras) or 3, with its architecture; or
            the JSON of an architecture.
        input_arrays: Names of inputs, in another order; None for the model's own.
        output_arrays: Names of outputs or of layers; None for the model's own.
        input_shapes: What is known of the shapes of inputs, by their names.
        custom_objects: Which layer of Keras does the same as one of another package, by its name.
        weights_file: The weights that belong to an architecture in JSON.

    Raises:
        OSError: The file cannot be read.
        ModelError: It is malformed, or its weights do not belong to its architecture.
        UnsupportedOps: It has layers that flatlite does not know; all are listed.
        ConverterError: A layer is used in a way that is not supported, or a custom object does
            something that flatlite does not know.
        ValueError: There are no such inputs, outputs or layers; a shape contradicts the model.
    """
    archive = open_archive(model_file, weights_file)
    arrays = input_arrays, output_arrays
    is_version_1 = archive.is_legacy and archive.version[0] < 3  # TF1's converter reads only these
    source = _source_of(archive, arrays, input_shapes, custom_objects or {}, is_version_1)
    return replace(source, api_version=1) if is_version_1 else source


def from_live(model: Any, is_frozen: bool = False) -> GraphSource:
    """The computation of a Keras model in memory, of Keras 2 or 3 with any backend.

    With `is_frozen` it has the names of a frozen graph, and no signature.

    Raises as `load` does; ModelError, too, when it is not built, or no configuration describes it.
    """
    source = _source_of(archive_of(model), (None, None), None, {}, is_frozen)
    return replace(source, key=None, api_version=2) if is_frozen else source


def from_program(model: Any) -> GraphSource | None:
    """The computation of a live Keras 3 model with classes and functions of the program.

    Returns None when it is of another Keras.

    Raises as `from_live` does; ConverterError, too, when a `call` needs values.
    """
    model = symbolic.expanded(model, is_known)
    return None if model is None else from_live(model)


def is_known(part: Any) -> bool:
    """Whether a live layer, model or function is written by its configuration and weights."""
    try:
        layer = read_layer(spec_of(part))
    except ModelError:
        return False
    find_parts(layer)
    leaves = list(layer.leaves()) if isinstance(layer, Model) else [layer]
    n_weights = len(getattr(part, "weights", ()))
    return not any(map(why_not, leaves)) and len(trainable_first(layer)) == n_weights


def _source_of(
    archive: Archive,
    arrays: tuple[Iterable[str] | None, Iterable[str] | None],
    shapes: Shapes | None,
    custom_objects: Mapping,
    is_frozen: bool,
) -> GraphSource:
    """The computation of an opened model; names as of a frozen graph, or of a SavedModel."""
    is_keras3 = archive.version[0] >= 3
    model = read_model(archive.config)
    note_custom(list(model.leaves()), custom_objects)
    find_parts(model)
    refuse_unsupported(model)
    warn_of_float64(model)
    find_weights(model, archive)
    graph = Graph()
    inputs = _inputs(graph, model, shapes)
    writer = Writer(graph, is_keras3)
    results = writer.write(model, list(inputs.values()), inner_scope("", model.name))
    outputs = _distinct_outputs(graph, _outputs(model, results, is_keras3, is_frozen))
    ends = _chosen_inputs(inputs, arrays[0]), outputs
    if arrays[1] is not None:
        scopes = (inner_scope("", model.name), "")
        ends = ends[0], _chosen_outputs(outputs, writer, scopes, arrays[1])
    call = "Stateful" if any(layer.stored_weights for layer in model.leaves()) else ""
    if is_frozen:
        by_key = [reference.layer for reference in flatten(model.inputs, by_key=True)]
        sorted_keys = sorted(outputs) if _is_flat_dict(model.outputs) else [*outputs]
        positions = (
            tuple(by_key if arrays[0] is None else ends[0]),
            tuple(sorted_keys if arrays[1] is None else ends[1]),
        )
        tensor_names = _frozen_names(inputs)
        results = dict(zip(sorted_keys, _numbered("Identity"), strict=False))
    else:
        orders = [tensorflow_order({key: key for key in end}, 2) for end in ends]
        positions = orders[0], orders[1]
        tensor_names = {key: _input_name(key) for key in inputs}
        results = {key: f"{call}PartitionedCall:{i}" for i, key in enumerate(sorted(outputs))}
    return _source(writer, ends, (tensor_names, results), positions)


def _frozen_names(keys: Iterable[str]) -> dict[str, str]:
    """Names of inputs by their keys: the keys themselves, where TensorFlow allows them."""
    others = _numbered("Placeholder")
    return {key: next(others) if INVALID.search(key) else key for key in keys}


def _numbered(name: str) -> Iterator[str]:
    """Names as TensorFlow counts them."""
    return itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))


def _inputs(graph: Graph, model: Model, shapes: Shapes | None) -> dict[str, Tensor]:
    """The placeholders of a model's inputs by their layers' names."""
    inputs = {}
    for reference in flatten(model.inputs):
        layer = model.layers.get(reference.layer)
        if layer is None or layer.kind != INPUT or reference.layer in inputs:
            raise ModelError(f"{model.title}: input '{reference.layer}' must be one InputLayer")
        name = f"{KEY}_{INVALID.sub('_', layer.name)}"
        inputs[layer.name] = placeholder(graph, layer, name)
    by_name = {_input_name(key): tensor for key, tensor in inputs.items()}
    shapes_by_name = {
        _input_name(key) if key in inputs else key: s for key, s in (shapes or {}).items()
    }
    for name, shape in set_shapes(by_name, shapes_by_name).items():
        by_name[name].set_shape(shape)
    return inputs


def _input_name(key: str) -> str:
    """The name TensorFlow gives the tensor of an input."""
    return f"{KEY}_{key}:0"


def _is_flat_dict(structure: Any) -> bool:
    """Whether it is a dict, of which no value is a structure itself."""
    values = structure.values() if isinstance(structure, dict) else ()
    return bool(values) and not any(isinstance(value, dict | list | tuple) for value in values)


def _outputs(model: Model, results: Any, is_keras3: bool, is_frozen: bool) -> dict[str, Tensor]:
    """A model's results by the keys its Keras gives them: names of layers in Keras 2."""
    if _is_flat_dict(results) and (is_keras3 or is_frozen):
        return dict(results)
    tensors = flatten(results, by_key=True)
    if is_keras3:
        return {f"output_{i}": tensor for i, tensor in enumerate(tensors)}
    keys: dict[str, Tensor] = {}
    for reference, tensor in zip(flatten(model.outputs, by_key=True), tensors, strict=True):
        key, n = reference.layer, 0
        while key in keys:
            n += 1
            key = f"{reference.layer}_{n}"
        keys[key] = tensor
    return keys


def _distinct_outputs(graph: Graph, outputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The outputs, none of which is an input or another output."""
    used: set[Tensor] = set()
    for key, tensor in outputs.items():
        if tensor in used or tensor.op.type == "Placeholder":
            name = graph.unique_name(INVALID.sub("_", key))
            outputs[key] = graph.add("Identity", name, [tensor]).outputs[0]
        used.add(outputs[key])
    return outputs


def _chosen_inputs(inputs: dict[str, Tensor], arrays: Iterable[str] | None) -> dict[str, Tensor]:
    """The inputs that `arrays` names, by layer or by tensor name; all without it."""
    if arrays is None:
        return inputs
    check_names(arrays, "input_arrays")
    keys = {full_name(name): key for key in inputs for name in (key, _input_name(key))}
    chosen = {keys.get(full_name(name), ""): name for name in arrays}
    if "" in chosen:
        raise noted(
            ValueError(f"Invalid tensors '{chosen['']}' were found."),
            f"The model's inputs are {some(inputs)}.",
        )
    return {key: inputs[key] for key in chosen}


def _chosen_outputs(
    outputs: dict[str, Tensor], writer: Writer, scopes: Iterable[str], arrays: Iterable[str]
) -> dict[str, Tensor]:
    """The outputs that `arrays` names by key, by a layer with one result or by an operation.

    Operations have the names that they have in a graph of TensorFlow 1, within a scope or none.
    """
    results = writer.results
    operations = {op.name: op for op in writer.graph.get_operations()}
    check_names(arrays, "output_arrays")
    chosen, missing = {}, []
    for name in arrays:
        matches = [outputs[name]] if name in outputs else results.get(short_name(name), [])
        names = [f"{scope}/{short_name(name)}".lstrip("/") for scope in scopes]
        named = [operations[n].outputs for n in names if n in operations]
        matches = matches or (named[0] if named else [])
        if len(matches) == 1:
            chosen[short_name(name)] = matches[0]
        else:
            missing.append(name)
    if missing:
        raise noted(
            ValueError(f"Invalid tensors '{','.join(missing)}' were found."),
            f"The model's outputs are {some(outputs)}, its layers {some(results)}.",
        )
    return chosen


def _source(
    writer: Writer,
    ends: Ends,
    names: tuple[dict[str, str], dict[str, str]],
    positions: Positions,
) -> GraphSource:
    """What the outputs need.

    Args:
        writer: Has written the whole model.
        ends: Inputs and outputs by key.
        names: Their names in the file, as far as they have some.
        positions: Their keys in the positions that TensorFlow gives them.
    """
    inputs, outputs = ends
    all_states = [state for states in (writer.states or {}).values() for state in states]
    pairs = [(x, x.sizes) for x in (*inputs.values(), *(state.first for state in all_states))]
    results = [*outputs.values(), *(state.now for state in all_states)]
    frozen, _, state = freeze(
        writer.graph, pairs, results, lambda _: {}, lambda op: writer.tables.get(op.name)
    )
    n_inputs, n_outputs = len(inputs), len(outputs)
    state_variables = []
    for tensor in (frozen.inputs or ())[n_inputs:]:
        state.variables[tensor.op.name] = np.zeros(
            [n or 0 for n in tensor.sizes or ()], tensor.dtype
        )
        state_variables.append(StateVariable(tensor.op.name, True))
    ports = [
        tuple(
            Port(
                key,
                file_names.get(key, full_name(key)),
                tensor,
                _dims(tensor) if end is inputs else None,
            )
            for key, tensor in zip(end, tensors, strict=True)
        )
        for end, file_names, tensors in zip(
            ends,
            names,
            ((frozen.inputs or ())[:n_inputs], (frozen.outputs or ())[:n_outputs]),
            strict=True,
        )
    ]
    return GraphSource(
        KEY, frozen, ports[0], ports[1], "keras", positions, tuple(state_variables), state
    )


def _dims(tensor: Tensor) -> tuple[str | None, ...]:
    """Names of an input's dimensions: a Keras model has one batch."""
    return tuple("n" if i == 0 else None for i in range(len(tensor.sizes or ())))
