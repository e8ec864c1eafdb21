"""Operators of ai.onnx, of which others are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

CONVOLUTION = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
"""Conv's attributes."""


def chosen(attributes: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The attributes of these names that are there."""
    return {name: attributes[name] for name in names if name in attributes}


def standard(kind: str, attributes: Mapping[str, Any], *operands: np.ndarray | None) -> np.ndarray:
    """What the ONNX project's evaluator gives for an operator of ai.onnx."""
    from onnx.helper import make_node
    from onnx.reference import ReferenceEvaluator

    names = ["" if x is None else f"x{i}" for i, x in enumerate(operands)]
    node = make_node(kind, names, ["y"], **attributes)
    feeds = {name: x for name, x in zip(names, operands, strict=True) if x is not None}
    (y,) = ReferenceEvaluator(node).run(None, feeds)
    return np.asarray(y)
