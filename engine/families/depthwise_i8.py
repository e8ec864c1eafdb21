"""Convolution of each channel of small integers: rows for kernels/depthwise_i8.py.

`fits...` says whether the kernels can do it; all else is for kernels/plain_int.py.
"""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from ..plan.buffer import arena, constant
from ..plan.view import View
from .gemm import steps
from .layout import move
from .multipliers import MOST_LEFT, byte_terms, fixed_scales, wide_terms

_ROWS = 252  # as in kernels/depthwise_i8.py, of whole groups
_BLOCK = 16  # channels terms are made for at once
_STRIPS = {(3, 1), (3, 2), (5, 1), (5, 2)}  # widths and strides that have one
_ANY = "1_1"  # the kind that does a filter tap by tap


def fits(x, weights, bias, scheme):
    """Whether there is a kernel for these numbers with the roundings of `scheme`.

    There must be room for the taps, and int32 for the sums of products without the bias.
    """
    known = bias is None or bias.is_constant
    few = 0 < prod(weights.shape[:2]) <= _ROWS and weights.itemsize == 1
    if not (known and few and x.size):
        return False
    if scheme.real:
        return True
    zero, weights_zero = scheme.zero_points[:2]
    if x.itemsize == 1:
        limits = np.iinfo(x.dtype)
        inside = limits.min <= zero <= limits.max and -128 <= weights_zero <= 255
        return inside and scheme.sums is np.int32
    whole = scheme.rounding == "wide" and zero == weights_zero == 0
    return whole and int(fixed_scales(scheme.scales)[1].max()) <= MOST_LEFT


def in_strips(taps, stride, dilation):
    """Whether several results of a row are made at once."""
    return (taps[1], stride[1]) in _STRIPS and dilation[1] == 1


def depthwise(program, x, weights, bias, out, *, scheme, stride, before, dilation):
    """`integers.depthwise`."""
    shorts = x.itemsize == 2
    wider = not (shorts or scheme.real)
    wider = wider and (weights.dtype == np.uint8 or scheme.zero_points[1] != 0)
    layer = _Layer(weights.shape[:2], stride, before, dilation, wider, shorts)
    weights = scheme.weights(program, weights)
    if scheme.real:
        _of_reals(program, layer, x, weights, bias, out, scheme)
    elif shorts:
        terms = _wide_terms(scheme, bias, out.shape[3]), scheme.limits
        _of_stored(program, layer, "int16", x, 0, weights, None, out, terms)
    else:
        signed = scheme.signed(program, x, x.shape[0], out.shape[3])
        x, zero = signed.values.reshape(x.shape), signed.zero_point
        terms = _byte_terms(scheme, weights, bias, out)
        _of_stored(program, layer, "int8", x, zero, weights, bias, out, terms)


def _of_stored(program, layer, kernel, x, zero, weights, bias, out, terms):
    """Adds the rows for inputs with one zero point; `terms` are the kernel's, and its numbers."""
    n = out.shape[3]
    start = constant(np.zeros(n, np.int32)) if bias is None else bias.ravel()
    packed, start, _ = layer.pack(program, weights, start, zero)
    own = constant(np.zeros(x.shape[0], np.int8))
    nothing = constant(np.full((1, n), zero, x.dtype))
    ends = (start, terms[0], constant(np.array(terms[1])), own, nothing)
    layer.run(program, kernel, x, packed, ends, out)


def _of_reals(program, layer, x, weights, bias, out, scheme):
    """Adds the rows for reals, which become bytes image by image."""
    n = out.shape[3]
    signed = scheme.signed(program, x, x.shape[0], n)
    own, zeros, nothing = signed.rows
    terms = np.zeros((2, _padded(n)), np.float32)
    terms[0, :n] = scheme.scales
    if bias is not None:
        terms[1, :n] = bias.value
    packed, start, totals = layer.pack(program, weights, constant(np.zeros(n, np.int32)), 0)
    starts = arena((x.shape[0], _padded(n)), np.int32)
    program.call("depthwise_i8.begin_at", start, totals, zeros, starts)
    limits = constant(np.array(scheme.clamp, np.float32))
    ends = (starts, constant(terms), limits, own, nothing)
    layer.run(program, "float32", signed.values.reshape(x.shape), packed, ends, out)


class _Layer:
    """Sizes and steps of a filter.

    Attributes:
        pairs: whether weights are wider than bytes and inputs are not.
        shorts: whether inputs are int16.
        kind: which of the kernels for some kind of results.
    """

    __slots__ = ("kind", "pairs", "shorts", "steps")

    def __init__(self, taps, stride, before, dilation, pairs, shorts):
        self.pairs, self.shorts, self.kind = pairs, shorts, "pairs" if pairs else _ANY
        if not pairs and in_strips(taps, stride, dilation):
            self.kind = f"{taps[1]}_{stride[1]}"
        self.steps = {
            **steps("taps", taps),
            **steps("stride", stride),
            **steps("dilation", dilation),
            **steps("before", before),
        }

    def pack(self, program, weights, start, zero):
        """The filter as the kernels read it, what sums start from, and the sums of its weights."""
        rows, columns, n = weights.shape
        if self.kind in ("pairs", _ANY):
            rows, columns = rows * columns, 1
        packed = arena((ceil(rows / 2), columns, _padded(n), 4), np.uint8)
        starts, totals = arena((1, _padded(n)), np.int32), arena((_padded(n),), np.int32)
        program.call(
            "depthwise_i8.pack",
            weights.reshape((rows, columns, n)),
            start,
            packed,
            starts,
            totals,
            x_zero=zero,
            pairs=int(self.pairs or self.shorts),
        )
        return packed, starts, totals

    def run(self, program, kernel, x, packed, ends, out):
        """Adds the row of `kernel`; `ends` are its arguments between weights and result."""
        program.call(
            f"depthwise_i8.{kernel}_{self.kind}",
            _repeated(program, x, out.shape[3] // x.shape[3]),
            packed,
            *ends,
            out,
            split=out.shape[0] * out.shape[1],
            **self.steps,
        )


def _byte_terms(scheme, weights, bias, out):
    """The terms of 8-bit results, and the numbers that go with them in the kernel's order."""
    largest = prod(weights.shape[:2]) * 255 * 383
    if bias is not None:
        largest += int(np.abs(bias.value.astype(np.int64)).max())
    real = scheme.rounding == "exact"
    terms, numbers = byte_terms(
        scheme.scales,
        out.shape[3],
        scheme.zero_points[2],
        scheme.limits,
        out.dtype,
        largest=largest,
        real=real,
    )
    return terms, [numbers[name] for name in ("rounding", "zero_point", "low", "high", "flip")]


def _wide_terms(scheme, bias, n):
    """The terms of int16 results of int64 sums."""
    bias = np.zeros(n, np.int64) if bias is None else bias.value.astype(np.int64)
    factors, starts, places = wide_terms(scheme.scales, bias, scheme.zero_points[2])
    terms = np.zeros((2, _padded(n)), np.int64)
    terms[:, :n] = starts, factors | (places << 32)
    return constant(terms)


def _padded(n):
    return _BLOCK * ceil(n / _BLOCK)


def _repeated(program, x, times):
    """`x` with each channel `times` times."""
    if times == 1:
        return x
    out = arena((*x.shape, times), x.dtype)
    move(program, View.of(x).insert(x.ndim, times), out)
    return out.reshape((*x.shape[:-1], x.shape[-1] * times))
