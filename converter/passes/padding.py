"""Zeros around an image move into the convolution; batches that mean dilation become dilation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tables import PADDING
from ..ir.dims import subtract
from ..ir.elements import extents_of
from ..ir.graph import Graph, Op
from ..ir.pseudo import having, operator
from .driver import rewrite
from .rewrite import builder, constant_of, options_of, producer_of, swap, with_options

SAME, VALID = PADDING["SAME"], PADDING["VALID"]
KERNEL_AXES = {kind: operator(kind).numbers("spatial") for kind in having("spatial")}


def steps_of(op: Op, field: str) -> list[int]:
    """An option for each axis of the image: `steps_of(op, "stride_{}")`."""
    axes = "dhw"[-len(KERNEL_AXES[op.kind]) :]
    return [getattr(op.options, field.format(axis)) for axis in axes]


def same_amounts(op: Op, size: tuple, dilation: Sequence[int] | None = None) -> list | None:
    """[before, after] on each axis that SAME gives an image of `size`; None when unknown."""
    weights = op.inputs[1]
    dilation = steps_of(op, "dilation_{}_factor") if dilation is None else dilation
    strides = steps_of(op, "stride_{}")
    amounts = []
    for n, axis, stride, step in zip(size, KERNEL_AXES[op.kind], strides, dilation, strict=True):
        kernel = weights.dims[axis]
        if kernel is None or (n is None and stride != 1):
            return None
        total = (kernel - 1) * step
        if n is not None:
            total = max((-(-n // stride) - 1) * stride + total + 1 - n, 0)
        amounts.append([total // 2, total - total // 2])
    return amounts


@rewrite(*KERNEL_AXES)
def fuse_padding(graph: Graph, op: Op) -> bool:
    """Lets a convolution pad by itself where SAME gives just the zeros a PAD put there.

        x -> PAD -> y -> CONV_2D(VALID) -> z      becomes      x -> CONV_2D(SAME) -> z

    Holds off when the sizes are unknown, the amounts are not those of SAME, batch or channels are
    padded, or y is an output. Another reader keeps the PAD for itself.
    """
    pad = producer_of(op.inputs[0], "PAD")
    if pad is None or op.options.padding != VALID or graph.is_output(pad.output):
        return False
    amounts = constant_of(pad.inputs[1])
    x = pad.inputs[0]
    if amounts is None or x.rank != len(KERNEL_AXES[op.kind]) + 2:
        return False
    if amounts[0].any() or amounts[-1].any() or x.quantization:
        return False
    if same_amounts(op, x.dims[1:-1]) != amounts[1:-1].tolist():
        return False
    op.set_input(0, x)
    with_options(op, padding=SAME)
    if not pad.output.readers:
        graph.remove(pad)
    return True


@rewrite(*KERNEL_AXES)
def fuse_dilation(graph: Graph, op: Op) -> bool:
    """Turns a convolution over blocks put into the batch into a dilated one.

        x -> SPACE_TO_BATCH_ND(d) -> CONV_2D(VALID) -> BATCH_TO_SPACE_ND(d) -> z
            becomes      x -> CONV_2D(dilation d) -> z

    What is padded and not cropped again stays as padding: SAME where the amounts are, else PAD.
    Holds off when a value in between has another reader or is an output, the blocks, or paddings
    less crops, are not the same at all sizes, or the convolution has steps already.
    """
    split = producer_of(op.inputs[0], "SPACE_TO_BATCH_ND")
    join = graph.sole_reader(op.output)
    if split is None or join is None or join.kind != "BATCH_TO_SPACE_ND":
        return False
    if graph.sole_reader(split.output) is not op:
        return False
    n = len(KERNEL_AXES[op.kind])
    steps = [*steps_of(op, "stride_{}"), *steps_of(op, "dilation_{}_factor")]
    blocks, blocks_after = (constant_of(block_op.inputs[1]) for block_op in (split, join))
    net_padding = _net_padding(split, join)
    if op.options.padding != VALID or steps != [1] * 2 * n:
        return False
    if blocks is None or blocks_after is None or blocks.shape != (n,):
        return False
    if not np.array_equal(blocks, blocks_after):
        return False
    if net_padding is None or np.any(net_padding < 0):
        return False
    x, dilation = split.inputs[0], blocks.tolist()
    padding = VALID
    b = builder(graph, op)
    if net_padding.any():
        padding = SAME
        if same_amounts(op, x.dims[1:-1], dilation) != net_padding.tolist():
            padding = VALID
            x = b.PAD(x, np.pad(net_padding, ((1, 1), (0, 0))).astype(np.int32))
    names = [f"dilation_{axis}_factor" for axis in "dhw"[-n:]]
    fields = {**options_of(op), **dict(zip(names, dilation, strict=True)), "padding": padding}
    swap(graph, join, b.op(op.kind, x, *op.inputs[1:], **fields))
    graph.remove(op)
    graph.remove(split)
    return True


def _net_padding(split: Op, join: Op) -> np.ndarray | None:
    """What `split` pads and `join` does not crop, where it is the same at all sizes."""
    tensors = [op.inputs[2] for op in (split, join)]
    if any(tensor.value is None and tensor.elements is None for tensor in tensors):
        return None
    amounts, crops = map(extents_of, tensors)
    pairs = zip(amounts.flat, crops.flat, strict=True)
    net_padding = [subtract(amount, crop) for amount, crop in pairs]
    if not all(isinstance(n, int) for n in net_padding):
        return None
    return np.reshape(np.asarray(net_padding, np.int64), amounts.shape)
