"""Results of the sums of tiles and panels (_gemm_i8_epilogue.py), as bytes or as float32."""

from typing import NamedTuple

from ...build.kernel import address, inline
from ...records import Int8Epilogue
from ...tiling import CHANNEL_BLOCK
from ._gemm_i8_epilogue import (
    FLOAT32_TERMS,
    float32_of_panel_sums,
    float32_of_tile_sums,
    int8_of_panel_sums,
    int8_of_tile_sums,
)
from ._requantize import TERMS


class Float32Epilogue(NamedTuple):
    """How float32 results are made of sums, beside the terms."""

    to_zero: int
    """Bytes from the scale of a row to its zero point."""
    low: float
    high: float
    in_tile: int
    """Whether tiles store results (_gemm_i8_float32_tile.py)."""


_NO_INT8 = Int8Epilogue(-1, 0, 0, 0, 0)


@inline
def float32_epilogue(row_scales, row_zeros, low, high, in_tile):
    """What makes float32 results of sums: `epilogue` and `to_float32` of `finish`."""
    to_zero = address(row_zeros) - address(row_scales)
    return _NO_INT8, Float32Epilogue(to_zero, low, high, in_tile)


@inline
def terms_of_tile(terms, to_float32, column):
    """The address of the terms of the tile that begins at `column`."""
    block = column // CHANNEL_BLOCK
    size = 8 * TERMS if to_float32 is None else 4 * FLOAT32_TERMS
    return terms + size * block + 4 * (column - CHANNEL_BLOCK * block)


@inline
def finish(sums, n_rows, headers, column, n, start, panel, offset, terms, epilogue, to_float32):
    """Turns the sums of `n_rows` rows into results.

    If they are those of a whole `panel`, not of a tile, they lack their zero-point correction. For
    float32 results of AMX there is none, as their weights have no zero point. `offset` was added
    to the inputs.
    """
    columns, tile_terms = n - column, terms_of_tile(terms, to_float32, column)
    # numba compiles what follows from one type of `to_float32` only.
    if to_float32 is None:
        rounding, zero_point, low, high, flip = epilogue
        if panel:
            int8_of_panel_sums(sums, n_rows, headers, column, columns, tile_terms, rounding,
                               zero_point, low, high, flip)  # fmt: skip
        else:
            int8_of_tile_sums(sums, n_rows, headers, column, columns, tile_terms, rounding,
                              zero_point, low, high, flip)  # fmt: skip
    else:
        to_zero, low_float32, high_float32, _ = to_float32
        if panel:
            float32_of_panel_sums(sums, n_rows, headers, 4 * column, columns, tile_terms, start,
                                  to_zero, 1 + offset, low_float32, high_float32)  # fmt: skip
        else:
            float32_of_tile_sums(sums, n_rows, headers, 4 * column, columns, tile_terms, start,
                                 to_zero, 1 + offset, low_float32, high_float32)  # fmt: skip
