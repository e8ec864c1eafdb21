import numpy as np

from ..core.types import Type

def from_dtype(dtype: np.dtype) -> Type: ...
