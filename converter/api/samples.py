"""Samples of a representative dataset, as arrays in the order of a model's inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, count, permutations
from typing import Any, cast

import numpy as np

from ...schema.errors import CalibrationError
from ..callers import caller
from ..sources.source import Port, Source, full_name, short_name, some
from .sample_statistics import InputStatistics

MAX_PERMUTED = 5  # inputs, above which no other order of a sample's arrays is tried
N_VERIFIED = 2  # samples that the written file is verified on; so many are kept of any size
MAX_MEASURED = 32  # samples that a quantized file may be measured on
MAX_KEPT_BYTES = 1 << 23  # of the samples of one source, beyond N_VERIFIED

VERIFY_INPUTS_FORM = (
    "verify_inputs must be a dict of arrays by input name, a list with one array for each input, "
    "or a list of such"
)

Sample = tuple[int, str, "list[np.ndarray]"]
"""Number of the source, what messages call the sample, arrays in input order."""


def dataset_function(dataset: Any) -> Callable[[], Iterable[Any]] | None:
    """The callable in a `representative_dataset`; None for None.

    Raises ValueError when there is none in it.
    """
    function: Any = getattr(dataset, "input_gen", dataset)
    if function is not None and not callable(function):
        is_used_up_once = isinstance(function, Iterator)
        cure = "pass the function that makes it" if is_used_up_once else "wrap it: lambda: samples"
        raise ValueError(
            "representative_dataset must be a RepresentativeDataset or a callable that returns an "
            f"iterable of samples, got {type(function).__name__}; {cure}"
        )
    return cast("Callable[[], Iterable[Any]] | None", function)


class Samples:
    """A representative dataset, read once and in order.

    A sample is a list of arrays in input order, a dict of arrays by the name of the tensor or the
    key of the signature's input, or (signature key, dict).

    Args:
        dataset: a RepresentativeDataset, a callable that returns samples, or None.
        sources: the signatures of one model.

    Attributes:
        statistics: what the inputs of each source were given.

    Raises:
        CalibrationError: there are no samples, or one is not what the inputs take.
    """

    def __init__(self, dataset: Any, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._first: list[list[list[np.ndarray]]] = [[] for _ in sources]
        self.statistics = [[InputStatistics(port) for port in s.inputs] for s in sources]
        function = dataset_function(dataset)
        self._stream = iter(()) if function is None else _each_sample(function, sources)
        self._ahead: list[Sample] = []
        for sample in self._stream:
            self._ahead.append(sample)
            break

    def each(self) -> Iterator[Sample]:
        """All samples: (number of the source, what to call it, arrays in input order).

        Raises CalibrationError when a source got none.
        """
        yield from self._numbered()
        missing = [str(source.key) for i, source in enumerate(self._sources) if not self._first[i]]
        if missing:
            raise CalibrationError(
                f"representative_dataset gave no samples for the signatures {some(missing)}; yield "
                "(key, dict of arrays) for each of them"
            )

    def first(self, i: int, count: int = N_VERIFIED) -> list[list[np.ndarray]]:
        """The first samples of source `i`, at most `count` of those that are kept."""
        if len(self._first[i]) < N_VERIFIED:
            for _ in self._numbered():
                if all(len(rows) >= N_VERIFIED for rows in self._first):
                    break
        return self._first[i][:count]

    def _numbered(self) -> Iterator[Sample]:
        """The samples not read before."""
        read, self._ahead = self._ahead, []
        for i, label, arrays in chain(read, self._stream):
            if self._keeps(arrays, len(self._first[i])):
                self._first[i].append(arrays)
            for row, array in zip(self.statistics[i], arrays, strict=True):
                row.add(array)
            yield i, label, arrays

    @staticmethod
    def _keeps(arrays: Sequence[np.ndarray], n_kept: int) -> bool:
        """Whether a sample is kept beside those that are."""
        n_bytes = (n_kept + 1) * sum(array.nbytes for array in arrays)
        return n_kept < N_VERIFIED or (n_kept < MAX_MEASURED and n_bytes <= MAX_KEPT_BYTES)


def check_verify_inputs(
    verify_inputs: Any, sources: Sequence[Source]
) -> list[list[list[np.ndarray]]]:
    """What `verify_inputs` has for each source: lists of arrays in input order.

    Raises CalibrationError when something in it is not what the inputs take.
    """
    samples: list[list[list[np.ndarray]]] = [[] for _ in sources]
    if verify_inputs is None:
        return samples
    for n, row in enumerate(rows := _verify_rows(verify_inputs)):
        label = f"sample {n} of verify_inputs" if len(rows) > 1 else "verify_inputs"
        i, arrays = _signature(label, row, sources)
        samples[i].append(_arrays(label, arrays, sources[i]))
    return samples


def _verify_rows(verify_inputs: Any) -> list[Any]:
    """The samples in `verify_inputs`, which may be one."""
    if isinstance(verify_inputs, Mapping) or _is_pair(verify_inputs):
        return [verify_inputs]
    if not isinstance(verify_inputs, list | tuple):
        raise CalibrationError(f"{VERIFY_INPUTS_FORM}, got {type(verify_inputs).__name__}")
    is_list = all(isinstance(row, Mapping | list | tuple) for row in verify_inputs)
    return list(verify_inputs) if is_list else [verify_inputs]


def _each_sample(
    function: Callable[[], Iterable[Any]], sources: Sequence[Source]
) -> Iterator[Sample]:
    is_read = [False for _ in sources]
    for i, label, sample in _labelled(function, sources):
        arrays = _arrays(label, sample, sources[i])
        if not is_read[i]:
            is_read[i] = True
            _warn_of_batches(sample, sources[i])
        yield i, label, arrays


def _warn_of_batches(sample: Any, source: Source) -> None:
    """Warns of arrays that lack the first dimension of their input, which is unknown."""
    values = _by_name("", sample, source.inputs) if isinstance(sample, Mapping) else sample
    for value, port in zip(values, source.inputs, strict=True):
        shape = port.tensor.sizes
        if shape and shape[0] is None and np.ndim(value) == len(shape) - 1:
            warnings.warn(
                f"representative_dataset: input '{port.key}' has the shape "
                f"{_shape_text(shape)}, and samples have {np.shape(value)}, which are taken as "
                "batches of one; the batch is missing: yield x[np.newaxis]",
                stacklevel=caller(),
            )


def _shape_text(shape: Sequence[int | None] | None) -> str:
    return "(" + ", ".join("?" if n is None else str(n) for n in shape or ()) + ")"


def _labelled(
    function: Callable[[], Iterable[Any]], sources: Sequence[Source]
) -> Iterator[tuple[int, str, Any]]:
    """Samples as they come, each with the number of its source and what to call it."""
    with telling_who_raised("representative_dataset"):
        samples = function()
    if not isinstance(samples, Iterable):
        raise CalibrationError(
            "representative_dataset must return an iterable of samples, got "
            f"{type(samples).__name__}; `yield` the samples one by one"
        )
    stream, number = iter(samples), 0
    for number in count():
        label = f"sample {number} of representative_dataset"
        with telling_who_raised(label):
            sample = next(stream, stream)
        if sample is stream:
            break
        i, arrays = _signature(label, sample, sources)
        yield i, label, arrays
    if not number:
        raise CalibrationError(
            "representative_dataset gave no samples; a generator that was used up gives none the "
            "second time: pass the function that makes it"
        )


@contextmanager
def telling_who_raised(what: str) -> Iterator[None]:
    """Says that an error is one of the user's function, which makes `what`."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError) as error:
        raise CalibrationError(f"{what} raised {type(error).__name__}: {error}") from error


def _is_pair(sample: Any) -> bool:
    """Whether a sample says which signature it is for: (key, arrays)."""
    return isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str)


def _signature(label: str, sample: Any, sources: Sequence[Source]) -> tuple[int, Any]:
    """Which source a sample is for, and its arrays."""
    keys = [source.key for source in sources]
    if _is_pair(sample):
        if sample[0] not in keys:
            raise CalibrationError(
                f"{label} is for the signature '{sample[0]}'; the signatures are "
                f"{some(str(key) for key in keys)}"
            )
        return keys.index(sample[0]), sample[1]
    if len(sources) > 1:
        raise CalibrationError(
            f"{label} does not say which signature it is for; yield (key, dict of arrays), key one "
            f"of {some(str(key) for key in keys)}"
        )
    return 0, sample


def _arrays(label: str, sample: Any, source: Source) -> list[np.ndarray]:
    """A sample's arrays, in input order and checked."""
    names = [port.key for port in source.inputs]
    if isinstance(sample, Mapping):
        arrays = _by_name(label, sample, source.inputs)
    elif isinstance(sample, list | tuple):
        arrays = list(sample)
    else:
        raise CalibrationError(
            f"{label} must be a list with one array for each input or a dict of arrays, got "
            f"{type(sample).__name__}; yield [x]"
        )
    if len(arrays) != len(names):
        raise CalibrationError(
            f"{label} must have {len(names)} arrays, for {some(names)}, got {len(arrays)}"
        )
    try:
        return [_array(label, a, port) for a, port in zip(arrays, source.inputs, strict=True)]
    except CalibrationError as error:
        order = None if isinstance(sample, Mapping) else _fitting_order(arrays, source.inputs)
        if order is None:
            raise
        raise CalibrationError(
            f"{error}; the arrays would fit in another order: yield them for {some(names)}, in "
            "this order, or a dict by these names"
        ) from None


def _fitting_order(arrays: Sequence[Any], ports: Sequence[Port]) -> tuple[int, ...] | None:
    """An order in which the arrays would be what the inputs take; None when there is none."""
    if len(ports) > MAX_PERMUTED:
        return None
    for order in permutations(range(len(ports))):
        try:
            for i, port in zip(order, ports, strict=True):
                _array("", arrays[i], port)
        except CalibrationError:
            continue
        return order
    return None


def _by_name(label: str, sample: Mapping, ports: Sequence[Port]) -> list[Any]:
    """The values of a dict in input order."""
    arrays, remaining = [], dict(sample)
    for port in ports:
        for name in (port.key, short_name(port.name), full_name(port.name)):
            if name in remaining:
                arrays.append(remaining.pop(name))
                break
    if remaining or len(arrays) != len(ports):
        raise CalibrationError(
            f"{label} must have the keys {some(port.key for port in ports)}, got "
            f"{some(map(str, sample))}"
        )
    return arrays


def _array(label: str, value: Any, port: Port) -> np.ndarray:
    """One array of a sample, of the input's type and shape."""
    dtype: Any = np.dtype(port.tensor.dtype)
    where = f"{label}: input '{port.key}'"
    try:
        array = np.asarray(value, None if hasattr(value, "dtype") else dtype)
    except (TypeError, ValueError) as error:
        raise CalibrationError(
            f"{where} must be an array of {dtype}, got {type(value).__name__}: {error}"
        ) from None
    if array.dtype != dtype:
        raise CalibrationError(
            f"{where} must have the type {dtype}, got {array.dtype}; use x.astype(np.{dtype})"
        )
    reshaped = in_shape_of(label, array, port)
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise CalibrationError(f"{where} must be finite, got NaN or infinity")
    return reshaped


def in_shape_of(label: str, array: np.ndarray, port: Port) -> np.ndarray:
    """An array of a sample, which messages call `label`, in the shape of an input.

    Raises CalibrationError when it is not of that shape.
    """
    shape = port.tensor.sizes
    reshaped = array if shape is None else _reshaped(array, shape)
    if reshaped is None:
        raise CalibrationError(
            f"{label}: input '{port.key}' must have the shape {_shape_text(shape)}, got "
            f"{array.shape}"
        )
    return reshaped


def _reshaped(array: np.ndarray, shape: tuple[int | None, ...]) -> np.ndarray | None:
    """An array in the shape of an input; None when it is not of that shape.

    As in TensorFlow, an array of another rank may lack dimensions of 1, or have more of them.
    """
    if array.ndim == len(shape):
        matches = all(n in (None, size) for n, size in zip(shape, array.shape, strict=True))
        return array if matches else None
    sizes = [size for size in array.shape if size != 1]
    new_sizes: list[int] = []
    for n in reversed(shape):
        matches = sizes and n in (None, sizes[-1])
        new_sizes.insert(0, sizes.pop() if matches else 1 if n is None else n)
    if sizes or np.prod(new_sizes, dtype=int) != array.size:
        return None
    return array.reshape(new_sizes)
