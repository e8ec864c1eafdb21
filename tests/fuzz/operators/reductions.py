"""Operators that fold dimensions, run along them or normalise over them."""

import numpy as np
from fuzz.drawing import Draw, rows
from fuzz.operators.elementwise import NUMBERS
from fuzz.operators.layout import SCALED

from flatlite.schema.model import Quantization


@rows(
    {
        "SUM": f"{NUMBERS} {SCALED}",
        "MEAN": f"{NUMBERS} {SCALED}",
        "REDUCE_PROD": f"{NUMBERS} qint8 qint16",
        "REDUCE_MAX": f"{NUMBERS} int8 uint8 int16 {SCALED}",
        "REDUCE_MIN": f"{NUMBERS} int8 uint8 int16 {SCALED}",
        "REDUCE_ANY": "bool",
        "REDUCE_ALL": "bool",
    },
    sums=True,
)
def reduce(d: Draw, op, kind):
    x = d.x(kind)
    shape = d.at(x).shape
    axes = [i for i in range(len(shape)) if d.flag()]
    keep_dims = d.flag()
    expected = [1 if i in axes else n for i, n in enumerate(shape) if keep_dims or i not in axes]
    signed_axes = [i - len(shape) if d.chance(0.3) else i for i in axes]
    if signed_axes and d.chance(0.1):
        signed_axes.append(signed_axes[0])
    same = op in ("REDUCE_MAX", "REDUCE_MIN")
    out = d.like(x, expected) if same else d.rescaled(x, expected)
    d.add(op, [x, d.known(np.array(signed_axes))], [out], keep_dims=keep_dims)


@rows({"CUMSUM": NUMBERS}, sums=True)
def cumsum(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    axis = d.integer(-len(d.at(x).shape), len(d.at(x).shape) - 1)
    d.add(op, [x, d.known(axis)], [d.like(x)], exclusive=d.flag(), reverse=d.flag())


PRESCRIBED = {
    ("SOFTMAX", "qint8"): (1 / 256, -128),
    ("SOFTMAX", "quint8"): (1 / 256, 0),
    ("SOFTMAX", "qint16"): (1 / 32768, 0),
    ("LOG_SOFTMAX", "qint8"): (16 / 256, 127),
    ("LOG_SOFTMAX", "quint8"): (16 / 256, 255),
    ("L2_NORMALIZATION", "qint8"): (1 / 128, 0),
    ("L2_NORMALIZATION", "quint8"): (1 / 128, 128),
}
"""Scale and zero point that LiteRT asks of a result."""


@rows({"SOFTMAX": f"float32 {SCALED}", "LOG_SOFTMAX": "float32 qint8 quint8"})
@rows({"L2_NORMALIZATION": "float32 qint8 quint8"}, sums=True)
def normalize(d: Draw, op, kind):
    x = d.x(kind, ranks=range(1, 5))
    scale, zero = PRESCRIBED.get((op, kind), (None, None))
    scheme = None
    if scale is not None:
        scheme = Quantization(np.array([scale], np.float32), np.array([zero], np.int64))
    options = {"beta": d.pick([1.0, 1.0, 0.5, 2.0])} if op == "SOFTMAX" else {}
    expected = kind
    if op == "SOFTMAX" and kind == "qint8" and d.chance(0.3):
        expected, scheme = "qint16", Quantization(np.float32([1 / 65536]), np.array([-32768]))
    out = d.tensor(expected, d.at(x).shape, scheme or d.at(x).quantization)
    d.add(op, [x], [out], **options)


@rows({"LOCAL_RESPONSE_NORMALIZATION": "float32"}, sums=True)
def local_response(d: Draw, op, kind):
    x = d.x(kind, ranks=(4,))
    options = {"radius": d.integer(0, 5), "bias": d.pick([1.0, 2.0]), "alpha": d.pick([0.1, 1.0])}
    d.add(op, [x], [d.like(x)], beta=d.pick([0.5, 0.75, 1.0]), **options)
