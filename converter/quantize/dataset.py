"""A representative dataset in files, for the command line."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from ...schema.errors import CalibrationError
from ...schema.files import read_bytes
from ..sources.source import Port, Source, full_name, short_name, some

SUFFIXES = (".npy", ".npz")
Arrays = dict[str, np.ndarray]


def file_dataset(
    path: str | os.PathLike, sources: Sequence[Source]
) -> Callable[[], Iterator[list[np.ndarray]]]:
    """The samples in a file, or in the files of a folder.

    A `.npz` has an array for each input, by its name, and maybe others; or as many as there are
    inputs, without names (`np.savez(path, a, b)`), in their order; a `.npy` is for models with one
    input. In a file the first dimension counts the samples; they are given as many at a time as
    the model's batch is, one where that is unknown. In a folder each file is one sample.

    Raises:
        OSError: there is no such file.
        CalibrationError: it holds no samples for the inputs; the model has several signatures.
    """
    if len(sources) > 1:
        keys = some(str(source.key) for source in sources)
        raise CalibrationError(f"samples in files are for one signature; the model has {keys}")
    ports, location = sources[0].inputs, Path(path)
    if location.is_dir():
        files = sorted(file for file in location.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise CalibrationError(f"'{path}' has no .npy or .npz files")
        return lambda: (arrays_of_inputs(load(file), ports, file) for file in files)
    columns = arrays_of_inputs(load(location), ports, location)
    lengths = {
        port.key: len(column) if column.ndim else 0
        for port, column in zip(ports, columns, strict=True)
    }
    if 0 in lengths.values():
        names = some(key for key, n in lengths.items() if not n)
        raise CalibrationError(
            f"'{path}' has no samples for input {names}; write a hundred or so of the inputs that "
            "the model will meet"
        )
    if len(set(lengths.values())) != 1:
        counts = ", ".join(f"{n} for '{key}'" for key, n in lengths.items())
        raise CalibrationError(
            f"'{path}' must have equally many samples for each input, has {counts}; the first "
            "dimension of each array counts them"
        )
    return lambda: slices(columns, ports)


def load(path: Path) -> Arrays:
    """The arrays of a file by name, "" for that of a `.npy`."""
    try:
        loaded: Any = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        return {key: loaded[key] for key in loaded.files}
    except (ValueError, EOFError, BadZipFile, ZlibError) as error:
        reason = "" if "pickle" in str(error) else f": {error}"
        raise CalibrationError(f"'{path}' is not a .npy or .npz file of numbers{reason}") from None


def arrays_of_inputs(arrays: Arrays, ports: Sequence[Port], path: Path) -> list[np.ndarray]:
    """An array for each input, by any of its names, or by numpy's for arrays without a name."""
    is_unnamed = arrays.keys() == {f"arr_{i}" for i in range(len(ports))}
    chosen = []
    for i, port in enumerate(ports):
        names = [port.key, short_name(port.name), full_name(port.name)]
        names += [""] if len(ports) == 1 else []
        names += [f"arr_{i}"] if is_unnamed else []
        name = next((name for name in names if name in arrays), None)
        if name is None:
            available = some(key for key in arrays if key) or "one without a name"
            keys = ", ".join(f"{one.key}=..." for one in ports)
            raise CalibrationError(
                f"'{path}' must have an array for input '{port.key}', has {available}; write it "
                f"with np.savez(path, {keys})"
            )
        chosen.append(arrays[name])
    return chosen


def slices(columns: Sequence[np.ndarray], ports: Sequence[Port]) -> Iterator[list[np.ndarray]]:
    """Samples of as many rows as the model takes at a time; a smaller remainder is dropped."""
    sizes = [batch(column, port) for column, port in zip(columns, ports, strict=True)]
    step = max((size for size in sizes if size is not None), default=1)
    for start in range(0, len(columns[0]) - step + 1, step):
        yield [
            column[start] if size is None else column[start : start + step]
            for column, size in zip(columns, sizes, strict=True)
        ]


def batch(column: np.ndarray, port: Port) -> int | None:
    """How many rows an input takes at a time; None when it has no dimension for them."""
    shape = port.tensor.sizes
    if shape is None or len(shape) != column.ndim:
        return None
    return 1 if shape[0] is None else max(shape[0], 1)
