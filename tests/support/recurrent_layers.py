"""The recurrent layers that tests/converter/keras/make_recurrent.py recorded."""

import io
import lzma
from functools import cache
from pathlib import Path

import numpy as np

PATH = Path(__file__).parents[1] / "converter/keras/recurrent.npz.xz"


@cache
def cases():
    """What make_recurrent.py wrote: {case: {name: array}}."""
    content = lzma.decompress(PATH.read_bytes())
    rows = {}
    with np.load(io.BytesIO(content)) as arrays:
        for key in arrays:
            case, _, name = key.rpartition("/")
            rows.setdefault(case, {})[name] = arrays[key]
    return rows
