"""Functions of keras.ops at ranks, axes and limits that are not the usual ones."""

from __future__ import annotations

from .functions import functions
from .registry import FAMILIES, THREE

BOTH = ((3, 4), (3, 4))


def general(name, make, *shapes):
    """Adds a model of Keras 3."""
    functions(name, make, *shapes, versions=THREE)
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
