"""Which inputs and outputs of an ONNX model have their channels last in the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_IMAGE_RANK = 5  # dimensions of volumes with batch and channels


def has_channels_last(shape: Sequence[Any] | None, least: int | None) -> bool:
    """Whether something of a shape is an image whose channels are to come last.

    Args:
        shape: its sizes; None where they are not known.
        least: the dimensions from which on it is an image; None where it is none.
    """
    return least is not None and shape is not None and least <= len(shape) <= MAX_IMAGE_RANK
