"""TFLite's operators, one row each: operands -> results ; types ; options ; traits.

    x, [x], *x       one operand, one that may be left out, any number of equal type
    f32,i32 = -> =0  for each operand and result the types that LiteRT's kernels take: a set of them,
                     `-` where it is left out, `=n` for that of place n, counted from 0; `|` parts
                     alternatives, `||` those that our kernels do not take; q before a type: with
                     scales
    name=A,B         an option that must be stated, and what it may be; the first is the default
    moves            it gives elements of the operands of its result's type, and computes nothing
    typed            it means something else for another type

The types are written by `make operators` (tests/schema/record_operators.py), which asks LiteRT,
the other columns by hand. A row without types says nothing about them.
"""
# ruff: noqa: E501

ROWS = r"""
ABS x -> y ; f32,i16,i32,qi8,qi16 -> =0
ADD x y -> z ; f32,i32,i64,qi8,qu8,qi16 =0 -> =0 || f16,i16 =0 -> =0
ADD_N *x -> y ; f32,i32 -> =0
ARG_MAX x axis -> y ; f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32 ; output_type=INT64,INT32
ARG_MIN x axis -> y ; f32,i8,u8,i32,bool,qi8,qu8 i32,i64 -> =1 | f32,i8,u8,i32,bool,qi8,qu8 i32 -> i64 | f32,i8,u8,i32,bool,qi8,qu8 i64 -> i32 ; output_type=INT64,INT32
ASSIGN_VARIABLE variable x -> ; ||
ATAN2 y x -> z ; f32,f64 =0 -> =0 || f16,bf16 =0 -> =0
AVERAGE_POOL_2D x -> y ; f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
BATCH_MATMUL x y -> z ; f32,qi8,qi16 =0 -> =0 | f32,qi16 qi8 -> =0
BATCH_TO_SPACE_ND x blocks crops -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32 i32 -> =0 ;  ; moves
BIDIRECTIONAL_SEQUENCE_LSTM *x -> *y ; ||
BIDIRECTIONAL_SEQUENCE_RNN *x -> *y ; ||
BITCAST x -> y ; f16,bf16,i16,u16,qi16 -> f32,f16,bf16,i8,u8,i16,u16,i32,u32,bool,qi8,qu8,qi16 | i8,u8,bool,qi8,qu8 -> f16,bf16,i8,u8,i16,u16,bool,qi8,qu8,qi16 | f64,i64,u64,c64,c128 -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,c128,qi8,qu8,qi16 | f32,i32,u32 -> f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 | i4 -> f16,bf16,i4 | qi4 -> f16,bf16,i4,bool,qi4 ;  ; typed
BITWISE_XOR x y -> z ; i8,u8,i16,u16,i32,u32 =0 -> =0
BROADCAST_ARGS x y -> z ; i32,i64 =0 -> =0
BROADCAST_TO x shape -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32,i64 -> =0 | i4 i32 -> =0 || c128 i32,i64 -> =0 ;  ; moves
BUCKETIZE x -> y ; || f32,f64,i32,i64 -> i32
CALL *x -> *y ; ||
CALL_ONCE -> ; ||
CAST x -> y ; f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,qi8,qu8,qi16 -> f32,f16,f64,i8,u8,i16,u16,i32,u32,i64,bool,qi8,qu8,qi16 || bf16,i4,c64,qi4 -> f32 ;  ; typed
CEIL x -> y ; f32 -> =0
COMPLEX_ABS x -> y ; || c64 -> f32
CONCATENATION *x -> y ; f32,f16,bf16,i8,u8,i16,i32,u32,i64,i4,bool,qi4,qi8,qu8,qi16 -> =0 ;  ; moves
CONV_2D x filters [bias] -> y ; f32 f32,qi4,qi8,qu8 f32 -> =0 | qi16 qi4,qi8 qi64 -> =0 | qi8 qi4,qi8 qi32 -> =0 | qu8 qu8 qi32 -> =0 || f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi16 f32 -> =0 | qu8 qi4,qi8,qi16 qi32 -> =0
CONV_3D x filters [bias] -> y ; f32 f32 f32,- -> =0
CONV_3D_TRANSPOSE shape filters x [bias] -> y ; i32 f32 f32 - -> f32
COS x -> y ; f32 -> =0 || f16 -> =0
CUMSUM x axis -> y ; f32,i32,i64 i32 -> =0 || i64 i32 -> c128
DENSIFY x -> y ; ||
DEPTHWISE_CONV_2D x filters [bias] -> y ; f32 f32,qi8 f32 -> =0 | qi16 qi8 qi64,- -> =0 | qi8 qi4,qi8 qi32 -> =0 | qu8 qu8 qi32 -> =0 || qi16 qu8 qi64,- -> =0 | qu8 qi4 qi32 -> =0
DEPTH_TO_SPACE x -> y ; f32,i8,u8,i32,i64,qi8,qu8 -> =0 ;  ; moves
DEQUANTIZE x -> y ; f16,qi8,qu8,qi16 -> f32 || i8,u8,i16,i4,qi4 -> f32 ;  ; typed
DILATE x factors padding -> y ; || f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,c128,qi4,qi8,qu8,qi16 i32 =0 -> =0
DIV x y -> z ; f32,i32,qi8,qu8,qi16 =0 -> =0 || i8,u8,i16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1
DYNAMIC_UPDATE_SLICE x update start -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 =0 i32,i64 -> =0 | qi16 i16 i32,i64 -> =1 | qi4 i4 i32,i64 -> =1 | qi8 i8 i32,i64 -> =1 | qu8 u8 i32,i64 -> =1 || c128 =0 i32,i64 -> c128 | i4 =0 i32,i64 -> i8 | qi4 =0 i32,i64 -> qi8 | qi4 i4 i32,i64 -> i8 ;  ; moves
ELU x -> y ; f32,qi8 -> =0 || i8 -> =0
EMBEDDING_LOOKUP indices table -> y ; i32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 -> =1 | i32 qi8 -> f32,i8
EMBEDDING_LOOKUP_SPARSE indices rows shape weights table -> y ; || i32 i32 i32 f32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> f32
EQUAL x y -> z ; f32,i16,i32,i64,bool,str,qi8,qu8,qi16 =0 -> bool || f16 f16 -> bool
EXP x -> y ; f32,qi8,qi16 -> =0 || i8,i16 -> =0
EXPAND_DIMS x axis -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 i32,i64 -> =0 || i4 i32,i64 -> i8 | qi4 i32,i64 -> qi8 ;  ; moves
FAKE_QUANT x -> y ; f32 -> =0 || f64,i32,u32,i64,u64,c64,c128 -> =0 ;  ; typed
FILL shape value -> y ; i32,i64 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,qi8,qu8,qi16 -> =1 ;  ; moves
FLOOR x -> y ; f32 -> =0 || f16,bf16 -> =0
FLOOR_DIV x y -> z ; f32,i8,i16,i32 =0 -> =0 || qi8,qi16 =0 -> =0
FLOOR_MOD x y -> z ; f32,i8,i16,i32,i64 =0 -> =0 || qi8,qi16 =0 -> =0
FULLY_CONNECTED x weights [bias] -> y ; f32 f32,qi4,qi8,qu8 f32,- -> =0 | qi16 qi16 qi32,- -> =0 | qi16 qi4,qi8 qi32,qi64,- -> =0 | qi8 qi4,qi8 qi32,- -> =0 | qu8 qu8 qi32,- -> =0 | qu8 qu8 qi32 -> qi16 || f32 i8,u8,i4 f32,- -> f32 | qi16 qi4 qi32,qi64,- -> qi8 | qi16 qi8 qi32,qi64,- -> qi8,qu8 | qi16 qu8 qi32,- -> qu8,qi16 | qi16 qu8 qi64 -> qi16 | qi8 qi4 qi32 -> qi16 | qi8 qi4,qi8 qi64 -> qi8,qi16 | qi8 qi8 - -> qu8 | qi8 qi8 qi32 -> qu8,qi16 | qi8 qu8 - -> qi8,qu8 | qi8 qu8 qi32 -> qi8,qu8,qi16 | qu8 qi4,qu8 qi32,- -> qi8 | qu8 qi8 qi32,- -> qi8,qu8 | qu8 qi8 qi64 -> qu8
GATHER x indices -> y ; f32,f16,bf16,i8,u8,i16,i32,i64,bool,str,qi4,qi8,qu8,qi16 i16,i32,i64 -> =0 || i4 i16,i32,i64 -> i8 | qi4 i16,i32,i64 -> qi8 ;  ; moves
GATHER_ND x indices -> y ; f32,f16,bf16,i8,u8,i16,i32,i64,bool,str,qi8,qu8,qi16 i16,i32,i64 -> =0 ;  ; moves
GELU x -> y ; f32,qi8,qu8,qi16 -> =0 || f16,i8,u8,i16 -> =0
GREATER x y -> z ; f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool || f16,bf16 =0 -> bool
GREATER_EQUAL x y -> z ; f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool || f16 f16 -> bool
HARD_SWISH x -> y ; f32,qi8,qu8 -> =0 || i8,u8 -> =0
HASHTABLE -> table ; ||
HASHTABLE_FIND table keys default -> y ; ||
HASHTABLE_IMPORT table keys values -> ; ||
HASHTABLE_LOOKUP indices keys values -> y hits ; || i32 i32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,c128,qi4,qi8,qu8,qi16 -> =2 u8
HASHTABLE_SIZE table -> y ; ||
IF condition *x -> *y ; ||
IMAG x -> y ; || c64 -> f32
L2_NORMALIZATION x -> y ; f32,qi8,qu8 -> =0
L2_POOL_2D x -> y ; f32 -> =0
LEAKY_RELU x -> y ; f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
LESS x y -> z ; f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool || f16,bf16 =0 -> bool
LESS_EQUAL x y -> z ; f32,i16,i32,i64,qi8,qu8,qi16 =0 -> bool || f16 f16 -> bool
LOCAL_RESPONSE_NORMALIZATION x -> y ; f32 -> =0
LOG x -> y ; f32,qi8,qi16 -> =0
LOGICAL_AND x y -> z ; bool bool -> =0
LOGICAL_NOT x -> y ; bool -> =0
LOGICAL_OR x y -> z ; bool bool -> =0
LOGISTIC x -> y ; f32,qi8,qu8,qi16 -> =0 || f16,bf16 -> =0
LOG_SOFTMAX x -> y ; f32,qi8,qu8 -> =0
LSH_PROJECTION hash x [weight] -> y ; ||
LSTM *x -> *y ; ||
MATRIX_DIAG x -> y ; f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 -> =0 || c128 -> c128 | i4 -> i8 | qi4 -> qi8 ;  ; moves
MATRIX_SET_DIAG x diagonal -> y ; f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1 || c128 c128 -> =0 | f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> =0 | i16 f32,f16,bf16,f64,i8,u8,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i32 f32,f16,bf16,f64,i8,u8,i16,u16,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i64 f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,u64,i4,bool,str,c64,c128 -> =0 | i8 f32,f16,bf16,f64,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | qi16 f32,qi4,qi8,qu8 -> =0 | qi8 f32,qi4,qu8,qi16 -> =0 | qu8 f32,qi4,qi8,qi16 -> =0 | u32 f32,f16,bf16,f64,i8,u8,i16,u16,i32,i64,u64,i4,bool,str,c64,c128 -> =0 | u8 f32,f16,bf16,f64,i8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> =0 | i4,qi4 i8 -> i8 | i8 i4 -> i4 | qi16 f32,f16,bf16,f64,i8,u8,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> i16 | qi4 qi8 -> qi8 | qi8 f32,f16,bf16,f64,u8,i16,u16,i32,u32,i64,u64,bool,str,c64,c128 -> i8 | qi8 i4 -> i8,i4 | qi8 qi4 -> qi4 | qu8 f32,f16,bf16,f64,i8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128 -> u8 ;  ; moves
MAXIMUM x y -> z ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1 || f16,bf16 =0 -> =0
MAX_POOL_2D x -> y ; f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
MEAN x axes -> y ; f32,i32,i64,qi8,qu8,qi16 i32 -> =0
MINIMUM x y -> z ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 =0 -> =0 | qi16 i16 -> =1 | qi8 i8 -> =1 | qu8 u8 -> =1 || f16,bf16 =0 -> =0
MIRROR_PAD x paddings -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32,i64 -> =0 ;  ; moves
MUL x y -> z ; f32,i32,i64,qi8,qu8,qi16 =0 -> =0 || i32,i64,qi8,qu8,qi16 =0 -> f32
MULTINOMIAL logits n -> y ; || f32 i32 -> i32,i64
NEG x -> y ; f32,i16,i32,i64,qi8 -> =0 || f16,bf16,i8,qi16 -> =0
NON_MAX_SUPPRESSION_V4 boxes scores n overlap threshold -> indices count ; || f32 f32 i32 f32 f32 -> i32 i32
NON_MAX_SUPPRESSION_V5 boxes scores n overlap threshold sigma -> indices scores count ; || f32 f32 i32 f32 f32 f32 -> i32 =0 i32
NOT_EQUAL x y -> z ; f32,i32,i64,bool,str,qi8,qu8,qi16 =0 -> bool || f16 f16 -> bool
ONE_HOT indices depth on off -> y ; i32,i64 i16,i32,i64 f32,i8,u8,i32,i64,bool,qi8,qu8 =2 -> =2 ;  ; moves
PACK *x -> y ; f32,i8,u8,i16,i32,u32,i64,qi8,qu8,qi16 -> =0 ;  ; moves
PAD x paddings -> y ; f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i16,i32,i64 -> =0 ;  ; moves
PADV2 x paddings value -> y ; f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i16,i32,i64 =0 -> =0 | qi16 i16,i32,i64 i16 -> =2 | qi8 i16,i32,i64 i8 -> =2 | qu8 i16,i32,i64 u8 -> =2 ;  ; moves
POW x y -> z ; f32,i32 =0 -> =0
PRELU x alpha -> y ; f32,qi8,qu8 =0 -> =0 || f32 f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> =0 | i16 i16 -> =0 | i8 i8 -> =0 | qi16 qi16 -> =0 | qi8 f32,qi4,qu8,qi16 -> =0 | qu8 f32,qi4,qi8,qi16 -> =0 | u8 u8 -> =0 | qi8 i8,i4,qi4 -> =1 | qu8 u8 -> =1
QUANTIZE x -> y ; f32,qi8,qu8 -> qi8,qu8,qi16 | qi16 -> qi8,qi16,qi32 || i16,i32 -> qi8,qi16 | i8,u8 -> qi8,qu8,qi16 ;  ; typed
RANDOM_STANDARD_NORMAL shape -> y ; || i32 -> f32
RANDOM_UNIFORM shape -> y ; || i32 -> f32
RANGE start limit delta -> y ; f32,i32,i64 =0 =0 -> =0
RANK x -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> i32
READ_VARIABLE variable -> y ; ||
REAL x -> y ; || c64 -> f32
REDUCE_ALL x axes -> y ; bool i32 -> =0
REDUCE_ANY x axes -> y ; bool i32 -> =0
REDUCE_MAX x axes -> y ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 || i64 i32 -> c128 | qi16 i32 -> qi8 | qi8 i32 -> qi16 ;  ; typed
REDUCE_MIN x axes -> y ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 || i64 i32 -> c128 | qi16 i32 -> qi8 | qi8 i32 -> qi16 ;  ; typed
REDUCE_PROD x axes -> y ; f32,i32,i64,qi8,qi16 i32 -> =0
REDUCE_WINDOW x init window strides dilations -> y ; ||
RELU x -> y ; f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
RELU6 x -> y ; f32,qi8,qu8,qi16 -> =0 || i8,u8,i16 -> =0
RELU_0_TO_1 x -> y ; f32,qi8,qu8 -> =0 || i8,u8 -> =0
RELU_N1_TO_1 x -> y ; f32,qi8,qu8 -> =0 || i8,u8 -> =0
RESHAPE x [shape] -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 i32,- -> =0 || f64,i64,u64,str,c64 i32 -> c128 | f16 i32,- -> c128 ;  ; moves
RESIZE_BILINEAR x size -> y ; f32,i8,u8,i16,qi8,qu8,qi16 i32 -> =0
RESIZE_NEAREST_NEIGHBOR x size -> y ; f32,f16,bf16,i8,u8,i16,u16,i32,u32,bool,qi8,qu8,qi16 i32 -> =0
REVERSE_SEQUENCE x lengths -> y ; f32,u8,i16,i32,i64,qu8,qi16 i32,i64 -> =0 ;  ; moves
REVERSE_V2 x axes -> y ; f32,f16,bf16,i8,u8,i16,i32,i64,bool,qi8,qu8,qi16 i32 -> =0 ;  ; moves
RFFT2D x length -> y ; || f32 i32 -> c64
RIGHT_SHIFT x y -> z ; i8,u8,i16,u16,i32,u32 =0 -> =0
RNN x weights recurrent bias state -> y ; ||
ROUND x -> y ; f32 -> =0 || f16,bf16 -> =0
RSQRT x -> y ; f32,qi8,qi16 -> =0
SCATTER_ND indices updates shape -> y ; i32 f32,i8,u8,i32,i64,bool,qi8,qu8 i32 -> =1
SEGMENT_SUM x ids -> y ; f32,i32 i32 -> =0
SELECT condition x y -> z ; bool f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 =1 -> =1 ;  ; moves
SELECT_V2 condition x y -> z ; bool f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 =1 -> =1 ;  ; moves
SHAPE x -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> i32,i64 ; out_type=INT32,INT64
SIGN x -> y ; f32,i32 -> =0 || f64 -> =0
SIN x -> y ; f32 -> =0 || f16 -> =0
SKIP_GRAM x -> y ; ||
SLICE x begin size -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 i32,i64 =1 -> =0 | f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 i32 i64 -> =0 || str i32,i64 =1 -> =0 | str i32 i64 -> =0 ;  ; moves
SOFTMAX x -> y ; f32,qi8,qu8,qi16 -> =0 | qi8,qu8 -> qi16
SPACE_TO_BATCH_ND x blocks paddings -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32 i32 -> =0 ;  ; moves
SPACE_TO_DEPTH x -> y ; f32,i8,u8,i32,i64,qi8,qu8 -> =0 ;  ; moves
SPARSE_TO_DENSE indices shape values default -> y ; i32,i64 =0 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i32 i64 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2 | i64 i32 f32,i8,u8,i32,i64,qi8,qu8 =2 -> =2
SPLIT axis x -> *y ; i16,i32,i64 f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 -> =1 ;  ; moves
SPLIT_V x sizes axis -> *y ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32,i64 i16,i32,i64 -> =0 | qi16 i32,i64 i16,i32,i64 -> i16 | qi8 i32,i64 i16,i32,i64 -> i8 | qu8 i32,i64 i16,i32,i64 -> u8 || i8 i32,i64 i16,i32,i64 -> i4 | qi8 i32,i64 i16,i32,i64 -> i4,qi4 ;  ; moves
SQRT x -> y ; f32,qi8,qi16 -> =0
SQUARE x -> y ; f32 -> =0
SQUARED_DIFFERENCE x y -> z ; f32,i32,qi8 =0 -> =0
SQUEEZE x -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,str,c64,c128,qi4,qi8,qu8,qi16 -> =0 || bf16 -> f16,i16,u16 | bool -> i8,u8 | c64 -> f64,i64,u64 | f16 -> bf16,i16,u16 | f64 -> i64,u64,c64 | i16 -> f16,bf16,u16 | i32,u32 -> f32 | i64 -> f64,u64,c64 | i8 -> u8,bool | qi8 -> qu8 | qu8 -> qi8 | u16 -> f16,bf16,i16 | u64 -> f64,i64,c64 | u8 -> i8,bool ;  ; moves
STABLEHLO_ADD x y -> z ; ||
STABLEHLO_COMPOSITE *x -> *y ; ||
STABLEHLO_GATHER x indices -> y ; ||
STABLEHLO_MAXIMUM x y -> z ; ||
STABLEHLO_MINIMUM x y -> z ; ||
STABLEHLO_MULTIPLY x y -> z ; ||
STABLEHLO_PAD x value -> y ; ||
STABLEHLO_REDUCE_WINDOW *x -> *y ; ||
STABLEHLO_RNG_BIT_GENERATOR state -> next y ; ||
STABLEHLO_SCATTER x indices updates -> y ; ||
STRIDED_SLICE x begin end strides -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32 i32 i32 -> =0 || str i32 i32 i32 -> =0 ;  ; moves
SUB x y -> z ; f32,i32,i64,qi8,qu8,qi16 =0 -> =0
SUM x axes -> y ; f32,i32,i64,qi8,qu8,qi16 i32 -> =0
SVDF x feature time [bias] state -> y ; ||
TANH x -> y ; f32,qi8,qu8,qi16 -> =0 || f16,bf16,i8,u8 -> =0
TILE x multiples -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,bool,c64,qi8,qu8,qi16 i32,i64 -> =0 || str i32,i64 -> =0 ;  ; moves
TOPK_V2 x k -> values indices ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16,i32 -> =0 =1 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i16 -> =0 i32 | f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 i32 -> =0 i16
TRANSPOSE x order -> y ; f32,f16,bf16,f64,i8,u8,i16,u16,i32,u32,i64,u64,i4,bool,c64,qi4,qi8,qu8,qi16 i32 -> =0 ;  ; moves
TRANSPOSE_CONV shape filters x [bias] -> y ; i32 f32 =1 f32,- -> =1 | i32 qi8,qu8 =1 qi32,- -> =1 | i32 qi8 f32 f32,- -> =2 | i32 qi8 qi16 qi64,- -> =2
UNIDIRECTIONAL_SEQUENCE_LSTM *x -> y ; ||
UNIDIRECTIONAL_SEQUENCE_RNN x weights recurrent bias state -> y ; ||
UNIQUE x -> y indices ; f32,i8,u8,i16,i32,i64,qi8,qu8,qi16 -> =0 i32,i64 ; idx_out_type=INT32,INT64
UNPACK x -> *y ; f32,f16,bf16,i8,u8,i16,i32,bool,qi8,qu8,qi16 -> =0 ;  ; moves
UNSORTED_SEGMENT_MAX x ids n -> y ; f32,i32 i32 i32 -> =0 ;  ; typed
UNSORTED_SEGMENT_MIN x ids n -> y ; f32,i32 i32 i32 -> =0 ;  ; typed
UNSORTED_SEGMENT_PROD x ids n -> y ; f32,i32 i32 i32 -> =0
UNSORTED_SEGMENT_SUM x ids n -> y ; f32,i32 i32 i32 -> =0
VAR_HANDLE -> variable ; ||
WHERE x -> y ; f32,i8,u8,i32,u32,i64,bool,qi8,qu8 -> i64
WHILE *x -> *y ; ||
ZEROS_LIKE x -> y ; f32,i32,i64 -> =0 ;  ; moves
"""
