"""Tables of TensorFlow's ops: text files beside this module, written from its registry."""

from __future__ import annotations

import functools
from pkgutil import get_data


@functools.cache
def rows_of(table: str) -> str:
    """The rows of a table, each behind a line break; what they mean stands at the file's head."""
    content = get_data(__name__, f"{table}.txt")
    assert content is not None  # loaders of packages have it
    _, _, rows = content.decode().partition("\n\n")
    return "\n" + rows
