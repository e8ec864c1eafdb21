"""Kernels of `tf.data`: where elements come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, cast

import numpy as np

from ....schema.errors import InvalidArgumentError, OutOfRangeError
from ....schema.tensorflow.records import COMPRESSIONS
from ..datasets import (
    INFINITE,
    Data,
    Element,
    Elements,
    Seeds,
    checked,
    dataset_kernel,
    declared,
    row,
    steps,
)
from .dataset_functions import function_of
from .readers import content_of, lines_of, records_of, unpacked

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

    Read = Callable[[str, str], Iterator[bytes]]


@dataset_kernel("TensorDataset")
def tensors(op: Operation, state: State, *components: np.ndarray) -> Data:
    """A single element."""
    element = tuple(x.copy() for x in components)
    return Data(lambda: iter((element,)), 1)


@dataset_kernel("TensorSliceDataset")
def tensor_slices(op: Operation, state: State, *components: np.ndarray) -> Data:
    """The rows of tensors."""
    n = len(components[0])
    for k, component in enumerate(components):
        if len(component) != n:
            raise InvalidArgumentError(
                None, None,
                f"All components must have the same size in the 0th dimension. Component {k} had "
                f"size {len(component)}, expected {n}",
            )  # fmt: skip
    copies = [x.copy() for x in components]
    return Data(lambda: (tuple(row(x, i) for x in copies) for i in range(n)), n)


@dataset_kernel("ListDataset")
def listed(op: Operation, state: State, *components: np.ndarray) -> Data:
    """Elements one behind the other, each of as many components."""
    n, copies = len(declared(op)[0]), [x.copy() for x in components]
    elements = [tuple(copies[i : i + n]) for i in range(0, len(copies), n)]
    return Data(lambda: iter(elements), len(elements))


@dataset_kernel("SparseTensorSliceDataset")
def sparse_tensor_slices(
    op: Operation, state: State, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray
) -> Data:
    """The rows of a sparse tensor, as indices, values and shape of each."""
    if len(indices) and (np.diff(indices[:, 0]) < 0).any():
        words = "The SparseTensor must be ordered in the batch dimension; handling arbitrarily"
        raise InvalidArgumentError(None, None, f"{words} ordered input is not currently supported.")

    def elements() -> Elements:
        for i in range(int(dense_shape[0])):
            chosen = indices[:, 0] == i
            yield indices[chosen, 1:], values[chosen], dense_shape[1:]

    return Data(elements, int(dense_shape[0]))


@dataset_kernel("RangeDataset")
def numbers(
    op: Operation, state: State, start: np.ndarray, stop: np.ndarray, step: np.ndarray
) -> Data:
    """Integers at equal distances."""
    if not step:
        raise InvalidArgumentError(None, None, "step must be a non-zero integer.")
    values = range(int(start), int(stop), int(step))
    (dtype,), _ = declared(op)

    def elements() -> Elements:
        return checked(((np.array(i, dtype),) for i in values), state)

    return Data(elements, len(values))


@dataset_kernel("RandomDataset")
def random_numbers(op: Operation, state: State, seed: np.ndarray, seed2: np.ndarray) -> Data:
    """Random numbers of 32 bits without end."""

    def elements() -> Elements:
        numbers = Seeds(int(seed), int(seed2))
        return checked(((np.array(numbers.next(), np.int64),) for _ in count()), state)

    return Data(elements, INFINITE)


@dataset_kernel("GeneratorDataset")
def generated(op: Operation, state: State, *captured: np.ndarray) -> Data:
    """What a function gives again and again, until it raises OutOfRangeError.

    The first function makes the state, the last one gives it up.
    """
    names = [("init_func", "init"), ("next_func", "next"), ("finalize_func", "finalize")]
    functions = [
        function_of(op, state, f"{name}", f"{short}_func_other_args", captured, first=0)
        for name, short in names
    ]
    init, following, finalize = functions

    def elements() -> Elements:
        state = init(())
        is_open = True

        def step() -> Element:
            nonlocal is_open
            if not is_open:
                raise StopIteration
            try:
                return following(state)
            except OutOfRangeError:
                is_open = False
                finalize(state)
                raise StopIteration from None

        return steps(step)

    return Data(elements)


def _text(array: np.ndarray) -> str:
    return cast("bytes", array.item()).decode("utf-8", "surrogateescape")


def _paths(filenames: np.ndarray) -> list[str]:
    names = cast("list[bytes]", filenames.ravel().tolist())
    return [name.decode("utf-8", "surrogateescape") for name in names]


def _lines(path: str, compression: str) -> Iterator[bytes]:
    return lines_of(unpacked(content_of(path), compression))


def _files(filenames: np.ndarray, compression_type: np.ndarray | None, read: Read) -> Data:
    """The records of files, one file after the other."""
    compression = "" if compression_type is None else _text(compression_type)
    if compression not in COMPRESSIONS:
        raise InvalidArgumentError(None, None, "Unsupported compression_type.")
    paths = _paths(filenames)

    def elements() -> Elements:
        return ((np.array(x, object),) for path in paths for x in read(path, compression))

    return Data(elements)


@dataset_kernel("TextLineDataset")
def text_lines(
    op: Operation, state: State, filenames: np.ndarray, compression_type: np.ndarray, *_: np.ndarray
) -> Data:
    """The lines of files."""
    return _files(filenames, compression_type, _lines)


@dataset_kernel("TFRecordDataset", "TFRecordDatasetV2")
def tf_records(
    op: Operation, state: State, filenames: np.ndarray, compression_type: np.ndarray, *_: np.ndarray
) -> Data:
    """The records of record files."""
    return _files(filenames, compression_type, records_of)


@dataset_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def fixed_length_records(
    op: Operation,
    state: State,
    filenames: np.ndarray,
    header_bytes: np.ndarray,
    record_bytes: np.ndarray,
    footer_bytes: np.ndarray,
    buffer_size: np.ndarray,
    compression_type: np.ndarray | None = None,
) -> Data:
    """Records of equally many bytes."""
    header, size, footer = int(header_bytes), int(record_bytes), int(footer_bytes)
    for name, number, least in (
        ("header_bytes", header, 0), ("record_bytes", size, 1), ("footer_bytes", footer, 0)
    ):  # fmt: skip
        if number < least:
            words = f"`{name}` must be {'> 0' if least else '>= 0'}"
            raise InvalidArgumentError(None, None, words)
    return _files(filenames, compression_type, partial(_fixed, header, size, footer))


def _fixed(header: int, size: int, footer: int, path: str, compression: str) -> Iterator[bytes]:
    content = unpacked(content_of(path), compression)
    n_bytes = len(content) - header - footer
    if n_bytes % size:
        raise InvalidArgumentError(
            None, None,
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
            f'"{path}" has body length {n_bytes} bytes, which is not an exact multiple of the '
            f"record length ({size} bytes).",
        )  # fmt: skip
    return (content[i : i + size] for i in range(header, header + n_bytes, size))
