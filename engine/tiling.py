"""Numbers that kernels and the families that call them share: what there is room for. No numba."""

PANEL = 32
"""Columns of weights that are packed together."""

BLOCK_ROWS = 16
"""Rows of inputs in a block, and addresses in a table."""

TABLES = 384
"""Tables of addresses that a product has room for."""

CHAIN = 128
"""Products added in float32 before their sum goes to the total: keeps rounding errors small."""

TILE_HEADERS = 3
"""Tables of an int8 tile beside those of its inputs."""

BLOCK_BYTES = 5 << 16
"""Bytes for blocks of inputs of the integer products."""

AMX_DEPTH = 64
"""Bytes of depth that an AMX product takes at a time."""

DEPTHWISE_TAPS = 256
"""Tables of addresses that a float32 depthwise convolution has room for."""

NARROW_COLUMNS, NARROW_DEPTH = 8, 8
"""Columns of a vector of narrow tiles, and products in each of a row of a panel."""

NARROW_VECTORS = 3
"""Vectors of a narrow tile, at most: those of four have too few rows to pay."""

DOT_PANELS = 4
"""Panels of an item of a product of one row with packed weights."""

DOT_ROWS = 8
"""Rows of weights of an item of a product of one row."""

HEADER_ROWS = 3
"""Rows of a panel of blockwise weights before its blocks: sums of weights, scales, biases."""

TILE_LANES = 16
"""Channels of an int8 tile of Winograd's that are transformed at a time."""

EXP_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-1/4), exp(-1/2), exp(-1), ... exp(-16), times 2 ** 31."""

CHANNEL_BLOCK = 16
"""Channels whose numbers of requantization lie together."""

OUTER_BLOCK = 32
"""Channels of an item of a sum of outer products."""

FORM = 6
"""The one of the numbers of a sum or product of two int8 that says whether they fit all pairs."""

PRODUCT_FORM, AWAY_SUM_FORM, NEAR_SUM_FORM = 1, 2, 3
"""What it says then: of which they are. Of the last two the first is a sum whose halves go away
from zero, the other one that is not sure next to a half."""

HISTOGRAM = 2048
"""Intervals of a histogram over the values that are seen first; up to twice as many later."""

SQUARE_STRIPS = ((3, 1), (3, 2), (5, 2))
"""Width and stride of the square filters of int8 that have strips of their own: results of others
meet more columns than registers hold sums for."""
