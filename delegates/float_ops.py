"""What delegates for float32 ask of an operator before they take it, and what they keep of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from ..engine.plan.buffer import Storage
from ..interpreter.checks import Window, required, windows
from ..interpreter.plan.node import Node, Operand

T = TypeVar("T")


def reason_against_types(op: Node, parameters: Collection[int] = ()) -> str | None:
    """Why `op` cannot run on float32 alone, in a sentence; None if it can.

    Args:
        op: a prepared operator.
        parameters: positions of the inputs that tell how to compute, as axes do.
    """
    for i, x in enumerate(op.inputs):
        if x is None:
            continue
        if i in parameters:
            if x.value is None:
                return f"input {i} '{x.name}' is known only when the model runs"
        elif x.dtype != np.float32:
            return f"input {i} '{x.name}' is {_kind(x)}, only float32 is taken"
    for x in op.results:
        if x.dtype != np.float32:
            return f"result '{x.name}' is {_kind(x)}, only float32 is taken"
        if not x.size:
            return f"result '{x.name}' of shape {x.shape} has no elements"
    return None


def window_of(op: Node) -> tuple[Window, Window]:
    """How the filter or pool of `op` slides along height and width."""
    if op.kind in ("CONV_2D", "DEPTHWISE_CONV_2D"):
        taps = required(op, 2)[1].shape[1:3]
    else:
        taps = (op.options.filter_height, op.options.filter_width)
    height, width = windows(op, taps)
    return height, width


def paddings(op: Node) -> list[tuple[int, int]]:
    """(before, after) of each dimension that the window of `op` slides over."""
    pairs = []
    sizes, counts = required(op, 1)[0].shape[1:3], op.results[0].shape[1:3]
    for span, size, count in zip(window_of(op), sizes, counts, strict=True):
        before = span.before(size)
        pairs.append((before, (count - 1) * span.stride + span.reach - size - before))
    return pairs


class Uploaded(Generic[T]):
    """Constants on a device, sent there once and let go when the model that has them is."""

    def __init__(self, upload: Callable[[np.ndarray], T]):
        self._upload = upload
        self._uploaded: WeakKeyDictionary[Storage, dict[Any, T]] = WeakKeyDictionary()

    def __call__(self, operand: Operand) -> T:
        """The value of a constant operand on the device."""
        shapes = self._uploaded.setdefault(operand.storage, {})
        if operand.shape not in shapes:
            shapes[operand.shape] = self._upload(np.asarray(operand.value))
        return shapes[operand.shape]


def _kind(x: Operand) -> str:
    is_quantized = x.quantization is not None and x.is_integer
    return f"quantized {x.dtype}" if is_quantized else str(x.dtype)
