"""SignalFramer, SignalStacker, SignalDelay, SignalOverlapAdd: rows that go on from run to run.

Source: TensorFlow Lite Micro's signal library.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly
from .signal import require_dtype
from .state import state_of

if TYPE_CHECKING:
    from ..plan.node import HostCall, Node

_SHORT = (1 << 15) - 1
_MOST = 1 << 20


@custom("SignalFramer")
def framer(node: Node) -> HostCall:
    """Frames of the samples so far, each `frame_step` after the one before.

    One for which there are too few samples yet is 0; the second result says whether none is.
    """
    (x,) = exactly(node, 1)
    options = Options(node)
    size, step = options.positive("frame_size"), options.positive("frame_step")
    prefill = options.flag("prefill")
    require_dtype(node, x, np.int16)
    node.require(
        x.ndim >= 1 and x.shape[-1] % step == 0 and step <= size <= _MOST,
        f"rows must be whole steps of {step}, a step at most the frame's {size}, got {x.shape}",
    )
    n_frames, rows = x.shape[-1] // step, prod(x.shape[:-1])
    shape = (*x.shape[:-1], n_frames, size)
    samples = state_of(node, "samples", np.zeros((rows, size + step), np.int16))
    count = state_of(node, "count", np.array([(size - step) if prefill else 0]))

    def run(x: np.ndarray) -> list[np.ndarray | bool]:
        buffer, filled, valid = samples(), count(), True
        out = np.zeros((rows, n_frames, size), np.int16)
        steps = x.reshape(rows, n_frames, step)
        for i in range(n_frames):
            n = int(filled[0])
            buffer[:, n : n + step] = steps[:, i]
            filled[0] = n + step
            if n + step < size:
                valid = False
                continue
            out[:, i] = buffer[:, :size]
            buffer[:, :size] = buffer[:, step:].copy()
            filled[0] = n
        return [out.reshape(shape), valid]

    return by_numpy(node, run, (shape, np.int16), ((), np.bool_))


@custom("SignalStacker")
def stacker(node: Node) -> HostCall:
    """The frames around one, in a row, and whether there are enough of them; before the first: it.

    A row is taken at every `stacker_step` frames.
    """
    (x,) = exactly(node, 1)
    options = Options(node)
    n, step = options.positive("num_channels"), options.positive("stacker_step")
    left, right = options.integer("stacker_left_context"), options.integer("stacker_right_context")
    require_dtype(node, x, np.int16)
    total = left + 1 + right
    node.require(
        x.shape == (n,) and min(left, right) >= 0 and total * n <= _MOST and step <= total,
        f"input must be one frame of {n}, stepping over at most the stack's {total} frames, "
        f"got shape {x.shape} and steps of {step}",
    )
    frames = state_of(node, "frames", np.zeros((total, n), np.int16))
    count = state_of(node, "count", np.array([-1]))

    def run(x: np.ndarray) -> list[np.ndarray | bool]:
        buffer, filled = frames(), count()
        fresh = left + 1 if filled[0] < 0 else 1
        start = max(int(filled[0]), 0)
        buffer[start : start + fresh] = x
        filled[0] = start + fresh
        if filled[0] < total:
            return [np.zeros(total * n, np.int16), False]
        out = buffer.ravel().copy()
        buffer[: total - step] = buffer[step:].copy()
        filled[0] = total - step
        return [out, True]

    return by_numpy(node, run, ((total * n,), np.int16), ((), np.bool_))


@custom("SignalDelay")
def delay(node: Node) -> HostCall:
    """The samples of each row `delay_length` later, zeros before the first."""
    (x,) = exactly(node, 1)
    length = Options(node).integer("delay_length")
    require_dtype(node, x, np.int16)
    node.require(x.ndim >= 1, "input must have a dimension")
    node.require(0 <= length <= _MOST, f"delay_length must be in [0, {_MOST}], got {length}")
    rows = prod(x.shape[:-1])
    delayed = state_of(node, "late", np.zeros((rows, length), np.int16))

    def run(x: np.ndarray) -> list[np.ndarray]:
        buffer, n = delayed(), x.shape[-1]
        samples = np.concatenate([buffer, x.reshape(rows, n)], 1)
        buffer[...] = samples[:, n:]
        return [samples[:, :n].reshape(x.shape)]

    return by_numpy(node, run, (x.shape, np.int16))


@custom("SignalOverlapAdd")
def overlap_add(node: Node) -> HostCall:
    """Frames laid over one another, each `frame_step` after the one before, and added up."""
    (x,) = exactly(node, 1)
    step = Options(node).positive("frame_step")
    require_dtype(node, x, np.int16, np.float32)
    node.require(
        x.ndim >= 2 and x.shape[-1] >= step,
        f"input must be frames of {step} samples or more, got shape {x.shape}",
    )
    n_frames, size = x.shape[-2:]
    rows = prod(x.shape[:-2])
    shape = (*x.shape[:-2], n_frames * step)
    sums = state_of(node, "sums", np.zeros((rows, size), x.dtype))

    def run(x: np.ndarray) -> list[np.ndarray]:
        buffer, out = sums(), np.zeros((rows, n_frames, step), x.dtype)
        frames = x.reshape(rows, n_frames, size)
        for i in range(n_frames):
            if x.dtype == np.int16:
                total = buffer.astype(np.int32) + frames[:, i]
                buffer[...] = np.clip(total, -_SHORT - 1, _SHORT)
            else:
                buffer += frames[:, i]
            out[:, i] = buffer[:, :step]
            buffer[:, : size - step] = buffer[:, step:].copy()
            buffer[:, size - step :] = 0
        return [out.reshape(shape)]

    return by_numpy(node, run, (shape, x.dtype))
