"""Vectors of sums as bytes against the scalar code, for each kind of vectors."""

import numpy as np
import pytest
from numba import types
from targets import TARGETS, kinds

from flatlite.engine.build import compiler, driver, image
from flatlite.engine.build.kernel import KERNELS, address, kernel, microkernel
from flatlite.engine.families import multipliers
from flatlite.engine.kernels._int32 import Integers
from flatlite.engine.kernels.int8._requantize import Requantizer, each_rounding, terms_at
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program

EXTREMES = [-(1 << 31), 1 - (1 << 31), -1, 0, 1, (1 << 31) - 1]
SMALLER = [1 - (1 << 30), -1, 0, 1, (1 << 30) - 1]
KINDS = ["quick", "general", "exact", "rectified"]


@microkernel(types.void(*[types.int64] * 8))
def row_of_bytes(builder, simd, sums, out, terms, rounding, *limits):
    """A block of 16 sums as bytes."""
    w = Integers(builder, simd)
    sums, out = w.pointer(sums), w.pointer(out)
    with each_rounding(w, rounding) as roundings:
        for kind in roundings:
            for start in range(0, 16, w.width):
                pointer = w.pointer(terms_at(w, terms, w.word(start)))
                requantizer = Requantizer(w, kind, pointer, 0, limits)
                value = w.read(sums, 4 * start, w.i32_vector)
                w.write(requantizer.bytes(value), out, start)


@kernel(
    "sums:int32[*,n] terms:int64[*,48] out:T[*,n] rounding:i zero_point:i low:i high:i flip:i",
    T=("int8", "uint8"),
)
def as_bytes(sums, terms, out, rounding, zero_point, low, high, flip, first, last, fault):
    for r in range(first, last):
        for block in range(terms.shape[0]):
            row_of_bytes(
                address(sums) + 4 * (r * sums.shape[1] + 16 * block),
                address(out) + r * sums.shape[1] + 16 * block,
                address(terms) + 8 * 48 * block,
                rounding, zero_point, low, high, flip,
            )  # fmt: skip


@pytest.fixture(scope="module", params=kinds())
def vectors(request):
    """The kernel above as the module `vectors`."""
    compiled = compiler.compile_kernels(
        "vectors", [KERNELS[__name__]["as_bytes"]], TARGETS[request.param]
    )
    loaded_image = image.in_memory(*driver.link(compiled))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(image._images, "vectors", loaded_image)
        yield request.param


def both(sums, scales, zero_point, limits, dtype, **how):
    """What the vectors give, the scalar code, and the kind of rounding."""
    program, x_buffer = Program(), bound(sums.shape, np.int32)
    n = sums.shape[1]
    terms, numbers = multipliers.requantize_terms_i8(scales, n, zero_point, limits, dtype, **how)
    got, want = arena(sums.shape, dtype), arena(sums.shape, dtype)
    program.call("vectors.as_bytes", x_buffer, terms, got, split=len(sums), **numbers._asdict())
    kernel, factors = "requantize.exact", [np.broadcast_to(scales, (n,)).copy()]
    if not how.get("exact"):
        kernel = "requantize.round_half_away"
        fixed = [
            multipliers.quantize_multiplier(scale)
            for scale in np.broadcast_to(scales, (n,)).tolist()
        ]
        factors = [*np.array(fixed, np.int32).T.copy()]
    limits = {"zero_point": zero_point, "low": limits[0], "high": limits[1]}
    program.call(kernel, x_buffer, *map(constant, factors), want, split=len(sums), **limits)
    for out in (got, want):
        program.keep(out)
    program.close({x_buffer: sums})
    program.run()
    return program.array(got), program.array(want), numbers.rounding


def sums_of_all_sizes(random, largest, extremes, n):
    """Rows of `n` sums, most of them with results that are not held at the limits."""
    scale = 2.0 ** random.uniform(0, np.log2(largest), (200, n))
    values = np.int64(scale * random.uniform(-1, 1, (200, n)))
    return np.concatenate([np.repeat(np.array([extremes]).T, n, 1), values]).astype(np.int32)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("kind", KINDS)
def test_bytes_of_sums(vectors, kind, dtype):
    random = np.random.default_rng(5)
    known = np.iinfo(dtype)
    quick = kind in ("quick", "rectified")
    for turn in range(12):
        most = (1 << 30) - 1 if quick else (1 << 31) - 1
        n = 16 * (1 + turn % 3)
        sums = sums_of_all_sizes(random, most, SMALLER if quick else EXTREMES, n)
        highest = -1 if kind == "exact" else 20  # float64 that leaves int32 is for the scalar code
        scales = 2.0 ** (random.uniform(-20, -1, n) if quick else random.uniform(-34, highest, n))
        scales[turn % n] = 0.0
        scales[(turn + 1) % n] = 0.25
        if turn % 4 == 0:
            scales = scales[2:3]
        zero_point = int(random.integers(known.min, known.max + 1))
        limits = (known.min + turn, known.max - 2 * turn)
        zero_point = max(zero_point, known.min + turn + 1)  # below the lowest result if rectified
        if kind == "rectified":
            limits = (min(zero_point + turn // 3, limits[1]), limits[1])
            zero_point = min(zero_point, limits[0])
        got, want, rounding = both(
            sums, scales, zero_point, limits, dtype,
            largest=most if quick else None, exact=kind == "exact",
        )  # fmt: skip
        assert rounding == KINDS.index(kind)
        np.testing.assert_array_equal(got, want)


def test_halves_round_alike(vectors):
    """Results that lie halfway between two integers, after either of the two roundings."""
    for shift in (1, 2, 5, 20):
        sums = np.arange(-3000, 3000, dtype=np.int32).reshape(-1, 1) * (1 << shift >> 2 or 1)
        sums = np.repeat(sums, 16, 1)
        scales = 2.0**-shift * np.linspace(0.5, 0.75, 16)
        for lowest, largest in ((-128, 1 << 29), (-128, None), (3, 1 << 29)):
            got, want, _ = both(sums, scales, 3, (lowest, 127), "int8", largest=largest)
            np.testing.assert_array_equal(got, want)


def test_scales_as_fixed_numbers():
    random = np.random.default_rng(1)
    scales = 2.0 ** random.uniform(-40, 40, 500)
    scales[:6] = 0.0, 1.0, 0.5, 1 - 2.0**-40, 2.0**-33, 1e300
    got = np.stack(multipliers.quantize_multipliers(scales), 1)
    np.testing.assert_array_equal(
        got, [multipliers.quantize_multiplier(scale) for scale in scales.tolist()]
    )
