"""Rotations that spread what is large in one channel over all of them, folded into weights.

Ashkboos et al. 2024, QuaRot: Outlier-Free 4-Bit Inference in Rotated LLMs, arXiv 2404.00456.

    x -> FULLY_CONNECTED(W) -> RESHAPE -> y -> FULLY_CONNECTED(V) -> z

With an orthogonal Q, y Q is what the first product gives with Q^T W, and the second gives z again
with V Q. Nothing is computed that was not before. The residual stream of a transformer is rotated
in the same way: through ADD, and through normalisations, whose factors move into the weights behind
them. RMSNorm lets every rotation pass; layer normalisation those that keep the mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...ir.graph import Graph, Op, Tensor
from ...passes.layer_norm import layer_norm_parts
from ...passes.rewrite import activation_of, constant_of, scalar_of, split_constant
from .channels import (
    NONE,
    Group,
    Sink,
    affine_chain,
    channel_constant,
    groups,
    keeps_channels,
    sinks_of,
)
from .linear import BIAS, DATA, WEIGHTS, is_linear, set_constant

SEED = 2404
N_OPS = 5  # from the first operator of a normalisation to its last
PATH = frozenset(("MEAN", "RESHAPE"))
"""Operators between a normalisation and the products behind it."""
TABLES = {"GATHER": (0, 1), "EMBEDDING_LOOKUP": (1, 0)}
"""Operators that give rows of a table -> the positions of table and indices."""


def rotate(graph: Graph) -> int:
    """Rotates residual streams and pairs of products; how many rotations there are."""
    n = 0
    while (stream := next_stream(graph)) is not None:
        stream.rotate(graph)
        n += 1
    for group in groups(graph, only_linear_maps=True):
        sinks = [sink.op.kind for sink in group.sinks]
        if "DEPTHWISE_CONV_2D" in (group.source.kind, *sinks) or not is_rotatable(group):
            continue
        rotate_group(group)
        n += 1
    return n


def is_rotatable(group: Group) -> bool:
    """Whether the source can take a matrix, and has not more than one channel."""
    first = affine_chain(group.source)[0]
    return is_linear(first) and group.tensor.dims[-1] not in (None, 1)


def rotate_group(group: Group) -> None:
    """Rotates the channels between products."""
    matrix = hadamard(group.tensor.dims[-1] or 1)
    for op in affine_chain(group.source):
        if is_linear(op):
            rotate_results(op, matrix)
        else:
            rotate_constant(op, matrix)
    for sink in group.sinks:
        rotate_inputs(sink, matrix)
    for tensor in group.scaled:
        tensor.origin = None


def rotate_results(op: Op, matrix: np.ndarray) -> None:
    """Lets a product give its results times `matrix`."""
    weights, bias = op.inputs[WEIGHTS].data, op.input(BIAS)
    set_constant(op, WEIGHTS, np.tensordot(matrix.T, weights.astype(np.float64), 1))
    if bias is not None:
        set_constant(op, BIAS, bias.data @ matrix)


def rotate_inputs(sink: Sink, matrix: np.ndarray) -> None:
    """Lets a product take its inputs times `matrix`."""
    weights = sink.op.inputs[WEIGHTS].data
    parts = weights.reshape(*weights.shape[:-1], sink.repeats, len(matrix))
    set_constant(sink.op, WEIGHTS, (parts @ matrix).reshape(weights.shape))


def rotate_constant(op: Op, matrix: np.ndarray) -> None:
    """Lets an ADD add its constant times `matrix`."""
    _, value, i = split_constant(op) or (None, np.zeros(1), 0)
    rows = np.broadcast_to(value, (*value.shape[:-1], len(matrix)))
    set_constant(op, i, rows @ matrix)


def hadamard(size: int) -> np.ndarray:
    """An orthogonal matrix of +-1 in blocks of the largest power of 2 that divides `size`.

    Columns have random signs, always the same.
    """
    block = size & -size
    matrix = np.ones((1, 1))
    while len(matrix) < block:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], size)
    return np.kron(np.eye(size // block), matrix / np.sqrt(block)) * signs


def mean_preserving(size: int) -> np.ndarray:
    """A random orthogonal matrix, always the same, that maps ones to ones."""
    normal = np.random.default_rng(SEED).standard_normal((size - 1, size - 1))
    inner, triangle = np.linalg.qr(normal)
    inner *= np.sign(np.diag(triangle))
    axis = np.full(size, -1 / np.sqrt(size))
    axis[0] += 1
    length = axis @ axis
    reflection = np.eye(size) - (2 * np.outer(axis, axis) / length if length else 0)
    rotation = np.eye(size)
    rotation[1:, 1:] = inner
    return reflection @ rotation @ reflection


@dataclass
class Norm:
    """A normalisation over the channels of a stream, and what stands behind it.

    Attributes:
        ops: its operators that read the stream.
        factors: the MUL with the factors and the ADD of the offsets, those that there are.
        sinks: the products behind.
        keeps_mean: whether the mean is taken off.
    """

    ops: tuple[Op, ...]
    factors: list[Op]
    sinks: list[Sink]
    keeps_mean: bool

    def fold(self, graph: Graph) -> None:
        """Moves factors and offsets into the products behind."""
        for op in reversed(self.factors):
            other, value, _ = split_constant(op) or (op.inputs[0], np.ones(1), 1)
            row = np.broadcast_to(value.ravel(), (op.output.dims[-1] or 1,)).astype(np.float64)
            for sink in self.sinks:
                if op.kind == "MUL":
                    sink.scale(row)
                    continue
                weights, bias = sink.op.inputs[WEIGHTS].data, sink.op.input(BIAS)
                shift = weights.reshape(len(weights), -1, len(row)).sum(1) @ row
                set_constant(sink.op, BIAS, shift if bias is None else bias.data + shift)
            graph.replace(op.output, other)
            graph.remove(op)


@dataclass
class Stream:
    """Tensors whose channels are rotated together, and all that gives and reads them.

    Attributes:
        tensors: the stream.
        sources: products that give it.
        tables: operators that take rows of a table for it.
        sums: ADDs of a constant.
        sinks: products that read it.
        norms: normalisations of it.
    """

    tensors: list[Tensor] = field(default_factory=list)
    sources: list[Op] = field(default_factory=list)
    tables: list[Op] = field(default_factory=list)
    sums: list[Op] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    norms: list[Norm] = field(default_factory=list)

    def rotate(self, graph: Graph) -> None:
        """Rotates it."""
        for norm in self.norms:
            norm.fold(graph)
        keeps_mean = any(norm.keeps_mean for norm in self.norms)
        size = self.tensors[0].dims[-1] or 1
        matrix = mean_preserving(size) if keeps_mean else hadamard(size)
        for op in self.sources:
            rotate_results(op, matrix)
        for op in self.tables:
            i = TABLES[op.kind][0]
            set_constant(op, i, op.inputs[i].data @ matrix)
        for op in self.sums:
            rotate_constant(op, matrix)
        for sink in (*self.sinks, *(sink for norm in self.norms for sink in norm.sinks)):
            rotate_inputs(sink, matrix)
        for tensor in self.tensors:
            tensor.origin = None


def next_stream(graph: Graph) -> Stream | None:
    """A stream with normalisations whose factors are not folded yet; None when there is none."""
    tried: set[Tensor] = set()
    for op in graph.ops:
        norm = norm_of(graph, op)
        if norm is None or not norm[1].factors or norm[0] in tried:
            continue
        stream = stream_of(graph, norm[0])
        if stream is not None:
            return stream
        tried.add(norm[0])
    return None


def stream_of(graph: Graph, start: Tensor) -> Stream | None:
    """All that is rotated with `start`; None where something cannot be."""
    stream, pending, size = Stream(), [start], start.dims[-1]
    while pending:
        tensor = pending.pop()
        if tensor in stream.tensors:
            continue
        stream.tensors.append(tensor)
        if size is None or tensor.dims[-1] != size or graph.is_output(tensor):
            return None
        if not (joins_before(stream, tensor, pending) and joins_after(graph, stream, pending)):
            return None
    return stream if stream.norms else None


def joins_before(stream: Stream, tensor: Tensor, pending: list[Tensor]) -> bool:
    """Whether what gives a tensor of a stream can be rotated; adds it."""
    op = tensor.producer
    if op is None or activation_of(op) != NONE:
        return False
    if is_linear(op) and op.kind != "DEPTHWISE_CONV_2D":
        stream.sources.append(op)
    elif op.kind in TABLES and is_table(op):
        stream.tables.append(op)
    elif op.kind == "ADD" and split_constant(op) is not None:
        if channel_constant(op) is None and not has_rows(op):
            return False
        pending.append(next(x for x in op.inputs if not x.is_constant))
        stream.sums.append(op)
    elif op.kind == "ADD" and all(x.rank == tensor.rank for x in op.inputs):
        pending += op.inputs
    elif passes(op):
        pending.append(op.inputs[0])
    else:
        return False
    return True


def joins_after(graph: Graph, stream: Stream, pending: list[Tensor]) -> bool:
    """Whether what reads the last tensor of a stream can take it rotated; adds it."""
    tensor = stream.tensors[-1]
    readers = list(dict.fromkeys(tensor.readers))
    for op in list(readers):
        norm = norm_of(graph, op, tensor) if op in readers else None
        if norm is not None:
            stream.norms.append(norm[1])
            readers = [reader for reader in readers if reader not in norm[1].ops]
    for op in readers:
        if is_linear(op) and op.inputs[DATA] is tensor and op.kind != "DEPTHWISE_CONV_2D":
            stream.sinks.append(Sink(op))
        elif (op.kind == "ADD" and activation_of(op) == NONE) or passes(op):
            pending.append(op.output)
        else:
            return False
    return True


def passes(op: Op) -> bool:
    """Whether `op` is linear and leaves the channels of its first input as they are."""
    before, after = op.inputs[0], op.output
    if op.kind == "RESHAPE":
        return before.dims[-1] == after.dims[-1] and keeps_channels(before, after)
    if op.kind != "MEAN":
        return False
    axes, rank = constant_of(op.inputs[1]), before.rank
    return axes is not None and rank is not None and (rank - 1) not in (axes % rank)


def is_table(op: Op) -> bool:
    """Whether `op` takes whole rows of a constant matrix."""
    table = op.inputs[TABLES[op.kind][0]]
    options = op.options
    is_plain = not getattr(options, "axis", 0) and not getattr(options, "batch_dims", 0)
    return table.is_constant and table.rank == 2 and is_plain and table.dtype == np.float32


def has_rows(op: Op) -> bool:
    """Whether the constant of an ADD has all channels."""
    parts = split_constant(op)
    return parts is not None and parts[1].ndim > 0 and parts[1].shape[-1] == op.output.dims[-1]


def norm_of(graph: Graph, op: Op, x: Tensor | None = None) -> tuple[Tensor, Norm] | None:
    """The normalisation that reads a tensor by `op`, and that tensor; None where there is none."""
    for product in reachable_products(op):
        for centered, root in (product.inputs, product.inputs[::-1]):
            norm = norm_at(graph, product, centered, root)
            if norm is not None and op in norm[1].ops and x in (None, norm[0]):
                return norm
    return None


def norm_at(
    graph: Graph, product: Op, centered: Tensor, root: Tensor
) -> tuple[Tensor, Norm] | None:
    """The normalisation that ends in a product, and its input; None where there is none."""
    parts = layer_norm_parts(product, centered, root)
    if parts is not None and parts.scaling is None and over_channels(parts.mean):
        readers = (parts.mean, parts.square, parts.subtraction)
        return behind(graph, product, parts.mean.inputs[0], readers, True)
    mean = rms_mean(centered, root)
    square = mean.inputs[0].producer if mean is not None else None
    if mean is None or square is None or not over_channels(mean):
        return None
    return behind(graph, product, centered, (square, product), False)


def reachable_products(op: Op) -> list[Op]:
    """The MULs of two tensors that `op` is, or that it is soon followed by."""
    reached, last = [op], [op]
    for _ in range(N_OPS):
        last = [reader for one in last for out in one.outputs for reader in out.readers]
        reached += last
    ops = dict.fromkeys(reached)
    return [one for one in ops if one.kind == "MUL" and split_constant(one) is None]


def rms_mean(x: Tensor, root: Tensor) -> Op | None:
    """The MEAN of the squares of `x` where `root` is 1 / sqrt(MEAN + epsilon), else None."""
    rsqrt = root.producer
    addition = rsqrt.inputs[0].producer if rsqrt is not None and rsqrt.kind == "RSQRT" else None
    if addition is None or addition.kind != "ADD" or scalar_of(addition.inputs[1]) is None:
        return None
    mean = addition.inputs[0].producer
    square = mean.inputs[0].producer if mean is not None and mean.kind == "MEAN" else None
    if square is None or square.inputs[0] is not x:
        return None
    is_square = square.kind == "SQUARE" or (square.kind == "MUL" and square.inputs[1] is x)
    return mean if is_square else None


def over_channels(mean: Op) -> bool:
    """Whether a MEAN is taken over the last dimension alone."""
    axes, rank = constant_of(mean.inputs[1]), mean.inputs[0].rank
    return axes is not None and rank is not None and (axes % rank).ravel().tolist() == [rank - 1]


def behind(
    graph: Graph,
    product: Op,
    tensor: Tensor,
    readers: tuple[Op, ...],
    keeps_mean: bool,
) -> tuple[Tensor, Norm] | None:
    """A normalisation with its factors and the products behind; None where something else reads."""
    out, factors = product.output, []
    for kind in ("MUL", "ADD"):
        reader = graph.sole_reader(out)
        is_factor = reader is not None and reader.kind == kind and activation_of(reader) == NONE
        if reader is not None and is_factor and channel_constant(reader) is not None:
            factors.append(reader)
            out = reader.output
    channels = tensor.dims[-1]
    if channels is None:
        return None
    sinks = sinks_of(graph, out, channels, 1, PATH, (NONE,), [])
    is_taken = sinks is not None and all(
        sink.repeats == 1 and sink.op.kind == "FULLY_CONNECTED" for sink in sinks
    )
    return (tensor, Norm(readers, factors, sinks or [], keeps_mean)) if is_taken else None
