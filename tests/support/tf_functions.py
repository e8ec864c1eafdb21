"""Functions of TensorFlow that the converter writes as several operators: name -> (function of the
module and its inputs, what makes the inputs). TensorFlow records their answers
(tests/converter/tf/make_functions.py).
"""

import inspect
import zlib

import numpy as np


def numbers(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def complexes(*shapes):
    def make(name):
        rng = numbers(name)
        return [
            (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)
            for shape in shapes
        ]

    return make


SQUARE, ROW, THIN = (3, 4), (4,), (3, 1)
COMPLEX = {
    "add": (lambda tf, a, b: a + b, complexes(SQUARE, ROW)),
    "subtract": (lambda tf, a, b: a - b, complexes(SQUARE, SQUARE)),
    "multiply": (lambda tf, a, b: a * b, complexes(SQUARE, THIN)),
    "multiply_constant": (lambda tf, a: a * tf.constant(1 - 2j, tf.complex64), complexes(SQUARE)),
    "divide": (lambda tf, a, b: a / b, complexes(SQUARE, SQUARE)),
    "divide_no_nan": (lambda tf, a, b: tf.math.divide_no_nan(a, b - b), complexes(SQUARE, SQUARE)),
    "negative": (lambda tf, a: -a, complexes(SQUARE)),
    "square": (lambda tf, a: tf.square(a), complexes(SQUARE)),
    "squared_difference": (
        lambda tf, a, b: tf.math.squared_difference(a, b),
        complexes(SQUARE, SQUARE),
    ),
    "exp": (lambda tf, a: tf.exp(a), complexes(SQUARE)),
    "log": (lambda tf, a: tf.math.log(a), complexes(SQUARE)),
    "log1p": (lambda tf, a: tf.math.log1p(a), complexes(SQUARE)),
    "sqrt": (lambda tf, a: tf.sqrt(a), complexes(SQUARE)),
    "rsqrt": (lambda tf, a: tf.math.rsqrt(a), complexes(SQUARE)),
    "reciprocal": (lambda tf, a: tf.math.reciprocal(a), complexes(SQUARE)),
    "sin": (lambda tf, a: tf.sin(a), complexes(SQUARE)),
    "cos": (lambda tf, a: tf.cos(a), complexes(SQUARE)),
    "sinh": (lambda tf, a: tf.sinh(a), complexes(SQUARE)),
    "cosh": (lambda tf, a: tf.cosh(a), complexes(SQUARE)),
    "tanh": (lambda tf, a: tf.tanh(a * 20), complexes(SQUARE)),
    "sigmoid": (lambda tf, a: tf.sigmoid(a), complexes(SQUARE)),
    "pow": (lambda tf, a, b: tf.pow(a, b), complexes(SQUARE, SQUARE)),
    "sign": (lambda tf, a: tf.sign(tf.concat([a, a - a], 0)), complexes(SQUARE)),
    "equal": (lambda tf, a: tf.equal(a, tf.concat([a[:2], a[:1]], 0)), complexes(SQUARE)),
    "not_equal": (lambda tf, a: tf.not_equal(a, tf.concat([a[:2], a[:1]], 0)), complexes(SQUARE)),
    "add_n": (lambda tf, a, b: tf.add_n([a, b, a]), complexes(SQUARE, SQUARE)),
    "reduce_sum": (lambda tf, a: tf.reduce_sum(a, 1), complexes(SQUARE)),
    "reduce_mean": (lambda tf, a: tf.reduce_mean(a, [0], keepdims=True), complexes(SQUARE)),
    "cumsum": (lambda tf, a: tf.cumsum(a, 1, reverse=True), complexes(SQUARE)),
    "matmul": (lambda tf, a, b: tf.matmul(a, b), complexes(SQUARE, (4, 2))),
    "matmul_transposed": (
        lambda tf, a, b: tf.matmul(a, b, transpose_a=True),
        complexes(SQUARE, (3, 2)),
    ),
    "matmul_adjoint": (
        lambda tf, a, b: tf.matmul(a, b, adjoint_b=True),
        complexes((2, 3, 4), (2, 5, 4)),
    ),
    "einsum": (lambda tf, a, b: tf.einsum("ij,kj->ik", a, b), complexes(SQUARE, SQUARE)),
    "einsum_of_one": (lambda tf, a: tf.einsum("ij->j", a), complexes(SQUARE)),
    "transform": (
        lambda tf, a: tf.signal.ifft(tf.signal.fft(a) * tf.signal.fft(a)),
        complexes(SQUARE),
    ),
    "of_real": (
        lambda tf, a: tf.cast(tf.math.real(a), tf.complex64) * tf.math.conj(a),
        complexes(SQUARE),
    ),
    "angle_and_size": (
        lambda tf, a: tf.complex(tf.abs(a) * tf.cos(tf.math.angle(a)), tf.math.imag(a)),
        complexes(SQUARE),
    ),
}


def matrices(*shapes, definite=False):
    """Matrices that are far from singular, or those times their transposes."""

    def make(name):
        arrays = [numbers(name).normal(size=shape).astype(np.float32) for shape in shapes]
        x = arrays[0] + 2 * np.eye(shapes[0][-2], shapes[0][-1], dtype=np.float32)
        arrays[0] = x @ np.swapaxes(x, -1, -2) if definite else x
        return arrays

    return make


FOUR, BATCH = (4, 4), (2, 3, 5, 5)
MATRICES = {
    "inverse": (lambda tf, a: tf.linalg.inv(a), matrices(FOUR)),
    "inverse_of_many": (lambda tf, a: tf.linalg.inv(a, adjoint=True), matrices(BATCH)),
    "inverse_by_pivots": (
        lambda tf, a: tf.linalg.inv(a * tf.constant(np.float32(1) - np.eye(4, dtype=np.float32))),
        matrices(FOUR),
    ),
    "solve": (lambda tf, a, b: tf.linalg.solve(a, b), matrices(FOUR, (4, 2))),
    "solve_adjoint": (
        lambda tf, a, b: tf.linalg.solve(a, b, adjoint=True),
        matrices(BATCH, (2, 3, 5, 1)),
    ),
    "triangular_solve": (
        lambda tf, a, b: tf.linalg.triangular_solve(a, b),
        matrices(FOUR, (4, 2)),
    ),
    "triangular_solve_upper": (
        lambda tf, a, b: tf.linalg.triangular_solve(a, b, lower=False, adjoint=True),
        matrices(BATCH, (2, 3, 5, 2)),
    ),
    "determinant": (lambda tf, a: tf.linalg.det(a), matrices(BATCH)),
    "determinant_of_singular": (
        lambda tf, a: tf.linalg.det(tf.concat([a[:1], a[:1], a[2:]], 0)),
        matrices(FOUR),
    ),
    "log_determinant": (lambda tf, a: tf.linalg.slogdet(a), matrices(BATCH)),
    "cholesky": (lambda tf, a: tf.linalg.cholesky(a), matrices(FOUR, definite=True)),
    "cholesky_of_many": (lambda tf, a: tf.linalg.cholesky(a), matrices(BATCH, definite=True)),
    "cholesky_solve": (
        lambda tf, a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b),
        matrices(FOUR, (4, 2), definite=True),
    ),
}


def reals(*shapes, scale=1.0):
    def make(name):
        rng = numbers(name)
        return [(rng.normal(size=shape) * scale).astype(np.float32) for shape in shapes]

    return make


def raw(tf, kind, *inputs, **attrs):
    """An operation with inputs and attributes: TensorFlow's, or one of a graph here."""
    if not hasattr(tf, "raw_ops"):
        from flatlite.graph.core.build import ops

        return getattr(ops, kind)(*inputs, **attrs)
    function = getattr(tf.raw_ops, kind)
    names = [name for name in inspect.signature(function).parameters if name not in attrs]
    return function(**dict(zip(names, inputs, strict=False)), **attrs)


def speech(name):
    """Scores [time, batch, classes], and lengths."""
    return [(numbers(name).normal(size=(9, 3, 4)) * 3).astype(np.float32), np.int32([9, 5, 0])]


def sparse(name):
    """A sparse matrix with rows that have nothing, not in order, and a default."""
    indices = np.int64([[4, 0], [1, 3], [1, 0], [4, 2], [0, 1]])
    return [indices, numbers(name).normal(size=5).astype(np.float32), np.float32(-7)]


def images(*sizes):
    return reals(*((2, *size, 3) for size in sizes))


def resized(kind, size, **options):
    """The gradient that `size` new pixels have."""
    if kind == "ResizeBilinearGrad":
        return lambda tf, dy, x: raw(tf, "ResizeBilinearGrad", dy, x, **options)
    return lambda tf, dy: raw(tf, "ResizeNearestNeighborGrad", dy, np.int32(size), **options)


def real_parts(function):
    return lambda tf, *operands: [
        f(y) for y in [function(tf, *operands)] for f in (tf.math.real, tf.math.imag)
    ]


TRAINING = {
    "resize_bilinear": (resized("ResizeBilinearGrad", None), images((5, 7), (3, 4))),
    "resize_corners": (
        resized("ResizeBilinearGrad", None, align_corners=True),
        images((3, 4), (6, 5)),
    ),
    "resize_half": (
        resized("ResizeBilinearGrad", None, half_pixel_centers=True),
        images((8, 6), (3, 4)),
    ),
    "resize_nearest": (resized("ResizeNearestNeighborGrad", [3, 4]), images((6, 5))),
    "normalization": (
        lambda tf, dy, x: raw(
            tf,
            "LRNGrad",
            dy,
            x,
            tf.nn.lrn(x, 2, 1.5, 0.3, 0.6),
            depth_radius=2,
            bias=1.5,
            alpha=0.3,
            beta=0.6,
        ),
        reals((1, 2, 3, 7), (1, 2, 3, 7)),
    ),
    "empty_rows": (
        lambda tf, dy: raw(tf, "SparseFillEmptyRowsGrad", np.int64([0, 2, 3, 5]), dy),
        reals((7,)),
    ),
    "fake_quant": (
        lambda tf, dy, x: tf.quantization.fake_quant_with_min_max_args_gradient(dy, x, -1.1, 1.3),
        reals((4, 5), (4, 5)),
    ),
    "fake_quant_range": (
        lambda tf, dy, x, low, high: tf.quantization.fake_quant_with_min_max_vars_gradient(
            dy, x, -tf.abs(low), tf.abs(high), 4, True
        ),
        reals((4, 5), (4, 5), (), ()),
    ),
    "fake_quant_channels": (
        lambda tf, dy, x, low, high: (
            tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(
                dy, x, -tf.abs(low), tf.abs(high)
            )
        ),
        reals((4, 5), (4, 5), (5,), (5,)),
    ),
    "max_pool": (
        lambda tf, x, dy: raw(
            tf,
            "MaxPoolGradV2",
            x,
            tf.nn.max_pool(x, 2, 2, "SAME"),
            dy,
            np.int32([1, 2, 2, 1]),
            np.int32([1, 2, 2, 1]),
            padding="SAME",
        ),
        images((5, 6), (3, 3)),
    ),
}
OTHERS = {
    "pow_int64": (
        lambda tf, a, b: tf.pow(a, b),
        lambda _: [np.array([3, 7, -5, 0, 0, -1]), np.array([39, 11, 3, 0, 2, 67])],
    ),
    "pow_int64_constant": (
        lambda tf, a: [tf.pow(a, tf.constant(n, tf.int64)) for n in (0, 1, 9)],
        lambda _: [np.array([3, 7, -5, 0, -1])],
    ),
    "greedy": (
        lambda tf, x, lengths: raw(tf, "CTCGreedyDecoder", x, lengths, merge_repeated=True),
        speech,
    ),
    "greedy_repeats": (
        lambda tf, x, lengths: raw(
            tf, "CTCGreedyDecoder", x, lengths, merge_repeated=False, blank_index=1
        ),
        speech,
    ),
    "empty_rows": (
        lambda tf, indices, values, default: raw(
            tf, "SparseFillEmptyRows", indices, values, np.int64([6, 5]), default
        ),
        sparse,
    ),
    "embeddings": (
        lambda tf, indices, values, table: tf.nn.safe_embedding_lookup_sparse(
            table,
            tf.SparseTensor(
                indices, tf.cast(tf.abs(values) * 3, tf.int64), tf.constant([6, 5], tf.int64)
            ),
            combiner="mean",
        ),
        lambda name: [*sparse(name)[:2], *reals((9, 4))(name)],
    ),
    "tridiagonal": (
        lambda tf, a, b, c, x: raw(tf, "TridiagonalMatMul", a, b, c, x),
        reals((2, 1, 4), (2, 1, 4), (2, 1, 4), (2, 4, 3)),
    ),
    "parallel": (lambda tf, x, y: tf.parallel_stack([x[0], y[0]]), reals((1, 4), (1, 4))),
    "next": (
        lambda tf, x, y: tf.math.nextafter(
            tf.concat([x, y, [0.0, 0.0, 2.0]], 0), tf.concat([y, y, [-1.0, 3.0, 2.0]], 0)
        ),
        reals((6,), (6,)),
    ),
    "product": (real_parts(lambda tf, a: tf.reduce_prod(a, [0, 2])), complexes((3, 4, 2))),
    "product_whole": (
        real_parts(lambda tf, a: tf.reduce_prod(a, keepdims=True)),
        complexes((3, 5)),
    ),
    "volume": (real_parts(lambda tf, a: tf.signal.fft3d(a)), complexes((2, 3, 4, 5))),
    "volume_back": (real_parts(lambda tf, a: tf.signal.ifft3d(a)), complexes((3, 4, 5))),
    "real_volume": (real_parts(lambda tf, a: tf.signal.rfft3d(a)), reals((2, 3, 4, 6))),
    "real_volume_back": (lambda tf, a: tf.signal.irfft3d(a, [3, 4, 7]), complexes((3, 4, 4))),
    "plane": (real_parts(lambda tf, a: tf.signal.rfft2d(a)), reals((2, 5, 6))),
    "plane_back": (lambda tf, a: tf.signal.irfft2d(a, [4, 5]), complexes((4, 3))),
}
FAMILIES = {"complex": COMPLEX, "matrices": MATRICES, "training": TRAINING, "others": OTHERS}
CASES = {
    f"{family}/{name}": case for family, cases in FAMILIES.items() for name, case in cases.items()
}
