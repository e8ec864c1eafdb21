"""Functions of TensorFlow that the converter writes as several operators: name -> (function of the
module and its inputs, what makes the inputs). TensorFlow records their answers
(tests/converter/make_tf_functions.py).
"""

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
FAMILIES = {"complex": COMPLEX, "matrices": MATRICES}
CASES = {
    f"{family}/{name}": case for family, cases in FAMILIES.items() for name, case in cases.items()
}
