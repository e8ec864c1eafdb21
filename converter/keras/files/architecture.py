"""The architecture of a Keras file: layers, and which reads which, in one form for all versions.

A Sequential model is read as a Functional one whose layers follow one another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....schema.errors import ModelError

if TYPE_CHECKING:
    from ....graph.core.graph import Graph, Tensor
    from .quantized import ScaledWeight
    from .weights import StoredWeight

MODELS = ("Functional", "Model", "Sequential")
INPUT = "InputLayer"
MAX_MODELS = 32
"""How deep models may be nested."""
UNTRAINABLE = (
    *("Discretization", "HashedCrossing"),
    *("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"),
)
"""Layers that do not say whether they learn."""
ARRAYS = ("__tensor__", "__numpy__")
SOURCE_NAMES = {"GroupQueryAttention": "GroupedQueryAttention"}
"""What classes are called in Keras' sources, where that is not their public name."""
KERAS_PACKAGES = ("keras", "tf_keras", "tensorflow", "tensorflow_model_optimization")
FUNCTION = "builtins"
TF_FUNCTIONS = ("TFOpLambda", "SlicingOpLambda")
"""The layers in which Keras 2 holds a function of TensorFlow, such as the + of two tensors."""


@dataclass(frozen=True)
class Reference:
    """The `tensor`-th result of the `node`-th call of a layer."""

    layer: str
    node: int
    tensor: int


@dataclass(eq=False)
class Layer:
    """A layer by its settings.

    Attributes:
        kind: the name of its class; "Custom>X", or with its module, where that is not Keras.
        name: its own name.
        config: its settings.
        calls: what each call of it reads: positional and named arguments, with References.
        stored_weights: where the file has its weights, by name.
        written_as: the kind of layer that does the same, where custom_objects say so.
        parts: the layers it is made of, by the attributes that hold them.
        tensors: its weights, by graph and name, once they were written.
        folder: where an archive has its weights.
        assets: files that an archive has for it, by name.
        outer_weights: the weights that the layer around it keeps for it, and what it calls them.
        rounding: what the layer around it does to weights, by name.
    """

    kind: str
    name: str
    config: dict
    calls: list[tuple[list, dict]] = field(default_factory=list)
    stored_weights: dict[str, StoredWeight | ScaledWeight] = field(default_factory=dict)
    written_as: str = ""
    parts: dict[str, Layer] = field(default_factory=dict)
    tensors: dict[tuple[Graph, str], Tensor] = field(default_factory=dict)
    folder: str = ""
    assets: dict[str, bytes] = field(default_factory=dict)
    outer_weights: dict[str, str] = field(default_factory=dict)
    rounding: dict[str, Callable[[Tensor], Tensor]] = field(default_factory=dict)

    @property
    def row_kind(self) -> str:
        """The kind of layer that it is written as."""
        return self.written_as or self.kind

    @property
    def class_name(self) -> str:
        """The name of its class alone, in Keras' sources."""
        name = re.split(r"[.>]", self.kind)[-1]
        return SOURCE_NAMES.get(name, name)

    @property
    def title(self) -> str:
        """How messages name it."""
        return f"{self.kind} '{self.name}'"

    @property
    def is_trainable(self) -> bool:
        """Whether it was to learn; Keras stores the weights of others later."""
        return self.config.get("trainable", True) is not False


@dataclass(eq=False)
class Model(Layer):
    """A model, which is a layer where another contains it.

    Attributes:
        layers: by name, in the file's order.
        inputs, outputs: lists or dicts of References, or one.
    """

    layers: dict[str, Layer] = field(default_factory=dict)
    inputs: Any = None
    outputs: Any = None

    def leaves(self) -> Iterator[Layer]:
        """All layers that are no models, of nested models and of other layers too."""
        for layer in self.layers.values():
            yield from _leaves(layer)


def _leaves(layer: Layer) -> Iterator[Layer]:
    if isinstance(layer, Model):
        yield from layer.leaves()
        return
    yield layer
    for part in layer.parts.values():
        yield from _leaves(part)


def read_model(spec: dict) -> Model:
    """The model a file describes.

    Raises ModelError when it is malformed, or no Sequential or Functional model.
    """
    model = read_layer(spec, 0)
    if not isinstance(model, Model):
        raise ModelError(
            f"The file must hold a Sequential or Functional model, got {model.title}; give its "
            "class in custom_objects, whose Keras reads it, or save the model as a SavedModel and "
            "use TFLiteConverter.from_saved_model"
        )
    return model


def flatten(structure: Any, by_key: bool = False) -> list:
    """What nested lists and dicts hold, in order; of dicts, `by_key` if TensorFlow sorts them."""
    if isinstance(structure, dict):
        items = sorted(structure.items()) if by_key else structure.items()
        structure = [item for _, item in items]
    if isinstance(structure, list):
        return [leaf for item in structure for leaf in flatten(item, by_key)]
    return [structure]


def map_structure(structure: Any, function: Callable) -> Any:
    """The same nested lists and dicts with `function` of what they hold."""
    if isinstance(structure, dict):
        return {key: map_structure(item, function) for key, item in structure.items()}
    if isinstance(structure, list):
        return [map_structure(item, function) for item in structure]
    return function(structure)


def kind_of(spec: dict) -> str:
    """The kind of a layer; one that is not Keras' own never has the name of one that is."""
    kind, module, registered = (spec.get(k) for k in ("class_name", "module", "registered_name"))
    if not isinstance(kind, str):
        raise ModelError(f"A layer must have a class_name, got {kind!r}")
    module = module if isinstance(module, str) else ""
    if isinstance(registered, str) and ">" in registered:
        return registered
    if module and module.split(".")[0] not in (*KERAS_PACKAGES, FUNCTION):
        return f"{module}.{kind}"
    config, nodes = spec.get("config"), spec.get("inbound_nodes")
    is_operation = module.startswith("keras.src.ops") or (
        # HDF5 files of Keras 3 leave out the module; every layer says whether it learns
        "module" not in spec
        and isinstance(config, dict)
        and kind not in (INPUT, *MODELS, *UNTRAINABLE)
        and not {"trainable", "layers"} & set(config)
        and isinstance(nodes, list)
        and any(isinstance(node, dict) for node in nodes)
    )
    return f"ops.{kind}" if is_operation else kind


def read_layer(spec: Any, depth: int = 1) -> Layer:
    """One layer, or the model that it is."""
    if not isinstance(spec, dict) or not isinstance(spec.get("config"), dict | list):
        raise ModelError(f"A layer must have a class_name and a config, got {str(spec)[:80]}")
    kind, config = kind_of(spec), spec["config"]
    if isinstance(config, list):  # Sequential of the first Keras 2
        config = {"layers": config}
    name = spec.get("name", config.get("name", kind.lower()))
    if not isinstance(name, str):
        raise ModelError(f"The name of a {kind} layer must be a text, got {name!r}")
    if kind in TF_FUNCTIONS:
        kind = f"tf.{str(config.get('function')).removeprefix('compat.v1.')}"
    is_functional = "input_layers" in config
    is_model = kind in MODELS or is_functional or not _is_of_keras(spec, kind)
    if "layers" not in config or not is_model:
        return Layer(kind, name, config)
    if depth >= MAX_MODELS:
        raise ModelError(f"Model '{name}': models are nested deeper than {MAX_MODELS} levels")
    model = Model(kind, name, config)
    rows = config["layers"]
    if not isinstance(rows, list) or not rows:
        raise ModelError(f"{model.title}: layers must be a list of some, got {str(rows)[:80]}")
    for row in rows:
        layer = read_layer(row, depth + 1)
        if layer.name in model.layers:
            raise ModelError(f"{model.title}: two layers are called '{layer.name}'")
        model.layers[layer.name] = layer
    if kind == "Sequential" or (kind not in MODELS and not is_functional):
        _chain(model)
    else:
        _connect(model, rows)
    return model


def _is_of_keras(spec: dict, kind: str) -> bool:
    """Whether a class that is no model of Keras is a layer of Keras: RandAugment has `layers`."""
    return "." not in kind and ">" not in kind and spec.get("module", "keras") != FUNCTION


def _chain(model: Model) -> None:
    """Makes each layer of a Sequential model read the one before."""
    first, *others = model.layers.values()
    if first.kind != INPUT:
        config = _sequential_input(model, first)
        first, others = Layer(INPUT, config["name"], config), [first, *others]
        model.layers = {first.name: first} | model.layers
    previous = model.inputs = Reference(first.name, 0, 0)
    for layer in others:
        if layer.kind == INPUT:
            raise ModelError(f"{model.title}: '{layer.name}' must be the first layer")
        layer.calls.append(([previous], {}))
        previous = Reference(layer.name, 0, 0)
    model.outputs = previous


def _sequential_input(model: Model, first: Layer) -> dict:
    """The settings of the input that a Sequential model without one has."""
    build = model.config.get("build_config")
    shapes = [first.config.get("batch_input_shape"), first.config.get("batch_shape")]
    shapes += [model.config.get("build_input_shape")]
    shapes += [build.get("input_shape")] if isinstance(build, dict) else []
    shape = next((shape for shape in shapes if isinstance(shape, list)), None)
    if shape is None and isinstance(first, Model):
        shape = _input_shape(first)
    name = f"{first.name}_input"
    while name in model.layers:
        name += "_"
    return {"name": name, "batch_input_shape": shape, "dtype": first.config.get("dtype")}


def _input_shape(model: Model) -> Any:
    """The shape of the one input of a model."""
    inputs = [layer for layer in model.layers.values() if layer.kind == INPUT]
    config = inputs[0].config if len(inputs) == 1 else {}
    return config.get("batch_shape", config.get("batch_input_shape"))


def _connect(model: Model, rows: list[dict]) -> None:
    """Reads the calls of a Functional model's layers, and which are its inputs and outputs."""
    for layer, row in zip(model.layers.values(), rows, strict=True):
        nodes = row.get("inbound_nodes", [])
        if not isinstance(nodes, list):
            raise ModelError(f"{layer.title}: inbound_nodes must be a list, got {str(nodes)[:80]}")
        skipped = [([], {})] if isinstance(layer, Model) and _skips_first(row, nodes) else []
        layer.calls = skipped + [_arguments(layer, node) for node in nodes]
    for end in ("inputs", "outputs"):
        declared = model.config.get(f"{end[:-1]}_layers")
        structure = map_structure(
            _references(declared), lambda item: _without_first(model, item, rows)
        )
        if not flatten(structure) or any(not isinstance(r, Reference) for r in flatten(structure)):
            raise ModelError(f"{model.title}: its {end} must be layers, got {str(declared)[:80]}")
        setattr(model, end, structure)


def _skips_first(row: dict, nodes: list) -> bool:
    """Whether the file leaves out the first call of a nested model, yet counts it.

    For Keras 2, a model with an input has been called when it was made.
    """
    config = row["config"]
    first = (config["layers"] if isinstance(config, dict) else config)[0]
    is_keras2 = not any(map(_is_of_keras3, nodes))
    return is_keras2 and isinstance(first, dict) and first.get("class_name") == INPUT


def _without_first(model: Model, item: Any, rows: list[dict]) -> Any:
    """An end of a model, which for Keras 3 counts the first call of a nested Functional model.

    The file leaves that call out, and the arguments of calls do not count it.
    """
    layer = model.layers.get(item.layer) if isinstance(item, Reference) else None
    if not isinstance(layer, Model) or layer.kind == "Sequential" or not item.node:
        return item
    nodes = rows[list(model.layers).index(item.layer)].get("inbound_nodes", [])
    is_keras3 = any(map(_is_of_keras3, nodes))
    return replace(item, node=item.node - 1) if is_keras3 else item


def _is_of_keras3(node: Any) -> bool:
    """Whether a call has arguments as Keras 3 writes them; of Keras 2, a dict is one argument."""
    return isinstance(node, dict) and all(
        isinstance(node.get(key), kind) for key, kind in (("args", list), ("kwargs", dict))
    )


def _arguments(layer: Layer, node: Any) -> tuple[list, dict]:
    """The arguments of one call: {"args", "kwargs"} of Keras 3, lists of calls of Keras 2."""
    if _is_of_keras3(node):
        return [_tensors(arg) for arg in node["args"]], _named(node["kwargs"])
    if not isinstance(node, list | dict):
        raise ModelError(f"{layer.title}: a call must say what it reads, got {str(node)[:80]}")
    kwargs: dict = {}
    first = _references(node, kwargs)
    if isinstance(first, list) and len(first) == 1:
        first = first[0]
    if layer.kind.startswith("tf."):  # f(x, y=y, name=None)
        kwargs.pop("name", None)
    return [first], kwargs


def _named(arguments: dict) -> dict:
    """Named arguments of Keras 3."""
    return {key: _tensors(item) for key, item in arguments.items()}


def _tensors(argument: Any) -> Any:
    """Arguments of Keras 3, where a dict of their class means a tensor."""
    if isinstance(argument, dict):
        if argument.get("class_name") == "__keras_tensor__":
            config = argument.get("config")
            history = config.get("keras_history") if isinstance(config, dict) else None
            if history is None or not _is_reference(history):
                raise ModelError(
                    f"A tensor must say which layer gives it, got {str(argument)[:80]}"
                )
            return Reference(*history[:3])
        if argument.get("class_name") in ARRAYS:
            return _array(argument.get("config"))
        return _named(argument)
    return [_tensors(item) for item in argument] if isinstance(argument, list) else argument


def _array(config: Any) -> np.ndarray:
    """An array among the arguments, as Keras 3 writes it."""
    try:
        array = np.asarray(config["value"], config["dtype"])
    except (TypeError, ValueError, KeyError, OverflowError):
        raise ModelError(
            f"An array must have a value and a dtype, got {str(config)[:80]}"
        ) from None
    if array.dtype.kind not in "fiub":
        raise ModelError(f"An array must hold numbers, got {array.dtype}")
    return array


def _references(structure: Any, kwargs: dict | None = None) -> Any:
    """Nested [layer, node, tensor] or [layer, node, tensor, named arguments]."""
    if _is_reference(structure) or _is_constant(structure):
        if kwargs is not None and len(structure) == 4:
            kwargs.update({key: _references(item) for key, item in structure[3].items()})
        return structure[2] if _is_constant(structure) else Reference(*structure[:3])
    if isinstance(structure, dict):
        return {key: _references(item, kwargs) for key, item in structure.items()}
    return (
        [_references(item, kwargs) for item in structure]
        if isinstance(structure, list)
        else structure
    )


def _is_constant(entry: Any) -> bool:
    """Whether it is a number in the place of a tensor, as Keras 2 has it."""
    is_marked = isinstance(entry, list) and len(entry) == 4 and entry[:2] == ["_CONSTANT_VALUE", -1]
    return is_marked and isinstance(entry[3], dict)


def _is_reference(entry: Any) -> bool:
    return (
        isinstance(entry, list)
        and len(entry) in (3, 4)
        and isinstance(entry[0], str)
        and all(type(n) is int and n >= 0 for n in entry[1:3])
        and (len(entry) == 3 or isinstance(entry[3], dict))
    )
