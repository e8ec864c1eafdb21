"""Discrete Fourier transforms of lengths that are powers of 2, in float64.

Source: Cooley and Tukey, An Algorithm for the Machine Calculation of Complex Fourier Series, 1965.
"""

from ...build.kernel import inline, kernel


@inline
def reorder(real, imaginary, n):
    """The elements in the order of their positions' reversed bits."""
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            real[i], real[j] = real[j], real[i]
            imaginary[i], imaginary[j] = imaginary[j], imaginary[i]


@inline
def transform(real, imaginary, n, roots):
    """x[k] = the sum over j of x[j] * exp(-2 pi i j k / n), in place.

    `roots` has cos and sin of 2 pi k / m for k below m / 2, where m is a multiple of n.
    """
    reorder(real, imaginary, n)
    size = 2
    while size <= n:
        half, step = size // 2, 2 * roots.shape[0] // size
        for start in range(0, n, size):
            for k in range(half):
                cosine, sine = roots[k * step, 0], roots[k * step, 1]
                i, j = start + k, start + k + half
                a = real[j] * cosine + imaginary[j] * sine
                b = imaginary[j] * cosine - real[j] * sine
                real[j], imaginary[j] = real[i] - a, imaginary[i] - b
                real[i], imaginary[i] = real[i] + a, imaginary[i] + b
        size *= 2


@kernel(
    "x:float32[n,*,*] roots:float64[*,2] scratch_grid:float64[n,height,half,2] "
    "scratch_line:float64[n,2,*] out:float32[n,height,half,2] width:i"
)
def rfft2(x, roots, scratch_grid, scratch_line, out, width, first, last, fault):
    """The transforms of images cut or filled up with zeros to `height` and `width`.

    Of each row of results the first half and the element after it are kept.
    """
    height, half = out.shape[1], out.shape[2]
    for item in range(first, last):
        grid, real, imaginary = scratch_grid[item], scratch_line[item, 0], scratch_line[item, 1]
        for row in range(height):
            columns = min(width, x.shape[2]) if row < x.shape[1] else 0
            for i in range(columns):
                real[i] = x[item, row, i]
            for i in range(columns, width):
                real[i] = 0.0
            for i in range(width):
                imaginary[i] = 0.0
            transform(real, imaginary, width, roots)
            for i in range(half):
                grid[row, i, 0], grid[row, i, 1] = real[i], imaginary[i]
        for column in range(half):
            for row in range(height):
                real[row], imaginary[row] = grid[row, column, 0], grid[row, column, 1]
            transform(real, imaginary, height, roots)
            for row in range(height):
                out[item, row, column, 0] = real[row]
                out[item, row, column, 1] = imaginary[row]
