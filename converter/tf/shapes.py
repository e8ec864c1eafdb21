"""Small moves that lowerings share: constants are moved now, tensors by an operator."""

import numpy as np


def transposed(x, order, b):
    """`x` with its axes in `order`; a constant is transposed now."""
    if x.value is not None:
        return b.constant(np.ascontiguousarray(np.transpose(x.value, order)))
    return b.TRANSPOSE(x, b.constant(np.asarray(order, np.int32)))


def reshaped(x, shape, b):
    """`x` in another shape (one -1 allowed); a constant is reshaped now."""
    if x.value is not None:
        return b.constant(np.reshape(x.value, shape))
    return b.RESHAPE(x, b.constant(np.asarray(shape, np.int32)))


def as_int32(node, b, index):
    """An index input as int32, the only type some TFLite operators take."""
    x = node.inputs[index]
    if x.value is not None:
        return b.constant(np.asarray(x.value).astype(np.int32))
    return as_type(x, np.int32, b)


def as_type(x, dtype, b):
    """`x` as another type, unless it is of that type."""
    return x if x.dtype == dtype else b.CAST(x, dtype=dtype)
