"""Micro-kernels for every kind of processor hold their sums in registers.

This machine cannot run the code for AArch64; it can be compiled and read.
"""

import importlib

import assembly
import pytest

PIECES = {
    "product": [f"_tile_{name}" for name in ("wide", "narrow", "part_4", "part_7", "part_10")],
    "channelwise": [f"channelwise_strip_{taps}_{step}" for taps in (1, 3, 5) for step in (1, 2)],
    "dots": ["dots_few"],
    "byte_product": [
        *(f"_byte_tile_byte_{name}" for name in ("tile", "tile_narrow")),
        *(f"_byte_tile_byte_part_{n}" for n in (4, 7, 10)),
    ],
    "recurrent": ["_rows_real"],
}
"""Kernel module -> the pieces in which it spends its time."""

ALLOWED = {("channelwise_strip_5_1", "x86-64-v2"): 3}
"""How often, at most, vectors go through the stack in the innermost loop; nowhere else do they."""

MULTIPLICATIONS = ("fmla", "fmadd", "mulps", "pmadd", "dpbusd", "dpwssd", "sdot", "smlal")


def found():
    """(symbol, processor) of all pieces that are there."""
    for module, pieces in PIECES.items():
        importlib.import_module(f"flatlite.engine.kernels.{module}")
        for piece in pieces:
            if f"flatlite_piece_{piece}" in assembly.PIECES:
                yield from ((piece, processor) for processor in assembly.PROCESSORS)


def products(lines):
    return sum(any(name in line for name in MULTIPLICATIONS) for line in lines)


@pytest.mark.parametrize(("piece", "processor"), list(found()))
def test_sums_stay_in_registers(piece, processor):
    loops = assembly.loops(assembly.listing(f"flatlite_piece_{piece}", processor))
    innermost = max(loops, key=products)
    assert products(innermost) >= 4
    assert assembly.spills(innermost) <= ALLOWED.get((piece, processor), 0)


def test_spills_are_seen():
    x86 = ["vmovups %zmm3, 64(%rsp)", "movq %rax, 8(%rsp)", "vmovups (%rbp), %ymm1"]
    arm = ["str q1, [sp, #16]", "ldr x1, [sp]", "ldr q1, [x2]"]
    assert [assembly.spills([line]) for line in x86 + arm] == [1, 0, 0, 1, 0, 0]
