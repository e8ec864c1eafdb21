"""Records functions of boxes and of histograms, and what TensorFlow answers.

Run as `python tests/converter/tf/make_detection_functions.py` in an environment that has
TensorFlow 2.21.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

RNG = np.random.default_rng(12)
CORNERS = RNG.uniform(-0.2, 0.6, (2, 12, 3, 2))
BOXES = np.concatenate([CORNERS, CORNERS + RNG.uniform(0.1, 0.6, (2, 12, 3, 2))], -1)
SCORES = RNG.uniform(0, 1, (2, 12, 3))
FLAT = np.concatenate([np.round(CORNERS, 1), np.round(CORNERS, 1) + 0.5], -1)[0, :, 0]
FLAT[::2, 3] = FLAT[::2, 1]
FLAT[3] = FLAT[1] + [0, 0.25, 0, 0.25]  # a third of what both cover
FLAT_SCORES = np.where(np.arange(12) % 2, 0.5, 1) * SCORES[0, :, 0]
"""Boxes of which every other one has no area, and two overlap by the threshold."""


def best(boxes, scores, **options):
    return tf.image.combined_non_max_suppression(
        boxes, scores, max_output_size_per_class=4, iou_threshold=0.3, **options
    )


CASES = {
    "boxes/classes": (lambda x, y: best(x, y, max_total_size=7), [BOXES, SCORES]),
    "boxes/shared": (
        lambda x, y: best(x, y, max_total_size=20, score_threshold=0.4, clip_boxes=False),
        [BOXES[:, :, :1], SCORES],
    ),
    "boxes/padded": (
        lambda x, y: best(x, y, max_total_size=20, pad_per_class=True), [BOXES[:, :, :1], SCORES],
    ),
    "flat/first": (
        lambda x, y: tf.raw_ops.NonMaxSuppression(
            boxes=x, scores=y, max_output_size=9, iou_threshold=1 / 3), [FLAT, FLAT_SCORES],
    ),
    "flat/second": (
        lambda x, y: tf.raw_ops.NonMaxSuppressionV2(
            boxes=x, scores=y, max_output_size=9, iou_threshold=0.0), [FLAT, FLAT_SCORES],
    ),
    "flat/classes": (
        lambda x, y: best(x[None, :, None], y[None, :, None], max_total_size=7),
        [FLAT, FLAT_SCORES],
    ),
    "histogram": (
        lambda x: tf.histogram_fixed_width(x, [-1.0, 1.5], nbins=6), [RNG.normal(size=(5, 8))],
    ),
}  # fmt: skip


def main():
    recorded = {}
    for name, (body, inputs) in CASES.items():
        arrays = [x.astype(np.float32) for x in inputs]
        specs = [tf.TensorSpec(x.shape, tf.float32, name=f"x{i}") for i, x in enumerate(arrays)]
        function = tf.function(lambda *a, body=body: tf.nest.flatten(body(*a)))
        frozen = convert_variables_to_constants_v2(function.get_concrete_function(*specs))
        content = frozen.graph.as_graph_def().SerializeToString()
        recorded[f"{name}/graph"] = np.frombuffer(content, np.uint8)
        recorded[f"{name}/inputs"] = np.array([x.name for x in frozen.inputs])
        recorded[f"{name}/outputs"] = np.array([x.name for x in frozen.outputs])
        recorded |= {f"{name}/x{i}": x for i, x in enumerate(arrays)}
        recorded |= {f"{name}/y{i}": y.numpy() for i, y in enumerate(function(*arrays))}
    np.savez_compressed(Path(__file__).with_name("detection_functions.npz"), **recorded)


if __name__ == "__main__":
    main()
