"""Boxes chosen by their scores."""

import math

from numba import float32, float64

from ...build.kernel import inline, kernel


@inline
def overlap(boxes, i, j):
    """Intersection over union of two boxes, 0 where one has no area."""
    bottom_i, top_i = min(boxes[i, 0], boxes[i, 2]), max(boxes[i, 0], boxes[i, 2])
    left_i, right_i = min(boxes[i, 1], boxes[i, 3]), max(boxes[i, 1], boxes[i, 3])
    bottom_j, top_j = min(boxes[j, 0], boxes[j, 2]), max(boxes[j, 0], boxes[j, 2])
    left_j, right_j = min(boxes[j, 1], boxes[j, 3]), max(boxes[j, 1], boxes[j, 3])
    area_i = (top_i - bottom_i) * (right_i - left_i)
    area_j = (top_j - bottom_j) * (right_j - left_j)
    if area_i <= float32(0) or area_j <= float32(0):
        return float32(0)
    height = max(min(top_i, top_j) - max(bottom_i, bottom_j), float32(0))
    width = max(min(right_i, right_j) - max(left_i, left_j), float32(0))
    both = height * width
    union = area_i + area_j - both
    return float32(0) if union == float32(0) else both / union


@kernel(
    "boxes:float32[n,4] scores:float32[n] limit:float32[1] threshold:float32[1] sigma:float32[1] "
    "out:int32[m] out_scores:float32[m] out_count:int32[1] scratch:float32[n] scratch_seen:int32[n]"
)
def suppress(
    boxes, scores, limit, threshold, sigma, out, out_scores, out_count, scratch, scratch_seen,
    first, last, fault,
):  # fmt: skip
    """The best boxes, one after the other, their scores and how many there are.

    `scratch` has what is left of the score of each box that may still be chosen, minus infinity for
    the others, and `scratch_seen` with how many of the chosen ones it was compared.
    """
    n, n_candidates, count = scores.size, 0, 0
    for i in range(out.size):
        out[i], out_scores[i] = 0, float32(0)
    for i in range(n):
        scratch[i] = scores[i] if scores[i] > threshold[0] else float32(-math.inf)
        scratch_seen[i] = 0
        n_candidates += scores[i] > threshold[0]
    scale = float32(-0.5) / sigma[0] if sigma[0] > float32(0) else float32(0)
    while count < min(out.size, n_candidates):
        best = -1
        for i in range(n):
            if scratch[i] > threshold[0] and (best < 0 or scratch[i] > scratch[best]):
                best = i
        if best < 0:
            break
        score, suppressed = scratch[best], False
        k = count - 1
        while k >= scratch_seen[best]:
            iou = overlap(boxes, best, out[k])
            if iou >= limit[0]:
                suppressed = True
                break
            if sigma[0] > float32(0):
                score = float32(score * math.exp(float64(scale * iou * iou)))
            if score <= threshold[0]:
                break
            k -= 1
        scratch_seen[best] = count
        if suppressed or score <= threshold[0]:
            scratch[best] = float32(-math.inf)
        elif score == scratch[best]:  # it stays, as in TFLite: most boxes overlap themselves
            out[count], out_scores[count] = best, score
            count += 1
        else:
            scratch[best] = score
    out_count[0] = count
