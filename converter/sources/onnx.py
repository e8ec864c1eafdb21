"""ONNX files: checked, cut to what the outputs need, weights as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError, ModelError, UnsupportedOps
from ...schema.files import map_file, member
from ..onnx.dynamic import float_form
from ..onnx.image_layout import has_channels_last
from ..onnx.names import domain_of, names_read, nodes_within
from .onnx_upgrade import upgrade
from .onnx_weights import view_of, without_weights
from .source import Port, Shapes, SourceTensor, check_names, set_shapes, some

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

    from ...graph.core.shapes import Shape
    from ..ir import graph as ir
    from ..verify.oracle import Oracle

MAX_ELEMENTS = 2**31 - 1  # elements of a tensor
MAX_NODES = 2**18  # nodes that a model's functions and calls make
TRIED_SIZES = (224, 64)  # sizes of unknown dimensions that may make a model convertible
KEY = "serving_default"  # the signature's, as TensorFlow names it


@dataclass(frozen=True)
class OnnxSource:
    """An ONNX graph, cut to what its outputs need.

    Attributes:
        opsets: versions of the operator sets, by domain; "" is ai.onnx.
        functions: the model's own; those that others call come first.
        nodes: in an order in which they can run.
        arrays: initializers by name.
        inputs, outputs: in order.
        key: the signature's key in the written file.
        channels_last: inputs and outputs whose channels come last in the file, each with the least
            number of dimensions for which it is so.
        dynamic_weights: dequantized weights, by name, of layers that quantize what they multiply.
    """

    opsets: dict[str, int]
    functions: tuple[FunctionProto, ...]
    nodes: tuple[NodeProto, ...]
    arrays: dict[str, np.ndarray]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    key: str = KEY
    kind: str = "onnx"
    channels_last: Mapping[str, int] = field(default_factory=dict)
    dynamic_weights: frozenset[str] = frozenset()

    def operation_types(self) -> set[str]:
        """The types of the nodes, and of those of the model's own functions."""
        nodes = (*self.nodes, *(node for function in self.functions for node in function.node))
        return {node.op_type for node in nodes}

    def constants(self) -> dict[str, int]:
        """The initializers' bytes, by name."""
        return {name: array.nbytes for name, array in self.arrays.items()}

    def lower(self, allow_custom_ops: bool = False) -> ir.Graph:
        """The IR of the graph; custom operators are not supported."""
        from ..onnx.lower import lower_model

        try:
            return lower_model(self)
        except UnsupportedOps:
            raise
        except ConverterError as error:
            shapes = self._convertible_shapes() if "input_shapes" not in str(error) else None
            if shapes:
                options = " ".join(
                    f"--input-shape {name}={','.join('-1' if n is None else str(n) for n in shape)}"
                    for name, shape in shapes.items()
                )
                fix = f"input_shapes={shapes} ({options})"
                error.args = (f"{error}\nWith fixed sizes it can be converted, such as {fix}",)
            raise

    def _convertible_shapes(self) -> dict[str, list[int | None]] | None:
        """Shapes for the inputs that have none, with which the graph can be lowered; what need not
        be fixed stays unknown.
        """
        unknown = {
            port.name: port.tensor.sizes
            for port in self.inputs
            if port.tensor.sizes is not None and None in port.tensor.sizes
        }
        for size in TRIED_SIZES if unknown else ():
            shapes = {
                name: tuple((size if i else 1) if n is None else n for i, n in enumerate(shape))
                for name, shape in unknown.items()
            }
            if not self._lowers(shapes):
                continue
            for name, i in [(k, i) for k, shape in unknown.items() for i in range(len(shape))]:
                relaxed = (*shapes[name][:i], unknown[name][i], *shapes[name][i + 1 :])
                if relaxed != shapes[name] and self._lowers({**shapes, name: relaxed}):
                    shapes[name] = relaxed
            return {k: list(shape) for k, shape in shapes.items() if shape != unknown[k]}
        return None

    def _lowers(self, shapes: Mapping[str, Shape]) -> bool:
        """Whether the graph can be lowered with these shapes of inputs."""
        from ..onnx.lower import lower_model

        ports = tuple(
            replace(port, tensor=replace(port.tensor, sizes=shapes[port.name]))
            if port.name in shapes
            else port
            for port in self.inputs
        )
        try:
            lower_model(replace(self, inputs=ports))
        except (ConverterError, ValueError):
            return False
        return True

    def oracle(self) -> Oracle:
        """The ONNX project's own reference evaluator."""
        from ..onnx.reference.evaluator import OnnxOracle

        return OnnxOracle(self)


def load(
    model_file: Any,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
    input_shapes: Shapes | None = None,
    io_layout: str | Mapping[str, str] | None = None,
) -> OnnxSource:
    """The graph of an ONNX model.

    Args:
        model_file: the file, its bytes or a ModelProto; weights stored beside the file must lie in
            its folder.
        input_arrays: names of the inputs, in another order; None takes the graph's.
        output_arrays: names of tensors that become the outputs; None takes the graph's.
        input_shapes: {input name: shape} for what the model does not say.
        io_layout: "channels_last", for all images or by name, where not the model's layout.

    Raises:
        OSError: the file, or one with weights, cannot be read.
        ValueError: it is no ONNX model, or a malformed one; unknown names, contradicting shapes.
        ConverterError: it uses something that is not supported, such as sparse initializers.
    """
    model, weights = parsed(model_file)
    opsets = operator_sets(model)
    upgrade(model, opsets)
    graph = model.graph
    files = WeightFiles(model_file if isinstance(model_file, str | os.PathLike) else None)
    arrays = {
        t.name: weights[i] if i in weights else array_of(t, files)
        for i, t in enumerate(graph.initializer)
    }
    if graph.sparse_initializer:
        raise ConverterError("sparse initializers are not supported; store them dense")
    values = {value.name: typed(value) for value in graph.input if value.name not in arrays}
    inputs = _chosen(values, input_arrays, "input_arrays")
    shapes = set_shapes(inputs, input_shapes or {})
    check_order(graph, {*values, *arrays})
    outputs = {value.name: value for value in graph.output}
    if output_arrays is not None:
        check_names(output_arrays, "output_arrays")
        produced = {*values, *arrays, *(name for node in graph.node for name in node.output)}
        _refuse_unknown(output_arrays, produced)
        outputs = dict.fromkeys(output_arrays)
    if not outputs:
        raise ModelError("the graph has no outputs; name tensors with output_arrays")
    form = float_form(graph.node, arrays, list(outputs), opsets[""])
    arrays = form.arrays
    nodes = needed_nodes(form.nodes, outputs)
    functions = ordered_functions(model.functions)
    refuse_expansion(nodes, functions)
    used = {name for node in nodes for name in names_read(node)} | set(outputs)
    dims = {value.name: _dim_names(value) for value in graph.input}
    ports = [
        Port(name, name, SourceTensor(name, v.dtype, shapes[name]), dims.get(name))
        for name, v in inputs.items()
    ]
    layout = _layouts(io_layout, [*inputs, *outputs])
    ports = [
        with_channels_last(port) if has_channels_last(port.tensor.sizes, layout.get(port.name))
        else port
        for port in ports
    ]  # fmt: skip
    return OnnxSource(
        opsets,
        functions,
        nodes,
        {name: array for name, array in arrays.items() if name in used},
        tuple(ports),
        tuple(Port(name, name, _output(name, graph)) for name in outputs),
        channels_last=layout,
        dynamic_weights=form.weights,
    )


LAYOUTS = ("source", "channels_last")


def _layouts(io_layout: str | Mapping[str, str] | None, names: Sequence[str]) -> dict[str, int]:
    """The names of what has its channels last, each with the least dimensions it must have."""
    if io_layout is None or isinstance(io_layout, str):
        stated, least = dict.fromkeys(names, io_layout or "source"), 4
    else:
        stated, least = dict(io_layout), 3
        _refuse_unknown(stated, names)
    for layout in stated.values():
        if layout not in LAYOUTS:
            raise ValueError(f"io_layout must be one of {LAYOUTS}, got '{layout}'")
    return {name: least for name, layout in stated.items() if layout == "channels_last"}


def with_channels_last(port: Port) -> Port:
    """An input with its channels, the second of its dimensions, at the end."""
    n, c, *spatial = port.tensor.sizes
    dims = port.dims and (port.dims[0], *port.dims[2:], port.dims[1])
    return replace(port, tensor=replace(port.tensor, sizes=(n, *spatial, c)), dims=dims)


def _dim_names(value: ValueInfoProto) -> tuple[str | None, ...]:
    """The names that a model gives to the dimensions of an input."""
    return tuple(dim.dim_param or None for dim in value.type.tensor_type.shape.dim)


def parsed(model_file: Any) -> tuple[ModelProto, dict[int, np.ndarray]]:
    """A message of our own, from a file, its bytes or a message, and the elements of initializers
    that it lacks, by position; ModelError when there is none.
    """
    import onnx
    from google.protobuf.message import DecodeError

    is_path = isinstance(model_file, str | os.PathLike)
    name = f"'{os.fspath(model_file)}'" if is_path else "model_file"
    model, weights = onnx.ModelProto(), {}
    if isinstance(model_file, onnx.ModelProto):
        model.CopyFrom(model_file)
    else:
        content = map_file(model_file) if is_path else memoryview(model_file)
        if not content.nbytes:
            raise ModelError(f"{name} is empty")
        message, weights = without_weights(content)
        try:
            model.ParseFromString(message)
        except (DecodeError, RecursionError) as error:
            raise ModelError(f"{name} is not an ONNX model: {error}") from None
    if not model.graph.node and not model.graph.output:
        raise ModelError(f"{name} is not an ONNX model: it has no graph")
    return model, weights


def operator_sets(model: ModelProto) -> dict[str, int]:
    """The versions of the operator sets that a model is written in, by domain."""
    from onnx.defs import onnx_opset_version

    opsets: dict[str, int] = {}
    for entry in model.opset_import:
        domain = domain_of(entry.domain)
        opsets[domain] = max(entry.version, opsets.get(domain, 0))
    newest = onnx_opset_version()
    is_other = bool(opsets) and all(domain_of(node.domain) for node in model.graph.node)
    version = opsets.setdefault("", newest) if is_other else opsets.get("", 0)
    if not (0 < version <= newest):
        raise ConverterError(
            f"the operator set of ai.onnx must be 1 to {newest}, got {version or 'none'}; update "
            "the package onnx"
        )
    return opsets


def ordered_functions(functions: Iterable[FunctionProto]) -> tuple[FunctionProto, ...]:
    """A model's functions, each after those that it calls; ModelError when they call themselves."""
    missing = {(domain_of(f.domain), f.name): f for f in functions}
    ordered: list[FunctionProto] = []
    while missing:
        ready = [
            key
            for key, f in missing.items()
            if not any((domain_of(n.domain), n.op_type) in missing for n in nodes_within(f.node))
        ]
        if not ready:
            names = some([name for _, name in missing])
            raise ModelError(f"the model's functions {names} must not call themselves")
        ordered += [missing.pop(key) for key in ready]
    return tuple(ordered)


def refuse_expansion(nodes: Iterable[NodeProto], functions: Iterable[FunctionProto]) -> None:
    """Raises ModelError where calls make of the nodes more than MAX_NODES.

    `functions` are ordered.
    """
    sizes: dict[tuple[str, str], int] = {}

    def size_of(nodes: Iterable[NodeProto]) -> int:
        keys = ((domain_of(n.domain), n.op_type) for n in nodes_within(nodes))
        return sum(sizes.get(key, 1) for key in keys)

    for function in functions:
        sizes[domain_of(function.domain), function.name] = size_of(function.node)
    if size_of(nodes) > MAX_NODES:
        raise ModelError(
            f"calls of the model's functions must make at most {MAX_NODES} nodes, got "
            f"{size_of(nodes)}"
        )


def array_of(tensor: TensorProto, files: WeightFiles) -> np.ndarray:
    """An initializer's value, from the message or from a file beside the model.

    Elements that stand in a file as in an array are a view of it.
    """
    from onnx import TensorProto
    from onnx.numpy_helper import to_array

    if min(tensor.dims, default=0) < 0 or np.prod(tensor.dims, dtype=object) > MAX_ELEMENTS:
        raise ModelError(
            f"initializer '{tensor.name}': shape must have no negative size and at most "
            f"{MAX_ELEMENTS} elements, got {list(tensor.dims)}"
        )
    if tensor.data_location == TensorProto.EXTERNAL:
        content = files.bytes_of(tensor)
        array = view_of(content, tensor.data_type, tensor.dims)
        if array is not None:
            return array
        tensor = TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
        tensor.raw_data = bytes(content)
    try:
        return to_array(tensor)
    except KeyError:
        raise ModelError(
            f"initializer '{tensor.name}' has the unknown type {tensor.data_type}"
        ) from None
    except (TypeError, ValueError) as error:
        raise ModelError(f"initializer '{tensor.name}' is malformed: {error}") from None


class WeightFiles:
    """The files that initializers lie in, each mapped once.

    Args:
        model_file: the model's path, in whose folder they are; None where it has none.
    """

    def __init__(self, model_file: str | os.PathLike | None) -> None:
        self._folder = None if model_file is None else Path(model_file).parent
        self._mapped: dict[str, memoryview] = {}

    def bytes_of(self, tensor: TensorProto) -> memoryview:
        """What an initializer refers to."""
        entry = {row.key: row.value for row in tensor.external_data}
        name, where = entry.get("location", ""), f"initializer '{tensor.name}'"
        content = self._file(name, where)
        try:
            start = int(entry.get("offset", 0))
            length = int(entry.get("length", len(content) - start))
        except ValueError:
            raise ModelError(f"{where}: offset and length must be numbers, got {entry}") from None
        if not 0 <= start <= start + length <= len(content):
            raise ModelError(
                f"{where}: bytes {start} to {start + length} lie outside of '{name}', which has "
                f"{len(content)}"
            )
        return content[start : start + length]

    def _file(self, name: str, where: str) -> memoryview:
        if self._folder is None:
            raise ConverterError(
                f"{where} lies in the file '{name}', and model_file is no path; give the path of "
                "the model, or the message that onnx.load makes of it"
            )
        if name not in self._mapped:
            try:
                self._mapped[name] = map_file(member(self._folder, name))
            except FileNotFoundError as error:
                raise FileNotFoundError(
                    f"{where} lies in '{error.filename}', which does not exist; copy the files "
                    "beside the model, too"
                ) from None
        return self._mapped[name]


def typed(value: Any) -> SourceTensor:
    """An input as the graph declares it."""
    from onnx.helper import tensor_dtype_to_np_dtype

    if value.type.WhichOneof("value") != "tensor_type":
        raise ConverterError(
            f"input '{value.name}' must be a tensor, got a {value.type.WhichOneof('value')}; "
            "export the model with tensors for its inputs"
        )
    kind = value.type.tensor_type
    try:
        dtype = np.dtype(tensor_dtype_to_np_dtype(kind.elem_type))
    except KeyError:
        raise ModelError(f"input '{value.name}' has the unknown type {kind.elem_type}") from None
    return SourceTensor(value.name, dtype, _shape(kind))


def _shape(kind: Any) -> Shape:
    if not kind.HasField("shape"):
        return None
    dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    return tuple(None if n is None or n < 0 else int(n) for n in dims)


def _output(name: str, graph: GraphProto) -> SourceTensor:
    """An output's declaration; its type is checked when it is lowered."""
    declared = {value.name: value for value in (*graph.value_info, *graph.output, *graph.input)}
    if name in declared and declared[name].type.WhichOneof("value") == "tensor_type":
        return typed(declared[name])
    return SourceTensor(name, np.dtype(np.float32), None)


def _chosen(values: dict[str, SourceTensor], names: Iterable[str] | None, argument: str) -> dict:
    if names is None:
        return values
    check_names(names, argument)
    names = list(names)
    _refuse_unknown(names, values)
    if set(names) != set(values):
        missing = some(sorted(set(values) - set(names)))
        raise ValueError(f"{argument} must name all inputs of the model; {missing} are missing")
    return {name: values[name] for name in names}


def _refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    missing = [name for name in names if name not in set(known)]
    if missing:
        raise ValueError(f"Invalid tensors '{','.join(missing)}' were found.")


def check_order(graph: GraphProto, known: set[str]) -> None:
    """Raises ModelError unless every node reads what is there before it, and names are unique."""
    known = {"", *known}
    for node in graph.node:
        where = f"{node.op_type} '{node.name or next(iter(node.output), '')}'"
        for name in names_read(node):
            if name not in known:
                raise ModelError(f"{where} reads '{name}', which nothing before it gives")
        for name in filter(None, node.output):
            if name in known:
                raise ModelError(f"{where} gives '{name}', which is there already")
            known.add(name)
    for value in graph.output:
        if value.name not in known:
            raise ModelError(f"output '{value.name}' is given by no node")


def needed_nodes(proto_nodes: Sequence[NodeProto], outputs: Iterable[str]) -> tuple[NodeProto, ...]:
    """The nodes that the tensors `outputs` need, in their order."""
    needed, nodes = set(outputs), []
    for node in reversed(proto_nodes):
        if needed.intersection(filter(None, node.output)):
            needed.update(names_read(node))
            nodes.append(node)
    return tuple(reversed(nodes))
