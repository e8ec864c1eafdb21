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
CASES = {f"complex/{name}": case for name, case in COMPLEX.items()}
