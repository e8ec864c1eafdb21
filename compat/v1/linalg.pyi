# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""The names of `tf.linalg`."""

from ...graph.functions.array import diag as tensor_diag
from ...graph.functions.array import diag_part as tensor_diag_part
from ...graph.functions.array import matrix_band_part as band_part
from ...graph.functions.array import matrix_diag as diag
from ...graph.functions.array import matrix_diag_part as diag_part
from ...graph.functions.array import matrix_set_diag as set_diag
from ...graph.functions.array import matrix_transpose as matrix_transpose
from ...graph.functions.array import matrix_transpose as transpose
from ...graph.functions.clip import global_norm as global_norm
from ...graph.functions.creation import eye as eye
from ...graph.functions.decompositions import adjoint as adjoint
from ...graph.functions.decompositions import cholesky_solve as cholesky_solve
from ...graph.functions.decompositions import cross as cross
from ...graph.functions.decompositions import expm as expm
from ...graph.functions.decompositions import logdet as logdet
from ...graph.functions.decompositions import matrix_triangular_solve as triangular_solve
from ...graph.functions.decompositions import qr as qr
from ...graph.functions.decompositions import self_adjoint_eig as eigh
from ...graph.functions.decompositions import self_adjoint_eigvals as eigvalsh
from ...graph.functions.decompositions import slogdet as slogdet
from ...graph.functions.decompositions import svd as svd
from ...graph.functions.linear_algebra import cholesky as cholesky
from ...graph.functions.linear_algebra import einsum as einsum
from ...graph.functions.linear_algebra import matmul as matmul
from ...graph.functions.linear_algebra import matrix_determinant as det
from ...graph.functions.linear_algebra import matrix_inverse as inv
from ...graph.functions.linear_algebra import matrix_solve as solve
from ...graph.functions.linear_algebra import norm as norm
from ...graph.functions.linear_algebra import tensordot as tensordot
from ...graph.functions.linear_algebra import trace as trace
from ...graph.functions.normalization import l2_normalize as l2_normalize
