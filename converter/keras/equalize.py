"""Images whose contrast is equalized tile by tile, and bounding boxes of a fixed number."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core.graph import Tensor
from ...schema.errors import ModelError
from .augment import LIGHTEST, RANGE, stretched, value_range
from .files.architecture import flatten
from .preprocess import as_images
from .registry import ANY, EXPORT, Call, is_integer, layer

LEVELS = 256


class _Tiles:
    """The tiles of images of one size.

    Attributes:
        rows, columns: how many tiles there are.
        height, width: of each.
        padded: of the images, which tiles cover whole.
    """

    def __init__(self, call: Call, size: tuple[int, int]):
        self.rows, self.columns = call.integers("tile_grid_size", 2, 8)
        self.height, self.width = -(-size[0] // self.rows), -(-size[1] // self.columns)
        self.padded = self.height * self.rows, self.width * self.columns
        missing = [n - m for n, m in zip(self.padded, size, strict=True)]
        call.require(
            all(n <= m for n, m in zip(missing, size, strict=True)),
            f"images of {size} must be at least half as large as all tiles together, {self.padded}",
        )
        self.missing = missing


@layer("ContrastLimitedAdaptiveHistogramEqualization")
def equalized(call: Call, x: Tensor) -> Tensor:
    """Each pixel's rank in the histograms of the four tiles around it, interpolated.

    Of a histogram, what is above a limit is spread over all of its levels.
    """
    x, restored = as_images(call, x)
    dtype, limits = x.dtype, value_range(call)
    height, width, channels = (call.known(n, "all sizes of images") for n in call.shape(x)[1:])
    tiles = _Tiles(call, (height, width))
    y = stretched(call, call.cast(x, np.float32), limits, RANGE)
    y = call.op("Minimum", call.op("Maximum", y, _number(call, 0)), _number(call, LIGHTEST))
    levels = call.op("Cast", y, DstT=np.dtype(np.int32))
    if any(tiles.missing):
        pairs = call.constant([[0, 0], *([0, n] for n in tiles.missing), [0, 0]])
        levels = call.op("MirrorPad", levels, pairs, mode="SYMMETRIC")
    ranks = _ranks(call, _histograms(call, levels, tiles, channels), tiles)
    y = _looked_up(call, ranks, levels, tiles, channels)
    if any(tiles.missing):
        begin, sizes = call.constant([0] * 4), call.constant([-1, height, width, -1])
        y = call.op("Slice", y, begin, sizes)
    return restored(call.cast(stretched(call, y, RANGE, limits), dtype))


def _number(call: Call, value: float) -> Tensor:
    return call.constant_of(value, np.float32)


def _histograms(call: Call, levels: Tensor, tiles: _Tiles, channels: int) -> Tensor:
    """[tiles of all images and channels, LEVELS]: how often each level is in a tile."""
    n_pixels = tiles.height * tiles.width
    shape = [-1, tiles.height, tiles.columns, tiles.width, channels]
    x = call.op("Reshape", levels, call.constant(shape))
    x = call.op("Transpose", x, call.constant([0, 2, 4, 1, 3]))
    x = call.op("Reshape", x, call.constant([-1, n_pixels]))
    n_tiles = call.size(x, 0)
    first = call.op("Range", call.constant(0), n_tiles, call.constant(1))
    first = call.op("Mul", first, call.constant(LEVELS))
    x = call.op("AddV2", x, call.op("ExpandDims", first, call.constant(1)))
    ones = call.op("Fill", call.op("Shape", x), _number(call, 1))
    n_counts = call.op("Mul", n_tiles, call.constant(LEVELS))
    counts = call.op("UnsortedSegmentSum", ones, x, n_counts)
    return call.op("Reshape", counts, call.constant([-1, LEVELS]))


def _ranks(call: Call, counts: Tensor, tiles: _Tiles) -> Tensor:
    """Where each level stands in a histogram: from 0 to LIGHTEST."""
    n_pixels, last = tiles.height * tiles.width, call.constant([-1])
    limit = call.number("clip_limit", 4.0)
    if limit > 0:
        most = _number(call, limit * n_pixels / LEVELS)
        clipped = call.op("Minimum", counts, most)
        above = call.op("Sum", call.op("Sub", counts, clipped), last, keep_dims=True)
        share = call.op("Mul", above, _number(call, 1 / LEVELS))
        counts = call.op("AddV2", clipped, share)
    sums = call.op("Cumsum", counts, call.constant(-1))
    least = call.op("Min", sums, last, keep_dims=True)
    beyond = call.op("Sub", _number(call, n_pixels), least)
    is_none = call.op("Equal", beyond, _number(call, 0))
    beyond = call.op("SelectV2", is_none, _number(call, 1), beyond)
    scaled = call.op("Mul", call.op("Sub", sums, least), _number(call, LIGHTEST))
    y = call.op("RealDiv", scaled, beyond)
    return call.op("Minimum", call.op("Maximum", y, _number(call, 0)), _number(call, LIGHTEST))


def _looked_up(call: Call, ranks: Tensor, levels: Tensor, tiles: _Tiles, channels: int) -> Tensor:
    """The ranks of pixels, interpolated between the middles of tiles; edges are repeated."""
    shape = [-1, tiles.rows, tiles.columns, channels * LEVELS]
    x = call.op("Reshape", ranks, call.constant(shape))
    edges = call.constant([[0, 0], [1, 1], [1, 1], [0, 0]])
    x = call.op("MirrorPad", x, edges, mode="SYMMETRIC")
    column_step = channels * LEVELS
    row_step = (tiles.columns + 2) * column_step
    x = call.op("Reshape", x, call.constant([-1, (tiles.rows + 2) * row_step]))
    rows, row_share = _around(tiles.padded[0], tiles.height)
    columns, column_share = _around(tiles.padded[1], tiles.width)
    channel = np.arange(channels, dtype=np.int32) * LEVELS

    def at(row: int, column: int) -> Tensor:
        tile = rows[row][:, None] * row_step + columns[column] * column_step
        indices = call.op("AddV2", levels, call.constant(tile[None, ..., None] + channel))
        return call.op("GatherV2", x, indices, call.constant(1), batch_dims=1)

    def between(one: Tensor, other: Tensor, share: np.ndarray) -> Tensor:
        parts = (one, 1 - share), (other, share)
        weighted = (call.op("Mul", y, call.constant_of(w, np.float32)) for y, w in parts)
        return call.op("AddV2", *weighted)

    above, below = (between(at(i, 0), at(i, 1), column_share[:, None]) for i in (0, 1))
    return between(above, below, row_share[:, None, None])


def _around(size: int, length: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Of each row or column the tiles before and after it, and how near it is to the latter.

    Tiles are `length` long and counted from that which repeats the first one's edge.
    """
    position = (np.arange(size, dtype=np.float32) - np.float32(length / 2)) / length + 1
    before = np.floor(position)
    return [before.astype(np.int32) + i for i in (0, 1)], (position - before).astype(np.float32)


@layer("MaxNumBoundingBoxes", takes=ANY)
def fixed_number(call: Call, data: Any) -> Any:
    """Images as they are, with as many boxes and labels of each as the layer has."""
    if isinstance(data, Tensor):
        return data
    call.require(isinstance(data, dict), f"takes images, or a dict with bounding_boxes; {EXPORT}")
    boxes = data.get("bounding_boxes")
    if not isinstance(boxes, dict) or boxes.keys() != {"boxes", "labels"}:
        raise ModelError(f"{call.layer.title}: bounding_boxes must be boxes and labels")
    fixed = {key: _resized(call, x) for key, x in boxes.items()}
    results = flatten(data | {"bounding_boxes": fixed}, by_key=True)
    for result in results:
        call.shape(result)
    return results


def _resized(call: Call, x: Tensor) -> Tensor:
    """The first of the boxes or labels of each image, and then as many that are none."""
    (number,), rank = call.integers("max_number", 1), len(call.shape(x))
    value = call.setting("fill_value", -1)
    call.check(is_integer(value), "fill_value", "an integer")
    pairs = call.constant([[0, 0], [0, number], *([0, 0] for _ in range(rank - 2))])
    x = call.op("PadV2", x, pairs, call.constant(value, x))
    begin, sizes = call.constant([0] * rank), call.constant([-1, number, *[-1] * (rank - 2)])
    return call.op("Slice", x, begin, sizes)
