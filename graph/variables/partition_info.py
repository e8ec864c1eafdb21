"""What an initializer of a part of a variable is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class PartitionInfo(NamedTuple):
    """The whole shape, and where the part begins."""

    full_shape: list[int]
    var_offset: list[int]

    def require_inside(self) -> None:
        """Raises ValueError when the part begins behind the end."""
        for offset, size in zip(self.var_offset, self.full_shape, strict=True):
            if not 0 <= offset < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={self.var_offset}, full_shape={self.full_shape}"
                )

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The dimension that is cut into parts of which one has `shape`; None when none is.

        Raises ValueError when several are, or the part does not fit.
        """
        if len(shape) != len(self.full_shape):
            raise ValueError(
                "Expected equal length, but received "
                f"shape={shape} of length {len(shape)} while self.full_shape={self.full_shape} is "
                f"of length {len(self.full_shape)}."
            )
        triples = zip(self.var_offset, shape, self.full_shape, strict=True)
        if any(start + size > whole for start, size, whole in triples):
            raise ValueError(
                f"With self.var_offset={self.var_offset}, a partition of shape={shape} would "
                f"exceed self.full_shape={self.full_shape}."
            )
        pairs = enumerate(zip(shape, self.full_shape, strict=True))
        cut = [i for i, (size, whole) in pairs if size != whole]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and "
                f"self.full_shape={self.full_shape} since slice dim could be any of {cut}."
            )
        return cut[0] if cut else None

    def single_offset(self, shape: Sequence[int]) -> int:
        """Where a part of `shape` begins in the dimension that is cut; 0 when none is."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]
