"""Every row of derivatives against finite differences in 64 bits, with shapes known and unknown."""

import derivative_cases_linalg
import derivative_cases_nn
import numpy as np
import pytest
from derivative_cases import CASES

from flatlite.graph.core.build import ops
from flatlite.graph.core.composite.indexed_slices import dense
from flatlite.graph.core.evaluate import evaluate
from flatlite.graph.core.graph import Graph
from flatlite.graph.core.signatures.signatures import signature_of
from flatlite.graph.derivatives import registry
from flatlite.graph.derivatives.gradients import gradients

TABLES = (derivative_cases_linalg, derivative_cases_nn)
"""Modules that add to the cases."""
STEP = 1e-6
DOUBLE = np.dtype(float)
ELSEWHERE = {
    *("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3", "FusedBatchNormV3"),
    *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
    "QuantizeAndDequantizeV2",
    "PreventGradient",
    "ReadVariableOp",
    "RefIdentity",
    *("CropAndResize", "ResizeBicubic", "ResizeBilinear", "RGBToHSV", "ScaleAndTranslate"),
    "ResourceGather",
    *("Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"),
    *("EagerPyFunc", "PartitionedCall", "StatefulPartitionedCall"),
    *("CTCLoss", "FractionalAvgPool", "FractionalMaxPool"),
    *("RandomGamma", "StatelessRandomGammaV2"),
    *("BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0"),
    *("BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"),
    *("SparseAdd", "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseFillEmptyRows"),
    *("SparseMatMul", "SparseReduceSum", "SparseReorder", "SparseSlice", "SparseSoftmax"),
    *("SparseTensorDenseAdd", "SparseTensorDenseMatMul", "QuantizeAndDequantizeV4"),
    "ResourceGatherNd",
    *("NextAfter", "TensorScatterMax", "TensorScatterMin"),
    *("Merge", "RefMerge", "RefSwitch", "Switch", "TensorArrayReadV3", "TensorArrayScatterV3"),
    *("TensorArrayGatherV3", "TensorArrayConcatV3", "TensorArraySplitV3", "TensorArrayWriteV3"),
    "TensorArrayGradV3",
    *("BlockLSTM", "BlockLSTMV2", "GRUBlockCell", "LSTMBlockCell"),
}
"""Rows that other tests cover."""
UNTESTED = {
    *("AccumulateNV2", "FusedBatchNorm", "FusedBatchNormV2", "TopK"),
    *("TensorListConcat", "TensorListScatter"),
}


def difference(graph, feeds, total, x, array):
    """The derivative of `total` by each element of one input."""
    result = np.empty_like(array)
    for place in np.ndindex(*array.shape):
        sides = []
        for step in (STEP, -STEP):
            moved = array.copy()
            moved[place] += step
            sides.append(evaluate(graph, [total], {**feeds, x: moved})[0])
        result[place] = (sides[0] - sides[1]) / (2 * STEP)
    return result


ROWS = [
    pytest.param(case, shapes, id=f"{case.id}-{shapes}")
    for case in CASES
    for shapes in ("known", "unknown")
    if shapes == "known" or not case.shapes_known  # else refused, as in TensorFlow
]


@pytest.mark.parametrize(("case", "shapes"), ROWS)
def test_derivative(case, shapes):
    rng = np.random.RandomState(1)
    arrays = case.arrays()
    with Graph().as_default() as graph:
        xs = []
        for array in arrays:
            shape = array.shape if shapes == "known" else (None,) * array.ndim
            xs.append(ops.Placeholder(dtype=DOUBLE, shape=shape))
        results = case.function(*xs)
        results = results if isinstance(results, list) else [results]
        feeds = dict(zip(xs, arrays, strict=True))
        weights = [rng.uniform(0.5, 2, y.shape) for y in evaluate(graph, results, feeds)]
        terms = []
        for y, weight in zip(results, weights, strict=True):
            if y.dtype.kind == "c":
                y = ops.Real(y, Tout=DOUBLE) + 0.5 * ops.Imag(y, Tout=DOUBLE)
            every = np.arange(weight.ndim, dtype=np.int32)
            terms.append(ops.Sum(y * weight, every))
        total = ops.AddN(terms)
        derivatives = gradients(total, xs)
        for x, array, gradient in zip(xs, arrays, derivatives, strict=True):
            (got,) = evaluate(graph, [dense(gradient)], feeds)
            want = difference(graph, feeds, total, x, array)
            assert got.shape == array.shape
            assert got.dtype == np.float64
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-7)


def test_every_row_has_a_case():
    covered = set()
    for case in CASES:
        with Graph().as_default() as graph:
            xs = [ops.Placeholder(dtype=DOUBLE, shape=a.shape) for a in case.arrays()]
            case.function(*xs)
            covered |= {op.type for op in graph.operations}
    kinds = [kind for kind in registry.DERIVATIVES.names() if signature_of(kind)]
    rows = {kind for kind in kinds if registry.DERIVATIVES.get(kind).function}
    assert rows - covered == ELSEWHERE | UNTESTED
