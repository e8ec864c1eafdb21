"""Diagonals of matrices: `tf.matrix_diag` and its relatives, for one diagonal or a band of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core.build import ops

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike


def _padding(value: TensorLike, like: TensorLike) -> TensorLike:
    """`value`; beside Booleans in a tensor or an array a number is what it means as one."""
    is_boolean = getattr(like, "dtype", None) == np.bool_
    return np.array(bool(value)) if is_boolean and isinstance(value, (bool, int, float)) else value


def matrix_diag(
    diagonal: TensorLike,
    name: str | None = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with these diagonals.

    Args:
        diagonal: [..., length], or [..., diagonals, length] for several.
        name: Of the operation.
        k: Which diagonal: 0 is the main one, those above are positive; the lowest and the highest
            of several.
        num_rows, num_cols: The sizes of the matrices, as small as they can be by default.
        padding_value: What stands elsewhere.
        align: How diagonals that are shorter than the longest lie in their rows: "RIGHT_LEFT",
            "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT", those above the main one first.
    """
    value = _padding(padding_value, diagonal)
    return ops.MatrixDiagV3(diagonal, k, num_rows, num_cols, value, align=align, name=name)


def matrix_diag_part(
    input: TensorLike,
    name: str | None = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonals `k` of matrices.

    Args:
        input: [..., m, n], of any type.
        name: Of the operation.
        k: Which diagonal: 0 is the main one, those above are positive; the lowest and the highest
            of several.
        padding_value: What fills rows of diagonals that are shorter than the longest; a scalar.
        align: How these lie in their rows: "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or
            "RIGHT_RIGHT", those above the main one first.

    Returns [..., length], or [..., diagonals, length] for several.

    Raises ValueError for a diagonal that is not there, and for a rank below 2.
    """
    value = _padding(padding_value, input)
    return ops.MatrixDiagPartV3(input, k, value, align=align, name=name)


def matrix_set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str | None = "set_diag",
    k: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """`input` with other numbers on its diagonals `k`.

    Args:
        input: [..., m, n], of any type.
        diagonal: [..., length], or [..., diagonals, length] for several, of the same type.
        name: Of the operation.
        k: Which diagonal: 0 is the main one, those above are positive; the lowest and the highest
            of several.
        align: See `matrix_diag`.

    Raises ValueError for shapes that do not fit, and for a diagonal that is not there.
    """
    return ops.MatrixSetDiagV3(input, diagonal, k, align=align, name=name)
