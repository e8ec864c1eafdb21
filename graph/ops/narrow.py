"""Kernels of sessions for 16-bit floats: each step is rounded to 16 bits, as on TensorFlow's CPU.

Sums of bfloat16 alone are made in 32 bits. What a conversion is held against sums in 64 bits: the
kernels of the other modules.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from .activation import SELU_NEGATIVE, SELU_SCALE
from .reduce import reduction, running

if TYPE_CHECKING:
    from ..core.protocols import Kernel

LANES = 8
"""How many elements are added side by side where the last axis is summed."""
TREE_LEAF = 200 * LANES
"""From which length on a sum is one of two halves."""


def _sum(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    if x.dtype.kind == "V":
        return np.asarray(np.sum(x, axis=axis, keepdims=keepdims, dtype=np.float32))
    return _reduced(np.add, x, axis, keepdims)


def _mean(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    n = math.prod(x.shape[i] for i in axis)
    total = _sum(x, axis, keepdims)
    return total / total.dtype.type(n)


def _product(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    return _reduced(np.multiply, x, axis, keepdims)


def _reduced(combine: np.ufunc, x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """`combine`, which is add or multiply, over axes."""
    result = _over_groups(combine, x, axis)
    shape = [1 if i in axis else n for i, n in enumerate(x.shape)]
    return result.reshape(
        shape if keepdims else [n for i, n in enumerate(x.shape) if i not in axis]
    )


def _over_groups(combine: np.ufunc, x: np.ndarray, axis: tuple[int, ...]) -> np.ndarray:
    """The result in the order of the other axes; neighbouring axes that go alike are one."""
    long = [(i in axis, n) for i, n in enumerate(x.shape) if n != 1]
    groups = [(flag, list(items)) for flag, items in itertools.groupby(long, lambda pair: pair[0])]
    flags = [flag for flag, _ in groups]
    x = x.reshape([math.prod(n for _, n in items) for _, items in groups])
    if flags == [True, False] or flags == [False, True, False]:
        return _in_sequence(combine, np.moveaxis(x, flags.index(True), 0))
    if flags == [True, False, True]:
        return _in_sequence(combine, x.transpose(2, 0, 1).reshape(-1, x.shape[1]))
    if True not in flags:
        return x
    last = sorted(range(x.ndim), key=lambda i: flags[i])
    shape = [math.prod(x.shape[i] for i in last if flags[i] is flag) for flag in (False, True)]
    return _of_rows(combine, x.transpose(last).reshape(shape))


def _in_sequence(combine: np.ufunc, x: np.ndarray) -> np.ndarray:
    result = _neutral(combine, x.shape[1:], x.dtype)
    for row in x:
        result = combine(result, row)
    return result


def _neutral(combine: np.ufunc, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.full(shape, 0 if combine is np.add else 1, dtype)


def _of_rows(combine: np.ufunc, x: np.ndarray) -> np.ndarray:
    """`combine` over the last axis of a matrix; long sums are sums of two halves."""
    n = x.shape[1]
    if combine is not np.add or n <= TREE_LEAF:
        return _of_short_rows(combine, x)
    middle = min(LANES * math.ceil(math.ceil(n / 2) / LANES), n)
    return combine(_of_rows(combine, x[:, :middle]), _of_rows(combine, x[:, middle:]))


def _of_short_rows(combine: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Lanes side by side, four times as many while they last, then their 32-bit sum."""
    n_rows, n = x.shape
    lanes = _neutral(combine, (n_rows, LANES), x.dtype)
    start = n // (4 * LANES) * (4 * LANES)
    if start:
        blocks = x[:, :start].reshape(n_rows, start // (4 * LANES), 4, LANES)
        sums = _in_sequence(combine, np.moveaxis(blocks, 1, 0))
        lanes = _in_sequence(combine, np.moveaxis(sums, 1, 0))
    end = n // LANES * LANES
    for i in range(start, end, LANES):
        lanes = combine(lanes, x[:, i : i + LANES])
    over = _in_sequence(combine, x[:, end:].T)
    wide = lanes.astype(np.float32)
    while wide.shape[1] > 1:
        half = wide.shape[1] // 2
        wide = combine(wide[:, :half], wide[:, half:])
    return combine(over, wide[:, 0].astype(x.dtype))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """exp(x) / (1 + exp(x))."""
    power = np.exp(x)
    return np.where(np.isinf(power), np.ones((), x.dtype), power / (1 + power))


def _softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)); x or exp(x) itself where nothing else is left of it."""
    digits = 10 if x.dtype.kind == "f" else 7
    limit = x.dtype.type(2 - digits * math.log(2))
    power = np.exp(x)
    return np.where(x > -limit, x, np.where(x < limit, power, np.log1p(power)))


def _exp_less_one(x: np.ndarray) -> np.ndarray:
    """exp(x) - 1 of what is negative."""
    return np.exp(np.minimum(x, 0)) - x.dtype.type(1)


def _softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) / sum(exp(x)) along the last axis."""
    if not x.size:
        return x
    powers, total = _powers(x - np.max(x, -1, keepdims=True))
    return powers * (x.dtype.type(1) / total)


def _log_softmax(x: np.ndarray) -> np.ndarray:
    """x - log(sum(exp(x))) along the last axis."""
    if not x.size:
        return x
    shifted = x - np.max(x, -1, keepdims=True)
    return shifted - np.log(_powers(shifted)[1])


def _powers(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    powers = np.exp(x)
    rows = powers.reshape(-1, x.shape[-1])
    return powers, _of_rows(np.add, rows).reshape(*x.shape[:-1], 1)


def _l2_loss(x: np.ndarray) -> np.ndarray:
    """Half the sum of the squares."""
    return _of_rows(np.add, (x * x).reshape(1, -1))[0] * x.dtype.type(0.5)


def _elu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, _exp_less_one(x), x)


def _selu(x: np.ndarray) -> np.ndarray:
    factor, scale = (np.asarray(number, x.dtype) for number in (SELU_NEGATIVE, SELU_SCALE))
    return np.where(x < 0, factor * _exp_less_one(x), scale * x)


def _dtype(x: np.ndarray) -> np.dtype:
    return x.dtype


KERNELS: dict[str, Kernel] = {
    "Cumprod": running(np.cumprod, 1, _dtype),
    "Cumsum": running(np.cumsum, 0, _dtype),
    "Elu": _elu,
    "L2Loss": _l2_loss,
    "LogSoftmax": _log_softmax,
    "Mean": reduction(_mean),
    "Prod": reduction(_product),
    "Selu": _selu,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "Softplus": _softplus,
    "Sum": reduction(_sum),
}
"""Op type -> kernel, of operands as that of its row."""
