"""Micro-kernels for every kind of processor hold their sums in registers.

This machine cannot run all of their code; it can be compiled and read.
"""

from itertools import product

import assembly
import pytest

from flatlite.engine.build.compiler import import_kernels
from flatlite.engine.build.target import find

KINDS = ("1_1", "3_1", "3_2", "5_1", "5_2")
TILES = ("tile", "partial_tile", "part_4", "part_7", "part_10")
NARROW_TILES = [f"_gemm_i8_narrow_i8_narrow_tile_{n_vectors}" for n_vectors in range(1, 4)]
FLOAT32_TILES = [f"_gemm_i8_float32_tile_i8_float32_{name}" for name in ("tile", "partial_tile")]
SQUARE_STRIPS = [f"_depthwise_i8_square_int8_{kind}_square" for kind in ("3_1", "3_2", "5_2")]
MICROKERNELS = {
    "gemm_f32": [
        *(f"_gemm_f32_tile_{name}" for name in TILES),
        *(f"_gemm_f32_strip_{name}" for name in ("strip", "narrow_strip", "part_strip")),
    ],
    "depthwise_f32": [f"depthwise_f32_strip_{kind}" for kind in (*KINDS, "3_2_far", "3_1_crowded")],
    "depthwise_i8": [
        *(f"_depthwise_i8_strip_int8_{kind}" for kind in ("3_1", "5_1")),
        *SQUARE_STRIPS,
        "_depthwise_i8_strip_int16_5_1",
    ],
    "dots": ["dots_dot_rows"],
    "gemm_i8": [
        *(f"_gemm_i8_tile_i8_{name}" for name in TILES),
        *NARROW_TILES,
        *FLOAT32_TILES,
        "_gemv_i8_gemv_i8",
    ],
    "gemm_blockwise": [
        f"_gemm_blockwise_tile_{name}_{part}"
        for name in ("i4_blocks", "i8_blocks", "i4_channels")
        for part in (0, 3)
    ],
    "gemm_i16": [f"_gemm_i16_tile_i16_{name}" for name in TILES[:2]],
    "softmax": ["_exponentials_exponential_1_1"],
    "recurrent_f32": ["_matvec_f32_panels"],
}
"""Kernel module -> the microkernels in which it spends its time."""

NOT_THERE = {
    *product(
        ["depthwise_f32_strip_3_1_crowded", *FLOAT32_TILES], {*assembly.PROCESSORS} - {"x86-64-v3"}
    ),
    *product(NARROW_TILES, {*assembly.PROCESSORS} - {"x86-64-v4-vnni"}),
    *product(SQUARE_STRIPS, {*assembly.PROCESSORS} - {"x86-64-v2", "x86-64-v3"}),
}
"""Microkernels that a processor does without."""

ALLOWED = {
    ("depthwise_f32_strip_5_1", "x86-64-v2"): 3,
    ("_depthwise_i8_strip_int8_5_1", "x86-64-v2"): 22,
    ("_depthwise_i8_strip_int8_5_1", "x86-64-v3"): 6,
    ("_depthwise_i8_strip_int8_5_1", "x86-64-v4-vnni"): 6,
    ("_depthwise_i8_strip_int16_5_1", "x86-64-v2"): 19,
    ("_depthwise_i8_strip_int16_5_1", "x86-64-v3"): 6,
    ("_depthwise_i8_strip_int16_5_1", "cortex-a76"): 30,
    ("_depthwise_i8_strip_int16_5_1", "apple-m1"): 29,
    ("_depthwise_i8_square_int8_3_1_square", "x86-64-v2"): 32,
    ("_depthwise_i8_square_int8_3_1_square", "x86-64-v3"): 8,
    ("_depthwise_i8_square_int8_3_2_square", "x86-64-v2"): 24,
    ("_depthwise_i8_square_int8_3_2_square", "x86-64-v3"): 10,
    ("_depthwise_i8_square_int8_5_2_square", "x86-64-v2"): 86,
    ("_depthwise_i8_square_int8_5_2_square", "x86-64-v3"): 32,
    ("_exponentials_exponential_1_1", "x86-64-v3"): 2,
    ("_gemm_i8_narrow_i8_narrow_tile_2", "x86-64-v4-vnni"): 2,
    ("_gemm_i8_tile_i8_tile", "x86-64-v2"): 2,
    ("_gemv_i8_gemv_i8", "x86-64-v2"): 8,
}
"""How often, at most, vectors go through the stack in the innermost loop; nowhere else do they.

For strips under rows of five see kernels/_columns.py. Those under square filters read what their
sums begin with from there.
"""

MULTIPLICATIONS = (
    *("fmadd", "mulps", "pmadd", "dpbusd", "dpwssd"),
    *("fmla", "fmul", "sdot", "smlal", "smull"),
)


def cases():
    """(module, microkernel, processor) of all that is there."""
    both = (
        (module, microkernel)
        for module, microkernels in MICROKERNELS.items()
        for microkernel in microkernels
    )
    for (module, microkernel), processor in product(both, assembly.PROCESSORS):
        as_another = processor == "x86-64-v3-vnni" and module not in find(processor).modules
        if not as_another and (microkernel, processor) not in NOT_THERE:
            yield module, microkernel, processor


def products(lines):
    return sum(any(name in line for name in MULTIPLICATIONS) for line in lines)


@pytest.mark.parametrize(("module", "microkernel", "processor"), list(cases()))
def test_sums_stay_in_registers(module, microkernel, processor):
    import_kernels(module)
    loops = assembly.loops(assembly.listing(f"flatlite_microkernel_{microkernel}", processor))
    densest = max(loops, key=lambda lines: products(lines) / len(lines))
    assert products(densest) >= 4
    assert assembly.spills(densest) <= ALLOWED.get((microkernel, processor), 0)


@pytest.mark.parametrize("processor", ["x86-64-v3", "x86-64-v4-vnni"])
@pytest.mark.parametrize("microkernel", ["strip", "part_strip"])
def test_the_last_rows_of_a_strip_have_tiles_of_their_own(microkernel, processor):
    import_kernels("gemm_f32")
    listing = assembly.listing(f"flatlite_microkernel__gemm_f32_strip_{microkernel}", processor)
    loops = [lines for lines in assembly.loops(listing) if products(lines)]
    heights = {"x86-64-v3": {2, 3, 5, 6}, "x86-64-v4-vnni": {4, 7, 10, 14}}[processor]
    assert {products(lines) for lines in loops} == {2 * height for height in heights}
    assert sum(map(assembly.spills, loops)) == 0


def test_narrow_sums_are_put_in_order_within_lanes():
    import_kernels("gemm_i8")
    listing = assembly.listing(f"flatlite_microkernel_{NARROW_TILES[1]}", "x86-64-v4-vnni")
    assert not [line for line in listing if "perm" in line]


def test_spills_are_seen():
    x86 = ["vmovups %zmm3, 64(%rsp)", "movq %rax, 8(%rsp)", "vmovups (%rbp), %ymm1"]
    arm = ["str q1, [sp, #16]", "ldr x1, [sp]", "ldr q1, [x2]"]
    assert [assembly.spills([line]) for line in x86 + arm] == [1, 0, 0, 1, 0, 0]
