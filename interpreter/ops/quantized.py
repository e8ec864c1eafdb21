"""Arithmetic of stored integers that stand for real numbers, for the families that have it."""

from math import copysign, trunc

import numpy as np

from ...engine.families import scaled
from ...engine.families.rescale import common_terms, product_terms
from ..checks import clamp_of, limits_of
from ..node import Declared, Node, Operand, Quantization

STORED = ("int8", "uint8", "int16")

_LEFT = {"int8": 20, "uint8": 20, "int16": 15}
_LEFT_SQUARED = 7


def is_quantized(x):
    """Whether `x` holds small integers with a scale."""
    return x.dtype.name in STORED and x.quantization is not None


def quantized_pair(node, a, b, shape):
    """The result of `node.kind` for each pair of elements, on the output's scale."""
    schemes = []
    for i, given in enumerate((a, b, node.outputs[0])):
        scheme = scheme_of(node, given, f"input {i}" if i < 2 else "the output")
        node.require(
            not scheme.is_per_channel and scheme.scale > 0,
            f"inputs and output must have one positive scale each, got {scheme.scales.tolist()}",
        )
        schemes.append(scheme)
    squared = node.kind == "SQUARED_DIFFERENCE"
    node.require(
        not squared or a.dtype == np.int8, f"quantized {a.dtype} is not supported, only int8"
    )
    limits = stored_limits(node, a.dtype, schemes[2], fused=not squared)
    scales = [np.float32(scheme.scale) for scheme in schemes]
    first, second, wanted = (
        (float(scale), scheme.zero_point) for scale, scheme in zip(scales, schemes, strict=True)
    )
    if node.kind == "MUL":
        scale = float(scales[0] * scales[1] / scales[2])
        terms = product_terms(first, second, wanted, limits, scale)
    elif node.kind == "DIV":
        scale = float(scales[0] / (scales[1] * scales[2]))
        terms = product_terms(first, second, wanted, limits, scale)
    elif squared:
        terms = common_terms(first, second, wanted, limits, _LEFT_SQUARED, 2)
    else:
        terms = common_terms(first, second, wanted, limits, _LEFT[a.dtype.name])
    out = node.result(shape, a.dtype)
    return lambda program: scaled.pair(program, node.kind, a, b, out, terms)


def scheme_of(node: Node, given: Operand | Declared, name: str) -> Quantization:
    """The quantization of an input or output, which must have one."""
    if given.quantization is None:
        node.fail(f"{name} must have a scale")
    return given.quantization


def stored_limits(node, dtype, scheme, fused=True):
    """The lowest and highest stored number: those of the type, or of the fused activation."""
    lowest, highest = limits_of(dtype)
    bounds = []
    for limit in clamp_of(node) if fused else (-np.inf, np.inf):
        steps = float(np.float32(min(max(limit, -1e9), 1e9)) / np.float32(scheme.scale))
        stored = trunc(steps + copysign(0.5, steps)) + scheme.zero_point
        bounds.append(min(max(stored, lowest), highest))
    return tuple(bounds)
