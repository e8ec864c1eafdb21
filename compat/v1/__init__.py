"""The names of TensorFlow 1: `import flatlite.compat.v1 as tf`.

Everything is imported on first use. What a name does is said where it lives:
`help(tf.get_variable)`.
"""

from __future__ import annotations

import importlib

_MODULES = {
    "bitwise": "...graph.functions.math",
    "errors": "...errors",
    "initializers": "...graph.initializers",
    "layers": "...graph.functions.layers",
    "lite": ".lite",
    "logging": ".logging",
    "math": "...graph.functions.math",
    "nn": "...graph.functions.nn",
    "random": "...graph.functions.random",
    "train": "...train",
}
"""Modules by name, from here."""

_NAMES = {
    "graph.clip": (
        "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value global_norm"
    ),
    "graph.create": "constant convert_to_tensor",
    "graph.dtype": (
        "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half "
        "int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource string uint16 "
        "uint32 uint64 uint8 variant"
    ),
    "graph.functions.array": (
        "batch_to_space_nd bitcast boolean_mask broadcast_dynamic_shape broadcast_static_shape "
        "broadcast_to check_numerics concat depth_to_space diag diag_part dynamic_partition "
        "dynamic_stitch ensure_shape expand_dims eye fake_quant_with_min_max_args "
        "fake_quant_with_min_max_vars fake_quant_with_min_max_vars_per_channel fill gather "
        "gather_nd guarantee_const identity identity_n invert_permutation matrix_band_part "
        "matrix_diag matrix_diag_part matrix_set_diag matrix_transpose meshgrid newaxis one_hot "
        "ones ones_like pad placeholder placeholder_with_default rank repeat reshape reverse "
        "reverse_sequence reverse_v2 roll scatter_nd sequence_mask setdiff1d shape shape_n size "
        "slice space_to_batch_nd space_to_depth split squeeze stack stop_gradient strided_slice "
        "tensor_scatter_add tensor_scatter_sub tensor_scatter_update tile transpose unique "
        "unstack where where_v2 zeros zeros_like"
    ),
    "graph.functions.behavior": (
        "disable_eager_execution disable_resource_variables disable_v2_behavior "
        "enable_resource_variables executing_eagerly resource_variables_enabled"
    ),
    "graph.functions.control_flow": "Assert group no_op tuple",
    "graph.functions.math": (
        "abs accumulate_n acos acosh add add_n argmax argmin asin asinh atan atan2 atanh cast "
        "ceil cholesky complex conj cos cosh count_nonzero cumprod cumsum digamma div "
        "div_no_nan divide einsum equal erf erfc exp expm1 fft fft2d floor floor_div floordiv "
        "floormod greater greater_equal ifft ifft2d imag is_finite is_inf is_nan less "
        "less_equal lgamma lin_space linspace log log1p log_sigmoid logical_and logical_not "
        "logical_or logical_xor matmul matrix_determinant matrix_inverse matrix_solve maximum "
        "minimum mod multiply negative norm not_equal pow range real realdiv reciprocal "
        "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
        "reduce_sum rint round rsqrt saturate_cast scalar_mul segment_max segment_mean "
        "segment_min segment_prod segment_sum sigmoid sign sin sinh sqrt square "
        "squared_difference subtract tan tanh tensordot to_double to_float to_int32 to_int64 "
        "trace truediv truncatediv truncatemod unsorted_segment_max unsorted_segment_mean "
        "unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n "
        "unsorted_segment_sum"
    ),
    "graph.functions.random": "random_normal random_shuffle random_uniform truncated_normal",
    "graph.functions.state": (
        "assign assign_add assign_sub is_variable_initialized scatter_add scatter_div "
        "scatter_max scatter_min scatter_mul scatter_sub scatter_update"
    ),
    "graph.gradients": "AggregationMethod UnconnectedGradients gradients",
    "graph.derivatives.registry": "NotDifferentiable RegisterGradient",
    "graph.graph": "Graph Operation Tensor",
    "graph.importing": "import_graph_def",
    "graph.indexed_slices": "IndexedSlices",
    "graph.fetches": "IndexedSlicesValue SparseTensorValue",
    "graph.initializers": (
        "constant_initializer glorot_normal_initializer glorot_uniform_initializer "
        "ones_initializer random_normal_initializer random_uniform_initializer "
        "truncated_normal_initializer uniform_unit_scaling_initializer "
        "variance_scaling_initializer zeros_initializer"
    ),
    "graph.scopes": (
        "GraphKeys add_to_collection add_to_collections control_dependencies device "
        "get_collection get_collection_ref get_default_graph get_default_session name_scope "
        "reset_default_graph set_random_seed"
    ),
    "graph.session": "ConfigProto GPUOptions InteractiveSession Session",
    "graph.tensor_shape": "Dimension TensorShape",
    "graph.variable_scope": (
        "AUTO_REUSE VariableScope get_local_variable get_variable get_variable_scope "
        "no_regularizer variable_scope"
    ),
    "graph.variables": (
        "Variable global_variables global_variables_initializer local_variables "
        "local_variables_initializer model_variables moving_average_variables "
        "report_uninitialized_variables trainable_variables variables_initializer"
    ),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
_RENAMED = {
    "all_variables": ("graph.variables", "global_variables"),
    "initialize_all_variables": ("graph.variables", "global_variables_initializer"),
    "initialize_variables": ("graph.variables", "variables_initializer"),
    "NoGradient": ("graph.derivatives.registry", "NotDifferentiable"),
}
__all__ = sorted([*_MODULES, *_HOMES, *_RENAMED])


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(_MODULES[name], __name__)
    home, attribute = _RENAMED.get(name, (_HOMES.get(name), name))
    if home is None:
        raise AttributeError(f"module 'flatlite.compat.v1' has no attribute '{name}'")
    return getattr(importlib.import_module(f"...{home}", __name__), attribute)


def __dir__() -> list[str]:
    return __all__
