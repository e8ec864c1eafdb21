"""What a run is fed: values as arrays of their tensors' dtypes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from ..core.composite.indexed_slices import IndexedSlices
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.composite.sparse_tensor import SparseTensor
from ..core.graph import Tensor
from ..core.shapes import Dim, Shape

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.composite.sparse_tensor import SparseTensorValue
    from ..core.protocols import FeedKey
    from ..core.typing import TensorLike


def fed_parts(
    key: FeedKey | IndexedSlices | tuple[FeedKey, ...], value: npt.ArrayLike | None
) -> Iterable[tuple[FeedKey, npt.ArrayLike | None]]:
    """(tensor, value) pairs of one feed; a sparse one, and a tuple of tensors, have several."""
    if isinstance(key, (Tensor, str, bytes)):
        return [(key, value)]
    if isinstance(key, tuple):
        values = cast("Sequence[npt.ArrayLike]", value if isinstance(value, Sized) else [value])
        if len(key) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(key)} elements, but value had "
                f"{len(values)} elements. Key: {list(key)}, value: {list(values)}."
            )
        return [pair for part in zip(key, values, strict=True) for pair in fed_parts(*part)]
    if isinstance(key, RaggedTensor):
        names = ("values", "row_splits")
        fed_values = [None if value is None else getattr(value, name) for name in names]
        keys = cast("tuple[FeedKey, ...]", (key.values, key.row_splits))
        pairs = zip(keys, fed_values, strict=True)
        return [pair for part in pairs for pair in fed_parts(*part)]
    if not hasattr(key, "indices") or not hasattr(key, "values"):
        return [(cast("FeedKey", key), value)]
    slices = cast("IndexedSlices", key)
    parts = [slices.values, slices.indices]
    if not isinstance(key, IndexedSlices):
        parts.reverse()
    if slices.dense_shape is not None:
        parts.append(slices.dense_shape)
    if value is None:
        return [(part, None) for part in parts]
    fed: list[npt.ArrayLike | None] = list(cast("SparseTensorValue", value))
    if len(fed) == len(parts) + 1 and fed[-1] is None:
        fed.pop()  # an IndexedSlicesValue without a shape
    if isinstance(key, SparseTensor) and len(fed) == 2:
        parts.pop()  # the shape keeps its default
    return zip(parts, fed, strict=True)


def fed_array(tensor: Tensor, value: npt.ArrayLike) -> np.ndarray:
    """A fed value; it is not copied when it has the right form."""
    if _is_array(value) and value.dtype == tensor.dtype and value.dtype.kind != "O":
        array = value
    else:
        array = _converted(tensor, value)
    shape = tensor.sizes
    if shape is not None and not _fits(array.shape, shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape "
            f"{_shape_text(shape)}"
        )
    return array if array.flags.c_contiguous and array.flags.aligned else array.copy("C")


class FedArrays(dict[Tensor, np.ndarray]):
    """Fed arrays by tensor.

    Attributes:
        texts: What was fed for tensors of strings: who fetches them gets str as str.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[Tensor, npt.ArrayLike] = {}

    def put(self, tensor: Tensor, value: npt.ArrayLike) -> None:
        """Feeds a tensor; see `fed_array`."""
        self[tensor] = fed_array(tensor, value)
        if tensor.dtype.kind == "O":
            self.texts[tensor] = value


def fed_back(feeds: dict[Tensor, np.ndarray], tensor: Tensor) -> np.ndarray:
    """What a run gives for a tensor that it was fed."""
    if isinstance(feeds, FedArrays) and tensor in feeds.texts:
        return np.array(feeds.texts[tensor], object)
    return feeds[tensor].copy()


def _is_array(value: npt.ArrayLike) -> TypeGuard[np.ndarray]:
    return isinstance(value, np.ndarray)


def _converted(tensor: Tensor, value: npt.ArrayLike) -> np.ndarray:
    dtype = tensor.dtype
    if isinstance(value, int) and dtype.kind in "iu" and dtype.type(0).itemsize < 8:
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor "
                f"type {dtype.type}. Try explicitly setting the type of the feed tensor "
                "to a larger type (e.g. int64)."
            )
    if dtype.kind == "O":
        from ..core.arrays import as_array

        try:
            return as_array(cast("TensorLike", value), dtype)
        except TypeError as error:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with Tensor "
                f"type {object}. {error}"
            ) from None
    try:
        return np.asarray(value, dtype)
    except TypeError:
        array = np.asarray(value)
        if array.dtype.kind != "c":
            raise
        return array.astype(dtype)  # which warns, as for arrays


def _fits(array_shape: tuple[int, ...], shape: tuple[Dim, ...]) -> bool:
    return len(array_shape) == len(shape) and all(
        size is None or size == n for size, n in zip(shape, array_shape, strict=True)
    )


def _shape_text(shape: Shape) -> str:
    from ..core.tensor_shape import TensorShape

    return str(TensorShape(shape))
