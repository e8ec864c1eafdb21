"""What several op families ask of a node: types, fused activations, sliding windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..engine.sizes import largest
from ..schema.dtypes import tf_name
from ..schema.operators import known
from ..schema.tables import name_of
from .plan.node import Node, Operand

if TYPE_CHECKING:
    from ..schema.quantization import Quantization
    from .plan.node import Dimension
    from .plan.scope import Scope

NO_LIMIT = float.fromhex("0x1.fffffep+127")
"""The size of a limit that cuts off nothing but infinity: the largest float32."""

CLAMPS = {
    name: (max(low, -NO_LIMIT), min(high, NO_LIMIT))
    for name, (low, high) in {
        "NONE": (-np.inf, np.inf),
        **{kind: known(kind).limits for kind in ("RELU", "RELU_N1_TO_1", "RELU6")},
    }.items()
}
"""Fused activation -> the limits of the result. As in TFLite's kernels, no result is infinite."""

BYTES: Sequence[type] = (np.int8, np.uint8)
_SMALL: Sequence[type] = (*BYTES, np.int16)


def check_result_size(node: Node, shape: Sequence[int], dtype: np.dtype) -> None:
    """Refuses a result of a size that only running tells, before there is memory for it.

    Raises NodeError where it has more elements than the caller allows, MemoryLimitError where it
    takes more bytes.
    """
    from ..engine.plan.arena import check_limit  # of few operators, as is the next
    from ..engine.run.limits import shape_over_limit

    scope = node.scope
    if scope is not None:
        words = shape_over_limit(scope.limits, node.outputs[0].name, shape)
        node.require(not words, words)
    check_limit(prod(shape) * dtype.itemsize, None if scope is None else scope.memory_limit)


def required(node: Node, count: int) -> list[Operand]:
    """The first `count` inputs, none of which may be omitted."""
    return [required_input(node, i) for i in range(count)]


def required_input(node: Node, i: int) -> Operand:
    """Input `i`, which may not be omitted."""
    operand = node.optional(i)
    if operand is None:
        node.fail(f"input {i} is missing")
    return operand


def scope_of(node: Node) -> Scope:
    """What runs other subgraphs and keeps variables; refuses a node outside an interpreter."""
    if node.scope is None:
        node.fail("needs an interpreter, which runs subgraphs and keeps variables")
    return node.scope


def supported(
    node: Node, operands: Iterable[Operand | None], dtypes: Sequence[type] = (np.float32,)
) -> None:
    """Refuses operands of another dtype, and quantized ones; None stands for an omitted one."""
    for operand in operands:
        if operand is not None:
            quantized = operand.quantization is not None and operand.dtype in _SMALL
            if quantized or operand.dtype not in dtypes:
                unsupported(node, operand)


def unsupported(node: Node, operand: Operand) -> NoReturn:
    """Refuses an operand for its type, or for the scale that integers of its type need."""
    hint = ""
    if operand.dtype in _SMALL and operand.quantization is None and known(node.kind).has("int8"):
        hint = " without a scale; give the tensor its quantization"
    node.fail(f"{tf_name(operand.dtype)} is not supported yet{hint}")


def one_scale(node: Node, *operands: Operand) -> list[Quantization]:
    """The quantization of each of some operands, then that of the first output.

    Refuses those without one scale and a zero point of their type.
    """
    result = node.outputs[0]
    if result.dtype is not None and result.dtype.kind not in "iu":
        node.fail(f"output '{result.name}' must be an integer, got {tf_name(result.dtype)}")
    quantizations: list[Quantization] = []
    for tensor in (*operands, result):
        quantization, name = tensor.quantization, tensor.name
        if (
            quantization is None
            or quantization.is_per_channel
            or not 0 < quantization.scale < np.inf
        ):
            node.fail(f"'{name}' must have one positive scale")
        zero_point = quantization.zero_point
        if tensor.dtype is not None:
            lowest, highest = limits_of(tensor.dtype)
            if not lowest <= zero_point <= highest:
                node.fail(
                    f"the zero point of '{name}' must be {tf_name(tensor.dtype)}, got {zero_point}"
                )
        quantizations.append(quantization)
    return quantizations


@cache
def name_of_dtype(dtype: np.dtype) -> str:
    """`dtype.name`, which numpy puts together anew each time."""
    return dtype.name


@cache
def limits_of(dtype: np.dtype) -> tuple[int, int]:
    """The lowest and the highest integer of a dtype."""
    known = np.iinfo(dtype.name)
    return int(known.min), int(known.max)


def same_dtype(node: Node, operands: Iterable[Operand | None]) -> None:
    """Refuses operands whose dtypes differ from the first one's."""
    first, *others = [operand for operand in operands if operand is not None]
    for other in others:
        if other.dtype != first.dtype:
            node.fail(f"inputs must be {tf_name(first.dtype)}, got {tf_name(other.dtype)}")


def rank(node: Node, name: str, operand: Operand, expected_rank: int) -> None:
    """Refuses an operand that has not `expected_rank` dimensions."""
    if len(operand.shape) != expected_rank:
        node.fail(f"{name} must have {expected_rank} dimensions, got shape {operand.shape}")


def clamp_of(node: Node, ignored: Sequence[str] = ("TANH", "SIGN_BIT")) -> tuple[float, float]:
    """The limits that the option `fused_activation_function` sets to the result.

    TFLite's kernels take the activations in `ignored` without complaint and leave them out.
    """
    name = name_of("ActivationFunctionType", node.options.fused_activation_function)
    if name in ignored:
        name = "NONE"
    clamp = CLAMPS.get(name)
    if clamp is None:
        node.fail(f"fused_activation_function must be one of {', '.join(CLAMPS)}, got {name}")
    return clamp


class Window:
    """How a window slides along one dimension.

    Attributes:
        size: number of taps.
        stride: step from one position to the next.
        dilation: distance between taps.
        padding: "SAME" or "VALID".
    """

    __slots__ = ("dilation", "padding", "size", "stride")

    def __init__(self, size: int, stride: int, dilation: int, padding: str):
        self.size = size
        self.stride = stride
        self.dilation = dilation
        self.padding = padding

    @property
    def reach(self) -> int:
        """Elements from the first tap to the last, both included."""
        return (self.size - 1) * self.dilation + 1

    def positions(self, n: int) -> int:
        """Number of positions over `n` elements; negative when they are far too few."""
        if self.padding == "SAME":
            return -(-n // self.stride)
        last_start = n + self.stride - self.reach
        count = last_start // self.stride
        return largest(count, 0) if last_start > -self.stride else count

    def before(self, n: int) -> int:
        """Padding before the first of `n` elements."""
        if self.padding == "VALID":
            return 0
        return max((self.positions(n) - 1) * self.stride + self.reach - n, 0) // 2


def windows(node: Node, sizes: Sequence[Dimension], axes: str = "hw") -> tuple[Window, ...]:
    """The windows of `sizes` along `axes`, by the options for strides, dilations and padding."""
    padding = name_of("Padding", node.options.padding)
    axis_windows: list[Window] = []
    for size, axis in zip(sizes, axes, strict=True):
        stride = int(getattr(node.options, f"stride_{axis}"))
        dilation = int(getattr(node.options, f"dilation_{axis}_factor", 1))
        if not size > 0:
            node.fail(f"filter must not be empty, got {size} along {axis}")
        if stride <= 0:
            node.fail(f"stride_{axis} must be positive, got {stride}")
        if dilation <= 0:
            node.fail(f"dilation_{axis}_factor must be positive, got {dilation}")
        axis_windows.append(
            Window(size if isinstance(size, int) else int(size), stride, dilation, padding)
        )
    return tuple(axis_windows)


def slide(node: Node, spans: Sequence[Window], sizes: Sequence[int]) -> tuple[int, ...]:
    """Number of positions along each dimension; refuses an input smaller than the window."""
    counts = tuple(span.positions(n) for span, n in zip(spans, sizes, strict=True))
    for span, n, count in zip(spans, sizes, counts, strict=True):
        if not count >= 0:
            node.fail(
                f"the filter must fit into the input, got {span.reach} against {n}; pad the input"
            )
    return counts
