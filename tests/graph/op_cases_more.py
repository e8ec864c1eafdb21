"""Boxes, counts, colours and hashes."""

import numpy as np
from op_cases import CASES, c, case, f, i

BEFORE = len(CASES)
BOXES = f(12, 4, low=0.0, high=1.0)
SCORES = f(12, low=0.0, high=1.0)
NUMBERS = {
    "overlap": c(0.2, np.float32),
    "least": c(0.3, np.float32),
    "sigma": c(0.25, np.float32),
}


def data_case(id, op, *inputs, **attrs):
    case(id, op, *inputs, data_dependent=True, **attrs)


data_case("NonMaxSuppression", "NonMaxSuppression", BOXES, SCORES, c(6), iou_threshold=0.3)
data_case("NonMaxSuppressionV2", "NonMaxSuppressionV2", BOXES, SCORES, c(6), NUMBERS["overlap"])
for limit in (3, 20):
    thresholds = NUMBERS["overlap"], NUMBERS["least"]
    data_case(f"NonMaxSuppressionV3/{limit}", "NonMaxSuppressionV3", BOXES, SCORES, c(limit),
              *thresholds)  # fmt: skip
    for pad in (False, True):
        attrs = {"pad_to_max_output_size": pad}
        add = case if pad else data_case
        add(f"NonMaxSuppressionV4/{limit}{pad}", "NonMaxSuppressionV4", BOXES, SCORES, c(limit),
            *thresholds, **attrs)  # fmt: skip
        add(f"NonMaxSuppressionV5/{limit}{pad}", "NonMaxSuppressionV5", BOXES, SCORES, c(limit),
            *NUMBERS.values(), **attrs)  # fmt: skip
NUMBER = i(9, low=0, high=7)
ROWS = i(3, 5, low=0, high=7)
case("Bincount", "Bincount", NUMBER, c(6), c([], np.float32))
case("Bincount/weights", "Bincount", NUMBER, c(6), f(9))
case("DenseBincount", "DenseBincount", NUMBER, c(8), c([]))
case("DenseBincount/rows", "DenseBincount", ROWS, c(5), f(3, 5))
case("DenseBincount/binary", "DenseBincount", ROWS, c(6), c([], np.float32), binary_output=True)
data_case("UniqueWithCounts", "UniqueWithCounts", i(9, low=0, high=4))
SORTED = c([[1, 2, 2, 5], [0, 0, 4, 9]], np.float32)
VALUES = c([[2, 0, 9], [0, 3, 9]], np.float32)
case("LowerBound", "LowerBound", SORTED, VALUES)
case("UpperBound", "UpperBound", SORTED, VALUES, out_type=np.int64)
COLOURS = f(2, 4, 3, low=0.0, high=1.0)
case("RGBToHSV", "RGBToHSV", COLOURS)
case("RGBToHSV/grey", "RGBToHSV", c([[0, 0, 0], [0.5, 0.5, 0.5], [1, 0, 0]], np.float32))
case("HSVToRGB", "HSVToRGB", COLOURS)
case("AdjustContrastv2", "AdjustContrastv2", f(2, 4, 5, 3), c(1.5, np.float32))
case(
    "StringToHashBucketFast",
    "StringToHashBucketFast",
    np.array([b"", b"word", b"a much longer text, of more than sixty-four bytes " * 3], object),
    num_buckets=1000,
)
case(
    "StringToHashBucketFast/1",
    "StringToHashBucketFast",
    np.array([[b"one"], [b"two"]], object),
    num_buckets=1,
)
MORE_CASES = CASES[BEFORE:]
"""Those of this file, which have a file of answers of their own."""
