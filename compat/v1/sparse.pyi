# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.sparse`."""

from ...graph.core.composite.sparse_tensor import SparseTensor as SparseTensor
from ...graph.functions.math.sorting import sparse_segment_mean as segment_mean
from ...graph.functions.math.sorting import sparse_segment_sqrt_n as segment_sqrt_n
from ...graph.functions.math.sorting import sparse_segment_sum as segment_sum
from ...graph.functions.sparse.arithmetic import add as add
from ...graph.functions.sparse.arithmetic import bincount as bincount
from ...graph.functions.sparse.arithmetic import cross as cross
from ...graph.functions.sparse.arithmetic import cross_hashed as cross_hashed
from ...graph.functions.sparse.arithmetic import maximum as maximum
from ...graph.functions.sparse.arithmetic import minimum as minimum
from ...graph.functions.sparse.arithmetic import reduce_max as reduce_max
from ...graph.functions.sparse.arithmetic import reduce_max_sparse as reduce_max_sparse
from ...graph.functions.sparse.arithmetic import reduce_sum as reduce_sum
from ...graph.functions.sparse.arithmetic import reduce_sum_sparse as reduce_sum_sparse
from ...graph.functions.sparse.arithmetic import softmax as softmax
from ...graph.functions.sparse.arithmetic import sparse_dense_matmul as matmul
from ...graph.functions.sparse.arithmetic import sparse_dense_matmul as sparse_dense_matmul
from ...graph.functions.sparse.tensors import concat as concat
from ...graph.functions.sparse.tensors import expand_dims as expand_dims
from ...graph.functions.sparse.tensors import eye as eye
from ...graph.functions.sparse.tensors import fill_empty_rows as fill_empty_rows
from ...graph.functions.sparse.tensors import from_dense as from_dense
from ...graph.functions.sparse.tensors import map_values as map_values
from ...graph.functions.sparse.tensors import mask as mask
from ...graph.functions.sparse.tensors import merge as merge
from ...graph.functions.sparse.tensors import placeholder as placeholder
from ...graph.functions.sparse.tensors import reorder as reorder
from ...graph.functions.sparse.tensors import reset_shape as reset_shape
from ...graph.functions.sparse.tensors import reshape as reshape
from ...graph.functions.sparse.tensors import retain as retain
from ...graph.functions.sparse.tensors import slice as slice
from ...graph.functions.sparse.tensors import split as split
from ...graph.functions.sparse.tensors import to_dense as to_dense
from ...graph.functions.sparse.tensors import to_indicator as to_indicator
from ...graph.functions.sparse.tensors import transpose as transpose
