"""Operators of ai.onnx, of which others are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def standard(kind: str, attributes: Mapping[str, Any], *operands: np.ndarray | None) -> np.ndarray:
    """What the ONNX project's evaluator gives for an operator of ai.onnx."""
    from onnx.helper import make_node
    from onnx.reference import ReferenceEvaluator

    names = ["" if x is None else f"x{i}" for i, x in enumerate(operands)]
    node = make_node(kind, names, ["y"], **attributes)
    feeds = {name: x for name, x in zip(names, operands, strict=True) if x is not None}
    (y,) = ReferenceEvaluator(node).run(None, feeds)
    return np.asarray(y)
