"""What TensorFlow's functions take where they speak of tensors, dtypes and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from ..variables.variables import Variable
    from .dtype import DType
    from .graph import Tensor
    from .tensor_shape import TensorShape

Scalar: TypeAlias = "np.generic | bool | int | float | complex | str | bytes"
"""One element of a constant."""

TensorLike: TypeAlias = "Tensor | Variable | np.ndarray | Scalar | Sequence[TensorLike]"
"""What convert_to_tensor makes a tensor of."""

DTypeLike: TypeAlias = "DType | np.dtype | type[object] | str"
"""What names an element type: `tf.float32`, `np.float32`, `float`, "float32"."""

ShapeLike: TypeAlias = "TensorShape | np.ndarray | Sequence[SupportsIndex | None] | SupportsIndex"
"""A shape with None for unknown sizes; Dimensions count as numbers."""
