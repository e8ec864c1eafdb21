"""Where a factor for each channel passes from the weights of one operator into those of others.

    x -> CONV_2D(RELU) -> y -> MAX_POOL_2D -> CONV_2D -> z

Dividing channel c of y by a positive factor and multiplying what the second convolution's filters
have for that channel leaves z as it is. The same holds where y is the result of MUL and ADD with
constants, as layer normalisation ends, and along every operator that treats channels alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....schema.tables import ACTIVATION_FUNCTION_TYPE
from ...ir.graph import Graph, Op, Tensor
from ...passes.rewrite import activation_of, constant_of, split_constant
from .linear import BIAS, DATA, WEIGHTS, is_linear, matrices, set_constant

NONE, RELU = ACTIVATION_FUNCTION_TYPE["NONE"], ACTIVATION_FUNCTION_TYPE["RELU"]
HOMOGENEOUS = frozenset(("LEAKY_RELU", "MAX_POOL_2D", "MUL", "REDUCE_MAX", "RELU"))
"""Operators f with f(s x) = s f(x) for s > 0 that do not mix channels and are not linear."""
LINEAR_MAPS = frozenset(("AVERAGE_POOL_2D", "BATCH_MATMUL", "MEAN", "PAD", "RESHAPE"))
"""Operators that are linear, on each channel alike."""
REDUCTIONS = ("MEAN", "REDUCE_MAX")


@dataclass(frozen=True)
class Sink:
    """A linear operator that reads channels.

    Attributes:
        op: the operator.
        repeats: how often each channel occurs in its input: 1, but behind a RESHAPE.
    """

    op: Op
    repeats: int = 1

    def scale(self, factors: np.ndarray) -> None:
        """Multiplies the weights that meet each channel."""
        weights, row = self.op.inputs[WEIGHTS].data, np.tile(factors, self.repeats)
        if self.op.kind == "DEPTHWISE_CONV_2D":
            row = row.repeat(weights.shape[-1] // len(row))
        set_constant(self.op, WEIGHTS, weights * row)

    def largest(self) -> np.ndarray:
        """The largest absolute weight that meets each channel."""
        weights = np.abs(self.op.inputs[WEIGHTS].data)
        if self.op.kind == "DEPTHWISE_CONV_2D":
            return matrices(self.op, weights).max((1, 2))
        columns = weights.reshape(-1, weights.shape[-1]).max(0)
        return columns.reshape(self.repeats, -1).max(0)


@dataclass(frozen=True)
class Group:
    """Channels that may be scaled.

    Attributes:
        source: the operator whose constants take the factors: linear, or MUL or ADD with a
            constant.
        scaled: the tensors whose channels are scaled.
        sinks: the operators that take the inverse factors.
    """

    source: Op
    scaled: tuple[Tensor, ...]
    sinks: tuple[Sink, ...]

    @property
    def tensor(self) -> Tensor:
        """What the source gives."""
        return self.source.output

    def scale(self, factors: np.ndarray) -> None:
        """Divides the channels by `factors`, which are positive; the answers stay.

        The tensors in between are no longer those of the source model.
        """
        for op in affine_chain(self.source):
            scale_constants(op, 1.0 / factors)
        for sink in self.sinks:
            sink.scale(factors)
        for tensor in self.scaled:
            tensor.origin = None


def groups(graph: Graph, only_linear_maps: bool = False) -> Iterator[Group]:
    """The groups of a graph, in its order.

    Args:
        graph: a float graph.
        only_linear_maps: whether only what is linear may lie in between, so that channels may be
            mixed, too.
    """
    kinds = LINEAR_MAPS if only_linear_maps else LINEAR_MAPS | HOMOGENEOUS
    activations = (NONE,) if only_linear_maps else (NONE, RELU)
    for op in list(graph.ops):
        if not (is_source(op) and activation_of(op) in activations):
            continue
        channels = op.output.dims[-1] if op.output.rank else None
        if channels is None or not affine_chain(op):
            continue
        scaled: list[Tensor] = [link.output for link in affine_chain(op)]
        sinks = sinks_of(graph, op.output, channels, 1, kinds, activations, scaled)
        if sinks:
            yield Group(op, tuple(scaled), tuple(sinks))


def is_source(op: Op) -> bool:
    """Whether the constants of `op` can take factors of its result's channels."""
    if is_linear(op):
        return op.kind != "FULLY_CONNECTED" or op.output.dims[-1] == len(op.inputs[WEIGHTS].data)
    return op.kind in ("ADD", "MUL") and channel_constant(op) is not None


def channel_constant(op: Op) -> np.ndarray | None:
    """The constant of an ADD or MUL that has a number for each channel, or one."""
    parts = split_constant(op)
    if parts is None or parts[0].rank != op.output.rank:
        return None
    value = parts[1]
    is_row = value.size in (1, value.shape[-1] if value.ndim else 1)
    fits = value.ndim == 0 or value.shape[-1] in (1, op.output.dims[-1])
    return value if value.dtype == np.float32 and is_row and fits else None


def affine_chain(source: Op) -> list[Op]:
    """The operators whose constants take the factors: a source, and the MUL before an ADD.

    Empty for an ADD whose other operand does not come from a MUL or a linear operator of which it
    is the only reader.
    """
    if source.kind != "ADD":
        return [source]
    parts = split_constant(source)
    before = parts[0].producer if parts is not None else None
    is_only = before is not None and len(before.output.readers) == 1
    if before is None or not is_only or before.kind == "ADD" or not is_source(before):
        return []
    return [before, source] if activation_of(before) == NONE else []


def scale_constants(op: Op, factors: np.ndarray) -> None:
    """Multiplies the output channels of `op` by `factors`."""
    if not is_linear(op):
        _, value, i = split_constant(op) or (None, np.ones(1), 0)
        set_constant(op, i, (value * factors).reshape(value.shape[:-1] + factors.shape))
        return
    weights, bias = op.inputs[WEIGHTS].data, op.input(BIAS)
    is_depthwise = op.kind == "DEPTHWISE_CONV_2D"
    row = factors if is_depthwise else factors.reshape(-1, *[1] * (weights.ndim - 1))
    set_constant(op, WEIGHTS, weights * row)
    if bias is not None:
        set_constant(op, BIAS, bias.data * factors)


def sinks_of(
    graph: Graph,
    tensor: Tensor,
    channels: int,
    repeats: int,
    kinds: frozenset[str],
    activations: tuple[int, ...],
    scaled: list[Tensor],
) -> list[Sink] | None:
    """The linear operators that read the channels of `tensor`; None where something else does.

    Appends the tensors on the way to `scaled`.
    """
    if graph.is_output(tensor) or not tensor.readers:
        return None
    sinks: list[Sink] = []
    for reader in dict.fromkeys(tensor.readers):
        if is_linear(reader) and reader.inputs[DATA] is tensor:
            if not reads_channels(reader, channels * repeats):
                return None
            sinks.append(Sink(reader, repeats))
            continue
        if reader.kind not in kinds or activation_of(reader) not in activations:
            return None
        n = repeats_after(reader, tensor, channels, repeats)
        if n is None:
            return None
        result = reader.output
        further = sinks_of(graph, result, channels, n, kinds, activations, scaled)
        if further is None:
            return None
        scaled.append(result)
        sinks += further
    return sinks


def reads_channels(op: Op, columns: int) -> bool:
    """Whether the last dimension of the weights of a linear operator is that of its input."""
    shape = op.inputs[WEIGHTS].data.shape
    if op.kind == "DEPTHWISE_CONV_2D":
        return op.inputs[DATA].dims[-1] == columns and shape[-1] % columns == 0
    return shape[-1] == columns


def repeats_after(op: Op, tensor: Tensor, channels: int, repeats: int) -> int | None:
    """How often each channel occurs in the last dimension of what `op` gives; None if it mixes."""
    out = op.output
    if out.rank is None or not out.rank:
        return None
    last = out.dims[-1]
    if op.kind == "MUL":
        first, second = op.inputs
        return repeats if first is not second and first.sizes == second.sizes else None
    if op.kind == "BATCH_MATMUL":
        is_right = op.inputs[1] is tensor and op.inputs[0] is not tensor
        return repeats if is_right and not op.options.adj_y else None
    if op.kind in REDUCTIONS:
        axes, rank = constant_of(op.inputs[1]), tensor.rank
        if axes is None or rank is None or (rank - 1) in (axes % rank):
            return None
        return repeats
    if op.kind == "PAD":
        amounts = constant_of(op.inputs[1])
        return repeats if amounts is not None and not amounts[-1].any() else None
    if op.kind == "RESHAPE":
        if last is None or last % channels or not keeps_channels(tensor, out):
            return None
        return last // channels
    return repeats


def keeps_channels(before: Tensor, after: Tensor) -> bool:
    """Whether a RESHAPE leaves the last dimension as it is, or joins whole dimensions to it."""
    sizes, last = list(before.dims), after.dims[-1]
    product = 1
    while sizes and last is not None:
        size = sizes.pop()
        if size is None:
            return False
        product *= size
        if product == last:
            return True
    return False
