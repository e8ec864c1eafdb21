"""What a variadic C function was called with, formatted as printf does.

ctypes has no variadic callbacks. Where arguments lie is fixed by the calling convention, though: a
function that takes all registers of both kinds, and some of the stack, is given them all.
"""

from __future__ import annotations

import ctypes
import platform
import re
import struct
import sys
from collections.abc import Sequence

_N_INTEGERS = 4 if platform.machine() in ("x86_64", "AMD64") else 6
"""Registers for integers behind the two of the context and the format."""
_N_FLOATS = 8
_N_STACK = 16
_ON_STACK = sys.platform == "darwin" and platform.machine() == "arm64"
"""Whether all variadic arguments lie on the stack."""
VARIADIC = (
    *(ctypes.c_uint64,) * _N_INTEGERS,
    *(ctypes.c_double,) * _N_FLOATS,
    *(ctypes.c_uint64,) * _N_STACK,
)
"""The types behind a function's two fixed arguments."""

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|j|z|t)?(?P<kind>[diouxXcsfFeEgGaAp%])"
)
_BITS = {"hh": 8, "h": 16, None: 32}


class _Arguments:
    """The arguments of one call, in order."""

    def __init__(self, words: Sequence[int | float]) -> None:
        integers = [int(word) for word in words[:_N_INTEGERS]]
        floats = [float(word) for word in words[_N_INTEGERS : _N_INTEGERS + _N_FLOATS]]
        self._stack = iter([int(word) for word in words[_N_INTEGERS + _N_FLOATS :]])
        self._integers = iter([] if _ON_STACK else integers)
        self._floats = iter([] if _ON_STACK else floats)

    def integer(self, bits: int = 32, *, signed: bool = True) -> int:
        """The next one as an integer of so many bits."""
        word = next(self._integers, None)
        value = (next(self._stack) if word is None else word) & ((1 << bits) - 1)
        return value - (1 << bits) if signed and value >> (bits - 1) else value

    def floating(self) -> float:
        """The next one as a double."""
        value = next(self._floats, None)
        return (
            struct.unpack("d", struct.pack("Q", next(self._stack)))[0] if value is None else value
        )


def formatted(template: bytes, words: Sequence[int | float]) -> str:
    """The text of a printf format.

    Args:
        template: the format.
        words: what the VARIADIC arguments of the callback were.
    """
    arguments = _Arguments(words)
    text = template.decode("utf-8", "replace")
    try:
        return _CONVERSION.sub(lambda conversion: _converted(conversion, arguments), text)
    except StopIteration:  # more arguments than are looked at
        return text


def _converted(conversion: re.Match[str], arguments: _Arguments) -> str:
    flags, kind, length = conversion["flags"], conversion["kind"], conversion["length"]
    if kind == "%":
        return "%"
    width, precision = (
        arguments.integer() if conversion[part] == "*" else conversion[part]
        for part in ("width", "precision")
    )
    if kind == "s":
        value = _string(arguments.integer(64, signed=False), precision)
    elif kind == "c":
        return f"%{flags}{width or ''}c" % chr(arguments.integer() & 0xFF)
    elif kind == "p":
        return f"%{flags}{width or ''}s" % hex(arguments.integer(64, signed=False))
    elif kind in "aA":
        return arguments.floating().hex()
    elif kind in "fFeEgG":
        value = arguments.floating()
    else:
        value = arguments.integer(_BITS.get(length, 64), signed=kind in "di")
    point = "" if precision is None else f".{precision}"
    return f"%{flags}{'' if width is None else width}{point}{kind}" % value


def _string(address: int, precision: int | str | None) -> str:
    """The C string at an address, which need not end where its precision says how long it is."""
    if not address:
        return "(null)"
    if precision is None or int(precision or 0) < 0:
        return ctypes.string_at(address).decode("utf-8", "replace")
    characters = (ctypes.c_char * int(precision or 0)).from_address(address)
    return characters.value.decode("utf-8", "replace")
