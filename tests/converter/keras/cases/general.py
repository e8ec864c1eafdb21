"""Functions of keras.ops at ranks, axes and limits that are not the usual ones."""

from __future__ import annotations

from .functions import functions
from .registry import FAMILIES, THREE, TWO

BOTH = ((3, 4), (3, 4))


def general(name, make, *shapes, versions=THREE):
    """Adds a model of Keras 3, or of these versions."""
    functions(name, make, *shapes, versions=versions)
    FAMILIES.setdefault("general", {})[name] = FAMILIES["functions"].pop(name)


general(
    "diagonals",
    lambda o, x: [o.diagonal(x, -1, 1, 2), o.diagonal(x, 1, 2, 1), o.diagonal(x, 0, -2, -1)],
    (3, 4),
)
general(
    "products",
    lambda o, x, y: [
        o.dot(x, o.transpose(y, (0, 2, 1))),
        o.inner(x, y),
        o.vdot(x, y),
    ],
    *BOTH,
)
general("norm", lambda o, x: [o.layer_normalization(x), o.rms_normalization(x)], (3, 4))
general(
    "multi_hot",
    lambda o, x: [o.multi_hot(o.cast(o.clip(o.abs(x) * 3, 0, 4), "int32"), 5)],
    (3, 4),
)
general(
    "saturate",
    lambda o, x: [o.saturate_cast(x * 300, "uint8"), o.saturate_cast(x * 60000, "int16")],
    (3, 4),
)
general(
    "gray_first",
    lambda o, x: [o.image.rgb_to_grayscale(x, data_format="channels_first")],
    (3, 4, 5),
)
general(
    "bias_first",
    lambda o, x: [
        o.nn.bias_add(x, [1.0, 2.0, 3.0], data_format="NCHW"),
        o.nn.bias_add(x, [1.0, 2.0, 3.0], data_format="NC..."),
        o.nn.bias_add(x, [1.0, 2.0, 3.0, 4.0, 5.0], data_format="N...C"),
    ],
    (3, 4, 5),
    versions=TWO,
)
general(
    "wide_sizes",
    lambda o, x: [
        o.shape(x, out_type=o.int64) * 3,
        o.size(x, out_type=o.int64) + 1,
        o.transpose(x, [2, 0, 1], conjugate=True),
    ],
    (3, 4),
    versions=TWO,
)
