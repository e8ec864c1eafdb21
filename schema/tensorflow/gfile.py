"""`tf.gfile`: files and folders of this machine, with TensorFlow's errors.

Paths may begin with "file://".
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from .. import errors

if TYPE_CHECKING:
    from _typeshed import StrPath

T = TypeVar("T")
MODES = ("r", "w", "a", "r+", "w+", "a+")


def local_path(path: StrPath | bytes) -> str:
    """A path without "file://" before it."""
    text = os.fsdecode(path)
    return text.removeprefix("file://")


@contextlib.contextmanager
def translated(path: str) -> Generator[None]:
    """Raises the operating system's errors as TensorFlow's."""
    try:
        yield
    except FileNotFoundError as error:
        raise errors.NotFoundError(None, None, f"{path}; {error.strerror}") from None
    except FileExistsError as error:
        raise errors.AlreadyExistsError(None, None, f"{path}; {error.strerror}") from None
    except PermissionError as error:
        raise errors.PermissionDeniedError(None, None, f"{path}; {error.strerror}") from None
    except (IsADirectoryError, NotADirectoryError) as error:
        raise errors.FailedPreconditionError(None, None, f"{path}; {error.strerror}") from None
    except OSError as error:
        raise errors.UnknownError(None, None, f"{path}; {error.strerror}") from None


class GFile:
    """A file, opened when it is first read or written; text, or bytes with "b" in its mode.

    Args:
        name: Its path.
        mode: "r", "w", "a", each with "+" for reading and writing, and "b" for bytes.

    Raises InvalidArgumentError for another mode, when it is opened.
    """

    def __init__(self, name: StrPath | bytes, mode: str = "r"):
        self._name = name
        self._mode = mode
        self._file: IO[Any] | None = None  # pyright: ignore[reportExplicitAny] - text or bytes

    @property
    def name(self) -> str:
        """Its path."""
        return os.fsdecode(self._name)

    @property
    def mode(self) -> str:
        """The mode it was made with."""
        return self._mode

    def _open(self) -> IO[Any]:  # pyright: ignore[reportExplicitAny] - text or bytes
        if self._file is None:
            mode = self._mode.replace("b", "")
            if mode not in MODES:
                raise errors.InvalidArgumentError(
                    None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
                )
            is_text = "b" not in self._mode
            encoding, newline = ("utf-8", "\n") if is_text else (None, None)
            with translated(self.name):
                self._file = open(  # noqa: SIM115 - closed by `close`
                    local_path(self._name),
                    mode if is_text else f"{mode}b",
                    encoding=encoding,
                    newline=newline,
                )
        return self._file

    def _readable(self) -> IO[Any]:  # pyright: ignore[reportExplicitAny] - text or bytes
        is_known = self._mode.replace("b", "") in MODES
        if is_known and not any(letter in self._mode for letter in "r+"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        return self._open()

    def read(self, n: int = -1) -> str | bytes:
        """The next `n` characters or bytes, all that are left by default."""
        with translated(self.name):
            return cast("str | bytes", self._readable().read(n))

    def readline(self) -> str | bytes:
        """The next line with its end; empty at the end of the file."""
        return cast("str | bytes", self._readable().readline())

    def readlines(self) -> list[str | bytes]:
        """All lines that are left, with their ends."""
        return cast("list[str | bytes]", self._readable().readlines())

    def write(self, file_content: str | bytes) -> None:
        """Appends text or bytes to what was written."""
        if not any(letter in self._mode for letter in "wa+"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        file = self._open()
        if "b" in self._mode:
            file.write(file_content.encode() if isinstance(file_content, str) else file_content)
        else:
            file.write(file_content.decode() if isinstance(file_content, bytes) else file_content)

    def seek(
        self, offset: int | None = None, whence: int = os.SEEK_SET, position: int | None = None
    ) -> None:
        """Goes on elsewhere; `position` is an old name of `offset`.

        Raises TypeError without an offset, InvalidArgumentError for another `whence`.
        """
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            words = f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            raise errors.InvalidArgumentError(None, None, words)
        file = self._readable()
        if whence == os.SEEK_CUR:
            offset += file.tell()
        elif whence == os.SEEK_END:
            offset += self.size()
        file.seek(offset)

    def tell(self) -> int:
        """Where reading goes on."""
        return self._readable().tell()

    def size(self) -> int:
        """How many bytes it has."""
        self.flush()
        return Stat(self._name).length

    def seekable(self) -> bool:
        """Whether `seek` works."""
        return True

    def flush(self) -> None:
        """Writes what was held back."""
        if self._file is not None and self._mode.replace("b", "") != "r":
            self._file.flush()

    def close(self) -> None:
        """Ends reading and writing; a later call opens the file again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[str | bytes]:
        return self

    def __next__(self) -> str | bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


FastGFile = Open = GFile


class FileStatistics(NamedTuple):
    """What `Stat` tells of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def Stat(filename: StrPath | bytes) -> FileStatistics:
    """Size, time of the last change in nanoseconds, and whether it is a folder.

    Raises NotFoundError when there is none.
    """
    with translated(os.fsdecode(filename)):
        status = os.stat(local_path(filename))
    is_directory = os.path.isdir(local_path(filename))
    return FileStatistics(status.st_size, status.st_mtime_ns, is_directory)


def Exists(filename: StrPath | bytes) -> bool:
    """Whether there is a file or folder of this name."""
    return os.path.exists(local_path(filename))


def IsDirectory(dirname: StrPath | bytes) -> bool:
    """Whether it is a folder."""
    return os.path.isdir(local_path(dirname))


def ListDirectory(dirname: StrPath | bytes) -> list[str]:
    """The names of what is in a folder; NotFoundError when it is none."""
    if not IsDirectory(dirname):
        words = f"Could not find directory {os.fsdecode(dirname)}"
        raise errors.NotFoundError(None, None, words)
    return sorted(os.listdir(local_path(dirname)))


def MkDir(dirname: StrPath | bytes) -> None:
    """Makes a folder, if there is none; NotFoundError when the one around it is missing."""
    if not IsDirectory(dirname):
        with translated(os.fsdecode(dirname)):
            os.mkdir(local_path(dirname))


def MakeDirs(dirname: StrPath | bytes) -> None:
    """Makes a folder and those around it, where there are none."""
    with translated(os.fsdecode(dirname)):
        os.makedirs(local_path(dirname), exist_ok=True)


def Remove(filename: StrPath | bytes) -> None:
    """Deletes a file."""
    if IsDirectory(filename):
        words = f"{os.fsdecode(filename)}; Is a directory"
        raise errors.FailedPreconditionError(None, None, words)
    with translated(os.fsdecode(filename)):
        os.remove(local_path(filename))


def DeleteRecursively(dirname: StrPath | bytes) -> None:
    """Deletes a file, or a folder and all that is in it; NotFoundError when there is none."""
    if not Exists(dirname):
        raise errors.NotFoundError(None, None, f"{os.fsdecode(dirname)} not found")
    if not IsDirectory(dirname):
        Remove(dirname)
        return
    with translated(os.fsdecode(dirname)):
        shutil.rmtree(local_path(dirname))


def _onto(
    function: Callable[[str, str], object],
    source: StrPath | bytes,
    target: StrPath | bytes,
    overwrite: bool,
) -> None:
    if not overwrite and Exists(target):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    with translated(os.fsdecode(source)):
        function(local_path(source), local_path(target))


def Copy(oldpath: StrPath | bytes, newpath: StrPath | bytes, overwrite: bool = False) -> None:
    """Copies a file; AlreadyExistsError where there is one and `overwrite` is not set."""
    _onto(shutil.copyfile, oldpath, newpath, overwrite)


def Rename(oldname: StrPath | bytes, newname: StrPath | bytes, overwrite: bool = False) -> None:
    """Gives a file another name; AlreadyExistsError where there is one and `overwrite` is not
    set.
    """
    _onto(os.replace, oldname, newname, overwrite)


def Glob(filename: StrPath | bytes | Iterable[StrPath | bytes]) -> list[str]:
    """The paths that fit a pattern, or one of several, in order."""
    is_one = isinstance(filename, (str, bytes, os.PathLike))
    patterns = [filename] if is_one else filename
    listed = cast("Iterable[StrPath | bytes]", patterns)
    return [path for pattern in listed for path in sorted(glob.glob(local_path(pattern)))]


def Walk(top: StrPath | bytes, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """(folder, names of folders in it, names of files in it), of `top` and all folders in it.

    With `in_order` a folder comes before those in it, else after them. Empty when there is none.
    """
    for folder, folders, files in os.walk(local_path(top), topdown=in_order):
        if in_order:
            folders.sort()
        yield folder, sorted(folders), sorted(files)
