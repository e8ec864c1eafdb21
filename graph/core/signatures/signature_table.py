"""TensorFlow's ops, one row each: inputs -> outputs ; attributes.

Written by tests/graph/ops/generate_signatures.py.

    name:type        one tensor; the type is a dtype or the attribute that holds it
    name:N*type      as many tensors as attribute N says
    name:*types      one tensor for each dtype of attribute `types`
    name:&type       a reference to a variable's buffer
    attr:kind=value  kind as TensorFlow writes it, default as JSON (shape ?: unknown rank; a tensor
                     by its dtype)

A row that starts with `!` is of a stateful op.
"""
# ruff: noqa: E501

ROWS = r"""
Abs x:T -> y:T ; T:type
AccumulateNV2 inputs:N*T -> sum:T ; N:int T:type shape:shape
AccumulatorApplyGradient handle:&string local_step:int64 gradient:dtype -> ; dtype:type
AccumulatorNumAccumulated handle:&string -> num_accumulated:int32 ;
AccumulatorSetGlobalStep handle:&string new_global_step:int64 -> ;
AccumulatorTakeGradient handle:&string num_required:int32 -> average:dtype ; dtype:type
Acos x:T -> y:T ; T:type
Acosh x:T -> y:T ; T:type
Add x:T y:T -> z:T ; T:type
!AddManySparseToTensorsMap sparse_indices:int64 sparse_values:T sparse_shape:int64 -> sparse_handles:int64 ; T:type container:string="" shared_name:string=""
AddN inputs:N*T -> sum:T ; N:int T:type
!AddSparseToTensorsMap sparse_indices:int64 sparse_values:T sparse_shape:int64 -> sparse_handle:int64 ; T:type container:string="" shared_name:string=""
AddV2 x:T y:T -> z:T ; T:type
AdjustContrastv2 images:T contrast_factor:float32 -> output:T ; T:type="float32"
AdjustHue images:T delta:float32 -> output:T ; T:type="float32"
AdjustSaturation images:T scale:float32 -> output:T ; T:type="float32"
All input:bool reduction_indices:Tidx -> output:bool ; keep_dims:bool=false Tidx:type="int32"
!AllCandidateSampler true_classes:int64 -> sampled_candidates:int64 true_expected_count:float32 sampled_expected_count:float32 ; num_true:int num_sampled:int unique:bool seed:int=0 seed2:int=0
Angle input:T -> output:Tout ; T:type="complex64" Tout:type="float32"
Any input:bool reduction_indices:Tidx -> output:bool ; keep_dims:bool=false Tidx:type="int32"
ApplyAdadelta var:&T accum:&T accum_update:&T lr:T rho:T epsilon:T grad:T -> out:&T ; T:type use_locking:bool=false
ApplyAdagrad var:&T accum:&T lr:T grad:T -> out:&T ; T:type use_locking:bool=false update_slots:bool=true
ApplyAdagradDA var:&T gradient_accumulator:&T gradient_squared_accumulator:&T grad:T lr:T l1:T l2:T global_step:int64 -> out:&T ; T:type use_locking:bool=false
ApplyAdagradV2 var:&T accum:&T lr:T epsilon:T grad:T -> out:&T ; T:type use_locking:bool=false update_slots:bool=true
ApplyAdam var:&T m:&T v:&T beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T grad:T -> out:&T ; T:type use_locking:bool=false use_nesterov:bool=false
ApplyCenteredRMSProp var:&T mg:&T ms:&T mom:&T lr:T rho:T momentum:T epsilon:T grad:T -> out:&T ; T:type use_locking:bool=false
ApplyFtrl var:&T accum:&T linear:&T grad:T lr:T l1:T l2:T lr_power:T -> out:&T ; T:type use_locking:bool=false multiply_linear_by_lr:bool=false
ApplyFtrlV2 var:&T accum:&T linear:&T grad:T lr:T l1:T l2:T l2_shrinkage:T lr_power:T -> out:&T ; T:type use_locking:bool=false multiply_linear_by_lr:bool=false
ApplyGradientDescent var:&T alpha:T delta:T -> out:&T ; T:type use_locking:bool=false
ApplyMomentum var:&T accum:&T lr:T grad:T momentum:T -> out:&T ; T:type use_locking:bool=false use_nesterov:bool=false
ApplyProximalAdagrad var:&T accum:&T lr:T l1:T l2:T grad:T -> out:&T ; T:type use_locking:bool=false
ApplyProximalGradientDescent var:&T alpha:T l1:T l2:T delta:T -> out:&T ; T:type use_locking:bool=false
ApplyRMSProp var:&T ms:&T mom:&T lr:T rho:T momentum:T epsilon:T grad:T -> out:&T ; T:type use_locking:bool=false
ApproxTopK input:T -> values:T indices:int32 ; k:int reduction_dimension:int=-1 recall_target:float=0.949999988 is_max_k:bool=true reduction_input_size_override:int=-1 aggregate_to_topk:bool=true T:type
ArgMax input:T dimension:Tidx -> output:output_type ; T:type Tidx:type="int32" output_type:type="int64"
ArgMin input:T dimension:Tidx -> output:output_type ; T:type Tidx:type="int32" output_type:type="int64"
AsString input:T -> output:string ; T:type precision:int=-1 scientific:bool=false shortest:bool=false width:int=-1 fill:string=""
Asin x:T -> y:T ; T:type
Asinh x:T -> y:T ; T:type
!Assert condition:bool data:*T -> ; T:list(type) summarize:int=3
AssertCardinalityDataset input_dataset:variant cardinality:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape)
Assign ref:&T value:T -> output_ref:&T ; T:type validate_shape:bool=true use_locking:bool=true
AssignAdd ref:&T value:T -> output_ref:&T ; T:type use_locking:bool=false
!AssignAddVariableOp resource:resource value:dtype -> ; dtype:type
AssignSub ref:&T value:T -> output_ref:&T ; T:type use_locking:bool=false
!AssignSubVariableOp resource:resource value:dtype -> ; dtype:type
!AssignVariableOp resource:resource value:dtype -> ; dtype:type validate_shape:bool=false
Atan x:T -> y:T ; T:type
Atan2 y:T x:T -> z:T ; T:type
Atanh x:T -> y:T ; T:type
AudioSpectrogram input:float32 -> spectrogram:float32 ; window_size:int stride:int magnitude_squared:bool=false
AudioSummary tag:string tensor:float32 -> summary:string ; sample_rate:float max_outputs:int=3
AudioSummaryV2 tag:string tensor:float32 sample_rate:float32 -> summary:string ; max_outputs:int=3
AvgPool value:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NHWC" T:type
AvgPool3D input:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NDHWC" T:type
AvgPool3DGrad orig_input_shape:int32 grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NDHWC" T:type
AvgPoolGrad orig_input_shape:int32 grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NHWC" T:type
BandedTriangularSolve matrix:T rhs:T -> output:T ; lower:bool=true adjoint:bool=false T:type
!Barrier -> handle:&string ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 container:string="" shared_name:string=""
BarrierClose handle:&string -> ; cancel_pending_enqueues:bool=false
BarrierIncompleteSize handle:&string -> size:int32 ;
BarrierInsertMany handle:&string keys:string values:T -> ; T:type component_index:int
BarrierReadySize handle:&string -> size:int32 ;
BarrierTakeMany handle:&string num_elements:int32 -> indices:int64 keys:string values:*component_types ; component_types:list(type) allow_small_batch:bool=false wait_for_incomplete:bool=false timeout_ms:int=-1
BatchDataset input_dataset:variant batch_size:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
BatchDatasetV2 input_dataset:variant batch_size:int64 drop_remainder:bool -> handle:variant ; parallel_copy:bool=false output_types:list(type) output_shapes:list(shape) metadata:string=""
BatchMatMul x:T y:T -> output:T ; T:type adj_x:bool=false adj_y:bool=false grad_x:bool=false grad_y:bool=false
BatchMatMulV2 x:T y:T -> output:T ; T:type adj_x:bool=false adj_y:bool=false grad_x:bool=false grad_y:bool=false
BatchMatMulV3 x:Ta y:Tb -> output:Tout ; Ta:type Tb:type Tout:type adj_x:bool=false adj_y:bool=false grad_x:bool=false grad_y:bool=false
BatchNormWithGlobalNormalization t:T m:T v:T beta:T gamma:T -> result:T ; T:type variance_epsilon:float scale_after_normalization:bool
BatchNormWithGlobalNormalizationGrad t:T m:T v:T gamma:T backprop:T -> dx:T dm:T dv:T db:T dg:T ; T:type variance_epsilon:float scale_after_normalization:bool
BatchToSpace input:T crops:Tidx -> output:T ; T:type block_size:int Tidx:type="int32"
BatchToSpaceND input:T block_shape:Tblock_shape crops:Tcrops -> output:T ; T:type Tblock_shape:type="int32" Tcrops:type="int32"
BesselI0 x:T -> y:T ; T:type
BesselI0e x:T -> y:T ; T:type
BesselI1 x:T -> y:T ; T:type
BesselI1e x:T -> y:T ; T:type
BesselJ0 x:T -> y:T ; T:type
BesselJ1 x:T -> y:T ; T:type
BesselK0 x:T -> y:T ; T:type
BesselK0e x:T -> y:T ; T:type
BesselK1 x:T -> y:T ; T:type
BesselK1e x:T -> y:T ; T:type
BesselY0 x:T -> y:T ; T:type
BesselY1 x:T -> y:T ; T:type
Betainc a:T b:T x:T -> z:T ; T:type
BiasAdd value:T bias:T -> output:T ; T:type data_format:string="NHWC"
BiasAddGrad out_backprop:T -> output:T ; T:type data_format:string="NHWC"
BiasAddV1 value:T bias:T -> output:T ; T:type
Bincount arr:int32 size:int32 weights:T -> bins:T ; T:type
Bitcast input:T -> output:type ; T:type type:type
BitwiseAnd x:T y:T -> z:T ; T:type
BitwiseOr x:T y:T -> z:T ; T:type
BitwiseXor x:T y:T -> z:T ; T:type
BlockLSTM seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T h:T ; forget_bias:float=1.0 cell_clip:float=3.0 use_peephole:bool=false T:type
BlockLSTMV2 seq_len_max:int64 x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T h:T ; cell_clip:float=0.0 use_peephole:bool=false T:type
BroadcastArgs s0:T s1:T -> r0:T ; T:type="int32"
BroadcastGradientArgs s0:T s1:T -> r0:T r1:T ; T:type="int32"
BroadcastTo input:T shape:Tidx -> output:T ; T:type Tidx:type="int32"
Bucketize input:T -> output:int32 ; T:type boundaries:list(float)
CTCBeamSearchDecoder inputs:T sequence_length:int32 -> decoded_indices:top_paths*int64 decoded_values:top_paths*int64 decoded_shape:top_paths*int64 log_probability:T ; beam_width:int top_paths:int merge_repeated:bool=true T:type="float32"
CTCGreedyDecoder inputs:T sequence_length:int32 -> decoded_indices:int64 decoded_values:int64 decoded_shape:int64 log_probability:T ; merge_repeated:bool=false blank_index:int=-1 T:type="float32"
CTCLoss inputs:T labels_indices:int64 labels_values:int32 sequence_length:int32 -> loss:T gradient:T ; preprocess_collapse_repeated:bool=false ctc_merge_repeated:bool=true ignore_longer_outputs_than_inputs:bool=false T:type="float32"
CacheDataset input_dataset:variant filename:string -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
!Case branch_index:int32 input:*Tin -> output:*Tout ; Tin:list(type) Tout:list(type) branches:list(func) output_shapes:list(shape)=[]
Cast x:SrcT -> y:DstT ; SrcT:type DstT:type Truncate:bool=false
Ceil x:T -> y:T ; T:type
!CheckNumerics tensor:T -> output:T ; T:type message:string
Cholesky input:T -> output:T ; T:type
ClipByValue t:T clip_value_min:T clip_value_max:T -> output:T ; T:type
CombinedNonMaxSuppression boxes:float32 scores:float32 max_output_size_per_class:int32 max_total_size:int32 iou_threshold:float32 score_threshold:float32 -> nmsed_boxes:float32 nmsed_scores:float32 nmsed_classes:float32 valid_detections:int32 ; pad_per_class:bool=false clip_boxes:bool=true
Complex real:T imag:T -> out:Tout ; T:type="float32" Tout:type="complex64"
ComplexAbs x:T -> y:Tout ; T:type="complex64" Tout:type="float32"
ComputeAccidentalHits true_classes:int64 sampled_candidates:int64 -> indices:int32 ids:int64 weights:float32 ; num_true:int seed:int=0 seed2:int=0
Concat concat_dim:int32 values:N*T -> output:T ; N:int T:type
ConcatOffset concat_dim:int32 shape:N*shape_type -> offset:N*shape_type ; N:int shape_type:type="int32"
ConcatV2 values:N*T axis:Tidx -> output:T ; N:int T:type Tidx:type="int32"
ConcatenateDataset input_dataset:variant another_dataset:variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
!ConditionalAccumulator -> handle:&string ; dtype:type shape:shape container:string="" shared_name:string="" reduction_type:string="MEAN"
Conj input:T -> output:T ; T:type="complex64"
ConjugateTranspose x:T perm:Tperm -> y:T ; T:type Tperm:type="int32"
Const -> output:dtype ; value:tensor dtype:type
ControlTrigger -> ;
Conv2D input:T filter:T -> output:T ; T:type strides:list(int) use_cudnn_on_gpu:bool=true padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
Conv2DBackpropFilter input:T filter_sizes:int32 out_backprop:T -> output:T ; T:type strides:list(int) use_cudnn_on_gpu:bool=true padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
Conv2DBackpropInput input_sizes:int32 filter:T out_backprop:T -> output:T ; T:type strides:list(int) use_cudnn_on_gpu:bool=true padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
Conv3D input:T filter:T -> output:T ; T:type strides:list(int) padding:string data_format:string="NDHWC" dilations:list(int)=[1,1,1,1,1]
Conv3DBackpropFilter input:T filter:T out_backprop:T -> output:T ; T:type strides:list(int) padding:string dilations:list(int)=[1,1,1,1,1]
Conv3DBackpropFilterV2 input:T filter_sizes:int32 out_backprop:T -> output:T ; T:type strides:list(int) padding:string data_format:string="NDHWC" dilations:list(int)=[1,1,1,1,1]
Conv3DBackpropInput input:T filter:T out_backprop:T -> output:T ; T:type strides:list(int) padding:string dilations:list(int)=[1,1,1,1,1]
Conv3DBackpropInputV2 input_sizes:Tshape filter:T out_backprop:T -> output:T ; T:type strides:list(int) padding:string data_format:string="NDHWC" dilations:list(int)=[1,1,1,1,1] Tshape:type="int32"
Cos x:T -> y:T ; T:type
Cosh x:T -> y:T ; T:type
CountUpTo ref:&T -> output:T ; limit:int T:type
CropAndResize image:T boxes:float32 box_ind:int32 crop_size:int32 -> crops:float32 ; T:type method:string="bilinear" extrapolation_value:float=0.0
CropAndResizeGradBoxes grads:float32 image:T boxes:float32 box_ind:int32 -> output:float32 ; T:type method:string="bilinear"
CropAndResizeGradImage grads:float32 boxes:float32 box_ind:int32 image_size:int32 -> output:T ; T:type method:string="bilinear"
Cross a:T b:T -> product:T ; T:type
Cumprod x:T axis:Tidx -> out:T ; exclusive:bool=false reverse:bool=false T:type Tidx:type="int32"
Cumsum x:T axis:Tidx -> out:T ; exclusive:bool=false reverse:bool=false T:type Tidx:type="int32"
CumulativeLogsumexp x:T axis:Tidx -> out:T ; exclusive:bool=false reverse:bool=false T:type Tidx:type="int32"
DatasetCardinality input_dataset:variant -> cardinality:int64 ; cardinality_options:string=""
!DatasetToSingleElement dataset:variant -> components:*output_types ; output_types:list(type) output_shapes:list(shape) metadata:string=""
Dawsn x:T -> y:T ; T:type
DecodeAndCropJpeg contents:string crop_window:int32 -> image:uint8 ; channels:int=0 ratio:int=1 fancy_upscaling:bool=true try_recover_truncated:bool=false acceptable_fraction:float=1.0 dct_method:string=""
DecodeBase64 input:string -> output:string ;
DecodeBmp contents:string -> image:uint8 ; channels:int=0
DecodeCSV records:string record_defaults:*OUT_TYPE -> output:*OUT_TYPE ; OUT_TYPE:list(type) field_delim:string="," use_quote_delim:bool=true na_value:string="" select_cols:list(int)=[]
DecodeCompressed bytes:string -> output:string ; compression_type:string=""
DecodeGif contents:string -> image:uint8 ;
DecodeImage contents:string -> image:dtype ; channels:int=0 dtype:type="uint8" expand_animations:bool=true
DecodeJSONExample json_examples:string -> binary_examples:string ;
DecodeJpeg contents:string -> image:uint8 ; channels:int=0 ratio:int=1 fancy_upscaling:bool=true try_recover_truncated:bool=false acceptable_fraction:float=1.0 dct_method:string=""
DecodePaddedRaw input_bytes:string fixed_length:int32 -> output:out_type ; out_type:type little_endian:bool=true
DecodePng contents:string -> image:dtype ; channels:int=0 dtype:type="uint8"
DecodeProtoV2 bytes:string -> sizes:int32 values:*output_types ; message_type:string field_names:list(string) output_types:list(type) descriptor_source:string="local://" message_format:string="binary" sanitize:bool=false
DecodeRaw bytes:string -> output:out_type ; out_type:type little_endian:bool=true
DecodeWav contents:string -> audio:float32 sample_rate:int32 ; desired_channels:int=-1 desired_samples:int=-1
!DeleteSessionTensor handle:string -> ;
DenseBincount input:Tidx size:Tidx weights:T -> output:T ; Tidx:type T:type binary_output:bool=false
DenseCountSparseOutput values:T weights:output_type -> output_indices:int64 output_values:output_type output_dense_shape:int64 ; T:type minlength:int=-1 maxlength:int=-1 binary_output:bool output_type:type
DenseToDenseSetOperation set1:T set2:T -> result_indices:int64 result_values:T result_shape:int64 ; set_operation:string validate_indices:bool=true T:type
DenseToSparseBatchDataset input_dataset:variant batch_size:int64 row_shape:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape)
DenseToSparseSetOperation set1:T set2_indices:int64 set2_values:T set2_shape:int64 -> result_indices:int64 result_values:T result_shape:int64 ; set_operation:string validate_indices:bool=true T:type
DepthToSpace input:T -> output:T ; T:type block_size:int data_format:string="NHWC"
DepthwiseConv2dNative input:T filter:T -> output:T ; T:type strides:list(int) padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
DepthwiseConv2dNativeBackpropFilter input:T filter_sizes:int32 out_backprop:T -> output:T ; T:type strides:list(int) padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
DepthwiseConv2dNativeBackpropInput input_sizes:int32 filter:T out_backprop:T -> output:T ; T:type strides:list(int) padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" dilations:list(int)=[1,1,1,1]
Dequantize input:T min_range:float32 max_range:float32 -> output:dtype ; T:type mode:string="MIN_COMBINED" narrow_range:bool=false axis:int=-1 dtype:type="float32"
DeserializeManySparse serialized_sparse:string -> sparse_indices:int64 sparse_values:dtype sparse_shape:int64 ; dtype:type
DeserializeSparse serialized_sparse:Tserialized -> sparse_indices:int64 sparse_values:dtype sparse_shape:int64 ; dtype:type Tserialized:type="string"
!DestroyResourceOp resource:resource -> ; ignore_lookup_error:bool=true
Diag diagonal:T -> output:T ; T:type
DiagPart input:T -> diagonal:T ; T:type
Digamma x:T -> y:T ; T:type
Dilation2D input:T filter:T -> output:T ; T:type strides:list(int) rates:list(int) padding:string
Dilation2DBackpropFilter input:T filter:T out_backprop:T -> filter_backprop:T ; T:type strides:list(int) rates:list(int) padding:string
Dilation2DBackpropInput input:T filter:T out_backprop:T -> in_backprop:T ; T:type strides:list(int) rates:list(int) padding:string
DirectedInterleaveDataset selector_input_dataset:variant data_input_datasets:N*variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) N:int stop_on_empty_dataset:bool=false
Div x:T y:T -> z:T ; T:type
DivNoNan x:T y:T -> z:T ; T:type
DrawBoundingBoxes images:T boxes:float32 -> output:T ; T:type="float32"
DrawBoundingBoxesV2 images:T boxes:float32 colors:float32 -> output:T ; T:type="float32"
DynamicPartition data:T partitions:int32 -> outputs:num_partitions*T ; num_partitions:int T:type
DynamicStitch indices:N*int32 data:N*T -> merged:T ; N:int T:type
!EagerPyFunc input:*Tin -> output:*Tout ; token:string is_async:bool=false Tin:list(type) Tout:list(type)
EditDistance hypothesis_indices:int64 hypothesis_values:T hypothesis_shape:int64 truth_indices:int64 truth_values:T truth_shape:int64 -> output:float32 ; normalize:bool=true T:type
Einsum inputs:N*T -> output:T ; equation:string N:int T:type
Elu features:T -> activations:T ; T:type
EluGrad gradients:T outputs:T -> backprops:T ; T:type
!Empty shape:int32 -> output:dtype ; dtype:type init:bool=false
EmptyTensorList element_shape:shape_type max_num_elements:int32 -> handle:variant ; element_dtype:type shape_type:type
EncodeBase64 input:string -> output:string ; pad:bool=false
EncodeJpeg image:uint8 -> contents:string ; format:string="" quality:int=95 progressive:bool=false optimize_size:bool=false chroma_downsampling:bool=true density_unit:string="in" x_density:int=300 y_density:int=300 xmp_metadata:string=""
EncodeJpegVariableQuality images:uint8 quality:int32 -> contents:string ;
EncodePng image:T -> contents:string ; compression:int=-1 T:type="uint8"
EncodeProto sizes:int32 values:*Tinput_types -> bytes:string ; field_names:list(string) message_type:string descriptor_source:string="local://" Tinput_types:list(type)
EncodeWav audio:float32 sample_rate:int32 -> contents:string ;
EnsureShape input:T -> output:T ; shape:shape T:type
Enter data:T -> output:T ; T:type frame_name:string is_constant:bool=false parallel_iterations:int=10
Equal x:T y:T -> z:bool ; T:type incompatible_shape_error:bool=true
Erf x:T -> y:T ; T:type
Erfc x:T -> y:T ; T:type
Erfinv x:T -> y:T ; T:type
EuclideanNorm input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
Exit data:T -> output:T ; T:type
Exp x:T -> y:T ; T:type
ExpandDims input:T dim:Tdim -> output:T ; T:type Tdim:type="int32"
Expint x:T -> y:T ; T:type
Expm1 x:T -> y:T ; T:type
ExtractGlimpse input:float32 size:int32 offsets:float32 -> glimpse:float32 ; centered:bool=true normalized:bool=true uniform_noise:bool=true noise:string="uniform"
ExtractGlimpseV2 input:float32 size:int32 offsets:float32 -> glimpse:float32 ; centered:bool=true normalized:bool=true uniform_noise:bool=true noise:string="uniform"
ExtractImagePatches images:T -> patches:T ; ksizes:list(int) strides:list(int) rates:list(int) T:type padding:string
ExtractJpegShape contents:string -> image_shape:output_type ; output_type:type="int32"
ExtractVolumePatches input:T -> patches:T ; ksizes:list(int) strides:list(int) T:type padding:string
FFT input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
FFT2D input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
FFT3D input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
FFTND input:Tcomplex fft_length:int32 axes:int32 -> output:Tcomplex ; Tcomplex:type="complex64"
!FIFOQueue -> handle:&string ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 container:string="" shared_name:string=""
!FIFOQueueV2 -> handle:resource ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 container:string="" shared_name:string=""
Fact -> fact:string ;
FakeQuantWithMinMaxArgs inputs:float32 -> outputs:float32 ; min:float=-6.0 max:float=6.0 num_bits:int=8 narrow_range:bool=false
FakeQuantWithMinMaxArgsGradient gradients:float32 inputs:float32 -> backprops:float32 ; min:float=-6.0 max:float=6.0 num_bits:int=8 narrow_range:bool=false
FakeQuantWithMinMaxVars inputs:float32 min:float32 max:float32 -> outputs:float32 ; num_bits:int=8 narrow_range:bool=false
FakeQuantWithMinMaxVarsGradient gradients:float32 inputs:float32 min:float32 max:float32 -> backprops_wrt_input:float32 backprop_wrt_min:float32 backprop_wrt_max:float32 ; num_bits:int=8 narrow_range:bool=false
FakeQuantWithMinMaxVarsPerChannel inputs:float32 min:float32 max:float32 -> outputs:float32 ; num_bits:int=8 narrow_range:bool=false
FakeQuantWithMinMaxVarsPerChannelGradient gradients:float32 inputs:float32 min:float32 max:float32 -> backprops_wrt_input:float32 backprop_wrt_min:float32 backprop_wrt_max:float32 ; num_bits:int=8 narrow_range:bool=false
Fill dims:index_type value:T -> output:T ; T:type index_type:type="int32"
FilterDataset input_dataset:variant other_arguments:*Targuments -> handle:variant ; predicate:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
Fingerprint data:T method:string -> fingerprint:uint8 ; T:type
!FixedLengthRecordDataset filenames:string header_bytes:int64 record_bytes:int64 footer_bytes:int64 buffer_size:int64 -> handle:variant ; metadata:string=""
!FixedLengthRecordDatasetV2 filenames:string header_bytes:int64 record_bytes:int64 footer_bytes:int64 buffer_size:int64 compression_type:string -> handle:variant ; metadata:string=""
!FixedLengthRecordReader -> reader_handle:&string ; header_bytes:int=0 record_bytes:int footer_bytes:int=0 hop_bytes:int=0 container:string="" shared_name:string=""
!FixedLengthRecordReaderV2 -> reader_handle:resource ; header_bytes:int=0 record_bytes:int footer_bytes:int=0 hop_bytes:int=0 container:string="" shared_name:string="" encoding:string=""
!FixedUnigramCandidateSampler true_classes:int64 -> sampled_candidates:int64 true_expected_count:float32 sampled_expected_count:float32 ; num_true:int num_sampled:int unique:bool range_max:int vocab_file:string="" distortion:float=1.0 num_reserved_ids:int=0 num_shards:int=1 shard:int=0 unigrams:list(float)=[] seed:int=0 seed2:int=0
FlatMapDataset input_dataset:variant other_arguments:*Targuments -> handle:variant ; f:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
Floor x:T -> y:T ; T:type
FloorDiv x:T y:T -> z:T ; T:type
FloorMod x:T y:T -> z:T ; T:type
FractionalAvgPool value:T -> output:T row_pooling_sequence:int64 col_pooling_sequence:int64 ; pooling_ratio:list(float) pseudo_random:bool=false overlapping:bool=false deterministic:bool=false seed:int=0 seed2:int=0 T:type
FractionalAvgPoolGrad orig_input_tensor_shape:int64 out_backprop:T row_pooling_sequence:int64 col_pooling_sequence:int64 -> output:T ; overlapping:bool=false T:type
FractionalMaxPool value:T -> output:T row_pooling_sequence:int64 col_pooling_sequence:int64 ; pooling_ratio:list(float) pseudo_random:bool=false overlapping:bool=false deterministic:bool=false seed:int=0 seed2:int=0 T:type
FractionalMaxPoolGrad orig_input:T orig_output:T out_backprop:T row_pooling_sequence:int64 col_pooling_sequence:int64 -> output:T ; overlapping:bool=false T:type
FresnelCos x:T -> y:T ; T:type
FresnelSin x:T -> y:T ; T:type
FusedBatchNorm x:T scale:T offset:T mean:T variance:T -> y:T batch_mean:T batch_variance:T reserve_space_1:T reserve_space_2:T ; T:type epsilon:float=9.99999975e-05 exponential_avg_factor:float=1.0 data_format:string="NHWC" is_training:bool=true
FusedBatchNormGrad y_backprop:T x:T scale:T reserve_space_1:T reserve_space_2:T -> x_backprop:T scale_backprop:T offset_backprop:T reserve_space_3:T reserve_space_4:T ; T:type epsilon:float=9.99999975e-05 data_format:string="NHWC" is_training:bool=true
FusedBatchNormGradV2 y_backprop:T x:T scale:float32 reserve_space_1:U reserve_space_2:U -> x_backprop:T scale_backprop:U offset_backprop:U reserve_space_3:U reserve_space_4:U ; T:type U:type epsilon:float=9.99999975e-05 data_format:string="NHWC" is_training:bool=true
FusedBatchNormGradV3 y_backprop:T x:T scale:float32 reserve_space_1:U reserve_space_2:U reserve_space_3:U -> x_backprop:T scale_backprop:U offset_backprop:U reserve_space_4:U reserve_space_5:U ; T:type U:type epsilon:float=9.99999975e-05 data_format:string="NHWC" is_training:bool=true
FusedBatchNormV2 x:T scale:U offset:U mean:U variance:U -> y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U ; T:type U:type epsilon:float=9.99999975e-05 exponential_avg_factor:float=1.0 data_format:string="NHWC" is_training:bool=true
FusedBatchNormV3 x:T scale:U offset:U mean:U variance:U -> y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U reserve_space_3:U ; T:type U:type epsilon:float=9.99999975e-05 exponential_avg_factor:float=1.0 data_format:string="NHWC" is_training:bool=true
GRUBlockCell x:T h_prev:T w_ru:T w_c:T b_ru:T b_c:T -> r:T u:T c:T h:T ; T:type
Gather params:Tparams indices:Tindices -> output:Tparams ; validate_indices:bool=true Tparams:type Tindices:type
GatherNd params:Tparams indices:Tindices -> output:Tparams ; Tparams:type Tindices:type bad_indices_policy:string=""
GatherV2 params:Tparams indices:Tindices axis:Taxis -> output:Tparams ; batch_dims:int=0 Tparams:type Tindices:type Taxis:type
GenerateVocabRemapping new_vocab_file:string old_vocab_file:string -> remapping:int64 num_present:int32 ; new_vocab_offset:int num_new_vocab:int old_vocab_size:int=-1
!GeneratorDataset init_func_other_args:*Tinit_func_args next_func_other_args:*Tnext_func_args finalize_func_other_args:*Tfinalize_func_args -> handle:variant ; init_func:func next_func:func finalize_func:func Tinit_func_args:list(type) Tnext_func_args:list(type) Tfinalize_func_args:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
!GetSessionHandle value:T -> handle:string ; T:type
!GetSessionHandleV2 value:T -> handle:resource ; T:type
!GetSessionTensor handle:string -> value:dtype ; dtype:type
Greater x:T y:T -> z:bool ; T:type
GreaterEqual x:T y:T -> z:bool ; T:type
!GroupByReducerDataset input_dataset:variant key_func_other_arguments:*Tkey_func_other_arguments init_func_other_arguments:*Tinit_func_other_arguments reduce_func_other_arguments:*Treduce_func_other_arguments finalize_func_other_arguments:*Tfinalize_func_other_arguments -> handle:variant ; key_func:func init_func:func reduce_func:func finalize_func:func Tkey_func_other_arguments:list(type) Tinit_func_other_arguments:list(type) Treduce_func_other_arguments:list(type) Tfinalize_func_other_arguments:list(type) output_types:list(type) output_shapes:list(shape)
GroupByWindowDataset input_dataset:variant key_func_other_arguments:*Tkey_func_other_arguments reduce_func_other_arguments:*Treduce_func_other_arguments window_size_func_other_arguments:*Twindow_size_func_other_arguments -> handle:variant ; key_func:func reduce_func:func window_size_func:func Tkey_func_other_arguments:list(type) Treduce_func_other_arguments:list(type) Twindow_size_func_other_arguments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
!GuaranteeConst input:T -> output:T ; T:type
HSVToRGB images:T -> output:T ; T:type="float32"
!HashTable -> table_handle:&string ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type
!HashTableV2 -> table_handle:resource ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type
HistogramFixedWidth values:T value_range:T nbins:int32 -> out:dtype ; T:type dtype:type="int32"
HistogramSummary tag:string values:T -> summary:string ; T:type="float32"
IFFT input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
IFFT2D input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
IFFT3D input:Tcomplex -> output:Tcomplex ; Tcomplex:type="complex64"
IFFTND input:Tcomplex fft_length:int32 axes:int32 -> output:Tcomplex ; Tcomplex:type="complex64"
IRFFT input:Tcomplex fft_length:int32 -> output:Treal ; Treal:type="float32" Tcomplex:type="complex64"
IRFFT2D input:Tcomplex fft_length:int32 -> output:Treal ; Treal:type="float32" Tcomplex:type="complex64"
IRFFT3D input:Tcomplex fft_length:int32 -> output:Treal ; Treal:type="float32" Tcomplex:type="complex64"
IRFFTND input:Tcomplex fft_length:int32 axes:int32 -> output:Treal ; Treal:type="float32" Tcomplex:type="complex64"
Identity input:T -> output:T ; T:type
IdentityN input:*T -> output:*T ; T:list(type)
!IdentityReader -> reader_handle:&string ; container:string="" shared_name:string=""
!IdentityReaderV2 -> reader_handle:resource ; container:string="" shared_name:string=""
!If cond:Tcond input:*Tin -> output:*Tout ; Tcond:type Tin:list(type) Tout:list(type) then_branch:func else_branch:func output_shapes:list(shape)=[]
Igamma a:T x:T -> z:T ; T:type
IgammaGradA a:T x:T -> z:T ; T:type
Igammac a:T x:T -> z:T ; T:type
IgnoreErrorsDataset input_dataset:variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) log_warning:bool=false
Imag input:T -> output:Tout ; T:type="complex64" Tout:type="float32"
ImageSummary tag:string tensor:T -> summary:string ; max_images:int=3 T:type="float32" bad_color:tensor={"uint8":[255,0,0,255]}
InTopKV2 predictions:float32 targets:T k:T -> precision:bool ; T:type="int32"
InitializeTable table_handle:&string keys:Tkey values:Tval -> ; Tkey:type Tval:type
!InitializeTableFromTextFileV2 table_handle:resource filename:string -> ; key_index:int value_index:int vocab_size:int=-1 delimiter:string="\t" offset:int=0
!InitializeTableV2 table_handle:resource keys:Tkey values:Tval -> ; Tkey:type Tval:type
InterleaveDataset input_dataset:variant other_arguments:*Targuments cycle_length:int64 block_length:int64 -> handle:variant ; f:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
Inv x:T -> y:T ; T:type
InvGrad y:T dy:T -> z:T ; T:type
Invert x:T -> y:T ; T:type
InvertPermutation x:T -> y:T ; T:type="int32"
IsFinite x:T -> y:bool ; T:type
IsInf x:T -> y:bool ; T:type
IsNan x:T -> y:bool ; T:type
IsVariableInitialized ref:&dtype -> is_initialized:bool ; dtype:type
!Iterator -> handle:resource ; shared_name:string container:string output_types:list(type) output_shapes:list(shape)
!IteratorFromStringHandle string_handle:string -> resource_handle:resource ; output_types:list(type)=[] output_shapes:list(shape)=[]
!IteratorFromStringHandleV2 string_handle:string -> resource_handle:resource ; output_types:list(type)=[] output_shapes:list(shape)=[]
!IteratorGetNext iterator:resource -> components:*output_types ; output_types:list(type) output_shapes:list(shape)
!IteratorGetNextAsOptional iterator:resource -> optional:variant ; output_types:list(type) output_shapes:list(shape)
!IteratorGetNextSync iterator:resource -> components:*output_types ; output_types:list(type) output_shapes:list(shape)
!IteratorToStringHandle resource_handle:resource -> string_handle:string ;
!IteratorV2 -> handle:resource ; shared_name:string container:string output_types:list(type) output_shapes:list(shape)
L2Loss t:T -> output:T ; T:type
LRN input:T -> output:T ; depth_radius:int=5 bias:float=1.0 alpha:float=1.0 beta:float=0.5 T:type="float32"
LRNGrad input_grads:T input_image:T output_image:T -> output:T ; depth_radius:int=5 bias:float=1.0 alpha:float=1.0 beta:float=0.5 T:type="float32"
LSTMBlockCell x:T cs_prev:T h_prev:T w:T wci:T wcf:T wco:T b:T -> i:T cs:T f:T o:T ci:T co:T h:T ; forget_bias:float=1.0 cell_clip:float=3.0 use_peephole:bool=false T:type
LeakyRelu features:T -> activations:T ; alpha:float=0.200000003 T:type="float32"
LeakyReluGrad gradients:T features:T -> backprops:T ; alpha:float=0.200000003 T:type="float32"
!LearnedUnigramCandidateSampler true_classes:int64 -> sampled_candidates:int64 true_expected_count:float32 sampled_expected_count:float32 ; num_true:int num_sampled:int unique:bool range_max:int seed:int=0 seed2:int=0
LeftShift x:T y:T -> z:T ; T:type
LegacyParallelInterleaveDatasetV2 input_dataset:variant other_arguments:*Targuments cycle_length:int64 block_length:int64 buffer_output_elements:int64 prefetch_input_elements:int64 -> handle:variant ; f:func deterministic:string="default" Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
Less x:T y:T -> z:bool ; T:type
LessEqual x:T y:T -> z:bool ; T:type
Lgamma x:T -> y:T ; T:type
LinSpace start:T stop:T num:Tidx -> output:T ; T:type Tidx:type="int32"
ListDiff x:T y:T -> out:T idx:out_idx ; T:type out_idx:type="int32"
!LoadAndRemapMatrix ckpt_path:string old_tensor_name:string row_remapping:int64 col_remapping:int64 initializing_values:float32 -> output_matrix:float32 ; num_rows:int num_cols:int max_rows_in_memory:int=-1
Log x:T -> y:T ; T:type
Log1p x:T -> y:T ; T:type
LogMatrixDeterminant input:T -> sign:T log_abs_determinant:T ; T:type
LogSoftmax logits:T -> logsoftmax:T ; T:type
!LogUniformCandidateSampler true_classes:int64 -> sampled_candidates:int64 true_expected_count:float32 sampled_expected_count:float32 ; num_true:int num_sampled:int unique:bool range_max:int seed:int=0 seed2:int=0
LogicalAnd x:bool y:bool -> z:bool ;
LogicalNot x:bool -> y:bool ;
LogicalOr x:bool y:bool -> z:bool ;
!LookupTableExportV2 table_handle:resource -> keys:Tkeys values:Tvalues ; Tkeys:type Tvalues:type
LookupTableFind table_handle:&string keys:Tin default_value:Tout -> values:Tout ; Tin:type Tout:type
!LookupTableFindV2 table_handle:resource keys:Tin default_value:Tout -> values:Tout ; Tin:type Tout:type
LookupTableImport table_handle:&string keys:Tin values:Tout -> ; Tin:type Tout:type
!LookupTableImportV2 table_handle:resource keys:Tin values:Tout -> ; Tin:type Tout:type
LookupTableInsert table_handle:&string keys:Tin values:Tout -> ; Tin:type Tout:type
!LookupTableInsertV2 table_handle:resource keys:Tin values:Tout -> ; Tin:type Tout:type
!LookupTableRemoveV2 table_handle:resource keys:Tin -> ; Tin:type
!LookupTableSizeV2 table_handle:resource -> size:int64 ;
LoopCond input:bool -> output:bool ;
LowerBound sorted_inputs:T values:T -> output:out_type ; T:type out_type:type="int32"
Lu input:T -> lu:T p:output_idx_type ; T:type output_idx_type:type="int32"
!MakeIterator dataset:variant iterator:resource -> ;
MapAndBatchDataset input_dataset:variant other_arguments:*Targuments batch_size:int64 num_parallel_calls:int64 drop_remainder:bool -> handle:variant ; f:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) preserve_cardinality:bool=false metadata:string=""
MapDataset input_dataset:variant other_arguments:*Targuments -> handle:variant ; f:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) use_inter_op_parallelism:bool=true preserve_cardinality:bool=false force_synchronous:bool=false metadata:string=""
MatMul a:T b:T -> product:T ; transpose_a:bool=false transpose_b:bool=false T:type grad_a:bool=false grad_b:bool=false
MatchingFiles pattern:string -> filenames:string ;
MatrixBandPart input:T num_lower:Tindex num_upper:Tindex -> band:T ; T:type Tindex:type="int64"
MatrixDeterminant input:T -> output:T ; T:type
MatrixDiag diagonal:T -> output:T ; T:type
MatrixDiagPart input:T -> diagonal:T ; T:type
MatrixDiagPartV2 input:T k:int32 padding_value:T -> diagonal:T ; T:type
MatrixDiagPartV3 input:T k:int32 padding_value:T -> diagonal:T ; T:type align:string="RIGHT_LEFT"
MatrixDiagV2 diagonal:T k:int32 num_rows:int32 num_cols:int32 padding_value:T -> output:T ; T:type
MatrixDiagV3 diagonal:T k:int32 num_rows:int32 num_cols:int32 padding_value:T -> output:T ; T:type align:string="RIGHT_LEFT"
MatrixInverse input:T -> output:T ; adjoint:bool=false T:type
MatrixLogarithm input:T -> output:T ; T:type
MatrixSetDiag input:T diagonal:T -> output:T ; T:type
MatrixSetDiagV2 input:T diagonal:T k:int32 -> output:T ; T:type
MatrixSetDiagV3 input:T diagonal:T k:int32 -> output:T ; T:type align:string="RIGHT_LEFT"
MatrixSolve matrix:T rhs:T -> output:T ; adjoint:bool=false T:type
MatrixSolveLs matrix:T rhs:T l2_regularizer:float64 -> output:T ; T:type fast:bool=true
MatrixSquareRoot input:T -> output:T ; T:type
MatrixTriangularSolve matrix:T rhs:T -> output:T ; lower:bool=true adjoint:bool=false T:type
Max input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
MaxPool input:T -> output:T ; T:type="float32" ksize:list(int) strides:list(int) padding:string explicit_paddings:list(int)=[] data_format:string="NHWC"
MaxPool3D input:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NDHWC" T:type
MaxPool3DGrad orig_input:TInput orig_output:TInput grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NDHWC" T:type="float32" TInput:type="float32"
MaxPool3DGradGrad orig_input:T orig_output:T grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NDHWC" T:type
MaxPoolGrad orig_input:T orig_output:T grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string explicit_paddings:list(int)=[] data_format:string="NHWC" T:type="float32"
MaxPoolGradGrad orig_input:T orig_output:T grad:T -> output:T ; ksize:list(int) strides:list(int) padding:string data_format:string="NHWC" T:type
MaxPoolGradV2 orig_input:T orig_output:T grad:T ksize:int32 strides:int32 -> output:T ; padding:string data_format:string="NHWC" T:type="float32"
MaxPoolGradWithArgmax input:T grad:T argmax:Targmax -> output:T ; ksize:list(int) strides:list(int) padding:string include_batch_in_index:bool=false Targmax:type T:type
MaxPoolV2 input:T ksize:int32 strides:int32 -> output:T ; T:type="float32" padding:string data_format:string="NHWC"
MaxPoolWithArgmax input:T -> output:T argmax:Targmax ; ksize:list(int) strides:list(int) Targmax:type="int64" padding:string include_batch_in_index:bool=false T:type
Maximum x:T y:T -> z:T ; T:type
Mean input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
Merge inputs:N*T -> output:T value_index:int32 ; T:type N:int
MergeSummary inputs:N*string -> summary:string ; N:int
!MergeV2Checkpoints checkpoint_prefixes:string destination_prefix:string -> ; delete_old_dirs:bool=true allow_missing_files:bool=false
Mfcc spectrogram:float32 sample_rate:int32 -> output:float32 ; upper_frequency_limit:float=4000.0 lower_frequency_limit:float=20.0 filterbank_channel_count:int=40 dct_coefficient_count:int=13
Min input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
Minimum x:T y:T -> z:T ; T:type
MirrorPad input:T paddings:Tpaddings -> output:T ; T:type Tpaddings:type="int32" mode:string
MirrorPadGrad input:T paddings:Tpaddings -> output:T ; T:type Tpaddings:type="int32" mode:string
Mod x:T y:T -> z:T ; T:type
ModelDataset input_dataset:variant -> handle:variant ; algorithm:int=0 cpu_budget:int=0 ram_budget:int=0 output_types:list(type) output_shapes:list(shape)
Mul x:T y:T -> z:T ; T:type
MulNoNan x:T y:T -> z:T ; T:type
!Multinomial logits:T num_samples:int32 -> output:output_dtype ; seed:int=0 seed2:int=0 T:type output_dtype:type="int64"
!MutableDenseHashTableV2 empty_key:key_dtype deleted_key:key_dtype -> table_handle:resource ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type value_shape:shape=[] initial_num_buckets:int=131072 max_load_factor:float=0.800000012
!MutableHashTable -> table_handle:&string ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type
!MutableHashTableOfTensorsV2 -> table_handle:resource ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type value_shape:shape=[]
!MutableHashTableV2 -> table_handle:resource ; container:string="" shared_name:string="" use_node_name_sharing:bool=false key_dtype:type value_dtype:type
Ndtri x:T -> y:T ; T:type
Neg x:T -> y:T ; T:type
NextAfter x1:T x2:T -> output:T ; T:type="float32"
NextIteration data:T -> output:T ; T:type
NoOp -> ;
NonMaxSuppression boxes:float32 scores:float32 max_output_size:int32 -> selected_indices:int32 ; iou_threshold:float=0.5
NonMaxSuppressionV2 boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold -> selected_indices:int32 ; T:type="float32" T_threshold:type="float32"
NonMaxSuppressionV3 boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold score_threshold:T_threshold -> selected_indices:int32 ; T:type="float32" T_threshold:type="float32"
NonMaxSuppressionV4 boxes:T scores:T max_output_size:int32 iou_threshold:T_threshold score_threshold:T_threshold -> selected_indices:int32 valid_outputs:int32 ; T:type="float32" T_threshold:type="float32" pad_to_max_output_size:bool=false
NonMaxSuppressionV5 boxes:T scores:T max_output_size:int32 iou_threshold:T score_threshold:T soft_nms_sigma:T -> selected_indices:int32 selected_scores:T valid_outputs:int32 ; T:type="float32" pad_to_max_output_size:bool=false
NonMaxSuppressionWithOverlaps overlaps:float32 scores:float32 max_output_size:int32 overlap_threshold:float32 score_threshold:float32 -> selected_indices:int32 ;
NotEqual x:T y:T -> z:bool ; T:type incompatible_shape_error:bool=true
NthElement input:T n:int32 -> values:T ; reverse:bool=false T:type
OneHot indices:TI depth:int32 on_value:T off_value:T -> output:T ; axis:int=-1 T:type TI:type="int64"
!OneShotIterator -> handle:resource ; dataset_factory:func output_types:list(type) output_shapes:list(shape) container:string="" shared_name:string=""
OnesLike x:T -> y:T ; T:type
OptimizeDataset input_dataset:variant optimizations:string -> handle:variant ; output_types:list(type) output_shapes:list(shape) optimization_configs:list(string)=[]
OptimizeDatasetV2 input_dataset:variant optimizations_enabled:string optimizations_disabled:string optimizations_default:string -> handle:variant ; output_types:list(type) output_shapes:list(shape) optimization_configs:list(string)=[]
OptionalFromValue components:*Toutput_types -> optional:variant ; Toutput_types:list(type)
OptionalGetValue optional:variant -> components:*output_types ; output_types:list(type) output_shapes:list(shape)
OptionalHasValue optional:variant -> has_value:bool ;
OptionalNone -> optional:variant ;
OptionsDataset input_dataset:variant -> handle:variant ; serialized_options:string output_types:list(type) output_shapes:list(shape) metadata:string=""
Pack values:N*T -> output:T ; N:int T:type axis:int=0
Pad input:T paddings:Tpaddings -> output:T ; T:type Tpaddings:type="int32"
PadV2 input:T paddings:Tpaddings constant_values:T -> output:T ; T:type Tpaddings:type="int32"
PaddedBatchDataset input_dataset:variant batch_size:int64 padded_shapes:N*int64 padding_values:*Toutput_types -> handle:variant ; Toutput_types:list(type) output_shapes:list(shape) N:int metadata:string=""
PaddedBatchDatasetV2 input_dataset:variant batch_size:int64 padded_shapes:N*int64 padding_values:*Toutput_types drop_remainder:bool -> handle:variant ; parallel_copy:bool=false Toutput_types:list(type) output_shapes:list(shape) N:int metadata:string=""
!PaddingFIFOQueue -> handle:&string ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 container:string="" shared_name:string=""
!PaddingFIFOQueueV2 -> handle:resource ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 container:string="" shared_name:string=""
ParallelBatchDataset input_dataset:variant batch_size:int64 num_parallel_calls:int64 drop_remainder:bool -> handle:variant ; parallel_copy:bool=false output_types:list(type) output_shapes:list(shape) deterministic:string="default" metadata:string=""
ParallelConcat values:N*T -> output:T ; N:int T:type shape:shape
ParallelDynamicStitch indices:N*int32 data:N*T -> merged:T ; N:int T:type
ParallelInterleaveDatasetV4 input_dataset:variant other_arguments:*Targuments cycle_length:int64 block_length:int64 buffer_output_elements:int64 prefetch_input_elements:int64 num_parallel_calls:int64 -> handle:variant ; f:func deterministic:string="default" Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
ParallelMapDatasetV2 input_dataset:variant other_arguments:*Targuments num_parallel_calls:int64 -> handle:variant ; f:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) use_inter_op_parallelism:bool=true deterministic:string="default" preserve_cardinality:bool=false use_unbounded_threadpool:bool=false metadata:string=""
ParseExample serialized:string names:string sparse_keys:Nsparse*string dense_keys:Ndense*string dense_defaults:*Tdense -> sparse_indices:Nsparse*int64 sparse_values:*sparse_types sparse_shapes:Nsparse*int64 dense_values:*Tdense ; Nsparse:int Ndense:int sparse_types:list(type) Tdense:list(type) dense_shapes:list(shape)
ParseExampleV2 serialized:string names:string sparse_keys:string dense_keys:string ragged_keys:string dense_defaults:*Tdense -> sparse_indices:num_sparse*int64 sparse_values:*sparse_types sparse_shapes:num_sparse*int64 dense_values:*Tdense ragged_values:*ragged_value_types ragged_row_splits:*ragged_split_types ; Tdense:list(type) num_sparse:int sparse_types:list(type) ragged_value_types:list(type) ragged_split_types:list(type) dense_shapes:list(shape)
ParseSequenceExample serialized:string debug_name:string context_dense_defaults:*Tcontext_dense -> context_sparse_indices:Ncontext_sparse*int64 context_sparse_values:*context_sparse_types context_sparse_shapes:Ncontext_sparse*int64 context_dense_values:*Tcontext_dense feature_list_sparse_indices:Nfeature_list_sparse*int64 feature_list_sparse_values:*feature_list_sparse_types feature_list_sparse_shapes:Nfeature_list_sparse*int64 feature_list_dense_values:*feature_list_dense_types feature_list_dense_lengths:Nfeature_list_dense*int64 ; feature_list_dense_missing_assumed_empty:list(string) context_sparse_keys:list(string) context_dense_keys:list(string) feature_list_sparse_keys:list(string) feature_list_dense_keys:list(string) Ncontext_sparse:int=0 Ncontext_dense:int=0 Nfeature_list_sparse:int=0 Nfeature_list_dense:int=0 context_sparse_types:list(type)=[] Tcontext_dense:list(type)=[] feature_list_dense_types:list(type)=[] context_dense_shapes:list(shape)=[] feature_list_sparse_types:list(type)=[] feature_list_dense_shapes:list(shape)=[]
ParseSequenceExampleV2 serialized:string debug_name:string context_sparse_keys:string context_dense_keys:string context_ragged_keys:string feature_list_sparse_keys:string feature_list_dense_keys:string feature_list_ragged_keys:string feature_list_dense_missing_assumed_empty:bool context_dense_defaults:*Tcontext_dense -> context_sparse_indices:Ncontext_sparse*int64 context_sparse_values:*context_sparse_types context_sparse_shapes:Ncontext_sparse*int64 context_dense_values:*Tcontext_dense context_ragged_values:*context_ragged_value_types context_ragged_row_splits:*context_ragged_split_types feature_list_sparse_indices:Nfeature_list_sparse*int64 feature_list_sparse_values:*feature_list_sparse_types feature_list_sparse_shapes:Nfeature_list_sparse*int64 feature_list_dense_values:*feature_list_dense_types feature_list_dense_lengths:Nfeature_list_dense*int64 feature_list_ragged_values:*feature_list_ragged_value_types feature_list_ragged_outer_splits:*feature_list_ragged_split_types feature_list_ragged_inner_splits:*feature_list_ragged_split_types ; Ncontext_sparse:int=0 Tcontext_dense:list(type)=[] context_sparse_types:list(type)=[] context_ragged_value_types:list(type)=[] context_ragged_split_types:list(type)=[] context_dense_shapes:list(shape)=[] Nfeature_list_sparse:int=0 Nfeature_list_dense:int=0 feature_list_dense_types:list(type)=[] feature_list_sparse_types:list(type)=[] feature_list_ragged_value_types:list(type)=[] feature_list_ragged_split_types:list(type)=[] feature_list_dense_shapes:list(shape)=[]
ParseSingleExample serialized:string dense_defaults:*Tdense -> sparse_indices:num_sparse*int64 sparse_values:*sparse_types sparse_shapes:num_sparse*int64 dense_values:*Tdense ; num_sparse:int sparse_keys:list(string) dense_keys:list(string) sparse_types:list(type) Tdense:list(type) dense_shapes:list(shape)
ParseSingleSequenceExample serialized:string feature_list_dense_missing_assumed_empty:string context_sparse_keys:Ncontext_sparse*string context_dense_keys:Ncontext_dense*string feature_list_sparse_keys:Nfeature_list_sparse*string feature_list_dense_keys:Nfeature_list_dense*string context_dense_defaults:*Tcontext_dense debug_name:string -> context_sparse_indices:Ncontext_sparse*int64 context_sparse_values:*context_sparse_types context_sparse_shapes:Ncontext_sparse*int64 context_dense_values:*Tcontext_dense feature_list_sparse_indices:Nfeature_list_sparse*int64 feature_list_sparse_values:*feature_list_sparse_types feature_list_sparse_shapes:Nfeature_list_sparse*int64 feature_list_dense_values:*feature_list_dense_types ; Ncontext_sparse:int=0 Ncontext_dense:int=0 Nfeature_list_sparse:int=0 Nfeature_list_dense:int=0 context_sparse_types:list(type)=[] Tcontext_dense:list(type)=[] feature_list_dense_types:list(type)=[] context_dense_shapes:list(shape)=[] feature_list_sparse_types:list(type)=[] feature_list_dense_shapes:list(shape)=[]
ParseTensor serialized:string -> output:out_type ; out_type:type
PartitionedCall args:*Tin -> output:*Tout ; Tin:list(type) Tout:list(type) f:func config:string="" config_proto:string="" executor_type:string=""
Placeholder -> output:dtype ; dtype:type shape:shape="?"
PlaceholderV2 -> output:dtype ; dtype:type shape:shape
PlaceholderWithDefault input:dtype -> output:dtype ; dtype:type shape:shape
Polygamma a:T x:T -> z:T ; T:type
PopulationCount x:T -> y:uint8 ; T:type
Pow x:T y:T -> z:T ; T:type
PrefetchDataset input_dataset:variant buffer_size:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) slack_period:int=0 legacy_autotune:bool=true buffer_size_min:int=0 metadata:string=""
PreventGradient input:T -> output:T ; T:type message:string=""
!Print input:T data:*U -> output:T ; T:type U:list(type) message:string="" first_n:int=-1 summarize:int=3
!PrintV2 input:string -> ; output_stream:string="stderr" end:string="\n"
!PriorityQueue -> handle:&string ; component_types:list(type)=[] shapes:list(shape) capacity:int=-1 container:string="" shared_name:string=""
!PriorityQueueV2 -> handle:resource ; component_types:list(type)=[] shapes:list(shape) capacity:int=-1 container:string="" shared_name:string=""
Prod input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
!PyFunc input:*Tin -> output:*Tout ; token:string Tin:list(type) Tout:list(type)
PyFuncStateless input:*Tin -> output:*Tout ; token:string Tin:list(type) Tout:list(type)
Qr input:T -> q:T r:T ; full_matrices:bool=false T:type
QuantizeAndDequantize input:T -> output:T ; signed_input:bool=true num_bits:int=8 range_given:bool=false input_min:float=0.0 input_max:float=0.0 T:type
QuantizeAndDequantizeV2 input:T input_min:T input_max:T -> output:T ; signed_input:bool=true num_bits:int=8 range_given:bool=false T:type round_mode:string="HALF_TO_EVEN" narrow_range:bool=false axis:int=-1
QuantizeAndDequantizeV3 input:T input_min:T input_max:T num_bits:int32 -> output:T ; signed_input:bool=true range_given:bool=true T:type narrow_range:bool=false axis:int=-1
QuantizeAndDequantizeV4 input:T input_min:T input_max:T -> output:T ; signed_input:bool=true num_bits:int=8 range_given:bool=false T:type round_mode:string="HALF_TO_EVEN" narrow_range:bool=false axis:int=-1
QuantizeAndDequantizeV4Grad gradients:T input:T input_min:T input_max:T -> input_backprop:T input_min_backprop:T input_max_backprop:T ; T:type axis:int=-1
QuantizeV2 input:float32 min_range:float32 max_range:float32 -> output:T output_min:float32 output_max:float32 ; T:type mode:string="MIN_COMBINED" round_mode:string="HALF_AWAY_FROM_ZERO" narrow_range:bool=false axis:int=-1 ensure_minimum_range:float=0.00999999978
QuantizedAvgPool input:T min_input:float32 max_input:float32 -> output:T min_output:float32 max_output:float32 ; T:type ksize:list(int) strides:list(int) padding:string
QuantizedConcat concat_dim:int32 values:N*T input_mins:N*float32 input_maxes:N*float32 -> output:T output_min:float32 output_max:float32 ; N:int T:type
QuantizedConv2D input:Tinput filter:Tfilter min_input:float32 max_input:float32 min_filter:float32 max_filter:float32 -> output:out_type min_output:float32 max_output:float32 ; Tinput:type Tfilter:type out_type:type="qint32" strides:list(int) padding:string dilations:list(int)=[1,1,1,1]
QuantizedMaxPool input:T min_input:float32 max_input:float32 -> output:T min_output:float32 max_output:float32 ; T:type ksize:list(int) strides:list(int) padding:string
QuantizedReluX features:Tinput max_value:float32 min_features:float32 max_features:float32 -> activations:out_type min_activations:float32 max_activations:float32 ; Tinput:type out_type:type="quint8"
QueueClose handle:&string -> ; cancel_pending_enqueues:bool=false
!QueueCloseV2 handle:resource -> ; cancel_pending_enqueues:bool=false
QueueDequeue handle:&string -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
QueueDequeueMany handle:&string n:int32 -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
!QueueDequeueManyV2 handle:resource n:int32 -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
QueueDequeueUpTo handle:&string n:int32 -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
!QueueDequeueUpToV2 handle:resource n:int32 -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
!QueueDequeueV2 handle:resource -> components:*component_types ; component_types:list(type) timeout_ms:int=-1
QueueEnqueue handle:&string components:*Tcomponents -> ; Tcomponents:list(type) timeout_ms:int=-1
QueueEnqueueMany handle:&string components:*Tcomponents -> ; Tcomponents:list(type) timeout_ms:int=-1
!QueueEnqueueManyV2 handle:resource components:*Tcomponents -> ; Tcomponents:list(type) timeout_ms:int=-1
!QueueEnqueueV2 handle:resource components:*Tcomponents -> ; Tcomponents:list(type) timeout_ms:int=-1
QueueIsClosed handle:&string -> is_closed:bool ;
!QueueIsClosedV2 handle:resource -> is_closed:bool ;
QueueSize handle:&string -> size:int32 ;
!QueueSizeV2 handle:resource -> size:int32 ;
RFFT input:Treal fft_length:int32 -> output:Tcomplex ; Treal:type="float32" Tcomplex:type="complex64"
RFFT2D input:Treal fft_length:int32 -> output:Tcomplex ; Treal:type="float32" Tcomplex:type="complex64"
RFFT3D input:Treal fft_length:int32 -> output:Tcomplex ; Treal:type="float32" Tcomplex:type="complex64"
RFFTND input:Treal fft_length:int32 axes:int32 -> output:Tcomplex ; Treal:type="float32" Tcomplex:type="complex64"
RGBToHSV images:T -> output:T ; T:type="float32"
RaggedBincount splits:int64 values:Tidx size:Tidx weights:T -> output:T ; Tidx:type T:type binary_output:bool=false
RaggedCross ragged_values:*ragged_values_types ragged_row_splits:*ragged_splits_types sparse_indices:Nsparse*int64 sparse_values:*sparse_values_types sparse_shape:Nsparse*int64 dense_inputs:*dense_types -> output_values:out_values_type output_row_splits:out_row_splits_type ; Nsparse:int input_order:string hashed_output:bool num_buckets:int hash_key:int ragged_values_types:list(type) ragged_splits_types:list(type) sparse_values_types:list(type) dense_types:list(type) out_values_type:type out_row_splits_type:type
RaggedFillEmptyRows value_rowids:int64 values:T nrows:int64 default_value:T -> output_value_rowids:int64 output_values:T empty_row_indicator:bool reverse_index_map:int64 ; T:type
RaggedFillEmptyRowsGrad reverse_index_map:int64 grad_values:T -> d_values:T d_default_value:T ; T:type
RaggedGather params_nested_splits:PARAMS_RAGGED_RANK*Tsplits params_dense_values:Tvalues indices:Tindices -> output_nested_splits:OUTPUT_RAGGED_RANK*Tsplits output_dense_values:Tvalues ; Tvalues:type Tindices:type Tsplits:type="int64" PARAMS_RAGGED_RANK:int OUTPUT_RAGGED_RANK:int
RaggedRange starts:T limits:T deltas:T -> rt_nested_splits:Tsplits rt_dense_values:T ; T:type="int32" Tsplits:type="int64"
RaggedTensorToSparse rt_nested_splits:RAGGED_RANK*Tsplits rt_dense_values:T -> sparse_indices:int64 sparse_values:T sparse_dense_shape:int64 ; RAGGED_RANK:int T:type Tsplits:type="int64"
RaggedTensorToTensor shape:Tshape values:T default_value:T row_partition_tensors:num_row_partition_tensors*Tindex -> result:T ; T:type Tindex:type Tshape:type num_row_partition_tensors:int row_partition_types:list(string)
RaggedTensorToVariant rt_nested_splits:RAGGED_RANK*Tsplits rt_dense_values:Tvalues -> encoded_ragged:variant ; RAGGED_RANK:int Tvalues:type Tsplits:type="int64" batched_input:bool
!RandomCrop image:T size:int64 -> output:T ; T:type seed:int=0 seed2:int=0
!RandomDataset seed:int64 seed2:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
!RandomGamma shape:S alpha:T -> output:T ; seed:int=0 seed2:int=0 S:type T:type
RandomGammaGrad alpha:T sample:T -> output:T ; T:type
RandomIndexShuffle index:dtype seed:Tseed max_index:dtype -> output:dtype ; rounds:int=4 dtype:type Tseed:type
!RandomPoissonV2 shape:S rate:R -> output:dtype ; seed:int=0 seed2:int=0 S:type R:type="float64" dtype:type="int64"
!RandomShuffle value:T -> output:T ; seed:int=0 seed2:int=0 T:type
!RandomShuffleQueue -> handle:&string ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 min_after_dequeue:int=0 seed:int=0 seed2:int=0 container:string="" shared_name:string=""
!RandomShuffleQueueV2 -> handle:resource ; component_types:list(type) shapes:list(shape)=[] capacity:int=-1 min_after_dequeue:int=0 seed:int=0 seed2:int=0 container:string="" shared_name:string=""
!RandomStandardNormal shape:T -> output:dtype ; seed:int=0 seed2:int=0 dtype:type T:type
!RandomUniform shape:T -> output:dtype ; seed:int=0 seed2:int=0 dtype:type T:type
!RandomUniformInt shape:T minval:Tout maxval:Tout -> output:Tout ; seed:int=0 seed2:int=0 Tout:type T:type
Range start:Tidx limit:Tidx delta:Tidx -> output:Tidx ; Tidx:type="int32"
!RangeDataset start:int64 stop:int64 step:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string="" replicate_on_split:bool=false
Rank input:T -> output:int32 ; T:type
ReadFile filename:string -> contents:string ;
!ReadVariableOp resource:resource -> value:dtype ; dtype:type
ReaderNumRecordsProduced reader_handle:&string -> records_produced:int64 ;
!ReaderNumRecordsProducedV2 reader_handle:resource -> records_produced:int64 ;
ReaderNumWorkUnitsCompleted reader_handle:&string -> units_completed:int64 ;
!ReaderNumWorkUnitsCompletedV2 reader_handle:resource -> units_completed:int64 ;
ReaderRead reader_handle:&string queue_handle:&string -> key:string value:string ;
ReaderReadUpTo reader_handle:&string queue_handle:&string num_records:int64 -> keys:string values:string ;
!ReaderReadUpToV2 reader_handle:resource queue_handle:resource num_records:int64 -> keys:string values:string ;
!ReaderReadV2 reader_handle:resource queue_handle:resource -> key:string value:string ;
ReaderReset reader_handle:&string -> ;
!ReaderResetV2 reader_handle:resource -> ;
ReaderRestoreState reader_handle:&string state:string -> ;
!ReaderRestoreStateV2 reader_handle:resource state:string -> ;
ReaderSerializeState reader_handle:&string -> state:string ;
!ReaderSerializeStateV2 reader_handle:resource -> state:string ;
Real input:T -> output:Tout ; T:type="complex64" Tout:type="float32"
RealDiv x:T y:T -> z:T ; T:type
RebatchDatasetV2 input_dataset:variant batch_sizes:int64 drop_remainder:bool -> handle:variant ; output_types:list(type) output_shapes:list(shape)
Reciprocal x:T -> y:T ; T:type
ReciprocalGrad y:T dy:T -> z:T ; T:type
!ReduceDataset input_dataset:variant initial_state:*Tstate other_arguments:*Targuments -> components:*output_types ; f:func Tstate:list(type) Targuments:list(type) output_types:list(type) output_shapes:list(shape) use_inter_op_parallelism:bool=true metadata:string=""
ReduceJoin inputs:string reduction_indices:int32 -> output:string ; keep_dims:bool=false separator:string=""
RefEnter data:&T -> output:&T ; T:type frame_name:string is_constant:bool=false parallel_iterations:int=10
RefExit data:&T -> output:&T ; T:type
RefIdentity input:&T -> output:&T ; T:type
RefMerge inputs:&N*T -> output:&T value_index:int32 ; T:type N:int
RefNextIteration data:&T -> output:&T ; T:type
RefSelect index:int32 inputs:&N*T -> output:&T ; T:type N:int
RefSwitch data:&T pred:bool -> output_false:&T output_true:&T ; T:type
RegexFullMatch input:string pattern:string -> output:bool ;
RegexReplace input:string pattern:string rewrite:string -> output:string ; replace_global:bool=true
Relu features:T -> activations:T ; T:type
Relu6 features:T -> activations:T ; T:type
Relu6Grad gradients:T features:T -> backprops:T ; T:type
ReluGrad gradients:T features:T -> backprops:T ; T:type
RepeatDataset input_dataset:variant count:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
Reshape tensor:T shape:Tshape -> output:T ; T:type Tshape:type="int32"
ResizeArea images:T size:int32 -> resized_images:float32 ; T:type align_corners:bool=false
ResizeBicubic images:T size:int32 -> resized_images:float32 ; T:type align_corners:bool=false half_pixel_centers:bool=false
ResizeBicubicGrad grads:float32 original_image:T -> output:T ; T:type align_corners:bool=false half_pixel_centers:bool=false
ResizeBilinear images:T size:int32 -> resized_images:float32 ; T:type align_corners:bool=false half_pixel_centers:bool=false
ResizeBilinearGrad grads:float32 original_image:T -> output:T ; T:type align_corners:bool=false half_pixel_centers:bool=false
ResizeNearestNeighbor images:T size:int32 -> resized_images:T ; T:type align_corners:bool=false half_pixel_centers:bool=false
ResizeNearestNeighborGrad grads:T size:int32 -> output:T ; T:type align_corners:bool=false half_pixel_centers:bool=false
!ResourceAccumulatorApplyGradient handle:resource local_step:int64 gradient:dtype -> ; dtype:type
!ResourceAccumulatorNumAccumulated handle:resource -> num_accumulated:int32 ;
!ResourceAccumulatorSetGlobalStep handle:resource new_global_step:int64 -> ;
!ResourceAccumulatorTakeGradient handle:resource num_required:int32 -> average:dtype ; dtype:type
!ResourceApplyAdadelta var:resource accum:resource accum_update:resource lr:T rho:T epsilon:T grad:T -> ; T:type use_locking:bool=false
!ResourceApplyAdagrad var:resource accum:resource lr:T grad:T -> ; T:type use_locking:bool=false update_slots:bool=true
!ResourceApplyAdagradDA var:resource gradient_accumulator:resource gradient_squared_accumulator:resource grad:T lr:T l1:T l2:T global_step:int64 -> ; T:type use_locking:bool=false
!ResourceApplyAdagradV2 var:resource accum:resource lr:T epsilon:T grad:T -> ; T:type use_locking:bool=false update_slots:bool=true
!ResourceApplyAdam var:resource m:resource v:resource beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T grad:T -> ; T:type use_locking:bool=false use_nesterov:bool=false
!ResourceApplyAdamWithAmsgrad var:resource m:resource v:resource vhat:resource beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T grad:T -> ; T:type use_locking:bool=false
!ResourceApplyCenteredRMSProp var:resource mg:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T -> ; T:type use_locking:bool=false
!ResourceApplyFtrl var:resource accum:resource linear:resource grad:T lr:T l1:T l2:T lr_power:T -> ; T:type use_locking:bool=false multiply_linear_by_lr:bool=false
!ResourceApplyFtrlV2 var:resource accum:resource linear:resource grad:T lr:T l1:T l2:T l2_shrinkage:T lr_power:T -> ; T:type use_locking:bool=false multiply_linear_by_lr:bool=false
!ResourceApplyGradientDescent var:resource alpha:T delta:T -> ; T:type use_locking:bool=false
!ResourceApplyKerasMomentum var:resource accum:resource lr:T grad:T momentum:T -> ; T:type use_locking:bool=false use_nesterov:bool=false
!ResourceApplyMomentum var:resource accum:resource lr:T grad:T momentum:T -> ; T:type use_locking:bool=false use_nesterov:bool=false
!ResourceApplyProximalAdagrad var:resource accum:resource lr:T l1:T l2:T grad:T -> ; T:type use_locking:bool=false
!ResourceApplyProximalGradientDescent var:resource alpha:T l1:T l2:T delta:T -> ; T:type use_locking:bool=false
!ResourceApplyRMSProp var:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T -> ; T:type use_locking:bool=false
!ResourceConditionalAccumulator -> handle:resource ; dtype:type shape:shape container:string="" shared_name:string="" reduction_type:string="MEAN"
!ResourceCountUpTo resource:resource -> output:T ; limit:int T:type
!ResourceGather resource:resource indices:Tindices -> output:dtype ; batch_dims:int=0 validate_indices:bool=true dtype:type Tindices:type
!ResourceGatherNd resource:resource indices:Tindices -> output:dtype ; dtype:type Tindices:type
!ResourceScatterAdd resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterDiv resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterMax resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterMin resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterMul resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterNdAdd ref:resource indices:Tindices updates:T -> ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
!ResourceScatterNdMax ref:resource indices:Tindices updates:T -> ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
!ResourceScatterNdMin ref:resource indices:Tindices updates:T -> ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
!ResourceScatterNdSub ref:resource indices:Tindices updates:T -> ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
!ResourceScatterNdUpdate ref:resource indices:Tindices updates:T -> ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
!ResourceScatterSub resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceScatterUpdate resource:resource indices:Tindices updates:dtype -> ; dtype:type Tindices:type
!ResourceSparseApplyAdadelta var:resource accum:resource accum_update:resource lr:T rho:T epsilon:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false
!ResourceSparseApplyAdagrad var:resource accum:resource lr:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false update_slots:bool=true
!ResourceSparseApplyAdagradDA var:resource gradient_accumulator:resource gradient_squared_accumulator:resource grad:T indices:Tindices lr:T l1:T l2:T global_step:int64 -> ; T:type Tindices:type use_locking:bool=false
!ResourceSparseApplyAdagradV2 var:resource accum:resource lr:T epsilon:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false update_slots:bool=true
!ResourceSparseApplyCenteredRMSProp var:resource mg:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false
!ResourceSparseApplyFtrl var:resource accum:resource linear:resource grad:T indices:Tindices lr:T l1:T l2:T lr_power:T -> ; T:type Tindices:type use_locking:bool=false multiply_linear_by_lr:bool=false
!ResourceSparseApplyFtrlV2 var:resource accum:resource linear:resource grad:T indices:Tindices lr:T l1:T l2:T l2_shrinkage:T lr_power:T -> ; T:type Tindices:type use_locking:bool=false multiply_linear_by_lr:bool=false
!ResourceSparseApplyKerasMomentum var:resource accum:resource lr:T grad:T indices:Tindices momentum:T -> ; T:type Tindices:type use_locking:bool=false use_nesterov:bool=false
!ResourceSparseApplyMomentum var:resource accum:resource lr:T grad:T indices:Tindices momentum:T -> ; T:type Tindices:type use_locking:bool=false use_nesterov:bool=false
!ResourceSparseApplyProximalAdagrad var:resource accum:resource lr:T l1:T l2:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false
!ResourceSparseApplyProximalGradientDescent var:resource alpha:T l1:T l2:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false
!ResourceSparseApplyRMSProp var:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices -> ; T:type Tindices:type use_locking:bool=false
!ResourceStridedSliceAssign ref:resource begin:Index end:Index strides:Index value:T -> ; T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
!Restore file_pattern:string tensor_name:string -> tensor:dt ; dt:type preferred_shard:int=-1
!RestoreSlice file_pattern:string tensor_name:string shape_and_slice:string -> tensor:dt ; dt:type preferred_shard:int=-1
!RestoreV2 prefix:string tensor_names:string shape_and_slices:string -> tensors:*dtypes ; dtypes:list(type)
Reverse tensor:T dims:bool -> output:T ; T:type
ReverseSequence input:T seq_lengths:Tlen -> output:T ; seq_dim:int batch_dim:int=0 T:type Tlen:type="int64"
ReverseV2 tensor:T axis:Tidx -> output:T ; Tidx:type="int32" T:type
RewriteDataset input_dataset:variant rewrite_name:string -> handle:variant ; output_types:list(type) output_shapes:list(shape)
RightShift x:T y:T -> z:T ; T:type
Rint x:T -> y:T ; T:type
Roll input:T shift:Tshift axis:Taxis -> output:T ; T:type Tshift:type Taxis:type
Round x:T -> y:T ; T:type
Rsqrt x:T -> y:T ; T:type
RsqrtGrad y:T dy:T -> z:T ; T:type
!SampleDistortedBoundingBox image_size:T bounding_boxes:float32 -> begin:T size:T bboxes:float32 ; T:type seed:int=0 seed2:int=0 min_object_covered:float=0.100000001 aspect_ratio_range:list(float)=[0.75,1.33000004] area_range:list(float)=[0.0500000007,1.0] max_attempts:int=100 use_image_if_no_bounding_boxes:bool=false
!SampleDistortedBoundingBoxV2 image_size:T bounding_boxes:float32 min_object_covered:float32 -> begin:T size:T bboxes:float32 ; T:type seed:int=0 seed2:int=0 aspect_ratio_range:list(float)=[0.75,1.33000004] area_range:list(float)=[0.0500000007,1.0] max_attempts:int=100 use_image_if_no_bounding_boxes:bool=false
!Save filename:string tensor_names:string data:*T -> ; T:list(type)
!SaveSlices filename:string tensor_names:string shapes_and_slices:string data:*T -> ; T:list(type)
!SaveV2 prefix:string tensor_names:string shape_and_slices:string tensors:*dtypes -> ; dtypes:list(type)
ScalarSummary tags:string values:T -> summary:string ; T:type
ScaleAndTranslate images:T size:int32 scale:float32 translation:float32 -> resized_images:float32 ; T:type kernel_type:string="lanczos3" antialias:bool=true
ScaleAndTranslateGrad grads:T original_image:T scale:float32 translation:float32 -> output:T ; T:type kernel_type:string="lanczos3" antialias:bool=true
ScanDataset input_dataset:variant initial_state:*Tstate other_arguments:*Targuments -> handle:variant ; f:func Tstate:list(type) Targuments:list(type) output_types:list(type) output_shapes:list(shape) preserve_cardinality:bool=false use_default_device:bool=true metadata:string=""
ScatterAdd ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterDiv ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterMax ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterMin ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterMul ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterNd indices:Tindices updates:T shape:Tindices -> output:T ; T:type Tindices:type bad_indices_policy:string=""
ScatterNdAdd ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false bad_indices_policy:string=""
ScatterNdMax ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false bad_indices_policy:string=""
ScatterNdMin ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false bad_indices_policy:string=""
ScatterNdSub ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false bad_indices_policy:string=""
ScatterNdUpdate ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=true bad_indices_policy:string=""
ScatterSub ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=false
ScatterUpdate ref:&T indices:Tindices updates:T -> output_ref:&T ; T:type Tindices:type use_locking:bool=true
SegmentMax data:T segment_ids:Tindices -> output:T ; T:type Tindices:type
SegmentMaxV2 data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
SegmentMean data:T segment_ids:Tindices -> output:T ; T:type Tindices:type
SegmentMin data:T segment_ids:Tindices -> output:T ; T:type Tindices:type
SegmentMinV2 data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
SegmentProd data:T segment_ids:Tindices -> output:T ; T:type Tindices:type
SegmentProdV2 data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
SegmentSum data:T segment_ids:Tindices -> output:T ; T:type Tindices:type
SegmentSumV2 data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
Select condition:bool t:T e:T -> output:T ; T:type
SelectV2 condition:bool t:T e:T -> output:T ; T:type
SelfAdjointEigV2 input:T -> e:T v:T ; compute_v:bool=true T:type
Selu features:T -> activations:T ; T:type
SeluGrad gradients:T outputs:T -> backprops:T ; T:type
SerializeManySparse sparse_indices:int64 sparse_values:T sparse_shape:int64 -> serialized_sparse:out_type ; T:type out_type:type="string"
SerializeSparse sparse_indices:int64 sparse_values:T sparse_shape:int64 -> serialized_sparse:out_type ; T:type out_type:type="string"
SerializeTensor tensor:T -> serialized:string ; T:type
SetSize set_indices:int64 set_values:T set_shape:int64 -> size:int32 ; validate_indices:bool=true T:type
Shape input:T -> output:out_type ; T:type out_type:type="int32"
ShapeN input:N*T -> output:N*out_type ; N:int T:type out_type:type="int32"
ShardDataset input_dataset:variant num_shards:int64 index:int64 -> handle:variant ; require_non_empty:bool=false output_types:list(type) output_shapes:list(shape) metadata:string=""
ShardedFilename basename:string shard:int32 num_shards:int32 -> filename:string ;
ShardedFilespec basename:string num_shards:int32 -> filename:string ;
ShuffleAndRepeatDataset input_dataset:variant buffer_size:int64 seed:int64 seed2:int64 count:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) reshuffle_each_iteration:bool=true metadata:string=""
ShuffleDataset input_dataset:variant buffer_size:int64 seed:int64 seed2:int64 -> handle:variant ; reshuffle_each_iteration:bool=true output_types:list(type) output_shapes:list(shape) metadata:string=""
Sigmoid x:T -> y:T ; T:type
SigmoidGrad y:T dy:T -> z:T ; T:type
Sign x:T -> y:T ; T:type
Sin x:T -> y:T ; T:type
Sinh x:T -> y:T ; T:type
Size input:T -> output:out_type ; T:type out_type:type="int32"
SkipDataset input_dataset:variant count:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
Slice input:T begin:Index size:Index -> output:T ; T:type Index:type
SobolSample dim:int32 num_results:int32 skip:int32 -> samples:dtype ; dtype:type="float32"
Softmax logits:T -> softmax:T ; T:type
SoftmaxCrossEntropyWithLogits features:T labels:T -> loss:T backprop:T ; T:type
Softplus features:T -> activations:T ; T:type
SoftplusGrad gradients:T features:T -> backprops:T ; T:type
Softsign features:T -> activations:T ; T:type
SoftsignGrad gradients:T features:T -> backprops:T ; T:type
SpaceToBatch input:T paddings:Tpaddings -> output:T ; T:type Tpaddings:type="int32" block_size:int
SpaceToBatchND input:T block_shape:Tblock_shape paddings:Tpaddings -> output:T ; T:type Tblock_shape:type="int32" Tpaddings:type="int32"
SpaceToDepth input:T -> output:T ; T:type block_size:int data_format:string="NHWC"
SparseAccumulatorApplyGradient handle:&string local_step:int64 gradient_indices:int64 gradient_values:dtype gradient_shape:int64 -> ; dtype:type has_known_shape:bool
SparseAccumulatorTakeGradient handle:&string num_required:int32 -> indices:int64 values:dtype shape:int64 ; dtype:type
SparseAdd a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 thresh:Treal -> sum_indices:int64 sum_values:T sum_shape:int64 ; T:type Treal:type
SparseAddGrad backprop_val_grad:T a_indices:int64 b_indices:int64 sum_indices:int64 -> a_val_grad:T b_val_grad:T ; T:type
SparseApplyAdadelta var:&T accum:&T accum_update:&T lr:T rho:T epsilon:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseApplyAdagrad var:&T accum:&T lr:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false update_slots:bool=true
SparseApplyAdagradDA var:&T gradient_accumulator:&T gradient_squared_accumulator:&T grad:T indices:Tindices lr:T l1:T l2:T global_step:int64 -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseApplyAdagradV2 var:&T accum:&T lr:T epsilon:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false update_slots:bool=true
SparseApplyCenteredRMSProp var:&T mg:&T ms:&T mom:&T lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseApplyFtrl var:&T accum:&T linear:&T grad:T indices:Tindices lr:T l1:T l2:T lr_power:T -> out:&T ; T:type Tindices:type use_locking:bool=false multiply_linear_by_lr:bool=false
SparseApplyFtrlV2 var:&T accum:&T linear:&T grad:T indices:Tindices lr:T l1:T l2:T l2_shrinkage:T lr_power:T -> out:&T ; T:type Tindices:type use_locking:bool=false multiply_linear_by_lr:bool=false
SparseApplyMomentum var:&T accum:&T lr:T grad:T indices:Tindices momentum:T -> out:&T ; T:type Tindices:type use_locking:bool=false use_nesterov:bool=false
SparseApplyProximalAdagrad var:&T accum:&T lr:T l1:T l2:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseApplyProximalGradientDescent var:&T alpha:T l1:T l2:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseApplyRMSProp var:&T ms:&T mom:&T lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices -> out:&T ; T:type Tindices:type use_locking:bool=false
SparseBincount indices:int64 values:Tidx dense_shape:int64 size:Tidx weights:T -> output:T ; Tidx:type T:type binary_output:bool=false
SparseConcat indices:N*int64 values:N*T shapes:N*int64 -> output_indices:int64 output_values:T output_shape:int64 ; concat_dim:int N:int T:type
!SparseConditionalAccumulator -> handle:&string ; dtype:type shape:shape container:string="" shared_name:string="" reduction_type:string="MEAN"
SparseCountSparseOutput indices:int64 values:T dense_shape:int64 weights:output_type -> output_indices:int64 output_values:output_type output_dense_shape:int64 ; T:type minlength:int=-1 maxlength:int=-1 binary_output:bool output_type:type
SparseCross indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types -> output_indices:int64 output_values:out_type output_shape:int64 ; N:int hashed_output:bool num_buckets:int hash_key:int sparse_types:list(type) dense_types:list(type) out_type:type internal_type:type
SparseCrossHashed indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types num_buckets:int64 strong_hash:bool salt:int64 -> output_indices:int64 output_values:int64 output_shape:int64 ; N:int sparse_types:list(type) dense_types:list(type)
SparseCrossV2 indices:N*int64 values:*sparse_types shapes:N*int64 dense_inputs:*dense_types sep:string -> output_indices:int64 output_values:string output_shape:int64 ; N:int sparse_types:list(type) dense_types:list(type)
SparseDenseCwiseAdd sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T ; T:type
SparseDenseCwiseDiv sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T ; T:type
SparseDenseCwiseMul sp_indices:int64 sp_values:T sp_shape:int64 dense:T -> output:T ; T:type
SparseFillEmptyRows indices:int64 values:T dense_shape:int64 default_value:T -> output_indices:int64 output_values:T empty_row_indicator:bool reverse_index_map:int64 ; T:type
SparseFillEmptyRowsGrad reverse_index_map:int64 grad_values:T -> d_values:T d_default_value:T ; T:type
SparseMatMul a:Ta b:Tb -> product:float32 ; transpose_a:bool=false transpose_b:bool=false a_is_sparse:bool=false b_is_sparse:bool=false Ta:type="float32" Tb:type="float32"
SparseReduceMax input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output:T ; keep_dims:bool=false T:type
SparseReduceMaxSparse input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output_indices:int64 output_values:T output_shape:int64 ; keep_dims:bool=false T:type
SparseReduceSum input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output:T ; keep_dims:bool=false T:type
SparseReduceSumSparse input_indices:int64 input_values:T input_shape:int64 reduction_axes:int32 -> output_indices:int64 output_values:T output_shape:int64 ; keep_dims:bool=false T:type
SparseReorder input_indices:int64 input_values:T input_shape:int64 -> output_indices:int64 output_values:T ; T:type
SparseReshape input_indices:int64 input_shape:int64 new_shape:int64 -> output_indices:int64 output_shape:int64 ;
SparseSegmentMean data:T indices:Tidx segment_ids:Tsegmentids -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSegmentMeanGrad grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32"
SparseSegmentMeanWithNumSegments data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T ; T:type Tidx:type="int32" Tnumsegments:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSegmentSqrtN data:T indices:Tidx segment_ids:Tsegmentids -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSegmentSqrtNGrad grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32"
SparseSegmentSqrtNWithNumSegments data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T ; T:type Tidx:type="int32" Tnumsegments:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSegmentSum data:T indices:Tidx segment_ids:Tsegmentids -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSegmentSumGrad grad:T indices:Tidx segment_ids:Tsegmentids output_dim0:int32 -> output:T ; T:type Tidx:type="int32" Tsegmentids:type="int32"
SparseSegmentSumWithNumSegments data:T indices:Tidx segment_ids:Tsegmentids num_segments:Tnumsegments -> output:T ; T:type Tidx:type="int32" Tnumsegments:type="int32" Tsegmentids:type="int32" sparse_gradient:bool=false
SparseSlice indices:int64 values:T shape:int64 start:int64 size:int64 -> output_indices:int64 output_values:T output_shape:int64 ; T:type
SparseSliceGrad backprop_val_grad:T input_indices:int64 input_start:int64 output_indices:int64 -> val_grad:T ; T:type
SparseSoftmax sp_indices:int64 sp_values:T sp_shape:int64 -> output:T ; T:type
SparseSoftmaxCrossEntropyWithLogits features:T labels:Tlabels -> loss:T backprop:T ; T:type Tlabels:type="int64"
SparseSparseMaximum a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 -> output_indices:int64 output_values:T ; T:type
SparseSparseMinimum a_indices:int64 a_values:T a_shape:int64 b_indices:int64 b_values:T b_shape:int64 -> output_indices:int64 output_values:T ; T:type
SparseSplit split_dim:int64 indices:int64 values:T shape:int64 -> output_indices:num_split*int64 output_values:num_split*T output_shape:num_split*int64 ; num_split:int T:type
SparseTensorDenseAdd a_indices:Tindices a_values:T a_shape:Tindices b:T -> output:T ; T:type Tindices:type
SparseTensorDenseMatMul a_indices:Tindices a_values:T a_shape:int64 b:T -> product:T ; T:type Tindices:type="int64" adjoint_a:bool=false adjoint_b:bool=false
!SparseTensorSliceDataset indices:int64 values:Tvalues dense_shape:int64 -> handle:variant ; Tvalues:type
SparseToDense sparse_indices:Tindices output_shape:Tindices sparse_values:T default_value:T -> dense:T ; validate_indices:bool=true T:type Tindices:type
SparseToSparseSetOperation set1_indices:int64 set1_values:T set1_shape:int64 set2_indices:int64 set2_values:T set2_shape:int64 -> result_indices:int64 result_values:T result_shape:int64 ; set_operation:string validate_indices:bool=true T:type
Spence x:T -> y:T ; T:type
Split split_dim:int32 value:T -> output:num_split*T ; num_split:int T:type
SplitV value:T size_splits:Tlen split_dim:int32 -> output:num_split*T ; num_split:int T:type Tlen:type="int64"
Sqrt x:T -> y:T ; T:type
SqrtGrad y:T dy:T -> z:T ; T:type
Square x:T -> y:T ; T:type
SquaredDifference x:T y:T -> z:T ; T:type
Squeeze input:T -> output:T ; T:type squeeze_dims:list(int)=[]
!Stack -> handle:&string ; elem_type:type stack_name:string=""
StackClose handle:&string -> ;
!StackCloseV2 handle:resource -> ;
StackPop handle:&string -> elem:elem_type ; elem_type:type
!StackPopV2 handle:resource -> elem:elem_type ; elem_type:type
StackPush handle:&string elem:T -> output:T ; T:type swap_memory:bool=false
!StackPushV2 handle:resource elem:T -> output:T ; T:type swap_memory:bool=false
!StackV2 max_size:int32 -> handle:resource ; elem_type:type stack_name:string=""
!Stage values:*dtypes -> ; capacity:int=0 memory_limit:int=0 dtypes:list(type) container:string="" shared_name:string=""
!StageClear -> ; capacity:int=0 memory_limit:int=0 dtypes:list(type) container:string="" shared_name:string=""
!StagePeek index:int32 -> values:*dtypes ; capacity:int=0 memory_limit:int=0 dtypes:list(type) container:string="" shared_name:string=""
!StageSize -> size:int32 ; capacity:int=0 memory_limit:int=0 dtypes:list(type) container:string="" shared_name:string=""
!StatefulPartitionedCall args:*Tin -> output:*Tout ; Tin:list(type) Tout:list(type) f:func config:string="" config_proto:string="" executor_type:string=""
StatelessCase branch_index:int32 input:*Tin -> output:*Tout ; Tin:list(type) Tout:list(type) branches:list(func) output_shapes:list(shape)=[]
StatelessIf cond:Tcond input:*Tin -> output:*Tout ; Tcond:type Tin:list(type) Tout:list(type) then_branch:func else_branch:func output_shapes:list(shape)=[]
StatelessMultinomial logits:T num_samples:int32 seed:Tseed -> output:output_dtype ; T:type Tseed:type="int64" output_dtype:type="int64"
StatelessParameterizedTruncatedNormal shape:S seed:Tseed means:dtype stddevs:dtype minvals:dtype maxvals:dtype -> output:dtype ; S:type Tseed:type="int64" dtype:type
StatelessRandomBinomial shape:S seed:Tseed counts:T probs:T -> output:dtype ; S:type Tseed:type="int64" T:type="float64" dtype:type="int64"
StatelessRandomGammaV2 shape:T seed:Tseed alpha:dtype -> output:dtype ; dtype:type T:type Tseed:type="int64"
!StatelessRandomGetAlg -> alg:int32 ;
StatelessRandomGetKeyCounter seed:Tseed -> key:uint64 counter:uint64 ; Tseed:type="int64"
StatelessRandomNormal shape:T seed:Tseed -> output:dtype ; dtype:type="float32" T:type="int32" Tseed:type="int64"
StatelessRandomNormalV2 shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype ; dtype:type="float32" Tshape:type="int32"
StatelessRandomPoisson shape:T seed:Tseed lam:Rtype -> output:dtype ; Rtype:type dtype:type T:type Tseed:type="int64"
StatelessRandomUniform shape:T seed:Tseed -> output:dtype ; dtype:type="float32" T:type="int32" Tseed:type="int64"
StatelessRandomUniformFullInt shape:T seed:Tseed -> output:dtype ; dtype:type="uint64" T:type="int32" Tseed:type="int64"
StatelessRandomUniformFullIntV2 shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype ; dtype:type="uint64" Tshape:type="int32"
StatelessRandomUniformInt shape:T seed:Tseed minval:dtype maxval:dtype -> output:dtype ; dtype:type T:type Tseed:type="int64"
StatelessRandomUniformIntV2 shape:Tshape key:uint64 counter:uint64 alg:int32 minval:dtype maxval:dtype -> output:dtype ; dtype:type Tshape:type="int32"
StatelessRandomUniformV2 shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype ; dtype:type="float32" Tshape:type="int32"
StatelessShuffle value:T key:uint64 counter:uint64 alg:int32 -> output:T ; T:type
StatelessTruncatedNormal shape:T seed:Tseed -> output:dtype ; dtype:type="float32" T:type="int32" Tseed:type="int64"
StatelessTruncatedNormalV2 shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype ; dtype:type="float32" Tshape:type="int32"
StatelessWhile input:*T -> output:*T ; T:list(type) cond:func body:func output_shapes:list(shape)=[] parallel_iterations:int=10
StaticRegexFullMatch input:string -> output:bool ; pattern:string
StaticRegexReplace input:string -> output:string ; pattern:string rewrite:string replace_global:bool=true
StopGradient input:T -> output:T ; T:type
StridedSlice input:T begin:Index end:Index strides:Index -> output:T ; T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
StridedSliceAssign ref:&T begin:Index end:Index strides:Index value:T -> output_ref:&T ; T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
StridedSliceGrad shape:Index begin:Index end:Index strides:Index dy:T -> output:T ; T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
StringFormat inputs:*T -> output:string ; T:list(type) template:string="%s" placeholder:string="%s" summarize:int=3
StringJoin inputs:N*string -> output:string ; N:int separator:string=""
StringLength input:string -> output:int32 ; unit:string="BYTE"
StringLower input:string -> output:string ; encoding:string=""
StringNGrams data:string data_splits:Tsplits -> ngrams:string ngrams_splits:Tsplits ; separator:string ngram_widths:list(int) left_pad:string right_pad:string pad_width:int preserve_short_sequences:bool Tsplits:type="int64"
StringSplit input:string delimiter:string -> indices:int64 values:string shape:int64 ; skip_empty:bool=true
StringSplitV2 input:string sep:string -> indices:int64 values:string shape:int64 ; maxsplit:int=-1
StringStrip input:string -> output:string ;
StringToHashBucket string_tensor:string -> output:int64 ; num_buckets:int
StringToHashBucketFast input:string -> output:int64 ; num_buckets:int
StringToHashBucketStrong input:string -> output:int64 ; num_buckets:int key:list(int)
StringToNumber string_tensor:string -> output:out_type ; out_type:type="float32"
StringUpper input:string -> output:string ; encoding:string=""
Sub x:T y:T -> z:T ; T:type
Substr input:string pos:T len:T -> output:string ; T:type unit:string="BYTE"
Sum input:T reduction_indices:Tidx -> output:T ; keep_dims:bool=false T:type Tidx:type="int32"
Svd input:T -> s:T u:T v:T ; compute_uv:bool=true full_matrices:bool=false T:type
Switch data:T pred:bool -> output_false:T output_true:T ; T:type
!TFRecordDataset filenames:string compression_type:string buffer_size:int64 -> handle:variant ; metadata:string=""
!TFRecordDatasetV2 filenames:string compression_type:string buffer_size:int64 byte_offsets:int64 -> handle:variant ; metadata:string=""
!TFRecordReader -> reader_handle:&string ; container:string="" shared_name:string="" compression_type:string=""
!TFRecordReaderV2 -> reader_handle:resource ; container:string="" shared_name:string="" compression_type:string=""
TakeDataset input_dataset:variant count:int64 -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
!TakeManySparseFromTensorsMap sparse_handles:int64 -> sparse_indices:int64 sparse_values:dtype sparse_shape:int64 ; dtype:type container:string="" shared_name:string=""
TakeWhileDataset input_dataset:variant other_arguments:*Targuments -> handle:variant ; predicate:func Targuments:list(type) output_types:list(type) output_shapes:list(shape) metadata:string=""
Tan x:T -> y:T ; T:type
Tanh x:T -> y:T ; T:type
TanhGrad y:T dy:T -> z:T ; T:type
!TensorArrayCloseV3 handle:resource -> ;
!TensorArrayConcatV3 handle:resource flow_in:float32 -> value:dtype lengths:int64 ; dtype:type element_shape_except0:shape="?"
!TensorArrayGatherV3 handle:resource indices:int32 flow_in:float32 -> value:dtype ; dtype:type element_shape:shape="?"
!TensorArrayGradV3 handle:resource flow_in:float32 -> grad_handle:resource flow_out:float32 ; source:string
!TensorArrayGradWithShape handle:resource flow_in:float32 shape_to_prepend:int32 -> grad_handle:resource flow_out:float32 ; source:string
!TensorArrayReadV3 handle:resource index:int32 flow_in:float32 -> value:dtype ; dtype:type
!TensorArrayScatterV3 handle:resource indices:int32 value:T flow_in:float32 -> flow_out:float32 ; T:type
!TensorArraySizeV3 handle:resource flow_in:float32 -> size:int32 ;
!TensorArraySplitV3 handle:resource value:T lengths:int64 flow_in:float32 -> flow_out:float32 ; T:type
!TensorArrayV3 size:int32 -> handle:resource flow:float32 ; dtype:type element_shape:shape="?" dynamic_size:bool=false clear_after_read:bool=true identical_element_shapes:bool=false tensor_array_name:string=""
!TensorArrayWriteV3 handle:resource index:int32 value:T flow_in:float32 -> flow_out:float32 ; T:type
!TensorDataset components:*Toutput_types -> handle:variant ; Toutput_types:list(type) output_shapes:list(shape) metadata:string=""
TensorListConcat input_handle:variant -> tensor:element_dtype lengths:int64 ; element_dtype:type element_shape:shape="?"
TensorListConcatLists input_a:variant input_b:variant -> output:variant ; element_dtype:type
TensorListConcatV2 input_handle:variant element_shape:shape_type leading_dims:int64 -> tensor:element_dtype lengths:int64 ; element_dtype:type shape_type:type
TensorListElementShape input_handle:variant -> element_shape:shape_type ; shape_type:type
TensorListFromTensor tensor:element_dtype element_shape:shape_type -> output_handle:variant ; element_dtype:type shape_type:type
TensorListGather input_handle:variant indices:int32 element_shape:int32 -> values:element_dtype ; element_dtype:type
TensorListGetItem input_handle:variant index:int32 element_shape:Tshape -> item:element_dtype ; element_dtype:type Tshape:type="int32"
TensorListLength input_handle:variant -> length:int32 ;
TensorListPopBack input_handle:variant element_shape:int32 -> output_handle:variant tensor:element_dtype ; element_dtype:type
TensorListPushBack input_handle:variant tensor:element_dtype -> output_handle:variant ; element_dtype:type
TensorListPushBackBatch input_handles:variant tensor:element_dtype -> output_handles:variant ; element_dtype:type
TensorListReserve element_shape:shape_type num_elements:int32 -> handle:variant ; element_dtype:type shape_type:type
TensorListResize input_handle:variant size:int32 -> output_handle:variant ;
TensorListScatter tensor:element_dtype indices:int32 element_shape:shape_type -> output_handle:variant ; element_dtype:type shape_type:type
TensorListScatterIntoExistingList input_handle:variant tensor:element_dtype indices:int32 -> output_handle:variant ; element_dtype:type
TensorListScatterV2 tensor:element_dtype indices:int32 element_shape:shape_type num_elements:int32 -> output_handle:variant ; element_dtype:type shape_type:type
TensorListSetItem input_handle:variant index:int32 item:element_dtype -> output_handle:variant ; element_dtype:type resize_if_index_out_of_bounds:bool=false
TensorListSplit tensor:element_dtype element_shape:shape_type lengths:int64 -> output_handle:variant ; element_dtype:type shape_type:type
TensorListStack input_handle:variant element_shape:int32 -> tensor:element_dtype ; element_dtype:type num_elements:int=-1
TensorScatterAdd tensor:T indices:Tindices updates:T -> output:T ; T:type Tindices:type bad_indices_policy:string=""
TensorScatterMax tensor:T indices:Tindices updates:T -> output:T ; T:type Tindices:type bad_indices_policy:string=""
TensorScatterMin tensor:T indices:Tindices updates:T -> output:T ; T:type Tindices:type bad_indices_policy:string=""
TensorScatterSub tensor:T indices:Tindices updates:T -> output:T ; T:type Tindices:type bad_indices_policy:string=""
TensorScatterUpdate tensor:T indices:Tindices updates:T -> output:T ; T:type Tindices:type bad_indices_policy:string=""
!TensorSliceDataset components:*Toutput_types -> handle:variant ; Toutput_types:list(type) output_shapes:list(shape) is_files:bool=false metadata:string="" replicate_on_split:bool=false
TensorStridedSliceUpdate input:T begin:Index end:Index strides:Index value:T -> output:T ; T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
TensorSummary tensor:T -> summary:string ; T:type description:string="" labels:list(string)=[] display_name:string=""
TensorSummaryV2 tag:string tensor:T serialized_summary_metadata:string -> summary:string ; T:type
!TextLineDataset filenames:string compression_type:string buffer_size:int64 -> handle:variant ; metadata:string=""
!TextLineReader -> reader_handle:&string ; skip_header_lines:int=0 container:string="" shared_name:string=""
!TextLineReaderV2 -> reader_handle:resource ; skip_header_lines:int=0 container:string="" shared_name:string=""
Tile input:T multiples:Tmultiples -> output:T ; T:type Tmultiples:type="int32"
TileGrad input:T multiples:int32 -> output:T ; T:type
!Timestamp -> ts:float64 ;
ToBool input:T -> output:bool ; T:type
TopK input:T -> values:T indices:int32 ; k:int sorted:bool=true T:type
TopKV2 input:T k:Tk -> values:T indices:index_type ; sorted:bool=true T:type Tk:type="int32" index_type:type="int32"
Transpose x:T perm:Tperm -> y:T ; T:type Tperm:type="int32"
TridiagonalMatMul superdiag:T maindiag:T subdiag:T rhs:T -> output:T ; T:type
TridiagonalSolve diagonals:T rhs:T -> output:T ; partial_pivoting:bool=true perturb_singular:bool=false T:type
TruncateDiv x:T y:T -> z:T ; T:type
TruncateMod x:T y:T -> z:T ; T:type
!TruncatedNormal shape:T -> output:dtype ; seed:int=0 seed2:int=0 dtype:type T:type
UnbatchDataset input_dataset:variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
UnicodeDecode input:string -> row_splits:Tsplits char_values:int32 ; input_encoding:string errors:string="replace" replacement_char:int=65533 replace_control_characters:bool=false Tsplits:type="int64"
UnicodeDecodeWithOffsets input:string -> row_splits:Tsplits char_values:int32 char_to_byte_starts:int64 ; input_encoding:string errors:string="replace" replacement_char:int=65533 replace_control_characters:bool=false Tsplits:type="int64"
UnicodeEncode input_values:int32 input_splits:Tsplits -> output:string ; errors:string="replace" output_encoding:string replacement_char:int=65533 Tsplits:type="int64"
UnicodeScript input:int32 -> output:int32 ;
UnicodeTranscode input:string -> output:string ; input_encoding:string output_encoding:string errors:string="replace" replacement_char:int=65533 replace_control_characters:bool=false
!UniformCandidateSampler true_classes:int64 -> sampled_candidates:int64 true_expected_count:float32 sampled_expected_count:float32 ; num_true:int num_sampled:int unique:bool range_max:int seed:int=0 seed2:int=0
Unique x:T -> y:T idx:out_idx ; T:type out_idx:type="int32"
UniqueDataset input_dataset:variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
UniqueV2 x:T axis:Taxis -> y:T idx:out_idx ; T:type Taxis:type="int64" out_idx:type="int32"
UniqueWithCounts x:T -> y:T idx:out_idx count:out_idx ; T:type out_idx:type="int32"
UniqueWithCountsV2 x:T axis:Taxis -> y:T idx:out_idx count:out_idx ; T:type Taxis:type="int64" out_idx:type="int32"
Unpack value:T -> output:num*T ; num:int T:type axis:int=0
UnravelIndex indices:Tidx dims:Tidx -> output:Tidx ; Tidx:type="int32"
UnsortedSegmentJoin inputs:string segment_ids:Tindices num_segments:Tnumsegments -> output:string ; separator:string="" Tindices:type Tnumsegments:type="int32"
UnsortedSegmentMax data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
UnsortedSegmentMin data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
UnsortedSegmentProd data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
UnsortedSegmentSum data:T segment_ids:Tindices num_segments:Tnumsegments -> output:T ; T:type Tindices:type Tnumsegments:type="int32"
!Unstage -> values:*dtypes ; capacity:int=0 memory_limit:int=0 dtypes:list(type) container:string="" shared_name:string=""
UpperBound sorted_inputs:T values:T -> output:out_type ; T:type out_type:type="int32"
!VarHandleOp -> resource:resource ; container:string="" shared_name:string="" debug_name:string="" dtype:type shape:shape allowed_devices:list(string)=[]
!VarIsInitializedOp resource:resource -> is_initialized:bool ;
!Variable -> ref:&dtype ; shape:shape dtype:type container:string="" shared_name:string=""
!VariableShape input:resource -> output:out_type ; out_type:type="int32"
!VariableV2 -> ref:&dtype ; shape:shape dtype:type container:string="" shared_name:string=""
Where input:T -> index:int64 ; T:type="bool"
!While input:*T -> output:*T ; T:list(type) cond:func body:func output_shapes:list(shape)=[] parallel_iterations:int=10
!WholeFileReader -> reader_handle:&string ; container:string="" shared_name:string=""
!WholeFileReaderV2 -> reader_handle:resource ; container:string="" shared_name:string=""
WindowDataset input_dataset:variant size:int64 shift:int64 stride:int64 drop_remainder:bool -> handle:variant ; output_types:list(type) output_shapes:list(shape) metadata:string=""
!WriteFile filename:string contents:string -> ;
Xdivy x:T y:T -> z:T ; T:type
XlaBroadcastHelper lhs:T rhs:T broadcast_dims:Tindices -> lhs_output:T rhs_output:T ; T:type Tindices:type
!XlaCallModule args:*Tin -> output:*Tout ; version:int module:string Sout:list(shape) Tout:list(type) Tin:list(type) dim_args_spec:list(string)=[] platforms:list(string)=[] function_list:list(func)=[] has_token_input_output:bool=false disabled_checks:list(string)=[] use_shardy_partitioner:bool=false
XlaConv lhs:T rhs:T window_strides:Tindices padding:Tindices lhs_dilation:Tindices rhs_dilation:Tindices feature_group_count:Tindices -> output:T ; T:type Tindices:type dimension_numbers:string precision_config:string
XlaConvV2 lhs:LhsT rhs:RhsT window_strides:Tindices padding:Tindices lhs_dilation:Tindices rhs_dilation:Tindices feature_group_count:Tindices -> output:preferred_element_type ; LhsT:type RhsT:type Tindices:type dimension_numbers:string precision_config:string preferred_element_type:type batch_group_count:int=1
XlaDot lhs:T rhs:T -> output:T ; T:type dimension_numbers:string precision_config:string
XlaDotV2 lhs:LhsT rhs:RhsT -> output:preferred_element_type ; LhsT:type RhsT:type dimension_numbers:string precision_config:string preferred_element_type:type
XlaDynamicSlice input:T start_indices:Tindices size_indices:Tindices -> output:T ; T:type Tindices:type
XlaDynamicUpdateSlice input:T update:T indices:Tindices -> output:T ; T:type Tindices:type
XlaEinsum a:T b:T -> product:T ; equation:string T:type
XlaGather operand:T start_indices:Tindices slice_sizes:Tindices -> output:T ; dimension_numbers:string indices_are_sorted:bool T:type Tindices:type
XlaKeyValueSort keys:K values:V -> sorted_keys:K sorted_values:V ; K:type V:type
XlaOptimizationBarrier input:*T -> output:*T ; T:list(type)
XlaPad input:T padding_value:T padding_low:Tindices padding_high:Tindices padding_interior:Tindices -> output:T ; T:type Tindices:type
XlaReduce input:T init_value:T -> output:T ; T:type dimensions_to_reduce:list(int) reducer:func
XlaReduceWindow input:T init_value:T window_dimensions:Tindices window_strides:Tindices base_dilations:Tindices window_dilations:Tindices padding:Tindices -> output:T ; T:type Tindices:type computation:func
XlaReplicaId -> id:int32 ;
XlaRngBitGenerator algorithm:int32 initial_state:uint64 shape:Tshape -> output_key:uint64 output:dtype ; dtype:type="uint64" Tshape:type="int32"
XlaScatter operand:T scatter_indices:Tindices updates:T -> output:T ; update_computation:func dimension_numbers:string indices_are_sorted:bool T:type Tindices:type
XlaSelectAndScatter operand:T window_dimensions:Tindices window_strides:Tindices padding:Tindices source:T init_value:T -> output:T ; T:type Tindices:type select:func scatter:func
XlaSetBound input:int32 bound:int32 -> output:int32 ;
XlaSharding input:T -> output:T ; T:type sharding:string="" unspecified_dims:list(int)=[]
XlaSort input:T -> output:T ; T:type
XlaVariadicReduce input:N*T init_value:N*T -> output:N*T ; N:int T:type dimensions_to_reduce:list(int) reducer:func
XlaVariadicReduceV2 inputs:*T init_values:*T -> outputs:*T ; T:list(type) dimensions_to_reduce:list(int) reducer:func
XlaVariadicSort inputs:*T dimension:int32 -> outputs:*T ; T:list(type) comparator:func is_stable:bool
!XlaWhile input:*T -> output:*T ; T:list(type) cond:func body:func
Xlog1py x:T y:T -> z:T ; T:type
Xlogy x:T y:T -> z:T ; T:type
ZerosLike x:T -> y:T ; T:type
Zeta x:T q:T -> z:T ; T:type
ZipDataset input_datasets:N*variant -> handle:variant ; output_types:list(type) output_shapes:list(shape) N:int metadata:string=""
!_Arg -> output:T ; T:type index:int
!_Retval input:T -> ; T:type index:int
"""
