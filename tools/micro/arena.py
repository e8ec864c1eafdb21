"""How much memory a model takes in TensorFlow Lite Micro: its arena, planned as it plans.

    tensors and scratch of operators   planned by lifetimes, the largest first: "activations"
    structs of tensors and operators   allocated once, from the other end: "persistent"

Sizes of structs are those of 64-bit processors, where they can be measured; a 32-bit one needs no
more. Scratch is that of the reference kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

from ...schema.dtypes import PACKED_BITS, TENSOR_TYPES
from ...schema.model import Model, Operator, Subgraph, Tensor, load
from ...schema.operators import operator
from .measured import OPERATOR_BYTES

ALIGNMENT = 16
MODEL_BYTES = 280
"""Allocators, planner and what else a model has once."""
RECORDER = 208
"""What allocators that record, those of the wheel tflite-micro, keep beside; a program's do not."""
EVAL_TENSOR, TENSOR, QUANTIZATION, NODE, VARIABLE = 24, 64, 32, 64, 16
"""Structs of a tensor; of an input or output, and of its scale; of an operator; of a variable."""
ALLOCATION, PLANNED, REQUEST, HANDLE = 32, 40, 16, 8
"""While memory is planned: for each tensor; for each that gets memory; for scratch asked for."""
ROUNDING = 64
"""What is lost between structs while memory is planned."""
MOST = "UNIDIRECTIONAL_SEQUENCE_LSTM"
"""The operator that keeps the most, as others are taken to that were not measured."""
MAX_REQUESTS = 12
"""Scratch buffers that there is room for before an operator asks."""


@dataclass(frozen=True)
class Arena:
    """Bytes of a tensor arena.

    Attributes:
        activations: tensors and scratch, which share memory by their lifetimes.
        persistent: what every tensor and operator has.
        planning: what planning needs at once, in place of the activations.
    """

    activations: int
    persistent: int
    planning: int

    @property
    def size(self) -> int:
        """The size of an arena that suffices."""
        return aligned(max(self.activations, self.planning) + self.persistent)


@dataclass
class _Buffer:
    """Memory of a tensor, or scratch: from operator `first` to `last`."""

    size: int
    first: int
    last: int


def arena_of(model: Model | bytes) -> Arena:
    """The arena of a model, or of a `.tflite` file's bytes, in TensorFlow Lite Micro.

    Raises ModelError when the bytes are no `.tflite` file.
    """
    model = load(model) if isinstance(model, bytes) else model
    plan = _Lifetimes(model)
    scratch = sum(len(_scratch(op, graph)) for graph in model.subgraphs for op in graph.operators)
    n_tensors = sum(len(graph.tensors) for graph in model.subgraphs)
    buffers = plan.buffers
    planning = ALLOCATION * (n_tensors + scratch) + PLANNED * len(buffers)
    looked_at = max((_looked_at(op, g) for g in model.subgraphs for op in g.operators), default=0)
    preparation = REQUEST * (scratch + MAX_REQUESTS) + looked_at
    main = model.subgraphs[0]
    ends = [main.tensors[i] for i in (*main.inputs, *main.outputs)]
    persistent = (
        MODEL_BYTES
        + _variables(model)
        + 24 * len(model.subgraphs)
        + EVAL_TENSOR * n_tensors
        + sum(TENSOR + (QUANTIZATION if t.quantization is not None else 0) for t in ends)
        + HANDLE * scratch
    )
    for graph in model.subgraphs:
        persistent += sum(aligned(_bytes(t)) for t in graph.tensors if t.is_variable)
        persistent += sum(NODE + _persistent(op, graph) for op in graph.operators)
    return Arena(_planned(buffers), persistent, max(planning, preparation) + ROUNDING)


def _variables(model: Model) -> int:
    """Bytes of variables that operators write, by the first value that each is given."""
    sizes: dict[str, int] = {}
    for graph in model.subgraphs:
        names = {
            op.outputs[0]: op.options.shared_name
            for op in graph.operators
            if op.op == "VAR_HANDLE" and op.options is not None
        }
        for op in graph.operators:
            if op.op == "ASSIGN_VARIABLE" and op.inputs[0] in names:
                size = aligned(_bytes(graph.tensors[op.inputs[1]]))
                sizes.setdefault(names[op.inputs[0]], size + VARIABLE)
    return sum(sizes.values())


def _looked_at(op: Operator, graph: Subgraph) -> int:
    """Bytes of the structs of its tensors that an operator may have in its preparation."""
    total = 0
    for tensor in (graph.tensors[i] for i in (*op.inputs, *op.outputs) if i >= 0):
        quantization = tensor.quantization
        n_scales = 0 if quantization is None else len(quantization.scales)
        total += TENSOR + (aligned(QUANTIZATION + 4 * n_scales) if n_scales else 0)
    return total


def aligned(size: int) -> int:
    """A size with what keeps the next one aligned."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _bytes(tensor: Tensor) -> int:
    """Bytes of a tensor's value; a size that is not known is the one in the file, 1."""
    bits = PACKED_BITS.get(tensor.dtype)
    if bits is not None:
        return (prod(tensor.shape) * bits + 7) // 8
    if TENSOR_TYPES[tensor.dtype].hasobject:
        return 0
    return prod(tensor.shape) * TENSOR_TYPES[tensor.dtype].itemsize


class _Lifetimes:
    """When each buffer is needed, counted in operators, those of called subgraphs among them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.now = 0
        self.tensors: dict[tuple[int, int], _Buffer] = {}
        self.scratch: list[_Buffer] = []
        self.run(0)

    @property
    def buffers(self) -> list[_Buffer]:
        """All that gets memory."""
        return [*(b for _, b in sorted(self.tensors.items())), *self.scratch]

    def use(self, subgraph: int, index: int) -> None:
        """Notes that a tensor is written or read now."""
        if index < 0:
            return
        tensor = self.model.subgraphs[subgraph].tensors[index]
        key = subgraph, index
        if tensor.data is not None or tensor.is_variable or tensor.dtype == "RESOURCE":
            return
        size = _bytes(tensor)
        if size and self.tensors.setdefault(key, _Buffer(aligned(size), self.now, self.now)):
            self.tensors[key].last = self.now

    def run(self, subgraph: int) -> None:
        """Goes through a subgraph and what it calls."""
        graph = self.model.subgraphs[subgraph]
        for index in graph.inputs:
            self.use(subgraph, index)
        for op in graph.operators:
            self.now += 1
            first = self.now
            for index in op.outputs:
                self.use(subgraph, index)
            row = operator(op.op)
            for field in () if row is None or op.options is None else row.calls:
                self.now += 1
                self.run(getattr(op.options, field))
            for index in (*op.inputs, *op.outputs):
                self.use(subgraph, index)
            for size in _scratch(op, graph):
                self.scratch.append(_Buffer(aligned(size), first, self.now))
        for index in graph.outputs:
            self.use(subgraph, index)


def _planned(buffers: list[_Buffer]) -> int:
    """Bytes of all buffers: each, the largest first, in the lowest gap that is free as long."""
    placed: list[tuple[int, _Buffer]] = []
    end = 0
    # of equal ones the last comes first
    for i in sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, -i)):
        buffer, at = buffers[i], 0
        for offset, other in placed:
            if other.first > buffer.last or buffer.first > other.last:
                continue
            if offset - at >= buffer.size:
                break
            at = max(at, offset + other.size)
        place = next((i for i, (offset, _) in enumerate(placed) if offset > at), len(placed))
        placed.insert(place, (at, buffer))
        end = max(end, at + buffer.size)
    return end


def _operands(op: Operator, graph: Subgraph) -> list[Tensor | None]:
    return [None if i < 0 else graph.tensors[i] for i in op.inputs]


def _size(tensor: Tensor | None) -> int:
    return 0 if tensor is None else prod(tensor.shape)


Sizes = Callable[[list[Tensor | None], Tensor], list[int]]
"""(operands, the first result) -> bytes."""


def _reduction(x: list[Tensor | None], y: Tensor) -> list[int]:
    is_quantized = x[0] is not None and x[0].dtype in ("INT8", "INT16")
    return [4 * _size(y)] * is_quantized + _indices(x, y)


def _indices(x: list[Tensor | None], y: Tensor) -> list[int]:
    return [4 * (0 if x[0] is None else len(x[0].shape)), 4 * _size(x[1])]


def _transposed_convolution(x: list[Tensor | None], y: Tensor) -> list[int]:
    itemsize = {"INT8": 4, "INT16": 8}.get(y.dtype)
    if itemsize is None:
        return []
    bias = x[3] if len(x) > 3 else None
    has_short_bias = bias is not None and bias.dtype == "INT16"
    return [8 * _size(bias)] * has_short_bias + [itemsize * _size(y)]


def _filters(x: list[Tensor | None], y: Tensor) -> list[int]:
    return [_size(x[1])] if x[1] is not None and x[1].dtype == "INT4" else []


def _svdf(x: list[Tensor | None], y: Tensor) -> list[int]:
    batch = y.shape[0]
    n_filters = 0 if x[1] is None else x[1].shape[0]
    outputs = [4 * batch * y.shape[1]] if y.dtype == "INT8" else []
    return [4 * batch * n_filters, *outputs]


def _lstm(x: list[Tensor | None], y: Tensor) -> list[int]:
    cell = x[19]
    return [] if cell is None else [_bytes(cell)] * 4


SCRATCH: dict[str, Sizes] = {
    "ADD_N": lambda x, y: [8 * len(x)],
    "CONV_2D": _filters,
    "DEPTHWISE_CONV_2D": _filters,
    "FULLY_CONNECTED": _filters,
    "MEAN": _reduction,
    "MIRROR_PAD": lambda x, y: [4 * len(y.shape)] * 2,
    "REDUCE_ALL": _indices,
    "REDUCE_MAX": _indices,
    "REDUCE_MIN": _indices,
    "SUM": _reduction,
    "SVDF": _svdf,
    "TRANSPOSE_CONV": _transposed_convolution,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}
"""What operators need while they run."""


def _scratch(op: Operator, graph: Subgraph) -> list[int]:
    """Bytes of the buffers an operator needs while it runs."""
    sizes = SCRATCH.get(op.op)
    return [] if sizes is None else sizes(_operands(op, graph), graph.tensors[op.outputs[0]])


def operators_of(model: Model) -> list[str]:
    """The names of all operators, each as often as it is there."""
    return [_name(op) for graph in model.subgraphs for op in graph.operators]


def _name(op: Operator) -> str:
    return op.custom_code or op.op


def _persistent(op: Operator, graph: Subgraph) -> int:
    """Bytes an operator keeps."""
    operands = _operands(op, graph)
    result = graph.tensors[op.outputs[0]] if op.outputs else None
    n_bytes = OPERATOR_BYTES.get(_name(op), OPERATOR_BYTES[MOST])
    return aligned(n_bytes) + sum(map(aligned, _persistent_operands(op, operands, result)))


def _persistent_operands(
    op: Operator, operands: list[Tensor | None], result: Tensor | None
) -> Iterator[int]:
    """Bytes an operator keeps that depend on shapes and types."""
    if op.op in CHANNELS:
        filters = operands[CHANNELS[op.op]]
        scales = None if filters is None else filters.quantization
        n = 0 if scales is None else len(scales.scales)
        if result is not None and result.dtype in ("INT8", "INT16") and n:
            yield from (4 * n, 4 * n)
    elif op.op == "BATCH_MATMUL" and op.options is not None:
        is_kept = op.options.adj_x, not op.options.adj_y
        for tensor, is_persistent in zip(operands, is_kept, strict=True):
            if tensor is not None and is_persistent:
                yield from (EVAL_TENSOR, 4 + 4 * len(tensor.shape), _bytes(tensor))
    elif op.op == "SOFTMAX" and operands[0] is not None and operands[0].dtype == "INT16":
        yield from (2 * 513, 2 * 513)


CHANNELS = {"CONV_2D": 1, "DEPTHWISE_CONV_2D": 1, "FULLY_CONNECTED": 1, "TRANSPOSE_CONV": 1}
"""Operators that keep two numbers for each channel of an operand."""
