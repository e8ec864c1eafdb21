"""What each of TFLite's builtin operators is: name family operands -> results ; traits ; options.

    x, [x], *x, [*x]   one operand, one that may be left out, one or more, any number
    n*y                as many results as the option `n` says
    y:x, y:i32, y:n    the type of a result: that of operand x, a type, or what option `n` says;
                       `?` after it: unless the file states another; without a type, as stated
    n=A,B              an option that LiteRT insists on, and what it may be; the first is the default

The family is the module of interpreter/ops that has it, `-` for none. Traits:

    elementwise        each element of the result depends on the one at its place in the operand
    broadcast          the same of several operands, broadcast against each other
    commutative        the order of its two operands does not matter
    reduction          folds the axes that `axes` names; the option keep_dims keeps them as 1
    moves              gives elements of the operands of its result's type, and computes nothing
    view               gives the same elements in the same order
    selects            gives some of the elements, chosen by what they are
    joins              puts its operands one after another along the option `axis`
    last_axis          works on each row of the last axis
    linear             multiplies x with its `weights` and adds a `bias`
    bounded            its results are finite even where the operand is infinite
    clamp=low,high     gives x within these limits, of which one may be left out
    activation         its kernels apply the option fused_activation_function
    typed              means something else for another type
    total              never fails when it runs, if integers after its first operand are constant;
                       total=unscaled: where its operand has no scale
    stateful           gives something else from run to run; `writes`: what nobody reads counts, too
    calls=a,b          options that hold the subgraphs it runs
    axes=, sizes=, rows=    operands that list axes, that are sizes or counts, that have a row for
                       each axis of x
    rank=              of the results: n, x, x+1, max (of all operands), #shape (as many as `shape`
                       has elements)
    weights=, channels=, spatial=    the operand with the weights, its axis of output channels, its
                       axes that slide over the image
    hybrid=            the operands that may be int8 while the others are float32
    int8=own, same     has int8 kernels with scales of their own; with one for operands and results
    int16=same         its int16 kernels want one scale, whatever those of int8 do
    i8=s,z             the scale and zero point that a result of this type always has

A row is written by hand, once; the types that LiteRT's kernels take are in operator_types.py.
"""
# ruff: noqa: E501

ROWS = r"""
ABS unary x -> y:x ; elementwise int8=own total
ADD binary x y -> z:x ; broadcast commutative activation int8=own total
ADD_N binary *x -> y:x ; rank=x
ARG_MAX reduce x axis -> y:output_type ; rank=x-1 axes=axis int8=own ; output_type=INT64,INT32
ARG_MIN reduce x axis -> y:output_type ; rank=x-1 axes=axis int8=own ; output_type=INT64,INT32
ASSIGN_VARIABLE variable variable x -> ; stateful writes
ATAN2 binary y x -> z:y ; broadcast
AVERAGE_POOL_2D pool x -> y:x ; rank=4 activation int8=same
BATCH_MATMUL matmul x y -> z:x? ; rank=max hybrid=y int8=own total
BATCH_TO_SPACE_ND pad x blocks crops -> y:x ; moves rank=x int8=same
BIDIRECTIONAL_SEQUENCE_LSTM recurrent.lstm x [fw_input_to_input] fw_input_to_forget fw_input_to_cell fw_input_to_output [fw_recurrent_to_input] fw_recurrent_to_forget fw_recurrent_to_cell fw_recurrent_to_output [fw_cell_to_input] [fw_cell_to_forget] [fw_cell_to_output] [fw_input_bias] fw_forget_bias fw_cell_bias fw_output_bias [fw_projection] [fw_projection_bias] [bw_input_to_input] bw_input_to_forget bw_input_to_cell bw_input_to_output [bw_recurrent_to_input] bw_recurrent_to_forget bw_recurrent_to_cell bw_recurrent_to_output [bw_cell_to_input] [bw_cell_to_forget] [bw_cell_to_output] [bw_input_bias] bw_forget_bias bw_cell_bias bw_output_bias [bw_projection] [bw_projection_bias] fw_hidden_state fw_cell_state bw_hidden_state bw_cell_state [aux] [fw_aux_to_input] [fw_aux_to_forget] [fw_aux_to_cell] [fw_aux_to_output] [bw_aux_to_input] [bw_aux_to_forget] [bw_aux_to_cell] [bw_aux_to_output] -> fw:x [bw:x] ; rank=3 hybrid=fw_input_to_forget,fw_input_to_input,fw_input_to_cell,fw_input_to_output,fw_recurrent_to_input,fw_recurrent_to_forget,fw_recurrent_to_cell,fw_recurrent_to_output,bw_input_to_forget,bw_input_to_input,bw_input_to_cell,bw_input_to_output,bw_recurrent_to_input,bw_recurrent_to_forget,bw_recurrent_to_cell,bw_recurrent_to_output,fw_cell_to_input,fw_cell_to_forget,fw_cell_to_output,fw_projection,fw_aux_to_input,fw_aux_to_forget,fw_aux_to_cell,fw_aux_to_output,bw_cell_to_input,bw_cell_to_forget,bw_cell_to_output,bw_projection,bw_aux_to_input,bw_aux_to_forget,bw_aux_to_cell,bw_aux_to_output
BIDIRECTIONAL_SEQUENCE_RNN recurrent.rnn x fw_weights fw_recurrent fw_bias fw_state bw_weights bw_recurrent bw_bias bw_state [aux] [fw_aux] [bw_aux] -> fw:x [bw:x] ; rank=3 hybrid=fw_weights,fw_recurrent,bw_weights,bw_recurrent,fw_aux,bw_aux
BITCAST cast x -> y ; typed
BITWISE_XOR binary x y -> z:x ; broadcast commutative
BROADCAST_ARGS fill x y -> z:x ; rank=1
BROADCAST_TO fill x shape -> y:x ; moves rank=#shape int8=same total
BUCKETIZE search x -> y:i32 ; elementwise
CALL control [*x] -> [*y] ; calls=subgraph
CALL_ONCE control -> ; calls=init_subgraph_index writes
CAST cast x -> y ; elementwise typed total
CEIL unary x -> y:x ; elementwise
COMPLEX_ABS complex x -> y ; elementwise
CONCATENATION concat *x -> y:x ; moves joins rank=x int8=same total
CONCAT_EMBEDDINGS embedding *x -> [*y] ; stateful writes
CONV_2D conv x filters [bias] -> y:x ; rank=4 activation linear weights=filters channels=0 spatial=1,2 hybrid=filters int8=own total
CONV_3D conv x filters [bias] -> y:x ; rank=5 activation linear weights=filters channels=4 spatial=0,1,2
CONV_3D_TRANSPOSE conv shape filters x [bias] -> y:x ; rank=5 sizes=shape
COS unary x -> y:x ; elementwise total
CUMSUM reduce x axis -> y:x ; rank=x axes=axis
CUSTOM - [*x] -> [*y] ; stateful writes
DELEGATE - [*x] -> [*y] ; stateful writes
DENSIFY reshape x -> y:x ; moves view rank=x
DEPTHWISE_CONV_2D conv x filters [bias] -> y:x ; rank=4 activation linear weights=filters channels=3 spatial=1,2 hybrid=filters int8=own total
DEPTH_TO_SPACE transpose x -> y:x ; moves rank=4 int8=same
DEQUANTIZE cast x -> y:f32 ; elementwise typed total
DILATE window x factors padding -> y:x ; rank=x sizes=factors
DIV binary x y -> z:x ; broadcast activation int8=own
DYNAMIC_UPDATE_SLICE gather x update start -> y:x ; moves rank=x sizes=start total
ELU activation x -> y:x ; elementwise int8=own total
EMBEDDING_LOOKUP gather indices table -> y:table? ; rank=table int8=same
EMBEDDING_LOOKUP_SPARSE embedding indices rows shape weights table -> y:table
EQUAL compare x y -> z:bool ; broadcast commutative int8=own total
EXP unary x -> y:x ; elementwise int8=own total
EXPAND_DIMS reshape x axis -> y:x ; moves view rank=x+1 axes=axis int8=same total
FAKE_QUANT cast x -> y:x ; elementwise typed
FILL fill shape value -> y:value ; moves rank=#shape sizes=shape int8=same
FLOOR unary x -> y:x ; elementwise
FLOOR_DIV binary x y -> z:x ; broadcast
FLOOR_MOD binary x y -> z:x ; broadcast
FULLY_CONNECTED matmul x weights [bias] -> y:x? ; activation linear weights=weights channels=0 hybrid=weights int8=own total
GATHER gather x indices -> y:x ; moves int8=same
GATHER_ND gather x indices -> y:x ; moves int8=same
GELU activation x -> y:x ; elementwise int8=own total
GREATER compare x y -> z:bool ; broadcast int8=own total int16=same
GREATER_EQUAL compare x y -> z:bool ; broadcast int8=own total int16=same
HARD_SWISH activation x -> y:x ; elementwise int8=own total
HASHTABLE hashtable -> table:res ; stateful
HASHTABLE_FIND hashtable table keys default -> y:default ; rank=keys stateful
HASHTABLE_IMPORT hashtable table keys values -> ; stateful writes
HASHTABLE_LOOKUP embedding indices keys values -> y:values hits:u8
HASHTABLE_SIZE hashtable table -> y:i64 ; rank=1 stateful
IF control condition [*x] -> [*y] ; calls=then_subgraph_index,else_subgraph_index
IMAG complex x -> y ; elementwise
L2_NORMALIZATION norm x -> y:x ; rank=x last_axis i8=1/128,0 u8=1/128,128
L2_POOL_2D pool x -> y:x ; rank=4 activation
LEAKY_RELU activation x -> y:x ; elementwise int8=own total
LESS compare x y -> z:bool ; broadcast int8=own total int16=same
LESS_EQUAL compare x y -> z:bool ; broadcast int8=own total int16=same
LOCAL_RESPONSE_NORMALIZATION norm x -> y:x ; rank=4
LOG unary x -> y:x ; elementwise int8=own
LOGICAL_AND binary x y -> z:bool ; broadcast commutative total
LOGICAL_NOT unary x -> y:bool ; elementwise total
LOGICAL_OR binary x y -> z:bool ; broadcast commutative total
LOGISTIC activation x -> y:x ; elementwise bounded i8=1/256,-128 u8=1/256,0 i16=1/32768,0 total
LOG_SOFTMAX softmax x -> y:x ; rank=x last_axis i8=1/16,127 u8=1/16,255
LSH_PROJECTION embedding hash x [weight] -> y:i32 ; rank=1
LSTM recurrent.lstm *x -> y [state] [concatenated] [gates]
MATRIX_DIAG transpose x -> y:x ; moves rank=x+1 int16=same
MATRIX_SET_DIAG transpose x diagonal -> y:x ; moves rank=x int8=same
MAXIMUM binary x y -> z:x ; broadcast commutative selects int8=same total
MAX_POOL_2D pool x -> y:x ; rank=4 activation selects int8=same
MEAN reduce x axes -> y:x ; reduction axes=axes int8=own total
MINIMUM binary x y -> z:x ; broadcast commutative selects int8=same total
MIRROR_PAD pad x paddings -> y:x ; moves rank=x rows=paddings int8=same
MUL binary x y -> z:x ; broadcast commutative activation int8=own total
MULTINOMIAL random logits n -> y ; rank=2 sizes=n stateful
NEG unary x -> y:x ; elementwise total
NON_MAX_SUPPRESSION_V4 detection boxes scores n overlap threshold -> indices:i32 count:i32
NON_MAX_SUPPRESSION_V5 detection boxes scores n overlap threshold sigma -> indices:i32 scores:scores count:i32
NOT_EQUAL compare x y -> z:bool ; broadcast commutative total
ONE_HOT fill indices depth on off -> y:on ; moves rank=indices+1 sizes=depth int8=same
PACK concat *x -> y:x ; moves joins rank=x+1 int8=same total
PAD pad x paddings -> y:x ; moves rank=x rows=paddings int8=same total
PADV2 pad x paddings value -> y:x ; moves rank=x rows=paddings int8=same total
PLACEHOLDER_FOR_GREATER_OP_CODES - [*x] -> [*y]
POW binary x y -> z:x ; broadcast
PRELU activation x alpha -> y:x ; broadcast weights=alpha int8=own
QUANTIZE cast x -> y ; elementwise typed total
RANDOM_STANDARD_NORMAL random shape -> y:f32 ; rank=#shape sizes=shape stateful
RANDOM_UNIFORM random shape -> y:f32 ; rank=#shape sizes=shape stateful
RANGE fill start limit delta -> y:start ; rank=1 sizes=start,limit,delta
RANK fill x -> y:i32 ; rank=0
READ_VARIABLE variable variable -> y ; stateful
REAL complex x -> y ; elementwise
REDUCE_ALL reduce x axes -> y:x ; reduction axes=axes
REDUCE_ANY reduce x axes -> y:x ; reduction axes=axes
REDUCE_MAX reduce x axes -> y:x ; reduction axes=axes selects typed int8=same total
REDUCE_MIN reduce x axes -> y:x ; reduction axes=axes selects typed int8=same
REDUCE_PROD reduce x axes -> y:x ; reduction axes=axes int8=own
REDUCE_WINDOW window x init window strides dilations -> y:x ; rank=x rows=window,strides,dilations
RELU activation x -> y:x ; elementwise clamp=0, int8=own total
RELU6 activation x -> y:x ; elementwise bounded clamp=0,6 int8=own total
RELU_0_TO_1 activation x -> y:x ; elementwise bounded clamp=0,1 int8=own
RELU_N1_TO_1 activation x -> y:x ; elementwise bounded clamp=-1,1 int8=own
RESHAPE reshape x [shape] -> y:x ; moves view rank=#shape sizes=shape int8=same total
RESIZE_BILINEAR resize x size -> y:x ; rank=4 sizes=size int8=same
RESIZE_NEAREST_NEIGHBOR resize x size -> y:x ; rank=4 sizes=size selects int8=same
REVERSE_SEQUENCE slice x lengths -> y:x ; moves rank=x sizes=lengths int16=same
REVERSE_V2 slice x axes -> y:x ; moves rank=x axes=axes int8=same
RFFT2D complex x length -> y:c64 ; rank=x sizes=length
RIGHT_SHIFT binary x y -> z:x ; broadcast
RNN recurrent.rnn x weights recurrent bias state -> y:x ; rank=2 hybrid=weights,recurrent
ROUND unary x -> y:x ; elementwise
RSQRT unary x -> y:x ; elementwise int8=own total=unscaled
SCATTER_ND gather indices updates shape -> y:updates ; rank=#shape sizes=shape
SEGMENT_SUM segment x ids -> y:x ; rank=x
SELECT compare condition x y -> z:x ; moves int8=same total
SELECT_V2 compare condition x y -> z:x ; moves broadcast int8=same total
SHAPE fill x -> y:out_type ; rank=1 int8=own ; out_type=INT32,INT64
SIGN unary x -> y:x ; elementwise bounded
SIN unary x -> y:x ; elementwise total
SKIP_GRAM text x -> y:str
SLICE slice x begin size -> y:x ; moves rank=x rows=begin,size int8=same total
SOFTMAX softmax x -> y:x? ; rank=x bounded last_axis i8=1/256,-128 u8=1/256,0 i16=1/32768,0 total
SPACE_TO_BATCH_ND pad x blocks paddings -> y:x ; moves rank=x int8=same
SPACE_TO_DEPTH transpose x -> y:x ; moves rank=4 int8=same
SPARSE_TO_DENSE gather indices shape values default -> y:values ; rank=#shape sizes=shape int8=same
SPLIT concat axis x -> num_splits*y:x ; moves rank=x axes=axis int8=same
SPLIT_V concat x sizes axis -> num_splits*y:x ; moves rank=x axes=axis sizes=sizes int8=same
SQRT unary x -> y:x ; elementwise int8=own total=unscaled
SQUARE unary x -> y:x ; elementwise total
SQUARED_DIFFERENCE binary x y -> z:x ; broadcast commutative int8=own total
SQUEEZE reshape x -> y:x ; moves view int8=same total
STABLEHLO_ABS stablehlo.elementwise x -> y:x? ; elementwise
STABLEHLO_ADD stablehlo.elementwise x y -> z:x ; rank=x commutative
STABLEHLO_AND stablehlo.elementwise x y -> z:x ; rank=x commutative
STABLEHLO_BROADCAST_IN_DIM stablehlo.moves x -> y:x ; moves
STABLEHLO_CASE control index [*x] -> [*y] ; calls=branch_subgraph_indices
STABLEHLO_CBRT stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_CLAMP stablehlo.elementwise low x high -> y:x ; broadcast
STABLEHLO_COMPARE stablehlo.elementwise x y -> z:bool ; rank=x
STABLEHLO_COMPOSITE control [*x] -> [*y] ; calls=decomposition_subgraph_index
STABLEHLO_CONCATENATE stablehlo.moves *x -> y:x ; moves rank=x
STABLEHLO_CONVERT cast x -> y ; elementwise typed
STABLEHLO_CONVOLUTION stablehlo.products x filters -> y:x? ; rank=x
STABLEHLO_COSINE stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_CUSTOM_CALL stablehlo.custom_calls [*x] -> [*y] ; stateful writes
STABLEHLO_DIVIDE stablehlo.elementwise x y -> z:x ; rank=x
STABLEHLO_DOT_GENERAL stablehlo.products x y -> z:x?
STABLEHLO_DYNAMIC_SLICE stablehlo.moves x *start -> y:x ; moves rank=x
STABLEHLO_DYNAMIC_UPDATE_SLICE stablehlo.moves x update *start -> y:x ; moves rank=x
STABLEHLO_EXPONENTIAL stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_FLOOR stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_GATHER stablehlo.moves x indices -> y:x ; moves
STABLEHLO_IOTA stablehlo.moves -> y
STABLEHLO_LOG stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_LOGISTIC stablehlo.elementwise x -> y:x ; elementwise bounded
STABLEHLO_MAXIMUM stablehlo.elementwise x y -> z:x ; rank=x commutative selects
STABLEHLO_MINIMUM stablehlo.elementwise x y -> z:x ; rank=x commutative selects
STABLEHLO_MULTIPLY stablehlo.elementwise x y -> z:x ; rank=x commutative
STABLEHLO_NEGATE stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_OR stablehlo.elementwise x y -> z:x ; rank=x commutative
STABLEHLO_PAD stablehlo.moves x value -> y:x ; moves rank=x
STABLEHLO_POWER stablehlo.elementwise x y -> z:x ; rank=x
STABLEHLO_REDUCE stablehlo.calls *x -> [*y] ; calls=body_subgraph_index
STABLEHLO_REDUCE_WINDOW stablehlo.calls *x -> [*y] ; calls=body_subgraph_index
STABLEHLO_REMAINDER stablehlo.elementwise x y -> z:x ; rank=x
STABLEHLO_RESHAPE stablehlo.moves x -> y:x ; moves view
STABLEHLO_RNG_BIT_GENERATOR random state -> next:state y
STABLEHLO_RSQRT stablehlo.elementwise x -> y:x ; elementwise
STABLEHLO_SCATTER stablehlo.calls x indices updates -> y:x ; rank=x calls=update_computation_subgraph_index
STABLEHLO_SELECT stablehlo.elementwise condition x y -> z:x ; moves rank=x
STABLEHLO_SHIFT_LEFT stablehlo.elementwise x y -> z:x ; rank=x
STABLEHLO_SLICE stablehlo.moves x -> y:x ; moves rank=x
STABLEHLO_SORT stablehlo.calls *x -> *y ; calls=comparator_subgraph_index
STABLEHLO_SUBTRACT stablehlo.elementwise x y -> z:x ; rank=x
STABLEHLO_TANH stablehlo.elementwise x -> y:x ; elementwise bounded
STABLEHLO_TRANSPOSE stablehlo.moves x -> y:x ; moves rank=x
STABLEHLO_WHILE control *x -> *y ; calls=cond_subgraph_index,body_subgraph_index
STRIDED_SLICE slice x begin end strides -> y:x ; moves rows=begin,end,strides int8=same total
SUB binary x y -> z:x ; broadcast activation int8=own total
SUM reduce x axes -> y:x ; reduction axes=axes int8=own total
SVDF recurrent.rnn x feature time [bias] state -> y:x ; rank=2 hybrid=feature,time
TANH activation x -> y:x ; elementwise bounded i8=1/128,0 u8=1/128,128 i16=1/32768,0 total
TILE fill x multiples -> y:x ; moves rank=x rows=multiples int8=same
TOPK_V2 search x k -> values:x indices:i32? ; rank=x int8=same
TRANSPOSE transpose x order -> y:x ; moves rank=x int8=same total
TRANSPOSE_CONV conv shape filters x [bias] -> y:x ; rank=4 activation linear weights=filters channels=0 sizes=shape hybrid=filters int8=own
UNIDIRECTIONAL_SEQUENCE_LSTM recurrent.lstm x [input_to_input] input_to_forget input_to_cell input_to_output [recurrent_to_input] recurrent_to_forget recurrent_to_cell recurrent_to_output [cell_to_input] [cell_to_forget] [cell_to_output] [input_bias] forget_bias cell_bias output_bias [projection] [projection_bias] hidden_state cell_state [input_norm] [forget_norm] [cell_norm] [output_norm] -> y:x ; rank=3 hybrid=input_to_forget,input_to_input,input_to_cell,input_to_output,recurrent_to_input,recurrent_to_forget,recurrent_to_cell,recurrent_to_output,cell_to_input,cell_to_forget,cell_to_output,projection
UNIDIRECTIONAL_SEQUENCE_RNN recurrent.rnn x weights recurrent bias state -> y:x ; rank=3 hybrid=weights,recurrent
UNIQUE search x -> y:x indices:idx_out_type ; rank=1 ; idx_out_type=INT32,INT64
UNPACK concat x -> num*y:x ; moves rank=x-1 int8=same total
UNSORTED_SEGMENT_MAX segment x ids n -> y:x ; typed sizes=n
UNSORTED_SEGMENT_MIN segment x ids n -> y:x ; typed sizes=n
UNSORTED_SEGMENT_PROD segment x ids n -> y:x ; sizes=n
UNSORTED_SEGMENT_SUM segment x ids n -> y:x ; sizes=n
VAR_HANDLE variable -> variable:res ; rank=0 stateful
WHERE search x -> y:i64 ; rank=2
WHILE control *x -> *y ; calls=cond_subgraph_index,body_subgraph_index
ZEROS_LIKE fill x -> y:x ; elementwise moves
"""
