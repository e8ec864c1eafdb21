"""Derivatives of the cells of LSTM and GRU that are one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops, same_attrs, shape_of
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor


@gradient("BlockLSTM", fills_zeros=True)
def block_lstm(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    """By an operation of its own; what comes to the gates does not count, as in TensorFlow."""
    attrs = same_attrs(op, "use_peephole")
    return [None, *ops.BlockLSTMGrad(*op.inputs, *op.outputs, grads[1], grads[6], **attrs)]


@gradient("BlockLSTMV2", fills_zeros=True)
def block_lstm_v2(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    """By an operation of its own; what comes to the gates does not count, as in TensorFlow."""
    attrs = same_attrs(op, "use_peephole")
    return [None, *ops.BlockLSTMGradV2(*op.inputs, *op.outputs, grads[1], grads[6], **attrs)]


@gradient("LSTMBlockCell", fills_zeros=True)
def lstm_block_cell(op: Operation, *grads: Tensor) -> list[Tensor]:
    """By an operation of its own as far as the gates, from there by their matrix product."""
    x, _, h_prev, w = op.inputs[:4]
    attrs = same_attrs(op, "use_peephole")
    cs_prev_grad, dgates, *peephole_grads = ops.LSTMBlockCellGrad(
        *op.inputs, *op.outputs[:6], grads[1], grads[6], **attrs
    )
    x_grad, h_prev_grad = _split_columns(ops.MatMul(dgates, w, transpose_b=True), x, h_prev)
    w_grad = ops.MatMul(_columns(x, h_prev), dgates, transpose_a=True)
    b_grad = ops.Sum(dgates, np.array([0], np.int32))
    return [x_grad, cs_prev_grad, h_prev_grad, w_grad, *peephole_grads, b_grad]


@gradient("GRUBlockCell", fills_zeros=True)
def gru_block_cell(op: Operation, *grads: Tensor) -> list[Tensor]:
    """By an operation of its own as far as the gates, from there by their matrix products."""
    x, h_prev = op.inputs[:2]
    d_x, d_h_prev, d_c_bar, d_gates = ops.GRUBlockCellGrad(*op.inputs, *op.outputs[:3], grads[3])
    d_w_ru = ops.MatMul(_columns(x, h_prev), d_gates, transpose_a=True)
    d_w_c = ops.MatMul(_columns(x, h_prev * op.outputs[0]), d_c_bar, transpose_a=True)
    return [d_x, d_h_prev, d_w_ru, d_w_c, ops.BiasAddGrad(d_gates), ops.BiasAddGrad(d_c_bar)]


def _columns(x: Tensor, h: Tensor) -> Tensor:
    """Inputs and state side by side."""
    return ops.ConcatV2([x, h], np.int32(1))


def _split_columns(joined: Tensor, x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """The columns of the inputs and those of the state."""
    begin = ops.ConcatOffset(np.int32(1), [shape_of(x), shape_of(h)])
    return ops.Slice(joined, begin[0], shape_of(x)), ops.Slice(joined, begin[1], shape_of(h))
