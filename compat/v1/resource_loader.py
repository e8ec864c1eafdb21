"""`tf.resource_loader`: files that lie beside a program's modules."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

from ...schema.files import read_bytes


def get_data_files_path() -> str:
    """The folder of the module that calls this."""
    return _folder_of_caller()


def get_path_to_datafile(path: str) -> str:
    """The path of a file beside the module that calls this."""
    return os.path.join(_folder_of_caller(), path)


def get_root_dir_with_all_resources() -> str:
    """The folder of the module that calls this; `.runfiles` above it where Bazel made one."""
    folder = _folder_of_caller()
    root, separator, _ = folder.partition(".runfiles" + os.sep)
    return root + separator.rstrip(os.sep) if separator else folder


def load_resource(path: str) -> bytes:
    """The content of a file; `path` counts from the module that calls this.

    Raises OSError when it cannot be read.
    """
    return read_bytes(os.path.join(_folder_of_caller(), path))


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path as it is: no file here is read ahead."""
    return path


def _folder_of_caller() -> str:
    """The folder of the first module on the stack that is not this one."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return str(Path(frame.f_code.co_filename).parent) if frame is not None else ""


__all__ = [
    "get_data_files_path",
    "get_path_to_datafile",
    "get_root_dir_with_all_resources",
    "load_resource",
    "readahead_file_path",
]
