"""Python's values as the arrays that constants hold."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn, SupportsIndex, cast

import numpy as np

from ...schema import dtypes
from .dtype import as_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from .typing import DTypeLike, TensorLike


def as_array(value: TensorLike | None, dtype: DTypeLike | None = None) -> np.ndarray:
    """`value` as the array a constant of it holds; see `constant` for dtypes and errors."""
    numpy_dtype = None if dtype is None else as_numpy(dtype)
    if value is None:
        raise ValueError("None values not supported.")
    is_array = isinstance(value, (np.ndarray, np.generic))
    if is_array or hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        array = np.asarray(value)
        if numpy_dtype == np.bool_ and array.dtype.kind == "O":
            return array.astype(np.bool_)
        is_text = array.dtype.kind in "US"
        if is_text or (array.dtype == object and any(isinstance(x, str) for x in array.flat)):
            array = _encoded(array)
        _require_strings(array, numpy_dtype)
        return array if numpy_dtype is None else array.astype(numpy_dtype, copy=False)
    if numpy_dtype is not None and numpy_dtype.names:
        return _quantized(value, numpy_dtype)
    if numpy_dtype is not None and numpy_dtype.kind in "iu":
        value = _counted(value)
    array = _of_python(value, numpy_dtype)
    if array.dtype.kind == "O":
        array = _encoded(array)
        _require_strings(array, numpy_dtype)
        return array
    if numpy_dtype is None:
        return narrowed(array)
    _require_compatible(array, numpy_dtype)
    return array.astype(numpy_dtype)


def _of_python(value: TensorLike, dtype: np.dtype | None) -> np.ndarray:
    """The array of nested Python values; an error when it is ragged or of no type of ours."""
    try:
        array = np.array(value)
    except UnicodeDecodeError:  # str beside bytes
        array = np.array(value, object)
    except ValueError as error:
        if dtype is not None and dtype.kind == "O":
            _refuse_rows(value)
        raise ValueError(f"{error} A tensor's rows are of one length.") from None
    except NotImplementedError:  # what a tensor of a graph says when it is asked for an array
        raise TypeError("Expected any non-tensor type, but got a tensor instead.") from None
    if array.dtype.kind in "USO":
        array = np.array(value, object)
        takes = (str, bytes) if dtype is None or dtype.kind == "O" else (int, float, complex)
        for item in array.flat:
            if isinstance(item, takes):
                continue
            if dtype is not None:
                _refuse(item, dtype)
            raise TypeError(
                f"Failed to convert elements of {value!r} to Tensor. Consider casting "
                f"elements to a supported type, got {type(item).__name__}."
            )
    return array


def _refuse_rows(value: TensorLike) -> NoReturn:
    """Raises for nested lists without one shape where a tensor of strings is asked for."""
    for item in flat_items([value]):
        if not isinstance(item, (str, bytes)):
            _refuse(item, np.dtype(object))
    shape: list[int] = []
    row = value
    while isinstance(row, (list, tuple)):
        shape.append(len(row))
        row = row[0] if row else None
    raise ValueError(
        f"Expected values {value!r} to be a dense tensor with shape {shape}, but got shape "
        f"{list(np.array(value, object).shape)}."
    )


def _counted(value: TensorLike) -> TensorLike:
    """Nested lists with numbers in place of what counts as one, such as a Dimension."""
    if isinstance(value, (list, tuple)):
        return [_counted(item) for item in value]
    if isinstance(value, (int, float, complex, str, bytes)) or not hasattr(value, "__index__"):
        return value
    return operator.index(cast("SupportsIndex", value))


def _quantized(value: TensorLike, dtype: np.dtype) -> np.ndarray:
    """Elements of a quantized type, each a tuple of one number, in nested lists."""
    items = [value]
    while items:
        item = items.pop()
        if isinstance(item, list):
            items += item
        elif not isinstance(item, tuple):
            raise TypeError(
                f"Expected {type_name(dtype)}, but got {item} of type '{type(item).__name__}'."
            )
    return np.array(value, dtype)


def _encoded(array: np.ndarray) -> np.ndarray:
    """Strings as objects of bytes."""
    items = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        items[index] = item.encode() if isinstance(item, str) else bytes(item)
    return items


def narrowed(array: np.ndarray) -> np.ndarray:
    """Python's floats and integers in TensorFlow's default types."""
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        small = array.astype(np.int32)
        return small if np.array_equal(small, array) else array
    return array


_TAKES = {"f": "fiub", "c": "cfiub", "i": "iub", "u": "iub", "b": "b", "V": "fiu"}
"""By kind of a dtype, the kinds of Python values that a constant of it takes."""


def _require_compatible(array: np.ndarray, dtype: np.dtype) -> None:
    allowed = _TAKES.get(dtype.kind, "")
    if array.size and array.dtype.kind not in allowed:
        _refuse(array.flat[0].item(), dtype)


def _require_strings(array: np.ndarray, dtype: np.dtype | None) -> None:
    if dtype is not None and (dtype.kind == "O") != (array.dtype.kind == "O") and array.size:
        _refuse(array.flat[0] if array.dtype == object else array.flat[0].item(), dtype)


def _refuse(item: object, dtype: np.dtype) -> NoReturn:
    item = item.decode(errors="replace") if isinstance(item, bytes) else item
    python_type = type(item).__name__
    raise TypeError(f"Expected {type_name(dtype)}, but got {item} of type '{python_type}'.")


def filled(array: np.ndarray, shape: tuple[int, ...], verify: bool) -> np.ndarray:
    """`array` in `shape`, its last element repeated; zeros where it has none."""
    size = int(np.prod(shape))
    if verify and array.shape != shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, but got {array.shape}.")
    if array.size > size:
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}.")
    if min(shape, default=0) < 0:
        raise ValueError(f"Dimension {min(shape)} must be >= 0")
    if array.size == size:
        return array.reshape(shape)
    if not array.size:
        return np.full(shape, b"" if array.dtype == object else 0, array.dtype)
    flat = array.reshape(-1)
    return np.concatenate([flat, np.repeat(flat[-1:], size - array.size)]).reshape(shape)


def flat_items(values: Iterable[TensorLike | None]) -> list[TensorLike | None]:
    """The items of nested lists, in order."""
    items: list[TensorLike | None] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            items += flat_items(value)
        else:
            items.append(value)
    return items


def type_name(dtype: npt.DTypeLike | None) -> str:
    """A dtype as TensorFlow writes it."""
    if dtype is None:
        return "unknown"
    return dtypes.tf_name(dtype)
