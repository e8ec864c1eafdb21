"""Operations written as calls: `ops.MatMul(x, w, transpose_b=True)` gives the product's tensor.

Any op type of the table of signatures is such a function. It takes one item for each of the op's
inputs (a list where an input is a list), and its attributes and `name` by keyword.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, cast

import numpy as np

from .create import create
from .graph import Operation, Tensor
from .shapes import is_static
from .signatures.signatures import signature_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from .protocols import AttrValue, OperationFunction, TensorFunction, TensorsFunction
    from .typing import TensorLike


def call(
    kind: str, *inputs: TensorLike | None, name: str | None = None, **attrs: AttrValue
) -> Tensor | list[Tensor] | Operation:
    """What an operation gives: a tensor, a list of them, or itself when it has no outputs."""
    op = create(kind, inputs, attrs, name)
    signature = op.signature
    is_list = signature is not None and any(
        argument.count or argument.is_list for argument in signature.outputs
    )
    if len(op.outputs) == 1 and not is_list:
        return op.outputs[0]
    return op.outputs or op


class _Ops:
    """See the module."""

    # Those that do not give one tensor; a test holds them against the signatures.
    AllCandidateSampler: TensorsFunction
    ApproxTopK: TensorsFunction
    BarrierTakeMany: TensorsFunction
    BatchNormWithGlobalNormalizationGrad: TensorsFunction
    BlockLSTM: TensorsFunction
    BlockLSTMGrad: TensorsFunction
    BlockLSTMGradV2: TensorsFunction
    BlockLSTMV2: TensorsFunction
    BroadcastGradientArgs: TensorsFunction
    CTCBeamSearchDecoder: TensorsFunction
    CTCGreedyDecoder: TensorsFunction
    CTCLoss: TensorsFunction
    Case: TensorsFunction
    CombinedNonMaxSuppression: TensorsFunction
    ComputeAccidentalHits: TensorsFunction
    ConcatOffset: TensorsFunction
    DatasetToSingleElement: TensorsFunction
    DecodeCSV: TensorsFunction
    DecodeProtoV2: TensorsFunction
    DecodeWav: TensorsFunction
    DenseCountSparseOutput: TensorsFunction
    DenseToDenseSetOperation: TensorsFunction
    DenseToSparseSetOperation: TensorsFunction
    DeserializeManySparse: TensorsFunction
    DeserializeSparse: TensorsFunction
    DynamicPartition: TensorsFunction
    EagerPyFunc: TensorsFunction
    FakeQuantWithMinMaxVarsGradient: TensorsFunction
    FakeQuantWithMinMaxVarsPerChannelGradient: TensorsFunction
    FixedUnigramCandidateSampler: TensorsFunction
    FractionalAvgPool: TensorsFunction
    FractionalMaxPool: TensorsFunction
    FusedBatchNorm: TensorsFunction
    FusedBatchNormGrad: TensorsFunction
    FusedBatchNormGradV2: TensorsFunction
    FusedBatchNormGradV3: TensorsFunction
    FusedBatchNormV2: TensorsFunction
    FusedBatchNormV3: TensorsFunction
    GRUBlockCell: TensorsFunction
    GRUBlockCellGrad: TensorsFunction
    GenerateVocabRemapping: TensorsFunction
    IdentityN: TensorsFunction
    If: TensorsFunction
    IteratorGetNext: TensorsFunction
    IteratorGetNextSync: TensorsFunction
    LSTMBlockCell: TensorsFunction
    LSTMBlockCellGrad: TensorsFunction
    LearnedUnigramCandidateSampler: TensorsFunction
    ListDiff: TensorsFunction
    LogMatrixDeterminant: TensorsFunction
    LogUniformCandidateSampler: TensorsFunction
    LookupTableExportV2: TensorsFunction
    Lu: TensorsFunction
    MapPeek: TensorsFunction
    MapUnstage: TensorsFunction
    MapUnstageNoKey: TensorsFunction
    MaxPoolWithArgmax: TensorsFunction
    Merge: TensorsFunction
    NonMaxSuppressionV4: TensorsFunction
    NonMaxSuppressionV5: TensorsFunction
    OptionalGetValue: TensorsFunction
    OrderedMapPeek: TensorsFunction
    OrderedMapUnstage: TensorsFunction
    OrderedMapUnstageNoKey: TensorsFunction
    ParseExample: TensorsFunction
    ParseExampleV2: TensorsFunction
    ParseSequenceExample: TensorsFunction
    ParseSequenceExampleV2: TensorsFunction
    ParseSingleExample: TensorsFunction
    ParseSingleSequenceExample: TensorsFunction
    PartitionedCall: TensorsFunction
    PyFunc: TensorsFunction
    PyFuncStateless: TensorsFunction
    Qr: TensorsFunction
    QuantizeAndDequantizeV4Grad: TensorsFunction
    QuantizeV2: TensorsFunction
    QuantizedAvgPool: TensorsFunction
    QuantizedConcat: TensorsFunction
    QuantizedConv2D: TensorsFunction
    QuantizedMaxPool: TensorsFunction
    QuantizedRelu: TensorsFunction
    QuantizedRelu6: TensorsFunction
    QuantizedReluX: TensorsFunction
    QuantizedReshape: TensorsFunction
    QueueDequeue: TensorsFunction
    QueueDequeueMany: TensorsFunction
    QueueDequeueManyV2: TensorsFunction
    QueueDequeueUpTo: TensorsFunction
    QueueDequeueUpToV2: TensorsFunction
    QueueDequeueV2: TensorsFunction
    RaggedCross: TensorsFunction
    RaggedFillEmptyRows: TensorsFunction
    RaggedFillEmptyRowsGrad: TensorsFunction
    RaggedGather: TensorsFunction
    RaggedRange: TensorsFunction
    RaggedTensorFromVariant: TensorsFunction
    RaggedTensorToSparse: TensorsFunction
    ReaderRead: TensorsFunction
    ReaderReadUpTo: TensorsFunction
    ReaderReadUpToV2: TensorsFunction
    ReaderReadV2: TensorsFunction
    ReduceDataset: TensorsFunction
    RefMerge: TensorsFunction
    RefSwitch: TensorsFunction
    RestoreV2: TensorsFunction
    SampleDistortedBoundingBox: TensorsFunction
    SampleDistortedBoundingBoxV2: TensorsFunction
    SelfAdjointEigV2: TensorsFunction
    ShapeN: TensorsFunction
    SoftmaxCrossEntropyWithLogits: TensorsFunction
    SparseAccumulatorTakeGradient: TensorsFunction
    SparseAdd: TensorsFunction
    SparseAddGrad: TensorsFunction
    SparseConcat: TensorsFunction
    SparseCountSparseOutput: TensorsFunction
    SparseCross: TensorsFunction
    SparseCrossHashed: TensorsFunction
    SparseCrossV2: TensorsFunction
    SparseFillEmptyRows: TensorsFunction
    SparseFillEmptyRowsGrad: TensorsFunction
    SparseReduceMaxSparse: TensorsFunction
    SparseReduceSumSparse: TensorsFunction
    SparseReorder: TensorsFunction
    SparseReshape: TensorsFunction
    SparseSlice: TensorsFunction
    SparseSoftmaxCrossEntropyWithLogits: TensorsFunction
    SparseSparseMaximum: TensorsFunction
    SparseSparseMinimum: TensorsFunction
    SparseSplit: TensorsFunction
    SparseToSparseSetOperation: TensorsFunction
    Split: TensorsFunction
    SplitV: TensorsFunction
    StagePeek: TensorsFunction
    StatefulPartitionedCall: TensorsFunction
    StatelessCase: TensorsFunction
    StatelessIf: TensorsFunction
    StatelessRandomGetKeyCounter: TensorsFunction
    StatelessRandomGetKeyCounterAlg: TensorsFunction
    StatelessSampleDistortedBoundingBox: TensorsFunction
    StatelessWhile: TensorsFunction
    StringNGrams: TensorsFunction
    StringSplit: TensorsFunction
    StringSplitV2: TensorsFunction
    Svd: TensorsFunction
    Switch: TensorsFunction
    SymbolicGradient: TensorsFunction
    TakeManySparseFromTensorsMap: TensorsFunction
    TensorArrayConcatV3: TensorsFunction
    TensorArrayGradV3: TensorsFunction
    TensorArrayGradWithShape: TensorsFunction
    TensorArrayV3: TensorsFunction
    TensorListConcat: TensorsFunction
    TensorListConcatV2: TensorsFunction
    TensorListPopBack: TensorsFunction
    TopK: TensorsFunction
    TopKV2: TensorsFunction
    UnicodeDecode: TensorsFunction
    UnicodeDecodeWithOffsets: TensorsFunction
    UniformCandidateSampler: TensorsFunction
    Unique: TensorsFunction
    UniqueV2: TensorsFunction
    UniqueWithCounts: TensorsFunction
    UniqueWithCountsV2: TensorsFunction
    Unpack: TensorsFunction
    Unstage: TensorsFunction
    While: TensorsFunction
    XlaBroadcastHelper: TensorsFunction
    XlaCallModule: TensorsFunction
    XlaKeyValueSort: TensorsFunction
    XlaOptimizationBarrier: TensorsFunction
    XlaRngBitGenerator: TensorsFunction
    XlaVariadicReduce: TensorsFunction
    XlaVariadicReduceV2: TensorsFunction
    XlaVariadicSort: TensorsFunction
    XlaWhile: TensorsFunction

    AccumulatorApplyGradient: OperationFunction
    AccumulatorSetGlobalStep: OperationFunction
    Assert: OperationFunction
    AssignAddVariableOp: OperationFunction
    AssignSubVariableOp: OperationFunction
    AssignVariableOp: OperationFunction
    BarrierClose: OperationFunction
    BarrierInsertMany: OperationFunction
    ControlTrigger: OperationFunction
    DeleteSessionTensor: OperationFunction
    DestroyResourceOp: OperationFunction
    InitializeTable: OperationFunction
    InitializeTableFromDataset: OperationFunction
    InitializeTableFromTextFileV2: OperationFunction
    InitializeTableV2: OperationFunction
    LookupTableImport: OperationFunction
    LookupTableImportV2: OperationFunction
    LookupTableInsert: OperationFunction
    LookupTableInsertV2: OperationFunction
    LookupTableRemoveV2: OperationFunction
    MakeIterator: OperationFunction
    MapClear: OperationFunction
    MapStage: OperationFunction
    MergeV2Checkpoints: OperationFunction
    NoOp: OperationFunction
    OrderedMapClear: OperationFunction
    OrderedMapStage: OperationFunction
    PrintV2: OperationFunction
    QueueClose: OperationFunction
    QueueCloseV2: OperationFunction
    QueueEnqueue: OperationFunction
    QueueEnqueueMany: OperationFunction
    QueueEnqueueManyV2: OperationFunction
    QueueEnqueueV2: OperationFunction
    ReaderReset: OperationFunction
    ReaderResetV2: OperationFunction
    ReaderRestoreState: OperationFunction
    ReaderRestoreStateV2: OperationFunction
    ResourceAccumulatorApplyGradient: OperationFunction
    ResourceAccumulatorSetGlobalStep: OperationFunction
    ResourceApplyAdaMax: OperationFunction
    ResourceApplyAdadelta: OperationFunction
    ResourceApplyAdagrad: OperationFunction
    ResourceApplyAdagradDA: OperationFunction
    ResourceApplyAdagradV2: OperationFunction
    ResourceApplyAdam: OperationFunction
    ResourceApplyAdamWithAmsgrad: OperationFunction
    ResourceApplyAddSign: OperationFunction
    ResourceApplyCenteredRMSProp: OperationFunction
    ResourceApplyFtrl: OperationFunction
    ResourceApplyFtrlV2: OperationFunction
    ResourceApplyGradientDescent: OperationFunction
    ResourceApplyKerasMomentum: OperationFunction
    ResourceApplyMomentum: OperationFunction
    ResourceApplyPowerSign: OperationFunction
    ResourceApplyProximalAdagrad: OperationFunction
    ResourceApplyProximalGradientDescent: OperationFunction
    ResourceApplyRMSProp: OperationFunction
    ResourceScatterAdd: OperationFunction
    ResourceScatterDiv: OperationFunction
    ResourceScatterMax: OperationFunction
    ResourceScatterMin: OperationFunction
    ResourceScatterMul: OperationFunction
    ResourceScatterNdAdd: OperationFunction
    ResourceScatterNdMax: OperationFunction
    ResourceScatterNdMin: OperationFunction
    ResourceScatterNdSub: OperationFunction
    ResourceScatterNdUpdate: OperationFunction
    ResourceScatterSub: OperationFunction
    ResourceScatterUpdate: OperationFunction
    ResourceSparseApplyAdadelta: OperationFunction
    ResourceSparseApplyAdagrad: OperationFunction
    ResourceSparseApplyAdagradDA: OperationFunction
    ResourceSparseApplyAdagradV2: OperationFunction
    ResourceSparseApplyCenteredRMSProp: OperationFunction
    ResourceSparseApplyFtrl: OperationFunction
    ResourceSparseApplyFtrlV2: OperationFunction
    ResourceSparseApplyKerasMomentum: OperationFunction
    ResourceSparseApplyMomentum: OperationFunction
    ResourceSparseApplyProximalAdagrad: OperationFunction
    ResourceSparseApplyProximalGradientDescent: OperationFunction
    ResourceSparseApplyRMSProp: OperationFunction
    ResourceStridedSliceAssign: OperationFunction
    Save: OperationFunction
    SaveDataset: OperationFunction
    SaveSlices: OperationFunction
    SaveV2: OperationFunction
    SparseAccumulatorApplyGradient: OperationFunction
    StackClose: OperationFunction
    StackCloseV2: OperationFunction
    Stage: OperationFunction
    StageClear: OperationFunction
    TensorArrayCloseV3: OperationFunction
    WriteFile: OperationFunction
    _Retval: OperationFunction

    def __getattr__(self, kind: str) -> TensorFunction:
        if signature_of(kind) is None:
            raise AttributeError(f"there is no op type '{kind}'")
        return cast("TensorFunction", functools.partial(call, kind))


ops = _Ops()


def same_attrs(op: Operation, *names: str) -> dict[str, AttrValue]:
    """The values of an operation's attributes, for another one that has them too."""
    return {name: op.get_attr(name) for name in names}


def shape_of(tensor: Tensor, dtype: npt.DTypeLike = np.int32) -> Tensor | np.ndarray:
    """The shape of a tensor: numbers when all are known, else an operation that will tell."""
    if is_static(tensor.sizes):
        return np.array(tensor.sizes, dtype)
    return ops.Shape(tensor, out_type=np.dtype(dtype))


def number(value: float, like: Tensor) -> np.ndarray:
    """A number of a tensor's dtype."""
    return np.asarray(value, like.dtype)
