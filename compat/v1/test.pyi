# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.test`: test cases, gradients checked by differences."""

from ...graph.derivatives.gradient_checker import compute_gradient as compute_gradient
from ...graph.derivatives.gradient_checker import compute_gradient_error as compute_gradient_error
from ...training.test_case import TestCase as TestCase
from ...training.testing import assert_equal_graph_def as assert_equal_graph_def
from ...training.testing import get_temp_dir as get_temp_dir
from ...training.testing import gpu_device_name as gpu_device_name
from ...training.testing import is_built_with_cuda as is_built_with_cuda
from ...training.testing import is_built_with_gpu_support as is_built_with_gpu_support
from ...training.testing import is_built_with_rocm as is_built_with_rocm
from ...training.testing import is_built_with_xla as is_built_with_xla
from ...training.testing import is_gpu_available as is_gpu_available
from ...training.testing import main as main
from ...training.testing import test_src_dir_path as test_src_dir_path
from ...unittest import mock as mock
