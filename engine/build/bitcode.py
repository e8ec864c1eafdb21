"""LLVM code of kernels that the package brings: what numba makes of them, which takes it seconds.

    python -m flatlite.engine.build --bitcode      # writes that of modules that have changed

A file for each kernel module, the same for all processors of a system: a fixed head, then, packed
together, a line for each specialisation (its key and the bytes of its code) and their bitcode. It
holds entry functions that take addresses and numbers alone, so that no version of numba matters,
and LLVM reads what older versions of it have written. The head has the digest of all sources that
the code depends on (cache.py): code of other sources is never used. Nothing here imports numba.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import cache, target

if TYPE_CHECKING:
    from typing import TypeAlias

    Codes: TypeAlias = "Mapping[str, bytes]"
    """`Declaration.key` -> bitcode with the function `ENTRY`"""

FOLDER = os.path.join(cache.ENGINE, "bitcode")
ENTRY = "flatlite_entry"
_SUFFIX = ".bitcode"
_MAGIC, _FORMAT = b"flatbits", 1
_HEAD = struct.Struct("<8sII32s32s")  # magic, format, version of LLVM, sources, digest of the rest


def modules() -> list[str]:
    """The modules that the package has code of."""
    names = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []
    return sorted(name[: -len(_SUFFIX)] for name in names if name.endswith(_SUFFIX))


def path_of(module: str) -> str:
    """The file of a kernel module."""
    return os.path.join(FOLDER, module + _SUFFIX)


def read(module: str, version: int) -> Codes:
    """The code of a module's kernels for LLVM of a version, by key.

    None at all where the package has none, or of other sources, of a newer LLVM, for another kind
    of system, or a file that is damaged.
    """
    if not target.supports_images():
        return {}
    try:
        with open(path_of(module), "rb") as file:
            data = file.read()
        magic, format_, written_by, source, checked = _HEAD.unpack_from(data)
    except (OSError, struct.error):
        return {}
    packed = data[_HEAD.size :]
    is_known = (magic, format_) == (_MAGIC, _FORMAT) and written_by <= version
    is_current = is_known and source == cache.source_digest(module)
    return _unpacked(packed) if is_current and cache.digest(packed) == checked else {}


def is_current(module: str) -> bool:
    """Whether the package's code of a module is of the present sources."""
    try:
        with open(path_of(module), "rb") as file:
            head = _HEAD.unpack(file.read(_HEAD.size))
    except (OSError, struct.error):
        return False
    return head[1] == _FORMAT and head[3] == cache.source_digest(module)


def write(module: str, codes: Codes, version: int) -> None:
    """Writes the code of a module's kernels, which LLVM of a version has made."""
    import lzma

    from ...schema import files

    lines = "".join(f"{key}\t{len(code)}\n" for key, code in codes.items())
    packed = lzma.compress(b"".join([lines.encode(), b"\n", *codes.values()]), preset=9)
    source, checked = cache.source_digest(module), cache.digest(packed)
    os.makedirs(FOLDER, exist_ok=True)
    head = _HEAD.pack(_MAGIC, _FORMAT, version, source, checked)
    files.write_atomic(path_of(module), head + packed)


def _unpacked(packed: bytes) -> Codes:
    try:
        import lzma
    except ImportError:  # a Python that was built without it
        return {}
    content = lzma.decompress(packed)
    lines, _, codes = content.partition(b"\n\n")
    at = 0
    unpacked: dict[str, bytes] = {}
    for line in lines.decode().splitlines():
        key, _, size = line.rpartition("\t")
        unpacked[key] = codes[at : at + int(size)]
        at += int(size)
    return unpacked
