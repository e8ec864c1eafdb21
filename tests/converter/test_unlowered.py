"""Operations that run here and become no TFLite operators: each with the reason.

A new operation gets a lowering or a line here.
"""

from flatlite.converter.tf.registry import LOWERINGS
from flatlite.graph.core.registry import OPS

REASONS = {
    "accumulators: what collects the gradients of several workers": """
        AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep
        AccumulatorTakeGradient ConditionalAccumulator ResourceAccumulatorApplyGradient
        ResourceAccumulatorNumAccumulated ResourceAccumulatorSetGlobalStep
        ResourceAccumulatorTakeGradient ResourceConditionalAccumulator
        SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator
    """,
    "random numbers that TensorFlow's generators draw; Flex has the same ones": """
        AllCandidateSampler ComputeAccidentalHits FixedUnigramCandidateSampler
        FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool FractionalMaxPoolGrad
        LearnedUnigramCandidateSampler LogUniformCandidateSampler RandomGamma
        RandomGammaGrad RandomPoissonV2 SobolSample StatelessMultinomial
        StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomGammaV3
        StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg StatelessRandomNormal
        StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniform
        StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2
        StatelessRandomUniformInt StatelessRandomUniformIntV2 StatelessRandomUniformV2
        StatelessTruncatedNormal StatelessTruncatedNormalV2 UniformCandidateSampler
    """,
    "steps of optimizers: sources/writes.py has those of training signatures, and names others": """
        ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam
        ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2 ApplyGradientDescent
        ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent
        ApplyRMSProp ResourceApplyAdaMax ResourceApplyAdadelta ResourceApplyAdagrad
        ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam
        ResourceApplyAdamWithAmsgrad ResourceApplyAddSign ResourceApplyCenteredRMSProp
        ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyGradientDescent
        ResourceApplyKerasMomentum ResourceApplyMomentum ResourceApplyPowerSign
        ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent
        ResourceApplyRMSProp ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad
        ResourceSparseApplyAdagradDA ResourceSparseApplyAdagradV2
        ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl ResourceSparseApplyFtrlV2
        ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum
        ResourceSparseApplyProximalAdagrad ResourceSparseApplyProximalGradientDescent
        ResourceSparseApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad
        SparseApplyAdagradDA SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl
        SparseApplyFtrlV2 SparseApplyMomentum SparseApplyProximalAdagrad
        SparseApplyProximalGradientDescent SparseApplyRMSProp
    """,
    "builtins have no operators on the characters of strings; Flex": """
        AsString DecodeBase64 DecodeCSV DecodeCompressed DecodeJSONExample DecodePaddedRaw
        DecodeProtoV2 DecodeRaw DeserializeManySparse DeserializeSparse EditDistance
        EncodeBase64 EncodeProto Fingerprint ParseExample ParseExampleV2
        ParseSequenceExampleV2 ParseSingleExample ParseSingleSequenceExample ParseTensor
        ReduceJoin RegexFullMatch RegexReplace SerializeManySparse SerializeSparse
        SerializeTensor StaticRegexFullMatch StaticRegexReplace StringFormat StringJoin
        StringLength StringLower StringNGrams StringSplit StringSplitV2 StringStrip
        StringToHashBucket StringToHashBucketStrong StringToNumber StringUpper Substr
        UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode
        UnsortedSegmentJoin
    """,
    "the graph itself: inputs, constants, calls and what runs without results": """
        Assert Const ControlTrigger NoOp PartitionedCall Placeholder PlaceholderV2
        StatefulPartitionedCall _Arg _Retval
    """,
    "variables: sources has values instead before anything is lowered, or names what writes": """
        Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp
        CountUpTo IsVariableInitialized ReadVariableOp ResourceCountUpTo ResourceGather
        ResourceGatherNd ResourceScatterAdd ResourceScatterDiv ResourceScatterMax
        ResourceScatterMin ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax
        ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate ResourceScatterSub
        ResourceScatterUpdate ResourceStridedSliceAssign ScatterAdd ScatterDiv ScatterMax
        ScatterMin ScatterMul ScatterNdAdd ScatterNdMax ScatterNdMin ScatterNdSub ScatterNdUpdate
        ScatterSub ScatterUpdate StridedSliceAssign VarHandleOp VarIsInitializedOp Variable
        VariableShape VariableV2
    """,
    "summaries: for TensorBoard, no model's result": """
        AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary
        TensorSummary TensorSummaryV2
    """,
    "gradients of layers that on-device training has not asked for": """
        AvgPool3DGrad Conv3DBackpropFilterV2 Dilation2DBackpropFilter Dilation2DBackpropInput
        MaxPool3DGrad MaxPool3DGradGrad MaxPoolGradGrad MaxPoolGradWithArgmax
        QuantizeAndDequantizeV4Grad
    """,
    "decompositions that iterate until something is small, or choose pivots; Flex": """
        BandedTriangularSolve Lu MatrixLogarithm MatrixSolveLs MatrixSquareRoot Qr
        SelfAdjointEigV2 Svd TridiagonalSolve
    """,
    "special functions whose formulas in float32 are not as exact as TensorFlow's; Flex": """
        BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc Dawsn
        Expint FresnelCos FresnelSin Igamma IgammaGradA Igammac Polygamma Spence Zeta
    """,
    "beam search, losses of sequences and functions of quantized types; Flex": """
        CTCBeamSearchDecoder CTCLoss QuantizedConcat QuantizedRelu QuantizedRelu6
        QuantizedReshape
    """,
    "sparse tensors whose elements are counted, matched or joined as sets; Flex": """
        DenseCountSparseOutput DenseToDenseSetOperation DenseToSparseSetOperation SetSize
        SparseAdd SparseAddGrad SparseConcat SparseCountSparseOutput SparseCross
        SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse SparseReduceSumSparse
        SparseSlice SparseSliceGrad SparseSparseMaximum SparseSparseMinimum SparseSplit
        SparseToSparseSetOperation
    """,
    "loops and branches of TensorFlow 1: graph/format/functionalize.py makes While, If": """
        Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration
        RefSwitch Switch
    """,
    "gradients of whole functions, which programs that train have": """
        SymbolicGradient
    """,
    "tensor arrays behind handles: graph/format/tensor_lists.py makes lists of them": """
        TensorArrayCloseV3 TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3
        TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3
    """,
    "stacks and arrays of gradients: TensorFlow's converter takes none either": """
        Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2
        TensorArrayGradV3 TensorArrayGradWithShape
    """,
    "ragged tensors: their functions on lists of numbers; Flex": """
        RaggedBincount RaggedCross RaggedFillEmptyRows RaggedFillEmptyRowsGrad RaggedGather
        RaggedRange RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToVariant
        RaggedTensorToVariantGradient SparseBincount
    """,
    "images as the bytes of files, drawn on, and cut out at random; Flex": """
        DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng
        DrawBoundingBoxes DrawBoundingBoxesV2 EncodeJpeg EncodeJpegVariableQuality EncodePng
        ExtractGlimpse ExtractGlimpseV2 ExtractJpegShape SampleDistortedBoundingBox
        SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
    """,
    "boxes suppressed by a matrix of overlaps; Flex": """
        NonMaxSuppressionWithOverlaps
    """,
    "images seen through a projective transform, and gradients of embeddings; Flex": """
        ImageProjectiveTransformV2 ImageProjectiveTransformV3 SparseSegmentMeanGrad
        SparseSegmentSqrtNGrad SparseSegmentSumGrad
    """,
    "cells of LSTM and GRU as one operation, and their gradients; Flex has the cells": """
        BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 GRUBlockCell GRUBlockCellGrad
        LSTMBlockCell LSTMBlockCellGrad
    """,
    "comparisons that no layer writes; Flex": """
        ApproximateEqual InTopK
    """,
    "gradients of resized images": """
        CropAndResizeGradBoxes CropAndResizeGradImage ResizeBicubicGrad ScaleAndTranslateGrad
    """,
    "tensors that a session keeps by handles": """
        AddManySparseToTensorsMap AddSparseToTensorsMap DeleteSessionTensor GetSessionHandle
        GetSessionHandleV2 GetSessionTensor TakeManySparseFromTensorsMap
    """,
    "the n-th of sorted elements, and a string; Flex": """
        Fact NthElement
    """,
    "files: what feeds a training program": """
        FixedLengthRecordReader FixedLengthRecordReaderV2 IdentityReader IdentityReaderV2
        MatchingFiles ReadFile ReaderNumRecordsProduced ReaderNumRecordsProducedV2
        ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo
        ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState
        ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2 TFRecordReader
        TFRecordReaderV2 TextLineReader TextLineReaderV2 WholeFileReader WholeFileReaderV2
        WriteFile
    """,
    "maps, and lists that are joined; Flex": """
        EmptyTensorMap TensorListConcatLists TensorListPushBackBatch TensorMapErase
        TensorMapHasKey TensorMapInsert TensorMapLookup TensorMapSize TensorMapStackKeys
    """,
    "the time of day; Flex": """
        Timestamp
    """,
    "queues: what feeds a training program": """
        Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize
        BarrierTakeMany FIFOQueue FIFOQueueV2 MapClear MapIncompleteSize MapPeek MapSize MapStage
        MapUnstage MapUnstageNoKey OrderedMapClear OrderedMapIncompleteSize OrderedMapPeek
        OrderedMapSize OrderedMapStage OrderedMapUnstage OrderedMapUnstageNoKey
        PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue
        PriorityQueueV2 QueueClose QueueCloseV2 QueueDequeue QueueDequeueMany QueueDequeueManyV2
        QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue QueueEnqueueMany
        QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2
        RandomShuffleQueue RandomShuffleQueueV2 Stage StageClear StagePeek StageSize Unstage
    """,
    "tables: sources/tables.py reads their contents; changes are named": """
        InitializeTable InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExportV2
        LookupTableImport LookupTableImportV2 LookupTableInsert LookupTableInsertV2
        LookupTableRemoveV2 MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensorsV2
        MutableHashTableV2
    """,
    "checkpoints: read at conversion, written by Flex": """
        MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename
        ShardedFilespec
    """,
    "sounds as the bytes of files, and their features; Flex": """
        AudioSpectrogram DecodeWav EncodeWav Mfcc
    """,
    "patches of volumes; Flex": """
        ExtractVolumePatches
    """,
    "layouts and rows in place, which optimizers of graphs write, and counts of rows; Flex": """
        DataFormatDimMap DataFormatVecPermute InplaceAdd InplaceSub InplaceUpdate
        UniqueWithCountsV2
    """,
    "modules of StableHLO: sources/freeze.py writes their operations in place of them": """
        XlaCallModule
    """,
    "datasets: what feeds a training program": """
        AssertCardinalityDataset BatchDataset BatchDatasetV2 CacheDataset ConcatenateDataset
        DatasetCardinality DatasetFingerprint DatasetToSingleElement
        DenseToSparseBatchDataset DirectedInterleaveDataset FilterDataset
        FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset
        GroupByReducerDataset GroupByWindowDataset IgnoreErrorsDataset
        InitializeTableFromDataset InterleaveDataset Iterator IteratorFromStringHandle
        IteratorFromStringHandleV2 IteratorGetNext IteratorGetNextAsOptional
        IteratorGetNextSync IteratorToStringHandle IteratorV2
        LegacyParallelInterleaveDatasetV2 ListDataset LoadDataset MakeIterator
        MapAndBatchDataset MapDataset ModelDataset OneShotIterator OptimizeDataset
        OptimizeDatasetV2 OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone
        OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2 ParallelBatchDataset
        ParallelInterleaveDatasetV4 ParallelMapDatasetV2 PrefetchDataset RandomDataset
        RangeDataset RebatchDatasetV2 ReduceDataset RepeatDataset RewriteDataset SaveDataset
        ScanDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset SkipDataset
        SnapshotDatasetV2 SparseTensorSliceDataset TFRecordDataset TFRecordDatasetV2
        TakeDataset TakeWhileDataset TensorDataset TensorSliceDataset TextLineDataset
        UnbatchDataset UniqueDataset WindowDataset ZipDataset
    """,
}


def test_every_operation_is_lowered_or_has_a_reason():
    listed = [name for names in REASONS.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert {name for name in OPS.names() if LOWERINGS.get(name) is None} == set(listed)
