"""The types that LiteRT's kernels take, by operator; `make operators` writes this file.

    f32,i32 =0 -> =0  for each operand and result the types that LiteRT's kernels take: a set of them,
                     `-` where it is left out, `=n` for that of argument n, counted from 0; `|` parts
                     alternatives, `||` those that our kernels do not take; q before a type: with
                     scales

tests/schema/record_operators.py asks LiteRT. Nothing is known of an operator without a row.
"""
# ruff: noqa: E501

ROWS = r"""
ABS f32,i16,i32,qi8,qi16 -> =0
ADD f32,f16,i16,i32,i64,qi8,qu8,qi16 =0 -> =0
ADD_N f32,i32 -> =0
ARG_MAX f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32
ARG_MIN f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32
ATAN2 f32,f16,bf16,f64 =0 -> =0
AVERAGE_POOL_2D f32,i8,u8,i16,qi8,qu8,qi16 -> =0
BATCH_MATMUL f32,qi8,qi16 =0 -> =0 | f32,qi16 qi8 -> =0
BATCH_TO_SPACE_ND f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32 i32 -> =0
BITCAST f16,bf16,i16,u16,qi16 -> f32,f16,bf16,i8,u8,i16,u16,i32,u32,bool,qi8,qu8,qi16 | i8,u8,bool,qi8,qu8 -> f16,bf16,i8,u8,i16,u16,bool,qi8,qu8,qi16 | f64,i64,u64,c64,c128 -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 | f32,i32,u32 -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 | i4 -> f16,bf16,i4,bool | qi2 -> f16,bf16,bool,qi2 | qi4 -> f16,bf16,i4,bool,qi4
BITWISE_XOR i8,u8,i16,u16,i32,u32 =0 -> =0
BROADCAST_ARGS i32,i64 =0 -> =0
BROADCAST_TO f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 i32,i64 -> =0 | i4 i32 -> =0
BUCKETIZE f32,f64,i32,i64 -> i32
CAST bf16,c64 -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,bool,c64 | f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,bool,c64,qi8,qu8,qi16 | i4,qi4 -> f32 | qi8,qu8,qi16 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,qi8,qu8,qi16
CEIL f32 -> =0
COMPLEX_ABS c128 -> f64 | c64 -> f32
CONCATENATION f32,f16,bf16,i8,u8,i16,i32,u32,i64,i4,bool,qi4,qi8,qu8,qi16 -> =0
CONV_2D f32 f32,qi4,qi8,qu8 f32 -> =0 | qi16 qi4,qi8 qi64 -> =0 | qi8 qi4,qi8 qi32 -> =0 | qu8 qu8 qi32 -> =0 || f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi16 f32 -> =0 | qu8 qi2,qi4,qi8,qi16 qi32 -> =0
CONV_3D f32 f32 f32,- -> =0
CONV_3D_TRANSPOSE i32 f32 f32 - -> f32
COS f32,f16 -> =0
CUMSUM f32,i32,i64 i32 -> =0 || i64 i32 -> c128
DEPTHWISE_CONV_2D f32 f32,qi8 f32 -> =0 | qi16 qi8 qi64,- -> =0 | qi8 qi4,qi8 qi32 -> =0 | qu8 qu8 qi32 -> =0 || qi16 qu8 qi64,- -> =0 | qu8 qi4 qi32 -> =0
DEPTH_TO_SPACE f32,i8,u8,i32,i64,qi8,qu8 -> =0
DEQUANTIZE f16,qi2,qi4,qi8,qu8,qi16 -> f32 || i8,u8,i16,i4 -> f32
DILATE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 i32 =0 -> =0 | qi16 i32 i16 -> =2 | qi8 i32 i8 -> =2 | qu8 i32 u8 -> =2
DIV f32,i32,qi8,qu8,qi16 =0 -> =0 || i8,u8,i16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
DYNAMIC_UPDATE_SLICE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,c128,qi4,qi8,qu8,qi16 =0 i32,i64 -> =0 | qi16 i16 i32,i64 -> =1 | qi4 i4 i32,i64 -> =1 | qi8 i8 i32,i64 -> =1 | qu8 u8 i32,i64 -> =1 || i4 =0 i32,i64 -> i8 | qi4 =0 i32,i64 -> qi8 | qi4 i4 i32,i64 -> i8
ELU f32,qi8 -> =0 || i8 -> =0
EMBEDDING_LOOKUP i32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,c128,qi2,qi4,qi8,qu8,qi16 -> =1 | i32 qi2 -> f32,f16 | i32 qi4 -> f32,f16,i4 | i32 qi8 -> f32,f16,i8
EMBEDDING_LOOKUP_SPARSE i32 i32 i32 f32 f32 -> f32 || i32 i32 i32 f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> f32
EQUAL f32,f16,i16,i32,i64,bool,str,qi8,qu8,qi16 =0 -> bool
EXP f32,qi8,qi16 -> =0 || i8,i16 -> =0
EXPAND_DIMS f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi2,qi4,qi8,qu8,qi16 i32,i64 -> =0 || i4 i32,i64 -> i8 | qi2,qi4 i32,i64 -> qi8
FAKE_QUANT f32 -> =0 || f64,i32,u32,i64,u64,c64,c128 -> =0
FILL i32,i64 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,qi8,qu8,qi16 -> =1
FLOOR f32,f16,bf16 -> =0
FLOOR_DIV f32,i8,i16,i32,qi8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1
FLOOR_MOD f32,i8,i16,i32,i64,qi8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1
FULLY_CONNECTED f32 f32,qi2,qi4,qi8,qu8 f32,- -> =0 | qi16 qi16 qi32,- -> =0 | qi16 qi2,qi4,qi8 qi32,qi64,- -> =0 | qi8 qi2,qi4,qi8 qi32,- -> =0 | qu8 qu8 qi32,- -> =0 | qu8 qu8 qi32 -> qi16 || f32 i8,u8,i4 f32,- -> f32 | qi16 qi2,qi4 qi32,qi64,- -> qi8 | qi16 qi8 qi32,qi64,- -> qi8,qu8 | qi16 qu8 qi32,- -> qu8,qi16 | qi16 qu8 qi64 -> qi16 | qi8 qi2,qi4 qi32 -> qi16 | qi8 qi2,qi4,qi8 qi64 -> qi8,qi16 | qi8 qi8 - -> qu8 | qi8 qi8 qi32 -> qu8,qi16 | qi8 qu8 - -> qi8,qu8 | qi8 qu8 qi32 -> qi8,qu8,qi16 | qu8 qi2,qi4,qu8 qi32,- -> qi8 | qu8 qi8 qi32,- -> qi8,qu8 | qu8 qi8 qi64 -> qu8
GATHER f32,f16,bf16,i8,u8,i16,i32,i64,bool,str,qi4,qi8,qu8,qi16 i16,i32,i64 -> =0 || i4 i16,i32,i64 -> i8 | qi4 i16,i32,i64 -> qi8
GATHER_ND f32,f16,bf16,i8,u8,i16,i32,i64,bool,str,qi8,qu8,qi16 i16,i32,i64 -> =0
GELU f32,f16,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
GREATER f32,f16,bf16,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
GREATER_EQUAL f32,f16,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
HARD_SWISH f32,qi8,qu8 -> =0 || i8,u8 -> =0
HASHTABLE_LOOKUP i32 i32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> =2 u8
IMAG c128 -> f64 | c64 -> f32
L2_NORMALIZATION f32,qi8,qu8 -> =0
L2_POOL_2D f32 -> =0
LEAKY_RELU f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
LESS f32,f16,bf16,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
LESS_EQUAL f32,f16,i16,i32,i64,qi8,qu8,qi16 =0 -> bool
LOCAL_RESPONSE_NORMALIZATION f32 -> =0
LOG f32,qi8,qi16 -> =0
LOGICAL_AND bool bool -> =0
LOGICAL_NOT bool -> =0
LOGICAL_OR bool bool -> =0
LOGISTIC f32,f16,bf16,qi8,qu8,qi16 -> =0
LOG_SOFTMAX f32,qi8,qu8 -> =0
LSH_PROJECTION f32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi4,qi8,qu8,qi16 f32,- -> i32
MATRIX_DIAG f32,i8,u8,i16,i32,u32,i64,qi2,qi8,qu8,qi16 -> =0 || i4 -> i8 | qi2,qi4 -> qi8
MATRIX_SET_DIAG f32,i8,u8,i16,i32,u32,i64,qi2,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1 || f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi2,qi4,qi8,qu8,qi16 -> =0 | i16 f32,f16,bf16,f64,i8,u8,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i32 f32,f16,bf16,f64,i8,u8,i16,u16,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i64 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,u64,i4,bool,str,c64,c128 -> =0 | i8 f32,f16,bf16,f64,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | qi16 f32,qi2,qi4,qi8,qu8 -> =0 | qi2 f32,qi4,qi8,qu8,qi16 -> =0 | qi8 f32,qi2,qi4,qu8,qi16 -> =0 | qu8 f32,qi2,qi4,qi8,qi16 -> =0 | u32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,i64,u64,i4,bool,str,c64,c128 -> =0 | u8 f32,f16,bf16,f64,i8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i4,qi2,qi4 i8 -> i8 | i8,qi2 i4 -> i4 | qi16 f32,f16,bf16,f64,i8,u8,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> i16 | qi2 qi2,qi8 -> qi8 | qi2,qi8 qi4 -> qi4 | qi4,qi8 qi2 -> qi2 | qi4 qi8 -> qi8 | qi8 f32,f16,bf16,f64,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,c128 -> i8 | qi8 i4 -> i8,i4 | qu8 f32,f16,bf16,f64,i8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> u8
MAXIMUM f32,f16,bf16,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
MAX_POOL_2D f32,i8,u8,i16,qi8,qu8,qi16 -> =0
MEAN f32,i32,i64,qi8,qu8,qi16 i32 -> =0
MINIMUM f32,f16,bf16,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
MIRROR_PAD f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32,i64 -> =0
MUL f32,i32,i64,qi8,qu8,qi16 =0 -> =0 || i32,i64,qi8,qu8,qi16 =0 -> f32
MULTINOMIAL f32 i32 -> i32,i64
NEG f32,f16,bf16,i8,i16,i32,i64,qi8,qi16 -> =0
NON_MAX_SUPPRESSION_V4 f32 f32 i32 f32 f32 -> i32 i32
NON_MAX_SUPPRESSION_V5 f32 f32 i32 f32 f32 f32 -> i32 =0 i32
NOT_EQUAL f32,f16,i32,i64,bool,str,qi8,qu8,qi16 =0 -> bool
ONE_HOT i32,i64 i16,i32,i64 f32,i8,u8,i32,i64,bool,qi8,qu8 =2 -> =2
PACK f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 -> =0
PAD f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i16,i32,i64 -> =0
PADV2 f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i16,i32,i64 =0 -> =0 | qi16 i16,i32,i64 i16 -> =2 | qi8 i16,i32,i64 i8 -> =2 | qu8 i16,i32,i64 u8 -> =2
POW f32,i32 =0 -> =0
PRELU f32,qi8,qu8 =0 -> =0 || f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi2,qi4,qi8,qu8,qi16 -> =0 | i16 i16 -> =0 | i8 i8 -> =0 | qi16 qi16 -> =0 | qi8 f32,qi2,qi4,qu8,qi16 -> =0 | qu8 f32,qi2,qi4,qi8,qi16 -> =0 | u8 u8 -> =0 | qi8 i8,i4,qi2,qi4 -> =1 | qu8 u8 -> =1
QUANTIZE f32,qi8,qu8 -> qi8,qu8,qi16 | qi16 -> qi8,qi16,qi32 || i16,i32 -> qi8,qi16 | i8,u8 -> qi8,qu8,qi16
RANDOM_STANDARD_NORMAL i32 -> f32
RANDOM_UNIFORM i32 -> f32
RANGE f32,i32,i64 =0 =0 -> =0
RANK f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> i32
REAL c128 -> f64 | c64 -> f32
REDUCE_ALL bool i32 -> =0
REDUCE_ANY bool i32 -> =0
REDUCE_MAX f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 || i64 i32 -> c128 | qi16 i32 -> qi8 | qi8 i32 -> qi16
REDUCE_MIN f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 || i64 i32 -> c128 | qi16 i32 -> qi8 | qi8 i32 -> qi16
REDUCE_PROD f32,i8,u8,i16,i32,i64,qi8,qi16 i32 -> =0
REDUCE_WINDOW f32,f64,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 =0 i64 i64 i64 -> =0 | qi16 i16 i64 i64 i64 -> =1 | qi8 i8 i64 i64 i64 -> =1 | qu8 u8 i64 i64 i64 -> =1
RELU f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
RELU6 f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
RELU_0_TO_1 f32,qi8,qu8 -> =0 || i8,u8 -> =0
RELU_N1_TO_1 f32,qi8,qu8 -> =0 || i8,u8 -> =0
RESHAPE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 i32,- -> =0 || f64,i64,u64,str,c64 i32 -> c128 | f16 i32,- -> c128
RESIZE_BILINEAR f32,i8,u8,i16,qi8,qu8,qi16 i32 -> =0
RESIZE_NEAREST_NEIGHBOR f32,f16,bf16,i8,u8,i16,u16,i32,u32,bool,qi8,qu8,qi16 i32 -> =0
REVERSE_SEQUENCE f32,u8,i16,i32,i64,qu8,qi16 i32,i64 -> =0
REVERSE_V2 f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i32 -> =0
RFFT2D f32 i32 -> c64
RIGHT_SHIFT i8,u8,i16,u16,i32,u32 =0 -> =0
ROUND f32,f16,bf16 -> =0
RSQRT f32,qi8,qi16 -> =0
SCATTER_ND i32 f32,i8,u8,i32,i64,bool,qi8,qu8 i32 -> =1
SEGMENT_SUM f32,i32 i32 -> =0
SELECT bool f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 =1 -> =1
SELECT_V2 bool f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 =1 -> =1
SHAPE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> i32,i64
SIGN f32,f64,i32 -> =0
SIN f32,f16 -> =0
SLICE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,qi4,qi8,qu8,qi16 i32,i64 =1 -> =0 | f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,qi4,qi8,qu8,qi16 i32 i64 -> =0
SOFTMAX f32,qi8,qu8,qi16 -> =0 | qi8,qu8 -> qi16
SPACE_TO_BATCH_ND f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32 i32 -> =0
SPACE_TO_DEPTH f32,i8,u8,i32,i64,qi8,qu8 -> =0
SPARSE_TO_DENSE i32,i64 =0 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i32 i64 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i64 i32 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2
SPLIT i16,i32,i64 f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 -> =1
SPLIT_V f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 i16,i32,i64 -> =0 | qi16 i32,i64 i16,i32,i64 -> i16 | qi8 i32,i64 i16,i32,i64 -> i8 | qu8 i32,i64 i16,i32,i64 -> u8 || i8 i32,i64 i16,i32,i64 -> i4 | qi8 i32,i64 i16,i32,i64 -> i4,qi4
SQRT f32,qi8,qi16 -> =0
SQUARE f32 -> =0
SQUARED_DIFFERENCE f32,i32,qi8 =0 -> =0
SQUEEZE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> =0 || bf16 -> f16,i16,u16 | bool -> i8,u8 | c64 -> f64,i64,u64 | f16 -> bf16,i16,u16 | f64 -> i64,u64,c64 | i16 -> f16,bf16,u16 | i32,u32 -> f32 | i64 -> f64,u64,c64 | i8 -> u8,bool | qi8 -> qu8 | qu8 -> qi8 | u16 -> f16,bf16,i16 | u64 -> f64,i64,c64 | u8 -> i8,bool
STRIDED_SLICE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,qi8,qu8,qi16 i32 i32 i32 -> =0
SUB f32,i32,i64,qi8,qu8,qi16 =0 -> =0
SUM f32,i32,i64,qi8,qu8,qi16 i32 -> =0
TANH f32,f16,bf16,qi8,qu8,qi16 -> =0 || i8,u8 -> =0
TILE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,qi8,qu8,qi16 i32,i64 -> =0
TOPK_V2 f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16,i32 -> =0 =1 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16 -> =0 i32 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 i16
TRANSPOSE f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 i32 -> =0
TRANSPOSE_CONV i32 f32 =1 f32,- -> =1 | i32 qi8,qu8 =1 qi32,- -> =1 | i32 qi8 f32 f32,- -> =2 | i32 qi8 qi16 qi64,- -> =2
UNIQUE f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 -> =0 i32,i64
UNPACK f32,f16,bf16,i8,u8,i16,i32,bool,qi8,qu8,qi16 -> =0
UNSORTED_SEGMENT_MAX f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_MIN f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_PROD f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_SUM f32,i32 i32 i32 -> =0
WHERE f32,i8,u8,i32,u32,i64,bool,qi8,qu8 -> i64
ZEROS_LIKE f32,i32,i64 -> =0
"""
