"""Modules of StableHLO that JAX has traced layers of live models into (files/jax_modules.py)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

import numpy as np

from ...graph.core.graph import Tensor
from .files.architecture import Layer
from .registry import ANY, Call, is_integer, layer

TYPES = ("bool", "float32", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


def _names(layer: Layer) -> list[str]:
    shapes = layer.config.get("shapes")
    return [f"value_{i}" for i in range(len(shapes) if isinstance(shapes, list) else 0)]


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and all(n is None or (is_integer(n) and n >= 0) for n in value)


@layer("flatlite.Module", weights=_names, takes=ANY)
def module(call: Call, tensors: list[Tensor]) -> list[Tensor]:
    """What a module computes of weights and of those of `tensors` that it uses.

    Sizes that it takes for equal are checked where it runs.
    """
    shapes, used, results = (call.setting(name) for name in ("shapes", "used", "results"))
    call.check(isinstance(shapes, list) and all(map(_is_shape, shapes)), "shapes", "shapes")
    n = len(tensors)
    is_valid = isinstance(used, list) and all(is_integer(i) and 0 <= i < n for i in used)
    call.check(is_valid, "used", f"numbers below {n}")
    is_valid = isinstance(results, list) and all(
        isinstance(r, list) and r and r[0] in TYPES and _is_shape(r[1:]) for r in results
    )
    call.check(is_valid, "results", f"lists of a type, of {', '.join(TYPES)}, and sizes")
    try:
        content = base64.b64decode(call.setting("module", ""), validate=True)
    except (TypeError, ValueError, binascii.Error):
        content = b""
    call.check(content, "module", "bytes in base 64")
    weights = [call.weight(f"value_{i}", shape) for i, shape in enumerate(shapes)]
    tensors = _of_equal_sizes(call, tensors)
    attrs = {
        "version": 9,
        "module": content,
        "Sout": [tuple(sizes) for _, *sizes in results],
        "Tout": [np.dtype(dtype) for dtype, *_ in results],
        "platforms": [b"CPU"],
    }
    return call.ops("XlaCallModule", *weights, *(tensors[i] for i in used), **attrs)


def _of_equal_sizes(call: Call, tensors: list[Tensor]) -> list[Tensor]:
    """Each of `tensors` by a slice of the sizes that others have, which fails where its own differ.

    x, y      becomes      x, y[2 * d : 2 * d + n]      with n of x, m of y and d = |m - n|
    """
    tensors, shapes = list(tensors), [call.shape(x) for x in tensors]
    equal = call.setting("equal")
    is_valid = isinstance(equal, list) and all(_is_pair(row, shapes) for row in equal)
    call.check(is_valid, "equal", "lists of a tensor, its axis, another tensor and its axis")
    for i in dict.fromkeys(row[0] for row in equal):
        x = tensors[i]
        sizes: list[int | Tensor] = [call.size(x, k) for k in range(len(shapes[i]))]
        for _, axis, other, other_axis in (row for row in equal if row[0] == i):
            sizes[axis] = call.size(tensors[other], other_axis)
        expected = call.sizes(sizes)
        difference = call.op("Abs", call.op("Sub", call.op("Shape", x), expected))
        start = call.op("AddV2", difference, difference)
        tensors[i] = call.op("Slice", x, start, expected, name="EqualSizes")
    return tensors


def _is_pair(row: object, shapes: Sequence[tuple]) -> bool:
    if not isinstance(row, list) or len(row) != 4 or not all(map(is_integer, row)):
        return False
    places = (row[:2], row[2:])
    return all(0 <= i < len(shapes) and 0 <= axis < len(shapes[i]) for i, axis in places)
