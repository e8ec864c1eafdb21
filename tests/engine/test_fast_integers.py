"""Fast products of small integers against the plain kernels, for each kind of vectors."""

import definitions
import llvmlite.binding as llvm
import numpy as np
import pytest
from emulated import compiled_for_aarch64
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llvmlite import ir
from quantized_rows import rounded
from targets import compiled_for, kinds

from flatlite.engine.build.kernel import MICROKERNELS
from flatlite.engine.build.simd import widest_simd
from flatlite.engine.build.target import HOST, SHIPPED, Target, flags
from flatlite.engine.families import gemm_i8, gemm_i16, quantization, quantized_gemm, winograd_i8
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.kernels.int8 import _gemm_i8_tile  # noqa: F401 (declares its microkernels)
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.engine.run import guard

TARGETS = {
    "host": HOST,
    **{aim.name: aim for aim in SHIPPED},
    "avx512": Target("x86-64-v4", "x86-64-v4", "", SHIPPED[0].needs - {"avx512_vnni"}),
    "sse2": Target("x86-64", "x86-64"),
}
MODULES = ("gemm_i8_input", "gemm_i8", "quantize_rows", "gemm_i16")
ON_AARCH64 = True
SIZE, STEP = st.integers(1, 40), st.integers(1, 3)
DEPTH = st.one_of(STEP, SIZE)
"""Channels, often fewer than the bytes that are multiplied at once."""
SOME = settings(
    max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def slow():
    """AArch64, where the kernels are emulated, and others that are: for all but one."""
    names = ("avx512", "x86-64-v3-vnni")
    return {"aarch64", *(name for name in names if not TARGETS[name].needs <= flags())}


@pytest.fixture(scope="module", params=kinds([*TARGETS, "aarch64"], slow()))
def vectors(request, tmp_path_factory):
    """The fast kernels compiled for one kind of vectors, in place of this processor's."""
    if request.param == "aarch64":
        with compiled_for_aarch64(tmp_path_factory.mktemp("aarch64"), *MODULES):
            yield request.param
        return
    with compiled_for(TARGETS[request.param], *MODULES):
        yield request.param


def run(emit, x, weights, bias, shape, dtype, *, plain=False, dealt=False):
    """What `emit(program, x, weights, bias, out)` gives: by plain kernels, or in many parts.

    Nothing may be touched behind the tensors, or before them where there are many parts.
    """
    with pytest.MonkeyPatch.context() as patch:
        if dealt:
            patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
        if plain:
            for module in (gemm_i8, gemm_i16):
                for fits in ("fits_matmul", "fits_convolution"):
                    patch.setattr(module, fits, lambda *_: False)
        patch.setattr(winograd_i8, "fits", lambda *_: False)  # test_winograd_i8.py has these
        program = Program(guard=guard.START if dealt else guard.END)
        fed, middle, out = bound(x.shape, x.dtype), arena(x.shape, x.dtype), arena(shape, dtype)
        program.call("copy.copy", fed.ravel(), middle.ravel(), split=x.size)
        emit(program, middle, constant(weights), None if bias is None else constant(bias), out)
        program.keep(out)
        program.close({fed: x})
        program.run()
        return program.array(out).copy(), [name for _, name, _ in program.run(profile=True)]


def check(emit, shape, dtype, x, weights, bias, kernel):
    """Fast and plain results are the same, and the fast ones however they are dealt out."""
    arrays = (x, weights, bias, shape, dtype)
    got, names = run(emit, *arrays)
    assert kernel in names
    want, names = run(emit, *arrays, plain=True)
    assert kernel not in names
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(run(emit, *arrays, dealt=True)[0], want)


@st.composite
def hybrids(draw, n):
    """A scheme for reals."""
    scales = np.random.default_rng(n).uniform(0.001, 0.1, draw(st.sampled_from([1, n])))
    clamp = draw(st.sampled_from([(-np.inf, np.inf), (0.0, 6.0)]))
    return quantization.Hybrid(scales, draw(st.booleans()), clamp)


def reals(draw, *shape):
    """Rows of different sizes, some of them 0."""
    random = np.random.default_rng(shape)
    sizes = 10.0 ** random.uniform(-3, 3, (*shape[:-1], 1))
    sizes *= (
        draw(st.sampled_from([0, 1, 1, 1])) if shape[0] == 1 else random.integers(0, 3, sizes.shape)
    )
    return (random.normal(draw(st.sampled_from([0, 0, 2, -2])), 1, shape) * sizes).astype(
        np.float32
    )


def real_biases(n, draw):
    return (
        np.random.default_rng(n).normal(size=n).astype(np.float32) if draw(st.booleans()) else None
    )


@st.composite
def wide_schemes(draw, n, depth):
    """A scheme for int16 and weights without zero points."""
    random = np.random.default_rng(draw(st.integers(0, 99)))
    kinds = [(np.int64, "round_int64_half_up")] * 4
    kinds += [(np.int32, "round_half_away"), (np.int64, "exact"), (np.int32, "exact")]
    sums, rounding = draw(st.sampled_from(kinds))
    scales = 2.0 ** random.uniform(-4, 0, draw(st.sampled_from([1, n]))) / (60 * depth**0.5)
    larger = [2.0**8] if rounding == "round_int64_half_up" else [2.0**8, 2.0**14]
    scales *= draw(st.sampled_from([1.0, 1.0, 2.0**-8, 2.0**-20, *larger]))
    low, high = draw(st.sampled_from([(-32768, 32767), (0, 32767), (-5, 20000)]))
    zero_points = (0, 0, draw(st.sampled_from([0, 0, 7])))
    return quantization.Quantized(scales, zero_points, (low, high), sums,
                           rounding)  # fmt: skip


@st.composite
def schemes(draw, n, depth):
    """A scheme whose results use the range of their type, or another one, and the types."""
    random = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = draw(st.sampled_from(["int8", "int8", "uint8"]))
    known = np.iinfo(dtype)
    weights_zero = draw(st.sampled_from([0, 0, 17])) if dtype == "int8" else draw(SIZE) + 100
    zeros = [draw(st.integers(known.min, known.max)) for _ in range(2)]
    limits = draw(st.sampled_from([(0, 0), (20, 5)]))
    scales = 2.0 ** random.uniform(-4, 0, draw(st.sampled_from([1, n]))) / (60 * depth**0.5)
    rounding = draw(st.sampled_from(["round_half_away", "round_half_away", "exact"]))
    larger = [1.0] if rounding == "exact" else [2.0**12]  # else float64 leaves int32
    scales *= draw(st.sampled_from([1.0, 1.0, 2.0**-22, *larger]))
    scheme = quantization.Quantized(
        scales,
        (zeros[0], weights_zero, zeros[1]),
        (known.min + limits[0], known.max - limits[1]),
        np.int32,
        rounding,
    )
    return scheme, dtype


def random_integers(dtype, *shape):
    """Values over the whole range, the extremes more often."""
    random, known = np.random.default_rng(shape), np.iinfo(dtype)
    values = random.integers(known.min - 40, known.max + 41, shape)
    return np.clip(values, known.min, known.max).astype(dtype)


BOTH = pytest.mark.parametrize("module", ["gemm_i8", "gemm_i16"])


class Operands:
    """A scheme of a module's products, and arrays of the types it is for."""

    def __init__(self, draw, module, n, depth):
        self.draw, self.weights_dtype = draw, "int8"
        if module == "gemm_i16":
            self.scheme, self.dtype = draw(wide_schemes(n, depth)), "int16"
            self.least = draw(st.booleans())
        else:
            self.scheme, self.dtype = draw(schemes(n, depth))
            self.weights_dtype, self.least = self.dtype, False

    def x(self, *shape):
        """Values over the whole range, or the least one only: the largest sums there are."""
        return (
            np.full(shape, -32768, np.int16) if self.least else random_integers(self.dtype, *shape)
        )

    def weights(self, *shape):
        """As `x`."""
        return (
            np.full(shape, -128, np.int8)
            if self.least
            else random_integers(self.weights_dtype, *shape)
        )

    def bias(self, n):
        """Numbers of sums' type, or None."""
        if not self.draw(st.booleans()):
            return None
        dtype = np.dtype(self.scheme.accumulator)
        large = np.iinfo(dtype).max >> 3 * dtype.itemsize
        if self.scheme.rounding == "round_int64_half_up":  # results stay int32
            large = int(2**29 / max(1, self.scheme.scales.max()))
        most = self.draw(st.sampled_from([1000, min(1 << 29, large), large]))
        return np.random.default_rng(n).integers(-most, most, n).astype(dtype)


@BOTH
@SOME
@given(data=st.data())
def test_conv2d(vectors, module, data):
    groups, depth, n = data.draw(st.integers(1, 3)), data.draw(DEPTH), data.draw(SIZE)
    depth = max(depth, 2) if groups > 1 else depth  # groups of one channel are depthwise
    taps = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    stride, dilation = (data.draw(STEP), data.draw(STEP)), (data.draw(STEP), data.draw(STEP))
    padding = data.draw(st.sampled_from(["SAME", "VALID"]))
    inputs = Operands(data.draw, module, groups * n, depth * taps[0] * taps[1])
    reach = [(k - 1) * d + 1 for k, d in zip(taps, dilation, strict=True)]
    sizes = [data.draw(st.integers(r if padding == "VALID" else 1, 20 + r)) for r in reach]
    spans = definitions.spans(sizes, taps, stride, dilation, padding)
    x = inputs.x(data.draw(st.integers(1, 2)), *sizes, groups * depth)
    weights = inputs.weights(groups * n, *taps, depth)
    shape = (x.shape[0], *(count for count, _, _ in spans), groups * n)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        sliding = Sliding(stride, before, dilation)
        quantized_gemm.conv2d(program, *buffers, sliding, scheme=inputs.scheme, groups=groups)

    pointwise = taps == stride == (1, 1) and groups == 1
    kernel = f"{module}.{'matmul' if pointwise else 'convolution'}"
    check(emit, shape, inputs.dtype, x, weights, inputs.bias(groups * n), kernel)


@BOTH
@SOME
@given(data=st.data())
def test_matmul(vectors, module, data):
    height, n = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 70))
    depth = data.draw(st.sampled_from([1, 2, 3, 4, 5, 7, 16, 100, 256, 259, 510, 600, 1023, 1024]))
    batch, repeated = data.draw(st.integers(1, 3)), data.draw(st.booleans())
    transpose = data.draw(st.booleans())
    inputs = Operands(data.draw, module, n, depth)
    a = inputs.x(batch, height, depth)
    b = inputs.weights(1 if repeated else batch, *((n, depth) if transpose else (depth, n)))

    def emit(program, *buffers):
        quantized_gemm.matmul(program, *buffers, scheme=inputs.scheme, transpose_b=transpose)

    check(emit, (batch, height, n), inputs.dtype, a, b, inputs.bias(n), f"{module}.matmul")


@pytest.mark.parametrize(("depth", "fast"), [(9000, True), (60_000, True), (170_000, False)])
def test_long_rows(vectors, depth, fast):
    """Rows of which there is room for few, for less than a tile, and for none."""
    scheme = quantization.Quantized(
        np.array([2.0**-15]), (3, 0, -5), (-128, 127), np.int32, "round_half_away"
    )
    arrays = (
        random_integers("int8", 9, depth),
        random_integers("int8", 5, depth),
        None,
        (9, 5),
        "int8",
    )

    def emit(program, *buffers):
        quantized_gemm.matmul(program, *buffers, scheme=scheme, transpose_b=True)

    got, names = run(emit, *arrays)
    assert any(name.startswith("gemm_i8.matmul") for name in names) == fast
    np.testing.assert_array_equal(got, run(emit, *arrays, plain=True)[0])


def test_deep_windows(vectors):
    """As `test_long_rows`, for windows of three by three."""
    scheme = quantization.Quantized(
        np.array([2.0**-15]), (3, 0, -5), (-128, 127), np.int32, "round_half_away"
    )
    x, weights = random_integers("int8", 1, 3, 4, 8001), random_integers("int8", 5, 3, 3, 8001)
    arrays = x, weights, None, (1, 3, 4, 5), "int8"

    def emit(program, *buffers):
        sliding = Sliding(before=(1, 1))
        quantized_gemm.conv2d(program, *buffers, sliding, scheme=scheme)

    check(emit, arrays[3], "int8", *arrays[:3], "gemm_i8.convolution")


@BOTH
@SOME
@given(data=st.data())
def test_transpose_conv2d(vectors, module, data):
    n, depth = data.draw(SIZE), data.draw(DEPTH)
    padding = data.draw(st.sampled_from(["SAME", "VALID"]))
    taps, stride = (data.draw(STEP), data.draw(STEP)), (data.draw(STEP), data.draw(STEP))
    sizes = [data.draw(st.integers(k if padding == "VALID" else 1, 14)) for k in taps]
    spans = definitions.spans(sizes, taps, stride, (1, 1), padding)
    inputs = Operands(data.draw, module, n, depth)
    x = inputs.x(2, *(count for count, _, _ in spans), depth)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        sliding = Sliding(stride, before)
        quantized_gemm.transpose_conv2d(program, *buffers, sliding, scheme=inputs.scheme)

    arrays = (x, inputs.weights(n, *taps, depth), inputs.bias(n))
    check(emit, (2, *sizes, n), inputs.dtype, *arrays, f"{module}.convolution")


@SOME
@given(st.data())
def test_conv2d_of_float32(vectors, data):
    groups, depth, n = data.draw(st.integers(1, 3)), data.draw(DEPTH), data.draw(SIZE)
    depth = max(depth, 2) if groups > 1 else depth  # groups of one channel are depthwise
    taps = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    stride, dilation = (data.draw(STEP), data.draw(STEP)), (data.draw(STEP), data.draw(STEP))
    scheme, sizes = data.draw(hybrids(groups * n)), [data.draw(SIZE), data.draw(SIZE)]
    spans = definitions.spans(sizes, taps, stride, dilation, "SAME")
    x = reals(data.draw, data.draw(st.integers(1, 2)), *sizes, groups * depth)
    shape = (x.shape[0], *(count for count, _, _ in spans), groups * n)

    def emit(program, *buffers):
        before = tuple(before for _, before, _ in spans)
        sliding = Sliding(stride, before, dilation)
        quantized_gemm.conv2d(program, *buffers, sliding, scheme=scheme, groups=groups)

    arrays = (
        x,
        random_integers("int8", groups * n, *taps, depth),
        real_biases(groups * n, data.draw),
    )
    pointwise = taps == stride == (1, 1) and groups == 1
    kernel = "gemm_i8.matmul_float32" if pointwise else "gemm_i8.convolution_float32"
    check(emit, shape, np.float32, *arrays, kernel)


@SOME
@given(st.data())
def test_matmul_of_float32(vectors, data):
    height, n = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 70))
    depth = data.draw(st.sampled_from([1, 2, 3, 4, 5, 7, 16, 100, 259, 600]))
    batch, repeated = data.draw(st.integers(1, 3)), data.draw(st.booleans())
    transpose, scheme = data.draw(st.booleans()), data.draw(hybrids(n))
    a = reals(data.draw, batch, height, depth)
    b = random_integers(
        "int8", 1 if repeated else batch, *((n, depth) if transpose else (depth, n))
    )

    def emit(program, *buffers):
        quantized_gemm.matmul(program, *buffers, scheme=scheme, transpose_b=transpose)

    arrays = a, b, real_biases(n, data.draw)
    check(emit, (batch, height, n), np.float32, *arrays, "gemm_i8.matmul_float32")


@pytest.mark.parametrize("depth", [64, 512, 576])
def test_matmul_of_whole_blocks(vectors, depth):
    """Rows that may be multiplied where they lie, as far as they are blocks of 16."""
    random, n = np.random.default_rng(depth), 40
    weights, bias = random_integers("int8", n, depth), random.normal(size=n).astype(np.float32)
    output_quantization = quantization.Quantized(
        np.full(n, 2e-4), (3, 5, -4), (-128, 127), np.int32
    )
    for height in (16, 40, 48, 176):
        for scheme, x, name in (
            (output_quantization, random_integers("int8", height, depth), "matmul"),
            (quantization.Hybrid(np.full(n, 0.1), True, (-np.inf, np.inf)),
             random.normal(size=(height, depth)).astype(np.float32), "matmul_float32"),
        ):  # fmt: skip

            def emit(program, *buffers, scheme=scheme):
                quantized_gemm.matmul(program, *buffers, scheme=scheme, transpose_b=True)

            float_bias = bias if isinstance(scheme, quantization.Hybrid) else None
            check(emit, (height, n), x.dtype, x, weights, float_bias, f"gemm_i8.{name}")


NARROW = [1, 8, 9, 16, 21, 24, 31, 32]
"""Numbers of columns that narrow tiles have one to three vectors for, and too many."""
FULL_RANGE = quantization.Quantized(np.array([2.0**-9]), (3, 0, -5), (-128, 127), np.int32)
WEIGHTS_ZERO = quantization.Quantized(np.array([2.0**-9]), (130, 117, 9), (0, 255), np.int32)


@pytest.mark.parametrize("n", [33, 48, 80, 130])
def test_single_rows(vectors, n):
    """One row by panels that fill no group of those done at once, or more than one."""
    hybrid = quantization.Hybrid(np.linspace(0.01, 0.1, n), True, (-np.inf, np.inf))
    for depth in (3, 8, 137):
        weights = random_integers("int8", n, depth)
        real = np.random.default_rng(n).normal(size=(1, depth)).astype(np.float32)
        for scheme, x in ((FULL_RANGE, random_integers("int8", 1, depth)), (hybrid, real)):

            def emit(program, *buffers, scheme=scheme):
                quantized_gemm.matmul(program, *buffers, scheme=scheme, transpose_b=True)

            kernel = "gemm_i8.matmul_float32" if scheme is hybrid else "gemm_i8.matmul"
            check(emit, (1, n), x.dtype, x, weights, None, kernel)


@pytest.mark.parametrize("n", NARROW)
def test_narrow_matmul(vectors, n):
    """Few columns of products whose number is a multiple of eight, of rows that fill no tiles."""
    hybrid = quantization.Hybrid(np.linspace(0.01, 0.1, n), True, (-np.inf, np.inf))
    for height, depth in ((7, 8), (33, 24), (45, 136)):
        rows = np.random.default_rng(n).normal(size=(height, depth)).astype(np.float32)
        weights = random_integers("int8", n, depth)
        for scheme, x, w in (
            (FULL_RANGE, random_integers("int8", height, depth), weights),
            (
                WEIGHTS_ZERO,
                random_integers("uint8", height, depth),
                random_integers("uint8", n, depth),
            ),
            (hybrid, rows, weights),
        ):

            def emit(program, *buffers, scheme=scheme):
                quantized_gemm.matmul(program, *buffers, scheme=scheme, transpose_b=True)

            kernel = "gemm_i8.matmul_float32" if scheme is hybrid else "gemm_i8.matmul"
            check(emit, (height, n), x.dtype, x, w, None, kernel)


@pytest.mark.parametrize("n", NARROW)
@pytest.mark.parametrize("depth", [3, 8, 40])
def test_narrow_windows(vectors, n, depth):
    """The same in windows: rows of taps read as one, and each tap by itself."""
    hybrid = quantization.Hybrid(np.linspace(0.01, 0.1, n), True, (-np.inf, np.inf))
    shape, sliding = (1, 5, 7, depth), Sliding(before=(1, 1))
    image = np.random.default_rng(n).normal(size=shape).astype(np.float32)
    weights = random_integers("int8", n, 3, 3, depth)
    for scheme, x, w in (
        (FULL_RANGE, random_integers("int8", *shape), weights),
        (WEIGHTS_ZERO, random_integers("uint8", *shape), random_integers("uint8", n, 3, 3, depth)),
        (hybrid, image, weights),
    ):

        def emit(program, *buffers, scheme=scheme):
            quantized_gemm.conv2d(program, *buffers, sliding, scheme=scheme)

        kernel = "gemm_i8.convolution_float32" if scheme is hybrid else "gemm_i8.convolution"
        check(emit, (1, 5, 7, n), x.dtype, x, w, None, kernel)


@pytest.mark.parametrize("asymmetric", [False, True])
def test_rounded(vectors, asymmetric):
    random = np.random.default_rng(3)
    for rows_of_x, count in ((1, 1), (3, 7), (5, 16), (4, 333), (2, 40_000)):
        x = random.normal(0, 1, (rows_of_x, count)).astype(np.float32)
        x[0] = np.round(x[0] * 4) / 8  # many halves
        x *= 10.0 ** random.integers(-3, 4, (rows_of_x, 1)).astype(np.float32)
        x[-1] *= random.integers(0, 2)
        for dealt in (False, True):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(instruction, "MIN_PARALLEL_BYTES", 0 if dealt else 1 << 18)
                program, fed = Program(guard=not dealt), bound(x.shape, x.dtype)
                pitch = count + 7 * dealt
                rows = quantization.quantize_rows(program, fed, rows_of_x, 3, asymmetric, pitch)
                outs = rows.values, *rows.row_terms
                for out in outs:
                    program.keep(out)
                program.close({fed: x})
                program.run()
            values, scales, zeros = rounded(x, asymmetric)
            for out, want in zip(outs, (values, scales, zeros, zeros[:, None]), strict=True):
                got = program.array(out)
                got = got[:, :count] if out is rows.values else got
                np.testing.assert_array_equal(got, np.broadcast_to(want, got.shape))


def test_tile_for_arm():
    """On AArch64 the tile multiplies bytes and keeps its sums in registers."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    aim = llvm.Target.from_triple("aarch64-linux-gnu")
    machine = aim.create_target_machine(features="+neon,+dotprod", opt=3)
    module, kernel = ir.Module(), MICROKERNELS["flatlite_microkernel__gemm_i8_tile_i8_tile"]
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * len(kernel.signature.args))
    function = ir.Function(module, kind, "tile")
    builder = ir.IRBuilder(function.append_basic_block())
    kernel.emit(builder, widest_simd({"neon", "dotprod"}), *function.args)
    builder.ret_void()
    text = machine.emit_assembly(llvm.parse_assembly(str(module)))
    loops = [block for block in text.split("\n.LBB") if block.count("sdot") == 16]
    assert loops
    assert not any("[sp" in block for block in loops)


def test_features_of_a_processor():
    """LLVM and Linux spell them differently."""
    features = {"avx512f", "avx512bw", "avx512_vnni", "amx_int8", "avx2", "fma"}
    spelt = {name.replace("avx512_", "avx512").replace("amx_", "amx-") for name in features}
    assert widest_simd(features) == widest_simd(spelt) == (16, 32, True, "unsigned", True, False)
    assert widest_simd(features - {"amx_int8"}) == (16, 32, True, "unsigned", False, False)
    assert widest_simd(features | {"avx512vbmi"}).permutes
    assert widest_simd({"avx2", "fma", "avx_vnni"}) == widest_simd({"avx2", "fma", "avxvnni"})
    assert widest_simd({"avx2", "fma"}).dots == widest_simd({"neon"}).dots == ""
