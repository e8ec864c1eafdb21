"""`.tflite` files of anybody's making as sources: to shorten them, or to quantize them.

A file with quantized, sparse or packed tensors becomes an IR that is `final`: every tensor has the
type, shape and quantization that the file states, and no pass changes what is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...interpreter.interpreter import Interpreter
from ...interpreter.model import LoadedModel
from ...interpreter.spec import OperatorSpec, SubgraphSpec, TensorSpec
from ...schema.associated_files import read_files
from ...schema.errors import DeadlineExceededError, InvalidArgumentError
from ...schema.external import embedded
from ...schema.files import read_bytes
from ...schema.flatbuffer import parse
from ...schema.metadata import METADATA
from ...schema.model import unique_names
from ...schema.operators import Operator, known
from ...schema.quantization import Quantization
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Origin, Signature, Tensor
from ..ir.infer import dynamic_tensor, infer
from ..ir.sizes import Scope, lowered
from ..verify.oracle import NotVerified, Oracle
from .source import Port, SourceTensor

if TYPE_CHECKING:
    from ...graph.core.shapes import Shape


@dataclass(frozen=True)
class FileSource:
    """One signature of a file, or its first subgraph when it has none.

    Attributes:
        model: the file.
        subgraph: index of the subgraph.
        key: the signature's key, None without one.
        inputs: the inputs, in the subgraph's order.
        outputs: the outputs, in the subgraph's order.
        reason: why the IR is final, in words; empty for a plain float file.
        metadata: the file's entries, by name.
        associated_files: files packed behind it, by name.
        grids: on which steps float constants lie, by subgraph and tensor.
    """

    model: LoadedModel
    subgraph: int
    key: str | None
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    reason: str = ""
    metadata: dict[str, bytes] = field(default_factory=dict)
    associated_files: dict[str, bytes] = field(default_factory=dict)
    grids: dict[tuple[int, int], Quantization] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """As the metadata calls it."""
        return "tflite"

    def operation_types(self) -> set[str]:
        """The kinds of the subgraph's operators."""
        return {op.kind for op in self.model.subgraph(self.subgraph).operators}

    def constants(self) -> dict[str, int]:
        """The constants' bytes, by name."""
        tensors = self.model.subgraph(self.subgraph).tensors
        return {t.name: int(prod(t.shape)) * t.dtype.itemsize for t in tensors if t.is_constant}

    def lower(self, allow_custom_ops: bool = False) -> Graph:
        """The IR of the subgraph; what it calls comes with it."""
        final = bool(self.reason)
        shapes = [port.tensor.sizes for port in self.inputs]
        graph = lowered(lambda scope: _Reader(self, scope, final).graph(self.subgraph, shapes))
        graph.output_names = [port.name for port in self.outputs]
        if self.key is not None:
            graph.name = self.key
            names = (tuple(p.key for p in ports) for ports in (self.inputs, self.outputs))
            graph.signature = Signature(self.key, *names)
        return graph

    def oracle(self) -> Oracle:
        """The interpreter, on the file as it was."""
        return FileOracle(self)


def load(content: str | os.PathLike | bytes) -> list[FileSource]:
    """The signatures of a `.tflite` file, or its first subgraph when it has none.

    Args:
        content: a path, or the bytes of a file.

    Raises:
        OSError: there is no such file.
        ModelError: it is no `.tflite` file, or damaged, or needs a file that is not in its folder.
    """
    is_path = isinstance(content, str | os.PathLike)
    folder = os.path.dirname(os.path.abspath(os.fsdecode(content))) if is_path else None
    data = read_bytes(content) if is_path else bytes(content)
    model = LoadedModel(data)
    if folder is not None and not model.is_alone:
        model = LoadedModel(embedded(data, folder))
    reasons = (reason_final(model.subgraph(i)) for i in range(model.n_subgraphs))
    reason = next(filter(None, reasons), "")
    metadata, files = _metadata(model), read_files(model.content)
    signatures = [
        _source(model, signature.subgraph, signature.key, signature.inputs, signature.outputs)
        for signature in model.signatures.values()
    ]
    sources = signatures or [_source(model, 0, None, {}, {})]
    if sources[0].subgraph != 0:  # they describe the first subgraph
        metadata.pop(METADATA, None)
    return [
        replace(source, reason=reason, metadata=metadata, associated_files=files)
        for source in sources
    ]


def reason_final(spec: SubgraphSpec) -> str:
    """Why no pass may change the subgraph: what of it passes do not know; empty for none."""
    for tensor in spec.tensors:
        if tensor.quantization is not None and tensor.dtype.kind in "iu":
            return f"tensor '{tensor.name}' is {tensor.dtype} with a scale"
        if tensor.bits:
            return f"tensor '{tensor.name}' is {tensor.type_name}"
        if tensor.sparsity is not None:
            return f"tensor '{tensor.name}' is sparse"
        if tensor.is_variable and tensor.has_data:
            return f"variable '{tensor.name}' has a first value"
    for operator in spec.operators:
        if operator.intermediates:
            return f"{operator.kind} has intermediate tensors"
    return ""


def _metadata(model: LoadedModel) -> dict[str, bytes]:
    """The metadata of a file, by name."""
    root = parse(model.content)
    buffers = root.buffers
    entries = {}
    for entry in root.metadata or ():
        data = buffers[entry.buffer].data
        entries[entry.name or ""] = b"" if data is None else bytes(data)
    return entries


def _source(
    model: LoadedModel,
    subgraph: int,
    key: str | None,
    inputs: dict[str, int],
    outputs: dict[str, int],
) -> FileSource:
    spec = model.subgraph(subgraph)
    ends = (_ports(spec, spec.inputs, inputs), _ports(spec, spec.outputs, outputs))
    return FileSource(model, subgraph, key, *ends)


def _ports(spec: SubgraphSpec, ends: Sequence[int], names: dict[str, int]) -> tuple[Port, ...]:
    """The ports of a subgraph's inputs or outputs; one may leave under several names."""
    unused_names = dict(names)
    ports = []
    for i in ends:
        tensor = spec.tensors[i]
        key = next((name for name, index in unused_names.items() if index == i), tensor.name)
        unused_names.pop(key, None)
        entering = SourceTensor(tensor.name, tensor.dtype, tensor.dimensions, tensor.shape)
        ports.append(Port(key, tensor.name, entering))
    return tuple(ports)


MAX_INLINED = 10_000
"""Operators of a subgraph that may stand in the place of its CALL."""


class _Reader:
    """Makes graphs of the subgraphs of a file, each once; `final` ones as the file states them."""

    def __init__(self, source: FileSource, scope: Scope, final: bool) -> None:
        self.model, self.grids = source.model, source.grids
        self.scope = scope
        self.final = final
        self.graphs: dict[int, Graph] = {}
        self.n_operators: dict[int, int] = {}

    def graph(self, index: int, shapes: Sequence[Shape] | None = None) -> Graph:
        """The IR of subgraph `index`; `shapes` of inputs instead of those in the file."""
        if index in self.graphs:
            return self.graphs[index]
        spec = self.model.subgraph(index)
        graph = self.graphs[index] = Graph(spec.name or f"subgraph_{index}", self.scope)
        graph.is_final = self.final
        b = Builder(graph)
        tensors: dict[int, Tensor] = {}
        shapes = shapes or [spec.tensors[i].dimensions for i in spec.inputs]
        for i, shape in zip(spec.inputs, shapes, strict=True):
            entering = spec.tensors[i]
            tensors[i] = b.input(entering.name, entering.dtype, shape)
            tensors[i].quantization = entering.quantization
            tensors[i].is_variable = entering.is_variable
        for operator in spec.operators:
            self._append(graph, spec, operator, tensors, b)
        for i, name in enumerate(unique_names(tensor.name for tensor in spec.tensors)):
            if i in tensors and tensors[i].producer is not None:
                tensors[i].origin = Origin(name)
        graph.outputs = [self._operand(spec.tensors[i], tensors, b) for i in spec.outputs]
        graph.output_names = [spec.tensors[i].name for i in spec.outputs]
        return graph

    def _append(
        self,
        graph: Graph,
        spec: SubgraphSpec,
        operator: OperatorSpec,
        tensors: dict[int, Tensor],
        b: Builder,
    ) -> None:
        """Puts one operator of the file at the end of the graph, or those that it calls."""
        inputs = [
            None if i < 0 else self._operand(spec.tensors[i], tensors, b) for i in operator.inputs
        ]
        called = self._called(operator)
        if called is not None and self._may_inline(called, inputs):
            tensors.update(self._inlined(graph, called, operator, inputs, b))
            return
        for i, tensor in zip(operator.inputs, inputs, strict=True):
            if tensor is not None and tensor.is_constant:
                tensor.grid = self.grids.get((spec.index, i))
        if not self.final and not operator.is_custom:
            flatten_bias(known(operator.kind), inputs, b)
        results = [spec.tensors[i] for i in operator.outputs]
        certain, self.scope.is_certain = self.scope.is_certain, False
        calls = [
            self.graph(int(index))
            for field in ([] if operator.is_custom else known(operator.kind).calls)
            for index in np.atleast_1d(getattr(operator.options, field))
        ]
        self.scope.is_certain = certain
        op = Op(
            "CUSTOM" if operator.is_custom else operator.kind,
            inputs,
            [],
            operator.options,
            custom_code=operator.kind if operator.is_custom else "",
            custom_options=operator.custom_options,
            graphs=calls,
            origin=results[0].name if results else operator.kind,
        )
        op.intermediates = tuple(declared(graph, spec.tensors[i]) for i in operator.intermediates)
        op.outputs = self._results(graph, op, results)
        for i, tensor, result in zip(operator.outputs, results, op.outputs, strict=True):
            result.name, result.is_variable = tensor.name, tensor.is_variable
            tensors[i] = result
        graph.append(op)

    def _called(self, operator: OperatorSpec) -> SubgraphSpec | None:
        """What a CALL runs; None for other operators."""
        if operator.kind != "CALL" or operator.options is None:
            return None
        return self.model.subgraph(operator.options.subgraph)

    def _may_inline(self, called: SubgraphSpec, inputs: Sequence[Tensor | None]) -> bool:
        """Whether what a CALL runs may stand in its place.

        Holds off on variables, which belong to the subgraph, on operands that it takes for others
        than they are, and on models that would be too long.
        """
        if self._n_operators(called.index) > MAX_INLINED:
            return False
        if any(tensor.is_variable for tensor in called.tensors):
            return False
        parameters = (called.tensors[i] for i in called.inputs)
        return all(
            x is not None and (x.dtype, x.quantization) == (spec.dtype, spec.quantization)
            for x, spec in zip(inputs, parameters, strict=True)
        )

    def _n_operators(self, index: int) -> int:
        """How many operators a subgraph has with those that its CALLs run."""
        if index not in self.n_operators:
            operators = self.model.subgraph(index).operators
            called = [spec.index for spec in map(self._called, operators) if spec is not None]
            self.n_operators[index] = len(operators) + sum(map(self._n_operators, called))
        return self.n_operators[index]

    def _inlined(
        self,
        graph: Graph,
        called: SubgraphSpec,
        call: OperatorSpec,
        inputs: Sequence[Tensor | None],
        b: Builder,
    ) -> dict[int, Tensor]:
        """The results of a CALL, by their numbers in the caller, of the operators that it runs.

        LiteRT has no kernel for CALL.
        """
        tensors = {i: x for i, x in zip(called.inputs, inputs, strict=True) if x is not None}
        for operator in called.operators:
            self._append(graph, called, operator, tensors, b)
        results = [self._operand(called.tensors[i], tensors, b) for i in called.outputs]
        return dict(zip(call.outputs, results, strict=True))

    def _results(self, graph: Graph, op: Op, specs: list[TensorSpec]) -> list[Tensor]:
        """What an operator results in; what the file says where the interpreter lacks it."""
        dtypes = [spec.dtype for spec in specs]
        if not self.final and op.kind != "CUSTOM" and not op.graphs:
            if op.kind.startswith("STABLEHLO_"):  # the file alone has the shapes of some
                op.outputs = [declared(graph, spec) for spec in specs]
            return infer(graph, op, dtypes)
        results = [declared(graph, spec) for spec in specs]
        if op.kind == "CUSTOM" or op.graphs or all(result.is_static for result in results):
            return results
        op.outputs = results  # whose scales `prepare` looks at
        for result, inferred in zip(results, infer(graph, op, dtypes), strict=True):
            if inferred.is_static:  # of inputs that got sizes which the file leaves open
                result.sizes = inferred.sizes
        return results

    def _operand(self, spec: TensorSpec, tensors: dict[int, Tensor], b: Builder) -> Tensor:
        """An operator's input: made before, a constant, or a variable."""
        if spec.index in tensors:
            return tensors[spec.index]
        if spec.is_constant:
            tensor = b.constant(spec.value, name=spec.name)
        elif spec.is_variable and spec.has_data:
            tensor = b.constant(spec.initial(), name=spec.name)
        elif prod(spec.shape) == 0:
            tensor = b.constant(np.empty(spec.shape, spec.dtype), name=spec.name)
        else:
            tensor = Tensor(spec.name, spec.dtype, spec.shape)
        tensor.is_variable = spec.is_variable
        tensor.quantization, tensor.sparsity = spec.quantization, spec.sparsity
        tensors[spec.index] = tensor
        return tensor


def flatten_bias(row: Operator, inputs: list[Tensor | None], b: Builder) -> None:
    """Makes a constant bias among `inputs` a vector: LiteRT takes those of one row, too."""
    if "linear" not in row.traits:
        return
    position = row.position("bias")
    bias = inputs[position] if position < len(inputs) else None
    if bias is not None and bias.is_constant and bias.data.ndim > 1:
        inputs[position] = b.constant(bias.data.ravel(), name=bias.name)


def declared(graph: Graph, spec: TensorSpec) -> Tensor:
    """A tensor as the file states it; dimensions that it leaves open are known at run time only."""
    tensor = dynamic_tensor(graph, spec.name, spec.dtype, spec.dimensions)
    tensor.quantization = spec.quantization
    return tensor


class FileOracle:
    """A `.tflite` file on the interpreter; names of tensors are those of `unique_names`."""

    def __init__(self, source: FileSource) -> None:
        self.source = source
        self.spec = source.model.subgraph(source.subgraph)
        self.inputs = [port.tensor for port in source.inputs]
        names = unique_names(tensor.name for tensor in self.spec.tensors)
        self.indices = {name: i for i, name in enumerate(names)}
        self.outputs = [names[i] for i in self.spec.outputs]
        self.integer_casts = ()  # the same kernels run the file that is written
        self._interpreter: Interpreter | None = None

    def check(self) -> None:
        """Raises NotVerified when the file cannot be run here."""
        try:
            self._ready()
        except (RuntimeError, ValueError) as error:
            raise NotVerified(f"the interpreter cannot run it: {error}") from None

    def changed(self, change: Callable[[np.ndarray], np.ndarray]) -> FileOracle:
        """The same file: what it stores may be read as it is."""
        return self

    def requantized(
        self, change: Callable[[np.ndarray], np.ndarray], name: str, arrays: Sequence[np.ndarray]
    ) -> FileOracle:
        """The same file."""
        return self

    def _ready(self) -> Interpreter:
        if self._interpreter is None:
            self._interpreter = Interpreter(
                model_content=self.source.model.content, experimental_preserve_all_tensors=True
            )
        return self._interpreter

    def run(
        self,
        names: Sequence[str],
        arrays: Sequence[np.ndarray],
        seconds: float | None = None,
        memory: int | None = None,
    ) -> list[np.ndarray]:
        """The tensors of these names, for one array per input."""
        from ..verify.verification import run_first, run_signature

        interpreter = self._ready()
        try:
            if self.source.key is None:
                run_first(interpreter, arrays, seconds)
            else:
                keys = [port.key for port in self.source.inputs]
                run_signature(interpreter, self.source.key, keys, arrays, seconds)
            return [
                interpreter.get_tensor(self.indices[name], self.source.subgraph) for name in names
            ]
        except TimeoutError as error:
            raise DeadlineExceededError(None, None, str(error)) from None
        except RuntimeError as error:
            raise InvalidArgumentError(None, None, str(error)) from None
        finally:
            interpreter.reset_all_variables()
