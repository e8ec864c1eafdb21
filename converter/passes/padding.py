"""Zeros around an image move into the convolution; batches that mean dilation become dilation."""

from __future__ import annotations

import numpy as np

from ...schema.tables import PADDING
from ..ir import Graph, Op
from .rewrite import builder, constant_of, made_by, ops_of, options_of, swap, with_options

SAME, VALID = PADDING["SAME"], PADDING["VALID"]
KERNEL_AXES = {"CONV_2D": (1, 2), "DEPTHWISE_CONV_2D": (1, 2)}


def same_amounts(op: Op, size: tuple, dilation: tuple | None = None) -> list | None:
    """[before, after] on height and width that SAME gives an image of `size`; None when unknown."""
    options, weights = op.options, op.inputs[1]
    if dilation is None:
        dilation = (options.dilation_h_factor, options.dilation_w_factor)
    strides = (options.stride_h, options.stride_w)
    amounts = []
    for n, axis, stride, step in zip(size, KERNEL_AXES[op.kind], strides, dilation, strict=True):
        kernel = weights.dims[axis]
        if n is None or kernel is None:
            return None
        total = max((-(-n // stride) - 1) * stride + (kernel - 1) * step + 1 - n, 0)
        amounts.append([total // 2, total - total // 2])
    return amounts


def fuse_padding(graph: Graph) -> int:
    """Lets a convolution pad by itself where SAME gives just the zeros a PAD put there.

        x -> PAD -> y -> CONV_2D(VALID) -> z      becomes      x -> CONV_2D(SAME) -> z

    Holds off when height or width is unknown, the amounts are not those of SAME, batch or channels
    are padded, or y is an output. Another reader keeps the PAD for itself.
    """
    count = 0
    for op in ops_of(graph, *KERNEL_AXES):
        pad = made_by(op.inputs[0], "PAD")
        if pad is None or op.options.padding != VALID or graph.is_output(pad.output):
            continue
        amounts = constant_of(pad.inputs[1])
        x = pad.inputs[0]
        if amounts is None or x.shape is None or len(x.shape) != 4:
            continue
        if amounts[0].any() or amounts[3].any() or x.quantization:
            continue
        if same_amounts(op, x.shape[1:3]) != amounts[1:3].tolist():
            continue
        op.set_input(0, x)
        with_options(op, padding=SAME)
        if not pad.output.readers:
            graph.remove(pad)
        count += 1
    return count


def fuse_dilation(graph: Graph) -> int:
    """Turns a convolution over blocks put into the batch into a dilated one.

        x -> SPACE_TO_BATCH_ND(d) -> CONV_2D(VALID) -> BATCH_TO_SPACE_ND(d) -> z
            becomes      x -> CONV_2D(dilation d) -> z

    What is padded and not cropped again stays as padding: SAME where the amounts are, else PAD.
    Holds off when a value in between has another reader or is an output, strides or amounts are not
    constant, or the convolution is dilated already.
    """
    count = 0
    for op in ops_of(graph, *KERNEL_AXES):
        split = made_by(op.inputs[0], "SPACE_TO_BATCH_ND")
        join = graph.sole_reader(op.output)
        if split is None or join is None or join.kind != "BATCH_TO_SPACE_ND":
            continue
        if graph.sole_reader(split.output) is not op:
            continue
        options = op.options
        steps = (
            *(options.stride_h, options.stride_w),
            *(options.dilation_h_factor, options.dilation_w_factor),
        )
        numbers = (*split.inputs[1:], *join.inputs[1:])
        if options.padding != VALID or steps != (1, 1, 1, 1):
            continue
        if not all(tensor.is_constant for tensor in numbers):
            continue
        blocks, amounts, blocks_after, crops = (tensor.data for tensor in numbers)
        x = split.inputs[0]
        left = amounts - crops
        if blocks.shape != (2,) or np.any(blocks != blocks_after) or np.any(left < 0):
            continue
        dilation = (int(blocks[0]), int(blocks[1]))
        padding = VALID
        b = builder(graph, op)
        if left.any():
            padding = SAME
            if same_amounts(op, x.dims[1:3], dilation) != left.tolist():
                padding = VALID
                x = b.PAD(x, np.pad(left, ((1, 1), (0, 0))).astype(np.int32))
        dilated = {"dilation_h_factor": dilation[0], "dilation_w_factor": dilation[1]}
        fields = {**options_of(op), **dilated, "padding": padding}
        swap(graph, join, b.op(op.kind, x, *op.inputs[1:], **fields))
        graph.remove(op)
        graph.remove(split)
        count += 1
    return count
