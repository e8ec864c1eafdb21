"""Rules for what is done to each element, or to elements along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from .registry import rows

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from .registry import Call


@rows("CheckNumerics", "LookupTableFindV2", "MatrixDiag", "MatrixDiagPart", "Cholesky")
@rows("MatrixDeterminant", "MatrixInverse", "LogMatrixDeterminant", "Qr", "SelfAdjointEigV2")
@rows("LogSoftmax", "Softmax", "Svd", "TopKV2")
def each(call: Call) -> Sequence[Tensor]:
    """An operation that takes any number of dimensions before those it treats."""
    if call.op.type == "LookupTableFindV2":
        return call.again(call.one(0), call.rows(1), call.one(2))
    return call.again(call.rows(0), *(call.one(i) for i in range(1, len(call.inputs))))


@rows("EluGrad", "InvGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "RsqrtGrad", "SeluGrad")
@rows("SigmoidGrad", "SoftplusGrad", "SoftsignGrad", "SqrtGrad", "TanhGrad", "LeakyReluGrad")
@rows("ApproximateEqual", "Equal", "NotEqual", "StringJoin")
def alongside(call: Call) -> Sequence[Tensor]:
    """An operation on elements of several tensors that broadcast."""
    rank = max(call.rank(i) for i in range(len(call.inputs)))
    return call.again(*(call.aligned(i, rank) for i in range(len(call.inputs))))


@rows("SelectV2", "Select")
def select(call: Call) -> Tensor:
    """Elements of one of two tensors; a vector of conditions may choose whole slices."""
    rank = max(call.rank(i) for i in range(3))
    condition = call.aligned(0, rank)
    if call.op.type == "Select" and call.rank(0) == 1 and rank > 1:
        condition = call.inputs[0].tensor
        ones = np.ones(rank - 1, np.int32)
        condition = ops.Reshape(condition, ops.ConcatV2([ops.Shape(condition), ones], np.int32(0)))
    return ops.SelectV2(condition, call.aligned(1, rank), call.aligned(2, rank))


@rows("ClipByValue")
def clip_by_value(call: Call) -> Tensor:
    """Elements within limits."""
    rank = call.rank(0)
    x, low, high = (call.aligned(i, rank) for i in range(3))
    return ops.Minimum(ops.Maximum(x, low), high)


@rows("AddN")
def add_n(call: Call) -> Sequence[Tensor]:
    """The sum of tensors of one shape."""
    return call.again(*(call.rows(i) for i in range(len(call.inputs))))


@rows("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
@rows("ArgMax", "ArgMin", "Cumprod", "Cumsum", "CumulativeLogsumexp", "ReverseV2")
def along_axes(call: Call) -> Sequence[Tensor]:
    """What is done along axes that the second input lists."""
    return call.again(call.rows(0), call.shifted(1))


@rows("L2Loss")
def l2_loss(call: Call) -> Tensor:
    """Half the sum of the squares of all elements of a row."""
    axes = np.arange(1, 1 + call.rank(0), dtype=np.int32)
    total = ops.Sum(ops.Square(call.rows(0)), axes)
    return total * ops.Cast(np.float32(0.5), DstT=total.dtype)


@rows("MatMul")
def matmul(call: Call) -> Tensor:
    """Products of matrices."""
    a, b = (value.tensor for value in call.inputs)
    adjoint = {
        f"adj_{x}": call.op.get_attr(f"transpose_{y}") for x, y in zip("xy", "ab", strict=True)
    }
    return ops.BatchMatMulV2(a, b, **adjoint)


@rows("BatchMatMul", "BatchMatMulV2")
def batch_matmul(call: Call) -> Tensor:
    """Products of matrices along dimensions that broadcast."""
    rank = max(call.rank(0), call.rank(1))
    adjoint = {name: call.op.get_attr(name) for name in ("adj_x", "adj_y")}
    return ops.BatchMatMulV2(call.aligned(0, rank), call.aligned(1, rank), **adjoint)


@rows("MatrixSolve", "MatrixTriangularSolve", "Cross")
def pairs(call: Call) -> Sequence[Tensor]:
    """What takes two tensors with the same dimensions before those it treats."""
    return call.again(call.rows(0), call.rows(1))
