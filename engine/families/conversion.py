"""Numbers of one type as numbers of another."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..plan.buffer import arena
from ..plan.view import View
from .layout import move

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..plan.buffer import Buffer
    from ..plan.program import Program

_INTEGERS = frozenset(map(np.dtype, ("i1", "u1", "i2", "u2", "i4", "u4", "i8")))
_FLOATS = frozenset(map(np.dtype, ("f4", "f8")))
_SINGLE, _BOOL = np.dtype("f4"), np.dtype("?")
_SMALL_FLOATS = {
    "float16": "half",
    **{name: name for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")},
}
"""Float of one or two bytes -> what its kernels are called by."""


def convert(program: Program, x: Buffer, dtype: npt.DTypeLike, out: Buffer | None = None) -> Buffer:
    """Adds what makes `x` numbers of `dtype`; gives where they lie, `out` when given."""
    dtype = np.dtype(dtype)
    if dtype == x.dtype and out is None:
        return x
    out = arena(x.shape, dtype) if out is None else out
    if not out.size:
        return out
    source = (
        x.view(f"u{x.itemsize}") if x.dtype == _BOOL or (dtype == _BOOL and x.is_integer) else x
    )
    step = _step(source.dtype, dtype)
    if step is None:
        hub = _SINGLE if is_small_float(x.dtype) or is_small_float(dtype) else np.dtype(np.int64)
        return convert(program, convert(program, x, hub), dtype, out)
    kernel, limits = step
    source, target = (
        b.view(f"u{b.itemsize}") if is_small_float(b.dtype) else b for b in (source, out)
    )
    if kernel == "layout.move":
        move(program, View.of(source.view(dtype)), View.of(out))
    else:
        program.call(kernel, source.ravel(), target.ravel(), split=out.size, **limits)
    return out


def _step(source: np.dtype, target: np.dtype) -> tuple[str, dict[str, int]] | None:
    """The kernel from one type to another and its numbers; None when it takes two."""
    if is_small_float(source):
        return (f"cast.from_{_SMALL_FLOATS[source.name]}", {}) if target == _SINGLE else None
    if is_small_float(target):
        return (f"cast.to_{_SMALL_FLOATS[target.name]}", {}) if source == _SINGLE else None
    if target == _BOOL:
        return "cast.to_bool", {}
    if target in _FLOATS:
        return "cast.to_float", {}
    if source in _FLOATS:
        limits = np.iinfo(target)
        return "cast.to_integer", {"low": int(limits.min), "high": int(limits.max)}
    if source.itemsize == target.itemsize:
        return "layout.move", {}
    if source.name in ("int32", "int64"):
        return "cast.wrap", {}
    return ("cast.widen", {}) if target.name in ("int32", "int64") else None


@cache
def is_small_float(dtype: np.dtype) -> bool:
    """Whether it is a float of one or two bytes."""
    return dtype.name in _SMALL_FLOATS


def is_castable(dtype: np.dtype) -> bool:
    """Whether kernels cast from and to a type."""
    return dtype in _INTEGERS or dtype in _FLOATS or dtype == _BOOL or is_small_float(dtype)
