"""Methods of datasets that choose and order elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor
from ...graph.core.scopes import name_scope
from . import structures
from .base import AUTOTUNE, DatasetBase, int64, seeds
from .sources import Sources

if TYPE_CHECKING:
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset


class Selection(DatasetBase):
    """Datasets of some elements, or in another order."""

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """These elements, then another dataset's.

        Raises TypeError where those are of other types.
        """
        first, other = self._spec, dataset.element_spec
        try:
            structures.assert_same(first, other)
            is_alike = all(
                structures.flatten(read(first)) == structures.flatten(read(other))
                for read in (structures.types_of, structures.classes_of)
            )
        except (TypeError, ValueError):
            is_alike = False
        if not is_alike:
            raise TypeError(f"Incompatible dataset elements:\n  {first} vs.   {other}")
        spec = structures.most_specific(self._spec, dataset.element_spec)
        return self.with_inputs("ConcatenateDataset", [dataset.variant_tensor], spec, name)

    def repeat(self, count: TensorLike | None = None, name: str | None = None) -> Dataset:
        """The elements so many times, or without end where `count` is None or -1."""
        return self.with_inputs("RepeatDataset", [int64(-1 if count is None else count)], name=name)

    def take(self, count: TensorLike, name: str | None = None) -> Dataset:
        """The first `count` elements; all for -1."""
        return self.with_inputs("TakeDataset", [int64(count)], name=name)

    def skip(self, count: TensorLike, name: str | None = None) -> Dataset:
        """What comes behind the first `count` elements; nothing for -1."""
        return self.with_inputs("SkipDataset", [int64(count)], name=name)

    def shard(self, num_shards: TensorLike, index: TensorLike, name: str | None = None) -> Dataset:
        """Every `num_shards`-th element, from the one at `index` on."""
        return self.with_inputs("ShardDataset", [int64(num_shards), int64(index)], name=name)

    def shuffle(
        self,
        buffer_size: TensorLike,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements in random order: each is one of the next `buffer_size` ones.

        Args:
            buffer_size: How many; at least as many as there are for any order to be possible.
            seed: Of the order; with the graph's.
            reshuffle_each_iteration: Whether the order is another one each time; True by default.
            name: Of the operation.
        """
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        inputs = [int64(buffer_size), *seeds(seed)]
        return self.with_inputs("ShuffleDataset", inputs, name=name, reshuffle_each_iteration=again)

    def unique(self, name: str | None = None) -> Dataset:
        """The elements, which are single tensors, without those that have come before.

        Raises TypeError for elements that are not.
        """
        spec = self._spec
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"`tf.data.Dataset.unique` takes elements of one tensor, got {spec}.")
        return self.with_inputs("UniqueDataset", name=name)

    def cache(self, filename: TensorLike = "", name: str | None = None) -> Dataset:
        """The elements as they were when one had been through all for the first time.

        Args:
            filename: The files, TensorFlow's, that keep them, in later processes too; in memory by
                default.
            name: Of the operation.
        """
        files = convert_to_tensor(filename, np.dtype(object), name="filename")
        return self.with_inputs("CacheDataset", [files], name=name)

    def prefetch(self, buffer_size: TensorLike | None, name: str | None = None) -> Dataset:
        """The same elements: they are computed when they are asked for."""
        size = int64(AUTOTUNE if buffer_size is None else buffer_size)
        return self.with_inputs("PrefetchDataset", [size], name=name)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset:
        """The elements that can be computed, without those that cannot."""
        return self.with_inputs("IgnoreErrorsDataset", name=name, log_warning=log_warning)

    def enumerate(self, start: TensorLike = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, from `start` on, and an element."""
        with name_scope(name, "enumerate", None):
            largest = np.iinfo(np.int64).max
            return Sources.zip((Sources.range(start, largest), self))
