"""`tf.test`: test cases, gradients checked by differences."""

from ...facade import facade

HOMES = {
    "graph.derivatives.gradient_checker": "compute_gradient compute_gradient_error",
    "training.test_case": "TestCase",
    "training.testing": (
        "assert_equal_graph_def get_temp_dir gpu_device_name is_built_with_cuda "
        "is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_gpu_available main "
        "mock test_src_dir_path"
    ),
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
