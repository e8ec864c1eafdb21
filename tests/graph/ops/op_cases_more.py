"""Boxes, counts, colours and hashes."""

from itertools import pairwise

import numpy as np
from op_cases import CASES, c, case, f, i, z

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
for axes in ([], [0], [-1]):
    x = i(6, 2, low=0, high=2) if axes else i(9, low=0, high=4)
    data_case(f"UniqueWithCountsV2/{axes}", "UniqueWithCountsV2", x, c(axes))
for kind in ("Update", "Add", "Sub"):
    case(f"Inplace{kind}", f"Inplace{kind}", f(4, 3), c([1, -1, 1, 6]), f(4, 3))
    case(f"Inplace{kind}/int", f"Inplace{kind}", i(3, 2, 2), c([0, 0]), i(2, 2, 2))
    case(f"Inplace{kind}/empty", f"Inplace{kind}", f(3, 2), c([]), f(0, 2))
case("InplaceUpdate/row", "InplaceUpdate", f(3), c([4, 1]), f(2))
FORMATS = [(b"NHWC", b"NCHW"), (b"HWNC", b"NHWC"), (b"NDHWC", b"NCDHW"), (b"WCHN", b"NHWC")]
for source, destination in FORMATS:
    formats, n = {"src_format": source, "dst_format": destination}, len(source)
    id = f"{source.decode()}{destination.decode()}"
    case(f"DataFormatDimMap/{id}", "DataFormatDimMap", c(range(-3 * n, 3 * n)), **formats)
    for shape in ((n,), (n, 2), (n - 2,), (n - 2, 2)):
        of = f"DataFormatVecPermute/{id}{shape}"
        case(of, "DataFormatVecPermute", i(*shape, dtype=np.int64), **formats)
case("DataFormatVecPermute", "DataFormatVecPermute", i(4))
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
POSITIVE, X, INSIDE = f(3, 5, low=0.1, high=6), f(3, 5, low=0, high=9), f(3, 5, low=0.01, high=0.99)
for name in ("Igamma", "Igammac"):
    case(name, name, POSITIVE, X, rtol=1e-5)
case("Betainc", "Betainc", POSITIVE, POSITIVE, INSIDE, rtol=2e-5)
case("Polygamma", "Polygamma", c([[0.0], [1.0], [3.0]], np.float32), POSITIVE, rtol=1e-4)
case("Zeta", "Zeta", f(3, 5, low=1.1, high=5), POSITIVE, rtol=1e-5)
for name in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e"):
    case(name, name, f(3, 5, low=-9, high=9), rtol=1e-5)
case("CumulativeLogsumexp", "CumulativeLogsumexp", f(3, 5), c(1), rtol=1e-5)
case("FFT3D", "FFT3D", z(2, 3, 4, 2), rtol=1e-4)
case("IFFT3D", "IFFT3D", z(2, 3, 4, 2), rtol=1e-4)
case("RFFT3D", "RFFT3D", f(3, 4, 6), c([3, 4, 6]), rtol=1e-4)
case("IRFFT3D", "IRFFT3D", z(3, 4, 4), c([3, 4, 6]), rtol=1e-4)
STRINGS = np.array([[b"a b", b"c"], [b"", b" d  e"]], object)
WORDS = np.array([b"a b", b"", b" d,,e"], object)
case("AsString", "AsString", c([1.5, -2e-7], np.float32), width=12, precision=2)
case("ReduceJoin", "ReduceJoin", STRINGS, c([1, 0]), separator="-")
case("ReduceJoin/keep_dims", "ReduceJoin", STRINGS, c([-1]), keep_dims=True)
data_case("StringSplit", "StringSplit", WORDS, np.array(b" ,", object))
data_case("StringSplitV2", "StringSplitV2", WORDS, np.array(b",", object), maxsplit=1)
case("StringToHashBucket", "StringToHashBucket", STRINGS, num_buckets=1000)
case("EncodeBase64", "EncodeBase64", STRINGS, pad=True)
case("DecodeBase64", "DecodeBase64", np.array([b"YT8-Yg", b"eHl6", b"YWI="], object))
case("UnicodeTranscode", "UnicodeTranscode", STRINGS, input_encoding="UTF-8",
     output_encoding="UTF-16-BE")  # fmt: skip
case("StringFormat", "StringFormat", [f(2, 9), i(3)], template="%s and %s")
SETS = c([[1, 2, 2], [3, 4, 5]]), c([[2, 1, 7], [9, 5, 3]])
PLACES, ELEMENTS, WHOLE = c([[0, 0], [1, 1]], np.int64), c([2, 9]), c([2, 3], np.int64)
for operation in ("a-b", "b-a", "intersection", "union"):
    data_case(f"Dense/{operation}", "DenseToDenseSetOperation", *SETS, set_operation=operation)
    data_case(f"DenseToSparse/{operation}", "DenseToSparseSetOperation", SETS[0], PLACES, ELEMENTS,
              WHOLE, set_operation=operation)  # fmt: skip
    data_case(f"Sparse/{operation}", "SparseToSparseSetOperation", PLACES, ELEMENTS, WHOLE, PLACES,
              c([2, 8]), WHOLE, set_operation=operation)  # fmt: skip
case("SetSize", "SetSize", PLACES, ELEMENTS, WHOLE, data_dependent=True)
SQUARE, RHS, BANDS = f(2, 4, 4), f(2, 4, 3), f(2, 3, 4, low=0.5, high=3)


def positive(rng):
    """Symmetric matrices with positive eigenvalues."""
    x = rng.randn(2, 4, 4).astype(np.float32)
    return x @ x.transpose(0, 2, 1) + np.eye(4, dtype=np.float32)


case("Lu", "Lu", SQUARE, rtol=1e-5)
case("Lu/complex", "Lu", z(2, 3, 3), output_idx_type=np.int64, rtol=1e-5)
case("MatrixSquareRoot", "MatrixSquareRoot", positive, rtol=1e-5)
case("MatrixLogarithm", "MatrixLogarithm", z(2, 3, 3), rtol=1e-5)
case("MatrixSolveLs", "MatrixSolveLs", f(2, 4, 3), RHS, c(0.1, np.float64), rtol=1e-5)
case("MatrixSolveLs/wide", "MatrixSolveLs", f(2, 3, 4), f(2, 3, 2), c(0.1, np.float64), rtol=1e-5)
case("MatrixSolveLs/slow", "MatrixSolveLs", f(2, 3, 4), f(2, 3, 2), c(0, np.float64), fast=False,
     rtol=1e-5)  # fmt: skip
case("TridiagonalSolve", "TridiagonalSolve", BANDS, RHS, rtol=1e-5)
case("TridiagonalSolve/plain", "TridiagonalSolve", BANDS, RHS, partial_pivoting=False, rtol=1e-4)
case("TridiagonalSolve/singular", "TridiagonalSolve",
     c([[[1, 1, 0], [0, 1, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 1, 0]]], np.float32),
     f(2, 3, 1), rtol=1e-5)  # fmt: skip
case("TridiagonalMatMul", "TridiagonalMatMul", f(2, 1, 4), f(2, 1, 4), f(2, 1, 4), RHS)
for lower in (True, False):
    for adjoint in (True, False):
        case(f"BandedTriangularSolve/{lower}{adjoint}", "BandedTriangularSolve", BANDS, f(4, 3),
             lower=lower, adjoint=adjoint, rtol=1e-5)  # fmt: skip
LOGITS, STEPS = f(6, 2, 5), c([6, 4])
PLACED = c([[0, 0], [0, 1], [0, 2], [1, 0]], np.int64)
case("CTCLoss", "CTCLoss", LOGITS, PLACED, c([2, 2, 1, 0]), STEPS, rtol=1e-5)
case("CTCLoss/alike", "CTCLoss", LOGITS, PLACED, c([2, 2, 1, 3]), STEPS, rtol=1e-5,
     preprocess_collapse_repeated=True, ctc_merge_repeated=False)  # fmt: skip
data_case("CTCGreedyDecoder", "CTCGreedyDecoder", LOGITS, STEPS, rtol=1e-5)
data_case("CTCBeamSearchDecoder", "CTCBeamSearchDecoder", LOGITS, STEPS, rtol=1e-5, beam_width=9,
          top_paths=2)  # fmt: skip
data_case("ComputeAccidentalHits", "ComputeAccidentalHits", c([[1, 2], [3, 3]], np.int64),
          c([3, 5, 1, 3], np.int64), num_true=2)  # fmt: skip
ENDS = [0, 2, 3, 4], [0, 1, 3, 5]
REGIONS = np.random.RandomState(5).permutation(40).reshape(1, 4, 5, 2).astype(np.float32)
for more in (0, 1):
    best = [
        [REGIONS[0, i : j + more, k : n + more].max((0, 1)) for k, n in pairwise(ENDS[1])]
        for i, j in pairwise(ENDS[0])
    ]
    ends = [c(end, np.int64) for end in ENDS]
    case(f"FractionalMaxPoolGrad/{more}", "FractionalMaxPoolGrad", REGIONS,
         c([best], np.float32), f(1, 3, 3, 2), *ends, overlapping=bool(more))  # fmt: skip
    case(f"FractionalAvgPoolGrad/{more}", "FractionalAvgPoolGrad", c([1, 4, 5, 2], np.int64),
         f(1, 3, 3, 2), *ends, overlapping=bool(more))  # fmt: skip


def pooled(*sizes):
    """Integers, and the largest of each pair of rows, as a pool would give."""
    x = np.random.RandomState(5).permutation(np.prod(sizes)).reshape(sizes).astype(np.float32)
    return x, x.reshape(sizes[0], sizes[1] // 2, 2, *sizes[2:]).max(2)


for name, (x, y), attrs in (
    ("MaxPool", pooled(1, 4, 3, 2), {"ksize": [1, 2, 1, 1], "strides": [1, 2, 1, 1]}),
    ("MaxPool3D", pooled(1, 4, 3, 2, 2), {"ksize": [1, 2, 1, 1, 1], "strides": [1, 2, 1, 1, 1]}),
):
    if name == "MaxPool3D":
        case("MaxPool3DGrad", "MaxPool3DGrad", x, y, f(*y.shape), padding="VALID", **attrs)
    case(f"{name}GradGrad", f"{name}GradGrad", x, y, f(*x.shape), padding="VALID", **attrs)
VOLUME = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 2, 1], "padding": "SAME"}
case("AvgPool3DGrad", "AvgPool3DGrad", c([1, 2, 3, 4, 2]), f(1, 2, 3, 2, 2), rtol=1e-5, **VOLUME)
ARGMAX = c([[[[3], [1]]], [[[2], [0]]]], np.int64)
for whole in (False, True):
    at = ARGMAX + whole * c([0, 4], np.int64).reshape(2, 1, 1, 1)
    case(f"MaxPoolGradWithArgmax/{whole}", "MaxPoolGradWithArgmax", f(2, 2, 2, 1), f(2, 1, 2, 1),
         at, ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding="VALID",
         include_batch_in_index=whole)  # fmt: skip
for name, shape in (("Input", (1, 4, 5, 2)), ("Filter", (1, 4, 5, 2))):
    case(f"Dilation2DBackprop{name}", f"Dilation2DBackprop{name}", f(*shape), f(2, 2, 2),
         f(1, 2, 5, 2), strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding="SAME",
         rtol=1e-5)  # fmt: skip
case("IgammaGradA", "IgammaGradA", POSITIVE, X, rtol=1e-4)
case("RandomGammaGrad", "RandomGammaGrad", POSITIVE, f(3, 5, low=0.1, high=9), rtol=1e-4)
for align, half in ((False, False), (True, False), (False, True)):
    sampling = {"align_corners": align, "half_pixel_centers": half}
    for rows, columns in ((7, 3), (2, 9)):
        name = f"{rows}x{columns}{align}{half}"
        case(f"ResizeBilinearGrad/{name}", "ResizeBilinearGrad", f(2, rows, columns, 3),
             f(2, 4, 5, 3), rtol=1e-5, **sampling)  # fmt: skip
        case(f"ResizeNearestNeighborGrad/{name}", "ResizeNearestNeighborGrad",
             f(2, rows, columns, 3), c([4, 5]), rtol=1e-5, **sampling)  # fmt: skip
NORMED = {"depth_radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.6}
case("LRNGrad", "LRNGrad", f(2, 3, 3, 9), f(2, 3, 3, 9), f(2, 3, 3, 9), rtol=1e-5, **NORMED)
LIMITS = {"num_bits": 6, "narrow_range": True}
case("FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxArgsGradient", f(5, 7), f(5, 7),
     min=-0.31, max=0.64, **LIMITS)  # fmt: skip
case("FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsGradient", f(5, 7), f(5, 7),
     c(-0.31, np.float32), c(0.64, np.float32), rtol=1e-5, **LIMITS)  # fmt: skip
case("FakeQuantWithMinMaxVarsGradient/zeros", "FakeQuantWithMinMaxVarsGradient", f(5, 7), f(5, 7),
     c(0, np.float32), c(0, np.float32), **LIMITS)  # fmt: skip
case("FakeQuantWithMinMaxVarsPerChannelGradient", "FakeQuantWithMinMaxVarsPerChannelGradient",
     f(6, 3), f(6, 3), c([-0.2, -0.6, -0.4], np.float32), c([0.5, 0.2, 0.9], np.float32),
     rtol=1e-5, **LIMITS)  # fmt: skip
"""Those of this file, which have a file of answers of their own."""
for narrow in (False, True):
    ends = {"num_bits": 7, "narrow_range": narrow}
    case(f"FakeQuantWithMinMaxArgsGradient/{narrow}", "FakeQuantWithMinMaxArgsGradient",
         f(9, 3), f(9, 3), min=-1.5, max=0.75, **ends)  # fmt: skip
    case(f"FakeQuantWithMinMaxVarsGradient/{narrow}", "FakeQuantWithMinMaxVarsGradient",
         f(9, 3), f(9, 3), c(-0.6, np.float32), c(1.1, np.float32), **ends)  # fmt: skip
    case(f"FakeQuantWithMinMaxVarsPerChannelGradient/{narrow}",
         "FakeQuantWithMinMaxVarsPerChannelGradient", f(9, 3), f(9, 3),
         f(3, low=-1, high=-0.5), f(3, low=0.5, high=1), **ends)  # fmt: skip
case("FakeQuantWithMinMaxVarsGradient/empty", "FakeQuantWithMinMaxVarsGradient",
     f(9), f(9), c(0, np.float32), c(0, np.float32))  # fmt: skip
ROUNDINGS = ({}, {"signed_input": False}, {"narrow_range": True}, {"num_bits": 5},
             {"round_mode": "HALF_UP"})  # fmt: skip
for number, attrs in enumerate(ROUNDINGS):
    for version in ("V2", "V4"):
        kind = f"QuantizeAndDequantize{version}"
        for name, low, high in (("low", -1.9, 1.2), ("high", -0.7, 1.3)):
            case(f"{kind}/{number}{name}", kind, f(9, 3), c(low, np.float32),
                 c(high, np.float32), range_given=True, **attrs)  # fmt: skip
        case(f"{kind}/{number}own", kind, f(9, 3), c(0, np.float32), c(0, np.float32), **attrs)
    case(f"QuantizeAndDequantizeV2/{number}axis", "QuantizeAndDequantizeV2", f(4, 9, 3),
         f(9), f(9), axis=1, **attrs)  # fmt: skip
HALVES = (np.arange(255, dtype=np.float32).reshape(85, 3) + np.float32(0.5)) / np.float32(255)
case("FakeQuantWithMinMaxArgs/halves", "FakeQuantWithMinMaxArgs", HALVES, min=0.0, max=1.0)
case(
    "FakeQuantWithMinMaxVars/halves",
    "FakeQuantWithMinMaxVars",
    HALVES,
    c(0, np.float32),
    c(1, np.float32),
)
case(
    "FakeQuantWithMinMaxVarsPerChannel/halves",
    "FakeQuantWithMinMaxVarsPerChannel",
    HALVES,
    c([0, 0, 0], np.float32),
    c([1, 1, 1], np.float32),
)
for _size, _stride in ((2, 1), (16, 7), (30, 10), (400, 160)):
    case(f"AudioSpectrogram/{_size}", "AudioSpectrogram", f(300, 2), window_size=_size,
         stride=_stride, rtol=1e-5)  # fmt: skip
case("AudioSpectrogram/squared", "AudioSpectrogram", f(99, 1), window_size=16, stride=5,
     magnitude_squared=True, rtol=1e-5)  # fmt: skip
_SPECTRUM = f(2, 3, 257, low=0.0, high=9.0)
case("Mfcc", "Mfcc", _SPECTRUM, c(16000), rtol=1e-5)
case("Mfcc/limits", "Mfcc", _SPECTRUM, c(8000), upper_frequency_limit=3300.5,
     lower_frequency_limit=99.5, filterbank_channel_count=20, dct_coefficient_count=20,
     rtol=1e-5)  # fmt: skip
case("Mfcc/silence", "Mfcc", c(np.zeros((1, 2, 65)), np.float32), c(16000), rtol=1e-5)
for _kind in ("Sum", "Mean", "SqrtN"):
    _indices, _ids = c([4, 0, 4, 2, 1]), c([0, 0, 1, 1, 3])
    case(f"SparseSegment{_kind}Grad", f"SparseSegment{_kind}Grad", f(4, 3), _indices, _ids, c(6))
    case(f"SparseSegment{_kind}Grad/cubes", f"SparseSegment{_kind}Grad",
         f(5, 2, 2, dtype=np.float64), _indices.astype(np.int64), _ids.astype(np.int64),
         c(5))  # fmt: skip
    case(f"SparseSegment{_kind}Grad/empty", f"SparseSegment{_kind}Grad", f(0, 2), c([]), c([]),
         c(0))  # fmt: skip
_TIES = c([[0.5, 0.5, 0.1, np.inf], [3, 1, 2, 1], [0, 1, 2, 3]], np.float32)
case("InTopK", "InTopK", _TIES, c([1, 3, 9]), k=2)
case("InTopK/int64", "InTopK", f(6, 5), i(6, low=0, high=5, dtype=np.int64), k=3)
for _type in (np.float32, np.float64):
    case(f"ApproximateEqual/{_type.__name__}", "ApproximateEqual", i(20, dtype=_type),
         i(20, dtype=_type), tolerance=2.0)  # fmt: skip
case("ApproximateEqual", "ApproximateEqual", c([1, 1, np.nan, np.inf], np.float32),
     c([1, 1.00001, np.nan, np.inf], np.float32))  # fmt: skip
case("Complex/broadcast", "Complex", f(), f(2, 3), Tout=np.complex64)
MORE_CASES = CASES[BEFORE:]
