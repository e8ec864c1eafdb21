"""Cells of LSTM and GRU as one operation each, and their derivatives.

The kernels of LSTM give i, cs, f, o, ci, co, h: the gates, the state before and after tanh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import op
from ..core.shapes import Dim, Shape, known, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.protocols import OperationView

LSTM_OPERANDS = """
cs_prev dims: batch_size, cell_size
h_prev dims: batch_size, cell_size
w dim_size: input_size + cell_size, cell_size * 4
wci dim_size: cell_size
wcf dim_size: cell_size
wco dim_size: cell_size
b dim_size: cell_size * 4
"""
GRU_OPERANDS = """
h_prev dims: batch_size, cell_size
w_ru dim_size: input_size + cell_size, cell_size * 2
w_c dim_size: input_size + cell_size, cell_size
b_ru dim_size: cell_size * 2
b_c dim_size: cell_size
"""
"""What the kernels ask of the operands, in the words of TensorFlow's messages."""


def _check_operands(
    table: str, operands: Mapping[str, np.ndarray], x: np.ndarray, state: str, rank: int
) -> None:
    """Raises ValueError, in TensorFlow's words, unless the operands fit x and the state."""
    for name, array, n_axes in (("x", x, rank), (state, operands[state], 2)):
        if array.ndim != n_axes:
            raise ValueError(f"{name} must be {n_axes}D")
    n_inputs, n_units = x.shape[-1], operands[state].shape[1]
    sizes = {
        "batch_size": x.shape[-2],
        "cell_size": n_units,
        "cell_size * 2": 2 * n_units,
        "cell_size * 4": 4 * n_units,
        "input_size + cell_size": n_inputs + n_units,
    }
    for line in table.strip().splitlines():
        head, _, axes = line.partition(": ")
        name, word = head.split()
        shape, expected_sizes = operands[name].shape, axes.split(", ")
        if len(shape) != len(expected_sizes):
            raise ValueError(f"{name} must be {len(expected_sizes)}D")
        for axis, (size, expected) in enumerate(zip(shape, expected_sizes, strict=True)):
            if size != sizes[expected]:
                raise ValueError(
                    f"{name}.{word}({axis}) != {expected}: {size} vs. {sizes[expected]}"
                )


def _check_lstm(x: np.ndarray, rank: int, *operands: np.ndarray) -> None:
    names = ("cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b")
    _check_operands(
        LSTM_OPERANDS, dict(zip(names, operands, strict=True)), x, state="cs_prev", rank=rank
    )


def _check_steps(seq_len_max: np.ndarray, x: np.ndarray) -> int:
    """The number of steps to take."""
    if seq_len_max.ndim:
        raise ValueError(f"`seq_len_max_tensor` must be rank 0 but is rank {seq_len_max.ndim}")
    if not 0 <= seq_len_max <= len(x):
        raise ValueError(f"seq_len_max must be in [0, {len(x)}], the steps of x, got {seq_len_max}")
    return int(seq_len_max)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.tanh(x * 0.5) * 0.5 + 0.5


def _wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays in the type that the kernels compute in."""
    return [array.astype(np.float32, copy=False) for array in arrays]


def _lstm_step(
    x: np.ndarray,
    cs_prev: np.ndarray,
    h_prev: np.ndarray,
    w: np.ndarray,
    peepholes: list[np.ndarray] | None,
    b: np.ndarray,
    order: str,
    forget_bias: float,
    cell_clip: float,
) -> list[np.ndarray]:
    """i, cs, f, o, ci, co, h of one step; `order` says where w has the gates i, c, f, o."""
    gates = np.concatenate([x, h_prev], 1) @ w + b
    parts = dict(zip(order, np.split(gates, 4, 1), strict=True))
    if peepholes is None:
        wci = wcf = wco = np.zeros(1, np.float32)
    else:
        wci, wcf, wco = peepholes
    i = _sigmoid(parts["i"] + cs_prev * wci)
    f = _sigmoid(parts["f"] + np.float32(forget_bias) + cs_prev * wcf)
    ci = np.tanh(parts["c"])
    cs = i * ci + f * cs_prev
    if cell_clip > 0:
        cs = cs.clip(-cell_clip, cell_clip)
    o = _sigmoid(parts["o"] + cs * wco)
    co = np.tanh(cs)
    return [i, cs, f, o, ci, co, o * co]


def _block_shape(op: OperationView) -> list[Shape]:
    x, (size,) = known(op, 1, 3), known(op, 8, 1)
    n_units: Dim = None
    if size is not None:
        divides = f"Dimension size must be evenly divisible by 4 but is {size}"
        require(op, size % 4 == 0, divides)
        n_units = size // 4
    return [(*x[:2], n_units)] * 7


def _run_block(
    steps: np.ndarray,
    x: np.ndarray,
    *operands: np.ndarray,
    order: str,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> list[np.ndarray]:
    """Each step's results; zeros after `steps`, where TensorFlow leaves the gates unset."""
    _check_lstm(x, 3, *operands)
    n_steps = _check_steps(steps, x)
    cs, h, w, *peepholes, b = _wide(*operands)
    results = [np.zeros((*x.shape[:2], cs.shape[1]), np.float32) for _ in range(7)]
    for t, step in enumerate(_wide(*x[:n_steps])):
        values = _lstm_step(
            step, cs, h, w, peepholes if use_peephole else None, b, order, forget_bias, cell_clip
        )
        for result, value in zip(results, values, strict=True):
            result[t] = value
        cs, h = values[1], values[6]
    return results


@op("BlockLSTM", shape=_block_shape)
def block_lstm(
    *arrays: np.ndarray, forget_bias: float, cell_clip: float, use_peephole: bool
) -> list[np.ndarray]:
    """An LSTM over a sequence [time, batch, inputs]; w has the gates i, c, f, o."""
    return _run_block(
        *arrays,
        order="icfo",
        forget_bias=forget_bias,
        cell_clip=cell_clip,
        use_peephole=use_peephole,
    )


@op("BlockLSTMV2", shape=_block_shape)
def block_lstm_v2(*arrays: np.ndarray, cell_clip: float, use_peephole: bool) -> list[np.ndarray]:
    """An LSTM over a sequence [time, batch, inputs]; w has the gates i, f, c, o."""
    return _run_block(
        *arrays, order="ifco", forget_bias=0.0, cell_clip=cell_clip, use_peephole=use_peephole
    )


def _cell_shape(op: OperationView) -> list[Shape]:
    return [(known(op, 0, 2)[0], known(op, 1, 2)[1])] * 7


@op("LSTMBlockCell", shape=_cell_shape)
def lstm_block_cell(
    x: np.ndarray,
    *operands: np.ndarray,
    forget_bias: float,
    cell_clip: float,
    use_peephole: bool,
) -> list[np.ndarray]:
    """One step of BlockLSTM."""
    _check_lstm(x, 2, *operands)
    x, cs, h, w, *peepholes, b = _wide(x, *operands)
    return _lstm_step(
        x, cs, h, w, peepholes if use_peephole else None, b, "icfo", forget_bias, cell_clip
    )


def _lstm_step_grad(
    cs_prev: np.ndarray,
    peepholes: list[np.ndarray] | None,
    results: list[np.ndarray],
    cs_grad: np.ndarray,
    h_grad: np.ndarray,
) -> tuple[np.ndarray, dict[str, np.ndarray], list[np.ndarray]]:
    """What flows back to cs_prev, to each gate before its activation, and to the peepholes.

    As in TensorFlow, clipping counts for nothing.
    """
    i, cs, f, o, ci, co = results
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peepholes is not None:
        dcs = dcs + do * peepholes[2]
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    cs_prev_grad = dcs * f
    gates = {"i": di, "c": dci, "f": df, "o": do}
    if peepholes is None:
        return cs_prev_grad, gates, [np.zeros(cs.shape[1], np.float32)] * 3
    cs_prev_grad = cs_prev_grad + di * peepholes[0] + df * peepholes[1]
    return cs_prev_grad, gates, [(di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)]


def _run_block_grad(
    steps: np.ndarray, x: np.ndarray, *arrays: np.ndarray, order: str, use_peephole: bool
) -> list[np.ndarray]:
    """What flows back to x, cs_prev, h_prev, w, wci, wcf, wco, b."""
    _check_lstm(x, 3, *arrays[:7])
    n_steps = _check_steps(steps, x)
    x, first_cs, first_h, w, *peepholes, b = _wide(x, *arrays[:7])
    *results, h, cs_grads, h_grads = _wide(*arrays[7:])
    cs = results[1]
    x_grad, w_grad, b_grad = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    peephole_grads = [np.zeros_like(weights) for weights in peepholes]
    cs_prev_grad, h_prev_grad = np.zeros_like(first_cs), np.zeros_like(first_h)
    for t in reversed(range(n_steps)):
        cs_prev, h_prev = (cs[t - 1], h[t - 1]) if t else (first_cs, first_h)
        cs_prev_grad, gates, to_peepholes = _lstm_step_grad(
            cs_prev,
            peepholes if use_peephole else None,
            [result[t] for result in results],
            cs_grads[t] + cs_prev_grad,
            h_grads[t] + h_prev_grad,
        )
        dgates = np.concatenate([gates[gate] for gate in order], 1)
        x_grad[t], h_prev_grad = np.split(dgates @ w.T, [x.shape[2]], 1)
        w_grad += np.concatenate([x[t], h_prev], 1).T @ dgates
        b_grad += dgates.sum(0)
        for total, term in zip(peephole_grads, to_peepholes, strict=True):
            total += term
    return [x_grad, cs_prev_grad, h_prev_grad, w_grad, *peephole_grads, b_grad]


def _block_grad_shape(op: OperationView) -> list[Shape]:
    known(op, 1, 3)
    return [tensor.sizes for tensor in op.inputs[1:9]]


@op("BlockLSTMGrad", shape=_block_grad_shape)
def block_lstm_grad(*arrays: np.ndarray, use_peephole: bool) -> list[np.ndarray]:
    """The derivative of BlockLSTM by all its inputs but the number of steps."""
    return _run_block_grad(*arrays, order="icfo", use_peephole=use_peephole)


@op("BlockLSTMGradV2", shape=_block_grad_shape)
def block_lstm_grad_v2(*arrays: np.ndarray, use_peephole: bool) -> list[np.ndarray]:
    """The derivative of BlockLSTMV2 by all its inputs but the number of steps."""
    return _run_block_grad(*arrays, order="ifco", use_peephole=use_peephole)


def _cell_grad_shape(op: OperationView) -> list[Shape]:
    n_batch, n_units = known(op, 0, 2)[0], known(op, 1, 2)[1]
    n_gates = None if n_units is None else 4 * n_units
    return [(n_batch, n_units), (n_batch, n_gates), (n_units,), (n_units,), (n_units,)]


@op("LSTMBlockCellGrad", shape=_cell_grad_shape)
def lstm_block_cell_grad(
    x: np.ndarray, *arrays: np.ndarray, use_peephole: bool
) -> list[np.ndarray]:
    """What flows back to cs_prev, to the gates before their activations, and to the peepholes."""
    _check_lstm(x, 2, *arrays[:7])
    cs_prev, _, _, *peepholes, _ = _wide(*arrays[:7])
    *results, cs_grad, h_grad = _wide(*arrays[7:])
    cs_prev_grad, gates, to_peepholes = _lstm_step_grad(
        cs_prev, peepholes if use_peephole else None, results, cs_grad, h_grad
    )
    return [cs_prev_grad, np.concatenate(list(gates.values()), 1), *to_peepholes]


def _gru_shape(op: OperationView) -> list[Shape]:
    return [(known(op, 0, 2)[0], known(op, 1, 2)[1])] * 4


def _check_gru(x: np.ndarray, *operands: np.ndarray) -> None:
    names = ("h_prev", "w_ru", "w_c", "b_ru", "b_c")
    if x.ndim != 2:
        raise ValueError(f"Rank of x must be 2, got {x.ndim}")
    _check_operands(
        GRU_OPERANDS, dict(zip(names, operands, strict=True)), x, state="h_prev", rank=2
    )


@op("GRUBlockCell", shape=_gru_shape)
def gru_block_cell(x: np.ndarray, *operands: np.ndarray) -> list[np.ndarray]:
    """r, u, c, h = u * h_prev + (1 - u) * c of one step of a GRU that resets before the product."""
    _check_gru(x, *operands)
    h_prev, w_ru, w_c, b_ru, b_c = operands
    gates = _sigmoid(np.concatenate([x, h_prev], 1) @ w_ru + b_ru)
    r, u = np.split(gates, 2, 1)
    c = np.tanh(np.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return [r, u, c, u * h_prev + (1 - u) * c]


def _gru_grad_shape(op: OperationView) -> list[Shape]:
    x, h_prev = known(op, 0, 2), known(op, 1, 2)
    state = (x[0], h_prev[1])
    n_gates = None if h_prev[1] is None else 2 * h_prev[1]
    return [x, state, state, (x[0], n_gates)]


@op("GRUBlockCellGrad", shape=_gru_grad_shape)
def gru_block_cell_grad(x: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
    """What flows back to x, to h_prev, to c and to [r, u] before their activations."""
    _check_gru(x, *arrays[:5])
    h_prev, w_ru, w_c, _, _, r, u, c, d_h = arrays
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    to_candidate = np.split(d_c_bar @ w_c.T, [x.shape[1]], 1)
    d_r_bar = to_candidate[1] * h_prev * r * (1 - r)
    d_gates = np.concatenate([d_r_bar, d_u_bar], 1)
    to_gates = np.split(d_gates @ w_ru.T, [x.shape[1]], 1)
    d_h_prev = to_gates[1] + to_candidate[1] * r + d_h * u
    return [to_gates[0] + to_candidate[0], d_h_prev, d_c_bar, d_gates]
