"""Files: read whole, mapped, or replaced in one step; nothing else in flatlite opens a user's."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # where it is used it is imported: it takes as long as all of the interpreter
    from collections.abc import Iterable
    from io import FileIO
    from pathlib import Path

    import numpy as np
    from _typeshed import ReadableBuffer, StrPath

    Content = ReadableBuffer | np.ndarray
    """What has bytes: bytes, views of them, arrays."""


def read_bytes(path: StrPath) -> bytes:
    """All bytes of a regular file.

    Raises OSError when the file is missing, is not a regular file, or changes while it is read.
    """
    descriptor, status = _open(path)
    size = status.st_size
    with open(descriptor, "rb") as file:
        content = file.read(size + 1)
        if len(content) != size or os.fstat(file.fileno()).st_size != size:
            raise OSError(errno.EIO, "the file changed while it was read", os.fspath(path))
    return content


def map_file(path: StrPath) -> memoryview:
    """A read-only view of a regular file that lets the system page it in; b"" when it is empty.

    Raises OSError when the file is missing or is not a regular file.
    """
    return map_with_status(path)[0]


def map_with_status(path: StrPath) -> tuple[memoryview, os.stat_result]:
    """What `map_file` gives, and the status of the very file that is mapped."""
    descriptor, status = _open(path)
    with open(descriptor, "rb") as file:
        if status.st_size == 0:
            return memoryview(b""), status
        mapped = mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_READ)
    return memoryview(mapped), status


def page_out(array: np.ndarray) -> None:
    """Gives back the memory of what an array shows of a mapped file, which can be read again."""
    import numpy as np

    mapped = _mapped_file(array)
    if mapped is None or not array.size:
        return
    start = array.ctypes.data - np.frombuffer(mapped, "u1").ctypes.data
    extents = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    stop = start + sum(extents) + array.itemsize
    begin, end = -(-start // mmap.PAGESIZE), stop // mmap.PAGESIZE
    if min(extents, default=0) >= 0 and begin < end:
        pages = begin * mmap.PAGESIZE, (end - begin) * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, *pages)


def release_arrays(arrays: Iterable[np.ndarray]) -> None:
    """Gives back the memory of the mapped files that arrays are views of, all of each file."""
    mapped_files = {id(mapped): mapped for mapped in map(_mapped_file, arrays) if mapped}
    for mapped in mapped_files.values():
        mapped.madvise(mmap.MADV_DONTNEED)


def _mapped_file(array: np.ndarray) -> mmap.mmap | None:
    """The mapped file that an array is a view of; None where it lies in memory."""
    import numpy as np

    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    mapped = owner.obj if isinstance(owner, memoryview) else owner
    if not isinstance(mapped, mmap.mmap) or not hasattr(mapped, "madvise"):
        return None
    return mapped if memoryview(mapped).readonly else None  # what is written to has no file


def untouched(size: int) -> mmap.mmap:
    """Zeros, of which only the small pages take memory that something is written to."""
    zeros = mmap.mmap(-1, max(size, 1))
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        zeros.madvise(mmap.MADV_NOHUGEPAGE)
    return zeros


def byte_view(data: Content) -> memoryview:
    """The bytes of a buffer, without a copy."""
    # Only from Python 3.12 on do arrays say in their type that they are buffers.
    return memoryview(data).cast("B")  # pyright: ignore[reportArgumentType]


def member(folder: StrPath, name: str) -> Path:
    """The regular file `name` inside `folder`, as a model may refer to it.

    Raises ModelError when it leads out of the folder, or is a link, also a hard one.
    """
    from pathlib import Path

    from .errors import ModelError

    folder_path = Path(folder)
    path = folder_path / name
    if not name or "\0" in name or os.path.isabs(name) or ".." in Path(name).parts:
        raise ModelError(f"a model refers to {name!r}, which is not a file of its own folder")
    if path.resolve() != folder_path.resolve() / name:
        raise ModelError(f"a model refers to '{name}', which is or passes a link")
    if path.exists() and not path.is_file():
        raise ModelError(f"a model refers to '{name}', which is not a regular file")
    if path.exists() and os.stat(path).st_nlink != 1:
        raise ModelError(f"a model refers to '{name}', which has other names (hard links)")
    return path


def release(content: Content) -> None:
    """Lets the system take back the memory of a mapped file; it is paged in again when read.

    Does nothing for content that `map_file` did not give.
    """
    mapped = content.obj if isinstance(content, memoryview) else None
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def write_file(path: StrPath, data: Content) -> None:
    """Puts `data` where `cp` would: into a device or FIFO, else into a file as `write_atomic`.

    Raises OSError, naming the path, also when the disk is full or a link leads to nothing.
    """
    try:
        if is_special(path):
            with open(os.open(path, os.O_WRONLY), "wb", buffering=0) as file:
                _write(file, data)
            return
        if os.path.islink(path) and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, "a link that leads to nothing", os.fspath(path))
        write_atomic(path, data)
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


def open_new(path: StrPath) -> FileIO:
    """A new file to append to, unbuffered; FileExistsError when there is one of this name."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
    return open(os.open(path, flags, 0o666), "ab", buffering=0)


def append(file: FileIO, data: Content) -> None:
    """Puts all of `data` at the end of a file; when that fails, nothing of it stays there."""
    end = os.fstat(file.fileno()).st_size
    try:
        _write(file, data)
    except BaseException:
        os.ftruncate(file.fileno(), end)
        raise


def is_special(path: StrPath) -> bool:
    """Whether a path leads to a device, a FIFO or a socket: what cannot be replaced by a file."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_atomic(path: StrPath, data: Content) -> None:
    """Makes `path` hold `data`: whoever reads it sees the old bytes or all of the new ones.

    The bytes go to a temporary file in the same folder, to the disk, and then to their name. A link
    keeps pointing where it did; the file it names is replaced, and keeps its mode.
    """
    from pathlib import Path

    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist", str(target.parent))
    temporary, descriptor = _open_temporary(target)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            _write(file, data)
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            os.fsync(file.fileno())
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _write(file: FileIO, data: Content) -> None:
    """All of `data` to an unbuffered file."""
    unwritten = byte_view(data)
    while unwritten:
        unwritten = unwritten[file.write(unwritten) :]


def _open_temporary(target: Path) -> tuple[Path, int]:
    """A new temporary file for `target`, locked as long as its descriptor is open."""
    while True:
        temporary = target.with_name(f".{target.name[:200]}.{os.urandom(8).hex()}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(target)) from None
        # Between the two steps remove_leftovers may take it for one that nobody writes.
        if _lock(descriptor) is not False and temporary.exists():
            return temporary, descriptor
        os.close(descriptor)


def remove_leftovers(path: StrPath) -> None:
    """Removes temporary files that a killed writer left behind, of files named `path...`."""
    from pathlib import Path

    target = Path(os.path.realpath(path))
    for name in listed(target.parent):
        if name.startswith(f".{target.name[:200]}") and name.endswith(".tmp"):
            _remove_unlocked(target.with_name(name))


def _remove_unlocked(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY)
    except OSError:
        return
    try:
        if _lock(descriptor):
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Whether a file is now locked until its descriptor is closed; None where there are no locks.

    False when somebody else holds the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def listed(folder: StrPath) -> list[str]:
    """The names of what is in a folder, in order; none when there is no such folder."""
    try:
        return sorted(os.listdir(folder or "."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def remove(path: StrPath) -> None:
    """Removes a file; nothing happens when it is not there."""
    from pathlib import Path

    Path(path).unlink(missing_ok=True)


def make_folder(path: StrPath) -> None:
    """Makes a folder and those above it; nothing happens when there is one."""
    from pathlib import Path

    Path(path).mkdir(parents=True, exist_ok=True)


def remove_folder(path: StrPath) -> None:
    """Removes a folder; nothing happens when there is none, or something is in it."""
    if is_folder(path) and not listed(path):
        os.rmdir(path)


def is_file(path: StrPath) -> bool:
    """Whether there is a regular file of this name."""
    return os.path.isfile(path)


def is_folder(path: StrPath) -> bool:
    """Whether there is a folder of this name."""
    return os.path.isdir(path)


def modified(path: StrPath) -> float:
    """When a file was last written to, in seconds since 1970; OSError when it is not there."""
    return os.stat(path).st_mtime


def _open(path: StrPath) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file, open for reading, and the file's status."""
    # Opening a pipe would wait for its writer; O_NONBLOCK makes no difference to a regular file.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status
    os.close(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))


def _sync_folder(folder: Path) -> None:
    """Brings a folder's entries to the disk, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
