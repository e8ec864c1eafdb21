"""HDF5 files of Keras, read without following anything that leads elsewhere.

libhdf5 may crash or loop on a damaged file, so only the processes of hdf5_process.py import this.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....schema.errors import ModelError
from .limits import MAX_UNPACK_RATIO, unpack_limit

FILTERS = frozenset((1, 2, 3, 4, 32000))
"""deflate, shuffle, checksum, szip, lzf: the others would be loaded from the machine's plug-ins."""
BFLOAT16 = np.dtype("V2")
"""What h5py makes of the bfloat16 numbers that Keras writes."""
MAX_ATTRIBUTE_PARTS = 10_000


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Makes what h5py raises on a damaged file a ModelError."""
    try:
        yield
    except ModelError:
        raise
    except (OSError, KeyError, RuntimeError, ValueError, TypeError) as error:
        raise ModelError(f"{what} cannot be read as HDF5: {error}") from None


class HDF5File:
    """An HDF5 file in memory; groups and datasets are found by their path."""

    def __init__(self, content: bytes, what: str) -> None:
        """Opens; raises ModelError when `content`, called `what` in messages, is no HDF5."""
        import h5py

        self.what = what
        self._bytes_allowed = unpack_limit(content)
        with reading(what):
            self._file = h5py.File(io.BytesIO(content), "r")

    def find(self, path: str) -> Any:
        """The h5py group or dataset at `path`, None when there is none.

        Raises ModelError when the way there is a link to another place or file.
        """
        import h5py
        from h5py.h5l import TYPE_HARD

        node: Any = self._file
        with reading(self.what):
            for part in path.split("/"):
                links = node.id.links if isinstance(node, h5py.Group) else None
                if links is None or not links.exists(part.encode()):
                    return None
                if links.get_info(part.encode()).type != TYPE_HARD:
                    raise ModelError(
                        f"{self.what}: '{path}' must be stored in its place, and is a link to "
                        "another; save the model again"
                    )
                node = node[part]
        return node

    def names(self, path: str) -> list[str]:
        """The names in a group; none when there is no such group."""
        import h5py

        group = self.find(path)
        with reading(self.what):
            return list(group) if isinstance(group, h5py.Group) else []

    def attribute(self, path: str, name: str) -> Any:
        """An attribute of a group, None when there is none."""
        with reading(self.what):
            node = self.find(path) if path else self._file
            return None if node is None or name not in node.attrs else node.attrs[name]

    def text(self, path: str, name: str) -> str | None:
        """An attribute that is a text."""
        value = self.attribute(path, name)
        if isinstance(value, bytes | np.bytes_):
            value = bytes(value).decode("utf-8", "replace")
        if value is None or isinstance(value, str):
            return value
        raise ModelError(
            f"{self.what}: attribute {name} must be a text, got {type(value).__name__}"
        )

    def texts(self, path: str, name: str) -> list[str]:
        """An attribute that is a list of texts; Keras stores a long one in parts."""
        parts = [part for part in [self.attribute(path, name)] if part is not None]
        if not parts:
            while (part := self.attribute(path, f"{name}{len(parts)}")) is not None:
                parts.append(part)
                if len(parts) > MAX_ATTRIBUTE_PARTS:
                    raise ModelError(f"{self.what}: attribute {name} has too many parts")
        values = [value for part in parts for value in np.atleast_1d(part).tolist()]
        return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values]

    def shape(self, path: str) -> tuple[int, ...] | None:
        """The shape of a dataset, None when there is none."""
        import h5py

        dataset = self.find(path)
        return dataset.shape if isinstance(dataset, h5py.Dataset) else None

    def array(self, path: str) -> np.ndarray:
        """The values of a dataset.

        Raises ModelError when they are not numbers, not in the file, or far more than it can hold.
        """
        dataset = self.find(path)
        with reading(self.what):
            self._check(dataset, path)
            values = np.asarray(dataset[()])
        if values.dtype != BFLOAT16:
            return values
        return np.left_shift(values.view(np.uint16), 16, dtype=np.uint32).view(np.float32)

    def _check(self, dataset: Any, path: str) -> None:
        """Raises ModelError unless reading a dataset is harmless."""
        if dataset.is_virtual or dataset.external:
            raise ModelError(f"{self.what}: the values of '{path}' must be in the file itself")
        if dataset.dtype.kind not in "fiub" and dataset.dtype != BFLOAT16:
            raise ModelError(f"{self.what}: '{path}' must hold numbers, got {dataset.dtype}")
        settings = dataset.id.get_create_plist()
        filters = {settings.get_filter(i)[0] for i in range(settings.get_nfilters())}
        if filters - FILTERS:
            raise ModelError(
                f"{self.what}: '{path}' is packed with unknown filters {filters - FILTERS}; save "
                "the model again without compression"
            )
        self._bytes_allowed -= dataset.nbytes
        if self._bytes_allowed < 0:
            raise ModelError(
                f"{self.what}: '{path}' with shape {dataset.shape} unpacks to more than "
                f"{MAX_UNPACK_RATIO} times the file's size"
            )
