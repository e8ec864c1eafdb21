"""Which module of this package has the row of each name; tests/write_homes.py writes it.

A name that is missing here is looked for in all of them.
"""
# ruff: noqa: E501

HOMES = """
activation: Acosh Asinh Atanh Celu Cosh Hardmax IsInf Mish Shrink Sinh Swish Tan ThresholdedRelu
array: Concat Constant ConstantOfShape Expand Flatten Gather Pad Range Reshape Shape Size Split Squeeze Tile Transpose Unsqueeze
control: If Loop Scan
conv: Conv
fourier: DFT MelWeightMatrix STFT
index: Compress CumProd CumSum EyeLike GatherND NonMaxSuppression NonZero OneHot ReverseSequence TopK Trilu Unique
legacy: Affine Crop ImageScaler ParametricSoftplus Scale ScaledTanh
linear_algebra: Det Einsum
logic: BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
math: Abs Acos Add And Asin Atan Cast CastLike Ceil Clip Cos Div Dropout Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsNaN LeakyRelu Less LessOrEqual Log Max Mean Min Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Softsign Sqrt Sub Sum Tanh Where Xor
matmul: Gemm MatMul
microsoft.attention: com.microsoft.Attention com.microsoft.DecoderMaskedMultiHeadAttention com.microsoft.GatedRelativePositionBias com.microsoft.GemmaRotaryEmbedding com.microsoft.MRotaryEmbedding com.microsoft.MultiHeadAttention com.microsoft.RelativePositionBias com.microsoft.RotaryEmbedding
microsoft.attention_lstm: com.microsoft.AttnLSTM
microsoft.fused: SimplifiedLayerNormalization com.microsoft.BiasAdd com.microsoft.BiasGelu com.microsoft.CDist com.microsoft.DequantizeLinear com.microsoft.EmbedLayerNormalization com.microsoft.ExpandDims com.microsoft.FastGelu com.microsoft.FusedConv com.microsoft.FusedGemm com.microsoft.FusedMatMul com.microsoft.GatedRMSNorm com.microsoft.GatherND com.microsoft.Gelu com.microsoft.GridSample com.microsoft.LayerNormalization com.microsoft.NhwcMaxPool com.microsoft.Pad com.microsoft.QuantizeLinear com.microsoft.QuickGelu com.microsoft.Range com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipLayerNormalization com.microsoft.SkipSimplifiedLayerNormalization com.microsoft.TransposeMatMul com.microsoft.Trilu com.microsoft.UnfoldTensor com.microsoft.Unique
microsoft.gated_delta_net: com.microsoft.GatedDeltaNet
microsoft.group_query: com.microsoft.GroupQueryAttention
microsoft.images: com.microsoft.ConvTransposeWithDynamicPads com.microsoft.CropAndResize
microsoft.language: com.microsoft.EngramGate com.microsoft.HyperConnectionLowRankMix com.microsoft.HyperConnectionPostMix com.microsoft.HyperConnectionPreMix com.microsoft.MoEGroupRouter com.microsoft.NGramRepeatBlock com.microsoft.SampleOp com.microsoft.WordConvEmbedding
microsoft.layers: com.microsoft.BiasDropout com.microsoft.BiasSoftmax com.microsoft.BiasSplitGelu com.microsoft.BranchwiseRMSNorm com.microsoft.CausalConvWithState com.microsoft.ComplexMul com.microsoft.ComplexMulConj com.microsoft.FusedMatMulActivation com.microsoft.GatedAdd com.microsoft.GemmFastGelu com.microsoft.GroupNorm com.microsoft.Inverse com.microsoft.Irfft com.microsoft.IsAllFinite com.microsoft.LinearAttentionGate com.microsoft.MoE com.microsoft.NhwcConv com.microsoft.NhwcFusedConv com.microsoft.Rfft com.microsoft.ScaledSiLU com.microsoft.SkipGroupNorm com.microsoft.SwiGLU com.microsoft.TorchEmbedding
microsoft.linear_attention: com.microsoft.LinearAttention
microsoft.ngrams: com.microsoft.NGramHashMapping
microsoft.quantized: com.microsoft.DynamicQuantizeLSTM com.microsoft.DynamicQuantizeMatMul com.microsoft.GatherBlockQuantized com.microsoft.MatMulBnb4 com.microsoft.MatMulInteger16 com.microsoft.MatMulIntegerToFloat com.microsoft.MatMulNBits com.microsoft.MulInteger com.microsoft.QAttention com.microsoft.QEmbedLayerNormalization com.microsoft.QGemm com.microsoft.QLinearAdd com.microsoft.QLinearAveragePool com.microsoft.QLinearConcat com.microsoft.QLinearConv com.microsoft.QLinearGlobalAveragePool com.microsoft.QLinearLeakyRelu com.microsoft.QLinearMul com.microsoft.QLinearReduceMean com.microsoft.QLinearSigmoid com.microsoft.QLinearSoftmax com.microsoft.QLinearWhere com.microsoft.QMoE com.microsoft.ReduceSumInteger
microsoft.sparse_attention: com.microsoft.SparseAttention
ml.estimators: ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.CategoryMapper ai.onnx.ml.FeatureVectorizer ai.onnx.ml.Imputer ai.onnx.ml.LabelEncoder ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor ai.onnx.ml.Normalizer ai.onnx.ml.OneHotEncoder ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor ai.onnx.ml.Scaler ai.onnx.ml.ZipMap
ml.trees: ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor
norm: BatchNormalization InstanceNormalization LayerNormalization LogSoftmax Softmax
optimizer: ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam ai.onnx.preview.training.Momentum
pool: AveragePool Col2Im GlobalAveragePool GlobalLpPool GlobalMaxPool LRN LpNormalization LpPool MaxPool MaxUnpool
quantized: ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul QuantizeLinear
random: Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
recurrent: GRU LSTM RNN
reduce: ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare
resize: Resize Upsample
sample: AffineGrid DeformConv GridSample MaxRoiPool RoiAlign
scatter: GatherElements Scatter ScatterElements ScatterND TensorScatter
sequence: ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence
slice: Slice
text: StringNormalizer TfIdfVectorizer
transpose_conv: ConvTranspose DepthToSpace SpaceToDepth
"""
