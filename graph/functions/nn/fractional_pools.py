"""Pooling over regions whose sizes differ by one: `tf.nn.fractional_max_pool`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.build import ops
from ...core.named_results import with_names

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


@with_names("FractionalMaxPool")
def fractional_max_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """The largest element of each region, and where regions of rows and columns begin and end.

    Args:
        value: [batch, height, width, channels].
        pooling_ratio: Four numbers; by which the sizes become smaller, 1 of batch and channels.
        pseudo_random: Whether regions lie at equal steps from a place that is drawn, and not in
            an order that is drawn.
        overlapping: Whether neighbours share a row and a column.
        deterministic: Whether a Session keeps the regions of its first run.
        seed, seed2: Of the draws.
        name: Of the operation.
    """
    return ops.FractionalMaxPool(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )


@with_names("FractionalAvgPool")
def fractional_avg_pool(
    value: TensorLike,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    deterministic: bool = False,
    seed: int = 0,
    seed2: int = 0,
    name: str | None = None,
) -> list[Tensor]:
    """The mean of each region, and where regions begin and end (arXiv 1412.6071).

    Args:
        value: [batch, height, width, channels], float32, float64, int32 or int64.
        pooling_ratio: Four numbers of at least 1, by which the sizes become smaller; 1 of batch and
            channels.
        pseudo_random: Whether regions lie at equal steps from a place that is drawn, and not in
            an order that is drawn.
        overlapping: Whether neighbours share a row and a column.
        deterministic: Whether a Session keeps the regions of its first run.
        seed, seed2: Of the draws.
        name: Of the operation.

    Returns a named tuple: `output`, and int64 `row_pooling_sequence` and `col_pooling_sequence`.

    Raises ValueError for other ratios.
    """
    return ops.FractionalAvgPool(
        value,
        pooling_ratio=pooling_ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=deterministic,
        seed=seed,
        seed2=seed2,
        name=name,
    )
