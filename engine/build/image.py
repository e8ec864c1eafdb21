"""Code images: compiled kernels of one module in a file, and how they are found.

    python -m flatlite.engine.build conv pool      # builds what is missing of these, all by default
    python -m flatlite.engine.build "copy.copy(float32,float32)"    # what such a call needs
    python -m flatlite.engine.build --package      # the images a wheel has (`make wheel`)

A file holds a fixed head, a header of text lines (declarations of all kernels of the module,
offsets of the compiled specialisations, the outside functions they call) and, at a page boundary,
the code. The images of a package and those `flatlite warmup` builds are of whole modules. What a
program lacks is built alone (driver.py), in a further image of the module; a process uses all it
finds, those in the package first, then those in the user's cache folder. Nothing here imports
numba.
"""

from __future__ import annotations

import contextlib
import os
import struct
from _thread import allocate_lock
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from . import cache, target
from .target import PAGE

if TYPE_CHECKING:
    from typing import TypedDict

    from .checked_images import CheckedImages
    from .declaration import Declaration, DescribedSets
    from .linker import Flat

    class Header(TypedDict):
        """What the header of an image says."""

        kernels: Kernels
        exports: dict[str, int]
        slots: dict[str, int]


Stamp: TypeAlias = "tuple[int, int, int, int]"
"""inode, size, and times of change of a file"""
File: TypeAlias = "tuple[str, Stamp]"
"""path and stamp of a file"""
Kernels: TypeAlias = "dict[str, tuple[str, DescribedSets]]"
"""kernel -> what `Declaration.restore` takes"""

MAGIC, FORMAT = b"flatlite", cache.FORMAT
_HEAD = struct.Struct("<8sIIQQ32s")  # magic, format, header size, code offset, code size, digest
_START = 1 << 15  # bytes of a file in which its header lies
_READING = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_images: dict[str, Image] = {}
_lock = allocate_lock()


class ImageError(Exception):
    """An image file that is damaged, of another format, or made for another system."""


class Image:
    """The kernels of one module, as far as they are compiled.

    Attributes:
        kernels: what `Declaration.restore` takes, by kernel name.
        addresses: of the compiled code, by `Declaration.key`.
        files: where that was read from, by the same keys: the path, and what `adopt` knows the
            very file by. Code that came from no file is not there.
        searched: whether all that is kept of the module was looked for.
    """

    def __init__(
        self,
        kernels: Kernels,
        addresses: Mapping[str, int],
        owner: object = None,
        file: File | None = None,
    ) -> None:
        self.kernels, self.addresses, self.searched = kernels, dict(addresses), False
        self.files = dict.fromkeys(addresses, file) if file else {}
        self._declarations: dict[str, Declaration] = {}
        self._owners = [owner]  # whatever must live as long as the code

    def __repr__(self) -> str:
        return f"Image({', '.join(self.kernels)})"

    @property
    def complete(self) -> bool:
        """Whether all specialisations of all kernels are there."""
        sizes = (
            prod(len(names) for _, names in sets.values()) for _, sets in self.kernels.values()
        )
        return sum(sizes) <= len(self.addresses)

    def add(self, other: Image) -> None:
        """Takes what another image has of the same module and this one has not."""
        known = self.addresses
        self.files.update((key, file) for key, file in other.files.items() if key not in known)
        self.addresses = {**other.addresses, **known}
        self._owners += other._owners

    def declaration(self, name: str) -> Declaration | None:
        """The declaration of a kernel; None when there is no such kernel."""
        declaration = self._declarations.get(name)
        if declaration is None and name in self.kernels:
            from .declaration import Declaration  # serialized programs need none

            declaration = Declaration.restore(name, *self.kernels[name])
            self._declarations[name] = declaration
        return declaration

    def has(self, request: str) -> bool:
        """Whether the code is there that a request is for (declaration.py).

        True for one that is for none: it has to be found out elsewhere what is wrong with it.
        """
        from .declaration import named

        declaration = self.declaration(request.partition("(")[0])
        key = named(request, {declaration.name: declaration} if declaration else {})
        return key is None or key in self.addresses


def available(module: str) -> Image | None:
    """What there is of a kernel module; None when nothing was built yet.

    Raises ValueError when there is no such module.
    """
    image = _images.get(module)
    if image is None or not (image.searched or image.complete):
        with _lock:
            image = _search(module)
    return image


def modules() -> list[str]:
    """The engine's modules whose code this process has asked for."""
    return sorted(_images.keys() & {*cache.modules()})  # a program may have kernels of its own


def files(module: str) -> Mapping[str, File]:
    """The files that the code of a module was read from, by key (`Image.files`)."""
    image = _images.get(module)
    return {} if image is None else image.files


def missing(requests: Iterable[str]) -> list[str]:
    """Those of the requests whose code has to be built first.

    A request is a module's name, for all of it, or `module.` and what `Image.has` takes.
    """
    return [request for request in dict.fromkeys(requests) if not _is_there(request)]


def _is_there(request: str) -> bool:
    module, _, selected = request.partition(".")
    image = available(module)
    if image is None:
        return False
    return image.has(selected) if selected else image.complete


def search_again(requests: Iterable[str]) -> None:
    """Makes what others have built since be seen."""
    for module in {request.partition(".")[0] for request in requests}:
        if module in _images:
            _images[module].searched = False


def adopt(module: str, path: str, stamp: Stamp) -> Image:
    """What there is of a kernel module with the file that is known to be a right one.

    Its digest was checked by the process that `stamp` is of, and is not again while the stamp, the
    file's inode, size and times of change, is the same.
    Raises LookupError when it is gone or damaged.
    """
    with _lock:
        image = _images.get(module)
        if image is None or (path, stamp) not in image.files.values():
            try:
                image = _merge(module, read(path, stamp))
            except (OSError, ImageError) as error:
                raise LookupError(str(error)) from error
    return image


def provide(module: str, image: Image) -> Image:
    """Makes `image` be used for `module` in this process, beside what is there."""
    with _lock:
        return _merge(module, image)


def complete(module: str) -> Image | None:
    """The image of a kernel module, where all of it is in this process."""
    image = _images.get(module)
    return image if image is not None and image.complete else None


def _merge(module: str, image: Image) -> Image:
    known = _images.setdefault(module, image)
    if known is not image:
        known.add(image)
    return known


def _search(module: str) -> Image | None:
    """What is kept of a module and sound, with what is known of it already.

    A file that is damaged, or that cannot be read, is as good as none.
    """
    image = _images.get(module)
    for path in _candidates(module):
        if image is None or all(path != known for known, _ in image.files.values()):
            with contextlib.suppress(OSError, ImageError):
                image = _merge(module, read(path))
        if image is not None and image.complete:
            break
    if image is not None:
        image.searched = True
    return image


def _candidates(module: str) -> Iterator[str]:
    try:
        source = cache.source_digest(module)
    except (FileNotFoundError, LookupError):
        known = ", ".join(cache.modules())
        raise ValueError(f"no kernel module '{module}'; there are {known}") from None
    if os.path.isdir(cache.PACKAGED):
        for aim in target.runnable():
            yield os.path.join(cache.PACKAGED, cache.packaged_name(module, aim, source))
    if target.supports_images():
        yield from cache.cached(module, source)


def read(path: str, stamp: Stamp | None = None) -> Image:
    """The image in a file; one with `stamp`, or that of `checked_images`, is known to be sound.

    Raises ImageError when its bytes are not those that were written, FileNotFoundError.
    """
    from ..run import loader

    descriptor = os.open(path, _READING)
    try:
        status = os.fstat(descriptor)
        current = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        checked = None if current == stamp else _checked()
        known = current == stamp or (checked is not None and checked.has(path, current))
        data = _read_all(descriptor, min(status.st_size, _START if known else status.st_size))
        header, offset, size = _parts(data) if known else _check(path, data)
        base = loader.map_file(descriptor, offset, size, header["slots"])
    except loader.LoadError as error:
        raise ImageError(f"{path}: {error}") from None
    finally:
        os.close(descriptor)
    if checked is not None and not known:
        checked.add(path, current)
    return _image(header, base, (path, current))


def _checked() -> CheckedImages | None:
    from .checked_images import checked_images  # a plan that was stored knows its images

    return checked_images()


def is_sound(path: str) -> bool:
    """Whether an image file is there and its bytes are those that were written."""
    try:
        descriptor = os.open(path, _READING)
        try:
            _check(path, _read_all(descriptor, os.fstat(descriptor).st_size))
        finally:
            os.close(descriptor)
    except (OSError, ImageError):
        return False
    return True


def in_memory(flat: Flat, kernels: Kernels, symbols: Mapping[str, str]) -> Image:
    """The image of freshly linked code, without a file."""
    from ..run import loader

    header = _parse(_header(flat, kernels, symbols))
    return _image(header, loader.map_bytes(flat.code, header["slots"]))


def pack(flat: Flat, kernels: Kernels, symbols: Mapping[str, str]) -> bytes:
    """The bytes of an image file."""
    header = _header(flat, kernels, symbols)
    offset = -(-(_HEAD.size + len(header)) // PAGE) * PAGE
    if offset > _START:
        raise ValueError(f"a module's kernels need at most {_START} bytes of header, got {offset}")
    body = header + bytes(offset - _HEAD.size - len(header)) + flat.code
    plain = _HEAD.pack(MAGIC, FORMAT, len(header), offset, len(flat.code), bytes(32))
    return plain[:-32] + cache.digest(plain, body) + body


def _header(flat: Flat, kernels: Kernels, symbols: Mapping[str, str]) -> bytes:
    """Lines of fields: kernels and their sets of dtypes, exported keys, functions from outside."""
    lines: list[tuple[str, ...]] = []
    for name, (text, sets) in sorted(kernels.items()):
        marked = [
            f"{letter}{'~' if is_widths else '='}{','.join(dtypes)}"
            for letter, (is_widths, dtypes) in sorted(sets.items())
        ]
        lines.append(("kernel", name, " ".join(text.split()), *marked))
    lines += [("export", key, str(flat.exports[symbols[key]])) for key in sorted(symbols)]
    lines += [("slot", symbol, str(slot)) for symbol, slot in sorted(flat.slots.items())]
    return "\n".join("\t".join(fields) for fields in lines).encode()


def _parse(header: bytes) -> Header:
    """What `_header` has written."""
    parsed: Header = {"kernels": {}, "exports": {}, "slots": {}}
    for line in bytes(header).decode().splitlines():
        kind, name, value, *sets = line.split("\t")
        if kind == "kernel":
            choices = {s[0]: (s[1] == "~", s[2:].split(",")) for s in sets}
            parsed["kernels"][name] = value, choices
        else:
            parsed["exports" if kind == "export" else "slots"][name] = int(value)
    return parsed


def _read_all(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = os.read(descriptor, size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _check(path: str, data: bytes) -> tuple[Header, int, int]:
    if len(data) < _HEAD.size:
        raise ImageError(f"{path} is too short for an image")
    magic, version, _, offset, size, digest = _HEAD.unpack_from(data)
    if (magic, version) != (MAGIC, FORMAT):
        raise ImageError(f"{path} is not an image of format {FORMAT}")
    plain = data[: _HEAD.size - 32] + bytes(32)
    if cache.digest(plain, memoryview(data)[_HEAD.size :]) != digest:
        raise ImageError(f"{path} is damaged")
    if offset % PAGE or size % PAGE or len(data) != offset + size:
        raise ImageError(f"{path} has a wrong layout")
    return _parts(data)


def _parts(data: bytes) -> tuple[Header, int, int]:
    """The header of an image file, where its code begins, and how much that is."""
    _, _, length, offset, size, _ = _HEAD.unpack_from(data)
    return _parse(data[_HEAD.size : _HEAD.size + length]), offset, size


def _image(header: Header, base: int, file: File | None = None) -> Image:
    addresses = {key: base + at for key, at in header["exports"].items()}
    return Image(header["kernels"], addresses, file=file)


def _renew_lock() -> None:
    """In a forked child: the thread of the parent that held the lock is not here."""
    global _lock
    _lock = allocate_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
