"""The converter's one intermediate form: TFLite operators whose edges are object references.

Passes, quantization and the writer work on it. `Tensor.producer` and `Tensor.readers` are kept true
by the methods of Graph and by `Op.set_input`; nothing else assigns them. `str(graph)` is its text
form (text.py), which parse.py reads back.

An unknown dimension is never a number: it is an expression over the unknown dimensions of the
source (dims.py). What is computed from sizes alone is known element by element, as an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from .dims import Dim, Extent, name_of, opaque_names, subtract
from .sizes import Scope, extent
from .text import to_text

Sizes = tuple[Extent, ...]


class Elements(NamedTuple):
    """A value that depends on unknown sizes alone.

    Attributes:
        reference: the value where every unknown size takes its reference.
        extents: an array of the same shape; for each element a number or an expression, which for
            floats and booleans is an opaque one.
    """

    reference: np.ndarray
    extents: np.ndarray


@dataclass(frozen=True)
class Origin:
    """The tensor of the source model that an IR tensor equals.

    Attributes:
        name: its name in the source ("block1/conv/BiasAdd:0").
        layout: the permutation of the IR tensor's axes that gives the source's; None when equal.
    """

    name: str
    layout: tuple[int, ...] | None = None

    def permuted(self, order: Sequence[int]) -> Origin:
        """The origin of `transpose(t, order)`, where this is the origin of `t`."""
        inverse = tuple(int(i) for i in np.argsort(order))
        layout = inverse if self.layout is None else tuple(inverse[i] for i in self.layout)
        return Origin(self.name, None if layout == tuple(range(len(layout))) else layout)


@dataclass(frozen=True)
class Signature:
    """The public names of a graph's inputs and outputs, in the order of the graph's lists."""

    key: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Tensor:
    """A value that flows: a model input, a constant, or a result of an operator.

    Attributes:
        name: its name; inputs keep it in the file, intermediates get a short one from it.
        dtype: numpy dtype.
        sizes: its dimensions, numbers or expressions; None where not even the rank is known.
        value: its value where it is known and the same at all sizes, else None.
        elements: its value where it is known but for unknown sizes, else None.
        producer: the Op that gives it; None for inputs and constants.
        readers: the Ops that take it, one entry for each input that does.
        quantization: schema.model.Quantization or None.
        origin: the source tensor it equals, None when it equals none.
        is_variable: whether it keeps its content from run to run.
        sparsity: the schema's sparsity record or None.
        fake_quant: of a constant that the source fake-quantized, the ranges; else None.
        grid: the Quantization on whose steps a float32 constant lies already, else None.
        n_source: of a constant that is a part of weights of the source, how many elements these
            have; else 0.
    """

    __slots__ = (
        "dtype",
        "elements",
        "fake_quant",
        "grid",
        "is_variable",
        "n_source",
        "name",
        "origin",
        "producer",
        "quantization",
        "readers",
        "sizes",
        "sparsity",
        "value",
    )

    def __init__(
        self,
        name: str,
        dtype: np.dtype,
        sizes: Sizes | None,
        value: np.ndarray | None = None,
        *,
        elements: Elements | None = None,
        origin: Origin | None = None,
        quantization: Any = None,
    ) -> None:
        self.name = name
        self.dtype = np.dtype(dtype)
        self.sizes = sizes
        self.value = value
        self.elements = elements
        self.producer: Op | None = None
        self.readers: list[Op] = []
        self.quantization = quantization
        self.origin = origin
        self.is_variable = False
        self.sparsity: Any = None
        self.fake_quant: Any = None
        self.grid: Any = None
        self.n_source = 0

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The dimensions, None for an unknown one; None when not even the rank is known."""
        if self.sizes is None:
            return None
        return tuple(n if isinstance(n, int) else None for n in self.sizes)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, None when unknown."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is a number."""
        return self.sizes is not None and all(isinstance(n, int) for n in self.sizes)

    @property
    def dims(self) -> tuple[int | None, ...]:
        """The shape of a tensor whose rank is known; raises ValueError for another."""
        shape = self.shape
        if shape is None:
            raise ValueError(f"the rank of '{self.name}' must be known")
        return shape

    @property
    def data(self) -> np.ndarray:
        """The value of a tensor whose value is known; raises ValueError for another."""
        value = self.value
        if value is None:
            raise ValueError(f"the value of '{self.name}' must be known")
        return value

    @property
    def is_constant(self) -> bool:
        """Whether it is data of the model, not computed from anything."""
        return self.producer is None and self.value is not None

    def __repr__(self) -> str:
        return f"<Tensor '{self.name}' {self.dtype} {self.shape}>"


SEARCH_WINDOW = 64  # ops on either side of the last position that are looked at first


class Op:
    """A TFLite operator.

    Attributes:
        kind: the builtin's name in the schema, or "CUSTOM".
        inputs: Tensors; change them with `set_input`.
        outputs: Tensors.
        options: the schema's options record, None for ops without.
        custom_code, custom_options: name and bytes of a custom op.
        graphs: the graphs it calls (IF, WHILE, CALL_ONCE), in the order of its options' fields.
        origin: name of the source node, for messages.
        intermediates: Tensors that hold the quantization of its inner values.
        implements: the layer that the source says it is one implementation of, else empty.
    """

    __slots__ = (
        "_inputs",
        "custom_code",
        "custom_options",
        "graphs",
        "implements",
        "intermediates",
        "kind",
        "options",
        "origin",
        "outputs",
    )

    def __init__(
        self,
        kind: str,
        inputs: Iterable[Tensor | None],
        outputs: Iterable[Tensor],
        options: Any = None,
        *,
        custom_code: str = "",
        custom_options: bytes = b"",
        graphs: Sequence[Graph] = (),
        origin: str = "",
    ) -> None:
        self.kind = kind
        self._inputs = list(inputs)
        self.outputs = list(outputs)
        self.options = options
        self.custom_code = custom_code
        self.custom_options = custom_options
        self.graphs = tuple(graphs)
        self.origin = origin
        self.intermediates: tuple[Tensor, ...] = ()
        self.implements = ""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors it takes; None for an omitted one: see `input` and `present_inputs`."""
        return cast("tuple[Tensor, ...]", tuple(self._inputs))

    @property
    def present_inputs(self) -> list[Tensor]:
        """The inputs that are not omitted."""
        return [tensor for tensor in self._inputs if tensor is not None]

    @property
    def name(self) -> str:
        """That of its first result; without one that of its source node, or of what it acts on."""
        if self.outputs:
            return self.outputs[0].name
        return self.origin or next((tensor.name for tensor in self.present_inputs), "")

    @property
    def output(self) -> Tensor:
        """The first result."""
        return self.outputs[0]

    def input(self, i: int) -> Tensor | None:
        """Input `i`, None when it is omitted or the list is shorter."""
        return self._inputs[i] if i < len(self._inputs) else None

    def set_input(self, i: int, tensor: Tensor | None) -> None:
        """Makes `tensor` input `i`; a list that is too short is filled with omitted inputs."""
        while len(self._inputs) <= i:
            self._inputs.append(None)
        before = self._inputs[i]
        if before is not None:
            before.readers.remove(self)
        self._inputs[i] = tensor
        if tensor is not None:
            tensor.readers.append(self)

    def __repr__(self) -> str:
        return f"<Op {self.kind} '{self.name}'>"


class Graph:
    """Operators in an order in which they can run, and the tensors that enter and leave.

    Attributes:
        name: the subgraph's name.
        inputs: Tensors in the order of the source.
        outputs: Tensors in the order of the source; one may appear twice, or be an input.
        output_names: the names the outputs have in the file; None takes the tensors' own.
        signature: public names for this graph, None for a graph that is only called.
        ops: Ops.
        scope: the unknown sizes of this graph and of those it calls.
        demands: sizes that are 0 whenever this graph is run.
        is_final: whether it is what a quantized file states: passes only drop what nobody reads.
    """

    def __init__(self, name: str = "main", scope: Scope | None = None) -> None:
        self.name = name
        self.scope = Scope() if scope is None else scope
        self.demands: dict[Dim, None] = {}
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.output_names: list[str] | None = None
        self.signature: Signature | None = None
        self.ops: list[Op] = []
        self.is_final = False
        self._last_position = 0

    def demand(self, first: Any, second: Any) -> None:
        """Notes that an operator takes two sizes, or shapes, only where they are equal."""
        if not self.scope.is_lowering:
            return
        demands = self.scope.demands if self.scope.is_certain else self.demands
        pairs = [(first, second)] if isinstance(first, int) else zip(first, second, strict=True)
        differences = (subtract(extent(x), extent(y)) for x, y in pairs if None not in (x, y))
        demands.update((x, None) for x in differences if isinstance(x, Dim))

    def position(self, op: Op) -> int:
        """Where an op is; those near the one asked for last are found without a search."""
        last = self._last_position
        try:
            position = self.ops.index(op, max(0, last - SEARCH_WINDOW), last + SEARCH_WINDOW)
        except ValueError:
            position = self.ops.index(op)
        self._last_position = position
        return position

    def append(self, op: Op) -> Op:
        """Puts `op` at the end."""
        return self._insert(len(self.ops), op)

    def insert_before(self, anchor: Op, op: Op) -> Op:
        """Puts `op` right before `anchor`."""
        return self._insert(self.position(anchor), op)

    def insert_after(self, anchor: Op, op: Op) -> Op:
        """Puts `op` right after `anchor`."""
        return self._insert(self.position(anchor) + 1, op)

    def _insert(self, position: int, op: Op) -> Op:
        for tensor in op.inputs:
            if tensor is not None:
                tensor.readers.append(op)
        for tensor in op.outputs:
            tensor.producer = op
        self.ops.insert(position, op)
        return op

    def remove(self, op: Op) -> None:
        """Takes `op` out.

        Raises ValueError when something still reads a result of it.
        """
        for tensor in op.outputs:
            if tensor.producer is op and (tensor.readers or self.is_output(tensor)):
                raise ValueError(f"{op.kind} '{tensor.name}' cannot be removed: it is still read")
        del self.ops[self.position(op)]
        for tensor in op.inputs:
            if tensor is not None:
                tensor.readers.remove(op)
        for tensor in op.outputs:
            if tensor.producer is op:
                tensor.producer = None

    def replace(self, old: Tensor, new: Tensor) -> None:
        """Makes all that read `old`, the graph's outputs included, read `new`.

        A size or an element that an operator gives keeps the name by which others know it.
        """
        if old is new:
            return
        if not old.is_static or old.elements is not None:
            self._keep_names(old, new)
        if self.is_output(old):
            if self.output_names is None:
                self.output_names = [tensor.name for tensor in self.outputs]
            self.outputs = [new if tensor is old else tensor for tensor in self.outputs]
        for op in dict.fromkeys(old.readers):
            for i, tensor in enumerate(op.inputs):
                if tensor is old:
                    op.set_input(i, new)

    def _keep_names(self, old: Tensor, new: Tensor) -> None:
        """Lets `new` call its numbers as `old` does, where it has nothing better to say of them."""
        if old.sizes is not None and new.sizes is not None:
            new.sizes = tuple(self._named(old.sizes, new.sizes))
        if old.elements is not None and new.elements is not None:
            reference, extents = new.elements
            flat = self._named(old.elements.extents.ravel().tolist(), extents.ravel().tolist())
            new.elements = Elements(reference, array_of(flat, extents.shape))

    def _named(self, old: Sequence[Extent], new: Sequence[Extent]) -> list[Extent]:
        """The numbers `new`, with the names of `old`; two names of one number are noted."""
        numbers = list(new)
        if len(old) != len(new):
            return numbers
        for i, (x, y) in enumerate(zip(old, new, strict=True)):
            if x in new or y in old:  # the same, or axes have changed places
                continue
            name, other = name_of(x), name_of(y)
            if name and other:
                self.scope.unify(name, other)
            elif name and isinstance(y, Dim) and (y.data_dependent or opaque_names(y)):
                numbers[i] = x
        return numbers

    def absorb(self, op: Op, after: Op) -> None:
        """Lets `op` give the result of `after`, its only reader, and removes `after`."""
        (old,), (new,) = op.outputs, after.outputs
        op.outputs = [new]
        new.producer = op
        old.producer = None
        self.remove(after)

    def is_output(self, tensor: Tensor) -> bool:
        """Whether `tensor` leaves the graph."""
        return any(tensor is output for output in self.outputs)

    def sole_reader(self, tensor: Tensor) -> Op | None:
        """The only op that reads `tensor`, once; None when there are others or it is an output."""
        if len(tensor.readers) != 1 or self.is_output(tensor):
            return None
        return tensor.readers[0]

    def tensors(self) -> Iterator[Tensor]:
        """Every tensor once: inputs, then in the order of the ops, then outputs."""
        visited: set[int] = set()
        for tensor in self._occurrences():
            if tensor is not None and id(tensor) not in visited:
                visited.add(id(tensor))
                yield tensor

    def _occurrences(self) -> Iterator[Tensor | None]:
        yield from self.inputs
        for op in self.ops:
            yield from op.inputs
            yield from op.intermediates
            yield from op.outputs
        yield from self.outputs

    def callees(self) -> list[Graph]:
        """The graphs that its ops call, each once."""
        return list(dict.fromkeys(graph for op in self.ops for graph in op.graphs))

    def reachable(self) -> list[Graph]:
        """The graph and every graph that is called from it, directly or not, each once."""
        graphs: list[Graph] = [self]
        pending: list[Graph] = [self]
        while pending:
            for graph in pending.pop().callees():
                if graph not in graphs:
                    graphs.append(graph)
                    pending.append(graph)
        return graphs

    def __str__(self) -> str:
        return to_text(self)


def array_of(values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


def same_bits(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and bytes (NaN equals NaN, -0 is not 0)."""
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype == object:
        return first.ravel().tolist() == second.ravel().tolist()
    if first is second or first.size == 0:
        return True
    contents = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (first, second)]
    return bool(np.array_equal(contents[0], contents[1]))
