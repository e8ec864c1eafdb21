"""Where code images lie and what they are called.

An image's name holds a digest of all that its code depends on: the kernel file, the engine files it
is compiled with, the compilers' versions and the processor. What is found under the right name is
therefore right, and what has become stale is never found.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from . import target

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from .source_index import Digest, SourceIndex
    from .target import Target

try:
    from _blake2 import blake2b  # what hashlib has, without its 3 ms for OpenSSL
except ImportError:
    from hashlib import blake2b

ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGED = os.path.join(ENGINE, "images")
KERNEL_FOLDERS = (
    "kernels/elementwise",
    "kernels/float32",
    "kernels/int16",
    "kernels/int8",
    "kernels/movement",
    "kernels/plain",
    "kernels/recurrent",
    "kernels/reduction",
    "run/native",
)
"""The folders of kernel modules, seen from engine/."""
FORMAT = 3
"""Of image files; what has another is not found."""
_COMPILING = (
    "build/compiler.py",
    "build/linker.py",
)  # what makes code beside the kernel file and its imports
SETTLED = 3_000_000_000  # nanoseconds after which no change of a file hides in a tick of its clock
_TICK = 20_000_000  # nanoseconds; the clock of Linux's file systems goes on every 10 ms at least
_MAX_STATES = 16  # states of one module whose images stay: other processors, other versions
_sources: dict[str, tuple[bytes, list[str]]] = {}
_listed: dict[str, frozenset[str]] = {}  # the names in folders of the engine
_versions: list[bytes] = []
_names: dict[tuple[str, int], list[str]] = {}  # in the cache folder as it was at a time


def modules() -> list[str]:
    """The names of all kernel modules, sorted."""
    return sorted(_paths())


def path_of(module: str) -> str:
    """The file of a kernel module, seen from engine/; LookupError when there is none."""
    paths = _paths()
    if module not in paths:
        raise LookupError(f"there is no kernel module '{module}'")
    return paths[module]


@cache
def _paths() -> dict[str, str]:
    """The files of all kernel modules by their names, which are the same in no two folders."""
    paths: dict[str, str] = {}
    for group in KERNEL_FOLDERS:
        for name in os.listdir(f"{ENGINE}/{group}"):
            if name.endswith(".py") and not name.startswith("_"):
                paths[name[:-3]] = f"{group}/{name}"
    return paths


def digest(*parts: ReadableBuffer) -> bytes:
    """A 32-byte digest of some bytes."""
    hash_ = blake2b(digest_size=32)
    for part in parts:
        hash_.update(part)
    return hash_.digest()


def location() -> str | None:
    """Where the user's cache folder is or would be; None for a user without a home."""
    path = os.path.expanduser(os.environ.get("FLATLITE_CACHE", ""))
    if path:
        return os.path.abspath(path)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "flatlite") if os.path.isabs(base) else None


def folder(create: bool = False) -> str | None:
    """The user's cache folder; None when there is none and none is to be made.

    Raises RuntimeError when others could write to it: what lies there is executed.
    Raises OSError when it cannot be made.
    """
    path = location()
    if path is not None:
        return private(path, create)
    if create:
        raise FileNotFoundError(errno.ENOENT, "there is no home folder", "~")
    return None


def private(path: str, create: bool = False) -> str | None:
    """`path` when it is a folder of this user's alone.

    None when there is none, or none this user can reach, and none is made.
    Raises RuntimeError when others could write to it, OSError when it cannot be made.
    """
    if create:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # it may be the cache folder
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
    try:
        status = os.lstat(path)
    except OSError:  # somebody else's home (su, sudo) may be out of reach
        if create:
            raise
        return None
    _check_private(path, status)
    return path


def _check_private(path: str, status: os.stat_result) -> None:
    executed, remedy = "and the code in it would be executed", "name a folder of your own in"
    if stat.S_ISLNK(status.st_mode):
        wrong = (
            "is a symbolic link, and others might change where it leads; name the folder itself in"
        )
    elif not stat.S_ISDIR(status.st_mode):
        wrong = "is a file; name a folder in"
    elif os.name != "posix":
        return
    elif status.st_uid != os.geteuid():
        owners = f"user {status.st_uid}, not to you ({os.geteuid()})"
        wrong = f"belongs to {owners}, {executed}; {remedy}"
    elif status.st_mode & 0o077:
        mode = f"(mode {stat.S_IMODE(status.st_mode):o})"
        wrong = f"is open to others {mode}, {executed}; do `chmod 700 {path}`, or {remedy}"
    else:
        return
    raise RuntimeError(f"the cache folder {path} {wrong} FLATLITE_CACHE")


def packaged_name(module: str, aim: Target, source: bytes | None = None) -> str:
    """The file name of an image shipped with the package for the target `aim`.

    `source` is the module's `source_digest`, where that is known.
    """
    return f"{module}-{aim.name}-{(source or source_digest(module)).hex()[:24]}.image"


def cached_name(
    module: str, selected: Iterable[str] | None = None, source: bytes | None = None
) -> str:
    """The file name of an image built here: of all of a module, or of the kernels in `selected`."""
    source = source or source_digest(module)
    state = digest(source, _environment()).hex()[:24]
    if selected is None:
        return f"{module}-{state}.image"
    return (
        f"{module}-{state}-{digest(*(f'{w} '.encode() for w in sorted(selected))).hex()[:16]}.image"
    )


def cached(module: str, source: bytes | None = None) -> list[str]:
    """The paths of the images built here that hold code of a module, that of all of it first."""
    home, complete = folder(), cached_name(module, source=source)
    if home is None:
        return []
    state = complete.removesuffix(".image")
    names = [name for name in _names_in(home) if name.startswith(state)]
    names = [name for name in sorted(names, key=len) if name.endswith(".image")]
    return [os.path.join(home, name) for name in names]


def _names_in(home: str) -> list[str]:
    """The names in the cache folder, which is read again only once it has changed.

    What changes it within `_TICK` of a change before may be overlooked, on file systems with a
    coarser clock: an image that another process adds is built here as well then.
    """
    changed = os.stat(home).st_mtime_ns
    names = _names.get((home, changed))
    if names is None:
        has_settled = time.time_ns() - changed >= _TICK
        names = os.listdir(home)
        _names.clear()
        if has_settled:
            _names[home, changed] = names
    return names


def source_digest(module: str) -> bytes:
    """The digest of a kernel file and of every engine file its code depends on."""
    return _known_digest(module)[0]


def sources(module: str) -> list[str]:
    """The paths of these files."""
    return [f"{ENGINE}/{path}" for path in _known_digest(module)[1]]


@lru_cache(4096)
def stamp(path: str) -> tuple[int, int] | None:
    """Size and time of change of a source; None where it is none.

    The same at each call: a process keeps the code it began with.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _known_digest(module: str) -> Digest:
    index = _source_index(ENGINE, location())
    if index is None:
        return _digest_of_sources(module)
    known = index.get(module)
    if known is None:
        index.update({name: _digest_of_sources(name) for name in {*modules(), module}}, SETTLED)
        known = index.get(module)
        assert known is not None
    return known


@cache
def _source_index(engine: str, _home: str | None) -> SourceIndex | None:
    """What other processes know of these sources; None where there is no cache folder."""
    try:
        home = folder()
    except (OSError, RuntimeError):
        home = None
    if home is None:
        return None
    from .source_index import SourceIndex  # a plan that was stored knows its images

    key = digest(repr((FORMAT, _COMPILING, KERNEL_FOLDERS, engine)).encode()).hex()
    return SourceIndex(home, engine, key, stamp)


def _digest_of_sources(module: str) -> Digest:
    digests: dict[str, bytes] = {}
    pending = [path_of(module), *_COMPILING]
    while pending:
        path = pending.pop()
        if path not in digests:
            digests[path], needed = _source(path)
            pending.extend(needed)
    paths = sorted(digests)
    return digest(bytes([FORMAT]), *(digests[path] for path in paths)), paths


def _source(path: str) -> tuple[bytes, list[str]]:
    """The digest of one engine file, and the engine files it imports."""
    known = _sources.get(path)
    if known is None:
        with open(f"{ENGINE}/{path}", "rb", buffering=0) as file:
            text = file.read()
        folders = path.split("/")[:-1]
        needed = [n for line in text.split(b"\nfrom .")[1:] for n in _imported(folders, line)]
        known = _sources[path] = digest(text), [n for n in needed if _is_source(n)]
    return known


def _is_source(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    names = _listed.get(folder)
    if names is None:
        try:
            names = frozenset(os.listdir(f"{ENGINE}/{folder}"))
        except (FileNotFoundError, NotADirectoryError):
            names = frozenset[str]()
        _listed[folder] = names
    return name in names


def _imported(folders: Sequence[str], text: bytes) -> list[str]:
    """The engine's files that an import may mean in a file in `folders`.

    `text` is what follows `from .`.
    """
    name, _, names = text.partition(b" import ")
    above = len(name) - len(name.lstrip(b"."))
    if above > len(folders):
        return []  # outside of engine/
    start = "/".join([*folders[: len(folders) - above], *name.lstrip(b".").decode().split(".")])
    start = start.rstrip("/")
    names = names[1:].partition(b")") if names.startswith(b"(") else names.partition(b"\n")
    words = names[0].decode().replace(",", " ").split()
    return [f"{start}.py", *(f"{start}/{word}.py".lstrip("/") for word in words)]


def _home(package: str) -> str:
    """The folder of a package, without importing it."""
    for folder in sys.path:  # where nearly all packages are, and no import machinery is needed
        if os.path.isfile(os.path.join(folder, package, "_version.py")):
            return os.path.join(folder, package)
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"compiling kernels needs {package}; install it with pip")
    return os.path.dirname(spec.origin)


@cache
def _environment() -> bytes:
    """What compiled code depends on beside its sources."""
    return _compilers() + "\n".join(target.processor()).encode()


def _compilers() -> bytes:
    """Bytes that change with the version of numba and llvmlite, without importing them."""
    if not _versions:
        texts: list[bytes] = []
        for package in ("numba", "llvmlite"):
            with open(os.path.join(_home(package), "_version.py"), "rb") as file:
                texts.append(file.read())
        _versions.append(digest(*texts))
    return _versions[0]


def prune(module: str, complete: bool = False) -> None:
    """Removes images of all but the newest states of a module, and what a killed build has left.

    When its image is of the complete module, those of parts of it in the same state go, too.
    """
    image = re.compile(rf"({re.escape(module)}-[0-9a-f]{{24}})(-[0-9a-f]{{16}})?\.image")
    part = re.compile(rf"\.{image.pattern}\..*\.tmp")
    states: dict[str, list[tuple[int, str, bool]]] = {}
    old: list[str] = []
    with os.scandir(folder()) as entries:
        for entry in entries:
            if match := image.fullmatch(entry.name):
                files = states.setdefault(match[1], [])
                files.append((entry.stat().st_mtime_ns, entry.path, bool(match[2])))
            elif part.fullmatch(entry.name):
                old.append(entry.path)
    for files in sorted(states.values(), key=max)[:-_MAX_STATES]:
        old += [path for _, path, _ in files]
    if complete:
        current = states.get(cached_name(module).removesuffix(".image"), [])
        old += [path for _, path, is_part in current if is_part]
    for path in old:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
