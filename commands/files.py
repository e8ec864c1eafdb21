"""Files that commands read and write: checked before work is done for them."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..schema.model import Model


def check_model(path: str) -> None:
    """Raises IsADirectoryError where a .tflite file is wanted and a folder is given."""
    if os.path.isdir(path):
        raise IsADirectoryError(
            f"'{path}' is a folder, and a .tflite file is wanted; "
            "flatlite convert makes one of a SavedModel"
        )


def read_model(path: str) -> Model:
    """The model of a .tflite file; errors name the file."""
    from ..converter.sources.source import naming
    from ..schema.files import read_bytes
    from ..schema.model import load

    check_model(path)
    with naming(path):
        return load(read_bytes(path))


def check_target(path: str) -> None:
    """Raises OSError when a file could not be written to `path`, before work is done for it."""
    from ..schema.files import is_special

    if is_special(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"'{path}' cannot be written to")
        return
    if os.path.islink(path) and not os.path.exists(path):
        raise FileNotFoundError(f"'{path}' is a link that leads to nothing")
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"'{path}' is a folder, not a file to write")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"the folder '{folder}' does not exist")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder '{folder}' cannot be written to")


def load_arrays(path: str, name: str) -> dict:
    """The arrays of a .npz file by name, or the one of a .npy file as `name`."""
    import zipfile
    import zlib

    import numpy as np

    from ..schema.files import read_bytes

    try:
        loaded = np.load(io.BytesIO(read_bytes(path)), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {name: loaded}
        return {key: loaded[key] for key in loaded.files}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        reason = "" if "pickle" in str(error) else f": {error}"
        raise ValueError(f"'{path}' is not a .npy or .npz file of numbers{reason}") from None


def npz(arrays: dict) -> bytes:
    """The bytes of a .npz file; strings become fixed-width ones, as pickles are not written."""
    import numpy as np

    file = io.BytesIO()
    plain = {k: x.astype(np.bytes_) if x.dtype.hasobject else x for k, x in arrays.items()}
    np.savez(file, **plain)
    return file.getvalue()
