"""Discrete Fourier transforms of lengths that are powers of 2, in float64.

Sequences lie side by side, so that each step is one of vectors.

Source: Cooley and Tukey, An Algorithm for the Machine Calculation of Complex Fourier Series, 1965.
"""

from ...build.kernel import inline, kernel


@inline
def swap(a, b):
    """a, b = b, a"""
    for i in range(a.size):
        a[i], b[i] = b[i], a[i]


@inline
def reorder(real, imaginary):
    """The rows in the order of their positions' reversed bits."""
    n, j = real.shape[0], 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            swap(real[i], real[j])
            swap(imaginary[i], imaginary[j])


@inline
def combine(real, imaginary, other_real, other_imaginary, cosine, sine):
    """a, b = a + b * root, a - b * root of complex numbers, where root = cosine - i sine."""
    for i in range(real.size):
        x = other_real[i] * cosine + other_imaginary[i] * sine
        y = other_imaginary[i] * cosine - other_real[i] * sine
        other_real[i], other_imaginary[i] = real[i] - x, imaginary[i] - y
        real[i], imaginary[i] = real[i] + x, imaginary[i] + y


@inline
def transform(real, imaginary, roots):
    """x[k] = the sum over j of x[j] * exp(-2 pi i j k / n) of the n rows, in place.

    `roots` has cos and sin of 2 pi k / m for k below m / 2, where m is a multiple of n.
    """
    reorder(real, imaginary)
    n, size = real.shape[0], 2
    while size <= n:
        half, step = size // 2, 2 * roots.shape[0] // size
        for k in range(half):
            cosine, sine = roots[k * step, 0], roots[k * step, 1]
            for i in range(k, n, size):
                combine(
                    real[i], imaginary[i], real[i + half], imaginary[i + half], cosine, sine
                )  # fmt: skip
        size *= 2


@inline
def load_pairs(x, real, imaginary):
    """Two rows of `x`, cut or filled up with zeros, as one column of complex numbers."""
    for i in range(real.shape[0]):
        for pair in range(real.shape[1]):
            real[i, pair], imaginary[i, pair] = 0.0, 0.0
    columns = min(real.shape[0], x.shape[1])
    for row in range(min(2 * real.shape[1], x.shape[0])):
        target = imaginary if row & 1 else real
        for i in range(columns):
            target[i, row >> 1] = x[row, i]


@inline
def separate(real, imaginary, grid_real, grid_imaginary):
    """The transforms of both rows of each pair, the first half of them: rows of the grid.

    That of real numbers is its own conjugate backwards, so sums and differences tell them apart.
    """
    n = real.shape[0]
    for row in range(grid_real.shape[0]):
        pair = row >> 1
        for k in range(grid_real.shape[1]):
            opposite = (n - k) & (n - 1)
            a, b = real[k, pair], imaginary[k, pair]
            c, d = real[opposite, pair], -imaginary[opposite, pair]
            if row & 1:
                grid_real[row, k], grid_imaginary[row, k] = 0.5 * (b - d), 0.5 * (c - a)
            else:
                grid_real[row, k], grid_imaginary[row, k] = 0.5 * (a + c), 0.5 * (b + d)


@kernel(
    "x:float32[n,*,*] roots:float64[*,2] scratch_pairs:float64[n,2,*,*] "
    "scratch_grid:float64[n,2,height,half] out:float32[n,height,half,2]"
)
def rfft2(x, roots, scratch_pairs, scratch_grid, out, first, last, fault):
    """The transforms of images of the sizes of scratch_pairs, cut to them or filled with zeros.

    Of each row of results the first half and the element after it stay.
    """
    for item in range(first, last):
        real, imaginary = scratch_pairs[item, 0], scratch_pairs[item, 1]
        grid_real, grid_imaginary = scratch_grid[item, 0], scratch_grid[item, 1]
        load_pairs(x[item], real, imaginary)
        transform(real, imaginary, roots)
        separate(real, imaginary, grid_real, grid_imaginary)
        transform(grid_real, grid_imaginary, roots)
        for row in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[item, row, i, 0] = grid_real[row, i]
                out[item, row, i, 1] = grid_imaginary[row, i]
