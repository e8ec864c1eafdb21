"""What other runtimes run, by operator; `make targets` writes the rows.

    f32,qi8 =0 -> =0 ; constant=1,2    as in operator_types.py: the types of operands and results; then
                     the operands, counted from 0, that must be constants; `any` where all types that
                     there are, those of handles, run

tests/schema/record_targets.py asks the runtimes. They do not have an operator without a row.
"""
# ruff: noqa: E501

MICRO = r"""
ABS f32,i16,qi8,qi16 -> =0
ADD f32,i32,qi8,qi16 =0 -> =0
ADD_N f32 -> =0
ARG_MAX f32,i8,qi8 i32 -> i32
ARG_MIN f32,i8,qi8 i32 -> i32
ASSIGN_VARIABLE any
AVERAGE_POOL_2D f32,i8,i16,qi8,qi16 -> =0
BATCH_MATMUL f32,qi8,qi16 =0 -> =0
BATCH_TO_SPACE_ND f32,i8,qi8 i32 i32 -> =0
BROADCAST_ARGS i32,i64 =0 -> =0
BROADCAST_TO f32,f16,i8,u8,i16,i32,u32,i64,u64,bool,qi8,qu8,qi16 i32,i64 -> =0
CALL_ONCE ->
CAST f32,i8,i16,i32,u32,bool,qi8,qi16 -> f32,i8,i16,i32,u32,bool,qi8,qi16
CEIL f32 -> =0
CONCATENATION f32,i8,i16,i32,i64,bool,qi8,qi16 -> =0
CONV_2D f32 =0 f32 -> =0 | qi8 =0 qi32 -> =0 | qi16 qi8 qi64 -> =0
COS f32 -> =0
CUMSUM f32 i32 -> =0
DEPTHWISE_CONV_2D f32 =0 f32 -> =0 | qi8 =0 qi32 -> =0 | qi16 qi8 qi64 -> =0
DEPTH_TO_SPACE f32,i8,qi8 -> =0
DEQUANTIZE qi8,qu8,qi16 -> f32
DIV f32,i32,qi8 =0 -> =0
DYNAMIC_UPDATE_SLICE f32,i8,i16,i32,qi8,qi16 =0 i32,i64 -> =0 | qi16 i16 i32,i64 -> =1 | qi8 i8 i32,i64 -> =1
ELU f32,qi8 -> =0
EMBEDDING_LOOKUP i32 f32,i8,qi8 -> =1 | i32 qi8 -> f32,i8
EQUAL f32,i32,i64,bool,qi8 =0 -> bool
EXP f32 -> =0
EXPAND_DIMS f32,i8,i16,qi8,qi16 i32 -> =0
FILL i32,i64 f32,i8,i32,qi8 -> =1
FLOOR f32 -> =0
FLOOR_DIV f32 f32 -> =0
FLOOR_MOD f32 f32 -> =0
FULLY_CONNECTED f32 =0 f32,- -> =0 | qi8 =0 qi32,- -> =0 | qi16 qi8 qi32,qi64,- -> =0
GATHER f32,i8,qi8 i32 -> =0
GATHER_ND f32,i8,qi8 i32 -> =0
GREATER f32,i32,i64,qi8 =0 -> bool
GREATER_EQUAL f32,i32,i64,qi8 =0 -> bool
HARD_SWISH f32,qi8 -> =0
IF bool f32 -> f32
L2_NORMALIZATION f32,qi8 -> =0
L2_POOL_2D f32 -> =0
LEAKY_RELU f32,qi8,qi16 -> =0
LESS f32,i32,i64,qi8 =0 -> bool
LESS_EQUAL f32,i32,i64,qi8 =0 -> bool
LOG f32 -> =0
LOGICAL_AND bool bool -> =0
LOGICAL_NOT bool -> =0
LOGICAL_OR bool bool -> =0
LOGISTIC f32,qi8,qi16 -> =0
LOG_SOFTMAX f32,qi8 -> =0
MAXIMUM f32,i8,i16,i32,i64,qi8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1
MAX_POOL_2D f32,i8,i16,qi8,qi16 -> =0
MEAN f32,qi8,qi16 i32 -> =0
MINIMUM f32,i8,i16,i32,i64,qi8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1
MIRROR_PAD f32,i8,qi8 i32,i64 -> =0
MUL f32,i32,qi8,qi16 =0 -> =0
NEG f32 -> =0
NOT_EQUAL f32,i32,i64,bool,qi8 =0 -> bool
PACK f32,i8,i16,i32,i64,qi8,qi16 -> =0
PAD f32,i8,i16,i32,qi8,qi16 i32 -> =0 ; constant=1
PADV2 f32,i8,i16,i32,qi8,qi16 i32 =0 -> =0 | qi16 i32 i16 -> =2 | qi8 i32 i8 -> =2 ; constant=1,2
PRELU f32,qi8 =0 -> =0
QUANTIZE f32 -> qi8,qi16 | qi16 -> qi8,qi16,qi32 | qi8 -> qi8,qu8,qi16 | qu8 -> qi8
READ_VARIABLE any
REDUCE_ALL bool i32 -> =0
REDUCE_MAX f32,i8,qi8 i32 -> =0
REDUCE_MIN f32,i8,qi8 i32 -> =0
RELU f32,qi8,qi16 -> =0
RELU6 f32 -> =0
RESHAPE f32,f16,i8,u8,i16,i32,u32,i64,u64,bool,qi8,qu8,qi16 i32,- -> =0
RESIZE_BILINEAR f32,i8,qi8 i32 -> =0
RESIZE_NEAREST_NEIGHBOR f32,i8,i16,qi8,qi16 i32 -> =0
REVERSE_V2 f32,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i32 -> =0
ROUND f32 -> =0
RSQRT f32,qi8,qi16 -> =0
SELECT_V2 bool f32,i8,i16,qi8,qi16 =1 -> =1
SHAPE f32,f16,i8,u8,i16,i32,u32,i64,u64,bool,qi8,qu8,qi16 -> i32
SIN f32 -> =0
SLICE f32,i8,i16,i32,bool,qi8,qi16 i32,i64 =1 -> =0 | f32,i8,i16,i32,bool,qi8,qi16 i32 i64 -> =0
SOFTMAX f32,qi8,qi16 -> =0
SPACE_TO_BATCH_ND f32,i8,qi8 i32 i32 -> =0
SPACE_TO_DEPTH f32,i8,qi8 -> =0
SPLIT i16,i32,i64 f32,i8,i16,i32,qi8,qi16 -> =1
SPLIT_V f32,i8,i16,i32,qi8,qi16 i32,i64 i16,i32,i64 -> =0 | qi16 i32,i64 i16,i32,i64 -> i16 | qi8 i32,i64 i16,i32,i64 -> i8 ; constant=2
SQRT f32 -> =0
SQUARE f32 -> =0
SQUARED_DIFFERENCE f32,i32,qi8 =0 -> =0
SQUEEZE f32,f16,i8,u8,i16,i32,u32,i64,u64,bool,qi8,qu8,qi16 -> =0
STRIDED_SLICE f32,i8,i16,i32,bool,qi8,qi16 i32 i32 i32 -> =0 ; constant=1,2,3
SUB f32,i32,qi8,qi16 =0 -> =0
SUM f32,qi8,qi16 i32 -> =0
TANH f32,qi8,qi16 -> =0
TRANSPOSE f32,i8,i16,qi8,qi16 i32 -> =0 ; constant=1
TRANSPOSE_CONV i32 f32 =1 f32,- -> =1 | i32 qi8 =1 qi32,- -> =1 | i32 qi8 qi16 qi64,- -> qi16
UNIDIRECTIONAL_SEQUENCE_LSTM f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - f32 f32 f32 f32 - - f32 f32 - - - - -> =0
UNPACK f32,i8,i16,i32,qi8,qi16 -> =0
VAR_HANDLE any
WHILE i32 -> =0
ZEROS_LIKE f32,i32,i64 -> =0
"""
"""TensorFlow Lite Micro, the wheel tflite-micro 0.dev20261023182759."""

TF_2_14 = r"""
ABS f32,i16,i32,qi8,qi16 -> =0
ADD f32,i16,i32,i64,qi8,qu8,qi16 =0 -> =0
ADD_N f32,i32 -> =0
ARG_MAX f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32
ARG_MIN f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32
ASSIGN_VARIABLE any
ATAN2 f32,f64 =0 -> =0
AVERAGE_POOL_2D f32,i8,u8,i16,qi8,qu8,qi16 -> =0
BATCH_MATMUL f32,qi8,qi16 =0 -> =0 | f32 qi8 -> =0
BATCH_TO_SPACE_ND f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 i32 -> =0
BIDIRECTIONAL_SEQUENCE_RNN f32 f32 f32 f32 f32 f32 f32 f32 f32 - - - -> =0 =0
BITCAST i8,u8,bool,qi8,qu8 -> f16,i8,u8,i16,u16,bool,qi8,qu8,qi16 | f64,i64,u64,c64,c128 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 | f16,i16,qi16 -> f32,f16,i8,u8,i16,u16,i32,u32,bool,qi8,qu8,qi16 | f32,i32,u32 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16
BITWISE_XOR i8,u8,i16,i32,u32 =0 -> =0
BROADCAST_ARGS i32,i64 =0 -> =0
BROADCAST_TO f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 i32,i64 -> =0
BUCKETIZE f32,f64,i32,i64 -> i32
CALL_ONCE ->
CAST f32,f16,f64,i8,u8,i16,i32,u32,i64,bool -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,c64,qi8,qu8,qi16 | c64 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,c64 | qi8,qu8,qi16 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,qi8,qu8,qi16
CEIL f32 -> =0
COMPLEX_ABS c128 -> f64 | c64 -> f32
CONCATENATION f32,i8,u8,i16,i32,u32,i64,bool,qi8,qu8,qi16 -> =0
CONV_2D f32 =0 f32 -> =0 | qi8,qu8 =0 qi32 -> =0 | f32 qi8,qu8 f32 -> =0 | qi16 qi8 qi64 -> =0
CONV_3D f32 f32 f32,- -> =0
CONV_3D_TRANSPOSE i32 f32 f32 - -> f32
COS f32 -> =0
CUMSUM f32,i32,i64 i32 -> =0
DEPTHWISE_CONV_2D f32 =0 f32 -> =0 | qi8,qu8 =0 qi32 -> =0 | f32 qi8 f32 -> =0 | qi16 qi8 qi64 -> =0
DEPTH_TO_SPACE f32,i8,u8,i32,i64,qi8,qu8 -> =0
DEQUANTIZE f16,qi8,qu8,qi16 -> f32
DIV f32,u8,i32,qu8 =0 -> =0
DYNAMIC_UPDATE_SLICE f32,i8,i32,i64,bool,qi8 =0 i32 -> =0 | qi8 i8 i32 -> i8
ELU f32,qi8 -> =0
EMBEDDING_LOOKUP i32 f32,i8,u8,qi8,qu8 -> =1 | i32 qi8 -> f32,i8
EMBEDDING_LOOKUP_SPARSE i32 i32 i32 f32 f32 -> f32
EQUAL f32,i32,i64,bool,str,qi8,qu8 =0 -> bool
EXP f32,qi8,qi16 -> =0
EXPAND_DIMS f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,str,c64,c128,qi8,qu8,qi16 i32,i64 -> =0
FAKE_QUANT f32 -> =0
FILL i32,i64 f32,f16,i8,i16,i32,i64,bool,str,qi8,qi16 -> =1
FLOOR f32 -> =0
FLOOR_DIV f32,i16,i32,qi16 =0 -> =0 | qi16 i16 -> i16
FLOOR_MOD f32,i8,i16,i32,i64,qi8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1
FULLY_CONNECTED f32 f32,qi8,qu8 f32,- -> =0 | f32 qi4 - -> =0 | qi16 qi8 qi32,qi64,- -> =0 | qi8 qi8 qi32,- -> =0 | qu8 qu8 qi32,- -> =0 | qu8 qu8 qi32 -> qi16
GATHER f32,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i16,i32,i64 -> =0
GATHER_ND f32,i8,u8,i16,i32,i64,str,qi8,qu8,qi16 i16,i32,i64 -> =0
GELU f32,qi8,qu8 -> =0
GREATER f32,i32,i64,qi8,qu8 =0 -> bool
GREATER_EQUAL f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
HARD_SWISH f32,qi8,qu8 -> =0
HASHTABLE any
HASHTABLE_FIND any
HASHTABLE_IMPORT any
HASHTABLE_LOOKUP i32 i32 f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 -> =2 u8
IF bool f32 -> f32
IMAG c128 -> f64 | c64 -> f32
L2_NORMALIZATION f32,qi8,qu8 -> =0
L2_POOL_2D f32 -> =0
LEAKY_RELU f32,qi8,qu8,qi16 -> =0
LESS f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
LESS_EQUAL f32,i32,i64,qi8,qu8 =0 -> bool
LOCAL_RESPONSE_NORMALIZATION f32 -> =0
LOG f32 -> =0
LOGICAL_AND bool bool -> =0
LOGICAL_NOT bool -> =0
LOGICAL_OR bool bool -> =0
LOGISTIC f32,qi8,qu8,qi16 -> =0
LOG_SOFTMAX f32,qi8,qu8 -> =0
LSH_PROJECTION f32 f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 f32,- -> i32
MATRIX_DIAG f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 -> =0
MATRIX_SET_DIAG f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
MAXIMUM f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
MAX_POOL_2D f32,i8,u8,i16,qi8,qu8,qi16 -> =0
MEAN f32,i32,i64,qi8,qu8,qi16 i32 -> =0
MINIMUM f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
MIRROR_PAD f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 -> =0
MUL f32,i32,i64,qi8,qu8,qi16 =0 -> =0
MULTINOMIAL f32 i32 -> i32,i64
NEG f32,i32,i64 -> =0
NON_MAX_SUPPRESSION_V4 f32 f32 i32 f32 f32 -> i32 i32
NON_MAX_SUPPRESSION_V5 f32 f32 i32 f32 f32 f32 -> i32 =0 i32
NOT_EQUAL f32,i32,i64,bool,str,qi8,qu8 =0 -> bool
ONE_HOT i32,i64 i16,i32,i64 f32,i8,u8,i32,i64,bool,qi8,qu8 =2 -> =2
PACK f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 -> =0
PAD f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 -> =0
PADV2 f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 =0 -> =0 | qi16 i32,i64 i16 -> =2 | qi8 i32,i64 i8 -> =2 | qu8 i32,i64 u8 -> =2
POW f32,i32 =0 -> =0
PRELU f32,qi8,qu8 =0 -> =0
QUANTIZE f32 -> qi8,qu8,qi16 | qi16 -> qi8,qi16,qi32 | qi8,qu8 -> qi8,qu8
RANDOM_STANDARD_NORMAL i32 -> f32
RANDOM_UNIFORM i32 -> f32
RANGE f32,i32,i64 =0 =0 -> =0
RANK f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,str,c64,c128,qi8,qu8,qi16 -> i32
READ_VARIABLE any
REAL c128 -> f64 | c64 -> f32
REDUCE_ALL bool i32 -> =0
REDUCE_ANY bool i32 -> =0
REDUCE_MAX f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0
REDUCE_MIN f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0
REDUCE_PROD f32,i8,u8,i16,i32,i64,qi8,qi16 i32 -> =0
RELU f32,qi8,qu8,qi16 -> =0
RELU6 f32,qi8,qu8,qi16 -> =0
RELU_0_TO_1 f32,qi8,qu8 -> =0
RELU_N1_TO_1 f32,qi8,qu8 -> =0
RESHAPE f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,str,c64,c128,qi8,qu8,qi16 i32,- -> =0
RESIZE_BILINEAR f32,i8,u8,i16,qi8,qu8,qi16 i32 -> =0
RESIZE_NEAREST_NEIGHBOR f32,i8,u8,i16,qi8,qu8,qi16 i32 -> =0
REVERSE_SEQUENCE f32,u8,i16,i32,i64,qu8,qi16 i32,i64 -> =0
REVERSE_V2 f32,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i32 -> =0
RFFT2D f32 i32 -> c64
RIGHT_SHIFT i8,u8,i16,i32,u32 =0 -> =0
ROUND f32 -> =0
RSQRT f32,qi8 -> =0
SCATTER_ND i32 f32,i8,u8,i32,i64,bool,qi8,qu8 i32 -> =1
SEGMENT_SUM f32,i32 i32 -> =0
SELECT bool f32,i8,u8,i16,i32,u32,i64,bool,qi8,qu8,qi16 =1 -> =1
SELECT_V2 bool f32,i8,u8,i16,i32,u32,i64,bool,qi8,qu8,qi16 =1 -> =1
SHAPE f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,str,c64,c128,qi8,qu8,qi16 -> i32,i64
SIGN f32,f64,i32 -> =0
SIN f32 -> =0
SLICE f32,i8,u8,i16,i32,u32,i64,bool,str,qi8,qu8,qi16 i32,i64 =1 -> =0 | f32,i8,u8,i16,i32,u32,i64,bool,str,qi8,qu8,qi16 i32 i64 -> =0
SOFTMAX f32,qi8,qu8,qi16 -> =0
SPACE_TO_BATCH_ND f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 i32 -> =0
SPACE_TO_DEPTH f32,i8,u8,i32,i64,qi8,qu8 -> =0
SPARSE_TO_DENSE i32,i64 =0 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i32 i64 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i64 i32 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2
SPLIT i16,i32,i64 f32,i8,u8,i16,i32,qi8,qu8,qi16 -> =1
SPLIT_V f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 i16,i32,i64 -> =0 | qi16 i32,i64 i16,i32,i64 -> i16 | qi8 i32,i64 i16,i32,i64 -> i8 | qu8 i32,i64 i16,i32,i64 -> u8
SQRT f32 -> =0
SQUARE f32 -> =0
SQUARED_DIFFERENCE f32,i32,qi8 =0 -> =0
SQUEEZE f32,f16,f64,i8,u8,i16,i32,u32,i64,u64,bool,str,c64,c128,qi8,qu8,qi16 -> =0
STRIDED_SLICE f32,i8,u8,i16,i32,u32,i64,bool,str,qi8,qu8,qi16 i32 i32 i32 -> =0
SUB f32,i32,i64,qi8,qu8,qi16 =0 -> =0
SUM f32,i32,i64,qi8,qu8,qi16 i32 -> =0
TANH f32,qi8,qu8,qi16 -> =0
TILE f32,i8,u8,i32,i64,bool,str,qi8,qu8 i32,i64 -> =0
TOPK_V2 f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16,i32 -> =0 =1 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16 -> =0 i32 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 i16
TRANSPOSE f32,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i32 -> =0
TRANSPOSE_CONV i32 f32 =1 f32,- -> =1 | i32 qi8,qu8 =1 qi32,- -> =1 | i32 qi8 qi16 qi64,- -> qi16
UNIDIRECTIONAL_SEQUENCE_LSTM f32 - f32 f32 f32 =1 f32 f32 f32 =1 =1 =1 =1 f32 f32 f32 f32,- - f32 f32 =1 f32 =21 =21 -> =0 | f32 f32 f32 f32 f32 =1 f32 f32 f32 =1 =1 =1 =1 f32 f32 f32 - - f32 f32 =1 f32 =21 =21 -> =0 | f32 - f32 f32 f32 =1 f32 f32 f32 =1 f32 =10 =1 f32 f32 f32 =1 - f32 f32 =1 =1 =1 =1 -> =0 | f32 f32 f32 f32 f32 f32 f32 f32 f32 - =9 =9 f32 f32 f32 f32 =9 - f32 f32 f32,- =20 =20 =20 -> =0 | f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 =9 =9 f32 f32 f32 f32 =9 - f32 f32 - =20 =20 =20 -> =0
UNIDIRECTIONAL_SEQUENCE_RNN f32 f32 f32 f32 f32 -> =0
UNIQUE f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 -> =0 i32,i64
UNPACK f32,i8,u8,i16,i32,bool,qi8,qu8,qi16 -> =0
UNSORTED_SEGMENT_MAX f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_MIN f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_PROD f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_SUM f32,i32 i32 i32 -> =0
VAR_HANDLE any
WHERE f32,i8,u8,i32,u32,i64,bool,qi8,qu8 -> i64
WHILE i32 -> =0
ZEROS_LIKE f32,i32,i64 -> =0
"""
"""LiteRT as tflite-runtime 2.14.0."""
