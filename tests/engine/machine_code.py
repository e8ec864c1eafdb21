"""Compares the machine code of kernels between two checkouts, to show that a change leaves it be.

    python tests/engine/machine_code.py OTHER_CHECKOUT [MODULE ...] [OLD=NEW ...]

Each module is compiled to an object file for this processor, or the one `FLATLITE_TARGET` names,
and the code of each kernel and microkernel is compared byte for byte, before linking. OLD=NEW says
that OTHER_CHECKOUT has a module, or part of the name of a function, that is called NEW here.
Without modules all are compared. Prints what differs and ends with 1 if anything does.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
_CODE = 4  # the flag of a section that is executed
_PREFIXES = ("flatlite_microkernel_", "flatlite_piece_")


def main(arguments: list[str]) -> int:
    """Runs the command; the exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    other, *names = arguments
    renamed = [(old, new) for old, _, new in (n.partition("=") for n in names) if new]
    modules = [name for name in names if "=" not in name] or _run(HERE, ["--modules"])
    status = 0
    for module in modules:
        old = next((old for old, new in renamed if new == module), module)
        differing, n_functions = compare(Path(other), module, old, renamed)
        for name, what in differing:
            print(f"{module}.{name} {what}")
        print(f"{module}: {n_functions} functions, {len(differing)} differ", flush=True)
        status |= bool(differing)
    return status


def compare(other: Path, module: str, old: str, renamed) -> tuple[list[tuple[str, str]], int]:
    """What differs, as (function, how), and how many functions there are."""
    after, before = _run(HERE, ["--digests", module]), {}
    for name, code in _run(other, ["--digests", old]).items():
        if name not in after:
            for part, new in renamed:
                name = name.replace(part, new)
        before[name] = code
    differing = [
        (name, f"has {after[name][0]} bytes, had {before[name][0]}")
        for name in sorted(after.keys() & before.keys())
        if after[name] != before[name]
    ]
    differing += [(name, "is new") for name in sorted(after.keys() - before.keys())]
    differing += [(name, "is gone") for name in sorted(before.keys() - after.keys())]
    return differing, len(after)


def digests(module: str) -> dict[str, tuple[int, str]]:
    """Name -> length and digest of the code of each function of a kernel module."""
    from flatlite.engine.build import compiler, driver, target

    driver.compile_unoptimised()
    aim = target.find(os.environ.get("FLATLITE_TARGET", "host"))
    compiled = compiler.compile_module(module, aim)
    kernels = {symbol: key for key, symbol in compiled.symbols.items()}
    code = functions(compiled.machine.emit_object(compiled.module))
    return {
        _plain_name(kernels.get(symbol, symbol)): (len(text), sha256(text).hexdigest())
        for symbol, text in code.items()
    }


def _plain_name(name: str) -> str:
    """A function's name without what marks microkernels, and all of numba's alike."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return "numba" if name.startswith("_ZN") else name


def functions(data: bytes) -> dict[str, bytes]:
    """Symbol -> code, not linked yet, of each function in an ELF object of 64 bits."""
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + i * size) for i in range(count)]
    _, _, _, _, table, length, strings, *_ = next(s for s in sections if s[1] == 2)
    bytes_of, starts = {}, {}
    for position in range(table, table + length, 24):
        name, kind, _, section, value, nbytes = struct.unpack_from("<IBBHQQ", data, position)
        if kind & 15 == 2 and section < count and sections[section][2] & _CODE:
            begin, label = sections[section][4] + value, sections[strings][4] + name
            symbol = data[label : data.index(b"\0", label)].decode()
            bytes_of[symbol] = data[begin : begin + nbytes]
            starts[symbol] = begin
    return {name: _without_targets(code, starts, starts[name]) for name, code in bytes_of.items()}


def _without_targets(code: bytes, starts: dict[str, int], start: int) -> bytes:
    """Code whose calls of other functions in the object, wherever these lie, have no offset."""
    begins, plain = set(starts.values()), bytearray(code)
    for at in range(len(code) - 4):
        if code[at] in (0xE8, 0xE9):  # call, jmp
            (offset,) = struct.unpack_from("<i", code, at + 1)
            if start + at + 5 + offset in begins:
                plain[at + 1 : at + 5] = bytes(4)
    return bytes(plain)


def _run(checkout: Path, arguments: list[str]):
    """What this script says when it runs with another checkout's flatlite."""
    paths = [str(checkout / ".typings"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, __file__, *arguments]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NUMBA_OPT": "0"}
    settings["NUMBA_DISABLE_INTEL_SVML"] = "1"
    run = subprocess.run(command, env=settings, cwd=checkout, stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--modules"]:
        from flatlite.engine.build import cache

        print(json.dumps(cache.modules()))
    elif sys.argv[1:2] == ["--digests"]:
        print(json.dumps(digests(sys.argv[2])))
    else:
        sys.exit(main(sys.argv[1:]))
