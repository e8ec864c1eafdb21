"""An architecture written as the operations of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.core.graph import Graph, Tensor
from ...graph.core.order import Cycle, ordered
from ...schema.errors import ConverterError, ModelError, UnsupportedOps
from ..sources.source import some
from .activation import activation_name
from .architecture import INPUT, Layer, Model, Reference, flatten, map_structure
from .registry import LAYERS, LIST, PAIR, TENSOR, Call, inner_scope, is_number

MAX_LISTED = 8
MAX_CALLS = 200_000
IGNORED = ("mask", "training")
"""Named arguments that change nothing here, where they are None or False."""
REFUSED = {
    "Lambda": "holds Python code, which is never run from a file",
    "SlicingOpLambda": "is a bare TensorFlow function",
}
COMPUTED_TYPES = ("None", "float32", "int32", "int64", "uint8")
INPUT_TYPES = ("bool", "float32", "int8", "int16", "int32", "int64", "uint8")
EXPORT = (
    "save the model as a SavedModel (model.export(folder)) and use "
    "TFLiteConverter.from_saved_model(folder)"
)
FIX = (
    "Replace these layers, or save the model as a SavedModel (model.export(folder), or "
    "tf.saved_model.save) and use TFLiteConverter.from_saved_model(folder)."
)


def refuse_unsupported(model: Model) -> None:
    """Raises UnsupportedOps naming every layer that flatlite cannot write."""
    lines = [line for layer in model.leaves() if (line := _why_not(layer))]
    if not lines:
        return
    more = [f"  and {len(lines) - MAX_LISTED} more"] if len(lines) > MAX_LISTED else []
    listed = "\n".join([f"  {line}" for line in lines[:MAX_LISTED]] + more)
    raise UnsupportedOps(f"Some layers are not supported:\n{listed}\n{FIX}")


def _why_not(layer: Layer) -> str:
    """Why a layer cannot be written, "" when it can."""
    if layer.kind == INPUT:
        return ""
    if LAYERS.get(layer.kind) is None:
        is_function = layer.kind.startswith("tf.")
        why = "is a bare TensorFlow function" if is_function else REFUSED.get(layer.kind, "")
        return f"{layer.title} {why}".rstrip()
    if "activation" in layer.config and activation_name(layer.config["activation"]) is None:
        return f"{layer.title}: activation {str(layer.config['activation'])[:60]!r}"
    policy = _policy(layer.config.get("dtype"))
    if policy not in COMPUTED_TYPES:
        return f"{layer.title}: computes in {policy[:40]}; save it with dtype float32"
    return ""


def _policy(setting: Any) -> str:
    """The name of a dtype or a DTypePolicy."""
    if isinstance(setting, dict):
        config = setting.get("config")
        setting = config.get("name") if isinstance(config, dict) else setting
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
    dtype = "float32" if dtype == "None" else dtype
    if dtype not in INPUT_TYPES or layer.config.get("sparse") or layer.config.get("ragged"):
        raise ConverterError(f"{layer.title}: must be a dense tensor of numbers, got {dtype[:40]}")
    attrs = {"dtype": np.dtype(dtype), "shape": shape}
    return graph.add("Placeholder", name, (), attrs).outputs[0]


class Writer:
    """Writes layers into one graph.

    Attributes:
        results: what the last call of each of the outermost model's layers gave.
    """

    def __init__(self, graph: Graph, is_keras3: bool) -> None:
        self.graph, self.is_keras3 = graph, is_keras3
        self.results: dict[str, list] = {}
        self._n_calls = 0

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
            raise ModelError(f"{model.title}: {error}") from None
        for key in order:
            if key not in values:
                values[key] = self._call(model, key, scope, values)
        self.results = {layer: result for (layer, _), result in values.items()}
        return map_structure(model.outputs, lambda reference: _value(model, reference, values))

    def _call(self, model: Model, key: tuple[str, int], scope: str, values: dict) -> list:
        self._n_calls += 1
        if self._n_calls > MAX_CALLS:
            raise ModelError(f"{model.title}: its layers are called more than {MAX_CALLS} times")
        layer = model.layers[key[0]]
        args, kwargs = layer.calls[key[1]]

        def value(item: Any) -> Any:
            is_tensor = isinstance(item, Reference)
            return _value(model, item, values) if is_tensor else item

        args, kwargs = map_structure(args, value), map_structure(kwargs, value)
        row = LAYERS.get(layer.kind)
        if row is not None and row.takes == PAIR:
            args = _with_constants(Call(layer, self.graph, scope, self.is_keras3), args)
        _check_arguments(layer, args, kwargs)
        if isinstance(layer, Model):
            return flatten(
                self.write(layer, _flatten_like(layer, args), inner_scope(scope, layer.name))
            )
        row = LAYERS.known(layer.kind)
        if _form(args) != row.takes:
            raise ModelError(f"{layer.title}: takes {row.takes}, got {_form(args)}")
        return flatten(row.write(Call(layer, self.graph, scope, self.is_keras3), *args))


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


def _with_constants(call: Call, args: list) -> list:
    """Two operands, a number beside a tensor made a constant of the tensor's type."""
    like = next((item for item in args if isinstance(item, Tensor)), None)
    if like is None or len(args) != 2:
        return args
    for item in args:
        is_whole = not isinstance(item, float) or like.dtype.kind == "f"
        call.require(
            isinstance(item, Tensor) or (is_number(item) and is_whole),
            f"an operand must be a tensor or a number of type {like.dtype}, got {str(item)[:40]}; "
            f"{EXPORT}",
        )
    return [x if isinstance(x, Tensor) else call.constant(x, like) for x in args]


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
        return {1: TENSOR, 2: PAIR}.get(len(args), f"{len(args)} tensors")
    is_list = len(args) == 1 and isinstance(args[0], list)
    is_list = is_list and all(isinstance(item, Tensor) for item in args[0])
    return LIST if is_list else "a structure of tensors"


def _is_set(value: Any) -> bool:
    return value is not None and value is not False
