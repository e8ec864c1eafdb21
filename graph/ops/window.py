"""Windows that slide over the spatial dimensions: their places, sizes and paddings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Generic, TypeVar, overload

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core.shapes import Dim, require
from ..core.signatures.limits import reserve

if TYPE_CHECKING:
    from ..core.protocols import OperationView


Size = TypeVar("Size", bound="int | None")
"""A size; in shapes that are known in part it may be None."""


@dataclass(frozen=True)
class Windows(Generic[Size]):
    """Kernel sizes, strides, dilations and paddings of each spatial dimension."""

    kernel: tuple[Size, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: bytes
    explicit: tuple[tuple[int, int], ...] = ()

    def extents(self: Windows[int]) -> list[int]:
        """The size of a window with its gaps."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]

    @overload
    def outputs(self: Windows[int], sizes: Sequence[int]) -> tuple[int, ...]: ...
    @overload
    def outputs(self, sizes: Sequence[Dim]) -> tuple[Dim, ...]: ...
    def outputs(self, sizes: Sequence[Dim]) -> tuple[Dim, ...]:
        """How many windows there are along dimensions of these sizes."""
        return tuple(
            None if size is None or extent is None else self._output(i, size, extent)
            for i, (size, extent) in enumerate(zip(sizes, self._known_extents(), strict=True))
        )

    def _known_extents(self) -> list[Dim]:
        return [
            None if k is None else (k - 1) * d + 1
            for k, d in zip(self.kernel, self.dilations, strict=True)
        ]

    def _output(self, i: int, size: int, extent: int) -> int:
        if self.padding == b"SAME":
            return -(-size // self.strides[i])
        before, after = self.explicit[i] if self.explicit else (0, 0)
        return max((size + before + after - extent) // self.strides[i] + 1, 0)

    def pads(self: Windows[int], sizes: Sequence[int]) -> list[tuple[int, int]]:
        """The elements added before and after each dimension."""
        if self.explicit:
            return list(self.explicit)
        if self.padding != b"SAME":
            return [(0, 0)] * len(self.kernel)
        result: list[tuple[int, int]] = []
        for size, extent, stride in zip(sizes, self.extents(), self.strides, strict=True):
            needed = max((-(-size // stride) - 1) * stride + extent - size, 0)
            result.append((needed // 2, needed - needed // 2))
        return result

    def positions(
        self: Windows[int], outputs: Sequence[int]
    ) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        """For each position in the kernel, it and the slices of a padded input that meet it."""
        for position in np.ndindex(*self.kernel):
            slices = (
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, s, n in zip(position, self.dilations, self.strides, outputs, strict=True)
            )
            yield position, (slice(None), *slices)

    def view(self: Windows[int], padded: np.ndarray) -> np.ndarray:
        """A padded [n, *sizes, c] as [n, *outputs, *kernel, c], without copying."""
        rank = len(self.kernel)
        spatial = padded.strides[1 : rank + 1]
        outputs = [
            (size - extent) // stride + 1
            for size, extent, stride in zip(
                padded.shape[1 : rank + 1], self.extents(), self.strides, strict=True
            )
        ]
        shape = (padded.shape[0], *outputs, *self.kernel, padded.shape[-1])
        steps = (
            padded.strides[0],
            *(step * stride for step, stride in zip(spatial, self.strides, strict=True)),
            *(step * gap for step, gap in zip(spatial, self.dilations, strict=True)),
            padded.strides[-1],
        )
        return as_strided(padded, shape, steps, writeable=False)


def spatial_axes(data_format: bytes, rank: int) -> range:
    """Where the spatial dimensions are."""
    return range(2, rank) if data_format.startswith(b"NC") else range(1, rank - 1)


LIMITS = {"strides": "Stride must be > 0", "dilations": "Dilation rate must be >= 1"}
"""What TensorFlow says of the numbers of windows that are too small."""


def spatial(op: OperationView, values: Sequence[int], name: str) -> tuple[int, ...]:
    """The spatial part of an attribute that has one number for each dimension."""
    axes = spatial_axes(op.get_attr("data_format"), len(values))
    others = [value for axis, value in enumerate(values) if axis not in axes]
    fits = len(axes) > 0 and all(value == 1 for value in others)
    require(op, fits, f"{name} must be 1 for batch and channels, got {list(values)}")
    result = tuple(values[axis] for axis in axes)
    require(
        op, min(result) >= 1, f"{LIMITS.get(name, f'{name} must be > 0')}, but got {min(result)}"
    )
    return result


def explicit_pads(op: OperationView, rank: int) -> tuple[tuple[int, int], ...]:
    """The spatial pairs of explicit_paddings, empty when padding is not EXPLICIT."""
    padding = op.get_attr("padding")
    known = padding in (b"SAME", b"VALID", b"EXPLICIT")
    require(op, known, f"padding must be SAME, VALID or EXPLICIT, got {padding.decode()!r}")
    if padding != b"EXPLICIT":
        return ()
    numbers = op.get_attr("explicit_paddings")
    require(op, len(numbers) == 2 * rank, f"explicit_paddings must have {2 * rank} numbers")
    require(op, min(numbers) >= 0, f"explicit_paddings must be >= 0, got {numbers}")
    axes = spatial_axes(op.get_attr("data_format"), rank)
    others = [n for i, n in enumerate(numbers) if i // 2 not in axes]
    words = "explicit_paddings must be 0 for batch and channels"
    require(op, not any(others), f"{words}, got {numbers}")
    return tuple((numbers[2 * axis], numbers[2 * axis + 1]) for axis in axes)


def pad_spatial(x: np.ndarray, pads: Sequence[tuple[int, int]], value: float = 0) -> np.ndarray:
    """A [n, *sizes, c] with `value` around its spatial dimensions."""
    if not any(map(any, pads)):
        return x
    sizes = [n + sum(pair) for n, pair in zip(x.shape[1:-1], pads, strict=True)]
    reserve(prod(sizes) * x.shape[0] * x.shape[-1] * x.itemsize)
    return np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)


def lowest(dtype: np.dtype) -> float:
    """What is below all numbers of a type, or the smallest of them."""
    return -np.inf if dtype.kind in "fV" else np.iinfo(dtype).min


def require_fits(op: OperationView, windows: Windows[Size], sizes: Sequence[Dim]) -> None:
    """Raises ValueError for a window that is larger than what it moves over."""
    if windows.padding == b"SAME":
        return
    pads = windows.explicit or ((0, 0),) * len(sizes)
    for size, k, step, pair in zip(sizes, windows.kernel, windows.dilations, pads, strict=True):
        if size is not None and k is not None:
            extent, padded = (k - 1) * step + 1, size + sum(pair)
            words = f"Negative dimension size caused by subtracting {extent} from {padded}"
            require(op, padded >= extent, words)
