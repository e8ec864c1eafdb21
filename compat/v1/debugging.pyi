# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.debugging`: checks of values, shapes and types."""

from ...graph.functions.array.array import check_numerics as check_numerics
from ...graph.functions.checks import assert_equal as assert_equal
from ...graph.functions.checks import assert_greater as assert_greater
from ...graph.functions.checks import assert_greater_equal as assert_greater_equal
from ...graph.functions.checks import assert_less as assert_less
from ...graph.functions.checks import assert_less_equal as assert_less_equal
from ...graph.functions.checks import assert_near as assert_near
from ...graph.functions.checks import assert_negative as assert_negative
from ...graph.functions.checks import assert_non_negative as assert_non_negative
from ...graph.functions.checks import assert_non_positive as assert_non_positive
from ...graph.functions.checks import assert_none_equal as assert_none_equal
from ...graph.functions.checks import assert_positive as assert_positive
from ...graph.functions.checks import assert_proper_iterable as assert_proper_iterable
from ...graph.functions.checks import verify_tensor_all_finite as assert_all_finite
from ...graph.functions.device_placement import get_log_device_placement as get_log_device_placement
from ...graph.functions.device_placement import set_log_device_placement as set_log_device_placement
from ...graph.functions.flow.control_flow import Assert as Assert
from ...graph.functions.math.arithmetic import is_finite as is_finite
from ...graph.functions.math.arithmetic import is_inf as is_inf
from ...graph.functions.math.arithmetic import is_nan as is_nan
from ...graph.functions.math.special import is_non_decreasing as is_non_decreasing
from ...graph.functions.math.special import is_strictly_increasing as is_strictly_increasing
from ...graph.functions.shape_checks import assert_integer as assert_integer
from ...graph.functions.shape_checks import assert_rank as assert_rank
from ...graph.functions.shape_checks import assert_rank_at_least as assert_rank_at_least
from ...graph.functions.shape_checks import assert_rank_in as assert_rank_in
from ...graph.functions.shape_checks import assert_same_float_dtype as assert_same_float_dtype
from ...graph.functions.shape_checks import assert_scalar as assert_scalar
from ...graph.functions.shape_checks import assert_shapes as assert_shapes
from ...graph.functions.shape_checks import assert_type as assert_type
from ...graph.functions.shape_checks import is_numeric_tensor as is_numeric_tensor
