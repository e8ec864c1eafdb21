"""An architecture written as the operations of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...graph.core.graph import Graph, Tensor
from ...graph.core.order import Cycle, ordered
from ...schema.errors import ConverterError, ModelError, UnsupportedOps
from ..callers import caller
from ..sources.source import some
from ..sources.state import Table
from .activation import activation_of
from .files.architecture import INPUT, Layer, Model, Reference, flatten, map_structure
from .files.live import function_name, quantized
from .files.quantized import has_integers
from .masks import KEEPING, consumes_masks, mask_of
from .registry import ANY, EXPORT, LAYERS, LIST, TENSOR, Call, Row, inner_scope

MAX_LISTED = 8
IGNORED = ("mask", "training")
"""Named arguments that change nothing here, where they are None or False."""
REFUSED = {
    "Lambda": "holds Python code, which is never run from a file",
    "SlicingOpLambda": "is a bare TensorFlow function",
}
AS_FLOAT32 = ("bfloat16", "float16", "float64")
"""Types in which models compute and are fed, and files do so in float32."""
COMPUTED_TYPES = (
    *("None", "float32", "int32", "int64", "string", "uint8"),
    *("mixed_bfloat16", "mixed_float16", *AS_FLOAT32),
)
INPUT_TYPES = ("bool", "float32", "int8", "int16", "int32", "int64", "string", "uint8")
FIX = (
    "Replace these layers, name in custom_objects the layer or function that does the same, or "
    "save the model as a SavedModel (model.export(folder), or tf.saved_model.save) and use "
    "TFLiteConverter.from_saved_model(folder)."
)


def refuse_unsupported(model: Model) -> None:
    """Raises UnsupportedOps naming every layer that flatlite cannot write."""
    lines = [line for layer in model.leaves() if (line := why_not(layer))]
    if not lines:
        return
    more = [f"  and {len(lines) - MAX_LISTED} more"] if len(lines) > MAX_LISTED else []
    listed = "\n".join([f"  {line}" for line in lines[:MAX_LISTED]] + more)
    raise UnsupportedOps(f"Some layers are not supported:\n{listed}\n{FIX}")


def why_not(layer: Layer) -> str:
    """Why a layer cannot be written, "" when it can."""
    if layer.kind == INPUT:
        return ""
    if LAYERS.get(layer.row_kind) is None:
        is_function = layer.kind.startswith("tf.")
        why = "is a bare TensorFlow function" if is_function else REFUSED.get(layer.kind, "")
        return f"{layer.title} {why}".rstrip()
    if "activation" in layer.config and activation_of(layer.config["activation"]) is None:
        return f"{layer.title}: activation {function_name(layer.config['activation'])[:60]!r}"
    if layer.config.get("output_mode") == "tf_idf":
        return f"{layer.title}: output_mode 'tf_idf'; take 'count' and weight the words behind it"
    dtype = layer.config.get("dtype")
    is_argument = layer.kind.startswith("ops.") and isinstance(dtype, str)  # as that of a cast
    policy = _policy(dtype)
    if has_integers(layer):
        return ""
    if "_from_" in policy:
        return f"{layer.title} {quantized(policy)}"
    if policy not in COMPUTED_TYPES and not is_argument:
        return f"{layer.title}: computes in {policy[:40]}; save it with dtype float32"
    return ""


def warn_of_float64(model: Model) -> None:
    """Warns of layers that compute, or are fed, with fewer digits than in the source."""
    layers = [leaf for leaf in model.leaves() if _policy(leaf.config.get("dtype")) == "float64"]
    if layers:
        warnings.warn(
            f"{len(layers)} layers, first {layers[0].title}, are of float64 in the source and of "
            "float32 in the file: no kernel of TFLite computes float64",
            stacklevel=caller(),
        )


def _policy(setting: Any) -> str:
    """The name of a dtype or a DTypePolicy."""
    if isinstance(setting, dict):
        config = setting.get("config")
        if isinstance(config, dict):
            mode = config.get("mode")
            name = config.get("name", config.get("source_name"))
            setting = name if mode is None else f"{mode}_from_{name}"
    return str(setting)


def placeholder(graph: Graph, layer: Layer, name: str) -> Tensor:
    """The placeholder of a model's input."""
    shape = layer.config.get("batch_shape", layer.config.get("batch_input_shape"))
    if shape is not None:
        sizes = shape if isinstance(shape, list) else [shape]
        if not all(n is None or (type(n) is int and 0 <= n < 1 << 31) for n in sizes):
            raise ModelError(f"{layer.title}: its shape must be integers and null, got {shape}")
        shape = tuple(sizes)
    dtype = _policy(layer.config.get("dtype"))
    dtype = "float32" if dtype in ("None", *AS_FLOAT32) else dtype
    if dtype not in INPUT_TYPES or layer.config.get("sparse") or layer.config.get("ragged"):
        raise ConverterError(
            f"{layer.title}: must be a dense tensor of numbers or texts, got {dtype[:40]}"
        )
    attrs = {"dtype": np.dtype(object if dtype == "string" else dtype), "shape": shape}
    return graph.add("Placeholder", name, (), attrs).outputs[0]


@dataclass
class CarriedState:
    """A tensor that a layer keeps from call to call; zeros before the first.

    Attributes:
        first: the placeholder of what the call before has left.
        now: what the next call finds.
    """

    first: Tensor
    now: Tensor


class Writer:
    """Writes layers into one graph.

    Attributes:
        results: what the last call of each of the outermost model's layers gave.
        masks: the masks that go along with tensors.
        states: what layers keep from call to call, by layer; None within loops.
        tables: the contents of tables, by the names of their operations.
    """

    def __init__(self, graph: Graph, is_keras3: bool, is_in_loop: bool = False) -> None:
        self.graph, self.is_keras3 = graph, is_keras3
        self.results: dict[str, list] = {}
        self.masks: dict[Tensor, Tensor] = {}
        self.states: dict[int, list[CarriedState]] | None = None if is_in_loop else {}
        self.tables: dict[str, Table] = {}

    def on(self, graph: Graph) -> Writer:
        """A writer of the same layers into another graph: the body of a loop."""
        return Writer(graph, self.is_keras3, is_in_loop=True)

    def write(self, model: Model, inputs: Sequence[Tensor], scope: str) -> Any:
        """The outputs of a model for `inputs`, in the order of its own."""
        references = flatten(model.inputs)
        if len(inputs) != len(references):
            raise ModelError(f"{model.title}: takes {len(references)} tensors, got {len(inputs)}")
        values: dict[tuple[str, int], list] = {}
        for reference, tensor in zip(references, inputs, strict=True):
            values[reference.layer, reference.node] = [tensor]
        outputs = [(r.layer, r.node) for r in flatten(model.outputs)]

        def before(key: tuple[str, int]) -> list[tuple[str, int]]:
            return [] if key in values else [(r.layer, r.node) for r in _reads(model, key)]

        try:
            order = ordered(outputs, before)
        except Cycle as error:
            names = ", ".join(
                f"'{layer}'" for layer, _ in cast("Sequence[tuple[str, int]]", error.items)
            )
            raise ModelError(f"{model.title}: the layers {names} must not form a cycle") from None
        if self.is_keras3 and any(map(consumes_masks, model.layers.values())):
            order = _deepest_first(order, before)
        for key in order:
            if key not in values:
                values[key] = self._call(model, key, scope, values)
        self.results = {layer: result for (layer, _), result in values.items()}
        return map_structure(model.outputs, lambda reference: _value(model, reference, values))

    def _call(self, model: Model, key: tuple[str, int], scope: str, values: dict) -> list:
        layer = model.layers[key[0]]
        args, kwargs = layer.calls[key[1]]

        def value(item: Any) -> Any:
            is_tensor = isinstance(item, Reference)
            return _value(model, item, values) if is_tensor else item

        return self.apply(layer, map_structure(args, value), map_structure(kwargs, value), scope)

    def apply(self, layer: Layer, args: list, kwargs: dict, scope: str) -> list[Tensor]:
        """The results of a layer or model for some arguments."""
        if isinstance(layer, Model):
            masks = flatten(kwargs.pop("mask", None))
            _check_arguments(layer, args, kwargs)
            inputs = _flatten_like(layer, args)
            self.masks |= {x: mask for x, mask in zip(inputs, masks, strict=False) if _is_set(mask)}
            results = self.write(layer, inputs, inner_scope(scope, layer.name))
            return flatten(results, by_key=True)
        if self.is_keras3:  # whoever runs the model says whether it learns
            kwargs.pop("training", None)
        row, call = LAYERS.known(layer.row_kind), Call(layer, self, scope)
        if row.takes == ANY:
            return self._apply_any(call, row, args, kwargs)
        mask = kwargs.pop("mask", None) if layer.row_kind in KEEPING else None
        _check_arguments(layer, args, kwargs)
        if _form(args) != row.takes:
            raise ModelError(f"{layer.title}: takes {row.takes}, got {_form(args)}")
        results = flatten(row.write(call, *args))
        self._note_mask(call, flatten(args), mask, results)
        return results

    def _apply_any(self, call: Call, row: Row, args: list, kwargs: dict) -> list[Tensor]:
        """The results of a function that names its arguments; masks are among them."""
        call.require(not _is_set(kwargs.pop("training", None)), "training=True is not supported")
        bound = call.bound(row, args, kwargs)
        names = list(bound.arguments)[1:]
        first = bound.arguments[names[0]] if names else None
        parameters = row.signature.parameters
        for name in names:
            is_first = name == names[0] and "mask" in parameters
            mask_name = "mask" if is_first else f"{name}_mask"
            if mask_name in parameters and bound.arguments.get(mask_name) is None:
                masks = [self.masks.get(x) for x in _tensors(bound.arguments[name])]
                is_list = isinstance(bound.arguments[name], list)
                if any(mask is not None for mask in masks):
                    bound.arguments[mask_name] = masks if is_list else masks[0]
        mask = bound.arguments.get("mask")
        if self.is_keras3 and consumes_masks(call.layer):
            mask = bound.arguments["query_mask"] = self.masks.get(bound.arguments["query"])
            for name in ("query", "value", "key"):
                self.masks.pop(bound.arguments.get(name), None)
        results = flatten(row.write(*bound.args, **bound.kwargs))
        self._note_mask(call, _tensors(first), mask, results)
        return results

    def _note_mask(self, call: Call, inputs: list, mask: Any, results: list) -> None:
        """Notes the mask of a layer's first result."""
        if mask is None:
            masks = [self.masks.get(x) for x in inputs]
        else:
            masks = mask if isinstance(mask, list) else [mask] * len(inputs)
        new_mask = mask_of(call, inputs, masks)
        if new_mask is not None and results[0] not in self.masks:
            self.masks[results[0]] = new_mask


def _deepest_first(
    order: list[tuple[str, int]], before: Callable[[tuple[str, int]], list[tuple[str, int]]]
) -> list[tuple[str, int]]:
    """The calls in the order Keras runs them: first those with the most calls up to an output.

    `order` is that of a walk from the outputs; a layer's other calls are as deep as its deepest.
    """
    depths: dict[tuple[str, int], int] = {}
    layer_depths: dict[str, int] = {}
    for key in reversed(order):
        depth = max(depths.setdefault(key, 0), layer_depths.get(key[0], 0))
        depths[key] = layer_depths[key[0]] = depth
        for other in before(key):
            depths[other] = max(depths.get(other, 0), depth + 1)
    return sorted(depths, key=lambda key: -depths[key])


def _tensors(structure: Any) -> list[Tensor]:
    return [item for item in flatten(structure) if isinstance(item, Tensor)]


def _reads(model: Model, key: tuple[str, int]) -> list[Reference]:
    """What a call reads, after it was checked that there is such a call."""
    name, node = key
    layer = model.layers.get(name)
    if layer is None or node >= len(layer.calls):
        raise ModelError(f"{model.title}: call {node} of layer '{name}' is read, and there is none")
    return [item for item in flatten(list(layer.calls[node])) if isinstance(item, Reference)]


def _value(model: Model, reference: Reference, values: dict) -> Tensor:
    results = values[reference.layer, reference.node]
    if reference.tensor >= len(results):
        raise ModelError(
            f"{model.title}: result {reference.tensor} of layer '{reference.layer}' is read, which "
            f"has {len(results)}"
        )
    return results[reference.tensor]


def _flatten_like(model: Model, args: list) -> list[Tensor]:
    """The tensors a nested model is called with, in the order of its inputs."""
    arguments = args[0] if len(args) == 1 else args
    if isinstance(arguments, dict) and isinstance(model.inputs, dict):
        arguments = [arguments[key] for key in model.inputs if key in arguments]
    return flatten(arguments)


def _check_arguments(layer: Layer, args: list, kwargs: dict) -> None:
    """Raises unless a layer is called with tensors only."""
    names = [name for name, value in kwargs.items() if not (name in IGNORED and not _is_set(value))]
    if names:
        raise ConverterError(f"{layer.title}: is called with {some(names)}, which is not supported")
    if not args or any(not isinstance(item, Tensor) for item in flatten(args)):
        kinds = some(sorted({type(a).__name__ for a in flatten(args) if not isinstance(a, Tensor)}))
        raise ConverterError(
            f"{layer.title}: is called with something that is no tensor ({kinds or 'nothing'}), "
            f"which is not supported; {EXPORT}"
        )


def _form(args: list) -> str:
    """What the arguments of a call are, in the words of Row.takes."""
    if all(isinstance(item, Tensor) for item in args):
        return TENSOR if len(args) == 1 else f"{len(args)} tensors"
    is_list = len(args) == 1 and isinstance(args[0], list)
    is_list = is_list and all(isinstance(item, Tensor) for item in args[0])
    return LIST if is_list else "a structure of tensors"


def _is_set(value: Any) -> bool:
    return value is not None and value is not False
