"""Attributes of TensorFlow's converter that flatlite does not follow, with their defaults.

Those that only steer the compiler inside TensorFlow change nothing here, and `convert` says so when
one is set; those that ask for another model are refused.
"""

from __future__ import annotations

WITHOUT_EFFECT = {
    "drop_control_dependency": True,
    "elide_elementsattrs_if_larger": None,
    "enable_timing": None,
    "experimental_enable_resource_variables": True,
    "experimental_new_dynamic_range_quantizer": True,
    "ir_dump_dir": None,
    "ir_dump_func_regex": None,
    "ir_dump_pass_regex": None,
    "legalize_custom_tensor_list_ops": False,
    "model_origin_framework": "UNSET",
    "print_ir_after": None,
    "print_ir_before": None,
    "print_ir_module_scope": None,
    "_experimental_allow_all_select_tf_ops": False,
    "_experimental_default_to_single_batch_in_tensor_list_ops": False,
    "_experimental_disable_fuse_mul_and_fc": False,
    "_experimental_enable_composite_direct_lowering": True,
    "_experimental_enable_dynamic_update_slice": False,
    "_experimental_guarantee_all_funcs_one_use": False,
    "_experimental_preserve_assert_op": False,
    "_experimental_unfold_large_splat_constant": False,
    "_experimental_unsafe_fuse_dynamic_shaped_broadcast": False,
    "_experimental_use_buffer_offset": False,
}

SILENT = {"_experimental_lower_tensor_list_ops": True}
"""What must be said to TensorFlow for models that flatlite converts without being told."""

REFUSED = {
    "experimental_stablehlo_quantizer_config": None,
    "_experimental_calibrate_only": False,
    "_experimental_quantization_options": None,
    "_experimental_reduce_type_precision": False,
    "_experimental_sparsify_model": False,
    "_experimental_strict_qdq": False,
    "_experimental_tf_quantization_mode": None,
}

TARGET_WITHOUT_EFFECT = {
    "experimental_supported_backends": set(),
}

TARGET_REFUSED = {
    "_experimental_custom_op_registerers": [],
    "_experimental_supported_accumulation_type": None,
}
"""The same of `target_spec`."""
