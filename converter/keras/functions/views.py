"""Functions of keras.ops on bits, on complex numbers, and on arrays of one value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....graph.core.graph import Tensor
from ..registry import Call, is_integer
from .numerics import like
from .operations import DTYPES, floating, operands, operation, tensor, where
from .products import dims_of


@operation("ViewAsReal")
def view_as_real(call: Call, x: Tensor) -> Tensor:
    """Real and imaginary parts along a new last axis."""
    if x.dtype.kind != "c":
        return call.op("Pack", x, call.op("ZerosLike", x), axis=-1)
    return call.op("Pack", call.op("Real", x), call.op("Imag", x), axis=-1)


@operation("ViewAsComplex")
def view_as_complex(call: Call, x: Tensor) -> Tensor:
    """Complex numbers of the parts along the last axis."""
    call.require(call.shape(x)[-1] == 2, "the last axis must have two parts")
    return call.op("Complex", *call.ops("Unpack", floating(call, x), num=2, axis=-1))


@operation("Abs", "Absolute")
def absolute(call: Call, x: Any) -> Tensor:
    """The size of numbers."""
    x = tensor(call, x)
    return call.op("ComplexAbs" if x.dtype.kind == "c" else "Abs", x)


@operation("Real", "Conj", "Conjugate")
def real(call: Call, x: Any) -> Tensor:
    """The real part of complex numbers, or those with the other sign of the imaginary part."""
    x = tensor(call, x)
    kind = "Real" if call.layer.kind == "ops.Real" else "Conj"
    return call.op(kind, x) if x.dtype.kind == "c" else x


@operation("Imag")
def imaginary(call: Call, x: Any) -> Tensor:
    """The imaginary part of complex numbers, of others 0."""
    x = tensor(call, x)
    return call.op("Imag" if x.dtype.kind == "c" else "ZerosLike", x)


@operation("Isreal")
def is_real(call: Call, x: Any) -> Tensor:
    """Whether the imaginary part is 0."""
    part = imaginary(call, x)
    return call.op("Equal", part, call.op("ZerosLike", part))


@operation("Angle")
def angle_of(call: Call, x: Any) -> Tensor:
    """The angle of complex numbers; 0 of others from 0 on, else pi."""
    x = tensor(call, x)
    if x.dtype.kind == "c":
        return call.op("Atan2", call.op("Imag", x), call.op("Real", x))
    x = floating(call, x)
    return where(call, call.op("Less", x, like(call, 0, x)), like(call, np.pi, x), 0.0)


@operation("Polar")
def polar(call: Call, abs_: Any, angle: Any) -> Tensor:
    """The complex numbers of these sizes and angles."""
    size, angle = (floating(call, v) for v in operands(call, abs_, angle))
    real, imaginary = (call.op("Mul", size, call.op(kind, angle)) for kind in ("Cos", "Sin"))
    return call.op("Complex", real, imaginary)


@operation("Nextafter")
def next_after(call: Call, x1: Any, x2: Any) -> Tensor:
    """The next float32 on the way to another number."""
    return call.op("NextAfter", *(floating(call, v) for v in operands(call, x1, x2)))


@operation("View")
def view(call: Call, x: Any, dtype: Any = None) -> Tensor:
    """The bits as another type; the last axis takes how many there are more or less."""
    x = tensor(call, x)
    call.require(dtype is None or dtype in DTYPES, f"dtype must be one of {', '.join(DTYPES)}")
    target = x.dtype if dtype is None else np.dtype(dtype)
    before, after = x.dtype.itemsize, target.itemsize
    if before == after:
        return x if target == x.dtype else call.op("Bitcast", x, type=target)
    dims = dims_of(call, x)
    size = call.known(call.shape(x)[-1], "the last axis")
    call.require(size * before % after == 0, f"the last axis must be whole numbers of {dtype}")
    if before < after:
        ratio = after // before
        x = call.op("Reshape", x, call.sizes([*dims[:-1], size // ratio, ratio]))
        return call.op("Bitcast", x, type=target)
    y = call.op("Bitcast", x, type=target)
    return call.op("Reshape", y, call.sizes([*dims[:-1], size * (before // after)]))


@operation("Full")
def full(call: Call, fill_value: Tensor, shape: Any, dtype: Any = None) -> Tensor:
    """An array of one value."""
    sizes = [shape] if is_integer(shape) else shape
    is_valid = isinstance(sizes, list) and all(is_integer(n) and n >= 0 for n in sizes)
    call.require(is_valid, f"shape must be integers, got {str(shape)[:40]}")
    call.require(dtype is None or dtype in DTYPES, f"dtype must be one of {', '.join(DTYPES)}")
    value = call.cast(fill_value, np.float32 if dtype is None else np.dtype(dtype))
    return call.op("BroadcastTo", value, call.constant(np.array(sizes, np.int32)))
