"""The TFLite schema as plain data. Made from tflite.fbs by generate.py; do not edit.

ENUMS: enum -> {member: value}, each also a constant (TENSOR_TYPE, BUILTIN_OPERATOR, ...).
ENUM_TYPES: enum -> the scalar type of its fields.
UNIONS: union -> its member tables, by type value; 0 is None.
TABLES: table -> fields (name, type, default, slot); a union's slot is that of its type, its value
is in the next one. A type in brackets is a vector. The text has name:type:slot=default.
ALIGNMENT: (table, field) -> bytes its vector is aligned to, where that is more than the element.
"""

from __future__ import annotations

from .rows import Default as Default
from .rows import Field as Field
from .rows import Rows

FILE_IDENTIFIER = 'TFL3'

ROOT_TYPE = 'Model'

TENSOR_TYPE = {
    'FLOAT32': 0,
    'FLOAT16': 1,
    'INT32': 2,
    'UINT8': 3,
    'INT64': 4,
    'STRING': 5,
    'BOOL': 6,
    'INT16': 7,
    'COMPLEX64': 8,
    'INT8': 9,
    'FLOAT64': 10,
    'COMPLEX128': 11,
    'UINT64': 12,
    'RESOURCE': 13,
    'VARIANT': 14,
    'UINT32': 15,
    'UINT16': 16,
    'INT4': 17,
    'BFLOAT16': 18,
    'INT2': 19,
    'UINT4': 20,
    'FLOAT8_E4M3FN': 21,
    'FLOAT8_E5M2': 22,
}

DIMENSION_TYPE = {
    'DENSE': 0,
    'SPARSE_CSR': 1,
}

BUILTIN_OPERATOR = {
    'ADD': 0,
    'AVERAGE_POOL_2D': 1,
    'CONCATENATION': 2,
    'CONV_2D': 3,
    'DEPTHWISE_CONV_2D': 4,
    'DEPTH_TO_SPACE': 5,
    'DEQUANTIZE': 6,
    'EMBEDDING_LOOKUP': 7,
    'FLOOR': 8,
    'FULLY_CONNECTED': 9,
    'HASHTABLE_LOOKUP': 10,
    'L2_NORMALIZATION': 11,
    'L2_POOL_2D': 12,
    'LOCAL_RESPONSE_NORMALIZATION': 13,
    'LOGISTIC': 14,
    'LSH_PROJECTION': 15,
    'LSTM': 16,
    'MAX_POOL_2D': 17,
    'MUL': 18,
    'RELU': 19,
    'RELU_N1_TO_1': 20,
    'RELU6': 21,
    'RESHAPE': 22,
    'RESIZE_BILINEAR': 23,
    'RNN': 24,
    'SOFTMAX': 25,
    'SPACE_TO_DEPTH': 26,
    'SVDF': 27,
    'TANH': 28,
    'CONCAT_EMBEDDINGS': 29,
    'SKIP_GRAM': 30,
    'CALL': 31,
    'CUSTOM': 32,
    'EMBEDDING_LOOKUP_SPARSE': 33,
    'PAD': 34,
    'UNIDIRECTIONAL_SEQUENCE_RNN': 35,
    'GATHER': 36,
    'BATCH_TO_SPACE_ND': 37,
    'SPACE_TO_BATCH_ND': 38,
    'TRANSPOSE': 39,
    'MEAN': 40,
    'SUB': 41,
    'DIV': 42,
    'SQUEEZE': 43,
    'UNIDIRECTIONAL_SEQUENCE_LSTM': 44,
    'STRIDED_SLICE': 45,
    'BIDIRECTIONAL_SEQUENCE_RNN': 46,
    'EXP': 47,
    'TOPK_V2': 48,
    'SPLIT': 49,
    'LOG_SOFTMAX': 50,
    'DELEGATE': 51,
    'BIDIRECTIONAL_SEQUENCE_LSTM': 52,
    'CAST': 53,
    'PRELU': 54,
    'MAXIMUM': 55,
    'ARG_MAX': 56,
    'MINIMUM': 57,
    'LESS': 58,
    'NEG': 59,
    'PADV2': 60,
    'GREATER': 61,
    'GREATER_EQUAL': 62,
    'LESS_EQUAL': 63,
    'SELECT': 64,
    'SLICE': 65,
    'SIN': 66,
    'TRANSPOSE_CONV': 67,
    'SPARSE_TO_DENSE': 68,
    'TILE': 69,
    'EXPAND_DIMS': 70,
    'EQUAL': 71,
    'NOT_EQUAL': 72,
    'LOG': 73,
    'SUM': 74,
    'SQRT': 75,
    'RSQRT': 76,
    'SHAPE': 77,
    'POW': 78,
    'ARG_MIN': 79,
    'FAKE_QUANT': 80,
    'REDUCE_PROD': 81,
    'REDUCE_MAX': 82,
    'PACK': 83,
    'LOGICAL_OR': 84,
    'ONE_HOT': 85,
    'LOGICAL_AND': 86,
    'LOGICAL_NOT': 87,
    'UNPACK': 88,
    'REDUCE_MIN': 89,
    'FLOOR_DIV': 90,
    'REDUCE_ANY': 91,
    'SQUARE': 92,
    'ZEROS_LIKE': 93,
    'FILL': 94,
    'FLOOR_MOD': 95,
    'RANGE': 96,
    'RESIZE_NEAREST_NEIGHBOR': 97,
    'LEAKY_RELU': 98,
    'SQUARED_DIFFERENCE': 99,
    'MIRROR_PAD': 100,
    'ABS': 101,
    'SPLIT_V': 102,
    'UNIQUE': 103,
    'CEIL': 104,
    'REVERSE_V2': 105,
    'ADD_N': 106,
    'GATHER_ND': 107,
    'COS': 108,
    'WHERE': 109,
    'RANK': 110,
    'ELU': 111,
    'REVERSE_SEQUENCE': 112,
    'MATRIX_DIAG': 113,
    'QUANTIZE': 114,
    'MATRIX_SET_DIAG': 115,
    'ROUND': 116,
    'HARD_SWISH': 117,
    'IF': 118,
    'WHILE': 119,
    'NON_MAX_SUPPRESSION_V4': 120,
    'NON_MAX_SUPPRESSION_V5': 121,
    'SCATTER_ND': 122,
    'SELECT_V2': 123,
    'DENSIFY': 124,
    'SEGMENT_SUM': 125,
    'BATCH_MATMUL': 126,
    'PLACEHOLDER_FOR_GREATER_OP_CODES': 127,
    'CUMSUM': 128,
    'CALL_ONCE': 129,
    'BROADCAST_TO': 130,
    'RFFT2D': 131,
    'CONV_3D': 132,
    'IMAG': 133,
    'REAL': 134,
    'COMPLEX_ABS': 135,
    'HASHTABLE': 136,
    'HASHTABLE_FIND': 137,
    'HASHTABLE_IMPORT': 138,
    'HASHTABLE_SIZE': 139,
    'REDUCE_ALL': 140,
    'CONV_3D_TRANSPOSE': 141,
    'VAR_HANDLE': 142,
    'READ_VARIABLE': 143,
    'ASSIGN_VARIABLE': 144,
    'BROADCAST_ARGS': 145,
    'RANDOM_STANDARD_NORMAL': 146,
    'BUCKETIZE': 147,
    'RANDOM_UNIFORM': 148,
    'MULTINOMIAL': 149,
    'GELU': 150,
    'DYNAMIC_UPDATE_SLICE': 151,
    'RELU_0_TO_1': 152,
    'UNSORTED_SEGMENT_PROD': 153,
    'UNSORTED_SEGMENT_MAX': 154,
    'UNSORTED_SEGMENT_SUM': 155,
    'ATAN2': 156,
    'UNSORTED_SEGMENT_MIN': 157,
    'SIGN': 158,
    'BITCAST': 159,
    'BITWISE_XOR': 160,
    'RIGHT_SHIFT': 161,
    'STABLEHLO_LOGISTIC': 162,
    'STABLEHLO_ADD': 163,
    'STABLEHLO_DIVIDE': 164,
    'STABLEHLO_MULTIPLY': 165,
    'STABLEHLO_MAXIMUM': 166,
    'STABLEHLO_RESHAPE': 167,
    'STABLEHLO_CLAMP': 168,
    'STABLEHLO_CONCATENATE': 169,
    'STABLEHLO_BROADCAST_IN_DIM': 170,
    'STABLEHLO_CONVOLUTION': 171,
    'STABLEHLO_SLICE': 172,
    'STABLEHLO_CUSTOM_CALL': 173,
    'STABLEHLO_REDUCE': 174,
    'STABLEHLO_ABS': 175,
    'STABLEHLO_AND': 176,
    'STABLEHLO_COSINE': 177,
    'STABLEHLO_EXPONENTIAL': 178,
    'STABLEHLO_FLOOR': 179,
    'STABLEHLO_LOG': 180,
    'STABLEHLO_MINIMUM': 181,
    'STABLEHLO_NEGATE': 182,
    'STABLEHLO_OR': 183,
    'STABLEHLO_POWER': 184,
    'STABLEHLO_REMAINDER': 185,
    'STABLEHLO_RSQRT': 186,
    'STABLEHLO_SELECT': 187,
    'STABLEHLO_SUBTRACT': 188,
    'STABLEHLO_TANH': 189,
    'STABLEHLO_SCATTER': 190,
    'STABLEHLO_COMPARE': 191,
    'STABLEHLO_CONVERT': 192,
    'STABLEHLO_DYNAMIC_SLICE': 193,
    'STABLEHLO_DYNAMIC_UPDATE_SLICE': 194,
    'STABLEHLO_PAD': 195,
    'STABLEHLO_IOTA': 196,
    'STABLEHLO_DOT_GENERAL': 197,
    'STABLEHLO_REDUCE_WINDOW': 198,
    'STABLEHLO_SORT': 199,
    'STABLEHLO_WHILE': 200,
    'STABLEHLO_GATHER': 201,
    'STABLEHLO_TRANSPOSE': 202,
    'DILATE': 203,
    'STABLEHLO_RNG_BIT_GENERATOR': 204,
    'REDUCE_WINDOW': 205,
    'STABLEHLO_COMPOSITE': 206,
    'STABLEHLO_SHIFT_LEFT': 207,
    'STABLEHLO_CBRT': 208,
    'STABLEHLO_CASE': 209,
}

STABLEHLO_PRECISION_CONFIG = {
    'DEFAULT': 0,
    'HIGH': 1,
    'HIGHEST': 2,
}

STABLEHLO_COMPARISON_DIRECTION = {
    'STABLEHLO_COMPARISON_DIRECTION_EQ': 0,
    'STABLEHLO_COMPARISON_DIRECTION_NE': 1,
    'STABLEHLO_COMPARISON_DIRECTION_GE': 2,
    'STABLEHLO_COMPARISON_DIRECTION_GT': 3,
    'STABLEHLO_COMPARISON_DIRECTION_LE': 4,
    'STABLEHLO_COMPARISON_DIRECTION_LT': 5,
}

STABLEHLO_COMPARISON_TYPE = {
    'STABLEHLO_COMPARISON_TYPE_NOTYPE': 0,
    'STABLEHLO_COMPARISON_TYPE_FLOAT': 1,
    'STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER': 2,
    'STABLEHLO_COMPARISON_TYPE_SIGNED': 3,
    'STABLEHLO_COMPARISON_TYPE_UNSIGNED': 4,
}

RNG_ALGORITHM = {
    'DEFAULT': 0,
    'PHILOX': 1,
    'THREEFRY': 2,
}

PADDING = {
    'SAME': 0,
    'VALID': 1,
}

ACTIVATION_FUNCTION_TYPE = {
    'NONE': 0,
    'RELU': 1,
    'RELU_N1_TO_1': 2,
    'RELU6': 3,
    'TANH': 4,
    'SIGN_BIT': 5,
}

LSH_PROJECTION_TYPE = {
    'UNKNOWN': 0,
    'SPARSE': 1,
    'DENSE': 2,
}

FULLY_CONNECTED_OPTIONS_WEIGHTS_FORMAT = {
    'DEFAULT': 0,
    'SHUFFLED4x16INT8': 1,
}

LSTM_KERNEL_TYPE = {
    'FULL': 0,
    'BASIC': 1,
}

COMBINER_TYPE = {
    'SUM': 0,
    'MEAN': 1,
    'SQRTN': 2,
}

MIRROR_PAD_MODE = {
    'REFLECT': 0,
    'SYMMETRIC': 1,
}

REDUCE_WINDOW_FUNCTION = {
    'UNSUPPORTED': 0,
    'ADD': 1,
    'MUL': 2,
    'MINIMUM': 3,
    'MAXIMUM': 4,
    'ALL': 5,
    'ANY': 6,
}

CUSTOM_OPTIONS_FORMAT = {
    'FLEXBUFFERS': 0,
}

ENUMS = {
    'TensorType': TENSOR_TYPE,
    'DimensionType': DIMENSION_TYPE,
    'BuiltinOperator': BUILTIN_OPERATOR,
    'StablehloPrecisionConfig': STABLEHLO_PRECISION_CONFIG,
    'StablehloComparisonDirection': STABLEHLO_COMPARISON_DIRECTION,
    'StablehloComparisonType': STABLEHLO_COMPARISON_TYPE,
    'RngAlgorithm': RNG_ALGORITHM,
    'Padding': PADDING,
    'ActivationFunctionType': ACTIVATION_FUNCTION_TYPE,
    'LSHProjectionType': LSH_PROJECTION_TYPE,
    'FullyConnectedOptionsWeightsFormat': FULLY_CONNECTED_OPTIONS_WEIGHTS_FORMAT,
    'LSTMKernelType': LSTM_KERNEL_TYPE,
    'CombinerType': COMBINER_TYPE,
    'MirrorPadMode': MIRROR_PAD_MODE,
    'ReduceWindowFunction': REDUCE_WINDOW_FUNCTION,
    'CustomOptionsFormat': CUSTOM_OPTIONS_FORMAT,
}

ENUM_TYPES = {'TensorType': 'byte', 'DimensionType': 'byte', 'BuiltinOperator': 'int', 'StablehloPrecisionConfig': 'uint', 'StablehloComparisonDirection': 'uint', 'StablehloComparisonType': 'uint', 'RngAlgorithm': 'byte', 'Padding': 'byte', 'ActivationFunctionType': 'byte', 'LSHProjectionType': 'byte', 'FullyConnectedOptionsWeightsFormat': 'byte', 'LSTMKernelType': 'byte', 'CombinerType': 'byte', 'MirrorPadMode': 'byte', 'ReduceWindowFunction': 'int', 'CustomOptionsFormat': 'byte'}

UNIONS: dict[str, tuple[str | None, ...]] = {
    'QuantizationDetails': (
        None,
        'CustomQuantization',
        'BlockwiseQuantization',
        'MultiAxisQuantization',
    ),
    'SparseIndexVector': (
        None,
        'Int32Vector',
        'Uint16Vector',
        'Uint8Vector',
    ),
    'BuiltinOptions': (
        None,
        'Conv2DOptions',
        'DepthwiseConv2DOptions',
        'ConcatEmbeddingsOptions',
        'LSHProjectionOptions',
        'Pool2DOptions',
        'SVDFOptions',
        'RNNOptions',
        'FullyConnectedOptions',
        'SoftmaxOptions',
        'ConcatenationOptions',
        'AddOptions',
        'L2NormOptions',
        'LocalResponseNormalizationOptions',
        'LSTMOptions',
        'ResizeBilinearOptions',
        'CallOptions',
        'ReshapeOptions',
        'SkipGramOptions',
        'SpaceToDepthOptions',
        'EmbeddingLookupSparseOptions',
        'MulOptions',
        'PadOptions',
        'GatherOptions',
        'BatchToSpaceNDOptions',
        'SpaceToBatchNDOptions',
        'TransposeOptions',
        'ReducerOptions',
        'SubOptions',
        'DivOptions',
        'SqueezeOptions',
        'SequenceRNNOptions',
        'StridedSliceOptions',
        'ExpOptions',
        'TopKV2Options',
        'SplitOptions',
        'LogSoftmaxOptions',
        'CastOptions',
        'DequantizeOptions',
        'MaximumMinimumOptions',
        'ArgMaxOptions',
        'LessOptions',
        'NegOptions',
        'PadV2Options',
        'GreaterOptions',
        'GreaterEqualOptions',
        'LessEqualOptions',
        'SelectOptions',
        'SliceOptions',
        'TransposeConvOptions',
        'SparseToDenseOptions',
        'TileOptions',
        'ExpandDimsOptions',
        'EqualOptions',
        'NotEqualOptions',
        'ShapeOptions',
        'PowOptions',
        'ArgMinOptions',
        'FakeQuantOptions',
        'PackOptions',
        'LogicalOrOptions',
        'OneHotOptions',
        'LogicalAndOptions',
        'LogicalNotOptions',
        'UnpackOptions',
        'FloorDivOptions',
        'SquareOptions',
        'ZerosLikeOptions',
        'FillOptions',
        'BidirectionalSequenceLSTMOptions',
        'BidirectionalSequenceRNNOptions',
        'UnidirectionalSequenceLSTMOptions',
        'FloorModOptions',
        'RangeOptions',
        'ResizeNearestNeighborOptions',
        'LeakyReluOptions',
        'SquaredDifferenceOptions',
        'MirrorPadOptions',
        'AbsOptions',
        'SplitVOptions',
        'UniqueOptions',
        'ReverseV2Options',
        'AddNOptions',
        'GatherNdOptions',
        'CosOptions',
        'WhereOptions',
        'RankOptions',
        'ReverseSequenceOptions',
        'MatrixDiagOptions',
        'QuantizeOptions',
        'MatrixSetDiagOptions',
        'HardSwishOptions',
        'IfOptions',
        'WhileOptions',
        'DepthToSpaceOptions',
        'NonMaxSuppressionV4Options',
        'NonMaxSuppressionV5Options',
        'ScatterNdOptions',
        'SelectV2Options',
        'DensifyOptions',
        'SegmentSumOptions',
        'BatchMatMulOptions',
        'CumsumOptions',
        'CallOnceOptions',
        'BroadcastToOptions',
        'Rfft2dOptions',
        'Conv3DOptions',
        'HashtableOptions',
        'HashtableFindOptions',
        'HashtableImportOptions',
        'HashtableSizeOptions',
        'VarHandleOptions',
        'ReadVariableOptions',
        'AssignVariableOptions',
        'RandomOptions',
        'BucketizeOptions',
        'GeluOptions',
        'DynamicUpdateSliceOptions',
        'UnsortedSegmentProdOptions',
        'UnsortedSegmentMaxOptions',
        'UnsortedSegmentMinOptions',
        'UnsortedSegmentSumOptions',
        'ATan2Options',
        'SignOptions',
        'BitcastOptions',
        'BitwiseXorOptions',
        'RightShiftOptions',
    ),
    'BuiltinOptions2': (
        None,
        'StablehloConcatenateOptions',
        'StablehloBroadcastInDimOptions',
        'StablehloSliceOptions',
        'StablehloConvolutionOptions',
        'StablehloCustomCallOptions',
        'StablehloReduceOptions',
        'StablehloScatterOptions',
        'StablehloCompareOptions',
        'StablehloDynamicSliceOptions',
        'StablehloPadOptions',
        'StablehloIotaOptions',
        'StablehloDotGeneralOptions',
        'StablehloReduceWindowOptions',
        'StablehloSortOptions',
        'StablehloWhileOptions',
        'StablehloGatherOptions',
        'StablehloTransposeOptions',
        'DilateOptions',
        'StablehloRngBitGeneratorOptions',
        'ReduceWindowOptions',
        'StableHLOCompositeOptions',
        'StablehloShiftLeftOptions',
        'StablehloCaseOptions',
    ),
}

TABLES = Rows("""
CustomQuantization custom:[ubyte]:0=
BlockwiseQuantization scales:int:0=0 zero_points:int:1=0 block_size:int:2=0 block_shape:[int]:3=
MultiAxisQuantization scales:int:0=0 zero_points:int:1=0 block_size:int:2=0 quantized_dimensions:[int]:3=
QuantizationParameters min:[float]:0= max:[float]:1= scale:[float]:2= zero_point:[long]:3= details:QuantizationDetails:4= quantized_dimension:int:6=0
Int32Vector values:[int]:0=
Uint16Vector values:[ushort]:0=
Uint8Vector values:[ubyte]:0=
DimensionMetadata format:DimensionType:0=0 dense_size:int:1=0 array_segments:SparseIndexVector:2= array_indices:SparseIndexVector:4=
SparsityParameters traversal_order:[int]:0= block_map:[int]:1= dim_metadata:[DimensionMetadata]:2=
VariantSubType shape:[int]:0= type:TensorType:1=0 has_rank:bool:2=False
Tensor shape:[int]:0= type:TensorType:1=0 buffer:uint:2=0 name:string:3= quantization:QuantizationParameters:4= is_variable:bool:5=False sparsity:SparsityParameters:6= shape_signature:[int]:7= has_rank:bool:8=False variant_tensors:[VariantSubType]:9= external_buffer:uint:10=0
StablehloGatherOptions offset_dims:[long]:0= collapsed_slice_dims:[long]:1= start_index_map:[long]:2= index_vector_dim:long:3=0 slice_sizes:[long]:4= indices_are_sorted:bool:5=False
StablehloTransposeOptions permutation:[long]:0=
StablehloDotGeneralOptions lhs_batching_dimensions:[long]:0= rhs_batching_dimensions:[long]:1= lhs_contracting_dimensions:[long]:2= rhs_contracting_dimensions:[long]:3= precision_config:[StablehloPrecisionConfig]:4=
StablehloReduceWindowOptions window_dimensions:[long]:0= window_strides:[long]:1= base_dilations:[long]:2= window_dilations:[long]:3= padding:[long]:4= body_subgraph_index:int:5=0
StablehloWhileOptions cond_subgraph_index:int:0=0 body_subgraph_index:int:1=0
StablehloSortOptions dimension:long:0=0 is_stable:bool:1=False comparator_subgraph_index:int:2=0
StablehloConcatenateOptions dimension:long:0=0
StablehloBroadcastInDimOptions broadcast_dimensions:[long]:0=
StablehloCompareOptions comparison_direction:StablehloComparisonDirection:0=0 compare_type:StablehloComparisonType:1=0
StablehloDynamicSliceOptions slice_sizes:[long]:0=
StablehloPadOptions edge_padding_low:[long]:0= edge_padding_high:[long]:1= interior_padding:[long]:2=
StablehloIotaOptions iota_dimension:long:0=0
StablehloCustomCallOptions call_target_name:string:0= has_side_effect:bool:1=False backend_config:string:2= api_version:int:3=0 called_computations:[int]:4= custom_attributes:[ubyte]:5=
StablehloReduceOptions dimensions:[long]:0= body_subgraph_index:int:1=0
StablehloSliceOptions start_indices:[long]:0= limit_indices:[long]:1= strides:[long]:2=
StablehloConvolutionOptions window_strides:[long]:0= padding:[long]:1= lhs_dilation:[long]:2= rhs_dilation:[long]:3= window_reversal:[bool]:4= input_batch_dimension:long:5=0 input_feature_dimension:long:6=0 input_spatial_dimensions:[long]:7= kernel_input_feature_dimension:long:8=0 kernel_output_feature_dimension:long:9=0 kernel_spatial_dimensions:[long]:10= output_batch_dimension:long:11=0 output_feature_dimension:long:12=0 output_spatial_dimensions:[long]:13= feature_group_count:long:14=0 batch_group_count:long:15=0 precision_config:[StablehloPrecisionConfig]:16=
StablehloScatterOptions indices_are_sorted:bool:0=False update_window_dims:[long]:1= inserted_window_dims:[long]:2= scatter_dims_to_operand_dims:[long]:3= index_vector_dim:long:4=0 unique_indices:bool:5=False update_computation_subgraph_index:int:6=0
StablehloCaseOptions branch_subgraph_indices:[int]:0=
StablehloRngBitGeneratorOptions algorithm:RngAlgorithm:0=0
Conv2DOptions padding:Padding:0=0 stride_w:int:1=0 stride_h:int:2=0 fused_activation_function:ActivationFunctionType:3=0 dilation_w_factor:int:4=1 dilation_h_factor:int:5=1 quantized_bias_type:TensorType:6=0
Conv3DOptions padding:Padding:0=0 stride_d:int:1=0 stride_w:int:2=0 stride_h:int:3=0 fused_activation_function:ActivationFunctionType:4=0 dilation_d_factor:int:5=1 dilation_w_factor:int:6=1 dilation_h_factor:int:7=1
Pool2DOptions padding:Padding:0=0 stride_w:int:1=0 stride_h:int:2=0 filter_width:int:3=0 filter_height:int:4=0 fused_activation_function:ActivationFunctionType:5=0
DepthwiseConv2DOptions padding:Padding:0=0 stride_w:int:1=0 stride_h:int:2=0 depth_multiplier:int:3=0 fused_activation_function:ActivationFunctionType:4=0 dilation_w_factor:int:5=1 dilation_h_factor:int:6=1
ConcatEmbeddingsOptions num_channels:int:0=0 num_columns_per_channel:[int]:1= embedding_dim_per_channel:[int]:2=
LSHProjectionOptions type:LSHProjectionType:0=0
SVDFOptions rank:int:0=0 fused_activation_function:ActivationFunctionType:1=0 asymmetric_quantize_inputs:bool:2=False
RNNOptions fused_activation_function:ActivationFunctionType:0=0 asymmetric_quantize_inputs:bool:1=False
SequenceRNNOptions time_major:bool:0=False fused_activation_function:ActivationFunctionType:1=0 asymmetric_quantize_inputs:bool:2=False
BidirectionalSequenceRNNOptions time_major:bool:0=False fused_activation_function:ActivationFunctionType:1=0 merge_outputs:bool:2=False asymmetric_quantize_inputs:bool:3=False
FullyConnectedOptions fused_activation_function:ActivationFunctionType:0=0 weights_format:FullyConnectedOptionsWeightsFormat:1=0 keep_num_dims:bool:2=False asymmetric_quantize_inputs:bool:3=False quantized_bias_type:TensorType:4=0 quant_spec:[ubyte]:5=
SoftmaxOptions beta:float:0=0.0
ConcatenationOptions axis:int:0=0 fused_activation_function:ActivationFunctionType:1=0
AddOptions fused_activation_function:ActivationFunctionType:0=0 pot_scale_int16:bool:1=True
MulOptions fused_activation_function:ActivationFunctionType:0=0
L2NormOptions fused_activation_function:ActivationFunctionType:0=0
LocalResponseNormalizationOptions radius:int:0=0 bias:float:1=0.0 alpha:float:2=0.0 beta:float:3=0.0
LSTMOptions fused_activation_function:ActivationFunctionType:0=0 cell_clip:float:1=0.0 proj_clip:float:2=0.0 kernel_type:LSTMKernelType:3=0 asymmetric_quantize_inputs:bool:4=False
UnidirectionalSequenceLSTMOptions fused_activation_function:ActivationFunctionType:0=0 cell_clip:float:1=0.0 proj_clip:float:2=0.0 time_major:bool:3=False asymmetric_quantize_inputs:bool:4=False diagonal_recurrent_tensors:bool:5=False
BidirectionalSequenceLSTMOptions fused_activation_function:ActivationFunctionType:0=0 cell_clip:float:1=0.0 proj_clip:float:2=0.0 merge_outputs:bool:3=False time_major:bool:4=True asymmetric_quantize_inputs:bool:5=False
ResizeBilinearOptions align_corners:bool:2=False half_pixel_centers:bool:3=False
ResizeNearestNeighborOptions align_corners:bool:0=False half_pixel_centers:bool:1=False
CallOptions subgraph:uint:0=0
PadOptions
PadV2Options
ReshapeOptions new_shape:[int]:0=
SpaceToBatchNDOptions
BatchToSpaceNDOptions
SkipGramOptions ngram_size:int:0=0 max_skip_size:int:1=0 include_all_ngrams:bool:2=False
SpaceToDepthOptions block_size:int:0=0
DepthToSpaceOptions block_size:int:0=0
SubOptions fused_activation_function:ActivationFunctionType:0=0 pot_scale_int16:bool:1=True
DivOptions fused_activation_function:ActivationFunctionType:0=0
TopKV2Options
EmbeddingLookupSparseOptions combiner:CombinerType:0=0
GatherOptions axis:int:0=0 batch_dims:int:1=0
TransposeOptions
ExpOptions
CosOptions
ReducerOptions keep_dims:bool:0=False
SqueezeOptions squeeze_dims:[int]:0=
SplitOptions num_splits:int:0=0
SplitVOptions num_splits:int:0=0
StridedSliceOptions begin_mask:int:0=0 end_mask:int:1=0 ellipsis_mask:int:2=0 new_axis_mask:int:3=0 shrink_axis_mask:int:4=0 offset:bool:5=False
LogSoftmaxOptions
CastOptions in_data_type:TensorType:0=0 out_data_type:TensorType:1=0
DequantizeOptions
MaximumMinimumOptions
TileOptions
ArgMaxOptions output_type:TensorType:0=0
ArgMinOptions output_type:TensorType:0=0
GreaterOptions
GreaterEqualOptions
LessOptions
LessEqualOptions
NegOptions
SelectOptions
SliceOptions
TransposeConvOptions padding:Padding:0=0 stride_w:int:1=0 stride_h:int:2=0 fused_activation_function:ActivationFunctionType:3=0 quantized_bias_type:TensorType:4=0
ExpandDimsOptions
SparseToDenseOptions validate_indices:bool:0=False
EqualOptions
NotEqualOptions
ShapeOptions out_type:TensorType:0=0
RankOptions
PowOptions
FakeQuantOptions min:float:0=0.0 max:float:1=0.0 num_bits:int:2=0 narrow_range:bool:3=False
PackOptions values_count:int:0=0 axis:int:1=0
LogicalOrOptions
OneHotOptions axis:int:0=0
AbsOptions
HardSwishOptions
LogicalAndOptions
LogicalNotOptions
UnpackOptions num:int:0=0 axis:int:1=0
FloorDivOptions
SquareOptions
ZerosLikeOptions
FillOptions
FloorModOptions
RangeOptions
LeakyReluOptions alpha:float:0=0.0
SquaredDifferenceOptions
MirrorPadOptions mode:MirrorPadMode:0=0
UniqueOptions idx_out_type:TensorType:0=2
ReverseV2Options
AddNOptions
GatherNdOptions
WhereOptions
ReverseSequenceOptions seq_dim:int:0=0 batch_dim:int:1=0
MatrixDiagOptions
QuantizeOptions
MatrixSetDiagOptions
IfOptions then_subgraph_index:int:0=0 else_subgraph_index:int:1=0
CallOnceOptions init_subgraph_index:int:0=0
WhileOptions cond_subgraph_index:int:0=0 body_subgraph_index:int:1=0
NonMaxSuppressionV4Options
NonMaxSuppressionV5Options
ScatterNdOptions
SelectV2Options
DensifyOptions
SegmentSumOptions
BatchMatMulOptions adj_x:bool:0=False adj_y:bool:1=False asymmetric_quantize_inputs:bool:2=False
CumsumOptions exclusive:bool:0=False reverse:bool:1=False
BroadcastToOptions
Rfft2dOptions
HashtableOptions table_id:int:0=0 key_dtype:TensorType:1=0 value_dtype:TensorType:2=0
HashtableFindOptions
HashtableImportOptions
HashtableSizeOptions
VarHandleOptions container:string:0= shared_name:string:1=
ReadVariableOptions
AssignVariableOptions
RandomOptions seed:long:0=0 seed2:long:1=0
BucketizeOptions boundaries:[float]:0=
GeluOptions approximate:bool:0=False
DynamicUpdateSliceOptions
UnsortedSegmentProdOptions
UnsortedSegmentMaxOptions
UnsortedSegmentSumOptions
ATan2Options
UnsortedSegmentMinOptions
SignOptions
BitcastOptions
BitwiseXorOptions
RightShiftOptions
DilateOptions
ReduceWindowOptions reduce_function:ReduceWindowFunction:0=0
OperatorCode deprecated_builtin_code:byte:0=0 custom_code:string:1= version:int:2=1 builtin_code:BuiltinOperator:3=0
StableHLOCompositeOptions name:string:0= decomposition_subgraph_index:int:1=0 composite_attributes:[ubyte]:2= composite_attributes_format:CustomOptionsFormat:3=0 version:int:4=0
StablehloShiftLeftOptions
Operator opcode_index:uint:0=0 inputs:[int]:1= outputs:[int]:2= builtin_options:BuiltinOptions:3= custom_options:[ubyte]:5= custom_options_format:CustomOptionsFormat:6=0 mutating_variable_inputs:[bool]:7= intermediates:[int]:8= large_custom_options_offset:ulong:9=0 large_custom_options_size:ulong:10=0 builtin_options_2:BuiltinOptions2:11= debug_metadata_index:int:13=-1
SubGraph tensors:[Tensor]:0= inputs:[int]:1= outputs:[int]:2= operators:[Operator]:3= name:string:4= debug_metadata_index:int:5=-1
Buffer data:[ubyte]:0= offset:ulong:1=0 size:ulong:2=0
ExternalBufferGroup name:string:0=
ExternalBuffer id:uint:0=0 group:uint:1=0 offset:ulong:2=0 length:ulong:3=0 packing:string:4=
Metadata name:string:0= buffer:uint:1=0
TensorMap name:string:0= tensor_index:uint:1=0
SignatureDef inputs:[TensorMap]:0= outputs:[TensorMap]:1= signature_key:string:2= subgraph_index:uint:4=0
Model version:uint:0=0 operator_codes:[OperatorCode]:1= subgraphs:[SubGraph]:2= description:string:3= buffers:[Buffer]:4= metadata_buffer:[int]:5= metadata:[Metadata]:6= signature_defs:[SignatureDef]:7= external_buffer_groups:[ExternalBufferGroup]:8= external_buffers:[ExternalBuffer]:9=
""")

ALIGNMENT = {('Buffer', 'data'): 16}


def name_of(enum: str, value: int) -> str:
    """The member of `enum` that has `value`; raises KeyError when there is none.

    >>> name_of("BuiltinOperator", 3)
    'CONV_2D'
    """
    names = _NAMES.get(enum)
    if names is None:
        names = _NAMES[enum] = {number: name for name, number in ENUMS[enum].items()}
    return names[value]


_NAMES: dict[str, dict[int, str]] = {}
