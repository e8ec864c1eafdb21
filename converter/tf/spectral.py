"""Complex numbers and Fourier transforms.

TFLite has REAL, IMAG, COMPLEX_ABS and RFFT2D of lengths that are powers of 2. Other transforms are
products with cosines and sines; complex results are pairs of floats seen as one number.
"""

import numpy as np

from ..lowering.moves import as_int32, int32s, slice_along
from .complex import PARTS, complex_of, parts_of
from .registry import lower, lower_rows

lower_rows({"ComplexAbs": "COMPLEX_ABS", "Real": "REAL", "Imag": "IMAG"})


@lower("Complex")
def complex_(node, b):
    """Complex numbers with these parts."""
    real, imaginary = node.inputs
    real, imaginary = _broadcast(real, imaginary, b)
    return complex_of(real, imaginary, b)


def _broadcast(x, y, b):
    """Both in the shape that they have together."""
    if x.sizes is not None and x.sizes == y.sizes:
        return x, y
    if None in (*x.dims, *y.dims):
        shape = b.BROADCAST_ARGS(*(b.SHAPE(t, out_type="INT32") for t in (x, y)))
        return b.BROADCAST_TO(x, shape), b.BROADCAST_TO(y, shape)
    dims = np.broadcast_shapes(x.dims, y.dims)
    return tuple(t if t.dims == dims else b.BROADCAST_TO(t, int32s(dims)) for t in (x, y))


@lower("Conj")
def conj(node, b):
    """The same with the other sign of the imaginary part."""
    (x,) = node.inputs
    if x.dtype not in PARTS:
        return x
    real, imaginary = parts_of(x, b)
    return complex_of(real, b.NEG(imaginary), b)


@lower("ConjugateTranspose")
def conjugate_transpose(node, b):
    """Axes in another order, and the other sign of imaginary parts."""
    x, order = node.inputs[0], as_int32(node.inputs[1], b)
    if x.dtype not in PARTS:
        return b.TRANSPOSE(x, order)
    real, imaginary = parts_of(x, b)
    return complex_of(b.TRANSPOSE(real, order), b.TRANSPOSE(b.NEG(imaginary), order), b)


@lower("Angle")
def angle(node, b):
    """The angle of each complex number."""
    real, imaginary = parts_of(node.inputs[0], b)
    return b.ATAN2(imaginary, real)


def lengths_of(node, rank):
    """The constant lengths of a real transform over the last `rank` axes."""
    lengths = [int(n) for n in np.ravel(node.constant(1))]
    node.require(len(lengths) == rank, f"fft_length must have {rank} elements, got {len(lengths)}")
    node.require(min(lengths) > 0, f"fft_length must be positive, got {lengths}")
    return lengths


def cut(x, lengths, b):
    """`x` with its last axes cut to some lengths."""
    for i, n in enumerate(lengths):
        axis = len(x.dims) - len(lengths) + i
        if x.dims[axis] != n:
            x = slice_along(x, axis, 0, n, b)
    return x


def is_power(n):
    """Whether it is a power of 2."""
    return n & (n - 1) == 0


def waves(n_from, n_to, length, sign):
    """Cosines and sines of a transform of `n_from` numbers to `n_to`."""
    angles = np.outer(np.arange(n_to), np.arange(n_from)) * (2 * np.pi * sign / length)
    return np.cos(angles), np.sin(angles)


def along_last(x, matrix, b):
    """The products of a matrix [n_to, n_from] with the rows of `x`."""
    return b.FULLY_CONNECTED(x, b.constant(np.float32(matrix)), keep_num_dims=True)


def turned(x, rank, b):
    """`x` with the last of its last `rank` axes before the others of them."""
    first = x.rank - rank
    order = [*range(first), x.rank - 1, *range(first, x.rank - 1)]
    return b.TRANSPOSE(x, np.array(order, np.int32))


def along_others(parts, lengths, sign, b):
    """The transform over the axes before the last, which have some lengths; inverse for sign 1."""
    if not lengths:
        return parts
    rank = len(lengths) + 1
    for n in reversed(lengths):
        parts = [turned(t, rank, b) for t in parts]
        parts = product(parts, [m / (n if sign > 0 else 1) for m in waves(n, n, n, sign)], b)
    return [turned(t, rank, b) for t in parts]


def product(parts, matrices, b):
    """The product of complex rows with a complex matrix, by its real and imaginary parts."""
    (re, im), (cos, sin) = parts, matrices
    if im is None:
        return along_last(re, cos, b), along_last(re, sin, b)
    return (
        b.SUB(along_last(re, cos, b), along_last(im, sin, b)),
        b.ADD(along_last(re, sin, b), along_last(im, cos, b)),
    )


RANKS = {"2D": 2, "3D": 3}
"""How many axes an operation transforms, by the end of its name; others one."""


@lower("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D")
def fft(node, b):
    """The discrete Fourier transform over the last axes, or its inverse."""
    rank, sign = RANKS.get(node.type[-2:], 1), 1 if node.type.startswith("I") else -1
    sizes = node.shape()[-rank:]
    node.require(None not in sizes, f"the sizes it transforms must be known, got {sizes}")
    n = sizes[-1]
    matrices = [m / (n if sign > 0 else 1) for m in waves(n, n, n, sign)]
    parts = product(parts_of(node.inputs[0], b), matrices, b)
    re, im = along_others(parts, sizes[:-1], sign, b)
    return complex_of(re, im, b)


@lower("RFFT", "RFFT2D", "RFFT3D")
def rfft(node, b):
    """The half of the transform of real numbers that says all."""
    rank = RANKS.get(node.type[-2:], 1)
    x, lengths = node.inputs[0], lengths_of(node, rank)
    if rank < 3 and all(map(is_power, lengths)):  # RFFT2D cuts by itself
        if rank == 2:
            return b.RFFT2D(x, np.array(lengths, np.int32))
        rows = b.RFFT2D(b.EXPAND_DIMS(x, np.int32(-2)), np.array([1, *lengths], np.int32))
        return b.SQUEEZE(rows, squeeze_dims=[rows.rank - 2])
    x = cut(x, lengths, b)
    parts = product((x, None), waves(lengths[-1], lengths[-1] // 2 + 1, lengths[-1], -1), b)
    re, im = along_others(parts, lengths[:-1], -1, b)
    return complex_of(re, im, b)


@lower("IRFFT", "IRFFT2D", "IRFFT3D")
def irfft(node, b):
    """The real numbers of which half of the transform is known."""
    rank = RANKS.get(node.type[-2:], 1)
    lengths = lengths_of(node, rank)
    n_half = lengths[-1] // 2 + 1
    parts = [cut(t, [*lengths[:-1], n_half], b) for t in parts_of(node.inputs[0], b)]
    parts = along_others(parts, lengths[:-1], 1, b)
    n = lengths[-1]
    # each number but the first, and the middle one of an even length, stands for two
    weights = np.where((np.arange(n_half) == 0) | (2 * np.arange(n_half) == n), 1, 2) / n
    cos, sin = (m * weights for m in waves(n_half, n, n, 1))
    return b.SUB(along_last(parts[0], cos, b), along_last(parts[1], sin, b))
