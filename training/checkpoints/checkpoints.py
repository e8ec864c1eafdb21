"""What lies in a folder of checkpoints: which is the latest, what is in it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...graph.core.dtype import DType, as_dtype
from ...schema import proto
from ...schema.dtypes import tf_enum
from ...schema.files import is_file, modified, read_bytes, remove, remove_leftovers, write_atomic
from ...schema.tensorflow.bundle import remove_bundle
from ...schema.tensorflow.slice_table import open_checkpoint, table_files

V1 = 1
SHARDS = re.compile(r"-[\d?]+-of-\d+$")
STATE = "checkpoint"
"""The text file that names the checkpoints of a folder, the latest apart."""


def generate_checkpoint_state_proto(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
):
    """A CheckpointState message that names checkpoints.

    Args:
        save_dir: The folder. Where it is a relative path, paths in the message are relative to it.
        model_checkpoint_path: The latest checkpoint.
        all_model_checkpoint_paths: All that are kept, the oldest first; the latest is added to
            this list when it is not the last of them.
        all_model_checkpoint_timestamps: When each was made, in seconds since 1970.
        last_preserved_timestamp: When the last one was made that is kept for good.

    Raises:
        ValueError: There are not as many times as paths.
    """
    latest = os.fspath(model_checkpoint_path)
    paths = [] if all_model_checkpoint_paths is None else all_model_checkpoint_paths
    if not isinstance(paths, list):
        paths = list(paths)
    if not paths or paths[-1] != latest:
        paths.append(latest)
    times = list(all_model_checkpoint_timestamps or ())
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    if not os.path.isabs(save_dir):
        latest, *paths = (
            path if os.path.isabs(path) else os.path.relpath(path, save_dir)
            for path in (latest, *paths)
        )
    state = proto.CheckpointState(
        model_checkpoint_path=latest,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
    )
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    return state


def update_checkpoint_state(
    save_dir,
    model_checkpoint_path,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the file that names the checkpoints of a folder; see `latest_checkpoint`.

    Raises:
        RuntimeError: A checkpoint has the name of that file.
        ValueError: There are not as many times as paths.
    """
    write_state(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        latest_filename,
        False,
        all_model_checkpoint_timestamps,
        last_preserved_timestamp,
    )


def write_state(
    save_dir,
    latest,
    paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    relative: bool = False,
    times: Sequence[float] | None = None,
    preserved: float | None = None,
) -> None:
    """As `update_checkpoint_state`; `relative` makes absolute paths relative to the folder."""
    target = _state_path(save_dir, latest_filename)
    if relative:
        latest, *paths = (
            os.path.relpath(path, save_dir) if os.path.isabs(path) else path
            for path in (os.fspath(latest), *(paths or ()))
        )
    state = generate_checkpoint_state_proto(save_dir, latest, paths, times, preserved)
    if state.model_checkpoint_path == target:
        raise RuntimeError(
            f"Save path '{latest}' conflicts with path used for checkpoint state.  Please use a "
            "different save path."
        )
    write_atomic(target, str(state).encode())
    remove_leftovers(target)


def _state_path(folder, latest_filename: str | None) -> str:
    return os.path.join(folder, latest_filename or STATE)


def get_checkpoint_state(checkpoint_dir, latest_filename: str | None = None):
    """The CheckpointState message of a folder, its paths beginning with the folder's.

    None when there is none, or when it cannot be read.

    Raises:
        ValueError: It names no checkpoint, or one outside of the folder by a relative path.
    """
    folder = os.fspath(checkpoint_dir)
    try:
        state = proto.parse_text(
            "CheckpointState", read_bytes(_state_path(folder, latest_filename))
        )
    except (OSError, ValueError):
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    state.model_checkpoint_path = _inside(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = [
        _inside(folder, path) for path in state.all_model_checkpoint_paths
    ]
    return state


def _inside(folder: str, path: str) -> str:
    if os.path.isabs(path):
        return path
    if os.path.normpath(path).split(os.sep)[0] == os.pardir:
        raise ValueError(
            f"Invalid checkpoint state loaded from {folder}: '{path}' is outside of the folder"
        )
    return os.path.join(folder, path)


def latest_checkpoint(checkpoint_dir, latest_filename: str | None = None) -> str | None:
    """The path of the newest checkpoint in a folder, to be given to `Saver.restore`; else None.

    Args:
        checkpoint_dir: The folder.
        latest_filename: The file in it that names checkpoints; "checkpoint" by default.

    >>> import flatlite.compat.v1 as tf
    >>> tf.train.latest_checkpoint("/nowhere") is None
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is not None and checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    return None


def checkpoint_exists(checkpoint_prefix) -> bool:
    """Whether there is a checkpoint of this name, or of this pattern for shards of version 1."""
    return _main_file(checkpoint_prefix) is not None


def _main_file(prefix) -> str | None:
    """The file that makes a checkpoint one: the index, or the first table of version 1."""
    index = f"{os.fspath(prefix)}.index"
    return index if is_file(index) else next(iter(table_files(prefix)), None)


def get_checkpoint_mtimes(checkpoint_prefixes: Sequence) -> list[int]:
    """When checkpoints were written, in microseconds since 1970; of those that exist."""
    paths = [_main_file(prefix) for prefix in checkpoint_prefixes]
    return [int(modified(path) * 1e6) for path in paths if path is not None]


def remove_checkpoint(
    checkpoint_prefix, checkpoint_format_version: int = 2, meta_graph_suffix: str = "meta"
) -> None:
    """Removes the files of a checkpoint, of version 2 or 1, and its graph.

    Args:
        checkpoint_prefix: The path that `Saver.save` gave.
        checkpoint_format_version: 2 or 1.
        meta_graph_suffix: What ends the name of the graph's file.
    """
    if checkpoint_format_version == V1:
        for path in table_files(checkpoint_prefix):
            remove(path)
    else:
        remove_bundle(checkpoint_prefix)
    remove(meta_graph_path(checkpoint_prefix, meta_graph_suffix))


def meta_graph_path(prefix, suffix: str = "meta") -> str:
    """Where the graph of a checkpoint lies."""
    return f"{SHARDS.sub('', os.fspath(prefix))}.{suffix}"


class CheckpointReader:
    """The tensors of a checkpoint by name.

    Args:
        filepattern: The checkpoint, such as "folder/model.ckpt-100".

    Raises:
        NotFoundError: There is no such checkpoint.
        DataLossError: It is damaged.
    """

    def __init__(self, filepattern):
        self._bundle = open_checkpoint(filepattern)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors by name."""
        return {key: list(self._bundle.shape(key)) for key in self._bundle}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtypes of all tensors by name."""
        return {key: as_dtype(self._bundle.dtype(key)) for key in self._bundle}

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a tensor of this name."""
        return tensor_str in self._bundle

    def get_tensor(self, tensor_str: str) -> np.ndarray:
        """A tensor.

        Raises:
            NotFoundError: There is none of this name.
            DataLossError: It is damaged.
        """
        return self._bundle.read(tensor_str).copy()

    def debug_string(self) -> bytes:
        """A line for each tensor, such as "v0 (DT_FLOAT) [2,3]"."""
        names = {number: name for name, number in proto.enum("DataType").items()}
        rows = (
            f"{key} ({names[tf_enum(self._bundle.dtype(key))]}) "
            f"[{','.join(map(str, self._bundle.shape(key)))}]"
            for key in self._bundle
        )
        return "\n".join(rows).encode()


NewCheckpointReader = CheckpointReader


def load_checkpoint(ckpt_dir_or_file) -> CheckpointReader:
    """A reader of a checkpoint, or of the latest one of a folder.

    Raises:
        ValueError: The folder has no checkpoint.
        NotFoundError: There is no such checkpoint.
    """
    path = os.fspath(ckpt_dir_or_file)
    if Path(path).is_dir():
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = latest
    return CheckpointReader(path)


def list_variables(ckpt_dir_or_file) -> list[tuple[str, list[int]]]:
    """The names and shapes of the tensors of a checkpoint, in order."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name: str) -> np.ndarray:
    """A tensor of a checkpoint; its name may end with ":0"."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
