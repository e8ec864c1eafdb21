"""Every attribute of the converter is honoured, or refused, or said to have no effect."""

import warnings

import numpy as np
import pytest
from running import answers

import flatlite.lite
from flatlite.converter.api.settings import INTERNAL
from flatlite.experimental import AccuracyBudget
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import OpsSet, Optimize, TargetSpec
from flatlite.schema.model import load

DEFAULT = [Optimize.DEFAULT]
INT8 = {
    "optimizations": DEFAULT,
    "representative_dataset": lambda: iter([[np.ones((2, 64), "f4")]]),
}
INT16_OPS = OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
LEGACY = {"inference_type": np.uint8}
CHANGED = {
    "accuracy_budget": AccuracyBudget(lambda _: 1.0, 0.1),
    "_experimental_allow_all_select_tf_ops": True,
    "_experimental_calibrate_only": True,
    "_experimental_default_to_single_batch_in_tensor_list_ops": True,
    "_experimental_disable_fuse_mul_and_fc": True,
    "_experimental_disable_per_channel": (True, INT8),
    "_experimental_disable_per_channel_quantization_for_dense_layers": (True, INT8),
    "_experimental_enable_composite_direct_lowering": False,
    "_experimental_enable_dynamic_update_slice": True,
    "_experimental_full_integer_quantization_bias_type": (np.int64, INT8),
    "_experimental_guarantee_all_funcs_one_use": True,
    "_experimental_low_bit_qat": True,
    "_experimental_lower_tensor_list_ops": False,
    "_experimental_preserve_assert_op": True,
    "_experimental_qdq_conversion_mode": "STATIC",
    "_experimental_quantization_options": "options",
    "_experimental_reduce_type_precision": True,
    "_experimental_sparsify_model": True,
    "_experimental_strict_qdq": True,
    "_experimental_tf_quantization_mode": "DEFAULT",
    "_experimental_unfold_large_splat_constant": True,
    "_experimental_unsafe_fuse_dynamic_shaped_broadcast": True,
    "_experimental_use_buffer_offset": True,
    "_experimental_variable_quantization": True,
    "allow_custom_ops": True,
    "calibration_workers": (2, INT8),
    "canonicalizing_inf_as_min_max_float": False,
    "change_concat_input_ranges": True,
    "conversion_summary_dir": "folder",
    "default_ranges_stats": ((-9.0, 9.0), LEGACY | {"quantized_input_stats": {"x": (128.0, 2.0)}}),
    "drop_control_dependency": False,
    "dump_graphviz_dir": "drawings",
    "dump_graphviz_video": True,
    "elide_elementsattrs_if_larger": 10,
    "enable_timing": True,
    "exclude_conversion_metadata": True,
    "experimental_enable_resource_variables": False,
    "experimental_lower_to_saved_model": False,
    "experimental_new_converter": False,
    "experimental_new_dynamic_range_quantizer": False,
    "experimental_new_quantizer": False,
    "experimental_stablehlo_quantizer_config": "configuration",
    "experimental_use_stablehlo_quantizer": True,
    "inference_input_type": (np.int8, INT8),
    "inference_output_type": (np.int8, INT8),
    "inference_type": (np.uint8, {"default_ranges_stats": (-9.0, 9.0)}),
    "io_order": "tensorflow",
    "ir_dump_dir": "folder",
    "ir_dump_func_regex": ".*",
    "ir_dump_pass_regex": ".*",
    "legalize_custom_tensor_list_ops": True,
    "model_origin_framework": "PYTORCH",
    "optimizations": DEFAULT,
    "output_format": flatlite.lite.constants.GRAPHVIZ_DOT,
    "print_ir_after": ".*",
    "print_ir_before": ".*",
    "print_ir_module_scope": True,
    "quantization_recipe": {"scheme": "weight_only"},
    "quantization_algorithms": (["equalization"], INT8),
    "quantized_input_stats": ({"x": (128.0, 2.0)}, LEGACY | {"default_ranges_stats": (-9.0, 9.0)}),
    "reorder_across_fake_quant": True,
    "representative_dataset": (INT8["representative_dataset"], {"optimizations": DEFAULT}),
    "saved_model_dir": "folder",
    "serialize_debug_metadata": True,
    "strict_int8": True,
    "target": "tflm",
    "target_spec": TargetSpec({OpsSet.EXPERIMENTAL_STABLEHLO_OPS}),
    "unfold_batchmatmul": True,
    "verify": False,
    "verify_inputs": [np.ones((2, 63), np.float32)],
}
TARGET = {
    "_experimental_custom_op_registerers": ["Register"],
    "_experimental_supported_accumulation_type": np.float16,
    "experimental_select_user_tf_ops": {"Mine"},
    "experimental_supported_backends": {"GPU"},
    "supported_ops": {OpsSet.EXPERIMENTAL_STABLEHLO_OPS},
    "supported_types": {np.float16},
}
ELSEWHERE = {
    "accuracy_budget": "quantize/test_budget",
    "quantization_algorithms": "quantize/test_accuracy",
    "calibration_workers": "the ranges are the same; quantize/test_calibration_workers",
    "_experimental_low_bit_qat": "for weights that were fake-quantized; quantize/test_fake_quant",
    "_experimental_lower_tensor_list_ops": "flatlite lowers lists of tensors either way",
    "allow_custom_ops": "test_converter",
    "unfold_batchmatmul": "for products of computed matrices; passes/test_unfold",
    "conversion_summary_dir": "test_summary",
    "dump_graphviz_dir": "test_converter",
    "dump_graphviz_video": "test_converter",
    "io_order": "test_as_tensorflow",
    "saved_model_dir": "tells where the model came from",
    "strict_int8": "quantize/test_settings",
    "_experimental_variable_quantization": "quantize/test_variables",
    "verify": "test_converter",
}
"""What changes nothing in a file of this model, and what tests it or why."""


def converter():
    """x [?, 64] -> MatMul -> Maximum with infinities -> y"""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (None, 64)}).outputs
    w = np.linspace(-1, 1, 64 * 32, dtype=np.float32).reshape(64, 32) * np.arange(32, dtype="f4")
    product = graph.add("MatMul", "product", [*x, graph.constant(w, "w")]).outputs
    floor = graph.constant(np.where(np.arange(32) < 31, -np.inf, 0).astype(np.float32), "floor")
    graph.add("Maximum", "y", [*product, floor])
    return flatlite.lite.TFLiteConverter(
        to_graph_def(graph), None, None, [("x", [None, 64])], ["y"]
    )


def outcome(name, value, others, owner=lambda converter: converter):
    """ "refused" or "said", or the bytes of the file."""
    one = converter()
    for key, other in others.items():
        setattr(one, key, other)
    setattr(owner(one), name, value)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            content = one.convert()
        except ValueError as error:
            assert name in str(error) or name in WORDS
            return "refused"
    if any(name in str(one.message) for one in caught):
        return "said"
    return content


WORDS = (
    "_experimental_full_integer_quantization_bias_type",
    "experimental_use_stablehlo_quantizer",
    "experimental_stablehlo_quantizer_config",
)
"""Refused in TensorFlow's words, which do not name them; see test_as_tensorflow."""


def test_the_tables_have_all_settings():
    assert set(CHANGED) == set(vars(converter())) - set(INTERNAL)
    assert set(TARGET) == set(TargetSpec.__slots__)


@pytest.mark.parametrize("name", sorted(set(CHANGED) - set(ELSEWHERE)))
def test_setting(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = CHANGED[name]
    value, others = inputs if isinstance(inputs, tuple) else (inputs, {})
    changed = outcome(name, value, others)
    assert changed != outcome(name, getattr(converter(), name), others)


@pytest.mark.parametrize("name", sorted(TARGET))
def test_target_spec(name):
    assert outcome(name, TARGET[name], {}, lambda one: one.target_spec) in ("refused", "said")
    with pytest.raises(AttributeError):
        converter().target_spec.supported_op = set()


def test_unknown_underscores_are_refused():
    with pytest.raises(AttributeError, match="did you mean '_experimental_calibrate_only'"):
        converter()._experimental_calibrate = True


WRONG_KINDS = {
    "quantized_input_stats": [(0, 1), 5],
    "conversion_summary_dir": [5, {"x": 1}],
    "dump_graphviz_dir": [["x"], True],
    "inference_input_type": [{"x": "y"}, {"x": (1,)}],
    "target_spec.supported_types": [np.float32, 5, "x"],
    "target_spec.experimental_select_user_tf_ops": [None, "x"],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG_KINDS.items() for value in values]
)
def test_values_of_another_kind_are_refused_by_name(name, value):
    one = converter()
    owner, _, attribute = name.rpartition(".")
    setattr(one.target_spec if owner else one, attribute, value)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        one.convert()


@pytest.mark.parametrize(
    ("name", "value", "others"),
    [
        ("_experimental_qdq_conversion_mode", "NONE", {}),
        ("_experimental_full_integer_quantization_bias_type", np.int32, INT8),
    ],
)
def test_what_is_done_anyway_may_be_said(name, value, others):
    assert outcome(name, value, others) == outcome(name, None, others)


def test_types_of_biases(litert):
    """TensorFlow takes int32 or int64 with int16 activations, and LiteRT's products run both."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": np.dtype("f4"), "shape": (2, 64)}).outputs
    weights = np.linspace(-1, 1, 64 * 32, dtype=np.float32).reshape(64, 32)
    product = graph.add("MatMul", "product", [*x, graph.constant(weights, "w")]).outputs
    bias = graph.constant(np.linspace(-2, 3, 32, dtype=np.float32), "bias")
    graph.add("BiasAdd", "y", [*product, bias])
    ends = [("x", [2, 64])], ["y"]
    one = flatlite.lite.TFLiteConverter(to_graph_def(graph), None, None, *ends)
    sample = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)
    one.representative_dataset = lambda: iter([[sample]])
    one.optimizations, one.target_spec.supported_ops = DEFAULT, {INT16_OPS}
    for dtype in (np.int32, np.int64):
        one._experimental_full_integer_quantization_bias_type = dtype
        content = one.convert()
        types = [tensor.dtype for tensor in load(content).subgraphs[0].tensors]
        assert types.count(np.dtype(dtype).name.upper()) == 1
        (result,) = answers(flatlite.lite.Interpreter(model_content=content), sample)
        np.testing.assert_array_equal(result, litert.run(content, [[sample]])[0][0])
    one._experimental_full_integer_quantization_bias_type = np.float32
    with pytest.raises(ValueError, match="for Int16Quant"):
        one.convert()


def test_variables_are_of_whole_integer_models():
    one = converter()
    one.optimizations, one._experimental_variable_quantization = DEFAULT, True
    with pytest.raises(ValueError, match="quantization` is only supported for full integer quant"):
        one.convert()
