"""Derivatives of what passes values on, and the ops nothing flows back through."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..core.build import number, ops
from .registry import constant, gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from .registry import Gradient


@gradient("Identity", "ReadVariableOp", "RefIdentity", takes_slices=True)
def identity(op: Operation, dy: Gradient) -> Gradient:
    """As it comes."""
    return dy


@gradient("EnsureShape", "GuaranteeConst", "PlaceholderWithDefault")
def as_it_comes(op: Operation, dy: Tensor) -> Tensor:
    """As it comes."""
    return dy


@gradient("IdentityN", takes_slices=True)
def identity_n(op: Operation, *dys: Gradient | None) -> list[Gradient | None]:
    """As they come."""
    return list(dys)


@gradient("PreventGradient")
def prevent_gradient(op: Operation, dy: Tensor) -> NoReturn:
    """Nothing: raises LookupError with the op's message."""
    reason = op.get_attr("message").decode()
    raise LookupError(f"Gradient explicitly disabled. Reason: {reason!r}")


@gradient("LinSpace")
def lin_space(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor, None]:
    """To each end its part of the numbers between."""
    positions = ops.Cast(ops.Range(np.int32(0), op.inputs[2], np.int32(1)), DstT=dy.dtype)
    last = ops.Maximum(ops.Cast(op.inputs[2], DstT=dy.dtype) - number(1, dy), number(1, dy))
    of_stop = ops.Sum(dy * positions / last, np.int32(0))
    return ops.Sum(dy, np.int32(0)) - of_stop, of_stop, None


@gradient("Fill")
def fill(op: Operation, dy: Tensor) -> tuple[None, Tensor]:
    """To the value the sum."""
    return None, ops.Sum(dy, ops.Range(np.int32(0), ops.Rank(dy), np.int32(1)))


constant(
    "Assign", "AssignAdd", "AssignSub", "BroadcastArgs", "BroadcastGradientArgs", "Const", "Empty",
    "ListDiff", "Multinomial", "OnesLike", "ParameterizedTruncatedNormal",
    "Placeholder", "PlaceholderV2", "RandomShuffle", "RandomStandardNormal",
    "RandomUniform", "RandomUniformInt", "Range", "ScatterAdd", "ScatterDiv", "ScatterMul",
    "ScatterSub", "ScatterUpdate", "StopGradient", "TruncatedNormal", "VarHandleOp", "Variable",
    "VariableShape", "VariableV2", "ZerosLike",
)  # fmt: skip
constant(
    "AsString", "Assert", "AudioSummary", "AudioSummaryV2", "DecodeBase64",
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "EncodeBase64", "HSVToRGB",
    "HashTable", "HashTableV2", "HistogramSummary", "ImageSummary", "InitializeTable",
    "InitializeTableV2", "InitializeTableFromTextFileV2", "LookupTableFind", "LookupTableFindV2",
    "LookupTableInsert",
    "LookupTableInsertV2", "LookupTableSizeV2", "MergeSummary", "MutableDenseHashTableV2",
    "MutableHashTable", "MutableHashTableOfTensorsV2", "MutableHashTableV2", "NonMaxSuppression",
    "NonMaxSuppressionV2", "ReduceJoin", "RegexReplace", "ResizeBilinearGrad", "ScalarSummary",
    "SetSize", "SparseToSparseSetOperation", "StringJoin", "StringSplit", "StringToHashBucket",
    "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber", "TensorSummary",
    "TensorSummaryV2", "VarIsInitializedOp",
)  # fmt: skip
constant(
    "DecodePaddedRaw", "DecodeRaw", "DeleteSessionTensor", "FixedLengthRecordReader",
    "GenerateVocabRemapping", "GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor",
    "IdentityReader", "LoadAndRemapMatrix", "ParseTensor", "PopulationCount", "PyFunc",
    "PyFuncStateless", "RaggedRange", "RandomCrop", "RandomIndexShuffle", "SerializeTensor",
    "TFRecordReader", "TextLineReader", "Timestamp", "WholeFileReader",
    *(f"Queue{verb}" for verb in ("Close", "Dequeue", "DequeueMany", "DequeueUpTo")),
    *(f"Queue{noun}" for noun in ("Enqueue", "EnqueueMany", "Size")),
    *(f"ReaderNum{noun}" for noun in ("RecordsProduced", "WorkUnitsCompleted")),
    *(f"Reader{verb}" for verb in ("Read", "ReadUpTo", "Reset", "RestoreState", "SerializeState")),
    *(f"Stack{verb}" for verb in ("", "Close", "Pop", "Push")),
)  # fmt: skip
constant(
    *(f"StatelessRandom{kind}" for kind in ("Normal", "NormalV2", "Uniform", "UniformV2")),
    *(f"StatelessRandomUniform{kind}" for kind in ("Int", "IntV2", "FullInt", "FullIntV2")),
    *("StatelessMultinomial", "StatelessRandomBinomial", "StatelessRandomPoisson"),
    *("StatelessTruncatedNormal", "StatelessTruncatedNormalV2"),
)
