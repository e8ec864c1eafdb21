"""The processor code is compiled for, known without a compiler."""

from __future__ import annotations

import os
import sys
from collections.abc import Set as AbstractSet
from functools import cache

PAGE = 4096  # the unit in which images are laid out and mapped
MACHINE = os.uname().machine if hasattr(os, "uname") else ""
YIELDS = sys.platform != "win32"  # has sched_yield
FUTEX = {"x86_64": 202, "aarch64": 98}.get(MACHINE, 0) if sys.platform == "linux" else 0
"""The number of Linux's call to sleep until a word of memory changes; 0 where there is none."""
AFFINITY = {"x86_64": (309, 204, 203), "aarch64": (168, 123, 122)}.get(MACHINE) if FUTEX else None
"""The numbers of Linux's calls for the processor a thread is on, those it may be on, and to set
these; None where there are none."""
_CPUINFO = frozenset(
    ["vendor_id", "cpu family", "model", "stepping", "flags"]
    + ["CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features"]
)
_REQUEST = 158, 0x1023, 18  # arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), on x86-64 Linux
_lines: list[tuple[str, ...]] = []  # of `processor`, once it was asked for
_may_use_amx: list[bool] = []  # of `amx`


class Target:
    """A processor as LLVM names it ("" is the one we run on) and the flags Linux must report.

    Attributes:
        modules: the kernels that are not as for the next target that is shipped; None for all.
    """

    __slots__ = ("cpu", "features", "modules", "name", "needs")

    def __init__(
        self,
        name: str,
        cpu: str = "",
        features: str = "",
        needs: AbstractSet[str] = frozenset(),
        modules: AbstractSet[str] | None = None,
    ) -> None:
        self.name, self.cpu, self.features, self.needs = name, cpu, features, needs
        self.modules = modules


_V3 = frozenset(["avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"])
_PRODUCTS = frozenset(["gemm_blockwise", "gemm_i8", "gemm_i16"])  # others gain nothing by AVX-VNNI
_BYTE_PRODUCTS = frozenset(["avx512_vnni", "avx_vnni", "asimddp"])
_V4 = _V3 | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])

HOST = Target("host")
SHIPPED = (
    Target("x86-64-v4-vnni", "x86-64-v4", "+avx512vnni", _V4 | {"avx512_vnni"}),
    Target("x86-64-v3-vnni", "x86-64-v3", "+avxvnni", _V3 | {"avx_vnni"}, _PRODUCTS),
    Target("x86-64-v3", "x86-64-v3", "", _V3),
)
"""What images in the package are made for, the best first."""


def find(name: str) -> Target:
    """The target called `name`."""
    for target in (HOST, *SHIPPED):
        if target.name == name:
            return target
    names = ", ".join(t.name for t in (HOST, *SHIPPED))
    raise ValueError(f"unknown target '{name}'; known are {names}")


def processor() -> tuple[str, ...]:
    """What tells this kind of processor from others: lines of text, read once."""
    if not _lines:
        _lines.append(_cpuinfo() or _described())
    return _lines[0]


@cache
def flags() -> frozenset[str]:
    """The features Linux reports of the processor; empty elsewhere."""
    words = [line for line in processor() if line.startswith(("flags", "Features"))]
    return frozenset(words[0].split(":", 1)[-1].split()) if words else frozenset()


def runnable() -> tuple[Target, ...]:
    """The shipped targets this processor can run, the best first."""
    if not supports_images():
        return ()
    present = flags()
    return tuple(t for t in SHIPPED if t.needs <= present)


def multiplies_bytes() -> bool:
    """Whether this processor adds products of four bytes in one instruction."""
    return bool(flags() & _BYTE_PRODUCTS)


def amx() -> bool:
    """Whether this process may use AMX; asks the system for its tile registers."""
    if not _may_use_amx:
        _may_use_amx.append("amx_int8" in flags() and _request_tiles())
    return _may_use_amx[0]


def _request_tiles() -> bool:
    import ctypes

    return not ctypes.CDLL(None).syscall(*_REQUEST)


def supports_images() -> bool:
    """Whether code can be linked and mapped here: x86-64 Linux."""
    return sys.platform == "linux" and MACHINE == "x86_64" and sys.maxsize > 1 << 32


def _described() -> tuple[str, ...]:
    import platform

    return (platform.machine(), platform.processor(), sys.platform)


def _cpuinfo() -> tuple[str, ...]:
    """The lines of the first processor; one short read, as the rest costs time on big machines."""
    try:
        descriptor = os.open("/proc/cpuinfo", os.O_RDONLY)
    except OSError:
        return ()
    try:
        text = os.read(descriptor, 8192).decode("utf-8", "replace")
    finally:
        os.close(descriptor)
    first = text.split("\n\n", 1)[0].splitlines()
    return tuple(line for line in first if line.split(":", 1)[0].strip() in _CPUINFO)
