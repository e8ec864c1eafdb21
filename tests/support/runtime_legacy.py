"""Experimental operators of the first operator sets, and rare ones of com.microsoft.

make_runtime_nodes.py records what ONNX Runtime gives for them.
"""

import numpy as np
from runtime_nodes import Row

RNG = np.random.default_rng(14)


def floats(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def int16s(*shape):
    return RNG.integers(-3000, 3000, shape).astype(np.int16)


class Experimental(Row):
    """A node of ai.onnx that no operator set has any more."""

    domain, opset = "", 8


IMAGE = floats(2, 3, 5, 6)
BOXES = np.float32([[0.1, 0.2, 0.9, 0.7], [-0.2, 0, 1.3, 1], [0.5, 0.9, 0.4, 0.1]])
CROPS = {"x": IMAGE, "r": BOXES, "i": np.int32([1, 0, 1])}
NOT_FINITE = np.float32([1, np.inf, -2])
NANS = np.float32([1, np.nan])

ROWS = {
    "Affine": Experimental("Affine", "x", {"x": IMAGE}, alpha=1.5, beta=-0.3),
    "Scale": Experimental("Scale", "x", {"x": IMAGE}, scale=0.3),
    "ScaledTanh": Experimental("ScaledTanh", "x", {"x": IMAGE}, alpha=1.7, beta=0.6),
    "ParametricSoftplus": Experimental("ParametricSoftplus", "x", {"x": 20 * IMAGE}, alpha=0.7,
        beta=1.3),
    "ImageScaler": Experimental("ImageScaler", "x", {"x": IMAGE}, scale=0.5,
        bias=[0.1, -0.2, 0.3]),
    "Crop": Experimental("Crop", "x", {"x": IMAGE}, border=[1, 2, 2, 0]),
    "Crop to a size": Experimental("Crop", "x", {"x": IMAGE}, border=[2, 1, 0, 0], scale=[3, 2]),
    "CropAndResize": Row("CropAndResize", "x r i s", CROPS, {"s": np.int32([4, 3])},
        extrapolation_value=0.7),
    "CropAndResize nearest": Row("CropAndResize", "x r i s", CROPS, {"s": np.int32([1, 5])},
        mode="nearest"),
    "ConvTransposeWithDynamicPads": Row("ConvTransposeWithDynamicPads", "x w p b", {"x": IMAGE},
        {"w": floats(3, 4, 3, 3), "p": np.int64([1, 0, 1, 2]), "b": floats(4)}, strides=[2, 2]),
    "MatMulInteger16": Row("MatMulInteger16", "p q", {"p": int16s(2, 3, 4), "q": int16s(4, 5)}),
    "IsAllFinite": Row("IsAllFinite", "p q", {"p": floats(3), "q": floats(2, 2)}),
    "IsAllFinite infinite": Row("IsAllFinite", "p q", {"p": floats(3), "q": NOT_FINITE}),
    "IsAllFinite nan": Row("IsAllFinite", "p q", {"p": NANS, "q": floats(1)}),
    "IsAllFinite infinities alone": Row("IsAllFinite", "p q", {"p": NANS, "q": floats(1)},
        isinf_only=1),
    "IsAllFinite nans alone": Row("IsAllFinite", "p q", {"p": floats(1), "q": NOT_FINITE},
        isnan_only=1),
}  # fmt: skip
IS_ALL_FINITE = """z = Concat<axis=0>(a, c)
bad = {}
numbers = Cast<to=1>(bad) zero = Constant<value_float=0.0>()
largest = ReduceMax<keepdims=0>(numbers) y = Equal(largest, zero)"""
FLAT = """rows = Constant<value_ints=[-1]>() a = Reshape(p, rows) c = Reshape(q, rows)
"""
ANY = "i = IsInf(z) n = IsNaN(z) bad = Or(i, n)"
DEFINITIONS = {
    name: FLAT + IS_ALL_FINITE.replace("bad = {}", text)
    for name, text in {
        "IsAllFinite": ANY,
        "IsAllFinite infinite": ANY,
        "IsAllFinite nan": ANY,
        "IsAllFinite infinities alone": "bad = IsInf(z)",
        "IsAllFinite nans alone": "bad = IsNaN(z)",
    }.items()
}
"""Nodes of ai.onnx for what ONNX Runtime has on graphics processors alone."""
