"""Kernels and shape functions against what TensorFlow gave for the cases of op_cases_*.py."""

from pathlib import Path

import numpy as np
import op_cases_array
import op_cases_images
import op_cases_math
import op_cases_more
import op_cases_nn
import op_cases_recurrent
import pytest
from op_cases import CASES

from flatlite.graph.core import registry
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.signatures.signatures import signature_of

TABLES = (
    *(op_cases_array, op_cases_images, op_cases_math, op_cases_more, op_cases_nn),
    op_cases_recurrent,
)
GOLDENS = {
    key: array
    for name in (
        *("op_goldens.npz", "op_goldens_images.npz", "op_goldens_more.npz"),
        "op_goldens_recurrent.npz",
    )
    for key, array in np.load(Path(__file__).with_name(name)).items()
}

ELSEWHERE = {
    "MaxPoolGradV2",  # by finite differences, tests/training/test_derivatives.py
    "Assert",
    "Case",
    "CheckNumerics",
    "Print",
    "Const",
    "ControlTrigger",
    "Empty",
    "EmptyTensorList",
    "GuaranteeConst",
    "HashTable",
    "HashTableV2",
    "If",
    "LookupTableFind",
    "LookupTableFindV2",
    "LookupTableSizeV2",
    "NoOp",
    "PartitionedCall",
    "Placeholder",
    "PlaceholderV2",
    "PlaceholderWithDefault",
    "StatefulPartitionedCall",
    "StatelessCase",
    "StatelessIf",
    "StatelessWhile",
    "While",
    "_Retval",
}
"""Kernels that other tests cover."""
ELSEWHERE |= {
    *("Cross", "LogMatrixDeterminant", "Qr", "SelfAdjointEigV2", "Svd"),
    *("RegexFullMatch", "RegexReplace", "StaticRegexFullMatch", "StaticRegexReplace"),
    *("StringLength", "StringLower", "StringStrip", "StringToHashBucketStrong"),
    *("StringToNumber", "StringUpper", "Substr"),
}
"""Those that make_expressions.py and the corpus' expressions cover."""
ELSEWHERE |= {
    *("ApproxTopK", "Dequantize", "QuantizeV2", "SparseMatMul", "ToBool"),
    *("StatelessRandomGetAlg", "StatelessRandomGetKeyCounter"),
    *(f"StatelessRandom{kind}" for kind in ("Normal", "Uniform", "UniformFullInt", "UniformInt")),
    *(f"StatelessRandom{kind}V2" for kind in ("Normal", "Uniform")),
    *("StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2"),
    *("StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
}
"""Those of tests/converter/tf/graph_functions.npz, and of expressions_random.py."""
ELSEWHERE |= {
    *("XlaBroadcastHelper", "XlaConv", "XlaConvV2", "XlaDot", "XlaDotV2", "XlaDynamicSlice"),
    *("XlaDynamicUpdateSlice", "XlaEinsum", "XlaGather", "XlaKeyValueSort"),
    *("XlaOptimizationBarrier", "XlaPad", "XlaReduce", "XlaReduceWindow", "XlaReplicaId"),
    *("XlaScatter", "XlaSetBound", "XlaSharding", "XlaSort", "XlaVariadicReduce"),
    *("XlaVariadicReduceV2", "XlaVariadicSort", "XlaWhile"),
}
"""Those of tests/converter/tf/xla_functions.npz."""
ELSEWHERE |= {
    *("EmptyTensorMap", "TensorMapErase", "TensorMapHasKey", "TensorMapInsert"),
    *("TensorMapLookup", "TensorMapSize", "TensorMapStackKeys"),
    *("RaggedTensorFromVariant", "RaggedTensorToVariant", "RaggedTensorToVariantGradient"),
    *("QuantizedRelu", "QuantizedRelu6", "QuantizedReshape", "SparseCrossHashed"),
    *("StatelessRandomGetKeyCounterAlg", "Timestamp"),
}
"""Those of files that TensorFlow wrote, tests/interpreter/flex/runs.npz."""
ELSEWHERE |= {"SobolSample"}
"""That of expressions_special.py."""
ELSEWHERE |= {"HistogramFixedWidth"}
"""That of tests/converter/tf/detection_functions.npz."""
ELSEWHERE |= {"PopulationCount", "XlaRngBitGenerator", "XlaSelectAndScatter"}
"""Those of tests/converter/stablehlo_forms.npz."""
ELSEWHERE |= {
    *("DecodeCSV", "DecodeCompressed", "DecodeJSONExample", "DecodePaddedRaw", "DecodeRaw"),
    *("ParseExample", "ParseExampleV2", "ParseSequenceExampleV2", "ParseSingleExample"),
    *("ParseSingleSequenceExample", "ParseTensor", "RaggedBincount", "RaggedCross"),
    *("RaggedGather", "RaggedRange", "RaggedTensorToSparse", "SerializeTensor", "SparseBincount"),
}
"""Those of row_programs.py."""
ELSEWHERE |= {
    *("DecodeWav", "EncodeWav", "ExtractVolumePatches"),
    *("RaggedFillEmptyRows", "RaggedFillEmptyRowsGrad"),
}
"""Those of expressions_names.py."""
ELSEWHERE |= {"DecodeProtoV2", "EncodeProto"}
"""Those of message_calls.py."""
ELSEWHERE |= {"Fact", "NthElement"}
"""Those of tests/training/sessions/kept_programs.py."""
ELSEWHERE |= {"RaggedTensorToTensor"}
"""Those of tests/converter/tf/graph_functions.npz."""
ELSEWHERE |= {
    *("CombinedNonMaxSuppression", "CropAndResizeGradBoxes", "CropAndResizeGradImage"),
    *("DecodeAndCropJpeg", "DecodeBmp", "DecodeGif", "DecodeImage", "DecodeJpeg", "DecodePng"),
    *("DrawBoundingBoxes", "DrawBoundingBoxesV2", "EncodeJpeg", "EncodeJpegVariableQuality"),
    *("EncodePng", "ExtractGlimpse", "ExtractGlimpseV2", "ExtractJpegShape"),
    *("NonMaxSuppressionWithOverlaps", "ResizeBicubicGrad", "ScaleAndTranslateGrad"),
}
"""Those of expressions_image.py."""
ELSEWHERE |= {
    *("AudioSummary", "AudioSummaryV2", "HistogramSummary", "ImageSummary", "MergeSummary"),
    *("ScalarSummary", "TensorSummary", "TensorSummaryV2"),
}
"""Those of tests/training/summaries/test_summaries.py."""
ELSEWHERE |= {"ShardedFilespec"}
"""That of tests/training/checkpoints/test_version_1.py."""
ELSEWHERE |= {
    *("BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0"),
    *("BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "SobolSample", "Spence"),
}
"""Those of test_special_functions.py."""
ELSEWHERE |= {
    *("DenseCountSparseOutput", "EditDistance", "SparseAdd", "SparseAddGrad", "SparseConcat"),
    *("SparseCountSparseOutput", "SparseCross", "SparseCrossV2", "SparseDenseCwiseAdd"),
    *("SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseFillEmptyRows", "SparseMatMul"),
    *("SparseFillEmptyRowsGrad", "SparseReduceMax", "SparseReduceMaxSparse", "SparseReduceSum"),
    *("SparseReduceSumSparse", "SparseReorder", "SparseReshape", "SparseSlice", "SparseSliceGrad"),
    *("SparseSoftmax", "SparseSparseMaximum", "SparseSparseMinimum", "SparseSplit"),
    *("SparseTensorDenseAdd", "SparseTensorDenseMatMul"),
}
"""Those of expressions_sparse.py."""
ELSEWHERE |= {"Dequantize", "QuantizeAndDequantizeV4Grad", "QuantizeV2", "QuantizedConcat"}
"""Those of expressions_quantized.py."""
ELSEWHERE |= {
    *("Fingerprint", "StringNGrams", "UnicodeDecode", "UnicodeDecodeWithOffsets"),
    "UnicodeScript",
    *("UnicodeEncode", "UnsortedSegmentJoin"),
}
"""Those of expressions_unicode.py."""
RETIRED = {"AccumulateNV2", "BatchNormWithGlobalNormalization", "ParallelConcat", "TopK"}
"""Ops that TensorFlow itself no longer runs."""


def flat(values):
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def golden(case, op):
    outputs = [GOLDENS[f"{case.id}:{i}"] for i in range(len(op.outputs))]
    return [out.astype(object) if out.dtype.kind == "S" else out for out in outputs]


def build(case, tensor_of):
    """The case's operation in a new graph, its inputs made by `tensor_of(graph, array)`."""
    graph = Graph()
    arrays = flat(case.arrays())
    inputs = [tensor_of(graph, array, i) for i, array in enumerate(arrays)]
    attrs = {name: attribute(value) for name, value in case.attrs.items()}
    signature = signature_of(case.op)
    for argument in signature.inputs:
        if argument.count:
            position = [a.name for a in signature.inputs].index(argument.name)
            attrs[argument.count] = len(case.arrays()[position])
    return graph.add(case.op, "op", inputs, attrs), dict(zip(inputs, arrays, strict=True))


def attribute(value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, type):
        return np.dtype(value)
    return tuple(value) if isinstance(value, list) and None in value else value


def placeholder(shape_of):
    """Makes inputs that are fed, with the shape `shape_of(array)`."""

    def make(graph, array, i):
        attrs = {"dtype": array.dtype, "shape": shape_of(array)}
        return graph.add("Placeholder", f"x{i}", (), attrs).outputs[0]

    return make


def constant(graph, array, i):
    return graph.constant(array, f"x{i}")


def small_constants(graph, array, i):
    """Integers known, floats fed: what shape functions mostly see."""
    if array.dtype.kind in "iu":
        return constant(graph, array, i)
    return placeholder(np.shape)(graph, array, i)


def contains(shape, real):
    return shape is None or (
        len(shape) == len(real) and all(n in (None, m) for n, m in zip(shape, real, strict=True))
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_kernel(case):
    op, feeds = build(case, placeholder(np.shape))
    results = evaluate(op.graph, op.outputs, feeds)
    for result, expected, tensor in zip(results, golden(case, op), op.outputs, strict=True):
        assert result.dtype == tensor.dtype
        assert result.shape == expected.shape
        if expected.dtype.kind in "fc":
            finite = np.abs(expected[np.isfinite(expected)])
            atol = case.rtol * finite.max(initial=0)
            np.testing.assert_allclose(result, expected, case.rtol, atol)
        else:
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.data_dependent], ids=lambda case: case.id
)
def test_static_shape_of_known_inputs_is_exact(case):
    op, _ = build(case, small_constants)
    for tensor, expected in zip(op.outputs, golden(case, op), strict=True):
        assert tensor.shape == expected.shape


@pytest.mark.parametrize(
    "shape_of",
    [
        lambda array: (None,) * array.ndim,
        lambda array: None,
        lambda array: (None, *array.shape[1:]),
    ],
    ids=["sizes", "rank", "batch"],
)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_static_shape_of_unknown_inputs_holds(case, shape_of):
    def make(graph, array, i):
        if shape_of(array) is not None and len(shape_of(array)) != array.ndim:
            return placeholder(np.shape)(graph, array, i)
        return placeholder(shape_of)(graph, array, i)

    op, _ = build(case, make)
    for tensor, expected in zip(op.outputs, golden(case, op), strict=True):
        assert contains(tensor.sizes, expected.shape)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_value_known_in_the_graph_is_what_the_kernel_gives(case):
    op, _ = build(case, constant)
    for tensor, expected in zip(op.outputs, golden(case, op), strict=True):
        if tensor.value is None:
            continue
        (result,) = evaluate(op.graph, [tensor], {})
        np.testing.assert_array_equal(tensor.value, result)
        assert tensor.value.shape == expected.shape


def test_every_kernel_has_a_case():
    kernels = {kind for kind in registry.OPS.names() if registry.kernel_of(kind)}
    tested = {case.op for case in CASES}
    missing = {
        kind
        for kind in kernels - tested - ELSEWHERE - RETIRED
        if not kind.startswith("TensorList") and not registry.row_of(kind).writes
    }
    assert missing == set()


def test_every_row_agrees_with_its_signature():
    for kind in registry.OPS.names():
        signature, row = signature_of(kind), registry.row_of(kind)
        assert signature is not None, f"{kind} has no row in op_signatures.txt"
        assert set(row.attrs) - {"op"} <= set(signature.attrs), kind
        assert not (row.is_pure and signature.is_stateful), f"{kind} has state"


POOL = {"strides": [1, 1, 2, 1], "ksize": [1, 1, 2, 3], "padding": b"SAME"}
CONV = {"strides": [1, 1, 2, 2], "padding": b"SAME"}
NCHW = {
    "AvgPool": ([(1, 2, 6, 5)], POOL),
    "Conv2D": ([(1, 2, 6, 5), (3, 3, 2, 4)], CONV),
    "DepthToSpace": ([(1, 8, 3, 4)], {"block_size": 2}),
    "DepthwiseConv2dNative": ([(1, 2, 6, 5), (3, 3, 2, 2)], CONV),
    "FusedBatchNormV3": ([(1, 2, 6, 5), (2,), (2,), (2,), (2,)], {"is_training": False}),
    "MaxPool": ([(1, 2, 6, 5)], POOL),
    "SpaceToDepth": ([(1, 2, 6, 4)], {"block_size": 2}),
}


@pytest.mark.parametrize("kind", NCHW)
def test_channels_first_is_channels_last_transposed(kind):
    shapes, attrs = NCHW[kind]
    arrays = [np.random.RandomState(0).rand(*shape).astype(np.float32) for shape in shapes]
    moved = {
        name: [value[axis] for axis in (0, 2, 3, 1)] if isinstance(value, list) else value
        for name, value in attrs.items()
    }
    results = []
    for x, inputs in (
        (arrays[0], attrs | {"data_format": b"NCHW"}),
        (np.moveaxis(arrays[0], 1, -1), moved),
    ):
        graph = Graph()
        tensors = [placeholder(np.shape)(graph, a, i) for i, a in enumerate([x, *arrays[1:]])]
        op = graph.add(kind, "op", tensors, inputs)
        feeds = dict(zip(tensors, [x, *arrays[1:]], strict=True))
        results.append(evaluate(graph, op.outputs[:1], feeds)[0])
        assert op.outputs[0].shape == results[-1].shape
    np.testing.assert_array_equal(results[0], np.moveaxis(results[1], -1, 1))
