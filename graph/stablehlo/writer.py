"""Writes a module of StableHLO into a TF graph, operation by operation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from ...schema.errors import ModelError, UnsupportedOps
from ...schema.mlir.module import Block, Module, Operation, TensorType, Value
from ..core.calls import MAX_OPERATIONS
from ..core.graph import Graph, Tensor
from ..core.library import Function
from ..core.signatures.attributes import FunctionRef
from .attributes import numbers
from .expansions import expansions, recognised
from .registry import WRITERS
from .shapes import dtype_at, known_shape_at, shape_at

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.protocols import AttrValue

MAX_DEPTH = 64
FAULTS = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""Errors of Python's, where attributes or operands are not what an operation must have."""
MAX_WRITTEN = 1024
"""Elements up to which a constant of equal elements is written out."""


class Writer:
    """Writes operations into one graph; those of regions into other graphs.

    Attributes:
        graph: where they go.
        values: what stands for each value of the module.
        narrow: what a value is a broadcast of, with as many dimensions.
        positions: along which dimension a value counts.
        is_on_elements: whether what is declared for an element is written for whole tensors.
        path: the functions whose bodies are being written.
        calls: counts those of functions.
    """

    def __init__(self, graph: Graph, prefix: str, module: Module) -> None:
        self.graph, self.prefix, self.module = graph, prefix, module
        self.values: dict[Value, Tensor] = {}
        self.narrow: dict[Value, Tensor] = {}
        self.positions: dict[Value, int] = {}
        self.name = prefix
        self.path: tuple[str, ...] = ()
        self.calls = count(1)
        self.is_on_elements = False

    def add(self, kind: str, *inputs: Tensor, **attrs: AttrValue) -> Tensor:
        """The first result of a new TF operation."""
        return self.add_all(kind, *inputs, **attrs)[0]

    def add_all(self, kind: str, *inputs: Tensor, **attrs: AttrValue) -> list[Tensor]:
        """The results of a new TF operation."""
        if len(self.graph) > MAX_OPERATIONS:
            raise ModelError(f"{self.name}: functions make more than {MAX_OPERATIONS} operations")
        name = self.graph.unique_name(f"{self.name}/{kind}")
        return list(self.graph.add(kind, name, inputs, attrs).outputs)

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> Tensor:
        """A constant; a large one of equal elements is filled."""
        array = np.asarray(value, dtype)
        if array.size > MAX_WRITTEN and array.ndim and not any(array.strides):
            first = array[(0,) * array.ndim]
            return self.add("Fill", self.constant(array.shape, np.int32), self.constant(first))
        array = np.ascontiguousarray(array).reshape(array.shape)
        return self.add("Const", value=array, dtype=array.dtype)

    def value(self, value: Value) -> Tensor:
        """What stands for a value."""
        if value not in self.values:
            raise ModelError(f"{self.name}: a value is used before it is computed")
        return self.values[value]

    def operands(self, op: Operation) -> list[Tensor]:
        """What stands for the operands."""
        return [self.value(x) for x in op.operands]

    def loose(self, op: Operation) -> list[Tensor]:
        """The operands of an elementwise operation, all but one before they were broadcast."""
        narrow = [self.narrow.get(x) for x in op.operands]
        full = [i for i, x in enumerate(narrow) if x is None] or [0]
        return [
            self.value(x) if i in full or y is None else y
            for i, (x, y) in enumerate(zip(op.operands, narrow, strict=True))
        ]

    def shape(self, value: Value) -> Tensor:
        """The shape of a value, int32."""
        if None not in shape_at(value):
            return self.constant(known_shape_at(value), np.int32)
        return self.add("Shape", self.value(value), out_type=np.dtype(np.int32))

    def int32(self, x: Tensor) -> Tensor:
        """`x` as int32."""
        return x if x.dtype == np.int32 else self.add("Cast", x, DstT=np.dtype(np.int32))

    def reshape(self, x: Tensor, sizes: Iterable[int]) -> Tensor:
        """`x` in another shape."""
        return self.add("Reshape", x, self.constant(list(sizes), np.int32))

    def block(self, block: Block) -> list[Tensor]:
        """The results of a block whose arguments have values."""
        for known, group in expansions(block):
            ends = None if known is None else recognised(known, group, _used(block, group), self)
            if known is not None and ends is not None:
                x, y = ends
                self.name = self.label(group[-1])
                self.values[y] = self.add(known.kind, self.value(x))
                continue
            for op in group:
                if op.name == "return":
                    return [self.value(x) for x in op.operands if isinstance(x.type, TensorType)]
                self.operation(op)
        raise ModelError(f"{self.name}: a block must end in a return")

    def label(self, op: Operation) -> str:
        """What the operations are called that stand for one."""
        label = re.sub(r"[^A-Za-z0-9_.\\/-]", "_", op.location).strip("/") or op.name
        return f"{self.prefix}/{label}"

    def is_constant(self, value: Value) -> bool:
        """Whether a constant stands for a value."""
        return value in self.values and self.values[value].op.type == "Const"

    def operation(self, op: Operation) -> None:
        """Writes one operation."""
        outer = self.name
        self.name = self.label(op)
        write = WRITERS.get(op.name)
        if write is None:
            raise UnsupportedOps(
                f"1 operation has no lowering:\n  stablehlo.{op.name} '{self.name}'\nExport the "
                "part with it as another model, or compute it outside of the model."
            )
        try:
            results = write(op, self)
            results = [results] if isinstance(results, Tensor) else list(results)
            for value, tensor in zip(op.results, results, strict=True):
                shape = value.type.shape if isinstance(value.type, TensorType) else None
                if shape is not None and not self.is_on_elements:
                    tensor.set_shape(shape)
                self.values[value] = tensor
        except FAULTS as error:
            if isinstance(error, ModelError):
                raise
            words = f"stablehlo.{op.name} '{self.name}': is not valid: {error}"
            raise ModelError(words) from error
        self.name = outer

    def call(self, name: str, arguments: Sequence[Tensor]) -> list[Tensor]:
        """The results of a function of the module, written in place."""
        function = self.module.functions.get(name)
        body = function.regions[0] if function is not None and function.regions else None
        if body is None:
            raise ModelError(f"{self.name}: the module has no function '{name}'")
        if name in self.path or len(self.path) >= MAX_DEPTH:
            raise ModelError(f"{self.name}: functions must not call themselves, got '{name}'")
        if next(self.calls) > MAX_OPERATIONS:  # of functions that may be without operations
            raise ModelError(f"{self.name}: functions call more than {MAX_OPERATIONS} times")
        inner = Writer(self.graph, self.name, self.module)
        inner.path, inner.calls = (*self.path, name), self.calls
        return inner.inlined(body, arguments)

    def inlined(self, body: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        """The results of a block for these arguments."""
        if len(arguments) != len(body.arguments):
            raise ModelError(
                f"{self.name}: takes {len(body.arguments)} arguments, got {len(arguments)}"
            )
        self.values |= dict(zip(body.arguments, arguments, strict=True))
        return self.block(body)

    def within(self, body: Block, arguments: Sequence[Tensor]) -> list[Tensor]:
        """The results of a region of elementwise operations."""
        inner = Writer(self.graph, self.name, self.module)
        inner.values, inner.path, inner.calls = dict(self.values), self.path, self.calls
        inner.is_on_elements = True
        return inner.inlined(body, arguments)

    def free(self, *bodies: Block) -> list[Value]:
        """The values from outside that regions use and that are no constants."""
        used: dict[Value, None] = {}
        defined: set[Value] = set()
        pending = list(bodies)
        while pending:
            body = pending.pop()
            defined.update(body.arguments)
            for op in body.operations:
                defined.update(op.results)
                used |= dict.fromkeys(op.operands)
                pending += [region for region in op.regions if region is not None]
        return [
            x for x in used if x not in defined and x in self.values and not self.is_constant(x)
        ]

    def function(
        self, name: str, body: Block, free: Sequence[Value] = (), passes: bool = False
    ) -> FunctionRef:
        """A region as a function of its arguments, and of `free` values from outside.

        With `passes`, it gives those back, as the body of a loop does.
        """
        graph = self.traced(body, free, passes, name)
        unique = self.graph.functions.unique_name(f"{self.name}/{name}".replace("/", "_"))
        self.graph.functions.add(Function.of(unique, graph))
        return FunctionRef(unique)

    def traced(
        self, body: Block, free: Sequence[Value] = (), passes: bool = False, name: str = "body"
    ) -> Graph:
        """The graph of such a function."""
        graph = Graph(self.graph.functions)
        inner = Writer(graph, name, self.module)
        inner.path, inner.calls = self.path, self.calls
        for value, tensor in self.values.items():
            if tensor.op.type == "Const":
                inner.values[value] = _copied(tensor, inner)
        graph.inputs = []
        for i, value in enumerate([*body.arguments, *free]):
            attrs = {"T": dtype_at(value), "index": i}
            tensor = graph.add("_Arg", f"arg_{i}", (), attrs).outputs[0]
            tensor.set_shape(shape_at(value))
            inner.values[value] = tensor
            graph.inputs.append(tensor)
        results = inner.block(body)
        graph.outputs = [*results, *(inner.values[x] for x in free if passes)]
        return graph


def _used(block: Block, group: Sequence[Operation]) -> frozenset[Value]:
    """The values that operations of a block read, those of a group and its regions excepted."""
    used: set[Value] = set()
    inside, pending = set(group), [block]
    while pending:
        for op in pending.pop().operations:
            if op not in inside:
                used.update(op.operands)
                pending += [region for region in op.regions if region is not None]
    return frozenset(used)


def _copied(tensor: Tensor, inner: Writer) -> Tensor:
    """A constant of the graph around in the graph of `inner`."""
    op = tensor.op
    name = inner.graph.unique_name(f"{op.name}/outer")
    return inner.graph.add("Const", name, (), op.attrs, like=op).outputs[0]


def broadcast_axes(op: Operation, x: Tensor, w: Writer) -> Tensor:
    """The operand with as many dimensions as the result, those that are new of size 1."""
    axes, rank = numbers(op, "broadcast_dimensions"), len(shape_at(op.results[0]))
    sizes = shape_at(op.operands[0])
    if axes != sorted(axes):
        order: list[int] = np.argsort(axes).tolist()
        x = w.add("Transpose", x, w.constant(order, np.int32))
        sizes, axes = tuple(sizes[i] for i in order), sorted(axes)
    if len(sizes) == rank or not sizes:
        return x
    if sizes.count(None) <= 1:
        target = [1] * rank
        for axis, size in zip(axes, sizes, strict=True):
            target[axis] = -1 if size is None else size
        return w.reshape(x, target)
    for axis in range(rank):
        if axis not in axes:
            x = w.add("ExpandDims", x, w.constant(axis, np.int32))
    return x
