# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.ragged`."""

from ...graph.core.composite.ragged_value import RaggedTensorValue as RaggedTensorValue
from ...graph.functions.ragged.tensors import boolean_mask as boolean_mask
from ...graph.functions.ragged.tensors import constant as constant
from ...graph.functions.ragged.tensors import constant_value as constant_value
from ...graph.functions.ragged.tensors import cross as cross
from ...graph.functions.ragged.tensors import cross_hashed as cross_hashed
from ...graph.functions.ragged.tensors import map_flat_values as map_flat_values
from ...graph.functions.ragged.tensors import placeholder as placeholder
from ...graph.functions.ragged.tensors import ragged_range as range
from ...graph.functions.ragged.tensors import row_splits_to_segment_ids as row_splits_to_segment_ids
from ...graph.functions.ragged.tensors import segment_ids_to_row_splits as segment_ids_to_row_splits
from ...graph.functions.ragged.tensors import stack as stack
from ...graph.functions.ragged.tensors import stack_dynamic_partitions as stack_dynamic_partitions
