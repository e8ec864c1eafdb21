# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.sparse`."""

from ...graph.core.sparse_tensor import SparseTensor as SparseTensor
from ...graph.functions.sorting import sparse_segment_mean as segment_mean
from ...graph.functions.sorting import sparse_segment_sqrt_n as segment_sqrt_n
from ...graph.functions.sorting import sparse_segment_sum as segment_sum
from ...graph.functions.sparse import concat as concat
from ...graph.functions.sparse import expand_dims as expand_dims
from ...graph.functions.sparse import eye as eye
from ...graph.functions.sparse import fill_empty_rows as fill_empty_rows
from ...graph.functions.sparse import from_dense as from_dense
from ...graph.functions.sparse import map_values as map_values
from ...graph.functions.sparse import mask as mask
from ...graph.functions.sparse import merge as merge
from ...graph.functions.sparse import placeholder as placeholder
from ...graph.functions.sparse import reorder as reorder
from ...graph.functions.sparse import reset_shape as reset_shape
from ...graph.functions.sparse import reshape as reshape
from ...graph.functions.sparse import retain as retain
from ...graph.functions.sparse import slice as slice
from ...graph.functions.sparse import split as split
from ...graph.functions.sparse import to_dense as to_dense
from ...graph.functions.sparse import to_indicator as to_indicator
from ...graph.functions.sparse import transpose as transpose
from ...graph.functions.sparse_math import add as add
from ...graph.functions.sparse_math import bincount as bincount
from ...graph.functions.sparse_math import cross as cross
from ...graph.functions.sparse_math import cross_hashed as cross_hashed
from ...graph.functions.sparse_math import maximum as maximum
from ...graph.functions.sparse_math import minimum as minimum
from ...graph.functions.sparse_math import reduce_max as reduce_max
from ...graph.functions.sparse_math import reduce_max_sparse as reduce_max_sparse
from ...graph.functions.sparse_math import reduce_sum as reduce_sum
from ...graph.functions.sparse_math import reduce_sum_sparse as reduce_sum_sparse
from ...graph.functions.sparse_math import softmax as softmax
from ...graph.functions.sparse_math import sparse_dense_matmul as matmul
from ...graph.functions.sparse_math import sparse_dense_matmul as sparse_dense_matmul
