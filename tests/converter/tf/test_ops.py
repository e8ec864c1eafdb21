"""Operations that types.npz has no answers of: TensorFlow's recorded answer, here and in LiteRT.

Each case of tests/graph is converted three ways: with its constants, with everything computed, and
with sizes that are not known.
"""

from pathlib import Path

import numpy as np
import pytest
import typed_operations
from running import answers

from flatlite.converter.api.conversion import Conversion
from flatlite.converter.api.settings import Settings
from flatlite.converter.sources.source import GraphSource, Port
from flatlite.converter.tf.registry import LOWERINGS
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.signatures.signatures import signature_of
from flatlite.lite import Interpreter

FOLDER = Path(__file__).parent
ANSWERS = {
    key: array
    for name in ("op_goldens.npz", "op_goldens_more.npz")
    for key, array in np.load(FOLDER.parents[1] / "graph/ops" / name).items()
}
TYPED = {key.partition(" ")[0] for key in np.load(FOLDER / "types.npz").files}
TYPED_OPS = {case.op for case in typed_operations.CASES if case.id in TYPED}
STATISTICS = ("FusedBatchNormV3/train", "FusedBatchNormV3/average")
"""What is computed for training, of operations that types.npz has when a model is used."""
CASES = {
    case.id: case
    for case in typed_operations.CASES
    if LOWERINGS.get(case.op) is not None and (case.op not in TYPED_OPS or case.id in STATISTICS)
}
WAYS = {"constants": (), "computed": pytest.mark.slow, "unknown sizes": pytest.mark.slow}
"""How inputs come, and the marks of tests of that."""


def source_of(case, way):
    """The case as a source, and what its inputs are fed."""
    graph, feeds = Graph(), []
    graph.inputs, graph.outputs = [], []
    attrs = {name: attribute(value) for name, value in case.attrs.items()}
    operands = typed_operations.operands(case, {})
    tensors = []
    for argument, operand in zip(signature_of(case.op).inputs, operands, strict=True):
        several = operand.value if isinstance(operand.value, list) else [operand.value]
        if argument.count:
            attrs[argument.count] = len(several)
        for array in several:
            if operand.is_constant and way != "computed":
                tensors.append(graph.constant(array))
                continue
            shape = (None,) * array.ndim if way == "unknown sizes" else array.shape
            fed = {"dtype": array.dtype, "shape": shape}
            tensors.append(graph.add("Placeholder", f"x{len(feeds)}", (), fed).outputs[0])
            graph.inputs.append(tensors[-1])
            feeds.append(array)
    outputs = graph.add(case.op, "op", tensors, attrs).outputs
    if case.id in STATISTICS:  # LiteRT has no outputs without elements
        outputs = [x for i, x in enumerate(outputs) if ANSWERS[f"{case.id}:{i}"].size]
    graph.outputs = list(outputs)
    ports = (tuple(Port(t.name, t.name, t) for t in ends) for ends in (graph.inputs, graph.outputs))
    return GraphSource(None, graph, *ports), feeds


def attribute(value):
    if isinstance(value, type):
        return np.dtype(value)
    if isinstance(value, list) and None in value:
        return tuple(value)
    return value.encode() if isinstance(value, str) else value


def answers_of(content, feeds):
    """What our interpreter gives."""
    return answers(Interpreter(model_content=content), *feeds)


def difference(case, results):
    """What is wrong with results, empty when nothing is."""
    for i, result in enumerate(results):
        expected = ANSWERS[f"{case.id}:{i}"]
        if result.shape != expected.shape:
            return f"output {i} has the shape {result.shape}, not {expected.shape}"
        if expected.dtype.kind in "fc":
            tolerance = max(case.rtol, 2e-5)
            largest = np.abs(expected[np.isfinite(expected)]).max(initial=1)
            if not np.allclose(result, expected, tolerance, tolerance * largest, equal_nan=True):
                return f"output {i} is {result.ravel()[:8]}, not {expected.ravel()[:8]}"
        elif not np.array_equal(result.astype(expected.dtype), expected):
            return f"output {i} is {result.ravel()[:8]}, not {expected.ravel()[:8]}"
    return ""


REFUSED = """
computed: AvgPoolGrad Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter
computed: DepthwiseConv2dNativeBackpropInput
computed: ConcatOffset CropAndResize CumulativeLogsumexp Cumprod IRFFT IRFFT2D MaxPoolV2
computed: MirrorPadGrad RFFT RFFT2D
computed: ResizeBicubic Reverse StringToHashBucketFast
computed: MatrixDiagPartV3 MatrixDiagV2 MatrixSetDiagV3
computed: StridedSliceGrad TensorStridedSliceUpdate UniqueV2
computed: IRFFT3D RFFT3D ResizeNearestNeighborGrad
constants: StringToHashBucketFast UniqueV2
unknown sizes: Bincount/weights DenseBincount/rows
unknown sizes: NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 ResizeBicubic
unknown sizes: StringToHashBucketFast
unknown sizes: AvgPoolGrad Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter
unknown sizes: BroadcastGradientArgs ConcatOffset Diag DiagPart Dilation2D
unknown sizes: FFT FFT2D IFFT IFFT2D MaxPoolWithArgmax MatrixDiagPartV3 MatrixDiagV2 UniqueV2
unknown sizes: MatrixSetDiagV3 MirrorPadGrad StridedSliceGrad TensorStridedSliceUpdate UnravelIndex
unknown sizes: CTCGreedyDecoder Cholesky FFT3D IFFT3D LRNGrad MatrixDeterminant MatrixInverse
unknown sizes: ResizeBilinearGrad ResizeNearestNeighborGrad
"""
"""Operations, or cases, that are refused in one way, by an error that says what must be known."""
REASONS = (
    r"must be constant|must be known|must have (known sizes|one dimension)|must be float32 \[n, 4\]"
    r"|hashes of strings have no form"
)
TABLE = {
    (op, way)
    for way, _, ops in (line.partition(": ") for line in REFUSED.split("\n"))
    for op in ops.split()
}


def is_refused(case, way):
    if case.id == "StringToHashBucketFast/1":
        return False
    if case.op.startswith("QuantizeAndDequantize"):
        return way == "computed" or case.id.endswith(("own", "axis"))
    return (case.op, way) in TABLE or (case.id, way) in TABLE or "complex" in case.id


OF_ONE_SHAPE = ("DepthwiseConv2dNativeBackpropInput", "FusedBatchNormGrad", "MaxPoolGrad")
"""Several inputs of one shape: sizes that are drawn for each of them make no sense."""


ON_TIES = "/halves"
"""How ids of cases end whose values lie between two levels, where builtins round as they do."""


ROWS = [
    pytest.param(name, way, marks=marks)
    for name, case in CASES.items()
    if not name.endswith(ON_TIES)
    for way, marks in WAYS.items()
    if way != "unknown sizes" or not case.op.startswith(OF_ONE_SHAPE)
]


@pytest.mark.filterwarnings("ignore:the converted model was (not )?verified")
@pytest.mark.parametrize(("name", "way"), ROWS)
def test_converted(name, way, litert):
    case = CASES[name]
    source, feeds = source_of(case, way)
    settings = Settings()
    settings.verify_inputs = [feeds]
    if is_refused(case, way):
        with pytest.raises(ConverterError, match=rf"{REASONS}|has no kernel for \(complex64"):
            Conversion(settings, [source], 2).run()
        return
    content = Conversion(settings, [source], 2).run()
    assert difference(case, answers_of(content, feeds)) == ""
    theirs = litert.run(content, [feeds], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(theirs, str), theirs
    assert difference(case, theirs[0]) == ""
