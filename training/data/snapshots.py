"""Methods of datasets that keep elements in files: `save`, `load` and `snapshot`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.core.composite.type_specs import TensorSpec
from ...graph.core.create import convert_to_tensor, create
from ...graph.core.fingerprint import fingerprint
from . import spec_files
from .base import DatasetBase, attributes, of_variant
from .functions import ElementFunction, UserFunction
from .structures import DatasetSpec

if TYPE_CHECKING:
    from ...graph.core.graph import Operation, Tensor
    from ...graph.core.typing import TensorLike
    from .dataset import Dataset
    from .structures import Structure

Reader = Callable[["Dataset"], "Dataset"]


class Snapshots(DatasetBase):
    """Datasets in files."""

    def save(
        self,
        path: TensorLike,
        compression: str | None = None,
        shard_func: UserFunction | None = None,
        checkpoint_args: None = None,
    ) -> Operation:
        """An operation that writes all elements into a folder, which TensorFlow reads, too.

        What is known of elements is written at once: dataset_spec.pb.

        Args:
            path: The folder, a string; what was saved there before no longer counts.
            compression: "GZIP" or None.
            shard_func: The shard of an element, an int64 scalar; all are in one by default.
            checkpoint_args: None: checkpoints while it is saved belong to TensorFlow 2.

        Raises:
            TypeError: `shard_func` gives something else.
            ValueError: There are `checkpoint_args`.
        """
        if checkpoint_args is not None:
            raise ValueError("`checkpoint_args` are only supported in eager mode")
        name = "save()"
        function = self.function(shard_func or _no_shard, name)
        if shard_func is not None:
            _require_shard(function, name)
        inputs = [self._variant_tensor, _path(path), function.captured]
        if (folder := _path(path).value) is not None:
            spec_files.write(cast("bytes", folder.item()).decode(), self._spec)
        attrs = {
            "shard_func": function.reference,
            "use_shard_func": shard_func is not None,
            "compression": compression or "",
        }
        return create("SaveDataset", inputs, attrs)

    @staticmethod
    def load(
        path: TensorLike,
        element_spec: Structure = None,
        compression: str | None = None,
        reader_func: Reader | None = None,
        wait: bool = False,
    ) -> Dataset:
        """The elements that `save`, or TensorFlow's, wrote into a folder.

        Args:
            path: The folder, a string.
            element_spec: What the elements are; by default as the folder's dataset_spec.pb says.
            compression: As they were saved with: "GZIP", "ZLIB" or None.
            reader_func: Makes one dataset of that of the shards, of which each is a dataset; their
                elements come in turns by default, from as many as there are processors.
            wait: False: it is not waited for files to come.

        Raises:
            NotFoundError: When it runs and nothing was saved there, or at once without
                `element_spec` where the folder does not say it.
            ValueError: `wait` is True.
        """
        if wait:
            raise ValueError("`wait` must be False: it is not waited for files to come")
        if element_spec is None:
            element_spec = spec_files.read(os.fspath(cast("str", path)))
        reader = _reader(reader_func, element_spec, "load()")
        attrs = {
            **attributes(element_spec),
            "compression": compression or "",
            "reader_func": reader.reference,
        }
        op = create("LoadDataset", [_path(path), reader.captured], attrs)
        return of_variant(op.outputs[0], element_spec)

    def snapshot(
        self,
        path: TensorLike,
        compression: str | None = "AUTO",
        reader_func: Reader | None = None,
        shard_func: UserFunction | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements, written into a folder the first time and read from it afterwards.

        What was written counts once one has been through all elements. Each pipeline has a folder
        of its own in `path`, which changes with its operations and functions.

        Args:
            path: The folder, a string.
            compression: "GZIP", or None or "AUTO" for none.
            reader_func, shard_func: As `load` and `save` have them.
            name: Of the operation.

        Raises TypeError where `shard_func` gives no number.
        """
        where = "Dataset.snapshot()"
        reader = _reader(reader_func, self._spec, where + ".reader_func")
        shard = self.function(shard_func or _no_shard, where + ".shard_func")
        _require_shard(shard, where)
        digest = fingerprint(self._variant_tensor)
        return self.with_inputs(
            "SnapshotDatasetV2", [_path(path), reader.captured, shard.captured], name=name,
            compression=compression or "", reader_func=reader.reference,
            shard_func=shard.reference, hash_valid=True,
            hash=digest - (digest >> 63 << 64),
        )  # fmt: skip


def _path(path: TensorLike) -> Tensor:
    return convert_to_tensor(path, np.dtype(object), name="path")


def _no_shard(*element: object) -> np.ndarray:
    return np.array(0, np.int64)


def _require_shard(function: ElementFunction, name: str) -> None:
    spec = function.output_spec
    if not isinstance(spec, TensorSpec) or spec.dtype not in ("int32", "int64") or spec.shape.ndims:
        raise TypeError(
            f"Invalid `shard_func` of {name}. `shard_func` must return a `tf.int64` scalar tensor "
            f"but its return type is {spec}."
        )


def _reader(reader_func: Reader | None, spec: Structure, name: str) -> ElementFunction:
    """A function of the dataset of the shards."""

    def in_turns(shards: Dataset) -> Dataset:
        return shards.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1)

    shards = DatasetSpec(DatasetSpec(spec))
    return ElementFunction(reader_func or in_turns, [shards], name, unpacks=False)
