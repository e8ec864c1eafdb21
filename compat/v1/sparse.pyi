# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.sparse`."""

from ...graph.core.sparse_tensor import SparseTensor as SparseTensor
from ...graph.functions.sparse import add as add
from ...graph.functions.sparse import concat as concat
from ...graph.functions.sparse import from_dense as from_dense
from ...graph.functions.sparse import maximum as maximum
from ...graph.functions.sparse import minimum as minimum
from ...graph.functions.sparse import placeholder as placeholder
from ...graph.functions.sparse import reduce_sum_sparse as reduce_sum
from ...graph.functions.sparse import reorder as reorder
from ...graph.functions.sparse import reshape as reshape
from ...graph.functions.sparse import retain as retain
from ...graph.functions.sparse import sparse_dense_matmul as sparse_dense_matmul
from ...graph.functions.sparse import to_dense as to_dense
