"""The options of a custom operator: a FlexBuffer map, or a struct of LiteRT."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ...schema.errors import ModelError
from ...schema.flexbuffer import read_flexbuffer_map
from ..checks import CLAMPS, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.flexbuffer import FlexValue
    from ..plan.node import Node

_PADDINGS = {1: "SAME", 2: "VALID"}
"""TfLitePadding -> its name."""
_CLAMPED = {1: "RELU", 2: "RELU_N1_TO_1", 3: "RELU6"}
"""TfLiteFusedActivation -> its name, of those that LiteRT's pools of float32 look at."""
_LIMIT = 1 << 31
_WORDS = struct.Struct("<6i")


class Options:
    """The entries of a custom operator's options, a FlexBuffer map, each of the type asked for.

    Args:
        node: the operator.
    """

    def __init__(self, node: Node):
        self._node = node
        try:
            self._entries = read_flexbuffer_map(node.custom_options)
        except ModelError as error:
            node.fail(str(error))

    def __contains__(self, name: str) -> bool:
        return self._entries.get(name) is not None

    def entry(self, name: str) -> FlexValue:
        """An entry that must be there."""
        value = self._entries.get(name)
        if value is None:
            self._node.fail(f"option {name} is missing")
        return value

    def integer(self, name: str, default: int | None = None) -> int:
        """An entry as an int; `default` stands for one that is missing."""
        number = self.number(name, default)
        if number != int(number) or not -_LIMIT <= number < _LIMIT:
            self._node.fail(f"option {name} must be an integer of 32 bits, got {number}")
        return int(number)

    def number(self, name: str, default: float | None = None) -> float:
        """An entry as a number; `default` stands for one that is missing."""
        if default is not None and name not in self:
            return default
        value = self.entry(name)
        if not isinstance(value, (int, float)) or value != value or abs(value) > 1e38:
            self._node.fail(f"option {name} must be a finite number, got {value!r}")
        return value

    def positive(self, name: str) -> int:
        """An entry as an int of at least 1."""
        value = self.integer(name)
        self._node.require(value > 0, f"option {name} must be positive, got {value}")
        return value

    def flag(self, name: str) -> bool:
        """An entry as a bool; False where it is missing."""
        return bool(self.number(name, 0))

    def text(self, name: str) -> str:
        """An entry as a string."""
        value = self.entry(name)
        if not isinstance(value, str):
            self._node.fail(f"option {name} must be a string, got {value!r}")
        return value

    def integers(self, name: str, count: int | None = None) -> list[int]:
        """An entry as ints, `count` of them unless that is None."""
        value = self.entry(name)
        items = value if isinstance(value, list) else [value]
        integers = [item for item in items if isinstance(item, int)]
        if len(integers) < len(items) or (count is not None and len(items) != count):
            self._node.fail(f"option {name} must be {count or 'some'} integers, got {value!r}")
        return integers

    def windows(self, rank: int) -> tuple[Window, ...]:
        """The windows that ksize, strides and padding set, as TensorFlow's pools have them.

        Those of the first and the last dimension must have one element.
        """
        sizes, strides = self.integers("ksize", rank), self.integers("strides", rank)
        padding = self.text("padding")
        node = self._node
        node.require(
            (sizes[0], sizes[-1], strides[0], strides[-1]) == (1, 1, 1, 1),
            f"windows must not reach over batch and channels, got {sizes} by {strides}",
        )
        node.require(
            padding in _PADDINGS.values(), f"padding must be SAME or VALID, got {padding!r}"
        )
        node.require(
            min((*sizes, *strides)) > 0, f"sizes and strides must be positive, got {sizes, strides}"
        )
        pairs = zip(sizes[1:-1], strides[1:-1], strict=True)
        return tuple(Window(size, stride, 1, padding) for size, stride in pairs)


def pool_params(node: Node) -> tuple[Window, Window]:
    """The windows along height and width that options as LiteRT's TfLitePoolParams set."""
    padding, stride_w, stride_h, size_w, size_h, _ = _struct(node)
    _require_positive(node, (stride_w, stride_h, size_w, size_h))
    return Window(size_h, stride_h, 1, padding), Window(size_w, stride_w, 1, padding)


def pool_clamp(node: Node) -> tuple[float, float]:
    """The limits of results that options as LiteRT's TfLitePoolParams set."""
    return CLAMPS[_CLAMPED.get(_struct(node)[-1], "NONE")]


def transpose_conv_params(node: Node, taps: Sequence[int]) -> tuple[Window, Window]:
    """The windows of these sizes that options as LiteRT's TfLiteTransposeConvParams set."""
    padding, stride_w, stride_h, *_ = _struct(node, 3)
    _require_positive(node, (stride_w, stride_h, *taps))
    return Window(taps[0], stride_h, 1, padding), Window(taps[1], stride_w, 1, padding)


def _struct(node: Node, least: int = 5) -> tuple[str, int, int, int, int, int]:
    """The padding and the next five words of a struct of `least` or more, 0 for those left out."""
    content = bytes(node.custom_options)
    node.require(
        len(content) >= 4 * least,
        f"options must have {4 * least} bytes or more, got {len(content)}",
    )
    padding, *words = _WORDS.unpack(content[: _WORDS.size].ljust(_WORDS.size, b"\0"))
    node.require(padding in _PADDINGS, f"padding must be 1 (SAME) or 2 (VALID), got {padding}")
    return _PADDINGS[padding], words[0], words[1], words[2], words[3], words[4]


def _require_positive(node: Node, numbers: Sequence[int]) -> None:
    node.require(
        min(numbers) > 0, f"sizes and strides must be positive, got {', '.join(map(str, numbers))}"
    )
