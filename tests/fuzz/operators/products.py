"""Convolutions, pools and matrix products: floats, quantized, and floats by quantized weights."""

import numpy as np
from fuzz.drawing import Draw, rows
from fuzz.operators.elementwise import ACTIVATIONS
from fuzz.operators.layout import NARROW, SCALED

from flatlite.schema.model import Quantization

TYPES = {
    "hybrid": ("float32", "qint8"),
    "hybrid_uint8": ("float32", "quint8"),
    "hybrid_int4": ("float32", "qint4"),
    "qint16": ("qint16", "qint8"),
    "qint16_int4": ("qint16", "qint4"),
    "qint8_int4": ("qint8", "qint4"),
    "qint16_int16": ("qint16", "qint16"),
}
"""Type of a product -> types of the operand and its weights, where they are two."""
WEIGHTED = "float32 qint8 quint8 qint16 hybrid"
LIMITS = {"qint8": 127, "qint4": 7, "qint16": 32767}
"""Of weights: their lowest number is not used."""


def positions(n, taps, stride, dilation, padding):
    """Number of windows over `n` elements."""
    reach = (taps - 1) * dilation + 1
    return -(-n // stride) if padding == "SAME" else max(-(-(n - reach + 1) // stride), 0)


def window(d: Draw, sizes, dilated=True):
    """Taps along each dimension, options, and the result's sizes."""
    padding = d.pick(["SAME", "VALID"])
    strides = [d.pick([1, 1, 2, 3]) for _ in sizes]
    free = dilated and (max(strides) == 1 or d.chance(0.1))
    dilations = [d.pick([1, 1, 1, 2, 3]) if free else 1 for _ in sizes]
    taps = []
    for n, dilation in zip(sizes, dilations, strict=True):
        most = 5 if padding == "SAME" else max((n - 1) // dilation + 1, 1)
        taps.append(d.integer(1, min(most, 5)))
    spans = zip(sizes, taps, strides, dilations, strict=True)
    counts = [positions(*span, padding) for span in spans]
    return taps, strides, dilations, padding, counts


def weights_of(d: Draw, kind, shape, channels, axis):
    """A constant filter; one scale, or one for each of `channels` along `axis`."""
    kind = TYPES.get(kind, (kind, kind))[1]
    at_run_time = d.chance(0.05)
    if kind in ("float32", "quint8"):
        return (d.input if at_run_time else d.constant)(kind, shape)
    if d.flag():
        scheme = d.scheme(kind, channels, axis)
    else:
        scale = d.scheme("qint8").scales
        scheme = Quantization(scale, np.zeros(1, np.int64))
    most = LIMITS[kind]
    if at_run_time and kind == "qint8":
        index = d.input(kind, shape, scheme, -most, most)
        d.close(index)  # of several scales
        return index
    return d.tensor(kind, shape, scheme, d.values(kind, shape, -most, most))


def bias_of(d: Draw, kind, x, weights, channels, options=None):
    """A constant bias, or -1 for none; `options` take its type where it may be int32 for int16."""
    if d.chance(0.25):
        return -1
    if typed(kind) == "float32":
        return (d.input if d.chance(0.05) else d.constant)("float32", (channels,))
    scales = float(d.at(x).quantization.scales[0]) * d.at(weights).quantization.scales.astype(float)
    scales = np.clip(scales, 1e-38, 1e38)
    scheme = Quantization(scales.astype(np.float32), np.zeros(len(scales), np.int64))
    wide = "int64" if kind in ("qint16", "qint16_int4") else "int32"
    if wide == "int64" and options is not None:
        wide = d.pick(["int64", "int64", "int32"])
        options["quantized_bias_type"] = wide.upper()
    return d.tensor(wide, (channels,), scheme, d.values(wide, (channels,), -20000, 20000))


def typed(kind):
    """The type of input and result."""
    return TYPES.get(kind, (kind, kind))[0]


def images(d: Draw, kind):
    """An operand of images without empty dimensions: one of the graph, or a small new one."""
    there = [
        i
        for i, tensor in enumerate(d.graph.tensors)
        if d.kind(i) == typed(kind)
        and len(tensor.shape) == 4
        and 0 not in tensor.shape
        and (tensor.quantization is None or tensor.quantization.scales.size == 1)
    ]
    if there and d.chance(0.7):
        return d.pick(there[-3:])
    n, h, w = d.integer(1, 2), d.integer(1, 10), d.integer(1, 10)
    return d.x(typed(kind), shape=(n, h, w, d.pick([1, 2, 3, 4, 8, 17])))


def result(d: Draw, is_typed, shape, x, weights, depth):
    """A result whose scale suits a sum of `depth` products, mostly."""
    if is_typed == "float32":
        return d.tensor(is_typed, shape)
    scheme = d.scheme(is_typed)
    if d.chance(0.8):
        unit = float(d.at(x).quantization.scales[0]) * np.mean(
            d.at(weights).quantization.scales, dtype=np.float64
        )
        spread = unit * 40 * max(depth, 1) ** 0.5 * d.rng.uniform(0.3, 3)
        scheme.scales = np.array([np.clip(spread, 1e-30, 1e30)], np.float32)
    return d.tensor(is_typed, shape, scheme)


@rows({"CONV_2D": f"{WEIGHTED} hybrid_uint8 hybrid_int4 qint8_int4 qint16_int4"}, sums=True)
@rows({"DEPTHWISE_CONV_2D": f"{WEIGHTED} qint8_int4"}, sums=True)
def conv(d: Draw, op, kind):
    deep = op == "DEPTHWISE_CONV_2D"
    x, is_typed = images(d, kind), typed(kind)
    n, h, w, c = d.at(x).shape
    taps, strides, dilations, padding, counts = window(d, (h, w))
    out = c * d.pick([1, 1, 2, 3]) if deep else d.pick([1, 2, 5, 8, 16, 33])
    groups = d.pick([n for n in (2, 3, 4) if c % n == 0] or [1]) if d.chance(0.15) else 1
    if groups > 1 and not deep:
        out = groups * d.integer(1, 4)
    shape = (1, *taps, out) if deep else (out, *taps, c // groups)
    weights = weights_of(d, kind, shape, out, 3 if deep else 0)
    options = {"depth_multiplier": out // c} if deep else {}
    bias = bias_of(d, kind, x, weights, out, None if deep else options)
    target = result(d, is_typed, (n, *counts, out), x, weights, np.prod(taps) * (1 if deep else c))
    d.add(
        op, [x, weights, bias], [target], padding=padding, stride_h=strides[0],
        stride_w=strides[1], dilation_h_factor=dilations[0], dilation_w_factor=dilations[1],
        fused_activation_function=d.pick(ACTIVATIONS), **options,
    )  # fmt: skip


@rows({"TRANSPOSE_CONV": "float32 qint8 quint8 qint16 hybrid"}, sums=True)
def transpose_conv(d: Draw, op, kind):
    x, is_typed = images(d, kind), typed(kind)
    n, h, w, c = d.at(x).shape
    strides, taps = [d.integer(1, 3) for _ in "hw"], [d.integer(1, 4) for _ in "hw"]
    padding, out = d.pick(["SAME", "VALID"]), d.pick([1, 2, 5, 16])
    sizes = [
        m * s if padding == "SAME" else (m - 1) * s + t
        for m, s, t in zip((h, w), strides, taps, strict=True)
    ]
    weights = weights_of(d, kind, (out, *taps, c), out, 0)
    bias = bias_of(d, kind, x, weights, out)
    target = result(d, is_typed, (n, *sizes, out), x, weights, np.prod(taps) * c)
    shape = d.known([n, *sizes, out])
    operands = [shape, weights, x] + ([bias] if bias >= 0 else [])
    d.add(op, operands, [target], padding=padding, stride_h=strides[0], stride_w=strides[1],
          fused_activation_function=d.pick(ACTIVATIONS[:3]))  # fmt: skip


@rows({"CONV_3D": "float32"}, sums=True)
def conv_3d(d: Draw, op, kind):
    n, *sizes, c = (d.integer(1, 5) for _ in range(5))
    taps, strides, dilations, padding, counts = window(d, sizes)
    out = d.pick([1, 2, 7])
    x = d.x(kind, shape=(n, *sizes, c))
    weights = d.constant(kind, (*taps, c, out))
    steps = {f"stride_{a}": s for a, s in zip("dhw", strides, strict=True)}
    steps |= {f"dilation_{a}_factor": s for a, s in zip("dhw", dilations, strict=True)}
    bias = bias_of(d, kind, x, weights, out)
    d.add(op, [x, weights, *([bias] if bias >= 0 else [])], [d.tensor(kind, (n, *counts, out))],
          padding=padding, fused_activation_function=d.pick(ACTIVATIONS), **steps)  # fmt: skip


@rows({"AVERAGE_POOL_2D": f"float32 {NARROW} {SCALED}", "L2_POOL_2D": "float32"}, sums=True)
@rows({"MAX_POOL_2D": f"float32 {NARROW} {SCALED}"}, sums=True)
def pool(d: Draw, op, kind):
    x = d.x(kind, ranks=(4,))
    n, h, w, c = d.at(x).shape
    taps, strides, _, padding, counts = window(d, (h, w), dilated=False)
    clamped = kind == "float32" or kind.startswith("q")  # without a scale, limits are undefined
    d.add(op, [x], [d.like(x, (n, *counts, c))], padding=padding, filter_height=taps[0],
          filter_width=taps[1], stride_h=strides[0], stride_w=strides[1],
          fused_activation_function=d.pick(ACTIVATIONS) if clamped else "NONE")  # fmt: skip


@rows({"FULLY_CONNECTED": " ".join(("float32", "qint8", "quint8", *TYPES))}, sums=True)
def fully_connected(d: Draw, op, kind):
    x, is_typed = d.x(typed(kind), ranks=(1, 2, 3)), typed(kind)
    shape = d.at(x).shape
    depth, out = shape[-1], d.pick([1, 2, 5, 8, 16, 33])
    weights = weights_of(d, kind, (out, depth), out, 0)
    options: dict[str, str] = {}
    bias = bias_of(d, kind, x, weights, out, options)
    keep = d.flag()
    expected = (*shape[:-1], out) if keep else (int(np.prod(shape[:-1])), out)
    target = result(d, is_typed, expected, x, weights, depth)
    d.add(op, [x, weights, bias], [target], keep_num_dims=keep, **options,
          asymmetric_quantize_inputs=kind.startswith("hybrid") and d.flag(),
          fused_activation_function=d.pick(ACTIVATIONS))  # fmt: skip


@rows({"BATCH_MATMUL": "float32 qint8 qint16 qint16_int16 hybrid"}, sums=True)
def batch_matmul(d: Draw, op, kind):
    is_typed = typed(kind)
    adj_x, adj_y, m = d.flag(), d.flag(), d.size()
    x = d.x(is_typed, ranks=(2, 2, 3, 4))
    *outer, n, k = d.at(x).shape
    n, k = (k, n) if adj_x else (n, k)
    right = (m, k) if adj_y else (k, m)
    other = outer if d.chance(0.7) else [1 if d.flag() else e for e in outer]
    if kind == "hybrid":
        y = weights_of(d, kind, right, m, 0 if adj_y else 1)
    else:
        y = d.x(TYPES.get(kind, (kind, kind))[1], shape=(*other, *right))
    target = result(d, is_typed, (*outer, n, m), x, y, k)
    d.add(op, [x, y], [target], adj_x=adj_x, adj_y=adj_y,
          asymmetric_quantize_inputs=kind == "hybrid" and d.flag())  # fmt: skip
