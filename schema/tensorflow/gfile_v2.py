"""`tf.io.gfile`: what schema/tensorflow/gfile.py does, under its newer names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from . import gfile
from .gfile import FileStatistics

if TYPE_CHECKING:
    from _typeshed import StrPath

    Path = StrPath | bytes


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copies a file; AlreadyExistsError where one is in its place, unless `overwrite`."""
    gfile.Copy(src, dst, overwrite)


def exists(path: Path) -> bool:
    """Whether there is a file or folder."""
    return gfile.Exists(path)


def glob(pattern: Path | Iterable[Path]) -> list[str]:
    """The paths that a pattern, or one of several, matches."""
    return gfile.Glob(pattern)


def isdir(path: Path) -> bool:
    """Whether there is a folder."""
    return gfile.IsDirectory(path)


def join(path: str, *paths: str) -> str:
    """Parts of a path as one."""
    parts = [path, *paths]
    result = parts[0]
    for part in parts[1:]:
        absolute = part.startswith("/") or "://" in part
        result = part if absolute or not result else f"{result.rstrip('/')}/{part}"
    return result


def listdir(path: Path) -> list[str]:
    """The names of what lies in a folder; NotFoundError without it."""
    return gfile.ListDirectory(path)


def makedirs(path: Path) -> None:
    """Makes a folder and those it lies in."""
    gfile.MakeDirs(path)


def mkdir(path: Path) -> None:
    """Makes a folder; NotFoundError where there is none that it can lie in."""
    gfile.MkDir(path)


def remove(path: Path) -> None:
    """Removes a file; NotFoundError without it."""
    gfile.Remove(path)


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Moves a file; AlreadyExistsError where one is in its place, unless `overwrite`."""
    gfile.Rename(src, dst, overwrite)


def rmtree(path: Path) -> None:
    """Removes a folder and what lies in it."""
    gfile.DeleteRecursively(path)


def stat(path: Path) -> FileStatistics:
    """Size and time of a file; NotFoundError without it."""
    return gfile.Stat(path)


def walk(
    top: Path, topdown: bool = True, onerror: Callable[[Exception], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every folder under `top`, with the names of the folders and files in it."""
    try:
        yield from gfile.Walk(top, topdown)
    except OSError as error:
        if onerror is not None:
            onerror(error)
