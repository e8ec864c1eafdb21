"""Derivatives of diagonals and bands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import number, ops
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor


@gradient("MatrixBandPart")
def matrix_band_part(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """The same band."""
    return ops.MatrixBandPart(dy, op.inputs[1], op.inputs[2]), None, None


@gradient("Diag")
def diag(op: Operation, dy: Tensor) -> Tensor:
    """The diagonal."""
    return ops.DiagPart(dy)


@gradient("DiagPart")
def diag_part(op: Operation, dy: Tensor) -> Tensor:
    """On the diagonal of zeros."""
    return ops.Diag(dy)


@gradient("MatrixDiag")
def matrix_diag(op: Operation, dy: Tensor) -> Tensor:
    """The diagonals."""
    return ops.MatrixDiagPart(dy)


@gradient("MatrixDiagPart")
def matrix_diag_part(op: Operation, dy: Tensor) -> Tensor:
    """On the diagonals of zeros."""
    return ops.MatrixSetDiag(ops.ZerosLike(op.inputs[0]), dy)


@gradient("MatrixSetDiag")
def matrix_set_diag(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    """To the diagonal its part, to the matrix the rest."""
    part = ops.MatrixDiagPart(dy)
    return ops.MatrixSetDiag(dy, ops.ZerosLike(part)), part


@gradient("MatrixDiagV2", "MatrixDiagV3")
def matrix_diag_v3(op: Operation, dy: Tensor) -> tuple[Tensor, None, None, None, Tensor]:
    """The diagonals; to the padding the rest."""
    k = op.inputs[1]
    kind, attrs = _kind(op, "MatrixDiagPart")
    part = kind(dy, k, number(0, dy), **attrs)
    every = ops.Range(np.int32(0), ops.Rank(dy), np.int32(1))
    inside = ops.Range(np.int32(0), ops.Rank(part), np.int32(1))
    d_padding = ops.Sum(dy, every) - ops.Sum(part, inside)
    return part, None, None, None, d_padding


@gradient("MatrixDiagPartV2", "MatrixDiagPartV3")
def matrix_diag_part_v3(op: Operation, dy: Tensor) -> tuple[Tensor, None, None]:
    """On the diagonals of zeros."""
    kind, attrs = _kind(op, "MatrixSetDiag")
    return kind(ops.ZerosLike(op.inputs[0]), dy, op.inputs[1], **attrs), None, None


@gradient("MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag_v3(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor, None]:
    """To the diagonals their part, to the matrix the rest."""
    _, diagonal, k = op.inputs
    part, attrs = _kind(op, "MatrixDiagPart")
    placed, _ = _kind(op, "MatrixSetDiag")
    d_matrix = placed(dy, ops.ZerosLike(diagonal), k, **attrs)
    return d_matrix, part(dy, k, number(0, dy), **attrs), None


def _kind(op: Operation, name: str) -> tuple[Callable[..., Tensor], dict[str, bytes]]:
    """A relative of the same version and alignment."""
    version = op.type[-2:]
    return getattr(ops, name + version), (
        {"align": op.get_attr("align")} if version == "V3" else {}
    )
