"""StableHLO's transforms and decompositions, and the calls of LAPACK that JAX writes for a CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...schema.errors import ConverterError, ModelError
from ...schema.mlir.module import Enum, Operation
from ..core.graph import Tensor
from .attributes import attribute, enumerated, flag, numbers
from .factors import lu, orthogonal, qr, status_of
from .registry import writes
from .shapes import dtype_at, shape_at
from .writer import Writer

TRANSFORMS = ("FFT", "IFFT", "RFFT", "IRFFT")
"""TF's operations by the number of StableHLO's kind."""
RANKS = ("", "", "2D", "3D")
"""The end of TF's name by how many dimensions are transformed."""


@writes("fft")
def fft(op: Operation, w: Writer) -> Tensor:
    """Fourier transforms over the last dimensions."""
    lengths, kind = numbers(op, "fft_length"), attribute(op, "fft_type")
    if not isinstance(kind, Enum) or kind.value >= len(TRANSFORMS) or len(lengths) > 3:
        raise ModelError(f"{op}: must have a kind below 4 and up to 3 lengths, got {kind}")
    name, x = TRANSFORMS[kind.value], w.value(op.operands[0])
    if "R" not in name:
        return w.add(name + RANKS[len(lengths)], x)
    types = {"Treal" if name == "IRFFT" else "Tcomplex": dtype_at(op.results[0])}
    return w.add(name + RANKS[len(lengths)], x, w.constant(lengths, np.int32), **types)


def _swapped(x: Tensor, rank: int, w: Writer) -> Tensor:
    """Matrices transposed."""
    order = [*range(rank - 2), rank - 1, rank - 2]
    return w.add("Transpose", x, w.constant(order, np.int32))


def _factor(op: Operation, is_lower: bool, w: Writer) -> Tensor:
    """Cholesky's factor of matrices of which one triangle is read."""
    x, rank = w.value(op.operands[0]), len(shape_at(op.operands[0]))
    if is_lower:
        return w.add("Cholesky", x)
    if dtype_at(op.operands[0]).kind == "c":
        raise ConverterError(f"{op}: the upper factor of complex matrices has no form in TFLite")
    return _swapped(w.add("Cholesky", _swapped(x, rank, w)), rank, w)


def _solution(
    op: Operation, w: Writer, *, left: bool, lower: bool, unit: bool, transpose: str
) -> Tensor:
    """X of A X = B, or of X A = B, where A is triangular.

    `transpose` is "T" or "C" where A is transposed first, and "N" elsewhere.
    """
    a, right = w.operands(op)
    rank, size = len(shape_at(op.operands[0])), shape_at(op.operands[0])[-1]
    if unit:
        if size is None:
            raise ConverterError(f"{op}: the size of its matrices must be known")
        one = w.constant(1, dtype_at(op.operands[0]))
        a = w.add("SelectV2", w.constant(np.eye(size, dtype=np.bool_)), one, a)
    if transpose == "C" and dtype_at(op.operands[0]).kind == "c":
        a = w.add("Conj", a)
    if left == (transpose != "N"):
        a, lower = _swapped(a, rank, w), not lower
    if left:
        return w.add("MatrixTriangularSolve", a, right, lower=lower, adjoint=False)
    turned = _swapped(right, rank, w)
    return _swapped(w.add("MatrixTriangularSolve", a, turned, lower=lower, adjoint=False), rank, w)


@writes("cholesky")
def cholesky(op: Operation, w: Writer) -> Tensor:
    """The triangular factor of matrices."""
    return _factor(op, flag(op, "lower"), w)


@writes("triangular_solve")
def triangular_solve(op: Operation, w: Writer) -> Tensor:
    """The solution of equations with triangular matrices."""
    code = enumerated(op, "transpose_a")
    if not 1 <= code <= 3:
        raise ModelError(f"{op}: transpose_a must be a number from 1 to 3, got {code}")
    flags = {name: flag(op, name) for name in ("left_side", "lower", "unit_diagonal")}
    return _solution(
        op,
        w,
        left=flags["left_side"],
        lower=flags["lower"],
        unit=flags["unit_diagonal"],
        transpose="NTC"[code - 1],
    )


def _letters(op: Operation, names: Sequence[str]) -> list[str]:
    """Arguments of a call of LAPACK, which are letters."""
    config = op.attributes.get("mhlo.backend_config")
    values = [config.get(name) for name in names] if isinstance(config, Mapping) else []
    codes = [x for x in values if isinstance(x, int) and 0 < x < 128]
    if len(codes) != len(names):
        raise ModelError(f"{op}: its call must say {', '.join(names)}, got {values}")
    return [chr(code) for code in codes]


def _potrf(op: Operation, w: Writer) -> list[Tensor]:
    (uplo,) = _letters(op, ("uplo",))
    return [_factor(op, uplo == "L", w), status_of(op, w)]


def _trsm(op: Operation, w: Writer) -> list[Tensor]:
    side, uplo, transpose, diagonal = _letters(op, ("side", "uplo", "trans_x", "diag"))
    solution = _solution(
        op, w, left=side == "L", lower=uplo == "L", unit=diagonal == "U", transpose=transpose
    )
    return [solution]


def _syevd(op: Operation, w: Writer) -> list[Tensor]:
    """Eigenvectors, eigenvalues and the status, of matrices of which the lower triangle is read."""
    mode, uplo = _letters(op, ("mode", "uplo"))
    if uplo != "L":
        raise ConverterError(f"{op}: the lower triangle of its matrices must be read, got {uplo}")
    values, vectors = w.add_all("SelfAdjointEigV2", w.value(op.operands[0]), compute_v=mode == "V")
    return [vectors, values, status_of(op, w)]


def _gesdd(op: Operation, w: Writer) -> list[Tensor]:
    """What the matrices become, singular values, left and right vectors, and the status."""
    (mode,) = _letters(op, ("mode",))
    x, rank = w.value(op.operands[0]), len(shape_at(op.operands[0]))
    s, u, v = w.add_all("Svd", x, compute_uv=True, full_matrices=mode in "AN")
    return [x, s, u, _swapped(v, rank, w), status_of(op, w)]


LAPACK: dict[str, Callable[[Operation, Writer], list[Tensor]]] = {
    f"lapack_{letter}{name}_ffi": write
    for letter in "sdcz"
    for name, write in (
        ("geqrf", qr),
        ("gesdd", _gesdd),
        ("getrf", lu),
        ("orgqr", orthogonal),
        ("potrf", _potrf),
        ("syevd", _syevd),
        ("trsm", _trsm),
    )
}
"""Names of custom calls that TF has an operation for."""
