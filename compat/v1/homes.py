"""Where each public name of `tf`, `tf.math`, `tf.nn` and `tf.bitwise` lives.

`new=old` gives the object `old` of a module the public name `new`.
"""

CHECKS = {
    "graph.functions.checks": (
        "assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
        "assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal "
        "assert_positive assert_proper_iterable"
    ),
    "graph.functions.shape_checks": (
        "assert_integer assert_rank assert_rank_at_least assert_rank_in assert_same_float_dtype "
        "assert_scalar assert_type is_numeric_tensor"
    ),
}
"""Names of both `tf` and `tf.debugging`."""

CORE = {
    "graph.functions.checks": "add_check_numerics_ops verify_tensor_all_finite",
    "graph.functions.math.clip": (
        "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm"
    ),
    "graph.core.conversions": "register_tensor_conversion_function",
    "graph.core.create": "constant convert_to_tensor",
    "graph.core.dtype": (
        "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half "
        "QUANTIZED_DTYPES int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource "
        "string uint16 uint32 uint64 uint8 variant"
    ),
    "graph.functions.array.array": (
        "batch_to_space_nd boolean_mask broadcast_to check_numerics concat "
        "depth_to_space diag diag_part dynamic_partition dynamic_stitch expand_dims gather "
        "guarantee_const identity identity_n invert_permutation matrix_band_part "
        "matrix_transpose pad parallel_stack reshape reverse "
        "reverse_sequence reverse_v2 roll scatter_nd sequence_mask slice "
        "space_to_batch_nd space_to_depth split squeeze stack stop_gradient "
        "tensor_scatter_add tensor_scatter_nd_add=tensor_scatter_add "
        "tensor_scatter_nd_max=tensor_scatter_max tensor_scatter_nd_min=tensor_scatter_min "
        "tensor_scatter_nd_sub=tensor_scatter_sub "
        "tensor_scatter_nd_update=tensor_scatter_update tensor_scatter_sub "
        "tensor_scatter_update tile transpose "
        "unstack where where_v2"
    ),
    "graph.functions.array.gathering": "batch_gather gather_nd",
    "graph.functions.array.repetition": "meshgrid repeat",
    "graph.functions.array.selection": "setdiff1d strided_slice unique",
    "graph.functions.behavior": (
        "control_flow_v2_enabled disable_control_flow_v2 disable_eager_execution "
        "disable_resource_variables disable_tensor_equality disable_v2_behavior "
        "enable_control_flow_v2 enable_resource_variables executing_eagerly "
        "executing_eagerly_outside_functions "
        "resource_variables_enabled"
    ),
    "graph.functions.array.casting": "bitcast",
    "graph.functions.flow.conditional": "case cond switch_case",
    "graph.functions.flow.control_flow": "Assert group no_op tuple",
    "graph.functions.array.creation": (
        "broadcast_dynamic_shape broadcast_static_shape ensure_shape eye fill one_hot ones "
        "ones_like placeholder placeholder_with_default rank shape shape_n size zeros zeros_like"
    ),
    "graph.functions.linalg.decompositions": (
        "cholesky_solve cross matrix_triangular_solve qr self_adjoint_eig self_adjoint_eigvals svd"
    ),
    "graph.functions.linalg.diagonals": "matrix_diag matrix_diag_part matrix_set_diag",
    "graph.functions.linalg.equations": "matrix_solve_ls matrix_square_root=sqrtm",
    "graph.functions.math.sorting": (
        "argsort histogram_fixed_width histogram_fixed_width_bins searchsorted sort "
        "sparse_segment_mean sparse_segment_sqrt_n sparse_segment_sum unique_with_counts"
    ),
    "graph.functions.printing": "Print print=print_v2",
    "graph.functions.quantized": (
        "dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient "
        "fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient "
        "fake_quant_with_min_max_vars_per_channel "
        "fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_v2 quantized_concat"
    ),
    "graph.functions.array.space_to_batch": (
        "batch_to_space required_space_to_batch_paddings space_to_batch"
    ),
    "graph.functions.math.special": "approx_top_k arg_max arg_min as_string unravel_index",
    "graph.functions.strings": (
        "decode_base64 encode_base64 reduce_join regex_replace string_join=join string_split "
        "string_strip=strip string_to_hash_bucket string_to_hash_bucket_fast "
        "string_to_hash_bucket_strong string_to_number=to_number substr"
    ),
    "graph.core.composite.ragged_tensor": "RaggedTensor",
    "graph.functions.io.decoding": (
        "decode_compressed decode_csv decode_json_example decode_raw deserialize_many_sparse "
        "parse_tensor serialize_many_sparse serialize_sparse serialize_tensor"
    ),
    "graph.functions.io.features": (
        "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature"
    ),
    "graph.functions.io.files": (
        "FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader "
        "WholeFileReader matching_files read_file write_file"
    ),
    "graph.functions.io.parsing": (
        "parse_example parse_single_example parse_single_sequence_example"
    ),
    "graph.functions.flow.functional": "foldl foldr map_fn numpy_function py_func py_function scan",
    "graph.functions.flow.vectorized": "vectorized_map",
    "graph.functions.resources.accumulators": (
        "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator"
    ),
    "graph.functions.resources.lookup": (
        "initialize_all_tables=tables_initializer tables_initializer"
    ),
    "graph.functions.flow.loops": "while_loop",
    "graph.functions.resources.queues": (
        "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"
    ),
    "graph.functions.flow.tensor_array": "TensorArray",
    "graph.functions.random": (
        "get_seed random_crop random_normal random_shuffle random_uniform truncated_normal"
    ),
    "graph.functions.random_draws": "multinomial random_gamma random_poisson",
    "graph.functions.signal.spectral": "fft3d ifft3d",
    "graph.functions.array.slices": "newaxis",
    "graph.functions.resources.session_tensors": (
        "delete_session_tensor get_session_handle get_session_tensor"
    ),
    "graph.functions.state": (
        "assign assign_add assign_sub batch_scatter_update count_up_to is_variable_initialized "
        "scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add "
        "scatter_nd_sub scatter_nd_update scatter_sub scatter_update"
    ),
    "graph.variables.get_variable": (
        "create_partitioned_variables get_local_variable get_variable no_regularizer"
    ),
    "graph.derivatives.custom_gradient": "custom_gradient grad_pass_through recompute_grad",
    "graph.derivatives.hessians": "hessians",
    "graph.derivatives.gradients": "AggregationMethod UnconnectedGradients gradients",
    "graph.derivatives.registry": (
        "NoGradient=NotDifferentiable NotDifferentiable RegisterGradient "
        "no_gradient=NotDifferentiable"
    ),
    "graph.core.device_spec": "DeviceSpec",
    "graph.core.elements": "Operation Tensor",
    "graph.core.graph": "Graph",
    "graph.format.importing": "import_graph_def",
    "graph.format.tensor_values": (
        "get_static_value is_symbolic_tensor is_tensor make_ndarray make_tensor_proto"
    ),
    "graph.core.composite.indexed_slices": "IndexedSlices convert_to_tensor_or_indexed_slices",
    "graph.core.composite.sparse_tensor": (
        "SparseTensor SparseTensorValue convert_to_tensor_or_sparse_tensor"
    ),
    "graph.functions.sparse.tensors": (
        "sparse_concat=concat sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask "
        "sparse_merge=merge sparse_placeholder=placeholder sparse_reorder=reorder "
        "sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain "
        "sparse_slice=slice sparse_split=split sparse_tensor_to_dense=to_dense sparse_to_dense "
        "sparse_to_indicator=to_indicator sparse_transpose=transpose"
    ),
    "graph.functions.sparse.arithmetic": (
        "edit_distance sparse_add=add sparse_matmul sparse_maximum=maximum sparse_minimum=minimum "
        "sparse_reduce_max=reduce_max sparse_reduce_max_sparse=reduce_max_sparse "
        "sparse_reduce_sum=reduce_sum sparse_reduce_sum_sparse=reduce_sum_sparse "
        "sparse_softmax=softmax sparse_tensor_dense_matmul=sparse_dense_matmul"
    ),
    "graph.session.fetches": "IndexedSlicesValue",
    "graph.variables.initializers": (
        "constant_initializer glorot_normal_initializer glorot_uniform_initializer "
        "ones_initializer orthogonal_initializer random_normal_initializer "
        "random_uniform_initializer truncated_normal_initializer uniform_unit_scaling_initializer "
        "variance_scaling_initializer zeros_initializer"
    ),
    "graph.core.scopes": (
        "GraphKeys add_to_collection add_to_collections colocate_with container "
        "control_dependencies device get_collection get_collection_ref get_default_graph "
        "get_default_session init_scope name_scope op_scope reset_default_graph set_random_seed"
    ),
    "graph.functions.summaries": (
        "audio_summary histogram_summary image_summary merge_all_summaries merge_summary "
        "scalar_summary"
    ),
    "schema.errors": "OpError",
    "schema.proto": (
        "AttrValue ConfigProto Event GPUOptions GraphDef GraphOptions HistogramProto LogMessage "
        "MetaGraphDef NameAttrList NodeDef OptimizerOptions RunMetadata RunOptions SessionLog "
        "Summary SummaryMetadata TensorInfo"
    ),
    "graph.session.default_sessions": "InteractiveSession",
    "graph.session.session": "Session",
    "graph.core.tensor_shape": (
        "Dimension TensorShape dimension_at_index dimension_value disable_v2_tensorshape "
        "enable_v2_tensorshape"
    ),
    "graph.core.composite.type_specs": (
        "IndexedSlicesSpec RaggedTensorSpec SparseTensorSpec TensorSpec type_spec_from_value"
    ),
    "training.event_files": "summary_iterator",
    "graph.functions.unicode": "fingerprint",
    "graph.functions.nn.windows": "extract_image_patches extract_volume_patches",
    "compat.v1.logging": "get_logger",
    "graph.variables.template": "make_template",
    "graph.variables.variable_scope": (
        "AUTO_REUSE VariableScope get_variable_scope variable_creator_scope variable_op_scope "
        "variable_scope"
    ),
    "graph.variables.variable_lists": (
        "all_variables=global_variables assert_variables_initialized global_variables "
        "global_variables_initializer "
        "initialize_all_variables=global_variables_initializer "
        "initialize_local_variables=local_variables_initializer "
        "initialize_variables=variables_initializer local_variables local_variables_initializer "
        "model_variables moving_average_variables report_uninitialized_variables "
        "trainable_variables variables_initializer"
    ),
    "graph.variables.partitioned": (
        "fixed_size_partitioner min_max_variable_partitioner variable_axis_size_partitioner"
    ),
    "graph.variables.distribution": "VariableAggregation VariableSynchronization",
    "graph.variables.variables": "Variable",
}
"""Names of `tf` alone."""

MATH = {
    "graph.functions.math.arithmetic": (
        "abs accumulate_n acos acosh add add_n asin asinh atan atan2 atanh ceil complex conj cos "
        "cosh digamma div div_no_nan divide equal erf erfc exp expm1 floor floor_div floordiv "
        "floormod greater greater_equal imag is_finite is_inf is_nan less less_equal lgamma log "
        "log1p log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum "
        "mod=floormod multiply negative not_equal pow real realdiv reciprocal rint round rsqrt "
        "scalar_mul sigmoid sign sin sinh sqrt square squared_difference subtract tan tanh "
        "truediv truncatediv truncatemod"
    ),
    "graph.functions.array.casting": (
        "cast saturate_cast to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 "
        "to_int64"
    ),
    "graph.functions.array.creation": "lin_space linspace=lin_space range",
    "graph.functions.linalg.einsum": "einsum",
    "graph.functions.linalg.linear_algebra": (
        "cholesky fft fft2d ifft ifft2d matmul matrix_determinant matrix_inverse "
        "matrix_solve norm tensordot trace"
    ),
    "graph.functions.math.reductions": (
        "argmax argmin count_nonzero cumprod cumsum reduce_all reduce_any reduce_logsumexp "
        "reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
    ),
    "graph.functions.math.segments": (
        "segment_max segment_mean segment_min segment_prod segment_sum unsorted_segment_max "
        "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod "
        "unsorted_segment_sqrt_n unsorted_segment_sum"
    ),
    "graph.functions.math.special": (
        "angle betainc bincount confusion_matrix igamma igammac is_non_decreasing "
        "is_strictly_increasing lbeta polygamma zeta"
    ),
}
"""Names of both `tf` and `tf.math`."""

DEBUGGING = {
    "graph.functions.math.arithmetic": "is_finite is_inf is_nan",
    "graph.functions.array.array": "check_numerics",
    "graph.functions.checks": "assert_all_finite=verify_tensor_all_finite",
    "graph.functions.flow.control_flow": "Assert",
    "graph.functions.device_placement": "get_log_device_placement set_log_device_placement",
    "graph.functions.shape_checks": "assert_shapes",
    "graph.functions.math.special": "is_non_decreasing is_strictly_increasing",
}

NEST = {
    "graph.functions.nest": (
        "assert_same_structure flatten is_nested map_structure pack_sequence_as"
    ),
}

MATH_ALONE = {
    "graph.functions.math.sorting": "approx_max_k approx_min_k",
    "graph.functions.math.arithmetic": "divide_no_nan=div_no_nan polyval xdivy xlogy",
    "graph.functions.math.reductions": "reduce_std reduce_variance zero_fraction",
    "graph.functions.math.special": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e cumulative_logsumexp erfcinv erfinv "
        "multiply_no_nan ndtri nextafter reciprocal_no_nan reduce_euclidean_norm sobol_sample "
        "xlog1py"
    ),
    "graph.functions.nn.activations": ("log_softmax softmax softplus softsign"),
    "graph.functions.array.array": "invert_permutation",
    "graph.functions.array.selection": "in_top_k top_k",
    "graph.functions.nn.normalization": ("l2_normalize"),
}

MATH_SPECIAL = {
    "graph.functions.math.special": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e "
        "bessel_k1 bessel_k1e bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence"
    ),
}

QUANTIZATION = {
    "graph.functions.quantized": (
        "dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient "
        "fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient "
        "fake_quant_with_min_max_vars_per_channel "
        "fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_and_dequantize "
        "quantize_and_dequantize_v2 quantized_concat"
    ),
}

BITWISE = {
    "graph.functions.math.arithmetic": (
        "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift"
    ),
}

NN = {
    "graph.functions.nn.weighted_losses": "compute_average_loss scale_regularization_loss",
    "graph.functions.nn.any_windows": (
        "atrous_conv2d_transpose avg_pool_v2 conv3d_backprop_filter=conv3d_backprop_filter_v2 "
        "conv3d_backprop_filter_v2 conv_transpose convolution "
        "depthwise_conv2d_backprop_filter=depthwise_conv2d_native_backprop_filter "
        "depthwise_conv2d_backprop_input=depthwise_conv2d_native_backprop_input "
        "depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input "
        "max_pool_v2 pool with_space_to_batch"
    ),
    "graph.functions.nn.activations": (
        "bias_add crelu elu leaky_relu log_softmax relu relu6 relu_layer selu silu=swish softmax "
        "softplus softsign swish xw_plus_b"
    ),
    "graph.functions.math.arithmetic": "log_sigmoid sigmoid tanh",
    "graph.functions.array.array": "depth_to_space space_to_depth",
    "graph.functions.array.selection": "in_top_k top_k",
    "graph.functions.nn.ctc": (
        "collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_greedy_decoder "
        "ctc_loss ctc_loss_v2 ctc_unique_labels"
    ),
    "graph.functions.nn.embedding": "embedding_lookup",
    "graph.functions.nn.fractional_pools": "fractional_avg_pool fractional_max_pool",
    "graph.functions.nn.sampling": (
        "all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler "
        "learned_unigram_candidate_sampler log_uniform_candidate_sampler nce_loss "
        "sampled_softmax_loss uniform_candidate_sampler"
    ),
    "graph.functions.nn.line_windows": (
        "avg_pool1d avg_pool3d batch_norm_with_global_normalization conv1d conv1d_transpose conv3d "
        "conv3d_transpose erosion2d max_pool1d max_pool3d max_pool_with_argmax normalize_moments"
    ),
    "graph.functions.nn.losses": (
        "l2_loss sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits "
        "softmax_cross_entropy_with_logits_v2 sparse_softmax_cross_entropy_with_logits "
        "weighted_cross_entropy_with_logits"
    ),
    "graph.functions.nn.normalization": (
        "batch_normalization dropout fused_batch_norm l2_normalize local_response_normalization "
        "lrn moments"
    ),
    "graph.functions.math.reductions": "zero_fraction",
    "graph.functions.sparse.embedding": ("embedding_lookup_sparse safe_embedding_lookup_sparse"),
    "graph.functions.array.space_to_batch": "space_to_batch",
    "graph.functions.math.sorting": (
        "approx_max_k approx_min_k log_poisson_loss sufficient_statistics weighted_moments"
    ),
    "graph.functions.rnn.networks": (
        "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn "
        "static_state_saving_rnn"
    ),
    "graph.functions.nn.windows": (
        "atrous_conv2d avg_pool avg_pool2d=avg_pool conv2d conv2d_backprop_filter "
        "conv2d_backprop_input conv2d_transpose depthwise_conv2d depthwise_conv2d_native "
        "dilation2d max_pool max_pool2d=max_pool separable_conv2d"
    ),
}

LOSSES = {
    "graph.functions.nn.weighted_losses": (
        "Reduction absolute_difference add_loss compute_weighted_loss cosine_distance get_losses "
        "get_regularization_loss get_regularization_losses get_total_loss hinge_loss huber_loss "
        "log_loss mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy "
        "softmax_cross_entropy sparse_softmax_cross_entropy"
    ),
}

METRICS = {
    "graph.functions.nn.metrics": (
        "accuracy false_negatives false_positives mean mean_absolute_error mean_cosine_distance "
        "mean_iou mean_per_class_accuracy mean_relative_error mean_squared_error mean_tensor "
        "percentage_below precision recall root_mean_squared_error true_negatives true_positives"
    ),
    "graph.functions.nn.metrics_at": (
        "auc false_negatives_at_thresholds false_positives_at_thresholds precision_at_thresholds "
        "recall_at_thresholds sensitivity_at_specificity specificity_at_sensitivity "
        "true_negatives_at_thresholds true_positives_at_thresholds"
    ),
    "graph.functions.nn.metrics_at_k": (
        "average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k "
        "sparse_average_precision_at_k sparse_precision_at_k"
    ),
}

RNN_CELL = {
    "graph.functions.rnn.cells": (
        "BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple RNNCell"
    ),
    "graph.functions.rnn.wrappers": "DeviceWrapper DropoutWrapper MultiRNNCell ResidualWrapper",
}

SIGNAL = {
    "graph.functions.signal.signal": (
        "fft fft2d hamming_window hann_window ifft ifft2d linear_to_mel_weight_matrix"
    ),
    "graph.functions.signal.frames": ("frame overlap_and_add"),
    "graph.functions.signal.spectral": (
        "dct fft3d fftshift idct ifft3d ifftshift irfft irfft2d irfft3d rfft rfft2d rfft3d"
    ),
    "graph.functions.signal.stft": (
        "inverse_mdct inverse_stft inverse_stft_window_fn kaiser_bessel_derived_window "
        "kaiser_window mdct mfccs_from_log_mel_spectrograms stft vorbis_window"
    ),
}

SPECTRAL = {
    "graph.functions.signal.signal": "fft fft2d ifft ifft2d",
    "graph.functions.signal.spectral": (
        "dct fft3d idct ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d"
    ),
}

STRINGS = {
    "graph.functions.math.special": "as_string",
    "graph.functions.unicode": (
        "ngrams unicode_decode unicode_decode_with_offsets unicode_encode unicode_script "
        "unicode_split unicode_split_with_offsets unsorted_segment_join"
    ),
    "graph.functions.strings": (
        "bytes_split format join length=string_length lower reduce_join regex_full_match "
        "regex_replace split "
        "strip substr to_hash_bucket=string_to_hash_bucket "
        "to_hash_bucket_fast=string_to_hash_bucket_fast "
        "to_hash_bucket_strong=string_to_hash_bucket_strong to_number unicode_transcode upper"
    ),
}

SPARSE = {
    "graph.core.composite.sparse_tensor": "SparseTensor",
    "graph.functions.resources.accumulators": "SparseConditionalAccumulator",
    "graph.functions.math.sorting": (
        "segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n "
        "segment_sum=sparse_segment_sum"
    ),
    "graph.functions.sparse.tensors": (
        "concat expand_dims eye fill_empty_rows from_dense map_values mask merge placeholder "
        "reorder reset_shape reshape retain slice split to_dense to_indicator transpose"
    ),
    "graph.functions.sparse.arithmetic": (
        "add bincount cross cross_hashed matmul=sparse_dense_matmul maximum minimum reduce_max "
        "reduce_max_sparse reduce_sum reduce_sum_sparse softmax sparse_dense_matmul"
    ),
}

RANDOM = {
    "graph.functions.random": (
        "get_seed normal set_random_seed shuffle stateless_normal stateless_truncated_normal "
        "stateless_uniform truncated_normal uniform"
    ),
    "graph.functions.random_draws": (
        "categorical fold_in gamma=random_gamma multinomial poisson=random_poisson split "
        "stateless_binomial stateless_categorical stateless_gamma stateless_multinomial "
        "stateless_poisson"
    ),
    "graph.functions.nn.sampling": (
        "all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler "
        "log_uniform_candidate_sampler uniform_candidate_sampler"
    ),
}

RANDOM_EXPERIMENTAL = {
    "graph.functions.random_draws": "stateless_fold_in=fold_in stateless_split=split",
}

SETS = {
    "graph.functions.math.sets": (
        "difference=set_difference intersection=set_intersection set_difference set_intersection "
        "set_size set_union size=set_size union=set_union"
    ),
}

GFILE = {
    "schema.tensorflow.gfile": (
        "Copy DeleteRecursively Exists FastGFile GFile Glob IsDirectory ListDirectory MakeDirs "
        "MkDir Open Remove Rename Stat Walk"
    ),
}

GRAPH_UTIL = {
    "graph.format.graph_util": (
        "convert_variables_to_constants extract_sub_graph must_run_on_cpu remove_training_nodes "
        "tensor_shape_from_node_def_name"
    ),
    "graph.format.importing": "import_graph_def",
}

COMPAT = {
    "graph.core.text": (
        "as_bytes as_str as_str_any as_text bytes_or_text_types complex_types forward_compatible "
        "forward_compatibility_horizon integral_types path_to_str real_types"
    ),
    "graph.core.tensor_shape": "dimension_at_index dimension_value",
}

INITIALIZERS = {
    "graph.functions.resources.lookup": "tables_initializer",
    "graph.variables.initializers": (
        "constant glorot_normal glorot_uniform he_normal he_uniform identity lecun_normal "
        "lecun_uniform ones orthogonal random_normal=random_normal_initializer "
        "random_uniform=random_uniform_initializer truncated_normal "
        "uniform_unit_scaling=uniform_unit_scaling_initializer variance_scaling zeros"
    ),
    "graph.variables.variable_lists": (
        "global_variables=global_variables_initializer local_variables=local_variables_initializer "
        "variables=variables_initializer"
    ),
}

DTYPES = {
    "graph.core.dtype": (
        "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half "
        "QUANTIZED_DTYPES int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource "
        "string uint16 uint32 uint64 uint8 variant"
    ),
    "graph.functions.math.arithmetic": "complex",
    "graph.functions.array.casting": "cast saturate_cast",
    "graph.functions.math.special": "as_string",
}

MANIP = {
    "graph.functions.array.array": (
        "batch_to_space_nd reshape reverse roll scatter_nd space_to_batch_nd tile"
    ),
    "graph.functions.array.gathering": "gather_nd",
}

VERSIONS = {
    "graph.core.version": (
        "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER "
        "GRAPH_DEF_VERSION_MIN_PRODUCER VERSION"
    ),
}
"""Names of both `tf` and `tf.version`."""
DUNDER_VERSIONS = {
    "graph.core.version": (
        "__compiler_version__=COMPILER_VERSION __git_version__=GIT_VERSION __version__=VERSION"
    ),
}

SUMMARY = {
    "graph.functions.summaries": (
        "all_v2_summary_ops audio get_summary_description histogram image merge merge_all scalar "
        "tensor_summary text"
    ),
    "schema.proto": "Event SessionLog Summary SummaryDescription TaggedRunMetadata",
    "training.summary_writer": "FileWriter FileWriterCache",
}

QUEUE = {
    "graph.functions.resources.queues": (
        "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue"
    ),
}

DISTRIBUTE = {"training.sessions.server": "Server"}

USER_OPS = {"graph.functions.strings": "my_fact"}

TYPES = {"graph.core.typing": "TensorLike"}

LOOKUP = {
    "graph.functions.resources.lookup": (
        "KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex "
        "TextFileInitializer"
    ),
}

LOOKUP_EXPERIMENTAL = {
    "graph.functions.resources.mutable_tables": "DenseHashTable MutableHashTable"
}
