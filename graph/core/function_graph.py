"""Graphs that are traced as the bodies of functions: branches, loops, and their gradients.

    body = FunctionGraph(get_default_graph())
    with body.as_default():
        body.outputs = [x * 2]            # x is of the graph around: an argument of the function

A tensor of a graph around becomes an argument when an operation of the body reads it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast, overload

import numpy as np

from .contexts import Context, unreachable
from .create import append
from .graph import Graph, Operation, Tensor
from .library import Function, FunctionLibrary
from .order import data_inputs, ordered
from .scopes import get_default_graph, graph_name_scope
from .shapes import Shape
from .signatures.attributes import FunctionRef

if TYPE_CHECKING:
    from .protocols import AttrValue, DTypeAttr, ElementLike

VARIABLES = ("Variable", "VariableV2")
"""Operations that give a reference to a variable."""
ABSENT = "_absent"
"""The attribute of a constant that stands in a branch for a value that only another one has."""
ANY: Shape = (-1,)
"""In the place of a shape: that of the tensor."""
_LARGEST_COPIED = 64
"""Elements up to which an integer constant is copied into the body, so that shapes are known."""


class FunctionGraph(Graph):
    """The body of a function that is called where `outer` is.

    Attributes:
        outer: The graph around.
        captures: Tensors of the graph around -> the arguments that stand for them.
        sources: The tensor that carries the value of each argument inside; it is another one than
            the argument for references to variables.
        controls: Operations of graphs around that something inside waits for.
    """

    def __init__(self, outer: Graph):
        super().__init__(outer.functions)
        self.outer: Graph = outer  # pyright: ignore[reportIncompatibleVariableOverride]
        self.inputs: list[Tensor] = []  # pyright: ignore[reportIncompatibleVariableOverride]
        self.outputs: list[Tensor] = []  # pyright: ignore[reportIncompatibleVariableOverride]
        self.captures: dict[Tensor, Tensor] = {}
        self.sources: dict[Tensor, Tensor] = {}
        self.controls: dict[Operation, None] = {}
        self._copies: dict[Tensor, Tensor] = {}
        self.scopes.collections = outer.scopes.collections
        self.scopes.extras = outer.scopes.extras
        self.scopes.seed = outer.scopes.seed
        self.scopes.gradient_overrides = outer.scopes.gradient_overrides

    @property
    def parents(self) -> Sequence[Graph]:
        """The graphs directly around it."""
        return [self.outer]

    def _free_name(self, name: str) -> str:
        """A name for what stands for something around, outside of all scopes."""
        candidate, n = name, 0
        while candidate in self:
            n += 1
            candidate = f"{name}_{n}"
        return candidate

    @contextlib.contextmanager
    def traced(self) -> Generator[None]:
        """A block in which operations are added to it, under its scope and by names free there.

        As in TensorFlow, where bodies of loops and branches are parts of the graph around.
        """
        scope = "" if self.context is None else self.context.scope
        prefix, names = scope.lower(), self.outer._names_in_use
        self._names_in_use.update((x, n) for x, n in names.items() if x.startswith(prefix))
        with self.as_default(), graph_name_scope(self, scope):
            yield
        names.update(
            (x, n) for x, n in self._names_in_use.items() if scope and x.startswith(prefix)
        )

    def argument(self, like: Tensor, name: str = "arg", shape: Shape = ANY) -> Tensor:
        """A new argument of the dtype of a tensor, and of its shape or another one."""
        return self.parameter(like.dtype, like.sizes if shape is ANY else shape, name)

    def parameter(self, dtype: DTypeAttr, shape: Shape, name: str = "arg") -> Tensor:
        """A new argument."""
        attrs = {"T": dtype, "index": len(self.inputs)}
        tensor = self.add("_Arg", self._free_name(name), (), attrs).outputs[0]
        tensor.set_shape(shape)
        self.inputs.append(tensor)
        return tensor

    def capture(self, tensor: Tensor, user: str = "") -> Tensor:
        """What stands inside for a tensor of this graph or one around.

        Raises ValueError when it is of another graph; `user` is the name of what reads it.
        """
        if tensor.graph is self:
            return tensor
        inside = self._copies.get(tensor)
        if inside is None:
            if tensor.graph not in around(self):
                words = unreachable(tensor, self, user or tensor.op.name)
                if words is None:
                    words = (
                        f"{tensor} must be from the same graph as the function, or one around it"
                    )
                raise ValueError(words)
            inside = self._copies[tensor] = self._captured(tensor)
        return inside

    def _captured(self, tensor: Tensor) -> Tensor:
        op = tensor.op
        if op.type == "Const" and _is_small_integer(op):
            return self.add("Const", self._free_name(_last(op)), (), op.attrs).outputs[0]
        argument = self.captures[tensor] = self.argument(tensor, _last(op))
        if op.type not in VARIABLES:
            return argument
        shared = op.attrs.get("shared_name") or op.name.encode()
        attrs = {**op.attrs, "shared_name": shared}
        inside = self.add(op.type, self._free_name(_last(op)), (), attrs).outputs[0]
        self.sources[argument] = inside
        return inside

    @overload
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, *, allow_operation: Literal[False]
    ) -> Tensor: ...
    @overload
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation: ...
    def as_graph_element(
        self, obj: ElementLike, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Tensor | Operation:
        """As that of a Graph; for what is of a graph around, what stands for it inside."""
        convert = getattr(obj, "as_graph_element", None)
        if convert is not None and not isinstance(obj, Graph):
            obj = convert()
        if isinstance(obj, Tensor):
            obj = self.capture(obj)
        elif isinstance(obj, Operation) and obj.graph is not self:
            if obj.graph not in around(self):
                raise ValueError(f"Operation {obj} is not an element of this graph.")
            self.controls[obj] = None
            return append(self, "NoOp", self._free_name(_last(obj)), (), {})
        return super().as_graph_element(obj, allow_tensor, allow_operation=allow_operation)


def _last(op: Operation) -> str:
    return op.name.rpartition("/")[2].lstrip("_") or "arg"


def _is_small_integer(op: Operation) -> bool:
    value = op.attrs.get("value")
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "iub"
        and value.size <= _LARGEST_COPIED
    )


def around(graph: Graph) -> list[Graph]:
    """A graph and those whose tensors it can have."""
    graphs: dict[Graph, None] = {}
    waiting: list[Graph] = [graph]
    while waiting:
        graph = waiting.pop()
        graphs[graph] = None
        if isinstance(graph, FunctionGraph):
            waiting += [parent for parent in graph.parents if parent not in graphs]
    return list(graphs)


def outermost(graph: Graph) -> Graph:
    """The graph that variables are made in: the one around all functions."""
    while graph.outer is not None:
        graph = graph.outer
    return graph


def captured(graph: Graph) -> dict[Tensor, Tensor]:
    """What stands inside of a function for tensors of the graph around -> those."""
    if not isinstance(graph, FunctionGraph):
        return {}
    outside = {inside: tensor for tensor, inside in graph.captures.items()}
    for argument, source in graph.sources.items():
        if argument in outside:
            outside[source] = outside[argument]
    return outside


def origin(tensor: Tensor) -> Tensor:
    """The tensor of the outermost graph that an argument stands for, as far as it is one."""
    graph = tensor.graph
    while isinstance(graph, FunctionGraph):
        outer = next((t for t, inside in graph.captures.items() if inside is tensor), None)
        if outer is None:
            break
        tensor, graph = outer, outer.graph
    return tensor


def unify(graphs: Sequence[FunctionGraph], first: Sequence[Tensor] = ()) -> list[Tensor]:
    """Lets functions take the same arguments: `first`, then all that any of them captured.

    Gives the tensors of the graph around that a call passes.
    """
    tensors = dict.fromkeys(first)
    for graph in graphs:
        tensors.update(dict.fromkeys(graph.captures))
    for graph in graphs:
        for tensor in tensors:
            if tensor not in graph.captures:
                graph.captures[tensor] = graph.argument(tensor, _last(tensor.op))
        graph.inputs = [graph.captures[tensor] for tensor in tensors]
        for index, argument in enumerate(graph.inputs):
            argument.op.attrs["index"] = index
    return list(tensors)


def unify_behind(graphs: Sequence[FunctionGraph], n: int) -> list[Tensor]:
    """Does what `unify` does, behind the first `n` arguments of each, which stay as they are."""
    first = [graph.inputs[:n] for graph in graphs]
    for graph in graphs:
        graph.inputs = graph.inputs[n:]
    captured = unify(graphs)
    for graph, arguments in zip(graphs, first, strict=True):
        graph.inputs = arguments + graph.inputs
        for index, argument in enumerate(graph.inputs):
            argument.op.attrs["index"] = index
    return captured


def define(body: Graph, name: str) -> FunctionRef:
    """Adds a function with this body to the library of its graph, under a name of its own."""
    library: FunctionLibrary = body.functions
    function = Function.of(library.unique_name(name), body)
    library.add(function)
    return FunctionRef(function.name)


def redefine(reference: FunctionRef, body: Graph) -> None:
    """Lets a function have the arguments and results that its body has now."""
    body.functions.add(Function.of(reference.name, body))


ENDS = ("_Arg", "_Retval")
"""Where values enter and leave a body; TensorFlow lists them among the operations with effects."""


def is_stateful(bodies: Iterable[Graph]) -> bool:
    """Whether any of some bodies has operations with effects."""
    return any(
        op.type in VARIABLES or (op.signature is not None and op.signature.is_stateful)
        for body in bodies
        for op in body.operations
        if op.type not in ENDS
    )


def copy_graph(
    source: Graph, target: Graph, tensors: Mapping[Tensor, Tensor] | None = None
) -> dict[Tensor, Tensor]:
    """Adds copies of all operations of a graph; gives the copies of their tensors.

    `tensors` says what takes the place of some of them.
    """
    copies: dict[Tensor, Tensor] = dict(tensors or {})
    replaced = {tensor.op for tensor in copies}
    operations: dict[Operation, Operation] = {}
    # Loops get inputs that are made later.
    for op in ordered(source.operations, lambda op: [*data_inputs(op), *op.control_inputs]):
        if op in replaced:
            continue
        inputs = [copies[tensor] for tensor in op.inputs]
        controls = [operations[c] for c in op.control_inputs if c in operations]
        attrs: dict[str, AttrValue] = dict(op.attrs)
        n_outputs = len(op.outputs)
        copied = target.add(op.type, op.name, inputs, attrs, controls, op.device, n_outputs)
        operations[op] = copied
        for old, new in zip(op.outputs, copied.outputs, strict=True):
            new.set_shape(old.sizes)
        copies.update(zip(op.outputs, copied.outputs, strict=True))
    return copies


def copy_ancestors(
    tensor: Tensor, target: Graph, check: Callable[[Operation], object] = lambda op: None
) -> Tensor:
    """Adds copies of what a tensor is computed from to another graph; gives the tensor's.

    `check` is called for each operation first.
    """
    copies: dict[Tensor, Tensor] = {}
    for op in ordered([tensor.op], lambda op: [*data_inputs(op), *op.control_inputs]):
        check(op)
        inputs = [copies[operand] for operand in op.inputs]
        copied = target.add(op.type, op.name, inputs, dict(op.attrs), (), op.device)
        for old, new in zip(op.outputs, copied.outputs, strict=True):
            new.set_shape(old.sizes)
            copies[old] = new
    return copies[tensor]


def trace_graph(kind: str = "", scope: str = "") -> FunctionGraph:
    """A new body for a function that is called from the default graph: of a loop or branch."""
    graph = FunctionGraph(get_default_graph())
    graph.context = Context(kind, scope) if kind else None
    return graph


def add_outputs(
    op: Operation, tensors: Sequence[Tensor], types: str, have_shapes: bool = True
) -> list[Tensor]:
    """More outputs of a call, of the dtypes and, if so, shapes of results of its function."""
    dtypes = list(cast("Sequence[AttrValue]", op.get_attr(types)))
    shapes = list(op.get_attr("output_shapes")) if "output_shapes" in op.attrs else []
    results: list[Tensor] = []
    for tensor in tensors:
        output = Tensor(op, len(op.outputs), tensor.dtype)
        output.set_shape(tensor.sizes if have_shapes else None)
        op.outputs.append(output)
        results.append(output)
        dtypes.append(cast("AttrValue", tensor.dtype))
        shapes.append(output.sizes)
    op.attrs[types] = dtypes
    if "output_shapes" in op.attrs:
        op.attrs["output_shapes"] = shapes
    return results
