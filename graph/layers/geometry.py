"""Sizes of windows: what convolutions and pools share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import SupportsIndex, TypeAlias, cast

Numbers: TypeAlias = "int | Sequence[int]"
LAYOUTS = {
    "channels_last": ("NWC", "NHWC", "NDHWC"),
    "channels_first": ("NCW", "NCHW", "NCDHW"),
}


def layout(data_format: str, rank: int) -> str:
    """The format of tensors with `rank` dimensions of space, as operations name it."""
    name = data_format.lower() if isinstance(data_format, str) else data_format
    if name not in LAYOUTS:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {data_format}"
        )
    return LAYOUTS[name][rank - 1]


def channel_axis(data_format: str, rank: int) -> int:
    """Where the channels are."""
    return rank + 1 if layout(data_format, rank).endswith("C") else 1


def numbers(value: object, rank: int, name: str, least: int = 1) -> tuple[int, ...]:
    """One number for each dimension of space.

    Raises ValueError when there are more or fewer, some are not integers, or below `least`.
    """
    words = f"The `{name}` argument must be a tuple of {rank} integers. Received: {value}"
    if isinstance(value, int):
        return _at_least(least, (value,) * rank, words)
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        raise ValueError(words)
    items = list(cast("Iterable[SupportsIndex]", value))
    if len(items) != rank:
        raise ValueError(words)
    return _at_least(least, tuple(_whole(item, words) for item in items), words)


def _whole(item: SupportsIndex, words: str) -> int:
    try:
        return int(item)
    except (TypeError, ValueError):
        element = f" including element {item} of type {type(item)}"
        raise ValueError(words + element) from None


def _at_least(least: int, sizes: tuple[int, ...], words: str) -> tuple[int, ...]:
    """`sizes`, or ValueError when one is less than that."""
    small = {size for size in sizes if size < least}
    if small:
        sign = "> 0" if least else ">= 0"
        raise ValueError(
            f"{words} including {small} that does not satisfy the requirement `{sign}`."
        )
    return sizes


def padding_of(padding: str, allowed: Sequence[str] = ("valid", "same")) -> str:
    """A kind of padding, in lower case."""
    name = padding.lower() if isinstance(padding, str) else padding
    if name not in allowed:
        causal = ' (or "causal", only for `Conv1D)' if "causal" in allowed else ""
        raise ValueError(
            f'The `padding` argument must be a list/tuple or one of "valid", "same"{causal}. '
            f"Received: {padding}"
        )
    return name


def window_length(
    size: int | None, window: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How many places a window has along a dimension."""
    if size is None:
        return None
    reach = window + (window - 1) * (dilation - 1)
    positions = size - reach + 1 if padding == "valid" else size
    return (positions + stride - 1) // stride


def spread_length(
    size: int, window: int, padding: str, stride: int, more: int | None = None
) -> int:
    """The size of which `window_length` would make `size`: what a transposed convolution gives.

    `more` says how much larger it is than the least one that does.
    """
    if more is None:
        return size * stride + (max(window - stride, 0) if padding == "valid" else 0)
    return (size - 1) * stride + window - (0 if padding == "valid" else window // 2 * 2) + more
