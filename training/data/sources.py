"""Where the elements of datasets come from: the static methods of `tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.build import ops
from ...graph.core.composite.sparse_tensor import SparseTensor
from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.dtype import as_numpy
from ...graph.core.scopes import control_dependencies, name_scope
from . import structures
from .base import DatasetBase, attributes, of_variant, seeds
from .generators import generated
from .options import Options
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor
    from ...graph.core.typing import DTypeLike, TensorLike
    from .dataset import Dataset
    from .structures import Structure


class Sources(DatasetBase):
    """Datasets of tensors, numbers, files and other datasets."""

    @staticmethod
    def from_tensors(tensors: Structure, name: str | None = None) -> Dataset:
        """A single element."""
        with name_scope(None, "tensors", None):
            element = structures.normalize(tensors)
            spec, parts = structures.spec_of(element), structures.components(element)
        shapes = structures.component_shapes(spec)
        op = create("TensorDataset", [parts], {"output_shapes": shapes}, name)
        return of_variant(op.outputs[0], spec)

    @staticmethod
    def from_tensor_slices(tensors: Structure, name: str | None = None) -> Dataset:
        """The rows of tensors, which have equally many.

        Raises ValueError for scalars, or where the numbers of rows are known to differ.
        """
        with name_scope(None, "tensors", None):
            element = structures.normalize(tensors)
            whole = structures.spec_of(element)
            counts = set[int]()
            for leaf in structures.flatten(whole):
                shape = structures.shape_of(leaf)
                if shape.rank == 0:
                    raise ValueError("Unbatching a tensor is only supported for rank >= 1")
                size = None if shape.rank is None else shape.as_list()[0]
                counts |= set() if size is None else {size}
            if len(counts) > 1:
                first, second, *_ = sorted(counts)
                raise ValueError(f"Dimensions {first} and {second} are not compatible")
            spec, parts = structures.unbatched(whole), structures.component_rows(element)
        attrs = {"output_shapes": structures.component_shapes(spec)}
        return of_variant(create("TensorSliceDataset", [parts], attrs, name).outputs[0], spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """The rows of a sparse tensor, as a tuple of indices, values and shape.

        Raises TypeError for something else.
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(
                "Invalid `sparse_tensor`. `sparse_tensor` must be a `tf.sparse.SparseTensor`. "
                f"Got {type(sparse_tensor)}."
            )
        parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        rank = None if sparse_tensor.shape.rank is None else sparse_tensor.shape.rank - 1
        spec = (
            TensorSpec([None, rank], np.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rank], np.int64),
        )
        return of_variant(cast("Tensor", ops.SparseTensorSliceDataset(*parts)), spec)

    @staticmethod
    def from_generator(
        generator: Callable[..., object],
        output_types: Structure = None,
        output_shapes: Structure = None,
        args: Sequence[TensorLike] | None = None,
        output_signature: Structure = None,
        name: str | None = None,
    ) -> Dataset:
        """What an iterable gives, which a function makes each time one goes through.

        Args:
            generator: Gives the iterable, of elements that become arrays.
            output_types: The types of an element, in its structure.
            output_shapes: Its shapes; any by default.
            args: Tensors, of which `generator` gets the values.
            output_signature: TensorSpecs in place of types and shapes.
            name: Of the operation.

        Raises TypeError where `generator` is no function, or types are missing.
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None and output_types is None:
            raise TypeError(
                "To specify the output signature you need to provide either the "
                "`output_signature` argument or the `output_types` argument."
            )
        if output_signature is None:
            spec = structures.specs(output_types, output_shapes, None)
        elif output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments can not be used together with "
                "the `output_signature` argument."
            )
        else:
            spec = output_signature
        return generated(generator, spec, args or (), name)

    @staticmethod
    def range(
        *args: TensorLike, output_type: DTypeLike = np.int64, name: str | None = None
    ) -> Dataset:
        """The integers below a number; from one to another one; at a distance.

        Raises ValueError for other than one to three numbers.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 but was "
                f"{len(args)}."
            )
        bounds = (np.int64(0), *args) if len(args) == 1 else args
        start, stop, step = (*bounds, np.int64(1))[:3]
        spec = TensorSpec([], output_type)
        names = zip(("start", "stop", "step"), (start, stop, step), strict=True)
        inputs = [convert_to_tensor(x, np.int64, name=text) for text, x in names]
        return of_variant(create("RangeDataset", inputs, attributes(spec), name).outputs[0], spec)

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random integers of 32 bits without end.

        Args:
            seed: Of the numbers; with the graph's.
            rerandomize_each_iteration: Taken for TensorFlow's sake: without, the numbers are the
                same each time.
            name: Of the operation.
        """
        if rerandomize_each_iteration:
            raise ValueError("rerandomize_each_iteration=True is not supported")
        spec = TensorSpec([], np.int64)
        op = create("RandomDataset", list(seeds(seed)), attributes(spec), name)
        return of_variant(op.outputs[0], spec)

    @staticmethod
    def list_files(
        file_pattern: TensorLike,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The names of the files that patterns match, in random order unless `shuffle` is False.

        Raises InvalidArgumentError when it runs and no file matches.
        """
        with name_scope(None, "list_files", None):
            pattern = convert_to_tensor(file_pattern, np.dtype(object), name="file_pattern")
            files = cast("Tensor", ops.MatchingFiles(pattern))
            n_files = ops.StridedSlice(ops.Shape(files), [0], [1], [1], shrink_axis_mask=1)
            separator = b", "
            names = ops.ReduceJoin(pattern, _axes(pattern), separator=separator)
            message = ops.Add(b"No files matched pattern: ", names)
            check = create("Assert", [ops.Greater(n_files, np.int32(0)), [message]])
            with control_dependencies([check]):
                files = cast("Tensor", ops.Identity(files))
            dataset = Sources.from_tensor_slices(files)
            if shuffle is None or shuffle:
                size = ops.Maximum(ops.Cast(n_files, DstT=np.dtype(np.int64)), np.int64(1))
                return dataset.shuffle(cast("Tensor", size), seed, name=name)
            return dataset

    @staticmethod
    def zip(*args: Structure, datasets: Structure = None, name: str | None = None) -> Dataset:
        """Elements of several datasets side by side, in the structure of the datasets.

        Raises TypeError where something else than datasets is given.
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if not args else args[0] if len(args) == 1 else args
        parts: list[DatasetBase] = []
        for part in structures.flatten(structure):
            if not isinstance(part, DatasetBase):
                words = (
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    "`tf.data.Dataset` objects"
                )
                if isinstance(part, list):
                    raise TypeError(
                        f"{words}. Python `list` is not supported and you should use `tuple` "
                        "instead."
                    )
                raise TypeError(f"{words} but encountered object of type {type(part)}.")
            parts.append(part)
        spec = structures.pack(structure, [part.element_spec for part in parts])
        variants = [part.variant_tensor for part in parts]
        op = create("ZipDataset", [variants], attributes(spec), name)
        return of_variant(op.outputs[0], spec, Options.merged([part.options() for part in parts]))

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset],
        weights: TensorLike | Dataset | None = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of several datasets, each from one that is chosen at random.

        Args:
            datasets: At least one, with elements alike.
            weights: How likely each is, a vector, or a dataset with one for each choice; all alike
                by default.
            seed: Of the choice; with the graph's.
            stop_on_empty_dataset: Whether it ends with the first dataset that does.
            rerandomize_each_iteration: Taken for TensorFlow's sake: the choices are the same each
                time.

        Raises ValueError where there are no datasets, or another number of weights.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        n, draws = len(datasets), Sources.random(seed).batch(2, True)
        if isinstance(weights, DatasetSpec.whole):
            if n == 1:
                return datasets[0]
            pairs = Sources.zip((draws, weights))
            choices = pairs.map(lambda pair, likely: _choice(likely, pair))
            return _directed(choices, datasets, stop_on_empty_dataset)
        chances = np.full(n, 1 / n, np.float32) if weights is None else weights
        likely = convert_to_tensor(cast("TensorLike", chances), name="weights")
        if likely.sizes is not None and likely.sizes != (n,):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={likely.sizes[0]}` vs. `len(datasets)={n}`."
            )
        if n == 1:
            return datasets[0]
        choices = draws.map(lambda pair: _choice(likely, pair))
        return _directed(choices, datasets, stop_on_empty_dataset)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements of several datasets; the numbers of another one say from which the next comes.

        Args:
            datasets: At least one, with elements alike.
            choice_dataset: Of int64 scalars.
            stop_on_empty_dataset: Whether it ends with the first dataset that does.

        Raises:
            ValueError: There are no datasets.
            TypeError: `choice_dataset` has other elements.
        """
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if choice_dataset.element_spec != TensorSpec([], np.int64):
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
                f"tensors but are {choice_dataset.element_spec}."
            )
        return _directed(choice_dataset, datasets, stop_on_empty_dataset)

    @staticmethod
    def counter(
        start: TensorLike = 0,
        step: TensorLike = 1,
        dtype: DTypeLike = np.int64,
        name: str | None = None,
    ) -> Dataset:
        """Numbers from `start` on at the distance `step`, without end."""
        with name_scope(name, "counter", None):
            first, step = (convert_to_tensor(x, as_numpy(dtype)) for x in (start, step))
            ones = Sources.from_tensors(0).repeat(None)
            return ones.scan(first, lambda state, _: (ops.AddV2(state, step), state))


def _choice(likely: Tensor, pair: Tensor) -> Tensor:
    """One of some numbers, drawn by how likely each is and by two seeds."""
    logits = ops.ExpandDims(ops.Log(likely), np.int32(0))
    drawn = ops.StatelessMultinomial(logits, np.int32(1), pair)
    return cast("Tensor", ops.Squeeze(drawn, squeeze_dims=[0, 1]))


def _axes(tensor: Tensor) -> np.ndarray:
    return np.arange(0 if tensor.sizes is None else len(tensor.sizes), dtype=np.int32)


def _directed(choices: Dataset, datasets: Sequence[Dataset], stops: bool) -> Dataset:
    """Elements of several datasets as another one chooses."""
    spec = datasets[0].element_spec
    for dataset in datasets[1:]:
        structures.assert_same(spec, dataset.element_spec)
        spec = structures.most_specific(spec, dataset.element_spec)
    variants = [dataset.variant_tensor for dataset in datasets]
    attrs = {**attributes(spec), "stop_on_empty_dataset": stops}
    op = create("DirectedInterleaveDataset", [choices.variant_tensor, variants], attrs)
    return of_variant(op.outputs[0], spec)
