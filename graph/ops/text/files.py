"""Ops that write and read checkpoints: what they do is in files_kernels.py.

Only a Session has kernels for them. What evaluates graphs of files that others wrote has not.
"""

from __future__ import annotations

import numpy as np

from ...core.registry import add_row, op
from ...core.shapes import unknown

add_row("MergeV2Checkpoints", None, unknown)
add_row("Restore", None, unknown)
add_row("RestoreSlice", None, unknown)
add_row("RestoreV2", None, unknown)
add_row("Save", None, unknown)
add_row("SaveSlices", None, unknown)
add_row("SaveV2", None, unknown)


@op("ShardedFilename", shape=lambda op: ())
def sharded_filename(basename: np.ndarray, shard: np.ndarray, n_shards: np.ndarray) -> np.ndarray:
    """The name of one part of a checkpoint while it is written."""
    return np.array(basename.item() + b"-%05d-of-%05d" % (shard, n_shards), object)


@op("ShardedFilespec", shape=lambda op: ())
def sharded_filespec(basename: np.ndarray, n_shards: np.ndarray) -> np.ndarray:
    """The pattern of the files of a checkpoint of version 1 in parts."""
    return np.array(basename.item() + b"-?????-of-%05d" % n_shards, object)
