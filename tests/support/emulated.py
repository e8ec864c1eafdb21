"""Kernels compiled for AArch64, which an emulator runs while programs run here.

Each call goes to a process of QEMU with the memory that its record points to, at other addresses,
and what changed comes back.
"""

import ctypes
import shutil
import struct
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
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
static void all(int writes, char *at, size_t n) {
    while (n) {
        ssize_t done = writes ? write(1, at, n) : read(0, at, n);
        if (done <= 0) exit(done < 0);
        at += done, n -= done;
    }
}
int main(void) {
    char *base = (char *)%dL;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(base, %dL, PROT_READ | PROT_WRITE, flags, -1, 0) != base) return 2;
    for (;;) {
        int64_t head[5], span[64][2];
        all(0, (char *)head, sizeof head);
        for (int i = 0; i < head[4]; i++) {
            all(0, (char *)span[i], sizeof span[i]);
            all(0, (char *)span[i][0], span[i][1]);
        }
        kernels[head[0]](head[1], head[2], head[3]);
        for (int i = 0; i < head[4]; i++) all(1, (char *)span[i][0], span[i][1]);
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
    """The process that runs kernels."""

    def __init__(self, command: list[str]):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

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
        size = min(8 * RECORD_WORDS, end_of(maps, record) - record)
        words = list(struct.unpack(f"<{size // 8}q", ctypes.string_at(record, size // 8 * 8)))
        spans, moved, free = joined(maps, words), {}, BASE + PAGE
        for first, end in spans:
            moved[first] = free + first % PAGE
            free += (end - first + 2 * PAGE) // PAGE * PAGE + PAGE
        for k, word in enumerate(words):
            first = next((a for a, b in spans if a <= word < b), None)
            words[k] = word if first is None else word - first + moved[first]
        sent = [(moved[a], a, ctypes.string_at(a, b - a)) for a, b in spans]
        content = struct.pack(f"<{len(words)}q", *words)
        sent.append((free, 0, content))
        stream = self.process.stdin
        stream.write(struct.pack("<5q", index, i, n, free, len(sent)))
        for there, _, data in sent:
            stream.write(struct.pack("<2q", there, len(data)) + data)
        stream.flush()
        for _, here, before in sent:
            after = self.process.stdout.read(len(before))
            if len(after) < len(before):
                raise RuntimeError(f"the emulator ended with {self.process.wait()}")
            if here:
                put(here, before, after)


def put(address: int, before: bytes, after: bytes) -> None:
    """Writes what differs, page by page, and no byte that does not."""
    for start in range(0, len(after), PAGE):
        old, new = before[start : start + PAGE], after[start : start + PAGE]
        if old != new:
            for k, (a, b) in enumerate(zip(old, new, strict=True)):
                if a != b:
                    ctypes.memset(address + start + k, b, 1)


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
