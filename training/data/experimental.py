"""`tf.data.experimental`: transformations for `Dataset.apply`, and functions of datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.functions.array import creation
from ...graph.functions.io.parsing import parse_example
from . import structures
from .base import attributes, int64, of_variant, seeds
from .dataset import Dataset, Transformation
from .functions import ElementFunction, UserFunction
from .resampling import ClassOf
from .snapshots import Reader
from .structures import Structure

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import DTypeLike, TensorLike

_KEY = TensorSpec([], np.int64)


def Counter(start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = np.int64) -> Dataset:
    """Numbers from `start` on at the distance `step`, without end.

    Both are scalars, cast to `dtype`.
    """
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed: int | None = None) -> Dataset:
    """Random integers of 32 bits without end."""
    return Dataset.random(seed)


def from_list(elements: list[Structure], name: str | None = None) -> Dataset:
    """The elements of a list, which need not be of one shape.

    Args:
        elements: At least one, of one structure and types.
        name: Of the operation.

    Raises ValueError for no list, an empty one, or elements of unequal structures; TypeError for
    elements of unequal types.

    >>> import flatlite.compat.v1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     dataset = tf.data.experimental.from_list([[1], [2, 3]])
    ...     element = tf.data.make_one_shot_iterator(dataset).get_next()
    ...     print(session.run(element), session.run(element))
    [1] [2 3]
    """
    if isinstance(elements, list) and not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    parts = [structures.normalize(element) for element in elements]
    spec = structures.spec_of(parts[0])
    for part in parts[1:]:
        other = structures.spec_of(part)
        structures.assert_same(spec, other)
        types = structures.types_of(spec), structures.types_of(other)
        if types[0] != types[1]:
            raise TypeError(f"elements must be of the same types, got {types[0]} and {types[1]}")
        spec = structures.most_specific(spec, other)
    tensors = [tensor for part in parts for tensor in structures.components(part)]
    op = create("ListDataset", [tensors], attributes(spec), name)
    return of_variant(op.outputs[0], spec)


def pad_to_cardinality(cardinality: TensorLike, mask_key: str = "valid") -> Transformation:
    """Elements of zeros behind the others, until there are as many as is said.

    Args:
        cardinality: How many, an int64 scalar; at least as many as there are.
        mask_key: The key of a bool in each element: whether it was there.

    Raises ValueError unless elements are mappings.
    """

    def apply(dataset: Dataset) -> Dataset:
        if not isinstance(dataset.element_spec, Mapping):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        spec = cast("Mapping[str, TensorSpec]", dataset.element_spec)
        zeros = {key: creation.zeros(part.shape, part.dtype) for key, part in spec.items()}
        filler = Dataset.from_tensors({**zeros, mask_key: False})
        missing = int64(cardinality) - dataset.cardinality()
        marked = dataset.map(lambda element: {**cast("dict[str, object]", element), mask_key: True})
        return marked.concatenate(filler.repeat(missing))

    return apply


class Reducer:
    """How elements with the same key become one, for `group_by_reducer`.

    Args:
        init_func: `key -> state`.
        reduce_func: `(state, element) -> state`.
        finalize_func: `state -> result`.
    """

    def __init__(
        self, init_func: UserFunction, reduce_func: UserFunction, finalize_func: UserFunction
    ):
        self.init_func, self.reduce_func = init_func, reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func: UserFunction, reducer: Reducer) -> Transformation:
    """What a Reducer makes of all elements with the same key, in the order of keys."""

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.group_by_reducer()"
        key = dataset.function(key_func, name)
        init = ElementFunction(reducer.init_func, [_KEY], name)
        state = init.output_spec
        reduce = ElementFunction(reducer.reduce_func, [state, dataset.element_spec], name)
        finalize = ElementFunction(reducer.finalize_func, [state], name, unpacks=False)
        functions = {"key": key, "init": init, "reduce": reduce, "finalize": finalize}
        references = {f"{word}_func": f.reference for word, f in functions.items()}
        captured = [f.captured for f in functions.values()]
        spec = finalize.output_spec
        return dataset.with_inputs("GroupByReducerDataset", captured, spec, None, **references)

    return apply


def group_by_window(
    key_func: UserFunction,
    reduce_func: Callable[..., object],
    window_size: int | None = None,
    window_size_func: UserFunction | None = None,
) -> Transformation:
    """`Dataset.group_by_window` as a transformation."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(
    element_length_func: UserFunction,
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Structure = None,
    padding_values: Structure = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """`Dataset.bucket_by_sequence_length` as a transformation."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def map_and_batch(
    map_func: UserFunction,
    batch_size: TensorLike,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """Batches of `batch_size` of what a function gives; `Dataset.map`, then `Dataset.batch`.

    Raises ValueError where both numbers of parallel work are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to "
            "be set, but `num_parallel_batches` was set to "
            f"{num_parallel_batches} and `num_parallel_calls` as set to {num_parallel_calls}."
        )

    def apply(dataset: Dataset) -> Dataset:
        function = dataset.function(map_func, "tf.data.experimental.map_and_batch()")
        size = int(cast("int", batch_size)) if drop_remainder else None
        spec = structures.batched(function.output_spec, size)
        numbers = [int64(batch_size), int64(num_parallel_calls or 1)]
        inputs = [function.captured, *numbers, convert_to_tensor(drop_remainder, np.bool_)]
        attrs = {"f": function.reference, "preserve_cardinality": True}
        return dataset.with_inputs("MapAndBatchDataset", inputs, spec, **attrs)

    return apply


map_and_batch_with_legacy_function = map_and_batch


def parallel_interleave(
    map_func: UserFunction,
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """`Dataset.interleave` as a transformation; the order is fixed.

    Args:
        map_func: Gives a dataset for each element.
        cycle_length: From how many of these elements come in turn, an integer scalar.
        block_length: How many come from one before the next, an integer scalar.
        sloppy, buffer_output_elements, prefetch_input_elements: Taken for TensorFlow's sake.
    """
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: int | None = None
) -> Transformation:
    """The elements in random order, again and again.

    Args:
        buffer_size: From how many elements the next is drawn, an integer scalar.
        count: How often all come; without end when it is None or -1.
        seed: Of the draws.
    """

    def apply(dataset: Dataset) -> Dataset:
        inputs = [int64(buffer_size), *seeds(seed), int64(-1 if count is None else count)]
        return dataset.with_inputs("ShuffleAndRepeatDataset", inputs)

    return apply


def scan(initial_state: Structure, scan_func: UserFunction) -> Transformation:
    """`Dataset.scan` as a transformation."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def rejection_resample(
    class_func: ClassOf,
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Transformation:
    """`Dataset.rejection_resample` as a transformation.

    Args:
        class_func: Gives the class of an element, an integer scalar.
        target_dist: [classes], how often each is to come.
        initial_dist: [classes], how often each comes; counted when left out.
        seed: Of the draws.
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(
    path: TensorLike,
    compression: str | None = "AUTO",
    reader_func: Reader | None = None,
    shard_func: UserFunction | None = None,
) -> Transformation:
    """`Dataset.snapshot` in the folder `path` as a transformation."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def take_while(predicate: UserFunction) -> Transformation:
    """`Dataset.take_while` as a transformation."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """`Dataset.unbatch` as a transformation."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """`Dataset.unique` as a transformation."""
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning: bool = False) -> Transformation:
    """`Dataset.ignore_errors` as a transformation."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def enumerate_dataset(start: TensorLike = 0) -> Transformation:
    """`Dataset.enumerate` as a transformation: each element with its number, from `start` on."""
    return lambda dataset: dataset.enumerate(start)


def dense_to_sparse_batch(batch_size: TensorLike, row_shape: TensorLike) -> Transformation:
    """`Dataset.sparse_batch` as a transformation.

    Args:
        batch_size: How many elements make a batch, an integer scalar.
        row_shape: Of the rows of a batch, as large as the largest element: [rank], integers.
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def dense_to_ragged_batch(
    batch_size: TensorLike,
    drop_remainder: TensorLike = False,
    row_splits_dtype: DTypeLike = np.int64,
) -> Transformation:
    """`Dataset.ragged_batch` as a transformation: `batch_size` elements to a row.

    With `drop_remainder` a last batch that is smaller is left out.
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def assert_cardinality(expected_cardinality: TensorLike) -> Transformation:
    """The same elements; FailedPreconditionError where they are not `expected_cardinality`."""
    return lambda dataset: dataset.with_inputs(
        "AssertCardinalityDataset", [int64(expected_cardinality)]
    )


def parse_example_dataset(
    features: dict[str, object], num_parallel_calls: int = 1, deterministic: bool | None = None
) -> Transformation:
    """Batches of serialized tf.train.Examples as mappings of tensors.

    Raises ValueError where there are no features.
    """
    if not features:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: dataset.map(lambda serialized: parse_example(serialized, features))


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same elements: there is one device."""
    return lambda dataset: dataset.prefetch(0)


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """The same elements: there is one device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: TensorLike | None = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """`Dataset.sample_from_datasets`: elements of several datasets, drawn by `weights`.

    `weights` is [datasets], floats, or a dataset of such; all alike by default.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """`Dataset.choose_from_datasets`."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements there are: an int64 scalar."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Structure:
    """The only element of a dataset."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Dataset) -> Structure:
    """What is known of the elements."""
    return dataset_or_iterator.element_spec


def from_variant(variant: Tensor, structure: Structure) -> Dataset:
    """The dataset that a variant stands for, with elements of a structure of specs."""
    return of_variant(variant, structure)


def to_variant(dataset: Dataset) -> Tensor:
    """The variant that stands for a dataset."""
    return dataset.variant_tensor
