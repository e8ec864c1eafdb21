"""`Dataset.rejection_resample`: elements of classes as often as a distribution says.

Source: the API documents; the numbers that are drawn are TensorFlow's for the same seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.create import convert_to_tensor
from ...graph.functions.array.creation import one_hot
from ...graph.functions.random import random_uniform
from .base import DatasetBase, of_variant
from .sources import Sources

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset
    from .structures import Structure

ClassOf = Callable[..., "TensorLike"]
_BATCH, _SMOOTHING = 32, 10
"""Elements after which an estimate is renewed, and of each class before the first."""
_TINY = np.finfo(np.float32).tiny


class Resampling(DatasetBase):
    """Datasets of other distributions."""

    def rejection_resample(
        self,
        class_func: ClassOf,
        target_dist: TensorLike,
        initial_dist: TensorLike | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Pairs of a class and an element, of which some are left out at random.

        Args:
            class_func: The class of an element, an int32 scalar from 0 on.
            target_dist: [classes] floats: how often each is to come.
            initial_dist: [classes] floats: how often each comes here; estimated by default.
            seed: Of what is drawn, with the graph's.
            name: Taken for TensorFlow's sake.
        """
        whole = of_variant(self._variant_tensor, self._spec, self._options)
        target = _floats(target_dist)
        if initial_dist is None:
            initials = _estimates(whole.map(class_func), target)
            initial = None
        else:
            initial = _floats(initial_dist)
            initials = Sources.from_tensors(initial).repeat()
        chances = initials.map(lambda likely: _acceptance(cast("Tensor", likely), target))
        accepted = _accepted(whole, chances.map(lambda accept, _: accept), class_func, seed)
        original = None if initial is None else _static_share(initial_dist, target_dist)
        labelled = whole.map(
            lambda *parts: (class_func(*parts), parts[0] if len(parts) == 1 else parts)
        )
        if original == 1:
            return labelled
        if original == 0:
            return accepted
        weights = chances.map(lambda _, share: ops.Pack([share, np.float32(1) - share]))
        return Sources.sample_from_datasets([labelled, accepted], weights, seed, True)


def _floats(distribution: TensorLike) -> Tensor:
    return ops.Cast(convert_to_tensor(distribution), DstT=np.dtype(np.float32))


def _static_share(initial: TensorLike | None, target: TensorLike) -> float | None:
    """The share of elements that need not be drawn; None where it is not known yet."""
    try:
        parts = [np.asarray(part, np.float32) for part in (target, initial)]
    except (TypeError, ValueError):
        return None
    return float(np.min(parts[0] / parts[1]))


def _acceptance(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The share of each class that is taken, and that of elements that are taken as they come."""
    ratio = target / (initial + _TINY)
    least = ops.Min(ratio, np.int32(0))
    return (ratio - least) / (ops.Max(ratio, np.int32(0)) - least), least


def _estimates(classes: Dataset, target: Tensor) -> Dataset:
    """For each element how often the classes came so far."""
    n = cast("int", cast("tuple[int | None]", target.sizes)[0])

    def renewed(counts: Tensor, batch: Tensor) -> Structure:
        counts = counts + ops.Sum(one_hot(batch, n, dtype=np.int64), np.int32(0))
        whole = ops.Cast(counts, DstT=np.dtype(np.float64))
        share = ops.Cast(whole / ops.Sum(whole, np.int32(0)), DstT=np.dtype(np.float32))
        return counts, ops.Tile(ops.ExpandDims(share, np.int32(0)), np.array([_BATCH, 1], np.int32))

    start = np.full(n, _SMOOTHING, np.int64)
    return classes.batch(_BATCH).scan(start, renewed).unbatch()


def _accepted(whole: Dataset, chances: Dataset, class_func: ClassOf, seed: int | None) -> Dataset:
    """Pairs of a class and an element, each with the chance of its class."""

    def labelled(chance: Tensor, *element: object) -> Structure:
        parts = element[0] if isinstance(element[0], tuple) else element
        label = class_func(*parts)
        return label, ops.GatherV2(chance, label, np.int32(0)), element[0]

    def drawn(label: object, chance: Tensor, element: object) -> Tensor:
        return ops.Less(random_uniform([], seed=seed, dtype=np.float32), chance)

    pairs = Sources.zip((chances, whole)).map(labelled).filter(drawn)
    return pairs.map(lambda label, _, element: (label, element)).prefetch(3)
