"""How far kernels of reals may be off: a row for each of them, here or in a test that is named.

A bound is EXACT (the float32 nearest to the result in float64), a number of units in the last
place, or SUM: 1e-6 of the sum of the sizes of the terms.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16

from flatlite.engine.build import cache, driver, image
from flatlite.engine.build.target import SHIPPED, Target
from flatlite.engine.families import gradients
from flatlite.engine.families.parameters import Sliding
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program
from flatlite.engine.run.plan_runner import loaded

TARGETS = {"avx2": SHIPPED[-1], "sse2": Target("x86-64", "x86-64")}
TESTS = Path(__file__).parents[1]
EXACT, SUM = "exact", "sum"
LARGEST = 1e-6
N = 1003


@dataclass
class Row:
    """A call of a kernel, its inputs by the arguments' names, and the exact result.

    Attributes:
        inputs: arrays, those the kernel changes too.
        exact: function of the inputs, as float64, in their order.
        bound: how far the result may be off.
        terms: for SUM, function like `exact` that gives the sum of the terms' sizes.
        numbers: further arguments.
        shapes: of results and scratch memory; that of the first input by default.
        dtypes: of these; float32 by default.
    """

    inputs: dict
    exact: object
    bound: object = EXACT
    terms: object = None
    numbers: dict = field(default_factory=dict)
    shapes: dict = field(default_factory=dict)
    dtypes: dict = field(default_factory=dict)


def reals(*shape, seed=0, low=-3, high=3):
    """float32 of very different sizes and both signs."""
    random = np.random.default_rng((seed, *shape))
    values = random.normal(size=shape) * 10 ** random.uniform(low, high, shape)
    return values.astype(np.float32)


def plain(*shape, seed=0):
    return reals(*shape, seed=seed, low=0, high=0)


X, Y = reals(N), reals(N, seed=1)
POSITIVE = np.abs(X)
PAIR = {"geometry": np.array([[N], [1], [1]], np.int64)}
LIMITS = {"limits": np.float32([-np.inf, np.inf])}
ROWS_OF_X = plain(7, 143, seed=2)
BLOCK = plain(5, 77, 6, seed=3)
IDS = np.sort(np.random.default_rng(0).integers(0, 9, 50)).astype(np.int32)
PARTS = plain(50, 3, seed=5)
IMAGE = plain(2, 5, 7, 3, seed=6)
ACTIVATED = 1 / (1 + np.exp(-plain(N, seed=7)))


def pair(function, bound=EXACT, a=X, b=Y, terms=None, limits=False):
    inputs = {"a": a, "b": b, **PAIR, **(LIMITS if limits else {})}
    more = (lambda *arrays: terms(*arrays[:2])) if terms else None
    return Row(inputs, lambda *arrays: function(*arrays[:2]), bound, more)


def one(function, bound=EXACT, x=X, **numbers):
    return Row({"x": x}, function, bound, numbers=numbers)


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def log_softmax(x):
    top = x.max(-1, keepdims=True)
    return x - top - np.log(np.exp(x - top).sum(-1, keepdims=True))


def near(x, radius=2):
    """The sum of squares of what is at most `radius` away in a row."""
    padded = np.pad(x * x, ((0, 0), (radius, radius)))
    return sum(padded[:, i : i + x.shape[1]] for i in range(2 * radius + 1))


def folded(function):
    """What each of 9 segments becomes, from the inputs of `segment`."""
    return lambda x, ids, start: np.stack(
        [function(np.concatenate([start[s : s + 1], x[ids == s]]), axis=0) for s in range(9)]
    )


def segment(function, bound=EXACT, start=0.0, terms=None):
    inputs = {"x": PARTS, "ids": IDS, "inout": np.full((9, 3), start, np.float32)}
    return Row(inputs, folded(function), bound, terms, {"sorted_ids": 1})


def scattered(indices, updates, dims, start):
    expected = start.copy()
    np.add.at(expected, indices[:, 0], updates)
    return expected


def bilinear(x):
    """IMAGE with twice the pixels."""
    for axis in (1, 2):
        size = x.shape[axis]
        at = np.arange(2 * size) / 2
        low, high = np.floor(at).astype(int), np.minimum(np.ceil(at).astype(int), size - 1)
        part = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return x


def to_steps(x):
    return np.round((np.clip(x, -1, 1) + 1) / (1 / 64)) / 64 - 1


HERE = {
    "arithmetic.add": pair(np.add, limits=True),
    "arithmetic.divide": pair(np.divide, limits=True),
    "arithmetic.maximum": pair(np.maximum),
    "arithmetic.minimum": pair(np.minimum),
    "arithmetic.multiply": pair(np.multiply, limits=True),
    "arithmetic.squared_difference": pair(lambda a, b: (a - b) ** 2, 4),
    "arithmetic.subtract": pair(np.subtract, limits=True),
    "backward.elu": pair(lambda dy, y: np.where(y >= 0, dy, dy * (y + 1)), 4, b=POSITIVE - 1),
    "backward.relu": pair(lambda dy, x: np.where(x > 0, dy, 0)),
    "backward.relu6": pair(lambda dy, x: np.where((x > 0) & (x < 6), dy, 0)),
    "backward.rsqrt": pair(lambda y, dy: -dy * y**3 / 2, 4, a=POSITIVE),
    "backward.sigmoid": pair(lambda y, dy: dy * y * (1 - y), 4, a=np.float32(ACTIVATED / 2)),
    "backward.sqrt": pair(lambda y, dy: dy / (2 * y), 4, a=POSITIVE),
    "backward.tanh": pair(lambda y, dy: dy * (1 - y * y), 4, a=np.float32(ACTIVATED / 2)),
    "cast.from_bfloat16": Row(
        {"x": (X.view(np.uint32) >> 16).astype(np.uint16)},
        lambda x: x.astype(np.uint16).view(bfloat16).astype(np.float64),
    ),
    "cast.from_half": Row(
        {"x": X.astype(np.float16).view(np.uint16)},
        lambda x: x.astype(np.uint16).view(np.float16).astype(np.float64),
    ),
    "cast.to_float": Row({"x": X.astype(np.float64) / 3}, lambda x: x),
    "division.angle": pair(np.arctan2, 4),
    "division.float_remainder": pair(np.fmod),
    "division.floor_divide_float": pair(lambda a, b: np.floor(a / b), a=np.abs(X), b=Y),
    "division.floor_modulo_float": pair(np.mod, SUM, terms=lambda a, b: np.abs(b)),
    "quantize.dequantize": Row(
        {
            "x": np.random.default_rng(1).integers(-128, 128, (2, 3, 99)).astype(np.int8),
            "scales": np.float32([0.1, 3e-5, 7]),
            "zero_points": np.int32([3, -128, 127]),
        },
        lambda x, scales, zeros: (x - zeros[:, None]) * scales[:, None],
    ),
    "quantize.round_to_steps": one(to_steps, low=-1.0, high=1.0, scale=1 / 64),
    "reduce_f32.cumulate": Row(
        {"x": BLOCK},
        lambda x: np.cumsum(x, axis=1),
        SUM,
        lambda x: np.cumsum(np.abs(x), axis=1),
        {"exclusive": 0, "reverse": 0},
        {"scratch": (5, 6)},
        {"scratch": np.float64},
    ),
    "resize.bilinear": Row(
        {"x": IMAGE},
        bilinear,
        SUM,
        lambda x: bilinear(np.abs(x)),
        {"scale_h": 0.5, "scale_w": 0.5, "half": 0, "rounding": 0.0},
        {"out": (2, 10, 14, 3)},
    ),
    "scatter.add": Row(
        {
            "indices": IDS.reshape(-1, 1),
            "updates": PARTS,
            "dims": np.int64([9]),
            "inout": np.ones((9, 3), np.float32),
        },
        scattered,
        SUM,
        lambda indices, updates, dims, start: scattered(indices, np.abs(updates), dims, start),
    ),
    "segment.largest": segment(np.max, start=-9.0),
    "segment.product": segment(np.prod, 20, start=1.0),  # of 8 factors or so
    "segment.smallest": segment(np.min, start=9.0),
    "segment.sum": segment(np.sum, SUM, terms=lambda x, *more: folded(np.sum)(np.abs(x), *more)),
    "softmax.l2_normalize": one(
        lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), 4, ROWS_OF_X, smallest=1e-6
    ),
    "softmax.local_response": one(
        lambda x: x * (1 + 0.5 * near(x)) ** -0.75,
        4,
        ROWS_OF_X,
        radius=2,
        bias=1.0,
        alpha=0.5,
        beta=0.75,
    ),
    "softmax.log_softmax": Row({"x": ROWS_OF_X}, log_softmax, 4),
    "softmax.softmax": Row({"x": ROWS_OF_X}, softmax, SUM, softmax, {"beta": 1.0}),
    "unary.absolute": one(np.abs),
    "unary.cbrt": one(np.cbrt, 1),
    "unary.ceil": one(np.ceil),
    "unary.clamp": one(lambda x: np.clip(x, -1, 6), low=-1.0, high=6.0),
    "unary.floor": one(np.floor),
    "unary.leaky": one(lambda x: np.where(x < 0, x * np.float32(0.1), x), alpha=0.1),
    "unary.leaky_rows": Row(
        {"x": ROWS_OF_X, "alpha": plain(143, seed=9)},
        lambda x, alpha: np.where(x < 0, x * alpha, x),
    ),
    "unary.negative": one(np.negative),
    "unary.round": one(np.round),
    "unary.sign": one(np.sign),
    "unary.square": one(np.square),
}

ELSEWHERE = {
    "engine/test_machine.py": "peak.float32",
    "engine/test_fast.py": (
        "depthwise_f32.depthwise dots.packed dots.rows gemm_f32.columns gemm_f32.convolution "
        "gemm_f32.lines gemm_f32.matmul gemm_f32.rows gemm_f32_packing.columns "
        "gemm_f32_packing.pad gemm_f32_packing.widen"
    ),
    "engine/test_families.py": (
        "depthwise.depthwise plain_float.convolution plain_float.matmul "
        "plain_float.transposed_convolution pool.average pool.maximum pool.root_mean_square"
    ),
    "engine/test_float_vectors.py": (
        "pool_f32.average pool_f32.maximum pool_f32.root_mean_square power.power "
        "reduce_f32.add reduce_f32.maximum reduce_f32.minimum reduce_f32.multiply "
        "reduce_f32.row_maximum reduce_f32.row_minimum reduce_f32.row_product "
        "reduce_f32.row_sum resize_f32.bilinear"
    ),
    "engine/test_fast_integers.py": (
        "gemm_i8.convolution_float32 gemm_i8.matmul_float32 quantize_rows.asymmetric "
        "quantize_rows.extremes quantize_rows.symmetric"
    ),
    "engine/test_depthwise_i8.py": (
        "depthwise_i8.float32_1_1 depthwise_i8.float32_3_1 depthwise_i8.float32_3_2 "
        "depthwise_i8.float32_5_1 depthwise_i8.float32_5_2 depthwise_i8.float32_pairs "
        "depthwise_i8.order_float32"
    ),
    "engine/test_draws.py": "draws.normal draws.truncated draws.uniform",
    "engine/test_gemm_blockwise.py": (
        "gemm_blockwise.i4_blocks gemm_blockwise.i4_channels gemm_blockwise.i8_blocks "
        "gemm_blockwise.inputs_i4 gemm_blockwise.inputs_i8"
    ),
    "interpreter/test_stablehlo_kernels.py": (
        "plain_int.matrices_f64 scatter.add_boxes scatter.maximum_boxes scatter.minimum_boxes "
        "scatter.multiply_boxes"
    ),
    "engine/test_requantize.py": "requantize.to_float32",
    "engine/test_winograd.py": "winograd_f32.filters winograd_f32.inputs winograd_f32.results",
    "engine/test_winograd_i8.py": "winograd_i8.results_float32",
    "graph/programs/test_dataflow_programs.py": "arrays.add",
    "graph/test_native_loops.py": "lists.add",
    "graph/programs/test_variables.py": (
        "scatter.add_rows scatter.assign_rows scatter.subtract_rows"
    ),
    "interpreter/test_ops.py": (
        "boxes.suppress complex.magnitude window.add window.all window.any window.maximum "
        "fourier.rfft2 window.minimum window.multiply"
    ),
    "interpreter/test_custom_ops.py": "hadamard.rotate",
    "interpreter/test_types.py": "cast.from_float8_e4m3fn cast.from_float8_e5m2",
    "interpreter/test_composites.py": "softmax.attention softmax.scale_rows",
    "engine/test_unary.py": (
        "unary.cos unary.elu unary.exp unary.gelu unary.gelu_tanh unary.hard_swish unary.log "
        "unary.logistic unary.rsqrt unary.sin unary.sqrt unary.tanh"
    ),
    "interpreter/test_recurrent.py": (
        "recurrent_f32.basic recurrent_f32.lstm_hybrid recurrent_f32.lstm_float32 "
        "recurrent_f32.rnn_hybrid recurrent_f32.rnn_float32 recurrent_f32.svdf"
    ),
    "cases/indexing.py": "search.top",
    "engine/test_bounds.py": "outer.filters",
    "graph/test_emit.py": (
        "backward.average_pool backward.max_pool backward.cross_entropy "
        "backward.sparse_cross_entropy outer.spread"
    ),
    "engine/test_statistics.py": "statistics.extent statistics.histogram",
    "training/test_optimizers.py": (
        "backward.adam backward.gradient_descent backward.momentum optimizers.adadelta "
        "optimizers.adagrad optimizers.adagrad_da optimizers.centered_rms_prop optimizers.ftrl "
        "optimizers.proximal_adagrad optimizers.proximal_gradient_descent optimizers.rms_prop"
    ),
}
"""Test -> the kernels it holds to float64, LiteRT or TensorFlow."""


def kernels():
    """The kernels that give float32."""
    for module in cache.modules():
        code = loaded(module)
        for name in code.kernels:
            declaration = code.declaration(name)
            results = [a for a in declaration.arrays if a.role in ("write", "read-write")]
            for argument in results:
                dtypes = declaration.sets.get(argument.letter) or [argument.dtype.name]
                if {"float32", "float64"} & set(dtypes):
                    yield f"{module}.{name}"
                    break


def test_every_kernel_of_float32_has_a_row():
    elsewhere = [name for names in ELSEWHERE.values() for name in names.split()]
    listed = [*HERE, *elsewhere]
    assert len(listed) == len(set(listed))
    assert set(kernels()) == set(listed)
    assert [path for path in ELSEWHERE if not (TESTS / path).is_file()] == []


def call(kernel, row):
    """What the kernel writes."""
    module, _, name = kernel.partition(".")
    program, feeds, buffers, out = Program(), {}, [], None
    first = next(iter(row.inputs.values()))
    for argument in loaded(module).declaration(name).arrays:
        array = row.inputs.get(argument.name)
        if array is None:
            shape = row.shapes.get(argument.name, first.shape)
            buffers.append(arena(shape, row.dtypes.get(argument.name, np.float32)))
        else:
            buffers.append(bound(array.shape, array.dtype))
            feeds[buffers[-1]] = array.copy()
        if argument.role in ("write", "read-write"):
            out = buffers[-1]
    items = out.size if len(out.shape) == 1 else out.shape[0]
    if kernel == "quantize.dequantize":
        items *= out.shape[1]
    if kernel == "resize.bilinear":
        items *= out.shape[1]
    split = None if module in ("scatter", "segment") else items
    program.call(kernel, *buffers, split=split, **row.numbers)
    program.keep(out)
    program.close(feeds)
    program.run()
    return program.array(out).copy()


@pytest.mark.parametrize("kernel", HERE)
def test_bound(kernel):
    row = HERE[kernel]
    got = call(kernel, row)
    wide = [x.astype(np.float64) if x.dtype.kind == "f" else x for x in row.inputs.values()]
    exact = np.asarray(row.exact(*wide), np.float64)
    assert got.shape == exact.shape
    assert got.dtype == np.float32
    if row.bound == EXACT:
        np.testing.assert_array_equal(got, exact.astype(np.float32))
        return
    if row.bound == SUM:
        most = LARGEST * np.asarray(row.terms(*wide))
    else:
        most = row.bound * np.spacing(np.abs(exact).astype(np.float32))
    wrong = np.abs(got - exact) > most
    assert not wrong.any(), (got[wrong][:5], exact[wrong][:5])


ON_OTHER_VECTORS = {
    "test_bounds": "backward outer softmax unary",
    "test_depthwise_i8": "depthwise_i8",
    "test_fast": "depthwise_f32 dots gemm_f32 gemm_f32_packing",
    "test_fast_integers": "gemm_i8 quantize_rows gemm_i16",
    "test_gemm_blockwise": "gemm_blockwise",
    "test_float_vectors": "pool_f32 power reduce_f32 resize_f32",
    "test_movement": "layout",
    "test_machine": "peak",
    "test_pool_i8": "pool_i8",
    "test_recurrent": "recurrent_f32 recurrent_i8",
    "test_resize": "resize",
    "test_rounding": "quantize_f32",
    "test_scaled_vectors": "rescaled_simd rescaled_product",
    "test_small_sums": "sum_i8",
    "test_statistics": "statistics",
    "test_softmax_i8": "softmax_i8",
    "test_tables": "lookup",
    "test_winograd": "winograd_f32",
    "test_winograd_i8": "winograd_i8",
}
"""Test -> the modules with microkernels in LLVM instructions that it runs for AVX2 and SSE2 too."""


def with_microkernels():
    """The modules whose code, or that of files they import, differs by the kind of vectors."""
    paths = Path(cache.ENGINE, "kernels").rglob("*.py")
    texts = {path.stem: path.read_text() for path in paths}
    texts |= {name: "" for name in cache.modules() if name not in texts}

    def has_microkernels(name, *above):
        inside = set(re.findall(r"^from [.\w]*\.(_\w+) import", texts[name], re.MULTILINE)) - {
            *above
        }
        return bool(re.search(r"[@ ]microkernel\(|from \.+build\.vector", texts[name])) or any(
            has_microkernels(needed, name, *above) for needed in inside
        )

    return {name for name in cache.modules() if has_microkernels(name)}


def test_all_microkernels_are_run_on_other_vectors():
    listed = " ".join(ON_OTHER_VECTORS.values()).split()
    assert with_microkernels() == set(listed)
    texts = [(TESTS / "engine" / f"{name}.py").read_text() for name in ON_OTHER_VECTORS]
    marks = "compile_flat", "compiled_for", "MODULES = "  # the last are what `vectors` compiles
    assert all(any(mark in text for mark in marks) for text in texts)


@pytest.fixture
def compiled(request, monkeypatch):
    """Compiles a module for one kind of vectors, in place of this processor's."""

    def swap(module):
        if request.param is not None:
            loaded_image = image.in_memory(*driver.compile_flat(module, TARGETS[request.param]))
            monkeypatch.setitem(image._images, module, loaded_image)

    return swap


slow = pytest.mark.slow
others = pytest.mark.parametrize(
    "compiled", [pytest.param(name, marks=slow) for name in TARGETS], indirect=True
)
all_vectors = pytest.mark.parametrize(
    "compiled", [None, *(pytest.param(name, marks=slow) for name in TARGETS)], indirect=True
)


@others
@pytest.mark.parametrize("module", ["backward", "softmax", "unary"])
def test_bounds_on_other_vectors(compiled, module):
    compiled(module)
    for kernel in HERE:
        if kernel.startswith(f"{module}."):
            test_bound(kernel)


@all_vectors
def test_filter_gradient(compiled):
    compiled("outer")
    for depth, n in ((1, 1), (3, 5), (17, 33), (40, 96)):
        x, dy = plain(2, 9, 11, depth), plain(2, 7, 9, n, seed=1)
        program, fed = Program(), [bound(array.shape, array.dtype) for array in (x, dy)]
        out = arena((3, 3, depth, n), np.float32)
        gradients.filter_gradient(program, *fed, out, Sliding())
        program.keep(out)
        program.close(dict(zip(fed, (x, dy), strict=True)))
        program.run()
        parts = np.lib.stride_tricks.sliding_window_view(np.float64(x), (7, 9), axis=(1, 2))
        exact = np.einsum("bhwcij,bijn->hwcn", parts, np.float64(dy))
        terms = np.einsum("bhwcij,bijn->hwcn", np.abs(parts), np.abs(np.float64(dy)))
        assert (np.abs(program.array(out) - exact) <= LARGEST * terms).all()
