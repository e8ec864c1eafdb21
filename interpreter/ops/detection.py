"""NON_MAX_SUPPRESSION_V4 and _V5: the best of boxes that overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...engine.plan.buffer import arena, constant
from ...engine.sizes import negative
from ...schema.dtypes import tf_name
from ..checks import required
from ..plan.substitution import small_floats
from ..registry import op

if TYPE_CHECKING:
    from ...engine.plan.program import Program
    from ..plan.node import Node

_SCALARS = ("the overlap", "the score threshold", "sigma")


@op("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
@small_floats
def non_max_suppression(node: Node) -> Callable[[Program], None]:
    """The boxes with the highest scores that do not overlap one chosen before, and how many.

    The inputs are boxes (two corners each: y, x, y, x), scores, how many boxes at most, the
    intersection over union from which a box is left out, and the score that a box must exceed.
    Where there are fewer, the rest of the results is 0. V5 also takes sigma and gives scores: those
    of overlapping boxes shrink by exp(-iou**2 / (2 sigma)). Of equal scores the first box wins.

    Source: Bodla et al., Soft-NMS: Improving Object Detection With One Line of Code, 2017.
    """
    soft = node.kind == "NON_MAX_SUPPRESSION_V5"
    boxes, scores, _, *numbers = required(node, 6 if soft else 5)
    node.require(
        boxes.ndim == 2 and boxes.shape[1] == 4 and boxes.dtype == np.float32,
        f"boxes must be float32 [n, 4], got {tf_name(boxes.dtype)} of shape {boxes.shape}",
    )
    message = (
        f"there must be {boxes.shape[0]} float32 scores, got {tf_name(scores.dtype)} {scores.shape}"
    )
    node.require(scores.ndim == 1 and scores.dtype == np.float32, message)
    node.require_equal(scores.shape[0], boxes.shape[0], message)
    for what, number in zip(_SCALARS, numbers, strict=False):
        node.require(
            number.size == 1 and number.dtype == np.float32,
            f"{what} must be one float32, got {tf_name(number.dtype)} of shape {number.shape}",
        )
    count = node.sizes(2)[0]
    node.require(not negative([count]), f"the number of boxes must not be negative, got {count}")
    indices = node.result((count,), np.int32)
    best = node.result((count,), np.float32) if soft else arena((count,), np.float32)
    n_selected = node.result((), np.int32)
    sigma = numbers[2] if soft else constant(np.zeros(1, np.float32))

    def emit(program: Program) -> None:
        n = boxes.shape[0]
        program.call(
            "boxes.suppress",
            boxes,
            scores,
            *(number.ravel() for number in (*numbers[:2], sigma)),
            indices,
            best,
            n_selected.ravel(),
            arena((n,), np.float32),
            arena((n,), np.int32),
        )

    return emit
