# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""`tf.compat`: bytes and text; `tf.compat.v1` is `tf`, `tf.compat.v2` what TF2 names otherwise."""

from ...compat import v1 as v1
from ...compat import v2 as v2
from ...graph.core.tensor_shape import dimension_at_index as dimension_at_index
from ...graph.core.tensor_shape import dimension_value as dimension_value
from ...graph.core.text import as_bytes as as_bytes
from ...graph.core.text import as_str as as_str
from ...graph.core.text import as_str_any as as_str_any
from ...graph.core.text import as_text as as_text
from ...graph.core.text import bytes_or_text_types as bytes_or_text_types
from ...graph.core.text import complex_types as complex_types
from ...graph.core.text import forward_compatibility_horizon as forward_compatibility_horizon
from ...graph.core.text import forward_compatible as forward_compatible
from ...graph.core.text import integral_types as integral_types
from ...graph.core.text import path_to_str as path_to_str
from ...graph.core.text import real_types as real_types
