"""`tf.data.Dataset`: elements for a model, and what is done to them on the way.

Sources: The API documents of `tf.data`; orders of shuffling are TensorFlow's for the same seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from ...graph.core.build import ops
from ...graph.core.create import create
from .base import attributes, of_variant
from .batching import Batching
from .elementwise import Elementwise
from .grouping import Grouping
from .iterators import Iterator as DatasetIterator
from .iterators import element_of, make_initializable_iterator, make_one_shot_iterator
from .options import Options
from .resampling import Resampling
from .selection import Selection
from .snapshots import Snapshots
from .sources import Sources
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from .structures import Structure

Transformation = Callable[["Dataset"], "Dataset"]


class Dataset(Sources, Elementwise, Selection, Batching, Grouping, Snapshots, Resampling):
    """Elements of one structure, which an iterator goes through.

    Elements are tensors, tf.SparseTensors or datasets, or tuples and mappings of them.

    Args:
        variant_tensor: What stands for it in the graph.
        element_spec: What is known of the elements.
        options: Those of the datasets it is made of.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(3)
    ...     element = tf.data.make_one_shot_iterator(dataset).get_next()
    ...     print(session.run(element), session.run(element))
    [0 1 4] [ 9 16]
    """

    def apply(self, transformation_func: Transformation) -> Dataset:
        """What a function makes of the dataset, as those of `tf.data.experimental` do.

        Raises TypeError where it gives something else than a dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. Got "
                f"{type(dataset)}."
            )
        return dataset

    def cardinality(self, name: str | None = None) -> Tensor:
        """How many elements there are: an int64 scalar; INFINITE_ or UNKNOWN_CARDINALITY."""
        return cast("Tensor", ops.DatasetCardinality(self._variant_tensor, name=name))

    def fingerprint(self) -> Tensor:
        """A uint64 scalar, equal for datasets that operations and functions alike make.

        The numbers are not TensorFlow's, which hash its graph.
        """
        return cast("Tensor", ops.DatasetFingerprint(self._variant_tensor))

    def get_single_element(self, name: str | None = None) -> Structure:
        """The only element; InvalidArgumentError when it runs and there is none, or more."""
        return element_of("DatasetToSingleElement", self._variant_tensor, self._spec, name)

    def make_one_shot_iterator(self) -> DatasetIterator:
        """`tf.data.make_one_shot_iterator(self)`."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> DatasetIterator:
        """`tf.data.make_initializable_iterator(self)`."""
        return make_initializable_iterator(self, shared_name)

    def as_numpy_iterator(self) -> Iterator[object]:
        """Raises RuntimeError: programs of TF1 have iterators in their graph."""
        raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same elements, with options, which change none."""
        spec, merged = self._spec, Options.merged([self._options, options])
        attrs = {**attributes(spec), "serialized_options": b""}
        op = create("OptionsDataset", [self._variant_tensor], attrs, name)
        return of_variant(op.outputs[0], spec, merged)


DatasetSpec.whole = Dataset
