"""`to_graph`: a model of any format as a graph of TensorFlow's operations, to train it further."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from ...graph.core.graph import Graph, Operation, Tensor
from ..sources.kinds import MAGIC_BYTES, kind_of
from ..sources.source import Source, naming, short_name

if TYPE_CHECKING:
    from ...graph.session.session import Session
    from ...graph.variables.variables import Variable
    from ..ir import graph as ir
    from ..raising.trainable import WeightFilter
    from ..sources.source import GraphSource
    from .converter import TFLiteConverter

DEFAULT_KEY = "serving_default"


@dataclass(frozen=True)
class RaisedModel:
    """A model as a graph.

    Attributes:
        graph: the operations; more can be added to it, such as a loss.
        inputs: placeholders by the names of the model's inputs, in its order.
        outputs: tensors by the names of its outputs, in its order.
        variables: the weights that became variables, and those of the model, by name.
        initializer: gives the variables their values in the model.
        signature_key: the key of the model's signature, None where it has none.
        weights: the names of all of the model's weights, in its order; any of them can be given
            as `trainable`.
    """

    graph: Graph
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    variables: dict[str, Variable]
    initializer: Operation
    signature_key: str | None
    weights: tuple[str, ...]
    _names: tuple[Sequence[str], Sequence[str]] = field(repr=False)

    def converter(self, session: Session) -> TFLiteConverter:
        """The way back: a converter for inputs and outputs with the values variables have now.

        The file has the model's signature and the names of its inputs and outputs.

        Args:
            session: one of the graph, in which the variables have values.

        Raises as `TFLiteConverter.from_session` does.
        """
        from .converter import TFLiteConverter

        ends = list(self.inputs.values()), list(self.outputs.values())
        (source,) = TFLiteConverter.from_session(session, *ends)._sources
        sides = (source.inputs, source.outputs), (self.inputs, self.outputs), self._names
        inputs, outputs = (
            tuple(
                replace(port, key=key, name=name)
                for port, key, name in zip(end, keys, names, strict=True)
            )
            for end, keys, names in zip(*sides, strict=True)
        )
        named = replace(
            cast("GraphSource", source), key=self.signature_key, inputs=inputs, outputs=outputs
        )
        return TFLiteConverter._of([named], None, 1)


def to_graph(
    model: str | os.PathLike | bytes,
    trainable: bool | str | Collection[str] | None = None,
    signature_key: str | None = None,
    unroll: bool = True,
) -> RaisedModel:
    """A model as a graph of TensorFlow's operations, with gradients.

    Filters and matrices are stored in TensorFlow's layouts, fused activations are operations of
    their own. The numbers of a quantized model are real: its inputs and outputs are float32, its
    constants dequantized, and what it computes is rounded to its scales by
    FakeQuantWithMinMaxArgs, so that it trains aware of them. States of recurrent operators are
    zeros at the start of each run. A model that is no `.tflite` file gets the converter's passes
    first, so that batch normalisation is in the weights before it.

    Args:
        model: a `.tflite` file or its bytes, an ONNX or Keras file, a SavedModel's folder, a
            frozen GraphDef.
        trainable: which weights become variables, the others are constants. True for all; a regular
            expression that is searched in the names of weights and layers (of a layer's result);
            or a list of names, each of a weight; or, where none has it, of a layer, or what names
            start with up to a "/".
        signature_key: which signature, where there are several; "serving_default" or the first one
            by default.
        unroll: whether recurrent operators are written out step by step where the number of steps
            is known, which trains faster. A loop, which they are else, becomes one operator again
            on the way back where it is plain.

    Raises:
        TypeError: `model` is no path or bytes, or `trainable` something else.
        OSError: there is no such file, or it cannot be read.
        UnsupportedOps: the model has operators without a form in TensorFlow's operations; all are
            listed.
        ConverterError: an operator is used in a way that has none.
        ValueError: the file is damaged; there is no such signature; nothing has a name that
            `trainable` gives.
    """
    from ..raising.trainable import WeightFilter

    weights = WeightFilter(trainable)
    if not isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview)):
        raise TypeError(
            f"to_graph takes a path, or the bytes of a .tflite file, got {type(model).__name__}; "
            "save the model to a file"
        )
    path = os.fspath(model) if isinstance(model, (str, os.PathLike)) else None
    with naming(path):
        sources = _sources(model, signature_key)
        source = _chosen(sources, signature_key)
        return _raised(source, _lowered(source), weights, unroll)


def _sources(model: Any, signature_key: str | None) -> Sequence[Source]:
    """The signatures of a model in any format."""
    from ..sources import frozen, keras, onnx, saved_model, tflite

    if not isinstance(model, (str, os.PathLike)):
        content = bytes(model)
        offset, magic, _ = MAGIC_BYTES[-1]
        if content[offset : offset + len(magic)] != magic:
            raise ValueError(
                f"the bytes must be those of a .tflite file, got {content[:8]!r}; give a path"
            )
        return tflite.load(content)
    kind, path = kind_of(model)
    if kind == "tflite":
        return tflite.load(path)
    if kind == "saved_model":
        keys = None if signature_key is None else [signature_key]
        return saved_model.load(path, signature_keys=keys, api_version=2)
    return [{"frozen": frozen, "keras": keras, "onnx": onnx}[kind].load(path)]


def _chosen(sources: Sequence[Source], key: str | None) -> Source:
    """The source of a signature."""
    by_key = {source.key: source for source in sources}
    if key is None:
        return by_key.get(DEFAULT_KEY, sources[0])
    if key not in by_key:
        raise ValueError(f"signature_key must be one of {list(by_key)}, got {key!r}")
    return by_key[key]


def _lowered(source: Source) -> ir.Graph:
    """The IR of a source; one that is no file of TFLite's operators is optimized."""
    from ..passes import optimize

    graph = source.lower(False)
    return graph if source.kind == "tflite" else optimize(graph, learns=True)


def _raised(source: Source, lowered: ir.Graph, weights: WeightFilter, unroll: bool) -> RaisedModel:
    from ...graph.core.build import ops
    from ...graph.functions.flow.control_flow import group
    from ..raising.quantized import dtype_of
    from ..raising.raiser import Raiser, refuse_unknown, valid_name

    graphs = lowered.reachable()
    refuse_unknown(graphs)
    graph, raiser = Graph(), Raiser(weights, graphs, unroll)
    keys = lowered.signature or None
    with graph.as_default():
        arguments = [
            ops.Placeholder(
                dtype=dtype_of(tensor), shape=tensor.shape, name=valid_name(tensor.name)
            )
            for tensor in lowered.inputs
        ]
        names = lowered.output_names or [tensor.name for tensor in lowered.outputs]
        unique_names = [graph.unique_name(valid_name(name)) for name in names]
        raiser.reserve(graph)
        results = raiser.run(lowered, arguments)
        outputs = [
            ops.Identity(tensor, name=f"{name}/")
            for tensor, name in zip(results, unique_names, strict=True)
        ]
        states = [variable.initializer for variable in raiser.variables.values()]
        initializer = group(*states, name="initializer")
    weights.check()
    inputs = keys.inputs if keys else [short_name(tensor.name) for tensor in lowered.inputs]
    output_keys = keys.outputs if keys else [short_name(name) for name in names]
    return RaisedModel(
        graph,
        dict(zip(inputs, arguments, strict=True)),
        dict(zip(output_keys, outputs, strict=True)),
        raiser.variables,
        initializer,
        keys.key if keys else None,
        tuple(dict.fromkeys(weight.name for weight in weights.known)),
        ([tensor.name for tensor in lowered.inputs], names),
    )
