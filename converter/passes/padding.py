"""Zeros around an image move into the convolution; batches that mean dilation become dilation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tables import PADDING
from ..ir.dims import subtract
from ..ir.elements import extents_of
from ..ir.graph import Graph, Op, Tensor
from ..ir.pseudo import having, operator
from .driver import rewrite
from .rewrite import RESHAPES, builder, constant_of, options_of, producer_of, swap, with_options

SAME, VALID = PADDING["SAME"], PADDING["VALID"]
SPLIT = "SPACE_TO_BATCH_ND"
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
    n = len(KERNEL_AXES[op.kind])
    split, join = producer_of(op.inputs[0], SPLIT), graph.sole_reader(op.output)
    if split is None or join is None or graph.sole_reader(split.output) is not op:
        return False
    blocks = _blocks_of(split, join, n) if takes_single_steps(op) else None
    if blocks is None:
        return False
    dilation, net_padding = blocks
    x = split.inputs[0]
    padding = VALID
    b = builder(graph, op)
    if net_padding.any():
        padding = SAME
        if same_amounts(op, x.dims[1:-1], dilation) != net_padding.tolist():
            padding = VALID
            x = b.PAD(x, around(net_padding))
    fields = {**options_of(op), **dilated(dilation), "padding": padding}
    swap(graph, join, b.op(op.kind, x, *op.inputs[1:], **fields))
    graph.remove(op)
    graph.remove(split)
    return True


@rewrite("CONV_2D", "DEPTHWISE_CONV_2D")
def fuse_dilation_of_rows(graph: Graph, op: Op) -> bool:
    """The same of a convolution over rows, which are images of one line.

        x -> SPACE_TO_BATCH_ND(d) -> EXPAND_DIMS -> CONV_2D -> SQUEEZE -> BATCH_TO_SPACE_ND(d) -> z
            becomes      x -> EXPAND_DIMS -> CONV_2D(dilation d) -> SQUEEZE -> z

    Holds off as `fuse_dilation` does.
    """
    line = op.inputs[0]
    expand, squeeze = line.producer, graph.sole_reader(op.output)
    if expand is None or squeeze is None or graph.sole_reader(line) is not op:
        return False
    if expand.kind not in RESHAPES or squeeze.kind not in RESHAPES:
        return False
    rows, result = expand.inputs[0], squeeze.output
    axis = added_axis(rows, line)
    split, join = producer_of(rows, SPLIT), graph.sole_reader(result)
    if axis is None or added_axis(result, op.output) != axis or split is None or join is None:
        return False
    blocks = _blocks_of(split, join, 1) if takes_single_steps(op) else None
    if blocks is None or graph.sole_reader(rows) is not expand:
        return False
    (block,), net_padding = blocks
    x, b = split.inputs[0], builder(graph, op)
    before = axis - 1
    dilation = [block, block]
    dilation[before] = 1
    sizes = list(x.dims[1:-1])
    sizes.insert(before, 1)
    padding = VALID
    if net_padding.any():
        padding = SAME
        if (
            same_amounts(op, tuple(sizes), dilation)
            != np.insert(net_padding, before, 0, 0).tolist()
        ):
            padding = VALID
            x = b.PAD(x, around(net_padding))
    fields = {**options_of(op), **dilated(dilation), "padding": padding}
    image = b.op(op.kind, b.EXPAND_DIMS(x, np.int32(axis)), *op.inputs[1:], **fields)
    swap(graph, join, b.SQUEEZE(image, squeeze_dims=[axis]))
    for unread in (squeeze, op, expand, split):
        graph.remove(unread)
    return True


def around(amounts: np.ndarray) -> np.ndarray:
    """Paddings of all axes, from those between batch and channels."""
    none = np.zeros((1, 2), np.int32)
    return np.concatenate([none, amounts.astype(np.int32), none])


def takes_single_steps(op: Op) -> bool:
    """Whether a convolution has neither padding, strides nor dilation."""
    steps = [*steps_of(op, "stride_{}"), *steps_of(op, "dilation_{}_factor")]
    return op.options.padding == VALID and set(steps) == {1}


def dilated(dilation: Sequence[int]) -> dict[str, int]:
    """The options of a dilation for each axis of the image."""
    axes = "dhw"[-len(dilation) :]
    names = [f"dilation_{axis}_factor" for axis in axes]
    return dict(zip(names, dilation, strict=True))


def added_axis(x: Tensor, y: Tensor) -> int | None:
    """The axis of an image `y` that is 1 and that rows `x` of the same elements do not have."""
    if x.rank != 3 or y.rank != 4:
        return None
    fitting = (i for i in (1, 2) if y.dims[i] == 1 and (*y.dims[:i], *y.dims[i + 1 :]) == x.dims)
    return next(fitting, None)


def _blocks_of(split: Op, join: Op, n: int) -> tuple[list[int], np.ndarray] | None:
    """The blocks of `n` axes that `split` puts into the batch and `join` takes out again, and what
    is padded at each end and not cropped again; None where these are not the same at all sizes.
    """
    if join.kind != "BATCH_TO_SPACE_ND":
        return None
    blocks, blocks_after = (constant_of(block_op.inputs[1]) for block_op in (split, join))
    if blocks is None or blocks_after is None or blocks.shape != (n,):
        return None
    net_padding = _net_padding(split, join)
    if not np.array_equal(blocks, blocks_after) or net_padding is None or np.any(net_padding < 0):
        return None
    return blocks.tolist(), net_padding


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
