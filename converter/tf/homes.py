"""Which module of this package has the row of each name; tests/write_homes.py writes it.

A name that is missing here is looked for in all of them.
"""
# ruff: noqa: E501

HOMES = """
array: ApproxTopK BatchToSpace BatchToSpaceND Bitcast BroadcastArgs BroadcastGradientArgs BroadcastTo Bucketize Cast CheckNumerics Concat ConcatOffset ConcatV2 DepthToSpace Empty EnsureShape ExpandDims Fill Gather GatherNd GatherV2 GuaranteeConst Identity IdentityN LinSpace MirrorPad OneHot OnesLike Pack Pad PadV2 PlaceholderWithDefault PreventGradient Print Range Rank Reshape Reverse ReverseSequence ReverseV2 Roll Shape ShapeN Size Slice Snapshot SpaceToBatch SpaceToBatchND SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice Tile TopK TopKV2 Transpose Unpack UnravelIndex Where XlaDynamicSlice XlaDynamicUpdateSlice ZerosLike
control: Case If StatelessCase StatelessIf StatelessWhile While
decompositions: Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve MatrixTriangularSolve
einsum: Einsum
gradients: AvgPoolGrad Conv2DBackpropFilter DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 MaxPoolGrad
image: AdjustContrastv2 CropAndResize HSVToRGB NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 RGBToHSV ResizeBicubic ResizeBilinear ResizeNearestNeighbor
lists: EmptyTensorList TensorListConcat TensorListConcatV2 TensorListElementShape TensorListFromTensor TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit TensorListStack
math: Abs AccumulateNV2 Acos Acosh Add AddN AddV2 Asin Asinh Atan Atan2 Atanh BitwiseAnd BitwiseOr BitwiseXor Ceil ClipByValue Cos Cosh Div DivNoNan Elu EluGrad Equal Erf Erfc Erfinv Exp Expm1 Floor FloorDiv FloorMod Greater GreaterEqual Inv InvGrad Invert IsFinite IsInf IsNan LeakyRelu LeakyReluGrad LeftShift Less LessEqual Log Log1p LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Ndtri Neg NotEqual Pow RealDiv Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad RightShift Rint Round Rsqrt RsqrtGrad Select SelectV2 Selu SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Softplus SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad Square SquaredDifference Sub Tan Tanh TanhGrad ToBool TruncateDiv TruncateMod Xdivy Xlog1py Xlogy
matrix: Diag DiagPart MatrixBandPart MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiag MatrixSetDiagV2 MatrixSetDiagV3
nn: AvgPool BatchMatMul BatchMatMulV2 BatchMatMulV3 BiasAdd BiasAddV1 Conv2D Conv2DBackpropInput Conv3D Conv3DBackpropInputV2 DepthwiseConv2dNative FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 LRN LogSoftmax MatMul MaxPool Softmax SoftmaxCrossEntropyWithLogits SparseMatMul SparseSoftmaxCrossEntropyWithLogits
pool: AvgPool3D Dilation2D ExtractImagePatches MaxPool3D MaxPoolV2 MaxPoolWithArgmax
quantize: Dequantize FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantizeV2 QuantizeAndDequantizeV4 QuantizeV2
random: Multinomial RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt StatelessRandomGetAlg TruncatedNormal
reduce: All Any ArgMax ArgMin BiasAddGrad Cumprod Cumsum EuclideanNorm L2Loss Max Mean Min Prod Sum
scatter: Bincount DenseBincount DynamicPartition DynamicStitch InTopKV2 InvertPermutation ListDiff LowerBound MirrorPadGrad ParallelDynamicStitch ScatterNd SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments SparseToDense StridedSliceGrad TensorScatterAdd TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate TensorStridedSliceUpdate Unique UniqueV2 UniqueWithCounts UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum UpperBound
special: BatchNormWithGlobalNormalization BesselI0 BesselI0e BesselI1 BesselI1e Cross CumulativeLogsumexp Digamma Lgamma
spectral: Angle Complex ComplexAbs Conj ConjugateTranspose FFT FFT2D IFFT IFFT2D IRFFT IRFFT2D Imag RFFT RFFT2D Real
tables: HashTable HashTableV2 LookupTableFind LookupTableFindV2 LookupTableSizeV2 StringToHashBucketFast
"""
