"""Samples of a representative dataset, as arrays in the order of a model's inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..schema.errors import CalibrationError
from .sources.source import Port, Source, full_name, short_name, some


def dataset_function(dataset: Any) -> Callable[[], Iterable[Any]] | None:
    """The callable in a `representative_dataset`; None for None.

    Raises ValueError when there is none in it.
    """
    function: Any = getattr(dataset, "input_gen", dataset)
    if function is not None and not callable(function):
        raise ValueError(
            "representative_dataset must be a RepresentativeDataset or a callable that returns an "
            f"iterable of samples, got {type(function).__name__}; wrap it: lambda: samples"
        )
    return cast("Callable[[], Iterable[Any]] | None", function)


def read_samples(
    function: Callable[[], Iterable[Any]], sources: Sequence[Source], limit: int
) -> list[list[list[np.ndarray]]]:
    """The first samples for each source: one array for each input, in order.

    A sample is a list of arrays in input order, a dict of arrays by the name of the tensor or the
    key of the signature's input, or (signature key, dict).

    Args:
        function: gives the samples.
        sources: the signatures of one model.
        limit: how many are read for each source; later samples are not looked at.

    Raises:
        CalibrationError: there are no samples, or one is not what the inputs take.
    """
    samples = function()
    if not isinstance(samples, Iterable):
        raise CalibrationError(
            "representative_dataset must return an iterable of samples, got "
            f"{type(samples).__name__}; `yield` the samples one by one"
        )
    found: list[list[list[np.ndarray]]] = [[] for _ in sources]
    number = -1
    for number, sample in enumerate(samples):
        label = f"sample {number} of representative_dataset"
        i, given = _signature(label, sample, sources)
        if len(found[i]) < limit:
            found[i].append(_arrays(label, given, sources[i]))
        if all(len(rows) == limit for rows in found):
            break
    if number < 0:
        raise CalibrationError(
            "representative_dataset gave no samples; a generator that was used up gives none the "
            "second time: pass the function that makes it"
        )
    return found


def _signature(label: str, sample: Any, sources: Sequence[Source]) -> tuple[int, Any]:
    """Which source a sample is for, and its arrays."""
    keys = [source.key for source in sources]
    is_pair = isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str)
    if is_pair:
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
    names = [short_name(port.name) for port in source.inputs]
    if isinstance(sample, Mapping):
        given = _by_name(label, sample, source.inputs)
    elif isinstance(sample, list | tuple):
        given = list(sample)
    else:
        raise CalibrationError(
            f"{label} must be a list with one array for each input or a dict of arrays, got "
            f"{type(sample).__name__}; yield [x]"
        )
    if len(given) != len(names):
        raise CalibrationError(
            f"{label} must have {len(names)} arrays, for {some(names)}, got {len(given)}"
        )
    return [_array(label, a, port) for a, port in zip(given, source.inputs, strict=True)]


def _by_name(label: str, sample: Mapping, ports: Sequence[Port]) -> list[Any]:
    """The values of a dict in input order."""
    given, left = [], dict(sample)
    for port in ports:
        for name in (port.key, short_name(port.name), full_name(port.name)):
            if name in left:
                given.append(left.pop(name))
                break
    if left or len(given) != len(ports):
        raise CalibrationError(
            f"{label} must have the keys {some(port.key for port in ports)}, got "
            f"{some(map(str, sample))}"
        )
    return given


def _array(label: str, value: Any, port: Port) -> np.ndarray:
    """One array of a sample, of the input's type and shape."""
    dtype: Any = port.tensor.dtype
    shape = port.tensor.shape
    where = f"{label}: input '{short_name(port.name)}'"
    array = np.asarray(value, None if hasattr(value, "dtype") else dtype)
    if array.dtype != dtype:
        raise CalibrationError(
            f"{where} must have the type {dtype}, got {array.dtype}; use x.astype(np.{dtype})"
        )
    fits = shape is None or (
        len(shape) == array.ndim
        and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    )
    if not fits:
        is_one = shape is not None and len(shape) == array.ndim + 1
        hint = "; the batch is missing: yield x[np.newaxis]" if is_one else ""
        shown = "(" + ", ".join("?" if n is None else str(n) for n in shape or ()) + ")"
        raise CalibrationError(f"{where} must have the shape {shown}, got {array.shape}{hint}")
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise CalibrationError(f"{where} must be finite, got NaN or infinity")
    return array
