"""Kernels compiled for AArch64, which an emulator runs while programs run here.

Each call goes to a process of QEMU. The memory that its record points to is copied into memory that
both processes share, at other addresses, and what changed there is copied back.
"""

import ctypes
import mmap
import os
import shutil
import struct
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from flatlite.engine.build import compiler, image
from flatlite.engine.build.target import Target

CORTEX = Target("aarch64", "cortex-a76", "", frozenset(["neon", "dotprod"]))
TRIPLE = "aarch64-unknown-linux-gnu"
EMULATORS = ("qemu-aarch64-static", "qemu-aarch64")
LINKER = "aarch64-linux-gnu-gcc"
BASE, ROOM, PAGE = 1 << 36, 1 << 32, 4096  # of the memory that calls see
RECORD_WORDS = 96  # more than any record has
BEFORE, BEHIND = PAGE, 1 << 22  # bytes around a pointer that go along

SERVER = """
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
%s
typedef void kernel(int64_t, int64_t, int64_t);
static kernel *const kernels[] = {%s};
void flatlite_kernel_raises(void) { abort(); }
int main(int n, char **arguments) {
    void *base = (void *)%dL;
    int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;
    if (mmap(base, %dL, PROT_READ | PROT_WRITE, flags, atoi(arguments[1]), 0) != base) return 2;
    for (int64_t call[4]; read(0, call, sizeof call) == sizeof call;) {
        kernels[call[0]](call[1], call[2], call[3]);
        if (write(1, call, 1) != 1) return 3;
    }
}
"""


@cache
def emulator() -> str | None:
    """The emulator, where it and a linker for its programs are installed."""
    names = filter(None, map(shutil.which, EMULATORS))
    return next(names, None) if shutil.which(LINKER) else None


@contextmanager
def compiled_for_aarch64(folder: Path, *modules: str):
    """A block in which these kernel modules run in the emulator."""
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setitem(image._images, module, compiled(module, folder))
        yield


def compiled(module: str, folder: Path) -> image.Image:
    """A kernel module whose code runs in the emulator."""
    if emulator() is None:
        pytest.skip(f"needs {EMULATORS[0]} and {LINKER}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "_machine", machine)
        machine_code = compiler.compile_module(module, CORTEX)
    symbols = list(machine_code.symbols.values())
    declared = "".join(f"void {symbol}(int64_t, int64_t, int64_t);" for symbol in symbols)
    source, code, program = (folder / f"{module}{end}" for end in (".c", ".o", ""))
    source.write_text(SERVER % (declared, ",".join(symbols), BASE, ROOM))
    code.write_bytes(machine_code.machine.emit_object(machine_code.module))
    subprocess.run([LINKER, "-O1", "-static", "-o", program, source, code, "-lm"], check=True)
    server = Server([emulator(), str(program)])
    entries = [server.entry(i) for i in range(len(symbols))]
    addresses = [ctypes.cast(entry, ctypes.c_void_p).value for entry in entries]
    return image.Image(
        machine_code.kernels, dict(zip(machine_code.symbols, addresses, strict=True)), entries
    )


def machine(cpu: str, features: str) -> llvm.TargetMachine:
    """LLVM's description of the processor."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )


class Server:
    """The process that runs kernels, and the memory that it shares with this one."""

    def __init__(self, command: list[str]):
        descriptor = os.memfd_create("kernels")
        try:
            os.ftruncate(descriptor, ROOM)  # pages come as they are written
            self.shared = np.frombuffer(mmap.mmap(descriptor, ROOM), np.uint8)
            self.process = subprocess.Popen(
                [*command, str(descriptor)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[descriptor],
            )
        finally:
            os.close(descriptor)

    def __del__(self):
        self.process.kill()
        self.process.communicate()

    def entry(self, index: int):
        """A native function like the entry of a kernel."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
        return kind(lambda i, n, record: self.call(index, i, n, record))

    def call(self, index: int, i: int, n: int, record: int) -> None:
        """Runs chunk `i` of `n`, with what lies around every pointer in the record."""
        maps = mapped()
        size = min(8 * RECORD_WORDS, end_of(maps, record) - record) // 8 * 8
        words = np.array(memory(record, size).view(np.int64))
        addresses = words.copy()
        copies, free = [], BASE + PAGE
        for first, end in joined(maps, words.tolist()):
            moved = free + first % PAGE
            free += (end - first + 2 * PAGE) // PAGE * PAGE + PAGE
            words[(first <= addresses) & (addresses < end)] += moved - first
            there = self.shared[moved - BASE :][: end - first]
            there[:] = here = memory(first, end - first)
            copies.append((here, there.copy(), there))
        self.shared[free - BASE :][:size] = words.view(np.uint8)
        self.process.stdin.write(struct.pack("<4q", index, i, n, free))
        self.process.stdin.flush()
        if not self.process.stdout.read(1):
            raise RuntimeError(f"the emulator ended with {self.process.wait()}")
        for here, before, after in copies:
            changed = np.flatnonzero(before != after)
            here[changed] = after[changed]


def memory(address: int, size: int) -> np.ndarray:
    """The bytes of this process that begin at an address."""
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


def mapped() -> list[tuple[int, int]]:
    """Where this process can read and write."""
    spans = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        limits, access, *_, name = f"{line} -".split(None, 5)
        if access.startswith("rw") and "[v" not in name:
            spans.append(tuple(int(number, 16) for number in limits.split("-")))
    return spans


def end_of(maps: list[tuple[int, int]], address: int) -> int:
    """Where the memory ends that an address lies in."""
    return next(b for a, b in maps if a <= address < b)


def joined(maps: list[tuple[int, int]], words: list[int]) -> list[tuple[int, int]]:
    """What lies around the words that are addresses, in pieces that do not overlap."""
    spans: list[tuple[int, int]] = []
    near = []
    for word in words:
        for a, b in maps:
            if a <= word < b:
                near.append((max(a, word - BEFORE), min(b, word + BEHIND)))
    for first, end in sorted(near):
        if spans and first <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((first, end))
    return spans
