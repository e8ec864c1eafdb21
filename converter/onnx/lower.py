"""An ONNX graph lowered to the IR, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ...schema.errors import ConverterError, ModelError
from ..ir.builder import Builder
from ..ir.graph import Graph, Origin, Signature, Tensor
from ..ir.sizes import Scope, lowered
from ..lowering import unsupported
from ..lowering.moves import to_channels_first, to_channels_last
from .declarations import check_declaration
from .definitions import Body, body_of
from .image_layout import has_channels_last
from .names import domain_of, nodes_within, qualified, schema_of
from .other_floats import OtherFloats
from .qdq import QuantizedValues
from .quantized import quantize
from .registry import LOWERINGS, Node

if TYPE_CHECKING:
    from onnx import NodeProto

    from ..sources.onnx import OnnxSource

MAX_DEPTH = 64  # calls of functions inside one another
WITHOUT_KERNELS = ("float4", "float8", "uint2", "uint4")
"""How the names of types begin that no kernel of TFLite takes."""
READS_CONSTANTS = frozenset({"Constant", "DequantizeLinear", "Identity"})
"""Operators that take constants of such types."""
ADVICE = "Replace these layers, or cut the graph before them with output_arrays."
BLOCKED = "com.microsoft.nchwc."
"""How the names of operators begin whose images are blocks of channels, for one processor."""
BLOCKED_ADVICE = (
    "ONNX Runtime wrote com.microsoft.nchwc for the processor it ran on: save the model with "
    "GraphOptimizationLevel.ORT_ENABLE_EXTENDED, or convert the one that was optimized."
)


class Block:
    """Nodes that are lowered together: a model's, a function's or those of a branch.

    Args:
        opsets: versions of the operator sets, by domain.
        functions: the model's own, by (domain, name).
        values: what the nodes see, by name; it grows as they are lowered. None, where a function
            may be given it, stands for an omitted input.
        depth: how many functions it is inside of.
        is_source: whether the tensors are those of the source, whose names they keep.
        dynamic_weights: weights, by name, of layers that quantize what they multiply.
    """

    def __init__(
        self,
        opsets: Mapping[str, int],
        functions: Mapping[tuple[str, str], Any],
        values: dict[str, Any],
        depth: int = 0,
        is_source: bool = False,
        dynamic_weights: frozenset[str] = frozenset(),
    ) -> None:
        self.opsets, self.functions, self.values = opsets, functions, values
        self.depth, self._is_source, self._dynamic_weights = depth, is_source, dynamic_weights
        self.other_floats = OtherFloats()
        self.quantized = QuantizedValues()

    def inner(self, values: dict[str, Any]) -> Block:
        """The nodes of a graph that is an attribute: they see `values` beside what this has."""
        block = Block(self.opsets, self.functions, {**self.values, **values}, self.depth)
        block.other_floats.doubles = self.other_floats.doubles
        return block

    def lower(self, nodes: Iterable[NodeProto], b: Builder) -> None:
        """Appends what the nodes become, and adds what they give to `values`."""
        for proto in nodes:
            inputs = [self.values[name] if name else None for name in proto.input]
            opset = self.opsets.get(domain_of(proto.domain), 1)
            node = Node(proto, opset, inputs, self)
            check_declaration(node, proto, self.opsets)
            if self._is_source:
                b.origin(next(iter(proto.output), proto.name))
            refuse_types(node, node.inputs)
            results = self._outputs(node, b)
            refuse_types(node, results)
            for name, result in zip(proto.output, results, strict=False):
                self.values[name] = result
                if name in self._dynamic_weights and result.fake_quant is not None:
                    result.fake_quant = result.fake_quant._replace(dynamic=True)
                if self._is_source and name and has_no_origin(result):
                    result.origin = Origin(name)

    def _outputs(self, node: Node, b: Builder) -> tuple[Any, ...]:
        """What the node's outputs become: its lowering's results, or those of its definition."""
        function = self.functions.get((node.domain, node.type))
        lowering = None if function is not None else LOWERINGS.get(node.qualified_type)
        if lowering is None:
            body = body_of(node, function)
            if body is not None:
                with node.named():
                    return self._expanded(node, body, b)
            unsupported.refuse({node.qualified_type: [node.name]}, ADVICE)
        assert lowering is not None
        floats = self.other_floats if self.other_floats.are_in(node) else None
        try:
            with node.named():
                results = self.quantized.moved(node, b, lowering, quantize)
                if results is None:
                    results = lowering(floats.in_float32(node, b) if floats else node, b)
        except ModelError:
            raise
        except ValueError as error:  # of a tensor whose rank or value must be known
            advice = "give the model's inputs a fixed shape (input_shapes)"
            raise ConverterError(f"{error}; {advice}") from error
        results = tuple(results) if isinstance(results, tuple) else (results,)
        if floats:
            results = floats.cast_back(node, results, b)
        if len(results) < node.n_outputs:
            raise ConverterError(
                f"{node.type} '{node.name}': has {node.n_outputs} outputs, only the first "
                f"{len(results)} are supported"
            )
        return results

    def _expanded(self, node: Node, body: Body, b: Builder) -> tuple[Any, ...]:
        """The results of the nodes that define an operator."""
        if self.depth == MAX_DEPTH:
            raise ModelError(f"{node.type} '{node.name}': functions must not call themselves")
        values = dict.fromkeys(body.inputs)
        values.update(zip(body.inputs, node.inputs, strict=False))
        block = Block(body.opsets, self.functions, values, self.depth + 1)
        block.other_floats, block.quantized = self.other_floats, self.quantized
        block.lower(body.nodes, b)
        return tuple(values.get(name) for name in body.outputs)


def refuse_types(node: Node, values: Iterable[Any]) -> None:
    """Raises ConverterError for a type that no kernel of TFLite takes."""
    takes_constants = node.type in READS_CONSTANTS
    for x in values:
        if isinstance(x, Tensor) and takes_constants and x.value is not None:
            continue
        if isinstance(x, Tensor) and x.dtype.name.startswith(WITHOUT_KERNELS):
            node.fail(
                f"{x.dtype.name} is not supported, no kernel of TFLite takes it; cast the model to "
                "float32 or int8"
            )


def has_no_origin(x: Any) -> bool:
    """Whether a value is a tensor that is computed, and that no name of the source is known for."""
    return isinstance(x, Tensor) and x.origin is None and not x.is_constant


def lower_model(source: OnnxSource) -> Graph:
    """The IR of an ONNX model.

    Raises:
        UnsupportedOps: some operators have no lowering; all of them are listed.
        ConverterError: a node cannot be lowered as it is used here.
    """
    functions = {(domain_of(f.domain), f.name): f for f in source.functions}
    refuse_unsupported(source.nodes, functions, source.opsets)
    return lowered(partial(_lower, source, functions))


def _lower(source: OnnxSource, functions: Mapping[tuple[str, str], Any], scope: Scope) -> Graph:
    """The IR of a model whose sizes are what `scope` assumes."""
    graph = Graph("main", scope)
    b = Builder(graph)
    tensors: dict[str, Any] = {}
    for port in source.inputs:
        x = b.input(port.name, port.tensor.dtype, port.tensor.sizes, port.dims)
        is_last = has_channels_last(x.sizes, source.channels_last.get(port.name))
        tensors[port.name] = to_channels_first(x, b) if is_last else x
    for name, array in source.arrays.items():
        tensors[name] = b.constant(array, name)
    block = Block(
        source.opsets,
        functions,
        tensors,
        is_source=True,
        dynamic_weights=source.dynamic_weights,
    )
    block.lower(source.nodes, b)
    block.quantized.warn()
    block.other_floats.warn()
    for port in source.outputs:
        if not isinstance(tensors[port.name], Tensor):
            raise ConverterError(
                f"output '{port.name}' must be a tensor, not a sequence or an optional; name "
                "other tensors in output_arrays"
            )
    graph.outputs = [
        to_channels_last(x, b)
        if has_channels_last(x.sizes, source.channels_last.get(port.name))
        else x
        for port in source.outputs
        for x in [tensors[port.name]]
    ]
    graph.output_names = [port.name for port in source.outputs]
    names = (tuple(p.key for p in ports) for ports in (source.inputs, source.outputs))
    graph.signature = Signature(source.key, *names)
    return graph


def refuse_unsupported(
    nodes: Iterable[NodeProto],
    functions: Mapping[tuple[str, str], Any],
    opsets: Mapping[str, int],
) -> None:
    """Raises UnsupportedOps naming every operator without a lowering, each with a node."""
    missing: dict[str, list[str]] = {}
    called: set[tuple[str, str]] = set()
    for node in _all_nodes(nodes, functions, called):
        if (domain_of(node.domain), node.op_type) in functions:
            continue
        kind = qualified(node.domain, node.op_type)
        if LOWERINGS.get(kind) is None and not has_definition(node, opsets):
            missing.setdefault(kind, []).append(node_name(node))
    is_blocked = any(kind.startswith(BLOCKED) for kind in missing)
    unsupported.refuse(missing, BLOCKED_ADVICE if is_blocked else ADVICE)


def _all_nodes(
    nodes: Iterable[NodeProto],
    functions: Mapping[tuple[str, str], Any],
    called: set[tuple[str, str]],
) -> Iterator[NodeProto]:
    """The nodes, those of graphs inside them, and those of functions they call, each once."""
    pending = [nodes]
    while pending:
        for node in nodes_within(pending.pop()):
            yield node
            key = (domain_of(node.domain), node.op_type)
            if key in functions and key not in called:
                called.add(key)
                pending.append(functions[key].node)


def has_definition(node: NodeProto, opsets: Mapping[str, int]) -> bool:
    """Whether ONNX defines the operator by a function of others."""
    schema = schema_of(node.op_type, node.domain, opsets.get(domain_of(node.domain), 1))
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def node_name(node: NodeProto) -> str:
    """A node's name, or its first output's where it has none."""
    return node.name or next(iter(node.output), "")
