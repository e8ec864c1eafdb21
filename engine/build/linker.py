"""Turns a compiled object file (ELF, x86-64, position independent) into a flat image.

A flat image is code and its constants, to be mapped read and execute, followed by one page of
addresses, to be mapped apart. All references inside are resolved here; a call to a function outside
goes to a small jump through that function's address.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .target import PAGE

_ALLOC, _WRITE = 2, 1
_PROGBITS, _SYMTAB, _RELA, _NOBITS = 1, 2, 4, 8
_UNDEFINED = 0
_PC32, _PLT32, _GOTPCREL, _GOTPCRELX, _REX_GOTPCRELX = 2, 4, 9, 41, 42
_DIRECT, _THROUGH_SLOT = {_PC32, _PLT32}, {_GOTPCREL, _GOTPCRELX, _REX_GOTPCRELX}

_LIBM = re.findall(
    r"\w+",
    """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 lrint lround modf
    nearbyint nextafter pow remainder rint round roundeven sin sincos sinh sqrt tan tanh tgamma
    trunc""",
)
EXTERNALS = frozenset(
    ["memcpy", "memmove", "memset", "memcmp", "bcmp", "clock_gettime", "sched_yield", "syscall"]
    + _LIBM
    + [name + "f" for name in _LIBM]
)
"""The functions of libc and libm that kernels may call."""


class LinkError(Exception):
    """An object file that cannot become an image; `where` is the symbol at fault, if one is."""

    def __init__(self, message: str, where: str = "") -> None:
        super().__init__(message)
        self.where = where


@dataclass
class Flat:
    """A flat image: whole pages of code, offsets of what it exports and of what it needs."""

    code: bytes
    exports: dict[str, int]  # symbol -> offset
    slots: dict[str, int]  # external function -> number of its address in the page after the code


@dataclass
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


class _Reference(NamedTuple):
    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


def link(data: bytes, exports: Iterable[str]) -> Flat:
    """The flat image of an object file with the given symbols exported.

    Raises LinkError when the object has data to write to or calls what EXTERNALS does not list.
    """
    sections = _sections(data)
    code, offsets = _lay_out(data, sections)
    symbols = _symbols(data, sections)
    externals = sorted({name for name, section, _ in symbols if section == _UNDEFINED and name})
    for name in externals:
        if name not in EXTERNALS:
            where = _user(data, sections, offsets, symbols, name)
            raise LinkError(f"calls {name}, which is not a function of libc or libm", where)
    slots = {name: i for i, name in enumerate(externals)}
    if 8 * len(slots) > PAGE:
        raise LinkError(f"calls {len(slots)} external functions, at most {PAGE // 8} are possible")
    jumps: dict[str, int] = {}
    for name in externals:
        code += bytes(-len(code) % 16)
        jumps[name] = len(code)
        code += b"\xff\x25" + bytes(6)  # jmp *offset(%rip), the offset follows below
    code += bytes(-len(code) % PAGE or (0 if code else PAGE))
    for name, start in jumps.items():
        struct.pack_into("<i", code, start + 2, len(code) + 8 * slots[name] - (start + 6))
    for section, offset, kind, symbol, addend in _references(data, sections, offsets):
        target = _target_offset(symbols[symbol], kind, offsets, jumps, slots, len(code))
        here = offsets[section] + offset
        struct.pack_into("<i", code, here, target + addend - here)
    defined = {n: offsets[section] + value for n, section, value in symbols if section in offsets}
    return Flat(bytes(code), {name: defined[name] for name in exports}, slots)


def _sections(data: bytes) -> list[_Section]:
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != 62:
        raise LinkError("is not an x86-64 ELF object")
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    raw = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    sections: list[_Section] = []
    for name, kind, flags, _, offset, length, to, info, align, _ in raw:
        label = _string(data, raw[names][4] + name)
        sections.append(_Section(label, kind, flags, offset, length, to, info, max(align, 1)))
    return sections


def _lay_out(data: bytes, sections: Sequence[_Section]) -> tuple[bytearray, dict[int, int]]:
    """The loaded sections one after the other, and where each begins."""
    code = bytearray()
    offsets: dict[int, int] = {}
    for i, section in enumerate(sections):
        if not section.flags & _ALLOC or section.name == ".eh_frame" or not section.size:
            continue
        if section.flags & _WRITE:
            raise LinkError(f"has data to write to or with addresses in it ({section.name})")
        if section.kind not in (_PROGBITS, _NOBITS):
            continue
        code += bytes(-len(code) % max(section.align, 64))
        offsets[i] = len(code)
        if section.kind == _NOBITS:
            code += bytes(section.size)
        else:
            code += data[section.offset : section.offset + section.size]
    return code, offsets


def _symbols(data: bytes, sections: Sequence[_Section]) -> list[_Symbol]:
    """The symbols of an object file."""
    table = next(s for s in sections if s.kind == _SYMTAB)
    names = sections[table.link].offset
    symbols: list[_Symbol] = []
    for position in range(table.offset, table.offset + table.size, 24):
        name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, position)
        symbols.append(_Symbol(_string(data, names + name), section, value))
    return symbols


def _references(
    data: bytes, sections: Sequence[_Section], offsets: Mapping[int, int]
) -> Iterator[_Reference]:
    """Each place that names a symbol."""
    for section in sections:
        if section.kind != _RELA or section.info not in offsets:
            continue
        for position in range(section.offset, section.offset + section.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", data, position)
            yield _Reference(section.info, offset, info & 0xFFFFFFFF, info >> 32, addend)


def _target_offset(
    symbol: _Symbol,
    kind: int,
    offsets: Mapping[int, int],
    jumps: Mapping[str, int],
    slots: Mapping[str, int],
    end: int,
) -> int:
    """Where a reference points, as an offset in the image that is `end` bytes long."""
    name, section, value = symbol
    if kind in _DIRECT and section in offsets:
        return offsets[section] + value
    if kind in _DIRECT and name in jumps:
        return jumps[name]
    if kind in _THROUGH_SLOT and name in slots:
        return end + 8 * slots[name]
    raise LinkError(f"refers to '{name}' in a way that cannot be resolved (type {kind})")


def _user(
    data: bytes,
    sections: Sequence[_Section],
    offsets: Mapping[int, int],
    symbols: Sequence[_Symbol],
    name: str,
) -> str:
    """The last symbol that begins before the first reference to `name`."""
    for section, offset, _, symbol, _ in _references(data, sections, offsets):
        if symbols[symbol][0] == name:
            before = [
                (v, n)
                for n, defined_in, v in symbols
                if defined_in == section and v <= offset and n
            ]
            return max(before, default=(0, ""))[1]
    return ""


def _string(data: bytes, position: int) -> str:
    return data[position : data.index(b"\0", position)].decode()
